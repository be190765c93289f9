//! Where lines come from: files, pipes and the standard input, packed or not.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Chain, Cursor, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;

use crate::failure::Failure;
use crate::origin;
use crate::signals;
use crate::tell::tell;

/// Something that events come from. It is opened when it is read.
#[derive(Debug)]
pub(crate) enum Source {
    Stdin,
    /// A named pipe or a device: what was read of it does not come again.
    Pipe(PathBuf),
    File {
        path: PathBuf,
        /// Packed as it may be.
        bytes: u64,
        /// What the store keeps its position under.
        origin: Option<String>,
    },
}

impl Source {
    /// Looks at all of them, so that a wrong name shows before anything is done. None is the standard input; a file that is
    /// named twice is read once.
    pub(crate) fn all(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
        if paths.is_empty() {
            return Ok(vec![Source::stdin()]);
        }
        let mut sources = Vec::new();
        for path in paths {
            if path == Path::new("-") {
                sources.push(Source::stdin());
                continue;
            }
            match fs::metadata(path) {
                Ok(data) => sources.push(Source::of(path.clone(), &data)?),
                // The shell leaves a pattern that fits nothing, or is quoted, as it is.
                Err(error) => sources.extend(matching(path).ok_or_else(|| Failure::file(path, &error))??),
            }
        }
        let mut origins = HashSet::new();
        sources.retain(|source| source.origin().is_none_or(|origin| origins.insert(origin.to_owned())));
        Ok(sources)
    }

    fn of(path: PathBuf, data: &fs::Metadata) -> Result<Source, Failure> {
        if data.is_dir() {
            let path = path.display();
            return Err(Failure::Io(format!(
                "{path} is a folder; name the files in it, or write a pattern such as '{path}/*.clef'"
            )));
        }
        if !data.is_file() {
            return Ok(Source::Pipe(path));
        }
        let file = File::open(&path).map_err(|error| Failure::file(&path, &error))?;
        let origin = origin::name(&path, unpacked(file, Arc::default()));
        let origin = origin.map_err(|error| Failure::file(&path, &error))?;
        Ok(Source::File { path, bytes: data.len(), origin })
    }

    fn stdin() -> Source {
        if io::stdin().is_terminal() {
            tell!("Reading events from the terminal, one per line; press Ctrl-D to end.");
        }
        Source::Stdin
    }

    /// As messages call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Source::Stdin => "standard input".to_owned(),
            Source::Pipe(path) | Source::File { path, .. } => path.display().to_string(),
        }
    }

    /// What the store keeps its position under; `None` for what cannot be read again.
    pub(crate) fn origin(&self) -> Option<&str> {
        match self {
            Source::Stdin | Source::Pipe(_) => None,
            Source::File { origin, .. } => origin.as_deref(),
        }
    }

    /// Whether somebody may be writing into it right now, and take his time.
    pub(crate) fn may_wait(&self) -> bool {
        !matches!(self, Source::File { .. })
    }

    /// How many bytes it has, packed as it may be, where that is known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match self {
            Source::Stdin | Source::Pipe(_) => None,
            Source::File { bytes, .. } => Some(*bytes),
        }
    }

    /// Reads a packed file to its end, for its checksum, which comes behind the data. One that ends too early passes: what it has is right as far as
    /// anybody can tell. So does what is not packed, or cannot be read twice, of which nothing is read but the first bytes.
    ///
    /// # Errors
    /// If the data is damaged, or the file cannot be read; after a Ctrl-C, of the kind `Interrupted`.
    pub(crate) fn check(&self) -> io::Result<()> {
        if !matches!(self, Source::File { .. }) {
            return Ok(());
        }
        let mut input = self.unpacked(Arc::default());
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) if !input.is_packed() => return Ok(()),
                Ok(_) if signals::requested() => return Err(io::ErrorKind::Interrupted.into()),
                Ok(_) => {}
            }
        }
    }

    /// What it holds, unpacked where its first bytes say that it is packed with gzip or zstd. The counter counts the
    /// bytes that were read, packed as they are.
    pub(crate) fn reader(&self, counter: Arc<AtomicU64>) -> impl Read + Send + 'static {
        self.unpacked(counter)
    }

    fn unpacked(&self, counter: Arc<AtomicU64>) -> Unpacked {
        let input: Box<dyn Read + Send> = match self {
            Source::Stdin => Box::new(io::stdin()),
            Source::Pipe(path) | Source::File { path, .. } => {
                Box::new(Unopened { path: path.clone(), file: None })
            }
        };
        unpacked(input, counter)
    }
}

