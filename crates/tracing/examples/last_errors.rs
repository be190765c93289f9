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

    for order_id in 1..=3 {
        if let Err(error) = deliver(order_id) {
            tracing::error!(error = &*error, order_id, "delivery failed");
        }
    }

    // Everything logged so far is on disk after this, or here is the reason why not.
    writer.flush()?;
    // In the library an instant is a number; `ToIsoString` makes it readable.
    let mut rows = store.query(
        "select ToIsoString(@Timestamp) as at, @Message, order_id, error from stream where @Level = 'Error' \
         order by time desc limit 10",
    )?;
    while let Some(row) = rows.next_row()? {
        let cells = row.cells().map(|cell| match cell.text() {
            Some(text) => text.into_owned(),
            None => cell.json().map(String::from_utf8_lossy).unwrap_or_default().into_owned(),
        });
        println!("{}", cells.collect::<Vec<_>>().join("  "));
    }
    Ok(())
}

fn deliver(order_id: u32) -> Result<(), Box<dyn Error>> {
    let _span = tracing::info_span!("deliver", order_id).entered();
    tracing::info!("packing");
    let weight: f64 = ["2.5", "heavy", "1.25"].get(order_id as usize - 1).ok_or("no such order")?.parse()?;
    tracing::info!(weight, "delivered");
    Ok(())
}
