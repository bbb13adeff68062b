//! General networks: servers, and flows with paths through them.

use std::collections::BTreeMap;

use crate::curve::{Curve, Extended};

/// A FIFO queue and its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkServer {
    /// The minimum service.
    pub service: Curve,
    /// Most bits that leave in any interval, for any arrivals: the link behind the server.
    pub shaping: Option<Curve>,
}

/// Traffic of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFlow {
    /// Indices of the servers that it passes, in order.
    pub path: Vec<usize>,
    /// The arrival curve at the first of them.
    pub arrival: Curve,
}

/// Reasons why a network cannot be made, or is not supported by these analyses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// A flow without a server.
    #[error("flow {flow} passes no server")]
    EmptyPath {
        /// The flow's index.
        flow: usize,
    },
    /// A path that leads to an unknown server.
    #[error("flow {flow} passes server {server}, which does not exist")]
    UnknownServer {
        /// The flow's index.
        flow: usize,
        /// The server's index.
        server: usize,
    },
    /// A flow that returns to a server, or flows with cyclic dependencies.
    #[error("server {server} lies on or behind a cycle: its arrivals depend on its departures")]
    Cycle {
        /// The server's index.
        server: usize,
    },
}

/// Servers and flows without cyclic dependencies.
#[derive(Debug, Clone)]
pub struct Network {
    pub(crate) servers: Vec<NetworkServer>,
    pub(crate) flows: Vec<NetworkFlow>,
    /// The servers in the order of their dependencies: each comes after those from which flows come to it.
    pub(crate) order: Vec<usize>,
    /// Flows that pass each server, with the position of the server in their paths.
    pub(crate) passing: Vec<Vec<Passing>>,
}

/// A flow at a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passing {
    pub(crate) flow: usize,
    pub(crate) position: usize,
}

impl Network {
    /// Makes a network of these servers and flows.
    ///
    /// # Errors
    /// An empty path, an unknown server, or a cycle.
    pub fn new(servers: Vec<NetworkServer>, flows: Vec<NetworkFlow>) -> Result<Self, NetworkError> {
        let mut passing = vec![Vec::new(); servers.len()];
        let mut before = vec![0usize; servers.len()];
        for (index, flow) in flows.iter().enumerate() {
            if flow.path.is_empty() {
                return Err(NetworkError::EmptyPath { flow: index });
            }
            for (position, server) in flow.path.iter().enumerate() {
                let unknown = NetworkError::UnknownServer {
                    flow: index,
                    server: *server,
                };
                passing.get_mut(*server).ok_or(unknown)?.push(Passing {
                    flow: index,
                    position,
                });
                // A flow counts once, as it is subtracted once below.
                before[*server] += usize::from(position > 0);
            }
        }
        let mut order: Vec<usize> = (0..servers.len())
            .filter(|server| before[*server] == 0)
            .collect();
        let mut done = 0;
        while let Some(server) = order.get(done).copied() {
            done += 1;
            for Passing { flow, position } in &passing[server] {
                if let Some(next) = flows[*flow].path.get(position + 1) {
                    before[*next] -= 1;
                    if before[*next] == 0 {
                        order.push(*next);
                    }
                }
            }
        }
        match before.iter().position(|before| *before > 0) {
            Some(server) => Err(NetworkError::Cycle { server }),
            None => Ok(Self {
                servers,
                flows,
                order,
                passing,
            }),
        }
    }

    /// Returns the servers.
    pub fn servers(&self) -> &[NetworkServer] {
        &self.servers
    }

    /// Returns the flows.
    pub fn flows(&self) -> &[NetworkFlow] {
        &self.flows
    }

    /// Returns the arrival curve of all flows but one at a server, from that of each flow there. With `shaped`, flows that come
    /// over one link together are limited by the link's shaping curve.
    pub(crate) fn aggregate(
        &self,
        server: usize,
        arrival: impl Fn(Passing) -> Curve,
        but: Option<usize>,
        shaped: bool,
    ) -> Curve {
        let mut links: BTreeMap<Option<usize>, Vec<Passing>> = BTreeMap::new();
        for passing in self.passing[server].iter().copied() {
            if Some(passing.flow) != but {
                // Flows that begin here share no link.
                let before = passing.position.checked_sub(1);
                let from = before.map(|before| self.flows[passing.flow].path[before]);
                links.entry(from).or_default().push(passing);
            }
        }
        let limited = links.into_iter().map(|(from, passing)| {
            let sum: Curve = passing.into_iter().map(&arrival).sum();
            let shaping = from.and_then(|from| self.servers[from].shaping.as_ref());
            match shaping.filter(|_| shaped) {
                Some(shaping) => sum.minimum(shaping),
                None => sum,
            }
        });
        limited.sum()
    }

    /// Returns the remaining service of a FIFO server for one flow, if `others` arrive besides.
    pub(crate) fn fifo_residual(&self, server: usize, others: &Curve) -> Curve {
        let service = &self.servers[server].service;
        match others.horizontal_deviation(service) {
            Extended::Finite(delay) => service.residual(others, &delay),
            // If the others are never served in time, nothing is left for this flow.
            _ => Curve::zero(),
        }
    }
}

/// Known arrival curves of each flow at the servers of its path. The first is always known.
pub(crate) struct Arrivals(pub(crate) Vec<Vec<Curve>>);

impl Arrivals {
    pub(crate) fn of(network: &Network) -> Self {
        Self(
            network
                .flows
                .iter()
                .map(|flow| vec![flow.arrival.clone()])
                .collect(),
        )
    }

    /// Returns the arrival curve of a flow at a server that it passes.
    pub(crate) fn at(&self, passing: Passing) -> Curve {
        self.0[passing.flow][passing.position].clone()
    }
}
