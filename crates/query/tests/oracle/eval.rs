//! Expressions, evaluated as the language page tells, one value at a time, everything copied.

use crate::ast::{Comparison, Expr, Item, Pair};
use crate::calls;
use crate::number::Number;
use crate::print::is_identifier;
use crate::template;
use crate::value::{Value, compare_text, decode, entries, upper};
use regex::RegexBuilder;
use std::cmp::Ordering;

/// A stored event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) instant: u64,
    pub(crate) arrival: u64,
    pub(crate) json: String,
    /// The document's members, duplicates and all.
    members: Vec<(String, Value)>,
    properties: Value,
}

/// The keys that stand for built-ins.
const SHORT_NAMES: [&str; 14] =
    ["@t", "@m", "@mt", "@l", "@x", "@i", "@st", "@tr", "@sp", "@ps", "@sk", "@sc", "@ra", "@r"];

impl Event {
    pub(crate) fn new(instant: u64, arrival: u64, json: String) -> Event {
        let members: Vec<(String, Value)> = entries(&json)
            .into_iter()
            .map(|(key, raw)| (decode(key.get()), Value::stored(raw.get())))
            .collect();
        let properties = properties(&members);
        Event { instant, arrival, json, members, properties }
    }

    /// The value under a stored key; the last of duplicates counts.
    fn stored(&self, key: &str) -> Value {
        self.members
            .iter()
            .rfind(|(other, _)| other == key)
            .map_or(Value::Undefined, |(_, value)| value.clone())
    }

    pub(crate) fn id(&self) -> String {
        format!("{:016x}{:016x}", self.instant, self.arrival)
    }

    pub(crate) fn data(&self) -> Value {
        Value::object(self.members.clone())
    }

    /// A property as a message shows it: a string as it is, anything else as the JSON that is stored. A name with points is
    /// that of a property, or else leads to a member.
    fn show(&self, name: &str) -> Option<String> {
        let named = |name: &str| {
            let members = entries(&self.json);
            members.into_iter().rfind(|(key, _)| property_name(&decode(key.get())).as_deref() == Some(name))
        };
        let (_, mut raw) = match named(name) {
            Some(found) => found,
            None => named(name.split('.').next()?).filter(|_| name.contains('.'))?,
        };
        if named(name).is_none() {
            for member in name.split('.').skip(1) {
                let members = if raw.get().starts_with('{') { entries(raw.get()) } else { Vec::new() };
                (_, raw) = members.into_iter().rfind(|(key, _)| decode(key.get()) == member)?;
            }
        }
        Some(if raw.get().starts_with('"') { decode(raw.get()) } else { raw.get().to_owned() })
    }

    fn built_in(&self, name: &str) -> Value {
        match name {
            "@Timestamp" | "@t" => Value::integer(self.instant.try_into().unwrap()),
            "@Arrived" => Value::integer(self.arrival.try_into().unwrap()),
            "@Id" => Value::Text(self.id()),
            "@Data" => self.data(),
            "@Properties" => self.properties.clone(),
            "@MessageTemplate" | "@mt" => self.stored("@mt"),
            "@Message" | "@m" => match (self.stored("@m"), self.stored("@mt")) {
                (Value::Undefined, Value::Text(text)) => {
                    Value::Text(template::render(&text, |name| self.show(name), &self.stored("@r")))
                }
                (message, _) => message,
            },
            "@Level" | "@l" => match self.stored("@l") {
                Value::Undefined => Value::text("Information"),
                level => level,
            },
            "@EventType" | "@i" => match (self.stored("@i"), self.stored("@mt")) {
                (Value::Undefined, Value::Text(text)) => {
                    Value::Text(format!("{:08x}", template::hash(&text)))
                }
                (given, _) => given,
            },
            "@Exception" | "@x" => self.stored("@x"),
            "@Start" | "@st" => calls::parse_instant(&self.stored("@st")),
            "@Elapsed" => match calls::parse_instant(&self.stored("@st")) {
                Value::Number(start) => {
                    let instant = Number::integer(self.instant.try_into().unwrap());
                    Value::Number(instant.subtract(&start).unwrap())
                }
                _ => Value::Undefined,
            },
            "@TraceId" | "@tr" => self.stored("@tr"),
            "@SpanId" | "@sp" => self.stored("@sp"),
            "@ParentId" | "@ps" => self.stored("@ps"),
            "@SpanKind" | "@sk" => self.stored("@sk"),
            "@Scope" | "@sc" => self.stored("@sc"),
            "@Resource" | "@ra" => self.stored("@ra"),
            "@r" => self.stored("@r"),
            other => panic!("no built-in {other}"),
        }
    }
}

