//! The only way to the standard error. Nothing depends on whether anybody hears what is said there.

use std::io::Write;

use crate::failure::Failure;
use crate::units::printable;

/// Writes a line to the standard error, as `eprintln!` does. That one panics where the line cannot be written: on a full disk, or
/// to a pipe that nobody reads any more.
macro_rules! tell {
    ($($text:tt)*) => { $crate::tell::line(format!($($text)*)) };
}

pub(crate) use tell;

/// Writes a line, coloured where the standard error is a terminal, in one piece.
pub(crate) fn line(mut text: String) {
    text.push('\n');
    // What could not be told is in the exit code, and there is no other place to tell it.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Says why a command failed, or one of many queries.
pub(crate) fn failure(failure: &Failure) {
    tell!("\x1b[1;31merror:\x1b[0m {}", printable(&failure.to_string()));
}
