//! Directories of runs before they run.

use std::fs;

use takt_lab::bundle::RunBundle;
use takt_lab::run_directory::RunDescription;
use takt_lab::{Backend, LabError, PreparedRun, RunRequest};
use takt_scenario::ScenarioFile;

const SCENARIO: &str = r#"
version = 1
topology = { kind = "p2p", rate = "1 Gbit/s" }
[[nodes]]
name = "host1"
wake_up_latency = { histogram = "file.csv" }
[[nodes]]
name = "host2"
wake_up_latency = { histogram = "file.csv" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
[[sweeps]]
parameter = "nodes.host2.wake_up_latency.histogram"
values = ["swept.csv", "file.csv"]
"#;

/// Field of the histogram of the first host.
const FIELD: &str = "nodes.host1.wake_up_latency.histogram";

/// Histograms to which values of fields and sweeps lead belong to a run, and to its archive.
#[test]
fn a_run_has_the_histograms_of_all_its_cases() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("below")).unwrap();
    let bins = |end: u32| format!("2 us,10\n{end} us,0\n");
    let names = ["file.csv", "swept.csv", "given.csv", "below/given.csv"];
    for (name, end) in names.into_iter().zip([10, 20, 30, 40]) {
        fs::write(path(name), bins(end)).unwrap();
    }
    let name = path("scenario.toml").display().to_string();
    let file = ScenarioFile::parse(SCENARIO, &name).unwrap();
    let prepared = |value: &str| {
        PreparedRun::new(&RunRequest {
            scenario: &file,
            text: SCENARIO,
            settings: &[(FIELD.to_owned(), value.to_owned())],
            messages: Some(10),
            backend: Backend::Uml,
            disciplines: true,
        })
    };
    let run = prepared("given.csv").unwrap();
    // The run has what its scenarios were read with.
    fs::write(path("given.csv"), bins(99)).unwrap();
    run.write(&path("run")).unwrap();
    for (name, end) in names.into_iter().zip([10, 20, 30]).take(3) {
        let copy = fs::read_to_string(path("run").join(name)).unwrap();
        assert_eq!(copy, bins(end), "{name}");
    }
    let description = RunDescription::read(&path("run")).unwrap();
    assert_eq!(description.cases.len(), 2);
    fs::create_dir(path("packed")).unwrap();
    RunBundle::of(&path("run"), &path("packed")).unwrap();
    for of in ["run", "packed"] {
        let name = path(of).join("scenario.toml").display().to_string();
        let text = fs::read_to_string(&name).unwrap();
        let copy = ScenarioFile::parse(&text, &name).unwrap();
        for (case, planned) in description.cases.iter().zip(run.scenarios()) {
            let read = copy.with_settings(&case.settings).unwrap();
            assert_eq!(read.scenario().nodes, planned.nodes, "{of}");
        }
    }
    // It would be written outside of the run's directory.
    let error = prepared("below/given.csv").unwrap_err();
    assert!(matches!(error, LabError::HistogramPlace(_)), "{error}");
}
