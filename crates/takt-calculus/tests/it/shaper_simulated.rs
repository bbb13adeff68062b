//! Frames that pass a line of shapers one by one by the rules of IEEE 802.1Q, with interference chosen at will: no frame is later
//! than its bound, and every curve holds.

use proptest::prelude::*;
use takt_calculus::{Curve, Extended, Frame, FrameBits, LineNetwork, Rational, RoundTripModel};

const HOPS: u32 = 3;
const MESSAGES: usize = 24;
/// Number of steps of the interference, from none to the most.
const STEPS: u32 = 4;

/// Returns the times at which frames with these arrivals have left a port. `blocked` is, for each frame, the part of the longest
/// frame of lower priority that is still on the link when the frame could be sent.
fn port(line: &LineNetwork, arrivals: &[Rational], blocked: &[u32]) -> Vec<Rational> {
    let frame = line.frame.physical_bits();
    let idle_slope = &frame / &line.cycle * (Rational::ONE + &line.provisioning);
    let longest = line.lower_priority.unwrap().physical_bits() / &line.link_rate;
    let (mut free, mut credit) = (Rational::ZERO, Rational::ZERO);
    let mut departures = Vec::new();
    for (arrival, blocked) in arrivals.iter().zip(blocked) {
        let waited = *arrival <= free;
        if !waited {
            // The queue is empty: positive credit is cleared, negative credit recovers.
            credit =
                (credit.min(Rational::ZERO) + &idle_slope * (arrival - &free)).min(Rational::ZERO);
        }
        let now = arrival.clone().max(free);
        let recovered = credit >= Rational::ZERO;
        let eligible = if recovered {
            now
        } else {
            now - credit.clone() / &idle_slope
        };
        credit = credit.max(Rational::ZERO);
        // A frame that waits with credit when the link becomes free is sent before any lower priority.
        let extra = if waited && recovered {
            Rational::ZERO
        } else {
            &longest * Rational::from(*blocked) / Rational::from(STEPS)
        };
        let sending = &frame / &line.link_rate;
        free = eligible + &extra + &sending;
        credit = credit + &idle_slope * extra - (&line.link_rate - &idle_slope) * sending;
        departures.push(free.clone());
    }
    departures
}

/// Returns true if frames that arrive at these times conform to the curve, in every interval.
fn conforms(line: &LineNetwork, arrivals: &[Rational], curve: &Curve) -> bool {
    // The frames at both ends of an interval count, so the curve is read right behind the interval's length.
    let little = Rational::from_parts(1.into(), 1_000_000_000_000u64.into());
    let bits =
        |number: usize| Extended::Finite(line.frame.physical_bits() * Rational::from(number));
    let pairs = (0..arrivals.len())
        .flat_map(|first| (first..arrivals.len()).map(move |last| (first, last)));
    pairs.into_iter().all(|(first, last)| {
        bits(last - first + 1) <= curve.value(&(&arrivals[last] - &arrivals[first] + &little))
    })
}

/// Returns true if at least the service of the curve was provided before each frame.
fn served(
    line: &LineNetwork,
    arrivals: &[Rational],
    departures: &[Rational],
    service: &Curve,
) -> bool {
    let frame = line.frame.physical_bits();
    let bits = |number: usize| &frame * Rational::from(number);
    departures.iter().enumerate().all(|(sent, departure)| {
        let start = departure - &frame / &line.link_rate;
        let promised = arrivals
            .iter()
            .take(sent + 1)
            .enumerate()
            .map(|(number, arrival)| {
                let service = service.value(&(&start - arrival));
                service.finite().unwrap() + bits(number)
            });
        promised
            .min()
            .is_some_and(|promised| bits(sent) >= promised)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_frame_is_later_than_its_bound(
        count in prop::sample::select(vec![2u32, 32, 160]),
        percent in prop::sample::select(vec![0i64, 3]),
        greedy: bool,
        calm in 0usize..MESSAGES,
        blocked in prop::collection::vec(prop::collection::vec(0..=STEPS, MESSAGES), 2 * HOPS as usize),
        forwarding in prop::collection::vec(prop::collection::vec(0..=STEPS, MESSAGES), 2 * HOPS as usize),
        loopback in prop::collection::vec(0..=STEPS, MESSAGES),
    ) {
        let line = LineNetwork {
            provisioning: Rational::from_parts(percent.into(), 100u32.into()),
            lower_priority: Some(Frame::LONGEST),
            forwarding_delay: Rational::from_parts(5.into(), 1_000_000u32.into()),
            ..LineNetwork::new(HOPS, Frame::of_repeated_node_count(count).unwrap(), RoundTripModel::SOUND)
        };
        let bound = line.round_trip().unwrap();
        let part = |whole: &Rational, steps: u32| whole * Rational::from(steps) / Rational::from(STEPS);
        // Frames keep their order.
        let in_order = |times: Vec<Rational>| {
            let later = |last: &mut Rational, time: Rational| {
                *last = time.max(last.clone());
                Some(last.clone())
            };
            times.into_iter().scan(Rational::ZERO, later).collect::<Vec<_>>()
        };
        let published: Vec<Rational> = (0..MESSAGES).map(|index| &line.cycle * Rational::from(index)).collect();
        let mut arrivals = published.clone();
        for (index, (bounded, blocked)) in bound.ports.iter().zip(&blocked).enumerate() {
            if index == HOPS as usize {
                let least = line.loopback_delay() - &line.cycle;
                let delayed = arrivals.iter().zip(&loopback).map(|(time, steps)| time + &least + part(&line.cycle, *steps));
                arrivals = in_order(delayed.collect());
            }
            // The worst case is often much interference first and none later, or the other way round.
            let chosen: Vec<u32> = blocked.iter().enumerate()
                .map(|(message, random)| if !greedy { *random } else if message < calm { STEPS } else { 0 })
                .collect();
            let departures = port(&line, &arrivals, &chosen);
            prop_assert!(conforms(&line, &arrivals, &bounded.arrival), "port {index}");
            prop_assert!(served(&line, &arrivals, &departures, &bounded.service), "port {index}");
            for (arrival, departure) in arrivals.iter().zip(&departures) {
                prop_assert!(Extended::Finite(departure - arrival) <= bounded.delay, "port {index}");
            }
            let forwarded = departures.iter().zip(&forwarding[index]).map(|(time, steps)| time + part(&line.forwarding_delay, *steps));
            arrivals = in_order(forwarded.collect());
        }
        for (start, end) in published.iter().zip(&arrivals) {
            prop_assert!(Extended::Finite(end - start) <= bound.delay);
        }
    }
}
