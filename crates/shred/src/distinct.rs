//! Texts by template as a dictionary: texts are told apart by the values that fill their holes, and each entry is put together once.

use crate::encoding::dictionary::Coded;
use crate::encoding::strings::Texts;
use crate::error::DecodeError;
use crate::output::{Output, Sink};
use crate::pieces::{MISSING_VALUE, PlacedColumn, PlacedHole, PlacedTemplate, TextPieces};
use crate::spans::Numbered;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};

/// So many rows tell whether texts repeat.
const SAMPLE: usize = 512;

/// Entries are looked up in a table where there may be so many times as many as texts, or fewer.
const TABLE_SHARE: u64 = 4;

/// Stands in a table for an entry that there is not yet.
const UNKNOWN: u32 = u32::MAX;

/// The entries of the texts of a template, by the values of its holes.
struct Entries<'p> {
    holes: Vec<Numbers<'p>>,
    by_number: ByNumber,
}

/// The numbers of the values that fill a hole, by the place of the template's own value, or that of the event's value in another column.
struct Numbers<'p> {
    of: Numbered<'p>,
    other: Option<usize>,
    /// How many numbers the holes behind it have together.
    weight: u64,
}

/// Entries by one number for all values.
enum ByNumber {
    Table(Vec<u32>),
    Hashed(HashMap<u64, u32, RandomState>),
}

impl<'p> Entries<'p> {
    /// None where a hole is filled by texts that consist of pieces too, or there are too many numbers.
    fn of(template: &'p PlacedTemplate, columns: &'p [PlacedColumn]) -> Option<Entries<'p>> {
        let (mut holes, mut count) = (Vec::with_capacity(template.pieces.len()), 1u64);
        // Of a template that no text has nothing was read.
        let pieces = if template.uses == 0 { &[] } else { template.pieces.as_slice() };
        for (_, hole) in pieces.iter().rev() {
            let (of, other) = match hole {
                PlacedHole::Own(values) => (values.numbered()?, None),
                PlacedHole::Other(column) => match columns.get(*column)? {
                    PlacedColumn::Values(values) => (values.numbered()?, Some(*column)),
                    PlacedColumn::Templates(_) => return None,
                },
            };
            let weight = count;
            count = count.checked_mul(of.count())?;
            holes.push(Numbers { of, other, weight });
        }
        let by_number = match usize::try_from(count) {
            Ok(size) if count <= TABLE_SHARE * template.uses as u64 + 1 => {
                ByNumber::Table(vec![UNKNOWN; size])
            }
            _ => ByNumber::Hashed(HashMap::with_capacity_and_hasher(template.uses, RandomState::default())),
        };
        Some(Entries { holes, by_number })
    }

    /// The entry of a text, which is `next` if there is none yet.
    #[inline]
    fn entry(&mut self, nth: u32, cursors: &[u32], next: u32) -> Option<u32> {
        let mut number = 0;
        for hole in &self.holes {
            let place = hole.other.map_or(Some(nth), |column| cursors.get(column).copied())?;
            number += hole.of.get(place as usize)? * hole.weight;
        }
        let entry = match &mut self.by_number {
            ByNumber::Table(entries) => entries.get_mut(number as usize)?,
            ByNumber::Hashed(entries) => entries.entry(number).or_insert(next),
        };
        if *entry == UNKNOWN {
            *entry = next;
        }
        Some(*entry)
    }
}

