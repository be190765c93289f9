//! Instants: ticks of 100 nanoseconds since the first day of the year 1, and their forms as text and numbers in logs.

use crate::calendar::{Date, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND, put_two};
use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A point in time, in ticks of 100 ns since 0001-01-01T00:00:00Z, up to the end of the year 9999.
///
/// `Display` writes ISO 8601 in UTC. `FromStr` reads ISO 8601 with any offset, with `T` or a space:
///
/// ```
/// use tamias_query::Instant;
///
/// let instant: Instant = "2024-05-29 12:56:01.5+02:00".parse()?;
/// assert_eq!(instant.to_string(), "2024-05-29T10:56:01.5Z");
/// assert_eq!(instant, "2024-05-29T10:56:01.5".parse()?); // without a zone it is UTC
/// assert_eq!(instant.ticks(), 638525769615000000);
/// # Ok::<(), tamias_query::InstantError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

const NANOSECONDS_PER_TICK: i128 = 100;
/// Ticks from the year 1 to 1970-01-01T00:00:00Z.
const UNIX_EPOCH: u64 = 621_355_968_000_000_000;
const YEAR_ONE: DateTime = jiff::civil::date(1, 1, 1).at(0, 0, 0, 0);
static PARSER: DateTimeParser = DateTimeParser::new();

impl Instant {
    /// The earliest instant, 0001-01-01T00:00:00Z.
    pub const MIN: Instant = Instant(0);
    /// The latest instant, 9999-12-31T23:59:59.9999999Z.
    pub const MAX: Instant = Instant(3_155_378_975_999_999_999);

    /// The instant with this many ticks; `None` past the year 9999.
    pub const fn from_ticks(ticks: u64) -> Option<Instant> {
        if ticks <= Self::MAX.0 { Some(Instant(ticks)) } else { None }
    }

    /// Ticks of 100 ns since 0001-01-01T00:00:00Z.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// The current time of the system clock, limited to the years 1 to 9999.
    pub fn now() -> Instant {
        let ticks = match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => i128::from(UNIX_EPOCH) + (after.as_nanos() / 100) as i128,
            Err(before) => i128::from(UNIX_EPOCH) - (before.duration().as_nanos() / 100) as i128,
        };
        Instant(u64::try_from(ticks.max(0)).unwrap_or(u64::MAX).min(Self::MAX.0))
    }

    /// Parses a Unix time, whose unit is determined by its size: below 10^11 seconds, below 10^14 milliseconds, below 10^17
    /// microseconds, from there nanoseconds. Fractions of a tick are dropped. Times before 1970 are negative.
    ///
    /// ```
    /// use tamias_query::Instant;
    ///
    /// let instant: Instant = "2023-11-14T22:13:20Z".parse()?;
    /// assert_eq!(Instant::from_unix_text("1700000000"), Ok(instant));
    /// assert_eq!(Instant::from_unix_text("1700000000000"), Ok(instant));
    /// assert_eq!(Instant::from_unix_text("1.7e9"), Ok(instant));
    /// # Ok::<(), tamias_query::InstantError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a number, or the time is outside the years 1 to 9999.
    pub fn from_unix_text(text: &str) -> Result<Instant, InstantError> {
        let number = tamias_json::number::to_decimal(text).ok_or(InstantError::Number)?;
        // A power of ten per unit: its length in ticks.
        let seconds_per_unit_below =
            [(11, Decimal::from(TICKS_PER_SECOND)), (14, Decimal::from(10_000)), (17, Decimal::TEN)];
        let ticks_per_unit = seconds_per_unit_below
            .into_iter()
            .find(|(digits, _)| number.abs() < Decimal::from(10_u64.pow(*digits)))
            .map_or(Decimal::new(1, 2), |(_, ticks)| ticks);
        let ticks = number
            .checked_mul(ticks_per_unit)
            .and_then(|ticks| ticks.floor().checked_add(Decimal::from(UNIX_EPOCH)))
            .ok_or(InstantError::Range)?;
        u64::try_from(ticks).ok().and_then(Instant::from_ticks).ok_or(InstantError::Range)
    }
}

