//! Texts of libraries name neither a command nor an option of Takt's command lines: other programs show them, too. The command lines add
//! them.

use std::fs;
use std::path::PathBuf;

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

/// First lines of files, which no person reads.
const MARKS: [&str; 2] = ["takt alarms", "takt conditions"];

/// Returns the commands that a text names: `takt` and a word, also across lines.
fn commands(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| {
        let is_program = pair[0].trim_start_matches(['`', '"', '(', '\'']) == "takt";
        is_program && pair[1].starts_with(|c: char| c.is_ascii_lowercase())
    });
    pairs
        .map(|pair| format!("takt {}", pair[1]))
        .filter(|command| !MARKS.contains(&command.as_str()))
        .collect()
}

/// Returns the texts of libraries, with their files.
fn texts_of_libraries() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let entry = entry.unwrap();
        if COMMAND_LINES.contains(&&*entry.file_name().to_string_lossy()) {
            continue;
        }
        for path in sources(&entry.path().join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            texts.extend(
                strings(&text)
                    .into_iter()
                    .map(|it| (path.clone(), it.to_owned())),
            );
        }
    }
    assert!(texts.len() > 1000, "{} texts", texts.len());
    texts
}

#[test]
fn no_text_of_a_library_names_a_command_or_an_option_of_takt() {
    let mut wrong = Vec::new();
    for (path, text) in texts_of_libraries() {
        let own = options(&text)
            .into_iter()
            .filter(|option| !OF_OTHERS.contains(option));
        let named = own.map(str::to_owned).chain(commands(&text));
        wrong.extend(named.map(|it| format!("{}: {it}", path.display())));
    }
    assert!(
        wrong.is_empty(),
        "a text says what is wrong; takt/src/explain words it with the option, and takt_crypto::Remedy with the command: {wrong:#?}"
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

#[test]
fn commands_are_found_in_texts() {
    assert_eq!(
        commands("\"see `takt user list`, or takt \\\n    trust add\""),
        ["takt user", "takt trust"]
    );
    assert_eq!(
        commands("\"takt alarms 1\" .takt polyline, Takt is"),
        [""; 0]
    );
}
