//! Where a text may stand in the strings of a group: of most columns the bytes tell at once that it stands nowhere in them, and none of their
//! values has to be found.

use crate::column::Encoding;
use crate::directory::Unread;
use crate::encoding::simple::Simple;
use crate::encoding::templates::{Hole, Template};
use crate::error::DecodeError;
use crate::group::{Group, GroupReader};
use crate::path::{ROOT, Step};
use crate::questions::{Search, Wanted, is_numeric};
use crate::shape::{Leaf, Met, Token};

/// A path at which documents have strings, or what has strings inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPath {
    /// Its keys from the documents on, as they spell them: all, or those of the first array on the way.
    pub keys: Vec<Box<str>>,
    /// The keys behind those of the array, in each of its elements, up to another array if there is one; none where no array is on the way.
    pub in_elements: Option<Vec<Box<str>>>,
}

impl Wanted<'_> {
    /// Whether it may stand in texts that consist of some bytes.
    pub(crate) fn may_consist_of(&self, alphabet: &[u8]) -> bool {
        let is_there = |byte: &u8| match self.any_case {
            false => alphabet.contains(byte),
            true => alphabet.iter().any(|own| own.eq_ignore_ascii_case(byte)),
        };
        let is_other = |byte: &u8| !byte.is_ascii() || *byte == b'\\';
        self.text.iter().all(is_there) || self.has_others && alphabet.iter().any(is_other)
    }
}

impl Group {
    /// Whether each object of the documents has its keys once, and no document is kept as text.
    fn has_each_key_once(&self) -> bool {
        *self.keys_come_once.get_or_init(|| self.find_each_key_once())
    }

    fn find_each_key_once(&self) -> bool {
        let directory = self.directory();
        let mut met = Met::new(directory.paths.len());
        let mut shapes = directory.shapes.iter();
        shapes.all(|tokens| {
            tokens.first().is_none_or(|first| !matches!(first, Token::Leaf(ROOT, _)))
                && met.meet(tokens.iter().filter_map(|token| token.path()))
        })
    }
}

impl GroupReader<'_> {
    /// The paths of the strings in which something may stand, each once: it stands in no others. `find` tells whether it stands in some bytes, and is asked about many
    /// texts at once. None where an object has a key twice, or a document is kept as text. Takes time linear in the bytes of texts as they
    /// are stored, and in the tokens of all shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, Wanted, Within, encode};
    /// let documents = [r#"{"to":"Bern","by":[{"of":"Basel"}]}"#, r#"{"to":"Chur"}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let wanted = Wanted { text: b"Basel", any_case: false, has_others: false, within: Within::Anywhere };
    /// let find = |text: &[u8]| text.windows(5).any(|part| part == b"Basel");
    /// let paths = group.read(&encoded.frames).paths_with(wanted, find)?.unwrap_or_default();
    /// assert_eq!(paths.len(), 1);
    /// assert_eq!((&paths[0].keys, &paths[0].in_elements), (&vec!["by".into()], &Some(vec!["of".into()])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn paths_with(
        &mut self,
        wanted: Wanted<'_>,
        find: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Vec<TextPath>>, DecodeError> {
        let group = self.group;
        if !group.has_each_key_once() {
            return Ok(None);
        }
        let search = Search { wanted, find };
        let directory = group.directory();
        let (mut holding, mut paths) = (Vec::with_capacity(directory.columns.len()), Vec::new());
        for column in &directory.columns {
            let may_hold = match directory.encoding(column)? {
                Encoding::Simple(simple) => self.may_hold(&simple, &search)?,
                Encoding::Templates(templates) => {
                    let mut may_hold = false;
                    for template in templates.templates.iter().filter(|template| template.uses > 0) {
                        may_hold = may_hold || self.template_may_hold(template, &holding, &search)?;
                    }
                    may_hold
                }
            };
            holding.push(may_hold);
            if may_hold && matches!(column.kind, Leaf::Text | Leaf::Json) {
                let Some(path) = text_path(directory, column.path) else { return Ok(None) };
                paths.push(path);
            }
        }
        paths.sort_unstable_by(|a, b| (&a.keys, &a.in_elements).cmp(&(&b.keys, &b.in_elements)));
        paths.dedup();
        Ok(Some(paths))
    }

    /// Whether something may stand in a value.
    fn may_hold<F: Fn(&[u8]) -> bool>(
        &mut self,
        simple: &Simple,
        search: &Search<'_, F>,
    ) -> Result<bool, DecodeError> {
        let Search { wanted, find } = search;
        Ok(match simple {
            Simple::Strings(strings) => find(&self.frames.part(strings.bytes)?),
            Simple::Dictionary(dictionary) => find(&self.frames.part(dictionary.entries.bytes)?),
            Simple::Positions(positions) => wanted.may_consist_of(&positions.pattern.alphabet()),
            Simple::Instants(instants) => wanted.may_consist_of(&instants.alphabet()),
            Simple::Whole(_) | Simple::Fractions(_) | Simple::Difference(_) => {
                wanted.text.iter().all(is_numeric)
            }
        })
    }

    /// The same of a text by template, where it is known which columns may hold it.
    fn template_may_hold<F: Fn(&[u8]) -> bool>(
        &mut self,
        template: &Template,
        holding: &[bool],
        search: &Search<'_, F>,
    ) -> Result<bool, DecodeError> {
        let behind = template.pieces.iter().skip(1).map(|(literal, _)| literal.as_slice());
        for (nth, ((before, hole), after)) in
            template.pieces.iter().zip(behind.chain([template.tail.as_slice()])).enumerate()
        {
            let may_hold = (search.find)(before)
                || search.may_straddle(before, after, nth + 1 == template.pieces.len())
                || match hole {
                    Hole::Reference(column) => holding.get(*column as usize).copied().unwrap_or(true),
                    Hole::Own(own) => self.may_hold(own, search)?,
                };
            if may_hold {
                return Ok(true);
            }
        }
        Ok((search.find)(&template.tail))
    }
}

/// A path by its keys; none where one is no text.
fn text_path(directory: &Unread, path: u32) -> Option<TextPath> {
    let key = |step: &Step<_>| match step {
        Step::Key(key) => {
            std::str::from_utf8(AsRef::<[u8]>::as_ref(key)).ok().map(|key| Some(Box::from(key)))
        }
        Step::Element => Some(None),
    };
    let mut steps: Vec<Option<Box<str>>> = directory.paths.steps_up(path).map(key).collect::<Option<_>>()?;
    steps.reverse();
    let mut parts = steps.split(Option::is_none).map(|keys| keys.iter().flatten().cloned().collect());
    Some(TextPath { keys: parts.next().unwrap_or_default(), in_elements: parts.next() })
}
