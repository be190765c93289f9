//! Warnings of events that are not sealed yet, which have no statistics, and of those whose statistics tell of deleted ones too.

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

/// A key and a level that only a deleted event had were named in warnings.
#[test]
fn warnings_name_nothing_that_only_deleted_events_have() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let event = |n: u32| format!(r#"{{"@t":"2024-05-29T10:56:{n:02}Z","@l":"warn","N":{n}}}"#);
    let secret = r#"{"@t":"2024-05-29T10:57:00Z","@l":"Warning","Password":"x"}"#.to_owned();
    store.append((0..60).map(event).chain([secret])).unwrap();
    store.seal().unwrap();
    let warnings = |text: &str| {
        let mut rows = store.query(text).unwrap();
        while rows.next_row().unwrap().is_some() {}
        format!("{:?}", rows.warnings())
    };
    assert!(warnings("select Pasword from stream").contains("\"Password\""));
    assert_eq!(store.delete("Password = 'x'").unwrap().events, 1);
    assert!(!warnings("select Pasword from stream").contains("\"Password\""));
    assert!(!warnings("select N from stream where @Level = 'warn'").contains("\"Warning\""));
    assert!(warnings("select Missing from stream").contains("Missing"));
}
