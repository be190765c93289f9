//! All attacks in turn, for a given time or number of rounds, and the table of what came of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tamias_store::io::Chance;

use crate::attacks::{Attack, Round};
use crate::plant::Plant;
use crate::scene::{Finding, Tally};

/// How many folders of violations are kept of each attack; the others differ little.
const KEPT: u64 = 3;

/// How long, and with what.
#[derive(Debug, Clone)]
pub(crate) struct Campaign {
    pub(crate) seconds: Option<u64>,
    pub(crate) rounds: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) plant: Option<Plant>,
    pub(crate) folder: PathBuf,
    pub(crate) without_root: bool,
}

/// What came of an attack.
#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) name: &'static str,
    pub(crate) rounds: u64,
    pub(crate) tally: Arc<Tally>,
    pub(crate) violations: u64,
    /// Rounds that could not be made.
    pub(crate) broken: u64,
    pub(crate) time: Duration,
    /// Why it was not run.
    pub(crate) obstacle: Option<String>,
}

/// One round in a folder of its own, which stays where something was found.
pub(crate) fn round(
    attack: &dyn Attack,
    seed: u64,
    plant: Option<Plant>,
    folder: &Path,
    tally: &Arc<Tally>,
) -> (Result<(), Finding>, PathBuf) {
    let folder = folder.join(format!("{}-{seed}", attack.name()));
    let tally = Arc::clone(tally);
    tally.journal.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let mut round = Round { chance: Chance(seed), folder: folder.clone(), plant, tally: Arc::clone(&tally) };
    let made = std::fs::create_dir_all(&folder).map_err(Finding::from);
    let result = made.and_then(|()| attack.round(&mut round));
    if result.is_ok() {
        let _ = std::fs::remove_dir_all(&folder);
    } else {
        let journal = tally.journal.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
        let _ = std::fs::write(folder.join("journal"), journal);
    }
    (result, folder)
}

impl Campaign {
    /// Runs the attacks: the one that has had the least time has the next round.
    pub(crate) fn run(&self, attacks: &[Box<dyn Attack>]) -> Vec<Score> {
        let begun = Instant::now();
        let mut scores: Vec<Score> = attacks.iter().map(|attack| self.prepare(&**attack)).collect();
        let mut told = Instant::now();
        loop {
            let over = self.seconds.is_some_and(|seconds| begun.elapsed().as_secs() >= seconds);
            let wants = |score: &Score| {
                score.obstacle.is_none() && !over && self.rounds.is_none_or(|rounds| score.rounds < rounds)
            };
            let next = scores.iter_mut().zip(attacks).filter(|(score, _)| wants(score));
            let Some((score, attack)) = next.min_by_key(|(score, _)| score.time) else { break };
            self.one(score, &**attack);
            if told.elapsed() > Duration::from_secs(10) {
                told = Instant::now();
                progress(&scores, begun.elapsed());
            }
        }
        scores
    }

    fn prepare(&self, attack: &dyn Attack) -> Score {
        let obstacle = match attack.needs_root() && self.without_root {
            true => Some("it takes root, and --without-root is given".into()),
            false => attack.obstacle(),
        };
        Score { name: attack.name(), obstacle, ..Score::default() }
    }

    fn one(&self, score: &mut Score, attack: &dyn Attack) {
        let seed = self.seed + score.rounds;
        let begun = Instant::now();
        let (result, folder) = round(attack, seed, self.plant, &self.folder, &score.tally);
        score.rounds += 1;
        score.time += begun.elapsed();
        let Err(finding) = result else { return };
        let (word, text) = match &finding {
            Finding::Violation(text) => {
                score.violations += 1;
                ("violation", text)
            }
            Finding::Broken(text) => {
                score.broken += 1;
                ("round not made", text)
            }
        };
        if score.violations > KEPT || score.broken > KEPT {
            let _ = std::fs::remove_dir_all(&folder);
            eprintln!("{word}: {} with seed {seed}: {text}", attack.name());
        } else {
            eprintln!("{word}: {}: {text}", attack.name());
            eprintln!("    kept in {}; again with --only {} --seed {seed}", folder.display(), attack.name());
        }
    }
}

fn progress(scores: &[Score], elapsed: Duration) {
    let rounds: u64 = scores.iter().map(|score| score.rounds).sum();
    let violations: u64 = scores.iter().map(|score| score.violations).sum();
    let events: u64 = scores.iter().map(|score| score.tally.acknowledged.load(Ordering::Relaxed)).sum();
    eprintln!("{:>6} s: {rounds} rounds, {events} events, {violations} violations", elapsed.as_secs());
}

/// The table, ready to be printed.
pub(crate) fn table(scores: &[Score]) -> String {
    let mut rows = vec![["attack", "rounds", "blows", "events", "checks", "violations"].map(str::to_owned)];
    for score in scores {
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).to_string();
        let Tally { acknowledged, checks, blows, .. } = &*score.tally;
        let mut row: [String; 6] = Default::default();
        row[0] = score.name.into();
        match &score.obstacle {
            Some(why) => row[1] = format!("not run: {why}"),
            None => {
                let broken =
                    if score.broken > 0 { format!(" ({} not made)", score.broken) } else { String::new() };
                row[1] = format!("{}{broken}", score.rounds);
                row[2] = count(blows);
                row[3] = count(acknowledged);
                row[4] = count(checks);
                row[5] = score.violations.to_string();
            }
        }
        rows.push(row);
    }
    let width = |column: usize| {
        let cells = rows.iter().filter(|row| !row[1].starts_with("not run"));
        cells.map(|row| row[column].len()).max().unwrap_or(0)
    };
    let mut out = String::new();
    for row in &rows {
        if row[1].starts_with("not run") {
            out += &format!("{:<width$}  {}\n", row[0], row[1], width = width(0).max(14));
            continue;
        }
        out += &format!("{:<width$}", row[0], width = width(0).max(14));
        for (column, cell) in row.iter().enumerate().skip(1) {
            out += &format!("  {cell:>width$}", width = width(column));
        }
        out.push('\n');
    }
    out
}
