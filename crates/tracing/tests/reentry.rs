//! A value that logs while it is logged. A process of its own, as only a subscriber of the whole process hears of that.

use std::fmt;
use std::sync::mpsc;
use std::time::Duration;

use tamias::Store;
use tamias_tracing::layer;
use tracing_subscriber::prelude::*;

/// As a value that is loaded when it is looked at.
struct Lazy;

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tracing::info!("loading");
        f.write_str("loaded")
    }
}

/// The thread used to wait for itself.
#[test]
fn a_value_may_log_within_the_span_that_it_is_recorded_in() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (layer, writer) = layer(store.clone()).unwrap();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let span = tracing::info_span!("request", value = tracing::field::Empty);
        let _span = span.enter();
        span.record("value", tracing::field::debug(&Lazy));
        tracing::info!("then");
        done.send(()).unwrap();
    });
    assert_eq!(is_done.recv_timeout(Duration::from_secs(20)), Ok(()));
    writer.flush().unwrap();
    let mut rows = store.query("select @Message, value from stream order by time").unwrap();
    let mut shown = Vec::new();
    while let Some(row) = rows.next_row().unwrap() {
        shown.push([0, 1].map(|cell| row.get(cell).and_then(|cell| Some(cell.text()?.into_owned()))));
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(shown, [[text("loading"), None], [text("then"), text("loaded")]]);
}
