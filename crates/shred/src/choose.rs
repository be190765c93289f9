//! Which encoding a column gets.

use std::borrow::Cow;
use std::ops::Range;

use crate::collected::{Collected, Distinct};
use crate::column::{Column, Encoding};
use crate::differences::{self, Candidate};
use crate::dissect::{Dissection, RawColumn, RawValues};
use crate::encoding::dictionary::Dictionary;
use crate::encoding::fraction::Fractions;
use crate::encoding::instants::{Instants, Parsed};
use crate::encoding::ints::Ints;
use crate::encoding::positions::Pattern;
use crate::encoding::simple::Simple;
use crate::encoding::strings::Strings;
use crate::encoding::templates::{Hole, REFERENCE_DEPTH_MAX, Template, Templates};
use crate::frame::{Content, Effort, FrameWriter};
use crate::grouping::{self, CountsSoFar};
use crate::learn::{Learned, Learner};
use crate::number;
use crate::pattern::Gap;
use crate::refer;
use crate::shape::Leaf;
use crate::texts::TextList;

/// Encodings are tried on so many bytes of texts. HEURISTIC: fewer are taken not to shrink. To compress them takes as long as some thousand of others,
/// and says little of how they compress among those that share their frame.
const SAMPLE_BYTES: usize = 4 << 10;

/// So many places of a column make up a sample.
const SAMPLE_PARTS: usize = 4;

/// HEURISTIC: a dictionary whose entries are less than a four thousandth of the documents is not worth a better encoding, which would
/// save half of it at most.
const LITTLE: usize = 4096;

/// HEURISTIC: likewise one whose entries are four bytes for each value. To look for templates in them too took a fifth of the time over
/// generated events, and saved 0.01% of the JSON.
const LITTLE_EACH: usize = 4;

/// What a column becomes, before it is written.
enum Plan<'a> {
    Numbers(Cow<'a, [i64]>),
    Fractions {
        mantissas: &'a [i64],
        scales: &'a [u8],
    },
    Dictionary(Distinct<'a>),
    Instants(Parsed),
    Positions(Pattern),
    Templates(Learner),
    Strings,
    /// Documents, or parts of them, kept as text. They have too many keys or shapes: templates of them would be as many.
    Json,
    /// Not known yet: texts that may have templates.
    Texts(Option<Distinct<'a>>),
}

impl Plan<'_> {
    /// The numbers or codes that may be stored by shape.
    fn numbers(&self) -> Option<&[i64]> {
        match self {
            Plan::Numbers(numbers) => Some(numbers),
            Plan::Dictionary(distinct) => Some(&distinct.codes),
            Plan::Templates(learner) => Some(&learner.codes),
            Plan::Fractions { .. }
            | Plan::Instants(_)
            | Plan::Positions(_)
            | Plan::Strings
            | Plan::Json
            | Plan::Texts(_) => None,
        }
    }

    /// Puts others in their place.
    fn replace_numbers(&mut self, by: Vec<i64>) {
        match self {
            Plan::Numbers(numbers) => *numbers = Cow::Owned(by),
            Plan::Dictionary(distinct) => distinct.codes = Cow::Owned(by),
            Plan::Fractions { .. }
            | Plan::Instants(_)
            | Plan::Positions(_)
            | Plan::Templates(_)
            | Plan::Strings
            | Plan::Json
            | Plan::Texts(_) => {}
        }
    }
}

/// Encodes all columns.
pub(crate) fn encode(
    dissection: &Dissection<'_>,
    bytes: usize,
    events: &[u64],
    frames: &mut FrameWriter,
) -> Vec<Column> {
    let little = bytes / LITTLE;
    let mut plans: Vec<Plan<'_>> = dissection.columns.iter().map(|column| plan(column, little)).collect();
    let wanted: Vec<bool> = plans.iter().map(|plan| matches!(plan, Plan::Texts(_))).collect();
    let learners = refer::learn(dissection, &wanted, frames.effort());
    // How deep the references of each column go: the templates of one whose references would go too deep are not taken.
    let mut depths = Vec::with_capacity(plans.len());
    for ((plan, learner), column) in plans.iter_mut().zip(learners).zip(&dissection.columns) {
        if let Plan::Texts(distinct) = plan {
            let learner = learner.filter(|learner| !learner.is_given_up()).map(|mut learner| {
                learner.give_back_singles();
                learner
            });
            let learner = learner.filter(|learner| depth(learner, &depths) <= REFERENCE_DEPTH_MAX);
            *plan = texts(&column.values.texts, distinct.take(), learner, frames);
        }
        depths.push(if let Plan::Templates(learner) = plan { depth(learner, &depths) } else { 0 });
    }
    let grouper = Grouper::of(dissection);
    let differences = differences::find(grouper.candidates(&plans), plans.len());
    // Those that are told from others come last: then it is known how those are stored.
    let mut columns: Vec<Option<Column>> = plans.iter().map(|_| None).collect();
    let encode = |number: usize, plan: Plan<'_>, frames: &mut FrameWriter| {
        let column = &dissection.columns[number];
        let by_shape = plan.numbers().and_then(|numbers| grouper.group(number, numbers));
        let grouped = by_shape.is_some();
        let texts = &column.values.texts;
        let encoding = match plan {
            Plan::Templates(learner) => {
                Encoding::Templates(templates(texts.pool(), learner, by_shape, frames))
            }
            mut plan => {
                by_shape.into_iter().for_each(|numbers| plan.replace_numbers(numbers));
                Encoding::Simple(simple(|| texts.all(), plan, events, frames))
            }
        };
        let (path, kind, count) = (column.path, column.kind, texts.len());
        Column { path, kind, count, grouped, encoding }
    };
    let mut told = Vec::new();
    for (number, (plan, difference)) in plans.into_iter().zip(differences).enumerate() {
        match difference {
            Some(of) => told.push((number, of, plan)),
            None => columns[number] = Some(encode(number, plan, frames)),
        }
    }
    for (number, of, plan) in told {
        let encoded = match differences::encode(of.map(|other| columns[other].as_ref()), frames) {
            Some((encoding, grouped)) => {
                let RawColumn { path, kind, ref values, .. } = dissection.columns[number];
                Column { path, kind, count: values.texts.len(), grouped, encoding }
            }
            None => encode(number, plan, frames),
        };
        columns[number] = Some(encoded);
    }
    columns.into_iter().flatten().collect()
}

