//! Results of the checks with one peer in one direction, from which `cargo xtask interoperability` makes a document.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::binary::target_directory;

/// Part of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The peer is the client of a registry.
    Client,
    /// The peer is the server of the command line.
    Server,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// Writes that a service has passed with one peer, without a secured channel, in a file of its own. A test that fails before leaves
/// no file, and the document says so.
///
/// # Panics
/// If it cannot be written.
pub fn passed(peer: &str, role: Role, service: &str) {
    let mut results = Results::new(peer, role, &[service]);
    results.add(["None", "None", "anonymous"], service, &Ok(()));
    results.finish();
}

/// Results so far. Each is a line of a file in `target/interoperability`.
pub(super) struct Results {
    file: File,
    failed: String,
}

impl Results {
    /// Begins a new file for these SecurityPolicies.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub(super) fn new(peer: &str, role: Role, policies: &[&str]) -> Self {
        let folder = target_directory().join("interoperability");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let name = format!("{peer}-{}-{}.jsonl", role.name(), policies[0]);
        let file = File::create(folder.join(name)).expect("a file can be made");
        Self {
            file,
            failed: String::new(),
        }
    }

    /// Adds the result of a service on a channel with this SecurityPolicy and mode, for a user with this token.
    ///
    /// # Panics
    /// If it cannot be written.
    pub(super) fn add(
        &mut self,
        [policy, mode, token]: [&str; 3],
        service: &str,
        result: &Result<(), String>,
    ) {
        self.line(&json!({
            "policy": policy, "mode": mode, "token": token, "service": service, "passed": result.is_ok(),
        }));
        if let Err(error) = result {
            let _ = writeln!(self.failed, "{policy}, {mode}, {token}, {service}: {error}");
        }
    }

    /// Ends the file.
    ///
    /// # Panics
    /// If a service has failed.
    pub(super) fn finish(mut self) {
        self.line(&json!({"finished": true}));
        assert!(self.failed.is_empty(), "\n{}", self.failed);
    }

    fn line(&mut self, line: &Value) {
        writeln!(self.file, "{line}").expect("a file can be written");
    }
}
