//! Random queries over random events: the same rows on every path.

use std::sync::Arc;
use std::time::{Duration, Instant};
use tamias_json::validate::{Limits, minify_object};
use tamias_query::{Block, Documents, Query, RunOptions, Source, SourceError, Times, collect_statistics};

/// Evaluation with the optimizer, blocks being searched and their statistics asked, against each event looked at by itself, with the
/// optimizer and without it: the same rows, for a query and documents that are made from the input, each byte of which is a
/// choice.
///
/// Where one of them ends at a limit nothing is compared: what is not evaluated cannot exceed one.
pub fn evaluate(input: &[u8]) {
    let mut choices = Choices(input);
    let documents: Vec<String> = (0..1 + choices.below(4)).map(|_| choices.document()).collect();
    let text = choices.query();
    let query = match Query::prepare(&text) {
        Ok(query) => query,
        // Made at random, it may have a column twice or a key as a column.
        Err(_) => return,
    };
    let block = Arc::new(Events::new(&documents));
    let Some(short) = rows(&query, &block, false) else { return };
    for (query, way) in [(&query, "plainly"), (&query.unoptimized(), "unoptimized")] {
        if let Some(plain) = rows(query, &block, true) {
            assert_eq!(short, plain, "{way}: {text}\nover\n{}", documents.join("\n"));
        }
    }
}

/// The rows as NDJSON; none if a limit is exceeded.
pub(crate) fn rows(query: &Query, block: &Arc<Events>, plain: bool) -> Option<String> {
    let deadline = Some(Instant::now() + Duration::from_secs(1));
    let options = RunOptions { deadline, plain, ..RunOptions::default() };
    let mut rows = query.run_with(Box::new(Once(Some(block.clone()))), options);
    let mut out = Vec::new();
    while let Some(row) = rows.next_row().ok()? {
        row.write_ndjson(&mut out);
    }
    Some(String::from_utf8(out).expect("rows are UTF-8"))
}

/// Events of one block, a tick apart.
pub(crate) struct Events {
    documents: Vec<u8>,
    ends: Vec<[u8; 4]>,
    numbers: Vec<[u8; 8]>,
    pub(crate) statistics: Vec<u8>,
}

impl Events {
    /// Whether nothing in the statistics contradicts the documents.
    pub(crate) fn has_true_statistics(&self) -> bool {
        tamias_query::check_statistics(&self.documents, &self.ends, &self.statistics).is_ok()
    }

    pub(crate) fn new(documents: &[impl AsRef<[u8]>]) -> Events {
        let mut events =
            Events { documents: Vec::new(), ends: Vec::new(), numbers: Vec::new(), statistics: Vec::new() };
        for (number, document) in documents.iter().enumerate() {
            minify_object(document.as_ref(), &Limits::default(), &mut events.documents)
                .expect("documents that are made are valid");
            events.ends.push(u32::try_from(events.documents.len()).expect("they are small").to_le_bytes());
            events.documents.push(b'\n');
            events.numbers.push((638_525_841_612_345_678 + number as u64).to_le_bytes());
        }
        let ends: Vec<u32> = events.ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        collect_statistics(&events.documents, &ends, &mut events.statistics);
        events
    }
}

impl Block for Events {
    fn len(&self) -> usize {
        self.ends.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        Times { instants: &self.numbers, arrivals: tamias_query::Arrivals::Each(&self.numbers) }.range()
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times { instants: &self.numbers, arrivals: tamias_query::Arrivals::Each(&self.numbers) }))
    }
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        Ok(Some(Documents { bytes: &self.documents, ends: &self.ends }))
    }
    fn statistics(&self) -> Option<&[u8]> {
        Some(&self.statistics)
    }
}

struct Once(Option<Arc<Events>>);

impl Source for Once {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Ok(self.0.take().map(|block| vec![block as Arc<dyn Block>]))
    }
}

/// Bytes as choices. When they run out, every choice is the first, which leads to an end.
struct Choices<'i>(&'i [u8]);

const KEYS: [&str; 8] = ["a", "b", "c", "s", "n", "list", "o", "@x"];

