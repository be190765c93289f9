//! Several series of numbers over time, as lines on one scale.

use unicode_width::UnicodeWidthStr;

use crate::units::fit;

/// Columns of numbers with a name.
pub(super) struct Series<'c> {
    pub(super) name: &'c str,
    /// By row; none where there is no number.
    pub(super) values: Vec<Option<f64>>,
}

/// Lines from left to right, each with its name at its end.
pub(super) struct LineChart<'c> {
    series: Vec<Series<'c>>,
    /// By row, the place of its interval among all.
    places: Vec<u64>,
    /// How many intervals there are, those without events included.
    intervals: u64,
    /// The first and the last row's times.
    ends: [String; 2],
    least: f64,
    greatest: f64,
}

/// Lines of text for the lines to be drawn in.
const HEIGHT: usize = 12;
/// More lines cannot be told apart.
const SERIES_MAX: usize = 6;
/// HEURISTIC: what is never larger than this share of the greatest value would look like nothing beside it.
const SHARE_MIN: f64 = 0.02;
/// The names of series take no more columns.
const NAME_COLUMNS_MAX: usize = 24;
const PLOT_COLUMNS_MIN: usize = 10;

/// A character of Braille has dots in two columns and four rows; these are the bits of each.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
const BRAILLE: u32 = 0x2800;

const COLORS: [&str; SERIES_MAX] = ["\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[31m"];
const PLAIN: &str = "\x1b[0m";

impl<'c> LineChart<'c> {
    /// None where lines on one scale would not show the series.
    pub(super) fn new(
        series: Vec<Series<'c>>,
        places: Vec<u64>,
        intervals: u64,
        ends: [String; 2],
    ) -> Option<LineChart<'c>> {
        let extent = |series: &Series<'_>| {
            series.values.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()))
        };
        let all = || series.iter().flat_map(|series| series.values.iter().flatten().copied());
        let (least, greatest) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
        let largest = series.iter().map(extent).fold(0.0, f64::max);
        let has_room = series.len() <= SERIES_MAX && greatest > least;
        let are_alike = series.iter().all(|series| extent(series) >= largest * SHARE_MIN);
        (has_room && are_alike).then_some(LineChart { series, places, intervals, ends, least, greatest })
    }

    /// In so many columns of a terminal.
    pub(super) fn draw(&self, columns: usize, has_color: bool) -> String {
        let scale = [self.greatest, (self.least + self.greatest) / 2.0, self.least].map(number);
        let scale_width = scale.iter().map(|text| text.width()).max().unwrap_or(0);
        let names: Vec<_> = self.series.iter().map(|series| fit(series.name, NAME_COLUMNS_MAX)).collect();
        let name_width = names.iter().map(|name| name.width()).max().unwrap_or(0);
        let width = columns.saturating_sub(scale_width + name_width + 4).max(PLOT_COLUMNS_MIN);
        let mut plot = Plot { cells: vec![Cell::default(); width * HEIGHT], width };
        for (number, series) in self.series.iter().enumerate() {
            self.draw_series(number, series, &mut plot);
        }
        let named = self.names_by_row();
        let color = |series: Option<usize>, text: &str| match series
            .filter(|_| has_color)
            .and_then(|of| COLORS.get(of))
        {
            Some(color) => format!("{color}{text}{PLAIN}"),
            None => text.to_owned(),
        };
        let mut chart = String::new();
        for row in 0..HEIGHT {
            let label = match row {
                0 => &*scale[0],
                row if row == HEIGHT / 2 => &*scale[1],
                row if row == HEIGHT - 1 => &*scale[2],
                _ => "",
            };
            let axis = if label.is_empty() { '│' } else { '┤' };
            let cells: Vec<Cell> = plot.cells.iter().skip(row * width).take(width).copied().collect();
            // What is of one series is coloured at once.
            let drawn: String = cells
                .chunk_by(|a, b| a.series == b.series)
                .map(|alike| {
                    let text: String = alike.iter().map(|cell| cell.character()).collect();
                    color(alike.first().and_then(|cell| cell.series), &text)
                })
                .collect();
            let name = named.get(row).copied().flatten();
            let name = name.map_or(String::new(), |of| color(Some(of), &names[of]));
            chart.push_str(format!("{label:>scale_width$} {axis}{drawn} {name}").trim_end());
            chart.push('\n');
        }
        let blanks = " ".repeat(scale_width + 1);
        let [first, last] = &self.ends;
        let gap = " ".repeat(width.saturating_sub(first.width() + last.width()).max(2));
        chart.push_str(&format!("{blanks}└{}\n{blanks} {first}{gap}{last}\n", "─".repeat(width)));
        chart
    }

    /// The row of dots, from above, that shows a value.
    fn height(&self, value: f64) -> usize {
        let share = (self.greatest - value) / (self.greatest - self.least);
        (share.clamp(0.0, 1.0) * (HEIGHT * 4 - 1) as f64).round() as usize
    }

    fn draw_series(&self, number: usize, series: &Series<'_>, plot: &mut Plot) {
        let steps = self.intervals.saturating_sub(1).max(1) as f64;
        let across = |place: u64| (place as f64 / steps * (plot.width * 2 - 1) as f64).round() as usize;
        let points: Vec<Option<(u64, usize, usize)>> = self
            .places
            .iter()
            .zip(&series.values)
            .map(|(place, value)| Some((*place, across(*place), self.height((*value)?))))
            .collect();
        for (index, point) in points.iter().enumerate() {
            let Some((place, x, y)) = *point else { continue };
            // Nothing is drawn over intervals without events.
            let before = index.checked_sub(1).and_then(|before| points[before]);
            match before.filter(|(before, ..)| before + 1 == place) {
                Some((_, from_x, from_y)) => plot.line((from_x, from_y), (x, y), number),
                None => plot.dot(x, y, number),
            }
        }
    }

    /// By row, the series whose name stands there: where its line ends, or as near to that as there is room.
    fn names_by_row(&self) -> Vec<Option<usize>> {
        let last = |series: &Series<'_>| series.values.iter().rev().flatten().next().copied();
        let mut ends: Vec<(usize, usize)> = self
            .series
            .iter()
            .enumerate()
            .filter_map(|(number, series)| Some((self.height(last(series)?) / 4, number)))
            .collect();
        ends.sort_unstable();
        let mut named = vec![None; HEIGHT];
        let mut next = 0;
        let count = ends.len();
        for (index, (row, number)) in ends.into_iter().enumerate() {
            let row = row.max(next).min(HEIGHT - (count - index));
            named[row] = Some(number);
            next = row + 1;
        }
        named
    }
}

