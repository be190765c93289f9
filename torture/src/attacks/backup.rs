//! Beside a writer others take backups and ask for things; all of them are killed at random moments.

use std::path::Path;
use std::time::Duration;

use super::{Attack, Round, kill};
use crate::child::{Child, Next};
use crate::examine::Task;
use crate::line::Line;
use crate::report::Report;
use crate::scene::{Finding, Scene, judge, violation};
use crate::truth::{Leave, Truth};

/// Backups of a store that is written to, and requests.
#[derive(Debug)]
pub(crate) struct Backup;

impl Attack for Backup {
    fn name(&self) -> &'static str {
        "backup"
    }

    fn about(&self) -> &'static str {
        "backups are taken beside a writer that others ask to seal and to compact; each of them is killed at any moment"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&crate::scene::Plan::steps(20))?;
        let to = round.folder.join("backup");
        // What the last backup that came to its end must hold.
        let mut least: Option<Truth> = None;
        for _ in 0..4 {
            let taken = beside(&mut scene, &to)?;
            least = taken.or(least);
            check(&scene.fork(to.clone()), least.as_ref())?;
        }
        let before = scene.truth.clone();
        ended_well(&scene, start(&scene, Task::Backup, &scene.folder, Some(&to))?)?;
        check(&scene.fork(to.clone()), Some(&before))?;
        let restored = scene.fork(round.folder.join("restored"));
        ended_well(&scene, start(&scene, Task::Restore, &to, Some(&restored.folder))?)?;
        restored.check(Task::Open, &Leave { sources: true, ..Leave::default() })?;
        scene.check(Task::Open, &Leave::default())?;
        Ok(())
    }
}

fn start(scene: &Scene, task: Task, folder: &Path, to: Option<&Path>) -> Result<Child, Finding> {
    let to = to.map(|to| format!("--to={}", to.display()));
    scene.start_examining(task, folder, to.as_slice())
}

/// Whether a process did what it was to do; it may not be able to only because the writer does nothing but seal.
fn ended_well(scene: &Scene, child: Child) -> Result<bool, Finding> {
    match scene.hear_out(child, Report::default())?.error {
        Some(error) if error.contains("changes faster") => Ok(false),
        Some(error) => violation(format!("a backup, or a request, fails for no reason: {error}")),
        None => Ok(true),
    }
}

/// A writer works, until it is killed; beside it a backup is taken, and it is asked for something. What the backup must hold, if it came to its end.
fn beside(scene: &mut Scene, to: &Path) -> Result<Option<Truth>, Finding> {
    let plan = kill::plan(scene);
    let mut writing = scene.start(&plan, false)?;
    let (begin, end) = (scene.chance.below(15), 15 + scene.chance.below(150));
    let kills = [scene.chance.below(2) == 0, scene.chance.below(2) == 0];
    let mut others = None;
    let mut stored = 0;
    while let Some(line) = scene.listen(&mut writing)? {
        stored += usize::from(matches!(line, Line::Stored(..)));
        if stored > begin && others.is_none() {
            let backup = start(scene, Task::Backup, &scene.folder, Some(to))?;
            others = Some((scene.truth.clone(), [backup, start(scene, Task::Ask, &scene.folder, None)?]));
        }
        if stored > end && !writing.killed {
            scene.kill(&mut writing);
        }
    }
    let Some((before, others)) = others else {
        scene.finish(writing, false)?;
        return Ok(None);
    };
    let mut is_whole = false;
    for ((child, is_killed), is_backup) in others.into_iter().zip(kills).zip([true, false]) {
        if is_killed {
            killed(scene, child)?;
        } else {
            is_whole |= ended_well(scene, child)? && is_backup;
        }
    }
    scene.finish(writing, false)?;
    Ok(is_whole.then_some(before))
}

/// Kills a process a moment after it has begun.
fn killed(scene: &mut Scene, mut child: Child) -> Result<(), Finding> {
    scene.blow();
    if let Next::Silence = child.next() {
        return violation("a backup, or a request, hangs");
    }
    std::thread::sleep(Duration::from_micros(scene.chance.below(8000) as u64));
    child.kill();
    judge(child.end()?, true, "what was killed")
}

/// That a backup is sound in every byte, holds whole batches, and what it must.
fn check(backup: &Scene, least: Option<&Truth>) -> Result<(), Finding> {
    let report = backup.examine(Task::Read, &[])?;
    match (&report.error, least) {
        (Some(error), None) if error.contains("no store") => return Ok(()),
        (Some(error), _) => return violation(format!("the backup cannot be read: {error}")),
        (None, _) => {}
    }
    if let Some(part) = report.damage().first() {
        return violation(format!("of the backup {} is said to be damaged: {}", part.file, part.found));
    }
    let truth = backup.truth.since(least.unwrap_or(&Truth::default()));
    truth.compare(&report, &Leave { sources: true, ..Leave::default() }).map_err(Finding::Violation)
}
