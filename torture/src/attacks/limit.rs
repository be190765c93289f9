//! No file may grow beyond a limit (`ulimit -f`): appends are refused cleanly, leave nothing behind, and old segments can be removed.

use super::{Attack, Round};
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::line::Line;
use crate::scene::{Finding, Plan, Scene, Writing, violation};
use crate::truth::Leave;

/// A limit on the length of files.
#[derive(Debug)]
pub(crate) struct Limit;

impl Attack for Limit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn about(&self) -> &'static str {
        "no file may grow beyond a limit (RLIMIT_FSIZE): each append is stored or refused, and what is refused leaves nothing"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&Plan { keep: true, ..Plan::steps(60) })?;
        // In blocks of 512 bytes. A manifest must fit, but few segments do.
        let blocks = 12 + scene.chance.below(40);
        // Ignored, the signal of the limit becomes an error; that of a writer which does not ignore it is the next one's.
        let shell = Some(format!("trap '' XFSZ; ulimit -f {blocks}"));
        let mut writing = scene.start(&Plan { shell, quiet: true, ..Plan::steps(u64::MAX) }, true)?;
        if opening(&mut scene, &mut writing)? {
            appends(&mut scene, &mut writing, 40)?;
            scene.step(&mut writing, "close")?;
        }
        scene.finish(writing, true)?;
        scene.check(Task::Open, &Leave::default())?;
        scene.write(&Plan::steps(10))?;
        scene.check(Task::Read, &Leave::default())?;
        Ok(())
    }
}

/// Whether a paced writer has opened the store. Nothing may be left behind where it has not.
pub(super) fn opening(scene: &mut Scene, writing: &mut Writing) -> Result<bool, Finding> {
    let lines = scene.until_ready(writing)?;
    if lines.contains(&Line::Opened) {
        return Ok(true);
    }
    tidy(&files::read(&scene.folder)?, None)?;
    Ok(false)
}

/// Appends, sealed or not, until so many were refused: how many.
pub(super) fn appends(scene: &mut Scene, writing: &mut Writing, most: usize) -> Result<usize, Finding> {
    let mut refused = 0;
    for _ in 0..most {
        let before = files::read(&scene.folder)?;
        let word = if scene.chance.below(4) == 0 { "append-sealed" } else { "append" };
        let lines = scene.step(writing, word)?;
        match lines.last() {
            Some(Line::Refused(..)) => {
                refused += 1;
                scene.blow();
                tidy(&files::read(&scene.folder)?, Some(&before))?;
                if refused > 4 {
                    break;
                }
            }
            Some(Line::Stored(..) | Line::Done(_)) => {}
            other => return violation(format!("instead of refusing an append the store says {other:?}")),
        }
    }
    Ok(refused)
}

/// That a failed step has left no files, and no log is longer.
fn tidy(after: &Contents, before: Option<&Contents>) -> Result<(), Finding> {
    if let Some(name) = after.keys().find(|name| name.ends_with(".tmp")) {
        return violation(format!("a failed operation has left {name}"));
    }
    let Some(before) = before else { return Ok(()) };
    for (name, bytes) in before.iter().filter(|(name, _)| name.ends_with(".log")) {
        let now = after.get(name).map_or(bytes.len(), Vec::len);
        if now != bytes.len() {
            return violation(format!(
                "a refused append has left {name} {now} bytes long, it had {}",
                bytes.len()
            ));
        }
    }
    let unknown: Vec<&String> =
        after.keys().filter(|name| name.ends_with(".segment") && !before.contains_key(*name)).collect();
    if unknown.is_empty() { Ok(()) } else { violation(format!("a refused append has left {unknown:?}")) }
}
