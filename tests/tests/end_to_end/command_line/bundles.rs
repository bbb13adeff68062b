//! `takt lab bundle` that ends early leaves nothing behind, or `takt clean` removes it.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::Process;

use super::two_hosts::Hosts;
use super::{PATIENCE, plain};

/// Beginning of the name of the folder in which files are made ready.
const FOLDER: &str = ".takt-bundle-";

/// A run, and a bundle of it.
struct Bundle {
    hosts: Hosts,
    to: PathBuf,
}

impl Bundle {
    fn new() -> Self {
        let hosts = Hosts::short();
        let _ = hosts.collect(&[]);
        let to = hosts.path("to");
        fs::create_dir(&to).unwrap();
        Self { hosts, to }
    }

    /// Puts a pipe in the place of a trace: whoever reads it waits for ever. Returns its path.
    fn block(&self) -> PathBuf {
        let files = fs::read_dir(self.hosts.path("run/001")).unwrap();
        let mut files = files.map(|it| it.unwrap().path());
        let trace = files.find(|path| path.extension().is_some_and(|it| it == "trace"));
        let trace = trace.unwrap();
        fs::remove_file(&trace).unwrap();
        let made = Command::new("mkfifo").arg(&trace).status().unwrap();
        assert!(made.success());
        trace
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.hosts.sandbox.takt(arguments);
        command.env("TAKT_LAB_CACHE", self.hosts.path("cache"));
        command
    }

    fn start(&self) -> Process {
        let run = self.hosts.path("run").display().to_string();
        let archive = self.to.join("run.tar").display().to_string();
        let mut command = self.command(&["lab", "bundle", &run, "--to", &archive]);
        Process::spawn("takt lab bundle", &mut command)
    }

    /// Waits until the first file is made ready.
    fn wait_for_a_file(&self) {
        let begin = Instant::now();
        let has_file = |folder: &PathBuf| fs::read_dir(folder).is_ok_and(|mut it| it.any(|_| true));
        while !self.folders().iter().any(has_file) {
            assert!(begin.elapsed() < PATIENCE, "no folder in {:?}", self.to);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the entries beside the archive that begin as folders do.
    fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.to).unwrap();
        let entries = entries.map(|it| it.unwrap());
        let entries = entries.filter(|it| it.file_name().to_string_lossy().starts_with(FOLDER));
        entries.map(|it| it.path()).collect()
    }

    fn count(&self) -> usize {
        fs::read_dir(&self.to).unwrap().count()
    }

    fn notes(&self) -> usize {
        fs::read_dir(self.hosts.path("cache/bundles")).map_or(0, Iterator::count)
    }

    /// Returns the number of folders that `takt clean` removes.
    fn clean(&self) -> Option<u64> {
        let mut command = self.command(&["clean", "--json"]);
        let printed = takt_tests::process::run("takt clean", &mut command, PATIENCE);
        let printed: Value = serde_json::from_str(&printed.expect_success()).unwrap();
        printed["labBundles"].as_u64()
    }
}

#[test]
fn a_signal_leaves_nothing_of_a_bundle() {
    for signal in [Signal::INT, Signal::TERM] {
        let bundle = Bundle::new();
        let _ = bundle.block();
        let mut process = bundle.start();
        bundle.wait_for_a_file();
        process.signal(signal);
        let error = process.finish(PATIENCE).expect_failure();
        assert!(error.contains("nothing was packed"), "{error}");
        assert_eq!((bundle.count(), bundle.notes()), (0, 0), "{signal:?}");
    }
}

/// The work fails while its folder is removed: this is not the reason that people are told.
#[test]
fn a_signal_that_makes_the_work_fail_is_its_only_reason() {
    let bundle = Bundle::new();
    let trace = bundle.block();
    let mut process = bundle.start();
    bundle.wait_for_a_file();
    let folder = bundle.folders().remove(0);
    // The removal takes some time.
    for number in 0..20_000 {
        File::create(folder.join(format!("filler-{number}"))).unwrap();
    }
    process.signal(Signal::INT);
    // The trace ends without content.
    drop(File::options().write(true).open(&trace).unwrap());
    let finished = process.finish(PATIENCE);
    let text = plain(&finished.stderr);
    assert_eq!(text.trim_end(), "interrupted: nothing was packed");
    assert_eq!(finished.status.code(), Some(130));
    assert_eq!((bundle.count(), bundle.notes()), (0, 0));
}

#[test]
fn clean_removes_what_a_killed_bundle_leaves_and_not_what_a_running_one_needs() {
    let bundle = Bundle::new();
    let _ = bundle.block();
    let mut process = bundle.start();
    bundle.wait_for_a_file();
    assert_eq!(bundle.clean(), Some(0));
    assert_eq!((bundle.folders().len(), bundle.notes()), (1, 1));
    process.kill();
    assert_eq!(bundle.clean(), Some(1));
    assert_eq!((bundle.count(), bundle.notes()), (0, 0));
}

#[test]
fn a_bundle_is_complete_or_not_there() {
    let bundle = Bundle::new();
    let printed = bundle.start().finish(PATIENCE).expect_success();
    assert!(printed.contains("run.tar"), "{printed}");
    assert_eq!((bundle.count(), bundle.notes()), (1, 0));
    // As of any other file, and not as of a temporary one.
    let mode = fs::metadata(bundle.to.join("run.tar"))
        .unwrap()
        .permissions();
    let usual = bundle.to.join("usual");
    fs::write(&usual, "").unwrap();
    let usual = fs::metadata(usual).unwrap().permissions().mode();
    assert_eq!(mode.mode() & 0o777, usual & 0o777);
    let error = bundle.start().finish(PATIENCE).expect_failure();
    assert!(error.contains("exists"), "{error}");
}
