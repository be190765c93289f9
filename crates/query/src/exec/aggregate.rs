//! Aggregates. Values may be added in any order; where the order in time matters, it is remembered.

use super::exact::ExactSum;
use super::group::Order;
use super::sketch::Sketch;
use crate::plan::Function;
use crate::value::{Number, Value, canonical, parse, write_json};
use foldhash::fast::RandomState;
use rust_decimal::Decimal;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) enum Aggregator {
    Count(u64),
    CountDistinct(HashSet<Box<[u8]>, RandomState>),
    Sum(ExactSum),
    Mean(ExactSum),
    Extreme {
        wanted: Ordering,
        found: Option<(Number<'static>, Order)>,
    },
    Percentile {
        p: f64,
        sketch: Box<Sketch>,
    },
    /// The value as JSON text, in an allocation that stays.
    First(Option<Order>, Vec<u8>),
    Last(Option<Order>, Vec<u8>),
    Any(bool),
    All(bool),
    Distinct {
        seen: HashMap<Box<[u8]>, Ordered, RandomState>,
        added: usize,
        /// No value was first seen later.
        latest: Order,
    },
    /// The first, or the last, so many values. The count tells values of one event apart.
    Ends {
        is_first: bool,
        most: usize,
        kept: BTreeMap<(Order, usize), Value<'static>>,
        added: usize,
        /// What they take, about, in bytes; and the most they ever took.
        bytes: usize,
        bytes_most: usize,
    },
}

/// A value, the event that has it, and a count that tells values of one event apart.
type Ordered = ((Order, usize), Value<'static>);

/// What an entry of a set or map costs beside its bytes, about.
const ENTRY_BYTES: usize = 64;

impl Aggregator {
    pub(super) fn new(function: Function) -> Aggregator {
        match function {
            Function::Count => Aggregator::Count(0),
            Function::CountDistinct => Aggregator::CountDistinct(HashSet::default()),
            Function::Sum => Aggregator::Sum(ExactSum::default()),
            Function::Mean => Aggregator::Mean(ExactSum::default()),
            Function::Min => Aggregator::Extreme { wanted: Ordering::Less, found: None },
            Function::Max => Aggregator::Extreme { wanted: Ordering::Greater, found: None },
            Function::Percentile { p, error } => {
                Aggregator::Percentile { p, sketch: Box::new(Sketch::new(error)) }
            }
            Function::First => Aggregator::First(None, Vec::new()),
            Function::Last => Aggregator::Last(None, Vec::new()),
            Function::Any => Aggregator::Any(false),
            Function::All => Aggregator::All(true),
            Function::Distinct => Aggregator::Distinct { seen: HashMap::default(), added: 0, latest: (0, 0) },
            Function::Top(most) => Aggregator::ends(true, most),
            Function::Bottom(most) => Aggregator::ends(false, most),
        }
    }

    fn ends(is_first: bool, most: usize) -> Aggregator {
        Aggregator::Ends { is_first, most, kept: BTreeMap::new(), added: 0, bytes: 0, bytes_most: 0 }
    }

    /// Takes in the value of an event: by how many bytes the aggregate grew, about. `scratch` is an allocation to use.
    pub(super) fn add(&mut self, value: Value<'_>, order: Order, scratch: &mut Vec<u8>) -> usize {
        if value.is_undefined() {
            return 0;
        }
        match self {
            Aggregator::Count(count) => *count += u64::from(!matches!(value, Value::Null)),
            Aggregator::CountDistinct(seen) => {
                let key = key(&value, scratch);
                if !seen.contains(key) {
                    seen.insert(key.into());
                    return key.len() + ENTRY_BYTES;
                }
            }
            Aggregator::Sum(sum) | Aggregator::Mean(sum) => {
                if let Value::Number(number) = &value {
                    sum.add(number);
                }
            }
            Aggregator::Extreme { wanted, found } => {
                if let Value::Number(number) = value {
                    let is_better = match found {
                        None => true,
                        Some((best, at)) => match number.compare(best) {
                            Ordering::Equal => order < *at,
                            unequal => unequal == *wanted,
                        },
                    };
                    if is_better {
                        let before = found.as_ref().map_or(0, |(best, _)| best.weight());
                        let grown = number.weight().saturating_sub(before);
                        *found = Some((number.into_static(), order));
                        return grown;
                    }
                }
            }
            Aggregator::Percentile { sketch, .. } => {
                if let Value::Number(number) = &value {
                    return sketch.add(number.to_f64());
                }
            }
            Aggregator::First(first, json) => {
                if first.is_none_or(|at| order < at) {
                    *first = Some(order);
                    return replace(json, &value);
                }
            }
            Aggregator::Last(last, json) => {
                if last.is_none_or(|at| order >= at) {
                    *last = Some(order);
                    return replace(json, &value);
                }
            }
            Aggregator::Any(any) => *any |= value.is_true(),
            Aggregator::All(all) => *all &= value.is_true(),
            Aggregator::Distinct { seen, added, latest } => {
                let key = key(&value, scratch);
                *added += 1;
                match seen.get_mut(key) {
                    Some((at, shown)) => {
                        if order < at.0 {
                            (*at, *shown) = ((order, *added), value.into_static());
                        }
                    }
                    None => {
                        *latest = order.max(*latest);
                        // Owned, a stored value takes more than its text.
                        let value = value.into_static();
                        let bytes = key.len() + value.weight() + 2 * ENTRY_BYTES;
                        seen.insert(key.into(), ((order, *added), value));
                        return bytes;
                    }
                }
            }
            Aggregator::Ends { is_first, most, kept, added, bytes, bytes_most } => {
                let is_late = kept.len() >= *most
                    && match (&*is_first, kept.last_key_value(), kept.first_key_value()) {
                        (true, Some(((last, _), _)), _) => order > *last,
                        (false, _, Some(((first, _), _))) => order < *first,
                        _ => true,
                    };
                if is_late {
                    return 0;
                }
                let value = value.into_static();
                *bytes += value.weight() + 2 * ENTRY_BYTES;
                kept.insert((order, *added), value);
                *added += 1;
                if kept.len() > *most {
                    let dropped = if *is_first { kept.pop_last() } else { kept.pop_first() };
                    let dropped = dropped.map_or(0, |(_, value)| value.weight() + 2 * ENTRY_BYTES);
                    *bytes = bytes.saturating_sub(dropped);
                }
                // Values come and go: the aggregate grows when they take more than ever.
                let grown = bytes.saturating_sub(*bytes_most);
                *bytes_most += grown;
                return grown;
            }
        }
        0
    }

    /// Takes in what another aggregator of the same function has taken in, of other events.
    pub(super) fn merge(&mut self, other: Aggregator) {
        match (self, other) {
            (Aggregator::Count(count), Aggregator::Count(others)) => *count += others,
            (Aggregator::CountDistinct(seen), Aggregator::CountDistinct(others)) => seen.extend(others),
            (Aggregator::Sum(sum), Aggregator::Sum(other))
            | (Aggregator::Mean(sum), Aggregator::Mean(other)) => sum.merge(&other),
            (Aggregator::Extreme { wanted, found }, Aggregator::Extreme { found: Some(other), .. }) => {
                let is_better = found.as_ref().is_none_or(|(best, at)| match other.0.compare(best) {
                    Ordering::Equal => other.1 < *at,
                    unequal => unequal == *wanted,
                });
                if is_better {
                    *found = Some(other);
                }
            }
            (Aggregator::Percentile { sketch, .. }, Aggregator::Percentile { sketch: other, .. }) => {
                sketch.merge(&other);
            }
            (Aggregator::First(first, json), Aggregator::First(Some(order), other))
                if first.is_none_or(|at| order < at) =>
            {
                (*first, *json) = (Some(order), other);
            }
            (Aggregator::Last(last, json), Aggregator::Last(Some(order), other))
                if last.is_none_or(|at| order > at) =>
            {
                (*last, *json) = (Some(order), other);
            }
            (Aggregator::Any(any), Aggregator::Any(other)) => *any |= other,
            (Aggregator::All(all), Aggregator::All(other)) => *all &= other,
            (
                Aggregator::Distinct { seen, latest, .. },
                Aggregator::Distinct { seen: others, latest: other, .. },
            ) => {
                *latest = other.max(*latest);
                for (key, other) in others {
                    match seen.entry(key) {
                        Entry::Occupied(mut known) if other.0 < known.get().0 => *known.get_mut() = other,
                        Entry::Occupied(_) => {}
                        Entry::Vacant(vacant) => {
                            vacant.insert(other);
                        }
                    }
                }
            }
            (Aggregator::Ends { is_first, most, kept, .. }, Aggregator::Ends { kept: others, .. }) => {
                kept.extend(others);
                while kept.len() > *most {
                    if *is_first {
                        kept.pop_last()
                    } else {
                        kept.pop_first()
                    };
                }
            }
            // Nothing was found, or it is another function's.
            _ => {}
        }
    }

    /// Whether a value that it has taken in before changes nothing when it comes again.
    #[inline]
    pub(super) fn ignores_repeated(&self, order: Order) -> bool {
        match self {
            Aggregator::CountDistinct(_) => true,
            Aggregator::Distinct { latest, .. } => order >= *latest,
            _ => false,
        }
    }

    /// Whether no event that comes later in time can change the first `wanted` values that the aggregate gives.
    pub(super) fn is_settled(&self, wanted: usize) -> bool {
        match self {
            Aggregator::Distinct { seen, .. } => seen.len() >= wanted,
            Aggregator::Ends { is_first: true, most, kept, .. } => kept.len() >= wanted.min(*most),
            _ => false,
        }
    }

    pub(super) fn value(self) -> Value<'static> {
        match self {
            Aggregator::Count(count) => Value::from(count),
            Aggregator::CountDistinct(seen) => Value::from(seen.len()),
            Aggregator::Sum(sum) => Value::from_option(sum.total()),
            Aggregator::Mean(sum) => match sum.count() {
                0 => Value::Undefined,
                count => {
                    Value::from_option(sum.total().and_then(|total| total.checked_div(Decimal::from(count))))
                }
            },
            Aggregator::Extreme { found, .. } => Value::from_option(found.map(|(number, _)| number)),
            Aggregator::Percentile { p, sketch } => {
                Value::from_option(sketch.percentile(p).map(Number::from_f64))
            }
            Aggregator::First(None, _) | Aggregator::Last(None, _) => Value::Undefined,
            Aggregator::First(_, json) | Aggregator::Last(_, json) => parse(&json),
            Aggregator::Any(bool) | Aggregator::All(bool) => Value::Bool(bool),
            Aggregator::Distinct { .. } | Aggregator::Ends { .. } => Value::Undefined,
        }
    }

    /// The values of an aggregate that gives several rows, in time order.
    pub(super) fn rows(self) -> Vec<Value<'static>> {
        match self {
            Aggregator::Distinct { seen, .. } => {
                let mut values: Vec<_> = seen.into_values().collect();
                values.sort_by_key(|(order, _)| *order);
                values.into_iter().map(|(_, value)| value).collect()
            }
            Aggregator::Ends { kept, .. } => kept.into_values().collect(),
            _ => Vec::new(),
        }
    }
}

/// What equal values share, written to `scratch`.
fn key<'s>(value: &Value<'_>, scratch: &'s mut Vec<u8>) -> &'s [u8] {
    scratch.clear();
    canonical(value, false, scratch);
    scratch
}

/// Writes the value over what `json` holds: by how many bytes that takes more room now.
fn replace(json: &mut Vec<u8>, value: &Value<'_>) -> usize {
    let before = json.capacity();
    json.clear();
    write_json(value, json);
    json.capacity() - before
}
