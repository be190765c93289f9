//! The values of `$name` in a query's text.

use crate::value::{Kind, Value, parse};
use crate::zone::{UnknownZone, Zone};
use std::collections::BTreeMap;
use tamias_json::validate::{Limits, ValidateError, minify_value};

/// Values for the parameters of a query, and its time zone. Use parameters rather than inserting values into the text of a query.
///
/// ```
/// use tamias_query::{Parameters, Query};
/// let mut parameters = Parameters::new();
/// parameters.set_text("path", "it's /api");
/// Query::prepare_with("select Message from stream where Path = $path", &parameters)?;
/// # Ok::<(), tamias_query::QueryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    values: BTreeMap<String, Value<'static>>,
    zone: Option<Zone>,
}

impl Parameters {
    /// No parameters.
    pub fn new() -> Parameters {
        Parameters::default()
    }

    /// Binds `$name` to a string.
    pub fn set_text(&mut self, name: &str, text: &str) -> &mut Parameters {
        self.values.insert(name.to_owned(), Value::from(text.to_owned()));
        self
    }

    /// Binds `$name` to a value given as JSON text.
    ///
    /// # Errors
    /// If the text is not valid JSON.
    pub fn set_json(&mut self, name: &str, json: &str) -> Result<&mut Parameters, ValidateError> {
        let mut minified = Vec::new();
        minify_value(json.as_bytes(), &Limits::default(), &mut minified)?;
        self.values.insert(name.to_owned(), parse(&minified));
        Ok(self)
    }

    /// Sets the query's time zone by its IANA name, in any case, or as an offset like `+02:00`. The default is UTC. It determines when the days of
    /// `time(1d)` begin, and is the zone of texts without an offset, as in `@Timestamp > '2024-05-29'`.
    ///
    /// ```
    /// use tamias_query::{Parameters, Query};
    /// let mut parameters = Parameters::new();
    /// parameters.set_zone("Europe/Berlin")?;
    /// let query = Query::prepare_with("select a from stream where @Timestamp >= '2024-05-29'", &parameters)?;
    /// let midnight: tamias_query::Instant = "2024-05-28T22:00:00Z".parse()?;
    /// assert_eq!(query.instants(), midnight.ticks()..=u64::MAX);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such zone.
    pub fn set_zone(&mut self, name: &str) -> Result<&mut Parameters, UnknownZone> {
        self.zone = Zone::parse(name)?;
        Ok(self)
    }

    pub(crate) fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref()
    }

    /// The kind of the value that is bound to `$name`; undefined if there is none.
    pub fn kind(&self, name: &str) -> Kind {
        self.get(name).map_or(Kind::Undefined, Value::kind)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.values.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}
