//! A store under attack: its folder, the truth about it, and the processes that write and examine it.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tamias_store::io::Chance;

use crate::batch::Batch;
use crate::child::{Child, Ended, Next};
use crate::examine::Task;
use crate::line::Line;
use crate::plant::Plant;
use crate::report::Report;
use crate::truth::{Leave, Truth};
use crate::writer::{Deletes, Waits};

/// What ends a round before its end.
#[derive(Debug)]
pub(crate) enum Finding {
    /// The store has broken a promise.
    Violation(String),
    /// The attack itself could not be made.
    Broken(String),
}

impl From<std::io::Error> for Finding {
    fn from(error: std::io::Error) -> Finding {
        Finding::Broken(error.to_string())
    }
}

/// For a promise that was broken.
pub(crate) fn violation<T>(text: impl Into<String>) -> Result<T, Finding> {
    Err(Finding::Violation(text.into()))
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) acknowledged: AtomicU64,
    pub(crate) checks: AtomicU64,
    /// Kills, losses of power, altered copies and the like.
    pub(crate) blows: AtomicU64,
    /// What the writers of this round told, and what was done to them.
    pub(crate) journal: Mutex<Vec<String>>,
}

impl Tally {
    /// Writes a line into the journal of the round.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }
}

/// When a writer is killed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// Not at all.
    Never,
    /// So long after its start, opening perhaps.
    Start,
    /// After so many acknowledgements.
    Stored(usize),
    /// After it has begun such a step so many times.
    Doing(&'static str, usize),
}

/// What a writer is to do.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) waits: Waits,
    pub(crate) keep: bool,
    pub(crate) deletes: Deletes,
    /// One thread appends.
    pub(crate) alone: bool,
    /// Nothing happens of itself.
    pub(crate) quiet: bool,
    pub(crate) steps: u64,
    pub(crate) kill: Moment,
    /// How long after that moment.
    pub(crate) delay: Duration,
    /// Failures are expected.
    pub(crate) tolerant: bool,
    /// What a shell does before it becomes the writer.
    pub(crate) shell: Option<String>,
}

impl Plan {
    /// So many steps, then it closes.
    pub(crate) fn steps(steps: u64) -> Plan {
        Plan {
            waits: Waits::Sync,
            keep: false,
            deletes: Deletes::Never,
            alone: false,
            quiet: false,
            steps,
            kill: Moment::Never,
            delay: Duration::ZERO,
            tolerant: false,
            shell: None,
        }
    }
}

/// A store under attack.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) folder: PathBuf,
    pub(crate) truth: Truth,
    pub(crate) chance: Chance,
    pub(crate) plant: Option<Plant>,
    pub(crate) tally: Arc<Tally>,
    /// The number of the next batch, at least.
    pub(crate) next: u64,
}

/// A writer at work.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) child: Child,
    sync: bool,
    /// What went wrong, as it says itself.
    pub(crate) troubles: Vec<Line>,
    pub(crate) killed: bool,
    /// From now on nobody knows whether its flushes were done.
    pub(crate) doubtful: bool,
}

impl Scene {
    /// Counts a blow.
    pub(crate) fn blow(&self) {
        self.tally.note("a blow");
        self.tally.blows.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts this program as another process.
    fn command(&self, shell: Option<&str>, arguments: &[&str]) -> Result<Command, Finding> {
        let program = std::env::current_exe()?;
        let mut command = match shell {
            None => Command::new(program),
            Some(shell) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(format!("{shell}; exec \"$0\" \"$@\"")).arg(program);
                command
            }
        };
        command.args(arguments);
        Ok(command)
    }

