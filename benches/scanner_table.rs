//! The scanner by set and by kernel against its peers, as the tables of `docs/performance.md` show it.
//!
//! `cargo bench -p tamias-benches --bench scanner_table [-- [--quick] [SET…]]`

use std::cell::RefCell;

use serde::Deserialize;
use simd_json::{Buffers, Tape, fill_tape, fill_tape_padded};
use sonic_rs::{JsonValueTrait, LazyValue};
use tamias_benches::*;
use tamias_json::{Isa, Offsets};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What an application might declare; members it does not name are skipped.
#[derive(Deserialize)]
struct Typed<'a> {
    #[serde(borrow, default, alias = "@t", alias = "@timestamp", alias = "created_at", alias = "eventTime")]
    time: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default, alias = "Message", alias = "comment")]
    message: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, alias = "Elapsed", alias = "delta", alias = "RecordNumber")]
    number: Option<f64>,
}

/// A copy of a set that may be written into, with 64 bytes after each document.
struct Scratch {
    bytes: Vec<u8>,
    fresh: Vec<u8>,
    lengths: Vec<usize>,
}

impl Scratch {
    fn new(set: &Set) -> Scratch {
        let mut fresh = Vec::new();
        for document in set.documents() {
            fresh.extend_from_slice(document);
            fresh.extend_from_slice(&[b' '; simd_json::INPUT_PADDING]);
        }
        let lengths = set.documents().map(<[u8]>::len).collect();
        Scratch { bytes: fresh.clone(), fresh, lengths }
    }

    fn renew(&mut self) {
        self.bytes.copy_from_slice(&self.fresh);
    }

    /// Calls `tape` with each document, its padding after it, and its length.
    fn each(&mut self, mut tape: impl FnMut(&mut [u8], usize) -> usize) -> usize {
        let mut rest = self.bytes.as_mut_slice();
        let mut sum = 0;
        for length in &self.lengths {
            let (document, after) = rest.split_at_mut(length + simd_json::INPUT_PADDING);
            rest = after;
            sum += tape(document, *length);
        }
        sum
    }
}

/// The answers agree: members of the outermost objects, and the last one's value.
fn assert_answers(set: &Set) {
    let mut offsets = Offsets::new();
    for document in set.documents() {
        let expected: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(document).expect("valid JSON");
        let mut again = document.to_vec();
        let tape = simd_json::to_tape(&mut again).expect("valid JSON");
        for isa in Isa::available() {
            let root = offsets.scan_trusted_with(document, isa).expect("scans");
            assert!(root.len() >= expected.len());
            let key = last_key(root);
            let value = root.get(&key).expect("the last member").raw();
            assert_eq!(serde_json::from_slice::<serde_json::Value>(value).expect("a value"), expected[&key]);
            // SAFETY: the document is valid.
            #[expect(unsafe_code, reason = "the peer's unchecked form is its fastest")]
            let lazy = unsafe { sonic_rs::get_unchecked(document, [key.as_str()]) }.expect("the last member");
            assert_eq!(lazy.as_raw_str().len(), value.len());
            assert_eq!(tape.as_value().as_object().map(|object| object.len()), Some(root.len()));
        }
    }
}

