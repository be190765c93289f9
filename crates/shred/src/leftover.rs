//! Checking for texts in a group that occur in none of its documents.
//!
//! A document is put together from the keys of its shape, entries of dictionaries, literals of templates, and single texts. So a text
//! that a document uses occurs in it. A text that no document uses is searched for in all of them, since an encoder may have written more than it needed. A correctly
//! encoded group has no other texts; one that a faulty program wrote may hold texts of erased events.

use memchr::memmem;

use crate::column::{ColumnValues, Encoding};
use crate::encoding::ints::Ints;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::templates::{Filling, Hole, Template, Templated, Templates};
use crate::error::DecodeError;
use crate::frame::Part;
use crate::group::GroupReader;
use crate::path::Step;

/// The result of checking the texts of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// The number of texts checked: keys, entries of dictionaries, literals of templates, and single texts.
    pub texts: usize,
    /// The first text that no document has.
    pub first: Option<Leftover>,
}

/// A text in a group that none of its documents has. The text itself is not included, because it may be erased data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The frame that holds it; `None` for the directory.
    pub frame: Option<u32>,
    /// The kind of text.
    pub what: &'static str,
}

impl GroupReader<'_> {
    /// Checks for texts that no document has. `documents` are the documents of this group, one after another, with any separators.
    ///
    /// Decodes all frames. Takes time linear in their decoded size, and in the bytes of the documents for each text that none of them uses.
    ///
    /// ```
    /// use tamias_shred::{Event, Group, encode};
    ///
    /// let event = Event { instant: 0, arrival: 0, document: br#"{"User":"eve"}"# };
    /// let encoded = encode(&[event])?;
    /// let group = Group::open(&encoded.directory)?;
    /// let found = group.read(&encoded.frames).leftovers(event.document)?;
    /// assert_eq!((found.texts, found.first), (2, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn leftovers(&mut self, documents: &[u8]) -> Result<Leftovers, DecodeError> {
        let mut search = Search { documents, found: Leftovers::default() };
        self.search_keys(&mut search)?;
        let group = self.group;
        for (number, column) in group.directory().columns.iter().enumerate() {
            match (group.directory().encoding(column)?, self.column(number)?) {
                (Encoding::Simple(encoding), ColumnValues::Simple(values)) => {
                    search.values(&encoding, &values);
                }
                (Encoding::Templates(encoding), ColumnValues::Templated(values)) => {
                    search.templates(&encoding, &values);
                }
                (Encoding::Simple(_) | Encoding::Templates(_), _) => {}
            }
        }
        self.search_frames(&mut search)?;
        Ok(search.found)
    }

    /// Keys stand in the documents that have a shape with them.
    fn search_keys(&mut self, search: &mut Search<'_>) -> Result<(), DecodeError> {
        let group = self.group;
        let directory = group.directory();
        let paths = &directory.paths;
        let mut has_value = vec![false; paths.len()];
        for list in 0..directory.lists.len() {
            let shapes = group.shapes_of(list);
            let mut is_used = vec![false; shapes.len()];
            for code in self.codes(list)? {
                is_used.get_mut(*code as usize).into_iter().for_each(|used| *used = true);
            }
            let used = shapes.iter().zip(is_used).filter(|(_, used)| *used);
            let tokens = used.filter_map(|(shape, _)| directory.shapes.get(*shape as usize)).flatten();
            for path in tokens.filter_map(|token| token.path()) {
                has_value.get_mut(path as usize).into_iter().for_each(|has| *has = true);
            }
        }
        // A parent comes before its children.
        for path in (0..paths.len()).rev() {
            let Some((parent, step)) = paths.step(path as u32) else { continue };
            let has = has_value.get(path).copied().unwrap_or_default();
            if has {
                has_value.get_mut(parent as usize).into_iter().for_each(|has| *has = true);
            }
            match step {
                Step::Element => {}
                Step::Key(_) if has => search.found.texts += 1,
                Step::Key(key) => search.unused(&[b"\"", &**key, b"\":"].concat(), None, "a key"),
            }
        }
        Ok(())
    }

    /// Each byte of a frame is one of a part, and all parts were decoded.
    fn search_frames(&self, search: &mut Search<'_>) -> Result<(), DecodeError> {
        let directory = self.group.directory();
        let mut parts: Vec<Part> = Vec::new();
        for column in &directory.columns {
            parts.extend(directory.encoding(column)?.parts());
        }
        let lists = directory.lists.iter().flat_map(|list| [&list.lengths, &list.codes]);
        let numbers =
            lists.chain([&directory.instants.multiples, &directory.arrivals]).filter_map(Ints::part);
        parts.extend(numbers);
        parts.sort_unstable_by_key(|part| (part.frame, part.offset));
        for (frame, info) in (0..).zip(&directory.frames) {
            let start = parts.partition_point(|part| part.frame < frame);
            let of_frame = parts.iter().skip(start).take_while(|part| part.frame == frame);
            let reach = of_frame.fold(0, |reach, part| match part.offset <= reach {
                true => reach.max(part.offset + part.length),
                false => reach,
            });
            if reach < info.length {
                search.left(Some(frame), "bytes that belong to nothing");
            }
        }
        Ok(())
    }
}

