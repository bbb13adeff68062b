//! Campaigns: killed at random and resumed, on a full disk, and in shares, with the same result.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use takt_tests::binary::repository;
use takt_tests::{Process, Sandbox, process};

use crate::command_line::mistakes::fails;
use crate::command_line::small_disk::on_small_disk;
use crate::command_line::{PATIENCE, plain};

/// A campaign of 120 rows of some milliseconds.
fn campaign(sandbox: &Sandbox) -> String {
    let folder = sandbox.data_directory();
    fs::copy(
        repository().join("scenarios/line-multiflow.toml"),
        folder.join("line.toml"),
    )
    .unwrap();
    let text = "version = 1
name = \"../line \\\"load\\\"\"
scenarios = [\"line.toml\"]
repetitions = 5
messages = 50
order = \"random\"
[[sweeps]]
field = \"topology.hops\"
values = [1, 2, 3, 4, 5, 6]
";
    let path = folder.join("campaign.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns the files of a result, without the facts that differ between runs.
fn result(directory: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(directory).unwrap().map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    let mut files: BTreeMap<String, String> = files.collect();
    files.remove("facts.jsonl").unwrap();
    assert_eq!(files.len(), 4, "nothing is left behind: {:?}", files.keys());
    files
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |it| it.len())
}

/// Waits until the journal has more bytes than this, or the run has ended.
fn wait_for_rows(journal: &Path, more_than: u64, run: &mut Process) {
    let end = Instant::now() + PATIENCE;
    while size(journal) <= more_than && !run.has_ended() {
        assert!(Instant::now() < end, "no row in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_killed_campaign_goes_on_and_has_the_same_result() {
    let sandbox = Sandbox::new();
    let file = campaign(&sandbox);
    let folder = sandbox.data_directory();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let whole = path("whole");
    let run = ["campaign", "run", &file, "--to", &whole];
    let printed = sandbox.run(&run).expect_success();
    assert!(printed.contains("120 rows in"), "{printed}");
    let killed = path("killed");
    let resume = [
        "campaign", "run", &file, "--to", &killed, "--resume", "--jobs", "2",
    ];
    let journal = PathBuf::from(&killed).join("journal.jsonl");
    let mut kills = 0;
    // Each kill comes as soon as there are more rows, in whatever the run does then.
    for _ in 0..6 {
        let before = size(&journal);
        let mut run = Process::spawn("takt campaign", &mut sandbox.takt(&resume));
        wait_for_rows(&journal, before + 1, &mut run);
        kills += u32::from(!run.has_ended());
        run.kill();
    }
    assert!(kills > 0);
    let _ = sandbox.run(&resume).expect_success();
    assert_eq!(result(Path::new(&killed)), result(Path::new(&whole)));
    // At any time, also before the first row and between the files of the beginning and of the end.
    let early = path("early");
    let resume = ["campaign", "run", &file, "--to", &early, "--resume"];
    let mut wait = Duration::from_millis(1);
    loop {
        let mut run = Process::spawn("takt campaign", &mut sandbox.takt(&resume));
        std::thread::sleep(wait);
        let has_ended = run.has_ended();
        run.kill();
        if has_ended {
            break;
        }
        wait = wait * 3 / 2;
    }
    let _ = sandbox.run(&resume).expect_success();
    assert_eq!(result(Path::new(&early)), result(Path::new(&whole)));
    // An interrupt says how it goes on.
    let interrupted = path("interrupted");
    let run = ["campaign", "run", &file, "--to", &interrupted];
    let mut run = Process::spawn("takt campaign", &mut sandbox.takt(&run));
    let journal = PathBuf::from(&interrupted).join("journal.jsonl");
    wait_for_rows(&journal, 0, &mut run);
    run.signal(rustix::process::Signal::INT);
    let finished = run.finish(PATIENCE);
    if !finished.status.success() {
        let text = plain(&finished.expect_failure());
        assert!(
            text.contains("interrupted: ") && text.contains("--resume"),
            "{text}"
        );
    }
}

#[test]
fn shares_are_merged_to_the_same_result() {
    let sandbox = Sandbox::new();
    let file = campaign(&sandbox);
    let folder = sandbox.data_directory();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let whole = path("whole");
    let backends = [
        "--backend",
        "bounds",
        "--backend",
        "simulate",
        "--jobs",
        "2",
    ];
    let run = ["campaign", "run", &file, "--to", &whole];
    let _ = sandbox
        .run(&[&run[..], &backends].concat())
        .expect_success();
    let shares: Vec<String> = (1..=3)
        .map(|number| path(&format!("share{number}")))
        .collect();
    for (number, share) in (1..).zip(&shares) {
        let shard = format!("{number}/3");
        let run = ["campaign", "run", &file, "--to", share, "--shard", &shard];
        let _ = sandbox
            .run(&[&run[..], &backends].concat())
            .expect_success();
    }
    let merged = path("merged");
    let mut merge = vec!["campaign", "merge", "--to", &merged];
    merge.extend(shares.iter().map(String::as_str));
    let _ = sandbox.run(&merge).expect_success();
    assert_eq!(result(Path::new(&merged)), result(Path::new(&whole)));
    let rows = sandbox.rows(&["campaign", "summary", &merged]);
    // Three quantities: 24 cases have means and greatest values, and bounds.
    assert_eq!(rows.len(), 72);
    let bound = |row: &&serde_json::Value| row["backend"] == "bounds";
    assert_eq!(rows.iter().filter(bound).count(), 24);
    let simulated = rows
        .iter()
        .find(|row| row["backend"] == "simulate")
        .unwrap();
    assert_eq!(simulated["count"], 5);
    assert!(simulated["mean"]["low"].as_f64() <= simulated["mean"]["value"].as_f64());
    let table = sandbox
        .run(&["campaign", "summary", &merged])
        .expect_success();
    assert!(table.contains("control.round_trip.max"), "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
}

/// A name of a file becomes neither a path nor a command of the terminal.
#[test]
fn names_are_no_paths() {
    let sandbox = Sandbox::new();
    let file = campaign(&sandbox);
    let here = sandbox.data_directory().join("here");
    fs::create_dir(&here).unwrap();
    let run = ["campaign", "run", &file, "--backend", "bounds", "--json"];
    let mut command = sandbox.takt(&run);
    let _ = process::run("takt campaign", command.current_dir(&here), PATIENCE).expect_success();
    let made: Vec<String> = fs::read_dir(&here)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(made, ["campaign----line--load-"]);
    let escapes = sandbox.data_directory().join("escapes.toml");
    fs::write(
        &escapes,
        "version = 1\nname = \"a\\u001b[31m\"\nscenarios = [\"line.toml\"]\n",
    )
    .unwrap();
    let check = ["campaign", "check", escapes.to_str().unwrap()];
    fails(&sandbox, &check, &["must not contain the character"]);
}

#[test]
fn mistakes_are_explained() {
    let sandbox = Sandbox::new();
    let file = campaign(&sandbox);
    let folder = sandbox.data_directory();
    let to = folder.join("out").to_str().unwrap().to_owned();
    let run = ["campaign", "run", &file, "--to", &to, "--backend", "bounds"];
    let _ = sandbox.run(&run).expect_success();
    fails(&sandbox, &run, &["has the campaign", "24 rows", "--resume"]);
    fails(
        &sandbox,
        &[&run[..], &["--backend", "bounds"]].concat(),
        &["bounds is given twice"],
    );
    let shard = [&run[..], &["--shard", "4/3"]].concat();
    fails(&sandbox, &shard, &["a share is written as"]);
    let summary = ["campaign", "summary", &to, "--quantity", "x"];
    fails(
        &sandbox,
        &summary,
        &["no row has the quantity `x`", "control.round_trip.bound_ns"],
    );
    let nothing = folder.to_str().unwrap();
    fails(
        &sandbox,
        &["campaign", "summary", nothing],
        &["has no campaign", "takt campaign run"],
    );
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("topology.hops", "topology.hop")).unwrap();
    fails(
        &sandbox,
        &run,
        &["did you mean `hops`?", "docs/campaigns.md"],
    );
}

#[test]
fn a_full_disk_loses_no_rows() {
    let name = "command_line::campaigns::a_full_disk_loses_no_rows";
    on_small_disk(name, "400k", on_a_small_disk);
}

/// The test in its namespace: first the journal, then the result finds no room.
fn on_a_small_disk(disk: &Path) {
    let sandbox = Sandbox::new();
    let file = campaign(&sandbox);
    let whole = sandbox.data_directory().join("whole");
    let run = ["campaign", "run", &file, "--to", whole.to_str().unwrap()];
    let _ = sandbox.run(&run).expect_success();
    let to = disk.join("out").to_str().unwrap().to_owned();
    let resume = ["campaign", "run", &file, "--to", &to, "--resume"];
    let journal = Path::new(&to).join("journal.jsonl");
    let mut sizes = Vec::new();
    for size_of_disk in ["400k", "600k", "900k", "1200k"] {
        remount(disk, size_of_disk);
        let ran = sandbox.run(&resume);
        if ran.status.success() {
            break;
        }
        let text = plain(&ran.expect_failure());
        assert!(
            text.contains("No space left") && text.contains("--resume"),
            "{text}"
        );
        sizes.push(size(&journal));
    }
    assert!(
        sizes.len() > 1 && sizes.is_sorted() && sizes[0] > 0,
        "{sizes:?}"
    );
    remount(disk, "16m");
    let _ = sandbox.run(&resume).expect_success();
    assert_eq!(result(Path::new(&to)), result(&whole));
}

fn remount(disk: &Path, size: &str) {
    let mut mount = Command::new("mount");
    mount
        .args(["-o", &format!("remount,size={size}")])
        .arg(disk);
    let _ = process::run("mount", &mut mount, PATIENCE).expect_success();
}
