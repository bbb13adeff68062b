//! `takt lab collect` that ends early leaves nothing behind.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::Signal;
use takt_tests::Process;

use super::two_hosts::Hosts;
use super::{PATIENCE, plain};

/// Returns the arguments that collect the files of two hosts.
fn arguments(hosts: &Hosts) -> Vec<String> {
    let names = [
        "new/run",
        "two.toml",
        "publisher.trace",
        "loopback.trace",
        "publisher.pcapng",
        "loopback.pcapng",
    ];
    let paths = names.map(|name| hosts.path(name).display().to_string());
    let words = ["lab", "collect"].map(str::to_owned);
    words.into_iter().chain(paths).collect()
}

#[test]
fn a_run_that_cannot_be_written_is_not_there() {
    let hosts = Hosts::short();
    let arguments = arguments(&hosts);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let takt = hosts.sandbox.takt(&[]);
    let mut command = Command::new("sh");
    // Files have at most 8 KiB: the scenario has, the captures have not. The signal would end the process.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$@\"";
    command.args(["-c", script, "sh"]);
    command.arg(takt.get_program()).args(&arguments);
    hosts.sandbox.confine(&mut command);
    let finished = takt_tests::process::run("takt lab collect", &mut command, PATIENCE);
    let error = plain(&finished.expect_failure());
    assert!(error.contains("cannot copy"), "{error}");
    assert!(error.contains("Nothing was collected"), "{error}");
    // Nor the directory that was made for it.
    assert!(!hosts.path("new").exists());
}

#[test]
fn a_signal_ends_it_before_anything_is_written() {
    let hosts = Hosts::short();
    let pipe = hosts.path("loopback.pcapng");
    fs::remove_file(&pipe).unwrap();
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let arguments = arguments(&hosts);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = hosts.sandbox.takt(&arguments);
    let mut process = Process::spawn("takt lab collect", &mut command);
    let begin = Instant::now();
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let _writer = loop {
        // It succeeds if the other process reads the pipe.
        let opened = File::options()
            .write(true)
            .custom_flags(nonblocking)
            .open(&pipe);
        if let Ok(writer) = opened {
            break writer;
        }
        assert!(begin.elapsed() < PATIENCE, "nobody reads the pipe");
        std::thread::sleep(Duration::from_millis(1));
    };
    process.signal(Signal::INT);
    let finished = process.finish(PATIENCE);
    let text = plain(&finished.stderr);
    assert_eq!(text.trim_end(), "interrupted: nothing was collected");
    assert_eq!(finished.status.code(), Some(130));
    assert!(!hosts.path("new").exists());
}
