//! The places in the shop's programs that write events. Events of one place share their keys and their order.

use crate::value::{CITIES, Kind, NAMES, PRODUCTS};

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

const fn has(key: &'static str, kind: Kind) -> Property {
    Property { key, kind, permille: 1000 }
}

const fn may_have(permille: u64, key: &'static str, kind: Kind) -> Property {
    Property { key, kind, permille }
}

const MESSAGE: Property = has("Message", Kind::Message);
const WEB: Property = has("Application", Kind::Json("\"Shop.Web\""));
const API: Property = has("Application", Kind::Json("\"Shop.Api\""));
const WORKER: Property = has("Application", Kind::Json("\"Shop.Worker\""));
const PAYMENTS: Property = has("Application", Kind::Json("\"Shop.Payments\""));
const ENVIRONMENT: Property = has("Environment", Kind::OneOf(&["Production", "Staging", "Test"]));
const MACHINE: Property =
    has("MachineName", Kind::OneOf(&["web-01", "web-02", "web-03", "web-04", "batch-01"]));
const REQUEST_ID: Property = has("RequestId", Kind::RequestId);
const METHOD: Property = has("RequestMethod", Kind::OneOf(&["GET", "GET", "GET", "POST", "PUT", "DELETE"]));
const PATH: Property = has("RequestPath", Kind::Path);
const CUSTOMER: Property = has("CustomerId", Kind::CustomerId);

const fn elapsed(slow: u64) -> Property {
    has("Elapsed", Kind::Elapsed { slow })
}

const fn elapsed_fraction(slow: u64) -> Property {
    has("Elapsed", Kind::ElapsedFraction { slow })
}

const fn source(json: &'static str) -> Property {
    has("SourceContext", Kind::Json(json))
}

const RESPONDED: &str = "HTTP {RequestMethod} {RequestPath} responded {StatusCode} in {Elapsed:0.0000} ms";

