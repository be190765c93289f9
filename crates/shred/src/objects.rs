//! Which keys the objects at a path have, told by the shapes of documents.

use crate::group::Group;
use crate::path::Step;
use crate::shape::{Leaf, Token};
use std::collections::BTreeSet;

/// What stands at a path of keys, where it may be objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtObjects {
    /// No event has anything there.
    Nothing,
    /// Objects, and `null` in some events: the keys that any of them has, as documents spell them.
    Objects(Vec<Box<str>>),
    /// Other values, objects that have a key twice, or what is kept as text.
    Unknown,
}

impl Group {
    /// The keys of the objects at a path of keys, as documents spell them. Takes time linear in the tokens of all shapes.
    ///
    /// ```
    /// # use tamias_shred::{AtObjects, Event, Group, encode};
    /// let documents = [r#"{"ms":{"db":1}}"#, r#"{"ms":{"db":2,"net":{"dns":3}}}"#, r#"{"ms":null}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let group = Group::open(&encode(&events)?.directory)?;
    /// assert_eq!(group.objects_at(&["ms"]), AtObjects::Objects(vec!["db".into(), "net".into()]));
    /// assert_eq!(group.objects_at(&["no such key"]), AtObjects::Nothing);
    /// assert_eq!(group.objects_at(&["ms", "db"]), AtObjects::Unknown);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn objects_at(&self, keys: &[&str]) -> AtObjects {
        let Some(sites) = self.sites(0, keys) else { return AtObjects::Unknown };
        if sites.iter().next().is_none() {
            return AtObjects::Nothing;
        }
        let mut all = BTreeSet::new();
        for (shape, site) in self.shapes_of(0).iter().zip(&sites.by_code) {
            let Some(site) = site else { continue };
            if site.leaf == Some(Leaf::Null) {
                continue;
            }
            let shape = self.directory().shapes.get(*shape as usize).unwrap_or_default();
            match shape.get(site.tokens.clone()).and_then(keys_of) {
                Some(mut keys) => all.append(&mut keys),
                None => return AtObjects::Unknown,
            }
        }
        let key = |path: u32| match self.directory().paths.step(path) {
            Some((_, Step::Key(key))) => std::str::from_utf8(key.as_ref()).ok().map(Box::from),
            Some((_, Step::Element)) | None => None,
        };
        all.into_iter().map(key).collect::<Option<_>>().map_or(AtObjects::Unknown, AtObjects::Objects)
    }

    /// The keys of the documents' top level, as they spell them; none where a document has one twice, or is kept as text. Takes time linear in the
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let keys = |documents: &[&str]| {
    ///     let events = documents.iter().map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    ///     let encoded = encode(&events.collect::<Vec<_>>())?;
    ///     Ok::<_, Box<dyn std::error::Error>>(Group::open(&encoded.directory)?.keys())
    /// };
    /// assert_eq!(keys(&[r#"{"a":{"c":1}}"#, r#"{"b":2,"a":3}"#])?, Some(vec!["a".into(), "b".into()]));
    /// assert_eq!(keys(&[r#"{"a":1,"a":2}"#])?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keys(&self) -> Option<Vec<Box<str>>> {
        match self.objects_at(&[]) {
            AtObjects::Nothing => Some(Vec::new()),
            AtObjects::Objects(keys) => Some(keys),
            AtObjects::Unknown => None,
        }
    }
}

/// The paths of the members of the object whose tokens these are; none where it has one twice, or is no object.
fn keys_of(tokens: &[Token]) -> Option<BTreeSet<u32>> {
    let (Token::Open(_), tokens) = tokens.split_first()? else { return None };
    let (mut depth, mut keys) = (0usize, BTreeSet::new());
    for token in tokens {
        if depth == 0
            && let Some(path) = token.path()
            && !keys.insert(path)
        {
            return None;
        }
        match token {
            Token::Open(_) => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Leaf(..) => {}
        }
    }
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, encode};

    fn at(documents: &[&str], keys: &[&str]) -> AtObjects {
        let event =
            |text: &&str| Event { instant: 0, arrival: 0, document: text.to_string().leak().as_bytes() };
        let encoded = encode(&documents.iter().map(event).collect::<Vec<_>>()).unwrap();
        Group::open(&encoded.directory).unwrap().objects_at(keys)
    }

    fn objects(keys: &[&str]) -> AtObjects {
        AtObjects::Objects(keys.iter().map(|key| (*key).into()).collect())
    }

    #[test]
    fn objects_are_told_from_other_values() {
        assert_eq!(at(&[r#"{"a":{}}"#, r#"{"b":1}"#], &["a"]), objects(&[]));
        assert_eq!(
            at(&[r#"{"a":{"x":[1],"y":{"z":1}}}"#, r#"{"a":{"x":null}}"#], &["a"]),
            objects(&["x", "y"])
        );
        assert_eq!(
            at(&[r#"{"a":{"b":{"c":1}}}"#, r#"{"a":{"b":{"d":1}}}"#], &["a", "b"]),
            objects(&["c", "d"])
        );
        assert_eq!(at(&[r#"{"a":null}"#], &["a"]), objects(&[]));
        assert_eq!(at(&[r#"{"a":{"x":1}}"#, r#"{"a":1}"#], &["a"]), AtObjects::Unknown);
        assert_eq!(at(&[r#"{"a":{"x":1}}"#, r#"{"a":[]}"#], &["a"]), AtObjects::Unknown);
        assert_eq!(at(&[r#"{"a":{"x":1,"x":2}}"#], &["a"]), AtObjects::Unknown);
        // The last of several counts.
        assert_eq!(at(&[r#"{"a":7,"a":{"x":1}}"#], &["a"]), objects(&["x"]));
        let many = (0..100_000).map(|key| format!(r#""k{key}":{key}"#)).collect::<Vec<_>>().join(",");
        assert_eq!(at(&[&format!(r#"{{"a":{{{many}}}}}"#)], &["a"]), AtObjects::Unknown);
    }
}
