//! Whose round trips are measured, and how a pair of client and server is set up.

use std::path::Path;
use std::process::Command;

use super::error::BenchError;
use super::floors::{self, MessageSizes};
use super::payload::Payload;
use super::process::{Process, Ready};
use super::round_trip::{RoundTrip, Wait};
use super::row::Head;
use super::seat::{self, CorePair, Placement};
use super::serve::{Assignment, Role};
use super::ua_client::UaClient;

/// Bytes in front of a message body over opc.tcp: MessageHeader, SecurityTokenId, SequenceHeader (OPC 10000-6, 6.7.2).
const TCP_HEADER: usize = 24;

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Our own program as a server.
    Own(Role),
    /// open62541's server, over opc.tcp.
    Open62541,
}

/// One server with one client, who are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) subject: Subject,
    pub(super) placement: Placement,
    pub(super) wait: Wait,
    /// The pair that is this one's floor, by its place in the list.
    pub(super) floor: Option<usize>,
}

/// What all pairs need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    /// Our own program.
    pub(super) program: &'a Path,
    /// open62541's server, if it is built.
    pub(super) open62541: Option<&'a Path>,
    pub(super) cores: CorePair,
    /// Of the bodies of our own Read messages.
    pub(super) sizes: MessageSizes,
}

/// All pairs that can be measured here. Those to be compared stand together, because they are measured one after the other.
pub(super) fn pairs(setting: &Setting<'_>) -> Vec<Pair> {
    use {Placement::*, Role::*, Wait::*};
    let mut pairs = Vec::new();
    // Two that spin on one core would only keep each other from running.
    let tcp = [(Same, Sleep), (Diff, Sleep), (Diff, Spin)];
    let shared_memory = [
        (Same, Sleep),
        (Same, Adaptive),
        (Diff, Sleep),
        (Diff, Adaptive),
        (Diff, Spin),
    ];
    let possible =
        |&(placement, _): &(Placement, Wait)| placement == Same || setting.cores.are_two();
    for (placement, wait) in tcp.into_iter().filter(possible) {
        let mut add = |subject, floor| {
            pairs.push(Pair {
                subject,
                placement,
                wait,
                floor,
            });
            Some(pairs.len() - 1)
        };
        let echo = add(Subject::Own(TcpEcho), None);
        add(Subject::Own(TaktTcp), echo);
        if wait == Sleep && setting.open62541.is_some() {
            add(Subject::Open62541, echo);
        }
    }
    for (placement, wait) in shared_memory.into_iter().filter(possible) {
        let mut add = |role, floor| {
            pairs.push(Pair {
                subject: Subject::Own(role),
                placement,
                wait,
                floor,
            });
            Some(pairs.len() - 1)
        };
        let bare = add(SharedMemory, None);
        let floor = match wait {
            Spin => add(Iceoryx2, bare),
            Adaptive | Sleep => bare,
        };
        add(TaktSharedMemory, floor);
    }
    pairs
}

impl Pair {
    /// What its row begins with.
    pub(super) fn head(&self, payload: Payload) -> Head {
        let (peer, transport, service) = match self.subject {
            Subject::Own(Role::TcpEcho) => ("floor", "TCP", "echo"),
            Subject::Own(Role::SharedMemory) => ("floor", "shared memory", "echo"),
            Subject::Own(Role::Iceoryx2) => ("floor", "iceoryx2", "pub-sub"),
            Subject::Own(Role::TaktTcp) => ("takt", "opc.tcp", "Read"),
            Subject::Own(Role::TaktSharedMemory) => ("takt", "opc.iox2", "Read"),
            Subject::Open62541 => ("open62541", "opc.tcp", "Read"),
        };
        let wait = match (self.wait, transport) {
            (Wait::Sleep, "TCP" | "opc.tcp") => "blocking",
            (Wait::Sleep, _) => "sleep",
            (Wait::Adaptive, _) => "adaptive",
            (Wait::Spin, _) => "spin",
        };
        Head {
            placement: self.placement.name(),
            wait,
            ..Head::new(peer, transport, service, payload.bytes())
        }
    }

    /// For errors.
    fn name(&self) -> String {
        let head = self.head(Payload::Scalar);
        [head.peer, head.transport, head.placement, head.wait].join(" ")
    }

    /// How long the messages of a floor are: as long as those of the Read that is compared with it.
    fn sizes(&self, setting: &Setting<'_>) -> MessageSizes {
        match self.subject {
            Subject::Own(Role::TcpEcho) => setting.sizes.with_header(TCP_HEADER),
            _ => setting.sizes.with_header(takt_shm::header::HEADER_LENGTH),
        }
    }

