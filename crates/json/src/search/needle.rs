//! What is searched for: a key, or a literal.

use crate::write::write_json_string;
use tamias_simd::{Isa, Task, VECTOR, Vector};

/// How far past the beginning of a vector its search looks: a needle's head that begins in it.
pub(super) const REACH: usize = 2 * VECTOR;

/// What is searched for: found by two of its bytes at their distance, then compared whole.
#[derive(Clone, Debug)]
pub struct Needle {
    bytes: Box<[u8]>,
    /// The first bytes, as many as a vector has, and zeros.
    head: [u8; VECTOR],
    /// The same letters in the other case, where the case makes no difference.
    other_head: Option<Box<[u8; VECTOR]>>,
    /// A bit for each byte of the head that counts.
    mask: u64,
    /// Which of them are the two bytes.
    pair: (usize, usize),
}

impl Needle {
    /// A needle of these bytes; none if they are fewer than two.
    pub fn new(bytes: &[u8]) -> Option<Needle> {
        if bytes.len() < 2 {
            return None;
        }
        let length = bytes.len().min(VECTOR);
        let mut head = [0; VECTOR];
        head[..length].copy_from_slice(&bytes[..length]);
        let mask = u64::MAX >> (VECTOR - length);
        // Bytes in the middle are as good as any as long as nothing is known of what they are searched in.
        let pair = (length / 2 - 1, length - 1 - length / 4);
        let pair = if pair.0 == pair.1 { (0, 1) } else { pair };
        Some(Needle { bytes: bytes.into(), head, other_head: None, mask, pair })
    }

    /// A needle of these bytes, whatever the case of their ASCII letters; none if they are fewer than two.
    ///
    /// ```
    /// use tamias_json::{Isa, search::Needle};
    /// let needle = Needle::folded(b"timeout").unwrap();
    /// assert_eq!(needle.first_in(Isa::best(), b"Connection TimeOut"), Some(11));
    /// ```
    pub fn folded(bytes: &[u8]) -> Option<Needle> {
        let needle = Needle::new(&bytes.to_ascii_lowercase())?;
        let other_head = Some(Box::new(needle.head.map(|byte| byte.to_ascii_uppercase())));
        Some(Needle { other_head, ..needle })
    }

    /// The needle of a key: `"name":` as a stored document has it. None for a name that may stand in a document in another
    /// way, or whose needle may be found where no key is: one that begins with `,` `:` `]` `}` or is empty, or that contains
    /// the replacement character, which lone surrogates read as.
    pub fn key(name: &str) -> Option<Needle> {
        if matches!(name.as_bytes().first(), None | Some(b',' | b':' | b']' | b'}'))
            || name.contains(char::REPLACEMENT_CHARACTER)
        {
            return None;
        }
        let mut bytes = Vec::with_capacity(name.len() + 3);
        write_json_string(name, &mut bytes);
        bytes.push(b':');
        Needle::new(&bytes)
    }

    /// The bytes of the needle; in lower case where the case makes no difference.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the case of letters makes no difference.
    pub fn is_folded(&self) -> bool {
        self.other_head.is_some()
    }

    /// Where the needle stands first in some bytes. Takes time linear in those up to there.
    pub fn first_in(&self, isa: Isa, bytes: &[u8]) -> Option<usize> {
        isa.run(First { needle: self, bytes })
    }

    /// Whether some bytes begin with the needle.
    pub(super) fn begins(&self, bytes: &[u8]) -> bool {
        match bytes.get(..self.bytes.len()) {
            Some(head) if self.is_folded() => head.eq_ignore_ascii_case(&self.bytes),
            Some(head) => *head == *self.bytes,
            None => false,
        }
    }

    /// Chooses the two bytes that are seldom found together in `sample`, of which the first 8 kB count. A needle finds the same
    /// whatever the sample, but faster in what resembles it.
    pub fn tune(&mut self, isa: Isa, sample: &[u8]) {
        self.pair = isa.run(Tune { needle: self, sample });
    }
}

