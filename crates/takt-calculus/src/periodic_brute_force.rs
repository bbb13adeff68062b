//! Tests of every operation on periodic curves against its definition, evaluated on a grid that reaches far behind the time from
//! which the result is periodic. Corners, ranks and periods are whole numbers.

use proptest::prelude::*;

use crate::brute_force::{
    convolution_by_definition, curve, deconvolution_by_definition, difference, halves, left, ratio,
    right,
};
use crate::curve::{Curve, Extended};
use crate::{PeriodicCurve, PeriodicError, Rational, Repetition};

/// Time up to which the operations are compared, and time up to which the definitions are evaluated.
const NEAR: i64 = 24;
const FAR: i64 = 64;

fn repeated() -> impl Strategy<Value = PeriodicCurve> {
    let finite = curve().prop_filter("finite", |curve| curve.long_term_rate().is_some());
    (finite, 0i64..4, 1i64..4, 0i64..3).prop_map(|(base, rank, period, more)| {
        let (rank, period) = (Rational::from(rank), Rational::from(period));
        let rise = difference(&base.left(&(&rank + &period)), &base.value(&rank));
        let increment = rise.unwrap().finite().unwrap() + Rational::from(more);
        PeriodicCurve::new(
            base,
            Repetition {
                rank,
                period,
                increment,
            },
        )
        .unwrap()
    })
}

pub(crate) fn periodic() -> impl Strategy<Value = PeriodicCurve> {
    prop_oneof![4 => repeated(), 1 => curve().prop_map(PeriodicCurve::from)]
}

