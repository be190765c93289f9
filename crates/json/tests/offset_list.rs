//! The specification of the offset list shows what the code makes.

use std::path::Path;

use tamias_json::Document;

/// The text of the first block of a language in a Markdown page.
fn block<'p>(page: &'p str, language: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("the block begins");
    let (block, _) = rest.split_once("\n```").expect("the block ends");
    block
}

#[test]
fn the_worked_dump_is_what_debug_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/offset-list.md");
    let page = std::fs::read_to_string(path).expect("the specification");
    let document = Document::scan_trusted_str(block(&page, "json")).expect("the event scans");
    assert_eq!(format!("{document:#?}"), block(&page, "text"));
}

#[test]
fn the_table_shows_any_bytes() {
    for bytes in [&b"{\"\x01\xff\":\"\0\"}"[..], b"{}", b"{,:,}", br#"{"a"{}}"#] {
        let document = Document::scan_trusted(bytes).expect("balanced");
        let table = format!("{document:?}");
        assert!(table.starts_with("index  kind") && !table.contains('\0'), "{table}");
    }
    let long = format!(r#"{{"a":"{}"}}"#, "é".repeat(500));
    assert!(
        format!("{:?}", Document::scan_trusted_str(&long).expect("scans"))
            .lines()
            .all(|line| line.chars().count() < 120)
    );
}
