//! Rows of the lab, with a program in place of its kernel.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_lab::uml::KernelCache;

use crate::{
    CampaignError, CampaignLab, CampaignLabError, CampaignOutcome, CampaignRunOptions, MergeFlaw,
    Shard, merge_shards, run_campaign, run_campaign_in_lab,
};

use super::folder::{Folder, SCENARIO};

/// Two cases, each with a row of uml and one of a simulation.
const CAMPAIGN: &str = "version = 1
scenarios = [\"plant.toml\"]
backends = [\"uml\", \"simulate\"]
messages = 20
[[sweeps]]
field = \"applications.control.payload\"
values = [\"59 B\", \"600 B\"]
";

/// Kernel that does what a file beside it says.
const KERNEL: &str = r#"#!/bin/sh
here=$(dirname "$0")
if [ "$1" = --version ]; then cat "$here/release"; exit; fi
for last; do :; done
case $(cat "$here/mode") in
refused)
    sed -i -e 's/"failure": "[^"]*"/"failure": "host1: gates are too short"/' \
        -e 's/"is_of_scenario": false/"is_of_scenario": true/' "$last/run.json"
    echo complete >> "$last/.progress" ;;
full) echo "failed: x.pcapng: No space left on device (os error 28)" >> "$last/.progress" ;;
unready)
    sed -i 's/"failure": "[^"]*"/"failure": "eth0 did not come up within 20 s"/' "$last/run.json"
    echo complete >> "$last/.progress" ;;
endless) exec sleep 1000 ;;
esac
"#;

struct Lab {
    folder: Folder,
    lab: CampaignLab,
}

impl Lab {
    fn new(mode: &str) -> Self {
        let folder = Folder::new(CAMPAIGN);
        let kernels = folder.path("kernels");
        fs::create_dir(&kernels).unwrap();
        let cache = KernelCache::new(kernels);
        // Another process writes it: a program that a process of this one has open for writing cannot be started.
        let mut writing = Command::new("sh")
            .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
            .arg(cache.kernel())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = writing.stdin.take().unwrap();
        input.write_all(KERNEL.as_bytes()).unwrap();
        drop(input);
        assert!(writing.wait().unwrap().success());
        let lab = CampaignLab::new("/bin/takt").with_kernels(cache);
        let lab = Self { folder, lab };
        lab.set("mode", mode);
        lab.set("release", "6.12.1\n");
        lab
    }

    fn set(&self, file: &str, text: &str) {
        self.folder.write(&format!("kernels/{file}"), text);
    }

    fn run(&self, options: &CampaignRunOptions) -> Result<CampaignOutcome, CampaignError> {
        let plan = Arc::new(self.folder.plan().unwrap());
        let stop = AtomicBool::new(false);
        run_campaign_in_lab(&plan, options, &self.lab, &mut (), &stop)
    }

    fn resumed(&self, to: &str) -> CampaignRunOptions {
        CampaignRunOptions {
            resume: true,
            ..self.folder.options(to)
        }
    }

