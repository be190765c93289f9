//! Keys told apart: values, or two numbers together, each with the number of the entry that equal ones share.
//!
//! Equality is that of the language: `1` and `1.0` are one key. Most keys come again in the spelling in which they came before, and are
//! found by it; only a spelling that is new is evaluated.

mod found;
mod packed;
mod pairs;
mod slots;
mod spelling;
mod texts;
mod together;
mod words;

pub(crate) use found::Found;
pub(crate) use packed::{dashed, hexadecimal};
pub(crate) use pairs::Pairs;
pub(crate) use spelling::Spelling;
pub(crate) use texts::TextPlace;
pub(crate) use words::{TOGETHER, Words};

use crate::allocated::Pages;
use crate::chunk::value_of;
use crate::dictionary::has_needed_escapes_only;
use crate::value::{Value, canonical, write_json};
use foldhash::fast::{FixedState, RandomState};
use packed::{Form, PLAIN_DIGITS_MAX, Packed, is_plain_number, pack, pack_number};
use rust_decimal::Decimal;
use slots::Slots;
use std::hash::{BuildHasher, Hasher};
use std::num::NonZero;
use tamias_json::{Offsets, Value as Stored};
use texts::Texts;

/// A table of keys, each of some owner: the keys of two owners have nothing to do with one another.
#[derive(Clone, Default)]
pub(crate) struct KeyTable {
    slots: Slots,
    /// In the order in which they were added: of those of a key its canonical text is the first, if it has one.
    entries: Pages<Entry>,
    /// The spellings and the canonical texts of the keys that are not packed.
    texts: Texts,
    hasher: RandomState,
    /// How many numbers were given.
    len: u32,
    /// Of each small whole number one more than the number of its entry, of the first owner; 0 if it has none.
    wholes: Vec<u32>,
    /// Whether a key may have come in another spelling than before.
    has_others: bool,
    scratch: Vec<u8>,
}

/// Whole numbers of no more digits are found without the table.
const WHOLE_DIGITS_MAX: usize = 5;

/// A spelling of a key, or its canonical text.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// The key itself, if it is packed, or where its text begins and how long it is. As bytes, since words would leave gaps.
    bits: [u8; 16],
    owner: u32,
    number: u32,
    form: Form,
    /// How many zeros the number has at its end that could be left out.
    zeros: u8,
}

impl Entry {
    /// Where its text begins, and how long it is, if it is not packed.
    #[inline]
    fn place(&self) -> (TextPlace, usize) {
        let bits = u128::from_ne_bytes(self.bits);
        (TextPlace::of_bits(bits as u64), (bits >> 64) as usize)
    }
}

/// A spelling that a table keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept(NonZero<u32>);

impl Kept {
    /// Stands for a spelling where there is none.
    const NONE: Kept = Kept(NonZero::<u32>::MIN);

    /// The same in a table in which so many come before it.
    pub(crate) fn behind(self, spellings: u32) -> Kept {
        Kept(self.0.saturating_add(spellings))
    }
}

/// A text that is looked up: packed, or as it is.
#[derive(Clone, Copy, Default)]
struct Sought<'k> {
    text: &'k [u8],
    packed: Packed,
    zeros: u8,
    owner: u32,
}

impl<'k> Sought<'k> {
    #[inline]
    fn new(owner: u32, text: &'k [u8]) -> Sought<'k> {
        let (packed, zeros) = pack(text).unwrap_or_default();
        Sought { text, packed, zeros, owner }
    }
}

/// Stands before a canonical text that is no spelling, and before no spelling.
const CANONICAL: u8 = 0;

impl KeyTable {
    /// How many keys there are.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether a key may have come in another spelling than before.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        self.has_others
    }

    /// The number of a key, if it is there in any spelling.
    pub(crate) fn known(&self, owner: u32, json: &[u8], ci: bool) -> Option<u32> {
        let sought = Sought::new(owner, json);
        let is_canonical = || sought.packed.form.is_canonical(ci) || is_its_canonical_text(json, ci);
        self.look_up(self.hash(&sought), &sought).or_else(|| {
            if is_canonical() {
                return None;
            }
            let mut text = Vec::new();
            write_canonical(json, ci, &mut text);
            let canonical = Sought::new(owner, &text);
            self.look_up(self.hash(&canonical), &canonical)
        })
    }

