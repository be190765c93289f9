//! Functions of instants and durations: numbers of ticks.

use super::Call;
use crate::time;
use crate::value::Value;
use rust_decimal::Decimal;

pub(super) fn now<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from(call.now)
}

/// The instant that an ISO 8601 text tells.
pub(super) fn date_time<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(call.text(0).and_then(|text| time::parse_instant(&text.text())))
}

/// An instant at an offset from UTC in ticks: the calendar's reading there.
fn civil(call: &Call<'_, '_>, offset: usize) -> Option<time::Civil> {
    let instant = u64::try_from(call.integer(0)?).ok()?;
    time::Civil::at(instant.checked_add_signed(call.integer_or(offset, 0)?)?)
}

/// `DatePart(instant, part [, offset])`.
pub(super) fn date_part<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let (Some(civil), Some(part)) = (civil(call, 2), call.text(1)) else {
        return Value::Undefined;
    };
    Value::from(match part.text().to_ascii_lowercase().as_str() {
        "year" => civil.year,
        "month" => civil.month,
        "day" => civil.day,
        "hour" => civil.hour(),
        "minute" => civil.minute(),
        "second" => civil.second(),
        "weekday" => civil.weekday(),
        "yearday" => civil.day_of_year(),
        _ => return Value::Undefined,
    })
}

/// `TimeOfDay(instant [, offset])`: ticks since midnight.
pub(super) fn time_of_day<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    Value::from_option(civil(call, 1).map(|civil| civil.time))
}

/// `OffsetIn(zone, instant)`: ticks to add to UTC there and then.
pub(super) fn offset_in<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let (Some(zone), Some(instant)) = (call.text(0), call.integer(1)) else {
        return Value::Undefined;
    };
    let instant = u64::try_from(instant).ok().filter(|&instant| instant <= time::INSTANT_MAX);
    Value::from_option(instant.and_then(|instant| time::offset_in(&zone.text(), instant)).map(Decimal::from))
}

/// `ToIsoString(instant [, offset])`.
pub(super) fn to_iso_string<'a>(call: &Call<'_, 'a>) -> Value<'a> {
    let instant = call.integer(0).and_then(|instant| u64::try_from(instant).ok());
    let offset = call.integer_or(1, 0);
    Value::from_option(
        instant.zip(offset).and_then(|(instant, offset)| time::format_instant(instant, offset)),
    )
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
    Value::from_option(
        call.decimal(0).and_then(|ticks| ticks.checked_div(Decimal::from(time::SECOND / 1000))),
    )
}