    /// Starts the server and waits until it is ready.
    pub(super) fn start(&self, setting: &Setting<'_>) -> Result<Process, BenchError> {
        let mut command = match (self.subject, setting.open62541) {
            (Subject::Own(role), _) => self.own_command(role, setting)?,
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

    fn assignment(&self, role: Role, setting: &Setting<'_>) -> Assignment {
        Assignment {
            role,
            wait: self.wait,
            core: setting.cores.server,
            sizes: self.sizes(setting),
        }
    }

    fn own_command(&self, role: Role, setting: &Setting<'_>) -> Result<Command, BenchError> {
        let assignment = serde_json::to_string(&self.assignment(role, setting))
            .map_err(|error| BenchError::Option(error.to_string()))?;
        let mut command = Command::new(setting.program);
        command.args(["bench", "transport", "--serve", &assignment]);
        Ok(command)
    }

    /// Connects to the server.
    pub(super) fn connect(
        &self,
        server: &Ready,
        setting: &Setting<'_>,
    ) -> Result<Box<dyn RoundTrip>, BenchError> {
        let (sizes, wait, name) = (self.sizes(setting), self.wait, self.name());
        let endpoint = server.endpoint.as_str();
        Ok(match self.subject {
            Subject::Own(Role::TcpEcho) => {
                let address = endpoint.parse().map_err(BenchError::round_trip(&name))?;
                Box::new(floors::tcp::EchoClient::connect(address, sizes, wait)?)
            }
            Subject::Own(Role::SharedMemory) => {
                let path = Path::new(endpoint);
                Box::new(floors::shared_memory::Client::open(path, sizes, wait)?)
            }
            Subject::Own(Role::Iceoryx2) => {
                Box::new(floors::iceoryx2::Client::open(endpoint, sizes)?)
            }
            Subject::Own(Role::TaktTcp | Role::TaktSharedMemory) | Subject::Open62541 => {
                Box::new(UaClient::connect(&name, endpoint, server.namespace, wait)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Samples;
    use crate::transport::local_session::LocalSession;
    use crate::transport::{round_trip, serve};

    fn list(cores: CorePair, open62541: Option<&Path>) -> Vec<Pair> {
        pairs(&Setting {
            program: Path::new("takt"),
            open62541,
            cores,
            sizes: MessageSizes::new(|payload| (80, payload.bytes() + 60)),
        })
    }

    #[test]
    fn floors_stand_before_what_is_compared_with_them() {
        let cores = CorePair {
            client: 0,
            server: 1,
        };
        let pairs = list(cores, Some(Path::new("open62541-server")));
        let mut labels: Vec<String> = Vec::new();
        for (place, pair) in pairs.iter().enumerate() {
            let head = pair.head(Payload::Scalar);
            assert_eq!(
                pair.floor.is_some(),
                pair.subject != Subject::Own(Role::TcpEcho)
                    && pair.subject != Subject::Own(Role::SharedMemory)
            );
            if let Some(floor) = pair.floor {
                assert!(floor < place);
                let floor = &pairs[floor];
                assert_eq!((floor.placement, floor.wait), (pair.placement, pair.wait));
                assert_eq!(floor.head(Payload::Scalar).peer, "floor");
            }
            labels.push(head.label());
        }
        for wanted in [
            "takt opc.tcp Read 4 same blocking",
            "takt opc.tcp Read 4 diff spin",
            "open62541 opc.tcp Read 4 diff blocking",
            "takt opc.iox2 Read 4 diff spin",
            "takt opc.iox2 Read 4 diff adaptive",
            "takt opc.iox2 Read 4 same sleep",
            "floor iceoryx2 pub-sub 4 diff spin",
        ] {
            assert!(labels.iter().any(|label| label == wanted), "{wanted}");
        }
    }

    /// Client and server of every kind, in one process.
    #[test]
    fn round_trips_of_every_kind() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let cores = CorePair::choose().unwrap();
        let setting = Setting {
            program: Path::new("takt"),
            open62541: None,
            cores,
            sizes: LocalSession::open().unwrap().message_sizes().unwrap(),
        };
        // Spinning servers with a real-time policy do not go well with other tests.
        let calm = |pair: &Pair| pair.wait != Wait::Spin && pair.placement == Placement::Same;
        let mut measured = 0;
        for pair in pairs(&setting).into_iter().filter(calm) {
            let Subject::Own(role) = pair.subject else {
                continue;
            };
            let assignment = pair.assignment(role, &setting);
            let stop = AtomicBool::new(false);
            let (endpoint, announced) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                let announce = move |text: &str| endpoint.send(text.to_owned()).unwrap();
                let stop = &stop;
                let server = scope.spawn(move || serve::serve(&assignment, announce, stop));
                let ready = Ready::at(announced.recv().unwrap());
                let mut connection = pair.connect(&ready, &setting).unwrap();
                for payload in Payload::ALL {
                    let mut durations = Samples::nanos();
                    round_trip::measure(&mut *connection, payload, 5, &mut durations, stop)
                        .unwrap();
                    let row = pair.head(payload).row(&durations);
                    assert_eq!(row.percentiles.samples, 5, "{row}");
                    assert!(row.percentiles.min > 0.1, "{row}");
                }
                drop(connection);
                stop.store(true, Ordering::Release);
                server.thread().unpark();
                server.join().unwrap().unwrap();
            });
            measured += 1;
        }
        assert_eq!(measured, 6);
    }

    #[test]
    fn one_core_has_no_second_one_to_spin_on() {
        let cores = CorePair {
            client: 3,
            server: 3,
        };
        let pairs = list(cores, None);
        assert!(!pairs.is_empty());
        for pair in pairs {
            assert_eq!(pair.placement, Placement::Same);
            assert_ne!(pair.wait, Wait::Spin);
            assert_ne!(pair.subject, Subject::Open62541);
        }
    }
}
