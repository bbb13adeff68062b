//! Run of a case of the conformance suite.

use std::path::PathBuf;

use takt_scenario::{FlowSource, Scenario};
use takt_tests::process::{Finished, run as run_process};
use takt_tests::{Process, Sandbox};

use crate::cases::Case;
use crate::{Outcome, PATIENCE, TestedBackend, checks, recorded};

/// Run in a sandbox.
pub struct SandboxedRun {
    pub sandbox: Sandbox,
    scenario: PathBuf,
    /// Directory of the run.
    pub directory: PathBuf,
}

impl SandboxedRun {
    pub fn new(scenario: &str) -> Self {
        let sandbox = Sandbox::new();
        let file = sandbox.data_directory().join("scenario.toml");
        std::fs::write(&file, scenario).unwrap();
        Self {
            directory: sandbox.data_directory().join("run"),
            scenario: file,
            sandbox,
        }
    }

    /// Returns the command line of a run.
    pub fn command(&self, arguments: &[&str]) -> std::process::Command {
        let base = [
            "lab",
            "run",
            self.scenario.to_str().unwrap(),
            "--to",
            self.directory.to_str().unwrap(),
        ];
        self.sandbox.takt(&[&base, arguments].concat())
    }

    /// Runs to the end.
    pub fn finish(&self, arguments: &[&str]) -> Finished {
        run_process("takt lab run", &mut self.command(arguments), PATIENCE)
    }

    /// Starts a run.
    pub fn start(&self, arguments: &[&str]) -> Process {
        Process::spawn("takt lab run", &mut self.command(arguments))
    }
}

/// Runs a case and checks its files.
pub fn run(case: &Case, backend: &TestedBackend) -> Outcome {
    let scenario = Scenario::parse(&case.scenario, "conformance.toml");
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let run = SandboxedRun::new(&case.scenario);
    let messages = case.messages.to_string();
    let mut arguments = vec!["--backend", &backend.name, "--messages", &messages];
    if backend.is_host() && !case.is_about_disciplines {
        arguments.push("--without-disciplines");
    }
    let finished = run.finish(&arguments);
    if backend.is_host() && !finished.status.success() && finished.stderr.contains("lacks") {
        let error = finished.stderr.lines().next().unwrap_or_default();
        assert!(!run.directory.exists(), "a directory was made");
        return Outcome::Ignored(error.trim().trim_start_matches("× ").to_owned());
    }
    let printed = finished.expect_success();
    let cases = recorded::cases(&run.directory);
    let [recorded] = cases.as_slice() else {
        panic!("{} cases", cases.len());
    };
    checks::all(case, &scenario, recorded, backend);
    checks::launches(&scenario, recorded);
    for flow in scenario.flows() {
        if let FlowSource::Publish(_) | FlowSource::Branch(..) = flow.source {
            checks::analysis(&run.sandbox, recorded, &scenario.flow_name(flow.source));
        }
    }
    for part in ["returned", "takt analyze", "takt report"] {
        assert!(printed.contains(part), "no `{part}`: {printed}");
    }
    Outcome::Passed
}
