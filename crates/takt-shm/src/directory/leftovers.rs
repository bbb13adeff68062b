//! Leftovers that iceoryx2 does not remove: files that were half made or half removed when their process was killed.
//!
//! They are recognised by their missing parts, and by their age: a process that is at work on them completes them in far less
//! than a second.

use std::fs::{self, DirEntry, Metadata};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::directory::location::SHARED_MEMORY_DIRECTORY;

/// Time after which a shared memory object without a size will never get one: its owner sets it at once, when it gets its turn.
const UNBORN: Duration = Duration::from_secs(1);
/// Time after which a node that is neither alive nor dead will stay so.
const UNDEFINED: Duration = Duration::from_secs(2);

/// Removes shared memory objects that were made but never got a size.
///
/// iceoryx2 0.10 waits without end for such an object to get a size, when a process opens it or cleans up after its owner. So
/// this has to be the first step.
pub(crate) fn remove_unborn(prefix: &str) {
    let deadline = Instant::now() + 2 * UNBORN;
    loop {
        let mut young = false;
        for entry in entries(Path::new(SHARED_MEMORY_DIRECTORY)) {
            if !name(&entry).starts_with(prefix) {
                continue;
            }
            let is_empty = |metadata: &Metadata| metadata.is_file() && metadata.len() == 0;
            let Some(metadata) = metadata(&entry).filter(is_empty) else {
                continue;
            };
            if age(&metadata) > UNBORN {
                let _ = fs::remove_file(entry.path());
            } else {
                young = true;
            }
        }
        // Its owner may be at work on it, or may have been killed just now.
        if !young || Instant::now() > deadline {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Removes unfinished files, which can still be written, from the directory of a dead node.
///
/// iceoryx2 ignores such files, and then cannot remove their directory.
pub(crate) fn remove_unfinished(node: &Path) {
    for entry in entries(node) {
        let is_unfinished = |metadata: Metadata| !metadata.permissions().readonly();
        if metadata(&entry).is_some_and(is_unfinished) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes nodes that are in no list: all or some of the files are missing that show their state. `is_listed` returns true for
/// nodes that iceoryx2 knows to be alive or dead.
pub(crate) fn remove_undefined(nodes: &Path, prefix: &str, is_listed: impl Fn(u128) -> bool) {
    for entry in entries(nodes) {
        let file_name = name(&entry);
        // A node has a directory that is named by its number, and files named by prefix, number and suffix.
        let number = file_name.strip_prefix(prefix).unwrap_or(&file_name);
        let number = number.split_once('.').map_or(number, |(number, _)| number);
        let Ok(number) = number.parse::<u128>() else {
            continue;
        };
        let Some(metadata) = metadata(&entry).filter(|metadata| age(metadata) > UNDEFINED) else {
            continue;
        };
        if is_listed(number) {
            continue;
        }
        if metadata.is_file() {
            let _ = fs::remove_file(entry.path());
        } else if !has_tags(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns the names of the files in a directory that are not new.
pub(crate) fn old_files(directory: &Path) -> impl Iterator<Item = String> {
    entries(directory).filter_map(|entry| {
        let metadata = metadata(&entry)?;
        (metadata.is_file() && age(&metadata) > UNDEFINED).then(|| name(&entry))
    })
}

/// Returns true if a node's directory lists services or ports of the node: then there is more to remove than the directory.
fn has_tags(directory: &Path) -> bool {
    entries(directory).any(|entry| name(&entry).ends_with("_tag"))
}

fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(directory)
        .into_iter()
        .flat_map(|entries| entries.flatten())
}

fn name(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

fn metadata(entry: &DirEntry) -> Option<Metadata> {
    // The file may be gone in the meantime.
    entry.metadata().ok()
}

fn age(metadata: &Metadata) -> Duration {
    metadata
        .modified()
        .ok()
        .and_then(|modified| modified.elapsed().ok())
        // A time in the future counts as new: such a file is left.
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;

    fn old(path: &Path) {
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        File::open(path).unwrap().set_modified(long_ago).unwrap();
    }

    #[test]
    fn objects_without_a_size_are_removed_when_they_are_old() {
        let prefix = format!("takt_test_{}_", std::process::id());
        let path = |name: &str| Path::new(SHARED_MEMORY_DIRECTORY).join(format!("{prefix}{name}"));
        for name in ["empty", "full", "young"] {
            fs::write(path(name), if name == "full" { "x" } else { "" }).unwrap();
        }
        old(&path("empty"));
        old(&path("full"));
        remove_unborn(&format!("{prefix}e"));
        assert!(!path("empty").exists() && path("full").exists() && path("young").exists());
        remove_unborn(&prefix);
        assert!(path("full").exists() && !path("young").exists());
        fs::remove_file(path("full")).unwrap();
    }

    #[test]
    fn unfinished_files_of_a_node_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["finished", "unfinished"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let finished = directory.path().join("finished");
        let mut permissions = fs::metadata(&finished).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&finished, permissions).unwrap();
        remove_unfinished(directory.path());
        let left: Vec<String> = entries(directory.path()).map(|e| name(&e)).collect();
        assert_eq!(left, ["finished"]);
    }

    #[test]
    fn nodes_in_no_list_are_removed_when_they_are_old() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for number in ["1", "2", "3", "4", "other"] {
            fs::create_dir(path(number)).unwrap();
            fs::write(path(number).join("p_node.details"), "").unwrap();
        }
        fs::write(path("3").join("p_abc.service_tag"), "").unwrap();
        for name in ["p_2.node_monitor", "p_4.node_monitor_context"] {
            fs::write(path(name), "").unwrap();
        }
        for name in [
            "1",
            "2",
            "3",
            "other",
            "p_2.node_monitor",
            "p_4.node_monitor_context",
        ] {
            old(&path(name));
        }
        remove_undefined(directory.path(), "p_", |number| number == 2);
        let mut left: Vec<String> = entries(directory.path()).map(|e| name(&e)).collect();
        left.sort();
        assert_eq!(left, ["2", "3", "4", "other", "p_2.node_monitor"]);
    }
}