    /// The number of an owner's key, a value as JSON text that is empty for undefined: from 0 on, in the order in which they were new. With `ci` the case of
    /// letters makes no difference.
    #[inline]
    pub(crate) fn find(&mut self, owner: u32, json: &[u8], ci: bool) -> Found {
        match whole(json).filter(|_| owner == 0) {
            Some(whole) => self.find_whole(whole, &Sought { text: json, ..Sought::default() }),
            None => self.find_spelled(&Sought::new(owner, json), ci),
        }
    }

    #[inline]
    fn find_spelled(&mut self, sought: &Sought<'_>, ci: bool) -> Found {
        self.find_hashed(self.hash(sought), sought, ci)
    }

    #[inline]
    fn find_hashed(&mut self, hash: u32, sought: &Sought<'_>, ci: bool) -> Found {
        match self.look_up_entry(hash, sought).map(|entry| (entry.number, entry.zeros)) {
            Some((number, zeros)) => {
                self.has_others |= zeros != sought.zeros;
                Found::Known(number)
            }
            None => self.add(hash, sought, ci),
        }
    }

    #[inline]
    fn find_whole(&mut self, whole: usize, sought: &Sought<'_>) -> Found {
        match self.wholes.get(whole) {
            Some(known @ 1..) => Found::Known(known - 1),
            Some(0) | None => self.add_whole(whole, sought.text),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_whole(&mut self, whole: usize, json: &[u8]) -> Found {
        let found = self.find_spelled(&Sought::new(0, json), false);
        if whole >= self.wholes.len() {
            self.wholes.resize(whole + 1, 0);
        }
        if let Some(known) = self.wholes.get_mut(whole) {
            *known = found.number().saturating_add(1);
        }
        found
    }

    #[inline]
    fn hash(&self, Sought { text, packed, owner, .. }: &Sought<'_>) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(u64::from(*owner) << 32 | u64::from(packed.form.word()));
        match packed.form {
            Form::TEXT => hasher.write(text),
            _ => hasher.write_u128(packed.bits),
        }
        (hasher.finish() >> 32) as u32
    }

    /// Whether an entry is what is sought.
    #[inline]
    fn is(&self, entry: &Entry, Sought { text, packed, owner, .. }: &Sought<'_>) -> bool {
        let are_alike = entry.form == packed.form && entry.owner == *owner;
        match packed.form {
            Form::TEXT => are_alike && is_same(self.text_of(entry), text),
            _ => are_alike && entry.bits == packed.bits.to_ne_bytes(),
        }
    }

    #[inline]
    fn look_up(&self, hash: u32, sought: &Sought<'_>) -> Option<u32> {
        self.look_up_entry(hash, sought).map(|entry| entry.number)
    }

    #[inline]
    fn look_up_entry(&self, hash: u32, sought: &Sought<'_>) -> Option<&Entry> {
        let entry = |place: u32| self.entries.get(place as usize);
        let is_it = |place| entry(place).is_some_and(|entry| self.is(entry, sought));
        self.slots.find(hash, is_it).and_then(entry)
    }

    /// Adds a spelling that is new: to the key that it spells, if that is known.
    fn add(&mut self, hash: u32, sought: &Sought<'_>, ci: bool) -> Found {
        if sought.packed.form.is_canonical(ci) || is_its_canonical_text(sought.text, ci) {
            let number = self.next();
            self.insert(hash, sought, number);
            return Found::New(number);
        }
        self.add_other(hash, sought, ci)
    }

    /// The same of a spelling that is not the canonical text of its value.
    #[cold]
    #[inline(never)]
    fn add_other(&mut self, hash: u32, sought: &Sought<'_>, ci: bool) -> Found {
        self.has_others = true;
        let mut scratch = std::mem::take(&mut self.scratch);
        write_canonical(sought.text, ci, &mut scratch);
        let canonical = Sought::new(sought.owner, &scratch);
        let canonical_hash = self.hash(&canonical);
        let found = match self.look_up(canonical_hash, &canonical) {
            Some(number) => Found::Known(number),
            None => {
                let number = self.next();
                self.insert(canonical_hash, &canonical, number);
                Found::New(number)
            }
        };
        self.insert(hash, sought, found.number());
        self.scratch = scratch;
        found
    }

    fn next(&mut self) -> u32 {
        let number = self.len;
        // A key takes more than a byte: memory ends before the numbers do.
        self.len = self.len.saturating_add(1);
        number
    }

    fn insert(&mut self, hash: u32, Sought { text, packed, zeros, owner }: &Sought<'_>, number: u32) {
        self.slots.insert(hash, self.entries.len() as u32);
        let bits = match packed.form {
            Form::TEXT => u128::from(self.texts.push(text).to_bits()) | (text.len() as u128) << 64,
            _ => packed.bits,
        };
        let (bits, form, zeros) = (bits.to_ne_bytes(), packed.form, *zeros);
        self.entries.push(Entry { bits, owner: *owner, number, form, zeros });
    }

    /// Takes in keys of another table that are none of these, behind them: how many spellings are before theirs. Keys are not found any more.
    pub(crate) fn append(&mut self, other: KeyTable) -> u32 {
        let (before, pages) = (self.entries.len() as u32, self.texts.append(other.texts));
        for mut entry in other.entries {
            if entry.form == Form::TEXT {
                let (place, length) = entry.place();
                let bits = u128::from(place.behind(pages).to_bits()) | (length as u128) << 64;
                entry.bits = bits.to_ne_bytes();
            }
            entry.number = entry.number.saturating_add(self.len);
            self.entries.push(entry);
        }
        self.len = self.len.saturating_add(other.len);
        self.has_others |= other.has_others;
        before
    }

    /// The spelling that was new last.
    pub(crate) fn last_spelling(&self) -> Kept {
        NonZero::new(self.entries.len() as u32).map_or(Kept::NONE, Kept)
    }

    /// Where the text of a spelling begins, if it is not packed.
    #[inline]
    pub(crate) fn text_begin(&self, Kept(place): Kept) -> TextPlace {
        let entry = self.entries.get(place.get() as usize - 1);
        entry.filter(|entry| entry.form == Form::TEXT).map_or(TextPlace::default(), |entry| entry.place().0)
    }

    /// The byte of its texts at a place; 0 where there is none.
    #[inline]
    pub(crate) fn byte_at(&self, place: TextPlace) -> u8 {
        self.texts.byte(place)
    }

    /// The text of a spelling.
    #[inline]
    pub(crate) fn spelling(&self, Kept(place): Kept) -> Spelling<'_> {
        let entry = self.entries.get(place.get() as usize - 1);
        entry.map_or(Spelling::Text(&[]), |entry| self.spelling_of(entry))
    }

    #[inline]
    fn spelling_of(&self, entry: &Entry) -> Spelling<'_> {
        match entry.form {
            Form::TEXT => Spelling::Text(self.text_of(entry)),
            form => Spelling::of(Packed { bits: u128::from_ne_bytes(entry.bits), form }, entry.zeros),
        }
    }

