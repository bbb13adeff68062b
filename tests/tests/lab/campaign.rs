//! `takt campaign run` with rows of the lab: repeats, shares, kills and interrupts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::{Process, Sandbox};

use crate::cleanup::{REMOVED, all_namespaces, namespaces, of_sandbox};
use crate::{PATIENCE, cases, uml};

/// Interval of looks at a run.
const STEP: Duration = Duration::from_millis(2);

/// Payloads of one case, since a machine takes seconds to start, and of two.
const ONE: &str = "\"100 B\"";
const TWO: &str = "\"100 B\", \"600 B\"";

/// Campaign in a sandbox.
struct Campaign {
    sandbox: Sandbox,
    file: String,
}

impl Campaign {
    /// Makes the file of a campaign with two repetitions of each case: one for each payload.
    fn new(scenario: &str, backend: &str, payloads: &str, more: &str) -> Self {
        let sandbox = Sandbox::new();
        let folder = sandbox.data_directory();
        fs::write(folder.join("plant.toml"), scenario).unwrap();
        let text = format!(
            "version = 1\nscenarios = [\"plant.toml\"]\nbackends = [\"{backend}\"]\nrepetitions = 2\n{more}\
             [[sweeps]]\nfield = \"applications.control.payload\"\nvalues = [{payloads}]\n"
        );
        let file = folder.join("campaign.toml");
        fs::write(&file, text).unwrap();
        Self {
            file: file.to_str().unwrap().to_owned(),
            sandbox,
        }
    }

    fn path(&self, of: &str) -> PathBuf {
        self.sandbox.data_directory().join(of)
    }

    fn arguments<'a>(&'a self, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let run = ["campaign", "run", self.file.as_str(), "--to", to];
        [&run[..], more].concat()
    }

    /// Runs to the end, and returns the result.
    fn run(&self, to: &str, more: &[&str]) -> BTreeMap<String, String> {
        let path = self.path(to).display().to_string();
        let mut command = self.sandbox.takt(&self.arguments(&path, more));
        let finished = takt_tests::process::run("takt campaign run", &mut command, PATIENCE);
        let _ = finished.expect_success();
        self.result(to)
    }

    fn start(&self, to: &str, more: &[&str]) -> Process {
        let path = self.path(to).display().to_string();
        let mut command = self.sandbox.takt(&self.arguments(&path, more));
        Process::spawn("takt campaign run", &mut command)
    }

    /// Returns the files of a result, without the facts that differ between runs. Nothing else is there.
    fn result(&self, of: &str) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.path(of)).unwrap().map(|file| {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        });
        let mut files: BTreeMap<String, String> = files.collect();
        files.remove("facts.jsonl").unwrap();
        assert_eq!(files.len(), 4, "nothing is left behind: {:?}", files.keys());
        files
    }

    fn rows(&self, of: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(of).join("rows.jsonl")).unwrap();
        let rows = text.lines().map(|row| serde_json::from_str(row).unwrap());
        rows.collect()
    }

    /// Returns the folders of runs that go on in a folder of results.
    fn runs(&self, of: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(of)).into_iter().flatten().flatten();
        let own = entries.filter(|it| it.file_name().to_string_lossy().starts_with(".takt-runs-"));
        let own = own.map(|it| it.path());
        own.flat_map(|it| fs::read_dir(it).into_iter().flatten().flatten())
            .map(|it| it.path())
            .collect()
    }

    /// Waits until a run of the lab goes on, and for some time more. Returns the namespaces that the process made meanwhile.
    fn wait_for_run(&self, of: &str, process: &mut Process, more: Duration) -> BTreeSet<PathBuf> {
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        let directory = PathBuf::from(format!("/proc/{}", process.id()));
        let (begin, mut seen, mut made) = (Instant::now(), None, BTreeSet::new());
        while !process.has_ended() {
            assert!(begin.elapsed() < PATIENCE, "no run of the lab");
            if !self.runs(of).is_empty() {
                seen = seen.or_else(|| Some(Instant::now()));
            }
            made.extend(namespaces(&directory));
            if seen.is_some_and(|seen| seen.elapsed() >= more) {
                break;
            }
            sleep(STEP);
        }
        made.remove(&own);
        made
    }

    /// Waits until nothing of the runs is left: no process, namespace or folder.
    fn has_ended(&self, of: &str, made: &BTreeSet<PathBuf>) {
        let begin = Instant::now();
        loop {
            let processes = of_sandbox(&self.sandbox);
            let left: Vec<_> = all_namespaces().intersection(made).cloned().collect();
            let entries = fs::read_dir(self.path(of)).into_iter().flatten().flatten();
            let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
            let folders: Vec<String> = names.filter(|it| it.starts_with('.')).collect();
            if processes.is_empty() && left.is_empty() && folders.is_empty() {
                break;
            }
            assert!(
                begin.elapsed() < REMOVED,
                "{processes:?} {left:?} {folders:?}"
            );
            sleep(STEP);
        }
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains("takt-lab"), "{mounts}");
        assert!(self.sandbox.left_behind().is_empty());
    }

    /// Kills runs at several stages, and interrupts one. Returns the number of those that had not ended.
    fn kill(&self, to: &str) -> u32 {
        let resume = ["--resume", "--jobs", "2"];
        let mut kills = 0;
        for stage in [0, 30, 150, 500] {
            let mut process = self.start(to, &resume);
            let more = Duration::from_millis(stage);
            let made = self.wait_for_run(to, &mut process, more);
            kills += u32::from(!process.has_ended());
            process.kill();
            self.has_ended(to, &made);
        }
        let mut process = self.start(to, &resume);
        let made = self.wait_for_run(to, &mut process, Duration::from_millis(50));
        let is_early = !process.has_ended();
        process.signal(Signal::INT);
        let finished = process.finish(PATIENCE);
        if is_early {
            let error = finished.expect_failure();
            assert!(
                error.contains("interrupted: ") && error.contains("--resume"),
                "{error}"
            );
        }
        self.has_ended(to, &made);
        kills
    }
}