/// Bytes of a needle among which the two are chosen.
const CANDIDATES: usize = 24;
/// Vectors of a sample.
const SAMPLE_VECTORS: usize = 128;

struct Tune<'t> {
    needle: &'t Needle,
    sample: &'t [u8],
}

impl Task for Tune<'_> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> (usize, usize) {
        let mut best = self.needle.pair;
        let length = self.needle.bytes.len().min(CANDIDATES);
        let vectors = (self.sample.len().saturating_sub(CANDIDATES) / VECTOR).min(SAMPLE_VECTORS);
        if vectors == 0 {
            return best;
        }
        let mut found = vec![0u64; CANDIDATES * SAMPLE_VECTORS];
        for (at, found) in found.chunks_exact_mut(SAMPLE_VECTORS).take(length).enumerate() {
            for (number, found) in found.iter_mut().take(vectors).enumerate() {
                if let Some(bytes) =
                    self.sample.get(number * VECTOR + at..).and_then(|rest| rest.first_chunk())
                {
                    *found = vector.equal(bytes, self.needle.head[at]);
                }
            }
        }
        let column = |at: usize| found.iter().skip(at * SAMPLE_VECTORS).take(vectors);
        let mut least = u32::MAX;
        for first in 0..length {
            for second in first + 1..length {
                let both = column(first).zip(column(second)).map(|(a, b)| (a & b).count_ones()).sum();
                if both < least {
                    least = both;
                    best = (first, second);
                }
            }
        }
        best
    }
}

impl Needle {
    /// Where in the first of two vectors both bytes of the pair stand, each at its distance.
    #[inline(always)]
    pub(super) fn pairs<V: Vector>(&self, vector: V, window: &[u8; REACH]) -> u64 {
        let (first, second) = self.pair;
        let (a, b) = (within(window, first), within(window, second));
        let (x, y) = (self.head[first % VECTOR], self.head[second % VECTOR]);
        match &self.other_head {
            None => vector.both(a, x, b, y),
            Some(other) => {
                let (also_x, also_y) = (other[first % VECTOR], other[second % VECTOR]);
                (vector.equal(a, x) | vector.equal(a, also_x))
                    & (vector.equal(b, y) | vector.equal(b, also_y))
            }
        }
    }

    /// Whether the needle stands at a place.
    #[inline(always)]
    pub(super) fn is_at<V: Vector>(&self, vector: V, bytes: &[u8], from: usize) -> bool {
        let Some(rest) = bytes.get(from..) else { return false };
        match rest.first_chunk() {
            Some(head) => {
                let other = self.other_head.as_ref().map_or(0, |other| vector.same(head, other));
                (vector.same(head, &self.head) | other) & self.mask == self.mask
                    && (self.bytes.len() <= VECTOR || self.begins(rest))
            }
            None => self.begins(rest),
        }
    }
}

struct First<'n> {
    needle: &'n Needle,
    bytes: &'n [u8],
}

impl Task for First<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Option<usize> {
        let First { needle, bytes } = self;
        let last = bytes.len().checked_sub(needle.bytes.len())?;
        let (vectors, _) = bytes.as_chunks::<VECTOR>();
        let mut at = 0;
        for window in vectors.array_windows::<2>() {
            let Some(window) = window.as_flattened().first_chunk() else { break };
            let mut found = needle.pairs(vector, window);
            while found != 0 {
                let from = at + found.trailing_zeros() as usize;
                if from <= last && needle.is_at(vector, bytes, from) {
                    return Some(from);
                }
                found &= found - 1;
            }
            at += VECTOR;
        }
        (at..=last).find(|at| needle.begins(&bytes[*at..]))
    }
}

/// The vector that begins at `from`, which is less than a vector, in two of them.
#[inline(always)]
pub(super) fn within(window: &[u8; REACH], from: usize) -> &[u8; VECTOR] {
    window[from % VECTOR..].first_chunk().unwrap_or(&[0; VECTOR])
}
