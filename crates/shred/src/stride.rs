//! Where the values at a path stand in their columns: how far each event moves on in them, as its shape says.

use crate::error::{DecodeError, NOT_AS_MANY, TOO_FEW};
use crate::shape::Token;
use std::ops::Range;

/// A column that holds values of a path.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    /// What its values are in a shape.
    pub(crate) token: Token,
    /// How many it has.
    pub(crate) count: usize,
    /// The place of the first one, where several columns stand one behind the other.
    pub(crate) start: usize,
    /// Whether they are stored by shape.
    pub(crate) by_shape: bool,
}

/// The value of an event at a path.
#[derive(Clone, Copy)]
pub(crate) enum Held {
    /// The event has none.
    Nothing,
    /// One in no column, which has a place of its own.
    Constant(u32),
    /// The so-and-so-many-th value that the event has in a lane.
    Value { lane: usize, nth: u32 },
}

/// What an event of a shape has at a path, and how far it moves on.
#[derive(Clone, Copy, Default)]
struct Stride {
    /// What is added to all cursors. They are one number, which is added to without waiting for memory.
    moves: u64,
    /// The bits of a cursor; none where the value stands in no column.
    mask: u32,
    /// What is added to the cursor.
    base: u32,
    /// The bits before its lane's cursor, among those of all lanes.
    shift: u8,
    has: bool,
}

/// The same where values of a lane are stored by shape. Of two lanes there is at most one other, and no event moves on in it by more than one.
#[derive(Clone, Copy, Default)]
struct OfShape {
    /// The place of the value, or what is added to the cursor of the other lane.
    base: u32,
    /// How far the base moves on: by one where the values of its shape stand together, and are not all the same.
    step: u32,
    /// How far the cursor of the other lane moves on.
    moves: u32,
    has: bool,
}

/// The bits of a cursor, and so many cursors make one number.
const BITS: u8 = 32;
const LANES_MAX: usize = 2;

/// How events move on in the columns of a path, by the code of their shape.
pub(crate) struct Strides {
    by_code: Vec<Stride>,
    lanes: Vec<Lane>,
    /// Whether no event moves on in another column than that of its value, and in that by more than one.
    is_plain: bool,
}

/// The events that have a value, and what was taken for each.
pub(crate) struct Standing<T> {
    /// Their rows; none where all have one.
    pub(crate) rows: Option<Vec<u32>>,
    pub(crate) values: Vec<T>,
}

/// Events are gone over so many at a time: where those that have a value are noted is then known to lie within a list of a fixed length.
const EVENTS: usize = 64;

impl Strides {
    /// The strides of shapes with what each has at the path, which is there once at most where shapes are simple; none where there are too many columns to keep count of.
    pub(crate) fn of<'s>(
        shapes: impl Iterator<Item = (&'s [Token], Held)>,
        lanes: Vec<Lane>,
        are_simple: bool,
    ) -> Option<Strides> {
        if lanes.len() > LANES_MAX {
            return None;
        }
        let (mut by_code, mut is_plain) = (Vec::new(), true);
        for (shape, held) in shapes {
            let mut stride = Stride { has: !matches!(held, Held::Nothing), ..Stride::default() };
            stride.moves = match held {
                Held::Nothing | Held::Constant(_) if are_simple => 0,
                Held::Value { lane, .. } if are_simple => 1 << (lane as u8 * BITS),
                _ => {
                    let moves = |lane: &Lane| shape.iter().filter(|own| **own == lane.token).count() as u64;
                    (0u8..).zip(&lanes).map(|(nth, lane)| moves(lane) << (nth * BITS)).sum()
                }
            };
            match held {
                Held::Nothing => is_plain &= stride.moves == 0,
                Held::Constant(place) => {
                    is_plain &= stride.moves == 0;
                    stride.base = place;
                }
                Held::Value { lane, nth } => {
                    (stride.shift, stride.mask) = (lane as u8 * BITS, u32::MAX);
                    stride.base = (lanes.get(lane)?.start as u32).wrapping_add(nth);
                    is_plain &= stride.moves == 1 << stride.shift;
                }
            }
            by_code.push(stride);
        }
        Some(Strides { by_code, lanes, is_plain })
    }

    /// Whether all events have a value.
    pub(crate) fn are_all(&self) -> bool {
        self.by_code.iter().all(|stride| stride.has)
    }

