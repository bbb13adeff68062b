//! Subjects whose round trips are measured.

use super::row::Head;
use crate::pair::{Pair, Setting, Subject};
use crate::payload::Payload;
use crate::round_trip::Wait;
use crate::seat::Placement;
use crate::serve::Role;

/// A pair, and the floor that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) pair: Pair,
    /// Position of this pair's floor in the list.
    pub(super) floor: Option<usize>,
}

/// Returns all pairs that can be measured here. Pairs to be compared are neighbours, because they are measured one after the
/// other.
pub(super) fn pairs(setting: &Setting<'_>) -> Vec<Measured> {
    use {Placement::*, Role::*, Wait::*};
    let mut pairs = Vec::new();
    // Two sides that spin on one core would only keep each other from running.
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
            let pair = Pair {
                subject,
                placement,
                wait,
            };
            pairs.push(Measured { pair, floor });
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
            let pair = Pair {
                subject: Subject::Own(role),
                placement,
                wait,
            };
            pairs.push(Measured { pair, floor });
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

impl Measured {
    /// Returns the head of its row.
    pub(super) fn head(&self, payload: Payload) -> Head {
        let (peer, transport, floor) = self.pair.names();
        Head {
            placement: self.pair.placement.name(),
            wait: self.pair.wait_name(),
            ..Head::new(peer, transport, floor.unwrap_or("Read"), payload.bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::local_session::LocalSession;
    use crate::measure::Samples;
    use crate::process::Ready;
    use crate::round_trip::{Access, Service};
    use crate::seat::CorePair;
    use crate::{round_trip, serve};

    fn list(cores: CorePair, open62541: Option<&Path>) -> Vec<Measured> {
        pairs(&Setting {
            program: Path::new("takt"),
            open62541,
            cores,
            payloads: &Payload::ALL,
        })
    }

    #[test]
    fn floors_come_before_the_compared_subjects() {
        let cores = CorePair {
            client: 0,
            server: 1,
        };
        let pairs = list(cores, Some(Path::new("open62541-server")));
        let mut labels: Vec<String> = Vec::new();
        for (place, measured) in pairs.iter().enumerate() {
            let head = measured.head(Payload::SCALAR);
            let pair = measured.pair;
            assert_eq!(
                measured.floor.is_some(),
                pair.subject != Subject::Own(Role::TcpEcho)
                    && pair.subject != Subject::Own(Role::SharedMemory)
            );
            if let Some(floor) = measured.floor {
                assert!(floor < place);
                let floor = &pairs[floor];
                assert_eq!(
                    (floor.pair.placement, floor.pair.wait),
                    (pair.placement, pair.wait)
                );
                assert_eq!(floor.head(Payload::SCALAR).peer, "floor");
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

    /// Runs client and server of every kind in one process.
    #[test]
    fn round_trips_of_every_kind() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let cores = CorePair::choose().unwrap();
        let setting = Setting {
            program: Path::new("takt"),
            open62541: None,
            cores,
            payloads: &Payload::ALL,
        };
        // Spinning servers with a real-time policy disturb other tests.
        let calm = |measured: &Measured| {
            measured.pair.wait != Wait::Spin && measured.pair.placement == Placement::Same
        };
        let mut session = LocalSession::open(&Payload::ALL).unwrap();
        let mut count = 0;
        for measured in pairs(&setting).into_iter().filter(calm) {
            let pair = measured.pair;
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
                    let read = session.operation(Service::Read, payload, Access::Bytes);
                    let read = read.unwrap();
                    round_trip::measure(&mut *connection, &read, 5, &mut durations, stop).unwrap();
                    let row = measured.head(payload).row(&durations);
                    assert_eq!(row.percentiles.samples, 5, "{row:?}");
                    assert!(row.percentiles.min > 0.1, "{row:?}");
                }
                drop(connection);
                stop.store(true, Ordering::Release);
                server.thread().unpark();
                server.join().unwrap().unwrap();
            });
            count += 1;
        }
        assert_eq!(count, 6);
    }

    #[test]
    fn nothing_spins_on_a_single_core() {
        let cores = CorePair {
            client: 3,
            server: 3,
        };
        let pairs = list(cores, None);
        assert!(!pairs.is_empty());
        for Measured { pair, .. } in pairs {
            assert_eq!(pair.placement, Placement::Same);
            assert_ne!(pair.wait, Wait::Spin);
            assert_ne!(pair.subject, Subject::Open62541);
        }
    }
}
