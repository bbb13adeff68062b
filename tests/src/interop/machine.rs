//! The demonstration's `Machine`, as a foreign client uses it.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::same;
use crate::peer::PeerClient;

/// Time limit for the Machine to execute a command.
const MACHINE: Duration = Duration::from_secs(60);

/// The nodes of the demonstration's `Machine`, with the NodeIds of one server.
pub(super) struct Machine {
    pub(super) object: String,
    pub(super) setpoint: String,
    pub(super) speed: String,
    pub(super) start: String,
    pub(super) stop: String,
}

impl Machine {
    /// Reads, writes and calls, and checks that invalid requests are refused. Afterwards the spindle is stopped, with
    /// setpoint 3000.
    pub(super) fn works(&self, session: &mut PeerClient) {
        let speed = session.read(&self.speed);
        assert_eq!(
            (&speed["status"], &speed["type"]),
            (&json!("Good"), &json!("Double")),
            "{speed}"
        );
        assert!(speed["sourceTimestamp"].is_string(), "{speed}");

        assert_eq!(
            session.write(&self.setpoint, "Double", &json!(3000.0)),
            "Good"
        );
        assert!(same(&session.read(&self.setpoint)["value"], &json!(3000.0)));
        assert_eq!(
            session.write(&self.setpoint, "Double", &json!(1e9)),
            "BadOutOfRange"
        );
        assert_eq!(
            session.write(&self.setpoint, "String", &json!("fast")),
            "BadTypeMismatch"
        );
        assert_eq!(
            session.write(&self.speed, "Double", &json!(1.0)),
            "BadNotWritable"
        );

        assert_eq!(self.call(session, &self.start), "Good");
        let started = Instant::now();
        while session.read(&self.speed)["value"].as_f64().unwrap_or(0.0) < 100.0 {
            assert!(started.elapsed() < MACHINE, "the spindle does not turn");
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(
            self.call(session, &self.start),
            "BadInvalidState",
            "it runs already"
        );
        assert_eq!(self.call(session, &self.stop), "Good");
        let extra = json!([{"type": "Double", "value": 1}]);
        let refused = session.expect(
            json!({"op": "call", "object": self.object, "method": self.stop, "arguments": extra}),
        );
        assert_eq!(refused["status"], "BadTooManyArguments");
    }

    fn call(&self, session: &mut PeerClient, method: &str) -> String {
        let result = session.expect(json!({"op": "call", "object": self.object, "method": method}));
        result["status"].as_str().unwrap_or_default().to_owned()
    }
}
