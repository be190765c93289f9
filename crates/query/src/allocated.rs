//! What allocations take in memory.

/// What a vector takes. Of one that is almost full also what it takes once it has grown: a budget is to end before that.
pub(crate) fn vec_bytes<T>(vec: &Vec<T>) -> usize {
    let bytes = vec.capacity() * size_of::<T>();
    if is_almost_full(vec.len(), vec.capacity()) { 2 * bytes } else { bytes }
}

/// Whether an allocation of so many places will soon be exchanged for one of twice as many.
pub(crate) fn is_almost_full(len: usize, capacity: usize) -> bool {
    // What is taken in between two looks is a chunk, which is much less than a quarter of what matters.
    len > capacity / 4 * 3
}

/// What the allocator takes for a small allocation beside its bytes, about.
pub(crate) const ALLOCATION_BYTES: usize = 16;

/// A list of many small values in pages, which stay where they are while it grows: a vector would be copied to new memory again and again, and the system clears
/// that before.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T, const FIRST: usize = PAGE> {
    /// So many are found without a look into the list of pages. Only this page grows, as few values are to take little.
    first: Vec<T>,
    /// All of them full but for the last.
    others: Vec<Vec<T>>,
}

/// So many values are a page.
const PAGE: usize = 1 << 14;

impl<T, const FIRST: usize> Default for Pages<T, FIRST> {
    fn default() -> Pages<T, FIRST> {
        Pages { first: Vec::new(), others: Vec::new() }
    }
}

impl<T, const FIRST: usize> Pages<T, FIRST> {
    pub(crate) fn len(&self) -> usize {
        let others = self.others.last().map_or(0, |last| (self.others.len() - 1) * PAGE + last.len());
        self.first.len() + others
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(FIRST) {
            None => self.first.get(at),
            Some(behind) => self.others.get(behind / PAGE)?.get(behind % PAGE),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match at.checked_sub(FIRST) {
            None => self.first.get_mut(at),
            Some(behind) => self.others.get_mut(behind / PAGE)?.get_mut(behind % PAGE),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        // The value is made where it stays: who reads it from a copy soon after it was written, in parts, waits for that.
        match self.others.last_mut().filter(|last| last.len() < PAGE) {
            Some(last) => last.push(value),
            None => self.page_with_room().push(value),
        }
    }

    /// The last page, which is a new one if all are full.
    #[inline(never)]
    fn page_with_room(&mut self) -> &mut Vec<T> {
        if self.first.len() < FIRST {
            return &mut self.first;
        }
        if self.others.last().is_none_or(|last| last.len() == PAGE) {
            self.others.push(Vec::with_capacity(PAGE));
        }
        self.others.last_mut().unwrap_or(&mut self.first)
    }

    /// Makes it at least so long, with default values at its end.
    pub(crate) fn lengthen(&mut self, len: usize)
    where
        T: Default,
    {
        while let Some(missing @ 1..) = len.checked_sub(self.len()) {
            let most = if self.first.len() < FIRST { FIRST } else { PAGE };
            let last = self.page_with_room();
            last.resize_with((last.len() + missing).min(most), T::default);
        }
    }

    /// All of them in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.others.iter().flatten())
    }

    /// The same, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(self.others.iter_mut().flatten())
    }

    /// What it takes, in bytes; of the first page also what that takes once it has grown, if it still grows. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        let grows = self.first.capacity() < FIRST;
        let first = if grows { vec_bytes(&self.first) } else { self.first.capacity() * size_of::<T>() };
        first + self.others.len() * PAGE * size_of::<T>()
    }
}

impl<T, const FIRST: usize> IntoIterator for Pages<T, FIRST> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::vec::IntoIter<T>, std::iter::Flatten<std::vec::IntoIter<Vec<T>>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_their_pages() {
        let mut pages: Pages<usize> = Pages::default();
        assert_eq!((pages.len(), pages.get(0)), (0, None));
        for number in 0..2 * PAGE + 5 {
            pages.push(number);
            assert_eq!(pages.len(), number + 1);
        }
        assert!(pages.iter().copied().eq(0..2 * PAGE + 5));
        for at in [0, PAGE - 1, PAGE, 2 * PAGE - 1, 2 * PAGE, 2 * PAGE + 4] {
            assert_eq!(pages.get(at), Some(&at));
        }
        assert_eq!(pages.get(2 * PAGE + 5), None);
        pages.get_mut(PAGE).into_iter().for_each(|number| *number = 7);
        assert_eq!(pages.get(PAGE), Some(&7));
        assert!(pages.bytes() >= (2 * PAGE + 5) * size_of::<usize>());
    }

    #[test]
    fn pages_that_are_lengthened_keep_what_they_have() {
        let mut pages: Pages<usize, 7> = Pages::default();
        let mut bytes = 0;
        for len in [0, 1, 0, 5, 7, 8, PAGE, 7 + PAGE, 7 + PAGE, 2 * PAGE + 8, 2 * PAGE] {
            let before = pages.len();
            pages.lengthen(len);
            assert_eq!(pages.len(), len.max(before));
            assert!(pages.iter().copied().eq((0..before).chain((before..len).map(|_| 0))));
            pages.iter_mut().enumerate().for_each(|(at, value)| *value = at);
            assert!(pages.bytes() >= bytes);
            bytes = pages.bytes();
        }
        assert!(bytes <= (7 + 3 * PAGE + 7) * size_of::<usize>(), "a first page that is full grows no more");
        assert!(pages.into_iter().eq(0..2 * PAGE + 8));
    }

    #[test]
    fn a_vector_counts_as_grown_before_it_is() {
        let mut vec: Vec<u64> = Vec::with_capacity(16);
        assert_eq!(vec_bytes(&vec), 128);
        vec.resize(13, 0);
        assert_eq!(vec_bytes(&vec), 256);
        vec.resize(17, 0);
        assert_eq!(vec_bytes(&vec), vec.capacity() * 8);
    }
}
