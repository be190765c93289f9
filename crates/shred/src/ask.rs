//! Queries on a group that need no documents: the columns at a path, the rows of values, and
//! range tests of packed numbers.

use std::borrow::Cow;

use crate::column::{ColumnValues, Written};
use crate::encoding::Window;
use crate::encoding::simple::Simple;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::group::{Group, GroupReader};
use crate::path::{ROOT, Step};
use crate::spans::{Spans, Spelling};

const NO_LIST: DecodeError = malformed("a list of no list");

impl Group {
    /// The numbers of the columns at a path of keys, one for each kind of value there. Keys are given in the documents' spelling.
    ///
    /// Takes time linear in the number of paths.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, Leaf, encode};
    /// let documents = [r#"{"ms":1,"at":{"city":"Bern"}}"#, r#"{"ms":"none"}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let group = Group::open(&encode(&events)?.directory)?;
    /// assert_eq!(group.find(&["at", "city"]).len(), 1);
    /// let mut kinds: Vec<Leaf> = group.find(&["ms"]).into_iter().filter_map(|n| Some(group.columns().nth(n)?.kind)).collect();
    /// kinds.sort();
    /// assert_eq!(kinds, [Leaf::Text, Leaf::Whole]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, keys: &[&str]) -> Vec<usize> {
        let Some(way) = self.path_of(keys) else { return Vec::new() };
        let path = way.last().copied().unwrap_or(ROOT);
        let directory = self.directory();
        let columns = directory.columns.iter().enumerate();
        columns.filter(|(_, column)| column.path == path).map(|(number, _)| number).collect()
    }
}

