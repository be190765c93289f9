//! `benchtool bench`

use std::hint::black_box;
use std::io::Write;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use comfy_table::{Table, presets};
use tamias::{Info, Query, RunOptions, Store};

use crate::cli::{BenchArgs, Clock, FromWhere, Reading};
use crate::failure::Failure;
use crate::measure::{Durations, Percentile, Stopwatch};
use crate::measured::{self, Measured, QUERY_CHARACTERS, Setting};
use crate::screen::Screen;
use crate::{output, signals, units};

/// The most of a query that the line of a running case shows, in characters.
const CASE_CHARACTERS: usize = 80;
/// So much of a query the table shows however narrow the terminal is.
const CUT_CHARACTERS: usize = 8;

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let text = std::fs::read(&args.cases).map_err(|error| Failure::file(&args.cases, &error))?;
    // A byte order mark is no part of the first query.
    let cases = parse_cases(&args.cases, text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text))?;
    let before = args.compare.as_deref().map(measured::read).transpose()?;
    let store = super::read(&args.store, &args.reading)?;
    let info = store.info()?;
    let BenchArgs { store: name, reading, runs, percentile, plain, threads, clock, from, .. } = args;
    let options = RunOptions { plain: *plain, threads: *threads, ..RunOptions::default() };
    let start = Start::of(*from, store, reading);
    let bench = Bench { start, name, runs: *runs, percentile: *percentile, clock: *clock, options };
    let mut out = output::stdout();
    let runs = bench.run(&info, &cases, Screen::of_stdout().columns(), &mut out)?;
    if args.save.is_none() && before.is_none() {
        return Ok(());
    }
    let now = bench.measured(&info, &cases, runs);
    if let Some(path) = &args.save {
        measured::save(&now, *percentile, path, name)?;
    }
    match before {
        Some(before) => measured::compare(&before, &now, *percentile, &mut out),
        None => Ok(()),
    }
}

/// A query to be measured.
pub(crate) struct Case {
    text: String,
    query: Query,
}

impl Case {
    pub(crate) fn new(text: &str) -> Result<Case, Failure> {
        Ok(Case { text: text.to_owned(), query: Query::prepare(text)? })
    }
}

/// The queries of a case file, one a line; all of them well-formed, or none.
fn parse_cases(file: &Path, bytes: &[u8]) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let place = format!("{}, line {number}", file.display());
        let Ok(line) = std::str::from_utf8(line) else {
            return Err(Failure::Input(format!("{place}: not UTF-8")));
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with("--") {
            continue;
        }
        match Query::prepare(line) {
            Ok(query) => cases.push(Case { text: line.to_owned(), query }),
            Err(error) => {
                // The query is one line, and which it is has been said.
                let error = error.to_string();
                let error =
                    error.strip_prefix("line 1, ").map_or(format!(": {error}"), |rest| format!(", {rest}"));
                return Err(Failure::Query(format!("{place}{error}")));
            }
        }
    }
    if cases.is_empty() {
        return Err(Failure::Input(format!("{} contains no query; write one per line", file.display())));
    }
    Ok(cases)
}

