//! Published results of other tools.

use takt_calculus::{
    Curve, Extended, Network, NetworkError, NetworkFlow, NetworkServer, OutputBound, Rational,
};

fn number(numerator: i64, denominator: u32) -> Extended {
    Extended::Finite(ratio(numerator, denominator))
}

fn ratio(numerator: i64, denominator: u32) -> Rational {
    Rational::from_parts(numerator.into(), denominator.into())
}

/// Thousandths, rounded as in the publications.
fn thousandths(delays: &[Extended]) -> Vec<i64> {
    let rounded = delays
        .iter()
        .map(|delay| (delay.finite().unwrap() * Rational::from(1000)).round());
    rounded.map(|delay| i64::try_from(delay).unwrap()).collect()
}

/// The demonstration of Saihu (Tsai, Charara, Plassart, Le Boudec), in µs and bits.
fn saihu() -> Network {
    saihu_with(|small, large| small.minimum(large))
}

/// The same network, where flow 0 sends by the curve that `buckets` makes of its two buckets.
fn saihu_with(buckets: impl FnOnce(&Curve, &Curve) -> Curve) -> Network {
    let line = |rate: i64, latency: i64| Curve::rate_latency(rate.into(), latency.into()).unwrap();
    let bucket = |burst: i64, rate: Rational| Curve::leaky_bucket(burst.into(), rate).unwrap();
    let link = bucket(0, 100.into());
    let server = |service| NetworkServer {
        service,
        shaping: Some(link.clone()),
    };
    let two = line(4, 10).maximum(&line(50, 1000));
    let small = bucket(80, ratio(1, 100));
    let both = buckets(&small, &bucket(16_000, ratio(5, 10_000)));
    let flow = |path: &[usize], arrival: &Curve| NetworkFlow {
        path: path.to_vec(),
        arrival: arrival.clone(),
    };
    Network::new(
        vec![server(two.clone()), server(two), server(line(4, 10))],
        vec![
            flow(&[0, 1], &both),
            flow(&[0, 2], &small),
            flow(&[1], &small),
        ],
    )
    .unwrap()
}

#[test]
fn saihu_total_flow() {
    let bounds = saihu().total_flow(OutputBound::Delay, true);
    assert_eq!(thousandths(&bounds.server_delays), [50_000, 49_324, 29_322]);
    assert_eq!(thousandths(&bounds.flow_delays), [99_324, 79_322, 49_324]);
}

#[test]
fn saihu_separate_flow() {
    assert_eq!(
        thousandths(&saihu().separate_flow()),
        [80_050, 60_050, 50_125]
    );
}

#[test]
fn saihu_pay_multiplexing_only_once() {
    assert_eq!(
        thousandths(&saihu().pay_multiplexing_only_once().unwrap()),
        [80_201, 60_125, 50_201]
    );
}

/// Hundredths of a µs: the solver of Saihu's programmes prints seconds with eight digits behind the point.
fn hundredths(delays: &[Extended]) -> Vec<i64> {
    let thousandths = thousandths(delays).into_iter();
    thousandths
        .map(|delay| (delay + 5).div_euclid(10) * 10)
        .collect()
}

/// Saihu's demonstration publishes 80.050, 79.270 and 49.280 for its linear programmes. These use one tree for the whole network,
/// in which a server keeps only the first server behind it: flow 1 is cut behind its first server, and continues with its
/// greatest backlog there as its burst.
#[test]
fn saihu_polynomial_linear_program() {
    let network = saihu();
    let (both, small) = (&network.flows()[0], &network.flows()[1]);
    let flow = |path: &[usize], arrival: &Curve| NetworkFlow {
        path: path.to_vec(),
        arrival: arrival.clone(),
    };
    let tree = [
        flow(&[0, 1], &both.arrival),
        flow(&[0], &small.arrival),
        flow(&[1], &small.arrival),
    ];
    let servers = network.servers().to_vec();
    let first = Network::new(servers.clone(), tree.to_vec()).unwrap();
    let burst = first.polynomial_backlogs(true)[1].clone();
    assert_eq!(burst, number(803, 10));

    let bucket = Curve::leaky_bucket(burst.finite().unwrap().clone(), ratio(1, 100)).unwrap();
    let link = servers[0].shaping.clone().unwrap();
    let rest = Network::new(servers, vec![flow(&[2], &bucket.minimum(&link))]).unwrap();
    let first = hundredths(&first.polynomial_linear_program(true));
    let rest = hundredths(&rest.polynomial_linear_program(true));
    assert_eq!(
        [first[0], first[1] + rest[0], first[2]],
        [80_050, 79_270, 49_280]
    );
}

