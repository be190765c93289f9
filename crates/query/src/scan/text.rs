//! A block of documents: searched a window of events at a time, and scanned event by event where that cannot tell.

use super::block_scan::{BlockScan, Part, Position, Run};
use super::buffers::{Buffers, Hit, collect};
use super::direct::{is_direct, push_direct};
use super::event::Emitter;
use super::parts::Parts;
use super::worker::Worker;
use crate::chunk::Columns;
use crate::error::ExecError;
use crate::expr::{Event, Scope};
use crate::outputs::check_row;
use crate::pushdown::{Finder, window};
use crate::source::{Block, Direction};
use crate::statistics::Statistics;
use crate::stats::{Stats, Technique};
use crate::stored::Documents;
use std::ops::Range;
use tamias_json::{Value, search};

/// A scan of a block's documents.
pub(crate) struct TextScan<'b, 'w> {
    run: Run<'w>,
    worker: &'w mut Worker,
    parts: Parts<'b>,
    /// The events that are scanned, by their places in the block.
    events: Range<usize>,
    position: Position,
}

impl<'b, 'w> TextScan<'b, 'w> {
    /// A scan of a part of a block from a position on; none if its documents are to be left out. Documents that have the keys of the plan stand for
    /// those of the block. The block's statistics are read if they are not given.
    pub(crate) fn new(
        run: Run<'w>,
        worker: &'w mut Worker,
        block: &'b dyn Block,
        partial: Option<Documents<'b>>,
        part: &Part,
        statistics: Option<&Statistics<'_>>,
        position: Position,
    ) -> Result<Option<TextScan<'b, 'w>>, ExecError> {
        let Some(times) = block.times().map_err(ExecError::Source)? else { return Ok(None) };
        let documents = match run.events.reads_documents {
            true if partial.is_some() => partial.unwrap_or_default(),
            true => match block.documents().map_err(ExecError::Source)? {
                Some(documents) => documents,
                None => return Ok(None),
            },
            false => Documents::default(),
        };
        let ends = if documents.ends.len() < part.events.end { &[] } else { documents.ends };
        if let Some(finder) = &mut worker.finder
            && worker.begun.replace(part.number) != Some(part.number)
            && let Some(documents) = search::Documents::new(documents.bytes, ends)
        {
            let places = block.places();
            match statistics {
                Some(_) => finder.begin(documents, statistics, &part.settled, places),
                None => finder.begin(documents, Statistics::of(block).as_ref(), &part.settled, places),
            }
        }
        let parts = Parts { documents: documents.bytes, ends, times };
        Ok(Some(TextScan { run, worker, parts, events: part.events.clone(), position }))
    }

    fn is_ascending(&self) -> bool {
        self.run.events.direction == Direction::Ascending
    }

    /// The next events that are looked at together, by their places in the block.
    fn window(&self) -> Range<usize> {
        let Range { start, end } = self.events.clone();
        // They are counted in the query's direction, from an end of the block.
        let is_ascending = self.is_ascending();
        let takes_whole = self.worker.finder.as_ref().is_some_and(|finder| finder.takes_whole_blocks());
        if takes_whole && self.position.is_start() {
            return start..end;
        }
        if !self.run.events.reads_documents {
            let events = self.worker.window_events.min(self.events.len() - self.position.events);
            let first =
                if is_ascending { start + self.position.events } else { end - self.position.events - events };
            return first..first + events;
        }
        let next = self.position.events + if is_ascending { start } else { 0 };
        let window = window(self.parts.ends, next, end, is_ascending, self.worker.window_events);
        window.start.max(start)..window.end
    }

