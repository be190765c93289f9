//! Functions of instants and durations: numbers of ticks.

use super::call::Call;
use crate::calendar::TICKS_PER_HOUR;
use crate::time::{self, Civil};
use crate::value::{Long, Value};
use rust_decimal::Decimal;

pub(super) fn now<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from(call.now)
}

/// The instant that an ISO 8601 text tells.
pub(super) fn date_time<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(call.text(0).and_then(|text| time::parse_instant(&text.text())))
}

/// An offset from UTC in ticks, 0 where it is left out. A number from -24 to 24 is one of hours: no offset has so few
/// ticks, and users of this language write `-7` for seven hours west.
fn offset(call: &Call<'_, '_>, index: usize) -> Option<i64> {
    offset_of(call.argument(index))
}

/// The same of a value.
pub(crate) fn offset_of(value: &Value<'_>) -> Option<i64> {
    let given = match value {
        Value::Undefined => return Some(0),
        Value::Number(number) => number.decimal()?,
        _ => return None,
    };
    let ticks = if given.abs() <= Decimal::from(24) { given * Decimal::from(TICKS_PER_HOUR) } else { given };
    if ticks.is_integer() { i64::try_from(ticks).ok() } else { None }
}

fn instant(call: &Call<'_, '_>, index: usize) -> Option<u64> {
    u64::try_from(call.integer(index)?).ok().filter(|&instant| instant <= time::INSTANT_MAX)
}

/// The calendar's reading of the first argument at an offset.
fn civil(call: &Call<'_, '_>, offset_index: usize) -> Option<Civil> {
    Civil::at(instant(call, 0)?.checked_add_signed(offset(call, offset_index)?)?)
}

/// `DatePart(instant, part [, offset])`.
pub(super) fn date_part<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(civil(call, 2).zip(call.text(1)).and_then(|(civil, part)| civil.part(&part.text())))
}

/// `TimeOfDay(instant [, offset])`: ticks since midnight.
pub(super) fn time_of_day<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(civil(call, 1).map(|civil| civil.time))
}

/// `OffsetIn(zone, instant)`: ticks to add to UTC there and then.
pub(super) fn offset_in<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let offset = call.text(0).zip(instant(call, 1)).and_then(|(zone, at)| time::offset_in(&zone.text(), at));
    Value::from_option(offset.map(Decimal::from))
}

/// `ToIsoString(instant [, offset])`.
pub(super) fn to_iso_string<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let arguments = instant(call, 0).zip(offset(call, 1));
    Value::from_option(arguments.and_then(|(instant, offset)| time::format_instant(instant, offset)))
}

/// The duration that a text as `1.02:03:04.5` tells.
pub(super) fn time_span<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(call.text(0).and_then(|text| time::parse_duration(&text.text())).map(Decimal::from))
}

pub(super) fn to_time_string<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(call.integer(0).map(time::format_duration))
}

/// A duration in milliseconds.
pub(super) fn total_milliseconds<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    match call.argument(0) {
        Value::Number(ticks) => call.computed(match ticks.decimal() {
            Some(ticks) => Ok(ticks / Decimal::from(10_000)),
            None => Long::of(ticks).and_then(|ticks| ticks.times(&Long::new(1, 4)).decimal()),
        }),
        _ => Value::Undefined,
    }
}
