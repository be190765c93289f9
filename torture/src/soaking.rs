//! A store on the simulated medium, step by step: calls fail, and power goes, in the middle of a step too.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tamias_store::io::{Chance, Change, Crash, Directory, Fault, FaultKind, Medium, Simulated};
use tamias_store::{Layout, OpenError, Options, Reader, Settings, Snapshot, Store};

use crate::batch::{self, Batch};
use crate::columns;
use crate::examine;
use crate::files::{self, Contents};
use crate::line::Line;
use crate::plant::Plant;
use crate::remains;
use crate::report::{Report, Row};
use crate::scene::{Finding, Scene, violation};
use crate::truth::Leave;
use crate::writer::{Deletes, Step, Waits, Work, options};

/// A folder that a store lies in, and what was heard of it.
pub(crate) struct Soaking<'s> {
    scene: &'s mut Scene,
    layout: Layout,
    chance: Chance,
    /// The medium as it was when the present folder was made.
    before: Medium,
    folder: RefCell<Simulated>,
    /// What was told, each with the number of changes that the medium had seen.
    heard: RefCell<Vec<(usize, Line)>>,
    /// Calls have failed since the store was opened.
    faulty: bool,
    /// What a reader holds, and what it showed.
    held: Option<(Snapshot, Vec<Row>)>,
}

/// A medium that holds these files, all of them durable.
fn medium_of(contents: &Contents) -> Medium {
    let mut medium = Medium::default();
    let mut folders: Vec<&str> = contents.keys().filter_map(|name| Some(name.split_once('/')?.0)).collect();
    folders.dedup();
    for folder in folders {
        medium.apply(&Change::Create(format!("{folder}/")));
        medium.apply(&Change::FlushFolder(String::new(), true));
    }
    for (name, bytes) in contents {
        medium.apply(&Change::Create(name.clone()));
        if let Some(file) = medium.find(name) {
            medium.apply(&Change::Write(file, 0, bytes.as_slice().into()));
            medium.apply(&Change::Flush(file, true));
        }
        let folder = name.split_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        medium.apply(&Change::FlushFolder(folder, true));
    }
    medium
}

/// The files of a medium, as a process sees them.
fn contents_of(medium: &Medium) -> Contents {
    let file = |name: &String| Some((name.clone(), medium.contents(medium.find(name)?).to_vec()));
    medium.names().filter(|name| !name.ends_with('/')).filter_map(file).collect()
}

impl<'s> Soaking<'s> {
    /// So many steps with the store in these files; what is in the folder then.
    pub(crate) fn run(scene: &'s mut Scene, contents: Contents, steps: usize) -> Result<Contents, Finding> {
        let mut chance = Chance(scene.chance.below(1 << 40) as u64);
        let before = medium_of(&contents);
        let mut soaking = Soaking {
            scene,
            layout: columns::layout(chance.below(2) as u64),
            chance,
            folder: RefCell::new(Simulated::with(before.clone())),
            before,
            heard: RefCell::default(),
            faulty: false,
            held: None,
        };
        let done = catch_unwind(AssertUnwindSafe(|| soaking.steps(steps)));
        done.unwrap_or_else(|_| violation("the store panicked on the simulated medium"))?;
        Ok(contents_of(&soaking.folder.borrow().medium()))
    }

    fn directory(&self) -> Arc<dyn Directory> {
        planted(self.scene.plant, &self.folder.borrow())
    }

    fn steps(&mut self, steps: usize) -> Result<(), Finding> {
        let mut next = self.scene.truth.next().max(self.scene.next);
        let mut store = None;
        for _ in 0..steps {
            let Some(open) = store else {
                store = Some(self.open(&mut next)?);
                continue;
            };
            let step = Step::random(&mut self.chance, false, true, Deletes::Rarely);
            if self.chance.below(8) == 0 {
                self.fail();
            }
            let from = self.folder.borrow().change_count();
            store = self.work(&mut next, |work| work.step(open, step));
            self.scene.tally.note(format!("{step:?}"));
            if self.chance.below(12) == 0 {
                self.crash(from, &mut store);
                continue;
            }
            let lines = self.hear(usize::MAX);
            self.judge(&lines)?;
            if self.chance.below(6) == 0
                && let Some(store) = &store
            {
                self.look(store)?;
            }
        }
        self.folder.borrow().fail(None);
        self.held = None;
        let last = match store {
            Some(store) => store,
            None => self.open(&mut next)?,
        };
        self.look(&last)?;
        self.work(&mut next, |work| work.step(last, Step::Close));
        self.hear(usize::MAX);
        self.scene.next = next;
        Ok(())
    }