pub(crate) const TEMPLATES: &[Template] = &[
    Template {
        weight: 210,
        text: RESPONDED,
        level: None,
        extras: 0,
        properties: &[
            MESSAGE,
            METHOD,
            PATH,
            has("StatusCode", Kind::Json("200")),
            elapsed_fraction(336),
            WEB,
            may_have(60, "Referer", Kind::Uri),
        ],
    },
    Template {
        weight: 80,
        text: RESPONDED,
        level: None,
        extras: TRACE,
        properties: &[
            METHOD,
            PATH,
            has("StatusCode", Kind::SmallInteger(200, 206)),
            elapsed_fraction(300),
            MESSAGE,
            API,
            ENVIRONMENT,
            may_have(4, "FeatureFlags", Kind::Tags),
        ],
    },
    Template {
        weight: 24,
        text: RESPONDED,
        level: Some("Warning"),
        extras: TRACE,
        properties: &[
            MESSAGE,
            METHOD,
            PATH,
            has("StatusCode", Kind::SmallInteger(400, 429)),
            elapsed_fraction(150),
            WEB,
            MACHINE,
        ],
    },
    Template {
        weight: 12,
        text: RESPONDED,
        level: Some("Error"),
        extras: TRACE | EXCEPTION,
        properties: &[
            MESSAGE,
            METHOD,
            PATH,
            has("StatusCode", Kind::SmallInteger(500, 504)),
            elapsed_fraction(700),
            WEB,
            MACHINE,
        ],
    },
    Template {
        weight: 60,
        text: "Request starting {RequestMethod} {RequestPath}",
        level: None,
        extras: 0,
        properties: &[
            MESSAGE,
            METHOD,
            PATH,
            source("\"Microsoft.AspNetCore.Hosting.Diagnostics\""),
            REQUEST_ID,
            WEB,
        ],
    },
    Template {
        weight: 90,
        text: "Executed DbCommand in {Elapsed} ms: {CommandText}",
        level: Some("Debug"),
        extras: 0,
        properties: &[
            elapsed(260),
            has(
                "CommandText",
                Kind::OneOf(&[
                    "SELECT o.\\\"Id\\\", o.\\\"Total\\\"\\r\\nFROM \\\"Orders\\\" AS o\\r\\nWHERE o.\\\"CustomerId\\\" = @p0",
                    "UPDATE \\\"Stock\\\" SET \\\"Quantity\\\" = @p0\\r\\nWHERE \\\"ProductId\\\" = @p1",
                    "SELECT COUNT(*) FROM \\\"Baskets\\\"",
                    "INSERT INTO \\\"Events\\\" (\\\"Id\\\", \\\"Text\\\")\\r\\nVALUES (@p0, N'Grüße')",
                ]),
            ),
            MESSAGE,
            API,
        ],
    },
    Template {
        weight: 40,
        text: "{RequestMethod} {Uri} answered {StatusCode} after {Elapsed:0.0000} ms",
        level: None,
        extras: 0,
        properties: &[
            METHOD,
            has("Uri", Kind::Uri),
            has("StatusCode", Kind::OneOf(&["OK", "Created", "NotModified", "NotFound"])),
            elapsed_fraction(420),
            MESSAGE,
            source("\"System.Net.Http.HttpClient\""),
            WORKER,
            ENVIRONMENT,
        ],
    },
    Template {
        weight: 45,
        text: "Customer {CustomerId} viewed product {ProductId} ({ProductName})",
        level: None,
        extras: 0,
        properties: &[
            MESSAGE,
            CUSTOMER,
            has("ProductId", Kind::SmallInteger(1, 5000)),
            has("ProductName", Kind::OneOf(PRODUCTS)),
            elapsed(250),
            has("Tags", Kind::Tags),
            WEB,
            REQUEST_ID,
        ],
    },
    Template {
        weight: 40,
        text: "Basket {BasketId}: {Quantity} x {ProductName} added by customer {CustomerId}",
        level: None,
        extras: 0,
        properties: &[
            MESSAGE,
            has("BasketId", Kind::Hex(12)),
            has("Quantity", Kind::SmallInteger(1, 12)),
            has("ProductName", Kind::OneOf(PRODUCTS)),
            CUSTOMER,
            elapsed_fraction(240),
            has("CouponCode", Kind::NullOrOneOf(900, &["SUMMER24", "WELCOME", "FÜNF"])),
            WEB,
            MACHINE,
        ],
    },
    Template {
        weight: 32,
        text: "Order placed by customer {CustomerId}",
        level: None,
        extras: TRACE,
        properties: &[
            MESSAGE,
            CUSTOMER,
            has("Order", Kind::Order),
            elapsed(560),
            source("\"Shop.Orders.OrderService\""),
            API,
            may_have(20, "PromoCode", Kind::OneOf(&["FRIENDS", "10%"])),
        ],
    },
    Template {
        weight: 25,
        text: "Payment of {Amount} {Currency} for order {OrderId} captured",
        level: None,
        extras: TYPE,
        properties: &[
            has("Amount", Kind::Money(100_000)),
            has("Currency", Kind::OneOf(&["CHF", "EUR", "GBP", "€"])),
            has("OrderId", Kind::Numbered("A-")),
            has("TransactionId", Kind::Uuid),
            elapsed(680),
            has("Captured", Kind::Json("true")),
            PAYMENTS,
            MESSAGE,
        ],
    },
    Template {
        weight: 8,
        text: "Payment for order {OrderId} declined: {Reason}",
        level: Some("Warning"),
        extras: TYPE,
        properties: &[
            has("OrderId", Kind::Numbered("A-")),
            has(
                "Reason",
                Kind::OneOf(&["insufficient funds", "card expired", "3-D Secure \\\"not enrolled\\\""]),
            ),
            has("TransactionId", Kind::Uuid),
            elapsed(620),
            has("Captured", Kind::Json("false")),
            PAYMENTS,
            MESSAGE,
        ],
    },
    Template {
        weight: 30,
        text: "{UserName} signed in from {City}",
        level: None,
        extras: 0,
        properties: &[
            has("UserName", Kind::OneOf(NAMES)),
            has("City", Kind::OneOf(CITIES)),
            has("Actor", Kind::Actor),
            elapsed(300),
            MESSAGE,
            has("ClientIp", Kind::Address),
            WEB,
        ],
    },
    Template {
        weight: 8,
        text: "Sign-in of {UserName} failed: {Reason}",
        level: Some("Warning"),
        extras: 0,
        properties: &[
            has("UserName", Kind::OneOf(NAMES)),
            has("Reason", Kind::OneOf(&["wrong password", "account locked", "unknown user"])),
            elapsed(200),
            MESSAGE,
            has("ClientIp", Kind::Address),
            may_have(100, "X-Forwarded-For", Kind::Address),
            WEB,
        ],
    },
    Template {
        weight: 36,
        text: "Cache {Outcome} for {CacheKey}",
        level: Some("Verbose"),
        extras: 0,
        properties: &[
            MESSAGE,
            has("Outcome", Kind::OneOf(&["hit", "miss", "expiry"])),
            has("CacheKey", Kind::Numbered("product:")),
            has("Cached", Kind::Boolean(700)),
            source("\"Shop.Caching.RedisCache\""),
            API,
            MACHINE,
        ],
    },
    Template {
        weight: 30,
        text: "Search for \\\"{SearchText}\\\" gave {Results} results in {Elapsed} ms",
        level: None,
        extras: 0,
        properties: &[
            has(
                "SearchText",
                Kind::OneOf(&[
                    "lamp",
                    "käse",
                    "tea",
                    "espresso",
                    "緑茶",
                    "кофе",
                    "crème brûlée",
                    "ὀδυσσεύς",
                    "100%_wool",
                ]),
            ),
            has("Results", Kind::SmallInteger(0, 400)),
            elapsed(450),
            has("Facets", Kind::Json("[]")),
            MESSAGE,
            source("\"Shop.Search.SearchService\""),
            API,
        ],
    },
    Template {
        weight: 20,
        text: "Mail {MailTemplate} queued for {Recipient}",
        level: None,
        extras: 0,
        properties: &[
            has("MailTemplate", Kind::OneOf(&["order-confirmation", "password-reset", "newsletter/juni"])),
            has(
                "Recipient",
                Kind::OneOf(&["a.mueller@shop.example", "zoë@keller.example", "j.smith+shop@mail.example"]),
            ),
            elapsed(120),
            MESSAGE,
            WORKER,
            ENVIRONMENT,
        ],
    },
    Template {
        weight: 26,
        text: "Stock of product {ProductId} in {Warehouse} changed by {Change} to {Quantity}",
        level: Some("Debug"),
        extras: 0,
        properties: &[
            has("ProductId", Kind::SmallInteger(1, 5000)),
            has("Warehouse", Kind::OneOf(&["Zürich-Nord", "Graz", "Łódź 2"])),
            has("Change", Kind::Integer(-40, 60)),
            has("Quantity", Kind::SmallInteger(0, 900)),
            elapsed_fraction(180),
            MESSAGE,
            WORKER,
        ],
    },
    Template {
        weight: 20,
        text: "Job {JobName} finished in {Elapsed:0.0000} ms: {Processed} processed, {Failed} failed",
        level: None,
        extras: TYPE,
        properties: &[
            has("JobName", Kind::OneOf(&["invoices", "stock-sync", "newsletter", "cleanup"])),
            // Nested keys of the same name come before the event's own.
            has("Timings", Kind::Timings),
            elapsed_fraction(800),
            has("Processed", Kind::SmallInteger(0, 100_000)),
            has("Failed", Kind::SmallInteger(0, 5)),
            MESSAGE,
            WORKER,
        ],
    },
    Template {
        weight: 14,
        text: "Unhandled exception in {RequestPath}",
        level: Some("Error"),
        extras: TRACE | EXCEPTION,
        properties: &[
            MESSAGE,
            PATH,
            has(
                "InnerError",
                Kind::Json("{\"Message\":\"Timeout while reading /api/customers\",\"Code\":-2146232798}"),
            ),
            elapsed(600),
            WEB,
            MACHINE,
        ],
    },
    Template {
        weight: 10,
        text: "Retrying {Operation}, attempt {Attempt} after {Delay} s",
        level: Some("Warning"),
        extras: EXCEPTION,
        properties: &[
            has("Operation", Kind::OneOf(&["GetExchangeRates", "PublishEvent", "ReadStock"])),
            has("Attempt", Kind::Integer(1, 5)),
            has("Delay", Kind::OneOf(&["0.5", "1", "2", "4"])),
            elapsed(500),
            MESSAGE,
            source("\"Polly.Retry\""),
            WORKER,
        ],
    },
    Template {
        weight: 25,
        text: "Shipment {ShipmentId} of order {OrderId} is on its way to {City}",
        level: None,
        extras: 0,
        properties: &[
            MESSAGE,
            has("ShipmentId", Kind::Uuid),
            has("OrderId", Kind::Numbered("A-")),
            has("City", Kind::OneOf(CITIES)),
            has("Weight", Kind::Money(3000)),
            elapsed(230),
            WORKER,
            ENVIRONMENT,
        ],
    },
    Template {
        weight: 20,
        text: "Review of {ProductName} by {CustomerName}: {Text}",
        level: None,
        extras: 0,
        properties: &[
            has("ProductName", Kind::OneOf(PRODUCTS)),
            has("CustomerName", Kind::OneOf(NAMES)),
            has("Stars", Kind::Integer(1, 5)),
            has(
                "Text",
                Kind::OneOf(&[
                    "Très bon! 👍",
                    "Schön, aber zu groß…",
                    "Came broken.\\nTwice!\\n\\t\\\"Never again\\\"",
                    "とても良い 🎉",
                    "a/b testing \\\\o/ \\b\\f\\u0001",
                ]),
            ),
            elapsed(210),
            MESSAGE,
            CUSTOMER,
            WEB,
        ],
    },
    Template {
        weight: 20,
        text: "Price of product {ProductId} changed from {OldPrice} to {NewPrice}",
        level: None,
        extras: 0,
        properties: &[
            has("ProductId", Kind::SmallInteger(1, 5000)),
            has("OldPrice", Kind::Money(40_000)),
            has("NewPrice", Kind::Money(40_000)),
            elapsed_fraction(160),
            has("Actor", Kind::Actor),
            MESSAGE,
            API,
        ],
    },
    Template {
        weight: 12,
        text: "Health check {CheckName} is {Status} after {Elapsed:0.0000} ms",
        level: Some("Verbose"),
        extras: 0,
        properties: &[
            has("CheckName", Kind::OneOf(&["database", "redis", "disk C:\\\\", "mail"])),
            has("Status", Kind::OneOf(&["Healthy", "Degraded", "Unhealthy"])),
            elapsed_fraction(120),
            has("Data", Kind::Json("{}")),
            MESSAGE,
            MACHINE,
            WORKER,
        ],
    },
    Template {
        weight: 3,
        text: "Configuration reloaded: {Setting} is {Value}",
        level: None,
        extras: TYPE,
        properties: &[
            has("Setting", Kind::OneOf(&["Checkout.GuestAllowed", "Search.Boost", "Mail.Sender"])),
            has("Value", Kind::OneOf(&["true", "1.5", "", "shop@example.com"])),
            has("Previous", Kind::Json("null")),
            has("a key with spaces", Kind::Boolean(500)),
            has("", Kind::SmallInteger(0, 9)),
            MESSAGE,
            may_have(200, "@@version", Kind::SmallInteger(1, 40)),
            ENVIRONMENT,
        ],
    },
    Template {
        weight: 12,
        text: "Image {FileName} resized to {Width} x {Height}",
        level: Some("Debug"),
        extras: 0,
        properties: &[
            has("FileName", Kind::FileName),
            has("Width", Kind::SmallInteger(80, 4096)),
            has("Height", Kind::SmallInteger(80, 4096)),
            elapsed(440),
            has("Bytes", Kind::Integer(2_000, 9_007_199_254_740_993)),
            MESSAGE,
            WORKER,
        ],
    },
    Template {
        weight: 15,
        text: "Invoice {InvoiceId} of order {OrderId} rendered as {Format}",
        level: None,
        extras: 0,
        properties: &[
            has("InvoiceId", Kind::Numbered("R")),
            has("OrderId", Kind::Numbered("A-")),
            has("Format", Kind::OneOf(&["PDF", "HTML"])),
            elapsed(640),
            has("Order", Kind::Order),
            MESSAGE,
            WORKER,
        ],
    },
    Template {
        weight: 12,
        text: "Coupon {CouponCode} used by customer {CustomerId}: {Discount}% off",
        level: None,
        extras: TRACE,
        properties: &[
            MESSAGE,
            has("CouponCode", Kind::OneOf(&["SUMMER24", "WELCOME", "FÜNF"])),
            CUSTOMER,
            has("Discount", Kind::Integer(5, 30)),
            elapsed(170),
            API,
        ],
    },
    Template {
        weight: 15,
        text: "GET /api/customers/{CustomerId}/recommendations took {Elapsed} ms",
        level: None,
        extras: TRACE,
        properties: &[
            MESSAGE,
            CUSTOMER,
            elapsed(500),
            has("Model", Kind::Json("\"v7/β\"")),
            API,
            ENVIRONMENT,
        ],
    },
    Template {
        weight: 2,
        text: "Fraud check of order {OrderId} scored {Score}",
        level: None,
        extras: TYPE,
        properties: &[
            has("OrderId", Kind::Numbered("A-")),
            has("Score", Kind::Score),
            elapsed(900),
            has("Rules", Kind::Json("[[1,2],[],[{\"Name\":\"velocity\",\"Weight\":0.250},null,true]]")),
            PAYMENTS,
            MESSAGE,
        ],
    },
    Template {
        weight: 8,
        text: "Slow response: {RequestPath} took {Elapsed} ms",
        level: Some("Warning"),
        extras: TRACE,
        properties: &[MESSAGE, PATH, elapsed(1000), WEB, MACHINE],
    },
    Template {
        weight: 1,
        text: "Circuit breaker for {Host} opened",
        level: Some("Fatal"),
        extras: EXCEPTION,
        properties: &[
            MESSAGE,
            has("Host", Kind::OneOf(&["payments.shop.example", "mail.shop.example"])),
            source("\"Polly.CircuitBreaker\""),
            WORKER,
            MACHINE,
            has("Suppressed", Kind::Json("null")),
        ],
    },
    Template {
        weight: 10,
        text: "Rate limit of {ClientIp} reached on {RequestPath}",
        level: Some("Warning"),
        extras: 0,
        properties: &[
            MESSAGE,
            has("ClientIp", Kind::Address),
            PATH,
            has("Limit", Kind::Json("100")),
            may_have(300, "X-Forwarded-For", Kind::Address),
            REQUEST_ID,
            WEB,
        ],
    },
];
