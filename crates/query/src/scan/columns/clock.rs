//! Instants as numbers, and what the calendar and the clock say of them: the same for all of an hour, or of a day.

use super::characters::Spelling;
use super::evaluate::Evaluator;
use super::mapped::Mapping;
use super::reckoned::Reckoned;
use super::texts::unescaped;
use crate::calendar::{TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND};
use crate::chunk::Mantissas;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::functions::offset_of;
use crate::time::{Civil, INSTANT_MAX, offset_within, part_of, write_instant};
use crate::value::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

impl Evaluator<'_> {
    /// The instants of all rows, in ticks.
    pub(super) fn instants(&self) -> Mantissas {
        let ticks = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes) as i64;
        let values = match &self.origins {
            None => self.times.instants.iter().map(ticks).collect(),
            Some(origins) => {
                let instant = |event: &u32| self.times.instants.get(*event as usize).map_or(0, ticks);
                origins.iter().map(instant).collect()
            }
        };
        Mantissas { values, ..Mantissas::default() }
    }

    /// What `DatePart` or `TimeOfDay` come to for a column of instants; none where what else they are given is neither constant nor the offset of a zone.
    pub(super) fn read_clock(&self, function: &str, arguments: &[Expr]) -> Option<Reckoned> {
        let (of, part, offset) = match (function, arguments) {
            ("DatePart", [of, Expr::Constant(Value::Text(part))]) => (of, part.text(), None),
            ("DatePart", [of, Expr::Constant(Value::Text(part)), offset]) => (of, part.text(), Some(offset)),
            ("TimeOfDay", [of]) => (of, "time".into(), None),
            ("TimeOfDay", [of, offset]) => (of, "time".into(), Some(offset)),
            _ => return None,
        };
        let (part, span) = part_of(&part)?;
        let instants = self.reckoned(of)?;
        let mut instants = Cow::Borrowed(&**instants.numbers().filter(|numbers| numbers.scale == 0)?);
        let offset = match offset {
            None => 0,
            Some(Expr::Constant(offset)) => offset_of(offset)?,
            // In a zone each instant has an offset of its own.
            Some(offset) => {
                add_offsets(instants.to_mut(), &*self.offsets(offset)?)?;
                0
            }
        };
        // What holds of a tick alone is the time of day.
        if span == 1
            && let Some(values) = times_of_day(&instants.values, offset)
        {
            let told = Mantissas { values, rows: instants.rows.clone(), ..Mantissas::default() };
            return Some(Reckoned::Numbers(Arc::new(told)));
        }
        let tell = |instant: u64| Some(part(&Civil::at(instant.checked_add_signed(offset)?)?) as i64);
        let mut known = Known { span, offset, instants: 0..0, value: None };
        let mut told =
            Mantissas { values: Vec::with_capacity(instants.values.len()), ..Mantissas::default() };
        let mut missing = Vec::new();
        let are_in_order = instants.values.is_sorted();
        let mut place = 0;
        while let Some((first, others)) = instants.values.get(place..).and_then(<[i64]>::split_first) {
            let value = known.at(*first, tell);
            // In the order of time those of which the same holds stand together.
            let run = if are_in_order {
                1 + others.partition_point(|other| known.instants.contains(other))
            } else {
                1
            };
            match value {
                Some(value) => told.values.resize(told.values.len() + run, value),
                None => missing.push(place as u32),
            }
            place += if value.is_some() { run } else { 1 };
        }
        told.rows = match missing.as_slice() {
            [] => instants.rows.clone(),
            missing => {
                let is_told = |place: &u32| missing.binary_search(place).is_err();
                let places = (0..instants.values.len() as u32).filter(is_told);
                let row = |place: u32| match &instants.rows {
                    None => Some(place),
                    Some(rows) => rows.get(place as usize).copied(),
                };
                Some(places.filter_map(row).collect())
            }
        };
        Some(Reckoned::Numbers(Arc::new(told)))
    }
}

/// A zone, and the offset that it has for a while.
struct Zone<'z> {
    name: Cow<'z, str>,
    known: (i64, Range<u64>),
}