impl FromStr for Instant {
    type Err = InstantError;

    /// Parses ISO 8601 with `T` or a space between date and time; UTC if the text has no offset. Digits beyond a
    /// tick are dropped, however many there are. Takes some 20 ns for the usual forms, and two to three times as long for the rarer ones.
    fn from_str(text: &str) -> Result<Instant, InstantError> {
        match parse_usual(text.as_bytes()) {
            Some(instant) => Ok(instant),
            None => parse_any(text),
        }
    }
}

/// Reads `2024-05-29T10:56:01`, with any number of digits of fraction or without, with `Z`, `+02:00` or nothing after it.
/// `None` for everything else, valid or not.
fn parse_usual(text: &[u8]) -> Option<Instant> {
    let (
        &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b' ', h1, h2, b':', n1, n2, b':', s1, s2],
        rest,
    ) = text.split_first_chunk::<19>()?
    else {
        return None;
    };
    let year = two(y1, y2) * 100 + two(y3, y4);
    let (month, day) = (two(m1, m2), two(d1, d2));
    let (hour, minute, second) = (two(h1, h2), two(n1, n2), two(s1, s2));
    // Anything but a digit makes its number too large for any of these.
    if two(y1, y2) > 99 || two(y3, y4) > 99 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = Date::new(year, month, day)?.days();
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, rest) = rest.split_at(digits);
            if digits.is_empty() {
                return None;
            }
            let ticks = (0..7)
                .fold(0, |sum, at| sum * 10 + u64::from(digits.get(at).map_or(0, |digit| digit - b'0')));
            (ticks, rest)
        }
        rest => (0, rest),
    };
    let seconds = (hour * 60 + minute) * 60 + second;
    let local = u64::from(days) * TICKS_PER_DAY + u64::from(seconds) * TICKS_PER_SECOND + fraction;
    let offset = match rest {
        [] | [b'Z'] => 0,
        &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] if two(h1, h2) <= 23 && two(m1, m2) <= 59 => {
            let offset = u64::from(two(h1, h2)) * TICKS_PER_HOUR + u64::from(two(m1, m2)) * TICKS_PER_MINUTE;
            if sign == b'+' { offset.wrapping_neg() } else { offset }
        }
        _ => return None,
    };
    // Before the first instant the sum wraps round and lies far above the last.
    Instant::from_ticks(local.wrapping_add(offset))
}

/// The number of two digits; more than 99 if one of the bytes is not a digit.
#[inline]
fn two(tens: u8, ones: u8) -> u32 {
    let (tens, ones) = (u32::from(tens.wrapping_sub(b'0')), u32::from(ones.wrapping_sub(b'0')));
    if tens > 9 || ones > 9 { 100 } else { tens * 10 + ones }
}

/// The text without the digits of its fraction beyond the ninth, which the parser does not accept.
fn cut_fraction(text: &str) -> Cow<'_, str> {
    let Some(point) = text.find(['.', ',']) else { return Cow::Borrowed(text) };
    let digits = text[point + 1..].bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0..=9 => Cow::Borrowed(text),
        _ => Cow::Owned(text[..point + 10].to_owned() + &text[point + 1 + digits..]),
    }
}

/// Reads every common form of ISO 8601, and says what is wrong with other texts.
fn parse_any(text: &str) -> Result<Instant, InstantError> {
    let text = cut_fraction(text);
    let pieces = PARSER.parse_pieces(text.as_bytes()).map_err(|_| InstantError::Text)?;
    let time = pieces.time().ok_or(InstantError::Text)?;
    let offset = match (pieces.to_numeric_offset(), pieces.time_zone_annotation()) {
        (Some(offset), _) => offset.seconds(),
        (None, None) => 0,
        (None, Some(_)) => return Err(InstantError::Text),
    };
    if offset.unsigned_abs() >= 24 * 3600 {
        return Err(InstantError::Text);
    }
    let since = pieces.date().to_datetime(time).duration_since(YEAR_ONE);
    let nanoseconds = since.as_nanos() - SignedDuration::from_secs(offset.into()).as_nanos();
    let ticks = nanoseconds.div_euclid(NANOSECONDS_PER_TICK);
    u64::try_from(ticks).ok().and_then(Instant::from_ticks).ok_or(InstantError::Range)
}

