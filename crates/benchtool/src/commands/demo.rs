//! `benchtool demo`

use std::io::Write;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Instant;

use tamias::{Batch, EventFormat, RunOptions, Store};
use tamias_testdata::Generator;

use crate::cli::{BATCH_BYTES, Clock, DemoArgs, Segments};
use crate::commands::bench::{Bench, Case, Start};
use crate::failure::Failure;
use crate::screen::Screen;
use crate::tell::tell;
use crate::writer::Writer;
use crate::{output, progress, signals, units};

const QUERIES: [&str; 2] = [
    "select Message from stream where Elapsed > 200",
    "select Message from stream where match(Message, '/api/customers')",
];

const RUNS: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");
const PERCENTILE: u8 = 90;
const SEED: u64 = 1;

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    signals::catch()?;
    let mut out = output::stdout();
    // As it was called: someone who tries this has hardly installed it.
    let tool = std::env::args().next().unwrap_or_else(|| "benchtool".to_owned());
    let kept = args.keep.as_deref();
    let known = match kept {
        Some(folder) => present(folder, args.events)?.map(|store| (store, folder)),
        None => None,
    };
    match known {
        Some((store, folder)) => {
            tell!("The store already has these events: measuring them.");
            measure(store, folder, &mut out)?;
        }
        None => {
            let each = [Segments::Text, Segments::Columns];
            for segments in each.into_iter().filter(|it| args.segments.is_none_or(|asked| asked == *it)) {
                let is_kept = segments == args.segments.unwrap_or_default();
                match kept.filter(|_| is_kept) {
                    Some(folder) => demo(segments, folder, args.events, &mut out)?,
                    None => {
                        let temporary =
                            tempfile::Builder::new().prefix("tamias-demo-").tempdir().map_err(|error| {
                                Failure::Io(format!("cannot create a temporary folder: {error}"))
                            })?;
                        demo(segments, temporary.path(), args.events, &mut out)?;
                    }
                }
            }
        }
    }
    let next = match kept {
        Some(folder) => {
            format!("The store is kept in {}. Try next:\n{}", folder.display(), suggestions(&tool, folder))
        }
        None => {
            let kept = Path::new("shop-logs");
            let keep = format!("  {tool} demo --keep {}\n", kept.display());
            format!("The stores have been removed. Try next:\n{keep}{}", suggestions(&tool, kept))
        }
    };
    output::write_line(&mut out, &format!("\n{next}"))
}

/// What to ask a store of generated events.
const NEXT_QUERIES: [&str; 3] = [
    "select Message, Elapsed from stream where Elapsed > 3000 limit 10",
    "select count(*) from stream group by @Level",
    "select mean(Elapsed), max(Elapsed) from stream where RequestPath like '/api/%' group by time(1d)",
];

fn suggestions(tool: &str, store: &Path) -> String {
    let mut lines = String::new();
    for query in NEXT_QUERIES {
        lines.push_str(&format!("  {tool} query {} \"{query}\"\n", store.display()));
    }
    lines + &format!("  {tool} ingest my-logs my-events.clef")
}

/// The store that a folder has, if it holds these events; none if it holds no event.
fn present(folder: &Path, events: u64) -> Result<Option<Store>, Failure> {
    // To measure what is there it need not be written, and somebody else may be writing it.
    match Store::open_read_only(folder).and_then(|store| Ok((store.info()?.events, store))) {
        Ok((present, store)) if present == events => Ok(Some(store)),
        Ok((present, _)) if present > 0 => Err(Failure::Usage(format!(
            "{} holds {present} events, not {events}: name another folder, or use --events {present} to measure these",
            folder.display()
        ))),
        _ => Ok(None),
    }
}

/// Stores events, and measures the queries.
fn demo(segments: Segments, folder: &Path, events: u64, out: &mut impl Write) -> Result<(), Failure> {
    let store = Store::open_with(folder, segments.options())?;
    fill(&store, segments, events)?;
    let info = store.info()?;
    let files: u64 = info.segments.iter().map(|segment| segment.file_bytes).sum();
    let (megabytes, share) = (files as f64 / 1e6, files as f64 * 100.0 / info.bytes.max(1) as f64);
    let size =
        format!("\nsegments: {}, {megabytes:.1} MB on disk, {share:.1}% of the documents", segments.name());
    output::write_line(out, &size)?;
    measure(store, folder, out)
}

fn measure(store: Store, folder: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let cases = QUERIES.iter().map(|text| Case::new(text)).collect::<Result<Vec<Case>, Failure>>()?;
    let options = RunOptions::default();
    let info = store.info()?;
    let start = Start::Warm(store);
    Bench { start, name: folder, runs: RUNS, percentile: PERCENTILE, clock: Clock::Wall, options }.run(
        &info,
        &cases,
        Screen::of_stdout().columns(),
        out,
    )?;
    Ok(())
}

fn fill(store: &Store, segments: Segments, events: u64) -> Result<(), Failure> {
    let (bytes, segments) = (events.saturating_mul(360) / 1_000_000, segments.name());
    tell!("Generating and storing {events} events, about {bytes} MB, as {segments}…");
    let started = Instant::now();
    let bar = progress::events("storing", events);
    let format = EventFormat::clef();
    let (mut generator, mut line, mut batch) = (Generator::new(SEED, events), Vec::new(), Batch::new());
    let mut writer = Writer::new(store.clone(), Batch::new());
    let mut bytes = 0;
    while generator.write_next(&mut line) {
        batch.push(&line, &format).map_err(|rejection| Failure::Input(rejection.to_string()))?;
        bytes += line.len() as u64;
        line.clear();
        if batch.bytes() >= BATCH_BYTES as usize || generator.remaining() == 0 {
            if signals::requested() {
                return Err(Failure::Interrupted("interrupted".to_owned()));
            }
            bar.inc(batch.len() as u64);
            writer.store(&mut batch, None)?;
        }
    }
    writer.settle()?;
    store.seal()?;
    bar.finish_and_clear();
    let elapsed = started.elapsed();
    tell!("Stored in {}, {}.", units::duration(elapsed), units::bytes_per_second(bytes, elapsed));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queries_are_well_formed() {
        for text in QUERIES.iter().chain(&NEXT_QUERIES) {
            assert!(Case::new(text).is_ok(), "{text}");
        }
    }
}
