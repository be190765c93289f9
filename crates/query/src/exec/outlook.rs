//! What is known of a block's events before a document is read: whether none, all or some of them pass, and perhaps how many.

use crate::ast::Comparison;
use crate::expr::{Computed, Event, Expr, Scope, Spare, holds, unlike};
use crate::plan::{Events, Plan};
use crate::source::Block;
use crate::summary::{Extreme, Key, Listed, Summary, Tally, Values, spelled};
use crate::value::{Number, Value};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::{BitOr, BitOrAssign, Range, RangeInclusive};
use tamias_json::Offsets;
use tamias_json::number::Bound;

/// What a condition may come to, over some values of an event: a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcomes(u8);

impl Outcomes {
    const NONE: Outcomes = Outcomes(0);
    const TRUE: Outcomes = Outcomes(1);
    const FALSE: Outcomes = Outcomes(2);
    const UNDEFINED: Outcomes = Outcomes(4);
    /// A value that is no Boolean.
    const OTHER: Outcomes = Outcomes(8);
    const BOTH: Outcomes = Outcomes(3);
    const ANY: Outcomes = Outcomes(15);

    fn of(value: &Value<'_>) -> Outcomes {
        match value {
            Value::Bool(bool) => Outcomes::from(*bool),
            Value::Undefined => Outcomes::UNDEFINED,
            _ => Outcomes::OTHER,
        }
    }

    fn has(self, other: Outcomes) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether an event with such a value passes; none where that is not certain.
    pub(crate) fn passes(self) -> Option<bool> {
        match self.has(Outcomes::TRUE) {
            false => Some(false),
            true => (self == Outcomes::TRUE).then_some(true),
        }
    }

    /// Of `not`.
    fn negated(self) -> Outcomes {
        let mut negated = Outcomes::NONE;
        for (from, to) in [
            (Outcomes::TRUE, Outcomes::FALSE),
            (Outcomes::FALSE, Outcomes::TRUE),
            (Outcomes::UNDEFINED, Outcomes::TRUE),
            (Outcomes::OTHER, Outcomes::UNDEFINED),
        ] {
            if self.has(from) {
                negated |= to;
            }
        }
        negated
    }

    /// Of `and`: each term is only asked whether it is true.
    fn all(terms: impl Iterator<Item = Outcomes>) -> Outcomes {
        let (mut may, mut must) = (true, true);
        for term in terms {
            may &= term.has(Outcomes::TRUE);
            must &= term == Outcomes::TRUE;
        }
        Outcomes::possible(may, must)
    }

    /// Of `or`.
    fn any(terms: impl Iterator<Item = Outcomes>) -> Outcomes {
        let (mut may, mut must) = (false, false);
        for term in terms {
            may |= term.has(Outcomes::TRUE);
            must |= term == Outcomes::TRUE;
        }
        Outcomes::possible(may, must)
    }

    fn possible(may: bool, must: bool) -> Outcomes {
        match (may, must) {
            (_, true) => Outcomes::TRUE,
            (true, false) => Outcomes::BOTH,
            (false, false) => Outcomes::FALSE,
        }
    }
}

impl From<bool> for Outcomes {
    fn from(bool: bool) -> Outcomes {
        if bool { Outcomes::TRUE } else { Outcomes::FALSE }
    }
}

impl BitOr for Outcomes {
    type Output = Outcomes;

    fn bitor(self, other: Outcomes) -> Outcomes {
        Outcomes(self.0 | other.0)
    }
}

impl BitOrAssign for Outcomes {
    fn bitor_assign(&mut self, other: Outcomes) {
        self.0 |= other.0;
    }
}

