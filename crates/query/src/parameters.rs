//! The values of `$name` in a query's text.

use crate::value::{Kind, Value, parse};
use std::collections::BTreeMap;
use tamias_json::validate::{Limits, ValidateError, minify_value};

/// Values for the parameters of a query, so that nobody splices text into it.
///
/// ```
/// use tamias_query::{Parameters, Query};
/// let mut parameters = Parameters::new();
/// parameters.set_text("path", "it's /api");
/// Query::prepare_with("select Message from stream where Path = $path", &parameters)?;
/// # Ok::<(), tamias_query::QueryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Parameters(BTreeMap<String, Value<'static>>);

impl Parameters {
    /// No parameters.
    pub fn new() -> Parameters {
        Parameters::default()
    }

    /// Binds `$name` to a string.
    pub fn set_text(&mut self, name: &str, text: &str) -> &mut Parameters {
        self.0.insert(name.to_owned(), Value::from(text.to_owned()));
        self
    }

    /// Binds `$name` to the value that a JSON text holds.
    ///
    /// # Errors
    /// If the text is no JSON.
    pub fn set_json(&mut self, name: &str, json: &str) -> Result<&mut Parameters, ValidateError> {
        let mut minified = Vec::new();
        minify_value(json.as_bytes(), &Limits::default(), &mut minified)?;
        self.0.insert(name.to_owned(), parse(&minified));
        Ok(self)
    }

    /// The kind of the value that is bound to `$name`; undefined where none is.
    pub fn kind(&self, name: &str) -> Kind {
        self.get(name).map_or(Kind::Undefined, Value::kind)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.0.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
