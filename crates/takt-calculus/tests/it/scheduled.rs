//! Talkers that know the gates, with frames sent one by one: no frame is later than the bound for its windows, which is far less
//! than the bound for windows at their worst phase.

use crate::port_simulator::{Gates, Seen, Simulator};
use proptest::prelude::*;
use takt_calculus::{
    Curve, EgressPort, Extended, FixedPoint, GateControlEntry, GateControlList, NotScheduled,
    PortClass, PortNetwork, QueueId, Rational, ReleaseTimes, Scheduled, Step, Stream,
    TransmissionSelection,
};

const CYCLE: i64 = 1000;
const PORTS: usize = 3;

/// Makes ports whose first class has windows of `open` from `base` and a later one, each port's later by `shift`. No frame begins
/// in the guard bands.
fn ports(open: i64, again: i64, shift: i64, guard_band: i64) -> (Vec<EgressPort>, Vec<Gates>) {
    let entries = [
        (1, open),
        (2, 200),
        (1, again),
        (2, CYCLE - 200 - open - again),
    ];
    let list = entries.map(|(gates, interval)| GateControlEntry {
        gates,
        interval: interval.into(),
    });
    let ports = (0..PORTS as i64).map(|number| {
        let list = GateControlList::new(Rational::ZERO, CYCLE.into(), list.to_vec()).unwrap();
        let list = list.with_guard_band(guard_band.into()).unwrap();
        let class = PortClass {
            selection: TransmissionSelection::StrictPriority,
            longest: 60.into(),
            shortest: 20.into(),
        };
        let port = EgressPort::new(Rational::ONE, vec![class.clone(), class]).unwrap();
        let gated = port
            .with_gates(list.shifted(&port_shift(number, shift).into()))
            .unwrap();
        let base = port_shift(number, shift);
        let window = |start: i64, end: i64| ((base + start).into(), (base + end).into());
        let windows = vec![
            vec![window(0, open), window(open + 200, open + 200 + again)],
            vec![window(open, open + 200), window(open + 200 + again, CYCLE)],
        ];
        (
            gated,
            Gates {
                cycle: CYCLE.into(),
                guard_band: guard_band.into(),
                windows,
            },
        )
    });
    ports.unzip()
}

fn port_shift(port: i64, shift: i64) -> i64 {
    (port * shift) % CYCLE
}

/// A stream from `(first port, hops, size)`.
fn stream((first, hops, size): (usize, usize, i64), class: usize) -> Stream {
    let queues =
        (first..(first + hops).min(PORTS)).map(|port| Step::Queue(QueueId { port, class }));
    let bridge = || Step::Delay {
        least: 3.into(),
        most: 9.into(),
    };
    Stream {
        arrival: Curve::leaky_bucket(
            (2 * size).into(),
            Rational::from(size) / Rational::from(CYCLE),
        )
        .unwrap(),
        longest: size.into(),
        shortest: size.into(),
        path: queues.flat_map(|queue| [queue, bridge()]).collect(),
        branch: None,
    }
}

