//! The documents of a group that are whole although some of its frames are not.

use crate::column::{LOST, Ready};
use crate::error::{DecodeError, malformed};
use crate::group::GroupReader;
use crate::output::Output;
use crate::path::Step;
use crate::render::{Elements, Renderer};
use crate::spans::Spelling;

impl<'g> GroupReader<'g> {
    /// The documents in order; none for one that has a value which could not be read.
    ///
    /// What cannot be read is put into the documents as a character that no JSON has, so that it is found wherever it comes to stand: in a text
    /// that refers to it as well. A document that has this character itself, and so is no JSON, is left out too.
    ///
    /// Takes time linear in the length of the documents.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"a":1}"#, r#"{"b":"x"}"#, r#"{"a":3}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let whole = group.read(&encoded.frames).whole_documents()?;
    /// assert_eq!(whole[1].as_deref(), Some(documents[1].as_bytes()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError`] where nothing can be told, as the shapes of the documents could not be read.
    pub fn whole_documents(&mut self) -> Result<Vec<Option<Vec<u8>>>, DecodeError> {
        let directory = self.group.directory();
        let programs = self.group.programs()?;
        let mut lists = vec![self.list(0)?];
        for list in 1..directory.lists.len() {
            lists.push(match self.list(list) {
                Ok(elements) => elements,
                Err(_) => {
                    let lengths = self.lengths(list).unwrap_or_default();
                    Elements { lengths, shapes: Vec::new(), is_lost: true }
                }
            });
        }
        for list in 1..lists.len() {
            lists[list].is_lost = self.is_lost(list, &lists)?;
        }
        let mut left = 2 * directory.bytes;
        let mut columns = Vec::with_capacity(directory.columns.len());
        for (number, column) in directory.columns.iter().enumerate() {
            let list = self.group.places().list_of(column.path, &directory.paths);
            let is_lost = list.and_then(|list| lists.get(list as usize)).is_none_or(|list| list.is_lost);
            let ready = self.column(number).and_then(|values| values.ready(Spelling::Before, &mut left)).ok();
            columns.push(ready.filter(|_| !is_lost).unwrap_or(Ready::Lost(column.count)));
        }
        let mut renderer = Renderer::new(&programs, &columns, &lists, directory.bytes);
        let mut documents = Vec::with_capacity(directory.events);
        let mut out = Output::new(2 * directory.bytes);
        for _ in 0..directory.events {
            renderer.next(0, &mut out)?;
            let is_whole = !out.bytes().contains(&LOST);
            documents.push(is_whole.then(|| out.bytes().to_vec()));
            out.clear();
        }
        Ok(documents)
    }

    /// Whether a list, or one around it, could not be read: which of its values belong to a document is not known then.
    fn is_lost(&self, list: usize, lists: &[Elements]) -> Result<bool, DecodeError> {
        const NO_LIST: DecodeError = malformed("a list of no list");
        let directory = self.group.directory();
        let mut at = list;
        // A list around another has a shorter path, so that this ends.
        while at != 0 {
            if lists.get(at).ok_or(NO_LIST)?.is_lost {
                return Ok(true);
            }
            let path = directory.lists.get(at).ok_or(NO_LIST)?.path;
            let Some((array, Step::Element)) = directory.paths.step(path) else { return Err(NO_LIST) };
            at = self.group.places().list_of(array, &directory.paths).ok_or(NO_LIST)? as usize;
        }
        Ok(false)
    }
}