    /// Evaluates the events of a window one by one, until the columns have enough.
    fn each(
        &mut self,
        window: Range<usize>,
        columns: &mut Columns,
        wanted: u64,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        stats.technique.get_or_insert(Technique::Plain);
        for done in 1..=window.len() {
            let index = if self.is_ascending() { window.start + done - 1 } else { window.end - done };
            if self.position.within.is_empty() {
                stats.events += 1;
                if self.run.events.reads_documents {
                    stats.bytes += self.parts.document(index).map_or(0, <[u8]>::len) as u64;
                }
            }
            self.event(index, columns, wanted, stats)?;
            if !self.position.within.is_empty() || has_enough(columns, wanted) {
                break;
            }
        }
        Ok(())
    }

    /// Scans and evaluates one event, the next one or one that is not counted: the position goes on.
    fn event(
        &mut self,
        index: usize,
        columns: &mut Columns,
        wanted: u64,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        let TextScan { run, worker, parts, position, .. } = self;
        let run = *run;
        let (instant, arrival) = parts.order(index);
        let damaged = |reason: String| ExecError::Document { arrival, reason };
        let document = match run.events.reads_documents {
            true => {
                let bytes = parts
                    .document(index)
                    .ok_or_else(|| damaged("its end lies outside its block".to_owned()))?;
                let scanned = worker.offsets.scan_trusted(bytes);
                Some(scanned.map_err(|error| damaged(error.to_string()))?)
            }
            false => None,
        };
        let event = Event { document, instant, arrival };
        let mut scope =
            Scope::of(event, &run.events.names, worker.now, Some(&*run.control.interrupt), &mut worker.spare);
        let mut emitter = Emitter::new(run, parts.documents, position, columns, wanted, stats);
        let left = emitter.event(&mut scope);
        scope.end(&mut worker.spare);
        match left? {
            Some(within) => position.within = within,
            None => {
                position.within.clear();
                position.events += 1;
            }
        }
        Ok(())
    }

    /// Searches the documents of a window, and evaluates what is found, until the columns have enough.
    fn search(
        &mut self,
        finder: &mut Finder,
        documents: search::Documents<'b>,
        window: Range<usize>,
        columns: &mut Columns,
        wanted: u64,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        stats.technique = Some(Technique::Search);
        let is_ascending = self.is_ascending();
        let mut buffers = std::mem::take(&mut self.worker.buffers);
        let all_known = self.find(finder, documents, &window, &mut buffers)?;
        let first = self.position.events;
        let mut scanned = 0;
        let room = wanted.saturating_sub(columns.len() as u64);
        let last = if all_known {
            if !is_ascending {
                buffers.indices.reverse();
            }
            buffers.indices.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            self.known(finder, documents, &window, &mut buffers, columns)?;
            stats.hits += buffers.indices.len() as u64;
            buffers.indices.last().copied().filter(|_| has_enough(columns, wanted))
        } else {
            self.hits(finder, documents, &window, &mut buffers, columns, wanted, (stats, &mut scanned))?
        };
        let done = match last {
            Some(last) if is_ascending => last as usize + 1,
            Some(last) => window.len() - last as usize,
            None => window.len(),
        };
        self.position.events = first + done;
        let bytes = documents.bytes_of(done, is_ascending);
        finder.note(bytes, scanned);
        stats.events += done as u64;
        stats.bytes += bytes;
        self.worker.buffers = buffers;
        Ok(())
    }

