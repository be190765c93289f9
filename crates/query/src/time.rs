//! Instants and durations in ticks of 100 nanoseconds, and their text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) const SECOND: u64 = 10_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// 1970-01-01T00:00:00Z.
const UNIX_EPOCH: i64 = 621_355_968_000_000_000;

/// 9999-12-31T23:59:59.9999999Z.
pub(crate) const INSTANT_MAX: u64 = 3_155_378_975_999_999_999;

/// A date and time of day of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    /// Ticks since midnight.
    pub(crate) time: u64,
    /// Days since 0001-01-01, a Monday.
    days: u64,
}

impl Civil {
    /// The calendar's reading of an instant, in UTC; none beyond the year 9999.
    pub(crate) fn at(instant: u64) -> Option<Civil> {
        if instant > INSTANT_MAX {
            return None;
        }
        let days = instant / DAY;
        // Years are counted from March here, so that the leap day ends them; 306 days lead to 0000-03-01.
        let shifted = days + 306;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        Some(Civil { year, month, day, time: instant % DAY, days })
    }

    pub(crate) fn hour(self) -> u64 {
        self.time / HOUR
    }

    pub(crate) fn minute(self) -> u64 {
        self.time / MINUTE % 60
    }

    pub(crate) fn second(self) -> u64 {
        self.time / SECOND % 60
    }

    /// 0 for Sunday to 6 for Saturday.
    pub(crate) fn weekday(self) -> u64 {
        (self.days + 1) % 7
    }

    /// The day of the year, from 1.
    pub(crate) fn day_of_year(self) -> u64 {
        self.days - days_before(self.year, 1, 1).unwrap_or(0) + 1
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// The days from 0001-01-01 to a date; none if there is no such date.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    const BEFORE_MONTH: [u64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    let index = usize::try_from(month.checked_sub(1)?).ok()?;
    let (before, after) = (*BEFORE_MONTH.get(index)?, *BEFORE_MONTH.get(index + 1)?);
    let leap = u64::from(is_leap(year));
    if !(1..=9999).contains(&year) || day < 1 || day > after - before + if month == 2 { leap } else { 0 } {
        return None;
    }
    let years = year - 1;
    Some(
        years * 365 + years / 4 - years / 100 + years / 400 + before + if month > 2 { leap } else { 0 } + day
            - 1,
    )
}

/// A reader of fixed-width digits.
struct Digits<'t>(&'t [u8]);

impl Digits<'_> {
    /// Exactly `count` digits.
    fn number(&mut self, count: usize) -> Option<u64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits
            .iter()
            .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
    }

    /// One or more digits.
    fn some(&mut self) -> Option<u64> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || count > 18 { None } else { self.number(count) }
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((&first, rest)) if first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// The digits behind a decimal point, in ticks of a second; what is finer than a tick is cut off.
    fn fraction(&mut self) -> Option<u64> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count).filter(|_| count > 0)?;
        self.0 = rest;
        let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(7);
        Some(padded.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
    }

    /// `HH:MM[:SS[.fraction]]`.
    fn time(&mut self) -> Option<u64> {
        let hour = self.number(2).filter(|&hour| hour < 24)?;
        let minute =
            if self.take(b':') { self.number(2).filter(|&minute| minute < 60)? } else { return None };
        let mut ticks = hour * HOUR + minute * MINUTE;
        if self.take(b':') {
            ticks += self.number(2).filter(|&second| second < 60)? * SECOND;
            if self.take(b'.') || self.take(b',') {
                ticks += self.fraction()?;
            }
        }
        Some(ticks)
    }
}

/// Reads an ISO 8601 date, or date and time with `T` or a blank between; without a zone it is UTC.
///
/// What is finer than a tick is cut off. None where the text is no instant of the years 1 to 9999.
pub(crate) fn parse_instant(text: &str) -> Option<u64> {
    let mut digits = Digits(text.as_bytes());
    let year = digits.number(4)?;
    let month = if digits.take(b'-') { digits.number(2)? } else { return None };
    let day = if digits.take(b'-') { digits.number(2)? } else { return None };
    let mut ticks = days_before(year, month, day)? * DAY;
    let mut offset = 0i64;
    if digits.take(b'T') || digits.take(b't') || digits.take(b' ') {
        ticks += digits.time()?;
        digits.take(b' ');
        let west = digits.take(b'-');
        if west || digits.take(b'+') {
            let hours = digits.number(2).filter(|&hours| hours < 24)?;
            digits.take(b':');
            let minutes =
                if digits.0.is_empty() { 0 } else { digits.number(2).filter(|&minutes| minutes < 60)? };
            offset = i64::try_from(hours * HOUR + minutes * MINUTE).ok()?;
            offset = if west { -offset } else { offset };
        } else if !digits.take(b'Z') {
            digits.take(b'z');
        }
    }
    if !digits.0.is_empty() {
        return None;
    }
    ticks.checked_add_signed(-offset).filter(|&ticks| ticks <= INSTANT_MAX)
}