/// What a run begins with.
pub(crate) enum Start<'a> {
    /// A store that is open. A run that does not count has asked it the same.
    Warm(Store),
    /// Opening the store.
    Opening(&'a Reading),
    /// The same, none of its files in memory.
    #[cfg(target_os = "linux")]
    Disk(&'a Reading),
}

impl<'a> Start<'a> {
    /// The store is closed if it is opened anew for each run: what is mapped stays in memory.
    fn of(from: FromWhere, store: Store, reading: &'a Reading) -> Start<'a> {
        match from {
            FromWhere::Warm => Start::Warm(store),
            FromWhere::Opening => Start::Opening(reading),
            #[cfg(target_os = "linux")]
            FromWhere::Disk => Start::Disk(reading),
        }
    }

    fn from(&self) -> FromWhere {
        match self {
            Start::Warm(_) => FromWhere::Warm,
            Start::Opening(_) => FromWhere::Opening,
            #[cfg(target_os = "linux")]
            Start::Disk(_) => FromWhere::Disk,
        }
    }
}

/// Measures cases on a store.
pub(crate) struct Bench<'a> {
    pub(crate) start: Start<'a>,
    /// The store as the user calls it.
    pub(crate) name: &'a Path,
    pub(crate) runs: NonZeroU32,
    pub(crate) percentile: u8,
    pub(crate) clock: Clock,
    pub(crate) options: RunOptions,
}

/// What one run took and found.
struct Run {
    duration: Duration,
    hits: u64,
}

/// What all runs of a case took and found.
pub(crate) struct Runs {
    durations: Durations,
    hits: u64,
}

impl Bench<'_> {
    /// Prints the header with what the store is known to hold, a line a case while it runs, and the table. Returns the runs of each case.
    /// The table is no wider than so many columns, if the queries are all that has to be cut for it.
    pub(crate) fn run(
        &self,
        info: &Info,
        cases: &[Case],
        columns: Option<usize>,
        out: &mut impl Write,
    ) -> Result<Vec<Runs>, Failure> {
        let percentile = format!("p{}", units::ordinal(self.percentile));
        let range = match info.time_range {
            Some((first, last)) => format!("{first} to {last}"),
            None => "none".to_owned(),
        };
        let header = format!(
            "store: {:?}\nevents (count): {}\nvalue data (bytes): {}\ntimestamp range: {range}\nruns: {}\npercentile: \
             {percentile}",
            self.name.display().to_string(),
            info.events,
            info.bytes,
            self.runs,
        );
        output::write_line(out, &header)?;
        if self.options.threads > NonZeroUsize::MIN {
            output::write_line(out, &format!("threads: {}", self.options.threads))?;
        }
        if self.clock != Clock::Wall {
            output::write_line(out, &format!("clock: {}", self.clock.name()))?;
        }
        if self.start.from() != FromWhere::Warm {
            output::write_line(out, &format!("from: {}", self.start.from().name()))?;
        }

        let mut all = Vec::new();
        let mut rows = Vec::new();
        for (number, case) in (1..).zip(cases) {
            let text = units::cut(&case.text, CASE_CHARACTERS);
            write!(out, "(case {number:03}) {text}: ")
                .and_then(|()| out.flush())
                .map_err(|error| Failure::output(&error))?;
            let runs = self.case(case)?;
            let measured = runs.durations.percentile(self.percentile);
            let Percentile { at, to_slowest, to_fastest } = measured;
            let line =
                format!("{} ns (+{}/-{} ns)", at.as_nanos(), to_slowest.as_nanos(), to_fastest.as_nanos());
            output::write_line(out, &line)?;
            rows.push(table_row(number, &measured, runs.hits, info));
            all.push(runs);
        }
        output::write_line(out, &fitted(&percentile, &rows, cases, columns))?;
        Ok(all)
    }

    /// The runs of cases with what they depend on, to be saved or compared.
    fn measured(&self, info: &Info, cases: &[Case], runs: Vec<Runs>) -> Vec<Measured> {
        let setting = Setting {
            program: measured::program(),
            machine: measured::machine(),
            events: info.events,
            bytes: info.bytes,
            threads: self.options.threads.get() as u64,
            plain: self.options.plain,
            clock: self.clock.name().to_owned(),
            from: self.start.from().name().to_owned(),
        };
        let measured = |(case, Runs { durations, hits }): (&Case, Runs)| Measured {
            query: case.text.clone(),
            durations,
            hits,
            setting: setting.clone(),
        };
        cases.iter().zip(runs).map(measured).collect()
    }

    fn case(&self, case: &Case) -> Result<Runs, Failure> {
        if let Start::Warm(store) = &self.start {
            self.once(case, Stopwatch::start(self.clock), store)?; // Does not count: the data comes into memory here.
        }
        let first = self.run_of(case)?;
        let mut others = Vec::new();
        for _ in 1..self.runs.get() {
            others.push(self.run_of(case)?.duration);
        }
        Ok(Runs { durations: Durations::new(first.duration, others), hits: first.hits })
    }

    /// Runs the query once, from where a run begins.
    fn run_of(&self, case: &Case) -> Result<Run, Failure> {
        let opened = |reading| {
            let started = Stopwatch::start(self.clock);
            self.once(case, started, &super::read_quietly(self.name, reading)?)
        };
        match &self.start {
            Start::Warm(store) => self.once(case, Stopwatch::start(self.clock), store),
            Start::Opening(reading) => opened(reading),
            #[cfg(target_os = "linux")]
            Start::Disk(reading) => {
                forget(self.name)?;
                opened(reading)
            }
        }
    }

    /// Runs the query; every row is produced, and every cell's bytes are copied.
    fn once(&self, case: &Case, started: Stopwatch, store: &Store) -> Result<Run, Failure> {
        if signals::requested() {
            return Err(Failure::Interrupted("interrupted".to_owned()));
        }
        let mut copy = Vec::new();
        let mut rows = store.run_with(&case.query, self.options.clone())?;
        while let Some(row) = rows.next_row()? {
            copy.clear();
            for index in 0..row.len() {
                if let Some(json) = row.get(index).and_then(|cell| cell.json()) {
                    copy.extend_from_slice(json);
                }
            }
            black_box(copy.as_slice());
        }
        let duration = started.elapsed();
        Ok(Run { duration, hits: rows.stats().hits })
    }
}