/// How deep the references of a column go, from how deep those of the columns before it do.
fn depth(learner: &Learner, depths: &[usize]) -> usize {
    let depth = |column: u32| depths.get(column as usize).map_or(0, |depth| depth + 1);
    learner.references().map(depth).max().unwrap_or(0)
}

/// Puts the numbers or codes of columns into the order of shapes, where that pays.
struct Grouper<'a, 'd> {
    dissection: &'a Dissection<'d>,
    /// For each column its list, and how many values each shape has.
    counts: Vec<(usize, CountsSoFar)>,
}

impl<'a, 'd> Grouper<'a, 'd> {
    fn of(dissection: &'a Dissection<'d>) -> Grouper<'a, 'd> {
        let mut counts = vec![(0, CountsSoFar::new()); dissection.columns.len()];
        for (number, list) in dissection.lists.iter().enumerate() {
            for (code, shape) in (0..).zip(&list.shapes) {
                for (column, count) in &dissection.shapes[*shape as usize].layout.columns {
                    let of = &mut counts[*column as usize];
                    of.0 = number;
                    of.1.push((code, *count));
                }
            }
        }
        Grouper { dissection, counts }
    }

    /// The columns of whole numbers, with the values of which objects each has.
    fn candidates<'s, 'p>(&'s self, plans: &'p [Plan<'_>]) -> Vec<Candidate<'p, &'s (usize, CountsSoFar)>> {
        let candidate = |(column, plan): (usize, &'p Plan<'_>)| match plan {
            Plan::Numbers(values) if self.dissection.columns[column].kind == Leaf::Whole => {
                Some(Candidate { column, scope: &self.counts[column], values })
            }
            _ => None,
        };
        plans.iter().enumerate().filter_map(candidate).collect()
    }

    /// The numbers by shape, if that pays.
    fn group(&self, column: usize, numbers: &[i64]) -> Option<Vec<i64>> {
        let (list, counts) = &self.counts[column];
        let list = &self.dissection.lists[*list];
        // Each column so grouped is gone over with all elements of its list, to write and to read it: few values are not worth that.
        if grouping::are_few(numbers.len(), list.codes.len()) {
            return None;
        }
        // One shape, or one for each value: there is nothing to put together.
        let one = numbers.first().is_none_or(|first| numbers.iter().all(|number| number == first));
        if one || counts.len() < 2 || counts.len() * 4 > numbers.len() {
            return None;
        }
        let codes = list.codes.iter().map(|code| *code as u32);
        if !grouping::pays(numbers, codes.clone(), counts, list.shapes.len()) {
            return None;
        }
        let places = grouping::places(codes, counts, list.shapes.len(), numbers.len())?;
        Some(grouping::group(numbers, &places))
    }
}

/// Which encodings come into question. Dictionaries where values repeat often; instants and numbers where all texts are such.
fn plan(column: &RawColumn, little: usize) -> Plan<'_> {
    let RawValues { texts, mantissas, scales } = &column.values;
    match column.kind {
        Leaf::Whole => return Plan::Numbers(Cow::Borrowed(mantissas)),
        Leaf::Fraction => return Plan::Fractions { mantissas, scales },
        _ => {}
    }
    let mut distinct = texts.distinct();
    let few = |distinct: &mut Distinct<'_>| {
        let entries = distinct.entries.bytes().len();
        distinct.entries.len() == 1 || entries < little.max(LITTLE_EACH * texts.len())
    };
    if let Some(distinct) = distinct.take_if(few) {
        return Plan::Dictionary(distinct);
    }
    if column.kind == Leaf::Json {
        let repeat = |distinct: &mut Distinct<'_>| distinct.entries.bytes().len() <= texts.bytes() / 2;
        return distinct.take_if(repeat).map_or(Plan::Json, Plan::Dictionary);
    }
    if let Some(parsed) = Parsed::of(texts.pool()) {
        return Plan::Instants(parsed.map(|units| texts.spread(units)));
    }
    if let Some(numbers) = numbers(texts.pool()) {
        return Plan::Numbers(Cow::Owned(texts.spread(numbers)));
    }
    Plan::Texts(distinct)
}