    /// The text of an entry that is not packed.
    #[inline]
    fn text_of(&self, entry: &Entry) -> &[u8] {
        let (place, length) = entry.place();
        self.texts.get(place, length)
    }

    /// What an entry of this table is for another one.
    fn sought<'t>(&'t self, entry: &Entry, owner: u32) -> Sought<'t> {
        match entry.form {
            Form::TEXT => Sought { text: self.text_of(entry), owner, ..Sought::default() },
            form => {
                let packed = Packed { bits: u128::from_ne_bytes(entry.bits), form };
                Sought { text: &[], packed, zeros: entry.zeros, owner }
            }
        }
    }

    /// Forgets how keys are found: their numbers and spellings are all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        (self.slots, self.wholes) = (Slots::default(), Vec::new());
    }

    /// What it holds, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.slots.held_bytes() + self.closed_bytes() + self.wholes.capacity() * size_of::<u32>()
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.entries.bytes() + self.texts.held_bytes()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        let wholes = self.wholes.capacity() * size_of::<u32>();
        self.slots.bytes() + self.entries.bytes() + self.texts.bytes() + wholes
    }
}

/// A small whole number without a sign, as it is written.
#[inline]
fn whole(json: &[u8]) -> Option<usize> {
    let is_whole = (1..=WHOLE_DIGITS_MAX).contains(&json.len()) && json.iter().all(u8::is_ascii_digit);
    is_whole.then(|| json.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

/// Whether two texts are the same. Most are short, and a call would take longer than comparing both ends, which may overlap.
#[inline]
fn is_same(text: &[u8], other: &[u8]) -> bool {
    fn ends<const N: usize>(text: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
        text.first_chunk().zip(text.last_chunk())
    }
    match other.len() {
        length if length != text.len() => false,
        16..=32 => ends::<16>(text) == ends::<16>(other),
        33..=64 => ends::<32>(text) == ends::<32>(other),
        _ => text == other,
    }
}

/// Whether a text is the canonical one of its value. What reads as the replacement character may be one that is broken.
pub(crate) fn is_its_canonical_text(json: &[u8], ci: bool) -> bool {
    match json {
        [] | [b'n' | b't' | b'f', ..] => true,
        [b'"', ..] => {
            !ci && has_needed_escapes_only(json)
                && (json.is_ascii()
                    || std::str::from_utf8(json)
                        .is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER)))
        }
        [b'-', digits @ ..] => digits != b"0" && is_plain_number(digits),
        digits => is_plain_number(digits),
    }
}

