//! Where entries and brackets go while a chunk of a document is scanned.
#![expect(
    unsafe_code,
    reason = "entries are written into claimed room, brackets into an array as long as a chunk"
)]

use crate::entry::Entry;
use crate::marks::Marks;
use crate::room::{Room, SLACK};
use crate::sizes::VECTOR;
use std::mem::MaybeUninit;

/// Bytes that are taken in one go between two looks at the list's capacity and the matching of brackets.
pub const CHUNK: usize = 32 * VECTOR;

/// Memory for the brackets of a chunk, used again for the next one.
pub struct Brackets([MaybeUninit<u16>; CHUNK + SLACK]);

impl Brackets {
    /// Nothing of it is written: that would take longer than a short document's scan.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "none is needed")]
    pub fn new() -> Brackets {
        Brackets([const { MaybeUninit::uninit() }; CHUNK + SLACK])
    }
}

/// Where entries and brackets go while a chunk is scanned.
///
/// ```
/// use tamias_simd::{Brackets, Entry, Marks, Portable, Sink, Vector};
/// // {"a":1}
/// let marks = Marks { base: 0, structural: 0b1010001, delimiters: 0b1000001, brackets: 0b1000001 };
/// let (mut list, mut memory) = (Vec::new(), Brackets::new());
/// let mut sink = Sink::new(&mut list, &mut memory, 7, 0);
/// Portable.emit(marks, &mut sink);
/// assert_eq!(sink.finish(), (7, &[0, 1][..]));
/// assert_eq!(list, [Entry::new(0, 0), Entry::new(5, 6)]);
/// ```
pub struct Sink<'l, 'b> {
    entries: Room<'l, Entry>,
    /// Indices of the entries that end with a bracket, counted from the chunk's first. *Invariant*: those below
    /// `brackets_count` are written, and as many vectors as the entries' room has left have 64 of them each before the slack.
    brackets: &'b mut Brackets,
    brackets_count: usize,
    /// Just past the last structural byte.
    value: u32,
}

impl<'l, 'b> Sink<'l, 'b> {
    /// A sink for a chunk of `bytes` bytes, at most [`CHUNK`], whose entries are appended to `list`. `value` is the place just past the
    /// last structural byte before it.
    ///
    /// # Panics
    /// If the chunk is longer.
    #[inline(always)]
    pub fn new(
        list: &'l mut Vec<Entry>,
        brackets: &'b mut Brackets,
        bytes: usize,
        value: u32,
    ) -> Sink<'l, 'b> {
        assert!(bytes <= CHUNK, "a chunk of {bytes} bytes");
        Sink { entries: Room::for_bytes(list, bytes), brackets, brackets_count: 0, value }
    }

    /// Appends the entries to the list. Gives the place just past the last structural byte; and for each bracket outside strings the index
    /// of its entry, counted from the chunk's first.
    #[inline(always)]
    pub fn finish(self) -> (u32, &'b [u16]) {
        self.entries.finish();
        // SAFETY: so many were written.
        let brackets = unsafe { self.brackets.0.get_unchecked(..self.brackets_count).assume_init_ref() };
        (self.value, brackets)
    }

    /// Just past the last structural byte before the vector: where the text of its first entry may begin.
    #[inline(always)]
    pub(crate) fn value(&self) -> u32 {
        self.value
    }

    /// Number of entries so far.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.entries.count()
    }

    /// Takes the room of one vector.
    ///
    /// # Panics
    /// If it was taken for all vectors of the chunk.
    #[inline(always)]
    pub(crate) fn claim(&mut self) {
        self.entries.claim();
    }

    /// Writes one entry or several, `after` those that count.
    ///
    /// # Safety
    /// As [`Room::put`] demands.
    #[inline(always)]
    pub(crate) unsafe fn put<U>(&mut self, after: usize, entries: U) {
        // SAFETY: the contract.
        unsafe { self.entries.put(after, entries) };
    }

    /// Writes one index or several, `after` those that count.
    ///
    /// # Safety
    /// Room was claimed since brackets were last counted, and these end at most 64 and [`SLACK`] past those that count. Any bytes of `U`
    /// make indices.
    #[inline(always)]
    pub(crate) unsafe fn put_brackets<U>(&mut self, after: usize, indices: U) {
        const { assert!(size_of::<U>().is_multiple_of(size_of::<u16>())) };
        let at = self.brackets_count + after;
        if cfg!(feature = "checked") {
            assert!(at + size_of::<U>() / size_of::<u16>() <= CHUNK + SLACK, "a bracket written at {at}");
        }
        // SAFETY: each vector brings 64 at the most, and no more vectors claim room than a chunk has.
        unsafe { self.brackets.0.as_mut_ptr().add(at).cast::<U>().write_unaligned(indices) };
    }

    /// Counts the entries and brackets that were written for a vector.
    ///
    /// # Safety
    /// Room was claimed for it, and so many were written, 64 of each at the most.
    #[inline(always)]
    pub(crate) unsafe fn moved(&mut self, marks: Marks, entries: usize, brackets: usize) {
        // SAFETY: the contract.
        unsafe { self.entries.moved(entries) };
        self.brackets_count += brackets;
        self.value = marks.base.wrapping_add(64 - marks.structural.leading_zeros());
    }

    /// Writes the indices of a vector's entries that end with a bracket, before the entries are counted. Gives how many they are.
    ///
    /// # Safety
    /// Room was claimed for the vector.
    #[inline(always)]
    pub(crate) unsafe fn put_brackets_of(&mut self, marks: Marks) -> usize {
        let mut brackets = marks.brackets & marks.delimiters;
        let mut count = 0;
        while brackets != 0 {
            let before = (brackets & brackets.wrapping_neg()) - 1;
            let index = self.count() as u16 + (marks.delimiters & before).count_ones() as u16;
            // SAFETY: a vector has at most 64 of them, and room was claimed.
            unsafe { self.put_brackets(count, index) };
            count += 1;
            brackets &= brackets - 1;
        }
        count
    }
}