    /// Returns the names of the files in a folder of results.
    fn files(&self, of: &str) -> Vec<String> {
        let files = fs::read_dir(self.folder.path(of)).unwrap();
        let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

/// Files of a campaign that was interrupted.
const UNFINISHED: [&str; 4] = [
    "campaign.json",
    "campaign.toml",
    "facts.jsonl",
    "journal.jsonl",
];

#[test]
fn rows_of_the_lab_need_a_lab() {
    let lab = Lab::new("refused");
    let plan = Arc::new(lab.folder.plan().unwrap());
    let options = lab.folder.options("out");
    let error = run_campaign(&plan, &options, &mut (), &AtomicBool::new(false)).unwrap_err();
    assert_eq!(error.to_string(), "the backend uml needs the lab");
    let none = CampaignLab::new("/bin/takt").with_kernels(KernelCache::new("/nowhere".into()));
    let stop = AtomicBool::new(false);
    let error = run_campaign_in_lab(&plan, &options, &none, &mut (), &stop).unwrap_err();
    assert!(
        matches!(error, CampaignError::Lab(CampaignLabError::Uml(_))),
        "{error}"
    );
    assert!(!options.directory.exists(), "no folder without a kernel");
}

#[test]
fn a_scenario_that_the_lab_refuses_is_a_row_with_the_reason() {
    let lab = Lab::new("refused");
    let outcome = lab.run(&lab.folder.options("out")).unwrap();
    assert_eq!((outcome.rows, outcome.failed), (4, 2));
    let result = lab.folder.result("out");
    let rows = &result["rows.jsonl"];
    assert_eq!(rows.matches("host1: gates are too short").count(), 2);
    // The same with more jobs and without the machine, which has no applications at bridges.
    let more = CampaignRunOptions {
        jobs: 3,
        ..lab.folder.options("more")
    };
    lab.run(&more).unwrap();
    assert_eq!(lab.folder.result("more"), result);
    let at_bridge = SCENARIO.replace("loopback = \"host2\"", "subscriber = \"bridge1\"");
    lab.folder.write("plant.toml", &at_bridge);
    lab.set("mode", "full");
    let outcome = lab.run(&lab.folder.options("bridge")).unwrap();
    assert_eq!((outcome.rows, outcome.failed), (4, 2));
    let rows = &lab.folder.result("bridge")["rows.jsonl"];
    assert_eq!(
        rows.matches("has an end at the bridge bridge1").count(),
        2,
        "{rows}"
    );
}

/// A full disk and a busy machine are no property of the case: its row is missing, and not one with a failure.
#[test]
fn a_run_that_fails_by_chance_leaves_no_row() {
    let lab = Lab::new("full");
    for (mode, reason) in [
        ("full", "No space left on device"),
        ("unready", "did not come up"),
        ("crashed", "the machine ended before the run was over"),
    ] {
        lab.set("mode", mode);
        let error = lab.run(&lab.resumed("out")).unwrap_err();
        assert!(matches!(error, CampaignError::LabRow { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(reason) && text.contains(" on uml: "),
            "{text}"
        );
        assert_eq!(lab.files("out"), UNFINISHED);
        let journal = fs::read_to_string(lab.folder.path("out/journal.jsonl")).unwrap();
        assert!(!journal.contains("\"uml\""), "{journal}");
    }
    // What a killed run would have left, if all of its processes had been killed.
    let left = lab.folder.path("out/.takt-runs-1-2/case");
    fs::create_dir_all(left).unwrap();
    lab.set("mode", "refused");
    lab.run(&lab.resumed("out")).unwrap();
    lab.run(&lab.folder.options("anew")).unwrap();
    assert_eq!(lab.folder.result("out"), lab.folder.result("anew"));
}

#[test]
fn an_interrupt_ends_machines_and_leaves_nothing() {
    let lab = Lab::new("endless");
    let out = lab.folder.path("out");
    let options = CampaignRunOptions {
        jobs: 2,
        ..lab.folder.options("out")
    };
    let plan = Arc::new(lab.folder.plan().unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, seen) = (Arc::clone(&stop), out.clone());
    let machines = std::thread::spawn(move || {
        let begin = Instant::now();
        let folders = || {
            let runs = fs::read_dir(&seen).into_iter().flatten().flatten();
            let runs = runs.filter(|it| it.file_name().to_string_lossy().starts_with(".takt-runs"));
            let cases = runs.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten());
            let machines: Vec<PathBuf> = cases
                .map(|it| it.path().join(".machine"))
                .filter(|it| it.exists())
                .collect();
            machines.len()
        };
        while folders() == 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "no machine");
            std::thread::sleep(Duration::from_millis(2));
        }
        flag.store(true, Ordering::Relaxed);
    });
    let error = run_campaign_in_lab(&plan, &options, &lab.lab, &mut (), &stop).unwrap_err();
    machines.join().unwrap();
    assert!(
        matches!(error, CampaignError::Interrupted { .. }),
        "{error}"
    );
    assert_eq!(lab.files("out"), UNFINISHED);
    lab.set("mode", "refused");
    assert_eq!(lab.run(&lab.resumed("out")).unwrap().rows, 4);
}

#[test]
fn rows_of_two_kernels_are_not_mixed() {
    let lab = Lab::new("refused");
    lab.run(&lab.folder.options("out")).unwrap();
    let before = lab.folder.result("out");
    lab.set("release", "6.12.2\n");
    let error = lab.run(&lab.resumed("out")).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "has 4 rows with Linux 6.12.1 as the kernel of uml, and this one is Linux 6.12.2: rows of two kernels are not mixed"
        ),
        "{error}"
    );
    assert_eq!(lab.folder.result("out"), before);
    let facts = fs::read_to_string(lab.folder.path("out/facts.jsonl")).unwrap();
    assert!(facts.contains("\"umlKernel\":\"6.12.1\""), "{facts}");
    // Shares of two hosts.
    let share = |number: u32, release: &str, to: &str| {
        lab.set("release", release);
        let options = CampaignRunOptions {
            shard: Some(Shard { number, of: 2 }),
            ..lab.folder.options(to)
        };
        lab.run(&options).unwrap();
        lab.folder.path(to)
    };
    // The first share has all rows of uml, so the kernel of the other one is of no account.
    let (first, second) = (share(1, "6.12.1", "one"), share(2, "6.12.2", "two"));
    merge_shards(&[second, first], &lab.folder.path("merged")).unwrap();
    assert_eq!(lab.folder.result("merged"), before);
    lab.folder.write(
        "campaign.toml",
        &CAMPAIGN.replace("[\"uml\", \"simulate\"]", "[\"uml\"]"),
    );
    let (first, second) = (share(1, "6.12.1", "three"), share(2, "6.12.2", "four"));
    let error = merge_shards(&[first, second], &lab.folder.path("mixed")).unwrap_err();
    assert!(
        matches!(error, CampaignError::NotMerged(MergeFlaw::Different(..))),
        "{error}"
    );
}
