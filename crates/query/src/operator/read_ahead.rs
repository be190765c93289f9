//! The blocks of a query whose rows come in order, evaluated ahead by other threads if the query has some.
//!
//! The thread that asks for rows reads the source, hands blocks to the others before it needs them, and opens them one after
//! another. A block that nobody has begun it evaluates itself; while another thread is at the one that it needs, it
//! evaluates a later one. The others begin with those that are needed last, so that it seldom waits for one of them, even where they
//! get little of a busy processor. Few blocks are handed out at first, none before some are opened: a limit may not need them.

use super::cursor::Cursor;
use super::parallel::ALONE_BLOCKS;
use super::threads::{NAME, lock};
use crate::chunk::Order;
use crate::control::Control;
use crate::error::ExecError;
use crate::outputs::outputs;
use crate::plan::{Input, Plan};
use crate::scan::{ColumnPlan, Run, Worker};
use crate::source::Source;
use crate::stats::Stats;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// So many blocks for each thread are evaluated before they are opened.
const AHEAD: usize = 4;
/// A thread that has nothing to do is awakened once so many blocks wait: that takes about as long as a tenth of a block.
const AWAKENED: usize = AHEAD;
/// So many bytes of rows are made ahead of a block,
const AHEAD_BYTES: usize = 4 << 20;
/// and of all blocks no more than this part of what the query may hold.
const AHEAD_PART: usize = 8;

/// A block that comes, and the (instant, arrival) of its first event in the query's direction.
pub(super) struct Coming {
    pub(super) order: Order,
    number: u64,
}

pub(crate) struct ReadAhead {
    source: Box<dyn Source>,
    plan: Arc<Plan>,
    control: Arc<Control>,
    /// Groups that are read and not asked for yet, and what was counted of them.
    groups: VecDeque<(Vec<Coming>, Stats)>,
    /// The end of the source, or its error, which comes after those groups.
    end: Option<Result<(), ExecError>>,
    /// The blocks that are neither opened nor handed to another thread, in order.
    here: VecDeque<(u64, Cursor)>,
    /// How many blocks there have been, how many are opened, and how many are handed out and not opened yet.
    read: u64,
    opened: u64,
    handed: u64,
    crew: Option<Crew>,
    most_handed: u64,
}

impl ReadAhead {
    pub(crate) fn new(source: Box<dyn Source>, plan: Arc<Plan>, control: Arc<Control>) -> ReadAhead {
        let most_handed = match control.options.threads.get() {
            1 => 0,
            threads => threads.saturating_mul(AHEAD) as u64,
        };
        ReadAhead {
            source,
            plan,
            control,
            groups: VecDeque::new(),
            end: None,
            here: VecDeque::new(),
            read: 0,
            opened: 0,
            handed: 0,
            crew: None,
            most_handed,
        }
    }

    /// The next group of blocks; none after the last. Blocks without events that may pass are left out.
    pub(super) fn next_group(
        &mut self,
        run: Run<'_>,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<Option<Vec<Coming>>, ExecError> {
        if self.groups.is_empty() {
            self.read_group(run, worker);
        }
        match self.groups.pop_front() {
            Some((group, counted)) => {
                stats.add(&counted);
                Ok(Some(group))
            }
            None => self.end.replace(Ok(())).unwrap_or(Ok(())).map(|()| None),
        }
    }

