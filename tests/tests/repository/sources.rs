//! Rules for Rust sources: places of unsafe code, first words of doc comments, names of functions.

use std::fs;
use std::path::{Path, PathBuf};

use takt_tests::binary::repository;

/// Returns the Rust source files of a folder and its subfolders.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect()
}

/// Returns true if a line of code, not a comment, begins unsafe code.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let words: Vec<&str> = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    words.contains(&"unsafe")
}

/// CONTRIBUTING.md: "`unsafe` only in small modules that are named for it". The compiler sees to that where the attribute of the
/// crate is right and each exception is at the declaration of a module.
#[test]
fn unsafe_code_is_only_in_permitted_modules() {
    let folders = crate::rooms()
        .into_iter()
        .chain(["xtask", "tests"].map(PathBuf::from));
    let mut wrong = Vec::new();
    for folder in folders.map(|folder| repository().join(folder).join("src")) {
        let mut has_unsafe_code = false;
        for path in sources(&folder) {
            let text = fs::read_to_string(&path).unwrap();
            has_unsafe_code |= text.lines().any(is_unsafe);
            let mut lines = text.lines();
            while let Some(line) = lines.next() {
                let line = line.trim();
                if !line.contains("allow(unsafe_code") || line.starts_with("//") {
                    continue;
                }
                let mut next = lines
                    .clone()
                    .map(str::trim)
                    .skip_while(|it| it.starts_with("#["));
                let is_module = next.next().is_some_and(|next| {
                    let words = next.split(' ').filter(|word| !word.starts_with("pub"));
                    words.take(1).eq(["mod"])
                });
                if !line.starts_with("#[allow(unsafe_code") || !is_module {
                    wrong.push(format!("{}: {line} is not at a module", path.display()));
                }
            }
        }
        let attribute = match has_unsafe_code {
            true => "#![deny(unsafe_code)]",
            false => "#![forbid(unsafe_code)]",
        };
        let roots = ["lib.rs", "main.rs"].map(|root| folder.join(root));
        for root in roots.iter().filter(|root| root.exists()) {
            if !fs::read_to_string(root).unwrap().contains(attribute) {
                wrong.push(format!("{} needs {attribute}", root.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rooms that print for people. Texts of strangers reach a terminal through `takt-terminal` only, which escapes them.
const PRINTING: [&str; 4] = ["takt", "takt-demo", "takt-report", "takt-lab"];

#[test]
fn programs_print_through_takt_terminal() {
    let mut wrong = Vec::new();
    for room in PRINTING {
        for path in sources(&repository().join("crates").join(room).join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                let macros = ["print!(", "println!("];
                let streams = ["io::stdout()", "io::stderr()"];
                let prints = macros.iter().any(|it| line.contains(it))
                    || streams.iter().any(|it| line.contains(it)) && !line.contains("is_terminal");
                // The library of the command line prints its own answers.
                let is_flush = path.ends_with("takt/src/main.rs") && line.contains("flush");
                if prints && !is_flush {
                    wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words that describe a thing instead of naming it.
const UNCLEAR: [&str; 9] = [
    "How", "Nobody", "Somebody", "What", "Whatever", "Whether", "Who", "Whoever", "Whose",
];

/// Returns the first word of each doc comment, with the number of its line.
fn first_words(text: &str) -> Vec<(usize, &str)> {
    let mut previous = "";
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim_start)) {
        let kind = ["///", "//!"]
            .into_iter()
            .find(|kind| line.starts_with(kind));
        if let Some(kind) = kind.filter(|kind| !previous.starts_with(kind)) {
            let word = line[kind.len()..].trim_start();
            let word = word.split(|c: char| !c.is_alphanumeric()).next();
            words.push((number, word.unwrap_or_default()));
        }
        previous = line;
    }
    words
}

/// Returns the name of the function that a line of code begins.
fn function_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_code = before.split_whitespace().all(|word| {
        ["pub", "async", "const", "unsafe", "extern"]
            .iter()
            .any(|it| word.starts_with(it))
    });
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    is_code.then_some(name)
}

/// CONTRIBUTING.md: "The first sentence of a doc comment names the thing." Names of functions, tests among them, obey the same rule.
#[test]
fn comments_and_functions_name_the_thing() {
    assert_eq!(
        first_words("//! A\n\n/// What: is left.\n/// Who.\nfn a() {}\n    /// B"),
        [(1, "A"), (3, "What"), (6, "B")]
    );
    assert_eq!(
        function_name("    pub(crate) async fn what_is_left("),
        Some("what_is_left")
    );
    assert_eq!(function_name("    // fn what_is_left("), None);
    let folders = [
        "bench",
        "crates",
        "examples",
        "fuzz/examples",
        "fuzz/fuzz_targets",
        "fuzz/src",
        "peers/open62541/src",
        "tests",
        "xtask",
    ];
    let mut wrong = Vec::new();
    for path in folders
        .iter()
        .flat_map(|folder| sources(&repository().join(folder)))
    {
        let text = fs::read_to_string(&path).unwrap();
        for (number, word) in first_words(&text) {
            if UNCLEAR.contains(&word) {
                wrong.push(format!(
                    "{}:{number}: the comment begins with {word}",
                    path.display()
                ));
            }
        }
        for (number, name) in (1..)
            .zip(text.lines())
            .filter_map(|(number, line)| Some((number, function_name(line)?)))
        {
            let word = name.split('_').next().unwrap_or_default();
            if UNCLEAR.iter().any(|it| it.eq_ignore_ascii_case(word)) && name.contains('_') {
                wrong.push(format!(
                    "{}:{number}: the name {name} begins with {word}",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
