//! What a query may take, as it is written on the command line: `5s`, `256MB`.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Units of time; a longer name before what it begins with.
const TIMES: [(&str, f64); 6] =
    [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0)];

/// Units of memory, those of ten and those of two, in any case.
const SIZES: [(&str, f64); 13] = [
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("t", 1e12),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1048576.0),
    ("gib", 1073741824.0),
    ("tib", 1099511627776.0),
    ("b", 1.0),
];

/// The longest time and the largest memory that can be asked for: a year, and a petabyte.
const SECONDS_MAX: f64 = 366.0 * 86400.0;
const BYTES_MAX: f64 = 1e15;

/// The largest batch of events.
const BATCH_BYTES_MAX: u32 = 128 << 20;

/// A time as `5s`, `1.5m` or `200ms`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let seconds = amount(text, &TIMES, SECONDS_MAX).ok_or("write a time, as in 5s, 200ms or 2m")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// A number of bytes as `256MB` or `1GiB`.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let bytes = amount(&text.to_ascii_lowercase(), &SIZES, BYTES_MAX)
        .ok_or("write a size, as in 256MB, 1.5GiB or 4096B")?;
    Ok(bytes as usize)
}

/// A number of bytes with a unit, or without.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(bytes) => Ok(bytes),
        Err(_) => bytes(text).map(|bytes| bytes as u64),
    }
}

/// The same for what is held in memory at once.
pub(crate) fn batch(text: &str) -> Result<u32, String> {
    let bytes = size(text)?;
    let fitting = u32::try_from(bytes).ok().filter(|bytes| (1..=BATCH_BYTES_MAX).contains(bytes));
    fitting.ok_or_else(|| format!("{bytes} bytes is not between 1B and 128MiB"))
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "write a number, 1 or more; no more than 256 are used".to_owned())
}

/// A positive number with one of the units, in the smallest of them.
fn amount(text: &str, units: &[(&str, f64)], most: f64) -> Option<f64> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let (_, size) = units.iter().find(|(name, _)| *name == unit)?;
    let number = number.trim_end();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let amount = number.parse::<f64>().ok().filter(|_| is_plain)? * size;
    (amount > 0.0 && amount <= most).then_some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        assert_eq!(time("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(time("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(bytes("256MB"), Ok(256_000_000));
        assert_eq!(bytes("1 GiB"), Ok(1 << 30));
        assert_eq!(bytes("4096B"), Ok(4096));
        assert_eq!((bytes("20G"), bytes("20gb")), (Ok(20_000_000_000), Ok(20_000_000_000)));
        for wrong in ["", "5", "s", "-5s", "0s", "5 days", "1e3s", "nans", "infs", "9999999999h", "5S"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert_eq!((size("500"), size("20GiB")), (Ok(500), Ok(20 << 30)));
        assert_eq!((batch("4MiB"), batch("128MiB")), (Ok(4 << 20), Ok(128 << 20)));
        assert!(batch("0").is_err() && batch("129MiB").is_err() && batch("1e3").is_err());
        for wrong in ["256", "MB", "256mbit", "-1MB", "1e9GB", "99999999GB", "0B"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
