//! Attacks in the documents are those of the benchmark.

use std::fs;

use takt_attack::Attack;
use takt_tests::binary::repository;

/// Command that measures some attacks.
const COMMAND: &str = "takt bench attack --only ";

/// Returns the names of attacks in the first cells of the table of `docs/budgets.md`.
fn in_table() -> Vec<String> {
    let text = fs::read_to_string(repository().join("docs/budgets.md")).unwrap();
    let section = text.split("\n## Attacks\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_table_of_attacks_has_attacks_of_the_benchmark() {
    let names = in_table();
    for name in &names {
        assert!(Attack::from_name(name).is_some(), "`{name}` is no attack");
    }
    // These need a server of their own, which the table describes.
    for attack in Attack::ALL
        .iter()
        .filter(|attack| attack.needs_prepared_server())
    {
        let name = attack.name().to_owned();
        assert!(names.contains(&name), "`{name}` is missing");
    }
}

#[test]
fn documents_measure_attacks_that_exist() {
    let documents = fs::read_dir(repository().join("docs")).unwrap();
    for document in documents {
        let path = document.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (at, _) in text.match_indices(COMMAND) {
            let names = text[at + COMMAND.len()..].split([' ', '`', '\n']).next();
            for name in names.unwrap().split(',') {
                let is_there = Attack::ALL
                    .iter()
                    .any(|attack| attack.name().contains(name));
                assert!(is_there, "{}: `{name}`", path.display());
            }
        }
    }
}
