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
            return Ok(Standing { rows: None, places: self.places(codes)? });
        }
        let (mut rows, mut places) = (vec![0u32; codes.len()], vec![0u32; codes.len()]);
        let mut count = 0;
        let mut note = |row: u32, Found { place, has }: Found| {
            // Written always, and kept where the event has something: a branch could not be foretold.
            if let (Some(row_of), Some(place_of)) = (rows.get_mut(count), places.get_mut(count)) {
                (*row_of, *place_of) = (row, place);
            }
            count += usize::from(has);
        };
        self.walk(codes, &mut note)?;
        rows.truncate(count);
        places.truncate(count);
        Ok(Standing { rows: Some(rows), places })
    }

    /// Where the value of each event stands, by the codes of their shapes. That of one that has none is 0.
    pub(crate) fn places(&self, codes: &[u32]) -> Result<Vec<u32>, DecodeError> {
        let mut places = Vec::with_capacity(codes.len());
        self.walk(codes, |_, found| places.push(found.place))?;
        Ok(places)
    }

    /// Calls with the row of each event and what was found of it, in order.
    fn walk(&self, codes: &[u32], mut note: impl FnMut(u32, Found)) -> Result<(), DecodeError> {
        if self.is_plain && self.lanes.iter().any(|lane| lane.by_shape) {
            let mut cursors = self.cursors(codes)?;
            (0..).zip(codes).for_each(|(row, code)| note(row, cursors.step(*code)));
            return Ok(());
        }
        let mut cursors = 0u64;
        for (row, code) in (0..).zip(codes) {
            let stride = self.by_code.get(*code as usize).copied().unwrap_or_default();
            let place = stride.base.wrapping_add((cursors >> stride.shift) as u32 & stride.mask);
            cursors = cursors.wrapping_add(stride.moves);
            note(row, Found { place, has: stride.has });
        }
        for (nth, lane) in (0u8..).zip(&self.lanes) {
            if (cursors >> (nth * BITS)) as u32 as usize > lane.count {
                return Err(TOO_FEW);
            }
        }
        Ok(())
    }

    /// Where events of each shape begin, where values of a lane or another are stored by shape.
    fn cursors(&self, codes: &[u32]) -> Result<Cursors, DecodeError> {
        let mut counts = vec![0u32; self.by_code.len()];
        for code in codes {
            if let Some(count) = counts.get_mut(*code as usize) {
                *count += 1;
            }
        }
        // Each shape has a cursor of its own, or shares that of its lane. What has no column does not move on.
        let shared = self.by_code.len() as u32;
        let own = (0..shared).zip(&self.by_code);
        let mut slots: Vec<(u32, bool)> = own.map(|(code, stride)| (code, stride.has)).collect();
        let mut at: Vec<(u32, u32)> = self.by_code.iter().map(|stride| (stride.base, 0)).collect();
        at.extend(self.lanes.iter().map(|lane| (lane.start as u32, 1)));
        for ((nth, lane), lane_slot) in (0u8..).zip(&self.lanes).zip(shared..) {
            let mut sum = 0u32;
            for ((stride, count), slot) in self.by_code.iter().zip(&counts).zip(0..) {
                if stride.mask == 0 || stride.shift / BITS != nth {
                    continue;
                }
                match lane.by_shape {
                    true => {
                        if let Some(own) = at.get_mut(slot) {
                            *own = (stride.base.wrapping_add(sum), 1);
                        }
                    }
                    false => {
                        if let Some((own, _)) = slots.get_mut(slot) {
                            *own = lane_slot;
                        }
                    }
                }
                sum = sum.saturating_add(*count);
            }
            match lane.by_shape {
                true if sum as usize != lane.count => return Err(NOT_AS_MANY),
                false if sum as usize > lane.count => return Err(TOO_FEW),
                _ => {}
            }
        }
        Ok(Cursors { slots, at })
    }
}

/// What was found of an event.
#[derive(Clone, Copy, Default)]
struct Found {
    place: u32,
    has: bool,
}

/// How far shapes are in the columns of a path.
struct Cursors {
    /// By the code of a shape: which cursor it has, and whether it has a value.
    slots: Vec<(u32, bool)>,
    /// Where each cursor is, and how far it moves on.
    at: Vec<(u32, u32)>,
}

impl Cursors {
    /// Moves on behind the next event, which has this shape.
    #[inline]
    fn step(&mut self, code: u32) -> Found {
        let Some((slot, has)) = self.slots.get(code as usize) else { return Found::default() };
        let Some((at, step)) = self.at.get_mut(*slot as usize) else { return Found::default() };
        let place = *at;
        *at = place.wrapping_add(*step);
        Found { place, has: *has }
    }
}
