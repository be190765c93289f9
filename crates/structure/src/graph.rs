//! Circles in a graph of files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// From file to file, each with a path that imports.
pub(crate) type Edges = BTreeMap<(usize, usize), String>;

/// Files that import one another in a circle. It prints one round, a shortest, with the imports that make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// All files of the circle, in the order of their names.
    pub files: Vec<String>,
    /// A round through the first: each file, and what the one before it imports of it.
    round: Vec<(String, String)>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.files[0])?;
        self.round.iter().try_for_each(|(file, path)| write!(f, " → {file} ({path})"))
    }
}

/// The strongly connected parts of more than one file. Takes files × imports, which are few.
pub(crate) fn circles(files: &[String], edges: &Edges) -> Vec<Circle> {
    let reached: Vec<BTreeMap<usize, usize>> = (0..files.len()).map(|from| reach(from, edges)).collect();
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    let mut by_name: Vec<usize> = (0..files.len()).collect();
    by_name.sort_by_key(|file| &files[*file]);
    for first in &by_name {
        let together =
            |file: &&usize| reached[*first].contains_key(*file) && reached[**file].contains_key(first);
        let all: Vec<usize> = by_name.iter().filter(together).copied().collect();
        if all.contains(first) && done.insert(all.clone()) {
            let mut round = Vec::new();
            let mut at = *first;
            while round.is_empty() || at != *first {
                let before = reached[*first][&at];
                round.push((files[at].clone(), edges[&(before, at)].clone()));
                at = before;
            }
            round.reverse();
            circles.push(Circle { files: all.iter().map(|file| files[*file].clone()).collect(), round });
        }
    }
    circles
}

/// The files that a file reaches in one step or more, each with the one before it on a shortest way.
fn reach(from: usize, edges: &Edges) -> BTreeMap<usize, usize> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(at) = waiting.pop_front() {
        for (_, to) in edges.range((at, 0)..=(at, usize::MAX)).map(|(edge, _)| edge) {
            if !before.contains_key(to) {
                before.insert(*to, at);
                waiting.push_back(*to);
            }
        }
    }
    before
}
