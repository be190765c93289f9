//! From masks to the offset list: written once, above the kernels.
//!
//! Per block of 64 bytes: which quotes are escaped, what lies inside strings, an [`Entry`] for each delimiter outside.
//! Brackets are noted on the way and matched a chunk of blocks at a time, which gives opening entries their links.

use std::mem::MaybeUninit;

use crate::access;
use crate::classify::{BLOCK, Kernel, Masks};
use crate::isa::Isa;
use crate::offsets::{Entry, ScanError};
use crate::task::{self, Task};

/// The longest document, in bytes: 1 GiB, so that offsets fit 32 bits.
pub const BYTES_MAX: usize = 1 << 30;

/// The deepest nesting of objects and arrays, the outermost counted.
pub const DEPTH_MAX: usize = 1024;

/// Blocks that are taken in one go between two looks at the list's capacity and the matching of brackets.
const CHUNK_BLOCKS: usize = 32;
const CHUNK: usize = CHUNK_BLOCKS * BLOCK;

/// Entries and brackets that a kernel may write past those that count.
pub(crate) const SLACK: usize = 32;

/// What a block holds outside strings; bit `n` speaks of byte `n`.
#[derive(Clone, Copy)]
pub(crate) struct Marks {
    /// Offset of the block's first byte in the document.
    pub(crate) base: u32,
    /// `:` `,` `{` `}` `[` `]`.
    pub(crate) structural: u64,
    /// The same without `:`.
    pub(crate) delimiters: u64,
    /// `{` `}` `[` `]`, inside strings too.
    pub(crate) brackets: u64,
}

/// What one block leaves to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct Carry {
    /// All bits set inside a string.
    in_string: u64,
    /// 1 if the next block's first byte is escaped.
    escaped: u64,
}

impl Carry {
    /// The quotes, brackets and delimiters that count. A backslash escapes the next byte wherever it stands.
    #[inline(always)]
    pub(crate) fn marks<K: Kernel>(&mut self, kernel: K, masks: Masks, base: u32) -> Marks {
        let quotes = masks.quotes & !self.escapes(masks.backslashes);
        let in_string = kernel.prefix_xor(quotes) ^ self.in_string;
        self.in_string = ((in_string as i64) >> 63) as u64;
        let structural = (masks.delimiters | masks.colons) & !in_string;
        Marks { base, structural, delimiters: masks.delimiters & structural, brackets: masks.brackets }
    }

    /// The bytes that a backslash escapes. In a run of backslashes every second one is itself escaped: adding the
    /// starts of runs to them tells odd ends from even ones without a branch (as simdjson does).
    #[inline(always)]
    pub(crate) fn escapes(&mut self, backslashes: u64) -> u64 {
        // Most blocks of most documents have none.
        if backslashes | self.escaped == 0 {
            return 0;
        }
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let starts = backslashes & !self.escaped;
        let codes = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
        let escaped = codes ^ (backslashes | self.escaped);
        self.escaped = (codes & backslashes) >> 63;
        escaped
    }
}

/// Where entries and brackets go while a chunk is scanned.
pub(crate) struct Sink<'l> {
    /// The chunk's entries: room for one per byte, and [`SLACK`].
    entries: &'l mut [MaybeUninit<Entry>],
    len: usize,
    /// The indices of those that end with a bracket.
    brackets: &'l mut [MaybeUninit<u16>; CHUNK + SLACK],
    brackets_len: usize,
    /// Just past the last structural byte.
    value: u32,
}

