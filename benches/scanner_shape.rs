//! How the scanner's speed depends on the shape of what it scans: whole blocks, size, depth, backslashes; and what looking
//! something up costs. Prints the tables of `docs/performance.md`.
//!
//! `cargo bench -p tamias-benches --bench scanner_shape`

use tamias_benches::*;
use tamias_json::{Isa, Offsets};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Enough rounds that one of them is not interrupted.
const ROUNDS: usize = 60;

/// A megabyte of events, newline-ended, classified at once, beside reading it.
fn whole_blocks() {
    let mut block = Vec::new();
    for event in events().documents().take_while({
        let mut length = 0;
        move |event| {
            length += event.len() + 1;
            length <= 1 << 20
        }
    }) {
        block.extend_from_slice(event);
        block.push(b'\n');
    }
    let expected = Offsets::count_with(&block, Isa::available().pop().expect("portable"));
    println!("\n| a block of {} bytes | GB/s |\n|---|---|", block.len());
    let mut contenders: Vec<Contender<'_>> = Isa::available()
        .into_iter()
        .map(|isa| {
            assert_eq!(Offsets::count_with(&block, isa), expected);
            let block = &block;
            Contender::new(format!("classified, {}", isa.name()), move || Offsets::count_with(block, isa))
        })
        .collect();
    contenders.push(Contender::new("read (sum of words)", || {
        let words = block.as_chunks::<8>().0;
        words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word))) as usize
    }));
    let times = take_turns(&mut contenders, ROUNDS * 5);
    for (contender, times) in contenders.iter().zip(times) {
        println!("| {} | {:.1} |", contender.name, gigabytes_per_second(block.len(), times.least));
    }
}

/// Speeds over documents that are alike but for one thing.
fn compare(title: &str, sets: &[Set], rounds: usize) {
    let isas = Isa::available();
    let names: Vec<&str> = isas.iter().map(|isa| isa.name()).filter(|name| *name != "portable").collect();
    println!("\n| {title} | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
    for set in sets {
        let mut offsets = Offsets::new();
        let mut contenders: Vec<Contender<'_>> = Vec::new();
        for isa in isas.iter().copied().filter(|isa| isa.name() != "portable") {
            for document in set.documents() {
                assert_eq!(
                    offsets.scan_trusted_with(document, isa).expect("scans").raw().len(),
                    document.len()
                );
            }
            let mut offsets = Offsets::new();
            contenders.push(Contender::new(isa.name(), move || {
                set.documents()
                    .map(|document| {
                        offsets.scan_trusted_with(document, isa).map_or(0, |root| root.raw().len())
                    })
                    .sum()
            }));
        }
        let times = take_turns(&mut contenders, rounds);
        let cells: Vec<String> = times
            .iter()
            .map(|times| format!("{:.2}", gigabytes_per_second(set.bytes.len(), times.least)))
            .collect();
        println!("| {} | {} |", set.name, cells.join(" | "));
    }
}

fn sizes() {
    let sets: Vec<Set> = [1_000, 4_000, 16_000, 64_000, 256_000, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
        .into_iter()
        .map(|bytes| {
            let mut set = Set::new(&format!("{bytes}"));
            grouped(bytes, 3 << 20).for_each(|document| set.push(&document));
            set
        })
        .collect();
    compare("bytes each, GB/s", &sets, ROUNDS / 2);
}

fn depths() {
    let sets: Vec<Set> = [1, 2, 4, 16, 64, 250]
        .into_iter()
        .map(|depth| {
            // Always the same members, and as many brackets, at whatever depth.
            let member = r#""key":"value of it","number":12345,"#;
            let mut set = Set::new(&format!("{depth}"));
            let (open, close) = (format!("{{{member}\"in\":"), "}");
            let groups = 250 / depth;
            let inner = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            let document = format!("{{\"list\":[{}0]}}", format!("{inner},").repeat(groups));
            (0..150).for_each(|_| set.push(document.as_bytes()));
            set
        })
        .collect();
    compare("depth, 250 objects each, GB/s", &sets, ROUNDS);
}

fn backslashes() {
    let sets: Vec<Set> = [0, 5, 20, 50, 100]
        .into_iter()
        .map(|percent: usize| {
            let mut set = Set::new(&format!("{percent}%"));
            // The share of escapes among the characters of the strings, spread unevenly.
            let mut dice = 12345_usize;
            let mut text = String::new();
            while text.len() < 200 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(if (dice >> 33) % 100 < percent { "\\\\" } else { "xy" });
            }
            let document = format!(r#"{{"a":"{text}","b":"{text}","n":1,"c":"{text}"}}"#);
            (0..2000).for_each(|_| set.push(document.as_bytes()));
            set
        })
        .collect();
    compare("share of escapes in strings, GB/s", &sets, ROUNDS);
}

/// Nanoseconds per event for the list, and for what comes after it.
fn lookups() {
    let set = events();
    let count = set.spans.len() as f64;
    let mut lists = [const { Offsets::new() }; 5].into_iter();
    let mut list = || lists.next().expect("one for each");
    let (mut a, mut b, mut c, mut d, mut e) = (list(), list(), list(), list(), list());
    let scan = |list: &mut Offsets, read: fn(tamias_json::Map<'_>) -> usize| {
        set.documents().map(|event| list.scan_trusted(event).map_or(0, read)).sum()
    };
    let mut contenders = [
        Contender::new("the list", || scan(&mut a, |root| root.raw().len())),
        Contender::new("and one key looked up", || {
            scan(&mut b, |root| usize::from(root.get("Elapsed").is_some()))
        }),
        Contender::new("and three", || {
            scan(&mut c, |root| {
                ["Elapsed", "Message", "@t"].iter().filter(|key| root.get(key).is_some()).count()
            })
        }),
        Contender::new("and every member visited", || {
            scan(&mut d, |root| root.entries().map(|(k, v)| k.raw().len() + v.raw().len()).sum())
        }),
        Contender::new("and every string's text", || {
            scan(&mut e, |root| root.entries().filter_map(|(_, v)| v.as_str()).map(|s| s.text().len()).sum())
        }),
    ];
    println!("\n| per event of {} bytes | ns |\n|---|---|", set.mean());
    let times = take_turns(&mut contenders, ROUNDS * 2);
    for (contender, times) in contenders.iter().zip(times) {
        println!("| {} | {:.0} |", contender.name, times.least.as_nanos() as f64 / count);
    }
}

fn main() {
    whole_blocks();
    sizes();
    depths();
    backslashes();
    lookups();
}
