//! Measures the store on this machine's disk: `cargo run --release -p tamias-store --example measure [FOLDER]`.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamias_store::{Backup, Direction, Durability, Event, Options, Reader, Snapshot, Store};

const EVENTS: u64 = 1_369_670;
const EVENT_BYTES: usize = 360;
const MINUTE: u64 = 600_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if let [what, from, to] = &arguments[..]
        && what.as_os_str() == BACKUPS
    {
        return backups(from, to);
    }
    let parent = arguments.first().cloned().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::tempdir_in(parent)?;
    for durability in [Durability::Sync, Durability::None] {
        beside_backups(&folder.path().join(format!("backups-{durability:?}")), durability)?;
    }
    single_appends(&folder.path().join("single"))?;
    for background in [true, false] {
        beside_sealing(&folder.path().join(format!("sealing-{background}")), background)?;
    }
    bulk(&folder.path().join("bulk"))?;
    many_segments(&folder.path().join("many"))?;
    Ok(())
}

/// What this program is called with to take backups until it is killed.
const BACKUPS: &str = "--backups";

/// Takes one whole backup after another, of a store that another process writes to.
fn backups(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    loop {
        Backup::take(from, to, true, &mut |_, _| ())?;
        std::fs::remove_dir_all(to)?;
    }
}

/// How long appends take while another process copies the store again and again, by turns with appends that have nothing beside them.
fn beside_backups(folder: &Path, durability: Durability) -> Result<(), Box<dyn Error>> {
    let (from, to) = (folder.join("store"), folder.join("backup"));
    std::fs::create_dir_all(folder)?;
    let store = Store::open(&from, Options { durability, ..Options::default() }, Arc::new(()))?;
    let document = [b'x'; EVENT_BYTES];
    let batch = |events| (0..events).map(|instant| Event { instant, bytes: &document }).collect::<Vec<_>>();
    store.append_sealed(&batch(100_000), None)?;
    let batch = batch(100);
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..40 {
        let mut child = None;
        if turn % 2 == 1 {
            let program = std::env::current_exe()?;
            child = Some(Command::new(program).arg(BACKUPS).arg(&from).arg(&to).spawn()?);
        }
        for _ in 0..250 {
            let begun = Instant::now();
            store.append(&batch)?;
            times[turn % 2].push(begun.elapsed());
            std::thread::sleep(Duration::from_millis(4).saturating_sub(begun.elapsed()));
        }
        if let Some(mut child) = child {
            assert!(child.try_wait()?.is_none(), "it took backups all the time");
            child.kill()?;
            child.wait()?;
            let _ = std::fs::remove_dir_all(&to);
        }
    }
    for (what, mut times) in ["alone", "beside backups"].into_iter().zip(times) {
        times.sort_unstable();
        let at =
            |thousandths: usize| times.get(times.len() * thousandths / 1000).copied().unwrap_or_default();
        println!(
            "append of 100 events, {durability:?}, {what}: median {:?}, 99% {:?}, 99.9% {:?}, most {:?}",
            at(500),
            at(990),
            at(999),
            times.last().copied().unwrap_or_default()
        );
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// What this thread has used of the processor, where the system (Linux) tells: on a busy machine it says more than the clock.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// One durable append after another, by turns with what the disk takes for a write of as many bytes at the end of a file and its
/// flush.
fn single_appends(folder: &Path) -> Result<(), Box<dyn Error>> {
    let store = Store::open(folder, Options::default(), Arc::new(()))?;
    let document = [b'x'; EVENT_BYTES];
    let mut file = std::fs::File::create(folder.join("bare"))?;
    let (mut bare, mut appended) = (Vec::new(), Vec::new());
    for instant in 0..500 {
        let begun = Instant::now();
        file.write_all(&[b'x'; 432])?;
        file.sync_data()?;
        bare.push(begun.elapsed());
        let begun = Instant::now();
        store.append(&[Event { instant, bytes: &document }])?;
        appended.push(begun.elapsed());
    }
    let (bare, appended) = (median(bare), median(appended));
    println!(
        "append of one event, durable: median {appended:?}; bare write and flush of as many bytes: {bare:?}; ratio {:.2}",
        appended.as_secs_f64() / bare.as_secs_f64()
    );
    let before = store.flush_stats().log_flushes;
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                (0..200)
                    .try_for_each(|instant| store.append(&[Event { instant, bytes: &document }]).map(drop))
            });
        }
    });
    let flushes = store.flush_stats().log_flushes - before;
    println!("8 threads, 200 appends each: {:?}, {flushes} flushes", begun.elapsed());
    drop(store);
    let options = Options { durability: Durability::None, ..Options::default() };
    let store = Store::open(folder, options, Arc::new(()))?;
    let begun = Instant::now();
    for instant in 0..100_000 {
        store.append(&[Event { instant, bytes: &document }])?;
    }
    println!("append of one event, not flushed: mean {:?}", begun.elapsed() / 100_000);
    let begun = Instant::now();
    store.flush()?;
    drop(store);
    println!("flush of that: {:?}", begun.elapsed());
    let begun = Instant::now();
    let store = Store::open(folder, Options::default(), Arc::new(()))?;
    let bytes = store.snapshot().document_bytes();
    println!("opening with {bytes} bytes in the log: {:?}", begun.elapsed());
    Ok(())
}

