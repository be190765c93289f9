//! The directory of a group: all that is known of it without its frames.

use crate::bytes::{Reader, put, put_bytes, put_signed};
use crate::column::{Column, Encoding, Needs, Written};
use crate::decompressor;
use crate::encoding::ints::Ints;
use crate::encoding::simple::Simple;
use crate::encoding::templates;
use crate::encoding::ticks::Ticks;
use crate::error::{DecodeError, EncodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, FrameWriter, Packing, Part};
use crate::late::{self, LateTemplates};
use crate::limits::{DIRECTORY_BYTES_MAX, DOCUMENT_BYTES_MAX, EVENTS_MAX, GROUP_BYTES_MAX};
use crate::order;
use crate::path::{OwnedKey, Paths};
use crate::shape::{Leaf, Shapes};

/// The first bytes of a directory: what it is, and the version of the format.
const MAGIC: [u8; 4] = *b"TSH2";

/// Those of the version that is still read: templates stood among what is read first.
const MAGIC_1: [u8; 4] = *b"TSH1";

/// HEURISTIC: keys and shapes repeat at a distance; level 3 took a sixth less than level 1 of directories, which are small.
const LEVEL: i32 = 3;

/// The arrays of one path; as the first, the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// The path of the elements.
    pub(crate) path: u32,
    /// How many arrays there are; of documents none.
    pub(crate) arrays: usize,
    /// How many elements they have together.
    pub(crate) elements: usize,
    pub(crate) lengths: Ints,
    /// The shapes of the elements, each by its place among those of this list.
    pub(crate) codes: Ints,
}

/// All that is known of a group without its frames. The encoder's keys are borrowed from documents. What `E` is tells how a column is stored.
#[derive(Clone, Debug)]
pub(crate) struct Directory<K, E = Encoding> {
    pub(crate) events: usize,
    /// Bytes of all documents together.
    pub(crate) bytes: usize,
    pub(crate) frames: Vec<FrameInfo>,
    pub(crate) instants: Ticks,
    pub(crate) arrivals: Ints,
    pub(crate) paths: Paths<K>,
    pub(crate) columns: Vec<Column<E>>,
    pub(crate) lists: Vec<List>,
    /// Each belongs to the list whose path it begins with.
    pub(crate) shapes: Shapes,
}

/// A group has at most so many values, codes and lengths for each byte of documents. An empty array in an array has three bytes with
/// its comma, and is a length and a code. An empty document, which is no JSON, counts for a byte.
const VALUES_PER_BYTE: usize = 2;

/// Frames hold at most so many bytes, decompressed, for each byte of documents. What a value becomes may be longer than its text: among numbers of
/// eight bytes a digit and its comma take eight bytes too, and a code.
const FRAME_BYTES_PER_BYTE: usize = 16;

/// What a group may have beside that, for its instants and arrival numbers.
const BYTES_BESIDE: usize = 1 << 20;

impl<K: AsRef<[u8]>> Directory<K> {
    /// The directory as it is stored.
    pub(crate) fn write(&self, writer: &mut FrameWriter) -> Result<Vec<u8>, EncodeError> {
        let mut late = Vec::new();
        let first = self.unpacked(Some(&mut late));
        pack(&first, &late, writer)
    }

    /// What is read of it first; templates are appended to those that are read late, if any are.
    fn unpacked(&self, mut late: Option<&mut Vec<u8>>) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.events as u64);
        put(&mut out, self.bytes as u64);
        put(&mut out, self.frames.len() as u64);
        for frame in &self.frames {
            put(&mut out, u64::from(frame.length) << 2 | frame.packing as u64);
            put(&mut out, u64::from(frame.stored));
            out.extend(frame.checksum.to_le_bytes());
        }
        self.instants.write(&mut out);
        self.arrivals.write(&mut out);
        self.paths.write(&mut out);
        put(&mut out, self.columns.len() as u64);
        let mut before = 0;
        for column in &self.columns {
            put_signed(&mut out, i64::from(column.path) - before);
            before = i64::from(column.path);
            out.push(column.kind as u8 * 2 + u8::from(column.grouped));
            put(&mut out, column.count as u64);
            column.encoding.write(&mut out, late.as_deref_mut());
        }
        put(&mut out, self.lists.len() as u64);
        for list in &self.lists {
            put(&mut out, u64::from(list.path));
            put(&mut out, list.arrays as u64);
            put(&mut out, list.elements as u64);
            list.lengths.write(&mut out);
            list.codes.write(&mut out);
        }
        order::write(self.shapes.iter(), &mut out);
        out
    }
}

