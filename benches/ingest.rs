//! Ingest with statistics, beside the same without: what blocks say of themselves is paid for when they are written.
//! `cargo bench -p tamias-benches --bench ingest` prints the table, and fails where statistics cost or take too much.
//!
//! Both validate the same events and write them into sealed segments, in turns; one store keeps no statistics. What counts is the time that all threads
//! together spend in the program itself: what the system spends on writing files says nothing of either, and differs by more. The system
//! tells that time by samples, so it is the mean of many runs, and statistics are beside it timed by themselves, where they are made.
//! The time that flushes take by the clock is told apart.

use std::hint::black_box;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use tamias::{Batch, EventFormat};
use tamias_benches::processor_time;
use tamias_store::{Codec, Direction, Event, Options, Store};
use tamias_testdata::Generator;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 300_000;
const ROUNDS: u32 = 15;
/// Bytes of events that are stored in one go.
const BATCH_BYTES: usize = 48 << 20;
/// The most that ingest with statistics may take, that without being 1.
const TIME_GUARD: f64 = 1.8;
/// The most bytes of statistics, those of the documents being 1.
const BYTES_GUARD: f64 = 0.03;

/// As the library has it, with a look at the time.
#[derive(Default)]
struct Timed {
    nanoseconds: AtomicU64,
}

impl Codec for Timed {
    fn collect(&self, documents: &[u8], ends: &[u32], out: &mut Vec<u8>) {
        let begin = processor_time();
        tamias_query::collect_statistics(documents, ends, out);
        let time = processor_time().saturating_sub(begin);
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// What ingests took, all together.
#[derive(Clone, Copy, Default)]
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
    let timed = Arc::new(Timed::default());
    let contenders: [(&str, Arc<dyn Codec>); 2] =
        [("without statistics", Arc::new(())), ("with statistics", timed.clone())];

    let [(_, none), (_, held)] = [0, 1].map(|index| ingest(&bytes, &spans, &contenders[index].1));
    assert_eq!((none.events, none.statistics_bytes), (EVENTS, 0));
    assert_eq!((held.events, held.document_bytes), (EVENTS, none.document_bytes));
    assert!(held.statistics_bytes > 0, "blocks say something of themselves");

    timed.nanoseconds.store(0, Ordering::Relaxed);
    let mut times = [Times::default(); 2];
    for _ in 0..ROUNDS {
        for ((_, statistics), times) in contenders.iter().zip(&mut times) {
            let (now, _) = ingest(&bytes, &spans, statistics);
            times.program += now.program;
            times.clock += now.clock;
            times.flushes += now.flushes;
        }
    }
    println!(
        "{EVENTS} generated events of {} MB, validated and sealed; the mean of {ROUNDS} runs\n",
        bytes.len() / 1_000_000
    );
    println!(
        "| | in the program, all threads | ns an event | MB/s of it | by the clock | flushes |\n|---|---|---|---|---|---|"
    );
    let row = |name: &str, program: Duration, others: String| {
        let program = program.as_secs_f64() / f64::from(ROUNDS);
        let nanoseconds = program * 1e9 / EVENTS as f64;
        let megabytes = bytes.len() as f64 / 1e6 / program;
        println!("| {name} | {:.0} ms | {nanoseconds:.0} | {megabytes:.0} | {others} |", program * 1e3);
    };
    for ((name, _), times) in contenders.iter().zip(times) {
        let [clock, flushes] =
            [times.clock, times.flushes].map(|time| time.as_secs_f64() * 1e3 / f64::from(ROUNDS));
        row(name, times.program, format!("{clock:.0} ms | {flushes:.0} ms"));
    }
    let made = Duration::from_nanos(timed.nanoseconds.load(Ordering::Relaxed));
    row("the statistics by themselves", made, " | ".to_owned());

    let time = 1.0 + made.as_secs_f64() / times[0].program.as_secs_f64();
    let share = held.statistics_bytes as f64 / held.document_bytes as f64;
    let is_met = |met| if met { "met" } else { "MISSED" };
    let (in_time, in_bytes) = (time <= TIME_GUARD, share <= BYTES_GUARD);
    println!("\n| | | guard |\n|---|---|---|");
    println!("| time with statistics to that without | {time:.2} | {TIME_GUARD} {} |", is_met(in_time));
    println!("| bytes of statistics per byte of JSON | {share:.4} | {BYTES_GUARD} {} |", is_met(in_bytes));
    if in_time && in_bytes { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a store holds after an ingest.
struct Held {
    events: u64,
    document_bytes: usize,
    statistics_bytes: usize,
}

/// Validates the events and stores them in a new store.
fn ingest(bytes: &[u8], spans: &[Range<usize>], statistics: &Arc<dyn Codec>) -> (Times, Held) {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = Store::open(folder.path(), Options::default(), Arc::clone(statistics)).expect("a new store");
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
    let mut held = Held { events: snapshot.events(), document_bytes: 0, statistics_bytes: 0 };
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group.expect("what was written just now") {
            held.document_bytes +=
                black_box(block.documents()).expect("what was written just now").bytes.len();
            held.statistics_bytes += block.statistics().map_or(0, <[u8]>::len);
        }
    }
    (times, held)
}

/// What all threads of this process have spent in user mode.
fn program_time() -> Duration {
    let time = getrusage(UsageWho::RUSAGE_SELF).expect("every process may ask for its own").user_time();
    Duration::new(time.tv_sec().unsigned_abs(), time.tv_usec().unsigned_abs() as u32 * 1000)
}
