//! Keys within objects that a query names and no event has: what the library warns of are keys of the top level only.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tamias::{Key, Keys, Kind, Parameters, Query, RunOptions, Statement, Store, closest};

use crate::failure::Failure;
use crate::sampled;
use crate::units::counted;

/// A key is looked for in so many events from the beginning of the store that have what it should be in, and in as many from its end.
const EVENTS_LOOKED_AT: usize = 100;

/// Keys deeper than this are not looked for.
const DEPTH: usize = 8;

/// How long all events may be searched for keys that those do not have.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// How long each key is looked for before that.
const AT_ONCE: Duration = Duration::from_millis(50);

pub(crate) fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// What there is to warn of, but of paths that were told of. Nothing where the events cannot be read: the query itself says so.
pub(crate) fn warnings(store: &Store, query: &Query, told: &[&str]) -> Vec<String> {
    let mut paths = query.paths();
    paths.extend(query.element_paths());
    paths.retain(|path| !told.contains(&path.as_str()));
    // Most are there, and found in the first events that are looked at: that takes less than to look at events for what else they have.
    paths.retain(|path| is_nested(path) && !matches!(is_anywhere(store, path, after(AT_ONCE)), Ok(true)));
    let deadline = after(PATIENCE);
    let options = RunOptions { deadline, ..RunOptions::default() };
    // The elements of an array are a level of their own.
    let keys = |parent: &str| sampled::keys(store, &has(parent), EVENTS_LOOKED_AT, 2 * DEPTH, &options).ok();
    let warning = |path: &String| {
        let keys = parents(path).filter_map(keys).find(|keys| keys.documents() > 0)?;
        Missing::of(&keys, path)?.warning(store, keys.documents(), deadline)
    };
    paths.iter().filter_map(warning).collect()
}

/// Whether this is a path of names, each of which needs no quotes, and of elements.
fn is_nested(path: &str) -> bool {
    let names = path.replace("[?]", "");
    names.contains('.') && !names.contains(['[', '@']) && names.split('.').count() <= DEPTH
}

/// What a path leads through, the longest first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('.').filter_map(|(end, _)| path.get(..end))
}

/// The condition that an event has something at a path.
fn has(path: &str) -> String {
    match path.contains("[?]") {
        true => format!("{path} is not null"),
        false => format!("Has({path})"),
    }
}

/// Whether an event has a key at a path, as far as that is known in time.
pub(crate) fn is_anywhere(store: &Store, path: &str, deadline: Option<Instant>) -> Result<bool, Failure> {
    let text = format!("select @Id from stream where {} limit 1", has(path));
    let query = Statement::parse(&text)?.bind(&Parameters::new())?;
    let options = RunOptions { deadline, ..RunOptions::default() };
    let mut rows = store.run_with(&query, options)?;
    Ok(rows.next_row()?.is_some())
}

/// A path that none of the events has that were looked at, though they have what it begins with.
#[derive(Debug, PartialEq, Eq)]
struct Missing {
    path: String,
    remedy: Remedy,
}

#[derive(Debug, PartialEq, Eq)]
enum Remedy {
    /// This is an array, and its elements are named so.
    Elements {
        array: String,
        path: String,
    },
    Near(String),
    None,
}

