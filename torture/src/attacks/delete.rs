//! A writer that deletes and erases is killed in the middle of it: all of a deletion or nothing, and a receipt only for what no file holds.

use std::time::Duration;

use super::{Attack, Round, kill};
use crate::examine::Task;
use crate::files;
use crate::remains;
use crate::scene::{Finding, Moment, Plan, Scene, violation};
use crate::truth::Leave;
use crate::writer::Deletes;

/// How many writers are killed in a round.
const KILLS: u64 = 10;

/// `SIGKILL` in deletions and erasures.
#[derive(Debug)]
pub(crate) struct Delete;

impl Attack for Delete {
    fn name(&self) -> &'static str {
        "delete"
    }

    fn about(&self) -> &'static str {
        "a writer is killed (SIGKILL) while it deletes and erases, ten times a round; then all is erased, and no file holds any of it"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&Plan::steps(20))?;
        for _ in 0..KILLS {
            let what = if scene.chance.below(2) == 0 { "delete" } else { "erase" };
            let kill = Moment::Doing(what, 1 + scene.chance.below(3));
            let delay = Duration::from_micros(scene.chance.below(8000) as u64);
            scene.write(&Plan { kill, delay, deletes: Deletes::Often, ..Plan::steps(60) })?;
            let task = if scene.chance.below(2) == 0 { Task::Read } else { Task::Open };
            kill::check(&mut scene, task)?;
        }
        erased(&mut scene)?;
        kill::check(&mut scene, Task::Open)
    }
}

/// Everything that is deleted can be erased when nobody reads the store, and then no file holds any of it.
pub(crate) fn erased(scene: &mut Scene) -> Result<(), Finding> {
    // Only now is it known whether the last deletion took place.
    kill::check(scene, Task::Open)?;
    erase(scene, true)
}

fn erase(scene: &mut Scene, again: bool) -> Result<(), Finding> {
    let mut writing = scene.start(&Plan { quiet: true, ..Plan::steps(u64::MAX) }, true)?;
    scene.until_ready(&mut writing)?;
    for step in ["append", "delete", "erase", "close"] {
        scene.step(&mut writing, step)?;
    }
    scene.finish(writing, false)?;
    if !scene.truth.is_all_erased() && again {
        // The removal of a file may be lost with a flush of the folder that failed: then no list names it when it is back, and repair looks into it. What
        // was removed may come back with it, so this is tried on a copy.
        let mut copy = scene.fork(scene.folder.with_extension("repaired"));
        files::write(&copy.folder, &files::read(&scene.folder)?)?;
        let report = copy.examine(Task::Repair, &[])?;
        return match report.error {
            Some(error) => {
                violation(format!("what is deleted cannot be erased, nor the store repaired: {error}"))
            }
            None => erase(&mut copy, false),
        };
    }
    if !scene.truth.is_all_erased() {
        return violation("nobody reads the store, and what is deleted cannot be erased");
    }
    if !again {
        return Ok(());
    }
    remains::check(&scene.truth, &files::read(&scene.folder)?).map_err(Finding::Violation)?;
    scene.check(Task::Read, &Leave::default()).map(drop)
}