/// Writes values by themselves; texts for which nothing better was planned as they are.
fn simple<'t>(
    all: impl FnOnce() -> Cow<'t, TextList>,
    plan: Plan<'_>,
    events: &[u64],
    frames: &mut FrameWriter,
) -> Simple {
    match plan {
        Plan::Numbers(numbers) => Simple::Whole(Ints::encode(&numbers, frames)),
        Plan::Fractions { mantissas, scales } => {
            Simple::Fractions(Fractions::encode(mantissas, scales, frames))
        }
        Plan::Dictionary(distinct) => Simple::Dictionary(Dictionary::encode(&distinct, frames)),
        Plan::Instants(parsed) => Simple::Instants(Instants::encode(parsed, events, frames)),
        Plan::Positions(pattern) => Simple::Positions(pattern.encode(&all(), frames)),
        Plan::Json => Simple::Strings(Strings::encode(&all(), Content::Json, frames)),
        Plan::Strings | Plan::Texts(_) | Plan::Templates(_) => {
            Simple::Strings(Strings::encode(&all(), Content::Texts, frames))
        }
    }
}

/// What is likely to be smallest for texts: templates, a dictionary, few characters at each place, or as they are. Texts that repeat are not
/// copied for that.
fn texts<'a>(
    texts: &Collected,
    distinct: Option<Distinct<'a>>,
    learner: Option<Learner>,
    frames: &mut FrameWriter,
) -> Plan<'a> {
    let bytes = texts.bytes();
    let pattern = Pattern::of(texts.pool());
    let by_pattern = pattern.as_ref().map_or(usize::MAX, |pattern| pattern.bits() * texts.len() / 8);
    let learner = learner.filter(|learner| learner.matched() > 0);
    let smallest = |ratio: &Ratio| {
        let plain = ratio.estimate(bytes) + texts.len() / 2;
        let by_dictionary = distinct.as_ref().map_or(usize::MAX, |distinct| {
            let code_bits = usize::BITS - distinct.entries.len().leading_zeros();
            ratio.estimate(distinct.entries.bytes().len())
                + distinct.entries.len() / 2
                + texts.len() * code_bits as usize / 8
        });
        let least = plain.min(by_pattern).min(by_dictionary);
        match &learner {
            Some(learner) if estimate(learner, ratio) < least => Smallest::Templates,
            _ if by_dictionary == least && distinct.is_some() => Smallest::Dictionary,
            _ if by_pattern == least && pattern.is_some() => Smallest::Positions,
            _ => Smallest::Strings,
        }
    };
    // Estimates grow with the ratio in straight lines: what is smallest at both ends is so between them, and no sample is compressed.
    let [least, most] = Ratio::ENDS.map(|ratio| smallest(&ratio));
    let smallest = if least == most { least } else { smallest(&Ratio::of(texts, bytes, frames)) };
    match (smallest, learner, distinct, pattern) {
        (Smallest::Templates, Some(learner), ..) => Plan::Templates(learner),
        (Smallest::Dictionary, _, Some(distinct), _) => Plan::Dictionary(distinct),
        (Smallest::Positions, .., Some(pattern)) => Plan::Positions(pattern),
        _ => Plan::Strings,
    }
}

