//! The paths that expressions ask for, and those of members of dotted ones, as in `a.b['c-d']`.

use crate::column_block::Path;
use crate::expr::Expr;
use tamias_json::write_json_string;

/// A key as documents spell it, without quotes.
pub(in crate::scan) fn spelled(name: &str) -> Box<str> {
    let mut text = Vec::new();
    write_json_string(name, &mut text);
    let text = text.get(1..text.len() - 1).unwrap_or_default();
    String::from_utf8_lossy(text).into()
}

/// The path of a slot's member, or of a member of that, and so on.
pub(super) fn path_of(expr: &Expr, names: &[Box<str>]) -> Option<Path> {
    fn walk(expr: &Expr, names: &[Box<str>], path: &mut Vec<Box<str>>) -> Option<()> {
        match expr {
            Expr::Slot(slot) => path.push(spelled(names.get(*slot)?)),
            Expr::Member(of, name) => {
                walk(of, names, path)?;
                path.push(spelled(name));
            }
            _ => return None,
        }
        Some(())
    }
    let mut path = Vec::new();
    walk(expr, names, &mut path)?;
    Some(path.into())
}

/// The readings of a dotted path, and the keys that lead on from its value, at least one.
pub(super) fn beneath(expr: &Expr) -> Option<(&[Expr], Vec<&str>)> {
    let Expr::Member(of, name) = expr else { return None };
    match &**of {
        Expr::Path(readings) => Some((readings, vec![name])),
        of => {
            let (readings, mut names) = beneath(of)?;
            names.push(name);
            Some((readings, names))
        }
    }
}

/// A member of a path that has more readings is not looked for in columns, and no more paths than these are looked for: preparing a query is to take
/// little time, however long it is.
pub(super) const READINGS_MAX: usize = 8;
const PATHS_MAX: usize = 512;

/// The path that a reading of a path and keys that lead on from there come to.
fn extended(reading: &Path, names: &[&str]) -> Path {
    reading.iter().cloned().chain(names.iter().map(|name| spelled(name))).collect()
}

/// The readings of the path that an expression asks for a member of, if it does, once the paths that the member may be at are added, one for each reading.
pub(super) fn collect_members<'e>(
    expr: &'e Expr,
    names: &[Box<str>],
    paths: &mut Vec<Path>,
) -> Option<&'e [Expr]> {
    let (readings, keys) = beneath(expr)?;
    if readings.len() <= READINGS_MAX && paths.len() + readings.len() <= PATHS_MAX {
        for reading in readings {
            let path = path_of(reading, names).map(|reading| extended(&reading, &keys));
            paths.extend(path.filter(|path| !paths.contains(path)));
        }
    }
    Some(readings)
}

/// The same readings and the slots of these paths, once readings are slots.
pub(super) fn slots_of_members<'e>(expr: &'e Expr, paths: &[Path]) -> Option<(&'e [Expr], Vec<usize>)> {
    let (readings, keys) = beneath(expr)?;
    let slots = if readings.len() <= READINGS_MAX {
        readings.iter().filter_map(|reading| slot_of(reading, &keys, paths)).collect()
    } else {
        Vec::new()
    };
    Some((readings, slots))
}

/// The slot of a member, where this reading counts.
pub(super) fn slot_of(reading: &Expr, keys: &[&str], paths: &[Path]) -> Option<usize> {
    let Expr::Slot(slot) = reading else { return None };
    let path = extended(paths.get(*slot)?, keys);
    paths.iter().position(|known| *known == path)
}

/// Whether an expression asks for a member of a dotted path.
pub(super) fn has_members(expr: &Expr) -> bool {
    beneath(expr).is_some() || expr.children().into_iter().any(has_members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(readings: usize, keys: usize) -> Expr {
        let path = Expr::Path((0..readings).map(|_| Expr::Slot(0)).collect());
        (0..keys).fold(path, |of, key| Expr::Member(Box::new(of), format!("{key}").into()))
    }

    #[test]
    fn of_a_chain_of_members_the_last_one_alone_is_looked_for() {
        let mut paths = Vec::new();
        assert!(collect_members(&member(3, 100), &["a".into()], &mut paths).is_some());
        assert_eq!(paths.len(), 1);
        assert_eq!(paths[0].len(), 101);
    }

    #[test]
    fn no_more_paths_than_a_limit_are_looked_for() {
        let mut paths = Vec::new();
        collect_members(&member(READINGS_MAX + 1, 1), &["a".into()], &mut paths);
        assert_eq!(paths.len(), 0);
        for keys in 1..2 * PATHS_MAX {
            collect_members(&member(1, keys), &["a".into()], &mut paths);
        }
        assert_eq!(paths.len(), PATHS_MAX);
    }
}
