//! Many numbers taken from where they stand, or compared there with one.

use super::{Documents, Needle, Place, Places};
use crate::classify::Kernel;
use crate::isa::Isa;
use crate::number::{Bound, Rest, SEVERAL, Standing, Whole, compare_whole, few_digits_by, whole_part};
use crate::task::{Task, run};
use std::cmp::Ordering;

/// Which values are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Numbers less than the bound.
    pub less: bool,
    /// Numbers equal to it, whatever their spelling.
    pub equal: bool,
    /// Numbers greater than it.
    pub greater: bool,
    /// What is no number.
    pub others: bool,
}

impl Wanted {
    #[inline(always)]
    fn is(self, order: Option<Ordering>) -> bool {
        match order {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.others,
        }
    }

    /// Whether the value with which the text begins is wanted.
    #[inline(never)]
    fn is_met(self, bound: &Bound, text: &[u8]) -> bool {
        self.is(bound.compare_any_beginning(text))
    }
}

/// A number of few digits: what [`few_digits_at`](crate::number::few_digits_at) gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewDigits {
    /// Its digits as a whole number, less than 10^16.
    pub significand: i64,
    /// How many of them stand behind the point, at most 15.
    pub scale: u32,
    /// Which of the values that were asked for it is, counted from 0.
    pub at: u32,
}

impl Documents<'_> {
    /// The numbers of few digits at some values: those at `indices`. What else stands there goes to `others`, as its place among the
    /// indices; where there is no value there is neither. They replace what the lists hold, and are in order.
    pub fn numbers(
        &self,
        isa: Isa,
        values: &[Place],
        indices: &[u32],
        numbers: &mut Vec<FewDigits>,
        others: &mut Vec<u32>,
    ) {
        numbers.clear();
        others.clear();
        numbers.reserve(indices.len());
        run(isa, Numbers { bytes: self.bytes, values, indices, numbers, others });
    }

    /// The numbers of the places of a key's needle where `holds` says so of what follows the needle, up to the end of the block. They
    /// replace what `kept` holds.
    pub fn keep(
        &self,
        isa: Isa,
        needle: &Needle,
        places: &Places,
        kept: &mut Vec<u32>,
        holds: impl Fn(&[u8]) -> bool,
    ) {
        self.judge(isa, needle, places, kept, holds);
    }

    fn judge(&self, isa: Isa, needle: &Needle, places: &Places, kept: &mut Vec<u32>, judge: impl Judge) {
        kept.resize(places.all.len(), 0);
        let key_bytes = needle.bytes().len();
        let count = run(isa, Keep { bytes: self.bytes, key_bytes, places: &places.all, kept, judge });
        kept.truncate(count);
    }

    /// The numbers of the places of a key's needle behind which stands a value that is wanted, as it stands to the bound. They replace
    /// what `kept` holds.
    pub fn compare(
        &self,
        isa: Isa,
        needle: &Needle,
        places: &Places,
        bound: &Bound,
        wanted: Wanted,
        kept: &mut Vec<u32>,
    ) {
        match bound.whole() {
            Some(digits) => {
                let judge = ComparesToWhole { bound, digits, whole: Whole::new(digits), wanted };
                self.judge(isa, needle, places, kept, judge);
            }
            None => self.judge(isa, needle, places, kept, |text: &[u8]| wanted.is_met(bound, text)),
        }
    }

    /// The numbers of the places of a key's needle behind which stands a number that equals one of the bounds. They replace what `kept`
    /// holds.
    pub fn equals_any(
        &self,
        isa: Isa,
        needle: &Needle,
        places: &Places,
        bounds: &[Bound],
        kept: &mut Vec<u32>,
    ) {
        let mut wholes: Vec<u64> = bounds.iter().filter_map(Bound::whole).collect();
        if wholes.len() < bounds.len() {
            return self.judge(isa, needle, places, kept, |text: &[u8]| equals_any(bounds, text));
        }
        wholes.resize(wholes.len().next_multiple_of(LANES), NONE);
        self.judge(isa, needle, places, kept, EqualsAnyWhole { bounds, wholes: &wholes });
    }
}

/// Decides by what follows a needle. A closure does, where it need not be part of the loop.
trait Judge {
    /// Whether the place is kept.
    fn holds(&self, text: &[u8]) -> bool;

    /// The same of several places at once, of what follows them after so many bytes: a bit for each whether that can be told at a
    /// glance, and a bit for each whether it is kept.
    #[inline(always)]
    fn glance<K: Kernel>(&self, _: K, _bytes: &[u8], _places: &[u32; SEVERAL], _behind: usize) -> (u8, u8) {
        (0, 0)
    }
}

