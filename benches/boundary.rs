//! What happens to bytes when they come in and when they are asked for: validation with minification, decoding of
//! strings, comparison of numbers in their text. `cargo bench -p tamias-benches --bench boundary`
//!
//! Each contender's answer is asserted before anything is timed.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::hint::black_box;
use std::time::Duration;
use tamias_benches::{Set, sets};
use tamias_json::Isa;
use tamias_json::number::{Bound, compare, to_decimal};
use tamias_json::unescape::unescape;
use tamias_json::validate::{Limits, minify_value_with};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The most bytes of a set that a run covers: few enough to stay in the cache, so that it is the work that is timed.
const RUN_BYTES_MAX: usize = 500_000;

fn validation(criterion: &mut Criterion) {
    let limits = Limits::default();
    let mut group = criterion.benchmark_group("validate");
    for set in sets().iter().map(|set| shortened(set, &set.name)).flat_map(|set| [spaced(&set), set]) {
        let mut out = Vec::new();
        for document in set.documents() {
            out.clear();
            minify_value_with(document, &limits, Isa::best(), &mut out).expect("valid");
            let (input, output) = (value(document), value(&out));
            assert_eq!(input, output, "the document keeps its value");
        }

        group.throughput(Throughput::Bytes(set.bytes.len() as u64));
        for isa in Isa::available() {
            group.bench_with_input(BenchmarkId::new(isa.name(), &set.name), &set, |bencher, set| {
                bencher.iter(|| {
                    out.clear();
                    for document in set.documents() {
                        minify_value_with(document, &limits, isa, &mut out).expect("valid");
                        out.push(b'\n');
                    }
                    out.len()
                });
            });
        }
        group.bench_with_input(
            BenchmarkId::new("serde_json, checked only", &set.name),
            &set,
            |bencher, set| {
                bencher.iter(|| {
                    set.documents()
                        .filter(|document| serde_json::from_slice::<IgnoredAny>(document).is_ok())
                        .count()
                });
            },
        );
        group.bench_with_input(
            BenchmarkId::new("serde_json, written again", &set.name),
            &set,
            |bencher, set| {
                bencher.iter(|| {
                    out.clear();
                    for document in set.documents() {
                        serde_json::to_writer(&mut out, &value(document)).expect("written");
                        out.push(b'\n');
                    }
                    out.len()
                });
            },
        );
    }
    group.finish();
}

/// The first documents of a set.
fn shortened(set: &Set, name: &str) -> Set {
    let mut short = Set::new(name);
    for document in set.documents() {
        // Numbers that a peer refuses are no part of the comparison.
        if short.bytes.len() < RUN_BYTES_MAX && serde_json::from_slice::<serde_json::Value>(document).is_ok()
        {
            short.push(document);
        }
    }
    short
}

/// The set with a space after each colon and comma, as many writers have it.
fn spaced(set: &Set) -> Set {
    let mut spaced = Set::new(&format!("{}, spaced", set.name));
    for document in set.documents() {
        let mut text = Vec::new();
        let (mut string, mut escaped) = (false, false);
        for &byte in document {
            text.push(byte);
            if !string && matches!(byte, b':' | b',') {
                text.push(b' ');
            }
            string ^= byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
        }
        spaced.push(&text);
    }
    spaced
}

fn value(document: &[u8]) -> serde_json::Value {
    serde_json::from_slice(document).expect("valid")
}

