//! The server of the sessions: Variables that count.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_services::{Server, ServerBudgets};
use takt_space::Value;
use takt_ua::NodeId;

use crate::assignment::Assignment;
use crate::error::BenchError;
use crate::{parent, serve};

/// Subject in errors.
const SERVER: &str = "the server of the sessions";

/// A server with Variables whose values all change at an interval, by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountingServer {
    /// Number of Variables.
    pub(crate) variables: u32,
    /// Interval in ms.
    pub(crate) interval: u32,
    /// Number of sessions.
    pub(crate) sessions: u32,
    /// Folder of certificates.
    pub(crate) certificates: PathBuf,
}

fn name(number: u32) -> String {
    format!("Count{number}")
}

/// Returns the NodeId of a Variable.
pub(super) fn variable(number: u32) -> NodeId {
    NodeId::string(1, &name(number))
}

impl Assignment for CountingServer {
    const NAME: &'static str = "counting-server";

    fn carry_out(self) -> Result<(), BenchError> {
        parent::until_input_ends(None, move |announce, stop| self.serve(announce, stop))
    }
}

impl CountingServer {
    fn serve(&self, announce: impl FnOnce(&str), stop: &AtomicBool) -> Result<(), BenchError> {
        let mut budgets = ServerBudgets::default().with_memory(2 << 30);
        budgets.max_sessions = self.sessions + 16;
        budgets.subscriptions.max_subscriptions = self.sessions + 16;
        let items = self.sessions.saturating_mul(self.variables);
        budgets.subscriptions.max_monitored_items = items.saturating_add(1000);
        let server = Server::builder("TaktBenchSessions", "urn:takt:bench:sessions")
            .budgets(budgets)
            .build()
            .map_err(BenchError::round_trip(SERVER))?;
        let mut values = Vec::new();
        for number in 0..self.variables {
            let value = Value::stored(0_u32);
            server
                .address_space()
                .add_variable(name(number).as_str())
                .node_id(variable(number))
                .value(value.clone())
                .add()
                .map_err(BenchError::round_trip(SERVER))?;
            values.push(value);
        }
        let options = ServeOptions {
            max_connections: usize::try_from(self.sessions + 16).ok(),
            security: EndpointSecurity {
                certificates: Some(self.certificates.clone()),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        };
        let _serving = serve::start(&server, serve::LOOPBACK, options, announce)?;
        let interval = Duration::from_millis(u64::from(self.interval));
        let (mut count, mut next) = (0_u32, Instant::now() + interval);
        while !stop.load(Ordering::Acquire) {
            std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
            if Instant::now() < next {
                continue;
            }
            next += interval;
            count = count.wrapping_add(1);
            for value in &values {
                if let Value::Stored(stored) = value {
                    stored.set(count);
                }
            }
        }
        Ok(())
    }
}
