//! Time zones: what the clock shows there, and when its days begin.

use crate::calendar::{TICKS_PER_DAY, TICKS_PER_SECOND};
use crate::time::{UNIX_EPOCH, ZONES, parse_instant, tells_offset};
use crate::{Instant, InstantError};
use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp};
use std::ops::Range;
use std::sync::Arc;

/// A time zone other than UTC.
#[derive(Clone, Debug)]
pub struct Zone {
    name: Arc<str>,
    zone: TimeZone,
}

/// The error for an unknown time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no time zone called `{0}`; they have names as in `Europe/Berlin`, or are offsets as in `+02:00`"
)]
pub struct UnknownZone(pub(crate) String);

impl Zone {
    /// The zone with an IANA name, in any case, or with an offset like `+02:00`; the inner one none for UTC.
    pub(crate) fn named(name: &str) -> Option<Option<Zone>> {
        let zone = ZONES.get(name).ok().or_else(|| fixed(name))?;
        let is_utc =
            zone == TimeZone::UTC || zone.iana_name().is_some_and(|name| matches!(name, "UTC" | "Etc/UTC"));
        Some((!is_utc).then(|| Zone { name: zone.iana_name().unwrap_or(name).into(), zone: zone.clone() }))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The days of the zone that an instant falls into, counted by so many together from 0001-01-01: from midnight to midnight. Where clocks go
    /// back across midnight, what they show of the day before once more is of the day that has begun. None beyond the years that the
    /// calendar has.
    pub(crate) fn days(&self, instant: u64, together: u64) -> Option<Range<u64>> {
        let date = timestamp(instant)?.to_zoned(self.zone.clone()).date();
        let days = u64::try_from(date.since((jiff::Unit::Day, FIRST)).ok()?.get_days()).ok()?;
        let first = i64::try_from(days - days % together).ok()?;
        let midnight = |days: i64| {
            let date = FIRST.checked_add(Span::new().try_days(days).ok()?).ok()?;
            let shown = self.zone.to_ambiguous_timestamp(date.at(0, 0, 0, 0));
            let is_left_out = matches!(shown.offset(), AmbiguousOffset::Gap { .. });
            // Of two midnights it is the first.
            let begins = shown.compatible().ok()?;
            // Where the clocks leave midnight out, the day begins as they change.
            let second = SignedDuration::from_secs(1);
            let changed = is_left_out.then(|| self.zone.preceding(begins.checked_add(second).ok()?).next());
            ticks(changed.flatten().map_or(begins, |transition| transition.timestamp()))
        };
        // The first day of all begins before the first instant, or after it.
        let start = midnight(first).filter(|start| *start <= instant).unwrap_or(0);
        let next = first.checked_add_unsigned(together)?;
        let end = midnight(next)?;
        if end <= instant {
            return Some(end..midnight(next.checked_add_unsigned(together)?)?);
        }
        Some(start..end)
    }

    /// The zone with an IANA name, in any case, or with an offset like `+02:00`; `None` for UTC.
    ///
    /// # Errors
    /// If there is no such zone.
    pub fn parse(name: &str) -> Result<Option<Zone>, UnknownZone> {
        Zone::named(name).ok_or_else(|| UnknownZone(name.to_owned()))
    }

    /// The instant of an ISO 8601 text, at which the clock of the zone shows that time unless the text has an offset.
    ///
    /// # Errors
    /// If it is no such text, or the time lies outside the years 1 to 9999.
    pub fn read(&self, text: &str) -> Result<Instant, InstantError> {
        let instant: Instant = text.parse()?;
        if tells_offset(text) { Ok(instant) } else { self.local(instant) }
    }

    /// The instant at which the clock of the zone shows what it shows in UTC at another. Of two such instants it is the first.
    ///
    /// # Errors
    /// If it lies outside the years 1 to 9999.
    pub fn local(&self, shown: Instant) -> Result<Instant, InstantError> {
        let ticks = self.instant_of(shown.ticks()).ok_or(InstantError::Range)?;
        Instant::from_ticks(ticks).ok_or(InstantError::Range)
    }

    /// The instant at which the clock of the zone shows what it shows in UTC at another.
    ///
    /// Of two such instants it is the first; of a time that the clocks leave out, that which would be shown without the change.
    fn instant_of(&self, shown: u64) -> Option<u64> {
        let local = timestamp(shown)?.to_zoned(TimeZone::UTC).datetime();
        let whole = ticks(self.zone.to_ambiguous_timestamp(local).compatible().ok()?)?;
        Some(whole + shown % TICKS_PER_SECOND)
    }
}

/// The zone of an offset from UTC.
fn fixed(offset: &str) -> Option<TimeZone> {
    let here = parse_instant("2000-01-01T00:00:00")?;
    // An offset is what it makes of midnight.
    let there =
        parse_instant(&format!("2000-01-01T00:00:00{offset}")).filter(|_| offset.starts_with(['+', '-']))?;
    let seconds = (here as i64 - there as i64) / TICKS_PER_SECOND as i64;
    Some(TimeZone::fixed(Offset::from_seconds(i32::try_from(seconds).ok()?).ok()?))
}

/// The instant that an ISO 8601 date or time tells, in a zone where it names none. A date alone is its midnight.
pub(crate) fn instant_in(zone: Option<&Zone>, text: &str) -> Option<u64> {
    let instant = parse_instant(text)?;
    match zone.filter(|_| !tells_offset(text)) {
        Some(zone) => zone.instant_of(instant),
        None => Some(instant),
    }
}

/// The day that ticks are counted from.
const FIRST: Date = Date::constant(1, 1, 1);

/// The second that an instant falls into.
fn timestamp(instant: u64) -> Option<Timestamp> {
    let since_epoch = i64::try_from(instant).ok()?.checked_sub(UNIX_EPOCH)?;
    Timestamp::from_second(since_epoch.div_euclid(TICKS_PER_SECOND as i64)).ok()
}

fn ticks(timestamp: Timestamp) -> Option<u64> {
    let seconds = timestamp.as_second().checked_mul(TICKS_PER_SECOND as i64)?;
    u64::try_from(seconds.checked_add(UNIX_EPOCH)?).ok()
}

/// Intervals of time, all of one length but for the last of a day that is not as long as others.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    ticks: u64,
    /// Where days begin, if that matters and is not at midnight of UTC.
    zone: Option<Zone>,
}

