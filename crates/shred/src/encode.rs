//! Encodes a group, with its proof.

use tamias_json::Offsets;

use crate::choose::{self, Parts};
use crate::directory::{Directory, List, encode_unsigned, within_limits};
use crate::dissect::{Dissection, Dissector, RawValues};
use crate::encoding::ints::Ints;
use crate::error::EncodeError;
use crate::frame::FrameWriter;
use crate::limits::{DOCUMENT_BYTES_MAX, EVENTS_MAX, GROUP_BYTES_MAX};
use crate::proof;

/// An event to be stored: a minified JSON object, when it happened, and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'d> {
    /// Ticks of 100 ns since 0001-01-01T00:00:00Z.
    pub instant: u64,
    /// Its number in the order of arrival.
    pub arrival: u64,
    /// The document. Any bytes at all come back as they are; a minified JSON object comes into columns.
    pub document: &'d [u8],
}

/// A group as it is stored: a directory, and frames that are read when they are needed.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// What [`Group::open`] reads.
    pub directory: Vec<u8>,
    /// The frames, by number.
    pub frames: Vec<Vec<u8>>,
    /// Bytes of documents, or of parts of them, that are stored as text: too many keys, too many shapes, or no JSON.
    pub text_bytes: usize,
    /// Whether the columns did not decode to the same documents, so that all of them are stored as text. A fault of this crate,
    /// to be reported; nothing is lost.
    pub fell_back: bool,
}

impl Encoded {
    /// Bytes of the directory and all frames.
    pub fn len(&self) -> usize {
        self.directory.len() + self.frames.iter().map(Vec::len).sum::<usize>()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// How many of these events, from the first on, make a group: up to [`EVENTS_MAX`] of together up to [`GROUP_BYTES_MAX`] bytes, and
/// at least one if there is one.
///
/// ```
/// use tamias_shred::{Event, group_len};
/// let event = Event { instant: 0, arrival: 0, document: b"{}" };
/// assert_eq!(group_len(&[event; 20_000]), 16_384);
/// assert_eq!(group_len(&[]), 0);
/// ```
pub fn group_len(events: &[Event<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |event: &&Event<'_>| {
        bytes += event.document.len();
        bytes <= GROUP_BYTES_MAX
    };
    let count = events.iter().take(EVENTS_MAX).take_while(fits).count();
    count.max(events.len().min(1))
}

/// Encodes a group of events, and decodes it again to prove that every byte comes back. To encode many groups, keep an [`Encoder`].
///
/// Takes time and memory linear in the bytes of the documents.
///
/// ```
/// use tamias_shred::{Event, Group, encode};
///
/// let documents = [r#"{"a":1,"b":"x"}"#, r#"{"a":2.50,"b":"y"}"#];
/// let events: Vec<Event> =
///     documents.iter().zip(0..).map(|(text, n)| Event { instant: n, arrival: n, document: text.as_bytes() }).collect();
/// let encoded = encode(&events)?;
/// let group = Group::open(&encoded.directory)?;
/// let decoded = group.read(&encoded.frames).documents()?;
/// assert_eq!(decoded.get(1), Some(documents[1].as_bytes()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`EncodeError`]: more than a group holds, or a machine that fails.
pub fn encode(events: &[Event<'_>]) -> Result<Encoded, EncodeError> {
    Encoder::new()?.encode(events)
}

/// Encodes one group after another, and keeps the memory that it needs for that: some ten times the bytes of a group at most.
///
/// What a group becomes does not depend on those before it.
///
/// ```
/// use tamias_shred::{Encoder, Event, encode};
///
/// let mut encoder = Encoder::new()?;
/// for document in [r#"{"a":1}"#, r#"{"a":2}"#] {
///     let event = Event { instant: 0, arrival: 0, document: document.as_bytes() };
///     assert_eq!(encoder.encode(&[event])?.directory, encode(&[event])?.directory);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Encoder {
    offsets: Offsets,
    /// Memory for columns.
    spare: Vec<RawValues>,
    frames: FrameWriter,
}

impl Encoder {
    /// An encoder with no memory yet.
    ///
    /// # Errors
    /// [`EncodeError::Compressor`] where there is no memory for a compressor.
    pub fn new() -> Result<Encoder, EncodeError> {
        Ok(Encoder { offsets: Offsets::new(), spare: Vec::new(), frames: FrameWriter::new()? })
    }

    /// Encodes a group, as [`encode()`] does.
    ///
    /// # Errors
    /// See [`EncodeError`]. The encoder can be used again after one.
    pub fn encode(&mut self, events: &[Event<'_>]) -> Result<Encoded, EncodeError> {
        let bytes = events.iter().map(|event| event.document.len()).sum();
        if events.len() > EVENTS_MAX {
            return Err(EncodeError::TooManyEvents { events: events.len() });
        }
        if bytes > if events.len() > 1 { GROUP_BYTES_MAX } else { DOCUMENT_BYTES_MAX } {
            return Err(EncodeError::TooLong { bytes });
        }
        let encoded = match self.attempt(events, bytes, false)? {
            Some(encoded) => Some(encoded),
            None => self.attempt(events, bytes, true)?.map(|encoded| Encoded { fell_back: true, ..encoded }),
        };
        // A single document may be a hundred times as large as a group: what only that needs is given back.
        if bytes > GROUP_BYTES_MAX {
            self.offsets = Offsets::new();
        }
        encoded.ok_or(EncodeError::Proof)
    }

    /// Encodes a group; nothing where it would be more than a reader allows, or does not come back.
    fn attempt(
        &mut self,
        events: &[Event<'_>],
        bytes: usize,
        as_text: bool,
    ) -> Result<Option<Encoded>, EncodeError> {
        let dissection = self.dissect(events, as_text);
        let written = write(events, bytes, &dissection, &mut self.frames);
        let proved = written.map(|written| {
            written
                .filter(|written| proof::holds(written, &dissection, events))
                .map(|written| written.encoded)
        });
        dissection.recycle(&mut self.spare);
        proved
    }

    /// Takes documents apart. What looked like JSON to the scanner and was none is text the second time.
    fn dissect<'d>(&mut self, events: &[Event<'d>], as_text: bool) -> Dissection<'d> {
        let mut as_text = vec![as_text; events.len()];
        loop {
            let mut dissector = Dissector::new(&mut self.spare);
            for (event, as_text) in events.iter().zip(&as_text) {
                if *as_text {
                    dissector.text(event.document);
                } else {
                    dissector.document(event.document, &mut self.offsets);
                }
            }
            let dissection = dissector.finish();
            if dissection.faulty.is_empty() {
                return dissection;
            }
            // What is text already is not among them, so this ends.
            dissection.faulty.iter().for_each(|row| as_text[*row] = true);
            dissection.recycle(&mut self.spare);
        }
    }
}

/// What was written, and what it was made of beside the documents that were taken apart.
pub(crate) struct Written<'d> {
    pub(crate) encoded: Encoded,
    pub(crate) directory: Directory<&'d [u8]>,
    /// For each column.
    pub(crate) parts: Vec<Option<Parts>>,
}

