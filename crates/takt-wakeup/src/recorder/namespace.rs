//! PID namespace of this process (pid_namespaces(7)).

use std::fs;
use std::os::unix::fs::MetadataExt;

/// Number of the first PID namespace of a kernel (`PROC_PID_INIT_INO` of `include/linux/proc_ns.h`).
const FIRST: u64 = 0xEFFF_FFFC;

/// Returns true if the process is in another PID namespace than the first one, whose ids the kernel's events have.
pub(super) fn is_of_its_own() -> bool {
    fs::metadata("/proc/self/ns/pid").is_ok_and(|it| it.ino() != FIRST)
}