impl<'z> Zone<'z> {
    fn new(name: Cow<'z, str>) -> Zone<'z> {
        Zone { name, known: (0, 0..0) }
    }

    /// Its offset at an instant, if it has one then.
    fn offset(&mut self, instant: i64) -> Option<i64> {
        let instant = u64::try_from(instant).ok().filter(|instant| *instant <= INSTANT_MAX)?;
        if !self.known.1.contains(&instant) {
            self.known = offset_within(&self.name, instant)?;
        }
        Some(self.known.0)
    }
}

/// Adds to each instant its own offset, which is none where it is undefined; none where one is no instant, or other rows have offsets.
fn add_offsets(instants: &mut Mantissas, offsets: &Mantissas) -> Option<()> {
    if !instants.values.iter().all(is_valid) {
        return None;
    }
    match (&instants.rows, &offsets.rows) {
        (None, Some(rows)) => {
            for (row, offset) in rows.iter().zip(&offsets.values) {
                *instants.values.get_mut(*row as usize)? += offset;
            }
        }
        (own, others) if own == others => {
            let own = instants.values.iter_mut();
            own.zip(&offsets.values).for_each(|(instant, offset)| *instant += offset);
        }
        _ => return None,
    }
    Some(())
}

/// Whether a number is an instant.
fn is_valid(number: &i64) -> bool {
    (0..=INSTANT_MAX as i64).contains(number)
}

/// The time since midnight that instants have at an offset; none where one has none.
fn times_of_day(instants: &[i64], offset: i64) -> Option<Vec<i64>> {
    let (least, greatest) = tamias_simd::numbers::range(instants).unwrap_or_default();
    let bounds = [least, greatest, least.checked_add(offset)?, greatest.checked_add(offset)?];
    bounds
        .iter()
        .all(is_valid)
        .then(|| instants.iter().map(|instant| (instant + offset) % TICKS_PER_DAY as i64).collect())
}

impl Evaluator<'_> {
    /// The offsets that a zone has at the instants of a column, as `OffsetIn` gives them; none of another expression, or where one has none.
    pub(super) fn offsets(&self, expr: &Expr) -> Option<Arc<Mantissas>> {
        let Expr::Call { function, arguments, .. } = expr else { return None };
        let ("OffsetIn", [zone, of]) = (function.name, arguments.as_slice()) else { return None };
        let instants = self.reckoned(of)?;
        let instants = instants.numbers().filter(|numbers| numbers.scale == 0)?;
        let Expr::Constant(Value::Text(zone)) = zone else {
            return self.offsets_of_zones(self.as_column(zone)??.repeating()?, instants);
        };
        let mut zone = Zone::new(zone.text());
        let mut values = Vec::with_capacity(instants.values.len());
        for instant in &instants.values {
            values.push(zone.offset(*instant)?);
        }
        Some(Arc::new(Mantissas { values, rows: instants.rows.clone(), ..Mantissas::default() }))
    }

    /// The same where each row has a zone of its own.
    fn offsets_of_zones(&self, zones: &Coded, instants: &Mantissas) -> Option<Arc<Mantissas>> {
        let (codes, None) = (zones.codes()?, &instants.rows) else { return None };
        let zone = |entry| match zones.dictionary.get(entry) {
            // What is no text has no offset.
            json if json.first() != Some(&b'"') => Some(None),
            json => Some(Some(Zone::new(std::str::from_utf8(unescaped(json)?).ok()?.into()))),
        };
        let mut zones = (0..zones.dictionary.len() as u32).map(zone).collect::<Option<Vec<_>>>()?;
        let (mut values, mut rows) = (Vec::new(), Vec::new());
        for ((row, code), instant) in (0..).zip(codes).zip(&instants.values) {
            if let Some(zone) = zones.get_mut(*code as usize)?.as_mut() {
                values.push(zone.offset(*instant)?);
                rows.push(row);
            }
        }
        let rows = Some(rows).filter(|rows| rows.len() < codes.len());
        Some(Arc::new(Mantissas { values, rows, ..Mantissas::default() }))
    }

    /// The texts that `ToIsoString` gives for a column of instants; none where what else it is given is not constant.
    pub(super) fn iso_texts(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let (instants, offset) = self.iso_instants(expr)?;
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(instants.values.len()));
        for instant in &instants.values {
            let begin = bytes.len();
            bytes.push(b'"');
            match u64::try_from(*instant).ok().and_then(|instant| write_instant(instant, offset, &mut bytes))
            {
                Some(()) => bytes.push(b'"'),
                None => bytes.truncate(begin),
            }
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
        let texts = Dictionary::new(bytes, ends);
        Some(Arc::new(match &instants.rows {
            None => PathColumn::Coded(Coded::new(None, Arc::new(texts))),
            Some(rows) => PathColumn::of_rows(texts, rows, self.rows()),
        }))
    }

