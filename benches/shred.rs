//! Columns: a group encoded with its proof, decoded whole, one document of it, and a condition on packed numbers.
//!
//! `cargo bench -p tamias-benches --bench shred [-- SET]`

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tamias_shred::{Encoder, Event, Group, encode, group_len};
use tamias_testdata::{DATA_SETS, Generator, data_set};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The documents of a group's worth of generated events, then of the real sets that are at hand.
fn sets() -> Vec<(&'static str, Vec<u8>)> {
    let mut generated = Vec::new();
    let mut generator = Generator::new(1, 16_384);
    while generator.write_next(&mut generated) {}
    let real = DATA_SETS.iter().filter_map(|name| Some((*name, data_set(name)?)));
    std::iter::once(("generated", generated)).chain(real).collect()
}

fn events(bytes: &[u8]) -> Vec<Event<'_>> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut events: Vec<Event<'_>> = lines
        .filter(|line| line.ends_with(b"}"))
        .zip(0..)
        .map(|(document, arrival)| Event { instant: 0, arrival, document })
        .collect();
    events.truncate(group_len(&events));
    events
}

fn groups(criterion: &mut Criterion) {
    for (name, bytes) in sets() {
        let events = events(&bytes);
        let mut encoder = Encoder::new().expect("has memory");
        let encoded = encoder.encode(&events).expect("encodes");
        let group = Group::open(&encoded.directory).expect("opens");
        let documents = group.read(&encoded.frames).documents().expect("reads");
        assert!(documents.iter().eq(events.iter().map(|event| event.document)));
        let mut bench = criterion.benchmark_group(format!("shred/{name}"));
        bench.throughput(Throughput::Bytes(group.document_bytes() as u64)).sample_size(20);
        bench.bench_function("encode with proof", |bencher| {
            bencher.iter(|| encoder.encode(&events).map_or(0, |encoded| encoded.len()));
        });
        bench.bench_function("all documents", |bencher| {
            bencher.iter(|| {
                let group = Group::open(&encoded.directory).expect("opens");
                group.read(&encoded.frames).documents().map_or(0, |documents| documents.len())
            });
        });
        let row = events.len() / 2;
        assert_eq!(group.read(&encoded.frames).document(row).expect("reads"), events[row].document);
        bench.throughput(Throughput::Elements(1));
        bench.bench_function("one document", |bencher| {
            bencher.iter(|| group.read(&encoded.frames).document(row).map_or(0, |document| document.len()));
        });
        bench.finish();
    }
}

/// `value > 200` over numbers that are packed: time a value.
fn conditions(criterion: &mut Criterion) {
    // Scrambled twice: numbers at equal distances would be stored as differences.
    let scrambled = |n: u64| {
        let once = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (once ^ (once >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
    };
    let documents: Vec<String> =
        (0..16_384).map(|n| format!("{{\"ms\":{}}}", scrambled(n) % 1_000)).collect();
    let events: Vec<Event<'_>> = (0..)
        .zip(&documents)
        .map(|(arrival, text)| Event { instant: 0, arrival, document: text.as_bytes() })
        .collect();
    let encoded = encode(&events).expect("encodes");
    let group = Group::open(&encoded.directory).expect("opens");
    assert!(group.columns().all(|column| column.encoding == "packed"));
    let mut reader = group.read(&encoded.frames);
    let hits = reader.between(0, 201, i64::MAX).expect("reads").iter().filter(|hit| **hit).count();
    let expected =
        documents.iter().filter(|text| text[6..text.len() - 1].parse::<u32>().is_ok_and(|ms| ms > 200));
    assert_eq!(hits, expected.count());
    let mut bench = criterion.benchmark_group("shred/condition");
    bench.throughput(Throughput::Elements(events.len() as u64)).sample_size(50);
    bench.bench_function("packed", |bencher| {
        bencher.iter(|| reader.between(0, 201, i64::MAX).map_or(0, |hits| hits.len()));
    });
    bench.finish();
}

criterion_group!(benches, groups, conditions);
criterion_main!(benches);
