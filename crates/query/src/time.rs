//! Instants and durations in ticks of 100 nanoseconds: their text, their parts, and the offsets of time zones.

use crate::calendar::{
    Date, TICKS_PER_DAY as DAY, TICKS_PER_HOUR as HOUR, TICKS_PER_MINUTE as MINUTE,
    TICKS_PER_SECOND as SECOND,
};
use crate::instant::Instant;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase, TimeZoneTransition};
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::sync::LazyLock;

/// 1970-01-01T00:00:00Z.
pub(crate) const UNIX_EPOCH: i64 = 621_355_968_000_000_000;

/// 9999-12-31T23:59:59.9999999Z.
pub(crate) const INSTANT_MAX: u64 = Instant::MAX.ticks();

/// The calendar's and the clock's reading of an instant somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    date: Date,
    /// Days since 0001-01-01, a Monday.
    days: u32,
    /// Ticks since midnight.
    pub(crate) time: u64,
}

impl Civil {
    /// The reading in UTC; none beyond the year 9999.
    pub(crate) fn at(instant: u64) -> Option<Civil> {
        let days = u32::try_from(Instant::from_ticks(instant)?.ticks() / DAY).ok()?;
        Some(Civil { date: Date::from_days(days), days, time: instant % DAY })
    }

    /// A part of the reading by its name, in any case.
    pub(crate) fn part(&self, name: &str) -> Option<u64> {
        part_of(name).map(|(part, _)| part(self))
    }

    /// The days that have passed since the first of January.
    fn day_of_year(&self) -> u32 {
        self.days - Date { month: 1, day: 1, ..self.date }.days()
    }

    /// The week of the year as ISO 8601 counts them: it is that of the week's Thursday.
    fn week(&self) -> u32 {
        let thursday = self.days - self.days % 7 + 3;
        let first = Date { year: Date::from_days(thursday).year, month: 1, day: 1 }.days();
        (thursday - first) / 7 + 1
    }
}

pub(crate) type DatePart = fn(&Civil) -> u64;

/// Each part with the span of time, in ticks from midnight on, within which it stays the same.
const PARTS: [(&str, DatePart, u64); 13] = [
    ("date", |civil| u64::from(civil.days) * DAY, DAY),
    ("time", |civil| civil.time, 1),
    ("year", |civil| civil.date.year.into(), DAY),
    ("quarter", |civil| (civil.date.month.div_ceil(3)).into(), DAY),
    ("month", |civil| civil.date.month.into(), DAY),
    ("week", |civil| civil.week().into(), DAY),
    ("day", |civil| civil.date.day.into(), DAY),
    ("yearday", |civil| (civil.day_of_year() + 1).into(), DAY),
    ("weekday", |civil| ((civil.days + 1) % 7).into(), DAY),
    ("hour", |civil| civil.time / HOUR, HOUR),
    ("minute", |civil| civil.time / MINUTE % 60, MINUTE),
    ("second", |civil| civil.time / SECOND % 60, SECOND),
    ("millisecond", |civil| civil.time / MILLISECOND % 1000, MILLISECOND),
];

const MILLISECOND: u64 = SECOND / 1000;

/// The names of the parts of a time.
pub(crate) fn part_names() -> impl Iterator<Item = &'static str> {
    PARTS.iter().map(|(name, ..)| *name)
}

/// A part by its name, in any case, and the span of time within which it stays the same.
pub(crate) fn part_of(name: &str) -> Option<(DatePart, i64)> {
    let (_, part, span) = PARTS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known))?;
    Some((*part, *span as i64))
}

/// A reader of digits and signs.
struct Reader<'t>(&'t [u8]);

