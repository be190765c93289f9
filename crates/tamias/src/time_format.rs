//! The formats of times in events.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use rust_decimal::Decimal;
use tamias_json::Value;
use tamias_query::{Instant, InstantError, UnknownZone, Zone};

/// The format of an event's time. The default recognises unambiguous formats by itself.
///
/// ```
/// use tamias::{Batch, EventFormat, TimeFormat};
///
/// let day_first: TimeFormat = "%d/%m/%Y %H:%M:%S".parse()?;
/// let format = EventFormat::time_key("time").time_format(day_first);
/// Batch::new().push(br#"{"time":"05/06/2024 12:56:01","status":200}"#, &format)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TimeFormat(Form);

#[derive(Clone, Debug, Default)]
enum Form {
    /// Text in ISO 8601 or another form that has one meaning only, or a number that is a Unix time of some unit, or its text.
    #[default]
    Any,
    Iso,
    /// The number of ticks in one unit; a hundredth of a tick for nanoseconds.
    Unix(Decimal),
    /// Ticks of 100 nanoseconds since the year 1, as .NET and queries with `--ticks` write them.
    Ticks,
    Pattern(String),
    /// One of these, in a zone other than UTC where the text names none.
    InZone(Box<Form>, Zone),
}

/// How web servers write times; HAProxy with a fraction and without a zone.
const ACCESS_LOGS: [&str; 2] = ["%d/%b/%Y:%H:%M:%S%.f %z", "%d/%b/%Y:%H:%M:%S%.f"];

/// Of 1970-01-01T00:00:00Z.
const UNIX_TICKS: u64 = 621_355_968_000_000_000;

impl TimeFormat {
    /// Sets the time zone of texts that name none, an IANA name or an offset such as `+02:00`; by default it is UTC. Of a time that the
    /// clocks show twice the earlier is meant.
    ///
    /// ```
    /// use tamias::{Batch, EventFormat, TimeFormat};
    ///
    /// let local = TimeFormat::default().time_zone("Europe/Berlin")?;
    /// let format = EventFormat::time_key("time").time_format(local);
    /// Batch::new().push(br#"{"time":"2024-05-29 12:56:01"}"#, &format)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such zone.
    pub fn time_zone(self, name: &str) -> Result<TimeFormat, UnknownZone> {
        let form = match self.0 {
            Form::InZone(form, _) => *form,
            form => form,
        };
        Ok(TimeFormat(match Zone::parse(name)? {
            Some(zone) => Form::InZone(Box::new(form), zone),
            None => form,
        }))
    }

    pub(crate) fn read(&self, value: Value<'_>) -> Result<Instant, TimeError> {
        match (self.parts().0, value) {
            (_, Value::String(text)) => self.read_text(&text.text()),
            (Form::Any, Value::Number(number)) if looks_like_ticks(number.text()) => Err(TimeError::Ticks),
            (Form::Any, Value::Number(number)) => Ok(Instant::from_unix_text(number.text())?),
            (Form::Unix(ticks), Value::Number(number)) => unix(number.text(), *ticks),
            (Form::Ticks, Value::Number(number)) => ticks(number.text()),
            (Form::Pattern(_), Value::Number(number)) => self.read_text(number.text()),
            _ => Err(TimeError::Instant(InstantError::Text)),
        }
    }

    /// Reads the text of a string.
    pub(crate) fn read_text(&self, text: &str) -> Result<Instant, TimeError> {
        match self.parts() {
            (Form::Any, _) if looks_like_ticks(text) => Err(TimeError::Ticks),
            (Form::Any, _) if is_unix_text(text) => Ok(Instant::from_unix_text(text)?),
            (Form::Any, zone) => any(text, zone),
            (Form::Iso, zone) => Ok(iso(text, zone)?),
            (Form::Unix(ticks), _) if is_number(text) => unix(text, *ticks),
            (Form::Ticks, _) if is_number(text) => ticks(text),
            (Form::Pattern(pattern), zone) => by_pattern(pattern, text, zone),
            (Form::Unix(_) | Form::Ticks | Form::InZone(..), _) => Err(InstantError::Number.into()),
        }
    }

