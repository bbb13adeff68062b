//! The foreign clients with checks (`peers/README.md`).

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::binary::{async_opcua, repository};
use crate::process::Process;

/// A foreign client that knows the checks of `peers/README.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checker {
    /// Rust's async-opcua.
    AsyncOpcua,
    /// Go's gopcua.
    Gopcua,
    /// Java's Milo.
    Milo,
    /// Python's python-opcua.
    PythonOpcua,
}

impl Checker {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::AsyncOpcua,
        Self::Gopcua,
        Self::Milo,
        Self::PythonOpcua,
    ];

    /// Returns the name of its folder in `peers/`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AsyncOpcua => "async-opcua",
            Self::Gopcua => "gopcua",
            Self::Milo => "milo",
            Self::PythonOpcua => "python-opcua",
        }
    }

    /// Returns whether it gets a new Session on a secured channel after a restart of the server. async-opcua does not always: its
    /// requests fail with BadSessionIdInvalid for a minute.
    pub(crate) fn recovers_a_secured_session(self) -> bool {
        self != Self::AsyncOpcua
    }

    /// Lets a new process of it answer one request.
    ///
    /// # Panics
    /// If it does not answer in time, or not in JSON.
    #[must_use]
    pub fn answer(self, request: &Value, within: Duration) -> Value {
        let mut process = Process::spawn(self.name(), &mut self.command());
        process.send_line(&request.to_string());
        let line = process.wait_for(self.name(), within, |line| line.starts_with('{'));
        process.close_input();
        serde_json::from_str(&line).expect("the line is JSON")
    }

    /// Returns the command that starts it.
    pub(crate) fn command(self) -> Command {
        let cache = repository().join(".cache").join(self.name());
        let (program, arguments) = match self {
            Self::AsyncOpcua => (async_opcua(), Vec::new()),
            Self::Gopcua => (cache.join("gopcua"), Vec::new()),
            Self::Milo => {
                let path = format!("{0}/classes:{0}/lib/*", cache.display());
                // Compilers of a long-running process would take more time than they save.
                let arguments = ["-XX:TieredStopAtLevel=1", "-cp", &path, "Main"];
                ("java".into(), arguments.map(str::to_owned).to_vec())
            }
            Self::PythonOpcua => {
                let script = repository().join("peers/python-opcua/checks.py");
                let script = script.display().to_string();
                (cache.join("bin/python"), vec![script])
            }
        };
        assert!(
            self == Self::AsyncOpcua || cache.exists(),
            "{} is not installed: ./test interop does that",
            self.name()
        );
        let mut command = Command::new(program);
        command.args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}
