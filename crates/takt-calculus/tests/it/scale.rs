//! A factory of 50 switches and 500 flows: sums over whole links equal sums of single curves.

use takt_calculus::{Curve, Extended, Grid, Network, OutputBound, Rational, TotalFlow};

use crate::factory::{Factory, buckets, factory, grid};

/// Total Flow Analysis by its definition: a curve for each flow at each server, added one after the other.
struct Plain<'a> {
    factory: &'a Factory,
    shaped: bool,
    grid: Option<&'a Grid>,
    delays: Vec<Option<Extended>>,
    backlogs: Vec<Extended>,
}

impl Plain<'_> {
    fn delay(&mut self, server: usize) -> Extended {
        if let Some(delay) = &self.delays[server] {
            return delay.clone();
        }
        let mut links: Vec<(Option<usize>, Curve)> = Vec::new();
        for flow in &self.factory.flows {
            let Some(position) = flow.path.iter().position(|passed| *passed == server) else {
                continue;
            };
            let mut arrival = flow.arrival.clone();
            for passed in &flow.path[..position] {
                let delay = self.delay(*passed);
                arrival = arrival.advanced(delay.finite().unwrap());
            }
            let from = position.checked_sub(1).map(|before| flow.path[before]);
            match links.iter_mut().find(|(link, _)| *link == from) {
                Some((_, sum)) => *sum = sum.sum(&arrival),
                None => links.push((from, arrival)),
            }
        }
        let mut all = Curve::zero();
        for (from, sum) in links {
            let shaping = from.and_then(|from| self.factory.servers[from].shaping.as_ref());
            let limited = shaping
                .filter(|_| self.shaped)
                .map(|shaping| sum.minimum(shaping));
            all = all.sum(limited.as_ref().unwrap_or(&sum));
        }
        let service = &self.factory.servers[server].service;
        let (mut delay, mut backlog) = (
            all.horizontal_deviation(service),
            all.vertical_deviation(service),
        );
        if let Some(grid) = self.grid {
            (delay, backlog) = (grid.delay_up(&delay), grid.bits_up(&backlog));
        }
        self.delays[server] = Some(delay.clone());
        self.backlogs[server] = backlog;
        delay
    }

    fn bounds(factory: &Factory, shaped: bool, grid: Option<&Grid>) -> TotalFlow {
        let servers = factory.servers.len();
        let mut plain = Plain {
            factory,
            shaped,
            grid,
            delays: vec![None; servers],
            backlogs: vec![Extended::ZERO; servers],
        };
        let server_delays: Vec<Extended> = (0..servers).map(|server| plain.delay(server)).collect();
        let flow_delays = factory.flows.iter().map(|flow| {
            let delays = flow
                .path
                .iter()
                .map(|server| server_delays[*server].finite().unwrap());
            Extended::Finite(delays.fold(Rational::ZERO, |sum, delay| sum + delay))
        });
        TotalFlow {
            flow_delays: flow_delays.collect(),
            server_delays,
            backlogs: plain.backlogs,
        }
    }
}

#[test]
fn bounds_of_grouped_flows_equal_those_of_single_flows() {
    let factory = factory(50, 500, buckets).unwrap();
    let network = Network::new(factory.servers.clone(), factory.flows.clone()).unwrap();
    let grid = grid().unwrap();
    let exact = network.total_flow(OutputBound::Delay, false);
    assert_eq!(exact, Plain::bounds(&factory, false, None));
    let shaped = network.total_flow_rounded(true, &grid);
    assert_eq!(shaped, Plain::bounds(&factory, true, Some(&grid)));
    let rounded = network.total_flow_rounded(false, &grid);
    // At each server arrivals are rounded by less than a bit per flow, and the delay by less than a nanosecond more.
    for (rounded, exact) in rounded.flow_delays.iter().zip(&exact.flow_delays) {
        let more = rounded.finite().unwrap() - exact.finite().unwrap();
        assert!(
            more >= Rational::ZERO && more < Rational::ONE / Rational::from(1_000_000),
            "{more}"
        );
    }
    for (shaped, rounded) in shaped.flow_delays.iter().zip(&rounded.flow_delays) {
        assert!(shaped <= rounded);
    }
}
