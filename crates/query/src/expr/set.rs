//! Constants that a value is compared with all at once: a set, so that many cost what one does.

use crate::value::{Number, Value, canonical, upper};
use foldhash::fast::RandomState;
use rust_decimal::Decimal;
use std::collections::HashSet;

/// Constants, told apart as `=` does.
#[derive(Debug)]
pub(crate) struct Set {
    ci: bool,
    /// As they were written.
    values: Vec<Value<'static>>,
    /// Strings, in upper case if `ci`.
    texts: HashSet<Box<str>, RandomState>,
    /// Numbers of few digits, without zeros at their end.
    few: HashSet<(i64, u32), RandomState>,
    /// Everything but strings, in the spelling that equal values share.
    others: HashSet<Box<[u8]>, RandomState>,
    /// In their order.
    numbers: Vec<Number<'static>>,
}

impl Set {
    /// The set of some values, none of which is undefined. Takes time linear in their size, but for the order of numbers.
    pub(crate) fn new(values: Vec<Value<'static>>, ci: bool) -> Set {
        let mut set = Set {
            ci,
            texts: HashSet::default(),
            few: HashSet::default(),
            others: HashSet::default(),
            numbers: Vec::new(),
            values: Vec::new(),
        };
        for value in &values {
            match value {
                Value::Text(text) => {
                    set.texts.insert(if ci { folded(&text.text()).into() } else { text.text().into() });
                    continue;
                }
                Value::Number(number) => {
                    set.few.extend(number.decimal().and_then(few_of));
                    set.numbers.push(number.clone());
                }
                Value::Undefined | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
            }
            set.others.insert(spelled(value, ci).into());
        }
        set.numbers.sort_by(Number::compare);
        Set { values, ..set }
    }

    /// Whether a value equals one of the constants.
    pub(crate) fn contains(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Text(text) if self.ci => self.texts.contains(&*folded(&text.text())),
            Value::Text(text) => self.texts.contains(&*text.text()),
            Value::Number(number) => match few_digits(number) {
                Some(few) => self.few.contains(&few),
                None => self.others.contains(&*spelled(value, self.ci)),
            },
            Value::Undefined | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                !self.others.is_empty() && self.others.contains(&*spelled(value, self.ci))
            }
        }
    }

    /// The constants as they were written.
    pub(crate) fn values(&self) -> &[Value<'static>] {
        &self.values
    }

    /// Whether the case of letters makes no difference.
    pub(crate) fn ci(&self) -> bool {
        self.ci
    }

    /// Whether one of the constants is a number from `least` to `greatest`. Takes time logarithmic in their number.
    pub(crate) fn has_number_within(&self, least: &Number<'_>, greatest: &Number<'_>) -> bool {
        let first = self.numbers.partition_point(|number| number.compare(least).is_lt());
        self.numbers.get(first).is_some_and(|number| number.compare(greatest).is_le())
    }

    /// Whether all constants are scalars.
    pub(crate) fn is_flat(&self) -> bool {
        !self.values.iter().any(|value| matches!(value, Value::Array(_) | Value::Object(_)))
    }
}

/// The spelling that equal values share.
fn spelled(value: &Value<'_>, ci: bool) -> Vec<u8> {
    let mut spelled = Vec::new();
    canonical(value, ci, &mut spelled);
    spelled
}

/// In upper case, one to one.
fn folded(text: &str) -> String {
    text.chars().map(upper).collect()
}

/// The significand and scale of a number of few digits.
fn few_digits(number: &Number<'_>) -> Option<(i64, u32)> {
    match number {
        Number::Decimal(decimal) => few_of(*decimal),
        Number::Stored(_) | Number::Shared(_) => {
            let (significand, scale) = number.few_digits()?;
            Some(without_zeros(significand, scale))
        }
    }
}

fn few_of(decimal: Decimal) -> Option<(i64, u32)> {
    let decimal = decimal.normalize();
    Some(without_zeros(i64::try_from(decimal.mantissa()).ok()?, decimal.scale()))
}

fn without_zeros(mut significand: i64, mut scale: u32) -> (i64, u32) {
    while scale > 0 && significand % 10 == 0 {
        (significand, scale) = (significand / 10, scale - 1);
    }
    (significand, scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{equal, parse};

    #[test]
    fn a_set_holds_what_equals_one_of_its_constants() {
        let texts = [
            "null",
            "true",
            "false",
            "0",
            "-0",
            "0.0",
            "1",
            "1.0",
            "10",
            "1e1",
            "1e400",
            "10e399",
            "0.10",
            "0.1",
            "79228162514264337593543950336",
            "9223372036854775807",
            "9223372036854775808",
            "123456789012345678901",
            r#""""#,
            r#""a""#,
            r#""A""#,
            r#""\u0041""#,
            r#""\ud800""#,
            "\"\u{fffd}\"",
            r#""ß""#,
            r#""1""#,
            "[]",
            "[1]",
            "[1.0]",
            r#"["a"]"#,
            r#"["A"]"#,
            "{}",
            r#"{"a":1,"b":2}"#,
            r#"{"b":2.0,"a":1}"#,
            r#"{"A":1,"b":2}"#,
        ];
        let values: Vec<Value<'static>> = texts.iter().map(|text| parse(text.as_bytes())).collect();
        for ci in [false, true] {
            for constant in &values {
                let set = Set::new(vec![constant.clone()], ci);
                let all = Set::new(
                    values.iter().filter(|other| equal(other, constant, ci) != Some(true)).cloned().collect(),
                    ci,
                );
                for value in &values {
                    let is_equal = equal(value, constant, ci) == Some(true);
                    assert_eq!(set.contains(value), is_equal, "{value:?} {constant:?} {ci}");
                    assert_eq!(all.contains(value), !is_equal, "{value:?} {constant:?} {ci}");
                    if let (Value::Number(a), Value::Number(b)) = (value, constant) {
                        assert_eq!(set.has_number_within(a, a), is_equal, "{a:?} {b:?}");
                    }
                }
                let computed = match constant {
                    Value::Number(number) => number.decimal(),
                    _ => None,
                };
                assert!(computed.is_none_or(|decimal| set.contains(&Value::from(decimal))), "{constant:?}");
            }
            assert!(!Set::new(Vec::new(), ci).contains(&Value::Null));
        }
    }
}
