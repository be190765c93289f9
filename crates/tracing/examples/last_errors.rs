//! A program that logs through `tracing` and asks its own log for the last ten errors.
//!
//! ```sh
//! cargo run -p tamias-tracing --example last_errors -- my-logs
//! ```

use std::error::Error;

use tamias::Store;
use tracing_subscriber::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "my-logs".to_owned());
    // One process at a time writes to a store; a second one gets an error here.
    let store = Store::open(&folder)?;
    let (layer, writer) = tamias_tracing::layer(store.clone())?;
    tracing_subscriber::registry().with(layer).try_init()?;

    for order in 1..=3 {
        if let Err(error) = deliver(order) {
            tracing::error!(error = &*error, order, "delivery failed");
        }
    }

    // Everything logged so far is on disk after this, or here is the reason why not.
    writer.flush()?;
    let mut rows = store.query(
        "select @Timestamp, @Message, error from stream where @Level = 'Error' order by time desc limit 10",
    )?;
    while let Some(row) = rows.next_row()? {
        println!(
            "{}",
            row.cells()
                .map(|cell| cell.text().unwrap_or_default().into_owned())
                .collect::<Vec<_>>()
                .join("  ")
        );
    }
    Ok(())
}

fn deliver(order: u32) -> Result<(), Box<dyn Error>> {
    let _span = tracing::info_span!("deliver", order).entered();
    tracing::info!("packing");
    let weight: f64 = ["2.5", "heavy", "1.25"].get(order as usize - 1).ok_or("no such order")?.parse()?;
    tracing::info!(weight, "delivered");
    Ok(())
}