    /// Works on the store that is in the folder now.
    fn work<T>(&self, next: &mut u64, body: impl FnOnce(&mut Work<'_>) -> T) -> T {
        let plant = self.scene.plant;
        let opened = || -> Result<Store, OpenError> {
            // None stay of a writer that kept to bounds when it ended.
            let settings = Some(Settings::default());
            let options =
                Options { segments: self.layout, settings, background: false, ..options(Waits::Sync) };
            Store::open_on(self.directory(), options, columns::codec(plant))
        };
        let folder = self.folder.borrow().clone();
        let mut tell = |line| self.heard.borrow_mut().push((folder.change_count(), line));
        let mut work = Work { open: &opened, tell: &mut tell, next: *next, stay: 60, plant };
        let done = body(&mut work);
        *next = work.next;
        done
    }

    /// Opens the store, which nothing stands in the way of, and looks at it.
    fn open(&mut self, next: &mut u64) -> Result<Store, Finding> {
        self.folder.borrow().fail(None);
        self.faulty = false;
        let store = self.work(next, |work| work.open());
        let lines = self.hear(usize::MAX);
        let Some(store) = store else {
            return violation(format!("the store cannot be opened: {:?}", lines.last()));
        };
        self.look(&store)?;
        Ok(store)
    }

    /// Takes in what was told until so many changes, and forgets the rest, which nobody has heard.
    fn hear(&mut self, until: usize) -> Vec<Line> {
        let heard = std::mem::take(&mut *self.heard.borrow_mut());
        let lines = heard.into_iter().filter(|(at, _)| *at <= until).map(|(_, line)| line);
        let lines: Vec<Line> = lines.collect();
        for line in &lines {
            self.scene.tally.note(format!("  {line}"));
            self.scene.truth.take(line, true);
            if let Line::Stored(id, _) = line {
                let events = Batch::new(*id).rows.len() as u64;
                self.scene.tally.acknowledged.fetch_add(events, Ordering::Relaxed);
            }
        }
        lines
    }

    /// Makes a call to come fail.
    fn fail(&mut self) {
        let kinds = [FaultKind::Device, FaultKind::NoSpace, FaultKind::Short, FaultKind::Interrupted];
        let Some(&kind) = files::pick(&kinds, &mut self.chance) else { return };
        let folder = self.folder.borrow();
        let at = folder.calls() + self.chance.below(30) as u64;
        let forever = kind == FaultKind::NoSpace && self.chance.below(2) == 0;
        folder.fail(Some(Fault { at, forever, kind }));
        self.scene.tally.note(format!("a call will fail: {kind:?}"));
        self.faulty = true;
    }

    /// The process ends, or power goes, at a moment of the last step.
    fn crash(&mut self, from: usize, store: &mut Option<Store>) {
        let changes = self.folder.borrow().changes();
        let moment = from + self.chance.below(changes.len() - from + 1);
        self.hear(moment);
        let mut medium = self.before.clone();
        changes.iter().take(moment).for_each(|change| medium.apply(change));
        if self.chance.below(3) > 0 {
            let crash = Crash::ALL[self.chance.below(Crash::ALL.len())];
            self.scene.tally.note(format!("a loss of power: {crash:?}"));
            medium = medium.after(crash, &mut self.chance);
        }
        self.scene.blow();
        // What it goes on to do is done to a folder that is no more.
        (*store, self.held) = (None, None);
        self.before = medium.clone();
        self.folder.replace(Simulated::with(medium));
    }

    /// That nothing fails for no reason.
    fn judge(&self, lines: &[Line]) -> Result<(), Finding> {
        if self.faulty {
            return Ok(());
        }
        let is_trouble =
            |line: &&Line| matches!(line, Line::Trouble(..) | Line::Refused(..) | Line::Failed(_));
        if let Some(line) = lines.iter().find(is_trouble) {
            return violation(format!("the store met with trouble for no reason: {line}"));
        }
        Ok(())
    }

    /// That the store, and a reader beside it, show what they must, and the files hold nothing that is erased.
    fn look(&mut self, store: &Store) -> Result<(), Finding> {
        self.folder.borrow().fail(None);
        if store.append(&[]).is_err() {
            // A failure was final: it shows what it knew before, a reader what is in the folder. The next opening is looked at.
            return Ok(());
        }
        let what = |error: String| Finding::Violation(format!("on the simulated medium: {error}"));
        let mut report = self.report(&store.snapshot()).map_err(what)?;
        let names = (0..batch::SOURCES).map(batch::source_name);
        let positions = names.filter_map(|name| Some((name.clone(), store.source_position(&name)?)));
        report.sources = positions.collect::<BTreeMap<_, _>>();
        self.scene.truth.compare(&report, &Leave::default()).map_err(what)?;
        self.scene.truth.adopt(&report);
        remains::check(&self.scene.truth, &contents_of(&self.folder.borrow().medium())).map_err(what)?;
        if let Some((snapshot, rows)) = self.held.take()
            && self.report(&snapshot).map_err(what)?.rows != rows
        {
            return violation("a snapshot that a reader holds shows something else than before");
        }
        let options = Options { background: false, ..options(Waits::Sync) };
        let reader = Reader::open_on(self.directory(), options, columns::codec(self.scene.plant));
        let snapshot =
            reader.and_then(|reader| reader.snapshot()).map_err(|error| what(error.to_string()))?;
        let rows = self.report(&snapshot).map_err(what)?.rows;
        if rows != report.rows {
            return violation(format!(
                "a reader sees {} events, the writer {}",
                rows.len(),
                report.rows.len()
            ));
        }
        self.held = (self.chance.below(3) == 0).then_some((snapshot, rows));
        Ok(())
    }

    fn report(&self, snapshot: &Snapshot) -> Result<Report, String> {
        self.scene.tally.checks.fetch_add(1, Ordering::Relaxed);
        let mut report = Report::default();
        examine::look(snapshot, false, &mut report)?;
        match report.damage().first() {
            Some(part) => Err(format!("{} is said to be damaged: {}", part.file, part.found)),
            None => Ok(report),
        }
    }
}

/// The folder as the store gets it.
pub(crate) fn planted(plant: Option<Plant>, simulated: &Simulated) -> Arc<dyn Directory> {
    let inner: Arc<dyn Directory> = Arc::new(simulated.clone());
    match plant {
        Some(plant) => plant.over(inner),
        None => inner,
    }
}
