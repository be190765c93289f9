//! Texts that are instants, all in one format: `2024-05-29T10:56:01.123Z` and its kin.
//!
//! A value is the number of its smallest units since 1970, or how many more than those of its event's own instant.
//! Days are counted by Howard Hinnant's algorithms ("chrono-Compatible Low-Level Date Algorithms").

use crate::bytes::{Reader, put, put_bytes};
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, FrameWriter};
use crate::number::PAIRS;
use crate::texts::TextList;

/// Ticks from the year 1 to 1970.
const UNIX_TICKS: i64 = 621_355_968_000_000_000;

/// Ticks of 100 ns in a second.
const TICKS_A_SECOND: i64 = 10_000_000;

/// The longest suffix, in bytes: `+00:00`.
const SUFFIX_MAX: usize = 6;

/// Between date and time, after the seconds, and at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// `T` or a blank, as a rule.
    separator: u8,
    /// Digits of the fraction of a second, 0 to 9.
    digits: u8,
    /// What follows: nothing, `Z`, or an offset.
    suffix: Vec<u8>,
}

/// Longer than the text of any instant, so that it is copied by instructions of a fixed length.
type Spelling = [u8; 64];

/// The powers of ten that a fraction of a second has.
const POWERS: [i64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

impl Format {
    /// The format of a text that may be an instant.
    pub(crate) fn of(text: &[u8]) -> Option<Format> {
        let separator = *text.get(10)?;
        if separator.is_ascii_digit() {
            return None;
        }
        let rest = text.get(19..)?;
        let digits = match rest {
            [b'.', digits @ ..] => digits.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            _ => 0,
        };
        let suffix = rest.get(if digits > 0 { digits + 1 } else { 0 }..)?;
        if digits > 9 || suffix.len() > SUFFIX_MAX {
            return None;
        }
        let format = Format { separator, digits: digits as u8, suffix: suffix.to_vec() };
        format.parse(text).is_some().then_some(format)
    }

    fn power(&self) -> i64 {
        POWERS[usize::from(self.digits.min(9))]
    }

    /// The units since 1970, if the text is in this format and can be spelled back.
    #[inline]
    pub(crate) fn parse(&self, text: &[u8]) -> Option<i64> {
        self.parse_on(date_of(text.first_chunk()?)?, text)
    }

    /// The same where the days since 1970 of its date are known.
    #[inline]
    fn parse_on(&self, days: i64, text: &[u8]) -> Option<i64> {
        let (time, rest) = text.split_first_chunk::<19>()?;
        let (hour, minute, second) = (two_digits(time, 11)?, two_digits(time, 14)?, two_digits(time, 17)?);
        if [time[10], time[13], time[16]] != [self.separator, b':', b':']
            || hour > 23
            || minute > 59
            || second > 59
        {
            return None;
        }
        let digits = usize::from(self.digits);
        let mut fraction = 0;
        let mut suffix = rest;
        if digits > 0 {
            let (point, after) = rest.split_first()?;
            let (text, after) = after.split_at_checked(digits)?;
            if *point != b'.' || !text.iter().all(u8::is_ascii_digit) {
                return None;
            }
            fraction = text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            suffix = after;
        }
        if suffix != self.suffix.as_slice() {
            return None;
        }
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
        seconds.checked_mul(self.power())?.checked_add(fraction)
    }

    /// The length of the text of an instant.
    fn length(&self) -> usize {
        let digits = usize::from(self.digits.min(9));
        19 + if digits > 0 { 1 + digits } else { 0 } + self.suffix.len()
    }

    /// Writes the text of an instant. `day` is the day since 1970 whose date the text has already, if any; instants of a column are of
    /// few days.
    #[inline]
    fn spell(&self, units: i64, day: &mut Option<i64>, text: &mut Spelling) {
        // The usual powers as constants, by which the compiler divides without a division.
        let split = |power: i64| (units.div_euclid(power), units.rem_euclid(power));
        let (seconds, fraction) = match self.digits {
            0 => (units, 0),
            3 => split(1_000),
            6 => split(1_000_000),
            7 => split(10_000_000),
            _ => split(self.power()),
        };
        let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400) as u32);
        let two = |text: &mut Spelling, at: usize, value: u32| {
            text[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        };
        if *day != Some(days) {
            *day = Some(days);
            let (year, month, day) = date(days);
            let year = year.rem_euclid(10_000) as u32;
            two(text, 0, year / 100);
            two(text, 2, year);
            two(text, 5, month as u32);
            two(text, 8, day as u32);
        }
        two(text, 11, second_of_day / 3_600);
        two(text, 14, second_of_day / 60 % 60);
        two(text, 17, second_of_day % 60);
        // Below ten to the ninth.
        let mut fraction = fraction as u32;
        for at in (20..20 + usize::from(self.digits.min(9))).rev() {
            text[at] = b'0' + (fraction % 10) as u8;
            fraction /= 10;
        }
    }

    /// What all texts in this format have in common.
    fn blank(&self) -> Spelling {
        let mut text = [b'0'; _];
        for (at, byte) in [(4, b'-'), (7, b'-'), (10, self.separator), (13, b':'), (16, b':')] {
            text[at] = byte;
        }
        if self.digits > 0 {
            text[19] = b'.';
        }
        let end = self.length();
        text[end - self.suffix.len()..end].copy_from_slice(&self.suffix);
        text
    }

    /// An event's instant in units of this format.
    fn units(&self, ticks: u64) -> i64 {
        // Most often an instant is spelled as exactly as it is known.
        if self.power() == TICKS_A_SECOND
            && let Some(units) = ticks.checked_signed_diff(UNIX_TICKS.cast_unsigned())
        {
            return units;
        }
        let ticks = i128::from(ticks) - i128::from(UNIX_TICKS);
        let units = ticks * i128::from(self.power()) / i128::from(TICKS_A_SECOND);
        units.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// The number that two bytes of a text spell, if they are digits.
#[inline(always)]
fn two_digits<const N: usize>(text: &[u8; N], at: usize) -> Option<i64> {
    let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| i64::from(tens) * 10 + i64::from(ones))
}

/// Days since 1970 of a text that is a date.
fn date_of(text: &[u8; 10]) -> Option<i64> {
    let two = |at: usize| two_digits(text, at);
    let (year, month, day) = (two(0)? * 100 + two(2)?, two(5)?, two(8)?);
    let month_length =
        *[31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].get(usize::try_from(month - 1).ok()?)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let long_february = month == 2 && day == 29 && !leap;
    let is_date = [text[4], text[7]] == [b'-', b'-'] && (1..=month_length).contains(&day) && !long_february;
    is_date.then(|| days(year, month, day))
}

/// Days since 1970 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date so many days after 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let month = (month_index + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * month_index + 2) / 5 + 1)
}

