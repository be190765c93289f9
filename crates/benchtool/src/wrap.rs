//! Lines broken between words, where a terminal would break them anywhere.

use unicode_width::UnicodeWidthStr;

/// Breaks each line between words, so that it fits so many columns of a terminal; what goes on in the next line is indented so far.
/// A word that is longer than a line is left for the terminal to break. Lines that are indented already are made to look
/// as they do, and stay; colours take no room.
pub(crate) fn wrap(text: &str, columns: usize, indent: usize) -> String {
    let mut wrapped = String::with_capacity(text.len() + text.len() / columns.max(1) * (indent + 1));
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            wrapped.push('\n');
        }
        match line.starts_with(' ') || line.len() <= columns {
            true => wrapped.push_str(line),
            false => wrap_line(line, columns, indent, &mut wrapped),
        }
    }
    wrapped
}

fn wrap_line(line: &str, columns: usize, indent: usize, wrapped: &mut String) {
    let mut column = 0;
    for (number, word) in line.split(' ').enumerate() {
        let width = width(word);
        let blank = usize::from(number > 0);
        if column > indent && column + blank + width > columns && indent + width <= columns {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if blank > 0 {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += width;
        // The terminal goes on in the next line.
        if column > columns {
            column %= columns;
        }
    }
}

/// The columns that a word takes, without its colours.
fn width(word: &str) -> usize {
    let mut pieces = word.split('\x1b');
    let first = pieces.next().map_or(0, UnicodeWidthStr::width);
    let others = pieces.map(|piece| piece.split_once('m').map_or(0, |(_, rest)| rest.width()));
    first + others.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 80, 4), "one two three");
        assert_eq!(wrap("one two three", 9, 2), "one two\n  three");
        assert_eq!(wrap("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrap("one two three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrap("eins zwei\ndrei vier fünf", 9, 0), "eins zwei\ndrei vier\nfünf");
        assert_eq!(wrap("日本 語日 本", 7, 1), "日本\n 語日\n 本");
        assert_eq!(wrap("", 9, 2), "");
    }

    #[test]
    fn what_is_longer_than_a_line_begins_where_it_stands() {
        assert_eq!(wrap("key=aaaaaaaaaaaaaaaa b cc", 8, 2), "key=aaaaaaaaaaaaaaaa b\n  cc");
        assert_eq!(wrap("x aaaaaaaaaa y", 8, 2), "x aaaaaaaaaa y");
    }

    #[test]
    fn colours_take_no_room_and_indented_lines_stay() {
        assert_eq!(wrap("\x1b[2mone\x1b[0m two six", 8, 2), "\x1b[2mone\x1b[0m two\n  six");
        assert_eq!(wrap("\x1b[2mone\x1b[0m two", 7, 2), "\x1b[2mone\x1b[0m two");
        assert_eq!(wrap("  select a from b\n     ^^^^^^", 6, 2), "  select a from b\n     ^^^^^^");
    }

    #[test]
    fn only_blanks_become_line_breaks() {
        let text = "a bb  ccc dddd eeeee   ffffff ggggggg";
        for columns in 1..40 {
            let wrapped = wrap(text, columns, 0);
            assert_eq!(wrapped.replace('\n', " "), text);
            let fits = |line: &str| {
                line.trim_end().len() <= columns || line.split(' ').any(|word| word.len() > columns)
            };
            assert!(wrapped.lines().all(fits), "{columns}: {wrapped}");
        }
    }
}