fn simulate(
    network: &PortNetwork,
    gates: &[Gates],
    releases: &[ReleaseTimes],
    error: i64,
    mut state: u32,
) -> Seen {
    // In a third of the cases, everything is as late as possible.
    let all = state.is_multiple_of(3);
    let mut choose = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if all { 4 } else { (state >> 16) % 5 }
    };
    let mut jitters = Vec::new();
    for _ in 0..5 * releases.len() {
        jitters.push(Rational::from(choose()) / Rational::from(4));
    }
    // Each port's clock is off by its own part of the error.
    let gates = gates.iter().map(|gates| {
        let off =
            Rational::from(error) * (Rational::from(choose()) / Rational::from(2) - Rational::ONE);
        let shifted = |windows: &Vec<(Rational, Rational)>| {
            windows
                .iter()
                .map(|(start, end)| (start + &off, end + &off))
                .collect()
        };
        Gates {
            cycle: gates.cycle.clone(),
            guard_band: gates.guard_band.clone(),
            windows: gates.windows.iter().map(shifted).collect(),
        }
    });
    let gates: Vec<Gates> = gates.collect();
    let paths = network
        .streams()
        .iter()
        .map(|stream| stream.path.as_slice());
    let mut simulator = Simulator::new(network.ports(), &gates, paths.collect(), &mut choose);
    for (stream, release) in releases.iter().enumerate() {
        for cycle in 1..5i64 {
            let jitter = &release.jitter * &jitters[5 * stream + cycle as usize];
            let time = Rational::from(CYCLE * cycle) + &release.offset + jitter;
            simulator.send(stream, time, network.streams()[stream].longest.clone());
        }
    }
    simulator.run();
    std::mem::take(&mut simulator.seen)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn no_frame_is_later_than_its_windows_say(
        parts in prop::collection::vec(((0..PORTS, 1..=PORTS, 20i64..=60), 0i64..CYCLE, 0i64..60), 1..5),
        (open, again, shift) in (60i64..250, 60i64..250, 0i64..300),
        error in 0i64..4,
        guard_band in prop_oneof![Just(0i64), 1i64..110],
        one_size: bool,
        seed: u32,
    ) {
        prop_assume!(open.max(again) >= guard_band);
        let (ports, gates) = ports(open, again, shift, guard_band);
        let streams = parts.iter().map(|((first, hops, size), ..)| stream((*first, *hops, if one_size { 40 } else { *size }), 0));
        let network = PortNetwork::new(ports, streams.collect()).unwrap();
        let releases: Vec<ReleaseTimes> = parts.iter().map(|(_, offset, jitter)| ReleaseTimes { offset: (*offset).into(), jitter: (*jitter).into() }).collect();
        let scheduled = network.scheduled(&releases.iter().cloned().map(Some).collect::<Vec<_>>(), &error.into());
        let seen = simulate(&network, &gates, &releases, error, seed);
        for (stream, (longest, _)) in &seen.delays {
            match &scheduled[*stream] {
                Ok(bound) => {
                    // A bound counts from the offset, an observed delay from the release.
                    prop_assert!(*longest <= bound.delay, "{longest} > {}", bound.delay);
                    prop_assert!(bound.jitter <= bound.delay.clone() + Rational::from(error));
                }
                Err(reason) => prop_assert!(matches!(reason, NotScheduled::Full(_) | NotScheduled::Unknown { .. }), "{reason:?}"),
            }
        }
    }
}

#[test]
fn shifted_windows_forward_a_frame_at_each_hop() {
    let (ports, gates) = ports(150, 60, 52, 0);
    let network = PortNetwork::new(ports, vec![stream((0, 3, 40), 0)]).unwrap();
    let release = ReleaseTimes {
        offset: 0.into(),
        jitter: 10.into(),
    };
    let found = network.scheduled(&[Some(release.clone())], &1.into())[0]
        .clone()
        .unwrap();
    // The last bit is sent at 52, 103 and 154 by the ports' clocks, which are late by 1 at most; then the last bridge follows.
    let expected = Scheduled {
        delay: 164.into(),
        jitter: 18.into(),
    };
    assert_eq!(found, expected);
    let any_phase = network.total_flow(true, &FixedPoint::default()).unwrap();
    assert!(any_phase.streams[0].delay > Extended::Finite(1500.into()));
    let worst = (0..30)
        .map(|seed| {
            simulate(&network, &gates, std::slice::from_ref(&release), 1, seed).delays[&0]
                .0
                .clone()
        })
        .max()
        .unwrap();
    assert!(worst <= found.delay && worst > Rational::from(140));
}

#[test]
fn unknown_release_times_are_reported() {
    let (ports, _) = ports(100, 60, 0, 0);
    let network = PortNetwork::new(
        ports.clone(),
        vec![stream((0, 2, 40), 0), stream((1, 1, 40), 0)],
    )
    .unwrap();
    let release = Some(ReleaseTimes {
        offset: 0.into(),
        jitter: 0.into(),
    });
    let unknown = NotScheduled::Unknown {
        queue: QueueId { port: 1, class: 0 },
        stream: 1,
    };
    let found = network.scheduled(&[release.clone(), None], &Rational::ZERO);
    assert_eq!(found, [Err(unknown.clone()), Err(unknown)]);
    // Four frames are more than the windows of a cycle hold.
    let network = PortNetwork::new(ports, vec![stream((0, 1, 60), 0); 4]).unwrap();
    let found = network.scheduled(&vec![release; 4], &Rational::ZERO);
    assert_eq!(
        found[0],
        Err(NotScheduled::Full(QueueId { port: 0, class: 0 }))
    );
}
