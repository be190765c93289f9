//! Each aggregate of the table, its values spread over several states in any order, against one state that takes one after the other.

use super::*;
use crate::chunk::{Columns, Digits, Form, Mantissas, value_of};
use crate::value::{Number, json};
use proptest::prelude::*;
use std::sync::Arc;

const GROUPS: u32 = 3;
const STATES: usize = 3;

const VALUES: [&str; 30] = [
    "",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "1.0",
    "2.50",
    "-3.5",
    "1e2",
    "12345678901234567890",
    "0.001",
    "99",
    "1e-30",
    r#""""#,
    r#""a""#,
    r#""A""#,
    r#""a\n""#,
    "[1]",
    "[1.0]",
    "{}",
    r#"{"a":1}"#,
    "7",
    // Identifiers, one of them in two spellings.
    r#""0123456789abcdef0123456789abcdef""#,
    r#""\u0030123456789abcdef0123456789abcdef""#,
    r#""ffffffffffffffff0123456789abcdef""#,
    // The same digits with dashes are another value.
    r#""01234567-89ab-cdef-0123-456789abcdef""#,
    r#""\u00301234567-89ab-cdef-0123-456789abcdef""#,
    r#""01234567-89ab-cdef-0123-456789abcdeF""#,
];

/// All aggregates, with constants as they are given where none are.
fn functions() -> Vec<Function> {
    let of = |name: &'static str| {
        let parameters = parameters(name).expect("the aggregate of a name");
        let constants: Vec<f64> =
            parameters.iter().map(|parameter| parameter.default.unwrap_or(2.0)).collect();
        with_constants(name, &constants).expect("the aggregate of a name").expect("constants")
    };
    names().map(of).chain([Function::COUNT_DISTINCT]).collect()
}

/// A value of a group, and which state takes it.
#[derive(Clone, Copy, Debug)]
struct Row {
    json: &'static str,
    group: u32,
    state: usize,
    order: Order,
}

/// Rows in time order.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (proptest::sample::select(&VALUES[..]), 0..GROUPS, 0..STATES);
    proptest::collection::vec(row, 0..150).prop_map(|rows| {
        let row = |(at, (json, group, state))| Row { json, group, state, order: (at / 2, at) };
        (0..).zip(rows).map(row).collect()
    })
}

/// What a state tells of each group.
fn results(function: Function, state: State) -> Vec<Vec<String>> {
    let group = |group| {
        let values =
            if function.gives_rows() { state.rows(group).collect() } else { vec![state.finish(group)] };
        values
            .iter()
            .map(|value| String::from_utf8(json(value).unwrap_or_default()).expect("UTF-8"))
            .collect()
    };
    (0..GROUPS).map(group).collect()
}

/// Takes in rows as a chunk, whose groups are turned by so many, in the form that the aggregate is given.
fn update(function: Function, state: &mut State, rows: &[Row], turned: u32) {
    let form = if function.takes(Kind::Array) { Form::Values } else { Form::Numbers };
    let mut columns = Columns::new([form].into_iter());
    for row in rows {
        let at = columns.begin_row(row.order);
        columns.push(0, at, &value_of(row.json.as_bytes()), &[]);
    }
    let chunk = Chunk::new(&columns, &[]);
    let groups: Vec<u32> = rows.iter().map(|row| (row.group + turned) % GROUPS).collect();
    state.update(Groups::Each(&groups), chunk.column(0), &chunk);
}

fn new(function: Function) -> State {
    let mut state = function.state();
    state.grow(GROUPS as usize);
    state
}