impl Sink<'_> {
    /// Notes the entries of a block that end with a bracket, before they are appended.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the array is as long as a chunk")]
    pub(crate) fn note_brackets(&mut self, marks: Marks) {
        let mut brackets = marks.brackets & marks.delimiters;
        while brackets != 0 {
            let before = (brackets & brackets.wrapping_neg()) - 1;
            let index = self.len as u16 + (marks.delimiters & before).count_ones() as u16;
            // SAFETY: a chunk has at most as many brackets as bytes.
            let [slot] = unsafe { access::array_mut(self.brackets, self.brackets_len) };
            slot.write(index);
            self.brackets_len += 1;
            brackets &= brackets - 1;
        }
    }

    /// Appends the entries of a block, a structural byte at a time. Each is written where the next entry goes;
    /// only a delimiter moves on from there.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the room was made before the chunk")]
    pub(crate) fn append(&mut self, marks: Marks) {
        self.note_brackets(marks);
        let mut structural = marks.structural;
        while structural != 0 {
            let at = structural.trailing_zeros();
            let end = marks.base + at;
            // SAFETY: the chunk has at most one entry per byte, and there is room for `SLACK` more.
            let [slot] = unsafe { access::array_mut(self.entries, self.len) };
            slot.write(Entry::new(self.value, end));
            self.len += (marks.delimiters >> at & 1) as usize;
            self.value = end + 1;
            structural &= structural - 1;
        }
    }
}

/// What the kernels with vectors write by themselves.
#[cfg(target_arch = "x86_64")]
impl Sink<'_> {
    /// Number of entries so far.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Just past the last structural byte before the block: where the text of its first entry may begin.
    #[inline(always)]
    pub(crate) fn value(&self) -> u32 {
        self.value
    }

    /// Writes eight entries, given as one value of 64 bytes, `after` entries past those that count.
    ///
    /// # Safety
    /// The block has more than `after - 16` entries.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the room was made before the chunk")]
    pub(crate) unsafe fn put_entries<T>(&mut self, after: usize, entries: T) {
        const { assert!(size_of::<T>() == 8 * size_of::<Entry>()) };
        // SAFETY: the chunk has at most one entry per byte, and there is room for `SLACK` more.
        let places = unsafe { access::array_mut::<_, 8>(self.entries, self.len + after) };
        // SAFETY: the target has the size of `T`, and any bytes make entries.
        unsafe { std::ptr::from_mut(places).cast::<T>().write_unaligned(entries) };
    }

    /// Writes an entry `after` those that count.
    ///
    /// # Safety
    /// The block has more than `after - 16` entries.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the room was made before the chunk")]
    pub(crate) unsafe fn put_entry(&mut self, after: usize, entry: Entry) {
        // SAFETY: the chunk has at most one entry per byte, and there is room for `SLACK` more.
        let [place] = unsafe { access::array_mut(self.entries, self.len + after) };
        place.write(entry);
    }

    /// Writes 32 indices of entries with brackets, given as one value of 64 bytes, `after` past those that count.
    ///
    /// # Safety
    /// The block has more than `after` brackets, or `after` is 0.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the array is as long as a chunk, and slack")]
    pub(crate) unsafe fn put_brackets<T>(&mut self, after: usize, indices: T) {
        const { assert!(size_of::<T>() == 32 * size_of::<u16>()) };
        // SAFETY: the chunk has at most one bracket per byte, and there is room for `SLACK` more.
        let places = unsafe { access::array_mut::<_, 32>(self.brackets, self.brackets_len + after) };
        // SAFETY: the target has the size of `T`, and any bytes make indices.
        unsafe { std::ptr::from_mut(places).cast::<T>().write_unaligned(indices) };
    }

    /// Counts the entries and brackets that were written for a block with at least one structural byte.
    #[inline(always)]
    pub(crate) fn moved(&mut self, marks: Marks, entries: usize, brackets: usize) {
        self.len += entries;
        self.brackets_len += brackets;
        self.value = marks.base + (64 - marks.structural.leading_zeros());
    }
}

/// The bit of [`Nesting::open`] that tells `{` from `[`.
const CURLY: u32 = 1 << 31;

/// The stack of open brackets.
struct Nesting {
    /// For each depth the index of the opening entry, and [`CURLY`].
    open: [MaybeUninit<u32>; DEPTH_MAX + 1],
    depth: usize,
    /// Has the bit [`CURLY`] once a bracket was closed by one of the other kind.
    mismatched: u32,
}

