//! An expression → a condition, taken apart.

use super::condition::{Alone, Compared, Condition, Form, Head, Sought};
use super::key_path::only_path;
use super::outcomes::Outcomes;
use super::paths::{self, Split};
use crate::ast::Comparison;
use crate::expr::{Computed, DEFAULT_LEVEL, Expr, Like, LikeForm, Pattern, Set, is_plain};
use crate::value::{Number, Value};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::collections::BTreeMap;
use std::sync::Arc;
use tamias_json::number::Bound;
use tamias_json::search::Needle;
use tamias_json::write_json_string;

/// Most values of one key that are searched for one by one: more are compared at each place of the key.
const VALUES_SEARCHED: usize = 2;
/// Most values that a place is compared with.
const VALUES_COMPARED: usize = 64;
/// A text that is shorter stands nearly everywhere.
const MENTION_BYTES_MIN: usize = 3;
const MENTIONS_MAX: usize = 4;

pub(super) struct Analysis<'n> {
    names: &'n [Box<str>],
    unnested: usize,
    /// How many conditions were found that depend on one value alone.
    pub(super) alone: usize,
    pub(super) needles: Vec<Needle>,
}

/// A constant that a key's value may equal, as it is stored.
enum Equal {
    /// With its quotes.
    Text(Box<[u8]>),
    Truth(Box<[u8]>),
    Number(Box<Bound>),
}

