//! Control group of the kernel that limits the memory of a process: version 1 or 2, whichever controls memory here
//! (cgroups(7)).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Directories in which a group is created: that of version 1 for memory, and that of version 2.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];

/// Names of the limit in bytes, of the same with swap space, of the largest use so far, and of the counts of events.
const FILES: [[&str; 4]; 2] = [
    [
        "memory.limit_in_bytes",
        "memory.memsw.limit_in_bytes",
        "memory.max_usage_in_bytes",
        "memory.oom_control",
    ],
    [
        "memory.max",
        "memory.swap.max",
        "memory.peak",
        "memory.events",
    ],
];

/// A control group with a limit of memory. Dropping it removes it, which takes the end of its processes.
#[derive(Debug)]
pub struct MemoryGroup {
    directory: PathBuf,
    files: [&'static str; 4],
}

impl MemoryGroup {
    /// Creates a group whose processes together may have `bytes` bytes of memory, and no swap space.
    ///
    /// # Panics
    /// If the kernel does not permit it.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let version_1 = Path::new(ROOTS[0]).join(FILES[0][0]).exists();
        let (root, files) = match version_1 {
            true => (ROOTS[0], FILES[0]),
            false => (ROOTS[1], FILES[1]),
        };
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("takt-test-{}-{number}", std::process::id());
        let directory = Path::new(root).join(name);
        fs::create_dir(&directory).unwrap();
        // From here on, a failure removes the directory.
        let group = Self { directory, files };
        fs::write(group.file(0), bytes.to_string()).unwrap();
        // Not every kernel controls swap space. Version 1 limits the sum, version 2 the swap space.
        let swap = if version_1 { bytes } else { 0 };
        let _ = fs::write(group.file(1), swap.to_string());
        group
    }

    fn file(&self, index: usize) -> PathBuf {
        self.directory.join(self.files[index])
    }

    /// Returns a shell line that moves the shell, and the program that replaces it, into the group.
    #[must_use]
    pub fn entrance(&self) -> String {
        format!(
            "echo $$ >{}/cgroup.procs || exit; ",
            self.directory.display()
        )
    }

    /// Returns true if a process is in the group.
    ///
    /// # Panics
    /// If the group is gone.
    #[must_use]
    pub fn contains(&self, id: u32) -> bool {
        let processes = fs::read_to_string(self.directory.join("cgroup.procs")).unwrap();
        processes.lines().any(|line| line == id.to_string())
    }

    /// Returns the directory of the group.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the largest use so far, and the counts of events, for messages.
    #[must_use]
    pub fn report(&self) -> String {
        let text = |index| fs::read_to_string(self.file(index)).unwrap_or_default();
        format!(
            "peak {}; {}",
            text(2).trim(),
            text(3).trim().replace('\n', ", ")
        )
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The kernel may need a moment to notice that the processes have ended.
        for _ in 0..500 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        eprintln!("{} could not be removed", self.directory.display());
    }
}
