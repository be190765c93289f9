//! Files of another store are copied in: they are refused by name, and left alone.

use super::{Attack, Round};
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::scene::{Finding, Plan, Scene, violation};
use crate::truth::Leave;

/// Batches of the other store have numbers from here on.
const OTHERS: u64 = 1_000_000;

/// Another store's files.
#[derive(Debug)]
pub(crate) struct Foreign;

impl Attack for Foreign {
    fn name(&self) -> &'static str {
        "foreign"
    }

    fn about(&self) -> &'static str {
        "another store's manifests (of higher and lower numbers), segments and logs copied in: refused by name, left alone"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        let mut other = round.scene("other");
        other.next = OTHERS;
        // The one that works longer has the higher numbers.
        let long = round.chance.below(2) == 0;
        let plan = |long| Plan { keep: true, ..Plan::steps(if long { 70 } else { 25 }) };
        scene.write(&plan(long))?;
        other.write(&plan(!long))?;
        let own = files::read(&scene.folder)?;
        let theirs = files::read(&other.folder)?;
        let chosen: [fn(&str) -> bool; 4] = [
            |name| name.ends_with(".manifest"),
            |name| name.ends_with(".segment"),
            |name| name.ends_with(".segment") || name.ends_with(".log"),
            |name| [".segment", ".log", ".manifest"].iter().any(|ending| name.ends_with(ending)),
        ];
        for (number, chosen) in chosen.iter().enumerate() {
            let mut copy = scene.fork(round.folder.join(format!("way {number}")));
            let foreign: Contents = theirs
                .iter()
                .filter(|(name, _)| chosen(name) && !own.contains_key(*name))
                .map(|(name, bytes)| (name.clone(), bytes.clone()))
                .collect();
            files::write(&copy.folder, &own)?;
            files::write(&copy.folder, &foreign)?;
            copy.blow();
            check(&mut copy, &own, &foreign).map_err(|finding| match finding {
                Finding::Violation(text) => {
                    let names: Vec<&String> = foreign.keys().collect();
                    Finding::Violation(format!("{}: with {names:?} copied in: {text}", copy.folder.display()))
                }
                other => other,
            })?;
        }
        Ok(())
    }
}

/// That the foreign files are all there, in the store or in quarantine.
fn left_alone(scene: &Scene, foreign: &Contents) -> Result<(), Finding> {
    match files::missing(foreign, &files::read(&scene.folder)?, |_| false) {
        gone if gone.is_empty() => Ok(()),
        gone => violation(format!("the other store's {gone:?} are gone")),
    }
}

fn check(scene: &mut Scene, own: &Contents, foreign: &Contents) -> Result<(), Finding> {
    let manifest = foreign.keys().any(|name| name.ends_with(".manifest"));
    let read = scene.examine(Task::Read, &[])?;
    match &read.error {
        None => scene.compare(&read, &Leave { sources: true, ..Leave::default() })?,
        Some(error) if !manifest => {
            return violation(format!("they keep the store from being read: {error}"));
        }
        Some(error) if !error.contains(".manifest") => {
            return violation(format!("the error names no manifest: {error}"));
        }
        Some(_) => {}
    }
    scene.write(&Plan { keep: true, tolerant: true, ..Plan::steps(4) })?;
    left_alone(scene, foreign)?;
    if read.error.is_some() {
        let gone = files::missing(own, &files::read(&scene.folder)?, |_| false);
        if !gone.is_empty() {
            return violation(format!("opening was refused, and yet {gone:?} are gone"));
        }
    }
    // It may refuse as well.
    scene.examine(Task::Repair, &[])?;
    left_alone(scene, foreign)?;
    for name in foreign.keys().filter(|name| name.ends_with(".manifest")) {
        let path = scene.folder.join(name);
        if path.is_file() {
            std::fs::remove_file(path)?;
        }
    }
    scene.check(Task::Open, &Leave::default())?;
    left_alone(
        scene,
        &foreign
            .iter()
            .filter(|(name, _)| !name.ends_with(".manifest"))
            .map(|(a, b)| (a.clone(), b.clone()))
            .collect(),
    )?;
    Ok(())
}