/// The name that a query has for the user property under a stored key; none for a built-in's.
fn property_name(key: &str) -> Option<String> {
    match key.strip_prefix('@') {
        Some(doubled) if doubled.starts_with('@') => Some(doubled.to_owned()),
        _ if SHORT_NAMES.contains(&key) => None,
        _ => Some(key.to_owned()),
    }
}

/// The user properties among a document's members.
fn properties(members: &[(String, Value)]) -> Value {
    Value::object(
        members.iter().filter_map(|(key, value)| Some((property_name(key)?, value.clone()))).collect(),
    )
}

/// What an expression may name.
#[derive(Clone)]
pub(crate) struct Scope<'e> {
    pub(crate) event: Option<&'e Event>,
    pub(crate) locals: Vec<(String, Value)>,
    /// What the aggregates of an expression count over.
    pub(crate) rows: Option<&'e [Scope<'e>]>,
}

impl Scope<'_> {
    pub(crate) fn with(&self, name: &str, value: Value) -> Self {
        let mut scope = self.clone();
        scope.locals.push((name.to_owned(), value));
        scope
    }
}

pub(crate) fn eval(expr: &Expr, scope: &Scope<'_>) -> Value {
    if let Some(value) = over_wildcard(expr, scope) {
        return value;
    }
    match expr {
        Expr::Null => Value::Null,
        Expr::Bool(bool) => Value::Bool(*bool),
        Expr::Number(text) | Expr::Spelled(_, text) => Value::Number(Number::literal(text)),
        Expr::Text(text) => Value::text(text),
        Expr::Name(name) => match scope.locals.iter().rfind(|(local, _)| local == name) {
            Some((_, value)) => value.clone(),
            None => scope.event.map_or(Value::Undefined, |event| event.properties.member(name)),
        },
        Expr::BuiltIn(name) => scope.event.map_or(Value::Undefined, |event| event.built_in(name)),
        Expr::Member(of, name) => match dotted(expr, scope) {
            Some(names) => by_path(&names, scope),
            None => eval(of, scope).member(name),
        },
        Expr::Element(of, index) => eval(of, scope).element(&eval(index, scope), false),
        Expr::Wildcard(..) => panic!("a wildcard without a comparison around it"),
        Expr::Negate(of) => match eval(of, scope) {
            Value::Number(number) => from(number.negate()),
            _ => Value::Undefined,
        },
        Expr::Not(of) => match eval(of, scope) {
            Value::Bool(bool) => Value::Bool(!bool),
            Value::Undefined => Value::Bool(true),
            _ => Value::Undefined,
        },
        Expr::IsNull(of, is) => Value::Bool(matches!(eval(of, scope), Value::Null | Value::Undefined) == *is),
        Expr::And(terms) => Value::Bool(terms.iter().all(|term| eval(term, scope).is_true())),
        Expr::Or(terms) => Value::Bool(terms.iter().any(|term| eval(term, scope).is_true())),
        Expr::Arithmetic(op, a, b) => match (eval(a, scope), eval(b, scope)) {
            (Value::Number(a), Value::Number(b)) => from(match op {
                '+' => a.add(&b),
                '-' => a.subtract(&b),
                '*' => a.multiply(&b),
                '/' => a.divide(&b),
                '%' => a.remainder(&b),
                _ => a.power(&b),
            }),
            _ => Value::Undefined,
        },
        Expr::Compare(..) | Expr::Like(..) | Expr::Matches(..) => match compare(expr, scope) {
            Some(bool) => Value::Bool(bool),
            None => Value::Undefined,
        },
        Expr::Regex(_) => panic!("a regular expression is no value"),
        Expr::Call(name, arguments, ci) => calls::call(name, arguments, *ci, scope),
        Expr::Array(items) => array(items, scope),
        Expr::Object(pairs) => object(pairs, scope),
        Expr::If(condition, then, otherwise) => {
            eval(if eval(condition, scope).is_true() { then } else { otherwise }, scope)
        }
        Expr::Let(bindings, body) => {
            let mut inner = scope.clone();
            for (name, expr) in bindings {
                // Each binding sees the ones before it.
                let value = eval(expr, &inner);
                inner = inner.with(name, value);
            }
            eval(body, &inner)
        }
        Expr::Quantified(some, collection, name, body) => match eval(collection, scope).elements() {
            Some(elements) => {
                quantified(*some, elements, |element| eval(body, &scope.with(name, element)).is_true())
            }
            None => Value::Undefined,
        },
        Expr::Aggregate("interval", _) => eval(&Expr::Name("interval()".to_owned()), scope),
        Expr::Aggregate(name, arguments) => {
            crate::aggregates::aggregate(name, arguments, scope.rows.unwrap())
        }
        Expr::CountDistinct(of) => {
            let distinct = crate::aggregates::distinct(of, scope.rows.unwrap());
            Value::integer(distinct.len().try_into().unwrap())
        }
    }
}

