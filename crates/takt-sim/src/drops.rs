//! Drop rates as "Real-Time Performance of OPC UA" (V-A) has them.

use takt_scenario::{ApplicationId, FlowSource, PortId, Scenario};

use crate::Results;

/// Where an application's messages were lost, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DropRates {
    /// All that were published.
    pub published: u64,
    /// At the Publisher's own port: dP.
    pub publisher: u64,
    /// At the loopback: those that its own port dropped, and those that a later one replaced before they were sent: dL.
    pub loopback: u64,
    /// At the ports of bridges, in the order in which messages pass them: d(b→L) and d(b→P).
    pub bridges: Vec<(PortId, u64)>,
}

impl DropRates {
    /// Of an application.
    pub fn new(scenario: &Scenario, results: &Results, application: ApplicationId) -> Self {
        let mut rates = Self::default();
        if let Some(statistics) = results.applications.get(application.0) {
            rates.published = statistics.published;
            rates.loopback = statistics.overwritten;
        }
        for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
            let first = match flow.source {
                FlowSource::Publish(id) if id == application => &mut rates.publisher,
                FlowSource::Return(id) if id == application => &mut rates.loopback,
                _ => continue,
            };
            let lost_at = |port: PortId| -> u64 {
                let there = statistics.lost.iter().filter(|lost| lost.port == port);
                there.map(|lost| lost.count).sum()
            };
            let mut ports = flow.ports.iter().copied();
            *first += ports.next().map_or(0, lost_at);
            rates
                .bridges
                .extend(ports.map(|port| (port, lost_at(port))));
        }
        rates
    }

    /// All of them: dΣ.
    pub fn all(&self) -> u64 {
        let bridges: u64 = self.bridges.iter().map(|bridge| bridge.1).sum();
        self.publisher + self.loopback + bridges
    }
}
