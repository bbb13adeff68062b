//! Frames that pass ports one by one, with traffic chosen at will: no frame is later than its bound, every curve holds, and the
//! bounds are near the delays that an adversary finds.

use crate::port_simulator::{Gates, Seen, Simulator};
use proptest::prelude::*;
use takt_calculus::{
    Curve, EgressPort, Extended, FixedPoint, GateControlEntry, GateControlList, PortBounds,
    PortClass, PortNetwork, QueueId, Rational, Step, Stream, TransmissionSelection,
};

fn ratio(numerator: i64, denominator: u32) -> Rational {
    Rational::from_parts(numerator.into(), denominator.into())
}

fn class(selection: TransmissionSelection, shortest: i64, longest: i64) -> PortClass {
    PortClass {
        selection,
        longest: longest.into(),
        shortest: shortest.into(),
    }
}

fn credit_based(idle_slope: Rational) -> TransmissionSelection {
    TransmissionSelection::CreditBased { idle_slope }
}

fn queue(port: usize, class: usize) -> Step {
    Step::Queue(QueueId { port, class })
}

/// A stream of a token bucket, and the behaviour of its talker.
#[derive(Clone, Debug)]
struct Talker {
    burst: Rational,
    rate: Rational,
    sizes: Vec<i64>,
    /// Pauses before the frames, besides the required ones.
    pauses: Vec<Rational>,
}

impl Talker {
    fn stream(&self, path: Vec<Step>) -> Stream {
        Stream {
            arrival: Curve::leaky_bucket(self.burst.clone(), self.rate.clone()).unwrap(),
            longest: (*self.sizes.iter().max().unwrap()).into(),
            shortest: (*self.sizes.iter().min().unwrap()).into(),
            path,
            branch: None,
        }
    }

    /// Returns the times and sizes of frames: never more than the bucket permits.
    fn frames(&self) -> Vec<(Rational, Rational)> {
        let (mut tokens, mut time) = (self.burst.clone(), Rational::ZERO);
        let mut frames = Vec::new();
        for (size, pause) in self.sizes.iter().zip(&self.pauses) {
            let size = Rational::from(*size);
            let wait = if tokens < size {
                (&size - &tokens) / &self.rate
            } else {
                Rational::ZERO
            };
            let wait = wait + pause;
            tokens = (tokens + &self.rate * &wait).min(self.burst.clone()) - &size;
            time += wait;
            frames.push((time.clone(), size));
        }
        frames
    }
}

fn simulate(network: &PortNetwork, gates: &[Gates], talkers: &[Talker], choice: u32) -> Seen {
    let mut state = choice;
    let mut choose = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // With 0, all delays are as long as possible.
        if choice == 0 { 4 } else { (state >> 16) % 5 }
    };
    let paths = network
        .streams()
        .iter()
        .map(|stream| stream.path.as_slice());
    let mut simulator = Simulator::new(network.ports(), gates, paths.collect(), &mut choose);
    for (stream, talker) in talkers.iter().enumerate() {
        for (time, size) in talker.frames() {
            simulator.send(stream, time, size);
        }
    }
    simulator.run();
    std::mem::take(&mut simulator.seen)
}