impl Nesting {
    /// Stands after the first byte of a document.
    #[inline(always)]
    fn after(first: u8) -> Nesting {
        let mut open = [const { MaybeUninit::uninit() }; DEPTH_MAX + 1];
        open[0].write(if first == b'{' { CURLY } else { 0 });
        Nesting { open, depth: usize::from(matches!(first, b'{' | b'[')), mismatched: 0 }
    }

    /// Matches the brackets of a chunk and links each opening entry past its closing one. Gives false where the document
    /// cannot go on: too deep, or a bracket outside the outermost value.
    ///
    /// `first` is the index of the chunk's first entry, to which the brackets' indices are relative.
    #[inline(always)]
    #[expect(unsafe_code, reason = "indices and depth are bounded as noted")]
    fn link(
        &mut self,
        bytes: &[u8],
        list: &mut [Entry],
        first: usize,
        brackets: &[MaybeUninit<u16>],
    ) -> bool {
        for bracket in brackets {
            if self.depth.wrapping_sub(1) >= DEPTH_MAX {
                return false;
            }
            // SAFETY: the sink wrote them.
            let index = first as u32 + u32::from(unsafe { bracket.assume_init() });
            // SAFETY: the index is that of an entry that the sink wrote.
            let [entry] = unsafe { access::array(list, index as usize) };
            // SAFETY: an entry's end is the offset of its delimiter.
            let [byte] = *unsafe { access::array(bytes, entry.end()) };
            // '{' 7B, '}' 7D, '[' 5B, ']' 5D: the bit 04 says closing, the bit 20 curly.
            let closing = usize::from(byte >> 2 & 1);
            let curly = u32::from(byte >> 5 & 1) * CURLY;
            // Pushed in any case; a closing bracket pops what lies below, an opening one meets itself and is linked for good
            // when its own closing one comes.
            // SAFETY: 1 <= depth <= DEPTH_MAX.
            let [top] = unsafe { access::array_mut(&mut self.open, self.depth) };
            top.write(index | curly);
            self.depth -= closing;
            // SAFETY: 0 <= depth <= DEPTH_MAX, and each slot up to there was written (slot 0 by `after`).
            let target = unsafe { access::array::<_, 1>(&self.open, self.depth)[0].assume_init() };
            self.mismatched |= target ^ curly;
            let target = target & !CURLY;
            // SAFETY: the index is that of an entry that the sink wrote, in this chunk or an earlier one.
            let [open] = unsafe { access::array_mut(list, target as usize) };
            open.link(index - target);
            self.depth += 1 - closing;
        }
        true
    }
}

/// [`scan`] by the kernel that `isa` is the witness of.
#[inline]
pub(crate) fn run(isa: Isa, bytes: &[u8], list: &mut Vec<Entry>) -> bool {
    task::run(isa, Scan { bytes, list })
}

struct Scan<'s> {
    bytes: &'s [u8],
    list: &'s mut Vec<Entry>,
}

impl Task for Scan<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> bool {
        scan(kernel, self.bytes, self.list)
    }
}

