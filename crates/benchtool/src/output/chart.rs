//! Groups as bars.

use std::borrow::Cow;
use std::io::Write;

use tamias::{Cell, Kind};
use unicode_width::UnicodeWidthStr;

use super::row::{Look, RowWriter, flush, shown_text, write};
use crate::failure::Failure;
use crate::units::{counted, fit, printable_line};

/// Where nobody says how wide the chart may be.
const COLUMNS_USUAL: usize = 80;

/// A number takes no more columns than this; other formats show it whole.
const NUMBER_COLUMNS_MAX: usize = 40;

/// More rows are no chart.
const ROWS_MAX: usize = 10_000;

/// Parts of a character, an eighth each.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// So many blanks stand between two labels.
const GAP: usize = 2;

/// Bars, a row each: the first column, and all that are no numbers, are their labels. Each column of numbers is a chart.
pub(super) struct ChartRows<'a> {
    look: Look<'a>,
    names: Vec<String>,
    rows: Vec<Vec<Field>>,
    /// Those of `group by time(…)`, in ticks.
    intervals: Vec<u64>,
    out: &'a mut dyn Write,
}

/// A value of a row.
struct Field {
    text: String,
    kind: Kind,
}

impl<'a> ChartRows<'a> {
    pub(super) fn new(columns: &[String], look: Look<'a>, out: &'a mut dyn Write) -> Self {
        let names = columns.iter().map(|name| printable_line(name).into_owned()).collect();
        ChartRows { look, names, rows: Vec::new(), intervals: Vec::new(), out }
    }

    /// Whether a column is one of numbers, to be shown as bars.
    fn is_series(&self, column: usize) -> bool {
        let is_label = column == 0 && self.names.len() > 1;
        let mut kinds = self.rows.iter().filter_map(|row| row.get(column)).map(|field| field.kind);
        let is_none = |kind| matches!(kind, Kind::Undefined | Kind::Null);
        !is_label
            && !self.look.shown.is_instant(column)
            && kinds.clone().any(|kind| kind == Kind::Number)
            && kinds.all(|kind| kind == Kind::Number || is_none(kind))
    }

