//! What `bench` measured: saved as events, one for each query, and compared with what was saved before.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use tamias::Instant;
use tamias_json::validate::minify_object;
use tamias_json::{Document, Map};

use crate::cli::FromWhere;
use crate::failure::Failure;
use crate::json_object::{JsonObject, json_array};
use crate::measure::Durations;
use crate::output::{self, Field, json_string};
use crate::output_file::OutputFile;
use crate::{tell, units};

/// So many percent of the runs tell how much times differ among themselves; the others met something else. HEURISTIC.
const MOST_RUNS: u8 = 90;

/// All runs of a case lie close together, and those of another minute beside them, by as much as this: other programs, and where memory
/// lies. HEURISTIC.
const DRIFT_PERCENT: u128 = 5;

/// The most of a query that a table shows, in characters.
pub(crate) const QUERY_CHARACTERS: usize = 60;

/// A query that was measured, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) query: String,
    pub(crate) durations: Durations,
    pub(crate) hits: u64,
    pub(crate) setting: Setting,
}

/// What the times of a query depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) program: String,
    pub(crate) machine: String,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) threads: u64,
    pub(crate) plain: bool,
    /// As the option spells it.
    pub(crate) clock: String,
    /// As the option spells it.
    pub(crate) from: String,
}

/// The version of this program, and a checksum of its file: two builds of a version differ in that.
pub(crate) fn program() -> String {
    let file = std::env::current_exe().and_then(fs::read);
    let build =
        file.map_or("unknown build".to_owned(), |bytes| format!("build {:08x}", crc32fast::hash(&bytes)));
    format!("{} ({build})", env!("CARGO_PKG_VERSION"))
}

/// The name of this machine and its processor, where the system tells them.
pub(crate) fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let named = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    let model = model.map_or("", |(_, model)| model.trim());
    format!("{}, {}", named(name.trim(), "unknown machine"), named(model, std::env::consts::ARCH))
}

/// Writes a file of events that [`read`] understands, and `ingest` as well.
pub(crate) fn save(cases: &[Measured], percentile: u8, path: &Path, store: &Path) -> Result<(), Failure> {
    let mut file = OutputFile::create(path, store)?;
    let time = json_string(&Instant::now().to_string());
    for case in cases {
        writeln!(file, "{}", event(case, percentile, &time)).map_err(|error| Failure::file(path, &error))?;
    }
    file.finish()
}

fn event(case: &Measured, percentile: u8, time: &str) -> String {
    let Measured { query, durations, hits, setting } = case;
    let milliseconds = durations.percentile(percentile).at.as_nanos() as f64 / 1e6;
    let runs = durations.all().iter().map(|duration| duration.as_nanos().to_string());
    JsonObject::new()
        .with("@t", time)
        .with("Query", &json_string(query))
        .with("Elapsed", &milliseconds.to_string())
        .numbers(&[("Percentile", percentile.into()), ("Hits", *hits)])
        .numbers(&[("Events", setting.events), ("Bytes", setting.bytes), ("Threads", setting.threads)])
        .with("Plain", &setting.plain.to_string())
        .with("Clock", &json_string(&setting.clock))
        .with("From", &json_string(&setting.from))
        .with("Program", &json_string(&setting.program))
        .with("Machine", &json_string(&setting.machine))
        .with("Nanoseconds", &json_array(runs))
        .done()
}

/// What was saved in a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Measured>, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::file(path, &error))?;
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let cases = lines.map(|(number, line)| {
        measured(line).ok_or_else(|| {
            let path = path.display();
            Failure::Input(format!("{path}, line {number} is not a result of `bench --save`"))
        })
    });
    cases.collect()
}

fn measured(line: &[u8]) -> Option<Measured> {
    let mut minified = Vec::new();
    minify_object(line, &Default::default(), &mut minified).ok()?;
    let document = Document::scan_trusted(&minified).ok()?;
    let event = document.root();
    let nanoseconds = event.get("Nanoseconds")?.as_array()?;
    let runs: Option<Vec<Duration>> = nanoseconds
        .iter()
        .map(|number| Some(Duration::from_nanos(number.as_number()?.text().parse().ok()?)))
        .collect();
    let mut runs = runs?.into_iter();
    let durations = Durations::new(runs.next()?, runs);
    let setting = Setting {
        program: text(&event, "Program")?,
        machine: text(&event, "Machine")?,
        events: number(&event, "Events")?,
        bytes: number(&event, "Bytes")?,
        threads: number(&event, "Threads")?,
        plain: event.get("Plain")?.as_bool()?,
        clock: text(&event, "Clock")?,
        // Earlier versions measured nothing else.
        from: text(&event, "From").unwrap_or_else(|| FromWhere::Warm.name().to_owned()),
    };
    Some(Measured { query: text(&event, "Query")?, durations, hits: number(&event, "Hits")?, setting })
}

fn number(event: &Map<'_>, key: &str) -> Option<u64> {
    event.get(key)?.as_number()?.text().parse().ok()
}

fn text(event: &Map<'_>, key: &str) -> Option<String> {
    Some(event.get(key)?.as_str()?.text().into_owned())
}