    /// Adds the rows of those events of a window that pass, or may: the last of them that was taken, where the columns have enough then. Counts
    /// the bytes of documents that were scanned.
    #[expect(clippy::too_many_arguments, reason = "a part of `search`, with all that it has in hand")]
    fn hits(
        &mut self,
        finder: &Finder,
        documents: search::Documents<'b>,
        window: &Range<usize>,
        buffers: &mut Buffers,
        columns: &mut Columns,
        wanted: u64,
        (stats, scanned): (&mut Stats, &mut u64),
    ) -> Result<Option<u32>, ExecError> {
        let reads_whole = self.run.events.output_reads_whole;
        let is_known = |hit: &Hit| hit.is_certain && !reads_whole && finder.knows_output(hit.index);
        if !self.is_ascending() {
            buffers.hits.reverse();
        }
        let mut at = 0;
        while let Some(hit) = buffers.hits.get(at).copied() {
            let room = usize::try_from(wanted.saturating_sub(columns.len() as u64)).unwrap_or(usize::MAX);
            let left = buffers.hits.get(at..).unwrap_or_default();
            let known = left.iter().take(room).position(|hit| !is_known(hit)).unwrap_or(left.len().min(room));
            buffers.indices.clear();
            buffers.indices.extend(left.iter().take(known).map(|hit| hit.index));
            self.known(finder, documents, window, buffers, columns)?;
            at += buffers.indices.len();
            stats.hits += buffers.indices.len() as u64;
            let last = match buffers.indices.last().copied() {
                Some(last) => last,
                None => {
                    at += 1;
                    *scanned += documents.range(hit.index as usize).len() as u64;
                    self.event(window.start + hit.index as usize, columns, wanted, stats)?;
                    hit.index
                }
            };
            if has_enough(columns, wanted) {
                return Ok(Some(last));
            }
        }
        Ok(None)
    }

    /// Finds the events of a window that pass, or may, and where the values stand that rows are made of: whether they surely pass and all of
    /// their values were found.
    fn find(
        &mut self,
        finder: &mut Finder,
        documents: search::Documents<'b>,
        window: &Range<usize>,
        buffers: &mut Buffers,
    ) -> Result<bool, ExecError> {
        let Run { plan, events, control, .. } = self.run;
        let Buffers { hits, indices, .. } = buffers;
        let matches = finder.find(documents);
        if plan.filter.is_none() && !events.output_reads_whole {
            indices.clear();
            indices.extend(0..matches.len() as u32);
            finder.fill_output(documents, indices);
            let all_known = finder.knows_all_outputs(indices);
            if !all_known {
                hits.clear();
                hits.extend(indices.iter().map(|index| Hit { index: *index, is_certain: true }));
            }
            return Ok(all_known);
        }
        collect(hits, matches);
        indices.clear();
        indices.extend(hits.iter().filter(|hit| !hit.is_certain).map(|hit| hit.index));
        if !indices.is_empty() && !events.condition_reads_whole {
            finder.fill_condition(documents, indices);
            // What the search could not tell is evaluated from the values that it found, or else scanned.
            let mut failed = Ok(());
            let worker = &mut *self.worker;
            hits.retain_mut(|hit| {
                if hit.is_certain || failed.is_err() {
                    return true;
                }
                let event = self.parts.event(window.start + hit.index as usize);
                let mut scope =
                    Scope::of(event, &events.names, worker.now, Some(&*control.interrupt), &mut worker.spare);
                let mut passes = true;
                let mut is_known = finder.read_condition(hit.index, documents, &mut scope);
                if !is_known
                    && let Some((slot, text)) = finder.read_around_nested(hit.index, documents, &mut scope)
                {
                    // It takes less to scan than the document that it is in.
                    if let Ok(value) = Value::scan_trusted(text, &mut worker.offsets) {
                        scope.set(slot, Some(value));
                        is_known = true;
                    }
                }
                if is_known {
                    hit.is_certain = true;
                    passes = plan.filter.as_ref().is_none_or(|filter| filter.test(&mut scope));
                }
                failed = scope.take_failure();
                scope.end(&mut worker.spare);
                passes
            });
            failed?;
        }
        if !events.output_reads_whole {
            indices.clear();
            indices.extend(hits.iter().map(|hit| hit.index));
            finder.fill_output(documents, indices);
        }
        let are_certain = !events.output_reads_whole && hits.iter().all(|hit| hit.is_certain);
        Ok(are_certain && finder.knows_all_outputs(indices))
    }

