//! Sets of characters, of which a pattern asks for one or more.

use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::RangeInclusive;

/// Which bytes are in a set of characters, or may be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    pub(super) has: Box<[bool; 256]>,
    /// Whether it has all of them.
    pub(super) is_all: bool,
    /// The one byte that is not in it, where it has all characters beyond ASCII.
    pub(super) all_but: Option<u8>,
    /// The characters beyond ASCII in ascending order, where it has some but not all of them.
    pub(super) beyond: Option<Box<[RangeInclusive<char>]>>,
}

impl Set {
    pub(super) fn new(is_in: impl Fn(u8) -> bool) -> Set {
        let mut has = Box::new([false; 256]);
        (0..=u8::MAX).zip(has.iter_mut()).for_each(|(byte, has)| *has = is_in(byte));
        let mut others = (0..=u8::MAX).zip(has.iter()).filter(|(_, has)| !**has).map(|(byte, _)| byte);
        let first = others.next();
        let all_but = first.filter(|_| others.next().is_none());
        Set { has, is_all: first.is_none(), all_but, beyond: None }
    }

    /// Whether it has any characters beyond ASCII.
    pub(super) fn has_beyond(&self) -> bool {
        self.has(u8::MAX)
    }

    pub(super) fn has_char(&self, c: char) -> bool {
        match (&self.beyond, c) {
            (Some(beyond), c) if !c.is_ascii() => {
                let place = beyond.partition_point(|range| *range.end() < c);
                beyond.get(place).is_some_and(|range| range.contains(&c))
            }
            (_, c) => self.has(u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(u8::MAX)),
        }
    }

    pub(super) fn has(&self, byte: u8) -> bool {
        self.has[usize::from(byte)]
    }

    /// How many bytes a text begins with that are of its characters.
    pub(super) fn extent(&self, text: &str) -> usize {
        match (&self.all_but, &self.beyond) {
            _ if self.is_all => None,
            (Some(byte), _) => memchr::memchr(*byte, text.as_bytes()),
            (None, None) => text.bytes().position(|byte| !self.has(byte)),
            (None, Some(_)) => self.first_other(text),
        }
        .unwrap_or(text.len())
    }

    /// Where the first character stands that is none of its own. Most are ASCII, and need not be decoded.
    pub(super) fn first_other(&self, text: &str) -> Option<usize> {
        let mut at = 0;
        loop {
            let byte = text.as_bytes().get(at)?;
            let length = match byte.is_ascii() {
                true => self.has(*byte).then_some(1),
                false => {
                    let c = text.get(at..)?.chars().next()?;
                    self.has_char(c).then_some(c.len_utf8())
                }
            };
            match length {
                Some(length) => at += length,
                None => return Some(at),
            }
        }
    }

    /// The bytes that its characters begin with.
    pub(super) fn leads(&self) -> Box<[bool; 256]> {
        let mut leads = self.has.clone();
        if let Some(beyond) = &self.beyond {
            let lead = |c: &char| c.encode_utf8(&mut [0; 4]).as_bytes().first().copied().unwrap_or_default();
            leads.iter_mut().skip(0x80).for_each(|is_lead| *is_lead = false);
            for byte in beyond.iter().flat_map(|range| lead(range.start())..=lead(range.end())) {
                leads[usize::from(byte)] = true;
            }
        }
        leads
    }
}

/// The characters of which a pattern asks for one; none for what is not one character.
pub(super) fn set_of_one(hir: &Hir) -> Option<Set> {
    match hir.kind() {
        HirKind::Class(class) => set_of(class),
        HirKind::Literal(literal) => match *literal.0 {
            [byte] => Some(Set::new(|other| other == byte)),
            _ => None,
        },
        _ => None,
    }
}

/// The characters of a class.
pub(super) fn set_of(class: &Class) -> Option<Set> {
    let Class::Unicode(class) = class else { return None };
    let is_in = |c: char| class.iter().any(|range| (range.start()..=range.end()).contains(&c));
    let beyond: Vec<RangeInclusive<char>> = class
        .iter()
        .filter(|range| !range.end().is_ascii())
        .map(|range| range.start().max('\u{80}')..=range.end())
        .collect();
    let set = Set::new(|byte| if byte.is_ascii() { is_in(char::from(byte)) } else { !beyond.is_empty() });
    let is_part = !beyond.is_empty() && beyond != ['\u{80}'..=char::MAX];
    Some(match is_part {
        true => Set { is_all: false, all_but: None, beyond: Some(beyond.into()), ..set },
        false => set,
    })
}
