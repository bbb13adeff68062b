//! Analyses of networks of FIFO servers that take each flow by itself: Separate Flow Analysis, Pay Multiplexing Only Once and the
//! linear programme. They are here, beside those of ports, because published results are about such networks, and because the
//! linear programme of ports is one of them.

use crate::curve::{Curve, CurveError, Extended};
use crate::network::{Arrivals, Network, Passing};
use crate::pmoo;
use crate::polynomial::{self, Sought};
use crate::total_flow::OutputBound;

impl Network {
    /// Computes Separate Flow Analysis: for each flow, the delay in all servers of its path together, each with the service that
    /// the other flows leave. FIFO servers. The flow's own burst is paid for once.
    pub fn separate_flow(&self) -> Vec<Extended> {
        let mut arrivals = Arrivals::of(self);
        let mut services: Vec<Option<Curve>> = vec![None; self.flows.len()];
        for server in self.order.iter().copied() {
            for Passing { flow, .. } in self.passing[server].iter().copied() {
                let others = self.aggregate(server, |other| arrivals.at(other), Some(flow), false);
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

    /// Computes the polynomial-size linear programme. For each flow, it maximizes the delay on its path over all dates that
    /// servers, arrivals and their order permit; delays of [`Self::total_flow`] are among the constraints. FIFO servers. With
    /// `shaped`, flows that come over a link are limited by the link's shaping curve. Every result is proven by exact
    /// multipliers; it is infinite where none were found.
    pub fn polynomial_linear_program(&self, shaped: bool) -> Vec<Extended> {
        self.polynomial(Sought::Delay, shaped)
    }

    /// Computes the same programme for the backlog of each flow on its path, in bits. A flow that arrives by a leaky bucket
    /// leaves its path by a leaky bucket with this backlog as its burst and the same rate. Where a network is cut, the rest
    /// begins with that.
    pub fn polynomial_backlogs(&self, shaped: bool) -> Vec<Extended> {
        self.polynomial(Sought::Backlog, shaped)
    }

    fn polynomial(&self, sought: Sought, shaped: bool) -> Vec<Extended> {
        let total = self.total_flow(OutputBound::Delay, shaped);
        let delays = &total.server_delays;
        let arrivals = self.arrivals_late_by(delays);
        (0..self.flows.len())
            .map(|flow| polynomial::longest(sought, self, &arrivals, delays, shaped, flow))
            .collect()
    }

    /// Computes Pay Multiplexing Only Once: as [`Self::separate_flow`], but the bursts of the other flows, too, are paid for once
    /// along the servers that they share with the flow. Servers may serve flows in any order, and must be strict: served at the
    /// full rate while anything waits.
    ///
    /// # Errors
    /// None that the curves of a network can cause.
    pub fn pay_multiplexing_only_once(&self) -> Result<Vec<Extended>, CurveError> {
        let mut arrivals = Arrivals::of(self);
        let mut delays = vec![Extended::Infinity; self.flows.len()];
        for server in self.order.iter().copied() {
            for Passing { flow, position } in self.passing[server].iter().copied() {
                let own = &self.flows[flow].arrival;
                let mut left = Curve::constant(Extended::Infinity);
                let mut delay = Extended::Infinity;
                // The bounds are compared, not the curves: the maximum of these service curves need not be a service curve.
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
