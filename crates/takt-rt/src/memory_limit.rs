//! The memory that the kernel gives a process: the limit of its cgroup, or of a cgroup above it (cgroups(7)).
//!
//! A process that exceeds it is killed. Read are `memory.max` of version 2 and `memory.limit_in_bytes` of version 1.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the limit in bytes of the memory of this process; `None` if no cgroup limits it, or it cannot be read.
#[must_use]
pub fn of_process() -> Option<u64> {
    below(Path::new("/"))
}

/// Returns the limit that the files below `root` describe.
fn below(root: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(root.join(name)).ok();
    let cgroups = read("proc/self/cgroup")?;
    let mounts = read("proc/self/mountinfo")?;
    let limits = mounts.lines().filter_map(Mount::parse).filter_map(|mount| {
        let own = cgroups.lines().find_map(|line| mount.version.path(line))?;
        // A container may see a part of the hierarchy only, and its own cgroup under the path of the host.
        let inside = own.strip_prefix(mount.root.as_str()).unwrap_or("");
        let top = root.join(mount.point.trim_start_matches('/'));
        let file = mount.version.file();
        smallest(&top, inside.trim_matches('/'), file)
    });
    limits.min()
}

/// Returns the smallest limit of the folder `inside` below `top` and of those above it, up to `top`.
fn smallest(top: &Path, inside: &str, file: &str) -> Option<u64> {
    let mut folder = PathBuf::from(top);
    let mut limits = vec![limit(&folder.join(file))];
    for name in inside.split('/').filter(|name| !name.is_empty()) {
        // A path with `..` leads out of what this process sees.
        if name == ".." {
            break;
        }
        folder.push(name);
        limits.push(limit(&folder.join(file)));
    }
    limits.into_iter().flatten().min()
}

/// Reads a limit; `max` and the largest number of pages of version 1 stand for none.
fn limit(file: &Path) -> Option<u64> {
    /// Version 1 has the largest number of bytes in whole pages for no limit.
    const NONE: u64 = 1 << 60;
    let text = fs::read_to_string(file).ok()?;
    text.trim().parse().ok().filter(|bytes| *bytes < NONE)
}

/// Version of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    fn file(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }

    /// Returns the path of the process in a line of /proc/self/cgroup, `ID:CONTROLLERS:PATH`, if it is the line of this version.
    fn path(self, line: &str) -> Option<&str> {
        let mut parts = line.splitn(3, ':');
        let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let is_own = match self {
            Self::One => controllers.split(',').any(|one| one == "memory"),
            Self::Two => id == "0" && controllers.is_empty(),
        };
        is_own.then_some(path)
    }
}

/// A mounted hierarchy that limits memory.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// Cgroup that is mounted; without a slash at the end.
    root: String,
    /// Folder where it is mounted.
    point: String,
}

impl Mount {
    /// Returns the mount of a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
    fn parse(line: &str) -> Option<Self> {
        let (mount, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        let version = match source.next()? {
            "cgroup2" => Version::Two,
            "cgroup" if source.nth(1)?.split(',').any(|one| one == "memory") => Version::One,
            _ => return None,
        };
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        // Other characters that the kernel escapes are no part of such paths.
        let unescaped = |path: &str| path.replace("\\040", " ");
        Some(Self {
            version,
            root: unescaped(root).trim_end_matches('/').to_owned(),
            point: unescaped(point),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the limit in a system with these files.
    fn limit_with(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        below(root.path())
    }

    const UNIFIED: &str = "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
        33 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const SLICE: &str = "0::/system.slice/takt.service\n";

    #[test]
    fn the_smallest_limit_of_all_cgroups_above_counts() {
        let with = |own, slice| {
            limit_with(&[
                ("proc/self/cgroup", SLICE),
                ("proc/self/mountinfo", UNIFIED),
                ("sys/fs/cgroup/system.slice/takt.service/memory.max", own),
                ("sys/fs/cgroup/system.slice/memory.max", slice),
            ])
        };
        assert_eq!(with("200000000\n", "max\n"), Some(200_000_000));
        assert_eq!(with("max\n", "100000000\n"), Some(100_000_000));
        assert_eq!(with("300\n", "200\n"), Some(200));
        assert_eq!(with("max\n", "max\n"), None);
        assert_eq!(with("many\n", ""), None);
    }

    #[test]
    fn a_container_sees_its_own_cgroup_at_the_top() {
        // With a namespace of its own.
        let files = [
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", UNIFIED),
            ("sys/fs/cgroup/memory.max", "123456789\n"),
        ];
        assert_eq!(limit_with(&files), Some(123_456_789));
        // Without one, the path is that of the host, of which only a part is mounted.
        let files = [
            ("proc/self/cgroup", "9:cpu:/x\n7:memory:/docker/0123\n"),
            (
                "proc/self/mountinfo",
                "40 30 0:33 /docker/0123 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n"),
        ];
        assert_eq!(limit_with(&files), Some(5_000_000));
        // Outside of what is mounted, only the top is known.
        let files = [
            ("proc/self/cgroup", "0::/../other\n"),
            ("proc/self/mountinfo", UNIFIED),
            ("sys/fs/cgroup/memory.max", "max\n"),
        ];
        assert_eq!(limit_with(&files), None);
    }

    #[test]
    fn version_1_beside_version_2() {
        let mounts = "30 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
            31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
            32 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let with = |limit| {
            limit_with(&[
                ("proc/self/cgroup", "4:memory:/a/b\n3:cpu:/\n0::/a/b\n"),
                ("proc/self/mountinfo", mounts),
                ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", limit),
                ("sys/fs/cgroup/cpu/memory.limit_in_bytes", "1\n"),
            ])
        };
        assert_eq!(with("67108864\n"), Some(64 << 20));
        assert_eq!(with("9223372036854771712\n"), None);
    }

    #[test]
    fn files_of_another_form_are_no_limit() {
        assert_eq!(limit_with(&[]), None);
        for (cgroup, mounts) in [
            ("", ""),
            ("0\n", UNIFIED),
            ("::\n", UNIFIED),
            (SLICE, "x - cgroup2\n1 2 3 - cgroup2 a b\n - \n"),
        ] {
            let files = [
                ("proc/self/cgroup", cgroup),
                ("proc/self/mountinfo", mounts),
            ];
            assert_eq!(limit_with(&files), None);
        }
    }

    #[test]
    fn this_process_has_a_limit_or_none() {
        assert!(of_process().is_none_or(|bytes| bytes > 0));
    }
}
