//! Where the values at a path stand in their columns: how far each event moves on in them, as its shape says.

use crate::error::{DecodeError, NOT_AS_MANY, TOO_FEW};
use crate::shape::Token;

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
    has: bool,
    /// The bits before its lane's cursor, among those of all lanes.
    shift: u8,
    /// The bits of a cursor; none where the value stands in no column.
    mask: u32,
    /// What is added to the cursor.
    base: u32,
    /// What is added to all cursors. They are one number, which is added to without waiting for memory.
    moves: u64,
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

/// The events that have a value.
pub(crate) struct Standing {
    /// Their rows; none where all have one.
    pub(crate) rows: Option<Vec<u32>>,
    /// Where the value of each stands.
    pub(crate) places: Vec<u32>,
}

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
                    stride.shift = lane as u8 * BITS;
                    stride.mask = u32::MAX;
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
        let mut rows = vec![0u32; codes.len()];
        let mut count = 0;
        for (row, code) in (0..).zip(codes) {
            // Written always, and kept where the event has something: a branch could not be foretold.
            if let Some(place) = rows.get_mut(count) {
                *place = row;
            }
            count += usize::from(self.by_code.get(*code as usize).is_some_and(|stride| stride.has));
        }
        rows.truncate(count);
        rows
    }

    /// Where the value of each event stands that has one.
    pub(crate) fn standing(&self, codes: &[u32]) -> Result<Standing, DecodeError> {
        if self.are_all() {
            return Ok(Standing { rows: None, places: self.places(codes.iter().copied())? });
        }
        let rows = self.rows(codes);
        let at = |of: &[u32], row: &u32| of.get(*row as usize).copied().unwrap_or_default();
        let places = match self.is_plain {
            true => self.places(rows.iter().map(|row| at(codes, row)))?,
            // Others move on too.
            false => {
                let all = self.places(codes.iter().copied())?;
                rows.iter().map(|row| at(&all, row)).collect()
            }
        };
        Ok(Standing { rows: Some(rows), places })
    }

    /// Where the value of each event stands, by the codes of their shapes. The place of one that has none is 0.
    pub(crate) fn places(&self, codes: impl Iterator<Item = u32> + Clone) -> Result<Vec<u32>, DecodeError> {
        if self.is_plain && self.lanes.iter().any(|lane| lane.by_shape) {
            return self.places_by_shape(codes);
        }
        let mut cursors = 0u64;
        let place = |code: u32| {
            let stride = self.by_code.get(code as usize).copied().unwrap_or_default();
            let place = stride.base.wrapping_add((cursors >> stride.shift) as u32 & stride.mask);
            cursors = cursors.wrapping_add(stride.moves);
            place
        };
        let places = codes.map(place).collect();
        for (nth, lane) in (0u8..).zip(&self.lanes) {
            if (cursors >> (nth * BITS)) as u32 as usize > lane.count {
                return Err(TOO_FEW);
            }
        }
        Ok(places)
    }

    /// The same where values of a lane or another are stored by shape: each shape has a cursor of its own, or shares that of its lane.
    fn places_by_shape(&self, codes: impl Iterator<Item = u32> + Clone) -> Result<Vec<u32>, DecodeError> {
        let mut counts = vec![0u32; self.by_code.len()];
        for code in codes.clone() {
            if let Some(count) = counts.get_mut(code as usize) {
                *count += 1;
            }
        }
        let shared = self.by_code.len();
        let mut cursors = vec![0u32; shared + self.lanes.len() + 1];
        // What has no column does not move on.
        let mut slots = vec![(shared + self.lanes.len(), 0u32); self.by_code.len()];
        for (nth, lane) in self.lanes.iter().enumerate() {
            let mut sum = 0u32;
            for (code, stride) in self.by_code.iter().enumerate() {
                let is_own = stride.mask != 0 && usize::from(stride.shift / BITS) == nth;
                let (true, Some(slot), Some(count)) = (is_own, slots.get_mut(code), counts.get(code)) else {
                    continue;
                };
                *slot = (if lane.by_shape { code } else { shared + nth }, 1);
                if let Some(cursor) = cursors.get_mut(slot.0).filter(|_| lane.by_shape) {
                    *cursor = sum;
                }
                sum = sum.saturating_add(*count);
            }
            match lane.by_shape {
                true if sum as usize != lane.count => return Err(NOT_AS_MANY),
                false if sum as usize > lane.count => return Err(TOO_FEW),
                _ => {}
            }
        }
        let place = |code: u32| {
            let code = code as usize;
            let (Some(stride), Some((slot, step))) = (self.by_code.get(code), slots.get(code)) else {
                return 0;
            };
            let Some(cursor) = cursors.get_mut(*slot) else { return 0 };
            let place = stride.base.wrapping_add(*cursor);
            *cursor = cursor.wrapping_add(*step);
            place
        };
        Ok(codes.map(place).collect())
    }
}
