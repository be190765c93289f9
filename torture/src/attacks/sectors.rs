//! Sectors that cannot be read, simulated and on a real file system, and files that are cut under a reader: all of it is damage of that
//! stretch, and nothing else is lost.

use std::path::Path;

use super::damage::explained;
use super::{Attack, Round};
use crate::child::{Child, Next};
use crate::devices::{self, Image, Kind};
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::plant::Unreadable;
use crate::report::Report;
use crate::scene::{Finding, Moment, Plan, Scene, violation};
use crate::truth::Leave;

/// Errors on the way to the store, as a bad sector gives them.
#[derive(Debug)]
pub(crate) struct Simulated;

/// Real errors: the bytes behind a btrfs file are altered, so that its checksums tell.
#[derive(Debug)]
pub(crate) struct Btrfs;

/// Files cut short under a reader.
#[derive(Debug)]
pub(crate) struct Cut;

/// A file by chance, and a page of it.
fn stretch(scene: &mut Scene, contents: &Contents) -> Option<Unreadable> {
    let names = files::numbered(contents);
    // Half of the time the log, which is one among many.
    let logs: Vec<String> = names.iter().filter(|name| name.ends_with(".log")).cloned().collect();
    let from = if !logs.is_empty() && scene.chance.below(2) == 0 { &logs } else { &names };
    let file = files::pick(from, &mut scene.chance)?.clone();
    let length = contents.get(&file)?.len();
    let pages = length.div_ceil(4096).max(1);
    // Often the last one.
    let page = if scene.chance.below(2) == 0 { pages - 1 } else { scene.chance.below(pages) } as u64;
    Some(Unreadable { file, bytes: page * 4096..(page + 1) * 4096 })
}

/// Reads with the stretch unreadable: all that is lost is named, at that file. What may be lacking after a repair.
fn read(scene: &Scene, stretch: &Unreadable, report: &Report) -> Result<Leave, Finding> {
    match &report.error {
        // Nothing can be read without it; repair makes another from the rest.
        Some(error) if stretch.file.ends_with(".manifest") && error.contains("manifest") => {
            Ok(Leave { sources: true, ..Leave::default() })
        }
        Some(error) => violation(format!("one sector keeps the rest from being read: {error}")),
        None => {
            let leave = explained(scene, report, false)?;
            match leave.damage.iter().find(|part| part.file != stretch.file) {
                Some(part) => {
                    violation(format!("{} is said to be damaged as well: {}", part.file, part.found))
                }
                None => Ok(leave),
            }
        }
    }
}

/// Repairs, while the stretch still cannot be read.
fn repair(scene: &Scene, stretch: &Unreadable, leave: &Leave, more: &[&str]) -> Result<(), Finding> {
    let repair = scene.examine(Task::Repair, more)?;
    if let Some(error) = &repair.error {
        return violation(format!("with {stretch} unreadable it cannot be repaired: {error}"));
    }
    let after = scene.examine(Task::Open, more)?;
    if after.error.is_some() || !after.damage().is_empty() {
        return violation(format!(
            "after the repair it is not sound: {:?} {:?}",
            after.error,
            after.damage()
        ));
    }
    scene.compare(&after, leave)
}

fn within(stretch: &Unreadable, finding: Finding) -> Finding {
    match finding {
        Finding::Violation(text) => Finding::Violation(format!("with {stretch} unreadable: {text}")),
        other => other,
    }
}

impl Attack for Simulated {
    fn name(&self) -> &'static str {
        "sectors"
    }

    fn about(&self) -> &'static str {
        "reads of a page of a manifest, log or segment fail (simulated EIO): named, the rest served and kept by repair"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        let kill = if round.chance.below(2) == 0 { Moment::Stored(40) } else { Moment::Never };
        scene.write(&Plan { kill, keep: true, ..Plan::steps(60) })?;
        let contents = files::read(&scene.folder)?;
        for number in 0..6 {
            let mut copy = scene.fork(round.folder.join(format!("copy {number}")));
            let Some(stretch) = stretch(&mut copy, &contents) else { continue };
            files::write(&copy.folder, &contents)?;
            copy.blow();
            let unreadable = format!("--unreadable={stretch}");
            let more = ["--plain", unreadable.as_str()];
            let leave = copy.examine(Task::Read, &more).and_then(|report| read(&copy, &stretch, &report));
            let leave = leave.map_err(|finding| within(&stretch, finding))?;
            repair(&copy, &stretch, &leave, &more).map_err(|finding| within(&stretch, finding))?;
            std::fs::remove_dir_all(&copy.folder)?;
        }
        Ok(())
    }
}