    /// The form without its zone, and the zone.
    fn parts(&self) -> (&Form, Option<&Zone>) {
        match &self.0 {
            Form::InZone(form, zone) => (form, Some(zone)),
            form => (form, None),
        }
    }
}

impl FromStr for TimeFormat {
    type Err = TimeFormatError;

    /// Parses the name of a format, or a pattern:
    ///
    /// - `auto`: ISO 8601 text, also with its zone behind a space (`2024-05-29 12:56:01 +0200`, `2024-05-29 10:56:01 UTC`), text as web
    ///   servers write it (`29/May/2024:12:56:01 +0200`, also in brackets, with a fraction or without the zone) or as mail and HTTP do (RFC 2822,
    ///   `Wed, 29 May 2024 10:56:01 GMT`), or a number whose size tells which unit of Unix time it is ([`Instant::from_unix_text`]), or
    ///   its text of 10, 13, 16 or 19 digits, also with a fraction. A number that is more likely [ticks](Instant::ticks) is rejected
    /// - `iso`: ISO 8601 text only
    /// - `unix`, `unix-ms`, `unix-us`, `unix-ns`: seconds, milliseconds, microseconds or nanoseconds since 1970, a number or
    ///   its text, also with a fraction
    /// - `ticks`: ticks of 100 nanoseconds since the year 1, as .NET writes them, a number or its text
    /// - a pattern with `%`, as for strptime: `%d/%b/%Y:%H:%M:%S %z`. It must match the whole text. `%f` is a fraction
    ///   of a second without its point, `%.f` one with it, `%Q` the name of a time zone. Times without a zone are UTC, or in the [time zone](TimeFormat::time_zone) that is
    ///   set. `%Z`, an abbreviation such as CET, is not supported.
    fn from_str(text: &str) -> Result<TimeFormat, TimeFormatError> {
        let unix = |ticks, scale| Form::Unix(Decimal::new(ticks, scale));
        Ok(TimeFormat(match text {
            "auto" => Form::Any,
            "iso" => Form::Iso,
            "unix" => unix(10_000_000, 0),
            "unix-ms" => unix(10_000, 0),
            "unix-us" => unix(10, 0),
            "unix-ns" => unix(1, 2),
            "ticks" => Form::Ticks,
            _ if text.replace("%%", "").contains("%Z") => {
                return Err(TimeFormatError(format!(
                    "{text}: %Z, an abbreviation such as CET, cannot be read; use %Q for a name such as Europe/Vienna, %z for an offset, or \
                     write the abbreviation itself, and name the zone with --time-zone"
                )));
            }
            _ if text.contains('%') => {
                // What can be written can be read.
                let sample = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
                BrokenDownTime::from(&sample)
                    .to_string(text)
                    .map_err(|error| TimeFormatError(format!("{text} is no pattern of a time: {error}")))?;
                Form::Pattern(text.to_owned())
            }
            _ => {
                let names = "auto, iso, unix, unix-ms, unix-us, unix-ns, ticks";
                return Err(TimeFormatError(format!("{text} is none of {names}, nor a pattern with %")));
            }
        }))
    }
}

/// Whether a text is a present-day Unix time, in any unit: other texts of digits may as well be a date, or a date and a time.
fn is_unix_text(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(whole.len(), 10 | 13 | 16 | 19) && are_digits(whole) && are_digits(fraction)
}

