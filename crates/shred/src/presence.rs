//! Whether something stands at a path, told by the shapes of documents: no value is read, and no object put together.

use crate::encoding::dictionary::Coded;
use crate::encoding::strings::Texts;
use crate::error::DecodeError;
use crate::group::GroupReader;
use crate::shape::Leaf;

/// What is told of a value, as JSON text: that there is none, that it is null, and that it is something else.
const TOLD: [&str; 3] = ["", "null", "true"];

impl GroupReader<'_> {
    /// What the events have at a path of keys, spelled as documents spell them, with `true` in the place of all values but `null`; none where a value there, or on the
    /// way, is kept as text.
    ///
    /// Takes time linear in the number of events and in the tokens of all shapes, whatever the values.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"to":{"city":"Bern"}}"#, r#"{"to":null}"#, r#"{"at":1}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let to = group.read(&encoded.frames).presence(&["to"])?.expect("shapes tell it");
    /// assert_eq!([0, 1, 2].map(|event| to.get(event)), [Some(&b"true"[..]), Some(b"null"), Some(b"")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn presence(&mut self, keys: &[&str]) -> Result<Option<Coded<'static>>, DecodeError> {
        let Some(sites) = self.group.sites(0, keys) else { return Ok(None) };
        if sites.iter().any(|site| site.leaf == Some(Leaf::Json)) {
            return Ok(None);
        }
        let of_shape: Vec<u32> = sites
            .by_code
            .iter()
            .map(|site| match site.as_ref().map(|site| site.leaf) {
                None => 0,
                Some(Some(Leaf::Null)) => 1,
                Some(_) => 2,
            })
            .collect();
        let of_code = |code: &u32| of_shape.get(*code as usize).copied().unwrap_or_default();
        let codes = self.codes(sites.list)?.iter().map(of_code).collect();
        let mut end = 0;
        let ends = TOLD.map(|text| {
            end += text.len() as u32;
            end
        });
        Ok(Some(Coded { entries: Texts::of_parts(ends.to_vec(), TOLD.concat().into_bytes()), codes }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Event, Group, encode};

    /// What a reader tells of each document.
    pub(crate) fn told_by(
        documents: &[&str],
        tell: impl FnOnce(&mut GroupReader<'_>) -> Result<Option<Coded<'static>>, DecodeError>,
    ) -> Option<Vec<String>> {
        let event =
            |text: &&str| Event { instant: 0, arrival: 0, document: text.to_string().leak().as_bytes() };
        let encoded = encode(&documents.iter().map(event).collect::<Vec<_>>()).unwrap();
        let group = Group::open(&encoded.directory).unwrap();
        let coded = tell(&mut group.read(&encoded.frames)).unwrap()?;
        let text = |event| String::from_utf8_lossy(coded.get(event).unwrap()).into_owned();
        Some((0..documents.len()).map(text).collect())
    }

    fn told(documents: &[&str], keys: &[&str]) -> Option<Vec<String>> {
        told_by(documents, |reader| reader.presence(keys))
    }

    #[test]
    fn whether_something_is_there_is_told_of_every_kind_of_value() {
        let documents = [
            r#"{"a":{}}"#,
            r#"{"a":[]}"#,
            r#"{"a":null}"#,
            r#"{"a":{"b":null}}"#,
            r#"{"a":{"b":false}}"#,
            r#"{"a":"b"}"#,
            r#"{"b":1}"#,
            r#"{"a":1e400}"#,
            r#"{"a":1,"a":null}"#,
        ];
        let a = told(&documents, &["a"]).unwrap();
        assert_eq!(a, ["true", "true", "null", "true", "true", "true", "", "true", "null"]);
        let b = told(&documents, &["a", "b"]).unwrap();
        assert_eq!(b, ["", "", "", "null", "true", "", "", "", ""]);
        assert_eq!(told(&documents, &["c"]).unwrap(), [""; 9]);
    }

    /// `tells` of a value that is kept as text.
    #[test]
    fn what_is_kept_as_text_is_not_told() {
        let many = |n: usize| (0..n).map(|key| format!(r#""k{key}":{key}"#)).collect::<Vec<_>>().join(",");
        let document = format!(r#"{{"a":{{{}}}}}"#, many(100_000));
        assert_eq!(told(&[&document], &["a", "k7"]), None);
        assert_eq!(told(&[&document], &["a"]), None);
    }
}
