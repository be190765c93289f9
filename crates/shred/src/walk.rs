//! A walk over a scanned document: what it is made of, told to a visitor.

use tamias_json::Entry;

use crate::number;
use crate::shape::Leaf;

/// A value found in a document.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// Where its text begins and ends; that of a string without its quotes.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) value: FoundValue,
}

impl Found {
    fn array(entry: usize) -> Found {
        Found { from: 0, to: 0, value: FoundValue::Array { entry } }
    }

    /// What stands between two places, as text.
    pub(crate) fn text(from: usize, to: usize) -> Found {
        Found { from: from as u32, to: to as u32, value: FoundValue::Text }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum FoundValue {
    /// A string, or what is kept as text.
    Text,
    /// A number that mantissa and scale spell back.
    Number { mantissa: i64, scale: u8 },
    /// The array's opening entry.
    Array { entry: usize },
}

/// A document, and what the scanner made of it.
#[derive(Clone, Copy)]
pub(crate) struct Scanned<'d, 'o> {
    pub(crate) bytes: &'d [u8],
    pub(crate) entries: &'o [Entry],
}

impl<'d> Scanned<'d, '_> {
    #[inline(always)]
    fn slice(&self, from: usize, to: usize) -> &'d [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }
}

/// The kind of the scalar between two places of a document, and what there is to keep of it.
#[inline(always)]
fn scalar(document: &[u8], from: usize, to: usize) -> (Leaf, Option<Found>) {
    let text = document.get(from..to).unwrap_or_default();
    match text.first() {
        Some(b'"') => (Leaf::Text, Some(Found::text(from + 1, to.max(from + 2) - 1))),
        Some(b't') if text == b"true" => (Leaf::True, None),
        Some(b'f') if text == b"false" => (Leaf::False, None),
        Some(b'n') if text == b"null" => (Leaf::Null, None),
        _ => match number::parse(text) {
            Some(number::Plain { mantissa, scale }) => {
                let kind = if scale == 0 { Leaf::Whole } else { Leaf::Fraction };
                let value = FoundValue::Number { mantissa, scale };
                (kind, Some(Found { from: from as u32, to: to as u32, value }))
            }
            None => (Leaf::Long, Some(Found::text(from, to))),
        },
    }
}

/// What is told of a value as it is walked over.
pub(crate) trait Visitor<'d> {
    /// An object begins; without a key where it is the value itself.
    fn open(&mut self, key: Option<&'d [u8]>);
    /// A value that is no object.
    fn leaf(&mut self, key: Option<&'d [u8]>, kind: Leaf, found: Option<Found>);
    /// The object ends.
    fn close(&mut self);
}

impl<'d> Scanned<'d, '_> {
    /// The kind of a value that is no object, and what there is to keep of it.
    #[inline(always)]
    pub(crate) fn leaf(&self, index: usize) -> Option<(Leaf, Option<Found>)> {
        let entry = self.entries.get(index)?;
        if !entry.opens() {
            return Some(scalar(self.bytes, entry.value(), entry.end()));
        }
        (self.bytes.get(entry.end()) == Some(&b'[')).then(|| (Leaf::Array, Some(Found::array(index))))
    }

    /// Walks over a value, objects inside it included, arrays not.
    #[inline(always)]
    pub(crate) fn visit(&self, index: usize, visitor: &mut impl Visitor<'d>) {
        let Some(first) = self.entries.get(index) else { return };
        if let Some((kind, found)) = self.leaf(index) {
            return visitor.leaf(None, kind, found);
        }
        visitor.open(None);
        let close = index + first.step() - 2;
        let mut start = first.end() + 1;
        let mut at = index + 1;
        while let Some(entry) = self.entries.get(at)
            && at <= close
        {
            let end = entry.end();
            let byte = self.bytes.get(end).copied().unwrap_or_default();
            at += 1;
            if entry.opens() {
                let key = Some(self.slice(start + 1, end.wrapping_sub(2)));
                if byte == b'{' {
                    visitor.open(key);
                } else {
                    visitor.leaf(key, Leaf::Array, Some(Found::array(at - 1)));
                    // On to what follows the closing bracket.
                    at += entry.step() - 2;
                }
            } else {
                if start < end {
                    let value = entry.value();
                    let (kind, found) = scalar(self.bytes, value, end);
                    visitor.leaf(Some(self.slice(start + 1, value.wrapping_sub(2))), kind, found);
                }
                if byte == b'}' {
                    visitor.close();
                }
            }
            start = self.entries.get(at - 1).map_or(usize::MAX - 1, Entry::end) + 1;
        }
    }

    /// Calls with the entry of each element of the array that opens at an entry.
    pub(crate) fn elements(&self, open: usize, mut element: impl FnMut(usize)) {
        let Some(bracket) = self.entries.get(open) else { return };
        let close = open + bracket.step() - 2;
        let mut at = open + 1;
        while let Some(entry) = self.entries.get(at)
            && at <= close
        {
            let start = || self.entries.get(at - 1).map_or(0, |before| before.end() + 1);
            if entry.opens() || start() < entry.end() {
                element(at);
            }
            at += entry.step();
        }
    }

    /// The text of a value.
    pub(crate) fn whole(&self, index: usize) -> &'d [u8] {
        let Some(entry) = self.entries.get(index) else { return &[] };
        if !entry.opens() {
            return self.slice(entry.value(), entry.end());
        }
        let close = self.entries.get(index + entry.step() - 2).map_or(0, Entry::end);
        self.slice(entry.end(), close + 1)
    }
}
