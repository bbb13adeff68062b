//! What must hold in every network.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use takt_calculus::{Curve, Extended, Flow, Grid, Network, Output, Rational, Server};

const SERVERS: usize = 4;

/// Servers of any rate and latency; some of them at a link that limits what leaves.
fn servers() -> impl Strategy<Value = Vec<Server>> {
    let server =
        (4i64..30, 0i64..5, prop::option::of(30i64..60)).prop_map(|(rate, latency, link)| Server {
            service: Curve::rate_latency(rate.into(), latency.into()).unwrap(),
            shaping: link.map(|rate| Curve::leaky_bucket(Rational::ZERO, rate.into()).unwrap()),
        });
    prop::collection::vec(server, SERVERS)
}

/// Paths only lead to servers of higher index, so there is no cycle.
fn flow() -> impl Strategy<Value = Flow> {
    let path = prop::sample::subsequence((0..SERVERS).collect::<Vec<_>>(), 1..=SERVERS);
    (path, 0i64..20, 0i64..3).prop_map(|(path, burst, rate)| Flow {
        path,
        arrival: Curve::leaky_bucket(burst.into(), rate.into()).unwrap(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bound_falls_when_a_flow_is_added(servers in servers(), flows in prop::collection::vec(flow(), 2..6), shaped: bool) {
        let fewer = Network::new(servers.clone(), flows[1..].to_vec()).unwrap();
        let more = Network::new(servers, flows).unwrap();
        let [fewer, more] = [fewer, more].map(|network| network.total_flow(Output::Delay, shaped));
        for (fewer, more) in fewer.flow_delays.iter().zip(&more.flow_delays[1..]) {
            prop_assert!(fewer <= more);
        }
        for (fewer, more) in fewer.backlogs.iter().zip(&more.backlogs) {
            prop_assert!(fewer <= more);
        }
    }

    /// With rate-latency servers and leaky buckets, what the others leave is a rate-latency curve whose rate falls and whose latency rises with
    /// their bursts and rates; so these analyses do not choose between curves of which neither is the lower.
    #[test]
    fn no_bound_of_a_single_flow_falls_either(servers in servers(), flows in prop::collection::vec(flow(), 2..6)) {
        let bounds = |flows: &[Flow]| {
            let network = Network::new(servers.clone(), flows.to_vec()).unwrap();
            [
                network.total_flow(Output::Residual, false).flow_delays,
                network.separate_flow(),
                network.pay_multiplexing_only_once().unwrap(),
            ]
        };
        for (fewer, more) in bounds(&flows[1..]).iter().zip(bounds(&flows)) {
            for (fewer, more) in fewer.iter().zip(&more[1..]) {
                prop_assert!(fewer <= more);
            }
        }
    }

    /// The same on a grid: rounding up keeps the order.
    #[test]
    fn no_rounded_bound_falls(servers in servers(), flows in prop::collection::vec(flow(), 2..6), shaped: bool, steps in 1u32..5) {
        let step = || Rational::ONE / Rational::from(steps);
        let grid = Grid::new(step(), step(), step()).unwrap();
        let fewer = Network::new(servers.clone(), flows[1..].to_vec()).unwrap();
        let more = Network::new(servers, flows).unwrap();
        let [fewer, more] = [fewer, more].map(|network| network.total_flow_rounded(shaped, &grid));
        for (fewer, more) in fewer.flow_delays.iter().zip(&more.flow_delays[1..]) {
            prop_assert!(fewer <= more);
        }
    }

    /// The shaping of links only takes from what arrives, and a deviation does not grow with less arrival (TFA++: Mifdaoui and Leydier, Beyond the
    /// accuracy-complexity tradeoffs of compositional analyses using network calculus for complex networks, 2017; Le Boudec and Thiran, Network
    /// Calculus, section 3.1.11).
    #[test]
    fn shaping_never_makes_total_flow_worse(servers in servers(), flows in prop::collection::vec(flow(), 1..6)) {
        let network = Network::new(servers, flows).unwrap();
        let [plain, shaped] = [false, true].map(|shaped| network.total_flow(Output::Delay, shaped));
        for (plain, shaped) in plain.flow_delays.iter().zip(&shaped.flow_delays) {
            prop_assert!(shaped <= plain);
        }
        for (plain, shaped) in plain.backlogs.iter().zip(&shaped.backlogs) {
            prop_assert!(shaped <= plain);
        }
    }

    /// A flow alone has the delay of all its servers as one (Le Boudec and Thiran, Network Calculus, Theorem 1.4.6), and its sum of
    /// delays is not less.
    #[test]
    fn a_flow_alone_pays_its_burst_once(servers in servers(), flow in flow()) {
        let row = flow.path.iter().map(|server| servers[*server].service.clone());
        let row = row.reduce(|row, service| row.convolution(&service)).unwrap();
        let expected = flow.arrival.horizontal_deviation(&row);
        let network = Network::new(servers, vec![flow]).unwrap();
        prop_assert_eq!(&network.separate_flow()[0], &expected);
        prop_assert_eq!(&network.pay_multiplexing_only_once().unwrap()[0], &expected);
        prop_assert!(network.total_flow(Output::Residual, false).flow_delays[0] >= expected);
    }

    /// A delay is infinite only in or behind a server that is overloaded.
    #[test]
    fn finite_without_overload(servers in servers(), flows in prop::collection::vec(flow(), 1..6)) {
        let load = |server: usize| {
            let passing = flows.iter().filter(|flow| flow.path.contains(&server));
            passing.filter_map(|flow| flow.arrival.long_term_rate()).fold(Rational::ZERO, |sum, rate| sum + rate)
        };
        let overload = servers.iter().enumerate().any(|(index, server)| Some(&load(index)) >= server.service.long_term_rate());
        let network = Network::new(servers.clone(), flows.clone()).unwrap();
        if !overload {
            let finite = |delays: &[Extended]| delays.iter().all(|delay| delay.finite().is_some());
            for output in [Output::Delay, Output::Residual] {
                prop_assert!(finite(&network.total_flow(output, true).flow_delays));
            }
            prop_assert!(finite(&network.separate_flow()));
            prop_assert!(finite(&network.pay_multiplexing_only_once().unwrap()));
        }
    }
}