    /// Whether the values stand in the order of the events that have one, and nothing else does.
    pub(crate) fn are_in_order(&self) -> bool {
        self.is_plain
            && matches!(self.lanes.as_slice(), [lane] if !lane.by_shape && lane.start == 0)
            && self.by_code.iter().all(|stride| !stride.has || stride.mask != 0)
    }

    /// Whether values that are stored by shape are found as they stand.
    pub(crate) fn find_by_shape(&self) -> bool {
        self.is_plain
    }

    /// The rows of the events that have a value.
    pub(crate) fn rows(&self, codes: &[u32]) -> Vec<u32> {
        let mut rows = Vec::with_capacity(codes.len());
        for (first, codes) in (0u32..).step_by(EVENTS).zip(codes.chunks(EVENTS)) {
            let (mut having, mut count) = ([0; EVENTS], 0);
            for (row, code) in (first..).zip(codes) {
                // Written always, and kept where the event has something: a branch could not be foretold.
                having[count % EVENTS] = row;
                count += usize::from(self.by_code.get(*code as usize).is_some_and(|stride| stride.has));
            }
            rows.extend_from_slice(having.get(..count).unwrap_or_default());
        }
        rows
    }

    /// What is taken for each event that has a value, from the place where that stands. They are at most so many.
    pub(crate) fn standing<T: Copy>(
        &self,
        codes: &[u32],
        most: usize,
        take: impl Fn(u32) -> T,
    ) -> Result<Standing<T>, DecodeError> {
        if self.are_all() {
            return Ok(Standing { rows: None, values: self.all(codes, take, |_| false)? });
        }
        let most = most.min(codes.len());
        let (mut rows, mut values) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut walk = self.walk(codes, |_| false)?;
        for (first, codes) in (0u32..).step_by(EVENTS).zip(codes.chunks(EVENTS)) {
            let (mut having, mut places, mut count) = ([0; EVENTS], [0; EVENTS], 0);
            walk.each(first, codes, |row, Found { place, has }| {
                // Written always, and kept where the event has something: a branch could not be foretold.
                having[count % EVENTS] = row;
                places[count % EVENTS] = place;
                count += usize::from(has);
            });
            rows.extend_from_slice(having.get(..count).unwrap_or_default());
            values.extend(places.get(..count).unwrap_or_default().iter().map(|place| take(*place)));
        }
        walk.end()?;
        Ok(Standing { rows: Some(rows), values })
    }

    /// What is taken for each event from the place where its value stands, by the codes of their shapes. The place of one that has none is 0. `is_one` tells
    /// whether all values of a range of places are the same: what shapes determine is told by these alone.
    pub(crate) fn all<T: Copy>(
        &self,
        codes: &[u32],
        take: impl Fn(u32) -> T,
        is_one: impl Fn(Range<usize>) -> bool,
    ) -> Result<Vec<T>, DecodeError> {
        let mut walk = self.walk(codes, is_one)?;
        if let Some(places) = walk.places() {
            let of_shapes: Vec<T> = places.into_iter().map(&take).collect();
            let (of_shapes, nothing) = (of_shapes.as_slice(), take(0));
            let of_shape = move |code: &u32| of_shapes.get(*code as usize).copied().unwrap_or(nothing);
            return Ok(codes.iter().map(of_shape).collect());
        }
        let mut values = Vec::with_capacity(codes.len());
        for codes in codes.chunks(EVENTS) {
            let mut places = [0; EVENTS];
            walk.each(0, codes, |row, found| places[row as usize % EVENTS] = found.place);
            let places = places.get(..codes.len()).unwrap_or_default();
            values.extend(places.iter().map(|place| take(*place)));
        }
        walk.end()?;
        Ok(values)
    }

