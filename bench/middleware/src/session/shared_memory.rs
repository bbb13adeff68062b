//! Shared memory that the processes of a session hold, and leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of POSIX shared memory (shm_overview(7)).
pub(crate) const SHARED: &str = "/dev/shm";
/// Depth of the folders that are looked at.
const DEPTH: u32 = 4;

/// Files of shared memory that came with a session. Some libraries leave them until their next start.
#[derive(Debug)]
pub(super) struct SharedMemory {
    /// Files that were there before.
    before: BTreeSet<PathBuf>,
    /// Files that processes of the session had open or mapped.
    held: BTreeSet<PathBuf>,
}

impl SharedMemory {
    /// Notes the files that are there before the processes start.
    pub(super) fn before() -> Self {
        Self {
            before: files(Path::new(SHARED)),
            held: BTreeSet::new(),
        }
    }

    /// Notes the files of processes that are about to end.
    pub(super) fn note(&mut self, processes: &[u32]) {
        processes
            .iter()
            .for_each(|process| hold(*process, &mut self.held));
    }

    /// Removes the noted files that were not there before. Their processes have ended.
    pub(super) fn remove(&mut self) {
        for path in std::mem::take(&mut self.held) {
            if path.starts_with(SHARED) && !self.before.contains(&path) {
                // Most programs have removed theirs.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Returns the files below a folder.
pub(crate) fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    collect(folder, DEPTH, &mut found);
    found
}

fn collect(folder: &Path, depth: u32, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true if depth > 0 => collect(&entry.path(), depth - 1, found),
            true => {}
            false => {
                found.insert(entry.path());
            }
        }
    }
}

/// Adds the files that a process has open or mapped.
pub(crate) fn hold(process: u32, held: &mut BTreeSet<PathBuf>) {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    // proc_pid_maps(5): address, permissions, offset, device, inode, path.
    let paths = maps.lines().filter_map(|line| line.splitn(6, ' ').nth(5));
    held.extend(paths.map(|path| PathBuf::from(path.trim_start())));
    let descriptors = fs::read_dir(format!("/proc/{process}/fd"));
    let open = descriptors.into_iter().flatten().flatten();
    held.extend(open.filter_map(|entry| fs::read_link(entry.path()).ok()));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn open_files_and_files_below_a_folder_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (open, closed) = (
            folder.path().join("open"),
            folder.path().join("deep/closed"),
        );
        fs::create_dir(folder.path().join("deep")).unwrap();
        let file = fs::File::create(&open).unwrap();
        fs::write(&closed, "x").unwrap();
        assert_eq!(
            files(folder.path()),
            BTreeSet::from([open.clone(), closed.clone()])
        );
        let mut held = BTreeSet::new();
        hold(std::process::id(), &mut held);
        assert!(held.contains(&open) && !held.contains(&closed), "{held:?}");
        drop(file);
    }

    #[test]
    fn only_new_shared_memory_of_the_processes_is_removed() {
        let make = || tempfile::NamedTempFile::with_prefix_in("takt-test-", SHARED).unwrap();
        let old = make();
        let mut memory = SharedMemory::before();
        let (held, closed) = (make(), make().into_temp_path());
        memory.note(&[std::process::id()]);
        memory.remove();
        assert!(old.path().exists() && closed.exists());
        assert!(!held.path().exists());
    }
}
