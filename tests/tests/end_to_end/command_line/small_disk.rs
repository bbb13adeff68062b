//! A small disk for one test: a tmpfs in a separate mount namespace, which requires root. The test starts itself again in it.

use std::path::Path;
use std::process::Command;

use takt_tests::{Sandbox, process};

use crate::command_line::PATIENCE;

/// Mount point of the small disk, for the test in the namespace.
const DISK: &str = "TAKT_TEST_DISK";

/// Runs `test` on a disk of this size (`size=` of tmpfs). `name` is the path of the calling test, which is started again.
pub(super) fn on_small_disk(name: &str, size: &str, test: impl FnOnce(&Path)) {
    if let Some(disk) = std::env::var_os(DISK) {
        return test(Path::new(&disk));
    }
    let sandbox = Sandbox::new();
    let disk = sandbox.data_directory().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size} tmpfs '{}' || exit 77; exec '{}' --exact --nocapture {name}",
        disk.display(),
        std::env::current_exe().unwrap().display(),
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .env(DISK, &disk);
    let ran = process::run("unshare", &mut command, 4 * PATIENCE);
    let cannot = ran.stderr.contains("Operation not permitted") || ran.status.code() == Some(77);
    if cannot {
        println!("skipped: mounting a small disk takes root: {}", ran.stderr);
        return;
    }
    let said = ran.expect_success();
    assert!(said.contains("1 passed"), "{said}");
}
