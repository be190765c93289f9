//! A plan's condition and outputs over the paths of a block in columns: each path that they read is a slot.

use super::best::{Beginning, Best};
use super::members::{self, collect_members, path_of, slots_of_members, spelled};
use super::messages::{Messages, put_messages, reads_more_than_messages};
use super::of_array::asks_of_arrays;
use super::standing::TimesAsked;
use crate::chunk::Form;
use crate::column_block::{Array, Path};
use crate::expr::{Computed, Expr};
use crate::outputs::Output;
use crate::places::Places;
use crate::plan::{Aggregate, Events, Key, Output as PlanOutput, Plan};
use crate::value::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a plan asks of columns.
#[derive(Clone)]
pub(crate) struct ColumnPlan {
    /// The paths of the slots: keys as documents spell them. Those of the plan's names come first.
    pub(super) paths: Vec<Path>,
    pub(super) unnest: Option<Unnest>,
    /// The collections that are unnested within that, each for every element of the one before. Elements are the values of the slots behind its own.
    pub(super) within: Vec<Expr>,
    /// Whether it asks something of arrays that a block's columns may tell.
    pub(super) asks_of_arrays: bool,
    /// Whether it asks for members of dotted paths, whose readings are told block by block.
    pub(super) has_members: bool,
    /// What the condition asks of events alone, before anything is unnested.
    pub(super) event_filter: Option<Expr>,
    /// What it asks of rows.
    pub(super) filter: Option<Expr>,
    pub(super) outputs: Vec<Output>,
    pub(super) wants: Wanted,
    /// Whether all documents are wanted, unless an order leaves most of them out.
    pub(super) is_whole: bool,
    /// The first values of that order in the blocks before.
    pub(super) best: Arc<Best>,
    /// Where only the first rows of an order are wanted.
    pub(super) beginning: Option<Beginning>,
    /// Of a block no more rows are wanted, the first ones, where each of them takes a while to make.
    pub(super) rows_max: Option<usize>,
    pub(super) times: TimesAsked,
    /// Whether it makes no difference which event of a block has what: one path is asked about, and nothing of order.
    pub(super) in_any_order: bool,
    /// The slots of paths of which nothing is asked but whether something stands there.
    pub(super) presence: Vec<usize>,
    /// The slots of paths whose values are told apart as keys, and nothing else.
    pub(super) keys: Vec<usize>,
    /// Whether it looks into documents themselves.
    reads_documents: bool,
    /// Where it asks for messages.
    pub(super) messages: Option<Messages>,
}

/// The collection whose elements are the rows.
#[derive(Clone)]
pub(super) enum Unnest {
    /// The values of an expression. Elements are the values of the slot behind those of all paths.
    Values(Expr),
    /// Arrays whose elements have columns, each with the level of the rows that have it: 0 of events, 1 of the elements of the first of these arrays, and so on. The
    /// rows are elements of the last, once for each row before that has them.
    Elements(Vec<(usize, Array)>),
}

/// What is wanted of the rows that pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// How many they are.
    Count,
    /// All of a block together, for groups.
    Block,
    /// A portion after the other, in the query's direction.
    Rows,
}

/// So many documents of a block are put together without the others, where they are the first or the last ones.
const FIRST_MAX: usize = 2048;

/// What the last operator takes of rows, and what of their times.
fn wanted(plan: &Plan, outputs: &[Output], exprs_need_event: bool) -> (Wanted, TimesAsked) {
    match &plan.output {
        PlanOutput::Rows { .. } => (Wanted::Rows, TimesAsked::Instants),
        PlanOutput::Groups(grouping) => {
            let has_order = |of: &Aggregate| of.function.depends_on_order();
            let is_interval = |key: &Key| matches!(key, Key::Time(_));
            let times = if exprs_need_event || grouping.keys.iter().any(is_interval) {
                TimesAsked::Instants
            } else if !grouping.keys.is_empty() || grouping.aggregates.iter().any(has_order) {
                TimesAsked::Order
            } else {
                TimesAsked::Nothing
            };
            let counts = outputs.iter().all(|output| output.form == Form::Nothing);
            let is_count = counts && times == TimesAsked::Nothing;
            (if is_count { Wanted::Count } else { Wanted::Block }, times)
        }
    }
}

