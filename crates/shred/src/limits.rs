//! The limits of a group, all in one place.

/// The maximum number of events of a group.
pub const EVENTS_MAX: usize = 16_384;

/// The maximum total size of the documents of a group of several events: 8 MiB. A single event may be larger.
pub const GROUP_BYTES_MAX: usize = 8 << 20;

/// The maximum size of a single document in bytes: that of the scanner.
pub const DOCUMENT_BYTES_MAX: usize = tamias_json::BYTES_MAX;

/// The maximum number of paths of a group. Documents with further distinct keys are stored as text.
pub const PATHS_MAX: usize = 1 << 14;

/// The maximum number of shapes of a group. Documents with further shapes are stored as text.
pub const SHAPES_MAX: usize = 1 << 15;

/// The most tokens of all shapes together, so that a directory stays smaller than what it describes.
pub(crate) const TOKENS_MAX: usize = 1 << 21;

/// A group's shapes may have so many tokens, and another one for each [`TOKEN_BYTES`] of documents: what has more is kept as text.
/// HEURISTIC: as many as documents have of which each has keys or an order of its own, such as events with free properties. Real sets have one
/// in 160 bytes. Shapes that are met once are learnt in about twice the time that text takes, and what is asked of their columns takes a
/// fraction of what it takes over text.
pub(crate) const TOKENS_FREE: usize = 1 << 14;

/// See [`TOKENS_FREE`].
pub(crate) const TOKEN_BYTES: usize = 8;

/// The most templates of one column of texts.
pub(crate) const TEMPLATES_MAX: usize = 512;

/// The deepest path, in steps: each level of a document makes at most one.
pub(crate) const PATH_DEPTH_MAX: usize = tamias_json::DEPTH_MAX + 1;

/// The most bytes of a directory, unpacked.
pub(crate) const DIRECTORY_BYTES_MAX: usize = 64 << 20;

/// Compressed frames are made of chunks of so many bytes, each of which is decompressed without those before it, but for the first.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
