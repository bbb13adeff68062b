//! The paper's tables and figures, beside the sound bounds.

use takt_calculus::{
    CreditBasedShaper, Curve, Extended, Frame, FrameBits, LineNetwork, REPEATED_NODE_COUNTS,
    Rational, RoundTripModel,
};

use crate::table_iv::TABLE_IV;

fn frames() -> [Frame; 8] {
    REPEATED_NODE_COUNTS.map(|count| Frame::of_repeated_node_count(count).unwrap())
}

/// Returns the delay in whole microseconds, truncated; `None` if infinite.
fn microseconds(line: &LineNetwork) -> Option<i64> {
    match line.round_trip().unwrap().delay {
        Extended::Finite(delay) => {
            Some(i64::try_from((delay * Rational::from(1_000_000)).floor()).unwrap())
        }
        _ => None,
    }
}

fn provisioned(line: LineNetwork, percent: i64) -> LineNetwork {
    LineNetwork {
        provisioning: Rational::from_parts(percent.into(), 100u32.into()),
        ..line
    }
}

#[test]
fn table_iv() {
    for (hops, row) in (1..).zip(TABLE_IV) {
        let bounds = frames()
            .map(|frame| microseconds(&LineNetwork::new(hops, frame, RoundTripModel::PAPER)));
        assert_eq!(bounds, row.map(Some), "{hops} hops");
    }
}

#[test]
fn closed_form() {
    for frame in frames() {
        let line = LineNetwork::new(7, frame, RoundTripModel::PAPER);
        let (message, wire) = (frame.l2_bits(), frame.physical_bits());
        let port = &message * &line.cycle / wire - message / &line.link_rate;
        assert_eq!(
            line.round_trip().unwrap().delay,
            Extended::Finite(port * Rational::from(14) + line.loopback_delay())
        );
    }
}

/// Fig. 6: under-provisioning makes bounds infinite from some size on, and stronger under-provisioning from a smaller size on.
#[test]
fn infinite_bounds() {
    let infinite = |percent, model| {
        frames().map(|frame| {
            microseconds(&provisioned(LineNetwork::new(1, frame, model), percent)).is_none()
        })
    };
    for percent in [-5, -3] {
        let expected = frames().map(|frame| {
            let [l2, physical] = [frame.l2(), frame.physical()].map(i64::from);
            (100 + percent) * physical < 100 * l2
        });
        assert_eq!(
            infinite(percent, RoundTripModel::PAPER),
            expected,
            "{percent} %"
        );
        // With one unit, an idleSlope below the sending rate is never enough.
        assert_eq!(infinite(percent, RoundTripModel::SOUND), [true; 8]);
    }
    let from = |percent| {
        infinite(percent, RoundTripModel::PAPER)
            .iter()
            .position(|infinite| *infinite)
    };
    // Bounds are infinite from 617 B and from 1193 B on.
    assert_eq!((from(-5), from(-3)), (Some(5), Some(6)));
    for percent in [0, 3, 5] {
        assert_eq!(infinite(percent, RoundTripModel::PAPER), [false; 8]);
        assert_eq!(infinite(percent, RoundTripModel::SOUND), [false; 8]);
    }
}

#[test]
fn an_overloaded_port_is_named() {
    let line = provisioned(LineNetwork::new(3, frames()[7], RoundTripModel::PAPER), -5);
    let round_trip = line.round_trip().unwrap();
    assert_eq!(round_trip.delay, Extended::Infinity);
    let [port] = round_trip.ports.as_slice() else {
        panic!("the first port is overloaded")
    };
    assert_eq!(
        port.utilisation,
        Extended::Finite(Rational::from_parts(149_900.into(), (1523u32 * 95).into()))
    );
}

/// Errors of the paper, one by one: the table in `docs/bounds.md`.
#[test]
fn errors_of_the_paper() {
    let bounds = |model, lower_priority| {
        [1, 7].map(|hops| {
            microseconds(&LineNetwork {
                lower_priority,
                ..LineNetwork::new(hops, frames()[0], model)
            })
            .unwrap()
        })
    };
    let paper = RoundTripModel::PAPER;
    assert_eq!(bounds(paper, None), [954, 3234]);
    assert_eq!(
        bounds(
            RoundTripModel {
                mixed_units: false,
                ..paper
            },
            None
        ),
        [1073, 4063]
    );
    assert_eq!(bounds(paper, Some(Frame::LONGEST)), [979, 3549]);
    assert_eq!(
        bounds(
            RoundTripModel {
                store_and_forward: true,
                ..paper
            },
            None
        ),
        [956, 3243]
    );
    assert_eq!(
        bounds(
            RoundTripModel {
                loopback_jitter: true,
                ..paper
            },
            None
        ),
        [1145, 3425]
    );
    assert_eq!(
        bounds(RoundTripModel::SOUND, Some(Frame::LONGEST)),
        [1362, 4658]
    );
}

#[test]
fn sound_bounds_are_never_less() {
    for frame in frames() {
        for hops in [1, 2, 7] {
            let [paper, sound] = [RoundTripModel::PAPER, RoundTripModel::SOUND]
                .map(|model| LineNetwork::new(hops, frame, model));
            let blocked = LineNetwork {
                lower_priority: Some(Frame::LONGEST),
                ..sound.clone()
            };
            let slow = LineNetwork {
                forwarding_delay: Rational::from_parts(1.into(), 100_000u32.into()),
                ..blocked.clone()
            };
            let bounds = [paper, sound, blocked, slow].map(|line| microseconds(&line).unwrap());
            assert!(bounds.is_sorted_by(|one, other| one < other), "{bounds:?}");
        }
    }
}

/// A single frame at an idle port without interference waits no longer than a cycle for its credit.
#[test]
fn sound_bound_of_one_hop() {
    // The terms are 1.7 · 250 + 150; out: 250; back: twice, since a message may be late by a cycle.
    assert_eq!(
        microseconds(&LineNetwork::new(1, frames()[0], RoundTripModel::SOUND)),
        Some(575 + 250 + 500)
    );
}

/// Periodic messages as a staircase, each given to the port at the link's rate: the leaky bucket approximates this.
#[test]
fn a_staircase_and_its_leaky_bucket_give_one_bound() {
    for frame in [frames()[0], frames()[7]] {
        let line = LineNetwork::new(3, frame, RoundTripModel::PAPER);
        let message = frame.l2_bits();
        let idle_slope = frame.physical_bits() / &line.cycle;
        let shaper = CreditBasedShaper::new(
            idle_slope.clone(),
            line.link_rate.clone(),
            message.clone(),
            Rational::ZERO,
        )
        .unwrap();
        let link = Curve::leaky_bucket(Rational::ZERO, line.link_rate.clone()).unwrap();
        let mut arrival = Curve::staircase(message.clone(), line.cycle.clone(), 4)
            .unwrap()
            .convolution(&link);
        for _ in 0..line.hops {
            let port = shaper.port(arrival).unwrap();
            assert_eq!(
                port.delay,
                Extended::Finite(&message / &idle_slope - &message / &line.link_rate)
            );
            arrival = shaper.output(&port.arrival).unwrap();
        }
    }
}
