//! Files are removed, renamed, doubled under other numbers, or added.

use super::damage::{explained, repaired};
use super::{Attack, Round};
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::scene::{Finding, Plan, Scene, violation};
use crate::truth::Leave;

/// Files that are not where they were.
#[derive(Debug)]
pub(crate) struct Missing;

impl Attack for Missing {
    fn name(&self) -> &'static str {
        "missing"
    }

    fn about(&self) -> &'static str {
        "each file removed and put back, renamed, doubled under another number; an empty manifest added"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&Plan::steps(60))?;
        let contents = files::read(&scene.folder)?;
        for name in files::numbered(&contents).into_iter().chain(["lock".into(), "writer".into()]) {
            let mut copy = scene.fork(round.folder.join("copy"));
            let (moved, what) = shift(&mut copy, &contents, &name);
            files::write(&copy.folder, &moved)?;
            copy.blow();
            check(&mut copy, &contents, &moved).map_err(|finding| match finding {
                Finding::Violation(text) => {
                    Finding::Violation(format!("{}: {name} {what}: {text}", copy.folder.display()))
                }
                other => other,
            })?;
            std::fs::remove_dir_all(&copy.folder)?;
        }
        Ok(())
    }
}

/// The files after one of them was moved somehow, and how.
fn shift(scene: &mut Scene, contents: &Contents, name: &str) -> (Contents, String) {
    let mut moved = contents.clone();
    let Some(ending) = [".manifest", ".log", ".segment"].iter().find(|ending| name.ends_with(**ending))
    else {
        moved.remove(name);
        return (moved, "removed".into());
    };
    let lower = scene.chance.below(2) == 0;
    let number = if lower { scene.chance.below(3) } else { 1000 + scene.chance.below(1000) };
    let other = format!("{number:016x}{ending}");
    let bytes = contents.get(name).cloned().unwrap_or_default();
    match scene.chance.below(4) {
        0 => {
            moved.remove(name);
            (moved, "removed".into())
        }
        1 if !contents.contains_key(&other) => {
            moved.remove(name);
            moved.insert(other.clone(), bytes);
            (moved, format!("renamed to {other}"))
        }
        2 if !contents.contains_key(&other) => {
            moved.insert(other.clone(), bytes);
            (moved, format!("doubled as {other}"))
        }
        _ => {
            let empty = format!("{:016x}{ending}", 5000);
            moved.insert(empty.clone(), Vec::new());
            (moved, format!("and an empty {empty} beside it"))
        }
    }
}

fn check(scene: &mut Scene, contents: &Contents, moved: &Contents) -> Result<(), Finding> {
    let report = scene.examine(Task::Read, &[])?;
    // All that was there is there still: at most a name stands in the way.
    let all_there = contents.iter().all(|(name, bytes)| moved.get(name) == Some(bytes));
    // What was taken away whole is not there; what was renamed may be.
    let taken: Vec<Vec<u8>> = contents
        .iter()
        .filter(|(name, bytes)| !name.ends_with(".manifest") && moved.get(*name) != Some(*bytes))
        .map(|(_, bytes)| bytes.clone())
        .collect();
    let leave = match &report.error {
        Some(error) if error.contains("manifest") => {
            if !error.contains("repair") {
                return violation(format!("the error names no remedy: {error}"));
            }
            Leave { files: taken, sources: true, ..Leave::default() }
        }
        Some(error) => return violation(format!("one file keeps the rest from being read: {error}")),
        None => explained(scene, &report, false)?,
    };
    if all_there && !leave.damage.is_empty() {
        return violation(format!("a file too many is taken for damage: {:?}", leave.damage));
    }
    if scene.chance.below(2) == 0 {
        repaired(scene, moved, leave)?;
    } else {
        // Without a look at what came of it.
        scene.examine(Task::Repair, &[])?;
    }
    put_back(scene, contents, moved)
}

/// Whoever finds the file that was missing puts it back, and repairs once more: its events are there again.
fn put_back(scene: &mut Scene, contents: &Contents, moved: &Contents) -> Result<(), Finding> {
    for (name, bytes) in contents.iter().filter(|(name, _)| !moved.contains_key(*name)) {
        let path = scene.folder.join(name);
        if !path.exists() {
            std::fs::write(path, bytes)?;
        }
    }
    if scene.chance.below(2) == 0 {
        scene.write(&Plan { keep: true, ..Plan::steps(3) })?;
    }
    let repair = scene.examine(Task::Repair, &[])?;
    if let Some(error) = &repair.error {
        return violation(format!("with the missing file put back it cannot be repaired: {error}"));
    }
    let told = scene.check(Task::Open, &Leave { sources: true, ..Leave::default() });
    told.map(drop).map_err(|finding| match finding {
        Finding::Violation(text) => Finding::Violation(format!("with the missing file put back: {text}")),
        other => other,
    })
}
