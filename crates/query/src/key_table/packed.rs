//! Keys of few bytes packed into a word of 128 bits, so that they are told apart without their text.

use crate::value::telling_digits;

/// A spelling in 128 bits. Equal ones spell equal values; numbers that differ in the zeros at their end only are equal here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) bits: u128,
    pub(super) form: Form,
}

/// What the bits stand for: the kind in the upper byte, and in the lower one a length, or the scale of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Form(u16);

impl Form {
    /// Where a text stands that is not packed.
    pub(super) const TEXT: Form = Form(0);
    /// 32 hexadecimal digits in lower case, as traces have them.
    const HEX: Form = Form(1 << 8);
    /// The same with dashes, as in a UUID.
    const DASHED: Form = Form(2 << 8);
    /// The characters of a string.
    const STRING: u16 = 3;
    /// Any other JSON text.
    const RAW: u16 = 4;
    /// The significand of a number without zeros at its end behind the point.
    const NUMBER: u16 = 5;

    fn of(kind: u16, beside: usize) -> Form {
        Form(kind << 8 | beside as u16 & 0xff)
    }

    fn kind(self) -> u16 {
        self.0 >> 8
    }

    fn beside(self) -> usize {
        usize::from(self.0 & 0xff)
    }

    /// A word that tells it from others.
    pub(super) fn word(self) -> u32 {
        self.0.into()
    }

    /// Whether it is a number's.
    pub(super) fn is_number(self) -> bool {
        self.kind() == Form::NUMBER
    }

    /// Whether what is packed so is known to have one canonical text, whatever its spelling: all digits that are told apart make a difference.
    pub(super) fn is_canonical(self, ci: bool) -> bool {
        self.is_number() || !ci && matches!(self, Form::HEX | Form::DASHED)
    }
}

/// The most bytes that a packed spelling has: those of a UUID between quotes.
pub(super) const SPELLED_MAX: usize = 38;

/// A JSON text in 128 bits, and with how many zeros at its end that could be left out; none where it has no room.
#[inline]
pub(super) fn pack(json: &[u8]) -> Option<(Packed, u8)> {
    let bits = |form: Form, bits: u128| Some((Packed { bits, form }, 0));
    match json {
        [b'"', text @ .., b'"'] => match text.len() {
            length @ 0..=16 => bits(Form::of(Form::STRING, length), load(text)),
            32 => bits(Form::HEX, hexadecimal(text.first_chunk()?)?),
            36 => bits(Form::DASHED, dashed(text.first_chunk()?)?),
            _ => None,
        },
        [b'-' | b'0'..=b'9', ..] => number(json).map(pack_number).or_else(|| raw(json)),
        _ => raw(json),
    }
}

/// A number of a significand and a scale, and with how many zeros at its end that could be left out.
#[inline]
pub(super) fn pack_number((significand, scale): (i64, u32)) -> (Packed, u8) {
    let (mut short, mut zeros) = (significand, 0);
    while zeros < scale && short % 10 == 0 {
        short /= 10;
        zeros += 1;
    }
    let form = Form::of(Form::NUMBER, (scale - zeros) as usize);
    (Packed { bits: u128::from(short as u64), form }, zeros as u8)
}

fn raw(json: &[u8]) -> Option<(Packed, u8)> {
    let form = Form::of(Form::RAW, json.len());
    (json.len() <= 16).then(|| (Packed { bits: load(json), form }, 0))
}

/// The text of a packed key, and its length.
#[inline]
pub(super) fn unpack(Packed { bits, form }: Packed, zeros: u8) -> ([u8; SPELLED_MAX], u8) {
    let mut spelled = Spelled::default();
    match form {
        Form::HEX => {
            let words = digits_of(bits);
            spelled.put(b"\"");
            words.iter().for_each(|digits| spelled.put(digits));
            spelled.put(b"\"");
        }
        Form::DASHED => {
            let [one, two, three, four] = digits_of(bits);
            let [two, three] = [two, three].map(|digits| digits.map(|digit| [digit]));
            let ([a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p]) = (two, three);
            spelled.put(b"\"");
            spelled.put(&one);
            let halves = [[a, b, c, d], [e, f, g, h], [i, j, k, l]];
            halves.iter().for_each(|digits| {
                spelled.put(b"-");
                spelled.put(digits.as_flattened());
            });
            spelled.put(b"-");
            spelled.put([m, n, o, p].as_flattened());
            spelled.put(&four);
            spelled.put(b"\"");
        }
        form => match form.kind() {
            Form::STRING => {
                spelled.put(b"\"");
                spelled.put_loaded(bits, form.beside());
                spelled.put(b"\"");
            }
            Form::NUMBER => spelled.put_number(bits as i64, form.beside(), usize::from(zeros)),
            _ => spelled.put_loaded(bits, form.beside()),
        },
    }
    (spelled.bytes, spelled.len)
}

