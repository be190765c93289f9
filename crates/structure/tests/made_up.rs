//! The checker on made-up sources: each rule of its documentation, and the forms in which a name can be imported.

use std::collections::BTreeMap;
use tamias_structure::{Forbidden, Import, Imports};

/// Reads made-up files, the first of which is the root.
fn read(files: &[(&str, &str)]) -> Imports {
    let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
    Imports::read(files[0].0, |path| texts.get(path).map(|text| (*text).to_owned()))
        .expect("sources that can be read")
}

/// Checks which circles there are, each as it prints.
#[track_caller]
fn circles(files: &[(&str, &str)], expected: &[&str]) {
    let found: Vec<String> = read(files).circles().iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

/// Checks whether a file `a.rs` imports `b.rs`, which imports `a.rs`.
#[track_caller]
fn imports(a: &str, is: bool) {
    let lib = "mod a; mod b; mod c { pub mod d; }";
    let b = "use crate::a::A; pub struct B; pub mod inner { pub struct C; } pub enum E { One }";
    let found =
        read(&[("lib.rs", lib), ("a.rs", &format!("{a} pub struct A;")), ("b.rs", b), ("c/d.rs", "")])
            .circles();
    assert_eq!(!found.is_empty(), is, "{a}");
}

#[test]
fn every_form_of_an_import_counts() {
    for form in [
        "use crate::b::B;",
        "use super::b::B;",
        "pub use crate::b::B;",
        "pub(crate) use crate::b::B as Another;",
        "use crate::{b::B};",
        "use crate::{a::{self}, b::{inner::{self, C}, E}};",
        "use crate::b::*;",
        "use crate::b::E::*;",
        "use crate::b::{Unspelled, self};",
        "use crate::b as other; fn f() -> other::B { todo!() }",
        "use crate::{b::{self}}; struct S(b::B);",
        "use crate::b::B as _;",
        "fn f() { let it = crate::b::inner::C; }",
        "fn f(it: &[Option<super::b::B>]) {}",
        "fn f() { println!(\"{}\", crate::b::made_by_a_macro()) }",
        "macro_rules! m { () => { $crate::b::B } }",
        "impl From<u8> for crate::b::B {}",
        "fn f() { use super::b; b::B; }",
        "mod within { use super::super::b::B; }",
        "mod within { fn f() { crate::b::E::One; } }",
        "fn f() -> <u8 as crate::b::B>::Of { }",
        "#[cfg(unix)] use crate::b::B;",
        "#[cfg(test)] use std::{fmt, io}; use crate::b::B;",
        "#[cfg(test)] const fn f<A, B>() {} use crate::b::B;",
        "#[cfg(test)] const F: S = S {}; use crate::b::B;",
        "struct S { #[cfg(test)] x: u8, y: crate::b::B }",
    ] {
        imports(form, true);
    }
}

#[test]
fn what_is_no_import_does_not_count() {
    for form in [
        "use crate::b;",
        "use crate::{b, c::{d, self}};",
        "// use crate::b::B;",
        "/// See [`crate::b::B`]. \n fn f() {}",
        "/* use /* crate::b::B; */ crate::b::B; */",
        "fn f() { \"crate::b::B\"; r#\"crate::b::B\"#; '\"'; }",
        "use b::B;",
        "use other::crates::b::B;",
        "fn f() { ::b::B; other::b::B; }",
        "pub(in crate::b) fn f() {}",
        "#[cfg(test)] mod tests { use crate::b::B; }",
        "#[cfg(test)] mod tests;",
        "#[cfg(test)] #[allow(unused)] pub(crate) use crate::{b::B, a};",
        "#[cfg(test)] fn f<A, B>(a: A, b: B) -> crate::b::B { crate::b::B }",
        "#[cfg(test)] impl crate::b::B { }",
        "#[cfg(test)] const F: S = S { b: crate::b::B };",
        "struct S { #[cfg(test)] b: crate::b::B, c: u8 }",
        "fn f() { #[cfg(test)] let b = S { b: crate::b::B }; }",
        "use crate::c::d::Something;",
        "fn f() -> impl Sized + use<'static> { }",
    ] {
        imports(form, false);
    }
}

#[test]
fn a_name_that_the_parent_re_exports_is_its_files() {
    // Children name each other through the parent, which defines nothing.
    let parent = "mod row; mod cell; pub use row::Row; pub(crate) use cell::{Cell as C, text};";
    let row = "use super::C; use crate::table::text; pub struct Row;";
    let of = |cell: &'static str| {
        [
            ("lib.rs", "pub mod table; pub use table::*;"),
            ("table/mod.rs", parent),
            ("table/row.rs", row),
            ("table/cell.rs", cell),
        ]
    };
    circles(&of("pub struct Cell; pub fn text() {}"), &[]);
    circles(
        &of("pub struct Cell; pub fn text() { super::Row; }"),
        &["table/cell.rs → table/row.rs (super::Row) → table/cell.rs (super::C)"],
    );
    circles(
        &of("pub struct Cell; pub fn text() { crate::Row; }"),
        &["table/cell.rs → table/row.rs (crate::Row) → table/cell.rs (super::C)"],
    );
}

