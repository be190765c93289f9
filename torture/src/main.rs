//! Attacks on a store from outside: kills, losses of power, bad sectors, full disks, damage, and what other hands do to its files.
//! Whatever is acknowledged is remembered, and after each attack the store is compared with it.
#![forbid(unsafe_code)]

mod attacks;
mod batch;
mod campaign;
mod child;
mod columns;
mod devices;
mod examine;
mod files;
mod line;
mod plant;
mod plants;
mod remains;
mod report;
mod scene;
mod soaking;
mod truth;
mod writer;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use attacks::Attack;
use campaign::Campaign;
use plant::Plant;

/// Attacks a store from outside, in turn, and compares it with what was acknowledged.
///
/// The table goes to the standard output, everything else to the standard error. The exit code is 0 if every promise held, 1 if one was
/// broken or a planted fault not found, 2 if an attack could not be made though nothing stood in its way.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, clap::Args)]
struct Run {
    /// How long; a minute unless set, or as long as the rounds take
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// How many rounds of each attack
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Only this attack; may be given several times
    #[arg(long, value_name = "ATTACK")]
    only: Vec<String>,
    /// Plants a fault between the store and its medium
    #[arg(long, value_enum, value_name = "FAULT")]
    plant: Option<Plant>,
    /// Where the random numbers begin; anew each time unless set
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Where the stores are made; among the temporary files unless set
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Leaves out what takes root
    #[arg(long)]
    without_root: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plants each fault in turn, and tells which attack finds it
    Plants(plants::Arguments),
    /// Lists the attacks and the faults that can be planted
    List,
    #[command(hide = true)]
    Writer(writer::Arguments),
    #[command(hide = true)]
    Examine(examine::Arguments),
}

fn main() -> ExitCode {
    let Cli { command, run } = Cli::parse();
    let result = match command {
        None => attack(run),
        Some(Command::Plants(arguments)) => plants::run(&arguments),
        Some(Command::List) => {
            list();
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Writer(arguments)) => writer::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Examine(arguments)) => examine::run(&arguments).map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("torture: {error}");
        ExitCode::from(2)
    })
}

/// A seed that no one has chosen.
fn any_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()) % 1_000_000_000
}

/// The attacks of these names, or all.
fn chosen(only: &[String]) -> Result<Vec<Box<dyn Attack>>, String> {
    let all = attacks::all();
    if let Some(unknown) = only.iter().find(|only| all.iter().all(|attack| attack.name() != *only)) {
        let names: Vec<&str> = all.iter().map(|attack| attack.name()).collect();
        return Err(format!("no attack is called {unknown:?}; give one of {}", names.join(", ")));
    }
    Ok(all
        .into_iter()
        .filter(|attack| only.is_empty() || only.iter().any(|only| only == attack.name()))
        .collect())
}

/// A folder for stores. What is kept of them stays; an empty one goes.
fn scratch(folder: Option<&PathBuf>) -> Result<PathBuf, String> {
    let parent = folder.cloned().unwrap_or_else(std::env::temp_dir);
    let made = std::fs::create_dir_all(&parent)
        .and_then(|()| tempfile::Builder::new().prefix("torture-").tempdir_in(&parent));
    made.map(tempfile::TempDir::keep)
        .map_err(|error| format!("cannot make a folder in {}: {error}", parent.display()))
}

fn attack(run: Run) -> Result<ExitCode, String> {
    let attacks = chosen(&run.only)?;
    let folder = scratch(run.folder.as_ref())?;
    let campaign = Campaign {
        seconds: run.seconds.or(if run.rounds.is_none() { Some(60) } else { None }),
        rounds: run.rounds,
        seed: run.seed.unwrap_or_else(any_seed),
        plant: run.plant,
        folder: folder.clone(),
        without_root: run.without_root,
    };
    eprintln!("seed {}, in {}", campaign.seed, folder.display());
    let scores = campaign.run(&attacks);
    // It is empty unless something was found.
    let _ = std::fs::remove_dir(&folder);
    print!("{}", campaign::table(&scores));
    println!("seed {}", campaign.seed);
    Ok(match scores.iter().fold((0, 0), |sums, score| (sums.0 + score.violations, sums.1 + score.broken)) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(2),
        _ => ExitCode::from(1),
    })
}

fn list() {
    println!("attacks:");
    for attack in attacks::all() {
        let root = if attack.needs_root() { " (takes root)" } else { "" };
        println!("  {:<15} {}{root}", attack.name(), attack.about());
    }
    println!("faults to plant:");
    for plant in plants::all() {
        println!("  {:<17} {}; found by {}", plant.name(), plant.about(), plant.found_by().join(", "));
    }
}
