//! What holds of all values, however they are held: stored, borrowed, shared or computed.

use super::*;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::cmp::Ordering;
use std::sync::Arc;

/// JSON text of a value: few different scalars, so that equal ones meet, and keys that come twice.
fn json_text() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-0",
        "0.0",
        "1",
        "1.0",
        "1.5",
        "-1.50",
        "100e-2",
        "1e400",
        "12345678901234567890",
        "\"\"",
        "\"a\"",
        "\"A\"",
        "\"ä\"",
        "\"\\u00e4\"",
        "\"ß\"",
        "\"ss\"",
        "\"ﬁ\"",
        "\"\\ud800\"",
        "\"\u{fffd}\"",
        "\"a\\nb\"",
    ]);
    scalar.prop_map(str::to_owned).prop_recursive(3, 12, 4, |inner| {
        let key =
            prop::sample::select(vec!["\"a\"", "\"A\"", "\"\\u0061\"", "\"b\"", "\"\"", "\"@x\"", "\"@@x\""]);
        let member = (key, inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// A value as a document holds it. What it borrows from lives on: a test is over soon.
fn stored(json: String) -> Value<'static> {
    let offsets = Box::leak(Box::new(tamias_json::Offsets::new()));
    Value::stored(tamias_json::Value::scan_trusted(json.leak().as_bytes(), offsets).unwrap())
}

/// The value with its numbers computed, where a decimal holds them, its text borrowed, its parts put together anew.
fn computed(value: &Value<'static>) -> Value<'static> {
    match value {
        Value::Number(number) => number.decimal().map_or_else(|| value.clone(), Value::from),
        Value::Text(text) => Value::Text(Text::Borrowed(text.text().into_owned().leak())),
        Value::Array(array) => Value::array(array.iter().map(|value| computed(&value)).collect()),
        Value::Object(object) => {
            let mut pairs: Vec<_> = object.iter().map(|(key, value)| (key, computed(&value))).collect();
            pairs.reverse();
            Value::object(pairs)
        }
        Value::Undefined | Value::Null | Value::Bool(_) => value.clone(),
    }
}

fn value() -> impl Strategy<Value = Value<'static>> {
    (json_text(), 0..4).prop_map(|(json, how)| match how {
        0 => stored(json),
        1 => parse(json.as_bytes()),
        2 => computed(&stored(json)),
        _ => Value::Undefined,
    })
}

fn spelled(value: &Value<'_>, ci: bool) -> Vec<u8> {
    let mut out = Vec::new();
    canonical(value, ci, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn equal_values_and_only_they_share_their_canonical_spelling(a in value(), b in value(), ci: bool) {
        let same = spelled(&a, ci) == spelled(&b, ci);
        prop_assert_eq!(order(&a, &b, ci).is_eq(), same);
        let either_is_undefined = a.is_undefined() || b.is_undefined();
        prop_assert_eq!(equal(&a, &b, ci), (!either_is_undefined).then_some(same));
    }

    #[test]
    fn the_order_is_total(mut values in prop::collection::vec(value(), 3), ci: bool) {
        for a in &values {
            for b in &values {
                prop_assert_eq!(order(a, b, ci), order(b, a, ci).reverse());
                prop_assert!(a.kind() == b.kind() || order(a, b, ci) == a.kind().cmp(&b.kind()));
                prop_assert!(compare(a, b, ci).is_none_or(|compared| compared == order(a, b, ci)));
            }
        }
        values.sort_by(|a, b| order(a, b, ci));
        prop_assert!(values.is_sorted_by(|a, b| order(a, b, ci).is_le()));
        prop_assert!(order(&values[0], &values[2], ci).is_le());
    }

    #[test]
    fn a_value_is_the_same_however_it_is_held(json in json_text(), name in "@?@?[abAx]?") {
        let stored = stored(json);
        let others = [stored.clone().into_static(), stored.reborrow().into_static(), computed(&stored)];
        for other in others {
            prop_assert!(order(&stored, &other, false).is_eq());
            prop_assert_eq!(stored.kind(), other.kind());
            // As text, and back.
            let again = parse(&super::json(&other).unwrap());
            prop_assert!(order(&stored, &again, false).is_eq());
            // What stands in it.
            prop_assert!(order(&stored.member(&name), &other.member(&name), false).is_eq());
            let index = Value::from(1usize);
            prop_assert!(order(&stored.element(&index), &other.element(&index), false).is_eq());
        }
    }

    #[test]
    fn properties_are_the_members_that_are_no_built_ins(json in json_text(), name in "@?@?[abAx]?") {
        let Value::Object(Object::Stored(document)) = stored(json) else { return Ok(()) };
        let properties = Object::properties(document).unwrap();
        let listed: Vec<_> = properties.iter().collect();
        let last = listed.iter().filter(|(key, _)| key.text() == *name).collect::<Vec<_>>();
        prop_assert!(last.len() <= 1, "each key is listed once");
        let listed = last.first().map_or(Value::Undefined, |(_, value)| value.clone());
        prop_assert!(order(&properties.get(&name), &listed, false).is_eq());
    }

    #[test]
    fn a_number_is_the_same_from_its_text_or_as_a_decimal(text in "-?(0|[1-9][0-9]{0,19})(\\.[0-9]{1,12})?(e-?[0-9]{1,2})?") {
        for number in [Number::Stored(&text), Number::Shared(Arc::from(text.as_str()))] {
            let decimal = number.decimal();
            prop_assert_eq!(decimal, tamias_json::number::to_decimal(&text));
            prop_assert_eq!(
                decimal.map(|decimal| decimal.unpack()),
                tamias_json::number::to_decimal(&text).map(|decimal| decimal.unpack()),
                "also in its scale and sign"
            );
            if let Some(decimal) = decimal {
                prop_assert_eq!(number.compare(&Number::Decimal(decimal)), Ordering::Equal);
            }
            prop_assert_eq!(number.to_f64(), text.parse::<f64>().unwrap());
        }
    }

    #[test]
    fn numbers_compare_as_decimals_do(
        a in "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,3})?",
        b in "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,3})?",
    ) {
        let expected = a.parse::<Decimal>().unwrap().cmp(&b.parse().unwrap());
        prop_assert_eq!(Number::Stored(&a).compare(&Number::Stored(&b)), expected);
    }
}
