//! Paths: where in a document a value stands. A tree of steps, each a key or "an element of the array".

use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::bytes::{Reader, put};
use crate::error::{DecodeError, malformed};
use crate::hash;
use crate::limits::{PATH_DEPTH_MAX, PATHS_MAX};
use crate::texts::same;

/// The outermost object's path.
pub(crate) const ROOT: u32 = 0;

/// A step from a value to one inside it. The encoder's keys are borrowed from documents, the decoder's are owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step<K> {
    /// Into an object, by key, as the document spells it between the quotes.
    Key(K),
    /// Into an array, to any of its elements.
    Element,
}

/// A key of the decoder. Nearly all are that short, and take no memory of their own.
pub(crate) type OwnedKey = SmallVec<[u8; 16]>;

/// All paths of a group. A path is a number; each comes after its parent.
#[derive(Clone, Debug)]
pub(crate) struct Paths<K> {
    /// The parent and the last step of each path but the root.
    steps: Vec<(u32, Step<K>)>,
}

impl<K> Default for Paths<K> {
    fn default() -> Paths<K> {
        Paths { steps: Vec::new() }
    }
}

impl<K: AsRef<[u8]>> Paths<K> {
    /// How many there are, the root counted.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + 1
    }

    /// The parent and the last step; nothing for the root.
    pub(crate) fn step(&self, path: u32) -> Option<(u32, &Step<K>)> {
        let (parent, step) = self.steps.get((path as usize).checked_sub(1)?)?;
        Some((*parent, step))
    }

    /// The steps on the way to a path, the last one first.
    pub(crate) fn steps_up(&self, path: u32) -> impl Iterator<Item = &Step<K>> {
        let steps = std::iter::successors(self.step(path), |(parent, _)| self.step(*parent));
        steps.map(|(_, step)| step)
    }

    /// The path as people write it: keys with dots between, `[]` for elements; a key that holds a dot, a bracket or a quote, or is
    /// empty, stands in quotes.
    pub(crate) fn display(&self, path: u32) -> String {
        let mut steps: Vec<&Step<K>> =
            std::iter::successors(self.step(path), |(parent, _)| self.step(*parent))
                .map(|(_, step)| step)
                .collect();
        steps.reverse();
        let mut text = String::new();
        for step in steps {
            let Step::Key(key) = step else {
                text.push_str("[]");
                continue;
            };
            if !text.is_empty() {
                text.push('.');
            }
            let key = String::from_utf8_lossy(key.as_ref());
            if key.is_empty() || key.contains(['.', '[', ']', '"']) {
                text.push('"');
                text.push_str(&key);
                text.push('"');
            } else {
                text.push_str(&key);
            }
        }
        text
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.steps.len() as u64);
        for (parent, _) in &self.steps {
            put(out, u64::from(*parent));
        }
        for (_, step) in &self.steps {
            match step {
                Step::Element => put(out, 0),
                Step::Key(key) => {
                    put(out, key.as_ref().len() as u64 + 1);
                    out.extend_from_slice(key.as_ref());
                }
            }
        }
    }
}

impl<'k> Paths<&'k [u8]> {
    /// The last key on the way to a path; empty where there is none.
    pub(crate) fn last_key_of(&self, path: u32) -> &'k [u8] {
        let key = |step: &Step<&'k [u8]>| if let Step::Key(key) = step { Some(*key) } else { None };
        self.steps_up(path).find_map(key).unwrap_or_default()
    }
}

impl Paths<OwnedKey> {
    /// What they take in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let beside = |(_, step): &(u32, Step<OwnedKey>)| match step {
            Step::Key(key) if key.spilled() => key.capacity(),
            Step::Key(_) | Step::Element => 0,
        };
        size_of::<(u32, Step<OwnedKey>)>() * self.steps.capacity()
            + self.steps.iter().map(beside).sum::<usize>()
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Paths<OwnedKey>, DecodeError> {
        let count = reader.count()?;
        if count > PATHS_MAX {
            return Err(malformed("too many paths"));
        }
        let mut parents = Vec::with_capacity(count);
        let mut depths = vec![0usize];
        for index in 0..count {
            let parent = reader.at_most(index, "a path before its parent")?;
            let depth = depths[parent] + 1;
            if depth > PATH_DEPTH_MAX {
                return Err(malformed("a path of too many steps"));
            }
            depths.push(depth);
            parents.push(parent as u32);
        }
        let mut steps = Vec::with_capacity(count);
        for parent in parents {
            let length = reader.number()?;
            let step = match length.checked_sub(1) {
                None => Step::Element,
                Some(length) => {
                    let length = usize::try_from(length).map_err(|_| malformed("a key that is too long"))?;
                    Step::Key(SmallVec::from_slice(reader.take(length)?))
                }
            };
            steps.push((parent, step));
        }
        Ok(Paths { steps })
    }
}

/// Paths with a way to find them again, for the encoder.
#[derive(Debug, Default)]
pub(crate) struct PathIndex<'k> {
    pub(crate) paths: Paths<&'k [u8]>,
    /// The hash of the name of each path but the root.
    names: Vec<u64>,
    /// The paths but the root, by the hashes of their names.
    known: HashTable<u32>,
    /// The path that was asked for last: most shapes have their keys in the order in which an earlier one had them.
    last: u32,
}

impl<'k> PathIndex<'k> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.paths.steps.len()
    }

    /// The hash of a path's name: of all steps to it.
    pub(crate) fn name(&self, path: u32) -> u64 {
        (path as usize).checked_sub(1).and_then(|index| self.names.get(index)).copied().unwrap_or_default()
    }

    /// Forgets the paths that were made last, but for so many.
    pub(crate) fn truncate(&mut self, length: usize) {
        for (path, name) in (1..).zip(&self.names).skip(length) {
            if let Ok(known) = self.known.find_entry(*name, |other| *other == path) {
                known.remove();
            }
        }
        self.paths.steps.truncate(length);
        self.names.truncate(length);
    }

    /// The path of a step from another, made if there is none; nothing where there are too many already.
    #[inline]
    pub(crate) fn child(&mut self, parent: u32, step: Step<&'k [u8]>) -> Option<u32> {
        let is_next = match self.paths.steps.get(self.last as usize) {
            Some((other, Step::Key(known))) if *other == parent => {
                matches!(step, Step::Key(key) if same(known, key))
            }
            _ => false,
        };
        self.last = if is_next { self.last + 1 } else { self.child_by_name(parent, step)? };
        Some(self.last)
    }

    fn child_by_name(&mut self, parent: u32, step: Step<&'k [u8]>) -> Option<u32> {
        let key = if let Step::Key(key) = step { key } else { b"[]" };
        let name = hash::of_next(self.name(parent), key);
        let PathIndex { paths: Paths { steps }, names, known, .. } = self;
        if let Some(path) = known.find(name, |path| steps.get(*path as usize - 1) == Some(&(parent, step))) {
            return Some(*path);
        }
        if steps.len() >= PATHS_MAX {
            return None;
        }
        steps.push((parent, step));
        names.push(name);
        let path = steps.len() as u32;
        known.insert_unique(name, path, |path| names.get(*path as usize - 1).copied().unwrap_or_default());
        Some(path)
    }
}