/// The files that a pattern fits, in the order of their names; `None` where it is no pattern.
fn matching(pattern: &Path) -> Option<Result<Vec<Source>, Failure>> {
    let text = pattern.to_str()?;
    if !text.contains(['*', '?', '[']) {
        return None;
    }
    let options = glob::MatchOptions {
        // As shells do it.
        require_literal_leading_dot: true,
        require_literal_separator: true,
        case_sensitive: true,
    };
    // What has a bracket may be a plain name.
    let paths = glob::glob_with(text, options).ok()?;
    let sources = paths.filter_map(|path| {
        let (path, data) = match path {
            Ok(path) => (path.clone(), fs::metadata(&path)),
            Err(error) => (error.path().to_owned(), Err(error.into())),
        };
        match data {
            Ok(data) if data.is_dir() => None,
            Ok(data) => Some(Source::of(path, &data)),
            Err(error) => Some(Err(Failure::file(&path, &error))),
        }
    });
    match sources.collect::<Result<Vec<Source>, Failure>>() {
        Ok(sources) if sources.is_empty() => Some(Err(Failure::Io(format!("no file matches {text}")))),
        sources => Some(sources),
    }
}

/// A file that is opened with the first read: opening a named pipe may have to wait, and too many files at a time cannot be
/// open.
struct Unopened {
    path: PathBuf,
    file: Option<File>,
}

impl Read for Unopened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        self.file.insert(file).read(buffer)
    }
}

/// The text of an input, packed as it may be.
fn unpacked(input: impl Read + Send + 'static, counter: Arc<AtomicU64>) -> Unpacked {
    Unpacked::Unknown(Counted { input: Box::new(input), counter })
}

const BUFFER_BYTES: usize = 256 << 10;

struct Counted {
    input: Box<dyn Read + Send>,
    counter: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.counter.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// What came with the first read, which was looked at, and the others.
type Input = BufReader<Chain<Cursor<Vec<u8>>, Counted>>;

/// Finds out with the first read what the bytes are: no earlier, for that may have to wait.
enum Unpacked {
    Unknown(Counted),
    Plain(Input),
    Gzip(Members),
    Zstd(zstd::Decoder<'static, Input>),
    Failed,
}

/// What gzip and zstd begin with; no JSON text does. A zstd file may also begin with a frame to be skipped, whose first byte has
/// any last half.
const GZIP: [[u8; 2]; 2] = [*b"\x1f\x8b", [0xff; 2]];
const ZSTD: [[u8; 4]; 2] = [*b"\x28\xb5\x2f\xfd", [0xff; 4]];
const ZSTD_SKIPPED: [[u8; 4]; 2] = [*b"\x50\x2a\x4d\x18", [0xf0, 0xff, 0xff, 0xff]];

/// The largest window that zstd has (`--long=31`). Memory is taken as far as there is data to fill it.
const ZSTD_WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

/// Whether bytes begin with a magic, under its mask; if they are fewer, whether they may.
fn may_be<const N: usize>([magic, mask]: &[[u8; N]; 2], begin: &[u8]) -> bool {
    magic.iter().zip(mask).zip(begin).all(|((magic, mask), byte)| byte & mask == *magic)
}

/// The program that unpacks a file, where its first bytes say that it is packed as sources may be.
pub(crate) fn unpacker(path: &Path) -> Option<&'static str> {
    // Opening a named pipe may have to wait.
    if !fs::metadata(path).is_ok_and(|data| data.is_file()) {
        return None;
    }
    let mut begin = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).ok()?;
    match () {
        () if may_be(&GZIP, &begin) => Some("gzip -dc"),
        () if may_be(&ZSTD, &begin) || may_be(&ZSTD_SKIPPED, &begin) => Some("zstd -dc"),
        () => None,
    }
}

