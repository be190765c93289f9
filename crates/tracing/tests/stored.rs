//! What is logged is what the store holds.

#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it must be")]

use std::error::Error;
use std::path::Path;
use std::{fmt, thread};

use tamias::Store;
use tamias_tracing::{QUEUE_EVENTS, WriteError, layer};
use tracing::subscriber::with_default;
use tracing_subscriber::prelude::*;

/// The first cells of the rows of a query, as JSON.
fn rows(folder: &Path, query: &str) -> Vec<String> {
    let mut rows = Store::open_read_only(folder).unwrap().query(query).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next_row().unwrap() {
        let cell = row.get(0).and_then(|cell| cell.json().map(<[u8]>::to_vec));
        found.push(String::from_utf8(cell.unwrap_or_default()).unwrap());
    }
    found
}

#[derive(Debug)]
struct Inner;

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl Error for Inner {}

#[derive(Debug)]
struct Outer(Inner);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn events_have_their_fields_and_those_of_their_spans() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (layer, writer) = layer(store.clone()).unwrap();
    with_default(tracing_subscriber::registry().with(layer), || {
        tracing::warn!(target: "shop", text = "a \"b\"\n", yes = true, n = -7, u = u64::MAX, f = 0.5, no = f64::NAN, "low {}", 1);
        let outer = tracing::info_span!("request", id = 1, user = tracing::field::Empty);
        let _outer = outer.enter();
        outer.record("user", "Renée");
        let _inner = tracing::debug_span!("order", id = 2, r#type = "b").entered();
        let error: &(dyn Error + 'static) = &Outer(Inner);
        tracing::error!(target: "shop", error, debug = ?Some(1), "failed");
    });
    writer.flush().unwrap();
    let column = |column: &str| rows(folder.path(), &format!("select {column} from stream"));
    assert_eq!(column("@Level"), [r#""Warning""#, r#""Error""#]);
    assert_eq!(column("@Message"), [r#""low 1""#, r#""failed""#]);
    assert_eq!(column("SourceContext"), [r#""shop""#, r#""shop""#]);
    assert_eq!(
        column("[text, yes, n, u, f, no]")[0],
        r#"["a \"b\"\n",true,-7,18446744073709551615,0.5,"NaN"]"#
    );
    assert_eq!(
        column("[Span, id, user, type, error, debug]")[1],
        r#"["request:order",2,"Renée","b","no answer: timed out","Some(1)"]"#
    );
    assert_eq!(column("Span")[0], "", "outside of all spans");
    assert!(rows(folder.path(), "select @Id from stream where Now() - @Timestamp < 1h").len() == 2);
}

#[test]
fn no_event_is_lost_however_many_threads_log() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, writer) = layer(Store::open(folder.path()).unwrap()).unwrap();
    let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
    let each = QUEUE_EVENTS as u64;
    thread::scope(|scope| {
        for number in 0..3 {
            let dispatch = dispatch.clone();
            scope.spawn(move || {
                tracing::dispatcher::with_default(&dispatch, || {
                    (0..each).for_each(|n| tracing::info!(number, n, "one of many"));
                });
            });
        }
    });
    // The layer lives on; what comes later is lost, and harms nobody.
    drop(writer);
    tracing::dispatcher::with_default(&dispatch, || tracing::info!("too late"));
    let distinct = rows(folder.path(), "select count(distinct([number, n])) from stream");
    assert_eq!(distinct, [(3 * each).to_string()]);
    assert_eq!(rows(folder.path(), "select count(*) from stream"), [(3 * each).to_string()]);
    // The store is closed.
    drop(Store::open(folder.path()).unwrap());
}

#[test]
fn why_events_could_not_be_stored_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let (layer, writer) = layer(Store::open_read_only(folder.path()).unwrap()).unwrap();
    with_default(tracing_subscriber::registry().with(layer), || {
        writer.flush().unwrap();
        tracing::info!("lost");
        assert!(matches!(writer.flush(), Err(WriteError::Append(_))));
        writer.flush().unwrap();
        tracing::info!(text = "x".repeat(17 << 20), "lost too");
        assert!(matches!(writer.flush(), Err(WriteError::Rejected(_))));
    });
}

/// An argument called `message`, as of an instrumented function, is a field, and no event's message.
#[test]
fn a_message_of_a_span_is_a_field() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, writer) = layer(Store::open(folder.path()).unwrap()).unwrap();
    with_default(tracing_subscriber::registry().with(layer), || {
        let _send = tracing::info_span!("send", message = "hello").entered();
        tracing::info!(n = 1);
        tracing::info!("sent");
    });
    writer.flush().unwrap();
    assert_eq!(rows(folder.path(), "select message from stream"), [r#""hello""#, r#""hello""#]);
    assert_eq!(rows(folder.path(), "select @Message from stream"), ["", r#""sent""#]);
}