impl GroupReader<'_> {
    /// The row of the document of each value of a column. Reads only the shapes, and the lengths of arrays around the column.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn rows(&mut self, column: usize) -> Result<Vec<u32>, DecodeError> {
        const NO_COLUMN: DecodeError = DecodeError::OutOfRange { what: "column" };
        let group = self.group;
        let info = group.directory().columns.get(column).ok_or(NO_COLUMN)?;
        let list = group.places().list_of(info.path, &group.directory().paths).ok_or(NO_COLUMN)? as usize;
        let elements = self.element_rows(list)?;
        let counts = group.census().column(column).ok_or(NO_COLUMN)?;
        self.spread(list, &elements, counts, info.count)
    }

    /// For each element of a list the row of its document.
    pub(crate) fn element_rows(&mut self, list: usize) -> Result<Vec<u32>, DecodeError> {
        let group = self.group;
        let directory = group.directory();
        let info = *directory.lists.get(list).ok_or(NO_LIST)?;
        if list == 0 {
            return Ok((0..directory.events as u32).collect());
        }
        let parent = self.parent_of(list)?;
        let around = self.element_rows(parent)?;
        let counts = group.census().arrays(list).ok_or(NO_LIST)?;
        let arrays = self.spread(parent, &around, counts, info.arrays)?;
        let lengths = self.list(list)?.lengths;
        let mut rows = Vec::with_capacity(info.elements);
        for (row, length) in arrays.into_iter().zip(lengths) {
            let length = usize::try_from(length).ok().filter(|length| *length <= info.elements - rows.len());
            rows.resize(rows.len() + length.ok_or(malformed("arrays of more elements than there are"))?, row);
        }
        if rows.len() != info.elements {
            return Err(malformed("elements of no array"));
        }
        Ok(rows)
    }

    /// The list whose elements have the arrays of another list: that of the documents, or of other arrays.
    fn parent_of(&self, list: usize) -> Result<usize, DecodeError> {
        let directory = self.group.directory();
        let info = directory.lists.get(list).ok_or(NO_LIST)?;
        let Some((array, Step::Element)) = directory.paths.step(info.path) else {
            return Err(malformed("a list that is no array"));
        };
        Ok(self.group.places().list_of(array, &directory.paths).ok_or(NO_LIST)? as usize)
    }

    /// For each array of a list the row of its document, or of the element that has it, and how many elements it has.
    pub(crate) fn array_rows(&mut self, list: usize) -> Result<(Vec<u32>, Vec<i64>), DecodeError> {
        let group = self.group;
        let info = group.directory().lists.get(list).ok_or(NO_LIST)?;
        let counts = group.census().arrays(list).ok_or(NO_LIST)?;
        let parent = self.parent_of(list)?;
        let around = group.directory().lists.get(parent).filter(|_| parent != 0);
        let around = around.map_or(group.events(), |list| list.elements);
        let rows: Vec<u32> = (0..around as u32).collect();
        let arrays = self.spread(parent, &rows, counts, info.arrays)?;
        let lengths = self.lengths(list)?;
        if arrays.len() != lengths.len() {
            return Err(malformed("fewer arrays than its shapes need"));
        }
        let left = lengths
            .iter()
            .try_fold(info.elements, |left, length| left.checked_sub(usize::try_from(*length).ok()?));
        if left != Some(0) {
            return Err(malformed("elements of no array"));
        }
        Ok((arrays, lengths))
    }

    /// The rows of elements, each as often as its shape has values: together `total`.
    fn spread(
        &mut self,
        list: usize,
        elements: &[u32],
        counts: &[(u32, u32)],
        total: usize,
    ) -> Result<Vec<u32>, DecodeError> {
        let mut by_code = vec![0u32; self.group.shapes_of(list).len()];
        for (code, count) in counts {
            if let Some(by_code) = by_code.get_mut(*code as usize) {
                *by_code = *count;
            }
        }
        let codes = self.codes(list)?;
        let mut rows = Vec::with_capacity(total);
        for (code, row) in codes.iter().zip(elements) {
            let count = by_code.get(*code as usize).copied().unwrap_or(0) as usize;
            if count > total - rows.len() {
                return Err(malformed("fewer values than its shapes need"));
            }
            rows.resize(rows.len() + count, *row);
        }
        Ok(rows)
    }

    /// For each value of an integer column, whether it lies in `from..=to`. Packed numbers are compared while they are unpacked, a block
    /// of 1024 at a time, without decoding the whole column.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"ms":1}"#, r#"{"ms":250}"#, r#"{"ms":30}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// assert_eq!(group.read(&encoded.frames).between(group.find(&["ms"])[0], 20, 300)?, [false, true, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`]; [`DecodeError::OutOfRange`] if the column is not of integers.
    pub fn between(&mut self, column: usize, from: i64, to: i64) -> Result<Vec<bool>, DecodeError> {
        const NO_NUMBERS: DecodeError = DecodeError::OutOfRange { what: "column of whole numbers" };
        let group = self.group;
        let info = group.directory().columns.get(column).ok_or(NO_NUMBERS)?;
        let inside = match &info.encoding {
            Written::Simple(Simple::Whole(ints)) => ints.between(info.count, from, to, &mut self.frames)?,
            Written::Simple(Simple::Difference(difference)) => {
                let values = difference.decode(Window::whole(info.count), None, &mut self.frames)?;
                values.iter().map(|value| (from..=to).contains(value)).collect()
            }
            Written::Simple(_) | Written::Templates(_) => return Err(NO_NUMBERS),
        };
        if !info.grouped {
            return Ok(inside);
        }
        let places = self.value_places(column, info.path)?;
        Ok(places.iter().map(|place| inside.get(*place as usize).copied().unwrap_or_default()).collect())
    }

    /// The text of each value of a column in the documents' spelling; strings without their quotes. If templates refer to other
    /// values, this takes as long as decoding all documents.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn texts(&mut self, column: usize) -> Result<Texts<'static>, DecodeError> {
        let ColumnValues::Simple(values) = self.column(column)? else {
            let (documents, spans) = self.put_together(Some(column))?;
            let text = |(start, end): &(u32, u32)| documents.bytes().get(*start as usize..*end as usize);
            let texts: Vec<Cow<'_, [u8]>> =
                spans.iter().map(|span| Cow::Borrowed(text(span).unwrap_or_default())).collect();
            return Ok(Texts::of(&texts));
        };
        let spans = Spans::of(values, Spelling::Before, &mut self.group.document_bytes())?;
        let texts: Vec<&[u8]> = (0..spans.len()).map(|index| spans.get(index).unwrap_or_default()).collect();
        Ok(Texts::of(&texts))
    }

    /// The number of bytes that this reader has decompressed so far.
    pub fn decompressed_bytes(&self) -> u64 {
        self.frames.decompressed()
    }
}
