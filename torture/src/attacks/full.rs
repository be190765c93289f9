//! Real file systems without a byte, or without a file, to spare.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::limit::{appends, opening};
use super::{Attack, Round};
use crate::devices::{self, Image, Kind, Mounted};
use crate::examine::Task;
use crate::line::Line;
use crate::scene::{Finding, Plan, Scene, violation};
use crate::truth::Leave;

/// Bytes of the small file systems.
const BYTES: u64 = 6 << 20;

/// A file system that is full.
#[derive(Debug)]
struct Full {
    name: &'static str,
    about: &'static str,
    /// What is on its image; without one it is in memory.
    kind: Option<Kind>,
}

/// One attack per file system.
pub(crate) fn all() -> Vec<Box<dyn Attack>> {
    let about = "no byte, or no inode, is left: appends are refused cleanly, reading and removing work, and then appending";
    let full = |name, kind| Box::new(Full { name, about, kind }) as Box<dyn Attack>;
    vec![full("full-ext4", Some(Kind::Ext4)), full("full-xfs", Some(Kind::Xfs)), full("full-tmpfs", None)]
}

impl Attack for Full {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs_root(&self) -> bool {
        true
    }

    fn obstacle(&self) -> Option<String> {
        match self.kind {
            Some(kind) => devices::image_obstacle(kind, &[]),
            None => devices::obstacle(&[]),
        }
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let folder = round.folder.join("mounted");
        let Some(kind) = self.kind else {
            return fill_up(round, Mounted::in_memory(&folder, BYTES, 200)?, true);
        };
        let image = Image::make(&round.folder.join("image"), kind, kind.least_bytes())?;
        // XFS makes inodes as long as there are bytes.
        fill_up(round, image.mount(&folder, "")?, kind == Kind::Ext4)
    }
}

fn fill_up(round: &mut Round, mounted: Mounted, inodes: bool) -> Result<(), Finding> {
    let mut scene = round.scene_in(mounted.folder().join("store"));
    scene.write(&Plan { keep: true, ..Plan::steps(150) })?;
    scene.check(Task::Read, &Leave::default())?;
    let ballast = mounted.folder().join("ballast");
    std::fs::create_dir(&ballast)?;
    let files = inodes && scene.chance.below(3) == 0;
    let early = scene.chance.below(2) == 0;
    let spare = [0, 0, 0, 5000, 40_000].get(scene.chance.below(5)).copied().unwrap_or(0);
    let plan = Plan { keep: true, quiet: true, ..Plan::steps(u64::MAX) };
    // The writer has the store open when the room goes, or it comes to a full house.
    let writing = if early {
        let mut writing = scene.start(&plan, true)?;
        opening(&mut scene, &mut writing)?;
        Some(writing)
    } else {
        None
    };
    fill(&ballast, files, spare)?;
    let writing = match writing {
        Some(writing) => Some(writing),
        None => {
            let mut writing = scene.start(&plan, true)?;
            if opening(&mut scene, &mut writing)? {
                Some(writing)
            } else {
                scene.finish(writing, true)?;
                None
            }
        }
    };
    match writing {
        Some(mut writing) => {
            work(&mut scene, &mut writing)?;
            scene.step(&mut writing, "close")?;
            scene.finish(writing, true)?;
        }
        None => removal(&mut scene)?,
    }
    scene.check(Task::Read, &Leave::default())?;
    std::fs::remove_dir_all(&ballast)?;
    scene.check(Task::Open, &Leave::default())?;
    scene.write(&Plan { keep: true, ..Plan::steps(20) })?;
    scene.check(Task::Read, &Leave::default())?;
    mounted.unmount()?;
    Ok(())
}

/// Where a store cannot be opened for want of room, the oldest events can be removed without opening it.
fn removal(scene: &mut Scene) -> Result<(), Finding> {
    scene.check(Task::Read, &Leave::default())?;
    let report = scene.examine(Task::Remove, &[])?;
    if let Some(error) = report.error {
        return violation(format!("with no room left nothing can be removed without opening: {error}"));
    }
    scene.truth.removed_by_others(report.removed);
    Ok(())
}

/// Appends until nothing goes any more, reads, makes room by removal, and appends again.
fn work(scene: &mut Scene, writing: &mut crate::scene::Writing) -> Result<(), Finding> {
    appends(scene, writing, 400)?;
    scene.check(Task::Read, &Leave::default())?;
    let before = room(&scene.folder)?;
    match scene.step(writing, "remove")?.last() {
        Some(Line::Removed(_)) => {}
        other => return violation(format!("with no room left nothing can be removed: {other:?}")),
    }
    // Room for a log, a manifest and the batch.
    if before.saturating_sub(room(&scene.folder)?) < 64 << 10 {
        return Ok(());
    }
    match scene.step(writing, "append")?.last() {
        Some(Line::Stored(..)) => Ok(()),
        other => violation(format!("though room was made, an append ends with {other:?}")),
    }
}

/// Bytes of the files in a folder.
fn room(folder: &Path) -> std::io::Result<u64> {
    let lengths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len()));
    lengths.sum()
}

/// Takes all the room there is, but for so many bytes.
fn fill(ballast: &Path, files: bool, spare: u64) -> std::io::Result<()> {
    if files {
        // Far more than these file systems have.
        for number in 0..1_000_000 {
            if File::create(ballast.join(number.to_string())).is_err() {
                return Ok(());
            }
        }
        return Err(std::io::Error::other("the file system does not run out of inodes"));
    }
    let mut file = File::create(ballast.join("bytes"))?;
    let mut piece = 64 << 10;
    while piece > 0 {
        match file.write(vec![b'x'; piece].as_slice()) {
            Ok(written) if written > 0 => {}
            _ => piece /= 2,
        }
    }
    let length = file.metadata()?.len();
    // What is written late must have its blocks now.
    let _ = file.sync_all();
    file.set_len(length.saturating_sub(spare))?;
    file.sync_all()
}