/// Some events of a block, by what they have under a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class<'b> {
    Missing,
    /// A scalar as it is stored, a string without its quotes.
    Known(Scalar, &'b [u8]),
    /// Strings that are not told one by one; what may be among them.
    Strings(Values<'b>),
    /// Numbers that are not told one by one, and their range if that is known.
    Numbers(Option<(Extreme<'b>, Extreme<'b>)>),
    Arrays,
    Objects,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Text,
    /// A number, `null`, `true` or `false`.
    Bare,
}

impl Class<'_> {
    /// Whether the value is known itself.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Class::Missing | Class::Known(..))
    }

    /// Writes a document of no key but this one, with a value of the class; false where that is not known.
    pub(crate) fn write(&self, name: &str, out: &mut Vec<u8>) -> bool {
        out.clear();
        let (quote, text): (&[u8], _) = match self {
            Class::Missing => {
                out.extend_from_slice(b"{}");
                return true;
            }
            Class::Known(Scalar::Text, text) => (b"\"", text),
            Class::Known(Scalar::Bare, text) => (b"", text),
            _ => return false,
        };
        out.push(b'{');
        tamias_json::write_json_string(name, out);
        [b":", quote, text, quote, b"}"].iter().for_each(|part| out.extend_from_slice(part));
        true
    }
}

/// Calls `each` for each class of a key's values, with the events of it, if the classes are known: whether they are.
pub(crate) fn classes<'b>(key: &Key<'b>, events: u32, mut each: impl FnMut(Class<'b>, Tally)) -> bool {
    let values = match key {
        Key::Unknown => return false,
        Key::Absent => {
            each(Class::Missing, Tally { count: events, first: 0 });
            return true;
        }
        Key::Present(facts) => match facts.values {
            Some(values) => values,
            None => return false,
        },
    };
    let Values { missing, null, falsehood, truth, maps, arrays, strings, numbers, .. } = values;
    each(Class::Missing, missing);
    for (text, tally) in [("null", null), ("false", falsehood), ("true", truth)] {
        each(Class::Known(Scalar::Bare, text.as_bytes()), tally);
    }
    // Which is the first of these is not told.
    let unordered = |count| Tally { count, first: 0 };
    each(Class::Objects, unordered(maps));
    each(Class::Arrays, unordered(arrays));
    let mut listed = |listed: Option<Listed<'b>>, scalar, others: Class<'b>, count| match listed {
        Some(listed) => listed.for_each(|(text, tally)| each(Class::Known(scalar, text), tally)),
        None => each(others, unordered(count)),
    };
    listed(values.listed_strings, Scalar::Text, Class::Strings(values), strings);
    listed(values.listed_numbers, Scalar::Bare, Class::Numbers(values.range), numbers);
    true
}

/// A condition, taken apart as far as blocks can tell of it.
#[derive(Debug)]
enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    /// It depends on this slot alone.
    Slot(Box<SlotCondition>),
    /// `@Timestamp` against a constant.
    Time(Comparison, Box<Bound>),
    Constant(Outcomes),
    Unknown,
}

#[derive(Debug)]
struct SlotCondition {
    slot: usize,
    expr: Expr,
    /// What the condition came to, of values met before: most blocks repeat them.
    known: HashMap<Scalar, HashMap<Box<[u8]>, Outcomes>>,
    missing: Option<Outcomes>,
}

/// So many values are remembered.
const KNOWN_MAX: usize = 1024;

/// The slot that an expression depends on, if it depends on nothing else of its event; the inner one none where it is
/// constant.
pub(crate) fn only_slot(expr: &Expr) -> Option<Option<usize>> {
    match expr {
        Expr::Slot(slot) | Expr::BuiltIn(Computed::Level { level: slot }) => return Some(Some(*slot)),
        Expr::BuiltIn(Computed::Start { start: slot }) => return Some(Some(*slot)),
        Expr::BuiltIn(_) | Expr::Group(_) => return None,
        _ => {}
    }
    let mut only = None;
    for child in expr.children() {
        match (only_slot(child)?, only) {
            (None, _) => {}
            (Some(slot), None) => only = Some(slot),
            (Some(slot), Some(other)) if slot == other => {}
            _ => return None,
        }
    }
    Some(only)
}

