//! Plans of every shipped scenario with each of its disciplines, compared with the files in `golden`.
//! `TAKT_UPDATE_GOLDEN=1` writes them anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use takt_scenario::{Rate, Scenario, ScenarioFile, ScenarioVariant};
use takt_tsn::{HardwareOffload, PlanOptions, SchedulePicture, plan_scenario, script};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the first scenario with each value of the swept discipline; without such a sweep, the first one.
fn by_discipline(path: &Path) -> Vec<(String, Scenario)> {
    let text = std::fs::read_to_string(path).unwrap();
    let file = ScenarioFile::parse(&text, &path.display().to_string())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut chosen: Vec<(String, Scenario)> = Vec::new();
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    for ScenarioVariant {
        settings, scenario, ..
    } in file.variants().unwrap()
    {
        let swept = settings.iter().find(|(path, _)| path == "discipline");
        let name = swept.map_or_else(|| stem.clone(), |(_, value)| format!("{stem}-with-{value}"));
        if chosen.iter().all(|(other, _)| *other != name) {
            chosen.push((name, scenario));
        }
    }
    // The line with seven hops is the last one of its sweep.
    if let [(_, only)] = chosen.as_mut_slice() {
        *only = file.scenario().clone();
    }
    chosen
}

fn shown(scenario: &Scenario, offload: HardwareOffload) -> String {
    let options = PlanOptions {
        offload,
        vlan_interfaces: true,
        ..PlanOptions::default()
    };
    shown_with(scenario, &options)
}

fn shown_with(scenario: &Scenario, options: &PlanOptions) -> String {
    let mut text = String::new();
    for plan in plan_scenario(scenario, options).unwrap() {
        for line in script(&plan) {
            writeln!(text, "{line}").unwrap();
        }
        for derivation in &plan.derivations {
            writeln!(text, "#   {}: {}", derivation.number, derivation.origin).unwrap();
        }
        for warning in &plan.warnings {
            writeln!(text, "#   warning: {warning}").unwrap();
        }
        writeln!(text).unwrap();
    }
    for line in SchedulePicture::of_scenario(scenario).text() {
        writeln!(text, "# {line}").unwrap();
    }
    text
}

/// Compares a text with a golden file, or writes the file. Returns the difference.
fn compare(name: &str, text: &str) -> Option<String> {
    let path = folder("tests/golden").join(name);
    if std::env::var("TAKT_UPDATE_GOLDEN").is_ok_and(|value| value == "1") {
        std::fs::create_dir_all(folder("tests/golden")).unwrap();
        std::fs::write(&path, text).unwrap();
        return None;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return None;
    }
    let mut lines = (1..).zip(golden.lines().zip(text.lines()));
    let first = lines.find(|(_, (golden, now))| golden != now);
    Some(match first {
        Some((line, (golden, now))) => {
            format!("{name}, line {line}:\n  golden: {golden}\n  now:    {now}")
        }
        None => format!(
            "{name}: {} lines instead of {}",
            text.lines().count(),
            golden.lines().count()
        ),
    })
}

#[test]
fn plans_of_all_scenarios_are_the_golden_ones() {
    let mut names = Vec::new();
    let mut differences = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder("../../scenarios"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    for path in files {
        for (name, scenario) in by_discipline(&path) {
            for (kind, offload) in [
                ("", HardwareOffload::AsInScenario),
                ("-full-offload", HardwareOffload::Full),
            ] {
                // Full offload differs by the discipline alone, not by the network.
                if kind.is_empty() || name.starts_with("d-") || name == "line-taprio" {
                    let name = format!("{name}{kind}.sh");
                    differences.extend(compare(&name, &shown(&scenario, offload)));
                    names.push(name);
                }
            }
            let picture = SchedulePicture::of_scenario(&scenario);
            if !picture.ports.is_empty() {
                let name = format!("{name}.svg");
                differences.extend(compare(&name, &picture.svg()));
                names.push(name);
            }
        }
    }
    // The clocks of nodes drift. At another speed, computed credits follow, and given ones stay.
    let text = std::fs::read_to_string(folder("tests/drift.toml")).unwrap();
    let drift = Scenario::parse(&text, "drift.toml").unwrap();
    for (name, speed) in [
        ("drift.sh", None),
        ("drift-at-1-Gbit.sh", Some(Rate(1_000_000_000))),
    ] {
        let options = PlanOptions {
            speed,
            ..PlanOptions::default()
        };
        differences.extend(compare(name, &shown_with(&drift, &options)));
        names.push(name.to_owned());
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let golden = std::fs::read_dir(folder("tests/golden")).unwrap();
    let golden: Vec<String> = golden
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let stale: Vec<&String> = golden.iter().filter(|name| !names.contains(name)).collect();
    assert!(stale.is_empty(), "files without a scenario: {stale:?}");
}