impl Unpacked {
    /// Whether it is packed, once its first bytes were read.
    fn is_packed(&self) -> bool {
        matches!(self, Unpacked::Gzip(_) | Unpacked::Zstd(_))
    }

    fn detect(mut input: Counted) -> io::Result<Unpacked> {
        // What comes with one read goes on in one piece, and no more is waited for than is needed.
        let mut begin = vec![0; BUFFER_BYTES];
        let mut length = 0;
        let (gzip, zstd) = loop {
            let read = match input.read(&mut begin[length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            length += read;
            let known = &begin[..length];
            let gzip = may_be(&GZIP, known);
            let zstd = may_be(&ZSTD, known) || may_be(&ZSTD_SKIPPED, known);
            match (gzip, zstd) {
                _ if read == 0 => break (gzip && length >= 2, zstd && length >= 4),
                (true, _) if length < 2 => {}
                (_, true) if length < 4 => {}
                packed => break packed,
            }
        };
        begin.truncate(length);
        let input = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(begin).chain(input));
        Ok(match (gzip, zstd) {
            (true, _) => Unpacked::Gzip(Members(Some(GzDecoder::new(input)))),
            (_, true) => {
                let mut decoder = zstd::Decoder::with_buffer(input)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Unpacked::Zstd(decoder)
            }
            _ => Unpacked::Plain(input),
        })
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Unpacked::Unknown(_) = self
            && let Unpacked::Unknown(input) = std::mem::replace(self, Unpacked::Failed)
        {
            *self = Unpacked::detect(input)?;
        }
        match self {
            Unpacked::Plain(input) => input.read(buffer),
            Unpacked::Gzip(members) => members.read(buffer).map_err(|error| damaged("gzip", &error)),
            Unpacked::Zstd(decoder) => decoder.read(buffer).map_err(|error| damaged("zstd", &error)),
            Unpacked::Unknown(_) | Unpacked::Failed => Ok(0),
        }
    }
}

/// The members of a gzip file, one behind another. Zeros behind one fill a block of a tape or a disk, and mean nothing.
struct Members(Option<GzDecoder<Input>>);

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let input = self.0.take().map(GzDecoder::into_inner);
            self.0 = next_member(input)?.map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// The input, where another member begins behind zeros; `None` at its end.
fn next_member(input: Option<Input>) -> io::Result<Option<Input>> {
    let Some(mut input) = input else { return Ok(None) };
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let (zeros, length) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
        input.consume(zeros);
        if length == 0 {
            return Ok(None);
        }
        if zeros < length {
            return Ok(Some(input));
        }
    }
}

