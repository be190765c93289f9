//! What stands on a terminal after a command, or in the middle of a conversation.

use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};
use vt100::Parser;

const PATIENCE_MS: u64 = 60_000;

/// More than any of the commands writes.
const ROWS: NonZeroU16 = NonZeroU16::new(300).unwrap();

/// A terminal so many columns wide, in which a line of a shell runs.
pub(crate) struct Terminal {
    session: PtySession,
    parser: Parser,
}

impl Terminal {
    /// Runs the line in the folder; `benchtool` is the program.
    pub(crate) fn run(folder: &Path, columns: NonZeroU16, line: &str) -> Terminal {
        let mut command = Command::new("sh");
        // The terminal's settings are made before anything is written.
        command
            .arg("-c")
            .arg(format!("stty cols {columns} rows {ROWS} && {{ {line}\n}}"))
            .current_dir(folder);
        let program = Path::new(env!("CARGO_BIN_EXE_benchtool")).parent().unwrap().to_str().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{program}:{path}")).env("HOME", folder).env("TERM", "xterm");
        command.env("PAGER", "cat").env_remove("XDG_STATE_HOME").env_remove("NO_COLOR");
        let session = spawn_command(command, Some(PATIENCE_MS)).unwrap();
        Terminal { session, parser: Parser::new(ROWS, columns, 0) }
    }

    /// It reads each byte as a character.
    fn take(&mut self, text: &str) {
        let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        self.parser.process(&bytes);
    }

    /// Waits until this is written.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let text: String = text.bytes().map(char::from).collect();
        let before = self.session.exp_string(&text).unwrap();
        self.take(&before);
        self.take(&text);
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, line: &str) {
        self.session.send_line(line).unwrap();
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Parser {
        let rest = self.session.exp_eof().unwrap();
        self.take(&rest);
        self.parser
    }
}

/// The lines that stand there, without the empty ones at the end.
pub(crate) fn lines(parser: &Parser) -> Vec<String> {
    let (_, columns) = parser.screen().size();
    let rows = parser.screen().rows(0, columns.get());
    let mut lines: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines
}
