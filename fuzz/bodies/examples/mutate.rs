//! Runs a fuzz target on its corpus, changed at random: without coverage to guide it, but quicker than AFL, and the same runs
//! for the same seed.
//!
//! `cargo run --release -p tamias-fuzz-bodies --example mutate -- TARGET RUNS [SEED]`

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tamias_fuzz_bodies::{TARGETS, Target};

/// Inputs grow no longer than this, in bytes: what is longer takes longer and shows little more.
const LENGTH_MAX: usize = 4 << 10;

/// What a program has most often been wrong about.
const BYTES: [u8; 16] =
    [0, 1, 2, 6, 0x7f, 0x80, 0xff, b'"', b'\\', b'{', b'}', b'[', b',', b':', b'0', b'\n'];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let target = arguments.first().and_then(|name| TARGETS.iter().find(|target| target.name == name));
    let runs = arguments.get(1).and_then(|runs| runs.parse::<u64>().ok());
    let seed = arguments.get(2).map_or(Some(1), |seed| seed.parse::<u64>().ok());
    let (Some(target), Some(runs), Some(seed)) = (target, runs, seed) else {
        eprintln!("usage: mutate TARGET RUNS [SEED], with a target of fuzz/README.md");
        return ExitCode::from(2);
    };
    let corpus = match corpus(target) {
        Ok(corpus) => corpus,
        Err(error) => {
            eprintln!("mutate: the corpus of {} cannot be read: {error}", target.name);
            return ExitCode::FAILURE;
        }
    };
    let begin = Instant::now();
    let mut random = Random(seed);
    let mut input = Vec::new();
    for run in 1..=runs {
        change(&corpus, &mut random, &mut input);
        let _on_panic = OnPanic { run, input: &input };
        (target.body)(&input);
        if run % (runs / 10).max(1) == 0 {
            println!("{}: {run} runs in {:.0} s", target.name, begin.elapsed().as_secs_f64());
        }
    }
    ExitCode::SUCCESS
}

/// Says which input it was if the target finds a bug.
struct OnPanic<'i> {
    run: u64,
    input: &'i [u8],
}

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("run {}: {}", self.run, self.input.escape_ascii());
        }
    }
}

fn corpus(target: &Target) -> std::io::Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.corpus);
    let mut paths = Vec::new();
    for file in std::fs::read_dir(folder)? {
        paths.push(file?.path());
    }
    // The order of a folder is not the same everywhere.
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

/// Makes the next input: a file of the corpus with a few changes.
fn change(corpus: &[Vec<u8>], random: &mut Random, input: &mut Vec<u8>) {
    let file = |random: &mut Random| corpus.get(random.below(corpus.len())).map_or(&[][..], Vec::as_slice);
    input.clear();
    input.extend_from_slice(file(random));
    for _ in 0..1 + random.below(6) {
        let at = random.below(input.len() + 1);
        let length = random.below(1 + random.below(64)).min(input.len() - at);
        match random.below(8) {
            0 | 1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = BYTES[random.below(BYTES.len())];
                }
            }
            3 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = byte.wrapping_add(random.below(9) as u8).wrapping_sub(4);
                }
            }
            4 => input.insert(at, BYTES[random.below(BYTES.len())]),
            5 => drop(input.drain(at..at + length)),
            // A piece of it again, or one of another file.
            6 => {
                let piece = input[at..at + length].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            _ => {
                let other = file(random);
                let from = random.below(other.len() + 1);
                let to = (from + random.below(256)).min(other.len());
                input.splice(at..at + length, other[from..to].iter().copied());
            }
        }
        input.truncate(LENGTH_MAX);
    }
}

/// Numbers without pattern (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}
