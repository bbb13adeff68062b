//! Analyses of networks: Total Flow Analysis, Separate Flow Analysis, and Pay Multiplexing Only Once.

use crate::curve::{Curve, CurveError, Extended};
use crate::network::{Arrivals, Network, Passing};
use crate::pmoo;
use crate::polynomial::{self, Sought};

/// How Total Flow Analysis bounds what leaves a server. Both hold; neither is always the lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The flow's arrival, late by up to the server's delay.
    Delay,
    /// The flow's arrival, served with what the other flows leave of the FIFO server.
    Residual,
}

/// The bounds of Total Flow Analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalFlow {
    /// Of each server, the delay of every flow there.
    pub server_delays: Vec<Extended>,
    /// Of each server, what waits there.
    pub backlogs: Vec<Extended>,
    /// Of each flow, the sum of the delays on its path.
    pub flow_delays: Vec<Extended>,
}

impl Network {
    /// Total Flow Analysis: at each server a delay for all flows together, and a flow's bound is the sum over its path. FIFO servers. With
    /// `shaped`, what comes over a link is no more than the link's shaping curve (TFA++).
    pub fn total_flow(&self, output: Output, shaped: bool) -> TotalFlow {
        match output {
            Output::Delay => self.total_flow_by_delays(shaped, None),
            Output::Residual => self.total_flow_arrivals(output, shaped).0,
        }
    }

    /// The same, with the arrival curve of each flow at each server: in a time that grows with the square of the flows at a server.
    pub(crate) fn total_flow_arrivals(
        &self,
        output: Output,
        shaped: bool,
    ) -> (TotalFlow, Arrivals) {
        let mut arrivals = Arrivals::of(self);
        let mut server_delays = vec![Extended::ZERO; self.servers.len()];
        let mut backlogs = server_delays.clone();
        for server in self.order.iter().copied() {
            let service = &self.servers[server].service;
            let all = self.aggregate(server, &arrivals, None, shaped);
            let delay = all.horizontal_deviation(service);
            backlogs[server] = all.vertical_deviation(service);
            for Passing { flow, position } in self.passing[server].iter().copied() {
                let arrival = &arrivals.0[flow][position];
                let left = match (output, delay.finite()) {
                    (_, None) => Curve::constant(Extended::Infinity),
                    (Output::Delay, Some(delay)) => arrival.advanced(delay),
                    (Output::Residual, Some(_)) => {
                        let others = self.aggregate(server, &arrivals, Some(flow), shaped);
                        arrival.deconvolution(&self.fifo_residual(server, &others))
                    }
                };
                arrivals.0[flow].push(left);
            }
            server_delays[server] = delay;
        }
        let bounds = TotalFlow {
            flow_delays: self.sums(&server_delays),
            server_delays,
            backlogs,
        };
        (bounds, arrivals)
    }

    /// Of each flow, the sum over the servers of its path.
    pub(crate) fn sums(&self, delays: &[Extended]) -> Vec<Extended> {
        let of_path = |path: &[usize]| {
            let delays = path.iter().map(|server| &delays[*server]);
            delays.fold(Extended::ZERO, |sum, delay| sum.sum(delay))
        };
        self.flows.iter().map(|flow| of_path(&flow.path)).collect()
    }

    /// Separate Flow Analysis: of each flow, the delay in all servers of its path as one, of which each is what the other flows leave.
    /// FIFO servers. A flow's own burst is paid for once.
    pub fn separate_flow(&self) -> Vec<Extended> {
        let mut arrivals = Arrivals::of(self);
        let mut services: Vec<Option<Curve>> = vec![None; self.flows.len()];
        for server in self.order.iter().copied() {
            for Passing { flow, .. } in self.passing[server].iter().copied() {
                let others = self.aggregate(server, &arrivals, Some(flow), false);
                let residual = self.fifo_residual(server, &others);
                let service = services[flow].take();
                services[flow] = Some(
                    service.map_or(residual.clone(), |service| service.convolution(&residual)),
                );
            }
            for Passing { flow, .. } in self.passing[server].iter().copied() {
                if let Some(service) = &services[flow] {
                    arrivals.0[flow].push(self.flows[flow].arrival.deconvolution(service));
                }
            }
        }
        let flows = self.flows.iter().zip(services);
        flows
            .map(|(flow, service)| {
                service.map_or(Extended::Infinity, |service| {
                    flow.arrival.horizontal_deviation(&service)
                })
            })
            .collect()
    }

    /// The polynomial-size linear programme: of each flow, the delay on its path and what comes to it, as dates that servers, arrivals and their
    /// order leave possible; delays of [`Self::total_flow`] are among the constraints. FIFO servers. With `shaped`, what comes over a link is no more than
    /// the link's shaping curve. Every result is proven by exact multipliers; it is infinite where none were found.
    pub fn polynomial_linear_program(&self, shaped: bool) -> Vec<Extended> {
        self.polynomial(Sought::Delay, shaped)
    }

    /// The same programme for the most of each flow that is on its path at a time, in bits. With that as its burst a flow leaves its path, if it came there by a
    /// leaky bucket, at the same rate: where a network is cut, the rest begins with it.
    pub fn polynomial_backlogs(&self, shaped: bool) -> Vec<Extended> {
        self.polynomial(Sought::Backlog, shaped)
    }

    fn polynomial(&self, sought: Sought, shaped: bool) -> Vec<Extended> {
        let (total, arrivals) = self.total_flow_arrivals(Output::Delay, shaped);
        let delays = &total.server_delays;
        (0..self.flows.len())
            .map(|flow| polynomial::longest(sought, self, &arrivals, delays, shaped, flow))
            .collect()
    }

    /// Pay Multiplexing Only Once: as [`Self::separate_flow`], but the other flows' bursts, too, are paid for once along the servers that they
    /// share with the flow. Servers may serve flows in any order, and must be strict: served at the full rate while anything waits.
    ///
    /// # Errors
    /// None of which the curves of a network are the cause.
    pub fn pay_multiplexing_only_once(&self) -> Result<Vec<Extended>, CurveError> {
        let mut arrivals = Arrivals::of(self);
        let mut delays = vec![Extended::Infinity; self.flows.len()];
        for server in self.order.iter().copied() {
            for Passing { flow, position } in self.passing[server].iter().copied() {
                let own = &self.flows[flow].arrival;
                let mut left = Curve::constant(Extended::Infinity);
                let mut delay = Extended::Infinity;
                for (rate, latency) in pmoo::residuals(self, &arrivals, flow, position + 1) {
                    let service = Curve::rate_latency(rate, latency)?;
                    left = left.minimum(&own.deconvolution(&service));
                    delay = delay.min(own.horizontal_deviation(&service));
                }
                arrivals.0[flow].push(left);
                delays[flow] = delay;
            }
        }
        Ok(delays)
    }
}