/// The significand and the scale that a number is spelled with.
#[inline]
fn number(json: &[u8]) -> Option<(i64, u32)> {
    telling_digits(json).or_else(|| long_number(json))
}

/// The same of one that has more digits, but no zeros that could be left out.
#[inline(never)]
fn long_number(json: &[u8]) -> Option<(i64, u32)> {
    let digits = json.strip_prefix(b"-").unwrap_or(json);
    if !is_plain_number(digits) || digits == b"0" {
        return None;
    }
    let scale = digits.iter().rev().position(|byte| *byte == b'.').unwrap_or_default();
    let mut all = digits.iter().filter(|byte| **byte != b'.');
    // Of as many digits as these some have no room.
    let significand = all.try_fold(0i64, |number, digit| {
        number.checked_mul(10)?.checked_add(digit.wrapping_sub(b'0').into())
    })?;
    Some((if digits.len() < json.len() { -significand } else { significand }, scale as u32))
}

/// Whether digits are a plain number without a sign: no exponent, no zeros that could be left out, and few digits.
pub(super) fn is_plain_number(digits: &[u8]) -> bool {
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (digits.get(..point), digits.get(point + 1..)),
        None => (Some(digits), None),
    };
    let is_whole = match whole {
        Some([b'0']) => true,
        Some([b'1'..=b'9', rest @ ..]) => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let is_fraction = match fraction {
        Some([before @ .., b'1'..=b'9']) => before.iter().all(u8::is_ascii_digit),
        Some(_) => false,
        None => true,
    };
    is_whole && is_fraction && digits.len() - usize::from(point.is_some()) <= PLAIN_DIGITS_MAX
}

/// Numbers of no more digits are canonical as they are written without exponent, the zero before a point counted.
pub(super) const PLAIN_DIGITS_MAX: usize = 19;