/// Checks that all observations are within the bounds.
fn check(bounds: &PortBounds, network: &PortNetwork, seen: &Seen) -> Result<(), TestCaseError> {
    for (stream, (longest, least)) in &seen.delays {
        let bound = &bounds.streams[*stream];
        prop_assert!(
            Extended::Finite(longest.clone()) <= bound.delay,
            "stream {stream}: {longest} > {:?}",
            bound.delay
        );
        prop_assert!(*least >= bound.best_case);
        prop_assert!(Extended::Finite(longest - least) <= bound.jitter);
    }
    for ((port, class), delay) in &seen.queue_delays {
        let bound = &bounds.queues[*port][*class];
        prop_assert!(
            Extended::Finite(delay.clone()) <= bound.delay,
            "port {port} class {class}: {delay} > {:?}",
            bound.delay
        );
        prop_assert!(
            Extended::Finite(seen.backlogs[&(*port, *class)].clone()) <= bound.backlog,
            "backlog of port {port} class {class}"
        );
    }
    for ((port, class), passed) in &seen.passed {
        // While frames wait without a pause, at least the strict service is sent. Checked is the least from a frame's end, or the
        // first arrival, to the beginning of another frame.
        let strict = &bounds.queues[*port][*class].service.strict;
        for first in 0..passed.len() {
            let waited = first > 0 && passed[first].arrived <= passed[first - 1].done;
            let since = if waited {
                &passed[first - 1].done
            } else {
                &passed[first].arrived
            };
            let mut bits = Rational::ZERO;
            for (index, frame) in passed.iter().enumerate().skip(first) {
                if index > first && frame.arrived > passed[index - 1].done {
                    break;
                }
                let promised = strict.value(&(&frame.begun - since));
                prop_assert!(
                    promised <= Extended::Finite(bits.clone()),
                    "port {port} class {class} sends {bits} instead of {promised:?}"
                );
                bits += &frame.size;
            }
        }
    }
    for ((port, class), sent) in &seen.sent {
        let shaping = &bounds.queues[*port][*class].service.shaping;
        let rate = network.ports()[*port].link_rate();
        for (first, (start, _)) in sent.iter().enumerate() {
            let mut bits = Rational::ZERO;
            for (begin, size) in &sent[first..] {
                bits += size;
                let interval = begin + size / rate - start;
                prop_assert!(
                    Extended::Finite(bits.clone()) <= shaping.value(&interval),
                    "port {port} class {class} sends too much"
                );
            }
        }
    }
    Ok(())
}

fn talker(
    least: i64,
    most: i64,
    burst: i64,
    rate: Rational,
    frames: usize,
) -> impl Strategy<Value = Talker> {
    let sizes = prop::collection::vec(least..=most, frames);
    let pause = prop_oneof![4 => Just(0i64), 1 => 1i64..200];
    (sizes, prop::collection::vec(pause, frames)).prop_map(move |(sizes, pauses)| Talker {
        burst: burst.into(),
        rate: rate.clone(),
        sizes,
        // The times are not on the grid of the other talkers: the adversary chooses the order of frames that come at once.
        pauses: pauses
            .into_iter()
            .map(|pause| ratio(pause * 8 + least % 7, 8))
            .collect(),
    })
}

/// A network of a port of rate 1 with these classes, and one talker for each.
fn one_port(port: EgressPort, talkers: &[Talker]) -> PortNetwork {
    let streams = talkers
        .iter()
        .enumerate()
        .map(|(class, talker)| talker.stream(vec![queue(0, class)]));
    PortNetwork::new(vec![port], streams.collect()).unwrap()
}

fn bounds(network: &PortNetwork) -> PortBounds {
    network.total_flow(true, &FixedPoint::default()).unwrap()
}

/// The least ratio of the bound to the longest observed delay of a class, over many searches.
fn tightness(network: &PortNetwork, gates: &[Gates], talkers: &[Vec<Talker>], class: usize) -> f64 {
    let bound = bounds(network).queues[0][class].delay.clone();
    let worst = talkers
        .iter()
        .map(|talkers| simulate(network, gates, talkers, 0).queue_delays[&(0, class)].clone());
    let Extended::Finite(bound) = bound else {
        return f64::INFINITY;
    };
    (bound / worst.max().unwrap()).to_f64().value()
}

fn strict_priority() -> EgressPort {
    let fifo = TransmissionSelection::StrictPriority;
    EgressPort::new(
        Rational::ONE,
        vec![
            class(fifo.clone(), 10, 40),
            class(fifo.clone(), 10, 60),
            class(fifo, 10, 120),
        ],
    )
    .unwrap()
}

