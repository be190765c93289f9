//! The keys that outlive a query, for what it tells apart.

use crate::control::Control;
use crate::expr::{Expr, Printed};
use crate::key_numbers::{KeptKeys, KeyNumbers};
use crate::plan::{Aggregate, Grouping, Key};
use std::collections::HashMap;
use std::sync::Arc;

/// For each key of a grouping, and for each of its aggregates that tells values apart, the keys that outlive the query: none where they are asked for the first time, or the
/// values are no column of blocks.
#[derive(Default)]
pub(crate) struct KeptOf {
    pub(super) keys: Vec<Option<Arc<KeptKeys>>>,
    pub(super) arguments: Vec<Option<Arc<KeptKeys>>>,
}

/// A query uses numbers of keys only if that takes no more than so little of what it may hold.
const NUMBERS_SHARE: usize = 16;

impl KeptOf {
    /// Whether an aggregate's values have numbers that outlive the query.
    pub(super) fn has_numbers(&self) -> bool {
        self.arguments.iter().any(Option::is_some)
    }

    /// Asks for the keys of a grouping, once for the query. `names` are those of the slots.
    pub(super) fn of(grouping: &Grouping, names: &[Box<str>], control: &Control) -> KeptOf {
        let numbers = control.cache.as_ref().and_then(|cache| cache.key_numbers());
        let Some(numbers) = numbers.filter(|_| !control.options.plain) else { return KeptOf::default() };
        let mut asking =
            Asking { names, numbers, memory_bytes: control.options.memory_bytes, asked: HashMap::new() };
        let keys = grouping.keys.iter().map(|key| match key {
            Key::Expr { expr, .. } => asking.ask(expr),
            Key::Time(_) => None,
        });
        let keys = keys.collect();
        let arguments = grouping.aggregates.iter().map(|Aggregate { function, argument, .. }| {
            if function.counts_distinct() { asking.ask(argument) } else { None }
        });
        KeptOf { keys, arguments: arguments.collect() }
    }
}

/// Asks for each path once.
struct Asking<'a> {
    names: &'a [Box<str>],
    numbers: &'a KeyNumbers,
    memory_bytes: usize,
    asked: HashMap<String, Option<Arc<KeptKeys>>>,
}

impl Asking<'_> {
    fn ask(&mut self, expr: &Expr) -> Option<Arc<KeptKeys>> {
        let path = path_of(expr, self.names)?;
        let numbers = self.numbers;
        let kept = self.asked.entry(path).or_insert_with_key(|path| numbers.ask(path)).clone()?;
        let bytes = kept.read().len() * size_of::<u32>();
        (bytes <= self.memory_bytes / NUMBERS_SHARE).then_some(kept)
    }
}

/// The path that an expression is, or what it makes of paths, which tells it from most others: what is taken for the same has keys in common that it does not need.
fn path_of(expr: &Expr, names: &[Box<str>]) -> Option<String> {
    match expr {
        Expr::Slot(slot) => Some(names.get(*slot)?.to_string()),
        Expr::BuiltIn(built_in) => Some(format!("{built_in:?}")),
        Expr::Path(readings) => path_of(readings.first()?, names),
        Expr::Member(of, name) => Some(format!("{}.{name}", path_of(of, names)?)),
        // Texts that have that case already are the same keys.
        Expr::Call { function, arguments, .. } if matches!(function.name, "ToLower" | "ToUpper") => {
            path_of(arguments.first()?, names)
        }
        Expr::Call { .. } | Expr::ReplaceMatch { .. } | Expr::Concat(_) | Expr::If(_) | Expr::Coalesce(_) => {
            let slots: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            Some(Printed { expr, slots: &slots, locals: &[] }.to_string())
        }
        _ => None,
    }
}
