//! The crates of this repository: no circles of imports but the known ones, and no forbidden import.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tamias_structure::{Circle, Forbidden, Imports};

/// The circles that stand: the crate, and all files of the circle in the order of their names. The list only gets shorter: whoever
/// opens a circle takes it out, or leaves what is left of it. A new circle is not entered here: what two files both need goes into
/// a third.
const KNOWN: &[(&str, &str)] = &[
    (
        "json",
        "classify.rs classify/avx2.rs classify/avx512.rs classify/portable.rs classify/swar.rs \
         document.rs isa.rs number.rs number/bound.rs number/few.rs offsets.rs scan.rs \
         search/structure.rs table.rs task.rs unescape.rs value.rs",
    ),
    (
        "json",
        "search/find.rs search/holds.rs search/lengths.rs search/mod.rs search/numbers.rs \
         search/places.rs",
    ),
    ("json", "validate/blocks.rs validate/walk.rs"),
    (
        "query",
        "control.rs exec/watch.rs expr/eval.rs expr/kind.rs expr/mod.rs expr/print.rs expr/scope.rs \
         functions/collection.rs functions/mod.rs functions/number.rs functions/text.rs \
         functions/time.rs plan.rs search/condition.rs search/finder.rs search/mod.rs",
    ),
    (
        "query",
        "exec/aggregate.rs exec/columns.rs exec/combined.rs exec/group.rs exec/intake.rs \
         exec/project.rs exec/scan.rs exec/stats.rs",
    ),
    ("query", "parser/habits.rs parser/mod.rs"),
    ("query", "planner/aggregate.rs planner/mod.rs planner/resolve.rs"),
    (
        "query",
        "summary/check.rs summary/check/key.rs summary/collect.rs summary/facts.rs summary/list.rs \
         summary/mod.rs summary/numbers.rs summary/read.rs summary/strings.rs summary/write.rs",
    ),
    ("query", "value/mod.rs value/object.rs value/order.rs value/write.rs"),
    (
        "store",
        "adopt.rs block.rs inventory.rs lib.rs log.rs log/reader.rs log/writer.rs reader.rs \
         recovery.rs removal.rs repair.rs run.rs segment/keys.rs segment/loaded.rs segment/reader.rs \
         segment/salvage.rs segment/writer.rs snapshot.rs store.rs tail.rs upkeep.rs writer.rs",
    ),
    ("store", "format.rs format/index.rs format/trailer.rs"),
    ("store", "io.rs io/disk.rs io/simulated.rs"),
    ("store", "manifest.rs manifest/sections.rs manifest/v1.rs"),
];

/// What files of a crate may not import. A rule looks like this:
///
/// ```text
/// ("query", Forbidden {
///     files: &["operator/", "aggregate/", "expr/"],
///     imports: &[Import::Crate("tamias_json"), Import::Files("scan/")],
///     because: "operators see chunks, and do not know where they come from",
/// }),
/// ```
const RULES: &[(&str, Forbidden)] = &[];

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
