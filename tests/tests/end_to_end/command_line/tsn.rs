//! `takt tsn plan` for the shipped scenarios.

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::control_loops::fits;
use crate::command_line::mistakes::fails;

/// Returns the scenarios of the repository.
fn scenarios() -> Vec<String> {
    let entries = std::fs::read_dir(repository().join("scenarios")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path().display().to_string());
    let found: Vec<String> = paths.filter(|path| path.ends_with(".toml")).collect();
    assert!(found.len() >= 10, "{found:?}");
    found
}

/// Returns the commands of a script, each in one line.
fn commands(script: &str) -> Vec<String> {
    let script = script.replace("\\\n", " ");
    let lines = script.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn plans_of_all_scenarios_are_scripts_and_objects() {
    let sandbox = Sandbox::new();
    for scenario in scenarios() {
        let plan = ["tsn", "plan", scenario.as_str()];
        let script = sandbox.run(&plan).expect_success();
        let explained = sandbox.run(&[&plan[..], &["--explain"]].concat());
        fits(&script);
        fits(&explained.stderr);
        let explained = explained.expect_success();
        fits(&explained);
        assert!(
            explained.contains("# origin of the numbers:"),
            "{explained}"
        );
        assert_eq!(commands(&explained), commands(&script), "{scenario}");
        // Objects have the commands without the two that remove what was there.
        let ports = sandbox.rows(&plan);
        let of_ports = ports
            .iter()
            .flat_map(|port| port["commands"].as_array().unwrap());
        let of_ports: Vec<&str> = of_ports.map(|command| command.as_str().unwrap()).collect();
        let in_script = commands(&script);
        let in_script: Vec<&String> = in_script
            .iter()
            .filter(|line| !line.ends_with("|| true"))
            .collect();
        assert_eq!(of_ports, in_script, "{scenario}");
        let headings = script.lines().filter(|line| line.contains(" at eth"));
        assert_eq!(headings.count(), ports.len(), "{scenario}");
    }
}

#[test]
fn gates_are_drawn() {
    let (sandbox, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let scenario = repository().join("scenarios/line-taprio.toml");
    let scenario = scenario.to_str().unwrap();
    let svg = folder.path().join("gates.svg");
    let plan = ["tsn", "plan", scenario, "--node", "bridge1", "--svg"];
    let printed = sandbox.run(&[&plan[..], &[svg.to_str().unwrap()]].concat());
    let printed = printed.expect_success();
    fits(&printed);
    assert!(printed.contains("# open gates:"), "{printed}");
    let drawn = std::fs::read_to_string(&svg).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.trim_end().ends_with("</svg>"));
    let gates: Vec<Value> = sandbox.rows(&plan[..5]);
    assert!(!gates.is_empty());
    for port in gates {
        let port = port["port"].as_str().unwrap();
        assert!(drawn.contains(port), "no `{port}`: {drawn}");
    }
    let nowhere = folder.path().join("nowhere/gates.svg");
    let nowhere = nowhere.to_str().unwrap();
    fails(
        &sandbox,
        &[&plan[..], &[nowhere]].concat(),
        &["cannot write", "directory"],
    );
}

#[test]
fn mistakes_have_their_fix() {
    let sandbox = Sandbox::new();
    let line = repository().join("scenarios/line.toml");
    let line = line.to_str().unwrap();
    let mistakes: [(&[&str], &[&str]); 10] = [
        (&[], &["--interface", "--discipline"]),
        (&[line, "--node", "bridge9"], &["`bridge9`", "bridge1"]),
        (&[line, "--interface", "eth0"], &["--node", "--port"]),
        (
            &[line, "--svg", "gates.svg"],
            &["no gates", "discipline=taprio"],
        ),
        (&[line, "--set", "discipline=csb"], &["csb", "cbs"]),
        (
            &["--interface", "eth0", "--discipline", "cbs"],
            &["--idle-slope"],
        ),
        (
            &[
                "--interface",
                "eth0",
                "--discipline",
                "etf",
                "--delta",
                "1us",
                "--idle-slope",
                "1 Mbit/s",
            ],
            &["--idle-slope has no effect", "etf"],
        ),
        (
            &[
                "--interface",
                "eth0",
                "--discipline",
                "taprio",
                "--cycle",
                "250us",
                "--window",
                "300us",
            ],
            &["--window 300 us", "--cycle 250 us"],
        ),
        (
            &[
                "--interface",
                "eth0",
                "--discipline",
                "taprio",
                "--cycle",
                "3 s",
                "--window",
                "1 s",
            ],
            &["`cycle_time` is 3 s", "sch_taprio.c"],
        ),
        (
            &["--interface", "a/b", "--discipline", "mqprio"],
            &["`a/b`", "ip link"],
        ),
    ];
    for (arguments, parts) in mistakes {
        let arguments = [&["tsn", "plan"], arguments].concat();
        fails(&sandbox, &arguments, parts);
        fits(&sandbox.run(&arguments).stderr);
    }
}
