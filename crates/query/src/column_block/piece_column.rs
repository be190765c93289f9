//! Texts by template: what is asked of them is asked of their pieces as far as these tell, and few are put together.

use super::coded::{Coded, characters_of, held_by_numbers};
use crate::dictionary::Dictionary;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use tamias_shred::{DecodeError, Length, Numbers, TextPieces};

/// Texts by template, which are also put together where that is asked for.
#[derive(Debug)]
pub(crate) struct PieceColumn {
    pub(crate) pieces: TextPieces,
    /// What the pieces take in memory, in bytes.
    pieces_bytes: usize,
    coded: OnceLock<Coded>,
    /// Why texts could not be put together: they seem to be missing, and whoever evaluates has to tell.
    failure: OnceLock<DecodeError>,
    lengths: OnceLock<Option<Arc<Numbers>>>,
    /// Whether texts were put together for some rows, or searched by their pieces: when that comes again, those of all rows are put together and kept.
    was_asked: AtomicBool,
}

impl PieceColumn {
    pub(super) fn new(pieces: TextPieces) -> PieceColumn {
        PieceColumn {
            pieces_bytes: pieces.held_bytes(),
            pieces,
            coded: OnceLock::new(),
            failure: OnceLock::new(),
            lengths: OnceLock::new(),
            was_asked: AtomicBool::new(false),
        }
    }

    /// The texts of all rows.
    pub(crate) fn coded(&self) -> &Coded {
        self.coded.get_or_init(|| match self.pieces.coded() {
            Ok(Some(coded)) => Coded::new(Some(coded.codes), Arc::new(coded.entries.into())),
            // Whatever keeps them from being told apart by their pieces keeps them from being put together, too.
            Ok(None) | Err(_) => Coded::of_texts(self.put_together(None)),
        })
    }

    /// Whether most texts are told by their [beginnings](TextPieces::beginnings).
    pub(crate) fn have_beginnings(&self, tells: impl Fn(&[u8]) -> bool) -> bool {
        self.pieces.have_beginnings(tells)
    }

    /// Texts that come to the same where their beginnings tell what is asked of them; none where these tell little.
    pub(crate) fn beginnings(&self, tells: impl Fn(&[u8]) -> bool) -> Option<Coded> {
        // What cannot be put together is told when all are.
        let coded = self.pieces.beginnings(tells).ok()??;
        Some(Coded::new(Some(coded.codes), Arc::new(coded.entries.into())))
    }

    /// The same, if they were put together.
    pub(super) fn known_coded(&self) -> Option<&Coded> {
        self.coded.get()
    }

    /// The texts of some rows, each once and in their order. None where those of all rows are there already, or had better be: when they are asked for
    /// again.
    pub(super) fn texts_of(&self, rows: &[u32]) -> Option<Dictionary> {
        self.is_asked_first().then(|| self.some(rows))
    }

    /// The pieces to be searched, where that is quicker than to search texts: which are there, or had better be when they are searched again.
    pub(crate) fn searchable(&self) -> Option<&TextPieces> {
        self.is_asked_first().then_some(&self.pieces)
    }

    /// Whether texts are not put together, and nothing was asked of them before.
    fn is_asked_first(&self) -> bool {
        self.coded.get().is_none() && !self.was_asked.swap(true, Relaxed)
    }

    /// The texts of some rows, each once and in their order.
    pub(crate) fn some(&self, rows: &[u32]) -> Dictionary {
        self.put_together(Some(rows))
    }

    fn put_together(&self, rows: Option<&[u32]>) -> Dictionary {
        match self.pieces.texts(rows) {
            Ok(texts) => texts.into(),
            Err(error) => {
                self.failure.get_or_init(|| error);
                Dictionary::new(Vec::new(), vec![0; rows.map_or(self.pieces.len(), <[u32]>::len)])
            }
        }
    }

    /// Why texts could not be put together.
    pub(crate) fn failure(&self) -> Option<DecodeError> {
        self.failure.get().copied()
    }

    /// How many characters the texts have.
    pub(crate) fn lengths(&self) -> Option<&Arc<Numbers>> {
        self.lengths.get_or_init(|| self.count_lengths().map(Arc::new)).as_ref()
    }

    /// The same, if they were counted.
    pub(super) fn known_lengths(&self) -> Option<&Arc<Numbers>> {
        self.lengths.get()?.as_ref()
    }

    fn count_lengths(&self) -> Option<Numbers> {
        numbers_of(&self.pieces.lengths(), |rows| Ok::<_, Infallible>(self.some(rows))).ok()?
    }

    pub(super) fn held_bytes(&self) -> usize {
        let coded = self.coded.get().map_or(0, Coded::held_bytes);
        let lengths = self.lengths.get().and_then(Option::as_deref).map_or(0, held_by_numbers);
        self.pieces_bytes + coded + lengths
    }
}

/// How many characters texts have of which pieces tell so much; `texts_of` gives those of rows of which they do not. None where one cannot be told.
pub(super) fn numbers_of<E>(
    lengths: &[Length],
    texts_of: impl FnOnce(&[u32]) -> Result<Dictionary, E>,
) -> Result<Option<Numbers>, E> {
    let characters = |length: &Length| match length {
        Length::Characters(characters) => Some(i64::from(*characters)),
        Length::Nothing | Length::Untold => None,
    };
    // As good as always all rows have a text that tells.
    if lengths.iter().all(|length| characters(length).is_some()) {
        let values = lengths.iter().map(|length| characters(length).unwrap_or_default()).collect();
        return Ok(Some(Numbers { values, ..Numbers::default() }));
    }
    let untold = (0..).zip(lengths).filter(|(_, length)| **length == Length::Untold);
    let untold: Vec<u32> = untold.map(|(row, _)| row).collect();
    let texts = if untold.is_empty() { Dictionary::default() } else { texts_of(&untold)? };
    let mut of_untold = (0..texts.len() as u32).map(|text| characters_of(texts.get(text)));
    let (mut rows, mut values) = (Vec::new(), Vec::with_capacity(lengths.len()));
    for (row, length) in (0u32..).zip(lengths) {
        let characters = match length {
            Length::Nothing => continue,
            Length::Characters(characters) => i64::from(*characters),
            Length::Untold => match of_untold.next().flatten() {
                Some(characters) => characters,
                None => return Ok(None),
            },
        };
        rows.push(row);
        values.push(characters);
    }
    let rows = (rows.len() != lengths.len()).then_some(rows);
    Ok(Some(Numbers { values, rows, ..Numbers::default() }))
}