/// Takes the files of a store out of the memory of the system. What another program has mapped stays there.
#[cfg(target_os = "linux")]
fn forget(folder: &Path) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| Failure::file(folder, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| Failure::file(folder, &error))?.path();
        if path.is_file() {
            std::fs::File::open(&path)
                .and_then(|file| Ok(rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?))
                .map_err(|error| Failure::file(&path, &error))?;
        }
    }
    Ok(())
}

/// The results as a table. Where it is wider than the columns that there are, queries are cut, and then some results left out.
fn fitted(percentile: &str, rows: &[[String; 6]], cases: &[Case], columns: Option<usize>) -> String {
    let time = format!("{percentile} (+/-)");
    let header = ["case", &time, "tp (events)", "tp (hits)", "hits", "tp (data)"];
    let longest = cases.iter().map(|case| case.text.chars().count()).max().unwrap_or(0).min(QUERY_CHARACTERS);
    let table = |shown: &[usize], over: usize| {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let picked = |from: &[&str]| -> Vec<String> {
            shown.iter().filter_map(|column| from.get(*column)).map(|text| (*text).to_owned()).collect()
        };
        table.set_header(picked(&header).into_iter().chain(["query".to_owned()]));
        for (row, case) in rows.iter().zip(cases) {
            // A bar would end the cell for whoever reads the table as Markdown.
            let query = units::cut(&case.text, longest.saturating_sub(over).max(CUT_CHARACTERS));
            let row = row.each_ref().map(String::as_str);
            table.add_row(picked(&row).into_iter().chain([query.replace('|', "\\|")]));
        }
        table.to_string()
    };
    let over = |table: &str| {
        let width = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        columns.map_or(0, |columns| width.saturating_sub(columns))
    };
    let cut = |shown: &[usize]| {
        let whole = table(shown, 0);
        match over(&whole) {
            0 => whole,
            over => table(shown, over),
        }
    };
    let all = cut(&[0, 1, 2, 3, 4, 5]);
    if over(&all) == 0 { all } else { cut(&[0, 1, 2, 4]) }
}

fn table_row(number: u32, measured: &Percentile, hits: u64, info: &Info) -> [String; 6] {
    let Percentile { at, to_slowest, to_fastest } = *measured;
    let (slower, faster) = (units::duration(to_slowest), units::duration(to_fastest));
    [
        format!("{number:03}"),
        format!("{} (+ {slower}/- {faster})", units::duration(at)),
        units::count_per_second(info.events, at),
        units::count_per_second(hits, at),
        units::percent(hits, info.events),
        units::bytes_per_second(info.bytes, at),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Vec<String>, String> {
        parse_cases(Path::new("cases"), text.as_bytes())
            .map(|cases| cases.into_iter().map(|case| case.text).collect())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn blank_lines_and_comments_are_skipped() {
        let cases =
            check("-- two\n\nselect A from stream\r\n  -- more\n  select B from stream -- b\n\t\n").unwrap();
        assert_eq!(cases, ["select A from stream", "select B from stream -- b"]);
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = check("select A from stream\n\nselect from stream\n").unwrap_err();
        assert!(error.starts_with("cases, line 3, column 8: "), "{error}");
        assert!(check("-- nothing\n").unwrap_err().starts_with("cases contains no query"));
        let failure = parse_cases(Path::new("cases"), b"\n\xff\n").err().unwrap();
        assert_eq!(failure.to_string(), "cases, line 2: not UTF-8");
    }
}
