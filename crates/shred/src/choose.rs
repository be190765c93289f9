//! Which encoding a column gets.

use crate::column::Encoding;
use crate::dissect::RawColumn;
use crate::encoding::dictionary::{Dictionary, Distinct};
use crate::encoding::fraction::Fractions;
use crate::encoding::instants::Instants;
use crate::encoding::ints::Ints;
use crate::encoding::positions::Pattern;
use crate::encoding::strings::Strings;
use crate::frame::FrameWriter;
use crate::number;
use crate::shape::Leaf;

/// Encodings are tried on so many bytes of texts.
const SAMPLE_BYTES: usize = 8 << 10;

/// Encodes a column as is best for it.
pub(crate) fn encode(column: &RawColumn<'_>, events: &[u64], frames: &mut FrameWriter) -> Encoding {
    match column.kind {
        Leaf::Whole => Encoding::Whole(Ints::encode(&column.mantissas, frames)),
        Leaf::Fraction => Encoding::Fractions(Fractions::encode(&column.mantissas, &column.scales, frames)),
        _ => texts(&column.texts, events, frames),
    }
}

/// Encodes texts: a dictionary where values repeat; instants, numbers or places of few characters where they are such; else as
/// they are.
pub(crate) fn texts(texts: &[&[u8]], events: &[u64], frames: &mut FrameWriter) -> Encoding {
    let distinct = Distinct::of(texts);
    if let Some(distinct) = &distinct
        && distinct.entries.len() * 16 <= texts.len()
    {
        return Encoding::Dictionary(Dictionary::encode(distinct, frames));
    }
    if let Some(instants) = Instants::encode(texts, events, frames) {
        return Encoding::Instants(instants);
    }
    if let Some(numbers) = texts.iter().map(|text| whole(text)).collect::<Option<Vec<i64>>>() {
        return Encoding::Whole(Ints::encode(&numbers, frames));
    }
    let (sample, plain) = sample(texts, frames);
    let estimate = |bytes: usize| bytes * plain / sample.max(1);
    let plain = estimate(texts.iter().map(|text| text.len()).sum());
    let pattern = Pattern::of(texts);
    let by_pattern = pattern.as_ref().map_or(usize::MAX, |pattern| pattern.bits() * texts.len() / 8);
    let by_dictionary = distinct.as_ref().map_or(usize::MAX, |distinct| {
        let code_bits = usize::BITS - distinct.entries.len().leading_zeros();
        let entries: usize = distinct.entries.iter().map(|text| text.len()).sum();
        estimate(entries) + texts.len() * code_bits as usize / 8
    });
    match (pattern, distinct) {
        (_, Some(distinct)) if by_dictionary <= plain.min(by_pattern) => {
            Encoding::Dictionary(Dictionary::encode(&distinct, frames))
        }
        (Some(pattern), _) if by_pattern <= plain => Encoding::Positions(pattern.encode(texts, frames)),
        _ => Encoding::Strings(Strings::encode(texts, frames)),
    }
}

fn whole(text: &[u8]) -> Option<i64> {
    number::parse(text).filter(|number| number.scale == 0).map(|number| number.mantissa)
}

/// The length of a sample of texts from all over the column, and what it is compressed to.
fn sample(texts: &[&[u8]], frames: &mut FrameWriter) -> (usize, usize) {
    let mut sample = Vec::with_capacity(SAMPLE_BYTES);
    let total: usize = texts.iter().map(|text| text.len()).sum();
    let parts = if total <= SAMPLE_BYTES { 1 } else { 4 };
    for part in 0..parts {
        let limit = SAMPLE_BYTES * (part + 1) / parts;
        for text in &texts[texts.len() * part / parts..] {
            if sample.len() >= limit {
                break;
            }
            sample.extend_from_slice(&text[..text.len().min(SAMPLE_BYTES)]);
        }
    }
    let length = frames.compressed_length(&sample);
    (sample.len(), length)
}
