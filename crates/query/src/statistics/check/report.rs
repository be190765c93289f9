//! What is found in documents, and what is wrong with it, in words.

use crate::statistics::layout::STEP;
use std::fmt::Display;

/// A member of a document: the event that has it, and the value's bytes.
#[derive(Clone, Copy)]
pub(super) struct Member<'d> {
    pub(super) event: u32,
    pub(super) value: &'d [u8],
}

/// An error where what is told and what was found are not the same.
pub(super) fn expect<T: PartialEq + Display>(what: &str, told: T, found: T) -> Result<(), String> {
    if told == found {
        return Ok(());
    }
    Err(format!("{what}: {told} in the statistics, {found} in the documents"))
}

/// The beginning of a text, for a message; of a path its keys with dots between them.
pub(super) fn shown(text: &[u8]) -> String {
    const CHARACTERS: usize = 60;
    let text = String::from_utf8_lossy(text).replace(char::from(STEP), ".");
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
