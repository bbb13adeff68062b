//! The repository's own rules.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attacks;
mod comparisons;
mod cycles;
mod features;
mod module;
mod options;
mod package;
mod parts;
mod public_names;
mod sources;
mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use takt_tests::binary::repository;
use takt_tests::interop::CHECKS;

/// Returns the folders of the rooms, relative to the repository: the packages of Takt, and those that measure it.
fn rooms() -> Vec<PathBuf> {
    let below = |folder: &'static str| {
        let entries = fs::read_dir(repository().join(folder)).unwrap();
        entries.map(move |entry| Path::new(folder).join(entry.unwrap().file_name()))
    };
    let all = below("crates")
        .chain(below("bench"))
        .chain([PathBuf::from("bench")]);
    all.filter(|folder| repository().join(folder).join("Cargo.toml").exists())
        .collect()
}

/// Returns the Cargo.toml files of all packages.
fn manifests() -> Vec<PathBuf> {
    let others = [
        "xtask",
        "tests",
        "tests/instructions",
        "peers/async-opcua",
        "peers/open62541",
        "fuzz",
    ];
    let all = rooms().into_iter().chain(others.map(PathBuf::from));
    all.map(|folder| repository().join(folder).join("Cargo.toml"))
        .filter(|path| path.exists())
        .collect()
}

