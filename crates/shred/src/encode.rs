//! Encoding a group, and proving that it decodes to the same documents.

use tamias_json::Offsets;

use crate::choose;
use crate::directory::{Directory, List, within_limits};
use crate::dissect::{Dissection, Dissector, Spare};
use crate::encoded::{Encoded, Event};
use crate::encoding::ints::Ints;
use crate::encoding::ticks::Ticks;
use crate::error::EncodeError;
use crate::frame::{Effort, FrameWriter};
use crate::limits::{DOCUMENT_BYTES_MAX, EVENTS_MAX, GROUP_BYTES_MAX};
use crate::proof;
use crate::survey::Survey;

/// How many of these events, from the first on, fit into one group: at most [`EVENTS_MAX`] events and [`GROUP_BYTES_MAX`] bytes of documents, but
/// at least one event if there is one.
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

/// Encodes a group of events, and decodes it again to prove that every byte is restored. To encode many groups, reuse an [`Encoder`].
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
/// See [`EncodeError`]: more than fits into a group, or a failure of the machine.
pub fn encode(events: &[Event<'_>]) -> Result<Encoded, EncodeError> {
    Encoder::new()?.encode(events)
}

/// Is given what there is at each path, or nothing.
type Surveyor<'s> = &'s mut dyn FnMut(Option<&Survey<'_>>);

/// Encodes one group after another, and reuses its memory: at most about ten times the bytes of a group.
///
/// The result for a group does not depend on earlier groups.
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
    spare: Spare,
    frames: FrameWriter,
}

impl Encoder {
    /// An encoder with no memory yet.
    ///
    /// # Errors
    /// [`EncodeError::Compressor`] if there is no memory for a compressor.
    pub fn new() -> Result<Encoder, EncodeError> {
        Ok(Encoder { offsets: Offsets::new(), spare: Spare::default(), frames: FrameWriter::new()? })
    }

    /// Encodes a group, as [`encode()`] does.
    ///
    /// # Errors
    /// See [`EncodeError`]. The encoder can be used again after one.
    pub fn encode(&mut self, events: &[Event<'_>]) -> Result<Encoded, EncodeError> {
        self.encode_and(events, None)
    }

    /// Encodes a group, and calls `survey` with the values that its documents have at each path; with nothing where a document is kept
    /// as text. A group that has to be encoded again is surveyed again: the last call counts.
    ///
    /// ```
    /// use tamias_shred::{Encoder, Event};
    ///
    /// let documents = [r#"{"a":{"b":1}}"#, r#"{"a":{"b":"x"}}"#];
    /// let events: Vec<Event> =
    ///     documents.iter().map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() }).collect();
    /// let mut counts = Vec::new();
    /// Encoder::new()?.encode_surveyed(&events, &mut |survey| {
    ///     let survey = survey.expect("all documents stand in columns");
    ///     counts = survey.paths().iter().map(|path| (survey.keys(path).concat(), path.events)).collect();
    /// })?;
    /// assert_eq!(counts, [(b"a".to_vec(), 2), (b"ab".to_vec(), 2)]);
    /// # Ok::<(), tamias_shred::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// See [`EncodeError`]. The encoder can be used again after one.
    pub fn encode_surveyed(
        &mut self,
        events: &[Event<'_>],
        survey: &mut dyn FnMut(Option<&Survey<'_>>),
    ) -> Result<Encoded, EncodeError> {
        self.encode_and(events, Some(survey))
    }

    fn encode_and(
        &mut self,
        events: &[Event<'_>],
        mut survey: Option<Surveyor<'_>>,
    ) -> Result<Encoded, EncodeError> {
        let bytes = events.iter().map(|event| event.document.len()).sum();
        if events.len() > EVENTS_MAX {
            return Err(EncodeError::TooManyEvents { events: events.len() });
        }
        if bytes > if events.len() > 1 { GROUP_BYTES_MAX } else { DOCUMENT_BYTES_MAX } {
            return Err(EncodeError::TooLong { bytes });
        }
        let mut as_text = vec![false; events.len()];
        // A document that the scanner accepted but that is not JSON differs the first time, and is stored as text the second time.
        for _ in 0..2 {
            let Some(encoded) = self.attempt(events, bytes, &as_text, &mut survey)? else { break };
            match proof::differing(&encoded, events) {
                Some(rows) if rows.is_empty() => return Ok(encoded),
                Some(rows) => rows.into_iter().for_each(|row| as_text[row] = true),
                None => break,
            }
        }
        as_text.fill(true);
        match self.attempt(events, bytes, &as_text, &mut survey)? {
            Some(encoded) if proof::differing(&encoded, events).is_some_and(|rows| rows.is_empty()) => {
                Ok(Encoded { fell_back: true, ..encoded })
            }
            _ => Err(EncodeError::Proof),
        }
    }

    /// Encodes a group, some documents of it as text; `None` if it would exceed a limit of the reader.
    fn attempt(
        &mut self,
        events: &[Event<'_>],
        bytes: usize,
        as_text: &[bool],
        survey: &mut Option<Surveyor<'_>>,
    ) -> Result<Option<Encoded>, EncodeError> {
        let mut dissector = Dissector::new(&mut self.spare, &mut self.offsets);
        for (event, as_text) in events.iter().zip(as_text) {
            if *as_text {
                dissector.text(event.document);
            } else {
                dissector.document(event.document);
            }
        }
        let dissection = dissector.finish();
        if let Some(survey) = survey {
            survey(Survey::of(&dissection).as_ref());
        }
        let written = write(events, bytes, &dissection, &mut self.frames);
        self.spare.keep(dissection);
        // A single document may be a hundred times as large as a group: memory that only such a document needs is freed.
        if bytes > GROUP_BYTES_MAX {
            self.offsets = Offsets::new();
        }
        written
    }
}

/// Writes the columns of a group; `None` if it would exceed a limit of the reader.
fn write(
    events: &[Event<'_>],
    bytes: usize,
    dissection: &Dissection<'_>,
    writer: &mut FrameWriter,
) -> Result<Option<Encoded>, EncodeError> {
    writer.begin(Effort::of(bytes, dissection.columns.len()));
    let event_instants: Vec<u64> = events.iter().map(|event| event.instant).collect();
    let instants = Ticks::encode(&event_instants, writer);
    let arrivals: Vec<i64> = events.iter().map(|event| event.arrival.cast_signed()).collect();
    let arrivals = Ints::encode(&arrivals, writer);
    let lists: Vec<List> = dissection
        .lists
        .iter()
        .map(|list| List {
            path: list.path,
            arrays: list.lengths.len(),
            elements: list.codes.len(),
            lengths: Ints::encode(&list.lengths, writer),
            codes: Ints::encode(&list.codes, writer),
        })
        .collect();
    let columns = choose::encode(dissection, bytes, &event_instants, writer);
    let (infos, frames) = writer.finish()?;
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
    let directory = directory.write(writer)?;
    Ok(Some(Encoded { directory, frames, text_bytes: dissection.json_bytes, fell_back: false }))
}
