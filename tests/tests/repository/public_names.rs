//! Names of public types: each is the name of one type in all libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use takt_tests::binary::repository;

use crate::package::Package;
use crate::tokens::{group, is_name, tokens};

/// Names that several crates may use, with the reason.
const ALLOWED: [(&str, &str); 1] = [("Sealed", "it cannot be named outside its module")];

const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// Returns the macros of a file that declare public types with names that they are given.
fn declaring_macros<'a>(tokens: &[&'a str]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (index, window) in tokens.windows(4).enumerate() {
        if let ["macro_rules", "!", name, "{"] = window {
            let rest = &tokens[index + 3..];
            let body = &rest[..group(rest)];
            let declares =
                |part: &[&str]| part[0] == "pub" && KINDS.contains(&part[1]) && part[2] == "$";
            if body.windows(3).any(declares) {
                found.insert(*name);
            }
        }
    }
    found
}

/// Returns the names of the public types that a file declares, also by these macros.
fn public_types<'a>(tokens: &[&'a str], macros: &BTreeSet<&str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for index in 0..tokens.len() {
        match &tokens[index..] {
            ["pub", kind, name, ..] | ["pub", "unsafe", kind, name, ..]
                if KINDS.contains(kind) && is_name(name) =>
            {
                found.insert(*name);
            }
            [name, "!", rest @ ..] if macros.contains(name) => {
                found.extend(declared_names(&rest[1..group(rest) - 1]));
            }
            _ => {}
        }
    }
    found
}

/// Returns the names at the beginning of a macro's arguments, and behind a group in their braces or an attribute.
fn declared_names<'a>(arguments: &[&'a str]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut before = "}";
    let mut rest = arguments;
    while let [first, ..] = rest {
        if is_name(first) && matches!(before, "}" | "]") {
            found.insert(*first);
        }
        let count = group(rest);
        before = rest[count - 1];
        rest = &rest[count..];
    }
    found
}

/// Returns the names of the public types of a library whose modules begin at `root`.
fn names_of(root: &Path) -> BTreeSet<String> {
    let open = |file: &Path| fs::read_to_string(repository().join(file)).ok();
    let package = Package::read(root, open);
    let texts = package.files().into_iter().filter_map(open);
    let texts: Vec<String> = texts.collect();
    let files: Vec<Vec<&str>> = texts.iter().map(|text| tokens(text)).collect();
    let macros = files.iter().flat_map(|file| declaring_macros(file));
    let macros: BTreeSet<&str> = macros.collect();
    let names = files.iter().flat_map(|file| public_types(file, &macros));
    names.map(str::to_owned).collect()
}

/// A name of a public type stands for one type, whichever crates a file uses. Public types are those with `pub` in the sources of a
/// library without its tests; the lint `unreachable_pub` refuses `pub` where it is not reachable. Macros that declare public types count
/// as well: the names at the beginning of their arguments, and behind a group in braces.
#[test]
fn names_of_public_types_are_distinct() {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for room in crate::rooms() {
        let root = room.join("src/lib.rs");
        if repository().join(&root).exists() {
            let name = room.display().to_string();
            for public in names_of(&root) {
                crates.entry(public).or_default().insert(name.clone());
            }
        }
    }
    for known in [
        "NodeId",
        "ReadRequest",
        "Provider",
        "WriterGroup",
        "Scenario",
    ] {
        assert!(crates.contains_key(known), "{known} is not found");
    }
    crates.retain(|_, crates| crates.len() > 1);
    for (name, reason) in ALLOWED {
        let removed = crates.remove(name);
        assert!(removed.is_some(), "{name} is distinct, though {reason}");
    }
    assert!(
        crates.is_empty(),
        "public types of several crates: {crates:#?}"
    );
}

#[test]
fn types_of_macros_and_declarations_are_found() {
    let text = "
        macro_rules! declare { ($name:ident, $of:ty) => { pub struct $name($of); } }
        macro_rules! declare_all { ($($name:ident = $id:literal { $($tokens:tt)* })*) => { pub enum $name {} } }
        macro_rules! use_it { ($name:ident) => { impl $name {} } }
        declare!(First, Vec<(Inner, u8)>);
        declare_all! { Sixth = 1 { A = 2 } #[doc = \"x\"] Seventh = 3 { B = 4 } }
        use_it!(Other);
        pub unsafe trait Second { type Hidden; }
        pub(crate) struct Third;
        pub type Fourth = Vec<u8>;
        struct Fifth;
    ";
    let tokens = tokens(text);
    let macros = declaring_macros(&tokens);
    assert_eq!(macros, BTreeSet::from(["declare", "declare_all"]));
    let expected = ["First", "Second", "Fourth", "Sixth", "Seventh"];
    assert_eq!(public_types(&tokens, &macros), BTreeSet::from(expected));
}