    /// What stands before the bar of each row: the columns that are no series, each below the others of its kind.
    fn labels(&self, columns: &[usize]) -> Vec<String> {
        let text =
            |row: &[Field], column: usize| row.get(column).map_or(String::new(), |field| field.text.clone());
        let all: Vec<Vec<String>> =
            self.rows.iter().map(|row| columns.iter().map(|column| text(row, *column)).collect()).collect();
        let mut widths: Vec<usize> =
            (0..columns.len()).map(|at| widest(all.iter().map(|texts| texts[at].as_str()))).collect();
        // The widest is shortened first, so that the others are whole.
        let room = self.label_room().saturating_sub(GAP * columns.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room
            && let Some(widest) = widths.iter_mut().max()
            && *widest > 1
        {
            *widest -= 1;
        }
        let line = |texts: &Vec<String>| {
            let padded = texts.iter().zip(&widths).map(|(text, width)| {
                let text = fit(text, *width);
                let blanks = " ".repeat(width - text.width().min(*width));
                format!("{text}{blanks}")
            });
            padded.collect::<Vec<String>>().join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        all.iter().map(line).collect()
    }

    fn label_room(&self) -> usize {
        self.look.screen.columns().unwrap_or(COLUMNS_USUAL) / 2
    }

    fn chart(&self, column: usize, labels: &[String]) -> String {
        let width = self.look.screen.columns().unwrap_or(COLUMNS_USUAL);
        let texts: Vec<&str> =
            self.rows.iter().map(|row| row.get(column).map_or("", |field| field.text.as_str())).collect();
        let values: Vec<f64> = texts.iter().map(|text| text.parse().unwrap_or(0.0)).collect();
        let texts: Vec<Cow<'_, str>> =
            texts.into_iter().zip(&values).map(|(text, value)| shortened(text, *value)).collect();
        let greatest = values.iter().copied().fold(0.0, f64::max);
        let label_width = widest(labels.iter().map(String::as_str)).min(self.label_room());
        let text_width = widest(texts.iter().map(|text| &**text));
        let bar_width = width.saturating_sub(label_width + text_width + 4).max(1);
        let mut chart = self.names[column].clone();
        if values.iter().any(|value| *value < 0.0) {
            chart.push_str(" (values below zero have no bar)");
        }
        let gaps = gaps(&self.intervals).filter(|gaps| gaps.len() == self.rows.len());
        match left_out(&self.intervals) {
            empty if empty == 0 || gaps.is_some() => {}
            empty => chart.push_str(&format!(" ({} left out)", without_events(empty))),
        }
        chart.push('\n');
        for (row, ((label, text), value)) in labels.iter().zip(texts).zip(values).enumerate() {
            match gaps.as_ref().and_then(|gaps| gaps.get(row)) {
                None | Some(0) => {}
                Some(empty) => chart.push_str(&format!("⋮ {}\n", without_events(*empty))),
            }
            let label = fit(label, label_width);
            let blanks = " ".repeat(label_width - label.width().min(label_width));
            let share = if greatest > 0.0 { value / greatest } else { 0.0 };
            let line = format!("{label}{blanks} {text:>text_width$} {}", bar(share, bar_width));
            chart.push_str(line.trim_end());
            chart.push('\n');
        }
        chart
    }
}

/// A number as it is, or rounded to the thousandth where it has many digits.
fn shortened(text: &str, value: f64) -> Cow<'_, str> {
    match text.split_once('.') {
        Some((_, fraction)) if fraction.len() > 3 => {
            Cow::Owned(fit(&format!("{value:.3}"), NUMBER_COLUMNS_MAX).into_owned())
        }
        _ => fit(text, NUMBER_COLUMNS_MAX),
    }
}

/// How many intervals lie between these of which there are no events.
fn left_out(intervals: &[u64]) -> u64 {
    let mut intervals = intervals.to_vec();
    intervals.sort_unstable();
    intervals.dedup();
    gaps(&intervals).map_or(0, |gaps| gaps.iter().sum())
}

/// Before each of these intervals, how many there are without events; none where they do not follow one another in time, forwards or backwards.
/// They are as long as the shortest step from one to the next; where the clocks change a day is an hour shorter or longer, so of the steps
/// about that short the commonest counts.
fn gaps(intervals: &[u64]) -> Option<Vec<u64>> {
    if !intervals.is_sorted_by(|a, b| a < b) && !intervals.is_sorted_by(|a, b| a > b) {
        return None;
    }
    let steps: Vec<u64> = intervals.windows(2).map(|pair| pair[0].abs_diff(pair[1])).collect();
    let usual = usual_step(&steps) as f64;
    let lengths: Vec<f64> = steps.iter().map(|step| *step as f64 / usual).collect();
    if lengths.iter().any(|length| (length - length.round()).abs() >= 0.1) {
        return None;
    }
    Some(std::iter::once(0).chain(lengths.iter().map(|length| length.round() as u64 - 1)).collect())
}

/// The commonest of the steps that are at most a tenth longer than the shortest.
fn usual_step(steps: &[u64]) -> u64 {
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    let limit = steps.first().map_or(0, |shortest| shortest.saturating_add(shortest / 10));
    let alike = steps.chunk_by(|a, b| a == b).take_while(|alike| alike[0] <= limit);
    alike.max_by_key(|alike| (alike.len(), std::cmp::Reverse(alike[0]))).map_or(1, |alike| alike[0])
}

fn without_events(intervals: u64) -> String {
    format!("{} without events", counted(intervals, "interval"))
}

fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(|text| text.width()).max().unwrap_or(0)
}