impl<F: Fn(&[u8]) -> bool> Judge for F {
    #[inline(always)]
    fn holds(&self, text: &[u8]) -> bool {
        self(text)
    }
}

/// Compares with a whole number.
struct ComparesToWhole<'j> {
    bound: &'j Bound,
    digits: u64,
    /// The same for several at once; none where it is too long for that.
    whole: Option<Whole>,
    wanted: Wanted,
}

impl Judge for ComparesToWhole<'_> {
    #[inline(always)]
    fn holds(&self, text: &[u8]) -> bool {
        let Wanted { less, equal, greater, .. } = self.wanted;
        match text.first_chunk().map(|start| compare_whole(start, self.digits)) {
            // A bit for each order.
            Some((order, true)) => {
                let orders = usize::from(less) | usize::from(equal) << 1 | usize::from(greater) << 2;
                orders >> order & 1 == 1
            }
            _ => self.wanted.is_met(self.bound, text),
        }
    }

    #[inline(always)]
    fn glance<K: Kernel>(&self, kernel: K, bytes: &[u8], places: &[u32; SEVERAL], behind: usize) -> (u8, u8) {
        let standing = self.whole.and_then(|whole| kernel.compare_several(bytes, places, behind, whole));
        let Some(Standing { is_told, is_equal, is_greater }) = standing else { return (0, 0) };
        let Wanted { less, equal, greater, .. } = self.wanted;
        let of = |is_wanted: bool, lanes: u8| if is_wanted { lanes } else { 0 };
        let is_less = !(is_equal | is_greater);
        (is_told, of(less, is_less) | of(equal, is_equal) | of(greater, is_greater))
    }
}

/// Compares with several whole numbers.
struct EqualsAnyWhole<'j> {
    bounds: &'j [Bound],
    /// Their digits, and [`NONE`] up to a multiple of the lanes.
    wholes: &'j [u64],
}

impl Judge for EqualsAnyWhole<'_> {
    #[inline(always)]
    fn holds(&self, text: &[u8]) -> bool {
        let (number, rest) = text.first_chunk().map_or((0, Rest::Unknown), whole_part);
        // All are compared, in vectors: which it is, if any, is not to be guessed.
        let lanes = self.wholes.as_chunks::<LANES>().0.iter();
        let is_one = lanes.fold(false, |found, lanes| {
            found | lanes.iter().fold(false, |found, whole| found | (*whole == number))
        });
        match rest {
            Rest::Nothing => is_one,
            Rest::Fraction => false,
            Rest::Zeros => is_one && equals_any(self.bounds, text),
            Rest::Unknown => equals_any(self.bounds, text),
        }
    }
}

#[inline(never)]
fn equals_any(bounds: &[Bound], text: &[u8]) -> bool {
    bounds.iter().any(|bound| bound.compare_beginning(text) == Some(Ordering::Equal))
}

const LANES: usize = 8;
/// No number's digits.
const NONE: u64 = u64::MAX;

struct Keep<'t, J> {
    bytes: &'t [u8],
    key_bytes: usize,
    places: &'t [u32],
    kept: &'t mut [u32],
    judge: J,
}

impl<J: Judge> Task for Keep<'_, J> {
    /// How many are kept.
    type Output = usize;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> usize {
        let Keep { bytes, key_bytes, places, kept, judge } = self;
        let (mut next, mut number) = (0, 0);
        let mut note = |is_kept: bool| {
            // Which are kept is not to be guessed: each is written, and overwritten if it is not.
            if let Some(slot) = kept.get_mut(next) {
                *slot = number;
            }
            number += 1;
            next += usize::from(is_kept);
        };
        let holds = |place: u32| judge.holds(bytes.get(place as usize + key_bytes..).unwrap_or_default());
        let (several, rest) = places.as_chunks();
        for places in several {
            let (is_told, is_kept) = judge.glance(kernel, bytes, places, key_bytes);
            for (lane, place) in places.iter().enumerate() {
                note(if is_told >> lane & 1 == 1 { is_kept >> lane & 1 == 1 } else { holds(*place) });
            }
        }
        rest.iter().for_each(|place| note(holds(*place)));
        next
    }
}

struct Numbers<'t> {
    bytes: &'t [u8],
    values: &'t [Place],
    indices: &'t [u32],
    numbers: &'t mut Vec<FewDigits>,
    others: &'t mut Vec<u32>,
}

impl Task for Numbers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Numbers { bytes, values, indices, numbers, others } = self;
        for (at, index) in (0..).zip(indices) {
            let Some(Place::Value(start, end)) = values.get(*index as usize) else { continue };
            match few_digits_by(kernel, bytes, *start as usize, *end as usize) {
                Some((significand, scale)) => numbers.push(FewDigits { significand, scale, at }),
                None => others.push(at),
            }
        }
    }
}
