//! `ToNumber` over a dictionary: the numbers that texts spell, as mantissas.

use super::characters::Untold;
use super::evaluate::Evaluator;
use super::mapped::{TextOf, Told, unquoted};
use super::reckoned::Reckoned;
use crate::chunk::few_digits_of;
use crate::expr::Expr;
use crate::value::Number;

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
        let (is_stored, spelling) = (matches!(text, TextOf::Stored), coded.dictionary.spelling());
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
                (json @ [b'"', ..], _) => match text.tell(unquoted(json)?, spelling) {
                    Ok(Some(text)) => read(&text).ok(),
                    Ok(None) => Some(None),
                    Err(Untold) => None,
                },
                (_, true) => Some(None),
                (json, false) => json.is_empty().then_some(None),
            }
        };
        let read: Vec<Option<Read>> = entries.map(read).collect::<Option<_>>()?;
        let scale = read.iter().flatten().map(|(_, scale)| *scale).max().unwrap_or(0);
        let raised = |(mantissa, own): Read| mantissa.checked_mul(10i64.checked_pow((scale - own).into())?);
        let mantissas: Vec<Option<i64>> = read
            .into_iter()
            .map(|read| read.map_or(Some(None), |read| raised(read).map(Some)))
            .collect::<Option<_>>()?;
        let (mut rows, mut values) = (Vec::with_capacity(self.rows()), Vec::with_capacity(self.rows()));
        for row in 0..self.rows() {
            if let Some(Some(mantissa)) = mantissas.get(coded.code(row) as usize) {
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
    match text {
        [] => return Ok(None),
        [b'-' | b'0'..=b'9', ..] if text.len() <= DIGITS_MAX => {}
        // Whatever else is printed in ASCII begins no number; what is no more than space is cut off before.
        [b'!'..=b'~', ..] if !matches!(text, [b'-' | b'0'..=b'9' | b'\\', ..]) => return Ok(None),
        _ => return Err(Untold),
    }
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        None => (digits, None),
        Some(point) => {
            let (whole, fraction) = digits.split_at(point);
            (whole, fraction.get(1..))
        }
    };
    let is_whole = matches!(whole, [b'0'] | [b'1'..=b'9', ..]);
    let all = whole.iter().chain(fraction.unwrap_or_default());
    if !is_whole || fraction == Some(b"") || !all.clone().all(u8::is_ascii_digit) {
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