/// The names of a path with points that begins with a property: in brackets, a name is that of a member only.
fn dotted<'e>(expr: &'e Expr, scope: &Scope<'_>) -> Option<Vec<&'e str>> {
    match expr {
        Expr::Name(name) => scope.locals.iter().all(|(local, _)| local != name).then(|| vec![name.as_str()]),
        Expr::Member(of, name) if is_identifier(name) => {
            let mut names = dotted(of, scope)?;
            names.push(name);
            Some(names)
        }
        _ => None,
    }
}

/// A member of a member of the property; what is not there is looked for under the keys that are longer parts of the path, the
/// longest first.
fn by_path(names: &[&str], scope: &Scope<'_>) -> Value {
    let Some(event) = scope.event else { return Value::Undefined };
    let mut cuts: Vec<usize> = (1..=names.len()).collect();
    cuts[1..].reverse();
    let under = |cut: usize| {
        let property = event.properties.member(&names[..cut].join("."));
        names[cut..].iter().fold(property, |value, name| value.member(name))
    };
    cuts.into_iter().map(under).find(|value| !value.is_undefined()).unwrap_or(Value::Undefined)
}

/// A comparison with a wildcard inside: it holds for some or for all elements; what has no elements answers nothing.
fn over_wildcard(expr: &Expr, scope: &Scope<'_>) -> Option<Value> {
    if !is_comparison(expr) {
        return None;
    }
    let mut open = expr.clone();
    let local = format!("#{}", scope.locals.len());
    let (collection, some) = open.children_mut().into_iter().find_map(|side| take_wildcard(side, &local))?;
    let holds = |element| eval(&open, &scope.with(&local, element)).is_true();
    let elements = eval(&collection, scope).elements();
    Some(elements.map_or(Value::Undefined, |elements| quantified(some, elements, holds)))
}

fn array(items: &[Item], scope: &Scope<'_>) -> Value {
    let mut elements = Vec::new();
    for item in items {
        match item {
            Item::One(expr) => elements.push(eval(expr, scope)),
            // What is spread and is no array has no elements to give.
            Item::Spread(expr) => {
                if let Value::Array(spread) = eval(expr, scope) {
                    elements.extend(spread);
                }
            }
        }
    }
    elements.retain(|element| !element.is_undefined());
    Value::Array(elements)
}

fn object(pairs: &[Pair], scope: &Scope<'_>) -> Value {
    let mut members = Vec::new();
    for pair in pairs {
        match pair {
            Pair::Named(name, expr) => members.push((name.clone(), eval(expr, scope))),
            Pair::Same(expr) => members.push((expr.print(), eval(expr, scope))),
            Pair::Spread(expr) => {
                if let Value::Object(spread) = eval(expr, scope) {
                    members.extend(spread);
                }
            }
        }
    }
    let Value::Object(mut members) = Value::object(members) else { unreachable!() };
    members.retain(|(_, value)| !value.is_undefined());
    Value::Object(members)
}

pub(crate) fn from(number: Option<Number>) -> Value {
    number.map_or(Value::Undefined, Value::Number)
}

fn quantified(some: bool, elements: Vec<Value>, holds: impl FnMut(Value) -> bool) -> Value {
    Value::Bool(if some { elements.into_iter().any(holds) } else { elements.into_iter().all(holds) })
}

/// What a wildcard inside makes hold for some, or for all, elements: comparisons, and what compares under another name.
fn is_comparison(expr: &Expr) -> bool {
    match expr {
        Expr::Compare(..) | Expr::Like(..) | Expr::Matches(..) | Expr::IsNull(..) => true,
        Expr::Call(name, ..) => ["Contains", "StartsWith", "EndsWith", "IsMatch", "match"].contains(name),
        _ => false,
    }
}

/// An operand: beside an instant, a text that is written out and tells an instant is that.
fn compared(expr: &Expr, with: &Expr, scope: &Scope<'_>) -> Value {
    let told = |text: &Value| match calls::parse_instant(text) {
        Value::Undefined => text.clone(),
        instant => instant,
    };
    let value = eval(expr, scope);
    match (expr, value) {
        (Expr::Text(_), value) if is_instant(with) => told(&value),
        (Expr::Array(items), Value::Array(_)) if is_instant(with) => {
            let mut elements = Vec::new();
            for item in items {
                match item {
                    Item::One(written @ Expr::Text(_)) => elements.push(told(&eval(written, scope))),
                    other => match array(std::slice::from_ref(other), scope) {
                        Value::Array(others) => elements.extend(others),
                        _ => unreachable!("an array is one"),
                    },
                }
            }
            Value::Array(elements)
        }
        (_, value) => value,
    }
}

