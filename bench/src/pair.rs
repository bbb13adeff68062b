//! A server in a process of its own and a client of it, measured together.

use std::path::Path;
use std::process::Command;

use super::assignment::Assignment;
use super::error::BenchError;
use super::floors;
use super::floors::iceoryx2::{Client, PubSub, ReqRes};
use super::payload::Payload;
use super::process::{Process, Ready};
use super::round_trip::{RoundTrip, Wait};
use super::seat::{self, CorePair, Placement};
use super::serve::{Role, ServerAssignment};
use super::ua_client::UaClient;

/// Name of the foreign server's program, built beside our own program.
pub(crate) const OPEN62541: &str = "open62541-server";

/// Bytes of a message besides its value, headers included: enough for the floor of any message.
pub(crate) const OVERHEAD: usize = 512;

/// Server of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Our own program as server.
    Own(Role),
    /// open62541's server, over opc.tcp.
    Open62541,
}

/// One server with one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) subject: Subject,
    pub(crate) placement: Placement,
    pub(crate) wait: Wait,
}

/// Common setting of all pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Our own program.
    pub(crate) program: &'a Path,
    /// open62541's server, if it is built.
    pub(crate) open62541: Option<&'a Path>,
    pub(crate) cores: CorePair,
    /// Payloads of the values that are read and written.
    pub(crate) payloads: &'a [Payload],
}

impl Setting<'_> {
    /// Returns remarks on the origin of the figures.
    pub(crate) fn notes(&self) -> Vec<String> {
        let CorePair { client, server } = self.cores;
        let mut notes = vec![if self.cores.are_two() {
            format!("Server on core {server}; client on the same core, or on core {client} (diff).")
        } else {
            format!(
                "There is only core {server}: measurements across cores and with spinning are left out."
            )
        }];
        if seat::real_time_permitted() {
            notes.push(format!("Measured threads run with {}.", seat::policy()));
        } else {
            notes.push(
                "Measured threads run with SCHED_OTHER, because SCHED_FIFO is not permitted to this user (CAP_SYS_NICE or \
                 RLIMIT_RTPRIO): expect longer tails."
                    .to_owned(),
            );
        }
        if self.open62541.is_some() {
            notes.push("Rows of open62541 are its server with Takt's client.".to_owned());
        } else {
            notes.push(format!(
                "open62541 is not measured, because {OPEN62541} is not beside this program. It needs cmake, a C++ compiler, \
                 python3 and libclang (Debian: sudo apt-get install cmake g++ python3 libclang-dev), and is built in some minutes: \
                 cargo build --release -p takt-peer-open62541"
            ));
        }
        notes
    }

    /// Returns the bytes of the longest message of a floor.
    fn longest(&self) -> usize {
        let largest = self.payloads.iter().map(|payload| payload.bytes()).max();
        largest.unwrap_or(0) + OVERHEAD
    }
}

impl Pair {
    /// Returns the software, the transport, and the mechanism of a floor.
    pub(crate) fn names(&self) -> (&'static str, &'static str, Option<&'static str>) {
        match self.subject {
            Subject::Own(Role::TcpEcho) => ("floor", "TCP", Some("echo")),
            Subject::Own(Role::SharedMemory) => ("floor", "shared memory", Some("echo")),
            Subject::Own(Role::Iceoryx2) => ("floor", "iceoryx2", Some("pub-sub")),
            Subject::Own(Role::Iceoryx2Request) => ("floor", "iceoryx2", Some("req-res")),
            Subject::Own(Role::TaktTcp) => ("takt", "opc.tcp", None),
            Subject::Own(Role::TaktSharedMemory) => ("takt", "opc.iox2", None),
            Subject::Open62541 => ("open62541", "opc.tcp", None),
        }
    }

    /// Returns the name of the waiting method of both sides, for rows.
    pub(crate) fn wait_name(&self) -> &'static str {
        let (_, transport, _) = self.names();
        match (self.wait, transport) {
            (Wait::Sleep, "TCP" | "opc.tcp") => "blocking",
            (Wait::Sleep, _) => "sleep",
            (Wait::Adaptive, _) => "adaptive",
            (Wait::Spin, _) => "spin",
        }
    }

    /// Returns the name of the pair, for errors.
    pub(crate) fn name(&self) -> String {
        let (peer, transport, floor) = self.names();
        let service = floor.unwrap_or("requests");
        [
            peer,
            transport,
            service,
            self.placement.name(),
            self.wait_name(),
        ]
        .join(" ")
    }

    /// Starts the server and waits until it is ready.
    pub(crate) fn start(&self, setting: &Setting<'_>) -> Result<Process, BenchError> {
        let mut command = match (self.subject, setting.open62541) {
            (Subject::Own(role), _) => {
                let assignment = self.assignment(role, setting);
                assignment.command(setting.program)?
            }
            (Subject::Open62541, Some(program)) => {
                let mut command = Command::new(program);
                command.args(["0", "--core", &setting.cores.server.to_string()]);
                if let takt_rt::priority::Policy::Fifo(priority) = seat::policy() {
                    command.args(["--fifo", &priority.to_string()]);
                }
                command
            }
            (Subject::Open62541, None) => {
                return Err(BenchError::Process {
                    what: self.name(),
                    reason: "is not built".to_owned(),
                });
            }
        };
        Process::start(&self.name(), &mut command)
    }

    pub(crate) fn assignment(&self, role: Role, setting: &Setting<'_>) -> ServerAssignment {
        ServerAssignment {
            role,
            wait: self.wait,
            core: setting.cores.server,
            ordinary: false,
            payloads: setting.payloads.to_vec(),
            longest: setting.longest(),
        }
    }

    /// Connects to the server.
    pub(crate) fn connect(
        &self,
        server: &Ready,
        setting: &Setting<'_>,
    ) -> Result<Box<dyn RoundTrip>, BenchError> {
        let (wait, longest, name) = (self.wait, setting.longest(), self.name());
        let endpoint = server.endpoint.as_str();
        Ok(match self.subject {
            Subject::Own(Role::TcpEcho) => {
                let address = endpoint.parse().map_err(BenchError::round_trip(&name))?;
                Box::new(floors::tcp::EchoClient::connect(address, wait)?)
            }
            Subject::Own(Role::SharedMemory) => {
                let path = Path::new(endpoint);
                Box::new(floors::shared_memory::Client::open(path, wait)?)
            }
            Subject::Own(Role::Iceoryx2) => Box::new(Client::<PubSub>::open(endpoint, longest)?),
            Subject::Own(Role::Iceoryx2Request) => {
                Box::new(Client::<ReqRes>::open(endpoint, longest)?)
            }
            Subject::Own(Role::TaktTcp | Role::TaktSharedMemory) | Subject::Open62541 => {
                Box::new(UaClient::connect(&name, endpoint, server.namespace, wait)?)
            }
        })
    }
}
