//! The round trip of a PubSub message, made of ports and delays, compared with [`LineNetwork`].

use crate::port_simulator::Simulator;
use takt_calculus::{
    Analysis, Curve, EgressPort, Extended, FixedPoint, Frame, FrameBits, LineNetwork, PortClass,
    PortNetwork, QueueId, Rational, RoundTripModel, Step, Stream, TransmissionSelection,
};

/// The line out and back: a Credit-Based Shaper above best effort at each port, the loopback in between.
fn ports(line: &LineNetwork) -> PortNetwork {
    let bits = line.frame.physical_bits();
    let idle_slope = &bits / &line.cycle * (Rational::ONE + &line.provisioning);
    let best_effort = Frame::LONGEST.physical_bits();
    let classes = vec![
        PortClass {
            selection: TransmissionSelection::CreditBased { idle_slope },
            longest: bits.clone(),
            shortest: bits.clone(),
        },
        PortClass {
            selection: TransmissionSelection::StrictPriority,
            longest: best_effort.clone(),
            shortest: 704.into(),
        },
    ];
    let port = EgressPort::new(line.link_rate.clone(), classes).unwrap();
    let hops = line.hops as usize;
    let mut path = Vec::new();
    for port in 0..2 * hops {
        if port == hops {
            let most = line.loopback_delay();
            let least = &most - &line.cycle;
            path.push(Step::Delay { least, most });
        }
        path.push(Step::Queue(QueueId { port, class: 0 }));
        path.push(Step::Delay {
            least: Rational::ZERO,
            most: line.forwarding_delay.clone(),
        });
    }
    let stream = Stream {
        arrival: Curve::leaky_bucket(bits.clone(), &bits / &line.cycle).unwrap(),
        longest: bits.clone(),
        shortest: bits,
        path,
        branch: None,
    };
    // Best effort at each port, which is never idle for long.
    let best_effort = (0..2 * hops).map(|port| Stream {
        arrival: Curve::leaky_bucket(best_effort.clone(), 600_000_000.into()).unwrap(),
        longest: best_effort.clone(),
        shortest: best_effort.clone(),
        path: vec![Step::Queue(QueueId { port, class: 1 })],
        branch: None,
    });
    let streams = std::iter::once(stream).chain(best_effort).collect();
    PortNetwork::new(vec![port; 2 * hops], streams).unwrap()
}

fn line(hops: u32, repeated_node_count: u32, percent: i64) -> LineNetwork {
    LineNetwork {
        lower_priority: Some(Frame::LONGEST),
        forwarding_delay: Rational::from_parts(5.into(), 1_000_000u32.into()),
        provisioning: Rational::from_parts(percent.into(), 100u32.into()),
        ..LineNetwork::new(
            hops,
            Frame::of_repeated_node_count(repeated_node_count).unwrap(),
            RoundTripModel::SOUND,
        )
    }
}

fn microseconds(delay: &Extended) -> u64 {
    let micro = delay.finite().unwrap() * Rational::from(1_000_000);
    u64::try_from(micro.trunc()).unwrap()
}

#[test]
fn bounds_are_not_above_those_of_the_line() {
    for (hops, count, percent) in [(1, 2, 0), (3, 32, 0), (7, 2, 0), (7, 160, 3)] {
        let line = line(hops, count, percent);
        let expected = line.round_trip().unwrap().delay;
        let analyses = ports(&line)
            .analyse(&Analysis::ALL, &FixedPoint::default())
            .unwrap();
        let (_, least) = analyses.least(0).unwrap();
        assert!(analyses.total_flow.streams[0].delay <= expected);
        assert!(*least <= expected);
        // No delay is shorter than the best case.
        assert!(*least >= Extended::Finite(analyses.total_flow.streams[0].best_case.clone()));
    }
}

/// The numbers of `docs/bounds.md` for 59 B, one and seven hops.
#[test]
fn a_burst_is_paid_for_once() {
    let found = [1, 7].map(|hops| {
        let analyses = ports(&line(hops, 2, 0))
            .analyse(&Analysis::ALL, &FixedPoint::default())
            .unwrap();
        let of = |analysis| {
            let answer = analyses.answers[0]
                .iter()
                .find(|answer| answer.analysis == analysis);
            microseconds(answer.unwrap().delay.as_ref().unwrap())
        };
        [
            Analysis::TotalFlowShaped,
            Analysis::SeparateFlow,
            Analysis::PolynomialLinearProgram,
        ]
        .map(of)
    });
    assert_eq!(found, [[878, 611, 860], [1304, 829, 1078]]);
}

#[test]
fn less_than_a_frame_per_cycle_is_infinite() {
    let analyses = ports(&line(2, 32, -3))
        .analyse(&Analysis::ALL, &FixedPoint::default())
        .unwrap();
    assert_eq!(analyses.least(0).unwrap().1, &Extended::Infinity);
    assert!(analyses.total_flow.streams[0].unbounded.is_some());
}

/// Messages sent one by one, with delays chosen at will and interfering best effort: none is later than the least bound, and some
/// are nearly as late.
#[test]
fn messages_one_by_one_are_not_later() {
    for (hops, count, most) in [(1u32, 2, 1.05), (4, 160, 1.3)] {
        let line = line(hops, count, 0);
        let network = ports(&line);
        let analyses = network
            .analyse(&Analysis::ALL, &FixedPoint::default())
            .unwrap();
        let least = analyses.least(0).unwrap().1.finite().unwrap();
        let mut worst = Rational::ZERO;
        for seed in 0..12u32 {
            let mut state = seed;
            // All that is possible first, then nothing or random parts.
            let mut choose = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                match seed % 3 {
                    0 => 4,
                    1 => (state >> 16) % 5,
                    _ => 4 * ((state >> 20) % 2),
                }
            };
            let paths = network
                .streams()
                .iter()
                .map(|stream| stream.path.as_slice());
            let mut simulator = Simulator::new(network.ports(), &[], paths.collect(), &mut choose);
            // The first message comes just behind a frame of best effort, which has the link then.
            let little = Rational::from_parts(1.into(), 10_000_000_000u64.into());
            for message in 0..12u32 {
                simulator.send(
                    0,
                    &line.cycle * Rational::from(message) + &little,
                    line.frame.physical_bits(),
                );
            }
            let bits = Frame::LONGEST.physical_bits();
            let gap = &bits / Rational::from(600_000_000u32);
            for stream in 1..network.streams().len() {
                for frame in 0..200u32 {
                    simulator.send(stream, &gap * Rational::from(frame), bits.clone());
                }
            }
            simulator.run();
            worst = worst.max(simulator.seen.delays[&0].0.clone());
        }
        assert!(worst <= *least, "{hops} hops: {worst}");
        let factor = (least / &worst).to_f64().value();
        assert!(factor < most, "{hops} hops: {factor}");
    }
}