/// What takes least.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Smallest {
    Templates,
    Dictionary,
    Positions,
    Strings,
}

/// What the templates of a column would take, nearly.
fn estimate(learner: &Learner, ratio: &Ratio) -> usize {
    let code_bits = (usize::BITS - learner.patterns.len().leading_zeros()) as usize;
    let codes = learner.codes.len() * code_bits / 8;
    let held = |learned: &Learned| {
        let literals: usize = learned.pattern.pieces.iter().map(|(literal, _)| literal.bytes.len() + 4).sum();
        // Digits take less than half of their bytes, and what else is left over is seldom quite random.
        literals / 2 + learned.held_bytes / 2
    };
    codes / 2 + ratio.estimate(learner.rest_bytes) + learner.patterns.iter().map(held).sum::<usize>()
}

/// Writes texts by template; `by_shape` are the codes in that order, if they are to be.
fn templates(
    all: &TextList,
    learner: Learner,
    by_shape: Option<Vec<i64>>,
    frames: &mut FrameWriter,
) -> Templates {
    let rest = learner.rest(all);
    let pieces = vec![(Vec::new(), Hole::Own(leaf(&rest, frames)))];
    let mut templates = vec![Template { pieces, tail: Vec::new(), uses: rest.len() }];
    for learned in learner.patterns {
        let own: Vec<TextList> = learned.held(all).collect();
        let Learned { pattern, uses, .. } = learned;
        let mut next = own.iter();
        let mut pieces = Vec::with_capacity(pattern.pieces.len());
        for (literal, gap) in pattern.pieces {
            let hole = match gap {
                Gap::Reference(column) => Hole::Reference(column),
                _ => Hole::Own(next.next().map_or(Simple::Whole(Ints::Constant(0)), |own| leaf(own, frames))),
            };
            pieces.push((literal.bytes, hole));
        }
        templates.push(Template { pieces, tail: pattern.tail, uses });
    }
    let codes = Ints::encode(by_shape.as_ref().unwrap_or(&learner.codes), frames);
    Templates { templates, codes }
}

/// Encodes texts that fill holes.
fn leaf(all: &TextList, frames: &mut FrameWriter) -> Simple {
    if let Some(numbers) = numbers(all) {
        return Simple::Whole(Ints::encode(&numbers, frames));
    }
    let collected: Collected = all.iter().collect();
    let plan = texts(&collected, collected.distinct(), None, frames);
    simple(|| Cow::Borrowed(all), plan, &[], frames)
}

/// The whole numbers that texts are, if all are such.
fn numbers(texts: &TextList) -> Option<Vec<i64>> {
    let whole = |text: &[u8]| number::parse(text).filter(|number| number.scale == 0);
    if texts.iter().next().is_some_and(|first| whole(first).is_none()) {
        return None;
    }
    let mut numbers = Vec::with_capacity(texts.len());
    numbers.extend(texts.iter().map_while(whole).map(|number| number.mantissa));
    (numbers.len() == texts.len()).then_some(numbers)
}

/// How well texts compress, by a sample from all over the column.
struct Ratio {
    sample: usize,
    compressed: usize,
}

impl Ratio {
    /// Texts take no less than nothing, and never grow to twice their bytes.
    const ENDS: [Ratio; 2] = [Ratio { sample: 1, compressed: 0 }, Ratio { sample: 1, compressed: 2 }];

    /// That of texts which have so many bytes together.
    fn of(texts: &Collected, bytes: usize, frames: &mut FrameWriter) -> Ratio {
        if bytes < SAMPLE_BYTES || frames.effort() == Effort::Low {
            return Ratio { sample: 1, compressed: 1 };
        }
        let part = SAMPLE_BYTES / SAMPLE_PARTS;
        let parts: [Range<usize>; SAMPLE_PARTS] =
            std::array::from_fn(|nth| bytes * nth / SAMPLE_PARTS..bytes * nth / SAMPLE_PARTS + part);
        let sample = texts.ranges(&parts);
        Ratio { sample: sample.len(), compressed: frames.compressed_length(&sample) }
    }

    fn estimate(&self, bytes: usize) -> usize {
        bytes * self.compressed / self.sample.max(1)
    }
}
