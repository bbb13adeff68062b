//! Texts of libraries name no option of Takt's command lines: other programs show them, too. The command lines add the options.

use std::fs;

use takt_tests::binary::repository;

use crate::sources::sources;
use crate::tokens::strings;

/// Crates that are command lines.
const COMMAND_LINES: [&str; 3] = ["takt", "takt-demo", "takt-terminal"];

/// Options of other programs: of containers, `mount`, `setpriv`, `tar` and test executables.
const OF_OTHERS: [&str; 15] = [
    "--cap-add",
    "--cpu-rt-runtime",
    "--create",
    "--device",
    "--directory",
    "--exact",
    "--exclude",
    "--extract",
    "--file",
    "--include-ignored",
    "--make-rslave",
    "--nocapture",
    "--pdeathsig",
    "--strip-components",
    "--ulimit",
];

/// Returns the options that a text names: two hyphens and a word.
fn options(text: &str) -> Vec<&str> {
    let starts = text.match_indices("--").map(|(start, _)| start);
    let options = starts.filter(|start| !text[..*start].ends_with('-'));
    let options = options.map(|start| {
        let option = &text[start..];
        let end = option.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        &option[..end.unwrap_or(option.len())]
    });
    options
        .filter(|option| option[2..].starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn no_text_of_a_library_names_a_command_line_option() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let entry = entry.unwrap();
        if COMMAND_LINES.contains(&&*entry.file_name().to_string_lossy()) {
            continue;
        }
        for path in sources(&entry.path().join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            for string in strings(&text) {
                count += 1;
                let named = options(string);
                let own = named
                    .into_iter()
                    .filter(|option| !OF_OTHERS.contains(option));
                wrong.extend(own.map(|option| format!("{}: {option}", path.display())));
            }
        }
    }
    assert!(count > 1000, "{count} texts");
    assert!(
        wrong.is_empty(),
        "a text says what is wrong, and takt/src/explain words it with the option: {wrong:#?}"
    );
}

#[test]
fn options_are_found_in_texts() {
    assert_eq!(
        options("use --mirror-user NAME, or `--data`"),
        ["--mirror-user", "--data"]
    );
    assert_eq!(options("-- or --- or ---a or a--1"), [""; 0]);
}
