//! Networks of ports: lines and rings of them with frames sent one by one, and the reasons for infinite bounds.

use crate::port_simulator::{Seen, Simulator};
use proptest::prelude::*;
use takt_calculus::{
    Analysis, Curve, EgressPort, Extended, FixedPoint, GateControlEntry, GateControlList,
    GateError, LoopbackStage, NotApplicable, PortClass, PortError, PortNetwork, PortNetworkError,
    QueueId, Rational, Step, Stream, TransmissionSelection, Unbounded,
};

fn ratio(numerator: i64, denominator: u32) -> Rational {
    Rational::from_parts(numerator.into(), denominator.into())
}

fn queue(port: usize, class: usize) -> Step {
    Step::Queue(QueueId { port, class })
}

fn bridge() -> Step {
    Step::Delay {
        least: 2.into(),
        most: 14.into(),
    }
}

/// A port of rate 1: a Credit-Based Shaper above best effort, or FIFO alone.
fn port(shaped: bool) -> EgressPort {
    let class = |selection| PortClass {
        selection,
        longest: 60.into(),
        shortest: 20.into(),
    };
    let mut classes = vec![class(TransmissionSelection::StrictPriority)];
    if shaped {
        let idle_slope = ratio(1, 2);
        classes.insert(0, class(TransmissionSelection::CreditBased { idle_slope }));
    }
    EgressPort::new(Rational::ONE, classes).unwrap()
}

/// A stream with one frame of some size in each period.
fn periodic(size: i64, period: i64, path: Vec<Step>) -> Stream {
    Stream {
        arrival: Curve::staircase(size.into(), period.into(), 4).unwrap(),
        longest: size.into(),
        shortest: size.into(),
        path,
        branch: None,
    }
}

/// A network of streams `(first port, hops, size, class)` around a ring, or along a line, of so many ports.
fn network(ports: usize, shaped: bool, streams: &[(usize, usize, i64, usize)]) -> PortNetwork {
    let streams = streams.iter().map(|(first, hops, size, class)| {
        let class = if shaped { *class } else { 0 };
        let queues = (0..*hops).map(|hop| queue((first + hop) % ports, class));
        let path = queues.flat_map(|queue| [queue, bridge()]).collect();
        periodic(*size, 400, path)
    });
    PortNetwork::new(vec![port(shaped); ports], streams.collect()).unwrap()
}

fn simulate(network: &PortNetwork, sizes: &[i64], phases: &[u32], mut state: u32) -> Seen {
    let mut choose = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % 5
    };
    let paths = network
        .streams()
        .iter()
        .map(|stream| stream.path.as_slice());
    let mut simulator = Simulator::new(network.ports(), &[], paths.collect(), &mut choose);
    for (stream, (size, phase)) in sizes.iter().zip(phases).enumerate() {
        for number in 0..6u32 {
            let time = Rational::from(400 * number) + ratio((*phase).into(), 4);
            simulator.send(stream, time, (*size).into());
        }
    }
    simulator.run();
    std::mem::take(&mut simulator.seen)
}

const PORTS: usize = 4;