    /// Adds the rows of events that pass and whose values were all found: `indices`, in the query's direction.
    fn known(
        &mut self,
        finder: &Finder,
        documents: search::Documents<'b>,
        window: &Range<usize>,
        buffers: &mut Buffers,
        columns: &mut Columns,
    ) -> Result<(), ExecError> {
        let profile = &self.run.control.profile;
        let hits = buffers.indices.len() as u64;
        profile.hits(hits, || {
            let first = columns.len();
            let outputs = self.run.outputs.iter().enumerate();
            buffers.computed.clear();
            let computed = outputs.filter(|(_, output)| !is_direct(output, finder, &buffers.indices));
            buffers.computed.extend(computed.map(|(column, _)| column));
            if buffers.computed.is_empty() {
                columns.begin_rows(self.parts.orders(window.clone(), &buffers.indices));
            } else {
                let rows = self.computed(finder, documents, window, buffers, columns)?;
                buffers.indices.truncate(rows);
            }
            for (column, output) in self.run.outputs.iter().enumerate() {
                if !buffers.computed.contains(&column) {
                    push_direct(finder, documents, buffers, first, column, output, columns);
                }
            }
            Ok(())
        })
    }

    /// Begins the rows of some events, and evaluates those outputs that are more than stored values: how many rows, since it ends early where
    /// there is much text.
    fn computed(
        &mut self,
        finder: &Finder,
        documents: search::Documents<'b>,
        window: &Range<usize>,
        buffers: &Buffers,
        columns: &mut Columns,
    ) -> Result<usize, ExecError> {
        let Run { events, control, outputs, .. } = self.run;
        let event = self.parts.event(window.start);
        let worker = &mut *self.worker;
        let mut scope =
            Scope::of(event, &events.names, worker.now, Some(&*control.interrupt), &mut worker.spare);
        let mut rows = 0;
        for index in &buffers.indices {
            finder.read_output(*index, documents, &mut scope);
            let event = self.parts.event(window.start + *index as usize);
            scope.event = Some(event);
            let row = columns.begin_row((event.instant, event.arrival));
            let before = columns.text_len();
            for column in buffers.computed.iter().copied() {
                let Some(output) = outputs.get(column) else { continue };
                let value = output.expr.eval(&mut scope);
                columns.push(column, row, &value, self.parts.documents);
                check_row(columns.text_len() - before, Some(event.arrival))?;
            }
            scope.take_failure()?;
            rows += 1;
            if columns.has_much_text() {
                break;
            }
        }
        scope.end(&mut worker.spare);
        Ok(rows)
    }
}

impl BlockScan for TextScan<'_, '_> {
    fn next(&mut self, columns: &mut Columns, wanted: u64, stats: &mut Stats) -> Result<bool, ExecError> {
        if self.position.events >= self.events.len() {
            return Ok(false);
        }
        self.run.control.check()?;
        let window = self.window();
        self.worker.window_events = self.worker.window_events.saturating_mul(2);
        let mut finder = self.worker.finder.take();
        let documents = search::Documents::new(self.parts.documents, self.parts.ends);
        let is_searched =
            self.run.events.reads_documents && finder.as_deref_mut().is_some_and(Finder::is_worth_it);
        let done = match finder.as_deref_mut().filter(|_| is_searched).zip(documents) {
            Some((finder, documents)) => {
                let documents = documents.part(window.clone());
                self.search(finder, documents, window, columns, wanted, stats)
            }
            None => self.each(window, columns, wanted, stats),
        };
        self.worker.finder = finder;
        done.map(|()| self.position.events < self.events.len())
    }

    fn documents(&self) -> Option<&[u8]> {
        Some(self.parts.documents)
    }

    fn position(&self) -> Position {
        self.position.clone()
    }
}

/// Whether columns have as many rows as are wanted, or so much text that they are handed on.
fn has_enough(columns: &Columns, wanted: u64) -> bool {
    columns.len() as u64 >= wanted || columns.has_much_text()
}
