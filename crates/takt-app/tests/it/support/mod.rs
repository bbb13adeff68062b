//! A Provider in a separate process, which a test can stop and kill.

pub(crate) mod relay;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Endpoint};
use takt_ua::NodeId;

/// Time limit of required events, long enough for a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Environment variable of a process that is to be the Provider, with its runtime directory.
const PROVIDER: &str = "TAKT_TEST_PROVIDER";

/// Returns the runtime directory if this process is to be the Provider `Current`, which prints `ready`.
pub(crate) fn provider_directory() -> Option<PathBuf> {
    std::env::var_os(PROVIDER).map(PathBuf::from)
}

pub(crate) fn options(directory: &Path) -> ServeOptions {
    ServeOptions {
        runtime_directory: Some(directory.to_path_buf()),
        ..ServeOptions::default()
    }
}

/// The Provider's process. Dropping it kills the process and removes its files.
pub(crate) struct Process {
    child: Child,
    directory: PathBuf,
}

impl Process {
    /// Starts the test `provider`, which is the Provider of this process.
    pub(crate) fn start(provider: &str, directory: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", provider, "--nocapture"])
            .env(PROVIDER, directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")));
        Self {
            child,
            directory: directory.to_path_buf(),
        }
    }

    /// Returns whether all its threads are stopped: `kill` does not wait for that.
    pub(crate) fn is_stopped(&self) -> bool {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        tasks.flatten().all(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit(") ")
                .next()
                .is_some_and(|rest| rest.starts_with('T'))
        })
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A killed Provider leaves the files of its public services.
        let _ = takt_shm::clean_dead(Some(&self.directory));
    }
}

pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

pub(crate) fn client_options(directory: &Path) -> ClientOptions {
    ClientOptions {
        timeout: PATIENCE,
        runtime_directory: Some(directory.to_path_buf()),
        ..ClientOptions::named("Test")
    }
}

pub(crate) fn connect(directory: &Path) -> Client {
    let endpoint: Endpoint = "opc.iox2://Current".parse().unwrap();
    let options = ClientOptions {
        timeout: PATIENCE,
        ..client_options(directory)
    };
    Client::connect(&endpoint, options).unwrap()
}
