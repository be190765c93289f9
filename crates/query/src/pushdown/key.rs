//! A key that is searched for: where its values stand in the present window, and what is known of that for the whole block.

use crate::places::Places;
use crate::statistics::{Key as StoredKey, Statistics};
use std::sync::Arc;
use tamias_json::Isa;
use tamias_json::search::{Documents, Needle, Occurrences, Place, Span};

/// What is known of a key in the present window.
pub(super) struct Key {
    name: Box<str>,
    /// In which documents of the present block it is plain, as far as is known: a bit for each.
    pub(super) plain: Vec<u8>,
    /// Whether no event of the block has it, for sure.
    pub(super) is_absent: bool,
    /// Where its value stands in each document of the block, if that was found before.
    pub(super) known: Option<Arc<[Place]>>,
    /// Whether the block's documents were searched for it, and that was told.
    is_told: bool,
    is_found: bool,
    /// Whether `values` has those of all documents of the window.
    is_filled: bool,
    pub(super) occurrences: Occurrences,
    pub(super) values: Vec<Span>,
}

impl Key {
    pub(super) fn new(name: &str) -> Key {
        Key {
            name: name.into(),
            plain: Vec::new(),
            is_absent: false,
            known: None,
            is_told: false,
            is_found: false,
            is_filled: false,
            occurrences: Occurrences::default(),
            values: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, statistics: Option<&Statistics<'_>>, places: Option<&Places>) {
        self.plain.clear();
        self.is_absent = false;
        if let Some(statistics) = statistics {
            self.is_absent = matches!(statistics.key(&self.name), StoredKey::Absent);
            statistics.plain(&self.name, &mut self.plain);
        }
        self.known = places.and_then(|places| places.get(&self.name));
        self.is_told = false;
    }

    /// Begins with a window of so many documents.
    pub(super) fn begin_window(&mut self, documents: usize) {
        self.is_found = false;
        self.is_filled = false;
        self.values.clear();
        self.values.resize(documents, Span::Unsure);
    }

    /// All documents are about to be searched for the key: tells that, and has its places if it was told before.
    pub(super) fn learn(
        &mut self,
        isa: Isa,
        needle: &Needle,
        documents: Documents<'_>,
        places: Option<&Places>,
    ) {
        if self.known.is_some() || self.is_told || self.is_absent {
            return;
        }
        self.is_told = true;
        let Key { name, plain, .. } = &*self;
        let find = || documents.whole().with_plain(plain).places(isa, needle, name);
        self.known = places.and_then(|places| places.ask(name, find));
    }

    /// All occurrences of the key in the window.
    pub(super) fn find(&mut self, isa: Isa, needle: &Needle, documents: Documents<'_>) {
        if !self.is_found {
            self.is_found = true;
            documents.find(isa, needle, &mut self.occurrences);
        }
    }

    /// Finds the values of some documents of the window.
    pub(super) fn fill(
        &mut self,
        isa: Isa,
        needle: &Needle,
        documents: Documents<'_>,
        places: Option<&Places>,
        indices: &[u32],
    ) {
        if self.is_filled {
            return;
        }
        if self.is_absent {
            self.values.fill(Span::Absent);
            self.is_filled = true;
            return;
        }
        // Searching through all is quicker than beginning anew for each of many.
        let are_many = indices.len() * 2 > documents.len();
        if are_many {
            self.learn(isa, needle, documents, places);
        }
        if let Some(known) = &self.known {
            let places = documents.part_of(known);
            for index in indices {
                if let (Some(value), Some(place)) =
                    (self.values.get_mut(*index as usize), places.get(*index as usize))
                {
                    *value = place.span();
                }
            }
        } else if are_many {
            self.search_all(isa, needle, documents);
        } else {
            documents.with_plain(&self.plain).values_of(isa, needle, indices, &mut self.values);
        }
    }

    /// Finds the values of all documents of the window.
    pub(super) fn fill_all(
        &mut self,
        isa: Isa,
        needle: &Needle,
        documents: Documents<'_>,
        places: Option<&Places>,
    ) {
        self.learn(isa, needle, documents, places);
        match &self.known {
            Some(known) if !self.is_filled => {
                let places = documents.part_of(known);
                self.values.iter_mut().zip(places).for_each(|(value, place)| *value = place.span());
                self.is_filled = true;
            }
            _ if self.is_filled => {}
            _ if self.is_absent => self.fill(isa, needle, documents, places, &[]),
            _ => self.search_all(isa, needle, documents),
        }
    }

    /// Finds all values by all occurrences of the key.
    fn search_all(&mut self, isa: Isa, needle: &Needle, documents: Documents<'_>) {
        self.find(isa, needle, documents);
        let documents = documents.with_plain(&self.plain);
        documents.values(isa, needle, &self.occurrences, &mut self.values);
        self.is_filled = true;
    }
}