/// Takt's programmes use a tree for each flow, which contains all servers of the flow.
#[test]
fn saihu_without_cuts() {
    let found = thousandths(&saihu().polynomial_linear_program(true));
    assert_eq!(found, [80_050, 60_000, 49_276]);
}

/// Saihu publishes 80.050, 60.050 and 50.004 for LUDB. Flows 0 and 1 meet another flow at one server only, so that Separate Flow
/// Analysis finds the best remaining FIFO service there as well. The last result comes out exactly if flow 0 sends by the smaller
/// burst at the smaller rate, 80 bit and 0.5 kbit/s. This is not the combination of its buckets: with that it is 50.075, without
/// shaping by links.
#[test]
fn saihu_least_upper_delay_bound() {
    assert_eq!(thousandths(&saihu().separate_flow())[..2], [80_050, 60_050]);
    let smallest = Curve::leaky_bucket(80.into(), ratio(5, 10_000)).unwrap();
    let found = saihu_with(|_, _| smallest).polynomial_linear_program(false);
    assert_eq!(thousandths(&found)[2], 50_004);
    let found = thousandths(&saihu().polynomial_linear_program(false));
    assert_eq!(found, [80_050, 60_000, 50_075]);
}

/// Networks of NetCal DNC's tests: one kind of server, flows of r = 5, b = 25.
fn netcal(servers: usize, parameter: i64, paths: &[&[usize]]) -> Network {
    let service = Curve::rate_latency(parameter.into(), parameter.into()).unwrap();
    let arrival = Curve::leaky_bucket(25.into(), 5.into()).unwrap();
    let flow = |path: &&[usize]| NetworkFlow {
        path: path.to_vec(),
        arrival: arrival.clone(),
    };
    Network::new(
        vec![
            NetworkServer {
                service,
                shaping: None
            };
            servers
        ],
        paths.iter().map(flow).collect(),
    )
    .unwrap()
}

#[test]
fn netcal_two_servers_one_flow() {
    let network = netcal(2, 10, &[&[0, 1]]);
    let total = network.total_flow(OutputBound::Residual, false);
    assert_eq!(total.flow_delays, [number(30, 1)]);
    assert_eq!(total.backlogs.iter().max(), Some(&number(125, 1)));
    assert_eq!(network.polynomial_backlogs(false), [number(125, 1)]);
    assert_eq!(network.separate_flow(), [number(45, 2)]);
    assert_eq!(
        network.pay_multiplexing_only_once().unwrap(),
        [number(45, 2)]
    );
}

#[test]
fn netcal_three_servers_two_flows() {
    let network = netcal(3, 20, &[&[0, 2], &[0, 1, 2]]);
    assert_eq!(
        network.total_flow(OutputBound::Residual, false).flow_delays[0],
        number(485, 8)
    );
    assert_eq!(network.separate_flow()[0], number(2615, 48));
}

#[test]
fn overload_is_infinite_behind_it_too() {
    let network = netcal(3, 9, &[&[0, 1], &[0, 2], &[2]]);
    let infinite = vec![Extended::Infinity; 3];
    for output in [OutputBound::Delay, OutputBound::Residual] {
        assert_eq!(network.total_flow(output, true).flow_delays, infinite);
    }
    assert_eq!(network.separate_flow(), infinite);
    assert_eq!(network.pay_multiplexing_only_once().unwrap(), infinite);
}

#[test]
fn mistakes() {
    let servers = || idle_servers(2);
    let flow = |path: &[usize]| NetworkFlow {
        path: path.to_vec(),
        arrival: Curve::zero(),
    };
    let error = |flows| Network::new(servers(), flows).unwrap_err();
    assert_eq!(
        error(vec![flow(&[0]), flow(&[])]),
        NetworkError::EmptyPath { flow: 1 }
    );
    assert_eq!(
        error(vec![flow(&[0, 7])]),
        NetworkError::UnknownServer { flow: 0, server: 7 }
    );
    assert_eq!(
        error(vec![flow(&[0, 1]), flow(&[1, 0])]),
        NetworkError::Cycle { server: 0 }
    );
    assert_eq!(
        error(vec![flow(&[1, 1])]),
        NetworkError::Cycle { server: 1 }
    );
}

fn idle_servers(number: usize) -> Vec<NetworkServer> {
    vec![
        NetworkServer {
            service: Curve::zero(),
            shaping: None
        };
        number
    ]
}
