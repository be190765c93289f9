//! The imports of a crate: from file to file, and from other crates.

use crate::graph::{self, Circle, Edges};
use crate::module::{Error, Module, Tree};
use crate::resolve::{Target, resolve};
use std::collections::{BTreeMap, BTreeSet};

/// Which files of a crate import which, and which other crates they name.
#[derive(Debug)]
pub struct Imports {
    files: Vec<String>,
    edges: Edges,
    /// Files and the names of other crates, each with the path that names it.
    crates: BTreeMap<(usize, String), String>,
}

/// What files may not import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Import {
    /// Anything of this crate, named as in code: `tamias_json`.
    Crate(&'static str),
    /// A file of the same crate: a folder with its slash, `scan/`, or a file, `scan.rs`.
    Files(&'static str),
}

/// A rule: these files do not import that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forbidden {
    /// The files that it is for, each a folder with its slash, `operator/`, or a file.
    pub files: &'static [&'static str],
    /// Those of them that may. One that needs no exception is told as broken.
    pub except: &'static [&'static str],
    /// What they may not import.
    pub imports: &'static [Import],
    /// Why, for whoever breaks it.
    pub because: &'static str,
}

impl Imports {
    /// Reads a crate from its root, `lib.rs` or `main.rs`. `source` gives the text of a file by its path from the root's folder,
    /// or none where there is no such file.
    ///
    /// # Errors
    ///
    /// Where a module has no file, a file is no Rust, or has an attribute `path`.
    pub fn read(root: &str, source: impl Fn(&str) -> Option<String>) -> Result<Imports, Error> {
        let tree = Tree::read(root, source)?;
        let mut imports = Imports { files: tree.files, edges: Edges::new(), crates: BTreeMap::new() };
        for (number, module) in tree.modules.iter().enumerate() {
            for import in &module.uses {
                for target in resolve(&tree.modules, number, &import.path) {
                    imports.add(module.file, &target, &import.path);
                    if let (Target::Module(of), None) = (&target, &import.name) {
                        imports.add_glob(&tree.modules, module.file, *of, &import.path);
                    }
                }
            }
            for path in &module.paths {
                for target in resolve(&tree.modules, number, path) {
                    imports.add(module.file, &target, path);
                }
            }
        }
        Ok(imports)
    }

    fn add(&mut self, from: usize, target: &Target, path: &[String]) {
        let to = match target {
            Target::Module(_) => return,
            Target::File(file) => *file,
            Target::Crate(name, by) => {
                self.crates.entry((from, name.clone())).or_insert_with(|| path.join("::"));
                *by
            }
        };
        if from != to {
            self.edges.entry((from, to)).or_insert_with(|| path.join("::"));
        }
    }

    /// All that a glob may bring in: what the module defines, and what it re-exports.
    fn add_glob(&mut self, modules: &[Module], from: usize, of: usize, path: &[String]) {
        let path = [path, &["*".to_owned()]].concat();
        self.add(from, &Target::File(modules[of].file), &path);
        for import in &modules[of].uses {
            for target in resolve(modules, of, &import.path) {
                self.add(from, &target, &path);
            }
        }
    }

    /// The circles: the largest sets of files of which each imports each other, by way of others of the set.
    pub fn circles(&self) -> Vec<Circle> {
        graph::circles(&self.files, &self.edges)
    }

    /// Says for each import that a rule forbids which it is, and why.
    pub fn broken(&self, rule: &Forbidden) -> Vec<String> {
        let is_for = |file: &str| rule.files.iter().any(|of| within(file, of));
        let mut broken = BTreeSet::new();
        let mut unneeded: BTreeSet<&str> = rule.except.iter().copied().collect();
        for import in rule.imports {
            let edges = self.edges.iter().filter(|((_, to), _)| match import {
                Import::Files(of) => within(&self.files[*to], of),
                Import::Crate(_) => false,
            });
            let crates =
                self.crates.iter().filter(|((_, name), _)| matches!(import, Import::Crate(of) if of == name));
            let paths = edges.map(|((from, _), path)| (from, path));
            for (from, path) in paths.chain(crates.map(|((from, _), path)| (from, path))) {
                let file = &self.files[*from];
                if is_for(file) && !rule.except.contains(&file.as_str()) {
                    broken.insert(format!("{file} imports {path}: {}", rule.because));
                }
                unneeded.remove(file.as_str());
            }
        }
        let unneeded = unneeded.iter().map(|file| format!("{file} needs no exception: {}", rule.because));
        broken.into_iter().chain(unneeded).collect()
    }

    /// The files that were read, by their paths from the root's folder.
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

/// Whether a file is the one that is named, or stands in the folder that is.
fn within(file: &str, of: &str) -> bool {
    if of.ends_with('/') { file.starts_with(of) } else { file == of }
}
