//! Real file systems are shut down in the middle of work, as a loss of power would: what was not flushed is gone.

use std::time::Duration;

use tamias_store::io::Chance;

use super::{Attack, Round};
use crate::devices::{self, Image, Kind, Mounted};
use crate::examine::Task;
use crate::files;
use crate::line::Line;
use crate::report::Report;
use crate::scene::{Finding, Plan, Scene, violation};
use crate::truth::Leave;
use crate::writer::Waits;

/// A file system that is shut down.
#[derive(Debug)]
struct Shutdown {
    name: &'static str,
    about: &'static str,
    kind: Kind,
}

/// One attack per file system.
pub(crate) fn all() -> Vec<Box<dyn Attack>> {
    let about =
        "the file system is shut down under a writer, with its own log flushed or not, and mounted again";
    let named = [("shutdown-ext4", Kind::Ext4), ("shutdown-xfs", Kind::Xfs), ("shutdown-btrfs", Kind::Btrfs)];
    named
        .into_iter()
        .map(|(name, kind)| Box::new(Shutdown { name, about, kind }) as Box<dyn Attack>)
        .collect()
}

/// What the kernel is asked to do.
fn shut_down(mounted: &Mounted, flush: bool) -> std::io::Result<()> {
    let command = if flush { "shutdown -f" } else { "shutdown" };
    let said = devices::run("xfs_io", &["-x", "-c", command, devices::text(mounted.folder())?])?;
    // It tells of errors on its standard output, and ends well all the same.
    if said.is_empty() { Ok(()) } else { Err(std::io::Error::other(said)) }
}

impl Attack for Shutdown {
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
        if let Some(why) = devices::image_obstacle(self.kind, &["xfs_io"]) {
            return Some(why);
        }
        let try_it = || {
            let folder = tempfile::tempdir()?;
            let image = Image::make(&folder.path().join("image"), self.kind, self.kind.least_bytes())?;
            let mounted = image.mount(&folder.path().join("mounted"), "")?;
            std::fs::write(mounted.folder().join("file"), b"x")?;
            shut_down(&mounted, false)?;
            match std::fs::write(mounted.folder().join("file"), b"y") {
                Ok(()) => Err(std::io::Error::other("the kernel does not shut it down")),
                Err(_) => Ok(()),
            }
        };
        try_it().err().map(|error| format!("this kernel cannot shut it down: {error}"))
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let bytes = self.kind.least_bytes().max(64 << 20);
        let image = Image::make(&round.folder.join("image"), self.kind, bytes)?;
        let folder = round.folder.join("mounted");
        let mut mounted = image.mount(&folder, "")?;
        let mut scene = round.scene_in(folder.join("store"));
        for _ in 0..4 {
            write(&mut scene, &mounted)?;
            mounted.unmount()?;
            mounted = image.mount(&folder, "")?;
            let leave = Leave { weak: true, ..Leave::default() };
            if scene.folder.is_dir() {
                let report = scene.check(Task::Open, &leave)?;
                scene.truth.adopt(&report);
            }
        }
        mounted = repair(&scene, &image, mounted)?;
        mounted.unmount()?;
        Ok(())
    }
}

/// A writer works until the file system is shut down.
fn write(scene: &mut Scene, mounted: &Mounted) -> Result<(), Finding> {
    let ways = [Waits::Sync, Waits::Sync, Waits::Sync, Waits::None, Waits::Interval];
    let waits = *files::pick(&ways, &mut scene.chance).unwrap_or(&Waits::Sync);
    let mut writing = scene.start(&Plan { waits, ..Plan::steps(u64::MAX) }, false)?;
    let wanted = 1 + scene.chance.below(40);
    let steps = ["seal", "compact", "remove", "flush", "close"];
    // In the middle of an append, or of another step, which comes sooner or later.
    let step = if scene.chance.below(2) == 0 { files::pick(&steps, &mut scene.chance) } else { None };
    let mut stored = 0;
    while let Some(line) = scene.listen(&mut writing)? {
        stored += usize::from(matches!(line, Line::Stored(..)));
        if match step {
            Some(&step) => line == Line::Doing(step.into()),
            None => stored >= wanted,
        } {
            break;
        }
    }
    std::thread::sleep(Duration::from_micros(scene.chance.below(4000) as u64));
    scene.blow();
    // A flush that goes on while the file system is shut down may be said to be done, and its bytes be lost: with Linux 6.18 a program
    // that only writes and flushes one file sees it in one of fifteen shutdowns. No power goes like that: nobody hears of such a flush.
    // So what was acknowledged before must be there.
    writing.doubtful = true;
    if scene.chance.below(2) == 0 {
        writing.child.kill();
        writing.killed = true;
    }
    shut_down(mounted, scene.chance.below(3) == 0)?;
    // A weaker writer may go on for long without a flush, which is what tells it.
    if scene.chance.below(2) == 0 || waits != Waits::Sync {
        writing.child.kill();
        writing.killed = true;
    }
    scene.finish(writing, true)?;
    Ok(())
}

/// A repair is interrupted by a shutdown, and made again: what could be read before is there.
fn repair(scene: &Scene, image: &Image, mounted: Mounted) -> Result<Mounted, Finding> {
    let folder = mounted.folder().to_path_buf();
    let mut contents = files::read(&scene.folder)?;
    let names: Vec<String> = files::named(&contents, ".segment").into_iter().cloned().collect();
    for name in names.iter().take(3) {
        let Some(bytes) = contents.get_mut(name) else { continue };
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }
    files::write(&scene.folder, &contents)?;
    mounted.unmount()?;
    let mounted = image.mount(&folder, "")?;
    let before = scene.examine(Task::Read, &[])?;
    let child = scene.start_examining(Task::Repair, &scene.folder, &[])?;
    std::thread::sleep(Duration::from_micros(Chance(scene.chance.0).below(12_000) as u64));
    scene.blow();
    shut_down(&mounted, false)?;
    scene.hear_out(child, Report::default())?;
    mounted.unmount()?;
    let mounted = image.mount(&folder, "")?;
    let repair = scene.examine(Task::Repair, &[])?;
    let after = scene.examine(Task::Open, &[])?;
    let errors = [&before, &repair, &after].map(|report| report.error.clone());
    if errors.iter().any(Option::is_some) || !after.damage().is_empty() {
        return violation(format!(
            "a repair that was interrupted does not lead to a sound store: {errors:?} {:?}",
            after.damage()
        ));
    }
    scene.compare(&after, &Leave { damage: before.damage(), ..Leave::default() })?;
    Ok(mounted)
}