/// What is drawn in.
struct Plot {
    cells: Vec<Cell>,
    width: usize,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    /// The one that was drawn last.
    series: Option<usize>,
}

impl Cell {
    fn character(&self) -> char {
        match self.dots {
            0 => ' ',
            dots => char::from_u32(BRAILLE + u32::from(dots)).unwrap_or(' '),
        }
    }
}

impl Plot {
    fn dot(&mut self, x: usize, y: usize, series: usize) {
        if let Some(cell) = self.cells.get_mut(y / 4 * self.width + x / 2) {
            cell.dots |= DOTS[y % 4][x % 2];
            cell.series = Some(series);
        }
    }

    /// Dots from one place to another, without a gap.
    fn line(&mut self, (x, y): (usize, usize), (to_x, to_y): (usize, usize), series: usize) {
        let steps = to_x.abs_diff(x).max(to_y.abs_diff(y)).max(1);
        let between = |from: usize, to: usize, step: usize| {
            let share = step as f64 / steps as f64;
            (from as f64 + (to as f64 - from as f64) * share).round() as usize
        };
        (0..=steps).for_each(|step| self.dot(between(x, to_x, step), between(y, to_y, step), series));
    }
}

/// A number of the scale, with no more digits than it takes.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        100.0.. => format!("{value:.0}"),
        1.0.. => trimmed(format!("{value:.1}")),
        _ => trimmed(format!("{value:.4}")),
    }
}

fn trimmed(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series<'c>(name: &'c str, values: &[Option<f64>]) -> Series<'c> {
        Series { name, values: values.to_vec() }
    }

    fn lines<'c>(all: Vec<Series<'c>>) -> Option<LineChart<'c>> {
        let rows = all[0].values.len() as u64;
        LineChart::new(all, (0..rows).collect(), rows, ["first", "last"].map(str::to_owned))
    }

    #[test]
    fn each_line_has_its_name_where_it_ends() {
        let rising: Vec<Option<f64>> = (0..9).map(|n| Some(f64::from(n))).collect();
        let level = vec![Some(4.0); 9];
        let chart = lines(vec![series("p99", &rising), series("p50", &level)]).unwrap().draw(40, false);
        let rows: Vec<&str> = chart.lines().collect();
        assert_eq!(rows.len(), HEIGHT + 2);
        assert!(rows[0].starts_with("8 ┤") && rows[0].ends_with(" p99"), "{chart}");
        assert!(rows[11].starts_with("0 ┤"), "{chart}");
        assert!(rows.iter().any(|row| row.ends_with(" p50")), "{chart}");
        assert!(rows.iter().all(|row| row.width() <= 40), "{chart}");
        assert!(rows[13].contains("first") && rows[13].ends_with("last"), "{chart}");
    }

    #[test]
    fn names_of_lines_that_end_together_stand_below_each_other() {
        let same = [Some(1.0), Some(1.0)];
        let zero = [Some(0.0), Some(0.0)];
        let chart = lines(vec![series("a", &same), series("b", &same), series("c", &same)]).unwrap();
        assert_eq!(chart.names_by_row()[..3], [Some(0), Some(1), Some(2)]);
        assert!(lines(vec![series("a", &zero), series("b", &zero)]).is_none());
    }

    #[test]
    fn series_of_other_sizes_share_no_scale() {
        let [counts, times] = [[Some(90_000.0), Some(80_000.0)], [Some(12.5), Some(14.0)]];
        assert!(lines(vec![series("n", &counts), series("p95", &times)]).is_none());
        let [some, none] = [[Some(1.0), None], [None, Some(2.0)]];
        assert!(lines(vec![series("a", &some), series("b", &none)]).is_some());
    }

    #[test]
    fn numbers_of_a_scale_are_short() {
        assert_eq!(
            [0.0, 1234.56, 12.34, 2.0, 0.12345, -3.5].map(number),
            ["0", "1235", "12.3", "2", "0.1235", "-3.5"]
        );
    }
}
