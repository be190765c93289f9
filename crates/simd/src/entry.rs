//! An entry of the offset list: what the vectors write for each delimiter.

/// One delimiter outside strings, and the text before it: that begins just past the delimiter of the entry before.
///
/// `docs/offset-list.md` specifies the list, and how it is walked.
///
/// ```
/// use tamias_simd::Entry;
/// let mut bracket = Entry::new(5, 5);
/// assert_eq!((bracket.opens(), bracket.step()), (false, 1));
/// bracket.link(3);
/// assert_eq!((bracket.opens(), bracket.value(), bracket.end(), bracket.step()), (true, 5, 5, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// Just past the last structural byte before: the offset of the text's value if that is a colon, else that of the text.
    /// In the entry of an opening bracket instead [`OPENS`], and the distance to the entry of the closing one.
    value: u32,
    /// Offset of the delimiter.
    end: u32,
}

/// Offsets and distances stay below it: a document has at most 2^30 bytes.
const OPENS: u32 = 1 << 31;

impl Entry {
    /// The entry of a delimiter at `end`, whose value begins at `value`.
    #[inline(always)]
    pub fn new(value: u32, end: u32) -> Entry {
        Entry { value, end }
    }

    /// Makes this the entry of an opening bracket, whose closing one is so many entries away.
    #[inline(always)]
    pub fn link(&mut self, distance: u32) {
        self.value = OPENS | distance;
    }

    /// Whether the delimiter is an opening bracket.
    #[inline(always)]
    pub fn opens(&self) -> bool {
        self.value & OPENS != 0
    }

    /// Offset of the delimiter.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// Offset of the value; of a text without a colon, that of the text.
    #[inline(always)]
    pub fn value(&self) -> usize {
        if self.opens() { self.end as usize } else { self.value as usize }
    }

    /// How many entries further the next sibling is: past the closing bracket and the comma after it, if this one opens.
    #[inline(always)]
    pub fn step(&self) -> usize {
        if self.opens() { (self.value & !OPENS) as usize + 2 } else { 1 }
    }
}
