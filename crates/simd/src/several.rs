//! Several numbers compared with a whole one in their text.

/// A whole number of at most seven digits, as it is compared with several numbers at once.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Its digits, a byte each, the first one highest.
    pub(crate) digits: u64,
    /// The lowest bit of the byte that follows them in the text, of which the first byte is the lowest.
    pub(crate) end: u64,
}

impl Whole {
    /// The number; none if it has more digits.
    pub fn new(number: u64) -> Option<Whole> {
        let text = number.to_string();
        let digits = text.bytes().fold(0u64, |digits, digit| digits << 8 | u64::from(digit - b'0'));
        let count = text.len() as u32;
        (count < 8).then(|| Whole { digits: digits << (64 - 8 * count), end: 1 << (8 * count) })
    }
}

/// How several numbers stand to another: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether it can be told at a glance: the number has one to seven digits, and perhaps a fraction, and ends within 16 bytes with a
    /// comma or brace; and if it has a fraction, its digits before the point are not just those of the other number.
    pub is_told: u8,
    /// Whether it is equal, where that is told.
    pub is_equal: u8,
    /// Whether it is greater, where that is told.
    pub is_greater: u8,
}

impl Standing {
    /// Compares one number, with which the text begins.
    pub(crate) fn set(&mut self, lane: usize, text: &[u8; 16], whole: Whole) {
        let digits_from = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let count = digits_from(0);
        let has_point = text.get(count) == Some(&b'.');
        let end = if has_point { count + 1 + digits_from(count + 1) } else { count };
        let digits = text.iter().take(count.min(8)).map(|digit| digit - b'0');
        let number = (0..8).zip(digits.chain(std::iter::repeat(0)));
        let number = number.fold(0u64, |number, (_, digit)| number << 8 | u64::from(digit));
        let other = whole.end.trailing_zeros() as usize / 8;
        let is_equal = count == other && number == whole.digits;
        let is_greater = count > other || count == other && number > whole.digits;
        let is_ended = matches!(text.get(end), Some(b',' | b'}'));
        let is_told = (1..8).contains(&count) && is_ended && !(has_point && is_equal);
        self.is_told |= u8::from(is_told) << lane;
        self.is_equal |= u8::from(is_told && is_equal) << lane;
        self.is_greater |= u8::from(is_told && is_greater) << lane;
    }
}
