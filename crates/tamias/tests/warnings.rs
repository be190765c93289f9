//! Warnings of events that are not sealed yet: those have no statistics.

use tamias::{Store, Warning};

#[test]
fn what_is_in_no_event_is_told_of_the_log_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store
        .append([
            r#"{"@t":"2024-05-29T10:56:01Z","@l":"Error","Elapsed":12.5,"Code":"7"}"#,
            r#"{"@t":"2024-05-29T10:56:02Z","Elapsed":"soon"}"#,
        ])
        .unwrap();
    let warnings = |text: &str| {
        let mut rows = store.query(text).unwrap();
        while rows.next_row().unwrap().is_some() {}
        rows.warnings()
    };
    let near = Some("Elapsed".to_owned());
    assert_eq!(
        warnings("select Elapsd from stream"),
        [Warning::UnknownKey { key: "Elapsd".to_owned(), near }]
    );
    assert!(matches!(warnings("select @t from stream where Code > 1")[..], [Warning::NeverCompared { .. }]));
    assert_eq!(warnings("select @t from stream where Elapsed > 1 and Elapsed like '%'"), []);
    assert_eq!(
        warnings("select @t from stream where @Level <> 'information' and @Level <> 'Error'"),
        [Warning::LevelCase { given: "information".to_owned(), stored: "Information".to_owned() }]
    );
}