/// How long an append takes at most while the memtable is sealed again and again, by a thread of the store's or by the append that finds it full.
fn beside_sealing(folder: &Path, background: bool) -> Result<(), Box<dyn Error>> {
    let options = Options { background, durability: Durability::None, ..Options::default() };
    let store = Store::open(folder, options, Arc::new(()))?;
    let document = [b'x'; EVENT_BYTES];
    let batch: Vec<Event<'_>> = (0..100).map(|instant| Event { instant, bytes: &document }).collect();
    let mut times = Vec::new();
    for _ in 0..6000 {
        let begun = Instant::now();
        store.append(&batch)?;
        times.push(begun.elapsed());
        // As they come in a busy store: 36 MB in a second.
        std::thread::sleep(Duration::from_millis(1).saturating_sub(begun.elapsed()));
    }
    times.sort_unstable();
    let (last, before) = (times.last().copied(), times.get(times.len() - 10).copied());
    println!(
        "append of 100 events, not flushed, {} segments sealed {}: at most {:?}, but for nine {:?}, median {:?}",
        store.flush_stats().segments,
        if background { "in the background" } else { "by appends" },
        last.unwrap_or_default(),
        before.unwrap_or_default(),
        median(times)
    );
    Ok(())
}

fn bulk(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut documents = Vec::new();
    for number in 0..EVENTS {
        let start = documents.len();
        write!(documents, "{{\"number\":{number},\"text\":\"")?;
        documents.resize(start + EVENT_BYTES - 2, b'x');
        documents.extend_from_slice(b"\"}");
    }
    let store = Store::open(folder, Options::default(), Arc::new(()))?;
    let (begun, used) = (Instant::now(), processor());
    for (part, lines) in documents.chunks(EVENT_BYTES * 185_000).enumerate() {
        let events: Vec<Event<'_>> = lines
            .chunks(EVENT_BYTES)
            .zip(part as u64 * 185_000..)
            .map(|(bytes, number)| Event { instant: number * MINUTE / 10_000, bytes })
            .collect();
        store.append_sealed(&events, None)?;
    }
    let time = begun.elapsed();
    if let (Some(before), Some(after)) = (used, processor()) {
        println!("processor time of writing {EVENTS} events into segments: {:?}", after - before);
    }
    let flush = store.flush_stats().segment_flush_time;
    let rate = |time: Duration| documents.len() as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{EVENTS} events, {} bytes, straight into segments: {time:?} ({:.0} MB/s), of that flushing {flush:?} (without: {:.0} MB/s)",
        documents.len(),
        rate(time),
        rate(time - flush)
    );
    drop(store);
    let begun = Instant::now();
    let store = Store::open(folder, Options::default(), Arc::new(()))?;
    assert_eq!(store.snapshot().events(), EVENTS);
    println!("opening it for writing: {:?}", begun.elapsed());
    let begun = Instant::now();
    let reader = Reader::open(folder, Options::default(), Arc::new(()))?;
    let snapshot = reader.snapshot()?;
    assert_eq!(snapshot.events(), EVENTS);
    println!("opening it for reading: {:?}", begun.elapsed());
    for round in ["first scan, verifying", "second scan"] {
        let begun = Instant::now();
        let bytes = scan(&snapshot)?;
        println!("{round}: {:?} for {bytes} bytes", begun.elapsed());
    }
    let begun = Instant::now();
    assert!(snapshot.verify()?.is_empty());
    println!("verify: {:?}", begun.elapsed());
    Ok(())
}

fn scan(snapshot: &Snapshot) -> Result<usize, Box<dyn Error>> {
    let mut bytes = 0;
    for group in snapshot.groups(0..=u64::MAX, Direction::Ascending) {
        for block in group? {
            bytes += block.documents()?.bytes.len();
        }
    }
    Ok(bytes)
}

fn many_segments(folder: &Path) -> Result<(), Box<dyn Error>> {
    let options = Options { segment_bytes: 10, ..Options::default() };
    let store = Store::open(folder, options, Arc::new(()))?;
    let events: Vec<Event<'_>> = (0..10_000).map(|instant| Event { instant, bytes: b"document" }).collect();
    store.append_sealed(&events, None)?;
    drop(store);
    let begun = Instant::now();
    let store = Store::open(folder, Options::default(), Arc::new(()))?;
    assert_eq!(store.snapshot().segments().len(), 10_000);
    println!("opening 10000 segments for writing: {:?}", begun.elapsed());
    let begun = Instant::now();
    let reader = Reader::open(folder, Options::default(), Arc::new(()))?;
    let snapshot = reader.snapshot()?;
    println!("opening 10000 segments for reading: {:?}", begun.elapsed());
    let begun = Instant::now();
    snapshot.groups(0..=u64::MAX, Direction::Descending).next().transpose()?;
    println!("the last group of them: {:?}", begun.elapsed());
    Ok(())
}
