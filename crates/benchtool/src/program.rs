//! What the program is called.

use std::env;
use std::path::Path;

/// The names that it is installed under. Under another one it is the first.
const NAMES: [&str; 2] = ["tamias", "benchtool"];

/// The name under which it was started.
pub(crate) fn name() -> &'static str {
    let first = env::args_os().next().unwrap_or_default();
    let stem = Path::new(&first).file_stem().and_then(|stem| stem.to_str());
    NAMES.into_iter().find(|name| stem == Some(name)).unwrap_or(NAMES[0])
}
