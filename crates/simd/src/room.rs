//! Room at the end of a list, made once for many vectors: the one place where a list is written without a bounds check.
//!
//! With the feature `checked` every such write is checked and panics outside its room: tests and fuzzing run so.
#![expect(unsafe_code, reason = "the room at the end of a list is managed by hand")]

use crate::sizes::VECTOR;
use std::ptr::NonNull;

/// Items that a kernel may write past those that count.
pub(crate) const SLACK: usize = 32;

/// Room at the end of a list for what comes of some vectors, 64 items of each at the most.
///
/// What is written there is a part of the list once the room is [`finish`](Room::finish)ed, and not before.
///
/// ```
/// use tamias_simd::{Isa, Room, Swar, Vector};
/// let mut places = vec![7];
/// let mut room = Room::for_bytes(&mut places, 64);
/// Swar.put_positions(0b1010, 100, &mut room);
/// room.finish();
/// assert_eq!(places, [7, 101, 103]);
/// ```
#[derive(Debug)]
pub struct Room<'l, T> {
    list: &'l mut Vec<T>,
    /// Where the list ended when the room was made.
    start: NonNull<T>,
    /// Items written since then, all initialised.
    count: usize,
    /// Vectors that may still come. *Invariant*: from `count` on there is room for 64 items of each, and for [`SLACK`].
    vectors: usize,
}

impl<'l, T: Copy> Room<'l, T> {
    /// Room for what comes of `bytes` bytes, in vectors of which the last may be short.
    #[inline(always)]
    pub fn for_bytes(list: &'l mut Vec<T>, bytes: usize) -> Room<'l, T> {
        let vectors = bytes.div_ceil(VECTOR);
        list.reserve(vectors * VECTOR + SLACK);
        // SAFETY: the end of a list lies in its allocation, or just past it.
        let start = unsafe { NonNull::new_unchecked(list.as_mut_ptr().add(list.len())) };
        Room { list, start, count: 0, vectors }
    }

    /// Items written so far.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes the room of one vector: now there is room for 64 items, and for [`SLACK`].
    ///
    /// # Panics
    /// If it was taken for all vectors that the room was made for.
    #[inline(always)]
    pub(crate) fn claim(&mut self) {
        assert!(self.vectors > 0, "room for no more vectors");
        self.vectors -= 1;
    }

    /// Writes the items that `items` consists of, one or several, `after` items past those that count.
    ///
    /// # Safety
    /// Room was claimed since items were last counted, and these end at most 64 and [`SLACK`] items past those that count. Any bytes
    /// of `U` make items of type `T`.
    #[inline(always)]
    pub(crate) unsafe fn put<U>(&mut self, after: usize, items: U) {
        const { assert!(size_of::<U>().is_multiple_of(size_of::<T>())) };
        if cfg!(feature = "checked") {
            let end = self.list.len() + self.count + after + size_of::<U>() / size_of::<T>();
            assert!(end <= self.list.capacity(), "an item written at {end} of {}", self.list.capacity());
        }
        // SAFETY: by the contract, and since claimed room is there.
        unsafe { self.start.add(self.count + after).cast::<U>().write_unaligned(items) };
    }

    /// Counts items that were written.
    ///
    /// # Safety
    /// Room was claimed since items were last counted, and so many were written, 64 at the most.
    #[inline(always)]
    pub(crate) unsafe fn moved(&mut self, count: usize) {
        self.count += count;
    }

    /// Makes what was written a part of the list.
    #[inline(always)]
    pub fn finish(self) {
        // SAFETY: so many items were written behind the list's end, where there is room for them.
        unsafe { self.list.set_len(self.list.len() + self.count) };
    }
}