fn far(curve: &PeriodicCurve) -> Curve {
    curve.unrolled(&FAR.into()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any representation of a periodic curve gives the same values.
    #[test]
    fn repetition(base in curve(), rank in 0i64..4, period in 1i64..4, more in 0i64..3) {
        prop_assume!(base.long_term_rate().is_some());
        let (rank, period) = (Rational::from(rank), Rational::from(period));
        let end = &rank + &period;
        let rise = difference(&base.left(&end), &base.value(&rank)).unwrap();
        let increment = rise.finite().unwrap() + Rational::from(more);
        let curve = PeriodicCurve::new(base.clone(), Repetition { rank: rank.clone(), period: period.clone(), increment: increment.clone() }).unwrap();
        let unrolled = far(&curve);
        for time in (0..4 * FAR).map(|part| ratio(part, 4)) {
            let (mut first, mut risen) = (time.clone(), Rational::ZERO);
            while first >= end {
                first -= &period;
                risen += &increment;
            }
            let expected = base.value(&first).plus(&risen);
            prop_assert_eq!(curve.value(&time), expected.clone(), "at {}", time);
            prop_assert_eq!(unrolled.value(&time), expected, "at {}", time);
            prop_assert_eq!(right(&unrolled, &time), right(&base, &first).plus(&risen), "behind {}", time);
        }
    }

    #[test]
    fn point_by_point(f in periodic(), g in periodic(), delay in 0i64..20, exact in 0i64..20) {
        let (minimum, maximum, sum) = (f.minimum(&g).unwrap(), f.maximum(&g).unwrap(), f.sum(&g).unwrap());
        let (delay, exact) = (ratio(delay, 2), ratio(exact, 2));
        let advanced = f.advanced(&delay).unwrap();
        let (below, above) = (f.line_below(&exact).unwrap(), f.line_above(&exact).unwrap());
        for time in (0..6 * FAR).map(|part| ratio(part, 6)) {
            let (own, other) = (f.value(&time), g.value(&time));
            prop_assert_eq!(minimum.value(&time), own.clone().min(other.clone()), "at {}", time);
            prop_assert_eq!(maximum.value(&time), own.clone().max(other.clone()), "at {}", time);
            prop_assert_eq!(sum.value(&time), own.sum(&other), "at {}", time);
            prop_assert_eq!(advanced.value(&time), f.value(&(&time + &delay)));
            prop_assert!(below.value(&time) <= own && own <= above.value(&time), "at {}", time);
            if time < exact {
                prop_assert_eq!(below.value(&time), own.clone());
                prop_assert_eq!(above.value(&time), own);
            }
        }
        prop_assert_eq!(below.long_term_rate().cloned(), f.long_term_rate());
        prop_assert_eq!(above.long_term_rate().cloned(), f.long_term_rate());
    }

    #[test]
    fn convolution(f in periodic(), g in periodic()) {
        let result = f.convolution(&g).unwrap();
        let (f, g) = (far(&f), far(&g));
        for time in halves(NEAR) {
            let expected = convolution_by_definition(&f, &g, &time);
            prop_assert_eq!(result.value(&time), expected, "at {}", time);
        }
    }

    #[test]
    fn deconvolution(f in periodic(), g in periodic()) {
        let result = f.deconvolution(&g).unwrap();
        let outgrown = match (f.long_term_rate(), g.long_term_rate()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(own), Some(other)) => own > other,
        };
        let (f, g) = (far(&f), far(&g));
        for time in halves(NEAR / 2) {
            let expected = deconvolution_by_definition(&f, &g, &time, 2 * NEAR);
            let expected = if outgrown { Extended::Infinity } else { expected };
            prop_assert_eq!(result.value(&time), expected, "at {}", time);
        }
    }

    #[test]
    fn deviations(f in periodic(), g in periodic()) {
        let backlog = f.vertical_deviation(&g).unwrap();
        let expected = f.deconvolution(&g).unwrap().value(&Rational::ZERO).max(Extended::ZERO);
        prop_assert_eq!(backlog, expected);
        let little = ratio(1, 10_000);
        let times = || halves(2 * NEAR).flat_map(|time| [time.clone(), time + ratio(1, 10_000)]);
        match f.horizontal_deviation(&g).unwrap() {
            Extended::Finite(delay) => {
                let longer = &delay + &little;
                for time in times() {
                    prop_assert!(f.value(&time) <= g.value(&(&time + &longer)), "at {}", time);
                }
                // The delay is attained at a corner of the arrivals, or where the arrivals reach the height of a corner of the
                // service.
                let shorter = &delay - &little * Rational::from(10);
                let late = |time: Rational| f.value(&time) > g.value(&(&time + &shorter));
                let mut sixths = (0..6 * FAR).flat_map(|part| [ratio(part, 6), ratio(part, 6) + ratio(1, 10_000)]);
                let corners = far(&g).pieces.iter().flat_map(|piece| [piece.at.clone(), piece.after.clone(), g.value(&(&piece.start - &little))]).collect::<Vec<_>>();
                let f_far = far(&f);
                let mut heights = corners.iter().filter_map(|height| f_far.first_at_least(height)).flat_map(|time| [time.clone(), time + ratio(1, 10_000)]);
                prop_assert!(delay.is_zero() || sixths.any(late) || heights.any(late), "{} is too much", delay);
            }
            _ => {
                let [own, other] = [&f, &g].map(PeriodicCurve::long_term_rate);
                let outgrown = own.is_none() || own > other && other.is_some();
                let flat = g.long_term_rate() == Some(Rational::ZERO);
                prop_assert!(outgrown || flat && f.value(&FAR.into()) > g.value(&FAR.into()));
            }
        }
    }
}

