//! Where a path of keys leads to in the shapes of documents, or of the elements of arrays.

use crate::group::Group;
use crate::path::{ROOT, Step};
use crate::shape::{Leaf, Token};
use std::collections::BTreeSet;
use std::ops::Range;

/// A path has something in the shapes of some events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Its tokens in the shape.
    pub(crate) tokens: Range<usize>,
    /// The only one, if it is no object.
    pub(crate) leaf: Option<Leaf>,
    /// Where it has a column: which, and how many values of that come before it in the shape.
    pub(crate) column: Option<(u32, u32)>,
}

/// Where a path leads to in the shapes of a list: of the documents, or of the elements of arrays.
#[derive(Debug)]
pub(crate) struct Sites {
    pub(crate) list: usize,
    /// How many documents or elements there are.
    pub(crate) rows: usize,
    /// By the codes of the list's shapes; none where a shape has nothing there.
    pub(crate) by_code: Vec<Option<Site>>,
}

impl Sites {
    /// Those that are wanted, and nothing at the others.
    pub(crate) fn only(&self, wanted: impl Fn(&Site) -> bool) -> Sites {
        let by_code = self.by_code.iter().map(|site| site.clone().filter(|site| wanted(site))).collect();
        Sites { by_code, ..*self }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Site> {
        self.by_code.iter().flatten()
    }

    /// The columns that they have, each once.
    pub(crate) fn columns(&self) -> Vec<u32> {
        let mut columns: Vec<u32> =
            self.iter().filter_map(|site| site.column).map(|(column, _)| column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// What a document or an element has at a path that is kept as text, which is kept so as a whole.
#[derive(Clone, Copy)]
enum OfText {
    Unknown,
    Nothing,
}

/// Where a path leads to in a shape.
enum Found {
    Nothing,
    Site(Site),
    Unknown,
}

impl Group {
    /// The paths on the way down some keys, as documents spell them, from the documents themselves.
    pub(crate) fn path_of(&self, keys: &[&str]) -> Option<Vec<u32>> {
        self.path_below(ROOT, keys)
    }

    /// The same from a path on.
    pub(crate) fn path_below(&self, start: u32, keys: &[&str]) -> Option<Vec<u32>> {
        let paths = &self.directory().paths;
        let mut way = Vec::with_capacity(keys.len());
        let mut at = start;
        for key in keys {
            at = (1..paths.len() as u32).find(|child| match paths.step(*child) {
                Some((parent, Step::Key(own))) => parent == at && own.as_ref() == key.as_bytes(),
                Some((_, Step::Element)) | None => false,
            })?;
            way.push(at);
        }
        Some(way)
    }

    /// The frames that are read for what stands at a path of keys, in ascending order; those of arrays are left out. Takes time linear in the tokens of all
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"ms":1,"at":7.5}"#, r#"{"ms":2}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let group = Group::open(&encode(&events)?.directory)?;
    /// assert_eq!(group.frames_at(&["ms"]), [0]);
    /// assert_eq!(group.frames_at(&["no such key"]), []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn frames_at(&self, keys: &[&str]) -> Vec<u32> {
        let Some(way) = self.path_of(keys) else { return Vec::new() };
        let directory = self.directory();
        let (mut columns, mut is_there) = (BTreeSet::new(), false);
        for shape in self.shapes_of(0) {
            let tokens = directory.shapes.get(*shape as usize).unwrap_or_default();
            let Found::Site(site) = self.find_in(tokens, &way, keys.len()) else { continue };
            is_there = true;
            for token in tokens.get(site.tokens).unwrap_or_default() {
                if let Token::Leaf(path, kind) = *token {
                    columns.extend(self.places().column(path, kind));
                }
            }
        }
        let mut frames = BTreeSet::new();
        if is_there {
            // Which event has which shape.
            frames.extend(directory.lists.first().and_then(|list| list.codes.part()).map(|part| part.frame));
        }
        // Templates refer to columns before their own only.
        while let Some(column) = columns.pop_last() {
            let info = directory.columns.get(column as usize);
            let Some(encoding) = info.and_then(|info| directory.encoding(info).ok()) else { continue };
            frames.extend(encoding.parts().iter().map(|part| part.frame));
            if encoding.needs_instants() {
                frames.extend(directory.instants.multiples.part().map(|part| part.frame));
            }
            columns.extend(encoding.references());
        }
        frames.into_iter().collect()
    }

    /// Whether each document that has something at a path of keys has something at another one, as shapes tell it. Takes time linear in the tokens of all
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"at":1,"of":2}"#, r#"{"of":2}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let group = Group::open(&encode(&events)?.directory)?;
    /// assert!(group.comes_with(&["at"], &["of"]) && !group.comes_with(&["of"], &["at"]));
    /// assert!(group.comes_with(&["no such key"], &["of"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn comes_with(&self, keys: &[&str], with: &[&str]) -> bool {
        let (Some(own), Some(with)) = (self.sites(0, keys), self.sites(0, with)) else { return false };
        own.by_code.iter().zip(&with.by_code).all(|(own, with)| own.is_none() || with.is_some())
    }

