//! Paths followed to the files that define what they name.

use crate::module::Module;
use std::collections::BTreeSet;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Module(usize),
    /// Something that this file defines.
    File(usize),
    /// Something of another crate, by way of this file.
    Crate(String, usize),
}

/// The modules and names that are being looked up: a `use` may lead back to itself.
type Seen = BTreeSet<(usize, String)>;

/// Follows a path that stands in a module. It has several ends where a name means a module and a function, say.
pub(crate) fn resolve(modules: &[Module], module: usize, path: &[String]) -> Vec<Target> {
    follow(modules, module, path, &mut Seen::new())
}

fn follow(modules: &[Module], module: usize, path: &[String], seen: &mut Seen) -> Vec<Target> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    let mut targets = match &**first {
        "crate" => vec![Target::Module(0)],
        "self" => vec![Target::Module(module)],
        "super" => vec![Target::Module(modules[module].parent)],
        name => look_up(modules, module, name, seen)
            .unwrap_or_else(|| vec![Target::Crate(name.to_owned(), modules[module].file)]),
    };
    for name in rest {
        // Only a module goes on: behind a type come its own names.
        if targets.iter().any(|target| matches!(target, Target::Module(_))) {
            targets.retain(|target| matches!(target, Target::Module(_)));
        }
        targets = targets.into_iter().flat_map(|target| step(modules, target, name, seen)).collect();
    }
    if targets.iter().any(|target| !matches!(target, Target::Module(_))) {
        targets.retain(|target| !matches!(target, Target::Module(_)));
    }
    targets
}

fn step(modules: &[Module], target: Target, name: &str, seen: &mut Seen) -> Vec<Target> {
    match target {
        Target::Module(of) if name == "super" => vec![Target::Module(modules[of].parent)],
        Target::Module(of) => {
            look_up(modules, of, name, seen).unwrap_or_else(|| vec![Target::File(modules[of].file)])
        }
        Target::File(_) | Target::Crate(..) => vec![target],
    }
}

/// What a name means in a module; none if nothing there has it.
fn look_up(modules: &[Module], module: usize, name: &str, seen: &mut Seen) -> Option<Vec<Target>> {
    let of = &modules[module];
    let child = of.children.get(name).map(|child| Target::Module(*child));
    let item = of.items.contains(name).then_some(Target::File(of.file));
    let mut found: Vec<Target> = child.into_iter().chain(item).collect();
    if !seen.insert((module, name.to_owned())) {
        // Its `use` leads here: `pub use eval::eval` begins with the module.
        return Some(found);
    }
    for import in of.uses.iter().filter(|import| import.name.as_deref() == Some(name)) {
        found.extend(follow(modules, module, &import.path, seen));
    }
    if found.is_empty() {
        for glob in of.uses.iter().filter(|import| import.name.is_none()) {
            for target in follow(modules, module, &glob.path, seen) {
                if let Target::Module(of) = target {
                    found.extend(look_up(modules, of, name, seen).unwrap_or_default());
                }
            }
        }
    }
    seen.remove(&(module, name.to_owned()));
    (!found.is_empty()).then_some(found)
}
