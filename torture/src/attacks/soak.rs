//! One store through everything: written by processes that are killed, on a medium that loses power and whose calls fail, deleted from and
//! erased, bounded, backed up and restored; and after each step of the way compared with what it must hold.

use super::{Attack, Round, delete, kill};
use crate::examine::Task;
use crate::files;
use crate::remains;
use crate::scene::{Finding, Plan, Scene, violation};
use crate::soaking::Soaking;
use crate::truth::{Leave, Truth};

/// How many parts the life of a store has.
const PARTS: usize = 8;

/// How many steps there are in each part on the simulated medium.
const STEPS: usize = 40;

/// Everything, one after another, with one store.
#[derive(Debug)]
pub(crate) struct Soak;

impl Attack for Soak {
    fn name(&self) -> &'static str {
        "soak"
    }

    fn about(&self) -> &'static str {
        "one store through everything: late events, sealing, compaction, bounds, deletion, erasing, backups, readers, kills, losses of power, failing calls"
    }

    fn round(&self, round: &mut Round) -> Result<(), Finding> {
        let mut life = Life { scene: round.scene("store 0"), backup: None, stores: 0 };
        for part in 0..PARTS {
            let chance = life.scene.chance.below(6);
            match chance {
                _ if part == 0 => life.on_medium()?,
                0..3 => life.on_medium()?,
                3 => life.by_processes()?,
                4 => kill::beside(&mut life.scene)?,
                _ => life.back_up(round)?,
            }
            if life.scene.truth.batches.is_empty() {
                continue;
            }
            kill::check(&mut life.scene, Task::Open)?;
            let contents = files::read(&life.scene.folder)?;
            remains::check(&life.scene.truth, &contents).map_err(Finding::Violation)?;
        }
        delete::erased(&mut life.scene)?;
        kill::check(&mut life.scene, Task::Open)
    }
}

/// A store, and what is kept of it elsewhere.
struct Life {
    scene: Scene,
    /// What the backup holds.
    backup: Option<Truth>,
    /// How often the store was restored.
    stores: u64,
}

impl Life {
    /// Steps on the simulated medium.
    fn on_medium(&mut self) -> Result<(), Finding> {
        let scene = &mut self.scene;
        let contents =
            if scene.folder.is_dir() { files::read(&scene.folder)? } else { files::Contents::new() };
        scene.tally.note(format!("{STEPS} steps on a simulated medium"));
        let left = Soaking::run(scene, contents, STEPS)?;
        let _ = std::fs::remove_dir_all(&scene.folder);
        files::write(&scene.folder, &left)?;
        Ok(())
    }

    /// Two processes write, one after another, until they are killed.
    fn by_processes(&mut self) -> Result<(), Finding> {
        for _ in 0..2 {
            let plan = Plan { steps: 40, ..kill::plan(&mut self.scene) };
            self.scene.write(&plan)?;
        }
        Ok(())
    }

    /// Takes a backup, or goes on with the one that there is, as after the loss of the store.
    fn back_up(&mut self, round: &Round) -> Result<(), Finding> {
        let to = round.folder.join(format!("backup {}", self.stores));
        if self.scene.chance.below(2) == 0
            && let Some(truth) = self.backup.take()
        {
            self.stores += 1;
            let from = std::mem::replace(
                &mut self.scene.folder,
                round.folder.join(format!("store {}", self.stores)),
            );
            self.scene.next = self.scene.next.max(self.scene.truth.next());
            self.scene.truth = truth;
            copied(&self.scene, Task::Restore, &to, &self.scene.folder)?;
            std::fs::remove_dir_all(from)?;
            return Ok(());
        }
        // Only now is it known which of the latest batches are there.
        kill::check(&mut self.scene, Task::Open)?;
        if self.scene.truth.batches.is_empty() {
            return Ok(());
        }
        copied(&self.scene, Task::Backup, &self.scene.folder, &to)?;
        self.scene.fork(to).check(Task::Read, &Leave { sources: true, ..Leave::default() })?;
        self.backup = Some(self.scene.truth.clone());
        Ok(())
    }
}

/// Has a process take or restore a backup.
fn copied(scene: &Scene, task: Task, from: &std::path::Path, to: &std::path::Path) -> Result<(), Finding> {
    let child = scene.start_examining(task, from, &[format!("--to={}", to.display())])?;
    match scene.hear_out(child, crate::report::Report::default())?.error {
        Some(error) => violation(format!("a backup cannot be taken or restored: {error}")),
        None => Ok(()),
    }
}