/// The instants that texts are, all in one format.
pub(crate) struct Parsed {
    format: Format,
    units: Vec<i64>,
}

impl Parsed {
    /// Nothing where a text is no instant in the format of the first.
    pub(crate) fn of(texts: &TextList) -> Option<Parsed> {
        let format = Format::of(texts.iter().next()?)?;
        let mut units = Vec::with_capacity(texts.len());
        // Instants of a column are of few days.
        let first = texts.iter().next()?.first_chunk::<10>()?;
        let mut known = (*first, date_of(first)?);
        for text in texts.iter() {
            let date = text.first_chunk()?;
            if known.0 != *date {
                known = (*date, date_of(date)?);
            }
            units.push(format.parse_on(known.1, text)?);
        }
        Some(Parsed { format, units })
    }

    /// The same of other texts: what becomes of the numbers.
    pub(crate) fn map(self, units: impl FnOnce(Vec<i64>) -> Vec<i64>) -> Parsed {
        Parsed { units: units(self.units), ..self }
    }
}

/// Instants in one format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instants {
    format: Format,
    /// Whether the numbers are differences from the instants of the events, one for each.
    relative: bool,
    units: Ints,
}

impl Instants {
    /// The bytes that their texts consist of.
    pub(crate) fn alphabet(&self) -> Vec<u8> {
        [b"0123456789-:.", self.format.suffix.as_slice(), &[self.format.separator]].concat()
    }

    /// Writes instants in one format; `events` are the instants of the group's events.
    pub(crate) fn encode(parsed: Parsed, events: &[u64], frames: &mut FrameWriter) -> Instants {
        let Parsed { format, mut units } = parsed;
        let differences =
            || units.iter().zip(events).map(|(unit, event)| unit.wrapping_sub(format.units(*event)));
        // HEURISTIC: differences from the event's instant are taken where nearly all of them are the same.
        let same = |first: i64| {
            differences().filter(|difference| *difference == first).count() * 16 >= units.len() * 15
        };
        let relative = events.len() == units.len() && differences().next().is_some_and(same);
        if relative {
            units = differences().collect();
        }
        Instants { format, relative, units: Ints::encode(&units, frames) }
    }

