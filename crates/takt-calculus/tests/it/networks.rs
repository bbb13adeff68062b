//! Properties of the bounds of every network.

use proptest::prelude::*;
use takt_calculus::{
    Curve, Extended, Grid, Network, NetworkFlow, NetworkServer, OutputBound, Rational,
};

const SERVERS: usize = 4;

/// Servers of any rate and latency; some of them are at a link that limits their output.
fn servers() -> impl Strategy<Value = Vec<NetworkServer>> {
    let server =
        (4i64..30, 0i64..5, prop::option::of(30i64..60)).prop_map(|(rate, latency, link)| {
            NetworkServer {
                service: Curve::rate_latency(rate.into(), latency.into()).unwrap(),
                shaping: link.map(|rate| Curve::leaky_bucket(Rational::ZERO, rate.into()).unwrap()),
            }
        });
    prop::collection::vec(server, SERVERS)
}

/// Paths only lead to servers of higher index, so there is no cycle.
fn flow() -> impl Strategy<Value = NetworkFlow> {
    let path = prop::sample::subsequence((0..SERVERS).collect::<Vec<_>>(), 1..=SERVERS);
    (path, 0i64..20, 0i64..3).prop_map(|(path, burst, rate)| NetworkFlow {
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
        let [fewer, more] = [fewer, more].map(|network| network.total_flow(OutputBound::Delay, shaped));
        for (fewer, more) in fewer.flow_delays.iter().zip(&more.flow_delays[1..]) {
            prop_assert!(fewer <= more);
        }
        for (fewer, more) in fewer.backlogs.iter().zip(&more.backlogs) {
            prop_assert!(fewer <= more);
        }
    }

    /// With rate-latency servers and leaky buckets, the remaining service is a rate-latency curve. Its rate falls and its latency
    /// rises with the bursts and rates of the others. These analyses therefore do not choose between curves of which neither is
    /// the lower.
    #[test]
    fn no_bound_by_remaining_service_falls_when_a_flow_is_added(servers in servers(), flows in prop::collection::vec(flow(), 2..6)) {
        let bounds = |flows: &[NetworkFlow]| {
            let network = Network::new(servers.clone(), flows.to_vec()).unwrap();
            [
                network.total_flow(OutputBound::Residual, false).flow_delays,
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

    /// The same property on a grid: rounding up keeps the order.
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

    /// The shaping of links only reduces arrivals, and a deviation does not grow with fewer arrivals (TFA++: Mifdaoui and
    /// Leydier, Beyond the accuracy-complexity tradeoffs of compositional analyses using network calculus for complex networks,
    /// 2017; Le Boudec and Thiran, Network Calculus, section 3.1.11).
    #[test]
    fn shaping_never_makes_total_flow_worse(servers in servers(), flows in prop::collection::vec(flow(), 1..6)) {
        let network = Network::new(servers, flows).unwrap();
        let [plain, shaped] = [false, true].map(|shaped| network.total_flow(OutputBound::Delay, shaped));
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
        prop_assert!(network.total_flow(OutputBound::Residual, false).flow_delays[0] >= expected);
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
            for output in [OutputBound::Delay, OutputBound::Residual] {
                prop_assert!(finite(&network.total_flow(output, true).flow_delays));
            }
            prop_assert!(finite(&network.separate_flow()));
            prop_assert!(finite(&network.pay_multiplexing_only_once().unwrap()));
        }
    }

    /// The delays of Total Flow Analysis are among the programme's constraints, so that their sum is never less. The delay of a
    /// flow alone can reach the horizontal deviation (Le Boudec and Thiran, Network Calculus, Theorem 1.4.4), and its backlog the
    /// vertical one, so that no bound is less.
    #[test]
    fn the_linear_programme_is_between(servers in servers(), flows in prop::collection::vec(flow(), 1..4)) {
        let network = Network::new(servers.clone(), flows.clone()).unwrap();
        for shaped in [false, true] {
            let total = network.total_flow(OutputBound::Delay, shaped).flow_delays;
            for (found, total) in network.polynomial_linear_program(shaped).iter().zip(&total) {
                prop_assert!(found <= total || *total == Extended::Infinity);
                prop_assert!(found.finite().is_some() || *total == Extended::Infinity);
            }
        }
        let alone = flows[0].clone();
        let row = alone.path.iter().map(|server| servers[*server].service.clone());
        let row = row.reduce(|row, service| row.convolution(&service)).unwrap();
        let (delay, backlog) = (alone.arrival.horizontal_deviation(&row), alone.arrival.vertical_deviation(&row));
        let network = Network::new(servers, vec![alone]).unwrap();
        prop_assert!(network.polynomial_linear_program(false)[0] >= delay);
        prop_assert!(network.polynomial_backlogs(false)[0] >= backlog);
    }

    /// Servers in a row, where the tree of a flow does not depend on the other flows.
    #[test]
    fn the_linear_programme_never_falls_when_a_flow_is_added(servers in servers(), parts in prop::collection::vec((0..SERVERS, 1..=SERVERS, 0i64..20, 0i64..2), 2..5)) {
        let flows: Vec<NetworkFlow> = parts.iter().map(|(first, length, burst, rate)| NetworkFlow {
            path: (*first..(first + length).min(SERVERS)).collect(),
            arrival: Curve::leaky_bucket((*burst).into(), (*rate).into()).unwrap(),
        }).collect();
        let fewer = Network::new(servers.clone(), flows[1..].to_vec()).unwrap();
        let more = Network::new(servers, flows).unwrap();
        let [fewer, more] = [fewer, more].map(|network| network.polynomial_linear_program(false));
        for (fewer, more) in fewer.iter().zip(&more[1..]) {
            prop_assert!(fewer <= more);
        }
    }

    /// Packets of one bit through FIFO servers that are as slow and then as fast as their curves allow.
    #[test]
    fn no_packet_is_later_than_the_linear_programme_says(
        parameters in prop::collection::vec((2i64..8, 1i64..5, 1i64..4), SERVERS),
        flows in prop::collection::vec((prop::sample::subsequence((0..SERVERS).collect::<Vec<_>>(), 1..=SERVERS), 1i64..12, 0i64..12), 1..5),
        lazy in prop::collection::vec(0i64..=2, 64),
    ) {
        let servers: Vec<NetworkServer> = parameters.iter().map(|(rate, latency, haste)| NetworkServer {
            service: Curve::rate_latency((*rate).into(), Rational::from(*latency) + Rational::ONE / Rational::from(*rate)).unwrap(),
            shaping: Some(Curve::leaky_bucket(Rational::ONE, (rate * haste).into()).unwrap()),
        }).collect();
        let rate = Rational::ONE / Rational::from(8);
        let network = Network::new(servers, flows.iter().map(|(path, burst, _)| NetworkFlow {
            path: path.clone(),
            arrival: Curve::leaky_bucket((*burst).into(), rate.clone()).unwrap(),
        }).collect()).unwrap();
        // Packets: flow, time of sending, and time at the current place.
        let mut packets: Vec<(usize, Rational, Rational)> = Vec::new();
        for (flow, (_, burst, phase)) in flows.iter().enumerate() {
            for number in 0..burst + 4 {
                let time = Rational::from(*phase) + (Rational::from(number + 1 - burst) / &rate).max(Rational::ZERO);
                packets.push((flow, time.clone(), time));
            }
        }
        let mut lazy = lazy.iter().cycle();
        for (server, (rate, latency, haste)) in parameters.iter().enumerate() {
            packets.sort_by(|one, other| one.2.cmp(&other.2));
            // Before time 0, so that a packet of time 0 finds an empty queue.
            let mut free = Rational::from(-1);
            let mut takes = Rational::ZERO;
            for (_, _, time) in packets.iter_mut().filter(|packet| flows[packet.0].0.contains(&server)) {
                if *time > free {
                    // The queue is empty: the server may sleep, and then be fast or slow.
                    let sleep = Rational::from(*latency * lazy.next().unwrap()) / Rational::from(2);
                    free = &*time + sleep;
                    let fast = *lazy.next().unwrap() == 0;
                    takes = Rational::ONE / Rational::from(if fast { rate * haste } else { *rate });
                }
                free += &takes;
                time.clone_from(&free);
            }
        }
        for shaped in [false, true] {
            let bounds = network.polynomial_linear_program(shaped);
            for (flow, sent, left) in &packets {
                prop_assert!(Extended::Finite(left - sent) <= bounds[*flow]);
            }
            let bounds = network.polynomial_backlogs(shaped);
            for (flow, now, _) in &packets {
                let there = packets.iter().filter(|(other, sent, left)| other == flow && sent <= now && left > now);
                prop_assert!(Extended::Finite(there.count().into()) <= bounds[*flow]);
            }
        }
    }
}
