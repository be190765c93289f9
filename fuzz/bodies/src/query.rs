//! Any text as a query.

use tamias_query::{Parameters, QUERY_BYTES_MAX, Statement, eval};

/// A query's text: any at all is read, or refused with a place in it; what is read is written in one spelling, and reads
/// from that as the same. What can be prepared has a plan, and what needs no events is run. The text as an expression by
/// itself only has to be safe.
///
/// The one spelling may be longer than the text, so that it is too long to be read again: then it is not.
pub fn query(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = eval(text, r#"{"a":{"b":[1,"x"]},"Elapsed":1e400}"#);
    let statement = match Statement::parse(text) {
        Ok(statement) => statement,
        Err(error) => {
            assert!(error.line() >= 1 && error.column() >= 1);
            assert!(error.span().start <= error.span().end && error.span().start <= text.len());
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let printed = statement.to_string();
    if printed.len() > QUERY_BYTES_MAX {
        return;
    }
    match Statement::parse(&printed) {
        Ok(again) => {
            assert_eq!(again, statement, "printed as {printed}");
            assert_eq!(again.to_string(), printed, "printed once more");
            assert_eq!(again.parameters(), statement.parameters());
        }
        Err(error) => panic!("{text:?} is read, but not as it prints: {error}"),
    }
    let mut parameters = Parameters::new();
    for name in statement.parameters() {
        parameters.set_text(name, "x");
    }
    let Ok(query) = statement.bind(&parameters) else { return };
    assert!(!query.explain().is_empty() && !query.unoptimized().explain().is_empty());
    if !query.needs_source() {
        for row in query.run_scalar() {
            assert!(row.is_err() || row.is_ok_and(|row| row.len() == query.columns().len()));
        }
    }
}