/// A bar over a share of so many columns, to an eighth of one; something is shown of whatever is not nothing.
fn bar(share: f64, columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { eighths };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

impl RowWriter for ChartRows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        if self.rows.len() == ROWS_MAX {
            let text = format!(
                "a chart shows at most {ROWS_MAX} rows; group by something coarser, or add a `limit`"
            );
            return Err(Failure::Query(text));
        }
        let shown = self.look.shown;
        if shown.is_instant(0)
            && self.names.first().is_some_and(|name| name == "time")
            && let Some(json) = cells.first().and_then(|cell| cell.json())
        {
            self.intervals.extend(std::str::from_utf8(json).ok().and_then(|ticks| ticks.parse::<u64>().ok()));
        }
        let field = |(column, cell): (usize, &Cell<'_>)| Field {
            text: printable_line(&shown_text(*cell, column, shown)).into_owned(),
            kind: cell.kind(),
        };
        self.rows.push(cells.iter().enumerate().map(field).collect());
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let (series, labels): (Vec<usize>, Vec<usize>) =
            (0..self.names.len()).partition(|column| self.is_series(*column));
        if series.is_empty() && !self.rows.is_empty() {
            let text = "a chart needs a column of numbers, as in \
                        `select count(*) from stream group by time(1h)`";
            return Err(Failure::Query(text.to_owned()));
        }
        let labels = self.labels(&labels);
        for (index, column) in series.into_iter().enumerate() {
            let between = if index > 0 { "\n" } else { "" };
            let chart = self.chart(column, &labels);
            write(self.out, format!("{between}{chart}").as_bytes())?;
        }
        flush(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of 70,000 digits used to end the program.
    #[test]
    fn long_numbers_are_shortened() {
        for text in
            ["1".repeat(70_000), format!("{}.1234", "1".repeat(70_000)), format!("0.{}", "1".repeat(70_000))]
        {
            let short = shortened(&text, text.parse().unwrap()).into_owned();
            assert!(short.width() <= NUMBER_COLUMNS_MAX, "{short}");
        }
        assert_eq!(shortened("12.3456", 12.3456), "12.346");
    }

    #[test]
    fn intervals_without_events_are_counted() {
        assert_eq!(left_out(&[]), 0);
        assert_eq!(left_out(&[10]), 0);
        assert_eq!(left_out(&[30, 10, 20, 20]), 0);
        assert_eq!(left_out(&[10, 20, 50, 60, 80]), 3);
        // Days around a change of the clocks; and times that are no intervals.
        assert_eq!(left_out(&[0, 24, 47, 71, 96, 144]), 1);
        assert_eq!(left_out(&[0, 10, 25, 40]), 0);
    }

    /// Seven hours more than five days of 23 hours: nothing was told.
    #[test]
    fn a_day_of_23_hours_is_no_measure_of_the_others() {
        let day = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second() as u64;
        let begins = |day_of: &dyn Fn(i64) -> String| (0..9).map(|n| day(&day_of(n))).collect::<Vec<u64>>();
        // From 25 March to 2 April 2024 in Berlin; the 31st has 23 hours.
        let mut days = begins(&|n| match n {
            0..7 => format!("2024-03-{}T23:00:00Z", 24 + n),
            7 => "2024-03-31T22:00:00Z".to_owned(),
            _ => "2024-04-01T22:00:00Z".to_owned(),
        });
        days.extend([day("2024-04-06T22:00:00Z"), day("2024-04-07T22:00:00Z")]);
        assert_eq!(gaps(&days), Some(vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]));
        assert_eq!(gaps(&[0, 20, 40, 50]), Some(vec![0, 1, 1, 0]), "the commonest step is two intervals");
    }

    #[test]
    fn gaps_are_told_where_they_are() {
        assert_eq!(gaps(&[10, 20, 50, 60, 80]), Some(vec![0, 0, 2, 0, 1]));
        assert_eq!(gaps(&[80, 60, 50]), Some(vec![0, 1, 0]));
        assert_eq!(gaps(&[10]), Some(vec![0]));
        // Sorted by something else, and each interval for several groups.
        assert_eq!(gaps(&[10, 50, 20]), None);
        assert_eq!(gaps(&[10, 10, 20]), None);
    }

    #[test]
    fn bars_end_within_an_eighth() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.53125, 4), "██▏");
        assert_eq!(bar(0.0001, 4), "▏");
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(-3.0, 4), "");
    }
}
