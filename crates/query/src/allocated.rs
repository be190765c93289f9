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

#[cfg(test)]
mod tests {
    use super::*;

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