impl Intervals {
    /// Intervals of so many ticks, at least one. Where they divide a day, or are whole days, they begin at midnight of the zone; UTC if there is
    /// none. Others are counted from tick 0.
    pub(crate) fn new(ticks: u64, zone: Option<Zone>) -> Intervals {
        let fits = TICKS_PER_DAY.is_multiple_of(ticks) || ticks.is_multiple_of(TICKS_PER_DAY);
        Intervals { ticks: ticks.max(1), zone: zone.filter(|_| fits) }
    }

    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    pub(crate) fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref()
    }

    /// The interval that an instant falls into.
    #[inline]
    pub(crate) fn around(&self, instant: u64) -> Range<u64> {
        match self.zone.as_ref().and_then(|zone| self.around_in(zone, instant)) {
            Some(interval) => interval,
            None => self.counted(0, instant),
        }
    }

    fn around_in(&self, zone: &Zone, instant: u64) -> Option<Range<u64>> {
        let days = zone.days(instant, (self.ticks / TICKS_PER_DAY).max(1))?;
        if self.ticks >= TICKS_PER_DAY {
            return Some(days);
        }
        let interval = self.counted(days.start, instant);
        Some(interval.start..interval.end.min(days.end))
    }

    /// Of those that are counted from an instant.
    fn counted(&self, from: u64, instant: u64) -> Range<u64> {
        let begin = instant - (instant - from) % self.ticks;
        begin..begin.saturating_add(self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::TICKS_PER_HOUR as HOUR;
    use crate::time::{INSTANT_MAX, offset_in};
    use proptest::prelude::*;

    const ZONES: [&str; 8] = [
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kathmandu",
        "America/Havana",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Africa/Cairo",
        "America/St_Johns",
    ];

    fn zone(name: &str) -> Option<Zone> {
        Zone::named(name).unwrap()
    }

    fn at(text: &str) -> u64 {
        parse_instant(text).unwrap()
    }

    #[test]
    fn days_of_a_zone_begin_at_its_midnight_whatever_the_clocks_do() {
        let day = |name, text| {
            let Range { start, end } = Intervals::new(TICKS_PER_DAY, zone(name)).around(at(text));
            (start, (end - start) / HOUR)
        };
        assert_eq!(day("Europe/Berlin", "2024-05-29T10:00"), (at("2024-05-28T22:00"), 24));
        assert_eq!(day("Europe/Berlin", "2024-03-31T10:00"), (at("2024-03-30T23:00"), 23));
        assert_eq!(day("Europe/Berlin", "2024-10-27T10:00"), (at("2024-10-26T22:00"), 25));
        // There the clocks go back to midnight, and forward from midnight.
        assert_eq!(day("America/Havana", "2024-11-03T10:00"), (at("2024-11-03T04:00"), 25));
        assert_eq!(day("America/Havana", "2024-03-10T10:00"), (at("2024-03-10T05:00"), 23));
        // There 2011-12-30 was left out.
        assert_eq!(day("Pacific/Apia", "2011-12-30T09:59"), (at("2011-12-29T10:00"), 24));
        // There they went forward across midnight, from 23:30 to 00:30.
        assert_eq!(day("America/Toronto", "1919-03-31T04:45"), (at("1919-03-31T04:30"), 23));
        assert_eq!(day("America/Toronto", "1919-03-31T04:20"), (at("1919-03-30T05:00"), 23));
        // There the clocks went back to 23:01, at a minute past midnight.
        assert_eq!(day("America/St_Johns", "2010-11-07T02:29"), (at("2010-11-06T02:30"), 24));
        for time in ["2010-11-07T02:30", "2010-11-07T03:00", "2010-11-07T03:40"] {
            assert_eq!(day("America/St_Johns", time), (at("2010-11-07T02:30"), 25), "{time}");
        }
        assert_eq!(day("UTC", "2024-05-29T10:00"), (at("2024-05-29"), 24));
    }

    #[test]
    fn hours_of_a_day_are_counted_from_its_midnight() {
        let interval = |name, hours, text| {
            let Range { start, end } = Intervals::new(hours * HOUR, zone(name)).around(at(text));
            (start, (end - start) / HOUR)
        };
        assert_eq!(interval("Asia/Kathmandu", 1, "2024-05-29T10:20"), (at("2024-05-29T10:15"), 1));
        assert_eq!(interval("Europe/Berlin", 6, "2024-10-27T22:30"), (at("2024-10-27T22:00"), 1));
        assert_eq!(interval("Europe/Berlin", 8, "2024-10-27T21:30"), (at("2024-10-27T14:00"), 8));
        assert_eq!(interval("Europe/Berlin", 5, "0001-01-01T06:30"), (at("0001-01-01T05:00"), 5));
        assert_eq!(interval("Europe/Berlin", 7 * 24, "2024-05-29T10:20"), (at("2024-05-26T22:00"), 7 * 24));
    }

    /// Beyond what the calendar has, intervals are counted without it.
    #[test]
    fn intervals_of_ten_thousand_years_and_more() {
        for days in [3_652_059, 7_304_484, 7_304_485, INSTANT_MAX / TICKS_PER_DAY, u64::MAX / TICKS_PER_DAY] {
            let interval =
                Intervals::new(days * TICKS_PER_DAY, zone("Europe/Berlin")).around(at("2024-05-29"));
            assert_eq!(interval.start, 0, "{days}");
        }
    }

    #[test]
    fn text_is_an_instant_of_the_zone_where_it_names_none() {
        let berlin = zone("Europe/Berlin");
        for (text, instant) in [
            ("2024-05-29", Some("2024-05-28T22:00Z")),
            ("2024-05-29T10:00:00.5", Some("2024-05-29T08:00:00.5Z")),
            ("2024-05-29 10:00", Some("2024-05-29T08:00Z")),
            ("2024-05-29T10:00Z", Some("2024-05-29T10:00Z")),
            ("2024-05-29T10:00-03", Some("2024-05-29T13:00Z")),
            ("2024-05-29 10:00 +01:30", Some("2024-05-29T08:30Z")),
            ("2024-03-31T02:30", Some("2024-03-31T01:30Z")),
            ("2024-10-27T02:30", Some("2024-10-27T00:30Z")),
            ("soon", None),
        ] {
            assert_eq!(instant_in(berlin.as_ref(), text), instant.map(at), "{text}");
        }
        assert_eq!(instant_in(None, "2024-05-29"), Some(at("2024-05-29T00:00Z")));
    }

    #[test]
    fn names_of_zones() {
        assert_eq!(
            Zone::named("europe/berlin").flatten().map(|zone| zone.name().to_owned()),
            Some("Europe/Berlin".to_owned())
        );
        assert!(Zone::named("UTC").is_some_and(|zone| zone.is_none()));
        assert!(Zone::named("+00:00").is_some_and(|zone| zone.is_none()));
        assert_eq!(instant_in(zone("-03:30").as_ref(), "2024-05-29"), Some(at("2024-05-29T03:30")));
        assert!(["3", "+3", "Z", "", " +03:00", ":00"].iter().all(|name| Zone::named(name).is_none()));
        assert!(Zone::named("Middle/Earth").is_none());
    }

    proptest! {
        #[test]
        fn intervals_leave_no_gap_and_begin_with_the_day(
            name in prop::sample::select(ZONES.to_vec()),
            instant in 0..=INSTANT_MAX,
            ticks in prop::sample::select(vec![1, HOUR / 60, HOUR, 2 * HOUR, 5 * HOUR, 12 * HOUR, 24 * HOUR, 72 * HOUR, 168 * HOUR]),
        ) {
            let intervals = Intervals::new(ticks, zone(name));
            let Range { start, end } = intervals.around(instant);
            prop_assert!((start..end).contains(&instant));
            prop_assert_eq!(intervals.around(start), start..end);
            prop_assert_eq!(intervals.around(end - 1), start..end);
            if end <= INSTANT_MAX {
                prop_assert_eq!(intervals.around(end).start, end);
            }
            let day = Intervals::new(TICKS_PER_DAY, zone(name)).around(instant);
            if intervals.zone().is_some() && day.start > 0 {
                prop_assert!(ticks > TICKS_PER_DAY || (start >= day.start && end <= day.end));
                // The clock shows another date just before, in years of which the offset is in whole seconds.
                let date = |at: u64| at.checked_add_signed(offset_in(name, at).unwrap()).map(|shown| shown / TICKS_PER_DAY);
                prop_assert_ne!(date(day.start), date(day.start - 1));
            }
        }
    }
}
