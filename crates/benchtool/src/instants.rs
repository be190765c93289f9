//! Instants as people write and read them: in a time zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use tamias::{Instant, Query};

/// Ticks from the year 1 to 1970-01-01T00:00:00Z.
const UNIX_TICKS: i128 = 621_355_968_000_000_000;

/// The time zone in which instants are shown, and read where they name none.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// Reads `local`, `UTC`, an offset such as `+02:00`, or a name of the tz database such as `Europe/Berlin`.
    pub(crate) fn parse(text: &str) -> Result<Zone, String> {
        // An offset is what it makes of midnight.
        let fixed = || {
            let there = format!("2000-01-01T00:00:00{text}").parse::<Timestamp>().ok()?;
            let here = "2000-01-01T00:00:00Z".parse::<Timestamp>().ok()?;
            let offset = Offset::from_seconds(i32::try_from(here.as_second() - there.as_second()).ok()?);
            offset.ok().map(TimeZone::fixed)
        };
        let zone = match text {
            "local" => Some(TimeZone::system()),
            _ => TimeZone::get(text).ok().or_else(fixed),
        };
        zone.map(Zone).ok_or_else(|| {
            format!("'{text}' is no time zone: write local, UTC, +02:00 or a name such as Europe/Berlin")
        })
    }

    /// The name under which a query has it.
    pub(crate) fn name(&self) -> String {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => name.to_owned(),
            (None, Ok(offset)) => offset.to_string(),
            // The system's zone, if it has no name.
            (None, Err(_)) => "UTC".to_owned(),
        }
    }

    /// The instant of ISO 8601 text; without an offset it is a time of this zone, without a time the beginning of the day.
    pub(crate) fn read(&self, text: &str) -> Result<Instant, String> {
        if let (true, Ok(instant)) = (self.0 == TimeZone::UTC, text.parse()) {
            return Ok(instant);
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return instant(timestamp).ok_or_else(|| outside(text));
        }
        let local = text.parse::<DateTime>().map_err(|_| {
            format!(
                "'{text}' is no time: write 2024-05-29, 2024-05-29T10:56:01 or 2024-05-29T10:56:01.5+02:00"
            )
        })?;
        let timestamp = self.0.to_timestamp(local).map_err(|_| outside(text))?;
        instant(timestamp).ok_or_else(|| outside(text))
    }

    /// The instant of so many ticks as ISO 8601 text with the zone's offset, `Z` for UTC; `None` past the year 9999.
    pub(crate) fn text(&self, ticks: u64) -> Option<String> {
        let instant = Instant::from_ticks(ticks)?;
        let nanoseconds = (i128::from(instant.ticks()) - UNIX_TICKS) * 100;
        let zoned = match Timestamp::from_nanosecond(nanoseconds) {
            Ok(timestamp) if self.0 != TimeZone::UTC => timestamp.to_zoned(self.0.clone()),
            // Also what lies where other zones have no year.
            _ => return Some(instant.to_string()),
        };
        if !(1..=9999).contains(&zoned.year()) {
            return Some(instant.to_string());
        }
        Some(zoned.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string())
    }
}

fn outside(text: &str) -> String {
    format!("'{text}' lies outside the years 1 to 9999")
}

fn instant(timestamp: Timestamp) -> Option<Instant> {
    let ticks = timestamp.as_nanosecond().div_euclid(100) + UNIX_TICKS;
    u64::try_from(ticks).ok().and_then(Instant::from_ticks)
}

/// The ticks of a duration as queries have it: `15m`, `1d12h`.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    let is_literal = text.starts_with(|first: char| first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    let ticks = tamias::eval(text, "{}").ok().flatten().and_then(|ticks| ticks.parse().ok());
    ticks.filter(|_| is_literal && !text.starts_with("0x")).ok_or_else(|| {
        format!("'{text}' is no duration: write 15m, 1d12h, 30s; the units are d, h, m, s, ms")
    })
}

/// How the cells of a query that are instants are shown to people.
#[derive(Debug)]
pub(crate) struct Shown {
    columns: Vec<bool>,
    zone: Zone,
}

impl Shown {
    pub(crate) fn new(query: &Query, zone: &Zone) -> Shown {
        Shown { columns: query.instant_columns(), zone: zone.clone() }
    }

    /// The text of a cell that holds an instant, whose JSON text this is.
    pub(crate) fn text(&self, column: usize, json: &[u8]) -> Option<String> {
        let is_instant = self.columns.get(column).is_some_and(|is_instant| *is_instant);
        let ticks = is_instant.then(|| std::str::from_utf8(json).ok()?.parse().ok()).flatten()?;
        self.zone.text(ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(text: &str) -> Zone {
        Zone::parse(text).unwrap()
    }

    #[track_caller]
    fn check(zone_name: &str, text: &str, instant: &str, shown: &str) {
        let zone = zone(zone_name);
        let read = zone.read(text).unwrap();
        assert_eq!(read.to_string(), instant, "{text} in {zone_name}");
        assert_eq!(zone.text(read.ticks()).unwrap(), shown);
        assert_eq!(zone.read(shown), Ok(read), "what is shown is read as what it was");
    }

    #[test]
    fn times_are_those_of_the_zone() {
        check("UTC", "2024-05-29", "2024-05-29T00:00:00Z", "2024-05-29T00:00:00Z");
        check(
            "UTC",
            "2024-05-29 10:56:01.1234567",
            "2024-05-29T10:56:01.1234567Z",
            "2024-05-29T10:56:01.1234567Z",
        );
        check("Europe/Berlin", "2024-05-29", "2024-05-28T22:00:00Z", "2024-05-29T00:00:00+02:00");
        check(
            "Europe/Berlin",
            "2024-01-29T10:56:01.5Z",
            "2024-01-29T10:56:01.5Z",
            "2024-01-29T11:56:01.5+01:00",
        );
        check("+05:30", "2024-05-29T05:30", "2024-05-29T00:00:00Z", "2024-05-29T05:30:00+05:30");
        check("-03:00", "2024-05-29T05:30+00:00", "2024-05-29T05:30:00Z", "2024-05-29T02:30:00-03:00");
        check("UTC", "0001-01-01", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z");
        check("UTC", "9999-12-30T23:59:59", "9999-12-30T23:59:59Z", "9999-12-30T23:59:59Z");
        assert_eq!(zone("+05:00").text(Instant::MAX.ticks()).unwrap(), "9999-12-31T23:59:59.9999999Z");
        assert_eq!(zone("UTC").text(u64::MAX), None);
        for wrong in ["", "Europe/Atlantis", "2", "+99:00", "Z2"] {
            assert!(Zone::parse(wrong).unwrap_err().contains(&format!("'{wrong}'")));
        }
        for wrong in ["", "yesterday", "10:56", "2024-13-01", "-0001-01-01"] {
            assert!(zone("UTC").read(wrong).unwrap_err().contains(&format!("'{wrong}'")));
        }
    }

    #[test]
    fn durations_are_those_of_queries() {
        assert_eq!(duration("15m"), Ok(9_000_000_000));
        assert_eq!(duration("1d12h"), Ok(36 * 36_000_000_000));
        assert_eq!(duration("250ms"), Ok(2_500_000));
        for wrong in ["", "15", "m", "15 m", "-15m", "15M", "0xff", "15m or 1", "1.5h", "now()"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
