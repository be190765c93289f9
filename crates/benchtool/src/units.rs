//! Numbers and texts for people.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `1.34 s`, `20.15 ms`, `7.00 µs` or `12 ns`.
pub(crate) fn duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos() as f64;
    match duration.as_nanos() {
        0..1000 => format!("{nanoseconds} ns"),
        1000..1_000_000 => format!("{:.2} µs", nanoseconds / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
    }
}

/// `349.86 MB/s`, in powers of ten.
pub(crate) fn bytes_per_second(bytes: u64, duration: Duration) -> String {
    let rate = bytes as f64 / seconds(duration);
    match rate {
        ..1e3 => format!("{rate:.0} B/s"),
        ..1e6 => format!("{:.2} kB/s", rate / 1e3),
        ..1e9 => format!("{:.2} MB/s", rate / 1e6),
        _ => format!("{:.2} GB/s", rate / 1e9),
    }
}

/// `20.00 MB`, in powers of ten.
pub(crate) fn bytes(bytes: u64) -> String {
    let amount = bytes as f64;
    match amount {
        ..1e3 => format!("{bytes} B"),
        ..1e6 => format!("{:.2} kB", amount / 1e3),
        ..1e9 => format!("{:.2} MB", amount / 1e6),
        _ => format!("{:.2} GB", amount / 1e9),
    }
}

/// `1 file`, `2 files`.
pub(crate) fn counted(number: impl Into<u64>, unit: &str) -> String {
    let number = number.into();
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// `1023584/s`, whole ones only.
pub(crate) fn count_per_second(count: u64, duration: Duration) -> String {
    format!("{}/s", u128::from(count) * 1_000_000_000 / duration.as_nanos().max(1))
}

/// A clock that did not move counts as a nanosecond.
fn seconds(duration: Duration) -> f64 {
    duration.max(Duration::from_nanos(1)).as_secs_f64()
}

/// `31%`; below one percent as many digits as it takes to show something.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0%".to_owned();
    }
    let percent = part as f64 / whole as f64 * 100.0;
    match percent {
        1.0.. => format!("{percent:.0}%"),
        0.01.. => format!("{percent:.2}%"),
        _ => "<0.01%".to_owned(),
    }
}

/// `90th`, `1st`, `22nd`, `13th`.
pub(crate) fn ordinal(number: u8) -> String {
    let suffix = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// The text in at most so many characters, the last of them `…` where it was cut. Line breaks and their kin become
/// spaces.
pub(crate) fn cut(text: &str, characters_max: usize) -> String {
    let mut cut: String = text
        .chars()
        .take(characters_max)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if text.chars().nth(characters_max).is_some() {
        cut.pop();
        cut.truncate(cut.trim_end().len());
        cut.push('…');
    }
    cut
}

/// The text with control characters spelt out, so that data cannot command a terminal. Line feeds and tabs stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escape(text, |character| is_unsafe(character) && !matches!(character, '\n' | '\t'))
}

/// The same for one line: line feeds and tabs are spelt out too.
pub(crate) fn printable_line(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// Whether a character commands a terminal, or makes text look like other text: control characters, those that turn the
/// direction of writing, and the two separators of lines and paragraphs (Unicode UAX #9, UTR #36).
fn is_unsafe(character: char) -> bool {
    let turns_direction = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns_direction || matches!(character, '\u{2028}' | '\u{2029}')
}

/// The text in at most so many columns of a terminal, the last of them `…` where it was cut. It has no control characters.
pub(crate) fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut taken = 0;
    let end = text.char_indices().find(|(_, character)| {
        taken += character.width().unwrap_or(0);
        taken >= columns
    });
    let end = end.map_or(text.len(), |(end, _)| end);
    Cow::Owned(format!("{}…", &text[..end]))
}

fn escape(text: &str, spelt_out: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&spelt_out) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            _ if !spelt_out(character) => escaped.push(character),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // Writing to a string never fails.
            _ => _ = write!(escaped, "\\u{:04x}", u32::from(character)),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_fitting_unit() {
        let text = |nanoseconds| duration(Duration::from_nanos(nanoseconds));
        assert_eq!(text(0), "0 ns");
        assert_eq!(text(999), "999 ns");
        assert_eq!(text(1000), "1.00 µs");
        assert_eq!(text(16_396_200), "16.40 ms");
        assert_eq!(text(1_338_111_000), "1.34 s");
        assert_eq!(text(83_000_000_000), "83.00 s");
    }

    #[test]
    fn rates_are_those_of_the_whole_second() {
        let second = Duration::from_nanos(1_338_111_000);
        assert_eq!(count_per_second(1_369_670, second), "1023584/s");
        assert_eq!(bytes_per_second(490_895_586, second), "366.86 MB/s");
        assert_eq!(bytes_per_second(8, Duration::from_secs(1)), "8 B/s");
        assert_eq!(bytes_per_second(16_500_000, Duration::from_millis(1)), "16.50 GB/s");
        assert_eq!(count_per_second(1, Duration::ZERO), "1000000000/s");
    }

    #[test]
    fn shares_never_pretend_to_be_nothing() {
        assert_eq!(percent(0, 0), "0%");
        assert_eq!(percent(0, 5), "0%");
        assert_eq!(percent(5, 5), "100%");
        assert_eq!(percent(427_600, 1_369_670), "31%");
        assert_eq!(percent(1, 1000), "0.10%");
        assert_eq!(percent(1, 1_369_670), "<0.01%");
    }

    #[test]
    fn ordinals_are_those_of_english() {
        let all: Vec<String> =
            [0, 1, 2, 3, 4, 11, 12, 13, 21, 90, 92, 100].into_iter().map(ordinal).collect();
        assert_eq!(
            all,
            ["0th", "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "90th", "92nd", "100th"]
        );
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("Zürich", 6), "Zürich");
        assert_eq!(cut("Zürich", 5), "Züri…");
        assert_eq!(cut("select Message from", 8), "select…");
        assert_eq!(cut("a\tb", 10), "a b");
    }

    #[test]
    fn fitting_counts_columns() {
        assert_eq!(fit("Zürich", 6), "Zürich");
        assert_eq!(fit("Zürich", 5), "Züri…");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("ab", 1), "…");
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\\u001b[31mb\nc");
        assert_eq!(printable("a\tb\u{9b}c"), "a\tb\\u009bc");
        assert_eq!(printable_line("a\nb\tc\rd\u{85}"), "a\\nb\\tc\\rd\\u0085");
        assert_eq!(printable_line("a\u{202e}b\u{2066}c\u{2028}"), "a\\u202eb\\u2066c\\u2028");
        assert_eq!(printable_line("שלום 👩\u{200d}💻"), "שלום 👩\u{200d}💻");
        assert!(matches!(printable_line("plain"), Cow::Borrowed("plain")));
    }
}
