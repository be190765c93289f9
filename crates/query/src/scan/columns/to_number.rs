//! `ToNumber` over a dictionary: the numbers that texts spell, as mantissas.

use super::characters::Untold;
use super::evaluate::Evaluator;
use super::mapped::{TextOf, Told};
use super::reckoned::Reckoned;
use super::texts::unquoted;
use crate::chunk::few_digits_of;
use crate::expr::Expr;
use crate::value::Number;
use tamias_simd::decimal::Digits;

/// A mantissa and its scale.
type Read = (i64, u8);

/// Texts of more bytes are left to the evaluation: all shorter ones have a mantissa.
const DIGITS_MAX: usize = 16;

impl Evaluator<'_> {
    /// The numbers that the texts of a column spell, or what functions of strings make of them, by the rows that have one; none where the
    /// bytes of one do not tell.
    pub(super) fn read_numbers(&self, of: &Expr) -> Option<Reckoned> {
        let text = TextOf::of(of, &|leaf: &Expr| self.as_column(leaf).flatten().is_some())?;
        let coded = self.column(self.only(of)??)?.texts()?;
        let entries = 0..coded.dictionary.len() as u32;
        let is_stored = text.is_stored();
        let text = text.over(coded.dictionary.spelling());
        let read = |entry: u32| -> Option<Option<Read>> {
            match (coded.dictionary.get(entry), is_stored) {
                // Of what is no text functions of strings make nothing.
                (json @ [b'-' | b'0'..=b'9', ..], true) => {
                    let number = Number::Stored(std::str::from_utf8(json).ok()?);
                    // A number stays as it is spelled: one with zeros at its end would be shown without them.
                    let (significand, scale) = few_digits_of(&number)
                        .filter(|(significand, scale)| *scale == 0 || significand % 10 != 0)?;
                    Some(Some((significand, u8::try_from(scale).ok()?)))
                }
                (json @ [b'"', ..], _) => match text.tell(unquoted(json)?) {
                    Ok(Some(text)) => read(&text).ok(),
                    Ok(None) => Some(None),
                    Err(Untold) => None,
                },
                (_, true) => Some(None),
                (json, false) => json.is_empty().then_some(None),
            }
        };
        // Those that have none are zeros here.
        let (mut mantissas, mut scales) = (Vec::new(), Vec::new());
        let mut are_there = vec![false; coded.dictionary.len()];
        for (entry, is_there) in entries.zip(&mut are_there) {
            let told = read(entry)?;
            *is_there = told.is_some();
            let (mantissa, scale) = told.unwrap_or_default();
            mantissas.push(mantissa);
            scales.push(scale);
        }
        let scale = scales.iter().copied().max().unwrap_or(0);
        for (mantissa, own) in mantissas.iter_mut().zip(&scales).filter(|(_, own)| **own != scale) {
            *mantissa = mantissa.checked_mul(10i64.checked_pow((scale - own).into())?)?;
        }
        if coded.codes().is_none() && !are_there.contains(&false) {
            return Some(Reckoned::computed(None, mantissas, scale));
        }
        let (mut rows, mut values) = (Vec::with_capacity(self.rows()), Vec::with_capacity(self.rows()));
        for row in 0..self.rows() {
            let code = coded.code(row) as usize;
            if let (Some(mantissa), Some(true)) = (mantissas.get(code), are_there.get(code)) {
                rows.push(row as u32);
                values.push(*mantissa);
            }
        }
        let rows = (rows.len() != self.rows()).then_some(rows);
        Some(Reckoned::computed(rows, values, scale))
    }
}

/// The number that a text spells: none where it spells none.
fn read(text: &[u8]) -> Told<Read> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if let Some((mantissa, scale)) = read_at_once(digits) {
        return Ok(Some((if digits.len() < text.len() { -mantissa } else { mantissa }, scale)));
    }
    match text {
        [] => return Ok(None),
        [b'-' | b'0'..=b'9', ..] if text.len() <= DIGITS_MAX => {}
        // Whatever else is printed in ASCII begins no number; space around a text is cut off before it is read.
        [b'!'..=b'~', ..] if !matches!(text, [b'-' | b'0'..=b'9' | b'\\', ..]) => return Ok(None),
        _ if has_other_than_numbers(text) => return Ok(None),
        _ => return Err(Untold),
    }
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        None => (digits, None),
        Some(point) => {
            let (whole, fraction) = digits.split_at(point);
            (whole, fraction.get(1..))
        }
    };
    let all = whole.iter().chain(fraction.unwrap_or_default());
    if whole.is_empty() || fraction == Some(b"") || !all.clone().all(u8::is_ascii_digit) {
        // Without an exponent, and a space at its end that is cut off, it is none.
        let may_be_told = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'e' | b'E' | b'\\');
        let is_none = text.iter().all(may_be_told) && !text.ends_with(b" ");
        return if is_none { Ok(None) } else { Err(Untold) };
    }
    // Sixteen digits at most.
    let mantissa = all.fold(0i64, |mantissa, digit| 10 * mantissa + i64::from(digit - b'0'));
    let mantissa = if digits.len() < text.len() { -mantissa } else { mantissa };
    let scale = u8::try_from(fraction.map_or(0, <[u8]>::len)).map_err(|_| Untold)?;
    Ok(Some((mantissa, scale)))
}

/// Whether a printed character that no number has stands before any escape. Space is not judged, since it is cut off around a text.
fn has_other_than_numbers(text: &[u8]) -> bool {
    let plain = text.iter().take_while(|byte| **byte != b'\\');
    let mut shown = plain.filter(|byte| matches!(byte, b'!'..=b'~'));
    shown.any(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// What digits come to, with a point among them or without, where they are spelled as numbers are.
fn read_at_once(digits: &[u8]) -> Option<Read> {
    let begins = matches!(digits, [b'0'..=b'9', ..]);
    let ends = matches!(digits, [.., b'0'..=b'9']);
    let (mantissa, scale) = Digits::of(digits).filter(|_| begins && ends)?.value();
    Some((i64::try_from(mantissa).ok()?, u8::try_from(scale).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn texts_are_the_numbers_that_json_has_behind_zeros(text in "-?[0-9.]{1,4}|-?[0-9]{1,9}\\.?[0-9]{0,8}|[0-9.e -]{0,17}|[0-9.+Ev=é\u{a0}\u{1}\t -]{0,9}") {
            // Zeros before the first digit count for nothing.
            let unsigned = text.strip_prefix('-').unwrap_or(&text);
            let rest = unsigned.trim_start_matches('0');
            let zero = if rest.len() < unsigned.len() && !rest.starts_with(|next: char| next.is_ascii_digit()) { "0" } else { "" };
            let number = format!("{}{zero}{rest}", if unsigned.len() < text.len() { "-" } else { "" });
            let is_number = serde_json::from_str::<f64>(&number).is_ok() && text.trim() == text;
            let plain = is_number.then_some(number.as_str());
            match read(text.as_bytes()) {
                Ok(told) => {
                    let spelled = told.map(|(mantissa, scale)| rust_decimal::Decimal::new(mantissa, scale.into()));
                    let json = plain.and_then(tamias_json::number::to_decimal);
                    prop_assert_eq!(spelled, json, "{}", text);
                }
                // What the bytes do not tell is told by an evaluation.
                Err(Untold) => prop_assert!(plain.is_none() || text.contains(['e', 'E']) || text.len() > DIGITS_MAX),
            }
        }
    }
}