/// An instant as `2024-05-29T10:56:01.1234567Z`, or with an offset in ticks, as `…+10:00`.
pub(crate) fn format_instant(instant: u64, offset: i64) -> Option<String> {
    let civil = Civil::at(instant.checked_add_signed(offset)?)?;
    let minutes = offset.unsigned_abs() / MINUTE;
    if !offset.unsigned_abs().is_multiple_of(MINUTE) || minutes >= 24 * 60 {
        return None;
    }
    let zone = match offset {
        0 => "Z".to_owned(),
        _ => format!("{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60),
    };
    Some(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}{zone}",
        civil.year,
        civil.month,
        civil.day,
        civil.hour(),
        civil.minute(),
        civil.second(),
        civil.time % SECOND,
    ))
}

/// Reads a duration as `[-][d.]h:mm[:ss[.fraction]]`: ticks.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let mut digits = Digits(text.as_bytes());
    let negative = digits.take(b'-');
    let first = digits.some()?;
    let (days, hours) = if digits.take(b'.') { (first, digits.some()?) } else { (0, first) };
    let minutes = if digits.take(b':') { digits.number(2)? } else { return None };
    let (mut seconds, mut fraction) = (0, 0);
    if digits.take(b':') {
        seconds = digits.number(2)?;
        if digits.take(b'.') {
            fraction = digits.fraction()?;
        }
    }
    if hours >= 24 || minutes >= 60 || seconds >= 60 || !digits.0.is_empty() {
        return None;
    }
    let ticks =
        days.checked_mul(DAY)?.checked_add(hours * HOUR + minutes * MINUTE + seconds * SECOND + fraction)?;
    let ticks = i64::try_from(ticks).ok()?;
    Some(if negative { -ticks } else { ticks })
}

/// A duration in ticks as `[-][d.]h:mm[:ss[.fraction]]`; seconds are left out where they are zero.
pub(crate) fn format_duration(ticks: i64) -> String {
    let size = ticks.unsigned_abs();
    let mut text = String::from(if ticks < 0 { "-" } else { "" });
    if size >= DAY {
        text.push_str(&format!("{}.", size / DAY));
    }
    text.push_str(&format!("{}:{:02}", size / HOUR % 24, size / MINUTE % 60));
    if !size.is_multiple_of(MINUTE) {
        text.push_str(&format!(":{:02}", size / SECOND % 60));
    }
    if !size.is_multiple_of(SECOND) {
        text.push_str(format!(".{:07}", size % SECOND).trim_end_matches('0'));
    }
    text
}

/// The offset from UTC that an IANA time zone has at an instant, in ticks.
pub(crate) fn offset_in(zone: &str, instant: u64) -> Option<i64> {
    let zone = TimeZone::get(zone).ok()?;
    let since_epoch = i64::try_from(instant).ok()?.checked_sub(UNIX_EPOCH)?;
    let timestamp = Timestamp::from_second(since_epoch.div_euclid(SECOND as i64)).ok()?;
    Some(i64::from(zone.to_offset(timestamp).seconds()) * SECOND as i64)
}

/// The present instant.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH
        .unsigned_abs()
        .saturating_add(u64::try_from(since.as_nanos() / 100).unwrap_or(u64::MAX))
        .min(INSTANT_MAX)
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
        ] {
            assert_eq!(parse_instant(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_in_text() {
        assert_eq!(format_duration(90 * MINUTE as i64), "1:30");
        assert_eq!(format_duration(-(DAY as i64) - 15_000_000), "-1.0:00:01.5");
        assert_eq!(
            parse_duration("1.02:03:04.5"),
            Some((DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5_000_000) as i64)
        );
        assert_eq!(parse_duration("25:00"), None);
    }

    proptest! {
        #[test]
        fn instants_and_durations_read_as_they_are_written(ticks in 0..=INSTANT_MAX, duration: i64) {
            prop_assert_eq!(parse_instant(&format_instant(ticks, 0).unwrap()), Some(ticks));
            prop_assume!(duration != i64::MIN);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Some(duration));
            let civil = Civil::at(ticks).unwrap();
            let date = jiff::civil::date(civil.year as i16, civil.month as i8, civil.day as i8);
            prop_assert_eq!(u64::from(date.day_of_year() as u16), civil.day_of_year());
            prop_assert_eq!(u64::from(date.weekday().to_sunday_zero_offset() as u8), civil.weekday());
        }
    }
}
