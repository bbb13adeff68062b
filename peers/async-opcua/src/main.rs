//! The checks of `peers/README.md`, by async-opcua: one JSON line for each line of the input.

mod alarms;
mod checks;
mod security;
mod server;
mod session;
mod subscriptions;

use std::fmt::Display;

use opcua::types::{NodeId, StatusCode};
use serde_json::{Value, json};

use security::Security;
use session::Session;

/// A check that has failed, with the reason.
pub(crate) struct Failed(String);

impl<E: Display> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Number of things that a check has counted.
pub(crate) type Counted = Result<usize, Failed>;

/// Fails unless the condition holds.
pub(crate) fn expect(condition: bool, text: impl FnOnce() -> String) -> Result<(), Failed> {
    condition.then_some(()).ok_or_else(|| Failed(text()))
}

/// Fails unless two StatusCodes are equal.
pub(crate) fn expect_status(
    what: impl Display,
    found: StatusCode,
    expected: StatusCode,
) -> Result<(), Failed> {
    expect(found == expected, || {
        format!("{what}: {found} instead of {expected}")
    })
}

/// One check that is to be run.
pub(crate) struct Task {
    request: Value,
}

impl Task {
    pub(crate) fn field(&self, name: &str) -> &str {
        self.request[name].as_str().unwrap_or_default()
    }

    /// Returns a new Session.
    pub(crate) async fn session(&self) -> Result<Session, Failed> {
        self.session_with_lifetime(3_600_000).await
    }

    /// Returns a new Session whose channel has this lifetime in milliseconds.
    pub(crate) async fn session_with_lifetime(&self, lifetime: u32) -> Result<Session, Failed> {
        let security = Security::of(&self.request);
        let (endpoint, namespace) = (self.field("endpoint"), self.field("namespace"));
        let listen = self.request["listen"].as_str();
        Session::connect(endpoint, namespace, &security, lifetime, listen).await
    }

    /// Returns the node at which a walk starts.
    pub(crate) fn start(&self) -> Result<NodeId, Failed> {
        self.field("start")
            .parse()
            .map_err(|status: StatusCode| status.into())
    }

    /// Asks the driver for something, and returns its answer.
    pub(crate) async fn want(&self, what: &str) -> Result<Value, Failed> {
        println!("{}", json!({"want": what}));
        // The library goes on meanwhile.
        let line = tokio::task::spawn_blocking(next_line).await?;
        Ok(serde_json::from_str(&line.unwrap_or_default())?)
    }
}

fn next_line() -> Option<String> {
    std::io::stdin().lines().next()?.ok()
}

/// Runs one check, whatever becomes of it.
async fn run(task: Task) -> Value {
    let check = task.field("check").to_owned();
    match checks::run(&check, &task).await {
        None => json!({"check": check, "missing": true}),
        Some(Ok(counted)) => json!({"check": check, "ok": true, "counted": counted}),
        Some(Err(Failed(error))) => json!({"check": check, "ok": false, "error": error}),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, port, options @ ..] = arguments.as_slice()
        && role == "server"
    {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let (security, client) = match options[..] {
            [] => (None, None),
            ["--reverse-connect", client] => (None, Some(client)),
            [security] => (Some(security), None),
            [security, "--reverse-connect", client] => (Some(security), Some(client)),
            _ => return eprintln!("usage: server PORT [SECURITY] [--reverse-connect URL]"),
        };
        if let Err(Failed(error)) = server::run(port, security, client).await {
            eprintln!("{error}");
        }
        return;
    }
    while let Some(line) = next_line() {
        match serde_json::from_str(&line) {
            Ok(request) => println!("{}", run(Task { request }).await),
            Err(error) => return eprintln!("{error}: {line}"),
        }
    }
}
