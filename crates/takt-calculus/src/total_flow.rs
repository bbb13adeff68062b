//! Total Flow Analysis of networks of FIFO servers of any size: at each server a delay for all flows together. It is here, beside
//! that of ports, because published results are about such networks, because the delays are constraints of the linear programme,
//! and because it needs one number per flow where ports need curves: a flow that is late by up to `d` at one server and by up to
//! `e` at the next arrives behind both by `α(t + d + e)`.

use crate::Grid;
use crate::curve::{Curve, Extended};
use crate::network::{Arrivals, Network, Passing};

/// Bound on the flows that leave a server. Both kinds hold; neither is always the lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputBound {
    /// The flow's arrival, late by up to the server's delay.
    Delay,
    /// The flow's arrival, served with the service that the other flows leave of the FIFO server. Its time grows with the square
    /// of the number of flows at a server.
    Residual,
}

/// Bounds of Total Flow Analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalFlow {
    /// Delay of every flow at each server.
    pub server_delays: Vec<Extended>,
    /// Backlog of each server.
    pub backlogs: Vec<Extended>,
    /// Sum of the delays on the path of each flow.
    pub flow_delays: Vec<Extended>,
}

/// Arrivals of flows at the servers that the analysis has reached.
enum Known {
    /// For each flow, the arrival at its first server, and the greatest lateness where it arrives next.
    Late(Vec<Curve>, Vec<Extended>),
    Curves(Arrivals),
}

impl Known {
    fn at(&self, passing: Passing) -> Curve {
        match self {
            Self::Late(first, late) => late_by(&first[passing.flow], &late[passing.flow]),
            Self::Curves(arrivals) => arrivals.at(passing),
        }
    }

    /// Carries all flows of a server on to their next servers.
    fn leave(&mut self, network: &Network, server: usize, delay: &Extended, shaped: bool) {
        for passing in network.passing[server].iter().copied() {
            let flow = passing.flow;
            match self {
                Self::Late(_, late) => late[flow] = late[flow].sum(delay),
                Self::Curves(arrivals) => {
                    let left = if *delay == Extended::Infinity {
                        Curve::constant(Extended::Infinity)
                    } else {
                        let others =
                            network.aggregate(server, |it| arrivals.at(it), Some(flow), shaped);
                        let residual = network.fifo_residual(server, &others);
                        arrivals.at(passing).deconvolution(&residual)
                    };
                    arrivals.0[flow].push(left);
                }
            }
        }
    }
}

fn late_by(arrival: &Curve, late: &Extended) -> Curve {
    match late {
        Extended::Finite(late) => arrival.advanced(late),
        // Without a bound on the delay, all frames of a long time may come at once.
        _ => Curve::constant(Extended::Infinity),
    }
}

impl Network {
    /// Computes Total Flow Analysis: at each server a delay for all flows together; a flow's bound is the sum over its path. FIFO
    /// servers. With `shaped`, flows that come over one link are limited by the link's shaping curve (TFA++).
    pub fn total_flow(&self, output: OutputBound, shaped: bool) -> TotalFlow {
        let known = match output {
            OutputBound::Delay => {
                let first = self.flows.iter().map(|flow| flow.arrival.clone());
                Known::Late(first.collect(), vec![Extended::ZERO; self.flows.len()])
            }
            OutputBound::Residual => Known::Curves(Arrivals::of(self)),
        };
        self.total_flow_from(known, shaped, None)
    }

    /// Returns [`Self::total_flow`] with [`OutputBound::Delay`], rounded outward: arrivals, delays and backlogs up to the grid.
    /// No bound is less than the exact one, and the numbers stay short for any number of servers that a flow depends on.
    pub fn total_flow_rounded(&self, shaped: bool, grid: &Grid) -> TotalFlow {
        let flows = self.flows.iter();
        let first = flows.map(|flow| flow.arrival.rounded_up(grid)).collect();
        let known = Known::Late(first, vec![Extended::ZERO; self.flows.len()]);
        self.total_flow_from(known, shaped, Some(grid))
    }

