//! Servers of round trips: Takt's own, and those of the floors.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_app::Endpoint;
use takt_app::serve::{ServeOptions, Serving};
use takt_services::Server;

use super::assignment::Assignment;
use super::error::BenchError;
use super::floors::iceoryx2::{self, Pattern, PubSub, ReqRes};
use super::payload::Payload;
use super::round_trip::Wait;
use super::{floors, parent, seat, subject};

/// Endpoint at a free port of the loopback interface.
pub(crate) const LOOPBACK: &str = "opc.tcp://127.0.0.1:0";

/// Longest wait for the end of a server's thread. A floor that waits for a client in vain has nothing to clean up.
const END: Duration = Duration::from_secs(1);

/// A server and its Variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerAssignment {
    pub(crate) role: Role,
    pub(crate) wait: Wait,
    /// Core of its serving thread.
    pub(crate) core: usize,
    /// True if the system's usual scheduling policy is used even where a real-time policy is permitted.
    #[serde(default)]
    pub(crate) ordinary: bool,
    /// Payloads of the Variables of a server.
    pub(crate) payloads: Vec<Payload>,
    /// Bytes of the longest message of a floor.
    pub(crate) longest: usize,
}

/// Kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Bytes over TCP.
    TcpEcho,
    /// Bytes in shared memory.
    SharedMemory,
    /// Bytes through iceoryx2, published.
    Iceoryx2,
    /// Bytes through iceoryx2, as requests and responses.
    Iceoryx2Request,
    /// Takt over opc.tcp.
    TaktTcp,
    /// Takt over opc.iox2.
    TaktSharedMemory,
}

impl Assignment for ServerAssignment {
    const NAME: &'static str = "server";

    fn carry_out(self) -> Result<(), BenchError> {
        parent::until_input_ends(Some(END), move |announce, stop| {
            serve(&self, announce, stop)
        })
    }
}

/// Serves on this thread, which is the measured one. Takt starts the measured thread itself.
pub(crate) fn serve(
    assignment: &ServerAssignment,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let (wait, core, longest) = (assignment.wait, assignment.core, assignment.longest);
    match assignment.role {
        Role::TcpEcho => {
            let failed = BenchError::system("listen for the TCP echo");
            let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
            let address = listener
                .local_addr()
                .map_err(BenchError::system("listen"))?;
            seat::take(core)?;
            announce(&address.to_string());
            floors::tcp::serve(&listener, longest, wait, None, stop)
                .map_err(BenchError::system("echo"))
        }
        Role::SharedMemory => {
            let server = floors::shared_memory::Server::new(longest)?;
            seat::take(core)?;
            announce(&server.path().to_string_lossy());
            server.serve(wait, stop);
            Ok(())
        }
        Role::Iceoryx2 => pattern::<PubSub>(assignment, announce, stop),
        Role::Iceoryx2Request => pattern::<ReqRes>(assignment, announce, stop),
        Role::TaktTcp => takt(assignment, LOOPBACK, announce, stop),
        Role::TaktSharedMemory => {
            let name = format!("opc.iox2://TaktBench-{}", std::process::id());
            takt(assignment, &name, announce, stop)
        }
    }
}

/// Serves a pattern of iceoryx2.
fn pattern<P: Pattern>(
    assignment: &ServerAssignment,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let name = format!("takt-bench/{}", std::process::id());
    let server = iceoryx2::Server::<P>::new(&name, assignment.longest)?;
    seat::take(assignment.core)?;
    announce(&name);
    server.serve(stop)
}

/// Serves Takt as an application does.
fn takt(
    assignment: &ServerAssignment,
    endpoint: &str,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let server = subject::server(&assignment.payloads, true)?;
    let options = ServeOptions {
        waiting: assignment.wait.policy(),
        core: Some(assignment.core),
        policy: (!assignment.ordinary).then(seat::policy),
        ..ServeOptions::default()
    };
    let _serving = start(&server, endpoint, options, announce)?;
    while !stop.load(Ordering::Acquire) {
        std::thread::park();
    }
    Ok(())
}

/// Starts to serve at an endpoint, and announces the endpoint that clients use.
pub(crate) fn start(
    server: &Arc<Server>,
    endpoint: &str,
    options: ServeOptions,
    announce: impl FnOnce(&str),
) -> Result<Serving, BenchError> {
    const SERVER: &str = "the server";
    let endpoint: Endpoint = endpoint.parse().map_err(BenchError::round_trip(SERVER))?;
    let serving =
        Serving::start(server, &[endpoint], options).map_err(BenchError::round_trip(SERVER))?;
    let endpoint = serving.endpoints().first().map(ToString::to_string);
    announce(&endpoint.unwrap_or_default());
    Ok(serving)
}
