//! The parts of `./test`: the files of each exist, and a change chooses parts by them.

use std::process::Command;

use takt_tests::binary::repository;

/// Returns the lines that a command prints after it has read the plan of the parts.
fn of_plan(command: &str) -> Vec<String> {
    let script = format!("set -euo pipefail; source .ci/common.sh; source .ci/plan.sh; {command}");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(repository())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {error}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn each_part_names_files_that_exist() {
    let parts = of_plan("parts_of test all");
    assert!(parts.len() > 10, "{parts:?}");
    for part in parts {
        let files = of_plan(&format!("files_of {part}"));
        assert!(!files.is_empty(), "{part} names no file");
        for file in files {
            // A pattern is one of git's own.
            let is_pattern = file.contains('*') || file.starts_with(":!");
            assert!(
                is_pattern || repository().join(&file).exists(),
                "{part} names {file}, which does not exist"
            );
        }
    }
}

#[test]
fn a_change_needs_the_parts_of_its_files() {
    let chosen = of_plan("changed_parts HEAD $(parts_of test all)");
    let all = of_plan("parts_of test all");
    assert!(chosen.iter().all(|part| all.contains(part)));
    // No such commit: nothing is left out.
    let unknown = of_plan("changed_parts 0000000000000000000000000000000000000000 $(parts_of all)");
    assert_eq!(unknown, of_plan("parts_of all"));
}
