//! A process that is started, listened to, and ended in time.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a process may be silent, or take to end, before it counts as one that hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// What comes next from a process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line.
    Line(String),
    /// It has closed its output.
    End,
    /// It has been silent for too long.
    Silence,
}

/// A process that was started.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What it wrote to the standard error.
    pub(crate) errors: String,
}

impl Child {
    /// Starts it.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Child> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn()?;
        let (send, lines) = channel();
        let out = process.stdout.take();
        std::thread::spawn(move || {
            for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()) {
                let Ok(line) = line else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let err = process.stderr.take();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut err) = err {
                let _ = err.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Child { input: process.stdin.take(), process, lines, errors: Some(errors) })
    }

    /// Waits for its next line.
    pub(crate) fn next(&mut self) -> Next {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Next::Line(line),
            Err(RecvTimeoutError::Disconnected) => Next::End,
            Err(RecvTimeoutError::Timeout) => Next::Silence,
        }
    }

    /// Tells it a line. One that has ended hears nothing.
    pub(crate) fn tell(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// Its number, for messages.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends it at once, as `kill -9` does. What it has written before can still be read.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
    }

    /// Waits for its end; `None` if it does not come, and then it is killed.
    pub(crate) fn end(mut self) -> std::io::Result<Option<Ended>> {
        self.input = None;
        let begun = Instant::now();
        let mut pause = Duration::from_micros(50);
        let status = loop {
            if let Some(status) = self.process.try_wait()? {
                break status;
            }
            if begun.elapsed() > LIMIT {
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        };
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        Ok(Some(Ended { status, errors }))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