/// Writes what was taken apart; nothing where it would be more than a reader allows.
fn write<'d>(
    events: &[Event<'_>],
    bytes: usize,
    dissection: &Dissection<'d>,
    frames: &mut FrameWriter,
) -> Result<Option<Written<'d>>, EncodeError> {
    let event_instants: Vec<u64> = events.iter().map(|event| event.instant).collect();
    let instants = encode_unsigned(event_instants.iter().copied(), frames);
    let arrivals = encode_unsigned(events.iter().map(|event| event.arrival), frames);
    let lists: Vec<List> = dissection
        .lists
        .iter()
        .map(|list| List {
            path: list.path,
            arrays: list.lengths.len(),
            elements: list.codes.len(),
            lengths: Ints::encode(&list.lengths, frames),
            codes: Ints::encode(&list.codes, frames),
        })
        .collect();
    let (columns, parts) = choose::encode(dissection, bytes, &event_instants, frames);
    let (infos, frames) = frames.finish()?;
    let directory = Directory {
        events: events.len(),
        bytes,
        frames: infos,
        instants,
        arrivals,
        paths: dissection.paths.clone(),
        columns,
        lists,
        shapes: dissection.shapes.iter().map(|shape| shape.tokens.clone()).collect(),
    };
    if !within_limits(&directory) {
        return Ok(None);
    }
    let encoded = Encoded {
        directory: directory.write()?,
        frames,
        text_bytes: dissection.json_bytes,
        fell_back: false,
    };
    Ok(Some(Written { encoded, directory, parts }))
}