    /// Starts a writer.
    pub(crate) fn start(&mut self, plan: &Plan, paced: bool) -> Result<Writing, Finding> {
        let first = self.truth.next().max(self.next).to_string();
        let seed = (self.chance.below(1 << 30) as u64).to_string();
        let mut command =
            self.command(plan.shell.as_deref(), &["writer", "--first", &first, "--seed", &seed])?;
        command.args(["--steps", &plan.steps.to_string()]);
        command.args([
            "--waits",
            match plan.waits {
                Waits::Sync => "sync",
                Waits::Interval => "interval",
                Waits::None => "none",
            },
        ]);
        command.args([
            "--deletes",
            match plan.deletes {
                Deletes::Never => "never",
                Deletes::Rarely => "rarely",
                Deletes::Often => "often",
            },
        ]);
        command.args(plan.keep.then_some("--keep")).args(plan.alone.then_some("--alone"));
        command.args(plan.quiet.then_some("--quiet")).args(paced.then_some("--paced"));
        command.args(self.plant.map(|plant| format!("--plant={}", plant.name())));
        command.arg(&self.folder);
        let child = Child::start(&mut command)?;
        self.tally.note(format!("{}: a writer of {plan:?}", child.id()));
        Ok(Writing {
            child,
            sync: plan.waits == Waits::Sync,
            troubles: Vec::new(),
            killed: false,
            doubtful: false,
        })
    }

    /// The writer's next line, taken into the truth; `None` at its end.
    pub(crate) fn listen(&mut self, writing: &mut Writing) -> Result<Option<Line>, Finding> {
        loop {
            match writing.child.next() {
                Next::Line(text) => {
                    let Some(line) = Line::parse(&text) else { continue };
                    self.tally.note(format!("{}: {line}", writing.child.id()));
                    if !(writing.doubtful && matches!(line, Line::Done(_) | Line::Opened)) {
                        self.truth.take(&line, writing.sync && !writing.doubtful);
                    }
                    if let Line::Stored(id, _) = line {
                        let events = Batch::new(id).rows.len() as u64;
                        self.tally.acknowledged.fetch_add(events, Ordering::Relaxed);
                    }
                    if matches!(line, Line::Refused(..) | Line::Trouble(..) | Line::Failed(_)) {
                        writing.troubles.push(line.clone());
                    }
                    return Ok(Some(line));
                }
                Next::End => return Ok(None),
                Next::Silence => {
                    return violation(format!("the writer, process {}, hangs", writing.child.id()));
                }
            }
        }
    }

    /// Waits for the writer's end, and judges it.
    pub(crate) fn finish(&mut self, mut writing: Writing, tolerant: bool) -> Result<Vec<Line>, Finding> {
        while self.listen(&mut writing)?.is_some() {}
        judge(writing.child.end()?, writing.killed, "the writer")?;
        match writing.troubles.first() {
            Some(line) if !tolerant => {
                violation(format!("the writer met with trouble for no reason: {line}"))
            }
            _ => Ok(writing.troubles),
        }
    }

    /// Kills a writer.
    pub(crate) fn kill(&self, writing: &mut Writing) {
        writing.child.kill();
        writing.killed = true;
        self.blow();
    }

    /// Has a writer work, and kills it when the time has come. What it complained of.
    pub(crate) fn write(&mut self, plan: &Plan) -> Result<Vec<Line>, Finding> {
        let mut writing = self.start(plan, false)?;
        let (mut stored, mut doing) = (0, 0);
        if matches!(plan.kill, Moment::Start) {
            std::thread::sleep(plan.delay);
            self.kill(&mut writing);
        }
        while let Some(line) = self.listen(&mut writing)? {
            stored += usize::from(matches!(line, Line::Stored(..)));
            let now = match plan.kill {
                Moment::Stored(count) => stored >= count,
                Moment::Doing(what, times) => {
                    doing += usize::from(line == Line::Doing(what.into()));
                    doing >= times
                }
                Moment::Never | Moment::Start => false,
            };
            if now && !writing.killed {
                std::thread::sleep(plan.delay);
                self.kill(&mut writing);
            }
        }
        self.finish(writing, plan.tolerant)
    }

    /// Has a paced writer do a step: its lines. Empty where it has ended.
    pub(crate) fn step(&mut self, writing: &mut Writing, word: &str) -> Result<Vec<Line>, Finding> {
        writing.child.tell(word);
        self.until_ready(writing)
    }

