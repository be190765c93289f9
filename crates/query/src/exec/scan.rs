//! Events, one after another: scanned, read, filtered, and handed on if they pass.

use super::group::Groups;
use super::stats::Stats;
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Event, Expr, Scope, Spare};
use crate::plan::{Events, Plan};
use crate::pushdown::{FIRST_WINDOW_EVENTS, Finder, Pruner, Settled, Verdict, window};
pub(super) use crate::source::event_count;
use crate::source::{Block, Direction};
use crate::statistics::Statistics;
use crate::value::Value;
use std::ops::{ControlFlow, Range};
use tamias_json::Offsets;
use tamias_json::search::{Documents, Match};

/// Takes the events that pass.
pub(super) trait Sink {
    /// `scope` has the event, its slots and its locals.
    fn hit<'a>(
        &mut self,
        plan: &'a Plan,
        scope: &mut Scope<'a>,
        documents: &'a [u8],
    ) -> Result<ControlFlow<()>, ExecError>;

    /// Takes what it can of the events of a window whose values were all found by searching, in any order: those that are left in
    /// `hits` come as [`hit`](Sink::hit)s. How many it took.
    fn take_all(&mut self, _window: &Window<'_, '_>, _hits: &mut Vec<Hit>) -> Result<u64, ExecError> {
        Ok(0)
    }

    /// Takes an event whose values were all found by searching, and only needs to be looked up: none if the sink cannot, and wants
    /// it as a [`hit`](Sink::hit).
    fn take(&mut self, _plan: &Plan, _found: &Found<'_>) -> Result<Option<ControlFlow<()>>, ExecError> {
        Ok(None)
    }

    /// Whether it has enough for the time being: asked now and then, when it is convenient to stop.
    fn is_full(&self) -> bool {
        false
    }
}

/// The events of a window whose values were found by searching.
pub(super) struct Window<'f, 'd> {
    pub(super) finder: &'f Finder,
    pub(super) documents: Documents<'d>,
    parts: Parts<'d>,
    /// The place of its first event in the block.
    start: usize,
}

impl Window<'_, '_> {
    /// The (instant, arrival) of an event.
    #[inline]
    pub(super) fn order(&self, index: u32) -> (u64, u64) {
        self.parts.order(self.start + index as usize)
    }
}

/// An event whose values were found by searching.
pub(super) struct Found<'f> {
    finder: &'f Finder,
    index: u32,
    /// Its (instant, arrival).
    pub(super) order: (u64, u64),
}

impl Found<'_> {
    /// Where the value of a slot stands in the block's documents; none where the event has no such key.
    #[inline]
    pub(super) fn place(&self, slot: usize) -> Option<(u32, u32)> {
        self.finder.place(slot, self.index)
    }
}

/// Allocations that are used again for each event.
pub(super) struct Worker {
    offsets: Offsets,
    spare: Spare,
    now: u64,
    finder: Option<Box<Finder>>,
    hits: Hits,
    /// The most events of the next window.
    window_events: usize,
    /// What was counted before the last event with elements was begun.
    pub(super) begun: Stats,
    /// None where nothing shall be concluded.
    pruner: Option<Pruner>,
}

/// The events of a block that are to be evaluated.
pub(super) struct Part {
    /// By their places in the block.
    pub(super) events: Range<usize>,
    settled: Settled,
}

impl Part {
    fn unsettled(events: Range<usize>) -> Part {
        Part { events, settled: Settled::default() }
    }

    /// The place of the `number`th of them in a direction.
    pub(super) fn index(&self, number: usize, direction: Direction) -> Option<usize> {
        let left = self.events.len().checked_sub(number + 1)?;
        Some(self.events.start + if direction == Direction::Ascending { number } else { left })
    }
}

/// What is run.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) plan: &'r Plan,
    pub(super) events: &'r Events,
    pub(super) control: &'r Control,
}

/// The parts of a block.
#[derive(Clone, Copy)]
struct Parts<'b> {
    documents: &'b [u8],
    ends: &'b [[u8; 4]],
    instants: &'b [[u8; 8]],
    arrivals: &'b [[u8; 8]],
}

/// The names of the ways of finding hits.
pub(super) const PLAIN: &str = "each event scanned and evaluated";
const SEARCHED: &str = "blocks searched, what is found evaluated";

