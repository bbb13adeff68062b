//! Runtime directory of a group: `/run/takt/GROUP`.
//!
//! Root makes it (`install -d -o root -g GROUP -m 2770 /run/takt/GROUP`), so that only root decides which groups share and where.
//! It belongs to the group and is closed to all others; files in it inherit the group (the setgid bit). With the sticky bit (mode
//! 3770), members cannot remove each other's files: then a name belongs to its user for good.
//!
//! `$TAKT_GROUP_ROOT` names another place than `/run/takt`. Then, or if the directory is named itself, it may belong to the user
//! who runs the process instead of root: the user trusts no other user by it. A process of another user would refuse such a
//! directory.

use std::path::{Path, PathBuf};
use std::{env, fs};

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::directory::group::Group;
use crate::error::ShmError;

/// Environment variable that names another directory than `/run/takt` for the directories of groups.
pub const GROUP_ROOT_VARIABLE: &str = "TAKT_GROUP_ROOT";

const ROOT: &str = "/run/takt";

const SETGID: u32 = 0o2000;
const STICKY: u32 = 0o1000;
const ANYBODY: u32 = 0o007;
const GROUP_ALL: u32 = 0o070;

/// Returns the value of `$TAKT_GROUP_ROOT`.
fn named_root() -> Option<PathBuf> {
    let root = env::var_os(GROUP_ROOT_VARIABLE).filter(|root| !root.is_empty());
    root.map(PathBuf::from)
}

fn root(named: Option<PathBuf>) -> PathBuf {
    named.unwrap_or_else(|| PathBuf::from(ROOT))
}

