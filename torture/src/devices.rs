//! Real file systems of the attack's own: images behind loop devices, and small ones in memory.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs a program; its standard output, or what it said instead.
pub(crate) fn run(program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| io::Error::other(format!("{program}: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(io::Error::other(format!("{program} {}: {said}", arguments.join(" "))))
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::other(format!("{} is not Unicode", path.display())))
}

/// Why what is named here cannot be had; `None` if it can.
pub(crate) fn obstacle(programs: &[&str]) -> Option<String> {
    for program in ["id", "mount", "umount"].iter().chain(programs) {
        let found = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
        if !found {
            return Some(format!("{program} is not installed"));
        }
    }
    match run("id", &["-u"]) {
        Ok(user) if user == "0" => None,
        _ => Some("it takes root".into()),
    }
}

/// Why a file system of this kind cannot be used here: it is made and mounted once, to see.
pub(crate) fn image_obstacle(kind: Kind, programs: &[&str]) -> Option<String> {
    let mut all = vec!["losetup", kind.maker()];
    all.extend(programs);
    if let Some(why) = obstacle(&all) {
        return Some(why);
    }
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return Some(error.to_string()),
    };
    let tried = Image::make(&folder.path().join("image"), kind, kind.least_bytes())
        .and_then(|image| image.mount(&folder.path().join("mounted"), ""));
    tried.err().map(|error| error.to_string())
}

/// A kind of file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ext4,
    Xfs,
    Btrfs,
}

impl Kind {
    pub(crate) fn maker(self) -> &'static str {
        match self {
            Kind::Ext4 => "mkfs.ext4",
            Kind::Xfs => "mkfs.xfs",
            Kind::Btrfs => "mkfs.btrfs",
        }
    }

    /// As small as its maker allows.
    pub(crate) fn least_bytes(self) -> u64 {
        match self {
            Kind::Ext4 => 16 << 20,
            Kind::Xfs => 320 << 20,
            Kind::Btrfs => 128 << 20,
        }
    }
}

/// A file that is a device.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) file: PathBuf,
    device: String,
}

impl Image {
    /// A new image with a file system on it.
    pub(crate) fn make(file: &Path, kind: Kind, bytes: u64) -> io::Result<Image> {
        std::fs::File::create(file)?.set_len(bytes)?;
        let image = Image::attach(file)?;
        let more: &[&str] = match kind {
            // No room is kept back for root, and a little journal will do.
            Kind::Ext4 => &["-q", "-F", "-m", "0", "-b", "1024", "-J", "size=4"],
            Kind::Xfs => &["-q", "-f"],
            Kind::Btrfs => &["-q", "-f", "-m", "single", "-d", "single"],
        };
        let arguments: Vec<&str> = more.iter().copied().chain([image.device.as_str()]).collect();
        run(kind.maker(), &arguments)?;
        Ok(image)
    }

    /// An image that exists.
    pub(crate) fn attach(file: &Path) -> io::Result<Image> {
        let device = run("losetup", &["--find", "--show", text(file)?])?;
        Ok(Image { file: file.to_path_buf(), device })
    }

    /// Mounts it on a folder, which is made where it is missing.
    pub(crate) fn mount(&self, folder: &Path, options: &str) -> io::Result<Mounted> {
        std::fs::create_dir_all(folder)?;
        let options = if options.is_empty() { "defaults" } else { options };
        run("mount", &["-o", options, &self.device, text(folder)?])?;
        Ok(Mounted { folder: folder.to_path_buf() })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", &self.device]);
    }
}

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub(crate) struct Mounted {
    folder: PathBuf,
}

impl Mounted {
    /// A file system in memory with so many bytes and files.
    pub(crate) fn in_memory(folder: &Path, bytes: u64, files: u64) -> io::Result<Mounted> {
        std::fs::create_dir_all(folder)?;
        let options = format!("size={bytes},nr_inodes={files}");
        run("mount", &["-t", "tmpfs", "-o", &options, "none", text(folder)?])?;
        Ok(Mounted { folder: folder.to_path_buf() })
    }

    /// Where.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes it off again, and waits until nobody uses it.
    pub(crate) fn unmount(self) -> io::Result<()> {
        let folder = text(&self.folder)?;
        for _ in 0..50 {
            if run("umount", &[folder]).is_ok() {
                std::mem::forget(self);
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        run("umount", &[folder]).map(drop)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Ok(folder) = text(&self.folder) {
            let _ = run("umount", &["--lazy", folder]);
        }
    }
}