    fn total_flow_from(&self, mut known: Known, shaped: bool, grid: Option<&Grid>) -> TotalFlow {
        let mut server_delays = vec![Extended::ZERO; self.servers.len()];
        let mut backlogs = server_delays.clone();
        // All flows that come to a server have left the servers before it: `order` has those first.
        for server in self.order.iter().copied() {
            let all = self.aggregate(server, |passing| known.at(passing), None, shaped);
            let service = &self.servers[server].service;
            let mut delay = all.horizontal_deviation(service);
            let mut backlog = all.vertical_deviation(service);
            if let Some(grid) = grid {
                (delay, backlog) = (grid.delay_up(&delay), grid.bits_up(&backlog));
            }
            known.leave(self, server, &delay, shaped);
            (server_delays[server], backlogs[server]) = (delay, backlog);
        }
        TotalFlow {
            flow_delays: self.sums(&server_delays),
            server_delays,
            backlogs,
        }
    }

    /// Returns the sum of the delays on the path of each flow.
    fn sums(&self, delays: &[Extended]) -> Vec<Extended> {
        let of_path = |path: &[usize]| {
            let delays = path.iter().map(|server| &delays[*server]);
            delays.fold(Extended::ZERO, |sum, delay| sum.sum(delay))
        };
        self.flows.iter().map(|flow| of_path(&flow.path)).collect()
    }

    /// Returns arrival curves of each flow at all servers of its path, if these delay by up to `delays`.
    pub(crate) fn arrivals_late_by(&self, delays: &[Extended]) -> Arrivals {
        let of_flow = |flow: &crate::NetworkFlow| {
            let mut late = Extended::ZERO;
            let servers = flow.path.iter().map(|server| {
                let arrival = late_by(&flow.arrival, &late);
                late = late.sum(&delays[*server]);
                arrival
            });
            servers.collect()
        };
        Arrivals(self.flows.iter().map(of_flow).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use crate::brute_force::curve;
    use crate::{
        Curve, Extended, Grid, Network, NetworkFlow, NetworkServer, OutputBound, Rational,
    };

    const SERVERS: usize = 5;

    fn network() -> impl Strategy<Value = Network> {
        let shaping = prop::option::of((0i64..9, 8i64..60));
        let server =
            (4i64..40, 0i64..5, shaping).prop_map(|(rate, latency, shaping)| NetworkServer {
                service: Curve::rate_latency(rate.into(), latency.into()).unwrap(),
                shaping: shaping
                    .map(|(burst, rate)| Curve::leaky_bucket(burst.into(), rate.into()).unwrap()),
            });
        let path = prop::sample::subsequence((0..SERVERS).collect::<Vec<_>>(), 1..=SERVERS);
        let bucket = (0i64..20, 0i64..3)
            .prop_map(|(burst, rate)| Curve::leaky_bucket(burst.into(), rate.into()).unwrap());
        let arrival = prop_oneof![4 => bucket, 1 => curve()];
        let flow = (path, arrival).prop_map(|(path, arrival)| NetworkFlow { path, arrival });
        (
            prop::collection::vec(server, SERVERS),
            prop::collection::vec(flow, 1..8),
        )
            .prop_map(|(servers, flows)| Network::new(servers, flows).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn late_arrivals_reproduce_the_delays(network in network(), shaped: bool) {
            let bounds = network.total_flow(OutputBound::Delay, shaped);
            let arrivals = network.arrivals_late_by(&bounds.server_delays);
            for (server, delay) in bounds.server_delays.iter().enumerate() {
                let all = network.aggregate(server, |passing| arrivals.at(passing), None, shaped);
                prop_assert_eq!(&all.horizontal_deviation(&network.servers()[server].service), delay);
            }
        }

        #[test]
        fn a_rounded_bound_is_never_less(network in network(), shaped: bool, time in 1u32..4, bits in 1u32..4, rate in 1u32..40) {
            let part = |of: u32| Rational::ONE / Rational::from(of);
            let grid = Grid::new(part(time), part(bits), part(rate)).unwrap();
            let exact = network.total_flow(OutputBound::Delay, shaped);
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