/// Compresses what is read of a directory first, and what is read late, and puts the magic number, the lengths and the checksum around them.
pub(crate) fn pack(first: &[u8], late: &[u8], writer: &mut FrameWriter) -> Result<Vec<u8>, EncodeError> {
    let packed = writer.compressed(first, LEVEL)?;
    let mut directory = MAGIC.to_vec();
    put(&mut directory, first.len() as u64);
    put_bytes(&mut directory, packed);
    if !late.is_empty() {
        directory.extend(writer.compressed(late, LEVEL)?);
    }
    directory.extend(crc32fast::hash(&directory).to_le_bytes());
    Ok(directory)
}

/// A directory whose checksum is right.
struct Unpacked<'d> {
    /// What is read first, unpacked.
    first: Vec<u8>,
    late: Templates<'d>,
}

/// Where templates stand.
#[derive(Clone, Copy)]
enum Templates<'d> {
    /// Behind all else, packed.
    Packed(&'d [u8]),
    /// Each where its column is told.
    Inside,
}

fn unpack(directory: &[u8]) -> Result<Unpacked<'_>, DecodeError> {
    let (body, checksum) = directory.split_last_chunk::<4>().ok_or(DecodeError::DirectoryChecksum)?;
    if crc32fast::hash(body).to_le_bytes() != *checksum {
        return Err(DecodeError::DirectoryChecksum);
    }
    let (magic, body) = body.split_first_chunk().ok_or(NO_GROUP)?;
    let mut reader = Reader(body);
    let length = reader.at_most(DIRECTORY_BYTES_MAX, TOO_LONG)?;
    let (packed, late) = match *magic {
        MAGIC => (reader.bytes()?, Templates::Packed(reader.0)),
        MAGIC_1 => (reader.0, Templates::Inside),
        _ => return Err(NO_GROUP),
    };
    let mut first = Vec::new();
    decompressor::decompress(packed, &[], length, &mut first)?;
    Ok(Unpacked { first, late })
}

const NO_GROUP: DecodeError = malformed("not a group of this format");

const TOO_LONG: &str = "a directory that is too long";

/// A directory as it was written: of each column it is known what there is to know, but for templates, which are read when they are needed.
#[derive(Debug)]
pub(crate) struct Unread {
    directory: Directory<OwnedKey, Written>,
    templates: LateTemplates,
    /// Who reads each frame, as far as is known without templates.
    users: Vec<User>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    None,
    Times,
    Column(usize),
    Several,
}

/// The parts that are used, while a directory is read.
struct Uses {
    needs: Needs,
    users: Vec<User>,
}

impl Uses {
    fn part(&mut self, part: Part, user: User) {
        self.needs.part(part);
        if let Some(known) = self.users.get_mut(part.frame as usize) {
            *known = if *known == User::None || *known == user { user } else { User::Several };
        }
    }

    fn ints(&mut self, ints: [&Ints; 2], user: User) {
        ints.into_iter().filter_map(Ints::part).for_each(|part| self.part(part, user));
    }
}

impl std::ops::Deref for Unread {
    type Target = Directory<OwnedKey, Written>;

    fn deref(&self) -> &Self::Target {
        &self.directory
    }
}

impl Unread {
    /// Reads a directory, and checks all that can be checked without frames.
    pub(crate) fn open(bytes: &[u8]) -> Result<Unread, DecodeError> {
        let Unpacked { first, late } = unpack(bytes)?;
        let mut reader = Reader(&first);
        let directory = Unread::read_unpacked(&mut reader, late)?;
        reader.end()?;
        let documents = directory.lists.first().ok_or(malformed("a group without documents"))?;
        if documents.path != 0 || documents.elements != directory.events || documents.arrays != 0 {
            return Err(malformed("a group without documents"));
        }
        Ok(directory)
    }