impl Reader<'_> {
    /// Exactly `count` digits.
    fn number(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits
            .iter()
            .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
    }

    /// One to nine digits.
    fn some(&mut self) -> Option<u32> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if (1..=9).contains(&count) { self.number(count) } else { None }
    }

    fn take(&mut self, sign: u8) -> bool {
        let rest = self.0.strip_prefix(&[sign]);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// The digits behind a decimal point, in ticks of a second; what is finer than a tick is cut off.
    fn fraction(&mut self) -> Option<u64> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count).filter(|_| count > 0)?;
        self.0 = rest;
        let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(7);
        Some(padded.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
    }

    /// `:MM[:SS[.fraction]]`, what follows the hours.
    fn below_hours(&mut self) -> Option<u64> {
        let minute =
            if self.take(b':') { self.number(2).filter(|&minute| minute < 60)? } else { return None };
        let mut ticks = u64::from(minute) * MINUTE;
        if self.take(b':') {
            ticks += u64::from(self.number(2).filter(|&second| second < 60)?) * SECOND;
            if self.take(b'.') || self.take(b',') {
                ticks += self.fraction()?;
            }
        }
        Some(ticks)
    }

    /// `Z`, `±HH`, `±HHMM`, `±HH:MM` or nothing: ticks.
    fn offset(&mut self) -> Option<i64> {
        let west = self.take(b'-');
        if !west && !self.take(b'+') {
            let _ = self.take(b'Z') || self.take(b'z');
            return Some(0);
        }
        let hours = self.number(2).filter(|&hours| hours < 24)?;
        let minutes = match self.take(b':') || !self.0.is_empty() {
            true => self.number(2).filter(|&minutes| minutes < 60)?,
            false => 0,
        };
        let offset = i64::try_from(u64::from(hours) * HOUR + u64::from(minutes) * MINUTE).ok()?;
        Some(if west { -offset } else { offset })
    }
}

/// Reads an instant as [`Instant`] does, and also a date alone, which is its midnight, and an offset behind a blank.
///
/// None where the text is no instant of the years 1 to 9999.
pub(crate) fn parse_instant(text: &str) -> Option<u64> {
    if let Ok(instant) = text.parse::<Instant>() {
        return Some(instant.ticks());
    }
    let mut reader = Reader(text.as_bytes());
    let year = reader.number(4)?;
    let month = if reader.take(b'-') { reader.number(2)? } else { return None };
    let day = if reader.take(b'-') { reader.number(2)? } else { return None };
    let mut ticks = u64::from(Date::new(year, month, day)?.days()) * DAY;
    let mut offset = 0;
    if reader.take(b'T') || reader.take(b't') || reader.take(b' ') {
        ticks += u64::from(reader.number(2).filter(|&hour| hour < 24)?) * HOUR + reader.below_hours()?;
        if reader.take(b' ') && reader.0.is_empty() {
            return None;
        }
        offset = reader.offset()?;
    }
    let ticks = ticks.checked_add_signed(-offset).filter(|_| reader.0.is_empty())?;
    Instant::from_ticks(ticks).map(Instant::ticks)
}

/// Whether a text that tells an instant names an offset from UTC, or UTC itself.
pub(crate) fn tells_offset(text: &str) -> bool {
    // Behind the date, signs are those of offsets.
    text.get(10..).is_some_and(|time| time.contains(['Z', 'z', '+', '-']))
}

/// An instant as `2024-05-29T10:56:01.1234567Z`, or with an offset in ticks, as `…+10:00`. None where the offset is not of
/// whole minutes below a day, or the text would lie outside the years 1 to 9999.
pub(crate) fn format_instant(instant: u64, offset: i64) -> Option<String> {
    let mut text = Vec::new();
    write_instant(instant, offset, &mut text)?;
    String::from_utf8(text).ok()
}

/// Appends the same; nothing where there is none.
pub(crate) fn write_instant(instant: u64, offset: i64, out: &mut Vec<u8>) -> Option<()> {
    let local = Instant::from_ticks(instant)?.ticks().checked_add_signed(offset)?;
    let minutes = offset.unsigned_abs() / MINUTE;
    if !offset.unsigned_abs().is_multiple_of(MINUTE) || minutes >= 24 * 60 {
        return None;
    }
    Instant::from_ticks(local)?.write_digits(out);
    if offset != 0 {
        out.pop();
        // Writing to a vector does not fail.
        let _ = write!(out, "{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60);
    }
    Some(())
}

/// Reads a duration as `[-][d.]h:mm[:ss[.fraction]]`, where hours behind days are less than 24: ticks.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let mut reader = Reader(text.as_bytes());
    let negative = reader.take(b'-');
    let first = reader.some()?;
    let (days, hours) = match reader.take(b'.') {
        true => (first, reader.some().filter(|&hours| hours < 24)?),
        false => (0, first),
    };
    let below = reader.below_hours()?;
    if !reader.0.is_empty() {
        return None;
    }
    let whole = u64::from(days).checked_mul(DAY)?.checked_add(u64::from(hours).checked_mul(HOUR)?)?;
    let ticks = whole.checked_add(below)?;
    let ticks = i64::try_from(ticks).ok()?;
    Some(if negative { -ticks } else { ticks })
}

