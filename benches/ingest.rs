//! Ingest with summaries, beside the same without: what blocks say of themselves is paid for when they are written.
//! `cargo bench -p tamias-benches --bench ingest` prints the table, and fails where summaries cost or take too much.
//!
//! Both validate the same events and write them into sealed segments, in turns; one store keeps no summaries. What counts is the time that all threads
//! together spend in the program itself, least of many runs: what the system spends on writing files says nothing of either, and
//! differs by more. The time that flushes take by the clock is told apart.

use std::hint::black_box;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use tamias::{Batch, EventFormat};
use tamias_store::{Direction, Event, Options, Store, Summarize};
use tamias_testdata::Generator;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 300_000;
const ROUNDS: usize = 15;
/// Bytes of events that are stored in one go.
const BATCH_BYTES: usize = 48 << 20;
/// The most that ingest with summaries may take, that without being 1.
const TIME_GUARD: f64 = 1.6;
/// The most bytes of summaries, those of the documents being 1.
const BYTES_GUARD: f64 = 0.03;

/// As the library has it.
struct Summaries;

impl Summarize for Summaries {
    fn summarize(&self, documents: &[u8], ends: &[u32], summary: &mut Vec<u8>) {
        tamias_query::summarize(documents, ends, summary);
    }
}

/// What an ingest took.
#[derive(Clone, Copy)]
struct Times {
    /// In the program itself, all threads together.
    program: Duration,
    clock: Duration,
    flushes: Duration,
}

fn main() -> ExitCode {
    let (mut generator, mut bytes, mut spans) = (Generator::new(7, EVENTS), Vec::new(), Vec::new());
    loop {
        let start = bytes.len();
        if !generator.write_next(&mut bytes) {
            break;
        }
        spans.push(start..bytes.trim_ascii_end().len());
    }
    let without: Arc<dyn Summarize> = Arc::new(());
    let with: Arc<dyn Summarize> = Arc::new(Summaries);

    let (_, none) = ingest(&bytes, &spans, &without);
    let (_, summaries) = ingest(&bytes, &spans, &with);
    assert_eq!((none.events, none.summary_bytes), (EVENTS, 0));
    assert_eq!((summaries.events, summaries.document_bytes), (EVENTS, none.document_bytes));
    assert!(summaries.summary_bytes > 0, "blocks say something of themselves");

    let mut least: [Option<Times>; 2] = [None; 2];
    for _ in 0..ROUNDS {
        for (summarize, least) in [&without, &with].into_iter().zip(&mut least) {
            let (now, _) = ingest(&bytes, &spans, summarize);
            *least = Some(least.map_or(now, |least| Times {
                program: least.program.min(now.program),
                clock: least.clock.min(now.clock),
                flushes: least.flushes.min(now.flushes),
            }));
        }
    }
    println!(
        "{EVENTS} generated events of {} MB, validated and sealed; the least of {ROUNDS} runs\n",
        bytes.len() / 1_000_000
    );
    println!(
        "| | in the program, all threads | ns an event | MB/s of it | by the clock | flushes |\n|---|---|---|---|---|---|"
    );
    let mut program = Vec::new();
    for (name, times) in ["without summaries", "with summaries"].into_iter().zip(least.into_iter().flatten())
    {
        println!(
            "| {name} | {:.0} ms | {:.0} | {:.0} | {:.0} ms | {:.0} ms |",
            times.program.as_secs_f64() * 1e3,
            times.program.as_secs_f64() * 1e9 / EVENTS as f64,
            bytes.len() as f64 / 1e6 / times.program.as_secs_f64(),
            times.clock.as_secs_f64() * 1e3,
            times.flushes.as_secs_f64() * 1e3,
        );
        program.push(times.program.as_secs_f64());
    }
    let time = program[1] / program[0];
    let share = summaries.summary_bytes as f64 / summaries.document_bytes as f64;
    let is_met = |met| if met { "met" } else { "MISSED" };
    let (in_time, in_bytes) = (time <= TIME_GUARD, share <= BYTES_GUARD);
    println!("\n| | | guard |\n|---|---|---|");
    println!("| time with summaries | {time:.2} | {TIME_GUARD} {} |", is_met(in_time));
    println!("| bytes of summaries per byte of JSON | {share:.4} | {BYTES_GUARD} {} |", is_met(in_bytes));
    if in_time && in_bytes { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a store holds after an ingest.
struct Held {
    events: u64,
    document_bytes: usize,
    summary_bytes: usize,
}

/// Validates the events and stores them in a new store.
fn ingest(bytes: &[u8], spans: &[Range<usize>], summarize: &Arc<dyn Summarize>) -> (Times, Held) {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = Store::open(folder.path(), Options::default(), Arc::clone(summarize)).expect("a new store");
    let format = EventFormat::clef();
    let mut batch = Batch::new();
    let (clock, program) = (Instant::now(), program_time());
    let mut rest = spans;
    let mut instant = 0;
    while !rest.is_empty() {
        batch.clear();
        let mut events = Vec::new();
        while let Some((span, others)) = rest.split_first().filter(|_| batch.bytes() < BATCH_BYTES) {
            // What is generated is minified: what is validated is what is stored.
            let event = &bytes[span.clone()];
            batch.push(event, &format).expect("a generated event is valid");
            events.push(Event { instant, bytes: event });
            instant += 10_000_000;
            rest = others;
        }
        store.append_sealed(&events, None).expect("events are stored");
    }
    let program = program_time().saturating_sub(program);
    let clock = clock.elapsed();
    let stats = store.flush_stats();
    let times = Times { program, clock, flushes: stats.log_time + stats.segment_flush_time };
    let snapshot = store.snapshot();
    let mut held = Held { events: snapshot.events(), document_bytes: 0, summary_bytes: 0 };
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group.expect("what was written just now") {
            held.document_bytes += black_box(block.documents()).expect("what was written just now").len();
            held.summary_bytes += block.summary().map_or(0, <[u8]>::len);
        }
    }
    (times, held)
}

/// What all threads of this process have spent in user mode.
fn program_time() -> Duration {
    let time = getrusage(UsageWho::RUSAGE_SELF).expect("every process may ask for its own").user_time();
    Duration::new(time.tv_sec().unsigned_abs(), time.tv_usec().unsigned_abs() as u32 * 1000)
}
