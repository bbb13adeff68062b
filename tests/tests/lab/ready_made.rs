//! Machines in which a part of a test runs as root: with Debian's kernel of User-Mode Linux, which has all queueing disciplines, or with
//! that of the lab.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use takt_tests::process::run;
use takt_tests::{Sandbox, binary};

use crate::{Outcome, PATIENCE};

/// Environment variable of the process in the machine: the name of the test.
pub const INSIDE: &str = "TAKT_LAB_INSIDE";

/// Environment variable of the process in the machine: the folder of the test.
pub const FOLDER: &str = "TAKT_LAB_FOLDER";

/// Kernel of the package `user-mode-linux`.
const KERNEL: &str = "/usr/bin/linux.uml";

/// Line that the process in the machine prints at the end of a test that passed.
const PASSED: &str = "passed in the machine";

/// Prints that the test in the machine has passed.
pub fn passed() {
    println!("{PASSED}");
}

/// Boots a machine with Debian's kernel in which this program runs the part of a test with this name.
pub fn boot(test: &str) -> Outcome {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if processors.contains("amx_tile") || !Path::new(KERNEL).exists() {
        return Outcome::Ignored("the ready-made kernel cannot run on this machine".to_owned());
    }
    boot_kernel(Path::new(KERNEL), &[], test)
}

/// Boots a machine with another kernel, which gets more options.
pub fn boot_kernel(kernel: &Path, options: &[&str], test: &str) -> Outcome {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory();
    let script = folder.join("init");
    let own = std::env::current_exe().unwrap();
    let text = format!(
        "#!/bin/sh\nexport PATH=/usr/sbin:/usr/bin:/sbin:/bin\n\
         cd {0}\nmount -t proc proc /proc\nmount -t sysfs sysfs /sys\nmkdir -p /dev/shm\n\
         mount -t tmpfs tmpfs /dev/shm\nmount -t tmpfs tmpfs /run\nip link set lo up\n\
         {INSIDE}={test} {FOLDER}={0} TAKT_BIN={1} {2} >output 2>&1\n\
         echo o > /proc/sysrq-trigger\nsleep 60\n",
        folder.display(),
        binary::takt().display(),
        own.display(),
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(kernel);
    command
        .args(["mem=256M", "root=/dev/root", "rootfstype=hostfs", "rw"])
        .arg(format!("init={}", script.display()))
        .args(["con0=fd:0,fd:1", "con=null", "quiet"])
        .args(options)
        .current_dir(&folder)
        .stdin(Stdio::null());
    let finished = run("the machine", &mut command, PATIENCE);
    // Its console loses what is written last.
    let output = fs::read_to_string(folder.join("output")).unwrap_or(finished.stderr);
    assert!(output.contains(PASSED), "{output}");
    Outcome::Passed
}