impl Condition {
    fn new(expr: &Expr) -> Condition {
        match only_slot(expr) {
            Some(Some(slot)) => {
                return Condition::Slot(Box::new(SlotCondition {
                    slot,
                    expr: expr.clone(),
                    known: HashMap::new(),
                    missing: None,
                }));
            }
            Some(None) => {
                let mut scope = Scope::new(0);
                let value = Outcomes::of(&expr.eval(&mut scope));
                let is_certain = scope.failure.is_none() && matches!(expr, Expr::Constant(_));
                return if is_certain { Condition::Constant(value) } else { Condition::Unknown };
            }
            None => {}
        }
        match expr {
            Expr::And(terms) => Condition::And(terms.iter().map(Condition::new).collect()),
            Expr::Or(terms) => Condition::Or(terms.iter().map(Condition::new).collect()),
            Expr::Not(of) => Condition::Not(Box::new(Condition::new(of))),
            Expr::CompareNumber { op, left, bound, .. }
                if matches!(**left, Expr::BuiltIn(Computed::Timestamp)) =>
            {
                Condition::Time(*op, bound.clone())
            }
            _ => Condition::Unknown,
        }
    }
}

/// What a plan's condition asks of blocks; with it, how to make a class of values an event.
pub(crate) struct Outlook {
    condition: Option<Condition>,
    instants: RangeInclusive<u64>,
    probe: Probe,
}

/// What is known of a block.
pub(crate) struct Verdict {
    /// The events within the query's time, by their place in the block; none of the others passes.
    pub(crate) events: Range<usize>,
    /// Whether all, or none of them pass; none where that is not certain.
    pub(crate) passes: Option<bool>,
}

impl Outlook {
    pub(crate) fn new(plan: &Plan, events: &Events, now: u64) -> Outlook {
        // A condition on what was unnested is not one on an event.
        let condition = plan.filter.as_ref().map(|filter| match events.unnest.is_empty() {
            true => Condition::new(filter),
            false => Condition::Unknown,
        });
        Outlook { condition, instants: plan.instants(), probe: Probe::new(now) }
    }

    /// What the block's columns and its summary tell, if it has one.
    pub(crate) fn of(
        &mut self,
        block: &dyn Block,
        summary: Option<&Summary<'_>>,
        events: &Events,
    ) -> Verdict {
        let instants = block.instants().get(..crate::scan::event_count(block)).unwrap_or_default();
        let instant = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let start = instants.partition_point(|bytes| instant(bytes) < *self.instants.start());
        let end = instants.partition_point(|bytes| instant(bytes) <= *self.instants.end()).max(start);
        let within = instants.get(start..end).unwrap_or_default();
        let passes = match (&mut self.condition, within) {
            (_, []) => Some(false),
            (None, _) => Some(true),
            (Some(condition), [first, ..]) => {
                let last = within.last().unwrap_or(first);
                let block =
                    Known { summary, names: &events.names, instants: (instant(first), instant(last)) };
                block.outcomes(condition, &mut self.probe).passes()
            }
        };
        Verdict { events: start..end, passes }
    }

    /// Whether events of a class of a slot's values pass; none where that is not certain, or depends on something else.
    pub(crate) fn of_class(&mut self, slot: usize, class: &Class<'_>, events: &Events) -> Option<bool> {
        match &mut self.condition {
            None => Some(true),
            Some(Condition::Slot(condition)) if condition.slot == slot => {
                condition.outcomes(class, &events.names, &mut self.probe).passes()
            }
            _ => None,
        }
    }

    /// The slot that the condition depends on alone.
    pub(crate) fn slot(&self) -> Option<usize> {
        match &self.condition {
            Some(Condition::Slot(condition)) => Some(condition.slot),
            _ => None,
        }
    }

    /// Whether there is no condition.
    pub(crate) fn is_unconditional(&self) -> bool {
        self.condition.is_none()
    }

    pub(crate) fn probe(&mut self) -> &mut Probe {
        &mut self.probe
    }
}