impl Worker {
    /// A worker that, unless it shall go the plain way, concludes from what is known of blocks, and searches, if there is something
    /// to search for.
    pub(super) fn new(plan: &Plan, control: &Control) -> Worker {
        let (now, is_plain) = (control.now, control.options.plain);
        let pushdown = plan.pushdown.as_ref().filter(|_| !is_plain);
        Worker {
            offsets: Offsets::new(),
            spare: Spare::default(),
            now,
            finder: pushdown.and_then(Finder::new).map(Box::new),
            hits: Hits::default(),
            window_events: FIRST_WINDOW_EVENTS,
            begun: Stats::default(),
            pruner: pushdown.map(|pushdown| Pruner::new(pushdown, now)),
        }
    }

    /// Which events of a block have to be evaluated: none where none passes, or where `groups` have taken them in by what is known
    /// of them.
    pub(super) fn begin(
        &mut self,
        run: Run<'_>,
        block: &dyn Block,
        groups: Option<&mut Groups<'_>>,
        stats: &mut Stats,
    ) -> Result<Part, ExecError> {
        let count = event_count(block);
        let Some(pruner) = &mut self.pruner else { return Ok(Part::unsettled(0..count)) };
        let statistics = Statistics::of(block);
        let statistics = statistics.as_ref();
        let Verdict { events, passes, settled } = pruner.of(block, statistics);
        if passes == Some(false) {
            stats.blocks_skipped += 1;
            stats.events_skipped += count as u64;
            return Ok(Part::unsettled(0..0));
        }
        if let Some(groups) = groups
            && events.len() == count
            && let Some(hits) = groups.answer(run, pruner, block, statistics, passes == Some(true))?
        {
            stats.blocks_answered += 1;
            stats.events_answered += count as u64;
            stats.hits += hits;
            return Ok(Part::unsettled(0..0));
        }
        stats.events_skipped += (count - events.len()) as u64;
        Ok(Part { events, settled })
    }

