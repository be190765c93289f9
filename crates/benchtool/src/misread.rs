//! Names with `-` or `/` that a query reads as arithmetic: `labels.k8s-pod/app`, which is `labels['k8s-pod/app']`.

use std::time::Instant;

use tamias::Store;

use crate::nested::is_anywhere;

/// A name that the query reads as arithmetic, and that events have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    written: String,
    /// The key that was meant, as the language writes it.
    meant: String,
}

impl Misread {
    /// Those that a query names, as far as events show them in time.
    pub(crate) fn of(store: &Store, query: &str, deadline: Option<Instant>) -> Vec<Misread> {
        let is_there = |meant: &String| matches!(is_anywhere(store, meant, deadline), Ok(true));
        let found = candidates(query).into_iter().filter_map(|written| {
            let meant = meanings(&written).find(is_there)?;
            Some(Misread { written, meant })
        });
        found.collect()
    }

    /// The keys that the query reads in it.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        self.written.split(['-', '/'])
    }

    pub(crate) fn warning(&self) -> String {
        let Misread { written, meant } = self;
        format!("`{written}` was read as arithmetic; for the key of this name write `{meant}`")
    }
}

/// What a query names that has a point, and behind it a `-` or `/`; nothing of what stands in quotes.
fn candidates(query: &str) -> Vec<String> {
    let outside = query.split('\'').step_by(2);
    let is_part = |part: char| part.is_alphanumeric() || "_.-/".contains(part);
    let is_candidate = |name: &&str| {
        let arithmetic = name.find(['-', '/']);
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && arithmetic.is_some_and(|at| name.find('.').is_some_and(|point| point < at))
            && !name.ends_with(['-', '/', '.'])
    };
    let mut found: Vec<String> = outside
        .flat_map(|text| text.split(|part| !is_part(part)))
        .filter(is_candidate)
        .map(str::to_owned)
        .collect();
    found.dedup();
    found
}

/// The keys that may be meant, the innermost object first.
fn meanings(name: &str) -> impl Iterator<Item = String> {
    let end = name.find(['-', '/']).unwrap_or(0);
    let points = name.get(..end).unwrap_or_default().rmatch_indices('.');
    points.filter_map(|(at, _)| Some(format!("{}['{}']", name.get(..at)?, name.get(at + 1..)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_arithmetic_and_texts() {
        let query = "labels.k8s-pod/app = 'x.y-z' and a - b > 1 and a.b / c.d > 2 and annotations.authorization.k8s.io/decision";
        assert_eq!(candidates(query), ["labels.k8s-pod/app", "annotations.authorization.k8s.io/decision"]);
        let meant: Vec<String> = meanings("a.k8s.io/b").collect();
        assert_eq!(meant, ["a.k8s['io/b']", "a['k8s.io/b']"]);
    }
}
