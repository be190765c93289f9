//! Groups as bars.

use std::borrow::Cow;
use std::io::Write;

use tamias::{Cell, Kind};
use unicode_width::UnicodeWidthStr;

use super::line_chart::{LineChart, Series};
use super::row::{Look, RowWriter, flush, shown_text, write};
use crate::failure::Failure;
use crate::instants::Timeline;
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

    /// The bars of a column. Where it is not known what `gaps` are, so many intervals were `left_out`.
    fn chart(&self, column: usize, labels: &[String], gaps: Option<&[u64]>, left_out: u64) -> String {
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
        if left_out > 0 {
            chart.push_str(&format!(" ({} left out)", without_events(left_out)));
        }
        chart.push('\n');
        let gap = |row: usize| match gaps.and_then(|gaps| gaps.get(row)) {
            None | Some(0) => String::new(),
            Some(empty) => format!("⋮ {}\n", without_events(*empty)),
        };
        for (row, ((label, text), value)) in labels.iter().zip(texts).zip(values).enumerate() {
            chart.push_str(&gap(row));
            let label = fit(label, label_width);
            let blanks = " ".repeat(label_width - label.width().min(label_width));
            let share = if greatest > 0.0 { value / greatest } else { 0.0 };
            let line = format!("{label}{blanks} {text:>text_width$} {}", bar(share, bar_width));
            chart.push_str(line.trim_end());
            chart.push('\n');
        }
        chart.push_str(&gap(self.rows.len()));
        chart
    }

    /// Several columns of numbers over time, where one scale shows all of them.
    fn lines(&self, series: &[usize], labels: &[usize], gaps: Option<&[u64]>) -> Option<LineChart<'_>> {
        // Those at the edges are left out: the times below the ends are those of the first and the last row.
        let mut between = gaps?.get(1..self.rows.len())?.to_vec();
        if series.len() < 2 || labels != [0] || self.rows.len() < 2 {
            return None;
        }
        // From left to right, whatever the order of the rows.
        let mut rows: Vec<&Vec<Field>> = self.rows.iter().collect();
        if !self.intervals.is_sorted() {
            rows.reverse();
            between.reverse();
        }
        let value = |row: &[Field], column: usize| -> Option<f64> {
            let field = row.get(column).filter(|field| field.kind == Kind::Number)?;
            field.text.parse().ok().filter(|value: &f64| value.is_finite())
        };
        let series = series.iter().map(|column| Series {
            name: &self.names[*column],
            values: rows.iter().map(|row| value(row, *column)).collect(),
        });
        // Each interval is one behind the last, and behind those without events.
        let mut places = vec![0];
        places.extend(between.iter().scan(0, |place, gap| {
            *place += gap + 1;
            Some(*place)
        }));
        let intervals = places.last()? + 1;
        let time = |row: Option<&&Vec<Field>>| {
            row.and_then(|row| row.first()).map_or(String::new(), |field| field.text.clone())
        };
        let ends = [time(rows.first()), time(rows.last())];
        LineChart::new(series.collect(), places, intervals, ends)
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

/// How many intervals of a timeline lie between these of which there are no events.
fn left_out(intervals: &[u64], timeline: Option<&Timeline>) -> u64 {
    let mut intervals = intervals.to_vec();
    intervals.sort_unstable();
    intervals.dedup();
    gaps(&intervals, timeline).map_or(0, |gaps| gaps.iter().sum())
}

