//! Foreign clients subscribe: at a Provider, and at the registry, which forwards.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::foreign::wait_until_available;
use super::same;
use crate::peer::{Peer, PeerClient};
use crate::sandbox::{Provider, Registry, Sandbox};

/// Time limit of a change on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A foreign client gets the changes of a Provider's Variables: from itself, and through the registry.
///
/// # Panics
/// If it fails.
pub fn client_subscribes(peer: Peer) {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let provider = Provider::start(&sandbox, &registry, "machine");
    let mut session = PeerClient::connect(peer, &provider.endpoint).expect("a session");
    gets_changes(&mut session, "ns=1;s=Spindle/SpeedSetpoint", 6000.0);

    let mut session = PeerClient::connect(peer, &registry.endpoint).expect("a session");
    wait_until_available(&mut session, &provider.name);
    let setpoint = session.find(&[&provider.name, "Spindle", "SpeedSetpoint"]);
    gets_changes(&mut session, &setpoint, 2000.0);
}

/// Subscribes to a Variable that can be written and to the server's clock; `first` is the value of the Variable.
fn gets_changes(session: &mut PeerClient, setpoint: &str, first: f64) {
    let created = session.expect(json!({
        "op": "subscribe", "nodes": [setpoint, "i=2258"], "interval": 50, "queue": 10,
    }));
    assert_eq!(created, json!(["Good", "Good"]));
    let mut seen = Seen {
        session,
        changes: Vec::new(),
    };
    seen.wait_for(setpoint, &json!(first));
    for value in [1000.0, 2000.0] {
        let status = seen.session.write(setpoint, "Double", &json!(value));
        assert_eq!(status, "Good");
        seen.wait_for(setpoint, &json!(value));
    }
    let times = |seen: &Seen<'_>| {
        let times = seen.changes.iter();
        times.filter(|change| change["node"] == "i=2258").count()
    };
    let started = Instant::now();
    while times(&seen) < 5 {
        assert!(started.elapsed() < PATIENCE, "the clock stands still");
        seen.collect();
    }
    // On a loaded machine a queue may overflow, which is Good with an additional bit.
    let is_bad = |change: &Value| {
        let status = change["status"].as_str().unwrap_or("none");
        status == "none" || status.starts_with("Bad") || status.starts_with("Uncertain")
    };
    assert!(!seen.changes.iter().any(is_bad), "{:?}", seen.changes);
}

/// Notifications of a client so far.
struct Seen<'a> {
    session: &'a mut PeerClient,
    changes: Vec<Value>,
}

impl Seen<'_> {
    fn collect(&mut self) {
        let changes = self.session.expect(json!({"op": "changes", "timeout": 1}));
        self.changes
            .extend(changes.as_array().into_iter().flatten().cloned());
    }

    fn wait_for(&mut self, node: &str, value: &Value) {
        let started = Instant::now();
        let is_it = |change: &Value| change["node"] == node && same(&change["value"], value);
        while !self.changes.iter().any(is_it) {
            assert!(
                started.elapsed() < PATIENCE,
                "{node} does not become {value}: {:?}",
                self.changes
            );
            self.collect();
        }
    }
}
