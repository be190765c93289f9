//! Which encoding a column gets.

use crate::column::Encoding;
use crate::dissect::{Dissection, RawColumn};
use crate::encoding::dictionary::{Dictionary, Distinct};
use crate::encoding::fraction::Fractions;
use crate::encoding::instants::{Instants, Parsed};
use crate::encoding::ints::Ints;
use crate::encoding::positions::Pattern;
use crate::encoding::strings::Strings;
use crate::encoding::templates::{Hole, Template, Templates};
use crate::frame::FrameWriter;
use crate::learn::{Gap, Learned, Learner};
use crate::number;
use crate::refer::Walk;
use crate::shape::Leaf;

/// Encodings are tried on so many bytes of texts.
const SAMPLE_BYTES: usize = 8 << 10;

/// HEURISTIC: a dictionary whose entries are less than a four thousandth of the documents is not worth a better encoding, which would
/// save half of it at most.
const LITTLE: usize = 4096;

/// What was found out about a column before anything is written.
enum Plan<'d> {
    Whole,
    Fractions,
    Dictionary(Distinct<'d>),
    Instants(Parsed),
    Numbers(Vec<i64>),
    /// Texts that may have templates; else a dictionary, positions, or as they are.
    Texts(Option<Distinct<'d>>),
}

/// Encodes all columns.
pub(crate) fn encode(
    dissection: &Dissection<'_>,
    bytes: usize,
    events: &[u64],
    frames: &mut FrameWriter,
) -> Vec<Encoding> {
    let little = bytes / LITTLE;
    let plans: Vec<Plan<'_>> = dissection.columns.iter().map(|column| plan(column, little)).collect();
    let wanted: Vec<bool> = plans.iter().map(|plan| matches!(plan, Plan::Texts(_))).collect();
    let learners = Walk::over(dissection, &wanted);
    let columns = dissection.columns.iter().zip(plans).zip(learners);
    columns.map(|((column, plan), learner)| write(column, plan, learner, events, frames)).collect()
}

/// Which encodings come into question. Dictionaries where values repeat often; instants and numbers where all texts are such.
fn plan<'d>(column: &RawColumn<'d>, little: usize) -> Plan<'d> {
    match column.kind {
        Leaf::Whole => return Plan::Whole,
        Leaf::Fraction => return Plan::Fractions,
        _ => {}
    }
    let texts = &column.texts;
    let mut distinct = Distinct::of(texts);
    let few = |distinct: &mut Distinct<'_>| {
        let entries: usize = distinct.entries.iter().map(|text| text.len()).sum();
        distinct.entries.len() == 1 || entries < little
    };
    if let Some(distinct) = distinct.take_if(few) {
        return Plan::Dictionary(distinct);
    }
    if let Some(parsed) = Parsed::of(texts) {
        return Plan::Instants(parsed);
    }
    if let Some(numbers) = texts.iter().map(|text| whole(text)).collect::<Option<Vec<i64>>>() {
        return Plan::Numbers(numbers);
    }
    Plan::Texts(distinct)
}

fn write<'d>(
    column: &RawColumn<'d>,
    plan: Plan<'d>,
    learner: Option<Learner<'d>>,
    events: &[u64],
    frames: &mut FrameWriter,
) -> Encoding {
    match plan {
        Plan::Whole => Encoding::Whole(Ints::encode(&column.mantissas, frames)),
        Plan::Fractions => Encoding::Fractions(Fractions::encode(&column.mantissas, &column.scales, frames)),
        Plan::Dictionary(distinct) => Encoding::Dictionary(Dictionary::encode(&distinct, frames)),
        Plan::Numbers(numbers) => Encoding::Whole(Ints::encode(&numbers, frames)),
        Plan::Instants(parsed) => Encoding::Instants(Instants::encode(parsed, events, frames)),
        Plan::Texts(distinct) => texts(&column.texts, distinct, learner, frames),
    }
}

