//! Sandbox of one test: its own runtime directory, data directory and names, so that tests can run at the same time,
//! and leftovers can be attributed to a test.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary;
use crate::process::{self, Finished, Process};

/// Time limit for an application to serve, on a machine that is busy with other tests.
const START: Duration = Duration::from_secs(60);

/// Time limit of one command.
const COMMAND: Duration = Duration::from_secs(60);

/// Time limit for the start and the end of a command, besides its own duration.
const ENDED: Duration = Duration::from_secs(7);

/// Additional arguments of commands that use servers: the default of two seconds is too short on a loaded machine.
const PATIENT: [&str; 2] = ["--timeout", "60s"];

/// Adds a timeout for a loaded machine to a command line, unless it has one.
#[must_use]
pub fn patient<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let (command, rest) = arguments.split_at(arguments.len().min(1));
    let asks = [
        "browse",
        "discover",
        "read",
        "write",
        "call",
        "watch",
        "publish",
        "subscribe",
    ];
    if command.iter().any(|command| asks.contains(command)) && !rest.contains(&PATIENT[0]) {
        [command, &PATIENT, rest].concat()
    } else {
        arguments.to_vec()
    }
}

/// The sandbox of one test. Dropping it removes its directories.
#[derive(Debug)]
pub struct Sandbox {
    directory: TempDir,
    name: String,
}

impl Sandbox {
    /// Creates a sandbox.
    ///
    /// # Panics
    /// If the temporary directory cannot be written.
    #[must_use]
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "T{}n{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        Self {
            directory: Self::new_directory(),
            name,
        }
        .without_predecessors()
    }

    /// Removes the shared memory of an earlier directory that had this directory's number: file systems use numbers again, and
    /// a killed process may outlive its directory.
    fn without_predecessors(self) -> Self {
        for object in self.shared_memory() {
            let _ = fs::remove_file(object);
        }
        self
    }

    fn new_directory() -> TempDir {
        let directory = tempfile::Builder::new()
            .prefix("takt-")
            .tempdir()
            .expect("a temporary directory can be made");
        for part in ["run", "data", "tmp"] {
            fs::create_dir(directory.path().join(part)).expect("a directory can be made");
        }
        directory
    }

    /// Returns the runtime directory: sockets, locks and iceoryx2's files.
    #[must_use]
    pub fn runtime_directory(&self) -> PathBuf {
        self.directory.path().join("run")
    }

    /// Returns a directory for databases and other files of a test.
    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Returns the sandbox of another host for the same test: its applications share no memory with the ones here.
    ///
    /// # Panics
    /// If the temporary directory cannot be written.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self {
            name: self.name.clone(),
            directory: Self::new_directory(),
        }
        .without_predecessors()
    }

    /// Returns an ApplicationName that no other test uses.
    #[must_use]
    pub fn application(&self, name: &str) -> String {
        format!("{name}{}", self.name)
    }

    /// Returns a `takt` command line in this sandbox.
    #[must_use]
    pub fn takt(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary::takt());
        self.confine(&mut command).args(patient(arguments));
        command
    }

    /// Sets the environment of this sandbox for a command.
    pub fn confine<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("TAKT_RUNTIME_DIR", self.runtime_directory())
            // Groups of this machine are not used.
            .env("TAKT_GROUP_ROOT", self.directory.path().join("groups"))
            .env("TMPDIR", self.directory.path().join("tmp"))
            .env("XDG_STATE_HOME", self.data_directory())
            .env("NO_COLOR", "1")
    }

    /// Runs `takt` to its end.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        process::run(
            &format!("takt {}", arguments.join(" ")),
            &mut self.takt(arguments),
            COMMAND,
        )
    }

    /// Runs `takt … --json`, which must succeed, and returns the rows that it printed.
    ///
    /// # Panics
    /// If it fails or prints something other than JSON.
    #[must_use]
    pub fn rows(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self
            .run(&[arguments, &["--json"]].concat())
            .expect_success();
        output
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("no JSON ({error}): {line}"))
            })
            .collect()
    }

    /// Runs `takt watch … --for` on the server's clock, which must advance, and waits for its end in time; returns
    /// the printed rows.
    ///
    /// On a loaded machine the time may be over before a second change arrives: then the command is run again.
    ///
    /// # Panics
    /// If it fails, or never shows an advancing clock within its time.
    #[must_use]
    pub fn watch_clock(&self, endpoint: &str, interval: &str, length: Duration) -> Vec<Value> {
        let clock = "i=2258";
        let watched = format!("{}ms", length.as_millis());
        let mut tries = Vec::new();
        while tries.len() < 5 {
            let started = Instant::now();
            let arguments = ["--interval", interval, "--for", &watched];
            let rows = self.rows(&[&["watch", endpoint, clock], &arguments[..]].concat());
            let took = started.elapsed();
            if rows.len() >= 2 && took < length + ENDED {
                return rows;
            }
            tries.push((rows.len(), took));
        }
        panic!("{endpoint}: changes of the clock, and how long {watched} took: {tries:?}")
    }

    /// Returns the files that applications left behind in shared memory, the runtime directory and the temporary
    /// directory.
    #[must_use]
    pub fn left_behind(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for part in ["run", "tmp"] {
            files_below(&self.directory.path().join(part), &mut found);
        }
        found.extend(self.shared_memory());
        found.sort();
        found
    }

    /// Returns the shared memory objects of this runtime directory, which carry its number in their names.
    fn shared_memory(&self) -> Vec<PathBuf> {
        let Ok(directory) = fs::metadata(self.runtime_directory()) else {
            return Vec::new();
        };
        let prefix = format!("takt_{:x}_{:x}_", directory.dev(), directory.ino());
        let Ok(entries) = fs::read_dir("/dev/shm") else {
            return Vec::new();
        };
        entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .map(|entry| entry.path())
            .collect()
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // The leftovers of a test that killed its applications must not fill the machine's memory.
        for object in self.shared_memory() {
            let _ = fs::remove_file(object);
        }
    }
}

