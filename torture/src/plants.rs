//! Each planted fault against the attacks that should find it: found only if the same round without the fault finds nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::attacks::{self, Attack};
use crate::campaign;
use crate::plant::Plant;
use crate::scene::{Finding, Tally};

/// Which faults, and how long they are looked for.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How long each attack looks for each fault at most
    #[arg(long, value_name = "N", default_value_t = 120)]
    seconds: u64,
    /// How many rounds each attack looks for each fault at most, rather than how long
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    rounds: Option<u64>,
    /// Only faults that this attack must find, and by no other
    #[arg(long, value_name = "ATTACK")]
    by: Option<String>,
    /// Only this fault; may be given several times
    #[arg(long, value_enum, value_name = "FAULT")]
    only: Vec<Plant>,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where the stores are made; among the temporary files unless set
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Leaves out the attacks that take root
    #[arg(long)]
    without_root: bool,
}

/// All faults.
pub(crate) fn all() -> &'static [Plant] {
    Plant::value_variants()
}

/// What came of looking for a fault with an attack.
enum Sought {
    Found {
        rounds: u64,
        what: String,
    },
    /// The attack finds as much where nothing is planted.
    Blurred {
        what: String,
    },
    NotFound {
        rounds: u64,
    },
}

/// Looks for a fault with an attack.
fn seek(attack: &dyn Attack, plant: Plant, arguments: &Arguments, folder: &Path) -> Sought {
    let tally = Arc::<Tally>::default();
    let begun = Instant::now();
    let mut rounds = 0;
    let mut blurred = None;
    let goes_on = |rounds: u64| match arguments.rounds {
        Some(most) => rounds < most,
        None => begun.elapsed() < Duration::from_secs(arguments.seconds),
    };
    while goes_on(rounds) {
        let seed = arguments.seed + rounds;
        rounds += 1;
        let (result, kept) = campaign::round(attack, seed, Some(plant), folder, &tally);
        let _ = std::fs::remove_dir_all(kept);
        let Err(Finding::Violation(what)) = result else { continue };
        let (control, kept) = campaign::round(attack, seed, None, folder, &tally);
        let _ = std::fs::remove_dir_all(kept);
        match control {
            Ok(()) => return Sought::Found { rounds, what },
            Err(_) => blurred = Some(what),
        }
    }
    match blurred {
        Some(what) => Sought::Blurred { what },
        None => Sought::NotFound { rounds },
    }
}

/// Looks for each fault. Each must be found by one of its attacks, if any of them can be made here.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let folder = crate::scratch(arguments.folder.as_ref())?;
    let mut attacks = attacks::all();
    attacks.retain(|attack| arguments.by.as_ref().is_none_or(|by| attack.name() == by));
    let mut missed = 0;
    for &plant in all().iter().filter(|plant| arguments.only.is_empty() || arguments.only.contains(plant)) {
        let mut sought = 0;
        let mut found = 0;
        let expected = attacks.iter().filter(|attack| {
            plant.found_by().iter().any(|name| {
                attack.name().strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        });
        for attack in expected {
            let obstacle = match attack.needs_root() && arguments.without_root {
                true => Some("it takes root, and --without-root is given".to_owned()),
                false => attack.obstacle(),
            };
            let said = match obstacle {
                Some(why) => format!("not run: {why}"),
                None => {
                    sought += 1;
                    match seek(&**attack, plant, arguments, &folder) {
                        Sought::Found { rounds, what } => {
                            found += 1;
                            format!("found in round {rounds}: {what}")
                        }
                        Sought::Blurred { what } => {
                            format!("not told apart, as much is found without it: {what}")
                        }
                        Sought::NotFound { rounds } => format!("NOT FOUND in {rounds} rounds"),
                    }
                }
            };
            println!("{:<17} {:<15} {said}", plant.name(), attack.name());
        }
        missed += u64::from(sought > 0 && found == 0);
    }
    let _ = std::fs::remove_dir(&folder);
    println!("{missed} planted faults were not found");
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
