//! A group with its directory, users in it and outside, and `takt` as one of them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use serde_json::Value;
use takt_app::ClientOptions;
use takt_tests::process::{self, Finished, Process};
use tempfile::TempDir;

/// Number of the group.
pub const GROUP: u32 = 54_001;

const START: Duration = Duration::from_secs(60);
const COMMAND: Duration = Duration::from_secs(60);

/// A user, by number, with its own group.
#[derive(Debug, Clone, Copy)]
pub struct User {
    pub id: u32,
    group: u32,
    supplementary: Option<u32>,
}

/// Members: one has the group as its primary group, the others as a supplementary group.
pub const ANNA: User = member(54_101);
pub const BERT: User = User {
    id: 54_102,
    group: GROUP,
    supplementary: None,
};
pub const CARL: User = member(54_103);
/// A user who is not a member.
pub const DORA: User = User {
    id: 54_104,
    group: 54_104,
    supplementary: Some(54_002),
};

const fn member(id: u32) -> User {
    User {
        id,
        group: id,
        supplementary: Some(GROUP),
    }
}

/// The sandbox of one test. Dropping it removes its directories.
#[derive(Debug)]
pub struct Shared {
    directory: TempDir,
    name: String,
}

impl Shared {
    /// Creates a sandbox with a group directory as root creates it.
    pub fn new() -> Self {
        Self::with_mode(0o2770)
    }

    pub fn with_mode(mode: u32) -> Self {
        let directory = TempDir::with_prefix("takt-group-").unwrap();
        let shared = Self {
            directory,
            name: format!("n{}", std::process::id()),
        };
        set_mode(shared.path(), 0o755);
        // Other users may have no access to the folder of the test binaries.
        let takt = shared.path().join("takt");
        fs::copy(takt_tests::binary::takt(), &takt).unwrap();
        set_mode(&takt, 0o755);
        fs::create_dir(shared.root()).unwrap();
        set_mode(&shared.root(), 0o755);
        shared.make_group_directory(&shared.group_directory(), mode);
        fs::create_dir(shared.path().join("data")).unwrap();
        set_mode(&shared.path().join("data"), 0o1777);
        shared
    }