    /// A walk over events of these codes.
    fn walk(&self, codes: &[u32], is_one: impl Fn(Range<usize>) -> bool) -> Result<Walk<'_>, DecodeError> {
        if self.is_plain && self.lanes.iter().any(|lane| lane.by_shape) {
            return self.by_shape(codes, is_one);
        }
        Ok(Walk::InOrder { by_code: &self.by_code, lanes: &self.lanes, cursors: 0 })
    }

    /// The same where values of a lane or another are stored by shape: where those of each shape begin.
    fn by_shape(
        &self,
        codes: &[u32],
        is_one: impl Fn(Range<usize>) -> bool,
    ) -> Result<Walk<'_>, DecodeError> {
        let mut counts = vec![0u32; self.by_code.len()];
        for code in codes {
            if let Some(count) = counts.get_mut(*code as usize) {
                *count += 1;
            }
        }
        // Those of the lane that is not stored by shape, and of constants.
        let other = |stride: &Stride| {
            let moves = u32::from(stride.moves > 0);
            OfShape { base: stride.base, step: 0, moves, has: stride.has }
        };
        let mut by_code: Vec<OfShape> = self.by_code.iter().map(other).collect();
        for (nth, lane) in (0u8..).zip(&self.lanes).filter(|(_, lane)| lane.by_shape) {
            let mut sum = 0u32;
            for ((own, stride), count) in by_code.iter_mut().zip(&self.by_code).zip(&counts) {
                if stride.mask != 0 && stride.shift / BITS == nth {
                    let base = stride.base.wrapping_add(sum);
                    let is_one = is_one(base as usize..base as usize + *count as usize);
                    *own = OfShape { base, step: u32::from(!is_one), moves: 0, has: stride.has };
                    sum = sum.saturating_add(*count);
                }
            }
            if sum as usize != lane.count {
                return Err(NOT_AS_MANY);
            }
        }
        let left = self.lanes.iter().find(|lane| !lane.by_shape).map_or(0, |lane| lane.count);
        Ok(Walk::ByShape { by_code, count: left, cursor: 0 })
    }
}

/// What was found of an event.
#[derive(Clone, Copy)]
struct Found {
    place: u32,
    has: bool,
}

/// How far events are in the columns of a path.
enum Walk<'s> {
    /// All values are stored in the order of the events.
    InOrder { by_code: &'s [Stride], lanes: &'s [Lane], cursors: u64 },
    /// Those of a lane or another are stored by shape; how many the other lane has.
    ByShape { by_code: Vec<OfShape>, count: usize, cursor: u32 },
}

impl Walk<'_> {
    /// The place of the value of each shape, where shapes alone tell it.
    fn places(&self) -> Option<Vec<u32>> {
        match self {
            Walk::InOrder { by_code, .. } => {
                let is_told = by_code.iter().all(|stride| stride.mask == 0);
                is_told.then(|| by_code.iter().map(|stride| stride.base).collect())
            }
            Walk::ByShape { by_code, .. } => {
                let is_told = by_code.iter().all(|own| own.step == 0 && own.moves == 0);
                is_told.then(|| by_code.iter().map(|own| own.base).collect())
            }
        }
    }

    /// Moves on behind the next events, and calls with the row of each and what was found of it, in order.
    #[inline(always)]
    fn each(&mut self, first: u32, codes: &[u32], mut note: impl FnMut(u32, Found)) {
        match self {
            Walk::InOrder { by_code, cursors, .. } => {
                let (mut at, nothing) = (*cursors, Stride::default());
                for (row, code) in (first..).zip(codes) {
                    let stride = by_code.get(*code as usize).unwrap_or(&nothing);
                    let place = stride.base.wrapping_add((at >> stride.shift) as u32 & stride.mask);
                    at = at.wrapping_add(stride.moves);
                    note(row, Found { place, has: stride.has });
                }
                *cursors = at;
            }
            Walk::ByShape { by_code, cursor, .. } => {
                let (mut at, by_code, mut nothing) = (*cursor, by_code.as_mut_slice(), OfShape::default());
                for (row, code) in (first..).zip(codes) {
                    let own = by_code.get_mut(*code as usize).unwrap_or(&mut nothing);
                    // All bits of the cursor, or none: to choose would be a branch that cannot be foretold.
                    let place = own.base.wrapping_add(at & own.moves.wrapping_neg());
                    own.base = own.base.wrapping_add(own.step);
                    at = at.wrapping_add(own.moves);
                    note(row, Found { place, has: own.has });
                }
                *cursor = at;
            }
        }
    }

    /// Fails if the events of all shapes had more values than there are.
    fn end(self) -> Result<(), DecodeError> {
        let is_over = match self {
            Walk::InOrder { lanes, cursors, .. } => {
                (0u8..).zip(lanes).any(|(nth, lane)| (cursors >> (nth * BITS)) as u32 as usize > lane.count)
            }
            Walk::ByShape { count, cursor, .. } => cursor as usize > count,
        };
        if is_over { Err(TOO_FEW) } else { Ok(()) }
    }
}