/// Makes the list of a document whose outermost value is an object or an array, or the empty list of a lone scalar.
/// Gives false, and a list of no meaning, where brackets or quotes do not pair, something follows the
/// outermost value, or the nesting is too deep: [`fault`] then finds out which.
///
/// `bytes` is not empty and no longer than [`BYTES_MAX`].
#[inline(always)]
#[expect(unsafe_code, reason = "the list's room is managed by hand")]
pub(crate) fn scan<K: Kernel>(kernel: K, bytes: &[u8], list: &mut Vec<Entry>) -> bool {
    let mut nesting = Nesting::after(bytes[0]);
    // The first bracket stands on the stack already.
    let mut known = nesting.depth;
    let mut carry = Carry::default();
    let mut value = 0;
    let mut brackets = [const { MaybeUninit::uninit() }; CHUNK + SLACK];
    list.clear();
    let mut at = 0;
    while at < bytes.len() {
        let chunk_end = bytes.len().min(at + CHUNK);
        list.reserve(chunk_end - at + SLACK);
        let first = list.len();
        let mut sink = Sink {
            entries: list.spare_capacity_mut(),
            len: 0,
            brackets: &mut brackets,
            brackets_len: 0,
            value,
        };
        while at + BLOCK <= chunk_end {
            // SAFETY: by the condition of the loop.
            let block = unsafe { access::array(bytes, at) };
            let marks = carry.marks(kernel, kernel.classify(block), at as u32);
            // Long strings fill whole blocks.
            if marks.structural != 0 {
                kernel.emit(marks, &mut sink);
            }
            at += BLOCK;
        }
        if at < chunk_end {
            let marks = carry.marks(kernel, kernel.classify_last(bytes, at), at as u32);
            if marks.structural != 0 {
                kernel.emit(marks, &mut sink);
            }
            at = chunk_end;
        }
        let Sink { len, brackets_len, .. } = sink;
        value = sink.value;
        // SAFETY: the sink wrote so many entries past the list's end.
        unsafe { list.set_len(first + len) };
        // SAFETY: the sink wrote `brackets_len` brackets; where the first is known, `brackets[0]` is it.
        let noted = unsafe { access::range(&brackets, known, brackets_len) };
        known = 0;
        if !nesting.link(bytes, list, first, noted) {
            return false;
        }
    }
    let closed = carry.in_string == 0 && nesting.depth == 0 && nesting.mismatched & CURLY == 0;
    // The bracket that closes the outermost value is the last entry and the last byte.
    let ended = match (list.first(), list.last()) {
        (Some(first), Some(last)) => {
            first.end() == 0 && first.step() == list.len() + 1 && last.end() == bytes.len() - 1
        }
        _ => true,
    };
    closed && ended
}

/// How many entries the list of these bytes would have, if they balance: classification alone, without the list.
pub(crate) fn count(isa: Isa, bytes: &[u8]) -> usize {
    task::run(isa, Count { bytes })
}

struct Count<'s> {
    bytes: &'s [u8],
}

impl Task for Count<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> usize {
        let bytes = self.bytes;
        let mut carry = Carry::default();
        let mut count = 0;
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for block in blocks {
            count += carry.marks(kernel, kernel.classify(block), 0).delimiters.count_ones() as usize;
        }
        if !rest.is_empty() {
            let last = kernel.classify_last(bytes, bytes.len() - rest.len());
            count += carry.marks(kernel, last, 0).delimiters.count_ones() as usize;
        }
        count
    }
}

/// Why [`scan`] failed: the plain way, a byte at a time, the same for every kernel.
#[cold]
pub(crate) fn fault(bytes: &[u8]) -> ScanError {
    let mut open = Vec::new();
    let (mut string, mut escaped, mut ended) = (None, false, false);
    for (offset, &byte) in bytes.iter().enumerate() {
        if ended {
            return ScanError::Trailing { offset };
        }
        let plain = !std::mem::replace(&mut escaped, false);
        match byte {
            b'\\' => escaped = plain,
            b'"' if plain => string = if string.is_none() { Some(offset) } else { None },
            _ if string.is_some() => {}
            b',' if open.is_empty() => return ScanError::Trailing { offset },
            b'{' | b'[' if open.is_empty() && offset > 0 => return ScanError::Trailing { offset },
            b'{' | b'[' if open.len() == DEPTH_MAX => return ScanError::TooDeep { offset },
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                // '{' and '}', '[' and ']' differ by 06.
                if open.pop() != Some(byte ^ 6) {
                    return ScanError::Unbalanced { offset };
                }
                ended = open.is_empty();
            }
            _ => {}
        }
    }
    match string {
        Some(offset) => ScanError::OpenString { offset },
        None => ScanError::Truncated { open: open.len() },
    }
}

#[cfg(test)]
mod tests;
