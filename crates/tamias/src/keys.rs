//! The keys that documents have, and the types of their values.

use std::collections::HashMap;

use tamias_json::{Map, Offsets, Value};
use tamias_query::{Expression, Kind, Parameters};

/// Counts the keys of documents, down to a depth, in bounded memory.
///
/// ```
/// use tamias::{Kind, Keys, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::open(folder.path())?;
/// store.append([r#"{"@t":"2024-05-29T10:56:01Z","Actor":{"Name":"alice"},"Tags":["new","paid"]}"#])?;
/// let mut keys = Keys::new(3);
/// for row in store.query("select @Data from stream")? {
///     keys.add(row?.get(0).and_then(|cell| cell.json()).unwrap_or_default());
/// }
/// let paths: Vec<String> = keys.found().map(|key| key.path()).collect();
/// assert_eq!(paths, ["@t", "Actor", "Actor.Name", "Tags", "Tags[?]"]);
/// let tags = keys.found().last().map(|key| (key.count(Kind::String), key.examples()));
/// assert_eq!(tags, Some((2, &[r#""new""#.to_owned(), r#""paid""#.to_owned()][..])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Keys {
    depth_max: usize,
    /// The first is the document itself; children come after their parents.
    nodes: Vec<Node>,
    offsets: Offsets,
    documents: u64,
    left_out: u64,
}

/// A key, or the elements of an array.
#[derive(Debug, Default)]
struct Node {
    parent: usize,
    step: Step,
    /// By the key as it is stored; the elements of an array share one node.
    children: HashMap<Step, usize>,
    /// In the order of `KINDS`.
    counts: [u64; 6],
    examples: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Step {
    #[default]
    Elements,
    Key(Box<str>),
}

const KINDS: [Kind; 6] = [Kind::String, Kind::Number, Kind::Boolean, Kind::Null, Kind::Object, Kind::Array];

/// The maximum number of keys that are counted; the values of further keys are only counted together.
const KEYS_MAX: usize = 20_000;
/// Keys of more bytes are not counted one by one.
const KEY_BYTES_MAX: usize = 256;
/// The maximum number of examples of each key.
const EXAMPLES_MAX: usize = 3;
const EXAMPLE_CHARS_MAX: usize = 32;

impl Keys {
    /// Counts keys at most `depth_max` levels deep: 1 is the top level only. The elements of an array are a level of their own.
    pub fn new(depth_max: usize) -> Keys {
        let root = Node::default();
        Keys { depth_max, nodes: vec![root], offsets: Offsets::new(), documents: 0, left_out: 0 }
    }

    /// Counts the keys of a stored document. Anything but a JSON object counts as a document without keys.
    pub fn add(&mut self, document: &[u8]) {
        self.documents += 1;
        let mut offsets = std::mem::take(&mut self.offsets);
        if let Ok(map) = offsets.scan_trusted(document) {
            self.add_members(0, map, 1);
        }
        self.offsets = offsets;
    }

    fn add_members(&mut self, parent: usize, map: Map<'_>, depth: usize) {
        if depth > self.depth_max {
            return;
        }
        for (key, value) in map.entries() {
            let text = key.text();
            let step = (text.len() <= KEY_BYTES_MAX).then(|| Step::Key(text.into()));
            self.add_value(parent, step, value, depth);
        }
    }

    fn add_value(&mut self, parent: usize, step: Option<Step>, value: Value<'_>, depth: usize) {
        let Some(at) = step.and_then(|step| self.child(parent, step)) else {
            self.left_out += 1;
            return;
        };
        let kind = match value {
            Value::String(_) => Kind::String,
            Value::Number(_) => Kind::Number,
            Value::Bool(_) => Kind::Boolean,
            Value::Null => Kind::Null,
            Value::Map(_) => Kind::Object,
            Value::Array(_) => Kind::Array,
        };
        let node = &mut self.nodes[at];
        node.counts[slot(kind)] += 1;
        match value {
            Value::Map(map) => self.add_members(at, map, depth + 1),
            Value::Array(elements) if depth < self.depth_max => {
                for element in elements {
                    self.add_value(at, Some(Step::Elements), element, depth + 1);
                }
            }
            Value::Array(_) | Value::Null => {}
            value if node.examples.len() < EXAMPLES_MAX => {
                let example = example(value.raw());
                if !node.examples.contains(&example) {
                    node.examples.push(example);
                }
            }
            _ => {}
        }
    }

    fn child(&mut self, parent: usize, step: Step) -> Option<usize> {
        if let Some(known) = self.nodes[parent].children.get(&step) {
            return Some(*known);
        }
        if self.nodes.len() > KEYS_MAX {
            return None;
        }
        let at = self.nodes.len();
        self.nodes.push(Node { parent, step: step.clone(), ..Node::default() });
        self.nodes[parent].children.insert(step, at);
        Some(at)
    }

    /// The number of documents counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of values whose keys are not listed, because there were more than 20,000 keys or the key had more than 256
    /// bytes.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The keys, in the order of their paths; the keys within a value come after the key of the value.
    pub fn found(&self) -> impl Iterator<Item = Key<'_>> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            if at > 0 {
                order.push(Key { keys: self, at });
            }
            let mut children: Vec<usize> = self.nodes[at].children.values().copied().collect();
            children.sort_by(|one, other| self.nodes[*other].name().cmp(self.nodes[*one].name()));
            waiting.extend(children);
        }
        order.into_iter()
    }
}

impl Node {
    fn name(&self) -> &str {
        match &self.step {
            Step::Elements => "",
            Step::Key(key) => key,
        }
    }
}

fn slot(kind: Kind) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(0)
}