    /// Where a path of keys leads to in the shapes of a list; none where one keeps a value on the way as text.
    pub(crate) fn sites(&self, list: usize, keys: &[&str]) -> Option<Sites> {
        self.sites_of(list, keys, OfText::Unknown)
    }

    /// The same of the documents, as if those that are kept as text had nothing there.
    pub(crate) fn sites_beside_text(&self, keys: &[&str]) -> Option<Sites> {
        self.sites_of(0, keys, OfText::Nothing)
    }

    fn sites_of(&self, list: usize, keys: &[&str], of_text: OfText) -> Option<Sites> {
        let info = self.directory().lists.get(list);
        let start = info.map_or(ROOT, |list| list.path);
        let way = self.path_below(start, keys).unwrap_or_default();
        let mut by_code = Vec::new();
        for shape in self.shapes_of(list) {
            let tokens = self.directory().shapes.get(*shape as usize).unwrap_or_default();
            by_code.push(match self.find_in(tokens, &way, keys.len()) {
                Found::Nothing => None,
                Found::Unknown => match of_text {
                    OfText::Unknown => return None,
                    OfText::Nothing => None,
                },
                Found::Site(site) => Some(site),
            });
        }
        let rows = if list == 0 { self.events() } else { info.map_or(0, |list| list.elements) };
        Some(Sites { list, rows, by_code })
    }

    /// Where a path leads to in a shape: at each level the last member of that key.
    fn find_in(&self, shape: &[Token], way: &[u32], keys: usize) -> Found {
        if self.directory().shapes.are_simple() {
            return self.find_in_simple(shape, way, keys);
        }
        let mut object = 0..shape.len();
        for level in 0..keys {
            match shape.get(object.start) {
                Some(Token::Open(_)) => {}
                Some(Token::Leaf(_, Leaf::Json)) => return Found::Unknown,
                Some(Token::Leaf(..) | Token::Close) | None => return Found::Nothing,
            }
            let Some(wanted) = way.get(level) else { return Found::Nothing };
            let Some(member) = last_member(shape, object, *wanted) else { return Found::Nothing };
            object = member;
        }
        let leaf = match shape.get(object.start) {
            Some(Token::Leaf(_, leaf)) => Some(*leaf),
            Some(Token::Open(_) | Token::Close) | None => None,
        };
        let column = leaf.filter(|leaf| leaf.has_column()).and_then(|leaf| {
            let path = shape.get(object.start)?.path()?;
            let is_same = |token: &&Token| **token == Token::Leaf(path, leaf);
            let before = shape.get(..object.start)?.iter().filter(is_same).count();
            Some((self.places().column(path, leaf)?, before as u32))
        });
        Found::Site(Site { tokens: object, leaf, column })
    }

    /// The same where a path is there once at most, and nothing is kept as text: its token alone tells it.
    fn find_in_simple(&self, shape: &[Token], way: &[u32], keys: usize) -> Found {
        let wanted = match way.last() {
            _ if way.len() < keys => return Found::Nothing,
            None => 0,
            Some(path) => {
                let place = shape.iter().position(|token| token.path() == Some(*path));
                let Some(place) = place else { return Found::Nothing };
                place
            }
        };
        let (leaf, column) = match shape.get(wanted) {
            Some(Token::Leaf(path, leaf)) => (Some(*leaf), self.places().column(*path, *leaf)),
            Some(Token::Open(_) | Token::Close) | None => (None, None),
        };
        let end = if leaf.is_some() { Some(wanted + 1) } else { value_end(shape, wanted..shape.len()) };
        let Some(end) = end else { return Found::Nothing };
        let column = column.filter(|_| leaf.is_some_and(Leaf::has_column)).map(|column| (column, 0));
        Found::Site(Site { tokens: wanted..end, leaf, column })
    }
}

/// The tokens of the last member with a path of the object whose tokens these are: a path tells in which object it is.
fn last_member(shape: &[Token], object: Range<usize>, path: u32) -> Option<Range<usize>> {
    let is_member = |token: &Token| token.path() == Some(path);
    let start = object.start + shape.get(object.clone())?.iter().rposition(is_member)?;
    Some(start..value_end(shape, start..object.end)?)
}

/// Just past the value that begins at the first of some tokens.
fn value_end(shape: &[Token], within: Range<usize>) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in within.clone().zip(shape.get(within.start..)?) {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Leaf(..) => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