/// Whether a number is more likely ticks of the years 1965 to 2124 than nanoseconds since 1970, which would be 1989 to 1991.
fn looks_like_ticks(text: &str) -> bool {
    let is_near = matches!(text.as_bytes(), [b'6', b'2'..=b'6', ..]);
    is_near && text.len() == 18 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a JSON number, or nearly one.
fn is_number(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    text.bytes().all(is_part) && text.parse::<f64>().is_ok()
}

/// The instant of a text in ISO 8601 or another form that names the month, so that it has one meaning only.
fn any(text: &str, zone: Option<&Zone>) -> Result<Instant, TimeError> {
    iso(text, zone).or_else(|error| {
        // Access logs have brackets around their times, and columns of a fixed width blanks.
        let text = text.trim();
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let named = || {
            let time = text.strip_suffix(" UTC").or_else(|| text.strip_suffix(" GMT"));
            Ok(format!("{}Z", time.ok_or(InstantError::Text)?).parse()?)
        };
        let mail = || instant(rfc2822::parse(text).map_err(|_| InstantError::Text)?.timestamp());
        // As Git, Ruby and .NET write them: with a blank before the offset.
        let spaced = || {
            let (time, offset) = text.rsplit_once(' ')?;
            offset.starts_with(['+', '-']).then(|| format!("{time}{offset}").parse().ok())?
        };
        let known = ACCESS_LOGS.iter().map(|pattern| by_pattern(pattern, text, zone)).find_map(Result::ok);
        let known = known.or_else(spaced);
        let known = known.map_or_else(|| iso(text, zone).map_err(TimeError::from), Ok);
        known.or_else(|_: TimeError| named()).or_else(|_: TimeError| mail()).map_err(|_| error.into())
    })
}

/// The instant of a text in ISO 8601, which may name no zone.
fn iso(text: &str, zone: Option<&Zone>) -> Result<Instant, InstantError> {
    match zone {
        Some(zone) => zone.read(text),
        None => text.parse(),
    }
}

/// The instant of a number of ticks since the year 1.
fn ticks(text: &str) -> Result<Instant, TimeError> {
    let ticks = tamias_json::number::to_decimal(text).ok_or(InstantError::Number)?.floor();
    Ok(u64::try_from(ticks).ok().and_then(Instant::from_ticks).ok_or(InstantError::Range)?)
}

/// The instant of a number of units of `ticks` ticks each.
fn unix(text: &str, ticks: Decimal) -> Result<Instant, TimeError> {
    let number = tamias_json::number::to_decimal(text).ok_or(InstantError::Number)?;
    let since_1970 = number.checked_mul(ticks).ok_or(InstantError::Range)?.floor();
    let ticks = since_1970.checked_add(Decimal::from(UNIX_TICKS)).ok_or(InstantError::Range)?;
    Ok(u64::try_from(ticks).ok().and_then(Instant::from_ticks).ok_or(InstantError::Range)?)
}

fn by_pattern(pattern: &str, text: &str, zone: Option<&Zone>) -> Result<Instant, TimeError> {
    let unfit = || TimeError::Pattern { pattern: pattern.to_owned() };
    let time = BrokenDownTime::parse(pattern, text).map_err(|_| unfit())?;
    if let Ok(timestamp) = time.to_timestamp() {
        return instant(timestamp);
    }
    if time.iana_time_zone().is_some() {
        return instant(time.to_zoned().map_err(|_| unfit())?.timestamp());
    }
    let shown = time.to_datetime().and_then(|time| TimeZone::UTC.to_timestamp(time)).map_err(|_| unfit())?;
    match zone {
        Some(zone) => Ok(zone.local(instant(shown)?)?),
        None => instant(shown),
    }
}

fn instant(timestamp: Timestamp) -> Result<Instant, TimeError> {
    let ticks = timestamp.as_nanosecond().div_euclid(100) + i128::from(UNIX_TICKS);
    Ok(u64::try_from(ticks).ok().and_then(Instant::from_ticks).ok_or(InstantError::Range)?)
}

/// Why a value is not a time in the given format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// It is not a time, or one out of range.
    #[error(transparent)]
    Instant(#[from] InstantError),
    /// It is a number that is probably ticks rather than a Unix time.
    #[error("probably .NET ticks, not a Unix time; the time format `ticks` reads them (--time-format ticks)")]
    Ticks,
    /// It does not match the pattern.
    #[error("not in the form {pattern}, or there is no such time")]
    Pattern {
        /// The pattern, in the syntax of strptime.
        pattern: String,
    },
}

/// Why a text is not a [`TimeFormat`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TimeFormatError(String);
