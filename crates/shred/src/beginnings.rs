//! The beginnings of texts by template: where what is asked of texts is told by the literal at their start, one entry stands for all texts of the template.

use crate::encoding::dictionary::Coded;
use crate::encoding::strings::Texts;
use crate::error::DecodeError;
use crate::group::GroupReader;
use crate::output::{Output, Sink};
use crate::pieces::{MISSING_VALUE, PlacedColumn, PlacedTemplate, PlacedTemplates, TextPieces};
use crate::spared::Spare;

impl PlacedTemplate {
    /// What stands at the start of its texts, as far as that is ASCII without escapes; none where nothing is asked of it, as no text has it, or that does
    /// not tell what is.
    fn beginning(&self, tells: &impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
        let first = self.literals().next().filter(|_| self.uses > 0)?;
        let plain = first.iter().position(|byte| !byte.is_ascii() || *byte == b'\\').unwrap_or(first.len());
        let beginning = first.get(..plain)?;
        let is_whole = self.pieces.is_empty() && plain == first.len();
        (is_whole || tells(beginning)).then_some(beginning)
    }
}

impl PlacedTemplates {
    /// Whether most texts are told by their beginnings.
    fn are_told(&self, tells: &impl Fn(&[u8]) -> bool) -> bool {
        let told = self.templates.iter().filter(|template| template.beginning(tells).is_some());
        told.map(|template| template.uses).sum::<usize>() * 2 > self.texts.len()
    }
}

impl GroupReader<'_> {
    /// [Beginnings](TextPieces::beginnings) of the texts at a path of keys, where these come in [pieces](crate::AtPath::Pieces). Of texts that are told by them no more is read.
    /// Takes time linear in the events, and in the texts that are put together.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn beginnings_at(
        &mut self,
        keys: &[&str],
        tells: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Coded<'static>>, DecodeError> {
        let Some(sites) = self.group.sites(0, keys) else { return Ok(None) };
        let pieces = self.pieces_for(&sites, &Beginnings(&tells))?;
        pieces.map_or(Ok(None), |pieces| pieces.beginnings(&tells))
    }
}

/// Reads what is not told by the beginnings of templates.
struct Beginnings<'t, T>(&'t T);

impl<T: Fn(&[u8]) -> bool> Spare for Beginnings<'_, T> {
    fn is_told(&self, template: &PlacedTemplate) -> bool {
        template.beginning(self.0).is_some()
    }
}

impl TextPieces {
    /// Whether [`beginnings`](TextPieces::beginnings) stand for most texts. Takes time linear in the templates.
    pub fn have_beginnings(&self, tells: impl Fn(&[u8]) -> bool) -> bool {
        matches!(self.columns.last(), Some(PlacedColumn::Templates(root)) if root.are_told(&tells))
    }

    /// For each row its text as JSON, or instead one of which what is asked comes to the same: its beginning, of plain ASCII, where that `tells` what is asked of all texts
    /// that begin so. Empty where there is none. None where that tells little. Takes time linear in the rows, and in the texts that are put together.
    ///
    /// # Errors
    /// If they are longer than the documents.
    pub fn beginnings(&self, tells: impl Fn(&[u8]) -> bool) -> Result<Option<Coded<'static>>, DecodeError> {
        let Some(PlacedColumn::Templates(root)) = self.columns.last() else { return Ok(None) };
        if !root.are_told(&tells) {
            return Ok(None);
        }
        let mut out = Output::new(self.bytes_max);
        // The first entry is that of rows without a text.
        let (mut ends, mut by_template) = (vec![0], Vec::with_capacity(root.templates.len()));
        for template in &root.templates {
            by_template.push(match template.beginning(&tells) {
                None => None,
                Some(beginning) => {
                    out.push_byte(b'"')?;
                    out.push(beginning)?;
                    out.push_byte(b'"')?;
                    ends.push(out.len() as u32);
                    Some(ends.len() as u32 - 1)
                }
            });
        }
        let mut codes = Vec::with_capacity(self.len());
        self.each_text(|writer, text| {
            codes.push(match text {
                None => 0,
                Some(nth) => {
                    let (template, _) = root.texts.get(writer.place(nth) as usize).ok_or(MISSING_VALUE)?;
                    match by_template.get(*template as usize).ok_or(MISSING_VALUE)? {
                        Some(entry) => *entry,
                        None => {
                            writer.write_json(nth, &mut out)?;
                            ends.push(out.len() as u32);
                            ends.len() as u32 - 1
                        }
                    }
                }
            });
            Ok(())
        })?;
        Ok(Some(Coded { entries: Texts::of_parts(ends, out.into_bytes()), codes }))
    }
}

#[cfg(test)]
mod tests {
    use crate::distinct::tests::pieces;
    use crate::{Event, Group, encode};

    #[test]
    fn a_beginning_stands_for_texts_that_it_tells_and_others_are_whole() {
        let document = |n: usize| match n % 7 {
            0 => format!(r#"{{"n":{n}}}"#),
            1 => format!(r#"{{"n":{n},"m":"{n} came"}}"#),
            2 => format!(r#"{{"n":{n},"m":"gr\\ün {n} left"}}"#),
            _ => format!(r#"{{"n":{n},"m":"order {n} was sent"}}"#),
        };
        let documents: Vec<String> = (0..500).map(document).collect();
        let pieces = pieces(&documents, "m").unwrap();
        let texts = pieces.texts(None).unwrap();
        let tells = |beginning: &[u8]| beginning.len() >= 3;
        let told = pieces.beginnings(tells).unwrap().unwrap();
        assert!(pieces.have_beginnings(tells) && told.entries.len() < 300);
        for (row, text) in texts.iter().enumerate() {
            let told = told.get(row).unwrap();
            match row % 7 {
                0..=2 => assert_eq!(told, text),
                _ => {
                    let beginning = told.strip_suffix(b"\"").unwrap();
                    assert!(beginning.starts_with(b"\"ord") && text.starts_with(beginning));
                }
            }
        }
        let events = documents.iter().map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
        let encoded = encode(&events.collect::<Vec<_>>()).unwrap();
        let group = Group::open(&encoded.directory).unwrap();
        // What is read for them alone tells the same.
        assert_eq!(group.read(&encoded.frames).beginnings_at(&["m"], tells).unwrap(), Some(told));
        assert_eq!(pieces.beginnings(|_| false).unwrap(), None);
        assert!(!pieces.have_beginnings(|_| false));
    }
}