/// The longest text of an instant in UTC, `2024-05-29T10:56:01.1234567Z`.
const TEXT_BYTES: usize = 28;

/// The text as far as the seconds, and the seven digits after them.
fn civil_text(ticks: u64) -> [u8; TEXT_BYTES] {
    let mut text = *b"0000-00-00T00:00:00.0000000Z";
    let date = Date::from_days((ticks / TICKS_PER_DAY) as u32);
    let seconds = (ticks % TICKS_PER_DAY / TICKS_PER_SECOND) as u32;
    let fraction = (ticks % TICKS_PER_SECOND) as u32;
    let mut put = |at: usize, number: u32| {
        if let Some(place) = text.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<2>()) {
            put_two(number, place);
        }
    };
    put(0, date.year / 100);
    put(2, date.year);
    put(5, date.month);
    put(8, date.day);
    put(11, seconds / 3600);
    put(14, seconds / 60 % 60);
    put(17, seconds % 60);
    put(20, fraction / 100_000);
    put(22, fraction / 1000);
    put(24, fraction / 10);
    text[26] = b'0' + (fraction % 10) as u8;
    text
}

impl Instant {
    /// Appends the text that `Display` writes, without allocating if `out` has enough capacity.
    ///
    /// ```
    /// use tamias_query::Instant;
    ///
    /// let mut out = Vec::new();
    /// Instant::MAX.write_iso(&mut out);
    /// assert_eq!(out, b"9999-12-31T23:59:59.9999999Z");
    /// ```
    pub fn write_iso(self, out: &mut Vec<u8>) {
        let text = civil_text(self.0);
        out.extend_from_slice(&text[..self.end_of(&text)]);
        out.push(b'Z');
    }

    /// Appends the text with all seven digits of the second's fraction.
    pub(crate) fn write_digits(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&civil_text(self.0));
    }

    /// Where the zeros at the end of the fraction begin, or its point if there are only zeros.
    fn end_of(self, text: &[u8; TEXT_BYTES]) -> usize {
        if self.0.is_multiple_of(TICKS_PER_SECOND) {
            return 19;
        }
        let zeros = text[20..27].iter().rev().take_while(|&&digit| digit == b'0').count();
        27 - zeros
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = civil_text(self.0);
        let end = self.end_of(&text);
        text[end] = b'Z';
        f.write_str(str::from_utf8(&text[..=end]).unwrap_or_default())
    }
}