impl TextPieces {
    /// The texts as JSON by dictionary, in the order in which they come first; empty for rows without a text. None where they hardly repeat, or are told apart as
    /// quickly once they are put together. Two entries may be the same text, of different templates. Takes time linear in the rows, the pieces, and the
    /// texts of the entries.
    ///
    /// # Errors
    /// If they are longer than the documents.
    pub fn coded(&self) -> Result<Option<Coded<'static>>, DecodeError> {
        let Some(PlacedColumn::Templates(root)) = self.columns.last() else { return Ok(None) };
        let Some(bytes) = self.repeat_at_first()? else { return Ok(None) };
        let entries = root.templates.iter().map(|template| Entries::of(template, &self.columns));
        let Some(mut by_template) = entries.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let mut out = Output::new(self.bytes_max);
        out.make_room(bytes);
        let (mut codes, mut ends) = (Vec::with_capacity(self.len()), Vec::new());
        let mut missing = UNKNOWN;
        self.each_text(|writer, text| {
            let next = ends.len() as u32;
            let entry = match text {
                None if missing != UNKNOWN => missing,
                None => {
                    missing = next;
                    next
                }
                Some(nth) => {
                    let place = writer.place(nth) as usize;
                    let (template, own) = *root.texts.get(place).ok_or(MISSING_VALUE)?;
                    let entries = by_template.get_mut(template as usize).ok_or(MISSING_VALUE)?;
                    let entry = entries.entry(own, writer.cursors(), next).ok_or(MISSING_VALUE)?;
                    if entry == next {
                        writer.write_json(nth, &mut out)?;
                    }
                    entry
                }
            };
            if entry == next {
                ends.push(out.len() as u32);
            }
            codes.push(entry);
            Ok(())
        })?;
        let mut bytes = out.into_bytes();
        bytes.shrink_to_fit();
        Ok(Some(Coded { entries: Texts::of_parts(ends, bytes), codes }))
    }

    /// How many bytes the entries take, about, where half of the first rows have a text that others among them have too, or none.
    fn repeat_at_first(&self) -> Result<Option<usize>, DecodeError> {
        let rows: Vec<u32> = (0..self.len().min(SAMPLE) as u32).collect();
        let texts = self.texts(Some(&rows))?;
        let distinct: HashSet<&[u8], RandomState> = texts.iter().collect();
        let bytes: usize = distinct.iter().map(|text| text.len()).sum();
        // Of very few rows all may differ.
        let do_repeat = distinct.len() * 2 <= rows.len() + 8;
        Ok(do_repeat.then(|| bytes / rows.len().max(1) * self.len()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::{AtPath, Coded, Event, Group, TextPieces, encode};
    use std::collections::HashSet;

    /// The texts of documents at a key, where they are kept by template.
    pub(crate) fn pieces(documents: &[String], key: &str) -> Option<TextPieces> {
        let events: Vec<Event<'_>> = documents
            .iter()
            .map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() })
            .collect();
        let encoded = encode(&events).unwrap();
        let group = Group::open(&encoded.directory).unwrap();
        match group.read(&encoded.frames).at(&[key]).unwrap() {
            AtPath::Pieces(pieces) => Some(pieces),
            _ => None,
        }
    }

    /// The texts by dictionary, in the order in which entries come first.
    fn coded(pieces: &TextPieces) -> Coded<'static> {
        let (coded, texts) = (pieces.coded().unwrap().unwrap(), pieces.texts(None).unwrap());
        assert!((0..pieces.len()).all(|row| coded.get(row) == texts.get(row)));
        let firsts: HashSet<&[u8]> = texts.iter().collect();
        // Some texts are of no template, and others of two.
        assert!((firsts.len()..firsts.len() * 11 / 10).contains(&coded.entries.len()));
        let mut next = 0;
        for code in &coded.codes {
            assert!(*code <= next);
            next = next.max(code + 1);
        }
        coded
    }

    /// The number of an event as a hole of its path, one that lies anywhere, and a word.
    fn documents(path: impl Fn(u64) -> String) -> Vec<String> {
        let document = |n: u64| match n % 3 {
            1 | 2 => format!(r#"{{"n":{n}}}"#),
            _ => format!(r#"{{"n":{n},"path":"{}"}}"#, path(n.wrapping_mul(0x9e37_79b9) >> 7)),
        };
        (0..3_000).map(document).collect()
    }

    #[test]
    fn texts_that_repeat_are_told_apart_by_what_fills_their_holes() {
        let mut tried = 0;
        for path in [
            |n: u64| format!("/items/{}", n % 700),
            |n: u64| format!("/items/{}/reviews", (n % 700) * 1_000_000_007),
            |n: u64| format!("/items/{}/of/{}", n % 50, (n / 7) % 40),
            |n: u64| {
                format!("/items/{:.1}/of/{}", (n % 500) as f64 / 2.0, ["a", "bé", "c"][(n / 5 % 3) as usize])
            },
            |n: u64| match n % 5 {
                0 => "/".into(),
                1 => {
                    format!("/search/{}?q={}", n % 500, ["lamp", "oil", "\\\"tea\\\""][(n / 3 % 3) as usize])
                }
                _ => format!("/orders/{}", n % 900),
            },
        ] {
            // What repeats more is stored by dictionary.
            let Some(pieces) = pieces(&documents(path), "path") else { continue };
            let coded = coded(&pieces);
            tried += 1;
            assert!((300..=1_001).contains(&coded.entries.len()), "{}", coded.entries.len());
        }
        assert!(tried >= 3, "{tried}");
    }

    #[test]
    fn texts_that_hardly_repeat_are_not_told_apart() {
        let document =
            |n: u64| format!(r#"{{"n":{n},"path":"/items/{}"}}"#, n.wrapping_mul(0x9e37_79b9) >> 7);
        let pieces = pieces(&(0..1_000).map(document).collect::<Vec<_>>(), "path").unwrap();
        assert_eq!(pieces.coded().unwrap(), None);
    }
}
