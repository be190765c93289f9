//! The only way to the standard error. Nothing depends on whether anybody hears what is said there.

use std::fmt::Display;
use std::io::Write;

use crate::failure::Failure;
use crate::screen;
use crate::units::printable;
use crate::wrap::wrap;

/// Writes a line to the standard error, as `eprintln!` does. That one panics where the line cannot be written: on a full disk, or
/// to a pipe that nobody reads any more.
macro_rules! tell {
    ($($text:tt)*) => { $crate::tell::line(&format!($($text)*)) };
}

pub(crate) use tell;

/// Writes a line that may repeat data: control characters are spelt out.
pub(crate) fn line(text: &str) {
    write("", text);
}

/// Says what may mislead.
pub(crate) fn warning(text: impl Display) {
    write("\x1b[1;33mwarning:\x1b[0m ", &text.to_string());
}

/// Says what the rows do not cover.
pub(crate) fn left_out(text: impl Display) {
    write("\x1b[1;33mleft out:\x1b[0m ", &text.to_string());
}

/// Says why a command failed, or one of many queries.
pub(crate) fn failure(failure: &Failure) {
    write("\x1b[1;31merror:\x1b[0m ", &failure.to_string());
}

/// Writes a line in one piece, its head in colour if the standard error is a terminal.
fn write(head: &str, text: &str) {
    let text = format!("{head}{}", printable(text));
    let line = match screen::columns_of_stderr() {
        Some(columns) => wrap(&text, columns, 2),
        None => text,
    } + "\n";
    // What could not be told is in the exit code, and there is no other place to tell it.
    let _ = anstream::stderr().write_all(line.as_bytes());
}