/// What a block tells.
struct Known<'k, 'b> {
    summary: Option<&'k Summary<'b>>,
    names: &'k [Box<str>],
    instants: (u64, u64),
}

impl Known<'_, '_> {
    fn outcomes(&self, condition: &mut Condition, probe: &mut Probe) -> Outcomes {
        match condition {
            Condition::And(terms) => Outcomes::all(terms.iter_mut().map(|term| self.outcomes(term, probe))),
            Condition::Or(terms) => Outcomes::any(terms.iter_mut().map(|term| self.outcomes(term, probe))),
            Condition::Not(of) => self.outcomes(of, probe).negated(),
            Condition::Slot(condition) => self.slot(condition, probe).unwrap_or(Outcomes::ANY),
            Condition::Time(op, bound) => {
                let order = |instant: u64| bound.compare(instant.to_string().as_bytes());
                between(*op, order(self.instants.0), order(self.instants.1))
            }
            Condition::Constant(outcomes) => *outcomes,
            Condition::Unknown => Outcomes::ANY,
        }
    }

    fn slot(&self, condition: &mut SlotCondition, probe: &mut Probe) -> Option<Outcomes> {
        let summary = self.summary?;
        let key = summary.key(self.names.get(condition.slot)?);
        let mut all = Outcomes::NONE;
        let known = classes(&key, summary.events(), |class, tally| {
            // Once some may pass and some may not, no more is to be learnt.
            if tally.count > 0 && (all == Outcomes::NONE || all.passes().is_some()) {
                all |= condition.outcomes(&class, self.names, probe);
            }
        });
        (known && all.passes().is_some()).then_some(all)
    }
}

impl SlotCondition {
    fn outcomes(&mut self, class: &Class<'_>, names: &[Box<str>], probe: &mut Probe) -> Outcomes {
        let evaluated = |expr: &Expr, probe: &mut Probe| {
            let outcomes = probe.with(class, self.slot, names, (0, 0), |scope| {
                let value = Outcomes::of(&expr.eval(scope));
                scope.failure.map_or(value, |_| Outcomes::ANY)
            });
            outcomes.unwrap_or(Outcomes::ANY)
        };
        match class {
            Class::Missing => match self.missing {
                Some(known) => known,
                None => *self.missing.insert(evaluated(&self.expr, probe)),
            },
            Class::Known(scalar, text) => {
                let known = self.known.entry(*scalar).or_default();
                if let Some(known) = known.get(*text) {
                    return *known;
                }
                let outcomes = evaluated(&self.expr, probe);
                if known.len() >= KNOWN_MAX {
                    known.clear();
                }
                known.insert((*text).into(), outcomes);
                outcomes
            }
            class => unlisted(&self.expr, class),
        }
    }
}