fn number(row: &Value, quantity: &str) -> f64 {
    let value = row["values"][quantity].as_f64();
    value.unwrap_or_else(|| panic!("{quantity}: {row}"))
}

/// Messages of rows of uml and of netns.
const FEW: f64 = 100.0;
const MESSAGES: f64 = 200.0;

pub fn rows_of_uml_are_the_same_in_each_repeat() {
    let campaign = Campaign::new(uml::SCENARIO, "uml\", \"simulate", ONE, "messages = 100\n");
    let whole = campaign.run("whole", &["--jobs", "1"]);
    assert_eq!(campaign.run("again", &["--jobs", "2"]), whole);
    for shard in ["1/2", "2/2"] {
        let to = format!("share-{}", &shard[..1]);
        campaign.run(&to, &["--shard", shard]);
    }
    let path = |of: &str| campaign.path(of).display().to_string();
    let shares = ["share-2", "share-1"].map(path);
    let merged = path("merged");
    let mut merge = vec!["campaign", "merge", "--to", merged.as_str()];
    merge.extend(shares.iter().map(String::as_str));
    let _ = campaign.sandbox.run(&merge).expect_success();
    assert_eq!(campaign.result("merged"), whole);
    let rows = campaign.rows("whole");
    let of = |backend: &str| -> Vec<&Value> {
        rows.iter().filter(|it| it["backend"] == backend).collect()
    };
    let (measured, simulated) = (of("uml"), of("simulate"));
    assert_eq!((measured.len(), simulated.len()), (2, 2));
    // Two seeds are two runs.
    assert_ne!(measured[0]["values"], measured[1]["values"]);
    for (row, simulated) in measured.iter().zip(simulated) {
        assert_eq!(row["seed"], simulated["seed"]);
        assert!(row.get("measured").is_none(), "{row}");
        assert_eq!(number(row, "control.messages.published"), FEW);
        for name in ["control", "control (return)"] {
            // The loopback sends its latest message again until the end.
            let sent = number(row, &format!("{name}.frames.sent"));
            assert!(sent >= FEW / 2.0, "{row}");
            assert_eq!(number(row, &format!("{name}.frames.lost")), 0.0, "{row}");
        }
        assert!(number(row, "camera.frames.sent") > 50.0);
        assert!(number(row, "control.application_round_trip.median_ns") > 0.0);
        assert!(number(row, "control.round_trip_from_first_bit.median_ns") > 0.0);
        // The names of the simulated quantities. Both have the same model of links.
        for quantity in [
            "control.one_way_from_first_bit.min_ns",
            "control (return).one_way_from_first_bit.min_ns",
        ] {
            let (one, other) = (number(row, quantity), number(simulated, quantity));
            assert!(
                (one / other - 1.0).abs() < 0.25,
                "{quantity}: {one} {other}"
            );
        }
    }
    let facts = fs::read_to_string(campaign.path("whole").join("facts.jsonl")).unwrap();
    assert!(facts.contains("\"umlKernel\":\"6."), "{facts}");
}

pub fn a_killed_run_on_uml_goes_on() {
    let campaign = Campaign::new(uml::SCENARIO, "uml", ONE, "messages = 300\n");
    let whole = campaign.run("whole", &["--jobs", "2"]);
    let kills = campaign.kill("killed");
    assert!(kills > 0);
    assert_eq!(campaign.run("killed", &["--resume"]), whole);
}

/// Bridges, several applications and cross traffic, in the time of this host.
fn busy() -> String {
    let all = cases::all();
    let mut found = all.into_iter().filter(|case| case.name == "cross_traffic");
    found.next().unwrap().scenario
}

const ON_THE_HOST: &str = "messages = 200\ndisciplines = false\n";