fn contenders<'a>(
    set: &'a Set,
    scratch: &'a RefCell<Scratch>,
    padded: &'a RefCell<Scratch>,
    key: &'a str,
    all: bool,
) -> Vec<Contender<'a>> {
    let mut contenders = Vec::new();
    for isa in Isa::available() {
        let mut offsets = Offsets::new();
        contenders.push(Contender::new(isa.name(), move || {
            set.documents()
                .map(|document| offsets.scan_trusted_with(document, isa).map_or(0, |root| root.raw().len()))
                .sum()
        }));
    }
    let mut buffers = Buffers::default();
    let mut tape = Some(Tape::null());
    contenders.push(Contender {
        name: "simd-json tape".to_owned(),
        prepare: Box::new(|| scratch.borrow_mut().renew()),
        run: Box::new(move || {
            scratch.borrow_mut().each(|document, length| {
                let mut filled = tape.take().unwrap_or_else(Tape::null).reset();
                fill_tape(&mut document[..length], &mut buffers, &mut filled).expect("valid JSON");
                let nodes = filled.0.len();
                tape = Some(filled.reset());
                nodes
            })
        }),
    });
    let mut buffers = Buffers::default();
    let mut tape = Some(Tape::null());
    contenders.push(Contender {
        name: "… padded by us".to_owned(),
        prepare: Box::new(|| padded.borrow_mut().renew()),
        run: Box::new(move || {
            padded.borrow_mut().each(|document, length| {
                let mut filled = tape.take().unwrap_or_else(Tape::null).reset();
                fill_tape_padded(document, length, &mut buffers, &mut filled).expect("valid JSON");
                let nodes = filled.0.len();
                tape = Some(filled.reset());
                nodes
            })
        }),
    });
    if !all {
        return contenders;
    }
    contenders.push(Contender::new("sonic-rs get", move || {
        set.documents()
            .map(|document| {
                // SAFETY: the documents are valid.
                #[expect(unsafe_code, reason = "the peer's unchecked form is its fastest")]
                let found = unsafe { sonic_rs::get_unchecked(document, [key]) };
                found.map_or(0, |value| value.as_raw_str().len())
            })
            .sum()
    }));
    contenders.push(Contender::new("sonic-rs lazy", move || {
        set.documents()
            .map(|document| {
                sonic_rs::from_slice::<LazyValue<'_>>(document).map_or(0, |value| value.is_object().into())
            })
            .sum()
    }));
    contenders.push(Contender::new("serde_json Value", move || {
        set.documents()
            .map(|document| {
                serde_json::from_slice::<serde_json::Value>(document).map_or(0, |v| v.is_object().into())
            })
            .sum()
    }));
    contenders.push(Contender::new("serde_json typed", move || {
        set.documents()
            .map(|document| match serde_json::from_slice::<Typed<'_>>(document) {
                Ok(typed) => {
                    usize::from(typed.time.is_some())
                        + usize::from(typed.message.is_some())
                        + usize::from(typed.number.is_some())
                }
                Err(_) => 0,
            })
            .sum()
    }));
    contenders
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let sets =
        sets().into_iter().filter(|set| wanted.is_empty() || wanted.iter().any(|w| set.name.contains(*w)));
    let mut ratios: Vec<Vec<f64>> = Vec::new();
    let mut heading = false;
    for set in sets {
        if !quick {
            assert_answers(&set);
        }
        let mut offsets = Offsets::new();
        let key = set.documents().next().and_then(|first| offsets.scan_trusted(first).ok()).map(last_key);
        let key = key.unwrap_or_default();
        let (scratch, padded) = (RefCell::new(Scratch::new(&set)), RefCell::new(Scratch::new(&set)));
        let mut contenders = contenders(&set, &scratch, &padded, &key, !quick);
        if !heading {
            heading = true;
            let names: Vec<&str> = contenders.iter().map(|contender| contender.name.as_str()).collect();
            println!("| set | bytes each | {} |\n|---|---|{}", names.join(" | "), "---|".repeat(names.len()));
            ratios = vec![Vec::new(); names.len()];
        }
        let times = take_turns(&mut contenders, if quick { 60 } else { 100 });
        let tape = Isa::available().len();
        let cells: Vec<String> = times
            .iter()
            .zip(&mut ratios)
            .map(|(time, ratios)| {
                let ratio = times[tape].least.as_secs_f64() / time.least.as_secs_f64();
                ratios.push(ratio);
                format!("{:.2} ({ratio:.1}×)", gigabytes_per_second(set.bytes.len(), time.least))
            })
            .collect();
        println!("| {} | {} | {} |", set.name, set.mean(), cells.join(" | "));
    }
    let means: Vec<String> = ratios.iter().map(|ratios| format!("{:.2}×", geometric_mean(ratios))).collect();
    println!("| geometric mean | | {} |", means.join(" | "));
}
