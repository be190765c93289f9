//! The attacks: each does one kind of harm, round after round, and compares what is left with what was promised.

mod backup;
mod damage;
mod delete;
mod foreign;
mod full;
mod kill;
mod limit;
mod linked;
mod missing;
mod power;
mod room;
mod sectors;
mod shutdown;
mod soak;
mod stale;
mod writers;

use std::path::PathBuf;
use std::sync::Arc;

use tamias_store::io::Chance;

use crate::plant::Plant;
use crate::scene::{Finding, Scene, Tally};
use crate::truth::Truth;

/// A kind of harm.
pub(crate) trait Attack {
    /// What it is called on the command line and in the table.
    fn name(&self) -> &'static str;
    /// What it does, in a sentence.
    fn about(&self) -> &'static str;
    /// Whether it works with loop devices or mounts.
    fn needs_root(&self) -> bool {
        false
    }
    /// Why it cannot be made here.
    fn obstacle(&self) -> Option<String> {
        None
    }
    /// Does harm once, and checks.
    fn round(&self, round: &mut Round) -> Result<(), Finding>;
}

/// What one round has to itself.
#[derive(Debug)]
pub(crate) struct Round {
    /// Its random numbers.
    pub(crate) chance: Chance,
    /// An empty folder.
    pub(crate) folder: PathBuf,
    /// A fault on the way to the medium.
    pub(crate) plant: Option<Plant>,
    /// What is counted.
    pub(crate) tally: Arc<Tally>,
}

impl Round {
    /// A store that does not exist yet, in a folder within the round's own.
    pub(crate) fn scene(&mut self, name: &str) -> Scene {
        self.scene_in(self.folder.join(name))
    }

    /// A store that does not exist yet, in any folder.
    pub(crate) fn scene_in(&mut self, folder: PathBuf) -> Scene {
        Scene {
            folder,
            truth: Truth::default(),
            chance: Chance(self.chance.below(1 << 40) as u64),
            plant: self.plant,
            tally: Arc::clone(&self.tally),
            next: 0,
        }
    }
}

/// All of them, in the order of the table.
pub(crate) fn all() -> Vec<Box<dyn Attack>> {
    let mut all: Vec<Box<dyn Attack>> =
        vec![Box::new(soak::Soak), Box::new(kill::Kill), Box::new(delete::Delete)];
    all.push(Box::new(backup::Backup));
    all.push(Box::new(power::Power));
    all.extend(shutdown::all());
    all.push(Box::new(sectors::Simulated));
    all.push(Box::new(sectors::Btrfs));
    all.push(Box::new(sectors::Cut));
    all.push(Box::new(limit::Limit));
    all.extend(full::all());
    all.extend(room::all());
    all.push(Box::new(damage::Damage));
    all.push(Box::new(stale::Stale));
    all.push(Box::new(foreign::Foreign));
    all.push(Box::new(linked::Linked));
    all.push(Box::new(missing::Missing));
    all.push(Box::new(writers::Writers));
    all
}