pub fn rows_of_netns_are_measured() {
    let campaign = Campaign::new(&busy(), "netns\", \"bounds", TWO, ON_THE_HOST);
    let mut process = campaign.start("out", &["--jobs", "4"]);
    let mut most = 0;
    while !process.has_ended() {
        most = most.max(campaign.runs("out").len());
        sleep(STEP);
    }
    let printed = process.finish(PATIENCE).expect_success();
    assert!(printed.contains("measured on this host"), "{printed}");
    assert_eq!(most, 1, "one after the other");
    let rows = campaign.rows("out");
    assert_eq!(rows.len(), 6);
    for row in rows.iter().filter(|it| it["backend"] == "netns") {
        assert_eq!(row["measured"], true, "{row}");
        assert_eq!(number(row, "control.messages.published"), MESSAGES);
        let (sent, received) = (
            number(row, "control.frames.sent"),
            number(row, "control.frames.received"),
        );
        assert!(sent >= MESSAGES && received <= sent, "{row}");
        // On a device without a rate, captures stamp a frame when the driver gets it.
        assert!(number(row, "control.round_trip.median_ns") > 0.0);
        assert!(
            row["values"]
                .get("control.round_trip_from_first_bit.median_ns")
                .is_none()
        );
    }
    let facts = fs::read_to_string(campaign.path("out").join("facts.jsonl")).unwrap();
    let facts = facts
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let runs: Vec<Value> = facts.filter(|it| it["backend"] == "netns").collect();
    assert_eq!(runs.len(), 4);
    for run in &runs {
        assert_eq!(run["run"]["machine"]["links"], "veth", "{run}");
        assert!(
            run["run"]["ends"][0]["maxWakeUpLatencyNs"].is_u64(),
            "{run}"
        );
    }
    campaign.has_ended("out", &BTreeSet::new());
}

/// A Publisher and two Subscribers at a bridge.
const SUBSCRIBERS: &str = r#"version = 1
nodes = [{ name = "host1" }, { name = "host2" }, { name = "host3" }, { name = "bridge1", kind = "bridge" }]
links = [
    { ends = ["host1", "bridge1"], rate = "1 Gbit/s" },
    { ends = ["host2", "bridge1"], rate = "1 Gbit/s" },
    { ends = ["host3", "bridge1"], rate = "1 Gbit/s" },
]
[[applications]]
name = "control"
publisher = "host1"
subscribers = ["host2", "host3"]
cycle = "2 ms"
payload = "100 B"
"#;

pub fn each_subscriber_on_netns_has_quantities() {
    let campaign = Campaign::new(SUBSCRIBERS, "netns\", \"simulate", ONE, ON_THE_HOST);
    campaign.run("out", &[]);
    let rows = campaign.rows("out");
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!(number(row, "control.messages.published"), MESSAGES);
        let counts = ["missed", "repeated", "out_of_order"];
        let of = |name: &str, count: &str| number(row, &format!("{name}.messages.{count}"));
        let flows = ["control \u{2192} host2", "control \u{2192} host3"];
        for name in flows {
            assert_eq!(of(name, "published"), MESSAGES, "{row}");
            assert!(of(name, "lost") <= MESSAGES, "{row}");
            assert!(number(row, &format!("{name}.one_way.median_ns")) > 0.0);
            assert!(number(row, &format!("{name}.frames.received")) > 0.0);
        }
        for count in counts {
            let sum: f64 = flows.iter().map(|name| of(name, count)).sum();
            assert_eq!(of("control", count), sum, "{row}");
        }
        // Subscribers send nothing back, and none of them stands for both.
        let values = row["values"].as_object().unwrap();
        let mut names = values.keys();
        assert!(!names.any(|it| it.contains("(return)") || it.starts_with("control.one_way")));
    }
    campaign.has_ended("out", &BTreeSet::new());
}

pub fn a_killed_run_on_netns_goes_on() {
    // Long enough to be killed in each stage.
    let campaign = Campaign::new(
        &busy(),
        "netns",
        TWO,
        "messages = 400\ndisciplines = false\n",
    );
    assert!(campaign.kill("killed") > 0);
    campaign.run("killed", &["--resume"]);
    assert_eq!(campaign.rows("killed").len(), 4);
}

pub fn a_lab_that_cannot_run_is_named_at_once() {
    let campaign = Campaign::new(&busy(), "uml", TWO, "messages = 20\n");
    let to = campaign.path("out");
    let path = to.display().to_string();
    let arguments = campaign.arguments(&path, &[]);
    let mut command = campaign.sandbox.takt(&arguments);
    let empty: &Path = &campaign.path("kernels");
    command.env("TAKT_LAB_CACHE", empty);
    let finished = takt_tests::process::run("takt campaign run", &mut command, PATIENCE);
    let error = finished.expect_failure();
    assert!(
        error.contains("not built yet") && error.contains("takt lab setup"),
        "{error}"
    );
    assert!(!to.exists(), "a directory was made");
}
