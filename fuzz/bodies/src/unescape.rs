//! Any bytes as a string with escapes.

use crate::reference;
use std::borrow::Cow;

/// Decoding the text of a string against `serde_json`, and against the plain reference where that refuses.
pub fn unescape(raw: &[u8]) {
    let text = tamias_json::unescape::unescape(raw);
    assert_eq!(text, reference::decoded(raw));

    let plain = !raw.contains(&b'\\') && std::str::from_utf8(raw).is_ok();
    assert_eq!(
        matches!(text, Cow::Borrowed(_)),
        plain,
        "borrowed exactly where nothing is escaped or replaced"
    );

    let quoted = [b"\"", raw, b"\""].concat();
    if let Ok(expected) = serde_json::from_slice::<String>(&quoted) {
        assert_eq!(text, expected);
    }

    // A string written in the one spelling reads as itself.
    let mut written = Vec::new();
    tamias_json::write_json_string(&text, &mut written);
    assert_eq!(tamias_json::unescape::unescape(&written[1..written.len() - 1]), text);
    assert_eq!(String::from_utf8(written).ok(), serde_json::to_string(&*text).ok());
}
