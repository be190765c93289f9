//! Which keys the objects at a path have, told by the shapes of documents.

use crate::group::Group;
use crate::path::Step;
use crate::shape::{Leaf, Met, Token};

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
    /// The keys of the objects at a path of keys, as documents spell them; without keys those of the documents themselves. Takes time linear in the tokens of all shapes.
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
        let mut met = Met::new(self.directory().paths.len());
        for (shape, site) in self.shapes_of(0).iter().zip(&sites.by_code) {
            let Some(site) = site else { continue };
            if site.leaf == Some(Leaf::Null) {
                continue;
            }
            let shape = self.directory().shapes.get(*shape as usize).unwrap_or_default();
            let members = shape.get(site.tokens.clone()).and_then(members);
            if !members.is_some_and(|members| met.meet(members)) {
                return AtObjects::Unknown;
            }
        }
        let key = |path: u32| match self.directory().paths.step(path) {
            Some((_, Step::Key(key))) => std::str::from_utf8(key.as_ref()).ok().map(Box::from),
            Some((_, Step::Element)) | None => None,
        };
        met.paths().map(key).collect::<Option<_>>().map_or(AtObjects::Unknown, AtObjects::Objects)
    }

    /// How many tokens all shapes have together: so many are looked at for each path that is looked for.
    pub fn shape_tokens(&self) -> usize {
        self.directory().shapes.iter().map(<[Token]>::len).sum()
    }
}

/// The paths of the members of the object whose tokens these are; none of what is no object.
pub(crate) fn members(tokens: &[Token]) -> Option<impl Iterator<Item = u32>> {
    let (Token::Open(_), tokens) = tokens.split_first()? else { return None };
    let mut depth = 0usize;
    Some(tokens.iter().filter_map(move |token| {
        let member = token.path().filter(|_| depth == 0);
        match token {
            Token::Open(_) => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Leaf(..) => {}
        }
        member
    }))
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
        assert_eq!(at(&[r#"{"b":{"c":1}}"#, r#"{"d":2,"b":3}"#], &[]), objects(&["b", "d"]));
        assert_eq!(at(&[r#"{"b":1,"b":2}"#], &[]), AtObjects::Unknown);
        // The last of several counts.
        assert_eq!(at(&[r#"{"a":7,"a":{"x":1}}"#], &["a"]), objects(&["x"]));
        let many = (0..100_000).map(|key| format!(r#""k{key}":{key}"#)).collect::<Vec<_>>().join(",");
        assert_eq!(at(&[&format!(r#"{{"a":{{{many}}}}}"#)], &["a"]), AtObjects::Unknown);
    }
}
