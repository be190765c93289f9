//! What a place in the shop's programs is that writes events: they share their keys and their order.

use crate::value::Kind;

/// One place that writes events.
#[derive(Debug)]
pub(crate) struct Template {
    /// How often, beside the weights of the others.
    pub(crate) weight: u32,
    /// The message template: holes are the keys of properties, in braces, `:0.0000` after one for four digits.
    pub(crate) text: &'static str,
    /// `None` is Information, which CLEF leaves out.
    pub(crate) level: Option<&'static str>,
    /// What else stands beside the template: bits of `TRACE`, `TYPE`, `EXCEPTION`.
    pub(crate) extras: u8,
    pub(crate) properties: &'static [Property],
}

/// The event has a trace and a span: `@tr`, `@sp`.
pub(crate) const TRACE: u8 = 1;
/// The event has the hash of its template: `@i`.
pub(crate) const TYPE: u8 = 2;
/// The event has a stack trace: `@x`.
pub(crate) const EXCEPTION: u8 = 4;

/// A key with its kind of value.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    /// In so many of a thousand events of the template.
    pub(crate) permille: u64,
}

pub(crate) const fn has(key: &'static str, kind: Kind) -> Property {
    Property { key, kind, permille: 1000 }
}

pub(crate) const fn may_have(permille: u64, key: &'static str, kind: Kind) -> Property {
    Property { key, kind, permille }
}

pub(crate) const MESSAGE: Property = has("Message", Kind::Message);
pub(crate) const WEB: Property = has("Application", Kind::Json("\"Shop.Web\""));
pub(crate) const API: Property = has("Application", Kind::Json("\"Shop.Api\""));
pub(crate) const WORKER: Property = has("Application", Kind::Json("\"Shop.Worker\""));
pub(crate) const PAYMENTS: Property = has("Application", Kind::Json("\"Shop.Payments\""));
pub(crate) const ENVIRONMENT: Property = has("Environment", Kind::OneOf(&["Production", "Staging", "Test"]));
pub(crate) const MACHINE: Property =
    has("MachineName", Kind::OneOf(&["web-01", "web-02", "web-03", "web-04", "batch-01"]));
pub(crate) const REQUEST_ID: Property = has("RequestId", Kind::RequestId);
pub(crate) const METHOD: Property =
    has("RequestMethod", Kind::OneOf(&["GET", "GET", "GET", "POST", "PUT", "DELETE"]));
pub(crate) const PATH: Property = has("RequestPath", Kind::Path);
pub(crate) const CUSTOMER: Property = has("CustomerId", Kind::CustomerId);

pub(crate) const fn elapsed(slow: u64) -> Property {
    has("Elapsed", Kind::Elapsed { slow })
}

pub(crate) const fn elapsed_fraction(slow: u64) -> Property {
    has("Elapsed", Kind::ElapsedFraction { slow })
}

pub(crate) const fn source(json: &'static str) -> Property {
    has("SourceContext", Kind::Json(json))
}

pub(crate) const RESPONDED: &str =
    "HTTP {RequestMethod} {RequestPath} responded {StatusCode} in {Elapsed:0.0000} ms";