    /// The instants that a call of `ToIsoString` shows, and with which offset.
    fn iso_instants(&self, expr: &Expr) -> Option<(Arc<Mantissas>, i64)> {
        let Expr::Call { function, arguments, .. } = expr else { return None };
        let (of, offset) = match (function.name, arguments.as_slice()) {
            ("ToIsoString", [of]) => (of, 0),
            ("ToIsoString", [of, Expr::Constant(offset)]) => (of, offset_of(offset)?),
            _ => return None,
        };
        let instants = self.reckoned(of)?;
        let instants = instants.numbers().filter(|numbers| numbers.scale == 0)?;
        Some((instants.clone(), offset))
    }

    /// What functions of strings make of what `ToIsoString` gives, where they look at no more than its beginning, which instants of a day, an hour, a minute or a second
    /// have in common.
    pub(super) fn of_iso_beginnings(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let iso = iso_within(expr)?;
        let mapping = Mapping::of(expr, |leaf| std::ptr::eq(leaf, iso))?;
        let (instants, offset) = self.iso_instants(iso)?;
        let first = instants.values.iter().find_map(|instant| iso_text(*instant, offset))?;
        let (span, length) = BEGINNINGS
            .into_iter()
            .find(|(_, length)| first.get(..*length).is_some_and(|text| mapping.is_told_by(text)))?;
        let mut known = Known { span, offset, instants: 0..0, value: None };
        // What is made of nothing comes first.
        let (mut bytes, mut ends) = (Vec::new(), vec![0]);
        let (mut codes, mut codes_of) = (Vec::with_capacity(instants.values.len()), HashMap::new());
        let (writer, mut is_told) = (mapping.over(Spelling::Plain), true);
        for instant in &instants.values {
            let code = known.at(*instant, |instant| {
                let text = iso_text(instant as i64, offset)?;
                let beginning = text.get(..length)?;
                let next = ends.len() as i64;
                let code = *codes_of.entry(beginning.to_vec()).or_insert(next);
                if code == next {
                    is_told &= mapping.is_told_by(beginning) && writer.write(beginning, &mut bytes).is_ok();
                    ends.push(u32::try_from(bytes.len()).ok()?);
                }
                Some(code)
            });
            if !is_told {
                return None;
            }
            codes.push(code.unwrap_or_default() as u32);
        }
        if let Some(rows) = &instants.rows {
            let mut of_rows = vec![0; self.rows()];
            for (row, code) in rows.iter().zip(codes) {
                if let Some(of_row) = of_rows.get_mut(*row as usize) {
                    *of_row = code;
                }
            }
            codes = of_rows;
        }
        let dictionary = Arc::new(Dictionary::new(bytes, ends));
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), dictionary))))
    }
}

/// How long instants have so much of their text in common.
const BEGINNINGS: [(i64, usize); 4] = [
    (TICKS_PER_DAY as i64, "2024-05-29T".len()),
    (TICKS_PER_HOUR as i64, "2024-05-29T10:".len()),
    (TICKS_PER_MINUTE as i64, "2024-05-29T10:56:".len()),
    (TICKS_PER_SECOND as i64, "2024-05-29T10:56:01.".len()),
];

/// What `ToIsoString` gives for an instant, without quotes; none where that is undefined.
fn iso_text(instant: i64, offset: i64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    write_instant(u64::try_from(instant).ok()?, offset, &mut text)?;
    Some(text)
}

/// The first call of `ToIsoString` within an expression.
fn iso_within(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call { function, .. } if function.name == "ToIsoString" => Some(expr),
        other => other.children().into_iter().find_map(iso_within),
    }
}

/// What was told last, and of which instants that holds.
struct Known {
    span: i64,
    offset: i64,
    instants: Range<i64>,
    value: Option<i64>,
}

impl Known {
    #[inline]
    fn at(&mut self, instant: i64, tell: impl FnOnce(u64) -> Option<i64>) -> Option<i64> {
        if !self.instants.contains(&instant) {
            let valid = u64::try_from(instant).ok().filter(|instant| *instant <= INSTANT_MAX);
            self.value = valid.and_then(tell);
            self.instants = match (self.value, instant.checked_add(self.offset)) {
                (Some(_), Some(local)) => {
                    let begin = instant - local.rem_euclid(self.span);
                    // Before the first instant there is none, nor behind the last.
                    begin.max(0)..begin.saturating_add(self.span).min(INSTANT_MAX as i64 + 1)
                }
                _ => instant..instant,
            };
        }
        self.value
    }
}