    /// What a paced writer says until it waits for a step, or ends.
    pub(crate) fn until_ready(&mut self, writing: &mut Writing) -> Result<Vec<Line>, Finding> {
        let mut lines = Vec::new();
        while let Some(line) = self.listen(writing)? {
            if line == Line::Ready {
                break;
            }
            lines.push(line);
        }
        Ok(lines)
    }

    /// Starts an examining process on a folder.
    pub(crate) fn start_examining(
        &self,
        task: Task,
        folder: &Path,
        more: &[String],
    ) -> Result<Child, Finding> {
        let task = match task {
            Task::Read => "read",
            Task::Open => "open",
            Task::Repair => "repair",
            Task::Remove => "remove",
            Task::Backup => "backup",
            Task::Restore => "restore",
            Task::Ask => "ask",
        };
        let mut command = self.command(None, &["examine", task])?;
        command.args(more);
        command.args(self.plant.map(|plant| format!("--plant={}", plant.name())));
        command.arg(folder);
        let child = Child::start(&mut command)?;
        self.tally.note(format!("{}: examines, {task} {more:?}", child.id()));
        Ok(child)
    }

    /// What an examining process tells, once it has ended by itself.
    pub(crate) fn hear_out(&self, mut child: Child, mut report: Report) -> Result<Report, Finding> {
        loop {
            match child.next() {
                Next::Line(line) if !report.take(&line) => {
                    return Err(Finding::Broken(format!("the examiner says {line:?}")));
                }
                Next::Line(_) => {}
                Next::End => break,
                Next::Silence => return violation(format!("the examiner, process {}, hangs", child.id())),
            }
        }
        judge(child.end()?, false, "the examiner")?;
        self.tally.checks.fetch_add(1, Ordering::Relaxed);
        match report.complete {
            true => Ok(report),
            false => Err(Finding::Broken("the examiner ended too early".into())),
        }
    }

    /// Examines the store.
    pub(crate) fn examine(&self, task: Task, more: &[&str]) -> Result<Report, Finding> {
        let more: Vec<String> = more.iter().map(|&word| word.to_owned()).collect();
        let child = self.start_examining(task, &self.folder, &more)?;
        self.hear_out(child, Report::default())
    }

    /// That the store opens, for reading or for writing, is sound, and holds what it must.
    pub(crate) fn check(&self, task: Task, leave: &Leave) -> Result<Report, Finding> {
        let report = self.examine(task, &[])?;
        if let Some(error) = &report.error {
            return violation(format!("the store cannot be read: {error}"));
        }
        if let Some(part) = report.damage().first() {
            return violation(format!(
                "{} is said to be damaged at bytes {} to {}, and nobody damaged it: {}",
                part.file, part.start, part.end, part.found
            ));
        }
        self.compare(&report, leave)?;
        Ok(report)
    }

    /// That a report shows what the store must hold.
    pub(crate) fn compare(&self, report: &Report, leave: &Leave) -> Result<(), Finding> {
        self.truth.compare(report, leave).map_err(Finding::Violation)
    }

    /// Another scene about the same store, in another folder.
    pub(crate) fn fork(&mut self, folder: PathBuf) -> Scene {
        Scene {
            folder,
            truth: self.truth.clone(),
            chance: Chance(self.chance.below(1 << 40) as u64),
            plant: self.plant,
            tally: Arc::clone(&self.tally),
            next: self.next,
        }
    }
}

/// That a process ended as it should: by itself and without an error, or because it was killed.
pub(crate) fn judge(ended: Option<Ended>, killed: bool, who: &str) -> Result<(), Finding> {
    let Some(Ended { status, errors }) = ended else {
        return violation(format!("{who} does not end"));
    };
    let errors = errors.trim().replace('\n', "; ");
    if errors.contains("panicked") {
        return violation(format!("{who} panicked: {errors}"));
    }
    match (status.signal(), status.code()) {
        (Some(9), _) if killed => Ok(()),
        (Some(signal), _) => violation(format!("{who} was ended by signal {signal} ({status}): {errors}")),
        (None, Some(0)) => Ok(()),
        _ => Err(Finding::Broken(format!("{who} ended with {status}: {errors}"))),
    }
}