/// A duration in ticks as `[-][d.]h:mm[:ss[.fraction]]`; seconds are left out where they are zero.
pub(crate) fn format_duration(ticks: i64) -> String {
    let size = ticks.unsigned_abs();
    let mut text = String::with_capacity(24);
    if ticks < 0 {
        text.push('-');
    }
    // Writing to a string does not fail.
    if size >= DAY {
        let _ = write!(text, "{}.", size / DAY);
    }
    let _ = write!(text, "{}:{:02}", size / HOUR % 24, size / MINUTE % 60);
    if !size.is_multiple_of(MINUTE) {
        let _ = write!(text, ":{:02}", size / SECOND % 60);
    }
    if !size.is_multiple_of(SECOND) {
        let _ = write!(text, ".{:07}", size % SECOND);
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

/// The time zones as they were known when this was built, so that no answer depends on the machine.
pub(crate) static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The offset from UTC that an IANA time zone has at an instant, in ticks. Takes some 50 ns once the zone has been used.
pub(crate) fn offset_in(zone: &str, instant: u64) -> Option<i64> {
    Some(offset_at(&ZONES.get(zone).ok()?, second_of(instant)?))
}

/// The second of an instant, since 1970.
fn second_of(instant: u64) -> Option<i64> {
    Some(i64::try_from(instant).ok()?.checked_sub(UNIX_EPOCH)?.div_euclid(SECOND as i64))
}

/// A second as it is looked up in zones. The last hours of the year 9999 lie beyond its range: no zone changes its offset in them.
fn timestamp_of(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

fn offset_at(zone: &TimeZone, second: i64) -> i64 {
    i64::from(zone.to_offset(timestamp_of(second)).seconds()) * SECOND as i64
}

/// The same with the instants around it for which that holds.
pub(crate) fn offset_within(zone: &str, instant: u64) -> Option<(i64, Range<u64>)> {
    let (zone, second) = (ZONES.get(zone).ok()?, second_of(instant)?);
    let ticks = |change: TimeZoneTransition<'_>| {
        let ticks = change.timestamp().as_second().checked_mul(SECOND as i64)?.checked_add(UNIX_EPOCH)?;
        Some(u64::try_from(ticks).unwrap_or(0))
    };
    let begin = zone.preceding(timestamp_of(second.checked_add(1)?)).next().map_or(Some(0), ticks)?;
    let end = zone.following(timestamp_of(second)).next().map_or(Some(INSTANT_MAX + 1), ticks)?;
    Some((offset_at(&zone, second), begin..end))
}

/// The present instant.
pub(crate) fn now() -> u64 {
    Instant::now().ticks()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_in_text() {
        let text = |ticks| format_instant(ticks, 0).unwrap();
        assert_eq!(text(0), "0001-01-01T00:00:00.0000000Z");
        assert_eq!(text(INSTANT_MAX), "9999-12-31T23:59:59.9999999Z");
        assert_eq!(parse_instant("1970-01-01"), Some(UNIX_EPOCH.unsigned_abs()));
        for (given, shown) in [
            ("2024-05-29T10:56:01Z", "2024-05-29T10:56:01.0000000Z"),
            ("2024-05-29 10:56", "2024-05-29T10:56:00.0000000Z"),
            ("2024-05-29 10:56:00 +10", "2024-05-29T00:56:00.0000000Z"),
            ("2024-05-29 10:56:00.5 -01:30", "2024-05-29T12:26:00.5000000Z"),
            ("2024-02-29T23:59:59.12345678+01:30", "2024-02-29T22:29:59.1234567Z"),
            ("2000-12-31T23:00:00-0200", "2001-01-01T01:00:00.0000000Z"),
        ] {
            assert_eq!(text(parse_instant(given).unwrap()), shown);
        }
        for wrong in [
            "",
            "2023-02-29",
            "2024-13-01",
            "24-01-01",
            "2024-01-01T24:00",
            "2024-01-01Tx",
            "0001-01-01T00:00+01:00",
            "2024-01-01T10:00:00.Z",
            "2024-01-01 10:00 +1",
            "2024-01-01 10:00+01:",
            "2024-01-01 10:00 ",
            "2024-01-01 ",
        ] {
            assert_eq!(parse_instant(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn instants_at_an_offset() {
        let instant = parse_instant("2024-05-29T23:30:00Z").unwrap();
        let hours = |hours: i64| hours * HOUR as i64;
        assert_eq!(format_instant(instant, hours(1)).unwrap(), "2024-05-30T00:30:00.0000000+01:00");
        assert_eq!(format_instant(instant, -hours(23)).unwrap(), "2024-05-29T00:30:00.0000000-23:00");
        assert_eq!(format_instant(instant, hours(24)), None);
        assert_eq!(format_instant(instant, SECOND as i64), None);
        assert_eq!(format_instant(0, -hours(1)), None);
        assert_eq!(format_instant(INSTANT_MAX, hours(1)), None);
    }

    #[test]
    fn durations_in_text() {
        assert_eq!(format_duration(90 * MINUTE as i64), "1:30");
        assert_eq!(format_duration(0), "0:00");
        assert_eq!(format_duration(-(DAY as i64) - 15_000_000), "-1.0:00:01.5");
        let all = (DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5_000_000) as i64;
        assert_eq!(parse_duration("1.02:03:04.5"), Some(all));
        assert_eq!(format_duration(all), "1.2:03:04.5");
        assert_eq!(parse_duration("15:00"), Some(15 * HOUR as i64));
        assert_eq!(parse_duration("-36:10:00"), Some(-((36 * HOUR + 10 * MINUTE) as i64)));
        for wrong in [
            "",
            "1",
            "1.24:00",
            "999999999:00",
            "1:60",
            "1:00:60",
            "1:00:00.",
            "1:0",
            "1..2:00",
            "--1:00",
            "1:00 ",
            "99999999999:00",
        ] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parts_of_an_instant() {
        let part = |text: &str, part: &str| Civil::at(parse_instant(text).unwrap()).unwrap().part(part);
        let all = "2024-12-30T13:14:15.678Z";
        for (name, value) in [
            ("Year", 2024),
            ("quarter", 4),
            ("MONTH", 12),
            ("week", 1),
            ("day", 30),
            ("yearday", 365),
            ("weekday", 1),
            ("hour", 13),
            ("minute", 14),
            ("second", 15),
            ("millisecond", 678),
        ] {
            assert_eq!(part(all, name), Some(value), "{name}");
        }
        assert_eq!(part(all, "date"), parse_instant("2024-12-30"));
        assert_eq!(part(all, "time"), Some(13 * HOUR + 14 * MINUTE + 15 * SECOND + 6_780_000));
        assert_eq!(part(all, "era"), None);
        assert_eq!(part("2024-02-29", "yearday"), Some(60));
        assert_eq!(part("2021-01-03", "week"), Some(53));
        assert_eq!(part("2024-06-02", "weekday"), Some(0));
        assert_eq!(Civil::at(INSTANT_MAX + 1), None);
    }

    #[test]
    fn offsets_of_zones() {
        let offset = |zone: &str, text: &str| {
            offset_in(zone, parse_instant(text).unwrap()).map(format_duration).unwrap_or_default()
        };
        assert_eq!(offset("Europe/Berlin", "2024-03-31T00:59:59Z"), "1:00");
        assert_eq!(offset("europe/berlin", "2024-03-31T01:00:00Z"), "2:00");
        assert_eq!(offset("America/New_York", "2024-01-01"), "-5:00");
        assert_eq!(offset("Asia/Kathmandu", "2024-01-01"), "5:45");
        assert_eq!(offset("UTC", "2024-01-01"), "0:00");
        assert_eq!(offset("Europe/Berlin", "9999-07-01"), "2:00");
        assert_eq!(offset("Europe/Berlin", "0001-01-01"), "0:53:28");
        assert_eq!(offset("Europe/Berlin", "9999-12-31T23:59:59.9999999Z"), "1:00");
        assert_eq!(offset("Australia/Sydney", "9999-12-31T23:59:59Z"), "11:00");
        assert_eq!(offset("Middle/Earth", "2024-01-01"), "");
        assert_eq!(offset("", "2024-01-01"), "");
    }

    proptest! {
        #[test]
        fn instants_and_durations_read_as_they_are_written(
            ticks in 0..=INSTANT_MAX,
            duration in -1_000_000_000_000_000_000..=1_000_000_000_000_000_000i64,
        ) {
            prop_assert_eq!(parse_instant(&format_instant(ticks, 0).unwrap()), Some(ticks));
            prop_assert_eq!(parse_duration(&format_duration(duration)), Some(duration));
        }

        #[test]
        fn parts_are_those_of_jiff(ticks in 0..=INSTANT_MAX) {
            let civil = Civil::at(ticks).unwrap();
            let part = |name| civil.part(name).unwrap() as i64;
            let date = jiff::civil::date(part("year") as i16, part("month") as i8, part("day") as i8);
            prop_assert_eq!(i64::from(date.day_of_year()), part("yearday"));
            prop_assert_eq!(i64::from(date.weekday().to_sunday_zero_offset()), part("weekday"));
            prop_assert_eq!(i64::from(date.iso_week_date().week()), part("week"));
        }
    }
}
