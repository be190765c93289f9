//! The keys of objects, told by the shapes of documents: no value is read, and no object put together.

use crate::encoding::dictionary::Coded;
use crate::encoding::strings::Texts;
use crate::error::DecodeError;
use crate::group::{Group, GroupReader};
use crate::objects::members;
use crate::path::Step;
use crate::shape::{Leaf, Token};
use std::collections::HashMap;

/// The most bytes that all lists of keys take.
const BYTES_MAX: usize = 4 << 20;

impl GroupReader<'_> {
    /// The keys of the objects at a path of keys, each list as an array of strings, in the order of the document; nothing where an event has something else there. None
    /// where a value there, or on the way, is kept as text, where an object has a key twice, where a key has escapes, and where there are very many lists.
    ///
    /// Takes time linear in the number of events and in the tokens of all shapes, whatever the values.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"to":{"city":"Bern","zip":3000}}"#, r#"{"to":{}}"#, r#"{"to":1}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let keys = group.read(&encoded.frames).object_keys(&["to"])?.expect("shapes tell it");
    /// assert_eq!([0, 1, 2].map(|event| keys.get(event)), [Some(&br#"["city","zip"]"#[..]), Some(b"[]"), Some(b"")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn object_keys(&mut self, keys: &[&str]) -> Result<Option<Coded<'static>>, DecodeError> {
        let Some(sites) = self.group.sites(0, keys) else { return Ok(None) };
        let mut lists = Lists::new(self.group);
        let mut of_shape = Vec::with_capacity(sites.by_code.len());
        for (shape, site) in self.group.shapes_of(0).iter().zip(&sites.by_code) {
            let entry = match site {
                None => Some(0),
                Some(site) if site.leaf == Some(Leaf::Json) => None,
                Some(site) => {
                    let shape = self.group.directory().shapes.get(*shape as usize).unwrap_or_default();
                    lists.entry_of(shape.get(site.tokens.clone()).unwrap_or_default())
                }
            };
            let Some(entry) = entry else { return Ok(None) };
            of_shape.push(entry);
        }
        let of_code = |code: &u32| of_shape.get(*code as usize).copied().unwrap_or_default();
        let codes = self.codes(sites.list)?.iter().map(of_code).collect();
        Ok(Some(Coded { entries: Texts::of_parts(lists.ends, lists.bytes), codes }))
    }
}

/// Lists of keys that were met, as JSON text, each once. The first one is that of what is no object.
struct Lists<'g> {
    group: &'g Group,
    /// The entry of each list of paths.
    entries: HashMap<Vec<u32>, u32>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// For each path the number of the list in which it was met last.
    met_in: Vec<u32>,
    lists: u32,
}

impl Lists<'_> {
    fn new(group: &Group) -> Lists<'_> {
        let met_in = vec![0; group.directory().paths.len()];
        Lists { group, entries: HashMap::new(), bytes: Vec::new(), ends: vec![0], met_in, lists: 0 }
    }

    /// The entry of the object whose tokens these are, 0 of what is no object; none where its keys cannot be told.
    fn entry_of(&mut self, tokens: &[Token]) -> Option<u32> {
        let Some(paths) = members(tokens) else { return Some(0) };
        let paths: Vec<u32> = paths.collect();
        if let Some(entry) = self.entries.get(&paths) {
            return Some(*entry);
        }
        self.lists += 1;
        let mut separator = b'[';
        for path in &paths {
            let met_in = self.met_in.get_mut(*path as usize)?;
            if std::mem::replace(met_in, self.lists) == self.lists {
                return None;
            }
            let (_, Step::Key(key)) = self.group.directory().paths.step(*path)? else { return None };
            let key: &[u8] = key.as_ref();
            if key.contains(&b'\\') {
                return None;
            }
            self.bytes.extend_from_slice(&[separator, b'"']);
            self.bytes.extend_from_slice(key);
            self.bytes.push(b'"');
            separator = b',';
        }
        self.bytes.extend_from_slice(if paths.is_empty() { b"[]" } else { b"]" });
        if self.bytes.len() > BYTES_MAX {
            return None;
        }
        let entry = self.ends.len() as u32;
        self.ends.push(self.bytes.len() as u32);
        self.entries.insert(paths, entry);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use crate::presence::tests::told_by;

    fn told(documents: &[&str], keys: &[&str]) -> Option<Vec<String>> {
        told_by(documents, |reader| reader.object_keys(keys))
    }

    #[test]
    fn keys_are_told_of_every_kind_of_value() {
        let documents = [
            r#"{"a":{}}"#,
            r#"{"a":[{"b":1}]}"#,
            r#"{"a":null}"#,
            r#"{"a":{"b":null,"ü":{"c":[1]},"":2}}"#,
            r#"{"b":{"a":1}}"#,
            r#"{"a":{"ü":{},"b":1}}"#,
            r#"{"a":"{}"}"#,
        ];
        let keys = told(&documents, &["a"]).unwrap();
        assert_eq!(keys, ["[]", "", "", r#"["b","ü",""]"#, "", r#"["ü","b"]"#, ""]);
        assert_eq!(told(&documents, &["a", "ü"]).unwrap(), ["", "", "", r#"["c"]"#, "", "[]", ""]);
        assert_eq!(told(&documents, &["no such key"]).unwrap(), [""; 7]);
        assert_eq!(told(&documents, &[]).unwrap()[2..5], [r#"["a"]"#, r#"["a"]"#, r#"["b"]"#]);
    }

    #[test]
    fn keys_that_come_twice_or_have_escapes_are_not_told() {
        assert_eq!(told(&[r#"{"a":{"x":1,"x":2}}"#], &["a"]), None);
        assert_eq!(told(&[r#"{"a":{"x":1,"\u0078":2}}"#], &["a"]), None);
        // The last of several counts.
        assert_eq!(told(&[r#"{"a":7,"a":{"x":1}}"#], &["a"]).unwrap(), [r#"["x"]"#]);
        let many = (0..100_000).map(|key| format!(r#""k{key}":{key}"#)).collect::<Vec<_>>().join(",");
        assert_eq!(told(&[&format!(r#"{{"a":{{{many}}}}}"#)], &["a"]), None);
    }
}