fn example(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    match text.char_indices().nth(EXAMPLE_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}

/// A key that documents have.
#[derive(Clone, Copy, Debug)]
pub struct Key<'k> {
    keys: &'k Keys,
    at: usize,
}

impl<'k> Key<'k> {
    fn node(&self) -> &'k Node {
        &self.keys.nodes[self.at]
    }

    /// The path by which a query reads it: `Actor.Name`, `Tags[?]` for the elements of an array, `@Properties['odd name']`.
    pub fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut at = self.at;
        while at > 0 {
            steps.push(&self.keys.nodes[at].step);
            at = self.keys.nodes[at].parent;
        }
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Elements => path.push_str("[?]"),
                Step::Key(key) if path.is_empty() => path = top_level(key),
                Step::Key(key) if is_name(key) => path.extend([".", key]),
                Step::Key(key) => path.extend(["['", &key.replace('\'', "''"), "']"]),
            }
        }
        path
    }

    /// The number of its values of all kinds.
    pub fn values(&self) -> u64 {
        self.node().counts.iter().sum()
    }

    /// The number of its values of this kind.
    pub fn count(&self, kind: Kind) -> u64 {
        KINDS.iter().zip(self.node().counts).find(|(known, _)| **known == kind).map_or(0, |(_, count)| count)
    }

    /// The kinds of its values, with the number of values of each.
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, u64)> + use<'k> {
        KINDS.into_iter().zip(self.node().counts).filter(|(_, count)| *count > 0)
    }

    /// The first few distinct strings, numbers and Booleans, at most three, as JSON; long ones are cut.
    pub fn examples(&self) -> &'k [String] {
        &self.node().examples
    }
}

/// Whether a text can be written after a point, or alone, as the name of a property.
fn is_name(text: &str) -> bool {
    let is_plain = |character: char| character.is_alphanumeric() || character == '_';
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(is_plain)
        && Expression::prepare(text, &Parameters::new()).is_ok()
        && Expression::prepare(&format!("a.{text}"), &Parameters::new()).is_ok()
}

/// The path by which a query reads a top-level key.
fn top_level(key: &str) -> String {
    let is_built_in = key.starts_with('@')
        && !key.starts_with("@@")
        && key[1..].bytes().all(|byte| byte.is_ascii_lowercase())
        && Expression::prepare(key, &Parameters::new()).is_ok();
    if is_built_in || is_name(key) {
        return key.to_owned();
    }
    // CLEF doubles the `@` of a property's name.
    let name = if key.starts_with("@@") { &key[1..] } else { key };
    format!("@Properties['{}']", name.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(documents: &[&str], depth: usize) -> Keys {
        let mut keys = Keys::new(depth);
        documents.iter().for_each(|document| keys.add(document.as_bytes()));
        keys
    }

    #[test]
    fn kinds_are_told_apart() {
        let keys =
            counted(&[r#"{"a":1}"#, r#"{"a":"x"}"#, r#"{"a":null,"a":true}"#, r#"{"a":{},"b":[]}"#], 9);
        let a = keys.found().next().unwrap();
        assert_eq!((a.path().as_str(), a.values()), ("a", 5));
        let kinds: Vec<(Kind, u64)> = a.kinds().collect();
        let each =
            [Kind::String, Kind::Number, Kind::Boolean, Kind::Null, Kind::Object].map(|kind| (kind, 1));
        assert_eq!(kinds, each);
        assert_eq!(a.count(Kind::Array), 0);
        assert_eq!(a.examples(), ["1", "\"x\"", "true"]);
        assert_eq!(keys.documents(), 4);
    }

    #[test]
    fn paths_are_those_of_queries() {
        let document = r#"{"@t":"x","@l":"y","@@odd":1,"@version":2,"a b":{"c":{"d'":[{"e":1}]}},"from":1,"x":{"from":1},"":0}"#;
        let keys = counted(&[document], 9);
        let paths: Vec<String> = keys.found().map(|key| key.path()).collect();
        for path in &paths {
            let value = tamias_query::eval(&format!("{path} = 0"), document);
            assert!(value.is_ok(), "{path}: {value:?}");
        }
        for expected in
            ["@l", "@Properties['@odd']", "@Properties['@version']", "@Properties['a b'].c['d''']"]
        {
            assert!(paths.iter().any(|path| path == expected), "{expected} in {paths:?}");
        }
        assert!(paths.iter().any(|path| path == "@Properties['a b'].c['d'''][?].e"), "{paths:?}");
        assert!(paths.iter().any(|path| path == "@Properties['']"), "{paths:?}");
    }

    #[test]
    fn depth_and_memory_are_bounded() {
        let keys = counted(&[r#"{"a":{"b":{"c":1}},"d":[[1]]}"#], 2);
        let paths: Vec<String> = keys.found().map(|key| key.path()).collect();
        assert_eq!(paths, ["a", "a.b", "d", "d[?]"]);
        let members: Vec<String> = (0..KEYS_MAX + 10).map(|n| format!("\"k{n}\":1")).collect();
        let keys = counted(&[&format!("{{{}}}", members.join(","))], 1);
        assert_eq!((keys.found().count(), keys.left_out()), (KEYS_MAX, 10));
        let keys = counted(&[&format!("{{\"{}\":\"{}\"}}", "k".repeat(257), "x".repeat(99))], 1);
        assert_eq!((keys.found().count(), keys.left_out()), (0, 1));
        let keys = counted(&[&format!("{{\"k\":\"{}\"}}", "é".repeat(99))], 1);
        assert_eq!(keys.found().next().unwrap().examples()[0].chars().count(), EXAMPLE_CHARS_MAX + 1);
        assert_eq!(counted(&["[1]", ""], 1).documents(), 2);
    }
}