impl ColumnPlan {
    /// None where documents have to be put together.
    pub(crate) fn of(plan: &Plan, events: &Events, outputs: &[Output]) -> Option<ColumnPlan> {
        // Collections are unnested to columns where columns tell all else.
        let unnests = events.unnest.len();
        if unnests > 0 && events.reads_whole() {
            return None;
        }
        let beginning = Beginning::of(plan);
        let rows_max = match &plan.output {
            PlanOutput::Rows { sort, .. } if sort.is_empty() && events.output_reads_whole => plan.limit,
            PlanOutput::Rows { .. } | PlanOutput::Groups(_) => None,
        };
        let rows_max = rows_max.and_then(|most| usize::try_from(most).ok());
        let mut paths: Vec<Path> = events.names.iter().map(|name| [spelled(name)].into()).collect();
        let mut exprs: Vec<Expr> = outputs.iter().map(|output| output.expr.clone()).collect();
        let (event_filter, filter) = match (&plan.filter, unnests) {
            (Some(filter), 1..) => filter.split_for_events(),
            (filter, _) => (None, filter.clone()),
        };
        let (has_event_filter, has_filter) = (event_filter.is_some(), filter.is_some());
        exprs.extend(event_filter.into_iter().chain(filter));
        exprs.extend(events.unnest.iter().cloned());
        // Of documents that are all wanted as they are, columns spare nothing.
        let is_whole =
            events.output_reads_whole && plan.filter.is_none() && exprs.iter().any(reads_more_than_messages);
        let spares_nothing = is_whole && beginning.is_none() && rows_max.is_none_or(|most| most > FIRST_MAX);
        if spares_nothing {
            return None;
        }
        let messages = exprs.iter().find_map(Messages::of);
        for expr in &exprs {
            collect(expr, &events.names, &mut paths);
        }
        for expr in &mut exprs {
            rewrite(expr, &events.names, &paths);
        }
        let mut collections = exprs.split_off(exprs.len() - unnests);
        for (nth, collection) in collections.iter_mut().enumerate() {
            (0..nth).for_each(|outer| bind_element(collection, paths.len() + outer));
        }
        for expr in &mut exprs {
            (0..unnests).for_each(|nth| bind_element(expr, paths.len() + nth));
        }
        let mut collections = collections.into_iter();
        let unnest = collections.next();
        let within: Vec<Expr> = collections.collect();
        // U+FFFD is what a lone surrogate in a document's key is read as, which is spelled otherwise.
        if paths.iter().any(|path| path.iter().any(|key| key.contains('\u{FFFD}'))) {
            return None;
        }
        let exprs_need_event = exprs.iter().chain(&unnest).chain(&within).any(needs_event);
        let reads_documents = exprs.iter().any(reads_document);
        let asks_of_arrays = unnest.is_some() || exprs.iter().any(asks_of_arrays);
        let all = || exprs.iter().chain(&unnest).chain(&within);
        let has_members = all().any(members::has_members);
        let asked = Asked::of(all(), outputs, tells_keys_apart(plan), &paths);
        let (presence, keys) = (asked.presence(paths.len()), asked.keys());
        let filter = if has_filter { exprs.pop() } else { None };
        let event_filter = if has_event_filter { exprs.pop() } else { None };
        let outputs: Vec<Output> =
            outputs.iter().zip(exprs).map(|(output, expr)| output.with(expr)).collect();
        let (wants, times) = wanted(plan, &outputs, exprs_need_event);
        let in_any_order =
            paths.len() == 1 && !asks_of_arrays && wants != Wanted::Rows && times == TimesAsked::Nothing;
        Some(ColumnPlan {
            paths,
            unnest: unnest.map(Unnest::Values),
            within,
            asks_of_arrays,
            has_members,
            is_whole,
            best: Arc::default(),
            event_filter,
            filter,
            outputs,
            wants,
            beginning,
            rows_max,
            times,
            in_any_order: in_any_order && !reads_documents,
            presence,
            keys,
            reads_documents,
            messages,
        })
    }

    /// The value that rows come behind which are not wanted, as others that were found come before them, and whether the order is descending; none as long as all
    /// are wanted.
    pub(crate) fn bound(&self) -> Option<(Value<'static>, bool)> {
        let by = self.beginning?;
        Some((self.best.bound(by)?, by.descending))
    }

    /// Whether the columns of a block of text tell it, and queries before have asked for their paths; takes note that this one does. What looks into
    /// documents is searched for in them.
    pub(crate) fn is_told_by_text(&self, kept: &Places) -> bool {
        !self.reads_documents && kept.columns().ask(&self.paths)
    }

    /// The paths of templates and of messages, in this order, where it asks for messages.
    pub(super) fn message_paths(&self) -> Option<(&Path, &Path)> {
        let Messages { message, template, .. } = self.messages?;
        Some((self.paths.get(template)?, self.paths.get(message)?))
    }

