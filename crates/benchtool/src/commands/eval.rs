//! `benchtool eval`

use std::io::{self, BufRead, Read, Write};

use tamias::{Batch, EvalError, EventFormat, Expression, Parameters};

use crate::cli::EvalArgs;
use crate::failure::Failure;
use crate::output;
use crate::screen::Screen;
use crate::units::printable;

/// The longest line that is read, a little more than the longest expression: the parser refuses what is longer.
const LINE_BYTES_MAX: u64 = tamias::QUERY_BYTES_MAX as u64 + 2;

pub(crate) fn run(args: &EvalArgs) -> Result<(), Failure> {
    let parameters = crate::commands::query::parameters(&args.params);
    // Said once and beforehand rather than for each expression. What `ingest` rejects is no event here either.
    if let Err(error) = tamias::eval("null", &args.event) {
        return Err(Failure::Input(error.to_string()));
    }
    let format = EventFormat::clef().now_without_time();
    if let Err(error) = Batch::new().push(args.event.as_bytes(), &format) {
        return Err(Failure::Input(format!("--event: {error}")));
    }
    if let Some(text) = &args.expression {
        let value = Expression::prepare(text, &parameters)?.eval(&args.event);
        let value = value.map_err(|error| Failure::Query(error.to_string()))?;
        return output::write_line(&mut output::stdout(), value.as_deref().unwrap_or("undefined"));
    }
    let mut input = io::stdin().lock();
    let mut out = output::stdout();
    let is_terminal = Screen::of_stdout().is_terminal();
    let mut line = Vec::new();
    while read_line(&mut input, &mut line).map_err(|error| Failure::Io(format!("standard input: {error}")))? {
        let answer = answer(&line, &args.event, &parameters);
        let answer = if is_terminal { printable(&answer) } else { answer.as_str().into() };
        writeln!(out, "{answer}").map_err(|error| Failure::output(&error))?;
        // Somebody may be typing, or waiting for this answer before the next question.
        if !input.fill_buf().is_ok_and(|more| more.contains(&b'\n')) {
            out.flush().map_err(|error| Failure::output(&error))?;
        }
    }
    out.flush().map_err(|error| Failure::output(&error))
}

/// Reads a line without its line feed; of a very long one only the beginning. False at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

/// What an expression comes to, in one line.
fn answer(line: &[u8], event: &str, parameters: &Parameters) -> String {
    let Ok(text) = std::str::from_utf8(line) else { return "error: the line is not UTF-8".to_owned() };
    let value = Expression::prepare(text, parameters)
        .map_err(EvalError::from)
        .and_then(|expression| expression.eval(event));
    match value {
        Ok(Some(json)) => json,
        Ok(None) => "undefined".to_owned(),
        // The lines that show the place would not be answers.
        Err(error) => format!("error: {}", error.to_string().lines().next().unwrap_or_default()),
    }
}