/// Why a text or a number is not an [`Instant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstantError {
    /// The text is not in ISO 8601 format.
    #[error("not a time in the form 2024-05-29T10:56:01.123Z")]
    Text,
    /// The number cannot be read.
    #[error("not a number that a time can be")]
    Number,
    /// The time lies outside the years 1 to 9999.
    #[error("a time outside the years 1 to 9999")]
    Range,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_instant_prints_and_reads() {
        assert_eq!(Instant::MAX.to_string(), "9999-12-31T23:59:59.9999999Z");
        assert_eq!("9999-12-31T23:59:59.9999999Z".parse(), Ok(Instant::MAX));
        assert_eq!("0001-01-01T00:00:00Z".parse(), Ok(Instant::MIN));
        assert_eq!(Instant::MIN.to_string(), "0001-01-01T00:00:00Z");
    }

    #[test]
    fn texts_that_are_no_time_are_refused() {
        for text in [
            "",
            "yesterday",
            "2024-05-29",
            "10:56",
            "2024-13-01T00:00:00Z",
            "2024-05-29T10:56:01[Europe/Berlin]",
            "2024-05-29T10:56:01+24:00",
        ] {
            assert_eq!(text.parse::<Instant>(), Err(InstantError::Text), "{text:?}");
        }
        for text in ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "-000005-01-01T00:00:00Z"] {
            assert_eq!(text.parse::<Instant>(), Err(InstantError::Range), "{text:?}");
        }
    }

    #[test]
    fn the_size_of_a_number_tells_its_unit() {
        let read = |text: &str| Instant::from_unix_text(text).unwrap().to_string();
        assert_eq!(read("99999999999"), "5138-11-16T09:46:39Z");
        assert_eq!(read("100000000000"), "1973-03-03T09:46:40Z");
        assert_eq!(read("1700000000123"), "2023-11-14T22:13:20.123Z");
        assert_eq!(read("1700000000123456"), "2023-11-14T22:13:20.123456Z");
        assert_eq!(read("1700000000123456789"), "2023-11-14T22:13:20.1234567Z");
        assert_eq!(read("1700000000.12345678"), "2023-11-14T22:13:20.1234567Z");
        assert_eq!(read("-1"), "1969-12-31T23:59:59Z");
        assert_eq!(read("0"), "1970-01-01T00:00:00Z");
        assert_eq!(Instant::from_unix_text("1e28"), Err(InstantError::Range));
        assert_eq!(Instant::from_unix_text("1e999999"), Err(InstantError::Number));
    }

    #[test]
    fn the_usual_forms_are_read_the_quick_way() {
        for (text, printed) in [
            ("2024-05-29T10:56:01Z", "2024-05-29T10:56:01Z"),
            ("2024-05-29 10:56:01", "2024-05-29T10:56:01Z"),
            ("2024-05-29T10:56:01.1234567Z", "2024-05-29T10:56:01.1234567Z"),
            ("2024-05-29T10:56:01.123456789Z", "2024-05-29T10:56:01.1234567Z"),
            ("2024-05-29T10:56:01.12345678987654321+00:00", "2024-05-29T10:56:01.1234567Z"),
            ("2024-05-29T10:56:01.100+02:30", "2024-05-29T08:26:01.1Z"),
            ("2024-02-29T23:56:01-00:30", "2024-03-01T00:26:01Z"),
        ] {
            assert_eq!(
                parse_usual(text.as_bytes()).map(|instant| instant.to_string()).as_deref(),
                Some(printed),
                "{text}"
            );
        }
    }

    #[test]
    fn the_rarer_forms_are_read_too() {
        for (text, printed) in [
            ("20240529T105601Z", "2024-05-29T10:56:01Z"),
            ("2024-05-29T10:56Z", "2024-05-29T10:56:00Z"),
            ("2024-05-29t10:56:01,5z", "2024-05-29T10:56:01.5Z"),
            ("2024-05-29t10:56:01,00000009999999999z", "2024-05-29T10:56:01Z"),
            ("2024-05-29T10:56:01+02", "2024-05-29T08:56:01Z"),
            ("2024-05-29T12:56:01+02:00[Europe/Berlin]", "2024-05-29T10:56:01Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ] {
            assert_eq!(
                text.parse::<Instant>().map(|instant| instant.to_string()).as_deref(),
                Ok(printed),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_instant_survives_its_text(ticks in 0..=Instant::MAX.0) {
            let instant = Instant(ticks);
            prop_assert_eq!(instant.to_string().parse(), Ok(instant));
            prop_assert_eq!(parse_any(&instant.to_string()), Ok(instant));
            let mut written = Vec::new();
            instant.write_iso(&mut written);
            prop_assert_eq!(String::from_utf8(written).unwrap(), instant.to_string());
        }

        #[test]
        fn the_quick_way_reads_what_the_thorough_one_reads(
            text in "[0-2][09][0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,14})?(Z|[+-][0-2][0-9]:[0-6][0-9]|)",
            at in 0usize..40,
            byte in proptest::option::of(b' '..b'~'),
        ) {
            let mut text = text.into_bytes();
            if let (Some(byte), Some(place)) = (byte, text.get_mut(at)) {
                *place = byte;
            }
            let text = String::from_utf8(text).unwrap();
            if let Some(instant) = parse_usual(text.as_bytes()) {
                prop_assert_eq!(parse_any(&text), Ok(instant), "{}", text);
            }
        }
    }
}
