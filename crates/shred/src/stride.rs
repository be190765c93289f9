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
    /// The bits of a cursor; none where the value stands in no column, or those of its shape together.
    mask: u32,
    /// What is added to the cursor.
    base: u32,
    /// How far the base moves on: by one where the values of its shape stand together, and are not all the same.
    step: u32,
    /// The bits before its lane's cursor, among those of all lanes.
    shift: u8,
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
    /// The strides of shapes with what each has at the path; none where there are too many columns to keep count of.
    pub(crate) fn of<'s>(
        shapes: impl Iterator<Item = (&'s [Token], Held)>,
        lanes: Vec<Lane>,
    ) -> Option<Strides> {
        if lanes.len() > LANES_MAX {
            return None;
        }
        let (mut by_code, mut is_plain) = (Vec::new(), true);
        for (shape, held) in shapes {
            let mut stride = Stride { has: !matches!(held, Held::Nothing), ..Stride::default() };
            for (nth, lane) in (0u8..).zip(&lanes) {
                let moves = shape.iter().filter(|own| **own == lane.token).count() as u64;
                stride.moves += moves << (nth * BITS);
            }
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
    pub(crate) fn standing<T: Copy + Default>(
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
            let (mut having, mut taken, mut count) = ([0; EVENTS], [T::default(); EVENTS], 0);
            walk.each(first, codes, |row, Found { place, has }| {
                // Written always, and kept where the event has something: a branch could not be foretold.
                having[count % EVENTS] = row;
                taken[count % EVENTS] = take(place);
                count += usize::from(has);
            });
            rows.extend_from_slice(having.get(..count).unwrap_or_default());
            values.extend_from_slice(taken.get(..count).unwrap_or_default());
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
        if walk.by_code.iter().all(|stride| stride.mask == 0 && stride.step == 0) {
            let of_shapes: Vec<T> = walk.by_code.iter().map(|stride| take(stride.base)).collect();
            let nothing = take(0);
            let of_shape = |code: &u32| of_shapes.get(*code as usize).copied().unwrap_or(nothing);
            return Ok(codes.iter().map(of_shape).collect());
        }
        let mut values = Vec::with_capacity(codes.len());
        walk.each(0, codes, |_, found| values.push(take(found.place)));
        walk.end()?;
        Ok(values)
    }

    /// A walk over events of these codes.
    fn walk(&self, codes: &[u32], is_one: impl Fn(Range<usize>) -> bool) -> Result<Walk<'_>, DecodeError> {
        let by_shape = self.is_plain && self.lanes.iter().any(|lane| lane.by_shape);
        let by_code = if by_shape { self.by_shape(codes, is_one)? } else { self.by_code.clone() };
        Ok(Walk { by_code, lanes: &self.lanes, by_shape, cursors: 0 })
    }

    /// The strides where values of a lane or another are stored by shape: where those of each shape begin.
    fn by_shape(
        &self,
        codes: &[u32],
        is_one: impl Fn(Range<usize>) -> bool,
    ) -> Result<Vec<Stride>, DecodeError> {
        let mut counts = vec![0u32; self.by_code.len()];
        for code in codes {
            if let Some(count) = counts.get_mut(*code as usize) {
                *count += 1;
            }
        }
        let mut by_code = self.by_code.clone();
        for (nth, lane) in (0u8..).zip(&self.lanes).filter(|(_, lane)| lane.by_shape) {
            let mut sum = 0u32;
            for (stride, count) in by_code.iter_mut().zip(&counts) {
                if stride.mask != 0 && stride.shift / BITS == nth {
                    let base = stride.base.wrapping_add(sum);
                    let is_one = is_one(base as usize..base as usize + *count as usize);
                    *stride = Stride { moves: 0, mask: 0, base, step: u32::from(!is_one), ..*stride };
                    sum = sum.saturating_add(*count);
                }
            }
            if sum as usize != lane.count {
                return Err(NOT_AS_MANY);
            }
        }
        Ok(by_code)
    }
}

/// What was found of an event.
#[derive(Clone, Copy, Default)]
struct Found {
    place: u32,
    has: bool,
}

/// How far events are in the columns of a path.
struct Walk<'s> {
    by_code: Vec<Stride>,
    lanes: &'s [Lane],
    /// Whether values of a lane or another are stored by shape.
    by_shape: bool,
    cursors: u64,
}

impl Walk<'_> {
    /// Moves on behind the next events, and calls with the row of each and what was found of it, in order.
    #[inline(always)]
    fn each(&mut self, first: u32, codes: &[u32], note: impl FnMut(u32, Found)) {
        match self.by_shape {
            true => self.each_of::<true>(first, codes, note),
            false => self.each_of::<false>(first, codes, note),
        }
    }

    #[inline(always)]
    fn each_of<const BY_SHAPE: bool>(&mut self, first: u32, codes: &[u32], mut note: impl FnMut(u32, Found)) {
        let mut cursors = self.cursors;
        for (row, code) in (first..).zip(codes) {
            let Some(stride) = self.by_code.get_mut(*code as usize) else {
                note(row, Found::default());
                continue;
            };
            let place = stride.base.wrapping_add((cursors >> stride.shift) as u32 & stride.mask);
            if BY_SHAPE {
                stride.base = stride.base.wrapping_add(stride.step);
            }
            cursors = cursors.wrapping_add(stride.moves);
            note(row, Found { place, has: stride.has });
        }
        self.cursors = cursors;
    }

    /// Fails if the events of all shapes had more values than there are.
    fn end(self) -> Result<(), DecodeError> {
        for (nth, lane) in (0u8..).zip(self.lanes) {
            if (self.cursors >> (nth * BITS)) as u32 as usize > lane.count {
                return Err(TOO_FEW);
            }
        }
        Ok(())
    }
}
