//! JSON numbers as a mantissa and a scale, where that spells them back.

use crate::output::SLACK;

/// A number whose plain text is its spelling: `4.10` is the mantissa 410 with the scale 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) mantissa: i64,
    /// Digits after the point.
    pub(crate) scale: u8,
}

/// The powers of ten that 64 bits hold.
pub(crate) const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut n = 1;
    while n < 20 {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// So many digits fit a mantissa, whatever they are.
pub(crate) const DIGITS_MAX: usize = 18;

/// The number, if its text is what [`spell`] makes of it: no exponent, at most 18 digits, no `-0`.
#[inline]
pub(crate) fn parse(text: &[u8]) -> Option<Plain> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.len() > DIGITS_MAX + 1 {
        return None;
    }
    let mut mantissa = 0i64;
    let mut point = None;
    for (index, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // Of 19 digits it may overflow, and is then refused below.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(digit));
        } else if *byte == b'.' && point.is_none() && index > 0 {
            point = Some(index);
        } else {
            return None;
        }
    }
    let whole = point.unwrap_or(digits.len());
    let scale = digits.len() - point.map_or(digits.len(), |point| point + 1);
    let leading_zero = whole > 1 && digits.first() == Some(&b'0');
    let no_fraction = point.is_some() && scale == 0;
    if whole == 0 || leading_zero || no_fraction || whole + scale > DIGITS_MAX || (negative && mantissa == 0)
    {
        return None;
    }
    Some(Plain { mantissa: if negative { mantissa.wrapping_neg() } else { mantissa }, scale: scale as u8 })
}

/// The number that a text with an exponent, or with more digits than it needs, comes to; none where it takes more digits than a mantissa has, and none for `-0`.
pub(crate) fn parse_with_exponent(text: &[u8]) -> Option<Plain> {
    let text = std::str::from_utf8(text).ok()?;
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() {
        return None;
    }
    let mut scale = i32::try_from(fraction.len()).ok()? - i32::from(exponent);
    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return (!negative).then_some(Plain { mantissa: 0, scale: 0 });
    }
    if significant.len() > DIGITS_MAX {
        return None;
    }
    scale -= i32::try_from(digits.len() - digits.trim_end_matches('0').len()).ok()?;
    let mut mantissa: i64 = significant.parse().ok()?;
    if scale < 0 {
        mantissa = mantissa.checked_mul(10i64.checked_pow(scale.unsigned_abs())?)?;
        scale = 0;
    }
    let scale = u8::try_from(scale).ok().filter(|scale| usize::from(*scale) <= DIGITS_MAX)?;
    Some(Plain { mantissa: if negative { -mantissa } else { mantissa }, scale })
}

/// A number's text is at most this long: a sign, a point, and more zeros than a right number has.
const SPELLED_MAX: usize = 24;

/// Where [`spell`] writes. Its end is left, so that what was written can be copied by instructions of a fixed length.
pub(crate) type Buffer = [u8; SPELLED_MAX + SLACK];

/// The pairs of digits from 00 to 99.
pub(crate) const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// Writes the number into `buffer`, and gives from where on up to where. A scale above 18 counts as 18.
#[inline]
pub(crate) fn spell(number: Plain, buffer: &mut Buffer) -> (usize, usize) {
    let mut rest = number.mantissa.unsigned_abs();
    let mut at = SPELLED_MAX;
    let scale = usize::from(number.scale).min(DIGITS_MAX);
    if scale == 0 {
        while rest >= 100 {
            at -= 2;
            buffer[at..at + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
            rest /= 100;
        }
        if rest >= 10 {
            at -= 2;
            buffer[at..at + 2].copy_from_slice(&PAIRS[rest as usize]);
        } else {
            at -= 1;
            buffer[at] = b'0' + rest as u8;
        }
    } else {
        for _ in 0..scale {
            at -= 1;
            buffer[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        at -= 1;
        buffer[at] = b'.';
        loop {
            at -= 1;
            buffer[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
    }
    if number.mantissa < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    (at, SPELLED_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(number: Plain) -> Vec<u8> {
        let mut buffer = [0; SPELLED_MAX + SLACK];
        let (from, to) = spell(number, &mut buffer);
        buffer[from..to].to_vec()
    }

    #[test]
    fn what_is_not_spelled_back_is_refused() {
        for text in [
            "-0",
            "-0.0",
            "1e3",
            "1E3",
            "00",
            "01",
            "1.",
            ".1",
            "",
            "-",
            "1234567890123456789",
            "0.1234567890123456789",
            "1.2.3",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn spellings_keep_their_zeros() {
        for text in [
            "0",
            "0.0",
            "0.00",
            "4.10",
            "-4.10",
            "-0.01",
            "100",
            "999999999999999999",
            "-999999999999999999",
            "0.00000000000000001",
        ] {
            assert_eq!(parse(text.as_bytes()).map(spelled).as_deref(), Some(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn exponents_and_needless_digits_are_reckoned_away() {
        for (text, mantissa, scale) in [
            ("5.2e-05", 52, 6),
            ("-5.20E-5", -52, 6),
            ("1e3", 1000, 0),
            ("1.5e+1", 15, 0),
            ("1.25e1", 125, 1),
            ("0e9", 0, 0),
            ("1.0000000000000000000", 1, 0),
            ("1e18", 1_000_000_000_000_000_000, 0),
            ("1e-18", 1, 18),
        ] {
            assert_eq!(parse_with_exponent(text.as_bytes()), Some(Plain { mantissa, scale }), "{text}");
        }
        for text in ["-0", "-0e1", "1e19", "1e-19", "1e99999", "1234567890123456789", "1e", "", "1e1e1"] {
            assert_eq!(parse_with_exponent(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_parsed_is_spelled_back(text in r"-?[0-9]{0,20}(\.[0-9]{0,20})?([eE][0-9])?") {
            if let Some(number) = parse(text.as_bytes()) {
                prop_assert_eq!(spelled(number), text.as_bytes());
            }
        }

        #[test]
        fn whole_numbers_are_spelled_as_std_does(mantissa in any::<i64>(), scale in any::<u8>()) {
            prop_assert_eq!(spelled(Plain { mantissa, scale: 0 }), mantissa.to_string().into_bytes());
            let length = spelled(Plain { mantissa, scale }).len();
            prop_assert!(length <= SPELLED_MAX);
        }
    }
}
