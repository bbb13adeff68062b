//! End-to-end tests of the command line: every command with registry and Provider over both transports, error
//! messages, and the demonstration, however it ends.

mod analyze;
mod bench;
mod bounds;
mod bundles;
mod campaign_report;
mod campaigns;
mod clients;
mod collected;
mod control_loops;
mod demo;
mod disk;
mod files;
mod json;
mod mistakes;
mod multicast;
mod no_tcp;
mod options;
mod output;
mod papers;
mod plant;
mod presence;
mod pubsub_config;
mod readme;
mod report;
mod scenario;
mod simulate;
mod simulated_by_hand;
mod small_disk;
mod state;
mod tsn;
mod two_hosts;

use std::time::{Duration, Instant};

use serde_json::Value;
use takt_tests::{Provider, Registry, Sandbox};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A registry and the demonstration's Machine, registered.
struct Plant {
    sandbox: Sandbox,
    registry: Registry,
    machine: Provider,
}

impl Plant {
    fn start() -> Self {
        let sandbox = Sandbox::new();
        let registry = Registry::start(&sandbox, &[]);
        let machine = Provider::start(&sandbox, &registry, "machine");
        let plant = Self {
            sandbox,
            registry,
            machine,
        };
        plant.wait_until_available();
        plant
    }

    fn wait_until_available(&self) {
        let path = format!("{}/Available", self.machine.name);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let read = self
                .sandbox
                .run(&["read", &self.registry.shared_memory(), &path]);
            if read.stdout.starts_with("true") {
                return;
            }
            assert!(Instant::now() < deadline, "{read:?}");
        }
    }

    /// Returns all four endpoints, each with the form of a path of the Machine.
    fn endpoints(&self) -> [(String, String); 4] {
        let prefix = format!("{}/", self.machine.name);
        [
            (self.registry.shared_memory(), prefix.clone()),
            (self.registry.endpoint.clone(), prefix),
            (self.machine.shared_memory(), String::new()),
            (self.machine.endpoint.clone(), String::new()),
        ]
    }
}

/// Returns the text of an error without its frame and line breaks.
fn plain(error: &str) -> String {
    let words: Vec<&str> = error
        .split(|c: char| c.is_whitespace() || "│╰╭─▶×".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn good(row: &Value) -> bool {
    row["status"]
        .as_str()
        .is_some_and(|status| status.starts_with("Good"))
}
