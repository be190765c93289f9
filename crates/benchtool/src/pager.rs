//! The standard output, through a pager where it is longer than the screen.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::progress::Sign;
use crate::screen::{Screen, Size};
use crate::signals;

/// How often it looks whether the pager has ended.
const PATIENCE: Duration = Duration::from_millis(20);

/// Where rows go.
pub(crate) struct Out {
    to: To,
    /// Shows that work goes on until something stands on the screen.
    sign: Option<Sign>,
}

enum To {
    Direct(BufWriter<StdoutLock<'static>>),
    /// What there is so far still fits the screen.
    Held(Held),
    Paged(Pager),
}

/// Output that is held until it is longer than the screen, or complete.
struct Held {
    text: Vec<u8>,
    /// Whether the pager is to begin with the last line.
    is_at_end: bool,
    size: Size,
    lines: usize,
    column: usize,
}

/// A running pager.
struct Pager {
    child: Child,
    /// None once it has got everything.
    input: Option<ChildStdin>,
    /// How long it was waited for.
    waited: Duration,
}

/// What came of an output that has ended.
pub(crate) struct Finished<T> {
    /// None if somebody quit the pager before everything was written.
    pub(crate) done: Option<T>,
    /// How long the pager was waited for.
    pub(crate) paged: Duration,
}

impl Out {
    /// The standard output; on a terminal through a pager, unless that is not wanted.
    pub(crate) fn open(screen: &Screen, may_page: bool) -> Out {
        let to = match screen.size() {
            Some(size) if may_page && io::stdin().is_terminal() && command(false).is_some() => {
                To::Held(Held { text: Vec::new(), is_at_end: false, size, lines: 0, column: 0 })
            }
            _ => To::Direct(crate::output::stdout()),
        };
        Out { to, sign: None }
    }

    /// The same, showing that this goes on until something stands on the screen.
    pub(crate) fn during(self, what: &str) -> Out {
        Out { sign: Some(Sign::new(what)), ..self }
    }

    /// The same; what is longer than the screen is shown from its end, where the latest rows are, if the pager can.
    pub(crate) fn at_end(mut self, is_at_end: bool) -> Out {
        if let To::Held(held) = &mut self.to {
            held.is_at_end = is_at_end;
        }
        self
    }

    /// Whether what is longer than the screen goes through a pager.
    pub(crate) fn may_page(&self) -> bool {
        !matches!(self.to, To::Direct(_))
    }

    /// Writes what is held, and waits for whoever reads it. That somebody has seen enough, and quit the pager, is no failure of
    /// what came before: then there is nothing more to tell of it.
    pub(crate) fn finish<T>(self, done: Result<T, Failure>) -> Result<Finished<T>, Failure> {
        let Out { to, sign } = self;
        drop(sign);
        let at_once = |done| Finished { done: Some(done), paged: Duration::ZERO };
        match to {
            To::Direct(mut out) => done.and_then(|done| flushed(&mut out).map(|()| at_once(done))),
            To::Held(held) => {
                let mut out = crate::output::stdout();
                let written = out.write_all(&held.text).map_err(|error| Failure::output(&error));
                let written = written.and_then(|()| flushed(&mut out));
                done.and_then(|done| written.map(|()| at_once(done)))
            }
            To::Paged(mut pager) => {
                let begin = Instant::now();
                drop(pager.input.take());
                // Ctrl-C is the pager's, as long as it runs.
                while let Ok(None) = pager.child.try_wait() {
                    signals::forget();
                    std::thread::sleep(PATIENCE);
                }
                let done = match done {
                    Err(Failure::ClosedPipe) => None,
                    done => Some(done?),
                };
                Ok(Finished { done, paged: pager.waited + begin.elapsed() })
            }
        }
    }
}

fn flushed(out: &mut impl Write) -> Result<(), Failure> {
    out.flush().map_err(|error| Failure::output(&error))
}

/// Colours pass, and what was read stays on the screen.
const LESS: &str = "FRX";
/// The same, from the last line on.
const LESS_AT_END: &str = "FRX +G";

/// The pager's command, which is to begin with the last line or with the first; none if there is to be none.
fn command(is_at_end: bool) -> Option<Command> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let mut words = pager.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let mut command = Command::new(program);
    command.args(words);
    if std::env::var_os("LESS").is_none() {
        // Not as an argument: that of BusyBox takes it for a file.
        let is_at_end = is_at_end && Path::new(program).file_name() == Some("less".as_ref());
        command.env("LESS", if is_at_end { LESS_AT_END } else { LESS });
    }
    Some(command)
}

impl Held {
    /// Takes text in, and tells whether it still fits the screen.
    fn take(&mut self, bytes: &[u8]) -> bool {
        self.text.extend_from_slice(bytes);
        for byte in bytes {
            // Bytes of one character are counted one by one: a pager that was not needed ends by itself.
            let is_full = *byte == b'\n' || self.column == self.size.columns;
            self.lines += usize::from(is_full);
            self.column = if is_full { 0 } else { self.column + 1 };
        }
        // The prompt takes a line.
        self.lines < self.size.lines
    }

    /// Starts the pager, if it can be had. From then on Ctrl-C is its own: it would live on where this program ended.
    fn page(&mut self) -> Option<Pager> {
        signals::catch().ok()?;
        let mut child = command(self.is_at_end)?.stdin(Stdio::piped()).spawn().ok()?;
        let input = child.stdin.take();
        Some(Pager { child, input, waited: Duration::ZERO })
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Direct(out) => {
                self.sign = None;
                out.write(bytes)
            }
            To::Held(held) => {
                if !held.take(bytes) {
                    self.sign = None;
                    let text = std::mem::take(&mut held.text);
                    self.to = match held.page() {
                        Some(pager) => To::Paged(pager),
                        None => To::Direct(crate::output::stdout()),
                    };
                    self.write_all(&text)?;
                }
                Ok(bytes.len())
            }
            To::Paged(pager) => match &mut pager.input {
                Some(input) => {
                    signals::forget();
                    let begin = Instant::now();
                    let written = input.write(bytes);
                    pager.waited += begin.elapsed();
                    written
                }
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Direct(out) => {
                self.sign = None;
                out.flush()
            }
            To::Held(_) => Ok(()),
            To::Paged(pager) => pager.input.as_mut().map_or(Ok(()), ChildStdin::flush),
        }
    }
}
