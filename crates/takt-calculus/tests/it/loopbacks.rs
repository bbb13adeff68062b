//! Loopbacks: frames of other streams may pass a frame there, and frames that come regularly leave regularly.

use crate::port_simulator::Simulator;
use proptest::prelude::*;
use takt_calculus::{
    Analysis, Curve, EgressPort, Extended, FixedPoint, LoopbackStage, PortClass, PortNetwork,
    QueueId, Rational, Step, Stream, TransmissionSelection,
};

fn queue(port: usize) -> Step {
    Step::Queue(QueueId { port, class: 0 })
}

/// A FIFO queue at a link of rate 1.
fn port(longest: i64) -> EgressPort {
    let class = PortClass {
        selection: TransmissionSelection::StrictPriority,
        longest: longest.into(),
        shortest: 10.into(),
    };
    EgressPort::new(Rational::ONE, vec![class]).unwrap()
}

/// A stream of frames of 10 bits.
fn stream(arrival: Curve, path: Vec<Step>) -> Stream {
    Stream {
        arrival,
        longest: 10.into(),
        shortest: 10.into(),
        path,
        branch: None,
    }
}

fn bucket(burst: i64, numerator: i64, denominator: u32) -> Curve {
    let rate = Rational::from_parts(numerator.into(), denominator.into());
    Curve::leaky_bucket(burst.into(), rate).unwrap()
}

/// Returns the times at which frames of 10 bits that come at these times have left a link of rate 1, in the same order.
fn sent(come: &[i64]) -> Vec<i64> {
    let mut free = 0;
    let sent = come.iter().map(|come| {
        free = free.max(*come) + 10;
        free
    });
    sent.collect()
}

/// One frame of the first stream waits 400 in its application. The frames that the second stream sends meanwhile, one in each
/// 40, wait shorter and shorter in theirs: ten of them come together to the second link, right before the first frame.
#[test]
fn frames_of_other_streams_pass_a_frame_in_its_loopback() {
    let loopback = Step::Loopback(LoopbackStage {
        least: Rational::ZERO,
        most: 400.into(),
        cycle: None,
        late: Rational::ZERO,
        sending: Rational::ZERO,
    });
    let path = vec![queue(0), loopback, queue(1)];
    let streams = vec![
        stream(bucket(10, 1, 1_000_000), path.clone()),
        stream(bucket(10, 10, 40), path),
    ];
    let network = PortNetwork::new(vec![port(10); 2], streams).unwrap();

    let come: Vec<i64> = std::iter::once(0)
        .chain((0..10).map(|frame| 1 + 40 * frame))
        .collect();
    let left = sent(&come);
    let sent_again = left[0] + 400;
    assert!(
        left.iter()
            .all(|left| (0..=400).contains(&(sent_again - left)))
    );
    let delay = sent(&[sent_again; 11]).last().copied().unwrap();
    assert_eq!(delay, 520);

    let analyses = network
        .analyse(&Analysis::ALL, &FixedPoint::default())
        .unwrap();
    for answer in &analyses.answers[0] {
        if let Ok(bound) = &answer.delay {
            assert!(
                *bound >= Extended::Finite(delay.into()),
                "{:?}: {bound:?}",
                answer.analysis
            );
        }
    }
    // The programme still has an answer.
    let programme = analyses.answers[0]
        .iter()
        .find(|answer| answer.analysis == Analysis::PolynomialLinearProgram);
    assert!(programme.unwrap().delay.is_ok());
}

/// Ten frames of each stream pass the first link one after the other, and come to the second one together: those that were sent
/// 1000 earlier wait 1000 longer between the links. Behind each way the link's limit holds, for both together it does not.
#[test]
fn a_link_limits_frames_that_take_one_way_behind_it() {
    let between = |delay: i64| Step::Delay {
        least: delay.into(),
        most: delay.into(),
    };
    let path = |delay| vec![queue(0), between(delay), queue(1)];
    let streams = vec![
        stream(bucket(100, 1, 1000), path(1000)),
        stream(bucket(100, 1, 1000), path(0)),
    ];
    let network = PortNetwork::new(vec![port(10); 2], streams).unwrap();
    let come = |from: i64| vec![from; 10];
    let first = sent(&[come(0), come(1000)].concat());
    let mut second: Vec<i64> = first[..10].iter().map(|left| left + 1000).collect();
    second.extend(&first[10..]);
    second.sort_unstable();
    let left = sent(&second);
    let longest = left.iter().zip(&second).map(|(left, come)| left - come);
    let longest = longest.max().unwrap();
    assert_eq!(longest, 110);
    let bounds = network.total_flow(true, &FixedPoint::default()).unwrap();
    assert!(bounds.queues[1][0].delay >= Extended::Finite(longest.into()));
}

