//! Columns give back what was put in, by whatever way.

use super::*;
use crate::value::{Number, Text};
use proptest::prelude::*;
use tamias_json::Offsets;

/// The numbers, strings and Booleans of a column by their rows, as text; which are numbers of few digits.
fn numbers(columns: &Columns, documents: &[u8], column: usize) -> Vec<(u32, String, bool)> {
    let chunk = Chunk::new(columns, documents);
    let Column::Numbers(numbers) = chunk.column(column) else { panic!("a column of numbers") };
    let few = numbers.few.iter().map(|few| {
        let number = Number::few(few.significand, few.scale);
        (few.at, number.text().into_owned(), true)
    });
    let others = numbers
        .others
        .iter()
        .map(|(row, cell)| (*row, String::from_utf8(chunk.json(*cell).to_vec()).expect("UTF-8"), false));
    let mut all: Vec<_> = few.chain(others).collect();
    all.sort();
    all
}

fn of_numbers(values: &[Value<'_>]) -> Columns {
    let mut columns = Columns::new([Form::Numbers, Form::Nothing].into_iter());
    for (at, value) in values.iter().enumerate() {
        let row = columns.begin_row((at as u64, 1));
        columns.push(0, row, value, &[]);
        columns.push(1, row, &Value::Bool(true), &[]);
    }
    columns
}

#[test]
fn few_digits_give_back_their_text() {
    let few = ["0", "0.0", "0.00", "1", "-1", "4.10", "-4.10", "0.001", "-0.5", "999999999999999", "100"];
    // Negative zeros, powers of ten, and many digits.
    let others = ["-0", "-0.0", "1e2", "1E-2", "0e0", "12345678901234567890", "0.12345678901234567890123"];
    let texts: Vec<&str> = few.iter().chain(&others).copied().collect();
    let values: Vec<Value<'_>> = texts.iter().map(|text| value_of(text.as_bytes())).collect();
    let expected: Vec<_> =
        (0..).zip(&texts).map(|(row, text)| (row, (*text).to_owned(), (row as usize) < few.len())).collect();
    assert_eq!(numbers(&of_numbers(&values), &[], 0), expected);
}

#[test]
fn a_column_of_numbers_has_scalars_beside_them_and_nothing_else() {
    let texts = ["", "null", "true", r#""1""#, "[1]", r#"{"a":1}"#, "7"];
    let values: Vec<Value<'_>> = texts.iter().map(|text| value_of(text.as_bytes())).collect();
    let columns = of_numbers(&values);
    let expected = [(2, "true", false), (3, r#""1""#, false), (6, "7", true)];
    assert_eq!(numbers(&columns, &[], 0), expected.map(|(row, text, few)| (row, text.to_owned(), few)));
    assert_eq!(columns.len(), texts.len());
    assert!(matches!(Chunk::new(&columns, &[]).column(1), Column::Nothing));
}

proptest! {
    #[test]
    fn numbers_of_any_spelling_give_back_their_text(
        texts in proptest::collection::vec("-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?", 0..20)
    ) {
        let values: Vec<Value<'_>> = texts.iter().map(|text| value_of(text.as_bytes())).collect();
        let given = numbers(&of_numbers(&values), &[], 0);
        let given: Vec<String> = given.into_iter().map(|(_, text, _)| text).collect();
        prop_assert_eq!(given, texts);
    }

    #[test]
    fn computed_numbers_give_back_their_text(significands in proptest::collection::vec((any::<i64>(), 0..20u32), 0..20)) {
        let decimal = |(significand, scale): &(i64, u32)| {
            Value::Number(Number::Decimal(rust_decimal::Decimal::new(*significand, *scale)))
        };
        let values: Vec<Value<'_>> = significands.iter().map(decimal).collect();
        let given = numbers(&of_numbers(&values), &[], 0);
        let given: Vec<String> = given.into_iter().map(|(_, text, _)| text).collect();
        let expected: Vec<String> = values.iter().map(|value| match value {
            Value::Number(number) => number.text().into_owned(),
            _ => unreachable!("they are numbers"),
        }).collect();
        prop_assert_eq!(given, expected);
    }

    /// Stored and computed cells, gathered, and copied row by row, have the same text.
    #[test]
    fn cells_have_the_same_text_wherever_it_stands(
        cells in proptest::collection::vec((0..4usize, "[a-c ]{0,12}"), 0..40)
    ) {
        let document = format!(r#"{{"n":1.50,"s":"é\n","a":[1,{{"b":2}}],"o":{{"k":null}}}}{}"#, "\n");
        let mut offsets = Offsets::new();
        let map = offsets.scan_trusted(document.trim_end().as_bytes()).expect("a document");
        let stored = ["1.50", r#""é\n""#, r#"[1,{"b":2}]"#, r#"{"k":null}"#];
        let mut columns = Columns::of_values(3);
        let mut expected = Vec::new();
        for (at, (key, computed)) in cells.iter().enumerate() {
            let row = columns.begin_row((at as u64, 2));
            let value = map.get(["n", "s", "a", "o"][*key]);
            columns.push_stored(0, row, value, document.as_bytes());
            columns.push(1, row, &Value::Text(Text::from(computed.clone())), document.as_bytes());
            columns.push_stored(2, row, None, document.as_bytes());
            expected.push([stored[*key].to_owned(), format!("\"{computed}\""), String::new()]);
        }
        let texts = |chunk: Chunk<'_>| -> Vec<[String; 3]> {
            let text = |column, row| String::from_utf8(chunk.json_at(column, row).to_vec()).expect("UTF-8");
            (0..chunk.len()).map(|row| [0, 1, 2].map(|column| text(column, row))).collect()
        };
        let chunk = Chunk::new(&columns, document.as_bytes());
        prop_assert_eq!(&texts(chunk), &expected);
        let mut copied = Columns::of_values(3);
        (0..chunk.len()).for_each(|row| copied.push_row(&chunk, row));
        prop_assert_eq!(&texts(Chunk::new(&copied, &[])), &expected);
        prop_assert!(Chunk::new(&copied, &[]).orders().iter().eq(chunk.orders().iter()));
        prop_assert!(columns.gather(document.as_bytes()));
        prop_assert_eq!(&texts(Chunk::new(&columns, &[])), &expected);
    }
}

#[test]
fn much_text_is_not_gathered() {
    let document = format!("\"{}\"", "x".repeat(TEXT_BYTES_MAX / 2));
    let mut columns = Columns::of_values(1);
    for at in 0..3 {
        let row = columns.begin_row((at, 0));
        columns.push(0, row, &value_of(document.as_bytes()), document.as_bytes());
    }
    assert!(!columns.gather(document.as_bytes()));
    assert_eq!(Chunk::new(&columns, document.as_bytes()).json_at(0, 2), document.as_bytes());
}
