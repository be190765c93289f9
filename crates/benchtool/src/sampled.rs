//! The keys of some of a store's events.

use tamias::{Key, Keys, Parameters, RunOptions, Statement, Store};

use crate::failure::Failure;

/// The keys of so many events that meet a condition from the beginning of the store, and of as many from its end, down to some levels.
pub(crate) fn keys(
    store: &Store,
    condition: &str,
    events: usize,
    depth: usize,
    options: &RunOptions,
) -> Result<Keys, Failure> {
    let mut keys = Keys::new(depth);
    for order in ["asc", "desc"] {
        let text = format!("select @Data from stream where {condition} order by time {order} limit {events}");
        let query = Statement::parse(&text)?.bind(&Parameters::new())?;
        let mut rows = store.run_with(&query, options.clone())?;
        while let Some(row) = rows.next_row()? {
            keys.add(row.get(0).and_then(|cell| cell.json()).unwrap_or_default());
        }
    }
    Ok(keys)
}

/// Each key with its path. A key with points in its name can be written like a path as well, and comes twice.
pub(crate) fn spellings(keys: &Keys) -> impl Iterator<Item = (String, Key<'_>)> {
    keys.found().flat_map(|key| {
        let path = key.path();
        let dotted = dotted(&path);
        [Some(path), dotted].into_iter().flatten().map(move |path| (path, key))
    })
}

/// The name of a flat key whose parts are names, `http.status`, of its path, `@Properties['http.status']`.
pub(crate) fn dotted(path: &str) -> Option<String> {
    let name = path.strip_prefix("@Properties['")?.strip_suffix("']")?;
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    (name.contains('.') && name.split('.').all(is_name)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_keys_with_points_are_completed_as_they_can_be_written() {
        assert_eq!(dotted("@Properties['http.status']").as_deref(), Some("http.status"));
        for other in ["http.status", "@Properties['a b.c']", "@Properties['a']", "@Properties['a.']"] {
            assert_eq!(dotted(other), None, "{other}");
        }
    }
}
