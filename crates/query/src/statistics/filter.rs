//! A split-block Bloom filter: an entry sets eight bits within 32 bytes, so that a question touches one cache line.

const BLOCK_BYTES: usize = 32;

/// An odd multiplier for each of the eight words of a block, as Parquet has them.
const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// HEURISTIC: with 12 bits an entry, a question for what is not there is answered with "perhaps" once in 200 times.
const ENTRY_BITS: usize = 12;

/// How many bytes a filter of so many entries has.
pub(super) fn bytes_for(entries: usize) -> usize {
    (entries * ENTRY_BITS / 8).div_ceil(BLOCK_BYTES) * BLOCK_BYTES
}

/// Adds an entry to a filter that began as zeros.
#[inline]
pub(super) fn insert(filter: &mut [u8], hash: u64) {
    let place = place(filter.len(), hash);
    if let Some(block) = filter.get_mut(place..place + BLOCK_BYTES) {
        for (word, salt) in block.as_chunks_mut::<4>().0.iter_mut().zip(SALTS) {
            *word = (u32::from_le_bytes(*word) | bit(hash, salt)).to_le_bytes();
        }
    }
}

/// Whether an entry may be in the filter; false where it surely is not.
pub(super) fn may_contain(filter: &[u8], hash: u64) -> bool {
    let place = place(filter.len(), hash);
    filter.get(place..place + BLOCK_BYTES).is_none_or(|block| {
        let mut words = block.as_chunks::<4>().0.iter().zip(SALTS);
        words.all(|(word, salt)| u32::from_le_bytes(*word) & bit(hash, salt) != 0)
    })
}

/// Where the entry's block begins.
#[inline]
fn place(filter_bytes: usize, hash: u64) -> usize {
    let blocks = (filter_bytes / BLOCK_BYTES) as u64;
    (((hash >> 32) * blocks) >> 32) as usize * BLOCK_BYTES
}

#[inline]
fn bit(hash: u64, salt: u32) -> u32 {
    1 << ((hash as u32).wrapping_mul(salt) >> 27)
}
