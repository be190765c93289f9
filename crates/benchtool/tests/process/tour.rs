//! `docs/tour.md` and `docs/shell.svg`: screens of real runs.

use std::fmt::Write;
use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use vt100::{Cell, Color, Parser};

use crate::cookbook::check_page;
use crate::terminal::{Terminal, lines};
use crate::tool::{events, folder, tool};

const COLUMNS: NonZeroU16 = NonZeroU16::new(100).unwrap();

/// Whether the pages are to be written as they are now: TAMIAS_TOUR=write cargo test -p benchtool tour
fn is_writing() -> bool {
    std::env::var_os("TAMIAS_TOUR").is_some_and(|what| what == "write")
}

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_tour_shows_what_its_commands_give() {
    let folder = folder();
    check_page(&docs("tour.md"), is_writing(), |command| {
        let terminal = Terminal::run(folder.path(), COLUMNS, command);
        lines(&terminal.end()).iter().map(|line| format!("{line}\n")).collect()
    });
}

#[test]
fn the_picture_of_the_shell_shows_a_real_session() {
    let folder = folder();
    fs::write(folder.path().join("shop.clef"), events(1, 20_000)).unwrap();
    tool(folder.path(), &["ingest", "logs", "shop.clef"]).well();
    let mut terminal = Terminal::run(folder.path(), COLUMNS, "tamias shell logs");
    const PROMPT: &str = "tamias> ";
    const CONTINUATION: &str = "…> ";
    // The prompt, a line, and something that its answer ends with.
    for (prompt, line, answer) in [
        // How long an answer takes differs from run to run.
        (PROMPT, ".timer off", ""),
        (
            PROMPT,
            "select count(*) as n, max(Elapsed) as slowest from stream group by @Level order by n desc",
            "┘",
        ),
        (PROMPT, "select @Timestamp, Message, Elapsed from stream where", ""),
        (CONTINUATION, "Elapsed > 3900 limit 3", "┘"),
        (PROMPT, "select Mesage from stream limit 1", "`Message`?"),
        (PROMPT, ".mode chart", ""),
        (
            PROMPT,
            "select count(*) as errors from stream where @Level = 'Error' group by time(12h)",
            "2024-05-31T12:00:00Z",
        ),
    ] {
        terminal.wait_for(prompt);
        terminal.type_line(line);
        terminal.wait_for(answer);
    }
    terminal.wait_for("tamias> ");
    terminal.type_line(".exit");
    let svg = draw(&terminal.end());
    let page = docs("shell.svg");
    if is_writing() {
        fs::write(&page, &svg).unwrap();
    }
    assert!(svg == fs::read_to_string(&page).unwrap_or_default(), "docs/shell.svg shows another session");
}

/// Width and height of a character, and the room around all of them.
const CELL: (f32, f32) = (8.4, 17.0);
const MARGIN: f32 = 16.0;

/// A picture of a screen. Each stretch of one colour is stretched to its columns, whatever the font.
fn draw(parser: &Parser) -> String {
    let rows = lines(parser).len();
    let width = f32::from(COLUMNS.get()) * CELL.0 + 2.0 * MARGIN;
    let height = rows as f32 * CELL.1 + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-size=\"14\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" xml:space=\"preserve\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f27\"/>\n"
    );
    for row in 0..rows as u16 {
        let mut column = 0;
        while let Some(first) = parser.screen().cell(row, column) {
            let begin = column;
            let mut text = String::new();
            while let Some(cell) =
                parser.screen().cell(row, column).filter(|cell| style(cell) == style(first))
            {
                let is_blank = !cell.has_contents() && !cell.is_wide_continuation();
                text.push_str(if is_blank { " " } else { cell.contents() });
                column += 1;
            }
            if text.trim().is_empty() {
                continue;
            }
            let (x, y) = (MARGIN + f32::from(begin) * CELL.0, MARGIN + (f32::from(row) + 0.8) * CELL.1);
            // Blanks at the end would be stretched to nothing by some viewers.
            let columns = column - begin - (text.len() - text.trim_end().len()) as u16;
            let (length, (fill, weight)) = (f32::from(columns) * CELL.0, style(first));
            let text = text.trim_end().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" fill=\"{fill}\"{weight}>{text}</text>")
                .unwrap();
        }
    }
    svg + "</svg>\n"
}

/// Colour and weight of a character.
fn style(cell: &Cell) -> (&'static str, &'static str) {
    let fill = match cell.fgcolor() {
        Color::Idx(1 | 9) => "#ff7a85",
        Color::Idx(2 | 10) => "#8fd18b",
        Color::Idx(3 | 11) => "#e6c06a",
        Color::Idx(4 | 12) => "#7fb0ff",
        Color::Idx(5 | 13) => "#d59bf0",
        Color::Idx(6 | 14) => "#74d1d6",
        Color::Idx(8) => "#8a93a5",
        _ if cell.dim() => "#8a93a5",
        _ => "#dfe4ee",
    };
    (fill, if cell.bold() { " font-weight=\"bold\"" } else { "" })
}
