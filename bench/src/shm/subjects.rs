//! Subjects whose Reads and Writes are measured.

use crate::error::BenchError;
use crate::local_session::LocalSession;
use crate::pair::{Pair, Setting, Subject};
use crate::payload::Payload;
use crate::round_trip::{Access, Operation, Service, Wait};
use crate::seat::Placement;
use crate::serve::Role;

/// A pair of client and server, and the operations between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) pair: Pair,
    /// Number of idle Consumers that are connected to the server.
    pub(super) idle_consumers: usize,
    /// Access of the client to values that it reads.
    reads: &'static [Access],
    /// Access of the client to values that it writes.
    writes: &'static [Access],
}

/// Returns everything that can be measured here. Subjects to be compared are neighbours, because they are measured one after the
/// other.
pub(super) fn list(
    setting: &Setting<'_>,
    placements: &[Placement],
    idle_consumers: usize,
) -> Vec<Measured> {
    use {Access::*, Role::*, Wait::*};
    let mut list = Vec::new();
    for &placement in placements {
        let mut add =
            |subject, wait, reads: &'static [Access], writes: &'static [Access], idle_consumers| {
                // Two sides that spin on one core would only keep each other from running.
                if wait == Spin && placement == Placement::Same {
                    return;
                }
                let pair = Pair {
                    subject,
                    placement,
                    wait,
                };
                list.push(Measured {
                    pair,
                    idle_consumers,
                    reads,
                    writes,
                });
            };
        let mut floor = |role, wait| add(Subject::Own(role), wait, &[Bytes], &[Bytes], 0);
        floor(TcpEcho, Sleep);
        for wait in [Spin, Adaptive, Sleep] {
            floor(SharedMemory, wait);
        }
        floor(Iceoryx2, Spin);
        floor(Iceoryx2Request, Spin);
        let shared_memory = Subject::Own(TaktSharedMemory);
        add(shared_memory, Spin, &[InPlace, Copied], &[Copied], 0);
        if idle_consumers > 0 {
            add(shared_memory, Spin, &[Copied], &[], idle_consumers);
        }
        add(shared_memory, Adaptive, &[Copied], &[Copied], 0);
        // A current value is read without the server, so the server's waiting method does not matter.
        add(shared_memory, Sleep, &[Copied, Current], &[Copied], 0);
        if idle_consumers > 0 {
            add(shared_memory, Sleep, &[Copied], &[], idle_consumers);
        }
        add(Subject::Own(TaktTcp), Sleep, &[Copied], &[Copied], 0);
        if setting.open62541.is_some() {
            add(Subject::Open62541, Sleep, &[Copied], &[Copied], 0);
        }
    }
    list
}

impl Measured {
    /// Returns the operations in the order of the rows.
    pub(super) fn operations(
        &self,
        payloads: &[Payload],
        session: &mut LocalSession,
    ) -> Result<Vec<Operation>, BenchError> {
        let mut operations = Vec::new();
        for &payload in payloads {
            // The foreign server has the Variables of the paper.
            if self.pair.subject == Subject::Open62541 && !Payload::ALL.contains(&payload) {
                continue;
            }
            let services = [(Service::Read, self.reads), (Service::Write, self.writes)];
            for (service, accesses) in services {
                for &access in accesses {
                    operations.push(session.operation(service, payload, access)?);
                }
            }
        }
        Ok(operations)
    }
}