impl Attack for Btrfs {
    fn name(&self) -> &'static str {
        "sectors-btrfs"
    }

    fn about(&self) -> &'static str {
        "a bit of a btrfs image is flipped under a manifest, log or segment: a real EIO, under maps as well"
    }

    fn needs_root(&self) -> bool {
        true
    }

    fn obstacle(&self) -> Option<String> {
        devices::image_obstacle(Kind::Btrfs, &[])
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let image = Image::make(&round.folder.join("image"), Kind::Btrfs, Kind::Btrfs.least_bytes())?;
        let folder = round.folder.join("mounted");
        // Small files get pages of their own as well, not a place in the tree.
        let options = "max_inline=0,compress=no";
        let mounted = image.mount(&folder, options)?;
        let mut scene = round.scene_in(folder.join("store"));
        let kill = if round.chance.below(2) == 0 { Moment::Stored(40) } else { Moment::Never };
        scene.write(&Plan { kill, keep: true, ..Plan::steps(60) })?;
        let contents = files::read(&scene.folder)?;
        let Some(stretch) = stretch(&mut scene, &contents) else { return Ok(()) };
        mounted.unmount()?;
        let page = page(&contents, &stretch);
        if page.len() < 64 || flip(&image.file, page)? == 0 {
            return Err(Finding::Broken(format!("{stretch} was not found on the image")));
        }
        let mounted = image.mount(&folder, options)?;
        if std::fs::read(scene.folder.join(&stretch.file)).is_ok() {
            return Err(Finding::Broken(format!("{stretch} can be read all the same")));
        }
        scene.blow();
        let plain: &[&str] = if scene.chance.below(2) == 0 { &["--plain"] } else { &[] };
        let read = scene.examine(Task::Read, plain).and_then(|report| read(&scene, &stretch, &report));
        let leave = read.map_err(|finding| within(&stretch, finding))?;
        // Whoever writes and compacts meanwhile may be refused, but is not ended.
        scene
            .write(&Plan { keep: true, tolerant: true, ..Plan::steps(20) })
            .map_err(|finding| within(&stretch, finding))?;
        let report = scene.examine(Task::Read, plain)?;
        let leave = if report.error.is_some() { leave } else { explained(&scene, &report, false)? };
        repair(&scene, &stretch, &leave, &[]).map_err(|finding| within(&stretch, finding))?;
        mounted.unmount()?;
        Ok(())
    }
}

/// The bytes of the page, as far as the file goes.
fn page<'c>(contents: &'c Contents, stretch: &Unreadable) -> &'c [u8] {
    let bytes = contents.get(&stretch.file).map_or(&[][..], Vec::as_slice);
    let start = (stretch.bytes.start as usize).min(bytes.len());
    let end = (stretch.bytes.end as usize).min(bytes.len());
    bytes.get(start..end).unwrap_or_default()
}

/// Flips a bit of each place of an image where this page is: how many there were.
fn flip(image: &Path, page: &[u8]) -> std::io::Result<usize> {
    use std::os::unix::fs::FileExt;
    let bytes = std::fs::read(image)?;
    let file = std::fs::OpenOptions::new().write(true).open(image)?;
    let mut places = 0;
    for (number, block) in bytes.chunks(4096).enumerate() {
        if block.starts_with(page) {
            let first = block.first().copied().unwrap_or_default();
            file.write_all_at(&[first ^ 1], number as u64 * 4096)?;
            places += 1;
        }
    }
    file.sync_all()?;
    Ok(places)
}

impl Attack for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }

    fn about(&self) -> &'static str {
        "files are cut short under a process that is reading them: damage, and no signal"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&Plan { keep: true, ..Plan::steps(80) })?;
        let contents = files::read(&scene.folder)?;
        let mut child = scene.start_examining(Task::Read, &scene.folder, &["--pause".to_owned()])?;
        let mut report = Report::default();
        await_pause(&mut child, &mut report)?;
        let mut cut = Vec::new();
        for (name, bytes) in
            contents.iter().filter(|(name, _)| name.ends_with(".segment") || name.ends_with(".log"))
        {
            if scene.chance.below(2) == 0 {
                let file = std::fs::OpenOptions::new().write(true).open(scene.folder.join(name))?;
                file.set_len(scene.chance.below(bytes.len()) as u64)?;
                scene.blow();
                cut.push(name.clone());
            }
        }
        child.tell("go on");
        let report = scene.hear_out(child, report)?;
        let told = match &report.error {
            Some(error) => violation(format!("what was cut keeps the rest from being read: {error}")),
            None => scene.compare(&report, &Leave { damage: report.damage(), ..Leave::default() }),
        };
        told.map_err(|finding| match finding {
            Finding::Violation(text) => Finding::Violation(format!("with {cut:?} cut: {text}")),
            other => other,
        })
    }
}

/// Listens until the examiner stands still, in the middle of reading.
fn await_pause(child: &mut Child, report: &mut Report) -> Result<(), Finding> {
    loop {
        match child.next() {
            Next::Line(line) if line == "note\tpaused" => return Ok(()),
            Next::Line(line) => drop(report.take(&line)),
            Next::End => return Err(Finding::Broken("the examiner has ended without a pause".into())),
            Next::Silence => return violation("the examiner hangs"),
        }
    }
}
