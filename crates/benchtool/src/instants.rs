//! Instants as people write and read them: in a time zone.

use std::ops::RangeInclusive;

use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan, Zoned};
use tamias::{Instant, Query};

/// Ticks from the year 1 to 1970-01-01T00:00:00Z.
const UNIX_TICKS: i128 = 621_355_968_000_000_000;

const DAY_TICKS: u64 = 864_000_000_000;

/// The time zone in which instants are shown, and read where they name none.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    zone: TimeZone,
    name: String,
}

/// The zone of the system; UTC where it has none.
fn system() -> TimeZone {
    let zone = TimeZone::system();
    if zone.is_unknown() { TimeZone::UTC } else { zone }
}

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
            "local" => Some(system()),
            _ => TimeZone::get(text).ok().or_else(fixed),
        };
        let zone = zone.ok_or_else(|| {
            format!("'{text}' is not a time zone: write local, UTC, +02:00 or a name such as Europe/Berlin")
        })?;
        let name = match (zone.iana_name(), zone.to_fixed_offset()) {
            (Some(name), _) => name.to_owned(),
            (None, Ok(offset)) => offset.to_string(),
            (None, Err(_)) => {
                return Err("this system does not tell the name of its time zone, which queries need: write UTC, +02:00 or a \
                            name such as Europe/Berlin"
                    .to_owned());
            }
        };
        Ok(Zone { zone, name })
    }

    /// The name under which a query has it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The instant of ISO 8601 text; without an offset it is a time of this zone, without a time the beginning of the day.
    pub(crate) fn read(&self, text: &str) -> Result<Instant, String> {
        if let (true, Ok(instant)) = (self.zone == TimeZone::UTC, text.parse()) {
            return Ok(instant);
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return instant(timestamp).ok_or_else(|| outside(text));
        }
        let local = text.parse::<DateTime>().map_err(|_| {
            format!(
                "'{text}' is not a time: write 2024-05-29, 2024-05-29T10:56:01+02:00, 09:30, yesterday or -2h"
            )
        })?;
        let timestamp = self.zone.to_timestamp(local).map_err(|_| outside(text))?;
        instant(timestamp).ok_or_else(|| outside(text))
    }

    /// The instant that a text means, at this moment: as [`read`](Zone::read), or `now`, `today`, `yesterday`, `tomorrow` (their
    /// midnights), a time of today such as `09:30`, or how long ago it was, `-2h` or `-1d12h`.
    pub(crate) fn moment(&self, text: &str, now: Timestamp) -> Result<Instant, String> {
        let today = now.to_zoned(self.zone.clone());
        let day = |days: i64| today.checked_add(days.days()).and_then(|day| day.start_of_day());
        let zoned = match text {
            "now" => Ok(today.clone()),
            "today" => day(0),
            "yesterday" => day(-1),
            "tomorrow" => day(1),
            _ => {
                if let Some(ago) = text.strip_prefix('-').map(duration) {
                    return ago.map(|ticks| before(now, ticks));
                }
                match is_time_of_day(text).then(|| text.parse::<Time>().ok()).flatten() {
                    Some(time) => today.date().to_datetime(time).to_zoned(self.zone.clone()),
                    None => return self.read(text),
                }
            }
        };
        zoned.ok().and_then(|zoned| instant(zoned.timestamp())).ok_or_else(|| outside(text))
    }

    /// The instant from which on events are no older than a text says: a duration, or a [moment](Zone::moment).
    pub(crate) fn since(&self, text: &str, now: Timestamp) -> Result<Instant, String> {
        match duration(text) {
            Ok(ticks) => Ok(before(now, ticks)),
            Err(unlike)
                if text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains([':', '-']) =>
            {
                Err(unlike)
            }
            Err(_) => self.moment(text, now),
        }
    }

    /// The instant of so many ticks as ISO 8601 text with the zone's offset, `Z` for UTC; `None` past the year 9999.
    pub(crate) fn text(&self, ticks: u64) -> Option<String> {
        let instant = Instant::from_ticks(ticks)?;
        Some(self.formatted(instant, "%Y-%m-%dT%H:%M:%S%.f%:z").unwrap_or_else(|| instant.to_string()))
    }

    /// The same to the millisecond, always as long.
    fn short_text(&self, instant: Instant) -> String {
        let text = self.formatted(instant, "%Y-%m-%dT%H:%M:%S%.3f%:z");
        text.or_else(|| Some(strftime(timestamp(instant)?.to_zoned(TimeZone::UTC), "%Y-%m-%dT%H:%M:%S%.3fZ")))
            .unwrap_or_else(|| instant.to_string())
    }

    /// The instant as the clock shows it in this zone; none for UTC, and for what lies where the zone has no year.
    fn formatted(&self, instant: Instant, format: &str) -> Option<String> {
        let zoned = timestamp(instant).filter(|_| self.zone != TimeZone::UTC)?.to_zoned(self.zone.clone());
        (1..=9999).contains(&zoned.year()).then(|| strftime(zoned, format))
    }
}

fn strftime(zoned: Zoned, format: &str) -> String {
    zoned.strftime(format).to_string()
}

fn timestamp(instant: Instant) -> Option<Timestamp> {
    Timestamp::from_nanosecond((i128::from(instant.ticks()) - UNIX_TICKS) * 100).ok()
}

/// So many ticks earlier; the first instant of all if there is none.
fn before(now: Timestamp, ticks: u64) -> Instant {
    let now = instant(now).map_or(0, Instant::ticks);
    Instant::from_ticks(now.saturating_sub(ticks)).unwrap_or(Instant::MAX)
}

/// Whether a text is a time without a day: `9:30`, `09:30:15`.
fn is_time_of_day(text: &str) -> bool {
    text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'))
}