impl Missing {
    fn of(keys: &Keys, path: &str) -> Option<Missing> {
        if keys.left_out() > 0 {
            return None;
        }
        let known: BTreeMap<String, Key<'_>> = sampled::spellings(keys).collect();
        // The first part that is not there, and what it should be in.
        let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
        let is_flat = |part: &str| {
            known
                .range(format!("{part}.")..)
                .next()
                .is_some_and(|(path, _)| path.starts_with(&format!("{part}.")))
        };
        let mut parent = None;
        for end in ends {
            let part = path.get(..end)?;
            match known.get(part) {
                Some(key) => parent = Some((part, *key)),
                // Part of the name of a flat key.
                None if end < path.len() && is_flat(part) => {}
                None => break,
            }
        }
        let (parent, key) = parent.filter(|(parent, _)| *parent != path)?;
        let rest = path.get(parent.len() + 1..)?;
        let is_array = key.count(Kind::Object) == 0 && key.count(Kind::Array) > 0;
        if !is_array && key.count(Kind::Object) == 0 {
            return None;
        }
        let within = if is_array { format!("{parent}[?].") } else { format!("{parent}.") };
        let elements = format!("{within}{rest}");
        let flat = format!("{parent}['{rest}']");
        let remedy = if known.contains_key(&flat) {
            Remedy::Near(flat)
        } else if is_array && known.contains_key(&elements) {
            Remedy::Elements { array: parent.to_owned(), path: elements }
        } else {
            let name = rest.split('.').next().unwrap_or(rest);
            let siblings = known.keys().filter_map(|path| path.strip_prefix(&within));
            let near = closest(name, siblings.filter(|sibling| !sibling.contains(['.', '['])));
            near.map_or(Remedy::None, |near| Remedy::Near(format!("{within}{near}")))
        };
        Some(Missing { path: path.to_owned(), remedy })
    }

    /// What to say; nothing if some other event has the key.
    fn warning(&self, store: &Store, events: u64, deadline: Option<Instant>) -> Option<String> {
        let Missing { path, remedy } = self;
        let which = match is_anywhere(store, path, deadline) {
            Ok(true) => return None,
            Ok(false) => "no event".to_owned(),
            // That took too long, or they cannot be read.
            Err(_) => format!("of {} that were looked at none", counted(events, "event")),
        };
        Some(match remedy {
            Remedy::Elements { array, path: elements } => {
                let within = elements.strip_prefix(&format!("{array}[?].")).unwrap_or(elements);
                format!(
                    "{which} has a key `{path}`: `{array}` is an array; in a condition `{elements}` is that of any of its elements, and \
                     `lateral unnest({array}) as x` gives a row for each, with `x.{within}`"
                )
            }
            Remedy::Near(near) => format!("{which} has a key `{path}`; did you mean `{near}`?"),
            Remedy::None => format!("{which} has a key `{path}`; names of keys are case-sensitive"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<Remedy>) {
        let mut keys = Keys::new(2 * DEPTH);
        keys.add(br#"{"actor":{"login":"a","id":1},"Timings":[{"Elapsed":1}],"id.orig_h":"h","repo":{"owner":{"name":"x"}},"text":"t","attributes":{"http.status_code":500}}"#);
        assert_eq!(Missing::of(&keys, path).map(|missing| missing.remedy), expected, "{path}");
    }

    #[test]
    fn only_what_its_object_does_not_have_is_missing() {
        for path in ["actor.login", "id.orig_h", "repo.owner.name", "nothing.there", "text.length"] {
            check(path, None);
        }
        // It has a flat key of that name, and nothing was suggested.
        check("attributes.http.status_code", Some(Remedy::Near("attributes['http.status_code']".to_owned())));
        check("actor.logn", Some(Remedy::Near("actor.login".to_owned())));
        check("actor.LOGIN", Some(Remedy::Near("actor.login".to_owned())));
        check("repo.owner.nmae", Some(Remedy::Near("repo.owner.name".to_owned())));
        check("repo.ownr.name", Some(Remedy::Near("repo.owner".to_owned())));
        check("actor.avatar", Some(Remedy::None));
        let elements = |path: &str| Remedy::Elements { array: "Timings".to_owned(), path: path.to_owned() };
        check("Timings.Elapsed", Some(elements("Timings[?].Elapsed")));
        check("Timings.Elapsd", Some(Remedy::Near("Timings[?].Elapsed".to_owned())));
        check("Timings[?].Elapsed", None);
        check("Timings[?].Elapsd", Some(Remedy::Near("Timings[?].Elapsed".to_owned())));
    }
}
