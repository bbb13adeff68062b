//! The numbers of packages that programs link, with their features.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use takt_tests::binary::repository;

/// Greatest number of packages of a Provider without features.
const MOST: usize = 90;

/// Returns the packages that a package links for this host, itself included.
fn packages(package: &str, features: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(repository())
        .args(["tree", "--locked", "--offline", "--edges", "normal"])
        .args(["--prefix", "none", "--package", package]);
    if features != "default" {
        command.args(["--no-default-features", "--features", features]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // Name and version; a mark follows where a package appears again.
    let packages = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?))
    });
    packages.collect()
}

#[test]
fn programs_link_as_many_packages_as_the_table_says() {
    let text = fs::read_to_string(repository().join("docs/dependencies.md")).unwrap();
    let mut least = usize::MAX;
    let mut count = 0;
    for row in text.lines() {
        let package = match row {
            _ if row.starts_with("| Provider |") => "takt-app",
            _ if row.starts_with("| Consumer |") => "takt-client",
            _ => continue,
        };
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [_, features, number] = cells[..] else {
            panic!("{row}");
        };
        let features = match features.split(':').next().unwrap() {
            "none" => String::new(),
            named => named.replace(['`', ' '], ""),
        };
        let found = packages(package, &features);
        assert_eq!(found.len().to_string(), number, "{row}: {found:?}");
        if package == "takt-app" {
            least = least.min(found.len());
        }
        count += 1;
    }
    assert_eq!(count, 5);
    assert!(least <= MOST, "{least} packages");
}
