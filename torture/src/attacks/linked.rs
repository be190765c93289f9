//! Links, pipes and folders in the places of the store's files: nothing outside is touched, nobody waits for ever, modes are kept.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::{Attack, Round};
use crate::devices;
use crate::examine::Task;
use crate::files::{self, Contents};
use crate::scene::{Finding, Plan, Scene, violation};
use crate::truth::Leave;

/// What the file outside holds.
const OUTSIDE: &[u8] = b"this is none of the store's business\n";

/// The mode of the store's files, and of the one outside.
const MODE: u32 = 0o640;

/// Things in the places of files.
#[derive(Debug)]
pub(crate) struct Linked;

/// What stands in the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    LinkToFile,
    LinkToPipe,
    LinkToNothing,
    LinkToItself,
    Pipe,
    Folder,
}

const THINGS: [Thing; 6] = [
    Thing::LinkToFile,
    Thing::LinkToPipe,
    Thing::LinkToNothing,
    Thing::LinkToItself,
    Thing::Pipe,
    Thing::Folder,
];

impl Attack for Linked {
    fn name(&self) -> &'static str {
        "linked"
    }

    fn about(&self) -> &'static str {
        "links, pipes and folders in place of writer, lock, quarantine, manifests, logs, segments and their .tmp; modes are kept"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut scene = round.scene("store");
        scene.write(&Plan::steps(40))?;
        let contents = files::read(&scene.folder)?;
        let places = places(&contents);
        for number in 0..4 {
            // Half of the time one of the few that are not numbered.
            let few = if round.chance.below(2) == 0 { places.get(..3) } else { None };
            let Some(place) = files::pick(few.unwrap_or(&places), &mut round.chance) else { continue };
            let Some(&thing) = files::pick(&THINGS, &mut round.chance) else { continue };
            let mut copy = scene.fork(round.folder.join(format!("copy {number}/store")));
            files::write(&copy.folder, &contents)?;
            check(&mut copy, &contents, place, thing).map_err(|finding| match finding {
                Finding::Violation(text) => {
                    Finding::Violation(format!("{}: {thing:?} as {place}: {text}", copy.folder.display()))
                }
                other => other,
            })?;
        }
        Ok(())
    }
}

/// Names under which the store has files, or will have them next.
fn places(contents: &Contents) -> Vec<String> {
    let mut places: Vec<String> = ["writer", "lock", "quarantine"].map(str::to_owned).into();
    let numbered = files::numbered(contents);
    let number = |name: &String| u64::from_str_radix(name.split('.').next()?, 16).ok();
    for ending in ["manifest", "log", "segment"] {
        let own = numbered.iter().filter(|name| (ending == "manifest") == name.ends_with("manifest"));
        let next = own.filter_map(number).max().unwrap_or(0) + 1;
        for next in next..next + 2 {
            places.push(format!("{next:016x}.{ending}.tmp"));
            places.push(format!("{next:016x}.{ending}"));
        }
    }
    places.extend(numbered);
    places
}

/// Puts a thing in the place of a file, beside a folder outside of the store.
fn put(scene: &Scene, outside: &Path, place: &str, thing: Thing) -> Result<(), Finding> {
    let path = scene.folder.join(place);
    let (file, pipe) = (outside.join("file"), outside.join("pipe"));
    std::fs::create_dir_all(outside)?;
    // A link to a file that could be the store's own.
    let bytes = std::fs::read(&path).unwrap_or_else(|_| OUTSIDE.to_vec());
    std::fs::write(&file, bytes)?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(MODE))?;
    devices::run("mkfifo", &[devices::text(&pipe)?])?;
    let _ = std::fs::remove_file(&path);
    match thing {
        Thing::LinkToFile => symlink(&file, &path)?,
        Thing::LinkToPipe => symlink(&pipe, &path)?,
        Thing::LinkToNothing => symlink(outside.join("nothing"), &path)?,
        Thing::LinkToItself => symlink(&path, &path)?,
        Thing::Pipe => drop(devices::run("mkfifo", &[devices::text(&path)?])?),
        Thing::Folder => std::fs::create_dir(&path)?,
    }
    Ok(())
}

/// What lies outside: each name with its mode and bytes.
fn look(outside: &Path) -> std::io::Result<Vec<(PathBuf, u32, Vec<u8>)>> {
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(outside)? {
        let entry = entry?;
        let metadata = entry.path().symlink_metadata()?;
        let bytes = if metadata.is_file() { std::fs::read(entry.path())? } else { Vec::new() };
        seen.push((entry.path(), metadata.permissions().mode(), bytes));
    }
    seen.sort();
    Ok(seen)
}

/// That no file of the store may be read by more people than before.
fn modes(folder: &Path) -> Result<(), Finding> {
    for name in files::read(folder)?.keys() {
        let mode = folder.join(name).symlink_metadata()?.permissions().mode() & 0o777;
        if mode & !MODE != 0 {
            return violation(format!("{name} has mode {mode:o}, and the store's files had {MODE:o}"));
        }
    }
    Ok(())
}

fn check(scene: &mut Scene, contents: &Contents, place: &str, thing: Thing) -> Result<(), Finding> {
    for name in contents.keys() {
        std::fs::set_permissions(scene.folder.join(name), std::fs::Permissions::from_mode(MODE))?;
    }
    let outside = scene.folder.with_file_name("outside");
    put(scene, &outside, place, thing)?;
    scene.blow();
    let before = look(&outside)?;
    let live = contents.contains_key(place) && place != "writer" && place != "lock";
    scene.examine(Task::Read, &[])?;
    scene.write(&Plan { keep: true, tolerant: true, ..Plan::steps(15) })?;
    scene.examine(Task::Repair, &[])?;
    let report = scene.examine(Task::Open, &[])?;
    if look(&outside)? != before {
        return violation("what lies outside of the store has been altered");
    }
    modes(&scene.folder)?;
    if report.error.is_none() {
        // A file that is gone is gone; but nothing wrong comes in its place.
        scene.compare(&report, &Leave { anything: live, sources: true, ..Leave::default() })?;
    }
    // Taken away again, it stands in nobody's way.
    let path = scene.folder.join(place);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() && thing == Thing::Folder => {
            let _ = std::fs::remove_dir(&path);
        }
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => std::fs::remove_file(&path)?,
        _ => {}
    }
    if live && !path.exists() {
        std::fs::write(&path, contents.get(place).map_or(&[][..], Vec::as_slice))?;
        scene.examine(Task::Repair, &[])?;
    }
    scene.check(
        Task::Open,
        &Leave { anything: live && place.ends_with(".log"), sources: true, ..Leave::default() },
    )?;
    Ok(())
}
