//! Staircases without end, in the models of the bounds.

use proptest::prelude::*;
use takt_calculus::{
    Analysis, CreditBasedShaper, Curve, EgressPort, Extended, FixedPoint, Frame, FrameBits,
    GateControlEntry, GateControlList, PeriodicCurve, PortClass, PortNetwork, QueueId, Rational,
    Step, Stream, TransmissionSelection,
};

fn per_second(rate: u64) -> Rational {
    Rational::from(rate)
}

/// One frame per cycle of 250 µs is shaped by the link of 1 Gbit/s, at a Credit-Based Shaper whose idleSlope is exactly the rate
/// of the arrivals. The delay is always M/R − M/C, though the backlog of each cycle has only just been served when the next frame
/// comes. With any lower idleSlope the delay is infinite.
#[test]
fn a_shaper_without_a_bit_to_spare() {
    let cycle = Rational::ONE / Rational::from(4_000);
    let link = per_second(1_000_000_000);
    for nodes in [2, 40, 160] {
        let frame = Frame::of_repeated_node_count(nodes).unwrap();
        let longest = frame.physical_bits();
        let stairs = PeriodicCurve::staircase(longest.clone(), cycle.clone()).unwrap();
        let line = Curve::rate_latency(link.clone(), Rational::ZERO).unwrap();
        let arrival = stairs
            .minimum(&line.into())
            .unwrap()
            .sub_additive_closure()
            .unwrap();
        let slope = &longest / &cycle;
        let delay = |idle_slope: Rational| {
            let shaper =
                CreditBasedShaper::new(idle_slope, link.clone(), longest.clone(), Rational::ZERO)
                    .unwrap();
            let service = PeriodicCurve::from(shaper.minimum_service().unwrap());
            arrival.horizontal_deviation(&service).unwrap()
        };
        let expected = &longest / &slope - &longest / &link;
        assert_eq!(delay(slope.clone()), Extended::Finite(expected));
        assert_eq!(delay(slope - Rational::ONE), Extended::Infinity);
    }
}

/// Three publishers with cycles of 1, 2 and 5 ms at a port of 10 Mbit/s: the sum of the staircases repeats itself every 10 ms,
/// and a line above it has a longer delay.
#[test]
fn stairs_are_less_than_lines() {
    let millisecond = Rational::ONE / Rational::from(1_000);
    let flows = [(1, 4_000), (2, 6_000), (5, 12_000)];
    let mut stairs = PeriodicCurve::from(Curve::zero());
    let mut lines = Curve::zero();
    for (cycle, bits) in flows {
        let (cycle, bits) = (&millisecond * Rational::from(cycle), Rational::from(bits));
        // Each message may be early by up to half a cycle.
        let jitter = &cycle / Rational::from(2);
        let one = PeriodicCurve::staircase(bits.clone(), cycle.clone()).unwrap();
        let one = one.advanced(&jitter).unwrap();
        lines = lines.sum(&one.line_above(&Rational::ZERO).unwrap());
        stairs = stairs.sum(&one).unwrap();
    }
    assert_eq!(
        stairs.repetition().unwrap().period,
        &millisecond * Rational::from(10)
    );
    let service = Curve::rate_latency(per_second(10_000_000), millisecond.clone()).unwrap();
    let exact = stairs
        .horizontal_deviation(&service.clone().into())
        .unwrap();
    let above = lines.horizontal_deviation(&service);
    // With staircases, the longest delay is that of the arrivals at 3 ms: 58 kbit have come until then. With lines, it is that of
    // the arrivals at once: 33 kbit.
    let tenths =
        |number: u32| Extended::Finite(&millisecond * Rational::from(number) / Rational::from(10));
    assert_eq!(exact, tenths(38));
    assert_eq!(above, tenths(43));
    // The output has a bound without a line as well.
    let left = stairs.deconvolution(&service.clone().into()).unwrap();
    let next = left.horizontal_deviation(&service.clone().into()).unwrap();
    let line = lines.deconvolution(&service).horizontal_deviation(&service);
    assert!(next < line && next > exact);
}

/// Discipline of the ports of a network.
#[derive(Debug, Clone, Copy)]
enum Discipline {
    Priorities,
    Shapers,
    Gates,
    FlowQueueing,
    FairQueueing,
}

