//! `takt report` of campaigns.

use std::fs;
use std::path::Path;

use serde_json::Value;
use takt_tests::Sandbox;

use crate::command_line::mistakes::fails;

/// Two disciplines beside best effort: one has a class for control.
const SCENARIO: &str = r#"
version = 1
name = "load"
discipline = "priority"
topology = { kind = "bridged", rate = "100 Mbit/s" }
[disciplines.priority]
scheduler = "mqprio"
classes = [{ name = "control", priorities = [3] }, { name = "best effort" }]
[disciplines.fair]
scheduler = "fq_codel"
[[nodes]]
name = "host1"
wake_up_latency = { least = "1 us", most = "40 us" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
pcp = 3
[[cross_traffic]]
name = "camera"
from = "host1"
to = "host2"
payload = "1400 B"
rate = "40 Mbit/s"
pattern = "poisson"
"#;

const CAMPAIGN: &str = r#"
version = 1
name = "load"
scenarios = ["load.toml"]
backends = ["simulate", "bounds"]
repetitions = 4
messages = 100
[[sweeps]]
field = "discipline"
values = ["fair", "priority"]
[[sweeps]]
field = "cross_traffic.camera.rate"
values = ["20 Mbit/s", "40 Mbit/s", "60 Mbit/s"]
"#;

struct Reported {
    sandbox: Sandbox,
    directory: String,
}

impl Reported {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let folder = sandbox.data_directory();
        fs::write(folder.join("load.toml"), SCENARIO).unwrap();
        let file = folder.join("campaign.toml");
        fs::write(&file, CAMPAIGN).unwrap();
        let directory = folder.join("out").to_str().unwrap().to_owned();
        let run = sandbox.run(&[
            "campaign",
            "run",
            file.to_str().unwrap(),
            "--to",
            &directory,
        ]);
        // The paper's analyses have no bound for a fair queue, which is the reason of some rows.
        assert!(Path::new(&directory).join("rows.jsonl").exists(), "{run:?}");
        Self { sandbox, directory }
    }

    fn rows(&self, more: &[&str]) -> Vec<Value> {
        let arguments = [&["report", self.directory.as_str()], more].concat();
        self.sandbox.rows(&arguments)
    }

    fn page(&self) -> String {
        fs::read_to_string(Path::new(&self.directory).join("report.html")).unwrap()
    }
}

#[test]
fn repetitions_of_a_campaign_are_merged() {
    let reported = Reported::new();
    let pictures = reported.sandbox.data_directory().join("pictures");
    let rows = reported.rows(&["--pictures", pictures.to_str().unwrap()]);
    let simulated: Vec<&Value> = rows
        .iter()
        .filter(|row| {
            row["backend"] == "simulate" && row["quantity"] == "control.round_trip.mean_ns"
        })
        .collect();
    assert_eq!(simulated.len(), 6);
    for row in &simulated {
        assert_eq!(
            (&row["count"], &row["campaign"]),
            (&4.into(), &"load".into())
        );
        let number = |path: &str| row.pointer(path).and_then(Value::as_f64).unwrap();
        let (low, mean, high) = (
            number("/mean/low"),
            number("/mean/value"),
            number("/mean/high"),
        );
        assert!(low < mean && mean < high, "{row}");
        assert!((mean - low - (high - mean)).abs() < 1e-6 * mean, "{row}");
        assert!(number("/median/low") <= number("/median/value"), "{row}");
    }
    let page = reported.page();
    for part in [
        "Campaign load",
        "95 % interval of Student",
        // One chart and one table for each swept field.
        "round trip of control, by discipline",
        "round trip of control, by rate of camera",
        "Requirement motion control",
        "A rank is a range where intervals overlap",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Beside bounds, the axis reaches down to 0. Means of about a cycle differ by less than half of it.
    let cut = "The vertical axis does not begin at 0.";
    assert!(!page.contains(cut));
    let _ = reported.rows(&["--quantity", "control.round_trip.mean_ns"]);
    assert!(reported.page().contains(cut));
    // Without network and scripts, and for a narrow screen.
    for part in ["<script", "http://", "https://", "src=", "@import", "url("] {
        let foreign = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!foreign.contains(part), "{part}");
    }
    assert!(page.contains("width=device-width") && page.contains("class=\"phone\""));
    // Each chart as SVG and as PNG: the discipline, and the rate.
    let drawn = fs::read_dir(&pictures).unwrap();
    let drawn: Vec<String> = drawn
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        drawn.contains(&"load-control-round_trip-1-1.svg".to_owned()),
        "{drawn:?}"
    );
    assert!(
        drawn.contains(&"load-control-round_trip-2-1.png".to_owned()),
        "{drawn:?}"
    );
}

#[test]
fn disciplines_are_ranked_by_a_requirement() {
    let reported = Reported::new();
    let rows = reported.rows(&["--requirement", "motion-control"]);
    let ranked: Vec<&Value> = rows
        .iter()
        .filter(|row| {
            row["quantity"] == "longest delay, one way (\u{b5}s)" && row["backend"] == "simulate"
        })
        .collect();
    let names: Vec<&Value> = ranked.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["priority", "fair"]);
    for (row, place) in ranked.iter().zip(1_u64..) {
        assert_eq!(row["requirement"], "motion-control");
        assert_eq!(row["limit"], "at most 100 \u{b5}s");
        let (best, worst) = (&row["rank"]["best"], &row["rank"]["worst"]);
        assert!(
            best.as_u64() <= Some(place) && worst.as_u64() >= Some(place),
            "{row}"
        );
        assert_eq!(row["count"], 12, "three loads, four repetitions");
        assert!(
            row["worst_at"]
                .as_str()
                .unwrap()
                .starts_with("control, rate of camera")
        );
    }
    // Intervals that do not overlap decide.
    let interval = |row: &Value| {
        let end = |name: &str| row["mean"][name].as_f64().unwrap();
        (end("low"), end("high"))
    };
    let is_decided = interval(ranked[0]).1 < interval(ranked[1]).0;
    assert_eq!(ranked[0]["rank"]["worst"] == 1, is_decided);
}

#[test]
fn other_quantities_are_chosen_by_their_names() {
    let reported = Reported::new();
    let (directory, quantity) = (reported.directory.as_str(), "control.messages.lost");
    let rows = reported.rows(&["--quantity", quantity]);
    assert!(rows.iter().all(|row| row["quantity"] == quantity) && rows.len() == 6);
    fails(
        &reported.sandbox,
        &["report", directory, "--quantity", "x"],
        &["no row has the quantity `x`", "control.round_trip.mean_ns"],
    );
    let none = reported.sandbox.data_directory().join("none");
    fs::create_dir(&none).unwrap();
    fails(
        &reported.sandbox,
        &["report", none.to_str().unwrap(), "--quantity", "x"],
        &["--quantity chooses quantities of campaigns"],
    );
    // A campaign that was interrupted has no report.
    fs::write(Path::new(directory).join("journal.jsonl"), "").unwrap();
    fails(
        &reported.sandbox,
        &["report", directory],
        &["is not complete", "--resume"],
    );
}
