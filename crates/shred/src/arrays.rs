//! The arrays that documents have at a path, and what stands at a path inside each of their elements.

use crate::at::AtPath;
use crate::error::DecodeError;
use crate::group::{Group, GroupReader};
use crate::path::{ROOT, Step};
use crate::shape::{Leaf, Token};

/// What documents have at a path, where arrays are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtArrays {
    /// No document has anything there.
    Nothing,
    /// Some documents have arrays there.
    Arrays(ArraysAt),
    /// There are no arrays, or columns do not tell the elements in the order of their documents: an array comes twice in one, or a value on the way is
    /// kept as text.
    Unknown,
}

/// What shapes tell of the arrays at a path of keys, in documents or in the elements of other arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraysAt {
    /// The list of their elements.
    list: usize,
    /// How many documents there are, or elements of other arrays, that may have one.
    pub rows: usize,
    /// How many elements they have together.
    pub elements: usize,
    /// Whether some documents have an object there.
    pub has_objects: bool,
    /// Whether some documents have a string there.
    pub has_texts: bool,
}

/// The arrays of some documents, or of some elements of other arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrays {
    /// The rows of the documents or elements that have one, in ascending order.
    pub rows: Vec<u32>,
    /// For each of these rows how many elements its array has.
    pub lengths: Vec<i64>,
}

impl Group {
    /// The arrays at a path of keys, as documents spell them. Takes time linear in the tokens of all shapes.
    ///
    /// ```
    /// # use tamias_shred::{AtArrays, AtPath, Event, Group, encode};
    /// let documents = [r#"{"of":[{"n":1},{"n":2}]}"#, r#"{}"#, r#"{"of":[{"n":3},7]}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let AtArrays::Arrays(of) = group.arrays_at(&["of"]) else { panic!("arrays") };
    /// let mut reader = group.read(&encoded.frames);
    /// let arrays = reader.arrays(of)?;
    /// assert_eq!((arrays.rows, arrays.lengths), (vec![0, 2], vec![2, 2]));
    /// let AtPath::Numbers(n) = reader.at_elements(of, &["n"])? else { panic!("numbers") };
    /// assert_eq!((n.rows, n.values), (Some(vec![0, 1, 2]), vec![1, 2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn arrays_at(&self, keys: &[&str]) -> AtArrays {
        self.arrays_in(0, keys)
    }

    /// The arrays at a path of keys in each element of other arrays; without keys those that are elements themselves. Takes time linear in the tokens of all
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{AtArrays, AtPath, Event, Group, encode};
    /// let documents = [r#"{"of":[{"n":[1,2]},{}]}"#, r#"{"of":[{"n":[]},{"n":[3]}]}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let AtArrays::Arrays(of) = group.arrays_at(&["of"]) else { panic!("arrays") };
    /// let AtArrays::Arrays(n) = group.arrays_within(of, &["n"]) else { panic!("arrays") };
    /// let mut reader = group.read(&encoded.frames);
    /// let arrays = reader.arrays(n)?;
    /// assert_eq!((arrays.rows, arrays.lengths), (vec![0, 2, 3], vec![2, 0, 1]));
    /// let AtPath::Numbers(n) = reader.at_elements(n, &[])? else { panic!("numbers") };
    /// assert_eq!(n.values, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn arrays_within(&self, of: ArraysAt, keys: &[&str]) -> AtArrays {
        self.arrays_in(of.list, keys)
    }

    fn arrays_in(&self, list: usize, keys: &[&str]) -> AtArrays {
        let directory = self.directory();
        let Some(sites) = self.sites(list, keys) else { return AtArrays::Unknown };
        let start = directory.lists.get(list).map_or(ROOT, |list| list.path);
        let Some(way) = self.path_below(start, keys) else { return AtArrays::Nothing };
        let array = way.last().copied().unwrap_or(start);
        let mut at =
            ArraysAt { list: 0, rows: sites.rows, elements: 0, has_objects: false, has_texts: false };
        let mut has_arrays = false;
        for (shape, site) in self.shapes_of(list).iter().zip(&sites.by_code) {
            let tokens = directory.shapes.get(*shape as usize).unwrap_or_default();
            let count = tokens.iter().filter(|token| **token == Token::Leaf(array, Leaf::Array)).count();
            let leaf = site.as_ref().and_then(|site| site.leaf);
            at.has_objects |= site.as_ref().is_some_and(|site| site.leaf.is_none());
            at.has_texts |= leaf == Some(Leaf::Text);
            match (leaf, count) {
                // What is kept as text may be an array.
                (Some(Leaf::Json), _) => return AtArrays::Unknown,
                (Some(Leaf::Array), 1) => has_arrays = true,
                (_, 0) => {}
                // An array that does not count: another one comes after it.
                _ => return AtArrays::Unknown,
            }
        }
        if sites.iter().next().is_none() {
            return AtArrays::Nothing;
        }
        let mut lists = (0..).zip(&directory.lists);
        let own = lists.find(|(_, list)| {
            matches!(directory.paths.step(list.path), Some((parent, Step::Element)) if parent == array)
        });
        match own {
            Some((list, info)) if has_arrays => {
                AtArrays::Arrays(ArraysAt { list, elements: info.elements, ..at })
            }
            _ => AtArrays::Unknown,
        }
    }

    /// Whether columns tell what stands at a path of keys in the elements of arrays.
    pub fn tells_elements(&self, of: ArraysAt, keys: &[&str]) -> bool {
        self.sites(of.list, keys).is_some()
    }
}

impl GroupReader<'_> {
    /// The arrays that are told by their group's shapes. Takes time linear in the documents, or in the elements that have them.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn arrays(&mut self, at: ArraysAt) -> Result<Arrays, DecodeError> {
        let (rows, lengths) = self.array_rows(at.list)?;
        Ok(Arrays { rows, lengths })
    }

    /// What the elements of arrays have at a path of keys, as [`at`](GroupReader::at) tells it of documents: an element is a row. Without keys it is the elements
    /// themselves.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn at_elements(&mut self, of: ArraysAt, keys: &[&str]) -> Result<AtPath, DecodeError> {
        let Some(sites) = self.group.sites(of.list, keys) else { return Ok(AtPath::Unknown) };
        Ok(self.at_sites(&sites, None)?.whole())
    }
}