impl<'n> Analysis<'n> {
    /// An analysis of expressions over these names, and over the elements of so many unnested collections.
    pub(super) fn new(names: &'n [Box<str>], unnested: usize) -> Analysis<'n> {
        Analysis { names, unnested, alone: 0, needles: Vec::new() }
    }

    /// The condition of an expression's truth.
    pub(super) fn condition(&mut self, expr: &Expr) -> Condition {
        self.part(expr, false)
    }

    /// A condition; `is_within` one that depends on one value alone.
    fn part(&mut self, expr: &Expr, is_within: bool) -> Condition {
        let alone = if is_within { None } else { self.alone(expr) };
        let is_alone = alone.as_ref().is_some_and(|alone| alone.path.is_some());
        let form = self.form(expr, is_within || is_alone);
        Condition { form, alone }
    }

    fn alone(&mut self, expr: &Expr) -> Option<Alone> {
        // What was unnested is no part of an event, and other locals are counted from there on.
        if self.unnested > 0 && expr.reads_local() {
            return None;
        }
        let path = match only_path(expr, &|_| false) {
            Some(path) => Some(path?),
            None if paths::has_readings(expr) => None,
            None => return None,
        };
        self.alone += 1;
        Some(Alone { path, expr: expr.clone(), number: self.alone - 1 })
    }

    fn form(&mut self, expr: &Expr, is_within: bool) -> Form {
        if let Some(split) = paths::split(expr) {
            return self.split(split, is_within);
        }
        match expr {
            Expr::Constant(value) => Form::Constant(Outcomes::of(value)),
            Expr::And(terms) => Form::And(terms.iter().map(|term| self.part(term, is_within)).collect()),
            Expr::Or(terms) => self.or(terms, is_within),
            Expr::Not(of) => self.part(of, is_within).form.negated(),
            Expr::IsNull(of, negated) => match (&**of, negated) {
                (Expr::Slot(slot), true) => Form::Sought(Sought::NotNull { slot: *slot }),
                (Expr::Slot(slot), false) => Form::Sought(Sought::NotNull { slot: *slot }).negated(),
                _ => Form::Opaque,
            },
            Expr::CompareNumber { op, left, bound, number } => match &**left {
                Expr::Slot(slot) => {
                    Form::Sought(Sought::Number { slot: *slot, op: *op, bound: bound.clone() })
                }
                Expr::BuiltIn(computed) => head(*computed, *op, &Value::Number(number.clone())),
                Expr::Call { function, arguments, .. } if function.name == "Length" => {
                    length(arguments, *op, number)
                }
                _ => Form::Opaque,
            },
            Expr::Compare { op, left, right, ci: false } if is_id(left) || is_id(right) => {
                match (&**left, &**right) {
                    (_, Expr::Constant(value)) => head(Computed::Id, *op, value),
                    (Expr::Constant(value), _) => head(Computed::Id, op.flipped(), value),
                    _ => Form::Opaque,
                }
            }
            Expr::Compare { op: Comparison::Equal, left, right, ci: false } => self.equal(left, right),
            Expr::Compare { op: Comparison::NotEqual, left, right, ci: false } => self.not_equal(left, right),
            Expr::Compare { op: op @ (Comparison::Equal | Comparison::NotEqual), left, right, ci: true } => {
                match sides(left, right) {
                    None | Some((_, Value::Undefined)) => Form::Opaque,
                    Some((of, value)) => {
                        let set = Arc::new(Set::new(vec![value.clone()], true));
                        self.within(of, &set, *op == Comparison::NotEqual)
                    }
                }
            }
            Expr::InSet { left, set, negated } => self.within(left, set, *negated),
            Expr::Like { left, pattern, negated: false } => self.like(left, pattern),
            Expr::Match { left, pattern } => match (&**left, pattern.literal_bytes()) {
                (Expr::Slot(slot), Some(literal)) => self.contains(*slot, literal),
                _ => self.mentions(left, pattern),
            },
            Expr::MatchWhole { left, pattern, negated: false } => self.mentions(left, pattern),
            Expr::Call { function, arguments, .. } if function.name == "Has" => match arguments.as_slice() {
                [Expr::Slot(slot)] => Form::Sought(Sought::Defined { slot: *slot }),
                _ => Form::Opaque,
            },
            Expr::Call { function, arguments, ci } if function.name == "HasText" => match ci {
                false => self.said(arguments.get(1)),
                true => self.said_in_any_case(arguments.get(1)),
            },
            Expr::Compare { .. }
            | Expr::In { .. }
            | Expr::Like { .. }
            | Expr::MatchWhole { .. }
            | Expr::Slot(_)
            | Expr::Group(_)
            | Expr::Local(_)
            | Expr::BuiltIn(_)
            | Expr::Path(_)
            | Expr::Member(..)
            | Expr::Element(..)
            | Expr::Negate(_)
            | Expr::Arithmetic(..)
            | Expr::IndexOfMatch { .. }
            | Expr::ReplaceMatch { .. }
            | Expr::Call { .. }
            | Expr::Coalesce(_)
            | Expr::Concat(_)
            | Expr::Array(_)
            | Expr::Object(_)
            | Expr::If(_)
            | Expr::Let(..)
            | Expr::Quantified { .. } => Form::Opaque,
        }
    }

    /// One of two conditions, by whether an event has a key.
    fn split(&mut self, split: Split, is_within: bool) -> Form {
        let Split { slot, there, missing } = split;
        let defined = || Form::Sought(Sought::Defined { slot });
        let there = there.map_or(Form::Opaque.into(), |expr| self.part(&expr, is_within));
        let missing = self.part(&missing, is_within);
        Form::Or(vec![
            Form::And(vec![defined().into(), there]).into(),
            Form::And(vec![defined().negated().into(), missing]).into(),
        ])
    }

    /// Terms that want one key to have one value or another become one condition.
    fn or(&mut self, terms: &[Expr], is_within: bool) -> Form {
        let mut by_slot: BTreeMap<usize, (Vec<&Expr>, Vec<Equal>)> = BTreeMap::new();
        let mut others = Vec::new();
        for term in terms {
            match equated(term) {
                Some((slot, value)) => {
                    let (exprs, values) = by_slot.entry(slot).or_default();
                    exprs.push(term);
                    values.push(value);
                }
                None => others.push(term),
            }
        }
        let mut conditions = Vec::new();
        for (slot, (exprs, values)) in by_slot {
            let alone = match exprs.as_slice() {
                _ if is_within => None,
                [expr] => self.alone(expr),
                exprs => self.alone(&Expr::Or(exprs.iter().copied().cloned().collect())),
            };
            conditions.push(Condition { form: self.any_of(slot, values), alone });
        }
        conditions.extend(others.into_iter().map(|term| self.part(term, is_within)));
        Form::Or(conditions)
    }

    fn equal(&mut self, left: &Expr, right: &Expr) -> Form {
        if let Some((slot, value)) = equated_sides(left, right) {
            return self.any_of(slot, vec![value]);
        }
        match sides(left, right) {
            // An event without a level is one of `Information`.
            Some((Expr::BuiltIn(Computed::Level { level }), Value::Text(text))) => {
                let Some(text) = quoted(&text.text()) else { return Form::Opaque };
                let absent = Form::Sought(Sought::Defined { slot: *level }).negated();
                Form::Or(vec![self.value(*level, text, true).into(), absent.into()])
            }
            _ => Form::Opaque,
        }
    }

    fn not_equal(&mut self, left: &Expr, right: &Expr) -> Form {
        match (sides(left, right), equated_sides(left, right)) {
            (Some((Expr::Slot(slot), _)), Some((_, value))) => {
                let equal = self.any_of(*slot, vec![value]);
                let defined = Form::Sought(Sought::Defined { slot: *slot });
                Form::And(vec![defined.into(), equal.negated().into()])
            }
            _ => Form::Opaque,
        }
    }

    /// The value of a key is among constants.
    fn within(&mut self, left: &Expr, set: &Arc<Set>, negated: bool) -> Form {
        let (slot, is_level) = match left {
            Expr::Slot(slot) => (*slot, false),
            Expr::BuiltIn(Computed::Level { level }) => (*level, true),
            Expr::BuiltIn(computed) if !set.ci() => return head_among(*computed, set, negated),
            _ => return Form::Opaque,
        };
        let mut form = self.among(slot, set);
        if matches!(form, Form::Opaque) {
            return form;
        }
        let defined = Form::Sought(Sought::Defined { slot });
        match (is_level, negated) {
            (false, false) => form,
            (false, true) => Form::And(vec![defined.into(), form.negated().into()]),
            (true, negated) => {
                // An event without a level is one of `Information`.
                if set.contains(&Value::from(DEFAULT_LEVEL)) {
                    form = Form::Or(vec![form.into(), defined.negated().into()]);
                }
                if negated { form.negated() } else { form }
            }
        }
    }

    /// A key's value is one of a set's.
    fn among(&mut self, slot: usize, set: &Arc<Set>) -> Form {
        let is_small = set.values().len() <= VALUES_COMPARED && !set.ci();
        let values = is_small.then(|| set.values().iter().map(Equal::of).collect::<Option<Vec<_>>>());
        match values.flatten() {
            Some(values) => self.any_of(slot, values),
            None if set.is_flat() => Form::Sought(Sought::Among { slot, set: set.clone() }),
            None => Form::Opaque,
        }
    }

    /// A key's value is one of these.
    fn any_of(&mut self, slot: usize, values: Vec<Equal>) -> Form {
        let (mut texts, mut truths, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for value in values {
            match value {
                Equal::Text(text) => texts.push(text),
                Equal::Truth(text) => truths.push(text),
                Equal::Number(bound) => bounds.push(*bound),
            }
        }
        if texts.len() > VALUES_COMPARED || bounds.len() > VALUES_COMPARED {
            return Form::Opaque;
        }
        let mut forms = Vec::new();
        if texts.len() > VALUES_SEARCHED {
            texts.append(&mut truths);
            forms.push(Form::Sought(Sought::OneOf { slot, values: texts }));
        } else {
            forms.extend(texts.into_iter().map(|text| self.value(slot, text, true)));
        }
        if !truths.is_empty() {
            forms.push(Form::Sought(Sought::OneOf { slot, values: truths }));
        }
        match bounds.len() {
            0 => {}
            1 => forms.extend(bounds.into_iter().map(|bound| {
                Form::Sought(Sought::Number { slot, op: Comparison::Equal, bound: Box::new(bound) })
            })),
            _ => forms.push(Form::Sought(Sought::NumberOneOf { slot, bounds })),
        }
        match forms.len() {
            1 => forms.swap_remove(0),
            _ => Form::Or(forms.into_iter().map(Condition::from).collect()),
        }
    }

    /// A key's value is this string with its quotes, or begins with it.
    fn value(&mut self, slot: usize, value: Box<[u8]>, is_whole: bool) -> Form {
        let mut bytes = Vec::new();
        let Some(name) = self.names.get(slot) else { return Form::Opaque };
        write_json_string(name, &mut bytes);
        bytes.push(b':');
        bytes.extend_from_slice(&value);
        match self.needle(&bytes) {
            Some(needle) => Form::Sought(Sought::Value { slot, needle, value, is_whole }),
            None => Form::Opaque,
        }
    }

    fn like(&mut self, left: &Expr, pattern: &Like) -> Form {
        let Expr::Slot(slot) = left else { return Form::Opaque };
        match (pattern.form(), quoted_like(pattern)) {
            (LikeForm::Exact(_), Some(text)) => self.value(*slot, text, true),
            (LikeForm::Prefix(prefix), Some(text)) if !prefix.is_empty() => {
                let text = text.strip_suffix(b"\"").unwrap_or(&text);
                self.value(*slot, text.into(), false)
            }
            (LikeForm::Contains(text), _) if is_plain(text) => self.contains(*slot, text.as_bytes()),
            (
                LikeForm::Exact(_)
                | LikeForm::Prefix(_)
                | LikeForm::Contains(_)
                | LikeForm::Suffix(_)
                | LikeForm::Pieces(_)
                | LikeForm::Matched(_)
                | LikeForm::Other,
                _,
            ) => self.mentions_core(pattern),
        }
    }

    /// The document has in it what any string needs in order to match.
    fn mentions_core(&mut self, pattern: &Like) -> Form {
        let core = pattern.core().filter(|core| core.len() >= MENTION_BYTES_MIN);
        match core.and_then(|core| self.needle_in_any_case(core)) {
            Some(needle) => Form::Sought(Sought::Mentions { needles: vec![needle] }),
            None => Form::Opaque,
        }
    }

    fn contains(&mut self, slot: usize, literal: &[u8]) -> Form {
        match self.needle(literal) {
            Some(needle) => Form::Sought(Sought::Contains { slot, needle }),
            None => Form::Opaque,
        }
    }

    /// The document has one of the texts in it that a stored string needs in order to match.
    fn mentions(&mut self, of: &Expr, pattern: &Pattern) -> Form {
        let literals = match of {
            Expr::Slot(_) => pattern.required(),
            _ => Vec::new(),
        };
        let are_rare = literals.iter().all(|literal| literal.len() >= MENTION_BYTES_MIN);
        if literals.is_empty() || literals.len() > MENTIONS_MAX || !are_rare {
            return Form::Opaque;
        }
        match literals.iter().map(|literal| self.needle(literal)).collect() {
            Some(needles) => Form::Sought(Sought::Mentions { needles }),
            None => Form::Opaque,
        }
    }

    /// One of the document's strings has a text in it.
    fn said(&mut self, text: Option<&Expr>) -> Form {
        let Some(Expr::Constant(Value::Text(text))) = text else { return Form::Opaque };
        let text = text.text();
        let stored = quoted(&text).filter(|_| text.len() >= MENTION_BYTES_MIN);
        let inner = stored.as_deref().and_then(|stored| stored.strip_prefix(b"\"")?.strip_suffix(b"\""));
        match inner.and_then(|inner| self.needle(inner)) {
            Some(needle) => Form::Sought(Sought::Said { needle }),
            None => Form::Opaque,
        }
    }

    /// The same, whatever the case of letters.
    fn said_in_any_case(&mut self, text: Option<&Expr>) -> Form {
        let Some(Expr::Constant(Value::Text(text))) = text else { return Form::Opaque };
        let Some(like) = Like::containing(&text.text()) else { return Form::Opaque };
        let mentions = self.mentions_core(&like);
        let is_sought = matches!(mentions, Form::Sought(_));
        match like.folded().filter(|_| is_sought).and_then(|folded| self.needle_in_any_case(folded)) {
            Some(needle) => {
                let said = Form::Sought(Sought::Said { needle });
                // Some letters are the upper case of others beyond ASCII as well.
                Form::Or(vec![said.into(), mentions.into()])
            }
            None => mentions,
        }
    }

    /// The number of a text to be searched for in any case of its letters, if it can be.
    fn needle_in_any_case(&mut self, text: &str) -> Option<usize> {
        self.needles.push(Needle::folded(text.as_bytes())?);
        Some(self.needles.len() - 1)
    }

    /// The number of a text to be searched for, if it can be.
    fn needle(&mut self, bytes: &[u8]) -> Option<usize> {
        self.needles.push(Needle::new(bytes)?);
        Some(self.needles.len() - 1)
    }
}

impl Equal {
    fn of(value: &Value<'_>) -> Option<Equal> {
        match value {
            Value::Text(text) => quoted(&text.text()).map(Equal::Text),
            Value::Bool(bool) => Some(Equal::Truth(bool.to_string().into_bytes().into())),
            Value::Number(number) => Some(Equal::Number(Box::new(Bound::new(&number.text())))),
            Value::Undefined | Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// The value that an expression wants the key of a slot to have, if that is all it says.
fn equated(expr: &Expr) -> Option<(usize, Equal)> {
    match expr {
        Expr::Compare { op: Comparison::Equal, left, right, ci: false } => equated_sides(left, right),
        Expr::CompareNumber { op: Comparison::Equal, left, bound, .. } => match **left {
            Expr::Slot(slot) => Some((slot, Equal::Number(bound.clone()))),
            _ => None,
        },
        Expr::Like { left, pattern, negated: false } => match (&**left, pattern.form()) {
            (Expr::Slot(slot), LikeForm::Exact(_)) => Some((*slot, Equal::Text(quoted_like(pattern)?))),
            _ => None,
        },
        _ => None,
    }
}

/// The same of `left = right`.
fn equated_sides(left: &Expr, right: &Expr) -> Option<(usize, Equal)> {
    match sides(left, right)? {
        (Expr::Slot(slot), value) => Some((*slot, Equal::of(value)?)),
        // An event without a level is one of `Information`.
        (Expr::BuiltIn(Computed::Level { level }), Value::Text(text)) if *text.text() != *DEFAULT_LEVEL => {
            Some((*level, Equal::Text(quoted(&text.text())?)))
        }
        _ => None,
    }
}

fn is_id(expr: &Expr) -> bool {
    matches!(expr, Expr::BuiltIn(Computed::Id))
}

/// What stands in an event's head against a constant. It is never undefined, but beside a value of another kind it may be.
fn head(computed: Computed, op: Comparison, value: &Value<'_>) -> Form {
    match (computed, value) {
        (Computed::Timestamp, Value::Number(number)) => {
            Form::Head(Head::Place, vec![Compared::number(op, number)])
        }
        (Computed::Arrived, Value::Number(number)) => {
            Form::Head(Head::Arrival, vec![Compared::number(op, number)])
        }
        (Computed::Id, Value::Text(text)) => Form::Head(Head::Place, vec![Compared::id(op, &text.text())]),
        _ => Form::Opaque,
    }
}

/// The same, against any of a set.
fn head_among(computed: Computed, set: &Set, negated: bool) -> Form {
    let mut heads: Option<(Head, Vec<Compared>)> = None;
    for value in set.values() {
        // Values of other kinds equal none.
        if let Form::Head(head, compared) = head(computed, Comparison::Equal, value) {
            heads.get_or_insert((head, Vec::new())).1.extend(compared);
        }
    }
    match heads {
        Some((head, any)) if negated => Form::Head(head, any).negated(),
        Some((head, any)) => Form::Head(head, any),
        None => Form::Opaque,
    }
}

/// What is compared with a constant, and that.
fn sides<'e>(left: &'e Expr, right: &'e Expr) -> Option<(&'e Expr, &'e Value<'static>)> {
    match (left, right) {
        (of, Expr::Constant(value)) | (Expr::Constant(value), of) => Some((of, value)),
        _ => None,
    }
}

/// A string as it is stored; none where there may be other spellings: lone surrogates read as the replacement character, but are
/// stored as they came.
fn quoted(text: &str) -> Option<Box<[u8]>> {
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    let mut bytes = Vec::new();
    write_json_string(text, &mut bytes);
    Some(bytes.into())
}

/// The length of a key's value against a number. What is no string has none, but an array: that takes a look.
fn length(arguments: &[Expr], op: Comparison, number: &Number<'_>) -> Form {
    let whole = number.decimal().filter(Decimal::is_integer).and_then(|decimal| decimal.to_i64());
    match (arguments, whole) {
        // To have no length is unlike any.
        ([Expr::Slot(_)], Some(_)) if op == Comparison::NotEqual => Form::Opaque,
        ([Expr::Slot(slot)], Some(length)) => Form::Sought(Sought::Length { slot: *slot, op, length }),
        _ => Form::Opaque,
    }
}

/// The text that strings like this are, or begin with.
fn quoted_like(pattern: &Like) -> Option<Box<[u8]>> {
    match pattern.form() {
        LikeForm::Exact(text) | LikeForm::Prefix(text) => quoted(text),
        LikeForm::Suffix(_)
        | LikeForm::Contains(_)
        | LikeForm::Pieces(_)
        | LikeForm::Matched(_)
        | LikeForm::Other => None,
    }
}
