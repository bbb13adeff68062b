//! Total Flow Analysis of networks of any size. A flow that is late by up to `d` at one server and by up to `e` at the next arrives behind both by
//! `α(t + d + e)`: one number per flow says all, and what arrives at a server is one sum per link.

use std::collections::BTreeMap;

use crate::Grid;
use crate::analysis::TotalFlow;
use crate::curve::{Curve, Extended};
use crate::network::{Network, Passing};

impl Network {
    /// [`Self::total_flow`] with [`Output::Delay`](crate::Output::Delay), rounded outward: arrivals, delays and backlogs up to the grid. No bound
    /// is less than the exact one, and the numbers stay short, however many servers a flow depends on.
    pub fn total_flow_rounded(&self, shaped: bool, grid: &Grid) -> TotalFlow {
        self.total_flow_by_delays(shaped, Some(grid))
    }

    pub(crate) fn total_flow_by_delays(&self, shaped: bool, grid: Option<&Grid>) -> TotalFlow {
        let arrivals: Option<Vec<Curve>> = grid.map(|grid| {
            let flows = self.flows.iter();
            flows.map(|flow| flow.arrival.rounded_up(grid)).collect()
        });
        let arrival = |flow: usize| match &arrivals {
            Some(rounded) => &rounded[flow],
            None => &self.flows[flow].arrival,
        };
        // Of each flow, by how much it is late at most where it arrives next.
        let mut late = vec![Extended::ZERO; self.flows.len()];
        let mut server_delays = vec![Extended::ZERO; self.servers.len()];
        let mut backlogs = server_delays.clone();
        for server in self.order.iter().copied() {
            let arrived = |flow: usize| match &late[flow] {
                Extended::Finite(late) => arrival(flow).advanced(late),
                _ => Curve::constant(Extended::Infinity),
            };
            let all = self.links(server).into_iter().map(|(from, flows)| {
                let sum: Curve = flows.into_iter().map(arrived).sum();
                let shaping = from.and_then(|from| self.servers[from].shaping.as_ref());
                match shaping.filter(|_| shaped) {
                    Some(shaping) => sum.minimum(shaping),
                    None => sum,
                }
            });
            let all: Curve = all.sum();
            let service = &self.servers[server].service;
            let mut delay = all.horizontal_deviation(service);
            let mut backlog = all.vertical_deviation(service);
            if let Some(grid) = grid {
                (delay, backlog) = (grid.delay_up(&delay), grid.bits_up(&backlog));
            }
            for Passing { flow, .. } in &self.passing[server] {
                late[*flow] = late[*flow].sum(&delay);
            }
            (server_delays[server], backlogs[server]) = (delay, backlog);
        }
        TotalFlow {
            flow_delays: self.sums(&server_delays),
            server_delays,
            backlogs,
        }
    }

    /// The flows at a server by the server that they come from, if it is not their first.
    fn links(&self, server: usize) -> BTreeMap<Option<usize>, Vec<usize>> {
        let mut links: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for Passing { flow, position } in self.passing[server].iter().copied() {
            let before = position.checked_sub(1);
            let from = before.map(|before| self.flows[flow].path[before]);
            links.entry(from).or_default().push(flow);
        }
        links
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use crate::brute_force::curve;
    use crate::{Curve, Extended, Flow, Grid, Network, Output, Rational, Server};

    const SERVERS: usize = 5;

    fn network() -> impl Strategy<Value = Network> {
        let shaping = prop::option::of((0i64..9, 8i64..60));
        let server = (4i64..40, 0i64..5, shaping).prop_map(|(rate, latency, shaping)| Server {
            service: Curve::rate_latency(rate.into(), latency.into()).unwrap(),
            shaping: shaping
                .map(|(burst, rate)| Curve::leaky_bucket(burst.into(), rate.into()).unwrap()),
        });
        let path = prop::sample::subsequence((0..SERVERS).collect::<Vec<_>>(), 1..=SERVERS);
        let bucket = (0i64..20, 0i64..3)
            .prop_map(|(burst, rate)| Curve::leaky_bucket(burst.into(), rate.into()).unwrap());
        let arrival = prop_oneof![4 => bucket, 1 => curve()];
        let flow = (path, arrival).prop_map(|(path, arrival)| Flow { path, arrival });
        (
            prop::collection::vec(server, SERVERS),
            prop::collection::vec(flow, 1..8),
        )
            .prop_map(|(servers, flows)| Network::new(servers, flows).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn delays_say_the_same_as_curves(network in network(), shaped: bool) {
            prop_assert_eq!(network.total_flow_by_delays(shaped, None), network.total_flow_arrivals(Output::Delay, shaped).0);
        }

        #[test]
        fn a_rounded_bound_is_never_less(network in network(), shaped: bool, time in 1u32..4, bits in 1u32..4, rate in 1u32..40) {
            let part = |of: u32| Rational::ONE / Rational::from(of);
            let grid = Grid::new(part(time), part(bits), part(rate)).unwrap();
            let exact = network.total_flow_by_delays(shaped, None);
            let rounded = network.total_flow_rounded(shaped, &grid);
            for (exact, rounded) in exact.flow_delays.iter().zip(&rounded.flow_delays) {
                prop_assert!(exact <= rounded);
            }
            for (exact, rounded) in exact.backlogs.iter().zip(&rounded.backlogs) {
                prop_assert!(exact <= rounded);
            }
            for delay in rounded.server_delays.iter().filter_map(Extended::finite) {
                prop_assert!((delay * Rational::from(time)).is_int());
            }
        }
    }
}