fn shaped_classes() -> EgressPort {
    let classes = vec![
        class(credit_based(ratio(1, 3)), 10, 40),
        class(credit_based(ratio(1, 4)), 10, 60),
        class(TransmissionSelection::StrictPriority, 10, 120),
        class(TransmissionSelection::StrictPriority, 10, 120),
    ];
    EgressPort::new(Rational::ONE, classes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn strict_priority_holds(high in talker(10, 40, 90, ratio(1, 4), 30), middle in talker(10, 60, 100, ratio(1, 5), 30), low in talker(10, 120, 130, ratio(1, 5), 30)) {
        let talkers = [high, middle, low];
        let network = one_port(strict_priority(), &talkers);
        check(&bounds(&network), &network, &simulate(&network, &[], &talkers, 1))?;
    }

    #[test]
    fn credit_based_classes_hold(
        a in talker(10, 40, 80, ratio(1, 3), 40),
        b in talker(10, 60, 120, ratio(1, 4), 40),
        c in talker(10, 120, 130, ratio(1, 8), 30),
        best_effort in talker(10, 120, 240, ratio(1, 8), 30),
        without_lower: bool,
    ) {
        if without_lower {
            let classes = shaped_classes().classes()[..2].to_vec();
            let talkers = [a, b];
            let network = one_port(EgressPort::new(Rational::ONE, classes).unwrap(), &talkers);
            check(&bounds(&network), &network, &simulate(&network, &[], &talkers, 1))?;
        } else {
            let talkers = [a, b, c, best_effort];
            let network = one_port(shaped_classes(), &talkers);
            check(&bounds(&network), &network, &simulate(&network, &[], &talkers, 1))?;
        }
    }
}

/// A gate control list of classes' masks and intervals, for the calculus and for the simulator.
fn gates(classes: usize, entries: &[(u64, i64)], guard_band: i64) -> (GateControlList, Gates) {
    let cycle: i64 = entries.iter().map(|(_, interval)| interval).sum();
    let list = entries.iter().map(|(gates, interval)| GateControlEntry {
        gates: *gates,
        interval: (*interval).into(),
    });
    let list = GateControlList::new(Rational::ZERO, cycle.into(), list.collect()).unwrap();
    let list = list.with_guard_band(guard_band.into()).unwrap();
    let windows = (0..classes).map(|class| {
        let (mut time, mut windows) = (0i64, Vec::<(i64, i64)>::new());
        // The entries are repeated, so that the window around the cycle's end is complete.
        for (gates, interval) in entries.iter().chain(entries) {
            if gates >> class & 1 == 1 {
                match windows.last_mut() {
                    Some((_, end)) if *end == time => *end += interval,
                    _ => windows.push((time, time + interval)),
                }
            }
            time += interval;
        }
        let always = windows == [(0, 2 * cycle)];
        let windows = windows.into_iter().filter(|_| !always);
        windows
            .map(|(start, end)| (start.into(), end.into()))
            .collect()
    });
    let windows = windows.collect();
    (
        list,
        Gates {
            cycle: cycle.into(),
            guard_band: guard_band.into(),
            windows,
        },
    )
}

/// The longest frames of three classes behind gates.
const LONGEST: [i64; 3] = [40, 60, 60];

/// The port with these classes; `None` if some frame would wait for ever.
fn gated(masks: &[(u64, i64)], guard_band: i64, one_size: bool) -> Option<(EgressPort, Gates)> {
    let classes = LONGEST.map(|longest| {
        let shortest = if one_size { longest } else { 10 };
        class(TransmissionSelection::StrictPriority, shortest, longest)
    });
    let (list, gates) = gates(3, masks, guard_band);
    let port = EgressPort::new(Rational::ONE, classes.to_vec()).unwrap();
    Some((port.with_gates(list).ok()?, gates))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn gates_hold(
        masks in prop::collection::vec((1u64..8, 60i64..200), 2..5),
        guard_band in prop_oneof![Just(0i64), 1i64..120],
        one_size: bool,
        high in talker(10, 40, 80, ratio(1, 12), 20),
        middle in talker(10, 60, 120, ratio(1, 16), 20),
        low in talker(10, 60, 120, ratio(1, 16), 20),
    ) {
        let port = gated(&masks, guard_band, one_size);
        prop_assume!(port.is_some());
        let (port, gates) = port.unwrap();
        let mut talkers = [high, middle, low];
        if one_size {
            for (talker, size) in talkers.iter_mut().zip(LONGEST) {
                talker.sizes.fill(size);
            }
        }
        let network = one_port(port, &talkers);
        check(&bounds(&network), &network, &simulate(&network, &[gates], &talkers, 1))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shapers_behind_gates_hold(
        masks in prop::collection::vec((1u64..8, 60i64..200), 1..5),
        guard_band in prop_oneof![Just(0i64), 1i64..120],
        (a_slope, b_slope) in (1u32..6, 2u32..8),
        second: bool,
        one_size: bool,
        a in talker(10, 40, 80, ratio(1, 16), 20),
        b in talker(10, 60, 120, ratio(1, 20), 20),
        best_effort in talker(10, 60, 120, ratio(1, 16), 20),
    ) {
        let port = gated(&masks, guard_band, one_size);
        prop_assume!(port.is_some());
        let (port, gates) = port.unwrap();
        let mut classes = port.classes().to_vec();
        classes[0].selection = credit_based(ratio(i64::from(a_slope), 10));
        if second {
            classes[1].selection = credit_based(ratio(i64::from(b_slope), 20));
        }
        let port = EgressPort::new(Rational::ONE, classes).unwrap();
        let port = port.with_gates(self::gates(3, &masks, guard_band).0).unwrap();
        let mut talkers = [a, b, best_effort];
        if one_size {
            for (talker, size) in talkers.iter_mut().zip(LONGEST) {
                talker.sizes.fill(size);
            }
        }
        let network = one_port(port, &talkers);
        check(&bounds(&network), &network, &simulate(&network, &[gates], &talkers, 1))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Bursts that come around the last time at which a frame fits, and around the opening and closing of gates.
    #[test]
    fn shapers_behind_gates_hold_at_their_worst_times(
        masks in prop::collection::vec((1u64..8, 60i64..200), 1..5),
        guard_band in prop_oneof![Just(0i64), 1i64..120],
        slopes in (1u32..6, 2u32..8),
        second: bool,
        starts in prop::collection::vec((0usize..5, 0usize..3, 0i64..16), 3),
        frames in 1usize..4,
    ) {
        let port = gated(&masks, guard_band, true);
        prop_assume!(port.is_some());
        let (port, gates) = port.unwrap();
        let mut classes = port.classes().to_vec();
        classes[0].selection = credit_based(ratio(i64::from(slopes.0), 10));
        if second {
            classes[1].selection = credit_based(ratio(i64::from(slopes.1), 20));
        }
        let port = EgressPort::new(Rational::ONE, classes).unwrap();
        let port = port.with_gates(self::gates(3, &masks, guard_band).0).unwrap();
        let cycle: i64 = masks.iter().map(|(_, interval)| interval).sum();
        let talkers = LONGEST.iter().zip(&starts).map(|(size, (entry, before, eighths))| {
            let entries = masks.iter().take(entry % (masks.len() + 1));
            let boundary: i64 = entries.map(|(_, interval)| interval).sum();
            let before = [0, *size, LONGEST[2]][*before];
            let mut pauses = vec![Rational::ZERO; 2 * frames];
            pauses[0] = ratio(8 * (cycle + boundary - before) + eighths - 8, 8);
            Talker {
                burst: Rational::from(*size) * Rational::from(u64::try_from(frames).unwrap()),
                rate: ratio(1, 20),
                sizes: vec![*size; 2 * frames],
                pauses,
            }
        });
        let talkers: Vec<Talker> = talkers.collect();
        let network = one_port(port, &talkers);
        check(&bounds(&network), &network, &simulate(&network, &[gates], &talkers, 1))?;
    }
}

/// A class with a shaper that has a window alone: its frames wait for the gate once. The bound for one frame is attained.
#[test]
fn bounds_of_a_shaper_behind_gates_are_near_the_worst() {
    let masks = [(1u64, 100i64), (6, 100)];
    let (port, gates) = gated(&masks, 0, true).unwrap();
    let mut classes = port.classes().to_vec();
    classes[0].selection = credit_based(ratio(1, 2));
    let port = EgressPort::new(Rational::ONE, classes).unwrap();
    let port = port.with_gates(self::gates(3, &masks, 0).0).unwrap();
    for (frames, most) in [(1u8, 1.01), (2, 1.1)] {
        let searched: Vec<Vec<Talker>> = (0..200)
            .map(|phase| {
                let of_class = |size: &i64| Talker {
                    burst: (i64::from(frames) * size).into(),
                    rate: ratio(1, 400),
                    sizes: vec![*size; frames.into()],
                    pauses: std::iter::once(ratio(8 * phase + 1, 8))
                        .chain(std::iter::repeat_n(Rational::ZERO, 1))
                        .collect(),
                };
                LONGEST.iter().map(of_class).collect()
            })
            .collect();
        let network = one_port(port.clone(), &searched[0]);
        let found = tightness(&network, std::slice::from_ref(&gates), &searched, 0);
        assert!((1.0..most).contains(&found), "{frames} frames: {found}");
    }
}

#[test]
fn bounds_of_exclusive_windows_are_attained_or_near() {
    for (masks, guard_band, frames, most) in [
        (vec![(1u64, 80i64), (2, 150), (4, 70)], 0i64, 3i64, 1.02),
        (vec![(1, 95), (2, 150), (4, 70), (1, 45)], 0, 2, 1.02),
        (vec![(1, 100), (6, 200)], 0, 3, 1.7),
        // Two frames would fit, but only one does; then two of three.
        (vec![(1, 80), (2, 140), (4, 70)], 50, 3, 1.02),
        (vec![(1, 95), (2, 190), (4, 70), (1, 75)], 70, 2, 1.02),
    ] {
        let (port, gates) = gated(&masks, guard_band, true).unwrap();
        let searched: Vec<Vec<Talker>> = (0..200)
            .map(|phase| {
                let of_class = |size: &i64| Talker {
                    burst: (frames * size).into(),
                    rate: ratio(1, 400),
                    sizes: vec![*size; 3],
                    pauses: std::iter::once(ratio(8 * phase + 1, 4))
                        .chain(std::iter::repeat_n(Rational::ZERO, 2))
                        .collect(),
                };
                LONGEST.iter().map(of_class).collect()
            })
            .collect();
        let network = one_port(port, &searched[0]);
        for class in 0..2 {
            let found = tightness(&network, std::slice::from_ref(&gates), &searched, class);
            assert!(
                (1.0..most).contains(&found),
                "{masks:?} class {class}: {found}"
            );
        }
    }
}

#[test]
fn bounds_of_shaped_classes_are_near_the_worst() {
    let greedy = |size: i64, burst: i64, rate, start: i64| Talker {
        burst: burst.into(),
        rate,
        sizes: vec![size; 30],
        pauses: std::iter::once(ratio(start, 8))
            .chain(std::iter::repeat_n(Rational::ZERO, 29))
            .collect(),
    };
    let mut state = 1u32;
    let mut start = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i64::from(state >> 22)
    };
    let mut searched: Vec<_> = (0..60)
        .map(|_| {
            vec![
                greedy(40, 80, ratio(1, 3), start()),
                greedy(60, 120, ratio(1, 4), start()),
                greedy(120, 120, ratio(1, 8), start()),
                greedy(120, 240, ratio(1, 8), start()),
            ]
        })
        .collect();
    // A frame of the lowest class blocks all frames that come right behind it, the higher classes later.
    searched.push(vec![
        greedy(40, 80, ratio(1, 3), 3),
        greedy(60, 120, ratio(1, 4), 2),
        greedy(120, 120, ratio(1, 8), 1),
        greedy(120, 240, ratio(1, 8), 0),
    ]);
    let classes = shaped_classes()
        .classes()
        .iter()
        .map(|class| PortClass {
            shortest: class.longest.clone(),
            ..class.clone()
        })
        .collect();
    let network = one_port(
        EgressPort::new(Rational::ONE, classes).unwrap(),
        &searched[0],
    );
    for (class, most) in [1.01, 1.35, 2.1].into_iter().enumerate() {
        let found = tightness(&network, &[], &searched, class);
        eprintln!("class {class}: {found}");
        assert!((1.0..most).contains(&found), "class {class}: {found}");
    }
}

#[test]
fn bounds_of_priorities_are_near_the_worst() {
    let talkers = |late: i64| {
        let greedy = |size: i64, burst: i64, rate, start: Rational| Talker {
            burst: burst.into(),
            rate,
            sizes: vec![size; 30],
            pauses: std::iter::once(start)
                .chain(std::iter::repeat_n(Rational::ZERO, 29))
                .collect(),
        };
        vec![
            greedy(30, 90, ratio(1, 4), ratio(1 + late, 100)),
            greedy(50, 100, ratio(1, 5), ratio(1, 100)),
            greedy(120, 120, ratio(1, 5), Rational::ZERO),
        ]
    };
    let searched: Vec<_> = (0..20).map(|late| talkers(50 * late)).collect();
    let network = one_port(strict_priority(), &searched[0]);
    for class in 0..2 {
        let found = tightness(&network, &[], &searched, class);
        assert!((1.0..1.35).contains(&found), "class {class}: {found}");
    }
}
