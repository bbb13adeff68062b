//! Staircases without end in the models that the bounds are made of.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use takt_calculus::{
    CreditBasedShaper, Curve, Extended, Frame, FrameBits, PeriodicCurve, Rational,
};

fn per_second(rate: u64) -> Rational {
    Rational::from(rate)
}

/// A frame per cycle of 250 µs, all of a frame shaped by the link of 1 Gbit/s, at a Credit-Based Shaper whose idleSlope is exactly what arrives:
/// M/R − M/C for ever, though the backlog of each cycle is only just gone when the next frame comes. With any less, infinite.
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

/// Three publishers with cycles of 1, 2 and 5 ms at a port of 10 Mbit/s: the stairs together begin anew every 10 ms, and a line above them has a longer
/// delay.
#[test]
fn stairs_are_less_than_lines() {
    let millisecond = Rational::ONE / Rational::from(1_000);
    let flows = [(1, 4_000), (2, 6_000), (5, 12_000)];
    let mut stairs = PeriodicCurve::from(Curve::zero());
    let mut lines = Curve::zero();
    for (cycle, bits) in flows {
        let (cycle, bits) = (&millisecond * Rational::from(cycle), Rational::from(bits));
        // Each as early by up to half a cycle as it likes.
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
    // The longest waits what comes at 3 ms: 58 kbit have come until then. Of the lines, what comes at once: 33 kbit.
    let tenths =
        |number: u32| Extended::Finite(&millisecond * Rational::from(number) / Rational::from(10));
    assert_eq!(exact, tenths(38));
    assert_eq!(above, tenths(43));
    // What leaves is bounded without a line as well.
    let left = stairs.deconvolution(&service.clone().into()).unwrap();
    let next = left.horizontal_deviation(&service.clone().into()).unwrap();
    let line = lines.deconvolution(&service).horizontal_deviation(&service);
    assert!(next < line && next > exact);
}
