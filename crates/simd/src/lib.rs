//! Vector operations on 64 bytes at a time, by whatever the CPU can do.
//!
//! An algorithm is written once, as a [`Task`] over a [`Vector`], and compiled for each kind of CPU. [`Isa`] is the
//! witness that this CPU has a kind's instructions, and runs the task:
//!
//! ```
//! use tamias_simd::{Isa, Task, VECTOR, Vector};
//!
//! struct CountQuotes<'b>(&'b [u8]);
//!
//! impl Task for CountQuotes<'_> {
//!     type Output = u32;
//!
//!     #[inline(always)]
//!     fn run<V: Vector>(self, vector: V) -> u32 {
//!         let (vectors, rest) = self.0.as_chunks::<VECTOR>();
//!         let mut count = rest.iter().map(|byte| u32::from(*byte == b'"')).sum();
//!         for bytes in vectors {
//!             count += vector.equal(bytes, b'"').count_ones();
//!         }
//!         count
//!     }
//! }
//!
//! for isa in Isa::available() {
//!     assert_eq!(isa.run(CountQuotes(&[b'"'; 100])), 100, "{}", isa.name());
//! }
//! ```
//!
//! What the operations mean is written in [`Vector`] as plain loops: that is what [`Portable`] runs. Every other kernel
//! gives the same for every input.
//!
//! All unsafe code of the layers above has come here. It is of three kinds: instructions that a witness vouches for,
//! [lists](Room) that are filled by whole vectors, and text that is known to be UTF-8.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod baseline;
pub mod decimal;
mod entry;
mod isa;
mod marks;
pub mod numbers;
mod room;
mod several;
mod sink;
mod sizes;
mod stack;
mod swar;
pub mod utf8;
mod vector;
mod words;

#[cfg(test)]
mod tests;

pub use baseline::{equal, prefetch};
pub use entry::Entry;
pub use isa::{Isa, Task};
pub use marks::{Marks, Masks};
pub use room::Room;
pub use several::{Standing, Whole};
pub use sink::{Brackets, CHUNK, Sink};
pub use sizes::{DIGITS, NUMBERS, SEVERAL, VECTOR};
pub use stack::Stack;
pub use swar::Swar;
pub use vector::{Portable, Vector};
pub use words::leading_digits;
