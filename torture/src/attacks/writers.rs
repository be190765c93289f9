//! Two writers, and a folder that goes away: nobody acknowledges what is not in the store in the end. (A process that forks is tried by
//! a test of the store itself: it takes unsafe code.)

use std::fs::File;
use std::time::Duration;

use super::{Attack, Round};
use crate::examine::Task;
use crate::files;
use crate::line::Line;
use crate::scene::{Finding, Plan, Scene, Writing, violation};
use crate::truth::Leave;

/// Batches of the second writer have numbers from here on.
const SECOND: u64 = 500_000;

/// A lock that is lost.
#[derive(Debug)]
pub(crate) struct Writers;

impl Attack for Writers {
    fn name(&self) -> &'static str {
        "writers"
    }

    fn about(&self) -> &'static str {
        "the lock or the folder goes away under a writer, and a second one comes: nothing acknowledged is missing in the end"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        in_turn(round.scene("in turn"), true)?;
        in_turn(round.scene("locked"), false)?;
        at_once(round.scene("at once"))?;
        gone(round.scene("gone"), false)?;
        gone(round.scene("moved"), true)?;
        readers(round.scene("readers"))
    }
}

fn plan() -> Plan {
    Plan { keep: true, tolerant: true, ..Plan::steps(u64::MAX) }
}

/// Some appends of a paced writer, for as long as it works.
fn some(scene: &mut Scene, writing: &mut Writing) -> Result<(), Finding> {
    for _ in 0..1 + scene.chance.below(5) {
        let word = *files::pick(&["append", "append", "burst", "append-sealed", "seal"], &mut scene.chance)
            .unwrap_or(&"append");
        if scene.step(writing, word)?.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Two writers take turns. With the lock there, the second one must not even open.
fn in_turn(mut scene: Scene, delete: bool) -> Result<(), Finding> {
    let mut first = scene.start(&plan(), true)?;
    scene.until_ready(&mut first)?;
    some(&mut scene, &mut first)?;
    scene.blow();
    if delete {
        std::fs::remove_file(scene.folder.join("lock"))?;
    }
    scene.next = SECOND;
    let mut second = scene.start(&plan(), true)?;
    let opened = scene.until_ready(&mut second)?.contains(&Line::Opened);
    if opened && !delete {
        return violation("a second writer opens the store while the first one holds its lock");
    }
    if opened {
        some(&mut scene, &mut second)?;
    }
    some(&mut scene, &mut first)?;
    if opened {
        some(&mut scene, &mut second)?;
        scene.step(&mut second, "close")?;
    }
    scene.finish(second, true)?;
    some(&mut scene, &mut first)?;
    scene.step(&mut first, "close")?;
    scene.finish(first, true)?;
    scene.check(Task::Open, &Leave { sources: delete, ..Leave::default() })?;
    Ok(())
}

/// Two writers work as they like, after the lock was deleted.
fn at_once(mut scene: Scene) -> Result<(), Finding> {
    let mut first = scene.start(&plan(), false)?;
    let wanted = 5 + scene.chance.below(20);
    let mut stored = 0;
    while stored < wanted {
        let Some(line) = scene.listen(&mut first)? else { break };
        stored += usize::from(matches!(line, Line::Stored(..)));
    }
    scene.blow();
    let _ = std::fs::remove_file(scene.folder.join("lock"));
    scene.next = SECOND;
    let mut second = scene.start(&plan(), false)?;
    for _ in 0..60 {
        let Some(line) = scene.listen(&mut second)? else { break };
        if matches!(line, Line::Failed(_)) {
            break;
        }
    }
    for mut writing in [first, second] {
        scene.kill(&mut writing);
        scene.finish(writing, true)?;
    }
    scene.check(Task::Open, &Leave { sources: true, ..Leave::default() })?;
    Ok(())
}

/// The folder is deleted, or moved, under a writer.
fn gone(mut scene: Scene, moved: bool) -> Result<(), Finding> {
    let mut writing = scene.start(&plan(), true)?;
    scene.until_ready(&mut writing)?;
    some(&mut scene, &mut writing)?;
    scene.blow();
    let elsewhere = scene.folder.with_extension("elsewhere");
    match moved {
        true => std::fs::rename(&scene.folder, &elsewhere)?,
        // A thread of the writer's may make files meanwhile.
        false => while std::fs::remove_dir_all(&scene.folder).is_err() {},
    }
    for word in ["append", "append-sealed", "append"] {
        let lines = scene.step(&mut writing, word)?;
        if let Some(Line::Stored(id, _)) =
            lines.iter().find(|line| matches!(line, Line::Stored(..))).filter(|_| !moved)
        {
            return violation(format!("the folder was deleted, and batch {id} acknowledged after that"));
        }
    }
    scene.step(&mut writing, "close")?;
    scene.finish(writing, true)?;
    if moved {
        scene.folder = elsewhere;
        scene.check(Task::Open, &Leave { sources: true, ..Leave::default() })?;
    }
    Ok(())
}

/// Whoever may read a manifest may lock it; that must not keep others from reading, nor the writer from writing.
fn readers(mut scene: Scene) -> Result<(), Finding> {
    scene.write(&Plan { keep: true, ..Plan::steps(15) })?;
    let contents = files::read(&scene.folder)?;
    scene.blow();
    let mut held = Vec::new();
    for name in files::named(&contents, ".manifest") {
        let file = File::open(scene.folder.join(name))?;
        let locked = if scene.chance.below(2) == 0 { file.try_lock() } else { file.try_lock_shared() };
        if locked.is_ok() {
            held.push(file);
        }
    }
    let report = scene.examine(Task::Read, &[])?;
    if let Some(error) = report.error {
        return violation(format!("a lock that somebody holds on the manifest keeps readers out: {error}"));
    }
    scene.write(&Plan { keep: true, ..Plan::steps(5) })?;
    std::thread::sleep(Duration::from_millis(1));
    drop(held);
    scene.check(Task::Open, &Leave::default())?;
    Ok(())
}
