//! `benchtool merge-stores`

use std::collections::HashSet;

use tamias::{Options, Store};

use crate::cli::MergeStoresArgs;
use crate::failure::Failure;
use crate::output_file::check_outside;
use crate::units::counted;
use crate::{output, progress};

pub(crate) fn run(args: &MergeStoresArgs) -> Result<(), Failure> {
    let mut stores = Vec::new();
    let mut folders = HashSet::new();
    for folder in &args.stores {
        let itself = folder.canonicalize().map_err(|error| Failure::file(folder, &error))?;
        if !folders.insert(itself) {
            let folder = folder.display();
            return Err(Failure::Usage(format!(
                "{folder} is named twice: each of its events would be stored twice"
            )));
        }
        check_outside(&args.into, folder)?;
        let store = Store::open_read_only(folder)?;
        super::warn_of_unnamed(&store)?;
        stores.push(store);
    }
    let options = Options { background: false, ..args.sealing.options() };
    let into = super::open(&args.into, options)?;
    let bar = progress::spinner("");
    let merged = into.merge(&stores, |events| {
        bar.set_message(format!("{events} events"));
        bar.tick();
    });
    bar.finish_and_clear();
    let line = format!("merged: {} of {}", counted(merged?, "event"), counted(stores.len() as u64, "store"));
    output::write_line(&mut output::stdout(), &line)
}
