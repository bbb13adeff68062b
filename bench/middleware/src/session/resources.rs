//! Resources that a peer uses, on this host or on another one.

use takt_rt::child::ChildProcess;

use super::Session;
use crate::usage::PeerUsage;

impl Session<'_> {
    /// Returns the use of resources of client and server until now; a broker counts as the server's.
    pub(crate) fn usage(&self) -> [PeerUsage; 2] {
        let local = |child: &Option<ChildProcess>| child.as_ref().map(ChildProcess::id);
        let groups = match self.environment.is_local() {
            true => [local(&self.server), local(&self.broker)],
            false => self.remote,
        };
        let of = |group: Option<u32>| {
            group.map_or(PeerUsage::default(), |group| self.environment.usage(group))
        };
        let [mut server, broker] = groups.map(of);
        let memory = server.memory + broker.memory;
        server.add(broker);
        server.memory = memory;
        let client = local(&self.client).map(PeerUsage::of_group);
        [client.unwrap_or_default(), server]
    }

    /// Returns the processor time on this host in ms, of the use of both sides.
    pub(crate) fn time_here(&self, [client, server]: &[PeerUsage; 2]) -> f64 {
        match self.environment.is_local() {
            true => client.cpu_ms + server.cpu_ms,
            false => client.cpu_ms,
        }
    }
}