/// At most 16 bytes as a word. Together with their number it tells them.
#[inline]
fn load(bytes: &[u8]) -> u128 {
    fn ends<const N: usize>(bytes: &[u8]) -> Option<([u8; N], [u8; N])> {
        Some((*bytes.first_chunk()?, *bytes.last_chunk()?))
    }
    if let Some((first, last)) = ends::<8>(bytes) {
        return u128::from(u64::from_le_bytes(first)) | u128::from(u64::from_le_bytes(last)) << 64;
    }
    if let Some((first, last)) = ends::<4>(bytes) {
        return u128::from(u32::from_le_bytes(first)) | u128::from(u32::from_le_bytes(last)) << 64;
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// The 128 bits that hexadecimal digits in lower case stand for.
#[inline]
pub(crate) fn hexadecimal(digits: &[u8; 32]) -> Option<u128> {
    let (words, _) = digits.as_chunks::<8>();
    words.iter().try_fold(0, |word, digits| Some(word << 32 | u128::from(eight_digits(digits)?)))
}

/// The same with dashes between them.
#[inline]
pub(crate) fn dashed(text: &[u8; 36]) -> Option<u128> {
    let [a, b, c, d, e, f, g, h, b'-', text @ ..] = text else { return None };
    let [i, j, k, l, b'-', m, n, o, p, b'-', text @ ..] = text else { return None };
    let [q, r, s, t, b'-', rest @ ..] = text else { return None };
    let (first, last) = (rest.first_chunk::<4>()?, rest.last_chunk::<8>()?);
    let [u, v, w, x] = first;
    let of = |digits: [&u8; 8]| eight_digits(&digits.map(|digit| *digit)).map(u128::from);
    let (one, two) = (of([a, b, c, d, e, f, g, h])?, of([i, j, k, l, m, n, o, p])?);
    let (three, four) = (of([q, r, s, t, u, v, w, x])?, u128::from(eight_digits(last)?));
    Some(one << 96 | two << 64 | three << 32 | four)
}

/// A one in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The 32 bits that eight digits in lower case stand for, all of them at once in the bytes of a word.
#[inline]
fn eight_digits(digits: &[u8; 8]) -> Option<u32> {
    let text = u64::from_be_bytes(*digits);
    // Letters begin at 0x61, digits at 0x30.
    let letters = text >> 6 & ONES;
    let values = (text & (0x0f * ONES)) + 9 * letters;
    let spelled = values + 0x30 * ONES + 0x27 * letters;
    let are_letters = (values + 6 * ONES) >> 4 & ONES;
    if spelled != text || are_letters != letters || values & (0xf0 * ONES) != 0 {
        return None;
    }
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let quads = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((quads | quads >> 16) as u32)
}

/// The 32 digits of a word.
#[inline]
fn digits_of(bits: u128) -> [[u8; 8]; 4] {
    [bits >> 96, bits >> 64, bits >> 32, bits].map(|word| digits_of_word(word as u32))
}

/// The eight digits of 32 bits, all of them at once in the bytes of a word.
#[inline]
fn digits_of_word(bits: u32) -> [u8; 8] {
    let halves = (u64::from(bits) | u64::from(bits) << 16) & 0x0000_ffff_0000_ffff;
    let bytes = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    let values = (bytes | bytes << 4) & (0x0f * ONES);
    let letters = (values + 6 * ONES) >> 4 & ONES;
    (values + 0x30 * ONES + 0x27 * letters).to_be_bytes()
}

/// Bytes with room for the longest spelling; there are never more.
struct Spelled {
    bytes: [u8; SPELLED_MAX],
    len: u8,
}

impl Default for Spelled {
    fn default() -> Spelled {
        Spelled { bytes: [0; SPELLED_MAX], len: 0 }
    }
}

impl Spelled {
    /// Room for so many bytes more, where there is as much.
    #[inline]
    fn room(&mut self, length: usize) -> Option<&mut [u8]> {
        let start = usize::from(self.len);
        let room = self.bytes.get_mut(start..start + length)?;
        self.len += length as u8;
        Some(room)
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if let Some(room) = self.room(bytes.len()) {
            room.copy_from_slice(bytes);
        }
    }

    /// So many bytes, as they were loaded.
    #[inline]
    fn put_loaded(&mut self, bits: u128, length: usize) {
        fn put_ends<const N: usize>(room: &mut [u8], first: [u8; N], last: [u8; N]) {
            if let Some(place) = room.first_chunk_mut() {
                *place = first;
            }
            if let Some(place) = room.last_chunk_mut() {
                *place = last;
            }
        }
        let Some(room) = self.room(length) else { return };
        let (first, last) = (bits as u64, (bits >> 64) as u64);
        match length {
            8.. => put_ends(room, first.to_le_bytes(), last.to_le_bytes()),
            4.. => put_ends(room, (first as u32).to_le_bytes(), (last as u32).to_le_bytes()),
            _ => room.iter_mut().zip(first.to_le_bytes()).for_each(|(place, byte)| *place = byte),
        }
    }

    /// A number with so many more zeros at its end than its scale has room for.
    fn put_number(&mut self, significand: i64, scale: usize, zeros: usize) {
        // A digit before the point at least, and zeros where the significand has fewer digits than the scale: there are 18 at most.
        let (mut digits, mut first) = ([b'0'; DIGITS_MAX], DIGITS_MAX);
        let mut rest = significand.unsigned_abs();
        // Two at a time, since each division waits for the one before.
        for (at, pair) in digits.as_chunks_mut::<2>().0.iter_mut().enumerate().rev() {
            if rest == 0 {
                break;
            }
            let two = (rest % 100) as u8;
            *pair = [b'0' + two / 10, b'0' + two % 10];
            (rest, first) = (rest / 100, 2 * at + usize::from(rest < 10));
        }
        let point = DIGITS_MAX.saturating_sub(scale);
        let (whole, fraction) = digits.split_at(point);
        if significand < 0 {
            self.put(b"-");
        }
        self.put(whole.get(first.min(point.saturating_sub(1))..).unwrap_or_default());
        if scale + zeros > 0 {
            self.put(b".");
        }
        self.put(fraction);
        (0..zeros).for_each(|_| self.put(b"0"));
    }
}

/// As many digits as 64 bits come to.
const DIGITS_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn comes_back(json: &str) -> bool {
        let (packed, zeros) = pack(json.as_bytes()).unwrap();
        let (bytes, len) = unpack(packed, zeros);
        bytes[..usize::from(len)] == *json.as_bytes()
    }

    #[test]
    fn what_is_packed_is_spelled_as_it_was() {
        for json in [
            "",
            "0",
            "-1",
            "1.50",
            "100",
            "100.0",
            "0.0",
            "0.00",
            "0.05",
            "-0.5",
            "-0.50",
            "-12.5",
            "12.00",
            "123456789012345678",
            "-1.2345678901234567",
            "0.00000000000000001",
            "-0",
            "-0.0",
            "1e3",
            "null",
            "true",
            "[]",
            "{\"a\":[1.5]}",
            r#""""#,
            r#""a""#,
            r#""abc""#,
            r#""abcd""#,
            r#""abcdefg""#,
            r#""abcdefgh""#,
            r#""abcdefghijklmno""#,
            r#""abcdefghijklmnop""#,
            r#""\u0000""#,
            "\"",
            "-",
            "\"a",
        ] {
            assert!(comes_back(json), "{json}");
        }
    }

    #[test]
    fn what_has_no_room_is_not_packed() {
        for json in [
            "\"abcdefghijklmnopq\"",
            "[1,2,3,4,5,6,7,8]",
            "9223372036854775808",
            "12345678901234567890",
            "1.00000000000000000",
        ] {
            assert_eq!(pack(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn zeros_at_the_end_make_no_difference() {
        let [one, other, third] = ["1.5", "1.50", "1.500"].map(|json| pack(json.as_bytes()).unwrap());
        assert_eq!((one.0, other.0), (other.0, third.0));
        assert_eq!((one.1, other.1, third.1), (0, 1, 2));
    }

    proptest! {
        #[test]
        fn identifiers_are_their_bits(bits: u128) {
            let hex = format!("{bits:032x}");
            let json = format!("\"{hex}\"");
            prop_assert_eq!(pack(json.as_bytes()), Some((Packed { bits, form: Form::HEX }, 0)));
            prop_assert!(comes_back(&json));
            let json = format!("\"{}-{}-{}-{}-{}\"", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
            prop_assert_eq!(pack(json.as_bytes()), Some((Packed { bits, form: Form::DASHED }, 0)));
            prop_assert!(comes_back(&json));
        }

        #[test]
        fn nothing_else_is_an_identifier(bits: u128, dashed: bool, place in 1usize..33, other: u8) {
            let hex = format!("{bits:032x}");
            let mut json = match dashed {
                false => format!("\"{hex}\""),
                true => format!("\"{}-{}-{}-{}-{}\"", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]),
            }.into_bytes();
            let is_same = match json[place] {
                b'-' => other == b'-',
                _ => matches!(other, b'0'..=b'9' | b'a'..=b'f'),
            };
            json[place] = other;
            prop_assert_eq!(pack(&json).is_some(), is_same);
        }

        #[test]
        fn any_numbers_come_back(significand in -999_999_999_999_999i64..1_000_000_000_000_000, scale in 0u32..10) {
            prop_assume!(significand != 0 || scale > 0);
            prop_assert!(comes_back(&rust_decimal::Decimal::new(significand, scale).to_string()));
        }

        #[test]
        fn any_bytes_come_back_or_are_not_packed(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let quoted = [b"\"", &bytes[..], b"\""].concat();
            for json in [bytes, quoted] {
                if let Some((packed, zeros)) = pack(&json) && packed.form.kind() != Form::NUMBER {
                    let (spelled, len) = unpack(packed, zeros);
                    prop_assert_eq!(&spelled[..usize::from(len)], &json[..]);
                }
            }
        }
    }
}