fn outside(text: &str) -> String {
    format!("'{text}' is outside the years 1 to 9999")
}

fn instant(timestamp: Timestamp) -> Option<Instant> {
    let ticks = timestamp.as_nanosecond().div_euclid(100) + UNIX_TICKS;
    u64::try_from(ticks).ok().and_then(Instant::from_ticks)
}

/// The ticks of a duration as queries have it: `15m`, `1d12h`; or of weeks or years, `2w`, `1y`.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    for (unit, days) in [('w', 7), ('y', 365)] {
        let count = text.strip_suffix(unit).filter(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(ticks) = count.and_then(|count| count.parse::<u64>().ok()?.checked_mul(days * DAY_TICKS))
        {
            return Ok(ticks);
        }
    }
    let is_literal = text.starts_with(|first: char| first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    let ticks = tamias::eval(text, "{}").ok().flatten().and_then(|ticks| ticks.parse().ok());
    ticks.filter(|_| is_literal && !text.starts_with("0x")).ok_or_else(|| {
        format!("'{text}' is not a duration: write 15m, 1d12h, 30s; the units are d, h, m, s, ms, and alone w and y")
    })
}

/// How the instants among the cells of a query are written.
#[derive(Debug)]
pub(crate) struct Shown {
    columns: Vec<bool>,
    zone: Zone,
    in_ticks: bool,
    timeline: Option<Timeline>,
}

/// The intervals of time that a query groups by.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// How long one is, in ticks.
    pub(crate) interval: u64,
    /// The instants that the query is restricted to, where each interval of these that has events has a row.
    pub(crate) period: Option<RangeInclusive<u64>>,
}

impl Shown {
    /// As ISO 8601 text of a zone, or as numbers of ticks.
    pub(crate) fn new(query: &Query, zone: &Zone, in_ticks: bool) -> Shown {
        let timeline = query.interval().map(|interval| Timeline {
            interval,
            period: (!query.leaves_out_groups()).then(|| query.instants()),
        });
        Shown { timeline, ..Shown::of_columns(query.instant_columns(), zone, in_ticks) }
    }

    /// The intervals of time that the rows are groups of.
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref()
    }

    /// The same for columns of which it is known whether they are instants.
    pub(crate) fn of_columns(columns: Vec<bool>, zone: &Zone, in_ticks: bool) -> Shown {
        Shown { columns, zone: zone.clone(), in_ticks, timeline: None }
    }

    /// Whether a column is one of instants.
    pub(crate) fn is_instant(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|is_instant| *is_instant)
    }

    /// The text of a cell that holds an instant, whose JSON text this is; none where the number is to be shown.
    pub(crate) fn text(&self, column: usize, json: &[u8]) -> Option<String> {
        let is_text = self.is_instant(column) && !self.in_ticks;
        let ticks = is_text.then(|| std::str::from_utf8(json).ok()?.parse().ok()).flatten()?;
        self.zone.text(ticks)
    }

    /// The time that a line of a log begins with.
    pub(crate) fn log_text(&self, instant: Instant) -> String {
        self.zone.short_text(instant)
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
        for wrong in ["", "eternity", "10:56", "2024-13-01", "-0001-01-01"] {
            assert!(zone("UTC").read(wrong).unwrap_err().contains(&format!("'{wrong}'")));
        }
    }

    #[test]
    fn moments_are_told_from_now() {
        // A Sunday on which the clocks in Berlin went back, at 13:56 there.
        let now: Timestamp = "2024-10-27T12:56:01Z".parse().unwrap();
        let moment = |text: &str| zone("Europe/Berlin").moment(text, now).unwrap().to_string();
        assert_eq!(moment("now"), "2024-10-27T12:56:01Z");
        assert_eq!(moment("today"), "2024-10-26T22:00:00Z");
        assert_eq!(moment("yesterday"), "2024-10-25T22:00:00Z");
        assert_eq!(moment("tomorrow"), "2024-10-27T23:00:00Z");
        assert_eq!(moment("09:30"), "2024-10-27T08:30:00Z");
        assert_eq!(moment("-2h"), "2024-10-27T10:56:01Z");
        assert_eq!(moment("2024-05-29"), "2024-05-28T22:00:00Z");
        let since = |text: &str| zone("Europe/Berlin").since(text, now).map(|instant| instant.to_string());
        assert_eq!(since("15m").as_deref(), Ok("2024-10-27T12:41:01Z"));
        assert_eq!(since("yesterday").as_deref(), Ok("2024-10-25T22:00:00Z"));
        assert_eq!(since("09:30").as_deref(), Ok("2024-10-27T08:30:00Z"));
        assert_eq!(since("2024-10-27").as_deref(), Ok("2024-10-26T22:00:00Z"));
        for wrong in ["", "25:00", "-", "-2", "last week", "2024-13-01"] {
            assert!(zone("UTC").moment(wrong, now).is_err(), "{wrong}");
        }
        assert!(since("15").unwrap_err().contains("is not a duration: write 15m"));
    }

    #[test]
    fn durations_are_those_of_queries() {
        assert_eq!(duration("15m"), Ok(9_000_000_000));
        assert_eq!(duration("1d12h"), Ok(36 * 36_000_000_000));
        assert_eq!(duration("250ms"), Ok(2_500_000));
        assert_eq!((duration("2w"), duration("1y")), (duration("14d"), duration("365d")));
        for wrong in [
            "",
            "15",
            "m",
            "15 m",
            "-15m",
            "15M",
            "0xff",
            "15m or 1",
            "1.5h",
            "now()",
            "w",
            "1w2d",
            "99999999999999y",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
