//! Direction of the uses between the modules of a package.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use takt_tests::binary::repository;

use crate::package::{Package, Uses};

/// Returns the path of the module that a file defines, below which its children are: the folder of a root or a `mod.rs`.
fn module(file: &Path, root: &Path) -> PathBuf {
    if file == root || file.ends_with("mod.rs") {
        file.with_file_name("")
    } else {
        file.with_extension("")
    }
}

/// Returns the uses between modules: each use between two files is one between the modules, with all that is below them, in which
/// the two files part. Code of the file in which they part is named by this file.
fn between_modules(files: &Uses, root: &Path) -> Uses {
    let mut modules = Uses::new();
    for (from, targets) in files {
        for (to, names) in targets {
            let paths = [module(from, root), module(to, root)];
            let [ours, theirs] = paths.each_ref().map(|path| path.components());
            let shared = ours
                .zip(theirs)
                .take_while(|(our, their)| our == their)
                .count();
            let part = |path: &Path, file: &Path| match path.components().nth(shared) {
                Some(_) => path.components().take(shared + 1).collect(),
                None => file.to_owned(),
            };
            let of_module = modules.entry(part(&paths[0], from)).or_default();
            let all = of_module.entry(part(&paths[1], to)).or_default();
            all.extend(
                names
                    .iter()
                    .map(|name| format!("{name} in {}", from.display())),
            );
        }
    }
    modules
}

/// Returns the modules that a module uses, directly or through others.
fn reachable<'u>(uses: &'u Uses, module: &Path) -> BTreeSet<&'u Path> {
    let mut found = BTreeSet::new();
    let direct = |module: &Path| uses.get(module).into_iter().flat_map(BTreeMap::keys);
    let mut next: Vec<&PathBuf> = direct(module).collect();
    while let Some(module) = next.pop() {
        if found.insert(module.as_path()) {
            next.extend(direct(module));
        }
    }
    found
}

/// Returns the groups of modules each of which uses, directly or through others, all modules of its group.
fn cycles(uses: &Uses) -> BTreeSet<BTreeSet<&Path>> {
    let mut groups = BTreeSet::new();
    for module in uses.keys() {
        let mut group = reachable(uses, module);
        group.retain(|other| reachable(uses, other).contains(module.as_path()));
        if !group.is_empty() {
            groups.insert(group);
        }
    }
    groups
}

/// Returns the roots of all packages, relative to the repository.
fn roots() -> Vec<PathBuf> {
    let others = ["xtask", "tests", "peers/open62541", "fuzz"].map(PathBuf::from);
    let packages = crate::rooms().into_iter().chain(others);
    let sources = packages.map(|package| package.join("src"));
    let roots = sources.flat_map(|folder| ["lib.rs", "main.rs"].map(|root| folder.join(root)));
    roots
        .filter(|root| repository().join(root).exists())
        .collect()
}

/// Returns the uses between the modules of a cycle, one in each line.
fn lines(group: &BTreeSet<&Path>, uses: &Uses) -> String {
    let mut lines = String::new();
    for from in group {
        for (to, names) in &uses[*from] {
            if group.contains(&**to) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let (from, to) = (from.display(), to.display());
                lines += &format!("{from} uses {to}: {}\n", names.join(", "));
            }
        }
    }
    lines
}

/// The modules of a package use each other in one direction: no module, with all that is below it, uses itself through others. A
/// file uses another one if a path in its `use` declarations or its code leads to an item that the other one defines, also through
/// re-exports. Declaring a module and re-exporting (`pub use`) do not count as a use, nor do tests: a `mod.rs` that does nothing
/// else is in no cycle, and one that defines items for its children must not use them. Methods are not seen, only the paths of
/// their types. Two files of a cycle part in some module, so files use each other in one direction as well.
#[test]
fn modules_of_a_package_use_each_other_in_one_direction() {
    let mut wrong = String::new();
    for root in roots() {
        let open = |file: &Path| fs::read_to_string(repository().join(file)).ok();
        let uses = between_modules(&Package::read(&root, open).uses(), &root);
        for group in cycles(&uses) {
            wrong += &format!("a cycle:\n{}", lines(&group, &uses));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the cycles of a package with these files.
fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    let open = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    let root = Path::new("lib.rs");
    let uses = between_modules(&Package::read(root, open).uses(), root);
    let groups = cycles(&uses);
    let names = groups.iter().map(|group| {
        let names: Vec<&str> = group.iter().map(|path| path.to_str().unwrap()).collect();
        names.join(" ")
    });
    names.collect()
}

#[test]
fn re_exports_lead_to_the_definition() {
    let parent = "mod b; mod c; pub use b::B; pub(crate) use c::*;";
    let files = |b, c| {
        [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", parent),
            ("a/b.rs", b),
            ("a/c.rs", c),
        ]
    };
    let uses_c = "use super::C; pub struct B(C);";
    assert_eq!(cycles_of(&files(uses_c, "pub struct C;")), [""; 0]);
    let uses_b = "pub struct C; fn f() { crate::a::B::new() }";
    assert_eq!(cycles_of(&files(uses_c, uses_b)), ["a/b a/c"]);
    let test_uses_b = "pub struct C; #[cfg(test)] mod tests { use crate::a::B; }";
    assert_eq!(cycles_of(&files(uses_c, test_uses_b)), [""; 0]);
    let inline = "pub struct C; mod inner { use super::super::b::{self, B}; }";
    assert_eq!(cycles_of(&files(uses_c, inline)), ["a/b a/c"]);
}

#[test]
fn a_parent_is_in_a_cycle_with_the_children_that_it_uses() {
    let files = |parent, child| [("lib.rs", parent), ("child.rs", child)];
    let child = "use super::Item; pub struct Child(Item);";
    assert_eq!(
        cycles_of(&files("mod child; pub struct Item;", child)),
        [""; 0]
    );
    let re_export = "mod child; pub use child::Child; pub struct Item;";
    assert_eq!(cycles_of(&files(re_export, child)), [""; 0]);
    let used = "mod child; pub use child::Child; pub struct Item; fn f(child: Child) {}";
    assert_eq!(cycles_of(&files(used, child)), ["child lib.rs"]);
    let called = "mod child; pub struct Item; fn f() { child::g() }";
    assert_eq!(cycles_of(&files(called, child)), ["child lib.rs"]);
}

#[test]
fn modules_without_a_cycle_of_files_may_be_in_one() {
    let files = |of_a| {
        [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; mod d;"),
            ("a/c.rs", "pub struct C;"),
            ("a/d.rs", of_a),
            ("b.rs", "use crate::a::c::C; pub struct B(C);"),
        ]
    };
    assert_eq!(cycles_of(&files("use crate::b::B;")), ["a b"]);
    assert_eq!(cycles_of(&files("use super::c::C;")), [""; 0]);
}
