//! Stores what a program logs through [`tracing`] in a Tamias [`Store`], where the same program can query it.
//!
//! ```
//! use tamias::Store;
//! use tracing_subscriber::prelude::*;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?; // yours would be a path such as "logs"
//!     let store = Store::open(folder.path())?;
//!     let (layer, writer) = tamias_tracing::layer(store.clone())?;
//!     let subscriber = tracing_subscriber::registry().with(layer);
//!     tracing::subscriber::with_default(subscriber, || {
//!         let _order = tracing::info_span!("order", id = 42).entered();
//!         tracing::error!(amount = 19.9, "payment declined");
//!     });
//!     writer.flush()?;
//!
//!     let mut rows = store.query(
//!         "select @Message, id, amount from stream where @Level = 'Error' order by time desc limit 10",
//!     )?;
//!     let row = rows.next_row()?.expect("an error was logged");
//!     assert_eq!(row.get(0).and_then(|message| message.text()).as_deref(), Some("payment declined"));
//!     Ok(())
//! }
//! ```
//!
//! An event becomes a document in CLEF: `@t` is the time, `@l` the level (`Verbose`, `Debug`, `Information`, `Warning` or `Error`), `@m`
//! the message, `SourceContext` the target. Its fields become keys of the document, and so do the fields of the spans that contain it; inner ones
//! replace outer ones of the same name. `Span` holds the names of these spans, as in `request:order`.
//!
//! A background thread stores events in durable batches. Logging waits only while [`QUEUE_EVENTS`] events
//! or [`QUEUE_BYTES`] bytes are waiting already. A process forked after [`layer`] was called does not have this thread, so its events are lost. An event that cannot be stored is lost; [`Writer::flush`] returns the error.

mod fields;
mod writer;

use std::io;

use jiff::Timestamp;
use tamias::Store;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use fields::Fields;
use writer::Sender;

pub use writer::{QUEUE_BYTES, QUEUE_EVENTS, WriteError, Writer};

/// Creates a layer that stores events in the store, and its writer. Keep the writer as long as the program logs: when it is dropped, it stores
/// the events logged so far, and later events are lost.
///
/// # Errors
/// If the writing thread cannot be started.
pub fn layer(store: Store) -> io::Result<(StoreLayer, Writer)> {
    let (sender, writer) = writer::start(store)?;
    Ok((StoreLayer { sender }, writer))
}

/// The layer that passes events to a [`Writer`]. Add it to a registry of `tracing_subscriber`, with filters as for any other layer.
#[derive(Debug)]
pub struct StoreLayer {
    sender: Sender,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for StoreLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        fields.of_span();
        // Another store's layer has put the same there.
        span.extensions_mut().replace(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        // Before the span is locked: a value's `Debug` may log in it.
        let mut new = Fields::default();
        values.record(&mut new);
        new.of_span();
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            fields.extend(&new);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut document = Fields::default();
        let mut spans = Vec::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            spans.push(span.name());
            if let Some(fields) = span.extensions().get::<Fields>() {
                document.extend(fields);
            }
        }
        if !spans.is_empty() {
            document.set_text("Span", &spans.join(":"));
        }
        document.set_text("SourceContext", event.metadata().target());
        event.record(&mut document);
        document.set_text("@t", &Timestamp::now().to_string());
        document.set_text("@l", level(event.metadata().level()));
        self.sender.send(document.object());
    }
}

/// As CLEF calls it.
fn level(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => "Error",
        Level::WARN => "Warning",
        Level::INFO => "Information",
        Level::DEBUG => "Debug",
        _ => "Verbose",
    }
}