struct Search<'d> {
    documents: &'d [u8],
    found: Leftovers,
}

impl Search<'_> {
    fn left(&mut self, frame: Option<u32>, what: &'static str) {
        self.found.first.get_or_insert(Leftover { frame, what });
    }

    /// A text that no document needs.
    fn unused(&mut self, text: &[u8], frame: Option<u32>, what: &'static str) {
        self.found.texts += 1;
        if self.found.first.is_none() && memmem::find(self.documents, text).is_none() {
            self.left(frame, what);
        }
    }

    fn values(&mut self, encoding: &Simple, values: &Values<'_>) {
        match values {
            Values::Texts(texts) => self.found.texts += texts.len(),
            Values::Coded(coded) => {
                let mut is_used = vec![false; coded.entries.len()];
                for code in &coded.codes {
                    is_used.get_mut(*code as usize).into_iter().for_each(|used| *used = true);
                }
                let frame = match encoding {
                    Simple::Dictionary(dictionary) => Some(dictionary.entries.bytes.frame),
                    _ => None,
                };
                for (entry, is_used) in coded.entries.iter().zip(is_used) {
                    match is_used {
                        true => self.found.texts += 1,
                        false => self.unused(entry, frame, "an entry of a dictionary"),
                    }
                }
            }
            Values::Spelled(texts) => {
                self.found.texts += texts.len();
                if !texts.is_tight() {
                    self.left(None, "a character of texts of one length");
                }
            }
            Values::Times(times) if times.units.is_empty() => {
                self.unused(times.suffix(), None, "what follows instants");
            }
            Values::Times(_) | Values::Whole(_) | Values::Decimals(_) => {}
        }
    }

    fn templates(&mut self, encoding: &Templates, values: &Templated<'_>) {
        for (template, read) in encoding.templates.iter().zip(values.read_templates()) {
            if template.uses == 0 {
                self.unused_template(template);
                continue;
            }
            self.found.texts += template.pieces.len() + 1;
            for ((_, hole), (_, filling)) in template.pieces.iter().zip(&read.pieces) {
                if let (Hole::Own(encoding), Filling::Own(values)) = (hole, filling) {
                    self.values(encoding, values);
                }
            }
        }
    }

    /// Its holes hold nothing, and were not decoded.
    fn unused_template(&mut self, template: &Template) {
        const LITERAL: &str = "a literal of a template";
        for (literal, hole) in &template.pieces {
            self.unused(literal, None, LITERAL);
            match hole {
                Hole::Reference(_) | Hole::Own(Simple::Whole(Ints::Constant(_))) => {}
                Hole::Own(_) => self.left(None, "what a template holds"),
            }
        }
        self.unused(&template.tail, None, LITERAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use crate::frame::FrameWriter;
    use crate::path::OwnedKey;
    use crate::{Encoded, Event, Group, encode};

    /// A group of these documents whose directory was altered.
    fn altered(documents: &[String], alter: impl FnOnce(&mut Directory<OwnedKey>)) -> Encoded {
        let events = documents.iter().zip(0..).map(|(text, n)| Event {
            instant: n,
            arrival: n,
            document: text.as_bytes(),
        });
        let encoded = encode(&events.collect::<Vec<_>>()).unwrap();
        let mut directory = Directory::read(&encoded.directory).unwrap();
        alter(&mut directory);
        Encoded { directory: directory.write(&mut FrameWriter::new().unwrap()).unwrap(), ..encoded }
    }

    /// What is left over in a group that reads well.
    fn leftovers(group: &Encoded) -> Leftovers {
        let opened = Group::open(&group.directory).unwrap();
        let mut reader = opened.read(&group.frames);
        let documents = reader.documents().unwrap();
        reader.leftovers(documents.bytes()).unwrap()
    }

    fn first(group: &Encoded) -> Option<Leftover> {
        leftovers(group).first
    }

    fn users(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!(r#"{{"User":"{name}","Paid":true}}"#)).collect()
    }

    #[test]
    fn an_entry_that_no_value_stands_for_is_left_over() {
        let documents = users(&["bob", "eve", "bob", "eve", "bob", "eve", "bob", "eve"]);
        let whole = altered(&documents, |_| ());
        assert_eq!(leftovers(&whole), Leftovers { texts: 4, first: None }, "two keys, two names");
        let forget = |directory: &mut Directory<OwnedKey>| {
            let Encoding::Simple(Simple::Dictionary(names)) = &mut directory.columns[0].encoding else {
                panic!("names that come again stand in a dictionary")
            };
            names.codes = Ints::Constant(0);
        };
        let left = first(&altered(&documents, forget)).unwrap();
        assert_eq!(left.what, "an entry of a dictionary");
        assert!(left.frame.is_some());
        // Where another document says the same there is nothing to be forgotten.
        let mut documents = users(&["bob", "eve", "bob", "eve", "bob", "eve", "bob", "eve"]);
        documents.push(r#"{"Note":"it was eve who paid"}"#.to_owned());
        let left = first(&altered(&documents, |directory| {
            let column = &mut directory.columns.iter_mut().find(|column| column.count == 8).unwrap();
            let Encoding::Simple(Simple::Dictionary(names)) = &mut column.encoding else { panic!() };
            names.codes = Ints::Constant(0);
        }));
        assert!(left.is_none_or(|left| left.what == "bytes that belong to nothing"));
    }

    #[test]
    fn a_key_that_no_document_has_is_left_over() {
        let documents = [r#"{"aa":true}"#.to_owned(), r#"{"bb":true}"#.to_owned()];
        assert_eq!(first(&altered(&documents, |_| ())), None);
        let left = first(&altered(&documents, |directory| directory.lists[0].codes = Ints::Constant(0)));
        assert_eq!(left, Some(Leftover { frame: None, what: "a key" }));
    }

    #[test]
    fn a_literal_that_no_text_has_is_left_over() {
        let documents: Vec<String> =
            (0..400).map(|n| format!(r#"{{"m":"user {} paid {} EUR","n":{n}}}"#, n * 7919, n * n)).collect();
        let with = |literal: &str| {
            altered(&documents, |directory| {
                let templates = directory.columns.iter_mut().find_map(|column| match &mut column.encoding {
                    Encoding::Templates(templates) => Some(templates),
                    Encoding::Simple(_) => None,
                });
                let hole = Hole::Own(Simple::Whole(Ints::Constant(0)));
                let pieces = vec![(literal.as_bytes().to_vec(), hole)];
                templates.unwrap().templates.push(Template { pieces, tail: Vec::new(), uses: 0 });
            })
        };
        assert_eq!(first(&with(" paid ")), None, "documents have it");
        let left = first(&with("eve paid "));
        assert_eq!(left, Some(Leftover { frame: None, what: "a literal of a template" }));
    }

    #[test]
    fn bytes_that_no_part_has_are_left_over() {
        let documents: Vec<String> = (0..50).map(|n| format!(r#"{{"n":{}}}"#, 10 + n * 37 % 90)).collect();
        assert_eq!(first(&altered(&documents, |_| ())), None);
        let constant = |directory: &mut Directory<OwnedKey>| {
            directory.columns[0].encoding = Encoding::Simple(Simple::Whole(Ints::Constant(10)));
        };
        let left = first(&altered(&documents, constant)).unwrap();
        assert_eq!(left.what, "bytes that belong to nothing");
    }
}