    fn read_unpacked(reader: &mut Reader<'_>, stored: Templates<'_>) -> Result<Unread, DecodeError> {
        let events = reader.at_most(EVENTS_MAX, "too many events")?;
        let bytes_max = if events > 1 { GROUP_BYTES_MAX } else { DOCUMENT_BYTES_MAX };
        let bytes = reader.at_most(bytes_max, "too many bytes of documents")?;
        let frames = read_frames(reader, bytes)?;
        let mut left = (bytes + events) * VALUES_PER_BYTE;
        let mut uses = Uses { needs: Needs::new(left), users: vec![User::None; frames.len()] };
        let instants = Ticks::read(reader, &frames)?;
        let arrivals = Ints::read(reader, &frames)?;
        uses.ints([&instants.multiples, &arrivals], User::Times);
        let paths = Paths::read(reader)?;
        let count = reader.count()?;
        let mut columns = Vec::with_capacity(count.min(paths.len() * Leaf::ALL.len()));
        let (mut late, mut plain) = (late::Reading::default(), Vec::new());
        let mut before = 0i64;
        for number in 0..count {
            before = before.wrapping_add(reader.signed()?);
            let path = usize::try_from(before).ok().filter(|path| *path < paths.len());
            let kind_and_order = usize::from(reader.byte()?);
            let kind = Leaf::ALL.get(kind_and_order / 2).copied().filter(|kind| kind.has_column());
            let (Some(path), Some(kind)) = (path, kind) else {
                return Err(malformed("a column of no known path or kind"));
            };
            let count = reader.at_most(left, "more values than the documents could have")?;
            left -= count;
            let encoding = if !Encoding::take_templates(reader) {
                let simple = Simple::read(reader, count, &frames)?;
                simple.each_part(&mut |part| uses.part(part, User::Column(number)));
                Written::Simple(simple)
            } else if let Templates::Packed(_) = stored {
                let length = reader.at_most(DIRECTORY_BYTES_MAX - late.bytes(), TOO_LONG)?;
                Written::Templates(late.add(number, count, length))
            } else {
                let start = reader.0;
                templates::walk(reader, count, &frames, |_| Ok(()))?;
                let own = start.get(..start.len() - reader.0.len()).unwrap_or_default();
                plain.extend_from_slice(own);
                Written::Templates(late.add(number, count, own.len()))
            };
            let grouped = kind_and_order % 2 == 1;
            columns.push(Column { path: path as u32, kind, count, grouped, encoding });
        }
        let mut lists = Vec::new();
        for _ in 0..reader.count()? {
            let path = reader.at_most(paths.len() - 1, "a list of no known path")? as u32;
            let arrays = reader.at_most(left, "more arrays than the documents could have")?;
            let elements = reader.at_most(left - arrays, "more elements than the documents could have")?;
            left -= arrays + elements;
            let (lengths, codes) = (Ints::read(reader, &frames)?, Ints::read(reader, &frames)?);
            // Whatever is read of elements, these are read with it.
            uses.ints([&lengths, &codes], User::Several);
            lists.push(List { path, arrays, elements, lengths, codes });
        }
        let Uses { needs, users } = uses;
        needs.are_met_by(&frames)?;
        let shapes = order::read(reader, paths.len())?;
        let templates = match stored {
            Templates::Packed(packed) if late.bytes() == 0 && !packed.is_empty() => {
                return Err(malformed("templates of no column"));
            }
            Templates::Packed(packed) => late.packed(packed, needs),
            Templates::Inside => late.plain(plain, needs),
        };
        let directory =
            Directory { events, bytes, frames, instants, arrivals, paths, columns, lists, shapes };
        Ok(Unread { directory, templates, users })
    }

    /// How a column is stored. The first one by templates takes time linear in all templates.
    pub(crate) fn encoding(&self, column: &Column<Written>) -> Result<Encoding, DecodeError> {
        Ok(match &column.encoding {
            Written::Simple(simple) => Encoding::Simple(simple.clone()),
            Written::Templates(range) => {
                let written = self.templates.get(range, &self.frames)?;
                Encoding::Templates(templates::Templates::read(
                    &mut Reader(written),
                    column.count,
                    &self.frames,
                )?)
            }
        })
    }

    /// Whether a frame is read for one column alone, or for the times alone, as far as is known without templates.
    pub(crate) fn is_of_one(&self, frame: u32) -> bool {
        matches!(self.users.get(frame as usize), Some(User::Times | User::Column(_)))
    }

    /// What it takes in memory beside the directory, in bytes.
    pub(crate) fn beside_bytes(&self) -> usize {
        self.templates.held_bytes() + size_of_val(self.users.as_slice())
    }

    /// What was unpacked later takes in memory, in bytes.
    pub(crate) fn made_bytes(&self) -> usize {
        self.templates.made_bytes()
    }

    /// The instants of the events.
    pub(crate) fn instants(&self, frames: &mut FrameReader<'_>) -> Result<Vec<i64>, DecodeError> {
        self.instants.decode(self.events, frames)
    }
}

