//! Real events, where they are at hand: data sets of other people's logs that are not part of the project.

use std::path::{Path, PathBuf};

/// The names of the real data sets that the project knows.
pub const DATA_SETS: [&str; 7] =
    ["wiki", "win_dcom", "win_exchange", "win_opth", "github", "nginxplus", "cloudtrail"];

/// The bytes of a real data set, one JSON object a line; `None` where it is not at hand.
///
/// Looks for `NAME.ndjson` and `NAME.ndjson.zst` in the folder that the environment variable `TAMIAS_DATA` names, else in
/// `shared/data` beside the project. The last line of a set may be cut.
///
/// # Panics
/// Where the file is there, but cannot be read: a test that could not run must not pass.
#[must_use]
pub fn data_set(name: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("TAMIAS_DATA").map_or_else(beside_the_project, PathBuf::from);
    let plain = folder.join(format!("{name}.ndjson"));
    if plain.exists() {
        return Some(std::fs::read(&plain).unwrap_or_else(|error| panic!("{}: {error}", plain.display())));
    }
    let packed = folder.join(format!("{name}.ndjson.zst"));
    let file = std::fs::File::open(&packed).ok()?;
    Some(zstd::decode_all(file).unwrap_or_else(|error| panic!("{}: {error}", packed.display())))
}

fn beside_the_project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}