/// A port of rate 1 with two classes of frames of 20 to 60 bit.
fn port(discipline: Discipline) -> EgressPort {
    let class = |selection| PortClass {
        selection,
        longest: 60.into(),
        shortest: 20.into(),
    };
    let third = || TransmissionSelection::CreditBased {
        idle_slope: Rational::ONE / Rational::from(3),
    };
    let [high, low] = match discipline {
        Discipline::Shapers => [third(), third()],
        Discipline::FlowQueueing => [
            TransmissionSelection::StrictPriority,
            TransmissionSelection::FlowQueueing,
        ],
        Discipline::FairQueueing => [
            TransmissionSelection::StrictPriority,
            TransmissionSelection::FairQueueing {
                quantum: 50.into(),
                driver_queue: Some(1),
                uncounted: 2.into(),
                tag: 1.into(),
            },
        ],
        _ => [
            TransmissionSelection::StrictPriority,
            TransmissionSelection::StrictPriority,
        ],
    };
    let port = EgressPort::new(Rational::ONE, vec![class(high), class(low)]).unwrap();
    if !matches!(discipline, Discipline::Gates) {
        return port;
    }
    let entries = [(1, 150), (2, 150), (3, 100)];
    let entries = entries.map(|(gates, interval)| GateControlEntry {
        gates,
        interval: interval.into(),
    });
    let gates = GateControlList::new(Rational::ZERO, 400.into(), entries.to_vec()).unwrap();
    port.with_gates(gates).unwrap()
}

/// A stream's first port, hops, class, frame, cycle, and the lateness of its talker.
type Talker = (usize, usize, usize, u32, u32, u32);

/// A network around a ring of three ports, or along a line.
fn network(
    discipline: Discipline,
    ring: bool,
    talkers: &[Talker],
    arrival: fn(Rational, Rational) -> Curve,
) -> PortNetwork {
    const PORTS: usize = 3;
    let streams = talkers
        .iter()
        .map(|(first, hops, class, frame, cycle, late)| {
            let delay = |most: u32| Step::Delay {
                least: Rational::ZERO,
                most: most.into(),
            };
            let mut path = vec![delay(*late)];
            for port in (*first..first + hops).filter(|port| ring || *port < PORTS) {
                let port = port % PORTS;
                path.extend([
                    Step::Queue(QueueId {
                        port,
                        class: *class,
                    }),
                    delay(10),
                ]);
            }
            Stream {
                arrival: arrival((*frame).into(), (*cycle).into()),
                longest: (*frame).into(),
                shortest: (*frame).into(),
                path,
                branch: None,
            }
        });
    PortNetwork::new(vec![port(discipline); PORTS], streams.collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Frames sent one by one are fewer than a leaky bucket permits, and no analysis has a higher bound for them.
    #[test]
    fn steps_are_never_worse(
        discipline in prop::sample::select(vec![Discipline::Priorities, Discipline::Shapers, Discipline::Gates, Discipline::FlowQueueing, Discipline::FairQueueing]),
        ring in prop::bool::weighted(0.3),
        talkers in prop::collection::vec((0usize..3, 1usize..=3, 0usize..2, 20u32..=60, 400u32..900, 0u32..1200), 2..6),
    ) {
        let steps = network(discipline, ring, &talkers, |frame, cycle| Curve::staircase(frame, cycle, 4).unwrap());
        let bucket = network(discipline, ring, &talkers, |frame, cycle| Curve::leaky_bucket(frame.clone(), frame / cycle).unwrap());
        let [steps, bucket] = [steps, bucket].map(|network| network.analyse(&Analysis::ALL, &FixedPoint::default()).unwrap());
        for (steps, bucket) in steps.answers.iter().flatten().zip(bucket.answers.iter().flatten()) {
            match (&steps.delay, &bucket.delay) {
                (Ok(steps_delay), Ok(delay)) => prop_assert!(steps_delay <= delay, "{:?}", steps.analysis),
                (_, Err(_)) => {}
                (Err(why), Ok(delay)) => prop_assert!(false, "{}: {:?} {:?}", why, steps.analysis, delay),
            }
        }
        for (steps, bucket) in steps.total_flow.queues.iter().flatten().zip(bucket.total_flow.queues.iter().flatten()) {
            prop_assert!(steps.delay <= bucket.delay && steps.backlog <= bucket.backlog);
        }
    }
}
