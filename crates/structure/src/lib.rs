//! Which files of a crate import which, read from their text: for tests that keep the files of a crate in layers.
//!
//! File *a* imports file *b* where *a* names something that *b* defines: in a `use`, public or not, or in a path such as
//! `crate::plan::Plan`. The rules, from which all else follows:
//!
//! - What counts is where a name is defined, not the way it takes. `use super::Row`, where the parent only re-exports `Row`
//!   of the file `row.rs`, imports `row.rs`.
//! - So a module file may re-export what its children define, and the children may name each other through it. But a child
//!   that names what the parent *defines* closes a circle if the parent names that child: a parent either puts its
//!   children together, or serves them.
//! - `mod child;` and the name of a module alone import nothing. `use crate::plan;` counts where `plan::Plan` is named.
//! - A glob imports the module's file and the files of everything that it re-exports, since which of it is used cannot be seen.
//! - A name that no file spells out, because a macro makes it, is taken for one of the file of the module where the search ends.
//! - What is under `#[cfg(test)]` does not count, and other conditions do not matter: both sides of a `cfg` are read.
//!
//! Types that are used without being named, and methods, are not seen: only imports are. `#[path]` is an error.
//!
//! ```
//! use tamias_structure::Imports;
//!
//! let sources = |path: &str| match path {
//!     "lib.rs" => Some("mod plan; mod run; pub use run::run;".to_owned()),
//!     "plan.rs" => Some("pub struct Plan; fn f() { crate::run() }".to_owned()),
//!     "run.rs" => Some("use crate::plan::Plan; pub fn run() {}".to_owned()),
//!     _ => None,
//! };
//! let circles = Imports::read("lib.rs", sources)?.circles();
//! assert_eq!(circles[0].files, ["plan.rs", "run.rs"]);
//! assert_eq!(circles[0].to_string(), "plan.rs → run.rs (crate::run) → plan.rs (crate::plan::Plan)");
//! # Ok::<(), tamias_structure::Error>(())
//! ```

mod graph;
mod imports;
mod module;
mod resolve;

pub use graph::Circle;
pub use imports::{Forbidden, Import, Imports};
pub use module::Error;