/// Returns the dependencies of a package from a registry, of any kind.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let mut found = BTreeSet::new();
    let mut in_dependencies = false;
    for line in text.lines() {
        if line.starts_with('[') {
            in_dependencies = line.trim_end_matches(']').ends_with("dependencies");
        } else if in_dependencies && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let name = line.split(['.', '=', ' ']).next().unwrap();
            if !name.starts_with("takt-") {
                found.insert(name.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_dependency_is_justified_and_every_justification_needed() {
    let used: BTreeSet<String> = manifests()
        .iter()
        .flat_map(|manifest| dependencies(manifest))
        .collect();
    assert!(used.len() > 10, "{used:?}");
    let text = fs::read_to_string(repository().join("docs/dependencies.md")).unwrap();
    let justified: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(used, justified, "docs/dependencies.md");
}

#[test]
fn the_tests_in_the_table_of_faults_exist() {
    let text = fs::read_to_string(repository().join("docs/faults.md")).unwrap();
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (id, file, test) = (cells.next()?, cells.next()?, cells.next()?);
        let file = file.strip_prefix('`')?.strip_suffix('`')?;
        let test = test.strip_prefix('`')?.split('`').next()?;
        Some((id, file, test))
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 10, "{rows:?}");
    for (id, file, test) in &rows {
        let folder = match file.split_once('/') {
            Some((first, _)) if first.starts_with("takt-") => "crates",
            Some(("interop" | "lab" | "patience" | "privileged", _)) => "tests/tests",
            _ => "tests/tests/end_to_end",
        };
        let source = fs::read_to_string(repository().join(folder).join(file)).unwrap();
        assert!(source.contains(&format!("fn {test}(")), "{id}: {test}");
    }
    // Each cell of the first table names tests of the second one, or says that there is none.
    let cells = text
        .lines()
        .filter(|line| line.starts_with("| **"))
        .flat_map(|line| line.trim_matches('|').split(" | ").skip(1))
        .flat_map(|cell| cell.trim().split(", "));
    let mut count = 0;
    for cell in cells {
        count += 1;
        let is_known = ["not tested", "–"].contains(&cell) || rows.iter().any(|row| row.0 == cell);
        assert!(is_known, "{cell}");
    }
    assert!(count > 50, "{count} cells");
}

/// bindgen accepts syn 2 or 3 and passes parsed code to prettyplease: both must use the same version, which a new
/// resolution does not guarantee.
#[test]
fn bindgen_and_prettyplease_have_one_syn() {
    let lock = fs::read_to_string(repository().join("Cargo.lock")).unwrap();
    let syn_of = |name: &str| -> BTreeSet<String> {
        let packages = lock.split("[[package]]");
        packages
            .filter(|package| package.contains(&format!("\nname = \"{name}\"\n")))
            .filter_map(|package| package.lines().find(|line| line.contains("\"syn")))
            .map(|line| line.trim().to_owned())
            .collect()
    };
    let expected = syn_of("prettyplease");
    assert_eq!(expected.len(), 1, "{expected:?}");
    assert_eq!(
        syn_of("bindgen"),
        expected,
        "in Cargo.lock, give bindgen the syn of prettyplease"
    );
}

#[test]
fn lock_files_name_no_registry() {
    let lock = fs::read_to_string(repository().join("peers/node/package-lock.json")).unwrap();
    assert!(
        !lock.contains("\"resolved\""),
        "npm install writes where it fetched from: see peers/node/.npmrc"
    );
}

/// Returns the drawings in the head of a source file.
fn drawings(source: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(source)).unwrap();
    let head: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let head = head.join("\n");
    let blocks = head.split("```text\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_documented_layouts_of_shared_memory_are_those_of_the_sources() {
    let document = fs::read_to_string(repository().join("docs/shared-memory.md")).unwrap();
    for part in [
        "channel/mail",
        "channel/layout",
        "header",
        "channel/attention",
    ] {
        let source = format!("crates/takt-shm/src/{part}.rs");
        let drawings = drawings(&source);
        assert!(!drawings.is_empty(), "{source}");
        for drawing in drawings {
            assert!(document.contains(&drawing), "{source}:\n{drawing}");
        }
    }
}

/// Returns the documents of the repository: their paths below its folder, and their texts.
fn documents() -> Vec<(PathBuf, String)> {
    let mut documents = Vec::new();
    for folder in ["", "docs", "peers", "peers/middleware"] {
        for entry in fs::read_dir(repository().join(folder)).unwrap() {
            let name = PathBuf::from(entry.unwrap().file_name());
            if name.extension().is_some_and(|extension| extension == "md") {
                let path = Path::new(folder).join(name);
                let text = fs::read_to_string(repository().join(&path)).unwrap();
                documents.push((path, text));
            }
        }
    }
    assert!(documents.len() > 10, "{documents:?}");
    documents
}

#[test]
fn lines_of_documents_have_120_columns_at_most() {
    let mut long = Vec::new();
    for (path, text) in documents() {
        for (line, number) in text.lines().zip(1..) {
            if line.chars().count() > 120 {
                long.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

/// Returns the anchor of a heading in a document, as Git hosting sites make it.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn links_between_documents_have_targets() {
    let mut links = 0;
    for (path, text) in documents() {
        let targets = text.split("](").skip(1);
        let targets = targets.filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
        for target in targets.filter(|target| !target.starts_with("http")) {
            links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = path.parent().unwrap();
            let file = if file.is_empty() {
                path.clone()
            } else {
                folder.join(file)
            };
            let found = repository().join(file);
            assert!(found.exists(), "{}: {target}", path.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(found).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#').trim()));
                assert!(
                    anchors.any(|anchor| anchor == heading),
                    "{}: {target}",
                    path.display()
                );
            }
        }
    }
    assert!(links > 20, "{links}");
}

#[test]
fn the_index_of_documents_has_all_of_them() {
    let index = fs::read_to_string(repository().join("docs/README.md")).unwrap();
    let mut missing = Vec::new();
    for entry in fs::read_dir(repository().join("docs")).unwrap() {
        let name = entry.unwrap().file_name();
        let name = name.to_str().unwrap();
        if name.ends_with(".md") && name != "README.md" && !index.contains(&format!("]({name})")) {
            missing.push(name.to_owned());
        }
    }
    assert!(missing.is_empty(), "not in docs/README.md: {missing:?}");
}

#[test]
fn checks_of_foreign_clients_are_documented() {
    let text = fs::read_to_string(repository().join("peers/README.md")).unwrap();
    let (_, section) = text.split_once("\n## Clients: checks\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let names: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let checks: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names, checks);
}

/// Returns the workflow files for hosted CI: names and texts.
fn workflows() -> Vec<(String, String)> {
    let folder = fs::read_dir(repository().join(".github/workflows")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        (
            path.display().to_string(),
            fs::read_to_string(&path).unwrap(),
        )
    };
    paths.map(read).collect()
}

#[test]
fn every_part_of_the_tests_is_run_by_a_workflow() {
    let list = Command::new(repository().join("test"))
        .arg("--list")
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let parts: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(parts.contains("unit") && parts.contains("fuzz"), "{list}");
    let workflows = workflows();
    let lines = workflows.iter().flat_map(|(_, text)| text.lines());
    let part_of = |line: &str| {
        let part = line.trim().strip_prefix("- part: ");
        let run = line.trim().strip_prefix("- run: ./test ");
        let name = part.or(run)?.to_owned();
        (!name.starts_with("${{")).then_some(name)
    };
    let run: BTreeSet<String> = lines.filter_map(part_of).collect();
    let missing: Vec<_> = parts.iter().filter(|part| !run.contains(**part)).collect();
    assert!(missing.is_empty(), "no workflow runs {missing:?}");
}

#[test]
fn workflows_only_read_and_pin_their_actions() {
    for (name, text) in workflows() {
        assert!(text.contains("permissions:\n  contents: read\n"), "{name}");
        assert!(!text.contains(": write"), "{name}");
        for line in text.lines().filter(|line| line.contains("uses: ")) {
            let version = line.split_once('@').map_or("", |(_, version)| version);
            let is_exact = version.starts_with('v') && version.split('.').count() == 3;
            assert!(is_exact, "{name}: {line}");
        }
    }
}

/// Each test executable is linked with all that it uses: CONTRIBUTING.md says where tests belong.
#[test]
fn test_executables_are_few() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(repository())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let targets = packages.flat_map(|package| package["targets"].as_array().unwrap());
    let with_tests = targets.filter(|target| target["test"] == true);
    let names: Vec<String> = with_tests
        .map(|target| format!("{} {}", target["kind"], target["name"]))
        .collect();
    assert!(
        (50..=74).contains(&names.len()),
        "{}: {names:#?}",
        names.len()
    );
}

#[test]
fn every_fuzz_target_has_an_existing_dictionary() {
    let script = fs::read_to_string(repository().join(".ci/other_compilers.sh")).unwrap();
    let (_, choice) = script.split_once("fuzz_dictionary() {").unwrap();
    let (choice, _) = choice.split_once("esac").unwrap();
    let names = choice.lines().filter_map(|line| line.split_once(") echo "));
    let names = names.map(|(_, name)| name.split(' ').next().unwrap());
    let names: BTreeSet<&str> = names.collect();
    assert!(names.contains("ua") && names.len() > 5, "{names:?}");
    for name in names {
        let path = repository().join(format!("fuzz/dictionaries/{name}.dict"));
        let entries = fs::read_to_string(path).unwrap();
        let is_entry = |line: &str| {
            line.split_once('=')
                .is_some_and(|(_, text)| text.starts_with('"') && text.ends_with('"'))
        };
        let mut lines = entries.lines().filter(|line| !line.starts_with('#'));
        assert!(lines.all(is_entry), "{name}");
    }
}

#[test]
fn seeds_of_fuzz_targets_are_few_and_small() {
    let fuzz = repository().join("fuzz");
    let table = fs::read_to_string(fuzz.join("fuzz_targets/main.rs")).unwrap();
    let (_, table) = table.split_once("targets![\n").unwrap();
    let (table, _) = table.split_once("\n]").unwrap();
    let names = table.lines().map(|line| line.trim().trim_end_matches(','));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    let names_in = |folder: &str| {
        let entries = fs::read_dir(fuzz.join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let stems = paths.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        stems.collect::<BTreeSet<String>>()
    };
    let mut modules = names_in("fuzz_targets");
    assert!(modules.remove("main"));
    assert_eq!(names, modules);
    let with_seeds = names_in("seeds");
    assert!(with_seeds.is_subset(&names), "{with_seeds:?}");
    for name in with_seeds {
        let seeds = fs::read_dir(fuzz.join("seeds").join(&name)).unwrap();
        let sizes = seeds.map(|seed| seed.unwrap().metadata().unwrap().len());
        let size: u64 = sizes.sum();
        assert!((1..16 << 10).contains(&size), "{name}: {size} bytes");
    }
}
