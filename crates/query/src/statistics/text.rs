//! A piece of a block's documents, with words that tell it from others.

use super::hash::{MIX, word};

/// A name or a value.
#[derive(Clone, Copy)]
pub(super) struct Text<'d> {
    pub(super) bytes: &'d [u8],
    pub(super) words: Words,
}

/// Of a text the first 16 bytes, with zeros behind a shorter one, or the first and the last eight of a longer one: made and compared
/// without a branch for the length, that of a value is hard to predict. No text of a document holds a zero byte, so those of a short one tell
/// it from all other short ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    low: u64,
    high: u64,
}

const SHORT_MAX: usize = 16;

/// For each length up to 16, what of two words counts.
const COUNTING: [[u64; 2]; SHORT_MAX + 1] = {
    let mut masks = [[0; 2]; SHORT_MAX + 1];
    let mut length = 1;
    while length <= SHORT_MAX {
        let mask = u128::MAX >> (8 * (SHORT_MAX - length));
        masks[length] = [mask as u64, (mask >> 64) as u64];
        length += 1;
    }
    masks
};

impl Words {
    /// Those of the text from `start` up to `end`; none where it is long, or stands at the end of the documents.
    #[inline(always)]
    pub(super) fn of_short(documents: &[u8], start: usize, end: usize) -> Option<Words> {
        let length = end.wrapping_sub(start);
        let first: &[u8; SHORT_MAX] = documents.get(start..)?.first_chunk()?;
        let counting = COUNTING.get(length)?;
        let [low, high] = halves(first);
        Some(Words { low: low & counting[0], high: high & counting[1] })
    }

    /// Those of the text from `start` up to `end`.
    #[inline(always)]
    pub(super) fn of(documents: &[u8], start: usize, end: usize) -> Option<Words> {
        if let Some(words) = Words::of_short(documents, start, end) {
            return Some(words);
        }
        let text = documents.get(start..end)?;
        let [low, high] = match text.len() {
            0..=SHORT_MAX => Words::near_the_end(text),
            _ => [word(text.first_chunk()), word(text.last_chunk())],
        };
        Some(Words { low, high })
    }

    #[cold]
    fn near_the_end(text: &[u8]) -> [u64; 2] {
        let mut padded = [0; SHORT_MAX];
        padded.iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
        halves(&padded)
    }

    /// A hash for tables in memory, of which the lower bits count.
    #[inline(always)]
    pub(super) fn hash(&self) -> usize {
        let mixed = (self.low ^ self.high.rotate_left(29)).wrapping_mul(MIX[0]);
        (mixed >> 40) as usize
    }
}

impl<'d> Text<'d> {
    /// The bytes from `start` up to `end`; none if they do not lie in the documents.
    #[inline(always)]
    pub(super) fn at(documents: &'d [u8], start: usize, end: usize) -> Option<Text<'d>> {
        let words = Words::of(documents, start, end)?;
        documents.get(start..end).map(|bytes| Text { bytes, words })
    }

    /// Whether the words tell all.
    pub(super) fn is_short(&self) -> bool {
        self.bytes.len() <= SHORT_MAX
    }

    /// Whether both are the same bytes.
    #[inline(always)]
    pub(super) fn is(&self, other: &Text<'_>) -> bool {
        self.words == other.words
            && self.bytes.len() == other.bytes.len()
            && (self.is_short() || same(self.bytes, other.bytes))
    }
}

/// Whether two texts of one length, longer than a short one, are the same: without a call where they have a usual length.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        65.. => a == b,
        33.. => {
            a.first_chunk::<32>() == b.first_chunk::<32>() && a.last_chunk::<32>() == b.last_chunk::<32>()
        }
        _ => a.first_chunk::<16>() == b.first_chunk::<16>() && a.last_chunk::<16>() == b.last_chunk::<16>(),
    }
}

#[inline(always)]
fn halves(bytes: &[u8; SHORT_MAX]) -> [u64; 2] {
    [word(bytes.first_chunk()), word(bytes.last_chunk())]
}