    /// The instants of a window; `events` are those of all events.
    pub(crate) fn decode(
        &self,
        window: Window,
        events: &[i64],
        frames: &mut FrameReader<'_>,
    ) -> Result<Times, DecodeError> {
        let mut units = self.units.decode(window, frames)?;
        if self.relative {
            let events = events.get(window.from..window.to).filter(|_| events.len() == window.count);
            let events = events.ok_or(malformed("instants relative to events that are not as many"))?;
            for (unit, event) in units.iter_mut().zip(events) {
                *unit = unit.wrapping_add(self.format.units(event.cast_unsigned()));
            }
        }
        Ok(Times { format: self.format.clone(), units })
    }

    /// Whether the numbers are differences from the instants of the events.
    pub(crate) fn is_relative(&self) -> bool {
        self.relative
    }

    pub(crate) fn ints(&self) -> Ints {
        self.units
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.format.separator);
        out.push(self.format.digits);
        put_bytes(out, &self.format.suffix);
        put(out, u64::from(self.relative));
        self.units.write(out);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Instants, DecodeError> {
        let (separator, digits, suffix) = (reader.byte()?, reader.byte()?, reader.bytes()?);
        if digits > 9 || suffix.len() > SUFFIX_MAX {
            return Err(malformed("a format of instants that is none"));
        }
        let relative = reader.at_most(1, "a flag that is neither 0 nor 1")? == 1;
        let format = Format { separator, digits, suffix: suffix.to_vec() };
        Ok(Instants { format, relative, units: Ints::read(reader, frames)? })
    }
}

/// Instants that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    format: Format,
    /// For each value its smallest units (`10^-digits` seconds) since 1970-01-01T00:00:00.
    pub units: Vec<i64>,
}

impl Times {
    /// What follows each of them.
    pub(crate) fn suffix(&self) -> &[u8] {
        &self.format.suffix
    }

    /// How many digits a second's fraction has: a unit is `10^-digits` seconds.
    pub fn digits(&self) -> u8 {
        self.format.digits
    }

    /// The length of each one's text.
    pub(crate) fn text_length(&self) -> usize {
        self.format.length()
    }

    /// The texts of all of them.
    pub(crate) fn texts(&self) -> Texts<'static> {
        let length = self.format.length();
        let mut bytes = Vec::with_capacity(self.units.len() * length + size_of::<Spelling>());
        let (mut text, mut day) = (self.format.blank(), None);
        for units in &self.units {
            self.format.spell(*units, &mut day, &mut text);
            let end = bytes.len() + length;
            bytes.extend_from_slice(&text);
            bytes.truncate(end);
        }
        Texts::of_length(length, self.units.len(), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(format: &Format, units: i64) -> Vec<u8> {
        let times = Times { format: format.clone(), units: vec![units.saturating_sub(1), units, units] };
        let texts = times.texts();
        assert_eq!(texts.get(1), texts.get(2));
        texts.get(1).unwrap().to_vec()
    }

    #[test]
    fn formats_are_recognised_and_spelled_back() {
        for text in [
            "2024-05-29T10:56:01.1234567Z",
            "2020-10-09 18:27:49",
            "2020-02-29 00:00:00.000",
            "1969-12-31T23:59:59.999+02:00",
            "2021-07-21T06:00:00Z",
            "2262-01-01T00:00:00.123456789",
        ] {
            let format = Format::of(text.as_bytes()).expect(text);
            let units = format.parse(text.as_bytes()).unwrap();
            assert_eq!(spelled(&format, units), text.as_bytes());
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "2024-05-29",
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00.1234567890Z",
            "2024-01-01T00:00:00 Europe/Zurich",
            "9999-01-01T00:00:00.123456789Z",
        ] {
            assert_eq!(Format::of(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_units_have_a_text_that_reads_back(units in any::<i64>(), digits in 0..10u8) {
            let format = Format { separator: b'T', digits, suffix: b"Z".to_vec() };
            let text = spelled(&format, units);
            if let Some(again) = format.parse(&text) {
                prop_assert_eq!(spelled(&format, again), text);
            }
        }
    }
}
