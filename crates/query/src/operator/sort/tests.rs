//! Sorting against a plain stable sort.

use super::*;
use crate::chunk::Columns;
use crate::options::RunOptions;
use crate::parameters::Parameters;
use crate::{parser, planner};
use proptest::prelude::*;
use std::cmp::Ordering;

const VALUES: [&str; 28] = [
    "",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "1.0",
    "1e1",
    "-3.5",
    r#""""#,
    r#""a""#,
    r#""A""#,
    r#""b""#,
    r#""B""#,
    "[1]",
    "9007199254740992",
    "9007199254740993",
    r#""GET /api""#,
    r#""GET /api/customers""#,
    r#""GET /api/customers/12345""#,
    r#""GET /api/customers/12346""#,
    r#""GET /api/customers/12346/orders""#,
    r#""GET /api/customers/ä""#,
    r#""GET /api/customers/Ä""#,
    r#""GET /api/\ncustomers""#,
    "[1.0]",
    r#"{"a":1}"#,
];

/// Two values, and which row it is, in so many bytes that pages fill.
type Row = (&'static str, &'static str, String);

fn rows(pad: usize) -> impl Strategy<Value = Vec<Row>> {
    let value = || proptest::sample::select(&VALUES[..]);
    proptest::collection::vec((value(), value()), 0..400).prop_map(move |values| {
        let row = |(at, (a, b)): (usize, (_, _))| (a, b, format!("\"{at}{}\"", "x".repeat(pad)));
        values.into_iter().enumerate().map(row).collect()
    })
}

fn sort() -> impl Strategy<Value = Vec<Sort>> {
    let item = (0..2usize, any::<bool>(), any::<bool>());
    let item = item.prop_map(|(column, ci, descending)| Sort { column, ci, descending });
    proptest::collection::vec(item, 1..3)
}

fn control() -> Control {
    let text = "select 1";
    let query = parser::parse_query(text).expect("a query");
    let plan = planner::plan(&query, text, &Parameters::new()).expect("a plan");
    Control::new(&plan, RunOptions::default(), None)
}

fn expected(rows: &[Row], sort: &[Sort], limit: Option<u64>) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| {
        let unequal = sort.iter().map(|item| {
            let [a, b] = [a, b].map(|row| value_of([row.0, row.1][item.column].as_bytes()));
            let order = order(&a, &b, item.ci);
            if item.descending { order.reverse() } else { order }
        });
        unequal.fold(Ordering::Equal, Ordering::then)
    });
    rows.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
    rows
}

fn given(rows: SortedRows) -> Vec<Row> {
    let text = |row, column| {
        let (chunk, row) = rows.chunk(row).expect("a row");
        String::from_utf8(chunk.json_at(column, row).to_vec()).expect("UTF-8")
    };
    let value = |row, column| {
        let text = text(row, column);
        *VALUES.iter().find(|value| **value == text).expect("a value as it was given")
    };
    (0..rows.len()).map(|row| (value(row, 0), value(row, 1), text(row, 2))).collect()
}

fn values(row: &Row) -> [Value<'_>; 3] {
    [row.0, row.1, &row.2].map(|json| value_of(json.as_bytes()))
}

fn check(rows: &[Row], sort: &[Sort], limit: Option<u64>) {
    let expected = expected(rows, sort, limit);
    let mut sorter = Sorter::new(sort, limit, 3);
    let control = control();
    rows.iter().for_each(|row| sorter.take_values(&values(row), &control).expect("memory enough"));
    assert_eq!(sorter.taken(), rows.len() as u64);
    assert_eq!(given(sorter.finish(&control).expect("time enough")), expected);

    // As groups are, of which no more is made than it takes to tell.
    let mut sorter = Sorter::new(sort, limit, 3);
    for row in rows {
        let values = values(row);
        let sorted_by: Vec<Value<'_>> =
            sort.iter().filter_map(|by| values.get(by.column)).map(Value::reborrow).collect();
        let told = sorter.passes_over_first(&sorted_by[0]);
        if !told.unwrap_or_else(|| sorter.passes_over(&sorted_by)) {
            sorter.take_values(&values, &control).expect("memory enough");
        }
    }
    assert_eq!(sorter.taken(), rows.len() as u64);
    assert_eq!(given(sorter.finish(&control).expect("time enough")), expected);

    let mut sorter = Sorter::new(sort, limit, 3);
    for rows in rows.chunks(7) {
        let mut columns = Columns::of_values(3);
        for row in rows {
            let at = columns.begin_row((0, 0));
            values(row).iter().enumerate().for_each(|(column, value)| columns.push(column, at, value, &[]));
        }
        let chunk = Chunk::new(&columns, &[]);
        (0..rows.len()).for_each(|row| sorter.take_row(&chunk, row, &control).expect("memory enough"));
    }
    assert_eq!(given(sorter.finish(&control).expect("time enough")), expected);
}

proptest! {
    #[test]
    fn rows_come_as_a_stable_sort_gives_them(
        rows in rows(0), sort in sort(), limit in proptest::option::of(0..430u64)
    ) {
        check(&rows, &sort, limit);
    }

    #[test]
    fn rows_that_are_not_wanted_any_more_are_left_out(rows in rows(5000), sort in sort(), limit in 1..5u64) {
        check(&rows, &sort, Some(limit));
    }
}

#[test]
fn what_is_held_is_bounded_by_the_limit() {
    let sort = [Sort { column: 0, ci: false, descending: true }];
    let control = control();
    let mut sorter = Sorter::new(&sort, Some(3), 1);
    for number in 0..20_000u32 {
        let text = format!("\"{number:0100}\"");
        sorter.take_values(&[value_of(text.as_bytes())], &control).expect("memory enough");
        assert!(sorter.bytes() < 4 * UNWANTED_BYTES, "{} after {number}", sorter.bytes());
    }
    assert_eq!(sorter.finish(&control).expect("time enough").len(), 3);
}
