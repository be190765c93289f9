//! A file of output, which takes its place only when it is whole.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// A file beside the one that is asked for, under a name of its own.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl OutputFile {
    pub(crate) fn create(path: &Path) -> Result<OutputFile, Failure> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".benchtool-");
        // Others may read it where they may read other files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(|error| Failure::file(path, &error))?;
        Ok(OutputFile { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Lets the file take its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let OutputFile { path, file } = self;
        let file = file.into_inner().map_err(|error| Failure::file(&path, error.error()))?;
        file.persist(&path).map_err(|error| Failure::file(&path, &error.error))?;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
