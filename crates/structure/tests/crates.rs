//! The crates of this repository: no circles of imports, and no forbidden import.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tamias_structure::{Circle, Forbidden, Import, Imports};

/// The circles that stand: the crate, and all files of the circle in the order of their names. There is none, and none is entered
/// here: what two files both need goes into a third.
const KNOWN: &[(&str, &str)] = &[];

/// What files of a crate may not import.
const RULES: &[(&str, Forbidden)] = &[
    (
        "query",
        Forbidden {
            files: &["operator/", "aggregate/", "expr/"],
            // The scalar evaluator reads documents, and compares stored numbers and strings in their text with constants of the query, which
            // the tree holds ready and the rules make.
            except: &["expr/eval.rs", "expr/scope.rs", "expr/tree.rs", "expr/rules.rs", "expr/pattern.rs"],
            imports: &[Import::Crate("tamias_json")],
            because: "operators see chunks, and expressions values",
        },
    ),
    (
        "query",
        Forbidden {
            files: &["operator/"],
            // They drive scans: which block, how far, on which thread.
            except: &[
                "operator/cursor.rs",
                "operator/merge.rs",
                "operator/parallel.rs",
                "operator/read_ahead.rs",
            ],
            imports: &[Import::Files("scan/")],
            because: "operators see chunks, and do not know where they come from",
        },
    ),
    (
        "query",
        Forbidden {
            files: &["operator/", "rows.rs"],
            except: &[],
            imports: &[Import::Files("scan/text.rs")],
            because: "any scan will do, as long as it is a BlockScan",
        },
    ),
    (
        "query",
        Forbidden {
            files: &["aggregate/", "expr/", "functions/"],
            except: &[],
            imports: &[Import::Files("scan/"), Import::Files("operator/"), Import::Files("pushdown/")],
            because: "values know nothing of who asks for them, and when",
        },
    ),
    (
        "query",
        Forbidden {
            files: &["scan/", "chunk.rs", "key_table.rs", "pushdown/", "statistics/"],
            except: &[],
            imports: &[Import::Files("operator/"), Import::Files("aggregate/")],
            because: "what makes chunks does not know what becomes of them",
        },
    ),
    (
        "query",
        Forbidden {
            files: &["statistics/", "value/"],
            except: &[],
            imports: &[Import::Files("expr/"), Import::Files("plan.rs"), Import::Files("pushdown/")],
            because: "what a block says of itself, and what a value is, depends on no query",
        },
    ),
];

/// The imports of each library and program in `crates`, by its folder's name and its root.
fn crates() -> BTreeMap<(String, &'static str), Imports> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder of crates") {
        let entry = entry.expect("an entry of the folder of crates");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let source: PathBuf = entry.path().join("src");
        let roots: Vec<&str> =
            ["lib.rs", "main.rs"].into_iter().filter(|root| source.join(root).exists()).collect();
        assert!(!roots.is_empty(), "crates/{name} has neither src/lib.rs nor src/main.rs");
        for root in roots {
            let imports = Imports::read(root, |path| fs::read_to_string(source.join(path)).ok());
            all.insert((name.clone(), root), imports.unwrap_or_else(|error| panic!("{name}: {error}")));
        }
    }
    all
}

/// What is wrong with the circles that were found in crates, and with the list of the known.
fn judge(known: &[(&str, &str)], found: &[(String, Circle)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut known = known.to_vec();
    for (name, circle) in found {
        let files = circle.files.join(" ");
        match known.iter().position(|known| *known == (&**name, &*files)) {
            Some(at) => drop(known.remove(at)),
            None => wrong.push(format!(
                "In {name} files import one another in a circle: {circle}.\nAll of it: ({name:?}, {files:?})"
            )),
        }
    }
    wrong.extend(known.iter().map(|(name, files)| {
        format!("In {name} this circle is gone, or has other files now; take it off the list: {files}")
    }));
    wrong
}

#[test]
fn files_import_one_another_in_no_circle_but_the_known() {
    let circles = |((name, _), imports): ((String, _), Imports)| {
        imports.circles().into_iter().map(move |circle| (name.clone(), circle))
    };
    let found: Vec<(String, Circle)> = crates().into_iter().flat_map(circles).collect();
    let wrong = judge(KNOWN, &found);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn new_circles_and_known_ones_that_are_gone_are_told() {
    let sources = |path: &str| match path {
        "lib.rs" => Some("mod a; mod b;".to_owned()),
        "a.rs" => Some("use crate::b::B; pub struct A;".to_owned()),
        "b.rs" => Some("use crate::a::A; pub struct B;".to_owned()),
        _ => None,
    };
    let circles = Imports::read("lib.rs", sources).expect("sources that can be read").circles();
    let found: Vec<_> = circles.into_iter().map(|circle| ("made_up".to_owned(), circle)).collect();
    let new = "In made_up files import one another in a circle: a.rs → b.rs (crate::b::B) → a.rs (crate::a::A).\n\
               All of it: (\"made_up\", \"a.rs b.rs\")";
    let gone = "In made_up this circle is gone, or has other files now; take it off the list: a.rs b.rs c.rs";
    assert_eq!(judge(&[], &found), [new]);
    assert_eq!(judge(&[("made_up", "a.rs b.rs")], &found), [""; 0]);
    assert_eq!(judge(&[("made_up", "a.rs b.rs c.rs")], &found), [new, gone]);
    assert_eq!(judge(&[("another", "a.rs b.rs")], &found).len(), 2);
}

#[test]
fn nothing_forbidden_is_imported() {
    let crates = crates();
    let mut wrong = Vec::new();
    for (name, rule) in RULES {
        let of: Vec<&Imports> =
            crates.iter().filter(|((of, _), _)| of == name).map(|(_, imports)| imports).collect();
        assert!(!of.is_empty(), "there is a rule for {name}, and no such crate");
        wrong.extend(of.iter().flat_map(|imports| imports.broken(rule)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