/// What an expression comes to for values that are not told one by one.
fn unlisted(expr: &Expr, class: &Class<'_>) -> Outcomes {
    let is_value = |expr: &Expr| matches!(expr, Expr::Slot(_) | Expr::BuiltIn(Computed::Level { .. }));
    let is_text = matches!(class, Class::Strings(_));
    match expr {
        expr if is_value(expr) => Outcomes::OTHER,
        Expr::And(terms) => Outcomes::all(terms.iter().map(|term| unlisted(term, class))),
        Expr::Or(terms) => Outcomes::any(terms.iter().map(|term| unlisted(term, class))),
        Expr::Not(of) => unlisted(of, class).negated(),
        Expr::Constant(value) => Outcomes::of(value),
        Expr::IsNull(of, negated) if is_value(of) => Outcomes::from(*negated),
        Expr::CompareNumber { op, left, bound, .. } if is_value(left) => match class {
            Class::Numbers(Some((least, greatest))) => {
                between(*op, bound.compare(least.text.as_bytes()), bound.compare(greatest.text.as_bytes()))
            }
            Class::Numbers(None) => Outcomes::BOTH,
            _ => unlike(*op).map_or(Outcomes::UNDEFINED, Outcomes::from),
        },
        Expr::Compare { op, left, right, ci } => match (&**left, &**right) {
            (value, Expr::Constant(constant)) | (Expr::Constant(constant), value) if is_value(value) => {
                let is_negated = match op {
                    Comparison::Equal => false,
                    Comparison::NotEqual => true,
                    // Two numbers or two strings are compared, everything else is not.
                    _ => return if is_text { Outcomes::ANY } else { Outcomes::BOTH | Outcomes::UNDEFINED },
                };
                match (constant, may_equal(class, constant, *ci)) {
                    (Value::Undefined, _) => Outcomes::UNDEFINED,
                    (_, true) => Outcomes::BOTH,
                    (_, false) => Outcomes::from(is_negated),
                }
            }
            _ => Outcomes::ANY,
        },
        Expr::In { left, right, negated, ci } if is_value(left) => match &**right {
            Expr::Constant(Value::Array(array)) => {
                match array.iter().any(|element| may_equal(class, &element, *ci)) {
                    true => Outcomes::BOTH,
                    false => Outcomes::from(*negated),
                }
            }
            _ => Outcomes::ANY,
        },
        Expr::Like { left, .. } | Expr::Match { left, .. } if is_value(left) => match is_text {
            true => Outcomes::BOTH,
            false => Outcomes::UNDEFINED,
        },
        Expr::MatchWhole { left, negated, .. } if is_value(left) => match is_text {
            true => Outcomes::BOTH,
            false => Outcomes::from(*negated),
        },
        _ => Outcomes::ANY,
    }
}

/// Whether one of the values may equal a constant.
fn may_equal(class: &Class<'_>, constant: &Value<'_>, ci: bool) -> bool {
    match (class, constant) {
        (Class::Strings(values), Value::Text(text)) => {
            ci || spelled(&text.text()).is_none_or(|spelled| values.may_hold(&spelled))
        }
        (Class::Numbers(range), Value::Number(number)) => range.is_none_or(|(least, greatest)| {
            number.compare(&Number::Stored(least.text)).is_ge()
                && number.compare(&Number::Stored(greatest.text)).is_le()
        }),
        (Class::Arrays, Value::Array(_)) | (Class::Objects, Value::Object(_)) => true,
        _ => false,
    }
}

/// What comparing comes to for numbers of which the least and the greatest stand to the constant as told.
fn between(op: Comparison, least: Ordering, greatest: Ordering) -> Outcomes {
    let mut outcomes = Outcomes::NONE;
    for (order, is_possible) in [
        (Ordering::Less, least.is_lt()),
        (Ordering::Equal, least.is_le() && greatest.is_ge()),
        (Ordering::Greater, greatest.is_gt()),
    ] {
        if is_possible {
            outcomes |= Outcomes::from(holds(op, order));
        }
    }
    outcomes
}

/// A document of one value, to evaluate expressions over.
pub(crate) struct Probe {
    document: Vec<u8>,
    offsets: Offsets,
    spare: Spare,
    now: u64,
}

impl Probe {
    fn new(now: u64) -> Probe {
        Probe { document: Vec::new(), offsets: Offsets::new(), spare: Spare::default(), now }
    }

    /// Calls `act` with an event that has the value of a class in a slot, and nothing else; none where it is not known.
    pub(crate) fn with<'a, T>(
        &'a mut self,
        class: &Class<'_>,
        slot: usize,
        names: &[Box<str>],
        (instant, arrival): (u64, u64),
        act: impl FnOnce(&mut Scope<'a>) -> T,
    ) -> Option<T> {
        if !class.write(names.get(slot)?, &mut self.document) {
            return None;
        }
        let document = self.offsets.scan_trusted(&self.document).ok()?;
        let event = Event { document: Some(document), instant, arrival };
        let mut scope = Scope::of(event, names, self.now, None, &mut self.spare);
        scope.read(names, 0);
        let result = act(&mut scope);
        scope.end(&mut self.spare);
        Some(result)
    }
}