/// Returns all files below a directory.
fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files_below(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

/// A running `takt registry`.
#[derive(Debug)]
pub struct Registry {
    /// The process.
    pub process: Process,
    /// ApplicationName.
    pub name: String,
    /// Endpoint `opc.tcp://127.0.0.1:port`.
    pub endpoint: String,
}

impl Registry {
    /// Starts a registry on a free port, with these additional arguments.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        // A test may start it again at the same port.
        let endpoint = format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
        Self::start_at(sandbox, &endpoint, arguments)
    }

    /// Starts a registry at an endpoint, for a restart with the same one.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_at(sandbox: &Sandbox, endpoint: &str, arguments: &[&str]) -> Self {
        let arguments = [&["--endpoint", endpoint], arguments].concat();
        Self::start_in(sandbox, &arguments, |_| {})
    }

    /// Starts a registry with these additional arguments, after a change of its environment.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_in(
        sandbox: &Sandbox,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let name = sandbox.application("Registry");
        let mut command = sandbox.takt(&["registry", "--name", &name, "--data"]);
        command.arg(sandbox.data_directory()).args(arguments);
        change(&mut command);
        let mut process = Process::spawn("takt registry", &mut command);
        let endpoint = tcp_endpoint(&mut process);
        Self {
            process,
            name,
            endpoint,
        }
    }

    /// Returns the endpoint over shared memory.
    #[must_use]
    pub fn shared_memory(&self) -> String {
        format!("opc.iox2://{}", self.name)
    }
}

/// A running `takt provider`.
#[derive(Debug)]
pub struct Provider {
    /// The process.
    pub process: Process,
    /// ApplicationName.
    pub name: String,
    /// Endpoint `opc.tcp://127.0.0.1:port`.
    pub endpoint: String,
}

impl Provider {
    /// Starts `host` or `machine`, registered with `registry`.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start(sandbox: &Sandbox, registry: &Registry, kind: &str) -> Self {
        Self::start_with(sandbox, &registry.shared_memory(), kind)
    }

    /// Starts `host` or `machine`, registered at this endpoint of a registry.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_with(sandbox: &Sandbox, registry: &str, kind: &str) -> Self {
        Self::start_with_options(sandbox, registry, kind, &[])
    }

    /// Starts `host` or `machine`, registered at this endpoint of a registry, with further options.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_with_options(
        sandbox: &Sandbox,
        registry: &str,
        kind: &str,
        options: &[&str],
    ) -> Self {
        let name = sandbox.application(kind);
        let usual = ["provider", kind, "--name", &name, "--registry", registry];
        let mut command = sandbox.takt(&[&usual, options].concat());
        let mut process = Process::spawn(&format!("takt provider {kind}"), &mut command);
        let endpoint = tcp_endpoint(&mut process);
        Self {
            process,
            name,
            endpoint,
        }
    }

    /// Returns the endpoint over shared memory.
    #[must_use]
    pub fn shared_memory(&self) -> String {
        format!("opc.iox2://{}", self.name)
    }
}

/// Waits until a server prints its endpoint, and returns it.
fn tcp_endpoint(process: &mut Process) -> String {
    let line = process.wait_for("its opc.tcp endpoint", START, |line| {
        find_endpoint(line).is_some()
    });
    find_endpoint(&line).expect("just found")
}

/// Returns the first `opc.tcp://host:port` of a line.
pub(crate) fn find_endpoint(line: &str) -> Option<String> {
    let start = line.find("opc.tcp://")?;
    let end = line[start..]
        .find(|c: char| c.is_whitespace() || "\"',;)".contains(c))
        .map_or(line.len(), |length| start + length);
    Some(line[start..end].trim_end_matches(['/', '.']).to_owned())
}