/// An error of the system stays what it is; every other is the decoder's verdict on the data, and its kind tells whether the data only ends too early.
fn damaged(packer: &str, error: &io::Error) -> io::Error {
    let kind = match error.kind() {
        io::ErrorKind::UnexpectedEof => io::ErrorKind::UnexpectedEof,
        _ => io::ErrorKind::InvalidData,
    };
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(kind, format!("the {packer} data is damaged or truncated: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn unpack(input: impl Read + Send + 'static) -> io::Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        super::unpacked(input, Arc::default()).read_to_end(&mut unpacked)?;
        Ok(unpacked)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_first_bytes_tell_how_it_is_packed() {
        let text = "{\"a\":1}\n".repeat(1000).into_bytes();
        assert_eq!(unpack(Cursor::new(text.clone())).unwrap(), text);
        assert_eq!(unpack(Cursor::new(gzip(&text))).unwrap(), text);
        let packed = zstd::encode_all(&text[..], 1).unwrap();
        assert_eq!(unpack(Cursor::new(packed.clone())).unwrap(), text);
        // A pipe may hand over its first bytes one by one.
        let (first, others) = packed.split_at(1);
        let (first, others) = (first.to_vec(), others.to_vec());
        assert_eq!(unpack(Cursor::new(first).chain(Cursor::new(others))).unwrap(), text);
        for short in [&b""[..], b"\x1f", b"\x28\xb5", b"{", b"\n", b"[", b"P*M"] {
            assert_eq!(unpack(Cursor::new(short)).unwrap(), short);
        }
    }

    #[test]
    fn several_members_are_one_text() {
        let members = [gzip(b"one\n"), gzip(b"two\n")].concat();
        assert_eq!(unpack(Cursor::new(members)).unwrap(), b"one\ntwo\n");
        let frames =
            [zstd::encode_all(&b"one\n"[..], 1).unwrap(), zstd::encode_all(&b"two\n"[..], 1).unwrap()]
                .concat();
        assert_eq!(unpack(Cursor::new(frames)).unwrap(), b"one\ntwo\n");
    }

    /// The first four bytes used to come by themselves, and what was told from the first chunk was told from them.
    #[test]
    fn what_comes_with_the_first_read_goes_on_in_one_piece() {
        let text = "[\n  {\"a\":1}]\n".repeat(1000).into_bytes();
        let mut unpacked = super::unpacked(Cursor::new(text.clone()), Arc::default());
        let mut buffer = vec![0; text.len()];
        assert_eq!(unpacked.read(&mut buffer).unwrap(), text.len());
        // A pipe that rests is not waited for where its first bytes tell enough.
        struct Resting;
        impl Read for Resting {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("asked too much"))
            }
        }
        let mut unpacked = super::unpacked(Cursor::new(b"[\n").chain(Resting), Arc::default());
        assert_eq!(unpacked.read(&mut buffer).unwrap(), 2);
    }

    #[test]
    fn a_gzip_file_may_be_padded_with_zeros() {
        let padding = vec![0; BUFFER_BYTES + 7];
        let padded = [gzip(b"one\n"), padding.clone(), gzip(b"two\n"), padding].concat();
        assert_eq!(unpack(Cursor::new(padded)).unwrap(), b"one\ntwo\n");
        assert!(unpack(Cursor::new([gzip(b"one\n"), b"\0more".to_vec()].concat())).is_err());
    }

    #[test]
    fn a_zstd_file_may_begin_with_a_frame_to_be_skipped() {
        let packed = zstd::encode_all(&b"one\n"[..], 1).unwrap();
        for first in [0x50, 0x5b, 0x5f] {
            let skipped = [&[first, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4][..], &packed[..]].concat();
            assert_eq!(unpack(Cursor::new(skipped)).unwrap(), b"one\n");
        }
    }

    #[test]
    fn a_zstd_file_may_have_the_longest_window() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.set_parameter(zstd::zstd_safe::CParameter::WindowLog(30)).unwrap();
        // Without its length and unflushed text the frame names the window that was asked for.
        encoder.write_all(b"one\n").unwrap();
        encoder.flush().unwrap();
        encoder.write_all(b"two\n").unwrap();
        let packed = encoder.finish().unwrap();
        assert!(zstd::decode_all(&packed[..]).is_err(), "zstd by itself refuses it");
        assert_eq!(unpack(Cursor::new(packed)).unwrap(), b"one\ntwo\n");
    }

    #[test]
    fn damaged_and_cut_data_is_told() {
        let text = "{\"a\":1}\n".repeat(1000).into_bytes();
        for whole in [gzip(&text), zstd::encode_all(&text[..], 1).unwrap()] {
            let error = unpack(Cursor::new(whole[..whole.len() - 5].to_vec())).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
        }
    }

    #[test]
    fn a_wrong_checksum_is_no_early_end() {
        let mut packed = gzip(b"one\n");
        let at = packed.len() - 6;
        packed[at] ^= 1;
        assert_eq!(unpack(Cursor::new(packed)).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn an_error_of_the_system_stays_one() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(5))
            }
        }
        assert_eq!(unpack(Failing).unwrap_err().raw_os_error(), Some(5));
        let begun = gzip(b"text that is longer than nothing");
        let cut = Cursor::new(begun[..12].to_vec()).chain(Failing);
        assert_eq!(unpack(cut).unwrap_err().raw_os_error(), Some(5));
    }
}