/// A number by which keys are shared out, which equal ones have in common.
pub(crate) fn share(json: &[u8]) -> u8 {
    let share = |text: &[u8]| {
        let number = matches!(text.first(), Some(b'-' | b'0'..=b'9')).then(|| pack(text)).flatten();
        match number {
            Some((packed, _)) if packed.form.is_number() => share_of_packed(packed),
            Some(_) | None => {
                let mut hasher = FixedState::default().build_hasher();
                hasher.write(text);
                (hasher.finish() >> 56) as u8
            }
        }
    };
    if is_its_canonical_text(json, false) {
        return share(json);
    }
    let mut text = Vec::new();
    write_canonical(json, false, &mut text);
    share(&text)
}

/// The same of a number of so many digits behind the point.
#[inline]
pub(crate) fn share_of_number(mantissa: i64, scale: u8) -> u8 {
    share_of_packed(pack_number((mantissa, scale.into())).0)
}

#[inline]
fn share_of_packed(Packed { bits, form }: Packed) -> u8 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write_u128(bits);
    hasher.write_u32(form.word());
    (hasher.finish() >> 56) as u8
}

/// Writes the canonical text of what a JSON text spells.
fn write_canonical(json: &[u8], ci: bool, into: &mut Vec<u8>) {
    into.clear();
    let mut offsets = Offsets::new();
    let value = match json.first() {
        // Nothing of it outlives this.
        Some(b'[' | b'{') => Stored::scan_trusted(json, &mut offsets).map_or(Value::Undefined, Value::stored),
        _ => value_of(json),
    };
    match (plain_number(&value), &value) {
        (Some(plain), _) => into.extend_from_slice(plain.to_string().as_bytes()),
        (None, Value::Text(text)) if !ci => write_json(&Value::from(text.text().into_owned()), into),
        (None, _) => {}
    }
    if into.is_empty() || !is_its_canonical_text(into, ci) {
        into.clear();
        into.push(CANONICAL);
        canonical(&value, ci, into);
    }
}

/// The number that a value is, if it has so few digits.
fn plain_number(value: &Value<'_>) -> Option<Decimal> {
    let Value::Number(number) = value else { return None };
    let number = crate::value::plain(number.decimal()?);
    let is_plain = number.mantissa().unsigned_abs() < 10u128.pow(PLAIN_DIGITS_MAX as u32)
        && number.scale() < PLAIN_DIGITS_MAX as u32;
    // A zero has no sign.
    is_plain.then(|| if number.is_zero() { Decimal::ZERO } else { number })
}

#[cfg(test)]
mod tests;
