//! Node of the lab: a thread in namespaces of its own, and everything that it starts.
//!
//! The namespaces have no name and no file: they end with their threads, however the process ends. So nothing has to be removed after
//! kill -9, and two runs at the same time share nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use takt_tsn::{Executor, ShellCommand, SystemExecutor, search_path};

use crate::error::LabError;
use crate::namespace;

/// Directory of the earlier states of devices, in a file system that ends with the node.
pub(crate) const STATES: &str = "/run/takt-tsn";

/// Commands that give a node its own view of devices and its own directory of states.
const MOUNTS: [&str; 3] = [
    // Otherwise the mounts of the node would reach the host.
    "--make-rslave /",
    // A sysfs shows the devices of the network namespace in which it is mounted.
    "-t sysfs takt-lab /sys",
    "-t tmpfs takt-lab /run",
];

type Job = Box<dyn FnOnce() + Send>;

/// Node of the lab.
#[derive(Debug)]
pub struct LabNode {
    name: String,
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    namespace: PathBuf,
}

impl LabNode {
    /// Makes the namespaces of a node.
    ///
    /// # Errors
    /// [`LabError::NotPermitted`], or a mount that fails.
    pub fn new(name: &str) -> Result<Self, LabError> {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let (entered, outcome) = mpsc::channel();
        let work = move || {
            let entering = namespace::enter_new();
            let is_in = entering.is_ok();
            let _ = entered.send(entering.map(|()| rustix::thread::gettid()));
            if is_in {
                waiting.into_iter().for_each(|job| job());
            }
        };
        let failed = |step| {
            move |error| LabError::Step {
                node: name.to_owned(),
                step,
                error,
            }
        };
        let thread = thread::Builder::new().name(short(name)).spawn(work);
        let thread = thread.map_err(failed("start a thread"))?;
        let id = match outcome.recv() {
            Ok(Ok(id)) => id,
            Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(LabError::NotPermitted);
            }
            Ok(Err(error)) => return Err(failed("make namespaces")(error)),
            Err(_) => return Err(LabError::Panicked),
        };
        let (process, thread_id) = (std::process::id(), id.as_raw_nonzero());
        let node = Self {
            name: name.to_owned(),
            jobs: Some(jobs),
            thread: Some(thread),
            namespace: format!("/proc/{process}/task/{thread_id}/ns/net").into(),
        };
        for arguments in MOUNTS {
            node.mount(arguments)?;
        }
        Ok(node)
    }

    /// Returns the name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file of the network namespace, for `ip link … netns FILE`.
    #[must_use]
    pub fn namespace(&self) -> &Path {
        &self.namespace
    }

    /// Runs a function on the node's thread, and returns its result. Threads that it starts are in the namespaces of the node.
    ///
    /// # Errors
    /// [`LabError::Panicked`].
    pub fn run<T: Send + 'static>(
        &self,
        function: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LabError> {
        let (result, received) = mpsc::channel();
        let job: Job = Box::new(move || {
            let _ = result.send(function());
        });
        let jobs = self.jobs.as_ref().ok_or(LabError::Panicked)?;
        jobs.send(job).map_err(|_| LabError::Panicked)?;
        received.recv().map_err(|_| LabError::Panicked)
    }

    /// Starts a thread in the namespaces of the node.
    ///
    /// # Errors
    /// The system has no room for a thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        function: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, LabError> {
        let builder = thread::Builder::new().name(short(name));
        let spawned = self.run(move || builder.spawn(function))?;
        spawned.map_err(|error| self.step("start a thread", error))
    }

    /// Runs commands in the namespaces of the node, until one fails.
    ///
    /// # Errors
    /// [`LabError::Command`], or a program is missing.
    pub fn commands(&self, commands: Vec<ShellCommand>) -> Result<(), LabError> {
        let name = self.name.clone();
        self.run(move || commands.iter().try_for_each(|it| command(&name, it)))?
    }

    fn mount(&self, arguments: &'static str) -> Result<(), LabError> {
        let mount = move || {
            let mut mount = Command::new("mount");
            mount.args(arguments.split(' '));
            mount.env("LC_ALL", "C").env("PATH", search_path()).output()
        };
        match self.run(mount)? {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(LabError::Command {
                node: self.name.clone(),
                command: format!("mount {arguments}"),
                message: text(&output.stderr),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(LabError::NoProgram("mount"))
            }
            Err(error) => Err(self.step("mount a file system", error)),
        }
    }

    /// Returns the error of a step that failed.
    pub(crate) fn step(&self, step: &'static str, error: io::Error) -> LabError {
        LabError::Step {
            node: self.name.clone(),
            step,
            error,
        }
    }
}

impl Drop for LabNode {
    fn drop(&mut self) {
        // The thread ends when nobody can send it a job any more, and the namespaces with it.
        self.jobs.take();
        if let Some(thread) = self.thread.take() {
            // A job that panicked has been reported to its caller.
            let _ = thread.join();
        }
    }
}

/// Runs a command in the namespaces of the calling thread.
fn command(node: &str, command: &ShellCommand) -> Result<(), LabError> {
    let mut executor = SystemExecutor::default();
    let failed = |message| LabError::Command {
        node: node.to_owned(),
        command: command.to_string(),
        message,
    };
    match executor.run(command) {
        Ok(result) if result.success => Ok(()),
        Ok(result) => Err(failed(text(result.stderr.as_bytes()))),
        Err(error) if error.source.kind() == io::ErrorKind::NotFound => {
            Err(LabError::NoProgram(command.program))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Returns the lines of an error output as one line.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns a name that the kernel takes for a thread: at most 15 bytes without zeros.
fn short(name: &str) -> String {
    let mut short = String::new();
    for c in name.chars().filter(|c| *c != '\0') {
        if short.len() + c.len_utf8() > 15 {
            break;
        }
        short.push(c);
    }
    short
}