/// A stream with a frame in each 100 out and back, alone: no frame ever waits, whatever its phase. Where one way varies, two
/// frames come back together.
#[test]
fn frames_that_come_regularly_come_back_regularly() {
    let back = |varies: i64, cycle: Option<i64>| {
        let loopback = Step::Loopback(LoopbackStage {
            least: 70.into(),
            most: 170.into(),
            cycle: cycle.map(Rational::from),
            late: Rational::ZERO,
            sending: Rational::ZERO,
        });
        let cable = Step::Delay {
            least: 1.into(),
            most: (1 + varies).into(),
        };
        let path = vec![queue(0), cable, loopback, queue(1)];
        let arrival = Curve::staircase(10.into(), 100.into(), 4).unwrap();
        let network = PortNetwork::new(vec![port(10); 2], vec![stream(arrival, path)]).unwrap();
        let analyses = network
            .analyse(&[Analysis::TotalFlowShaped], &FixedPoint::default())
            .unwrap();
        analyses.ways[0].clone()
    };
    let finite = |values: [i64; 2]| values.map(|value| Extended::Finite(value.into())).to_vec();
    assert_eq!(back(0, Some(100)), finite([11, 10]));
    assert_eq!(back(1, Some(100)), finite([12, 20]));
    assert_eq!(back(0, None), finite([11, 20]));
    // More than a cycle of variation brings a third frame.
    assert_eq!(back(100, Some(100)), finite([111, 20]));
    assert_eq!(back(101, Some(100)), finite([112, 30]));
}

/// Out and back over the same two links in each direction, with a loopback at the far end.
fn round_trip(hops: usize, bridge: i64, loopback: LoopbackStage) -> Vec<Step> {
    let bridge = || Step::Delay {
        least: 1.into(),
        most: (1 + bridge).into(),
    };
    let way = |ports: std::ops::Range<usize>| ports.flat_map(|port| [queue(port), bridge()]);
    let mut path: Vec<Step> = way(2 - hops..2).collect();
    path.push(Step::Loopback(loopback));
    path.extend(way(2..2 + hops));
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Round trips of several applications, with and without a common cycle, late threads, and any phases.
    #[test]
    fn no_frame_is_later_than_its_bound(
        streams in prop::collection::vec((1usize..=2, 10i64..=40, prop::bool::ANY, 0i64..3, 0i64..3), 1..5),
        bridge in prop_oneof![Just(0i64), 0i64..30],
        phases in prop::collection::vec((0i64..400, 0i64..400), 5),
        mut state: u32,
    ) {
        let cycles = 12i64;
        let made = streams.iter().map(|(hops, size, in_step, late, sending)| {
            let (late, sending) = (10 * late, 15 * sending);
            let loopback = LoopbackStage {
                least: (100 - late).into(),
                most: (100 + 400 + sending).into(),
                cycle: in_step.then(|| 400.into()),
                late: late.into(),
                sending: sending.into(),
            };
            Stream {
                arrival: Curve::staircase((*size).into(), 400.into(), 4).unwrap(),
                longest: (*size).into(),
                shortest: (*size).into(),
                path: round_trip(*hops, bridge, loopback),
                branch: None,
            }
        });
        let network = PortNetwork::new(vec![port(40); 4], made.collect()).unwrap();
        let mut choose = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % 5
        };
        let paths = network.streams().iter().map(|stream| stream.path.as_slice());
        let mut simulator = Simulator::new(network.ports(), &[], paths.collect(), &mut choose);
        for (stream, (_, size, ..)) in streams.iter().enumerate() {
            let (talker, loopback) = phases[stream];
            simulator.phases.insert(stream, loopback.into());
            for cycle in 0..cycles {
                simulator.send(stream, (talker + 400 * cycle).into(), (*size).into());
            }
        }
        simulator.run();
        let analyses = network.analyse(&Analysis::ALL, &FixedPoint::default()).unwrap();
        for (stream, (longest, least)) in &simulator.seen.delays {
            for answer in &analyses.answers[*stream] {
                if let Ok(bound) = &answer.delay {
                    prop_assert!(Extended::Finite(longest.clone()) <= *bound, "{:?}", answer);
                }
            }
            prop_assert!(Extended::Finite(longest.clone()) <= analyses.from_queue[*stream]);
            prop_assert!(*least >= analyses.total_flow.streams[*stream].best_case);
        }
        for ((port, class), delay) in &simulator.seen.queue_delays {
            let bound = &analyses.total_flow.queues[*port][*class];
            prop_assert!(Extended::Finite(delay.clone()) <= bound.delay);
        }
    }
}