/// What the page counts among instants.
fn is_instant(expr: &Expr) -> bool {
    match expr {
        Expr::BuiltIn(name) => ["@Timestamp", "@t", "@Start", "@st"].contains(name),
        Expr::If(_, one, other) => is_instant(one) && is_instant(other),
        Expr::Call(name, arguments, _) => match *name {
            "DateTime" | "Now" => true,
            "Coalesce" => arguments.iter().all(is_instant),
            _ => false,
        },
        Expr::Aggregate(name, arguments) => {
            ["min", "max", "first", "last"].contains(name) && arguments.first().is_some_and(is_instant)
        }
        _ => false,
    }
}

/// A comparison; none where it is undefined.
fn compare(expr: &Expr, scope: &Scope<'_>) -> Option<bool> {
    match expr {
        Expr::Compare(op, a, b, ci) => {
            let (a, b) = (compared(a, b, scope), compared(b, a, scope));
            match op {
                Comparison::Equal => a.equal(&b, *ci),
                Comparison::NotEqual => a.equal(&b, *ci).map(|equal| !equal),
                Comparison::Less => order(&a, &b, *ci).map(Ordering::is_lt),
                Comparison::LessOrEqual => order(&a, &b, *ci).map(Ordering::is_le),
                Comparison::Greater => order(&a, &b, *ci).map(Ordering::is_gt),
                Comparison::GreaterOrEqual => order(&a, &b, *ci).map(Ordering::is_ge),
                Comparison::In => is_in(&a, &b, *ci),
                Comparison::NotIn => is_in(&a, &b, *ci).map(|is| !is),
            }
        }
        Expr::Like(of, pattern, negated, ci) => match eval(of, scope) {
            Value::Text(text) => {
                let fold = |text: &str| -> Vec<char> {
                    if *ci { text.chars().map(upper).collect() } else { text.chars().collect() }
                };
                Some(like(&fold(&text), &fold(pattern)) != *negated)
            }
            _ => None,
        },
        // "The whole string matches": what is no string is not matched, as `=` of two types is false.
        Expr::Matches(of, regex, negated, ci) => match eval(of, scope) {
            Value::Text(text) => {
                let whole =
                    RegexBuilder::new(&format!(r"\A(?:{regex})\z")).case_insensitive(*ci).build().unwrap();
                Some(whole.is_match(&text) != *negated)
            }
            Value::Undefined => None,
            _ => Some(*negated),
        },
        _ => unreachable!("no comparison"),
    }
}

/// Puts the name `local` in place of the first wildcard that this comparison is around: its collection, and which it was.
fn take_wildcard(expr: &mut Expr, local: &str) -> Option<(Expr, bool)> {
    if is_comparison(expr) {
        return None;
    }
    if let Some(found) = expr.children_mut().into_iter().find_map(|child| take_wildcard(child, local)) {
        return Some(found);
    }
    if let Expr::Wildcard(collection, some) = expr {
        let found = (std::mem::replace(&mut **collection, Expr::Null), *some);
        *expr = Expr::Name(local.to_owned());
        return Some(found);
    }
    None
}

/// `<` and its kin compare two numbers, or two strings.
fn order(a: &Value, b: &Value, ci: bool) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Some(a.compare(b)),
        (Value::Text(a), Value::Text(b)) => Some(compare_text(a, b, ci)),
        _ => None,
    }
}

fn is_in(a: &Value, b: &Value, ci: bool) -> Option<bool> {
    match (a, b) {
        (Value::Undefined, _) => None,
        (a, Value::Array(elements)) => {
            Some(elements.iter().any(|element| a.equal(element, ci) == Some(true)))
        }
        _ => None,
    }
}

/// `%` is any run, `_` any one character, each doubled itself.
fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', '%', rest @ ..] | ['_', '_', rest @ ..] => {
            text.first() == Some(&pattern[0]) && like(&text[1..], rest)
        }
        ['%', rest @ ..] => (0..=text.len()).any(|at| like(&text[at..], rest)),
        ['_', rest @ ..] => !text.is_empty() && like(&text[1..], rest),
        [character, rest @ ..] => text.first() == Some(character) && like(&text[1..], rest),
    }
}

#[test]
fn like_patterns() {
    let like = |text: &str, pattern: &str| {
        like(&text.chars().collect::<Vec<_>>(), &pattern.chars().collect::<Vec<_>>())
    };
    assert!(
        like("a%b", "a%%b")
            && !like("axb", "a%%b")
            && like("axxb", "a%b")
            && like("ab", "_b")
            && like("", "%")
    );
}
