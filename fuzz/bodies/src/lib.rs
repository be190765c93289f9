//! Fuzz targets as ordinary functions: each takes any bytes, and asserts.
//!
//! A fuzzer calls them by way of the one-line shells in `fuzz/afl`; `cargo test` replays the corpus through them, and
//! with it the systematic inputs of the test. `fuzz/README.md` tells how to fuzz, and what to do with a finding.
//!
//! *Invariant*: a body returns for every input that shows no bug. What a body leaves out (inputs too large to be worth
//! the time, an oracle's known differences) is said in its documentation.

mod evaluate;
mod group;
mod kernels;
mod number;
mod query;
mod reference;
mod scan;
mod shred;
mod statistics;
mod unescape;
mod validate;

pub use evaluate::evaluate;
pub use group::group;
pub use kernels::kernels;
pub use number::number;
pub use query::query;
pub use scan::scan;
pub use shred::shred;
pub use statistics::statistics;
pub use unescape::unescape;
pub use validate::validate;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of the target, which is also that of its shell in `fuzz/afl/src/bin`.
    pub name: &'static str,
    /// The folder in `corpus` from which fuzzing starts, and which the tests replay.
    pub corpus: &'static str,
    /// The body: panics where the input shows a bug.
    pub body: fn(&[u8]),
}

/// All targets. `fuzz/run` fuzzes those that have a shell, a test holds the two lists together.
pub const TARGETS: &[Target] = &[
    Target { name: "kernels", corpus: "json", body: kernels },
    Target { name: "scan", corpus: "json", body: scan },
    Target { name: "validate", corpus: "json", body: validate },
    Target { name: "unescape", corpus: "string", body: unescape },
    Target { name: "number", corpus: "number", body: number },
    Target { name: "query", corpus: "query", body: query },
    Target { name: "evaluate", corpus: "choices", body: evaluate },
    Target { name: "shred", corpus: "documents", body: shred },
    Target { name: "group", corpus: "group", body: group },
    Target { name: "statistics", corpus: "statistics", body: statistics },
];
