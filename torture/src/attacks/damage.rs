//! Files are altered at random: flipped bits, cuts, appended bytes, zeroed pages. It is found or harmless, and repair keeps what is whole.

use super::{Attack, Round};
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::report::Report;
use crate::scene::{Finding, Moment, Plan, Scene, violation};
use crate::truth::Leave;

/// How many damaged copies a round makes of a store.
const COPIES: usize = 10;

/// Altered bytes.
#[derive(Debug)]
pub(crate) struct Damage;

impl Attack for Damage {
    fn name(&self) -> &'static str {
        "damage"
    }

    fn about(&self) -> &'static str {
        "bits flipped, files cut and grown, pages zeroed: found or harmless, and repair keeps all that is whole"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        let killed = round.chance.below(4) == 0;
        let kill = if killed { Moment::Stored(40) } else { Moment::Never };
        scene.write(&Plan { kill, alone: killed, ..Plan::steps(70) })?;
        let contents = files::read(&scene.folder)?;
        for number in 0..COPIES {
            let mut copy = scene.fork(round.folder.join(format!("copy {number}")));
            let (damaged, what) = damage(&mut copy, &contents, killed);
            let altered = contents.iter().filter(|(name, bytes)| damaged.get(*name) != Some(*bytes));
            let altered = altered.filter(|(name, _)| !name.ends_with(".manifest"));
            let altered: Vec<Vec<u8>> = altered.map(|(_, bytes)| bytes.clone()).collect();
            files::write(&copy.folder, &damaged)?;
            copy.blow();
            let told = check(&mut copy, &damaged, altered, killed);
            told.map_err(|finding| match finding {
                Finding::Violation(text) => {
                    Finding::Violation(format!("{}: {what}: {text}", copy.folder.display()))
                }
                other => other,
            })?;
            std::fs::remove_dir_all(&copy.folder)?;
        }
        Ok(())
    }
}

/// A damaged copy, and what was done to it.
fn damage(scene: &mut Scene, contents: &Contents, killed: bool) -> (Contents, String) {
    let mut damaged = contents.clone();
    let names = files::numbered(contents);
    let mut done = Vec::new();
    for _ in 0..1 + scene.chance.below(2) {
        let Some(name) = files::pick(&names, &mut scene.chance) else { continue };
        let Some(bytes) = damaged.get_mut(name) else { continue };
        if killed && name.ends_with(".log") {
            // Whoever loses more than a bit of an open log's end loses batches that nothing witnesses.
            let (at, bit) = (scene.chance.below(bytes.len()), scene.chance.below(8));
            bytes[at] ^= 1 << bit;
            done.push(format!("{name}: bit {bit} of byte {at} flipped"));
            break;
        }
        done.push(format!("{name}: {}", files::alter(bytes, &mut scene.chance)));
    }
    (damaged, done.join(", "))
}

/// Whether a report explains all that is lost, by what a query left out.
pub(super) fn explained(scene: &Scene, report: &Report, last: bool) -> Result<Leave, Finding> {
    let queried = Leave { damage: report.left_out.clone(), last, ..Leave::default() };
    scene.compare(report, &queried)?;
    if report.left_out.is_empty() && report.stopped.is_some() {
        return violation(format!(
            "a query that leaves nothing out stops ({:?}), and one that may leaves nothing out",
            report.stopped
        ));
    }
    Ok(Leave { damage: report.damage(), last, sources: true, ..Leave::default() })
}

fn check(scene: &mut Scene, damaged: &Contents, altered: Vec<Vec<u8>>, killed: bool) -> Result<(), Finding> {
    let plain: &[&str] = if scene.chance.below(2) == 0 { &["--plain"] } else { &[] };
    let report = scene.examine(Task::Read, plain)?;
    let leave = match &report.error {
        // Only a manifest stands in the way of all the rest.
        Some(error) if error.contains("manifest") => {
            if !error.contains("repair") {
                return violation(format!("the error names no remedy: {error}"));
            }
            // What is damaged beside it shows only when it is there again.
            Leave { last: killed, files: altered, sources: true, ..Leave::default() }
        }
        Some(error) => {
            return violation(format!("damage in one place keeps the rest from being read: {error}"));
        }
        None => explained(scene, &report, killed)?,
    };
    repaired(scene, damaged, leave)
}

/// Repairs, and checks that all is there but for what `leave` excuses.
pub(super) fn repaired(scene: &mut Scene, before: &Contents, leave: Leave) -> Result<(), Finding> {
    let repair = scene.examine(Task::Repair, &[])?;
    if let Some(error) = &repair.error {
        return violation(format!("it cannot be repaired: {error}"));
    }
    let after = scene.examine(Task::Open, &[])?;
    if let Some(error) = &after.error {
        return violation(format!("after the repair it does not open: {error}"));
    }
    if let Some(part) = after.damage().first() {
        return violation(format!("after the repair {} is still damaged: {}", part.file, part.found));
    }
    scene.compare(&after, &leave)?;
    let named: Vec<&String> = repair.repaired.iter().map(|(name, _)| name).collect();
    let now = files::read(&scene.folder)?;
    match files::missing(before, &now, |name| !named.iter().any(|named| *named == name)) {
        gone if gone.is_empty() => Ok(()),
        gone => violation(format!("the repair has taken {gone:?} away, and not kept it in quarantine")),
    }
}
