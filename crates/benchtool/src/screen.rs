//! What the standard output is: a terminal of some size, or something else.

use std::io::{self, IsTerminal};

use anstream::{AutoStream, ColorChoice};
use terminal_size::{Height, Width, terminal_size_of};

/// A terminal that says it is narrower than this is taken for one of the usual size: some do not know how large they are.
const COLUMNS_MIN: u16 = 20;
const COLUMNS_USUAL: usize = 80;
const LINES_MIN: u16 = 2;
const LINES_USUAL: usize = 24;

/// What rows are shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// None if it is no terminal.
    size: Option<Size>,
    /// Whether text may be in colour.
    pub(crate) has_color: bool,
}

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

impl Screen {
    /// A file or a pipe: as wide as its text, without colour.
    pub(crate) const FILE: Screen = Screen { size: None, has_color: false };

    /// A terminal with so many columns, without colour.
    #[cfg(test)]
    pub(crate) fn terminal(columns: usize) -> Screen {
        Screen { size: Some(Size { columns, lines: LINES_USUAL }), has_color: false }
    }

    /// The standard output.
    pub(crate) fn of_stdout() -> Screen {
        let stdout = io::stdout();
        let size = stdout.is_terminal().then(|| {
            let (columns, lines) = match terminal_size_of(&stdout) {
                Some((Width(columns), Height(lines))) => (columns, lines),
                None => (0, 0),
            };
            Size {
                columns: usable(columns),
                lines: if lines < LINES_MIN { LINES_USUAL } else { lines.into() },
            }
        });
        Screen { size, has_color: AutoStream::choice(&stdout) != ColorChoice::Never }
    }

    /// The size of the terminal; none if it is a file or a pipe.
    pub(crate) fn size(&self) -> Option<Size> {
        self.size
    }

    /// How wide the terminal is; none if it is a file or a pipe.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.size.map(|size| size.columns)
    }

    /// Whether somebody looks at it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.size.is_some()
    }
}

/// How wide the terminal is that the standard error goes to; none if it is a file or a pipe.
pub(crate) fn columns_of_stderr() -> Option<usize> {
    let stderr = io::stderr();
    stderr.is_terminal().then(|| usable(terminal_size_of(&stderr).map_or(0, |(Width(columns), _)| columns)))
}

fn usable(columns: u16) -> usize {
    if columns < COLUMNS_MIN { COLUMNS_USUAL } else { columns.into() }
}
