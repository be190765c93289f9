//! What stands at a path in a group of which some documents are kept as text: there it is read, as it is from columns in the others.

use crate::column::ColumnValues;
use crate::cut::TextWriter;
use crate::encoding::strings::Texts;
use crate::error::DecodeError;
use crate::group::GroupReader;
use crate::output::Output;
use crate::shape::{Leaf, Token};
use crate::spans::{Spans, Spelling};
use tamias_json::{Document, Value};

/// HEURISTIC: documents that are kept as text are gone over for each path. Where they are more than one byte in so many of all, whoever asks had better look at all documents
/// once.
const TEXT_SHARE: usize = 16;

impl GroupReader<'_> {
    /// What the events have at a path of keys, spelled as documents spell them, as JSON text; none where that is not told, as where much is kept as text. Takes time linear in what columns hold of the path,
    /// and in the documents that are kept as text.
    pub(crate) fn texts_beside(&mut self, keys: &[&str]) -> Result<Option<Texts<'static>>, DecodeError> {
        let Some((code, column)) = self.kept_as_text()? else { return Ok(None) };
        let Some(sites) = self.group.sites_beside_text(keys) else { return Ok(None) };
        let of_others = match sites.iter().next() {
            None => None,
            Some(_) => match self.texts_at(&sites)? {
                None => return Ok(None),
                others => others,
            },
        };
        let bytes_max = self.group.directory().bytes;
        let mut left = bytes_max;
        let ColumnValues::Simple(values) = self.column(column)? else { return Ok(None) };
        let documents = Spans::of(values, Spelling::WhenTaken, &mut left)?;
        let (mut document, mut nth, mut next) = (Output::new(bytes_max), 0, 0);
        let mut writer = TextWriter::new(sites.rows, bytes_max);
        for (row, own) in (0..).zip(self.codes(sites.list)?) {
            let of_other = of_others.as_ref().and_then(|others| match &others.rows {
                None => others.texts.get(row as usize),
                Some(rows) if rows.get(next) == Some(&row) => {
                    next += 1;
                    others.texts.get(next - 1)
                }
                Some(_) => None,
            });
            if *own == code {
                document.clear();
                documents.append(nth, &mut document)?;
                nth += 1;
                if !write_value(document.bytes(), keys, &mut writer)? {
                    return Ok(None);
                }
            } else if let Some(text) = of_other {
                writer.push(text)?;
            }
            writer.end();
        }
        Ok(Some(writer.finish()))
    }

    /// The code of documents that are kept as text, and the column in which they stand; none where they are much of all.
    fn kept_as_text(&self) -> Result<Option<(u32, usize)>, DecodeError> {
        let directory = self.group.directory();
        let Some((code, column)) = self.column_of_documents() else { return Ok(None) };
        let Some(info) = directory.columns.get(column) else { return Ok(None) };
        let parts = directory.encoding(info)?.parts();
        let bytes: usize = parts.iter().map(|part| part.length as usize).sum();
        Ok((bytes <= directory.bytes / TEXT_SHARE).then_some((code, column)))
    }

    /// The same, however much they are.
    fn column_of_documents(&self) -> Option<(u32, usize)> {
        let group = self.group;
        (0..).zip(group.shapes_of(0)).find_map(|(code, shape)| {
            match group.directory().shapes.get(*shape as usize)? {
                [Token::Leaf(path, Leaf::Json)] => {
                    Some((code, group.places().column(*path, Leaf::Json)? as usize))
                }
                _ => None,
            }
        })
    }
}

/// Appends the JSON text of what a document has at a path, at each level the last member of a key: whether it is a document.
fn write_value(document: &[u8], keys: &[&str], writer: &mut TextWriter) -> Result<bool, DecodeError> {
    let Ok(document) = Document::scan_trusted(document) else { return Ok(false) };
    let found = keys.iter().try_fold(Value::Map(document.root()), |value, key| {
        let members = value.as_map()?.entries();
        members.filter(|(own, _)| own.raw() == key.as_bytes()).last().map(|(_, value)| value)
    });
    writer.push(found.as_ref().map_or(&[], Value::raw))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::limits::PATHS_MAX;
    use crate::{AtPath, Encoded, Event, Group, encode};

    /// Documents of which the second one has too many keys, and behind these some more.
    fn with_wide_one(members: &str) -> Vec<String> {
        let keys: String = (0..PATHS_MAX).map(|n| format!(r#""u{n}":{n},"#)).collect();
        // They are much more than it.
        let pad = "pad ".repeat(50_000);
        let other = |n: u32| format!(r#"{{"n":{n},"at":{{"city":"c{}"}},"to":"x{n}","pad":"{pad}"}}"#, n % 3);
        let others = (0..20).map(other);
        let mut documents: Vec<String> = others.collect();
        documents.insert(1, format!("{{{keys}{members}}}"));
        documents
    }

    fn encoded(documents: &[String]) -> Encoded {
        let documents = documents.iter().map(String::as_bytes);
        let events: Vec<Event<'_>> =
            documents.map(|document| Event { instant: 0, arrival: 0, document }).collect();
        let encoded = encode(&events).unwrap();
        assert!(encoded.text_bytes > 0 && !encoded.fell_back);
        encoded
    }

    /// What stands at a path of some rows.
    fn at(documents: &[String], keys: &[&str], rows: [usize; 3]) -> [String; 3] {
        let encoded = encoded(documents);
        let group = Group::open(&encoded.directory).unwrap();
        let AtPath::Texts(texts) = group.read(&encoded.frames).at(keys).unwrap() else {
            panic!("not told as texts")
        };
        assert_eq!((texts.rows, texts.texts.len()), (None, documents.len()));
        rows.map(|row| String::from_utf8(texts.texts.get(row).unwrap().to_vec()).unwrap())
    }

    #[test]
    fn what_a_document_that_is_kept_as_text_has_at_a_path_is_told_beside_the_others() {
        let documents = with_wide_one(r#""n":1.50,"at":{"city":"w","city":"wide"}"#);
        assert_eq!(at(&documents, &["n"], [0, 1, 20]), ["0", "1.50", "19"]);
        assert_eq!(at(&documents, &["at", "city"], [0, 1, 20]), [r#""c0""#, r#""wide""#, r#""c1""#]);
        assert_eq!(at(&documents, &["to"], [0, 1, 2]), [r#""x0""#, "", r#""x1""#]);
        // What it alone has, what none has, and what is no object.
        assert_eq!(at(&documents, &["u7"], [0, 1, 2]), ["", "7", ""]);
        assert_eq!(at(&documents, &["at", "no"], [0, 1, 2]), ["", "", ""]);
        assert_eq!(at(&documents, &["n", "no"], [0, 1, 2]), ["", "", ""]);
    }

    #[test]
    fn a_group_of_which_much_is_kept_as_text_is_not_told() {
        let keys: String = (0..=PATHS_MAX).map(|n| format!(r#","u{n}":{n}"#)).collect();
        let documents: Vec<String> = (0..3).map(|n| format!(r#"{{"n":{n}{keys}}}"#)).collect();
        let encoded = encoded(&documents);
        let group = Group::open(&encoded.directory).unwrap();
        assert_eq!(group.read(&encoded.frames).at(&["n"]), Ok(AtPath::Unknown));
    }
}