fn streams() -> impl Strategy<Value = Vec<(usize, usize, i64, usize)>> {
    prop::collection::vec((0..PORTS, 1..PORTS, 20i64..=60, 0usize..2), 2..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_frame_on_a_ring_is_later_than_its_bound(streams in streams(), shaped: bool, phases in prop::collection::vec(0u32..1600, 8), seed: u32, crowded: bool) {
        let network = network(PORTS, shaped, &streams);
        let sizes: Vec<i64> = streams.iter().map(|stream| stream.2).collect();
        // Frames that come at once are worse than most other phases.
        let phases: Vec<u32> = phases.iter().map(|phase| if crowded { phase % 8 } else { *phase }).collect();
        let seen = simulate(&network, &sizes, &phases, seed);
        for line_shaping in [false, true] {
            let bounds = network.total_flow(line_shaping, &FixedPoint::default()).unwrap();
            for (stream, (longest, least)) in &seen.delays {
                let bound = &bounds.streams[*stream];
                prop_assert!(Extended::Finite(longest.clone()) <= bound.delay);
                prop_assert!(*least >= bound.best_case);
            }
            for ((port, class), delay) in &seen.queue_delays {
                let bound = &bounds.queues[*port][*class];
                prop_assert!(Extended::Finite(delay.clone()) <= bound.delay);
                prop_assert!(Extended::Finite(seen.backlogs[&(*port, *class)].clone()) <= bound.backlog);
            }
        }
    }

    /// The bounds of all analyses hold, and so does the least.
    #[test]
    fn no_frame_is_later_than_any_analysis_says(mut streams in streams(), shaped: bool, line: bool, phases in prop::collection::vec(0u32..1600, 8), seed: u32, crowded: bool) {
        if line {
            for (first, hops, ..) in &mut streams {
                *hops = (*hops).min(PORTS - *first);
            }
        }
        let network = network(PORTS, shaped, &streams);
        prop_assert!(!line || !network.is_cyclic());
        let sizes: Vec<i64> = streams.iter().map(|stream| stream.2).collect();
        let phases: Vec<u32> = phases.iter().map(|phase| if crowded { phase % 8 } else { *phase }).collect();
        let seen = simulate(&network, &sizes, &phases, seed);
        let analyses = network.analyse(&Analysis::ALL, &FixedPoint::default()).unwrap();
        for (stream, (longest, least)) in &seen.delays {
            for answer in &analyses.answers[*stream] {
                match &answer.delay {
                    Ok(delay) => prop_assert!(Extended::Finite(longest.clone()) <= *delay, "{answer:?} {longest}"),
                    Err(NotApplicable::NotFound) => {
                        let bounds = &analyses.total_flow;
                        prop_assert!(bounds.queues.iter().flatten().any(|queue| queue.delay == Extended::Infinity));
                    }
                    Err(reason) => prop_assert_eq!(reason, &NotApplicable::NotStrict),
                }
            }
            prop_assert!(Extended::Finite(longest - least) <= analyses.jitter(*stream).unwrap());
            let (_, bound) = analyses.least(*stream).unwrap();
            prop_assert!(*bound <= analyses.total_flow.streams[*stream].delay);
        }
    }

    #[test]
    fn no_bound_falls_when_a_stream_is_added(streams in streams(), shaped: bool) {
        let more = network(PORTS, shaped, &streams);
        let fewer = network(PORTS, shaped, &streams[1..]);
        // The grid is coarser after more rounds: on the same grid, a least fixed point of more streams is not lower.
        let exact = FixedPoint { grid: ratio(1, 16), rounds: 7, exact_up_to: 0 };
        let [more, fewer] = [more, fewer].map(|network| network.total_flow(false, &exact).unwrap());
        for (more, fewer) in more.streams[1..].iter().zip(&fewer.streams) {
            prop_assert!(fewer.delay <= more.delay);
            prop_assert!(fewer.jitter <= more.jitter);
        }
        for (more, fewer) in more.queues.iter().flatten().zip(fewer.queues.iter().flatten()) {
            prop_assert!(fewer.delay <= more.delay);
            prop_assert!(fewer.backlog <= more.backlog);
        }
    }
}

#[test]
fn link_shaping_never_raises_a_bound() {
    let streams = [
        (0, 3, 60, 0),
        (0, 2, 60, 0),
        (1, 3, 40, 0),
        (2, 3, 20, 0),
        (3, 3, 60, 0),
    ];
    let network = network(PORTS, false, &streams);
    assert!(network.is_cyclic());
    let [plain, shaped] =
        [false, true].map(|shaped| network.total_flow(shaped, &FixedPoint::default()).unwrap());
    for (plain, shaped) in plain.streams.iter().zip(&shaped.streams) {
        assert!(shaped.delay <= plain.delay);
        assert_ne!(shaped.delay, Extended::Infinity);
    }
}

/// Asserts that all delays of a network are infinite for lack of a fixed point, after few rounds.
fn assert_given_up(network: &PortNetwork, shaped: bool) {
    let bounds = network.total_flow(shaped, &FixedPoint::default()).unwrap();
    for queue in bounds.queues.iter().flatten() {
        assert!(
            queue.utilisation < Extended::Finite(Rational::ONE),
            "{:?}",
            queue.utilisation
        );
        let Some(Unbounded::NoFixedPoint { rounds, growth, .. }) = &queue.unbounded else {
            panic!("{:?}", queue.unbounded);
        };
        assert!(*rounds <= 32, "{rounds} rounds");
        assert!(growth.as_ref().unwrap() >= &Rational::ONE);
    }
    assert!(
        bounds
            .streams
            .iter()
            .all(|stream| stream.delay == Extended::Infinity && stream.unbounded.is_some())
    );
}

/// Rings on which the analysis finds no bound, though no port is overloaded: 4 ports with a load of 90 %, and 50 ports with a
/// load of 60 % and long ways. Growth without end is noticed early.
#[test]
fn endless_growth_in_a_circle_is_noticed_early() {
    let streams: Vec<_> = (0..PORTS)
        .flat_map(|first| [(first, 4, 60, 0), (first, 4, 30, 0)])
        .collect();
    let small = network(PORTS, false, &streams);
    assert_given_up(&small, false);
    let streams: Vec<_> = (0..50).map(|first| (first, 12, 20, 0)).collect();
    let large = network(50, false, &streams);
    assert_given_up(&large, false);
}

/// Each delay causes nine tenths of itself on the way around the ring. The delays grow for many rounds and have a fixed point.
#[test]
fn slow_growth_in_a_circle_ends_at_a_bound() {
    let streams: Vec<_> = (0..PORTS).map(|first| (first, 4, 60, 0)).collect();
    let bounds = network(PORTS, false, &streams)
        .total_flow(false, &FixedPoint::default())
        .unwrap();
    for stream in &bounds.streams {
        assert_ne!(stream.delay, Extended::Infinity);
    }
}

#[test]
fn an_overload_is_named() {
    let heavy = |path| periodic(60, 100, path);
    let network = PortNetwork::new(
        vec![port(true), port(true)],
        vec![
            heavy(vec![queue(0, 0), queue(1, 1)]),
            periodic(20, 400, vec![queue(1, 1)]),
        ],
    )
    .unwrap();
    let bounds = network.total_flow(false, &FixedPoint::default()).unwrap();
    let overload = Unbounded::Overload {
        queue: QueueId { port: 0, class: 0 },
        arrival_rate: Extended::Finite(ratio(3, 5)),
        service_rate: Extended::Finite(ratio(1, 2)),
    };
    assert_eq!(bounds.streams[0].unbounded, Some(overload.clone()));
    assert_eq!(
        bounds.queues[0][0].utilisation,
        Extended::Finite(ratio(6, 5))
    );
    // Streams behind the overload are unbounded, too, and so are those that share a queue with them.
    assert_eq!(bounds.streams[1].unbounded, Some(overload));
    assert_eq!(bounds.streams[1].delay, Extended::Infinity);
    // The link limits the output of the shaper, so that streams behind it have bounds.
    let bounds = network.total_flow(true, &FixedPoint::default()).unwrap();
    assert_ne!(bounds.streams[1].delay, Extended::Infinity);
    assert_eq!(bounds.streams[0].delay, Extended::Infinity);
}

#[test]
fn flow_queueing_is_bounded_by_the_time_until_nothing_waits() {
    let class = PortClass {
        selection: TransmissionSelection::FlowQueueing,
        longest: 60.into(),
        shortest: 20.into(),
    };
    let port = EgressPort::new(Rational::ONE, vec![class]).unwrap();
    let streams = [60, 40, 20].map(|size| periodic(size, 400, vec![queue(0, 0)]));
    let bounds = PortNetwork::new(vec![port], streams.to_vec())
        .unwrap()
        .total_flow(false, &FixedPoint::default())
        .unwrap();
    assert_eq!(bounds.queues[0][0].delay, Extended::Finite(120.into()));
}

#[test]
fn etf_removes_jitter() {
    let class = PortClass {
        selection: TransmissionSelection::EarliestTxTime { delta: 500.into() },
        longest: 60.into(),
        shortest: 60.into(),
    };
    let port = EgressPort::new(Rational::ONE, vec![class]).unwrap();
    assert_eq!(port.hold(0, &700.into()), Ok(200.into()));
    assert!(matches!(
        port.hold(0, &400.into()),
        Err(PortError::Late { .. })
    ));
    let hold = port.hold(0, &700.into()).unwrap();
    let held = Step::Delay {
        least: hold.clone(),
        most: hold,
    };
    let stream = periodic(60, 400, vec![held, queue(0, 0)]);
    let bounds = PortNetwork::new(vec![port], vec![stream])
        .unwrap()
        .total_flow(false, &FixedPoint::default())
        .unwrap();
    assert_eq!(bounds.streams[0].delay, Extended::Finite(260.into()));
    assert_eq!(bounds.streams[0].jitter, Extended::ZERO);
}

/// Two shaped classes above best effort, computed by hand: the second waits for a frame of 100 and the first class's.
#[test]
fn credit_that_would_be_cut_off_is_refused() {
    let class = |selection, longest: i64| PortClass {
        selection,
        longest: longest.into(),
        shortest: longest.into(),
    };
    let shaper = |idle_slope| TransmissionSelection::CreditBased { idle_slope };
    let classes = vec![
        class(shaper(ratio(1, 2)), 40),
        class(shaper(ratio(1, 4)), 60),
        class(TransmissionSelection::StrictPriority, 100),
    ];
    let port = EgressPort::new(Rational::ONE, classes).unwrap();
    assert_eq!(port.credit_limits(0), Some(((-20).into(), 50.into())));
    // The wait is (100 + 20) / (1 − 1/2) = 240 long.
    assert_eq!(port.credit_limits(1), Some(((-45).into(), 60.into())));
    assert_eq!(port.credit_limits(2), None);
    assert_eq!(port.check_credit(1, &(-45).into(), &60.into()), Ok(()));
    let error = |low: i64, high: i64| port.check_credit(1, &low.into(), &high.into()).unwrap_err();
    assert!(matches!(
        error(-44, 60),
        PortError::LoCredit { class: 1, .. }
    ));
    assert!(matches!(
        error(-45, 59),
        PortError::HiCredit { class: 1, .. }
    ));
}

#[test]
fn mistakes() {
    let port = port(false);
    let error = |stream| PortNetwork::new(vec![port.clone()], vec![stream]).unwrap_err();
    let of = |path| periodic(60, 400, path);
    assert_eq!(
        error(of(vec![bridge()])),
        PortNetworkError::NoQueue { stream: 0 }
    );
    let unknown = QueueId { port: 0, class: 3 };
    assert_eq!(
        error(of(vec![queue(0, 3)])),
        PortNetworkError::UnknownQueue {
            stream: 0,
            queue: unknown
        }
    );
    let backwards = Step::Delay {
        least: 3.into(),
        most: 2.into(),
    };
    assert!(matches!(
        error(of(vec![backwards])),
        PortNetworkError::Delay { .. }
    ));
    let loopback = |cycle: i64, late: i64, sending: i64| {
        let stage = LoopbackStage {
            least: 1.into(),
            most: 2.into(),
            cycle: Some(cycle.into()),
            late: late.into(),
            sending: sending.into(),
        };
        of(vec![queue(0, 0), Step::Loopback(stage), queue(0, 0)])
    };
    for (cycle, late, sending) in [(0, 0, 0), (-1, 0, 0), (1, -1, 0), (1, 0, -1)] {
        assert_eq!(
            error(loopback(cycle, late, sending)),
            PortNetworkError::Loopback { stream: 0 }
        );
    }
    assert!(PortNetwork::new(vec![port.clone()], vec![loopback(1, 0, 0)]).is_ok());
    assert!(matches!(
        error(periodic(61, 400, vec![queue(0, 0)])),
        PortNetworkError::Frames { .. }
    ));

    let fifo = port.classes()[0].clone();
    let shaper = |slope| PortClass {
        selection: TransmissionSelection::CreditBased { idle_slope: slope },
        ..fifo.clone()
    };
    let classes = |classes| EgressPort::new(Rational::ONE, classes).unwrap_err();
    let below = EgressPort::new(Rational::ONE, vec![fifo.clone(), shaper(ratio(1, 2))]).unwrap();
    assert_eq!(below.credit_limits(1), None);
    assert!(matches!(
        classes(vec![shaper(ratio(1, 2)), shaper(ratio(1, 2))]),
        PortError::IdleSlope { class: 1, .. }
    ));
    assert!(matches!(
        EgressPort::new(Rational::ZERO, Vec::new()),
        Err(PortError::LinkRate(_))
    ));

    let entry = |gates, interval: i64| GateControlEntry {
        gates,
        interval: interval.into(),
    };
    let list = |cycle: i64, entries| GateControlList::new(Rational::ZERO, cycle.into(), entries);
    assert!(matches!(
        list(100, vec![entry(1, 60)]),
        Err(GateError::Cycle { .. })
    ));
    assert!(matches!(
        list(60, vec![entry(1, 60), entry(1, 0)]),
        Err(GateError::Interval(_))
    ));
    let short = list(100, vec![entry(1, 59), entry(0, 41)]).unwrap();
    assert_eq!(
        port.clone().with_gates(short.clone()).unwrap_err(),
        PortError::Gate(GateError::WindowTooShort {
            class: 0,
            window: 59.into(),
            needed: 60.into()
        })
    );
    let enough = list(100, vec![entry(1, 60), entry(0, 40)]).unwrap();
    let guarded = enough.clone().with_guard_band(60.into()).unwrap();
    assert!(port.clone().with_gates(guarded).is_ok());
    let guarded = enough.clone().with_guard_band(61.into()).unwrap();
    assert_eq!(
        port.clone().with_gates(guarded).unwrap_err(),
        PortError::Gate(GateError::WindowTooShort {
            class: 0,
            window: 60.into(),
            needed: 61.into()
        })
    );
    assert!(matches!(
        enough.with_guard_band((-1i64).into()),
        Err(GateError::GuardBand(_))
    ));
    let shaped = EgressPort::new(Rational::ONE, vec![shaper(ratio(1, 2))]).unwrap();
    let assisted = short.with_txtime_assist(Rational::ZERO).unwrap();
    assert_eq!(
        shaped.with_gates(assisted).unwrap_err(),
        PortError::ShaperBelowTxtimes { class: 0 }
    );
}

/// A gate that is open for half of 200, frames of 40, an idleSlope of half the link's rate while it is open.
#[test]
fn credit_stands_still_while_the_gate_is_closed() {
    let class = PortClass {
        selection: TransmissionSelection::CreditBased {
            idle_slope: ratio(1, 2),
        },
        longest: 40.into(),
        shortest: 40.into(),
    };
    let entry = |gates| GateControlEntry {
        gates,
        interval: 100.into(),
    };
    let list = GateControlList::new(Rational::ZERO, 200.into(), vec![entry(1), entry(0)]).unwrap();
    let port = EgressPort::new(Rational::ONE, vec![class]).unwrap();
    let service = port.with_gates(list).unwrap().service(0, &[]).unwrap();
    let value = |curve: &Curve, time: i64| curve.value(&time.into());
    // The gate alone serves two frames in a window, from 140 on, after a frame has just not fitted. In the 60 before it 30 of
    // credit were gained, and nothing in the 100 before these. Long before it, at least a quarter of a bit per second is gained.
    assert_eq!(value(&service.minimum, 140), Extended::ZERO);
    assert_eq!(value(&service.minimum, 150), Extended::Finite(5.into()));
    assert_eq!(value(&service.minimum, 240), Extended::Finite(30.into()));
    assert_eq!(value(&service.minimum, 640), Extended::Finite(115.into()));
    // Credit is -20 at worst, and 50 at best: the gain in a window that serves nothing.
    assert_eq!(value(&service.strict, 640), Extended::Finite(80.into()));
    assert_eq!(value(&service.shaping, 100), Extended::Finite(100.into()));
    assert_eq!(value(&service.shaping, 300), Extended::Finite(170.into()));
}
