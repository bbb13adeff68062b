//! A mount namespace in which tracefs is mounted.

use std::path::Path;
use std::process::Command;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Directory of the instances.
pub(super) const INSTANCES: &str = "/sys/kernel/tracing/instances";

/// Runs a test on a thread in a new namespace, and checks that it leaves no instance behind.
pub(super) fn run(test: fn()) {
    let thread = std::thread::spawn(move || {
        enter();
        test();
        let left = instances_of(std::process::id());
        assert!(left.is_empty(), "{left:?}");
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[allow(unsafe_code, reason = "the call is unsafe for sake of other flags")]
fn enter() {
    // SAFETY: only the mount namespace and the working directory of this thread are changed, which affects neither memory nor
    // descriptors of other threads.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.unwrap();
    mount(&["--make-rslave", "/"]);
    if !Path::new(INSTANCES).is_dir() {
        mount(&["-t", "tracefs", "nodev", "/sys/kernel/tracing"]);
    }
}

fn mount(arguments: &[&str]) {
    let status = Command::new("mount").args(arguments).status().unwrap();
    assert!(status.success(), "mount {arguments:?}");
}

/// Returns the instances of a process.
pub(super) fn instances_of(process: u32) -> Vec<String> {
    let listed = std::fs::read_dir(INSTANCES).unwrap().flatten();
    let names = listed.map(|it| it.file_name().to_string_lossy().into_owned());
    let begin = format!("takt-wakeup-{process}-");
    names.filter(|name| name.starts_with(&begin)).collect()
}
