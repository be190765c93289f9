//! Built-ins that are computed: what an event says of itself beyond the values that it stores.

use super::scope::Scope;
use crate::value::{Object, VALUE_BYTES_MAX, Value};
use crate::{template, time};
use rust_decimal::Decimal;

/// A built-in that is more than a stored value. The numbers are slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    Timestamp,
    Level { level: usize },
    Message { message: usize, template: usize, renderings: usize },
    EventType { event_type: usize, template: usize },
    Start { start: usize },
    Elapsed { start: usize },
    Id,
    Arrived,
    Properties,
    Data,
}

/// The level of an event that tells none.
pub(crate) const DEFAULT_LEVEL: &str = "Information";
const LEVEL_AS_JSON: &str = "\"Information\"";

impl Computed {
    /// The slot whose value it is, and as JSON what it is of events that have none there, if it is no more than that.
    pub(crate) fn stored(self) -> Option<(usize, &'static str)> {
        match self {
            Computed::Level { level } => Some((level, LEVEL_AS_JSON)),
            _ => None,
        }
    }

    /// The slots that it is computed from.
    pub(crate) fn slots(self) -> Vec<usize> {
        match self {
            Computed::Level { level } => vec![level],
            Computed::Message { message, template, renderings } => vec![message, template, renderings],
            Computed::EventType { event_type, template } => vec![event_type, template],
            Computed::Start { start } | Computed::Elapsed { start } => vec![start],
            Computed::Timestamp
            | Computed::Id
            | Computed::Arrived
            | Computed::Properties
            | Computed::Data => Vec::new(),
        }
    }

    pub(super) fn eval<'a>(self, scope: &mut Scope<'a>) -> Value<'a> {
        let Some(event) = scope.event else {
            return Value::Undefined;
        };
        let slot = |slot: usize| Value::maybe(scope.slot(slot));
        match self {
            Computed::Timestamp => Value::from(event.instant),
            Computed::Arrived => Value::from(event.arrival),
            Computed::Id => {
                let mut id = Vec::with_capacity(32);
                write_event_id(event.instant, event.arrival, &mut id);
                Value::from(String::from_utf8(id).unwrap_or_default())
            }
            Computed::Data => Value::from_option(event.document.map(Object::Stored)),
            Computed::Properties => match event.document.map(Object::properties) {
                Some(None) => scope.too_large("@Properties"),
                properties => Value::from_option(properties.flatten()),
            },
            Computed::Level { level } => match slot(level) {
                Value::Undefined => Value::from(DEFAULT_LEVEL),
                level => level,
            },
            Computed::Start { start } => Value::from_option(started(&slot(start))),
            Computed::Elapsed { start } => {
                let start = started(&slot(start)).map(Decimal::from);
                Value::from_option(start.map(|start| Decimal::from(event.instant) - start))
            }
            Computed::EventType { event_type, template } => match (slot(event_type), slot(template)) {
                (Value::Undefined, Value::Text(text)) => {
                    Value::from(format!("{:08x}", template::event_type(&text.text())))
                }
                (event_type, _) => event_type,
            },
            Computed::Message { message, template, renderings } => {
                match (slot(message), slot(template), event.document) {
                    (Value::Undefined, Value::Text(text), Some(document)) => {
                        let (properties, renderings) = (Object::Properties(document), slot(renderings));
                        let charge = &mut |units| scope.charge(units);
                        match template::render(
                            &text.text(),
                            &properties,
                            &renderings,
                            VALUE_BYTES_MAX,
                            charge,
                        ) {
                            Some(rendered) => Value::from(rendered),
                            None => scope.too_large("@Message"),
                        }
                    }
                    (message, ..) => message,
                }
            }
        }
    }
}

fn started(start: &Value<'_>) -> Option<u64> {
    match start {
        Value::Text(text) => time::parse_instant(&text.text()),
        _ => None,
    }
}

/// Appends what identifies an event: its instant and its arrival number, in 16 hexadecimal digits each.
pub(crate) fn write_event_id(instant: u64, arrival: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let number = u128::from(instant) << u64::BITS | u128::from(arrival);
    let digits: [u8; 32] = std::array::from_fn(|at| DIGITS[(number >> (124 - 4 * at)) as usize & 15]);
    out.extend_from_slice(&digits);
}