fn decoding(criterion: &mut Criterion) {
    let cyrillic: String = "привет".chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
    let texts = [
        ("an escape every 20 bytes, 80 B", r"twenty bytes of text\n".repeat(4)),
        ("an escape every 20 bytes, 800 B", r"twenty bytes of text\n".repeat(40)),
        ("an escape every 20 bytes, 8 kB", r"twenty bytes of text\n".repeat(400)),
        ("four digits only, 140 B", cyrillic.repeat(4)),
        ("four digits only, 1.4 kB", cyrillic.repeat(40)),
        ("surrogate pairs only, 480 B", r"\ud83d\ude00".repeat(40)),
        ("nothing escaped, 800 B", "plain text only here".repeat(40)),
    ];
    let mut group = criterion.benchmark_group("unescape");
    for (name, raw) in &texts {
        let quoted = format!("\"{raw}\"");
        assert_eq!(unescape(raw.as_bytes()), serde_json::from_str::<String>(&quoted).expect("valid"));

        group.throughput(Throughput::Bytes(raw.len() as u64));
        group.bench_with_input(BenchmarkId::new("tamias", name), raw, |bencher, raw| {
            bencher.iter(|| unescape(black_box(raw.as_bytes())));
        });
        group.bench_with_input(BenchmarkId::new("serde_json", name), &quoted, |bencher, quoted| {
            bencher.iter(|| serde_json::from_slice::<String>(black_box(quoted.as_bytes())).expect("valid"));
        });
    }
    group.finish();
}

/// A linear congruential generator: the same numbers at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % end
    }
}

fn numbers(criterion: &mut Criterion) {
    let mut random = Random(1);
    let mut texts =
        |make: fn(&mut Random) -> String| -> Vec<String> { (0..4096).map(|_| make(&mut random)).collect() };
    let sets = [
        (
            "integers of 1 to 4 digits",
            texts(|random| {
                let digits = random.below(4) as u32;
                random.below(10u64.pow(digits + 1)).to_string()
            }),
        ),
        ("fractions", texts(|random| format!("{}.{:03}", random.below(1000), random.below(1000)))),
        ("integers of 15 digits", texts(|random| (10u64.pow(14) + random.below(10u64.pow(14))).to_string())),
        (
            "all of these, some below zero",
            texts(|random| match random.below(3) {
                0 => random.below(100_000).to_string(),
                1 => format!("-{}.{}", random.below(100), random.below(100)),
                _ => format!("{}.{:04}", random.below(10_000), random.below(10_000)),
            }),
        ),
        ("with exponent", texts(|random| format!("{}e{}", random.below(1000), random.below(10)))),
        (
            "of 20 digits",
            texts(|random| format!("{}{:019}", 1 + random.below(9), random.below(10u64.pow(12)))),
        ),
    ];
    let bound = Bound::new("200");
    let mut group = criterion.benchmark_group("number");
    for (name, texts) in &sets {
        for text in texts {
            let expected = text.parse::<f64>().expect("a number").partial_cmp(&200.0);
            assert_eq!(Some(compare(text, "200")), expected);
            assert_eq!(Some(bound.compare(text.as_bytes())), expected);
        }
        group.throughput(Throughput::Elements(texts.len() as u64));
        let greater = |order: Ordering| usize::from(order == Ordering::Greater);
        group.bench_with_input(BenchmarkId::new("bound", name), texts, |bencher, texts| {
            bencher.iter(|| texts.iter().map(|text| greater(bound.compare(text.as_bytes()))).sum::<usize>());
        });
        group.bench_with_input(BenchmarkId::new("compare", name), texts, |bencher, texts| {
            bencher.iter(|| texts.iter().map(|text| greater(compare(text, black_box("200")))).sum::<usize>());
        });
        group.bench_with_input(BenchmarkId::new("to_decimal", name), texts, |bencher, texts| {
            bencher.iter(|| texts.iter().filter(|text| to_decimal(text).is_some()).count());
        });
        group.bench_with_input(BenchmarkId::new("std, to binary64", name), texts, |bencher, texts| {
            bencher.iter(|| {
                texts.iter().filter(|text| text.parse::<f64>().is_ok_and(|value| value > 200.0)).count()
            });
        });
    }
    group.finish();
    // A text without escapes costs no allocation: asserted here, where the figures are.
    assert!(matches!(unescape(b"plain"), Cow::Borrowed(_)));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = validation, decoding, numbers
}
criterion_main!(benches);
