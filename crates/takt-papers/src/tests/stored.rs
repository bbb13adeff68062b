//! Results in a folder: those of other files are refused, and quick runs do not depend on the chosen elements.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use takt_campaign::{
    CampaignObserver, CampaignProgress, CampaignRow, CampaignRunOptions, run_campaign,
};

use crate::campaign::PaperEffort;
use crate::element::PaperElement;
use crate::error::PaperError;
use crate::library::PaperLibrary;
use crate::results::PaperResults;
use crate::trace::TracedCase;

const SCENARIO: &str = r#"version = 1
name = "small"
discipline = "cbs"

[topology]
kind = "p2p"
rate = "1 Gbit/s"

[disciplines.cbs]
scheduler = "mqprio"
classes = [
    { name = "shaped", priorities = [3], queue = "cbs", idle_slope = "300 Mbit/s" },
    { name = "best effort" },
]

[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "250 us"
payload = "500 B"
pcp = 3
immediate = true

[simulation]
cycles = 100
"#;

const CAMPAIGN: &str = "version = 1\nname = \"small\"\nscenarios = [\"small.toml\"]\n";

const ELEMENT: &str = r#"version = 1
place = "Table 1"
title = "Title"
source = "section 1"
campaigns = ["small-campaign.toml"]
heading = "setup"
columns = [{ name = "a" }]
quick = { messages = 20, repetitions = 1 }

[[rows]]
name = "way"
unit = "us"
value = "control.one_way.mean_ns"

[[traces]]
name = "credit"
kind = "credit"
campaign = "small-campaign.toml"
port = "host1 \u2192 host2"
messages = 20
"#;

/// Writes a library with two elements of one campaign.
fn written(folder: &Path) -> PaperLibrary {
    let papers = "version = 1\n[[papers]]\nid = \"P\"\ntitle = \"T\"\nsource = \"S\"\nelements = [\"one\", \"two\"]\n";
    let port = ELEMENT.replace("\\u2192", "\u{2192}");
    let two = port.replace("messages = 20, rep", "messages = 70, rep");
    for (name, text) in [
        ("papers.toml", papers),
        ("small.toml", SCENARIO),
        ("small-campaign.toml", CAMPAIGN),
        ("one.toml", port.as_str()),
        ("two.toml", two.as_str()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    PaperLibrary::read(folder).unwrap_or_else(|error| panic!("{error}"))
}

struct Nobody;

impl CampaignObserver for Nobody {
    fn row(&mut self, _: &CampaignRow, _: CampaignProgress) {}
}

/// Computes the campaign and the traces of an element.
fn compute(library: &PaperLibrary, element: &PaperElement, results: &Path) {
    let effort = PaperEffort::Quick;
    let never = AtomicBool::new(false);
    for campaign in library.campaigns(&[element]) {
        let options = CampaignRunOptions {
            directory: campaign.directory(results, effort),
            resume: true,
            shard: None,
            jobs: 1,
            takt: "1".to_owned(),
            facts: Vec::new(),
        };
        let plan = Arc::new(campaign.plan(effort, &[]).unwrap());
        run_campaign(&plan, &options, &mut Nobody, &never).unwrap();
    }
    let most = effort.trace_messages(element);
    let traces = TracedCase::of(element, most, &never).unwrap();
    PaperResults::write_traces(results, effort, element, &traces).unwrap();
}

#[test]
fn results_of_other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let library = written(folder.path());
    let one = library.elements().next().unwrap();
    compute(&library, one, &results);
    let read = || {
        let library = PaperLibrary::read(folder.path()).unwrap();
        PaperResults::read(&results, PaperEffort::Quick, &library)
    };
    assert_eq!(read().unwrap().traces(one).len(), 1);
    let refused = |name: &str, from: &str, to: &str| {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let error = read().unwrap_err();
        fs::write(&path, text).unwrap();
        match error {
            PaperError::OtherFiles { path } => path,
            other => panic!("{from}: {other}"),
        }
    };
    let directory = results.join("quick/small-campaign");
    assert_eq!(refused("small.toml", "300 Mbit/s", "400 Mbit/s"), directory);
    let seed = "name = \"small\"\nseed = 2\n";
    let changed = refused("small-campaign.toml", "name = \"small\"\n", seed);
    assert_eq!(changed, directory);
    // The trace alone has changed.
    let traces = results.join("quick/one.traces.json");
    let port = ("host1 \u{2192} host2", "host2 \u{2192} host1");
    assert_eq!(refused("one.toml", port.0, port.1), traces);
    assert!(read().is_ok());
    // A file that an interrupt has cut is damaged, and says so.
    let text = fs::read_to_string(&traces).unwrap();
    fs::write(&traces, &text[..text.len() / 2]).unwrap();
    let error = read().unwrap_err();
    assert!(matches!(error, PaperError::TraceFile { .. }), "{error}");
}

#[test]
fn a_quick_run_does_not_depend_on_the_chosen_elements() {
    let folder = tempfile::tempdir().unwrap();
    let library = written(folder.path());
    let all: Vec<&PaperElement> = library.elements().collect();
    for chosen in [&all[..1], &all[1..], &all[..]] {
        let campaigns = library.campaigns(chosen);
        assert_eq!(campaigns.len(), 1);
        assert_eq!(campaigns[0].quick, (Some(70), Some(1)));
    }
}

#[test]
fn an_interrupt_ends_traces() {
    let folder = tempfile::tempdir().unwrap();
    let library = written(folder.path());
    let one = library.elements().next().unwrap();
    let error = TracedCase::of(one, None, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, PaperError::Interrupted), "{error}");
}
