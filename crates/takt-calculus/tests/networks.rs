//! What must hold in every network.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use takt_calculus::{Curve, Extended, Flow, Network, Output, Rational, Server};

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