/// Encodes texts by what is likely to be smallest: templates, a dictionary, few characters at each place, or as they are.
fn texts<'d>(
    texts: &[&'d [u8]],
    distinct: Option<Distinct<'d>>,
    learner: Option<Learner<'d>>,
    frames: &mut FrameWriter,
) -> Encoding {
    let ratio = Ratio::of(texts, frames);
    let bytes = |texts: &[&[u8]]| texts.iter().map(|text| text.len()).sum::<usize>();
    let plain = ratio.estimate(bytes(texts)) + texts.len() / 2;
    let pattern = Pattern::of(texts);
    let by_pattern = pattern.as_ref().map_or(usize::MAX, |pattern| pattern.bits() * texts.len() / 8);
    let by_dictionary = distinct.as_ref().map_or(usize::MAX, |distinct| {
        let code_bits = usize::BITS - distinct.entries.len().leading_zeros();
        ratio.estimate(bytes(&distinct.entries))
            + distinct.entries.len() / 2
            + texts.len() * code_bits as usize / 8
    });
    let least = plain.min(by_pattern).min(by_dictionary);
    if let Some(learner) = learner.filter(|learner| !learner.is_given_up() && learner.matched() > 0)
        && estimate(&learner, &ratio) < least
    {
        return templates(learner, frames);
    }
    match (pattern, distinct) {
        (_, Some(distinct)) if by_dictionary == least => {
            Encoding::Dictionary(Dictionary::encode(&distinct, frames))
        }
        (Some(pattern), _) if by_pattern == least => Encoding::Positions(pattern.encode(texts, frames)),
        _ => Encoding::Strings(Strings::encode(texts, frames)),
    }
}

/// What the templates of a column would take, nearly.
fn estimate(learner: &Learner<'_>, ratio: &Ratio) -> usize {
    let code_bits = (usize::BITS - learner.patterns.len().leading_zeros()) as usize;
    let codes = learner.codes.len() * code_bits / 8;
    let rest: usize = learner.rest.iter().map(|text| text.len()).sum();
    let held = |learned: &Learned<'_>| {
        let literals: usize = learned.pattern.pieces.iter().map(|(literal, _)| literal.len() + 4).sum();
        // Digits take less than half of their bytes, and what else is left over is seldom quite random.
        let bytes: usize = learned.held.iter().flatten().map(|text| text.len()).sum();
        literals / 2 + bytes / 2
    };
    codes / 2 + ratio.estimate(rest) + learner.patterns.iter().map(held).sum::<usize>()
}

fn templates(learner: Learner<'_>, frames: &mut FrameWriter) -> Encoding {
    let rest = Hole::Own(leaf(&learner.rest, frames));
    let whole = Template { pieces: vec![(Vec::new(), rest)], tail: Vec::new(), uses: learner.rest.len() };
    let mut templates = vec![whole];
    for Learned { pattern, held, uses, .. } in learner.patterns {
        let mut held = held.iter();
        let mut pieces = Vec::with_capacity(pattern.pieces.len());
        for (literal, gap) in pattern.pieces {
            let hole = match gap {
                Gap::Reference(column) => Hole::Reference(column),
                _ => Hole::Own(
                    held.next().map_or(Encoding::Whole(Ints::Constant(0)), |held| leaf(held, frames)),
                ),
            };
            pieces.push((literal, hole));
        }
        templates.push(Template { pieces, tail: pattern.tail, uses });
    }
    Encoding::Templates(Templates { templates, codes: Ints::encode(&learner.codes, frames) })
}

/// Encodes texts that fill holes.
fn leaf(texts_of_holes: &[&[u8]], frames: &mut FrameWriter) -> Encoding {
    if let Some(numbers) = texts_of_holes.iter().map(|text| whole(text)).collect::<Option<Vec<i64>>>() {
        return Encoding::Whole(Ints::encode(&numbers, frames));
    }
    texts(texts_of_holes, Distinct::of(texts_of_holes), None, frames)
}

fn whole(text: &[u8]) -> Option<i64> {
    number::parse(text).filter(|number| number.scale == 0).map(|number| number.mantissa)
}

/// How well texts compress, by a sample from all over the column.
struct Ratio {
    sample: usize,
    compressed: usize,
}

impl Ratio {
    fn of(texts: &[&[u8]], frames: &mut FrameWriter) -> Ratio {
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
        let compressed = frames.compressed_length(&sample);
        Ratio { sample: sample.len(), compressed }
    }

    fn estimate(&self, bytes: usize) -> usize {
        bytes * self.compressed / self.sample.max(1)
    }
}