#[test]
fn a_parent_serves_its_children_or_puts_them_together() {
    let with = |parent: &'static str, child: &'static str| {
        [("lib.rs", "mod parent;"), ("parent.rs", parent), ("parent/child.rs", child)]
    };
    circles(&with("mod child; pub const MOST: u8 = 1;", "use super::MOST;"), &[]);
    circles(&with("mod child; pub use child::Child; pub const MOST: u8 = 1;", "pub struct Child;"), &[]);
    circles(
        &with(
            "mod child; pub use child::Child; pub const MOST: u8 = 1;",
            "pub struct Child([u8; super::MOST]);",
        ),
        &["parent.rs → parent/child.rs (child::Child) → parent.rs (super::MOST)"],
    );
    circles(
        &with(
            "mod child; macro_rules! tell { () => {} } pub(crate) use tell; fn f() { child::f() }",
            "fn f() { super::tell!() }",
        ),
        &["parent.rs → parent/child.rs (child::f) → parent.rs (super::tell)"],
    );
    // What the parent has of another crate, it has by its own words.
    circles(
        &with("mod child; pub use child::Child; pub use other::Other;", "pub struct Child(super::Other);"),
        &["parent.rs → parent/child.rs (child::Child) → parent.rs (super::Other)"],
    );
}

#[test]
fn a_function_may_have_the_name_of_its_module() {
    let lib = "mod eval; mod print; pub use eval::eval;";
    circles(
        &[
            ("lib.rs", lib),
            ("eval.rs", "pub fn eval() { crate::print::print() }"),
            ("print.rs", "pub fn print() {}"),
        ],
        &[],
    );
    circles(
        &[
            ("lib.rs", lib),
            ("eval.rs", "pub fn eval() { crate::print::print() }"),
            ("print.rs", "pub fn print() { crate::eval() }"),
        ],
        &["eval.rs → print.rs (crate::print::print) → eval.rs (crate::eval)"],
    );
}

#[test]
fn re_exports_that_lead_back_to_themselves_end() {
    circles(
        &[
            ("lib.rs", "mod a; mod b; pub use a::*;"),
            ("a.rs", "pub use crate::b::*;"),
            ("b.rs", "pub use crate::a::*; fn f() { crate::a::x() }"),
        ],
        &["a.rs → b.rs (crate::b::*) → a.rs (crate::a::*)"],
    );
}

#[test]
fn circles_are_told_apart_and_have_all_their_files() {
    let found = read(&[
        ("main.rs", "mod a; mod b; mod c; mod d; mod e; fn main() { a::f() }"),
        ("a.rs", "pub fn f() { crate::b::f() }"),
        ("b.rs", "pub fn f() { crate::c::f() }"),
        ("c.rs", "pub fn f() { crate::a::f(); crate::b::f(); crate::d::f() }"),
        ("d.rs", "pub fn f() { crate::e::f() }"),
        ("e.rs", "pub fn f() { crate::d::f() }"),
    ])
    .circles();
    let files: Vec<&[String]> = found.iter().map(|circle| &*circle.files).collect();
    assert_eq!(files, [&["a.rs", "b.rs", "c.rs"][..], &["d.rs", "e.rs"]]);
}

#[test]
fn forbidden_imports_are_told_with_their_reason() {
    let imports = read(&[
        ("lib.rs", "mod operator; mod scan; mod value; use tamias_json::Document; use scan::Scan;"),
        ("operator.rs", "mod filter; mod sort; pub use filter::Filter;"),
        ("operator/filter.rs", "use crate::scan::Scan; pub struct Filter;"),
        ("operator/sort.rs", "use crate::value::Kind; fn f() { tamias_json::number::compare() }"),
        ("scan.rs", "mod text; pub use text::Scan;"),
        ("scan/text.rs", "use tamias_json::Offsets; pub struct Scan;"),
        ("value.rs", "pub use tamias_json::Kind;"),
    ]);
    let rule = Forbidden {
        files: &["operator/", "value.rs"],
        except: &[],
        imports: &[Import::Crate("tamias_json"), Import::Files("scan/")],
        because: "operators see chunks",
    };
    assert_eq!(
        imports.broken(&rule),
        [
            "operator/filter.rs imports crate::scan::Scan: operators see chunks",
            // By way of value.rs too.
            "operator/sort.rs imports crate::value::Kind: operators see chunks",
            "value.rs imports tamias_json::Kind: operators see chunks",
        ]
    );
    let kept = Forbidden {
        files: &["operator.rs"],
        imports: &[Import::Crate("tamias_json"), Import::Files("scan.rs")],
        ..rule
    };
    assert_eq!(imports.broken(&kept), [""; 0]);
    let excepted = Forbidden { except: &["operator/filter.rs", "operator/sort.rs", "operator.rs"], ..rule };
    assert_eq!(
        imports.broken(&excepted),
        [
            "value.rs imports tamias_json::Kind: operators see chunks",
            "operator.rs needs no exception: operators see chunks",
        ]
    );
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let error = |lib: &str| {
        Imports::read("lib.rs", |path| (path == "lib.rs").then(|| lib.to_owned()))
            .expect_err("an error")
            .to_string()
    };
    assert_eq!(error("mod away;"), "lib.rs: the module `away` has no file");
    assert_eq!(error("#[path = \"x.rs\"] mod x;"), "lib.rs: an attribute `path` is not understood here");
    assert!(error("fn f( {").starts_with("lib.rs: "));
    let none = Imports::read("main.rs", |_| None).expect_err("an error");
    assert_eq!(none.to_string(), "main.rs: there is no such file");
}