/// Returns the names of all directories of groups, including groups of others.
pub(crate) fn names() -> Vec<String> {
    let Ok(entries) = fs::read_dir(root(named_root())) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Directory that was checked to be safe for the group.
#[derive(Debug)]
pub(crate) struct GroupDirectory {
    pub(crate) path: PathBuf,
    pub(crate) stat: Stat,
}

impl GroupDirectory {
    /// Opens `path`, or else the group's directory below `$TAKT_GROUP_ROOT` or `/run/takt`, and checks it. It makes nothing.
    ///
    /// # Errors
    /// [`ShmError::AccessDenied`] if this process does not belong to the group, [`ShmError::GroupDirectory`] if the directory is
    /// missing or not safe.
    pub(crate) fn open(group: &Group, path: Option<&Path>) -> Result<Self, ShmError> {
        if !group.has_us() {
            return Err(ShmError::AccessDenied(format!(
                "this process does not belong to the group {group}"
            )));
        }
        let named = named_root();
        let is_usual = path.is_none() && named.is_none();
        let path = path
            .map(Path::to_path_buf)
            .unwrap_or_else(|| root(named).join(group.name()));
        let refused = |reason: String| ShmError::GroupDirectory {
            path: path.clone(),
            group: group.name().to_owned(),
            reason,
        };
        let owners = Owners::new(is_usual);
        let parent = path.parent().filter(|parent| parent.is_absolute());
        let parent = parent.ok_or_else(|| refused("is not an absolute path".to_owned()))?;
        let parent = open_directory(parent).map_err(|e| refused(e.describe()))?;
        owners.check_parent(&parent).map_err(&refused)?;
        match open_directory(&path) {
            Ok(stat) => {
                owners.check(&stat, group).map_err(&refused)?;
                Ok(Self { path, stat })
            }
            Err(Failure(Errno::ACCESS)) => Err(ShmError::AccessDenied(format!(
                "{} cannot be entered by this process",
                path.display()
            ))),
            Err(failure) => Err(refused(failure.describe())),
        }
    }

    /// Returns true if members cannot remove each other's files.
    pub(crate) fn is_sticky(&self) -> bool {
        self.stat.st_mode & STICKY != 0
    }
}

struct Failure(Errno);

impl Failure {
    fn describe(&self) -> String {
        match self.0 {
            Errno::NOENT => "does not exist".to_owned(),
            Errno::NOTDIR | Errno::LOOP => "is not a directory, or is a symbolic link".to_owned(),
            error => format!("cannot be opened: {error}"),
        }
    }
}

fn open_directory(path: &Path) -> Result<Stat, Failure> {
    // With O_PATH, no permission to read the directory is needed.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(Failure)?;
    rustix::fs::fstat(&directory).map_err(Failure)
}

/// Users that may own the directory.
struct Owners {
    user: u32,
    usual: bool,
}

impl Owners {
    fn new(usual: bool) -> Self {
        Self {
            user: rustix::process::geteuid().as_raw(),
            usual,
        }
    }

    fn is_owner(&self, stat: &Stat) -> bool {
        stat.st_uid == 0 || (!self.usual && stat.st_uid == self.user)
    }

    /// Checks the parent directory: a process that can write to it can replace the directory.
    fn check_parent(&self, stat: &Stat) -> Result<(), String> {
        // In a sticky directory, only its owner can replace an entry.
        let others_write = stat.st_mode & 0o022 != 0 && stat.st_mode & STICKY == 0;
        match self.is_owner(stat) && !others_write {
            true => Ok(()),
            false => Err("is in a directory that others can write".to_owned()),
        }
    }

    fn check(&self, stat: &Stat, group: &Group) -> Result<(), String> {
        let mode = stat.st_mode & 0o7777;
        if !self.is_owner(stat) {
            return Err(format!("belongs to user {}, not to root", stat.st_uid));
        }
        if stat.st_gid != group.id() {
            return Err(format!(
                "belongs to group {}, not to {group} ({})",
                stat.st_gid,
                group.id()
            ));
        }
        if mode & ANYBODY != 0 {
            return Err(format!("is accessible to all users (mode {mode:o})"));
        }
        if mode & SETGID == 0 || mode & GROUP_ALL != GROUP_ALL {
            return Err(format!("has mode {mode:o}, not 2770"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn ours() -> Group {
        Group::find(&rustix::process::getegid().as_raw().to_string()).unwrap()
    }

    /// Returns a directory for the group of this process, below a safe one.
    fn directory(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("group");
        fs::create_dir(&path).unwrap();
        let group = rustix::process::getegid();
        rustix::fs::chown(&path, None, Some(group)).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (parent, path)
    }

    fn refusal(path: &Path) -> String {
        let error = GroupDirectory::open(&ours(), Some(path)).unwrap_err();
        assert!(matches!(error, ShmError::GroupDirectory { .. }), "{error}");
        error.to_string()
    }

    #[test]
    fn a_directory_for_the_group_alone_is_fine() {
        for (mode, sticky) in [(0o2770, false), (0o3770, true)] {
            let (_parent, path) = directory(mode);
            let found = GroupDirectory::open(&ours(), Some(&path)).unwrap();
            assert_eq!(found.is_sticky(), sticky);
        }
    }

    #[test]
    fn wrong_modes_are_refused_with_the_command_that_helps() {
        for mode in [0o770, 0o2700, 0o2750, 0o2775, 0o2777, 0o2771] {
            let (_parent, path) = directory(mode);
            let error = refusal(&path);
            let command = format!(
                "install -d -o root -g {} -m 2770 {}",
                ours(),
                path.display()
            );
            assert!(error.contains(&format!("{mode:o}")), "{error}");
            assert!(error.contains(&command), "{error}");
        }
    }

    #[test]
    fn links_files_and_missing_directories_are_refused() {
        let (parent, path) = directory(0o2770);
        let link = parent.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(refusal(&link).contains("symbolic link"));
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(refusal(&file).contains("not a directory"));
        assert!(refusal(&parent.path().join("missing")).contains("does not exist"));
        assert!(refusal(Path::new("relative")).contains("absolute"));
    }

    #[test]
    fn a_directory_that_others_can_replace_is_refused() {
        let (parent, path) = directory(0o2770);
        fs::set_permissions(parent.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(refusal(&path).contains("others can write"));
    }

    #[test]
    fn owner_and_group_have_to_be_the_right_ones() {
        let (_parent, path) = directory(0o2770);
        let mut stat = rustix::fs::stat(&path).unwrap();
        stat.st_uid = 12345;
        let (usual, named) = (
            Owners {
                user: 12345,
                usual: true,
            },
            Owners {
                user: 12345,
                usual: false,
            },
        );
        assert!(
            usual
                .check(&stat, &ours())
                .unwrap_err()
                .contains("not to root")
        );
        assert_eq!(named.check(&stat, &ours()), Ok(()));
        stat.st_uid = 0;
        assert_eq!(usual.check(&stat, &ours()), Ok(()));
        stat.st_gid = stat.st_gid.wrapping_add(1);
        assert!(
            usual
                .check(&stat, &ours())
                .unwrap_err()
                .contains("belongs to group")
        );
    }

    #[test]
    fn users_outside_the_group_are_denied() {
        let foreign = (50_000..)
            .map(|id: u32| Group::find(&id.to_string()).unwrap())
            .find(|group| !group.has_us())
            .unwrap();
        let (_parent, path) = directory(0o2770);
        let error = GroupDirectory::open(&foreign, Some(&path)).unwrap_err();
        assert_eq!(
            error.status_code(),
            takt_ua::StatusCode::BadUserAccessDenied
        );
    }
}