    /// The same for a block of which each message is stored, or is undefined.
    pub(super) fn with_stored_messages(&self) -> ColumnPlan {
        let mut plan = ColumnPlan { messages: None, ..self.clone() };
        if let Some(messages) = self.messages {
            plan.exprs_mut().for_each(|expr| put_messages(expr, messages.message));
        }
        plan.is_whole &= plan.outputs.iter().any(|output| reads_document(&output.expr));
        plan
    }

    /// The slots of paths of which nothing is asked but whether something stands there, as a block answers it by arrays and what else it has columns of; some of these
    /// have conditions of their own.
    pub(super) fn presence_beside<'e>(&'e self, conditions: impl Iterator<Item = &'e Expr>) -> Vec<usize> {
        let mut read = BTreeSet::new();
        let exprs = self.exprs().chain(self.collection()).chain(&self.within);
        exprs.chain(conditions).for_each(|expr| collect_read(expr, &self.paths, &mut read));
        (0..self.paths.len()).filter(|slot| !read.contains(slot)).collect()
    }

    /// The conditions, and what outputs are made of.
    pub(super) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let conditions = self.event_filter.iter().chain(&self.filter);
        conditions.chain(self.outputs.iter().map(|output| &output.expr))
    }

    /// The same, to be changed.
    pub(super) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let conditions = self.event_filter.iter_mut().chain(&mut self.filter);
        conditions.chain(self.outputs.iter_mut().map(|output| &mut output.expr))
    }

    /// The collections that are unnested, where they are the values of expressions, to be changed.
    pub(super) fn collections_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let first = match &mut self.unnest {
            Some(Unnest::Values(collection)) => Some(collection),
            Some(Unnest::Elements(_)) | None => None,
        };
        first.into_iter().chain(&mut self.within)
    }

    /// The collection that is unnested, where it is the values of an expression.
    pub(super) fn collection(&self) -> Option<&Expr> {
        match &self.unnest {
            Some(Unnest::Values(collection)) => Some(collection),
            Some(Unnest::Elements(_)) | None => None,
        }
    }

    /// The paths that are read of a block once events of it may pass; without those of rows that are sorted, of which few blocks have any in the end.
    pub(crate) fn paths_ahead(&self, plan: &Plan) -> Vec<Path> {
        let has_few_rows = matches!(&plan.output, PlanOutput::Rows { sort, .. } if !sort.is_empty());
        let outputs = self.outputs.iter().map(|output| &output.expr);
        let conditions = self.event_filter.iter().chain(&self.filter);
        let is_filtered = self.event_filter.is_some() || self.filter.is_some();
        let exprs: Vec<&Expr> = match has_few_rows && plan.limit.is_some() && is_filtered {
            true => conditions.collect(),
            false => conditions.chain(self.collection()).chain(outputs).collect(),
        };
        let slots: BTreeSet<usize> = exprs.into_iter().flat_map(slots_of).collect();
        // Whether something stands at a path is told without its columns.
        let slots = slots.into_iter().filter(|slot| !self.presence.contains(slot));
        slots.filter_map(|slot| self.paths.get(slot).cloned()).collect()
    }

    /// Whether the times of events are read of all blocks.
    pub(crate) fn reads_times(&self) -> bool {
        self.times == TimesAsked::Instants
    }
}

fn collect(expr: &Expr, names: &[Box<str>], paths: &mut Vec<Path>) {
    match path_of(expr, names) {
        Some(path) if !paths.contains(&path) => paths.push(path),
        Some(_) => {}
        None => match collect_members(expr, names, paths) {
            Some(readings) => readings.iter().for_each(|reading| collect(reading, names, paths)),
            None => expr.children().into_iter().for_each(|child| collect(child, names, paths)),
        },
    }
}

fn rewrite(expr: &mut Expr, names: &[Box<str>], paths: &[Path]) {
    match path_of(expr, names) {
        Some(path) => *expr = Expr::Slot(paths.iter().position(|known| *known == path).unwrap_or_default()),
        None => expr.children_mut().into_iter().for_each(|child| rewrite(child, names, paths)),
    }
}

/// Makes the first of the locals, which is an element, the value of a slot.
pub(super) fn bind_element(expr: &mut Expr, slot: usize) {
    match expr {
        Expr::Local(0) => *expr = Expr::Slot(slot),
        Expr::Local(local) => *local -= 1,
        other => other.children_mut().into_iter().for_each(|child| bind_element(child, slot)),
    }
}

/// Whether an expression looks at more of an event than its slots.
pub(super) fn needs_event(expr: &Expr) -> bool {
    match expr {
        Expr::BuiltIn(Computed::Level { .. } | Computed::Start { .. } | Computed::EventType { .. }) => false,
        Expr::BuiltIn(_) => true,
        other => other.children().into_iter().any(needs_event),
    }
}

