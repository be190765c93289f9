//! A loss of power on the simulated medium: what was flushed survives, of the rest any part.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tamias_store::io::{Chance, Crash, Medium, Simulated};
use tamias_store::{Options, Store};

use super::{Attack, Round};
use crate::batch::{self, Batch};
use crate::columns;
use crate::examine;
use crate::line::Line;
use crate::report::Report;
use crate::scene::{Finding, violation};
use crate::soaking::planted;
use crate::truth::{Leave, Truth};
use crate::writer::{Deletes, Step, Waits, Work, options};

/// How many losses of power are tried on what one writer has done.
const IMAGES: usize = 12;

/// A loss of power, simulated.
#[derive(Debug)]
pub(crate) struct Power;

impl Attack for Power {
    fn name(&self) -> &'static str {
        "power"
    }

    fn about(&self) -> &'static str {
        "losses of power on the simulated medium, where any part of what was not flushed survives"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let done = catch_unwind(AssertUnwindSafe(|| simulate(round)));
        done.unwrap_or_else(|_| violation("the store panicked on the simulated medium"))
    }
}

fn simulate(round: &mut Round) -> Result<(), Finding> {
    let simulated = Simulated::new();
    let waits = if round.chance.below(3) == 0 { Waits::None } else { Waits::Sync };
    let lines = run(round, &simulated, waits);
    let changes = simulated.changes();
    let mut truth = Truth::default();
    let mut medium = Medium::default();
    let (mut line, mut change) = (0, 0);
    // Moments in order, so that medium and truth only ever go on.
    let mut moments: Vec<usize> = (0..IMAGES).map(|_| round.chance.below(changes.len() + 1)).collect();
    moments.sort_unstable();
    for moment in moments {
        while let Some(next) = changes.get(change).filter(|_| change < moment) {
            medium.apply(next);
            change += 1;
        }
        while let Some((_, told)) = lines.get(line).filter(|(at, _)| *at <= moment) {
            truth.take(told, waits == Waits::Sync);
            line += 1;
        }
        let crash = Crash::ALL[round.chance.below(Crash::ALL.len())];
        let left = medium.after(crash, &mut round.chance);
        check(round, &truth, left, waits).map_err(|what| {
            Finding::Violation(format!("after {moment} changes and a loss of power ({crash:?}): {what}"))
        })?;
    }
    Ok(())
}

/// A writer's work, each line with the number of changes that the medium had seen.
fn run(round: &mut Round, simulated: &Simulated, waits: Waits) -> Vec<(usize, Line)> {
    let lines = RefCell::new(Vec::new());
    let mut tell = |line: Line| {
        if let Line::Stored(id, _) = line {
            let events = Batch::new(id).rows.len() as u64;
            round.tally.acknowledged.fetch_add(events, Ordering::Relaxed);
        }
        lines.borrow_mut().push((simulated.change_count(), line));
    };
    let mut chance = Chance(round.chance.below(1 << 40) as u64);
    let segments = columns::layout(chance.below(2) as u64);
    let options = || Options { segments, ..options(waits) };
    let open = || Store::open_on(planted(round.plant, simulated), options(), columns::codec(round.plant));
    let mut work = Work { open: &open, tell: &mut tell, next: 0, stay: 60, plant: round.plant };
    let mut store = work.open();
    for _ in 0..120 {
        let Some(open) = store else { break };
        store = work.step(open, Step::random(&mut chance, false, false, Deletes::Rarely));
    }
    drop(store);
    lines.into_inner()
}

fn check(round: &Round, truth: &Truth, left: Medium, waits: Waits) -> Result<(), String> {
    round.tally.checks.fetch_add(1, Ordering::Relaxed);
    round.tally.blows.fetch_add(1, Ordering::Relaxed);
    let simulated = Simulated::with(left);
    let store = Store::open_on(Arc::new(simulated), options(Waits::Sync), columns::codec(None));
    let store = store.map_err(|error| error.to_string())?;
    let mut report = Report::default();
    examine::look(&store.snapshot(), false, &mut report)?;
    for number in 0..batch::SOURCES {
        let name = batch::source_name(number);
        report.sources.extend(store.source_position(&name).map(|position| (name, position)));
    }
    if let Some(part) = report.damage().first() {
        return Err(format!("{} is said to be damaged: {}", part.file, part.found));
    }
    truth.compare(&report, &Leave { weak: waits != Waits::Sync, ..Leave::default() })
}
