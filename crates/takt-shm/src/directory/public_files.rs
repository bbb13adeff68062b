//! Files of the public services in a runtime directory. Without the feature `iceoryx2` there are none.

use std::path::Path;
use std::time::Duration;

#[cfg(feature = "iceoryx2")]
use iceoryx2::config::Config;
use rustix::fs::Stat;

use crate::directory::clean_report::CleanReport;
#[cfg(feature = "iceoryx2")]
use crate::directory::configuration::iceoryx2_config;
#[cfg(feature = "iceoryx2")]
use crate::directory::dead_nodes;
#[cfg(feature = "iceoryx2")]
use crate::directory::location::SHARED_MEMORY_DIRECTORY;
#[cfg(feature = "iceoryx2")]
use crate::directory::management;

/// Time to wait for another process that removes the same leftovers.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// Time for which a starting process waits for the same: it needs none of the leftovers.
pub(crate) const SHORT_PATIENCE: Duration = Duration::from_millis(50);

/// Subdirectories that iceoryx2 makes in its root path.
#[cfg(feature = "iceoryx2")]
const ICEORYX2_DIRECTORIES: [&str; 2] = ["nodes", "services"];

/// Files of iceoryx2 in a directory, which it finds by its configuration.
#[derive(Debug)]
pub(crate) struct PublicFiles {
    #[cfg(feature = "iceoryx2")]
    pub(crate) config: Config,
}

/// Returns the prefix of a directory's files. The same directory has the same number wherever it is mounted. File systems use numbers
/// again: with that of the owner, files that another user has left for an earlier directory have other names.
pub(crate) fn prefix_of(stat: &Stat) -> String {
    format!("takt_{:x}_{:x}_{}_", stat.st_dev, stat.st_ino, stat.st_uid)
}

#[cfg(feature = "iceoryx2")]
impl PublicFiles {
    pub(crate) fn new(path: &Path, prefix: &str) -> Result<Self, String> {
        let config = iceoryx2_config(path, prefix)?;
        Ok(Self { config })
    }

    /// Removes the leftovers of dead processes: see [`dead_nodes::remove`].
    pub(crate) fn remove_dead(&self, patience: Duration) -> Option<CleanReport> {
        dead_nodes::remove(&self.config, patience)
    }

    /// Removes what is left of other directories of this user: see [`management::remove_abandoned`]. Returns the number of files.
    pub(crate) fn remove_abandoned(&self) -> usize {
        let prefix = self.config.global.prefix.to_string();
        management::remove_abandoned(Path::new(SHARED_MEMORY_DIRECTORY), &prefix)
    }

    /// Removes all files, after those of dead processes.
    pub(crate) fn remove_all(&self, path: &Path) {
        let prefix = self.config.global.prefix.to_string();
        remove_files(Path::new(SHARED_MEMORY_DIRECTORY), &prefix);
        remove_files(path, &prefix);
        for directory in ICEORYX2_DIRECTORIES {
            let _ = std::fs::remove_dir_all(path.join(directory));
        }
    }
}

#[cfg(not(feature = "iceoryx2"))]
impl PublicFiles {
    pub(crate) fn new(_path: &Path, _prefix: &str) -> Result<Self, String> {
        Ok(Self {})
    }

    pub(crate) fn remove_dead(&self, _patience: Duration) -> Option<CleanReport> {
        Some(CleanReport::default())
    }

    /// Finds nothing.
    pub(crate) fn remove_abandoned(&self) -> usize {
        0
    }

    /// Leaves files of other programs: only iceoryx2 knows whether they are in use.
    pub(crate) fn remove_all(&self, _path: &Path) {}
}

/// Removes the files with this prefix in a directory.
#[cfg(feature = "iceoryx2")]
fn remove_files(directory: &Path, prefix: &str) {
    use std::os::unix::ffi::OsStrExt;

    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().as_bytes().starts_with(prefix.as_bytes()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
