//! Drop rates with the definitions of "Real-Time Performance of OPC UA" (V-A).

use takt_scenario::{ApplicationIndex, FlowSource, PortIndex, Scenario};

use crate::Results;

/// Lost messages of an application by place, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DropRates {
    /// Number of all published messages.
    pub published: u64,
    /// Losses at the Publisher's own port: dP.
    pub publisher: u64,
    /// Losses at the loopback, dL: messages dropped by its own port, and messages replaced by later ones before they were sent.
    pub loopback: u64,
    /// Losses at the ports of bridges, in the order in which messages pass them: d(b→L) and d(b→P).
    pub bridges: Vec<(PortIndex, u64)>,
}

impl DropRates {
    /// Computes the drop rates of an application.
    pub fn new(scenario: &Scenario, results: &Results, application: ApplicationIndex) -> Self {
        let mut rates = Self::default();
        if let Some(statistics) = results.applications.get(application.0) {
            rates.published = statistics.published;
            rates.loopback = statistics.overwritten;
        }
        for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
            let first = match flow.source {
                FlowSource::Publish(id) if id == application => Some(&mut rates.publisher),
                FlowSource::Return(id) if id == application => Some(&mut rates.loopback),
                // A loss at a shared port is that of the first flow with this port.
                FlowSource::Branch(id, _) if id == application => None,
                _ => continue,
            };
            let lost_at = |port: PortIndex| -> u64 {
                let there = statistics.lost.iter().filter(|lost| lost.port == port);
                there.map(|lost| lost.count).sum()
            };
            let mut ports = flow.own_ports().iter().copied();
            if let Some(first) = first {
                *first += ports.next().map_or(0, lost_at);
            }
            rates
                .bridges
                .extend(ports.map(|port| (port, lost_at(port))));
        }
        rates
    }

    /// Returns the number of all losses: dΣ.
    pub fn all(&self) -> u64 {
        let bridges: u64 = self.bridges.iter().map(|bridge| bridge.1).sum();
        self.publisher + self.loopback + bridges
    }
}
