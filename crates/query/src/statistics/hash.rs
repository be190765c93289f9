//! The hash of the filter's entries: two words of eight bytes a multiplication. It is part of the format.

pub(super) const MIX: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0x8CB9_2BA7_2F3D_8DD7];

/// The hash of `bytes`, of another family for each seed.
#[inline]
pub(super) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut sum = seed ^ (bytes.len() as u64).wrapping_mul(MIX[0]);
    let (pairs, rest) = bytes.as_chunks::<16>();
    for pair in pairs {
        sum = mix(sum, word(pair.first_chunk()), word(pair.last_chunk()));
    }
    if !rest.is_empty() {
        let (first, last) = ends(bytes, rest);
        sum = mix(sum, first, last);
    }
    mix(sum, MIX[2], MIX[1])
}

/// Two words that hold all bytes of `rest`, the end of `bytes`.
#[inline]
fn ends(bytes: &[u8], rest: &[u8]) -> (u64, u64) {
    let half = |bytes: Option<&[u8; 4]>| u64::from(bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)));
    let byte = |at: usize| u64::from(rest.get(at).copied().unwrap_or(0));
    match rest.len() {
        _ if bytes.len() >= 16 => match bytes.last_chunk::<16>() {
            Some(last) => (word(last.first_chunk()), word(last.last_chunk())),
            None => (0, 0),
        },
        8.. => (word(rest.first_chunk()), word(rest.last_chunk())),
        4.. => (half(rest.first_chunk()), half(rest.last_chunk())),
        length => (byte(0) << 16 | byte(length / 2) << 8 | byte(length.saturating_sub(1)), 0),
    }
}

#[inline]
pub(super) fn word(bytes: Option<&[u8; 8]>) -> u64 {
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline]
fn mix(sum: u64, first: u64, second: u64) -> u64 {
    let product = u128::from(sum ^ first ^ MIX[1]) * u128::from(second ^ sum.rotate_left(32) ^ MIX[0]);
    product as u64 ^ (product >> 64) as u64
}
