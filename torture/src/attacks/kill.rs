//! Processes that write, repair or open are killed at random moments; what they acknowledged must be there.

use std::time::Duration;

use super::{Attack, Round};
use crate::child::Next;
use crate::examine::Task;
use crate::files;
use crate::line::Line;
use crate::report::Report;
use crate::scene::{Finding, Moment, Plan, Scene, violation};
use crate::truth::Leave;
use crate::writer::{Deletes, Waits};

/// `SIGKILL`, again and again.
#[derive(Debug)]
pub(crate) struct Kill;

impl Attack for Kill {
    fn name(&self) -> &'static str {
        "kill"
    }

    fn about(&self) -> &'static str {
        "a writer is killed (SIGKILL) at any moment: appending, sealing, compacting, removing, opening; a repair as well"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        for _ in 0..6 {
            let plan = plan(&mut scene);
            scene.write(&plan)?;
            let task = if scene.chance.below(2) == 0 { Task::Read } else { Task::Open };
            if scene.folder.is_dir() {
                check(&mut scene, task)?;
            }
        }
        beside(&mut scene)?;
        scene.write(&Plan::steps(20))?;
        check(&mut scene, Task::Open)?;
        repair(round, &mut scene)
    }
}

/// A writer with an end by chance.
pub(crate) fn plan(scene: &mut Scene) -> Plan {
    let chance = &mut scene.chance;
    let kill = match chance.below(10) {
        0 => Moment::Start,
        5 => Moment::Doing("delete", 1),
        6 => Moment::Doing("erase", 1),
        1 => Moment::Doing("seal", 1),
        2 => Moment::Doing("compact", 1),
        3 => Moment::Doing("remove", 1),
        4 => Moment::Doing("close", 1),
        _ => Moment::Stored(1 + chance.below(60)),
    };
    let most = if matches!(kill, Moment::Start) { 15_000 } else { 4000 };
    Plan {
        waits: *files::pick(&[Waits::Sync, Waits::Sync, Waits::Interval, Waits::None], chance)
            .unwrap_or(&Waits::Sync),
        kill,
        deletes: Deletes::Rarely,
        delay: Duration::from_micros(chance.below(most) as u64),
        ..Plan::steps(150)
    }
}

/// Somebody reads while a writer works, until it is killed: what was acknowledged before is there, and whole batches only.
pub(crate) fn beside(scene: &mut Scene) -> Result<(), Finding> {
    let plan = plan(scene);
    let mut writing = scene.start(&plan, false)?;
    let (begin, end) = (scene.chance.below(20), 20 + scene.chance.below(80));
    let mut reader = None;
    let mut stored = 0;
    while let Some(line) = scene.listen(&mut writing)? {
        stored += usize::from(matches!(line, Line::Stored(..)));
        if stored > begin && reader.is_none() {
            let child = scene.start_examining(Task::Read, &scene.folder, &[])?;
            reader = Some((scene.truth.clone(), child));
        }
        if stored > end && !writing.killed {
            scene.kill(&mut writing);
        }
    }
    scene.finish(writing, false)?;
    let Some((before, child)) = reader else { return Ok(()) };
    let report = scene.hear_out(child, Report::default())?;
    match &report.error {
        // Rather than wait for a writer that does nothing but seal.
        Some(error) if error.contains("changes faster") => return Ok(()),
        Some(error) => return violation(format!("beside a writer it cannot be read: {error}")),
        None => {}
    }
    if let Some(part) = report.damage().first() {
        return violation(format!("beside a writer {} is said to be damaged: {}", part.file, part.found));
    }
    let truth = scene.truth.since(&before);
    truth.compare(&report, &Leave { sources: true, ..Leave::default() }).map_err(Finding::Violation)
}

/// A store that was never opened to the end may be none yet.
pub(crate) fn check(scene: &mut Scene, task: Task) -> Result<(), Finding> {
    if task == Task::Read && scene.truth.batches.is_empty() {
        let report = scene.examine(task, &[])?;
        if report.error.is_some_and(|error| error.contains("no store")) {
            return Ok(());
        }
    }
    let report = scene.check(task, &Leave::default())?;
    if task == Task::Open {
        scene.truth.adopt(&report);
    }
    Ok(())
}

/// A repair of a damaged copy is killed, then made to its end: it loses no more than the damage does.
fn repair(round: &Round, scene: &mut Scene) -> Result<(), Finding> {
    let mut contents = files::read(&scene.folder)?;
    let mut names = files::named(&contents, ".segment");
    names.extend(files::named(&contents, ".log"));
    let Some(name) = files::pick(&names, &mut scene.chance).map(|name| (*name).clone()) else {
        return Ok(());
    };
    if let Some(bytes) = contents.get_mut(&name).filter(|bytes| !bytes.is_empty()) {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 16;
    }
    let damaged = scene.fork(round.folder.join("damaged"));
    files::write(&damaged.folder, &contents)?;
    let before = damaged.examine(Task::Read, &[])?;
    let leave = Leave { damage: before.damage(), ..Leave::default() };
    if let Some(error) = &before.error {
        return violation(format!("{name} is damaged, and the rest of the store cannot be read: {error}"));
    }
    damaged.compare(&before, &leave)?;
    for _ in 0..3 {
        damaged.blow();
        let mut child = damaged.start_examining(Task::Repair, &damaged.folder, &[])?;
        // It has begun once it says so.
        if let Next::Silence = child.next() {
            return violation("the repair hangs");
        }
        std::thread::sleep(Duration::from_micros(scene.chance.below(6000) as u64));
        child.kill();
        if child.end()?.is_none() {
            return violation("the repair does not end");
        }
    }
    let repaired = damaged.examine(Task::Repair, &[])?;
    if let Some(error) = &repaired.error {
        return violation(format!("a repair that was interrupted cannot be made to its end: {error}"));
    }
    let after = damaged.examine(Task::Open, &[])?;
    if after.error.is_some() || !after.damage().is_empty() {
        return violation(format!(
            "after the repair the store is not sound: {:?} {:?}",
            after.error,
            after.damage()
        ));
    }
    damaged.compare(&after, &Leave { sources: true, ..leave })?;
    match files::missing(&contents, &files::read(&damaged.folder)?, |other| other != name) {
        gone if gone.is_empty() => Ok(()),
        _ if before.damage().is_empty() => Ok(()),
        gone => violation(format!("the repair has taken {gone:?} away, and it is not in quarantine")),
    }
}
