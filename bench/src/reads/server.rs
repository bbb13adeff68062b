//! Servers of the benchmark that are Takt: a server with Variables, and the echo of the floors.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_crypto::PolicyProfile;
use takt_services::Server;
use takt_space::Value;
use takt_ua::NodeId;

use crate::assignment::Assignment;
use crate::error::BenchError;
use crate::floors::protection::Protection;
use crate::round_trip::Wait;
use crate::{floors, parent, seat, serve};

/// Subject in errors.
const SERVER: &str = "the server of the Reads";

/// Longest wait for the end of an echo, which has nothing to clean up.
const END: Duration = Duration::from_secs(1);

/// Number of Variables of a line, as in the foreign servers.
const PER_LINE: u32 = 100;

/// Returns the NodeId of a Variable, which foreign servers have, too.
pub(super) fn variable(namespace: u16, number: u32) -> NodeId {
    let (line, place) = (number / PER_LINE, number % PER_LINE);
    NodeId::string(namespace, &format!("Line{line}/Value{place}"))
}

/// A server with Variables of the type Double.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadServer {
    pub(super) core: usize,
    pub(super) variables: u32,
    /// Folder of certificates.
    pub(super) certificates: PathBuf,
}

impl Assignment for ReadServer {
    const NAME: &'static str = "read-server";

    fn carry_out(self) -> Result<(), BenchError> {
        parent::until_input_ends(None, move |announce, stop| self.serve(announce, stop))
    }
}

impl ReadServer {
    fn serve(&self, announce: impl FnOnce(&str), stop: &AtomicBool) -> Result<(), BenchError> {
        let server = Server::builder("TaktBenchReads", "urn:takt:bench:reads")
            .build()
            .map_err(BenchError::round_trip(SERVER))?;
        for number in 0..self.variables {
            let node = variable(1, number);
            server
                .address_space()
                .add_variable(format!("Value{number}").as_str())
                .node_id(node)
                .value(Value::stored(f64::from(number)))
                .add()
                .map_err(BenchError::round_trip(SERVER))?;
        }
        let options = ServeOptions {
            waiting: Wait::Sleep.policy(),
            core: Some(self.core),
            policy: Some(seat::policy()),
            security: EndpointSecurity {
                certificates: Some(self.certificates.clone()),
                secured_loopback: true,
                curves: "all".parse().map_err(BenchError::round_trip(SERVER))?,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        };
        let _serving = serve::start(&server, serve::LOOPBACK, options, announce)?;
        while !stop.load(Ordering::Acquire) {
            std::thread::park();
        }
        Ok(())
    }
}

/// The floor: an echo of bytes, which are secured with the keys of a SecurityPolicy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadFloor {
    pub(super) core: usize,
    /// Bytes of the longest message.
    pub(super) longest: usize,
    /// Number of clients.
    pub(super) clients: u32,
    /// Name of the SecurityPolicy.
    pub(super) policy: Option<String>,
}

impl Assignment for ReadFloor {
    const NAME: &'static str = "read-floor";

    fn carry_out(self) -> Result<(), BenchError> {
        parent::until_input_ends(Some(END), move |announce, stop| self.serve(announce, stop))
    }
}

impl ReadFloor {
    /// Serves each client on a thread of its own, all on the core.
    fn serve(&self, announce: impl FnOnce(&str), stop: &AtomicBool) -> Result<(), BenchError> {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .map_err(BenchError::system("listen for the TCP echo"))?;
        let address = listener
            .local_addr()
            .map_err(BenchError::system("listen"))?;
        seat::take(self.core)?;
        announce(&address.to_string());
        std::thread::scope(|scope| {
            let threads = (0..self.clients).map(|_| scope.spawn(|| self.echo(&listener, stop)));
            let threads: Vec<_> = threads.collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or(Ok(())))
        })
    }

    fn echo(&self, listener: &TcpListener, stop: &AtomicBool) -> Result<(), BenchError> {
        let profile = self.policy.as_deref().and_then(PolicyProfile::by_name);
        let protection = profile.map(Protection::of).transpose();
        let protection = protection.map_err(BenchError::round_trip("the keys of the floor"))?;
        floors::tcp::serve(
            listener,
            self.longest,
            Wait::Sleep,
            protection.as_ref(),
            stop,
        )
        .map_err(BenchError::system("echo"))
    }
}
