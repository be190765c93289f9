//! Manifests of an earlier time, or none at all: every acknowledged event must come back with its number, and nothing sound may go.

use super::{Attack, Round};
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::scene::{Finding, Plan, Scene, violation};
use crate::truth::Leave;

/// What is done to the manifests.
const WAYS: [&str; 6] = [
    "all manifests deleted, an earlier backup's files copied over",
    "the manifests replaced by an earlier one",
    "the newest manifest deleted, an earlier one there",
    "all manifests deleted",
    "an earlier manifest put beside the newest",
    "the newest manifest emptied, an earlier one there",
];

/// Manifests of yesterday.
#[derive(Debug)]
pub(crate) struct Stale;

impl Attack for Stale {
    fn name(&self) -> &'static str {
        "stale"
    }

    fn about(&self) -> &'static str {
        "an earlier manifest, an earlier backup's files, or no manifest: all events come back, nothing sound is deleted"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&Plan::steps(30))?;
        let earlier = files::read(&scene.folder)?;
        let steps = 1 + scene.chance.below(50) as u64;
        scene.write(&Plan::steps(steps))?;
        let now = files::read(&scene.folder)?;
        for (number, way) in WAYS.iter().enumerate() {
            let mut copy = scene.fork(round.folder.join(format!("way {number}")));
            files::write(&copy.folder, &tampered(&earlier, &now, number))?;
            check(&mut copy, number).map_err(|finding| match finding {
                Finding::Violation(text) => {
                    Finding::Violation(format!("{}: {way}: {text}", copy.folder.display()))
                }
                other => other,
            })?;
        }
        Ok(())
    }
}

/// The store's files after one of the ways.
fn tampered(earlier: &Contents, now: &Contents, way: usize) -> Contents {
    let mut files = now.clone();
    let newest = files::named(now, ".manifest").last().map(|name| (*name).clone()).unwrap_or_default();
    let old = files::named(earlier, ".manifest").last().map(|name| (*name).clone()).unwrap_or_default();
    let old_bytes = earlier.get(&old).cloned().unwrap_or_default();
    if way != 4 {
        files.retain(|name, _| !name.ends_with(".manifest"));
    }
    match way {
        0 => {
            for (name, bytes) in earlier {
                // A log that has grown since is not cut back: nobody could bring that back.
                if name.ends_with(".manifest") || !files.contains_key(name) {
                    files.insert(name.clone(), bytes.clone());
                }
            }
        }
        1 | 2 => drop(files.insert(old, old_bytes)),
        3 => {}
        4 => drop(files.entry(old).or_insert(old_bytes)),
        _ => {
            files.insert(old, old_bytes);
            files.insert(newest, Vec::new());
        }
    }
    files
}

fn check(scene: &mut Scene, way: usize) -> Result<(), Finding> {
    scene.blow();
    let before = files::read(&scene.folder)?;
    let append = scene.chance.below(2) == 0;
    if append {
        // It may refuse, but it must not make things worse.
        let steps = 1 + scene.chance.below(5) as u64;
        scene.write(&Plan { keep: true, tolerant: true, ..Plan::steps(steps) })?;
    }
    if way == 4 && !append {
        // The newest manifest counts, as ever.
        scene.check(Task::Read, &Leave::default())?;
    }
    let repair = scene.examine(Task::Repair, &[])?;
    if let Some(error) = &repair.error {
        return violation(format!("it cannot be repaired: {error}"));
    }
    scene.check(Task::Open, &Leave::default())?;
    if !append {
        let after = files::read(&scene.folder)?;
        let gone = files::missing(&before, &after, |name| !name.ends_with(".segment"));
        if !gone.is_empty() {
            return violation(format!("the repair has deleted {gone:?}"));
        }
    }
    // It works on, and no number is given twice.
    scene.write(&Plan { keep: true, ..Plan::steps(5) })?;
    scene.check(Task::Open, &Leave::default())?;
    Ok(())
}