    /// Evaluates a part of a block's events in the plan's direction, from the `from`th on, until the sink has enough.
    ///
    /// Gives the number of the event to go on with. An event with several elements may have more of them than the sink
    /// took: it is for the sink to have it begun again.
    pub(super) fn scan(
        &mut self,
        run: Run<'_>,
        block: &dyn Block,
        part: &Part,
        from: usize,
        sink: &mut impl Sink,
        stats: &mut Stats,
    ) -> Result<usize, ExecError> {
        let Run { events, control, .. } = run;
        let count = part.events.len();
        let documents = match events.reads_documents {
            true => match block.documents().map_err(ExecError::Source)? {
                Some(documents) => documents,
                None => return Ok(count),
            },
            false => &[],
        };
        // The places of events are counted in the query's direction, from an end of the block.
        let is_ascending = events.direction == Direction::Ascending;
        let Range { start, end } = part.events;
        let ends = block.ends().get(..end).unwrap_or_default();
        let statistics = self.finder.as_ref().and_then(|_| Statistics::of(block));
        if let Some(finder) = &mut self.finder {
            finder.begin(ends, statistics.as_ref(), &part.settled);
        }
        let parts = Parts { documents, ends, instants: block.instants(), arrivals: block.arrivals() };
        let (begin, stop) = if is_ascending { (start, end) } else { (0, count) };
        // Taken for the while, so that it can be used beside what is left.
        let mut finder = self.finder.take();
        let mut next = begin + from;
        let mut result = Ok(());
        while next < stop {
            if let Err(failure) = control.check() {
                result = Err(failure.into());
                break;
            }
            let window = window(ends, next, end, is_ascending, self.window_events);
            self.window_events = self.window_events.saturating_mul(2);
            let window = window.start.max(start)..window.end;
            let searches = finder.as_deref_mut().is_some_and(Finder::is_worth_it);
            let done = match finder.as_deref_mut().filter(|_| searches) {
                Some(finder) => self.search(finder, run, parts, window, sink, stats),
                None => self.each(run, parts, window, sink, stats),
            };
            match done {
                Ok((done, flow)) => {
                    next += done;
                    if flow.is_break() || sink.is_full() {
                        break;
                    }
                }
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.finder = finder;
        result.map(|()| next - begin)
    }

    /// Evaluates the events of a window one by one: how many were, and whether to go on.
    fn each(
        &mut self,
        run: Run<'_>,
        parts: Parts<'_>,
        window: Range<usize>,
        sink: &mut impl Sink,
        stats: &mut Stats,
    ) -> Result<(usize, ControlFlow<()>), ExecError> {
        stats.technique = if stats.technique.is_empty() { PLAIN } else { stats.technique };
        let events = window.len();
        for done in 1..=events {
            let index = match run.events.direction {
                Direction::Ascending => window.start + done - 1,
                Direction::Descending => window.end - done,
            };
            if !run.events.unnest.is_empty() {
                self.begun = *stats;
            }
            stats.events += 1;
            if run.events.reads_documents {
                stats.bytes += document(parts.documents, parts.ends, index).map_or(0, <[u8]>::len) as u64;
            }
            if self.event(run, parts, index, sink, stats)?.is_break() {
                return Ok((done, ControlFlow::Break(())));
            }
        }
        Ok((events, ControlFlow::Continue(())))
    }

    /// Scans and evaluates one event.
    fn event(
        &mut self,
        run: Run<'_>,
        parts: Parts<'_>,
        index: usize,
        sink: &mut impl Sink,
        stats: &mut Stats,
    ) -> Result<ControlFlow<()>, ExecError> {
        let Run { events, control, .. } = run;
        let (instant, arrival) = parts.order(index);
        let damaged = |reason: String| ExecError::Document { arrival, reason };
        let document = match events.reads_documents {
            true => {
                let bytes = document(parts.documents, parts.ends, index)
                    .ok_or_else(|| damaged("its end lies outside its block".to_owned()))?;
                Some(self.offsets.scan_trusted(bytes).map_err(|error| damaged(error.to_string()))?)
            }
            false => None,
        };
        let event = Event { document, instant, arrival };
        let mut scope = Scope::of(event, &events.names, self.now, Some(control), &mut self.spare);
        scope.read(events.names.get(..events.filter_names).unwrap_or_default(), 0);
        let mut is_read = false;
        let flow = unnested(&events.unnest, run, &mut is_read, &mut scope, parts.documents, sink, stats);
        scope.take_failure()?;
        scope.end(&mut self.spare);
        flow
    }

    /// Searches the documents of a window, and evaluates what is found: how many events were done, and whether to go on.
    fn search(
        &mut self,
        finder: &mut Finder,
        run: Run<'_>,
        parts: Parts<'_>,
        window: Range<usize>,
        sink: &mut impl Sink,
        stats: &mut Stats,
    ) -> Result<(usize, ControlFlow<()>), ExecError> {
        let Run { plan, events, control } = run;
        let Some(documents) = Documents::new(parts.documents, parts.ends) else {
            return self.each(run, parts, window, sink, stats);
        };
        stats.technique = SEARCHED;
        let documents = documents.part(window.clone());
        let mut hits = std::mem::take(&mut self.hits);
        hits.collect(finder.find(documents));
        finder.fill_condition(documents, &hits.indices);
        // What the search could not tell is evaluated from the values that it found, or else scanned.
        let is_unsure = !hits.indices.is_empty();
        hits.indices.clear();
        for hit in hits.found.iter_mut().filter(|_| is_unsure) {
            if !hit.is_certain {
                let event = parts.event(window.start + hit.index as usize);
                let mut scope = Scope::of(event, &events.names, self.now, Some(control), &mut self.spare);
                if !events.reads_whole && finder.read_condition(hit.index, documents, &mut scope) {
                    hit.is_certain = true;
                    hit.is_out = !plan.filter.as_ref().is_none_or(|filter| filter.test(&mut scope));
                }
                scope.take_failure()?;
                scope.end(&mut self.spare);
            }
        }
        if is_unsure {
            hits.found.retain(|hit| !hit.is_out);
        }
        hits.indices.extend(hits.found.iter().map(|hit| hit.index));
        if !events.reads_whole {
            finder.fill_output(documents, &hits.indices);
        }
        let count = window.len();
        let mut done = (count, ControlFlow::Continue(()));
        let mut scanned = 0;
        if !control.watch.is_timed() && !events.reads_whole {
            let found = Window { finder, documents, parts, start: window.start };
            stats.hits += sink.take_all(&found, &mut hits.found)?;
        }
        let mut scope =
            Scope::of(parts.event(window.start), &events.names, self.now, Some(control), &mut self.spare);
        for at in 0..hits.found.len() {
            let at = if events.direction == Direction::Ascending { at } else { hits.found.len() - 1 - at };
            let Some(hit) = hits.found.get(at) else { break };
            let index = window.start + hit.index as usize;
            let is_read = hit.is_certain && !events.reads_whole && finder.knows_output(hit.index);
            let flow = if is_read {
                stats.hits += 1;
                let found = Found { finder, index: hit.index, order: parts.order(index) };
                let mut act = || {
                    if let Some(flow) = sink.take(plan, &found)? {
                        return Ok(flow);
                    }
                    finder.read_output(hit.index, documents, &mut scope);
                    scope.event = Some(parts.event(index));
                    sink.hit(plan, &mut scope, parts.documents)
                };
                let flow = control.watch.hit(stats.hits, &mut act);
                scope.take_failure()?;
                flow?
            } else {
                scanned += documents.range(hit.index as usize).len() as u64;
                self.event(run, parts, index, sink, stats)?
            };
            if flow.is_break() {
                let last = hit.index as usize;
                let before = if events.direction == Direction::Ascending { last } else { count - 1 - last };
                done = (before + 1, flow);
                break;
            }
        }
        scope.end(&mut self.spare);
        let bytes = documents.bytes_of(done.0, events.direction == Direction::Ascending);
        finder.note(bytes, scanned);
        stats.events += done.0 as u64;
        stats.bytes += bytes;
        self.hits = hits;
        Ok(done)
    }
}

impl<'b> Parts<'b> {
    /// An event of which no more is known than its place in time.
    fn event(&self, index: usize) -> Event<'b> {
        let (instant, arrival) = self.order(index);
        Event { document: None, instant, arrival }
    }

    /// The (instant, arrival) of an event.
    fn order(&self, index: usize) -> (u64, u64) {
        order_at(self.instants, self.arrivals, index)
    }
}

/// The events of a window that pass, or may.
#[derive(Default)]
struct Hits {
    found: Vec<Hit>,
    /// The numbers of those whose values are looked up: at first of the uncertain ones, then of all.
    indices: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Hit {
    pub(super) index: u32,
    /// Whether it passes for sure.
    pub(super) is_certain: bool,
    is_out: bool,
}

impl Hits {
    fn collect(&mut self, matches: &[Match]) {
        // Which are hits is not to be guessed: each is written, and overwritten if it is none.
        self.found.clear();
        self.found.resize(matches.len() + 1, Hit::default());
        let mut count = 0;
        for (index, found) in (0..).zip(matches) {
            if let Some(place) = self.found.get_mut(count) {
                *place = Hit { index, is_certain: *found == Match::Yes, is_out: false };
            }
            count += usize::from(*found != Match::No);
        }
        self.found.truncate(count);
        self.indices.clear();
        let unsure = self.found.iter().filter(|hit| !hit.is_certain);
        self.indices.extend(unsure.map(|hit| hit.index));
    }
}

/// The document of an event, without its line feed.
fn document<'d>(documents: &'d [u8], ends: &[[u8; 4]], index: usize) -> Option<&'d [u8]> {
    let start = match index.checked_sub(1) {
        Some(before) => u32::from_le_bytes(*ends.get(before)?) as usize + 1,
        None => 0,
    };
    documents.get(start..u32::from_le_bytes(*ends.get(index)?) as usize)
}