/// Before each of these intervals, and behind the last, how many there are without events; none where they do not follow one another in time,
/// forwards or backwards. Where the clocks change a day is an hour shorter or longer.
fn gaps(intervals: &[u64], timeline: Option<&Timeline>) -> Option<Vec<u64>> {
    let is_ascending = intervals.is_sorted_by(|a, b| a < b);
    if !is_ascending && !intervals.is_sorted_by(|a, b| a > b) {
        return None;
    }
    let (Timeline { interval, period }, first, last) = (timeline?, *intervals.first()?, *intervals.last()?);
    let lengths = |ticks: u64| ticks as f64 / *interval as f64;
    let between = intervals.windows(2).map(|pair| {
        let length = lengths(pair[0].abs_diff(pair[1])).round() as u64;
        length.saturating_sub(1)
    });
    // At the edges a part of an interval is one as well, but not an hour of a day.
    let part = |ticks: u64| (lengths(ticks) - 0.1).ceil().max(0.0) as u64;
    let bounds = period.as_ref().map(|period| (*period.start(), *period.end()));
    let (earliest, latest) = (first.min(last), first.max(last));
    let before =
        bounds.filter(|(start, _)| *start > 0).map_or(0, |(start, _)| part(earliest.saturating_sub(start)));
    let after = bounds
        .filter(|(_, end)| *end < u64::MAX)
        .map_or(0, |(_, end)| part((end + 1).saturating_sub(latest.saturating_add(*interval))));
    let (before, after) = if is_ascending { (before, after) } else { (after, before) };
    Some(std::iter::once(before).chain(between).chain([after]).collect())
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
        let columns = self.look.screen.columns().unwrap_or(COLUMNS_USUAL);
        let timeline = self.look.shown.timeline();
        let gaps = gaps(&self.intervals, timeline).filter(|gaps| gaps.len() == self.rows.len() + 1);
        let lines = self.lines(&series, &labels, gaps.as_deref());
        if let Some(drawn) = lines.map(|lines| lines.draw(columns, self.look.screen.has_color)) {
            write(self.out, drawn.as_bytes())?;
            return flush(self.out);
        }
        let labels = self.labels(&labels);
        let left_out = if gaps.is_some() { 0 } else { left_out(&self.intervals, timeline) };
        for (index, column) in series.into_iter().enumerate() {
            let between = if index > 0 { "\n" } else { "" };
            let chart = self.chart(column, &labels, gaps.as_deref(), left_out);
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

    fn of(interval: u64) -> Timeline {
        Timeline { interval, period: None }
    }

    #[test]
    fn intervals_without_events_are_counted() {
        let left_out = |intervals: &[u64], interval| left_out(intervals, Some(&of(interval)));
        assert_eq!(left_out(&[], 10), 0);
        assert_eq!(left_out(&[10], 10), 0);
        assert_eq!(left_out(&[30, 10, 20, 20], 10), 0);
        assert_eq!(left_out(&[10, 20, 50, 60, 80], 10), 3);
        // Days around a change of the clocks.
        assert_eq!(left_out(&[0, 24, 47, 71, 96, 144], 24), 1);
        assert_eq!(super::left_out(&[0, 10], None), 0);
    }

    /// Of every second interval the step was taken for the interval, and nothing was told.
    #[test]
    fn gaps_are_told_where_they_are() {
        let gaps = |intervals: &[u64], timeline: Timeline| gaps(intervals, Some(&timeline));
        assert_eq!(gaps(&[10, 20, 50, 60, 80], of(10)), Some(vec![0, 0, 2, 0, 1, 0]));
        assert_eq!(gaps(&[0, 20, 40], of(10)), Some(vec![0, 1, 1, 0]));
        assert_eq!(gaps(&[80, 60, 50], of(10)), Some(vec![0, 1, 0, 0]));
        assert_eq!(gaps(&[10], of(10)), Some(vec![0, 0]));
        // Sorted by something else, and each interval for several groups.
        assert_eq!(gaps(&[10, 50, 20], of(10)), None);
        assert_eq!(gaps(&[10, 10, 20], of(10)), None);
        // At the edges of the period that was asked for.
        let within = |start, end| Timeline { interval: 10, period: Some(start..=end) };
        assert_eq!(gaps(&[30, 40], within(10, 79)), Some(vec![2, 0, 3]));
        assert_eq!(gaps(&[40, 30], within(15, 71)), Some(vec![3, 0, 2]));
        assert_eq!(gaps(&[30, 40], within(30, 49)), Some(vec![0, 0, 0]));
        assert_eq!(gaps(&[30, 40], within(0, u64::MAX)), Some(vec![0, 0, 0]));
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