    pub fn make_group_directory(&self, path: &Path, mode: u32) {
        fs::create_dir(path).unwrap();
        rustix::fs::chown(path, Some(Uid::ROOT), Some(Gid::from_raw(GROUP))).unwrap();
        set_mode(path, mode);
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Directory in `TAKT_GROUP_ROOT`.
    pub fn root(&self) -> PathBuf {
        self.path().join("groups")
    }

    pub fn group_directory(&self) -> PathBuf {
        self.root().join(GROUP.to_string())
    }

    pub fn socket(&self, application: &str) -> PathBuf {
        self.group_directory().join(format!("{application}.sock"))
    }

    /// Returns an ApplicationName that no other test uses.
    pub fn application(&self, name: &str) -> String {
        format!("{name}{}", self.name)
    }

    /// Returns a `takt` command line, for this group, of this user.
    pub fn takt(&self, user: User, arguments: &[&str]) -> Command {
        let mut command = self.takt_for_all(user, arguments);
        command.args(["--group", &GROUP.to_string()]);
        command
    }

    /// Returns a `takt` command line of this user without a group.
    pub fn takt_for_all(&self, user: User, arguments: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user.id.to_string()]);
        command.args(["--regid", &user.group.to_string()]);
        match user.supplementary {
            Some(group) => command.args(["--groups", &group.to_string()]),
            None => command.arg("--clear-groups"),
        };
        command
            .arg(self.path().join("takt"))
            .args(takt_tests::sandbox::patient(arguments));
        command
            .current_dir("/")
            .env("TAKT_GROUP_ROOT", self.root())
            .env(
                "TAKT_RUNTIME_DIR",
                self.path().join(format!("data/runtime{}", user.id)),
            )
            .env(
                "XDG_STATE_HOME",
                self.path().join(format!("data/{}", user.id)),
            )
            .env("NO_COLOR", "1");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, user: User, arguments: &[&str]) -> Finished {
        let name = format!("takt {}", arguments.join(" "));
        process::run(&name, &mut self.takt(user, arguments), COMMAND)
    }

    /// Returns the rows of `takt ps` and `takt clean`.
    pub fn rows(&self, command: &mut Command) -> Vec<Value> {
        let finished = process::run("takt", command.arg("--json"), COMMAND);
        let output = finished.expect_success();
        let rows = output.lines().map(serde_json::from_str);
        rows.map(Result::unwrap).collect()
    }

    /// Runs a command that must fail; returns its message in one line.
    pub fn fails(&self, user: User, arguments: &[&str]) -> String {
        let said = self.run(user, arguments).expect_failure();
        assert!(!said.contains("panicked"), "{said}");
        in_one_line(&said)
    }

    /// Starts a registry named `Registry…`.
    pub fn registry(&self, user: User) -> Process {
        self.registry_with(user, &[])
    }

    /// Starts a registry with these additional arguments.
    pub fn registry_with(&self, user: User, arguments: &[&str]) -> Process {
        let name = self.application("Registry");
        let data = self.path().join(format!("data/registry{}", user.id));
        let data = data.to_str().unwrap();
        let endpoint = "opc.tcp://127.0.0.1:0";
        let registry = [
            "registry",
            "--name",
            &name,
            "--endpoint",
            endpoint,
            "--data",
            data,
        ];
        self.serves(user, &[&registry, arguments].concat())
    }

    /// Starts a Provider named `Machine…`.
    pub fn machine(&self, user: User) -> Process {
        let arguments = self.machine_arguments();
        self.serves(user, &arguments.each_ref().map(String::as_str))
    }

    pub fn machine_arguments(&self) -> [String; 6] {
        let registry = format!("opc.iox2://{}", self.application("Registry"));
        let name = self.application("Machine");
        [
            "provider",
            "machine",
            "--registry",
            &registry,
            "--name",
            &name,
        ]
        .map(str::to_owned)
    }

    fn serves(&self, user: User, arguments: &[&str]) -> Process {
        let mut process = Process::spawn(
            &format!("takt {}", arguments[0]),
            &mut self.takt(user, arguments),
        );
        process.wait_for("its endpoints", START, |line| line.contains(" serves "));
        process
    }

    /// Waits until the registration of the Machine is complete.
    pub fn wait_until_registered(&self, user: User) {
        let registry = format!("opc.iox2://{}", self.application("Registry"));
        let path = format!("{}/Available", self.application("Machine"));
        wait_for("the Machine's registration", || {
            let read = self.run(user, &["read", &registry, &path]);
            read.stdout.starts_with("true").then_some(())
        });
    }

    /// Returns the options of a client in this group.
    pub fn options(&self) -> ClientOptions {
        ClientOptions {
            group: Some(GROUP.to_string()),
            runtime_directory: Some(self.group_directory()),
            timeout: START,
            ..ClientOptions::named("Groups")
        }
    }
}

/// Waits until a value is available.
pub fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(started.elapsed() < START, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a function in a thread of another user. On Linux each thread has its own.
pub fn as_user<R: Send>(user: User, work: impl FnOnce() -> R + Send) -> R {
    let thread = || {
        let groups: Vec<Gid> = user.supplementary.map(Gid::from_raw).into_iter().collect();
        let (id, group) = (Uid::from_raw(user.id), Gid::from_raw(user.group));
        set_thread_groups(&groups).unwrap();
        set_thread_res_gid(group, group, group).unwrap();
        set_thread_res_uid(id, id, id).unwrap();
        work()
    };
    std::thread::scope(|scope| scope.spawn(thread).join())
        .unwrap_or_else(|panic| resume_unwind(panic))
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Removes the line breaks and frames of an error message.
fn in_one_line(text: &str) -> String {
    text.replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