    /// Reads a group from the source, unless that has ended.
    fn read_group(&mut self, run: Run<'_>, worker: &mut Worker) {
        if self.end.is_some() {
            return;
        }
        let mut group = Vec::new();
        let mut counted = Stats::default();
        let read = run.control.check().map_err(ExecError::from).and_then(|()| {
            let Some(blocks) = self.source.next_group().map_err(ExecError::Source)? else { return Ok(false) };
            for block in blocks {
                run.control.check()?;
                let part = worker.prune(&*block, &mut counted)?.part;
                let cursor = Cursor::new(block, part, self.plan.columns.len());
                if let Some(order) = cursor.next_order(run.events.direction) {
                    self.read += 1;
                    group.push(Coming { order, number: self.read });
                    self.here.push_back((self.read, cursor));
                }
            }
            Ok(true)
        });
        match read {
            Ok(true) => self.groups.push_back((group, counted)),
            Ok(false) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(error)),
        }
    }

    /// Opens a block: its cursor with the first rows made, at most `wanted`.
    pub(super) fn open(
        &mut self,
        coming: &Coming,
        run: Run<'_>,
        wanted: u64,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<Option<Cursor>, ExecError> {
        let place = self.here.binary_search_by_key(&coming.number, |(number, _)| *number);
        let cursor = place.ok().and_then(|at| self.here.remove(at)).map(|(_, cursor)| cursor);
        self.hand_out(run, wanted, worker);
        self.opened += 1;
        let mut cursor = match (cursor, &self.crew) {
            (Some(cursor), _) => cursor,
            (None, Some(crew)) => {
                let Some((cursor, counted)) = crew.take(coming.number, run, worker) else { return Ok(None) };
                self.handed -= 1;
                stats.add(&counted);
                cursor
            }
            (None, None) => return Ok(None),
        };
        cursor.fill(run, wanted, worker, stats)?;
        Ok(Some(cursor))
    }

    /// Hands blocks to the other threads: after the first few as many as were opened, so that it is more the further the query goes.
    /// No more groups than that are read ahead for it.
    fn hand_out(&mut self, run: Run<'_>, wanted: u64, worker: &mut Worker) {
        let most = (self.opened + 1).saturating_sub(ALONE_BLOCKS).min(self.most_handed);
        while self.handed < most {
            match self.here.pop_front() {
                Some((number, cursor)) => {
                    let crew = self
                        .crew
                        .get_or_insert_with(|| Crew::new(&self.plan, &self.control, worker.columns()));
                    crew.hand(number, cursor, wanted);
                    self.handed += 1;
                }
                None if self.end.is_none() && (self.groups.len() as u64) < most => {
                    self.read_group(run, worker)
                }
                None => return,
            }
        }
    }
}

/// So many bytes of rows are made ahead of a block.
fn ahead_bytes(control: &Control) -> usize {
    let blocks = control.options.threads.get() * AHEAD;
    AHEAD_BYTES.min(control.options.memory_bytes / AHEAD_PART / blocks)
}

/// Threads that evaluate blocks. They end with it.
struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of a query share.
struct Shared {
    plan: Arc<Plan>,
    control: Arc<Control>,
    columns: Option<Arc<ColumnPlan>>,
    state: Mutex<State>,
    /// There is a block to be evaluated, or the query is over.
    has_work: Condvar,
    /// A block is evaluated.
    has_made: Condvar,
}

#[derive(Default)]
struct State {
    /// The blocks that are handed out and not opened yet, by their numbers, in order.
    blocks: VecDeque<(u64, Stage)>,
    /// How many rows may be asked for, no matter of which block.
    wanted: u64,
    /// How many threads wait for a block to be evaluated.
    idle: usize,
    /// Whether the thread that opens blocks waits for one.
    is_awaited: bool,
    is_over: bool,
}

enum Stage {
    Waiting(Cursor),
    Begun,
    Made(Made),
}

/// A block with rows made, and what was counted of it; or the panic that it ended with.
type Made = thread::Result<(Cursor, Stats)>;

impl State {
    /// How many blocks nobody has begun.
    fn waiting(&self) -> usize {
        self.blocks.iter().filter(|(_, stage)| matches!(stage, Stage::Waiting(_))).count()
    }

    /// The block to be evaluated next by the thread that opens them: that which is needed first.
    fn begin_first(&mut self) -> Option<(u64, Cursor)> {
        self.blocks.iter_mut().find_map(State::begin)
    }

    /// The block to be evaluated next by another thread: that which is needed last.
    fn begin_last(&mut self) -> Option<(u64, Cursor)> {
        self.blocks.iter_mut().rev().find_map(State::begin)
    }

    fn begin((number, stage): &mut (u64, Stage)) -> Option<(u64, Cursor)> {
        if !matches!(stage, Stage::Waiting(_)) {
            return None;
        }
        match std::mem::replace(stage, Stage::Begun) {
            Stage::Waiting(cursor) => Some((*number, cursor)),
            _ => None,
        }
    }