const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "200",
    "0.5",
    "1.50",
    "-0",
    "1e2",
    "12345678901234567",
    "79228162514264337593543950335",
    "79228162514264337593543950336",
    "1e400",
    "-1e-400",
    "0.1",
    "99.999999999999999999999999999999",
];

const TEXTS: [&str; 10] = ["a", "A", "", "ab", "straße", "a\\\"b", "\\u0001", "200", "/api/x", "ὈΔΥΣΣΕΎΣ"];

/// Literals of the language.
const LITERALS: [&str; 22] = [
    "1",
    "0",
    "200",
    "null",
    "true",
    "false",
    "'a'",
    "''",
    "0.5",
    "0xFF",
    "1s",
    "'A'",
    "'ab%'",
    "1.50",
    "79228162514264337593543950335",
    "79228162514264337593543950336",
    "12345678901234567.5",
    "'straße'",
    "[1, 'a', null]",
    "{a: 1}",
    "[]",
    "Undefined()",
];

const DEPTH_MAX: usize = 5;

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                usize::from(*first) % count
            }
            None => 0,
        }
    }

    fn of<'c>(&mut self, list: &[&'c str]) -> &'c str {
        list[self.below(list.len())]
    }

    fn document(&mut self) -> String {
        let members: Vec<String> = (0..self.below(6))
            .map(|_| {
                let key = self.of(&KEYS);
                format!("\"{key}\":{}", self.json(0))
            })
            .collect();
        format!("{{{}}}", members.join(","))
    }

    fn json(&mut self, depth: usize) -> String {
        let kinds = if depth < 3 { 9 } else { 7 };
        match self.below(kinds) {
            0 | 1 => self.of(&NUMBERS).to_owned(),
            2 | 3 => format!("\"{}\"", self.of(&TEXTS)),
            4 => "null".to_owned(),
            5 => "true".to_owned(),
            6 => "false".to_owned(),
            7 => {
                let elements: Vec<String> = (0..self.below(4)).map(|_| self.json(depth + 1)).collect();
                format!("[{}]", elements.join(","))
            }
            _ => {
                let members: Vec<String> = (0..self.below(4))
                    .map(|_| format!("\"{}\":{}", self.of(&KEYS), self.json(depth + 1)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    fn query(&mut self) -> String {
        let filter = match self.below(3) {
            0 => String::new(),
            _ => format!(" where {}", self.expr(0)),
        };
        match self.below(8) {
            0..=3 => {
                format!("select {} as x, {} as y from stream{filter}", self.expr(0), self.expr(0))
            }
            4 => format!(
                "select x, {} as y from stream lateral unnest({}) as x{filter} order by y",
                self.expr(1),
                self.expr(1)
            ),
            5 => format!(
                "select count(*) as n, sum({}) as s, {} as t from stream{filter} group by {} as k having {}",
                self.expr(1),
                self.aggregate(),
                self.expr(1),
                self.behind()
            ),
            6 => format!("select {}, {} as b from stream{filter}", self.aggregate(), self.aggregate()),
            _ => {
                format!("select distinct({}) from stream{filter} limit {}", self.expr(0), self.below(4))
            }
        }
    }

    fn aggregate(&mut self) -> String {
        let name = self.of(&[
            "count",
            "sum",
            "min",
            "max",
            "mean",
            "first",
            "last",
            "any",
            "all",
            "count(distinct",
            "percentile",
        ]);
        let argument = self.expr(1);
        match name {
            "percentile" => format!("percentile({argument}, 50)"),
            "count(distinct" => format!("count(distinct({argument}))"),
            name => format!("{name}({argument})"),
        }
    }

    /// A condition on groups.
    fn behind(&mut self) -> String {
        let left = self.of(&["n", "s", "t", "k", "count(*) + 1"]);
        let op = self.of(&["=", "<>", "<", ">="]);
        let right = self.of(&LITERALS);
        format!("{left} {op} {right} or {} is null", self.of(&["n", "k", "t"]))
    }

    /// An expression in parentheses wherever it is more than one word.
    #[expect(clippy::too_many_lines, reason = "a table of the forms that there are")]
    fn expr(&mut self, depth: usize) -> String {
        let kinds = if depth < DEPTH_MAX { 32 } else { 6 };
        let kind = self.below(kinds);
        let mut next = || self.expr(depth + 1);
        match kind {
            0 | 1 => self.of(&["a", "b", "c", "s", "n", "list", "o"]).to_owned(),
            2 | 3 => self.of(&LITERALS).to_owned(),
            4 => self
                .of(&[
                    "@Timestamp",
                    "@Level",
                    "@Exception",
                    "@Properties",
                    "@Data",
                    "@Message",
                    "x",
                    "o.a",
                    "list[0]",
                ])
                .to_owned(),
            5 => self
                .of(&["o.a.b", "o['c']", "o.list[1]", "@Data['@x']", "@Properties.a", "Now() > 0"])
                .to_owned(),
            6..=10 => {
                let (a, b) = (next(), next());
                let op = self.of(&["=", "<>", "<", "<=", ">", ">="]);
                let ci = self.of(&["", "", " ci"]);
                format!("({a} {op} ({b}){ci})")
            }
            11 | 12 => {
                let (a, b, c) = (next(), next(), next());
                format!("({a} and {b} and {c})")
            }
            13 | 14 => {
                let (a, b, c) = (next(), next(), next());
                format!("({a} or {b} or {c})")
            }
            15 => format!("(not {})", next()),
            16 => format!("(-{})", next()),
            17..=19 => {
                let (a, b) = (next(), next());
                let op = self.of(&["+", "-", "*", "/", "%", "^"]);
                format!("({a} {op} {b})")
            }
            20 => format!("({} is null)", next()),
            21 => format!("({} is not null)", next()),
            22 => {
                let (a, b) = (next(), next());
                let op = self.of(&["in", "not in"]);
                format!("({a} {op} [{b}, 1, 'a'])")
            }
            23 => {
                let a = next();
                let op = self.of(&[
                    "like 'a%'",
                    "not like '%a_'",
                    "like '%B%' ci",
                    "= /a+/",
                    "<> /A|/ ci",
                    "like 'ab'",
                ]);
                format!("({a} {op})")
            }
            24 => {
                let (a, b) = (next(), next());
                let name =
                    self.of(&["Contains", "StartsWith", "EndsWith", "IndexOf", "ElementAt", "LastIndexOf"]);
                let ci = self.of(&["", " ci"]);
                format!("{name}({a}, {b}){ci}")
            }
            25 => {
                let a = next();
                let name = self.of(&[
                    "Length",
                    "TypeOf",
                    "ToString",
                    "ToNumber",
                    "ToJson",
                    "FromJson",
                    "Has",
                    "Keys",
                    "Values",
                    "ToUpper",
                    "ToLower",
                    "Round",
                    "ToIsoString",
                    "ToTimeString",
                    "DateTime",
                    "ToHexString",
                ]);
                format!("{name}({a})")
            }
            26 => {
                let (a, b) = (next(), next());
                format!("Coalesce({a}, {b}, 'none')")
            }
            27 => {
                let (a, b) = (next(), next());
                let shape = self.of(&["[", "{k: "]);
                let end = if shape == "[" { "]" } else { "}" };
                format!("{shape}{a}, ..{b}{end}")
            }
            28 => {
                let (a, b, c) = (next(), next(), next());
                format!("(if {a} then {b} else {c})")
            }
            29 => {
                let (a, b) = (next(), next());
                format!("(let |x: {a}, y: x| {b})")
            }
            30 => {
                let (a, b) = (next(), next());
                let name = self.of(&["Some", "Every"]);
                format!("{name}({a}, |x| {b})")
            }
            _ => {
                let (a, b) = (next(), next());
                let wildcard = self.of(&["[?]", "[*]", ".a[?]", "[?].a", "[*][?]"]);
                format!("(({a}){wildcard} = ({b}))")
            }
        }
    }
}