proptest! {
    #[test]
    fn any_split_in_any_order_gives_the_same(rows in rows(), seed in any::<prop::sample::Index>()) {
        for function in functions() {
            let mut plain = new(function);
            for row in rows.iter().filter(|row| function.takes(value_of(row.json.as_bytes()).kind())) {
                plain.add(row.group, value_of(row.json.as_bytes()), row.order, 1);
            }
            let expected = results(function, plain);

            let mut states: Vec<State> = (0..STATES).map(|_| new(function)).collect();
            let mut shuffled = rows.clone();
            if !shuffled.is_empty() {
                shuffled.rotate_left(seed.index(rows.len()));
                shuffled.reverse();
            }
            for (turned, state) in (0..).zip(&mut states) {
                let of: Vec<Row> =
                    shuffled.iter().filter(|row| row.state == turned as usize).copied().collect();
                let (one_by_one, together) = of.split_at(of.len() / 3);
                for row in one_by_one.iter().filter(|row| function.takes(value_of(row.json.as_bytes()).kind())) {
                    state.add((row.group + turned) % GROUPS, value_of(row.json.as_bytes()), row.order, 1);
                }
                together.chunks(11).for_each(|rows| update(function, state, rows, turned));
            }
            let mut merged = new(function);
            for (turned, state) in (0..GROUPS).zip(states) {
                let group_of: Vec<u32> = (0..GROUPS).map(|group| (group + GROUPS - turned) % GROUPS).collect();
                merged.merge(state, &group_of);
            }
            prop_assert_eq!(results(function, merged), expected, "{:?}", function);
        }
    }

    /// However many groups there are, and in whatever order the rows come.
    #[test]
    fn numbers_of_a_column_are_taken_as_one_by_one(
        numbers in prop::collection::vec((-30i64..30, 0u8..=2, 0..GROUPS), 0..100),
        groups in prop::sample::select(vec![GROUPS, 100, 300, 5000]),
        have_all: bool,
        is_reversed: bool,
    ) {
        const SCALE: u8 = 2;
        let digits = |(significand, digits, _): &(i64, u8, u32)| match significand {
            0 => SCALE,
            _ => *digits,
        };
        let mantissas = Arc::new(Mantissas {
            values: numbers.iter().map(|of| of.0 * 10i64.pow(u32::from(SCALE - digits(of)))).collect(),
            rows: (!have_all).then(|| (0..numbers.len() as u32).map(|number| 2 * number + 1).collect()),
            scale: SCALE,
            spelled: Digits::of(numbers.iter().map(digits).collect(), SCALE),
        });
        let rows = if have_all { numbers.len() } else { 2 * numbers.len() + 1 };
        let order = |row: usize| if is_reversed { (0, (rows - row) as u64) } else { (row as u64, 7) };
        let mut columns = Columns::new([Form::Numbers].into_iter());
        columns.begin_rows((0..rows).map(order));
        columns.set(0, Column::Mantissas(mantissas.clone()));
        let chunk = Chunk::new(&columns, &[]);
        let row_of = |place: usize| if have_all { place } else { 2 * place + 1 };
        let mut group_of = vec![0; rows];
        numbers.iter().enumerate().for_each(|(place, of)| group_of[row_of(place)] = of.2);
        for function in functions().into_iter().filter(|function| !function.takes(Kind::Array)) {
            let (mut each, mut together) = (function.state(), function.state());
            [&mut each, &mut together].into_iter().for_each(|state| _ = state.grow(groups as usize));
            for _ in 0..2 {
                for (place, of) in numbers.iter().enumerate() {
                    let (significand, scale) = mantissas.get(place).expect("a number");
                    let value = Value::Number(Number::few(significand, scale.into()));
                    each.add(of.2, value, chunk.order(row_of(place)), 1);
                }
                together.update(Groups::Each(&group_of), chunk.column(0), &chunk);
            }
            prop_assert_eq!(results(function, together), results(function, each), "{:?}", function);
        }
    }

    /// Values that came before matter no more than by their number, where the aggregate says so.
    #[test]
    fn repeated_values_may_be_told_by_their_number(rows in rows(), times in 2..5u64) {
        for function in functions().into_iter().filter(|function| function.takes_repeated()) {
            let (mut each, mut told) = (new(function), new(function));
            for row in rows.iter().filter(|row| function.takes(value_of(row.json.as_bytes()).kind())) {
                let value = || value_of(row.json.as_bytes());
                (0..times).for_each(|_| _ = each.add(row.group, value(), row.order, 1));
                told.add(row.group, value(), row.order, times);
            }
            prop_assert_eq!(results(function, told), results(function, each), "{:?}", function);
        }
    }
}

#[test]
fn there_is_a_state_for_each_name() {
    let names: Vec<&str> = names().collect();
    assert_eq!(functions().len(), names.len() + 1);
    for name in [
        "count",
        "sum",
        "min",
        "max",
        "mean",
        "percentile",
        "first",
        "last",
        "any",
        "all",
        "distinct",
        "top",
        "bottom",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}