/// Whether an expression looks into the document itself.
pub(super) fn reads_document(expr: &Expr) -> bool {
    match expr {
        Expr::BuiltIn(Computed::Data | Computed::Properties | Computed::Message { .. }) => true,
        other => other.children().into_iter().any(reads_document),
    }
}

/// Whether an expression makes texts of texts, or looks for a place in them, which takes longer than to look for a text in many.
pub(super) fn makes_texts(expr: &Expr) -> bool {
    /// Those functions of strings.
    const NAMES: [&str; 8] =
        ["FromJson", "IndexOf", "LastIndexOf", "Replace", "Substring", "ToJson", "ToLower", "ToUpper"];
    match expr {
        Expr::ReplaceMatch { .. } | Expr::IndexOfMatch { .. } | Expr::Concat(_) => true,
        Expr::Call { function, .. } if NAMES.contains(&function.name) => true,
        other => other.children().into_iter().any(makes_texts),
    }
}

/// Whether an expression is `Has`, which is true or false.
pub(super) fn is_has(expr: &Expr) -> bool {
    matches!(expr, Expr::Call { function, .. } if function.name == "Has")
}

/// The slots of paths, by what is asked of them.
struct Asked {
    /// Those that are read.
    read: BTreeSet<usize>,
    /// Those whose values are told apart as keys.
    of_keys: BTreeSet<usize>,
}

impl Asked {
    /// What expressions ask, those of outputs first.
    fn of<'e>(
        exprs: impl Iterator<Item = &'e Expr>,
        outputs: &[Output],
        tells_keys_apart: bool,
        paths: &[Path],
    ) -> Asked {
        let (mut read, mut of_keys) = (BTreeSet::new(), BTreeSet::new());
        for (nth, expr) in exprs.enumerate() {
            let is_key = tells_keys_apart
                && outputs.get(nth).is_some_and(|output| output.form == Form::Keys)
                && is_place(expr);
            collect_read(expr, paths, if is_key { &mut of_keys } else { &mut read });
        }
        Asked { read, of_keys }
    }

    /// Those of which nothing is asked but whether something stands there, of so many paths.
    fn presence(&self, paths: usize) -> Vec<usize> {
        (0..paths).filter(|slot| !self.read.contains(slot) && !self.of_keys.contains(slot)).collect()
    }

    /// Those whose values are told apart as keys, and nothing else.
    fn keys(&self) -> Vec<usize> {
        self.of_keys.difference(&self.read).copied().collect()
    }
}

/// Whether groups have one key, or values without groups are told apart: those of many groups are looked at otherwise.
fn tells_keys_apart(plan: &Plan) -> bool {
    let PlanOutput::Groups(grouping) = &plan.output else { return false };
    let counts_distinct = grouping.aggregates.iter().any(|aggregate| aggregate.function.counts_distinct());
    match grouping.keys.as_slice() {
        [] => counts_distinct,
        [Key::Expr { ci: false, .. }] => !counts_distinct,
        _ => false,
    }
}

/// Whether an expression is what stands at a path.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Slot(_) => true,
        Expr::Path(readings) => readings.iter().all(|reading| matches!(reading, Expr::Slot(_))),
        _ => false,
    }
}

/// Adds the slots of which an expression asks more than whether something stands there.
fn collect_read(expr: &Expr, paths: &[Path], read: &mut BTreeSet<usize>) {
    if let Some((readings, slots)) = slots_of_members(expr, paths) {
        read.extend(slots);
        readings.iter().for_each(|reading| collect_read(reading, paths, read));
        return;
    }
    match expr {
        Expr::IsNull(of, _) if is_place(of) => {}
        Expr::Call { arguments, .. } if is_has(expr) && arguments.iter().all(is_place) => {}
        Expr::Slot(slot) => drop(read.insert(*slot)),
        Expr::BuiltIn(computed) => read.extend(computed.slots()),
        other => other.children().into_iter().for_each(|child| collect_read(child, paths, read)),
    }
}

/// The slots that an expression reads, each once.
pub(super) fn slots_of(expr: &Expr) -> Vec<usize> {
    fn walk(expr: &Expr, found: &mut Vec<usize>) {
        match expr {
            Expr::Slot(slot) => found.push(*slot),
            Expr::BuiltIn(computed) => found.extend(computed.slots()),
            other => other.children().into_iter().for_each(|child| walk(child, found)),
        }
    }
    let mut found = Vec::new();
    walk(expr, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}
