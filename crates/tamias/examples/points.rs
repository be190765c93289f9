//! How long it takes to read little of a store: single events, their neighbours, the latest hundred. Prints the median and the slowest of
//! a hundred calls, first on blocks that were not read before, then on the same again.
//!
//! ```sh
//! cargo run --release -p tamias --example points -- <store>
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use tamias::{EventId, Start, Store};

/// How many events are read, spread over the store.
const CALLS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("which store?")?;
    let ids = ids(&Store::open_read_only(&folder)?)?;
    for what in [get, around, latest] {
        // Nothing is decoded in a store that was just opened.
        let store = Store::open_read_only(&folder)?;
        let name = what(&store, ids[0], false)?;
        for round in ["first", "again"] {
            let mut times: Vec<Duration> = Vec::new();
            for id in &ids {
                let begun = Instant::now();
                what(&store, *id, true)?;
                times.push(begun.elapsed());
            }
            times.sort();
            let of = |at: usize| times.get(at).copied().unwrap_or_default().as_micros();
            println!("| {name} | {round} | {} µs | {} µs |", of(times.len() / 2), of(times.len() - 1));
        }
    }
    Ok(())
}

/// Ids of events from all over the store.
fn ids(store: &Store) -> Result<Vec<EventId>, Box<dyn Error>> {
    let total = usize::try_from(store.info()?.events)?;
    let step = (total / CALLS).max(1);
    let mut ids = Vec::new();
    let mut start = Start::Earliest;
    loop {
        let page = store.page(start, step)?;
        ids.extend(page.events.first().map(|event| event.id));
        match page.next {
            Some(next) if ids.len() < CALLS => start = Start::Continue(next),
            _ => return Ok(ids),
        }
    }
}

/// What is measured; only its name, if it is not to be done.
type Work = Result<&'static str, Box<dyn Error>>;

fn get(store: &Store, id: EventId, go: bool) -> Work {
    if go && store.get(id)?.is_none() {
        return Err("an event is missing".into());
    }
    Ok("`get`")
}

fn around(store: &Store, id: EventId, go: bool) -> Work {
    if go {
        store.around(id, 5, 5)?;
    }
    Ok("`around`, five before and five after")
}

fn latest(store: &Store, _: EventId, go: bool) -> Work {
    if go {
        store.page(Start::Latest, 100)?;
    }
    Ok("the latest hundred")
}