    fn put(&mut self, number: u64, made: Made) {
        if let Some((_, stage)) = self.blocks.iter_mut().find(|(known, _)| *known == number) {
            *stage = Stage::Made(made);
        }
    }
}

impl Crew {
    fn new(plan: &Arc<Plan>, control: &Arc<Control>, columns: Option<Arc<ColumnPlan>>) -> Crew {
        let shared = Arc::new(Shared {
            plan: plan.clone(),
            control: control.clone(),
            columns,
            state: Mutex::default(),
            has_work: Condvar::new(),
            has_made: Condvar::new(),
        });
        // A thread that the system does not give is done without.
        let threads: Vec<_> = (1..control.options.threads.get())
            .map_while(|_| {
                let shared = shared.clone();
                thread::Builder::new().name(NAME.to_owned()).spawn(move || shared.work()).ok()
            })
            .collect();
        control.profile.has_others.store(!threads.is_empty(), Relaxed);
        Crew { threads, shared }
    }

    /// Has a block evaluated.
    fn hand(&self, number: u64, cursor: Cursor, wanted: u64) {
        let mut state = lock(&self.shared.state);
        state.wanted = wanted;
        state.blocks.push_back((number, Stage::Waiting(cursor)));
        let is_worth_it = state.idle > 0 && state.waiting() >= AWAKENED;
        drop(state);
        if is_worth_it {
            self.shared.has_work.notify_one();
        }
    }

    /// Takes back a block that was handed out, as far as it is evaluated by now if no thread is at it.
    fn take(&self, number: u64, run: Run<'_>, worker: &mut Worker) -> Option<(Cursor, Stats)> {
        let mut state = lock(&self.shared.state);
        loop {
            let at = state.blocks.iter().position(|(known, _)| *known == number)?;
            let is_begun = matches!(state.blocks.get(at), Some((_, Stage::Begun)));
            if !is_begun {
                return match state.blocks.remove(at)?.1 {
                    Stage::Waiting(cursor) => Some((cursor, Stats::default())),
                    Stage::Made(Ok(made)) => Some(made),
                    Stage::Made(Err(panic)) => {
                        drop(state);
                        resume_unwind(panic)
                    }
                    Stage::Begun => None,
                };
            }
            if let Some((other, cursor)) = state.begin_first() {
                let wanted = state.wanted;
                drop(state);
                let made = cursor.evaluated_ahead(run, wanted, ahead_bytes(run.control), worker);
                state = lock(&self.shared.state);
                state.put(other, Ok(made));
            } else {
                let waiting = run.control.profile.start();
                state.is_awaited = true;
                state = self.shared.has_made.wait(state).unwrap_or_else(PoisonError::into_inner);
                run.control.profile.waited(waiting);
            }
        }
    }
}

impl Shared {
    /// What each thread does.
    fn work(&self) {
        let Shared { plan, control, columns, .. } = self;
        let Input::Events(events) = &plan.input else { return };
        let outputs = outputs(plan);
        let run = Run { plan, events, outputs: &outputs, control };
        let mut worker = Worker::with(plan, control, columns.clone());
        let mut state = lock(&self.state);
        while !state.is_over {
            let Some((number, cursor)) = state.begin_last() else {
                state.idle += 1;
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let wanted = state.wanted;
            drop(state);
            let started = control.profile.start();
            // The thread that opens the block goes on with the panic.
            let made = catch_unwind(AssertUnwindSafe(|| {
                cursor.evaluated_ahead(run, wanted, ahead_bytes(control), &mut worker)
            }));
            control.profile.took(started);
            let is_broken = made.is_err();
            state = lock(&self.state);
            state.put(number, made);
            if std::mem::take(&mut state.is_awaited) {
                self.has_made.notify_one();
            }
            if is_broken {
                return;
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        lock(&self.shared.state).is_over = true;
        self.shared.has_work.notify_all();
        // What they are at is not wanted any more.
        let is_abandoned = &self.shared.control.interrupt.is_abandoned;
        is_abandoned.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            // Their panics are caught where they evaluate; there is nobody to tell of another.
            let _ = thread.join();
        }
        // The query goes on with the rows that it has.
        is_abandoned.store(false, Relaxed);
    }
}
