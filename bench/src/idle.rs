//! Idle Consumers: connected, without requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_app::{Client, ClientOptions, Endpoint};

use super::assignment::Assignment;
use super::error::BenchError;
use super::payload::Payload;
use super::round_trip::Wait;
use super::{parent, subject};

/// Session timeout, longer than any measurement. No client keeps these Sessions alive.
const SESSION: Duration = Duration::from_secs(3600);

/// Clients of a server that hold idle connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IdleConsumers {
    /// Endpoint of the server.
    pub(crate) endpoint: String,
    /// Number of connections.
    pub(crate) count: usize,
}

impl Assignment for IdleConsumers {
    const NAME: &'static str = "idle-consumers";

    fn carry_out(self) -> Result<(), BenchError> {
        parent::until_input_ends(None, move |announce, stop| {
            hold(&self.endpoint, self.count, announce, stop)
        })
    }
}

/// Holds `count` connections to `endpoint`, each with a Session in which one value has been read, until `stop`.
fn hold(
    endpoint: &str,
    count: usize,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let failed = "an idle Consumer";
    let endpoint: Endpoint = endpoint.parse().map_err(BenchError::round_trip(failed))?;
    let node = subject::node_id(1, Payload::SCALAR);
    let mut clients = Vec::with_capacity(count);
    for number in 0..count {
        if stop.load(Ordering::Acquire) {
            return Ok(());
        }
        let options = ClientOptions {
            waiting: Wait::Sleep.policy(),
            session_timeout: SESSION,
            timeout: Duration::from_secs(5),
            ..ClientOptions::named(format!("TaktBenchIdle{number}"))
        };
        let mut client =
            Client::connect(&endpoint, options).map_err(BenchError::round_trip(failed))?;
        client
            .read_good(&node)
            .map_err(BenchError::round_trip(failed))?;
        clients.push(client);
    }
    announce("");
    while !stop.load(Ordering::Acquire) {
        std::thread::park();
    }
    Ok(())
}