/// Returns the least sum of the curve over parts that make `time` together, for each time on the grid up to `end`. A least sum is
/// reached with all parts but one at corners, or just before or behind them. Parts before and behind corners must be able to make
/// up for each other.
fn closure_by_parts(curve: &Curve, end: i64) -> Vec<Extended> {
    // Index: number of halves, then 1 if a part is just before a corner, and then 1 if one is just behind.
    let mut least =
        vec![[const { [Extended::Infinity, Extended::Infinity] }; 2]; 2 * end as usize + 1];
    least[0][0][0] = Extended::ZERO;
    for total in 0..least.len() {
        for part in 0..=total {
            let time = ratio(part as i64, 2);
            let mut kinds = vec![(0, 1, right(curve, &time))];
            if part > 0 {
                kinds.extend([(0, 0, curve.value(&time)), (1, 0, left(curve, &time))]);
            }
            for (before, behind, value) in kinds {
                for (had_before, had_behind) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let sum = least[total - part][had_before][had_behind].sum(&value);
                    let known = &mut least[total][had_before | before][had_behind | behind];
                    *known = known.clone().min(sum);
                }
            }
        }
        // The part of no length comes first here, so that it is in all sums of this total.
        let burst = right(curve, &Rational::ZERO);
        for had_before in [0, 1] {
            let sum = least[total][had_before][0].sum(&burst);
            least[total][had_before][1] = least[total][had_before][1].clone().min(sum);
        }
    }
    least
        .iter()
        .map(|kinds| kinds[0][0].clone().min(kinds[1][1].clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn sub_additive_closure(f in periodic()) {
        let result = f.sub_additive_closure();
        prop_assert!(result.is_ok(), "{:?}", result);
        let result = result.unwrap();
        let expected = closure_by_parts(&far(&f), NEAR);
        for (time, expected) in halves(NEAR).zip(expected) {
            prop_assert_eq!(result.value(&time), expected, "at {}", time);
        }
        prop_assert_eq!(result.vertical_deviation(&f).unwrap(), Extended::ZERO);
    }
}

#[test]
fn staircases() {
    let stairs = PeriodicCurve::staircase(5.into(), 2.into()).unwrap();
    for half in 1..100 {
        assert_eq!(
            stairs.value(&ratio(half, 2)),
            Extended::Finite(((half + 3) / 4 * 5).into())
        );
    }
    // Each message is served before the next comes, or every second one waits.
    let server = |rate: i64| Curve::rate_latency(rate.into(), 1.into()).unwrap().into();
    let delay = |rate| stairs.horizontal_deviation(&server(rate)).unwrap();
    assert_eq!(delay(5), Extended::Finite(2.into()));
    assert_eq!(delay(3), Extended::Finite(ratio(8, 3)));
    let exactly = PeriodicCurve::from(Curve::rate_latency(ratio(5, 2), 1.into()).unwrap());
    assert_eq!(
        stairs.horizontal_deviation(&exactly).unwrap(),
        Extended::Finite(3.into())
    );
    assert_eq!(delay(2), Extended::Infinity);
    // The least common multiple of these two periods is 3.
    let [one, other] = [ratio(3, 2), ratio(1, 1)]
        .map(|period| PeriodicCurve::staircase(1.into(), period).unwrap());
    let both = one.sum(&other).unwrap();
    let repetition = Repetition {
        rank: Rational::ZERO,
        period: 3.into(),
        increment: 5.into(),
    };
    assert_eq!(both.repetition(), Some(&repetition));
    assert_eq!(both.base.pieces.len(), 4);
}

#[test]
fn too_long_and_invalid_curves_are_refused() {
    let stairs = |period| PeriodicCurve::staircase(1.into(), period).unwrap();
    let (one, other) = (stairs(ratio(1_000_003, 1_000_000)), stairs(1.into()));
    assert!(matches!(
        one.sum(&other),
        Err(PeriodicError::TooLong { limit, .. }) if limit == crate::periodic::PIECES
    ));
    // In the long run one is less, so that no common period is needed.
    assert!(one.convolution(&stairs(ratio(1, 2))).is_ok());
    let new = |rank: i64, period: i64, increment: i64| {
        let base = Curve::rate_latency(1.into(), 1.into()).unwrap();
        let repetition = Repetition {
            rank: rank.into(),
            period: period.into(),
            increment: increment.into(),
        };
        PeriodicCurve::new(base, repetition).map(|_| ())
    };
    assert_eq!(new(0, 2, 1), Ok(()));
    assert_eq!(new(0, 0, 1), Err(PeriodicError::Period));
    assert_eq!(
        new(-1, 1, 1),
        Err(crate::CurveError::Negative("rank").into())
    );
    assert_eq!(
        new(0, 3, 1),
        Err(PeriodicError::Repetition {
            rank: Rational::ZERO
        })
    );
}