/// Prints the times of now beside those of before, and warns of what makes them differ for another reason.
pub(crate) fn compare(
    before: &[Measured],
    now: &[Measured],
    percentile: u8,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (mut rows, mut ratios, mut programs) = (Vec::new(), Vec::new(), Vec::new());
    for (number, now) in (1..).zip(now) {
        let Some(before) = before.iter().rfind(|before| before.query == now.query) else {
            tell::warning(format!("case {number:03} is not among the results to compare with"));
            continue;
        };
        let program = format!("before: {} on {}", before.setting.program, before.setting.machine);
        if !programs.contains(&program) {
            programs.push(program);
        }
        for difference in differences(before, now) {
            tell::warning(format!("case {number:03} was measured with {difference}"));
        }
        let [then, at] = [before, now].map(|case| case.durations.percentile(percentile).at);
        let ratio = then.as_nanos().max(1) as f64 / at.as_nanos().max(1) as f64;
        ratios.push(ratio);
        rows.push(vec![
            Field::number(&format!("{number:03}")),
            Field::number(&units::duration(then)),
            Field::number(&units::duration(at)),
            Field::number(&format!("{ratio:.2}")),
            Field::whole(verdict(&before.durations, &now.durations)),
            Field::text(&units::cut(&now.query, QUERY_CHARACTERS)),
        ]);
    }
    let names = ["case", "before", "now", "times as fast", "result", "query"].map(str::to_owned);
    if rows.is_empty() {
        return Ok(());
    }
    programs
        .extend(now.first().map(|now| format!("now: {} on {}", now.setting.program, now.setting.machine)));
    for program in programs {
        output::write_line(out, &program)?;
    }
    output::write_line(out, &output::fitted(&names, &rows))?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    output::write_line(out, &format!("geometric mean: {mean:.2} times as fast as before"))
}

/// Whether the times differ by more than those of either differ among themselves, and by more than from one minute to the next.
fn verdict(before: &Durations, now: &Durations) -> &'static str {
    let [before, now] = [before, now].map(|durations| {
        let most = durations.percentile(MOST_RUNS);
        (most.at - most.to_fastest, most.at)
    });
    let is_below = |one: (Duration, Duration), other: (Duration, Duration)| {
        one.1.as_nanos() * (100 + DRIFT_PERCENT) < other.0.as_nanos() * 100
    };
    match () {
        () if is_below(now, before) => "faster",
        () if is_below(before, now) => "slower",
        () => "same",
    }
}

/// How a case was measured before, where it is not as now.
fn differences(before: &Measured, now: &Measured) -> Vec<String> {
    let mut differences = Vec::new();
    let mut note = |differs: bool, text: String| differences.extend(differs.then_some(text));
    let (then, here) = (&before.setting, &now.setting);
    let are_same_events = (then.events, then.bytes) == (here.events, here.bytes);
    note(
        !are_same_events,
        format!("{} of {}", units::counted(then.events, "event"), units::bytes(then.bytes)),
    );
    note(then.machine != here.machine, format!("another machine: {}", then.machine));
    note(then.threads != here.threads, units::counted(then.threads, "thread"));
    note(then.clock != here.clock, format!("--clock {}", then.clock));
    note(then.from != here.from, format!("--from {}", then.from));
    note(then.plain && !here.plain, "--plain".to_owned());
    note(!then.plain && here.plain, "the optimised path".to_owned());
    note(are_same_events && before.hits != now.hits, units::counted(before.hits, "hit"));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(milliseconds: &[u64]) -> Durations {
        let mut durations = milliseconds.iter().map(|number| Duration::from_millis(*number));
        Durations::new(durations.next().unwrap(), durations)
    }

    fn case(query: &str) -> Measured {
        let setting = Setting {
            program: "1.0 (build 1)".to_owned(),
            machine: "m, CPU".to_owned(),
            events: 10,
            bytes: 3600,
            threads: 1,
            plain: false,
            clock: "wall".to_owned(),
            from: "warm".to_owned(),
        };
        Measured { query: query.to_owned(), durations: runs(&[3, 4, 5]), hits: 7, setting }
    }

    #[test]
    fn what_is_saved_is_read_again() {
        let case = case("select '\"\\ü' from stream");
        let line = event(&case, 90, "\"2026-11-23T00:00:00Z\"");
        assert_eq!(measured(line.as_bytes()), Some(case), "{line}");
    }

    #[test]
    fn what_bench_has_not_written_is_refused() {
        for line in
            ["{}", "[]", "x", r#"{"Query":"a","Nanoseconds":[]}"#, r#"{"Query":"a","Nanoseconds":["1"]}"#]
        {
            assert_eq!(measured(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn times_differ_if_those_of_most_runs_do() {
        let around =
            |middle: u64, slowest: u64| runs(&[&[middle; 5][..], &[middle + 2; 4], &[slowest]].concat());
        assert_eq!(verdict(&around(100, 110), &around(50, 300)), "faster");
        assert_eq!(verdict(&around(50, 300), &around(100, 110)), "slower");
        // One program on a busy machine, a minute later.
        assert_eq!(verdict(&around(100, 110), &around(105, 110)), "same");
        assert_eq!(verdict(&around(105, 110), &around(100, 110)), "same");
        assert_eq!(verdict(&runs(&[10, 11, 12]), &runs(&[11, 12, 13])), "same");
        assert_eq!(verdict(&runs(&[10]), &runs(&[10])), "same");
    }

    #[test]
    fn other_settings_are_named() {
        let (before, mut now) = (case("q"), case("q"));
        assert!(differences(&before, &now).is_empty());
        now.hits = 8;
        assert_eq!(differences(&before, &now), ["7 hits"]);
        now.setting.threads = 2;
        now.setting.events = 11;
        now.setting.from = "opening".to_owned();
        assert_eq!(differences(&before, &now), ["10 events of 3.60 kB", "1 thread", "--from warm"]);
    }

    #[test]
    fn results_of_before_runs_could_begin_elsewhere_are_read() {
        let case = case("q");
        let line = event(&case, 90, "\"2026-11-23T00:00:00Z\"").replace(r#","From":"warm""#, "");
        assert!(!line.contains("From"), "{line}");
        assert_eq!(measured(line.as_bytes()), Some(case));
    }
}