/// What a directory says of its frames, of documents of so many bytes.
fn read_frames(reader: &mut Reader<'_>, bytes: usize) -> Result<Vec<FrameInfo>, DecodeError> {
    let count = reader.count()?;
    let mut frames = Vec::with_capacity(count);
    let mut left = bytes * FRAME_BYTES_PER_BYTE + BYTES_BESIDE;
    for _ in 0..count {
        let most = 4 * left.min(u32::MAX as usize) + 3;
        let length = reader.at_most(most, "frames of more bytes than the documents could need")?;
        left -= length / 4;
        let packing = [Packing::Plain, Packing::Compressed, Packing::Prefixed].get(length % 4).copied();
        let packing = packing.ok_or(malformed("a frame stored in an unknown way"))?;
        let stored = reader.at_most(u32::MAX as usize, "a frame that is too long")?;
        let checksum = reader.take(4)?.first_chunk().copied().unwrap_or_default();
        frames.push(FrameInfo {
            length: (length / 4) as u32,
            stored: stored as u32,
            packing,
            checksum: u32::from_le_bytes(checksum),
        });
    }
    Ok(frames)
}

/// What a directory holds, unpacked: what is read first, and the templates, whatever these may be.
#[cfg(any(test, feature = "checked"))]
pub(crate) fn unpacked(directory: &[u8]) -> Result<(Vec<u8>, Vec<u8>), DecodeError> {
    let Unpacked { first, late } = unpack(directory)?;
    let mut templates = Vec::new();
    if let Templates::Packed(packed) = late
        && !packed.is_empty()
    {
        let length = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten().unwrap_or_default();
        let length = usize::try_from(length).ok().filter(|length| *length <= DIRECTORY_BYTES_MAX);
        decompressor::decompress(packed, &[], length.ok_or(malformed(TOO_LONG))?, &mut templates)?;
    }
    Ok((first, templates))
}

/// A directory of the first version that holds this.
#[cfg(any(test, feature = "checked"))]
pub(crate) fn pack_1(unpacked: &[u8], writer: &mut FrameWriter) -> Result<Vec<u8>, EncodeError> {
    let mut directory = MAGIC_1.to_vec();
    put(&mut directory, unpacked.len() as u64);
    directory.extend(writer.compressed(unpacked, LEVEL)?);
    directory.extend(crc32fast::hash(&directory).to_le_bytes());
    Ok(directory)
}

#[cfg(any(test, feature = "checked"))]
impl Directory<OwnedKey> {
    /// What one of the first version would hold, unpacked.
    pub(crate) fn unpacked_1(&self) -> Vec<u8> {
        self.unpacked(None)
    }

    /// Reads all of a directory, to be altered and written again.
    pub(crate) fn read(bytes: &[u8]) -> Result<Directory<OwnedKey>, DecodeError> {
        let unread = Unread::open(bytes)?;
        let whole = |column: &Column<Written>| {
            let Column { path, kind, count, grouped, .. } = *column;
            Ok(Column { path, kind, count, grouped, encoding: unread.encoding(column)? })
        };
        let columns = unread.columns.iter().map(whole).collect::<Result<_, DecodeError>>()?;
        let Directory { events, bytes, frames, instants, arrivals, paths, lists, shapes, .. } =
            unread.directory;
        Ok(Directory { events, bytes, frames, instants, arrivals, paths, columns, lists, shapes })
    }
}

/// How many values the holes of all templates have of their own. Each has a byte at least, but for texts that no template fits.
fn own_holes(columns: &[Column]) -> usize {
    let own = |column: &Column| match &column.encoding {
        Encoding::Simple(_) => 0,
        Encoding::Templates(templates) => templates.own_holes(),
    };
    columns.iter().map(own).sum()
}

/// Whether what was written stays within what a reader allows.
pub(crate) fn within_limits<K>(directory: &Directory<K>) -> bool {
    let values: usize = directory.columns.iter().map(|column| column.count).sum();
    let lists: usize = directory.lists.iter().map(|list| list.arrays + list.elements).sum();
    let frames: usize = directory.frames.iter().map(|frame| frame.length as usize).sum();
    let most = (directory.bytes + directory.events) * VALUES_PER_BYTE;
    values + lists <= most
        && own_holes(&directory.columns) <= most
        && frames <= directory.bytes * FRAME_BYTES_PER_BYTE + BYTES_BESIDE
}
