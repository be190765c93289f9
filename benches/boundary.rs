//! What happens to bytes when they come in and when they are asked for: validation with minification, decoding of
//! strings, comparison of numbers in their text. `cargo bench -p tamias-benches --bench boundary` prints the tables.
//!
//! Each answer is asserted before anything is timed. The contenders take turns on a few hundred kilobytes, and the least
//! time of each counts: what else the machine does makes runs slower, never faster.

use serde::de::IgnoredAny;
use std::cmp::Ordering;
use std::hint::black_box;
use tamias_benches::{Contender, Set, gigabytes_per_second, sets, take_turns};
use tamias_json::Isa;
use tamias_json::number::{Bound, compare, to_decimal};
use tamias_json::unescape::unescape;
use tamias_json::validate::{Limits, minify_value_with};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// About so many bytes of a set are covered by a run: few enough to stay in the cache, so that it is the work that is timed.
const RUN_BYTES_MAX: usize = 300_000;

const ROUNDS: usize = 150;

fn main() {
    validation();
    decoding();
    numbers();
}

fn validation() {
    println!("\nValidation and minification, GB/s of input\n");
    let kernels = Isa::available();
    let names: Vec<&str> = kernels.iter().map(|isa| isa.name()).collect();
    println!("| set | {} | serde_json, check only | serde_json, read and written again |", names.join(" | "));
    println!("|---|{}", "---|".repeat(kernels.len() + 2));
    let limits = Limits::default();
    for set in sets().iter().map(shortened).flat_map(|set| [spaced(&set), set].into_iter().rev()) {
        for document in set.documents() {
            let mut out = Vec::new();
            minify_value_with(document, &limits, Isa::best(), &mut out).expect("valid");
            assert_eq!(value(document), value(&out), "the document keeps its value");
        }
        let (set, limits) = (&set, &limits);
        let mut contenders: Vec<Contender<'_>> = kernels
            .iter()
            .map(|&isa| {
                let mut out = Vec::new();
                Contender::new(isa.name(), move || {
                    out.clear();
                    for document in set.documents() {
                        minify_value_with(document, limits, isa, &mut out).expect("valid");
                        out.push(b'\n');
                    }
                    out.len()
                })
            })
            .collect();
        contenders.push(Contender::new("check only", || {
            set.documents().filter(|document| serde_json::from_slice::<IgnoredAny>(document).is_ok()).count()
        }));
        let mut out = Vec::new();
        contenders.push(Contender::new("written again", move || {
            out.clear();
            for document in set.documents() {
                serde_json::to_writer(&mut out, &value(document)).expect("written");
                out.push(b'\n');
            }
            out.len()
        }));
        let figures = take_turns(&mut contenders, ROUNDS);
        let figures: Vec<String> = figures
            .iter()
            .map(|times| format!("{:.2}", gigabytes_per_second(set.bytes.len(), times.least)))
            .collect();
        println!("| {} | {} |", set.name, figures.join(" | "));
    }
}

/// Documents from all over a set, which may change its character on the way.
fn shortened(set: &Set) -> Set {
    let mut short = Set::new(&set.name);
    let step = set.bytes.len().div_ceil(RUN_BYTES_MAX);
    for document in set.documents().step_by(step) {
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

fn decoding() {
    println!("\nDecoding of strings, GB/s of the text between the quotes\n");
    println!("| text | bytes | tamias | serde_json | ratio |\n|---|---|---|---|---|");
    let cyrillic: String = "привет".chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
    let texts = [
        ("an escape every 20 bytes", r"eighteen bytes and\n".repeat(4)),
        ("an escape every 20 bytes", r"eighteen bytes and\n".repeat(40)),
        ("an escape every 20 bytes", r"eighteen bytes and\n".repeat(400)),
        ("`\\uXXXX` only", cyrillic.repeat(4)),
        ("`\\uXXXX` only", cyrillic.repeat(40)),
        ("surrogate pairs only", r"\ud83d\ude00".repeat(40)),
        ("nothing escaped", "plain text only here".repeat(40)),
    ];
    for (name, raw) in &texts {
        let quoted = format!("\"{raw}\"");
        assert_eq!(unescape(raw.as_bytes()), serde_json::from_str::<String>(&quoted).expect("valid"));
        let repeats = 100_000 / raw.len();
        let figures = take_turns(
            &mut [
                Contender::new("tamias", || {
                    (0..repeats).map(|_| unescape(black_box(raw.as_bytes())).len()).sum()
                }),
                Contender::new("serde_json", || {
                    let read =
                        || serde_json::from_slice::<String>(black_box(quoted.as_bytes())).expect("valid");
                    (0..repeats).map(|_| read().len()).sum()
                }),
            ],
            ROUNDS,
        );
        let [ours, theirs] =
            [0, 1].map(|index: usize| gigabytes_per_second(repeats * raw.len(), figures[index].least));
        println!("| {name} | {} | {ours:.2} | {theirs:.2} | {:.1} |", raw.len(), ours / theirs);
    }
}

/// A linear congruential generator: the same numbers at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % end
    }
}

fn numbers() {
    println!("\nNumbers in their text, nanoseconds each\n");
    println!("| numbers | compared with a bound | compared | to a decimal | std: to binary64, compared |");
    println!("|---|---|---|---|---|");
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
    let greater = |order: Ordering| usize::from(order == Ordering::Greater);
    for (name, texts) in &sets {
        for text in texts {
            let expected = text.parse::<f64>().expect("a number").partial_cmp(&200.0);
            assert_eq!(Some(compare(text, "200")), expected);
            assert_eq!(Some(bound.compare(text.as_bytes())), expected);
        }
        let figures = take_turns(
            &mut [
                Contender::new("bound", || {
                    texts.iter().map(|text| greater(bound.compare(text.as_bytes()))).sum()
                }),
                Contender::new("compare", || {
                    texts.iter().map(|text| greater(compare(text, black_box("200")))).sum()
                }),
                Contender::new("decimal", || texts.iter().filter(|text| to_decimal(text).is_some()).count()),
                Contender::new("std", || {
                    texts.iter().filter(|text| text.parse::<f64>().is_ok_and(|value| value > 200.0)).count()
                }),
            ],
            ROUNDS,
        );
        let each = |times: &tamias_benches::Times| times.least.as_nanos() as f64 / texts.len() as f64;
        let figures: Vec<String> = figures.iter().map(|times| format!("{:.1}", each(times))).collect();
        println!("| {name} | {} |", figures.join(" | "));
    }
}
