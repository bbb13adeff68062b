//! Advice on shared memory.

use miette::Report;
use takt_shm::ShmError;
use takt_terminal::with_help;

use super::shell::shell_path;

/// Explains why a runtime directory cannot be used.
pub fn shared_memory(error: &ShmError) -> Report {
    if concerns_groups(error) {
        return with_help(error, GROUPS);
    }
    if concerns_files(error) {
        return with_help(error, FILES);
    }
    if let ShmError::RuntimeDirectory { path, .. } = error {
        return with_help(
            error,
            format!(
                "It has to be a directory of this user, who alone may use it: `chmod 700 {}`.",
                shell_path(path)
            ),
        );
    }
    // The libraries below do not tell that descriptors ran out.
    let limit = takt_rt::descriptors::limit();
    if limit < ENOUGH_DESCRIPTORS {
        return with_help(
            error,
            format!(
                "This process may open {limit} files, and a server needs about {ENOUGH_DESCRIPTORS}: `ulimit -n 1024`, or \
                 LimitNOFILE=1024 in the unit of its service."
            ),
        );
    }
    with_help(
        error,
        "Applications of one user meet in /dev/shm/takt-UID, or in the directory that TAKT_RUNTIME_DIR names.",
    )
}

/// Number of file descriptors with which a registry or Provider starts, with a margin. It needs about 110, and more for each client.
const ENOUGH_DESCRIPTORS: usize = 256;

/// Advice on an obstacle below /dev/shm.
const FILES: &str = "`df /dev/shm` shows its size; `takt clean` removes what killed applications left there, and \
                     `mount -o remount,size=1G /dev/shm` makes it larger. Files of other users are removed by them or by root.";

fn concerns_files(error: &ShmError) -> bool {
    matches!(
        error,
        ShmError::SharedMemoryFull { .. } | ShmError::ForeignFile { .. }
    )
}

fn concerns_groups(error: &ShmError) -> bool {
    matches!(
        error,
        ShmError::GroupDirectory { .. } | ShmError::NoSuchGroup(_) | ShmError::AccessDenied(_)
    )
}

/// Advice on sharing within a group.
pub(super) const GROUPS: &str = "With --group, memory is shared among the members of a Unix group, in a directory that root has made for it \
    (/run/takt/GROUP, mode 2770). `id` shows your groups; `usermod -a -G GROUP USER` adds a user, from the next login on. Without \
    --group it is shared with your own user alone. docs/threat-model.md says more.";