/// The instant and arrival number of an event.
#[inline]
pub(super) fn order_of(block: &dyn Block, index: usize) -> (u64, u64) {
    order_at(block.instants(), block.arrivals(), index)
}

#[inline]
fn order_at(instants: &[[u8; 8]], arrivals: &[[u8; 8]], index: usize) -> (u64, u64) {
    let number = |numbers: &[[u8; 8]]| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    (number(instants), number(arrivals))
}

/// One row for each element of the collections still to be unnested; the event itself where there are none.
fn unnested<'a>(
    collections: &'a [Expr],
    run: Run<'a>,
    is_read: &mut bool,
    scope: &mut Scope<'a>,
    documents: &'a [u8],
    sink: &mut impl Sink,
    stats: &mut Stats,
) -> Result<ControlFlow<()>, ExecError> {
    if let Some((collection, others)) = collections.split_first() {
        if let Value::Array(array) = collection.eval(scope) {
            let depth = scope.locals.len();
            for element in array.iter() {
                scope.locals.push(element);
                stats.elements += u64::from(others.is_empty());
                let flow = unnested(others, run, is_read, scope, documents, sink, stats);
                scope.locals.truncate(depth);
                if flow?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        return Ok(ControlFlow::Continue(()));
    }
    if let Some(kinds) = &run.control.watch.kinds {
        kinds.tested(scope);
    }
    let passes = run.plan.filter.as_ref().is_none_or(|filter| filter.test(scope));
    if !passes || scope.failure.is_some() {
        return Ok(ControlFlow::Continue(()));
    }
    stats.hits += 1;
    if !*is_read {
        *is_read = true;
        scope.read(
            run.events.names.get(run.events.filter_names..).unwrap_or_default(),
            run.events.filter_names,
        );
    }
    if let Some(kinds) = &run.control.watch.kinds {
        kinds.passed(scope);
    }
    run.control.watch.hit(stats.hits, || sink.hit(run.plan, scope, documents))
}
