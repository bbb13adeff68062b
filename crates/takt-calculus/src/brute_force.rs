//! Tests of every operation against its definition, evaluated on a grid. Curves have their corners at whole numbers, so that
//! every infimum or supremum is at a grid point, or at a limit from one side of it.

use proptest::prelude::*;

use crate::curve::{Curve, Extended, Piece};
use crate::{Grid, Rational};

pub(crate) fn ratio(numerator: i64, denominator: u64) -> Rational {
    Rational::from_parts(numerator.into(), denominator.into())
}

/// Makes wide-sense increasing curves, from 0 at 0, with jumps on both sides of a corner, which may become infinite at the end.
pub(crate) fn curve() -> impl Strategy<Value = Curve> {
    let corner = (1i64..3, 0i64..3, 0i64..3, 0i64..5);
    (
        prop::collection::vec(corner, 1..5),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(corners, infinite)| {
            let (mut start, mut value, mut pieces) = (0i64, 0i64, Vec::new());
            for (index, (length, jump_to, jump_from, slope)) in corners.iter().enumerate() {
                value += if index > 0 { *jump_to } else { 0 };
                let at = Extended::Finite(value.into());
                value += jump_from;
                let (after, slope) = if infinite && index + 1 == corners.len() {
                    (Extended::Infinity, 0)
                } else {
                    (Extended::Finite(value.into()), *slope)
                };
                pieces.push(Piece::new(start.into(), at, after, slope.into()));
                start += length;
                value += slope * length;
            }
            Curve { pieces }
        })
}

pub(crate) fn left(curve: &Curve, time: &Rational) -> Extended {
    curve.left(time)
}

pub(crate) fn right(curve: &Curve, time: &Rational) -> Extended {
    curve.right(time).0
}

pub(crate) fn halves(end: i64) -> impl Iterator<Item = Rational> {
    (0..=2 * end).map(|half| ratio(half, 2))
}

pub(crate) fn difference(own: &Extended, other: &Extended) -> Option<Extended> {
    other.finite().map(|other| own.plus(&-other))
}

/// Returns the least of `one(split) + other(time − split)` for splits of a multiple of one half, from both sides of each.
pub(crate) fn convolution_by_definition(one: &Curve, other: &Curve, time: &Rational) -> Extended {
    let mut least = Extended::Infinity;
    let splits = (0..).map(|half| ratio(half, 2));
    for split in splits.take_while(|split| split <= time) {
        let rest = time - &split;
        least = least.min(one.value(&split).sum(&other.value(&rest)));
        if split > Rational::ZERO {
            least = least.min(left(one, &split).sum(&right(other, &rest)));
        }
        if rest > Rational::ZERO {
            least = least.min(right(one, &split).sum(&left(other, &rest)));
        }
    }
    least
}

/// Returns the greatest of `own(time + lead) − other(lead)` for leads up to an end, from both sides of each.
pub(crate) fn deconvolution_by_definition(
    own: &Curve,
    other: &Curve,
    time: &Rational,
    end: i64,
) -> Extended {
    let mut greatest = Extended::NegativeInfinity;
    for lead in halves(end) {
        let sum = time + &lead;
        let mut candidates = vec![
            difference(&own.value(&sum), &other.value(&lead)),
            difference(&right(own, &sum), &right(other, &lead)),
        ];
        if lead > Rational::ZERO {
            candidates.push(difference(&left(own, &sum), &left(other, &lead)));
        }
        greatest = candidates.into_iter().flatten().fold(greatest, Ord::max);
    }
    greatest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn point_by_point(f in curve(), g in curve()) {
        let (minimum, maximum, sum) = (f.minimum(&g), f.maximum(&g), f.sum(&g));
        for time in (0..160).map(|part| ratio(part, 12)) {
            let (own, other) = (f.value(&time), g.value(&time));
            prop_assert_eq!(minimum.value(&time), own.clone().min(other.clone()));
            prop_assert_eq!(maximum.value(&time), own.clone().max(other.clone()));
            prop_assert_eq!(sum.value(&time), own.sum(&other));
            prop_assert_eq!(right(&minimum, &time), right(&f, &time).min(right(&g, &time)));
        }
    }

    #[test]
    fn sum_of_many(curves in prop::collection::vec(curve(), 0..6)) {
        let one_by_one = curves.iter().fold(Curve::zero(), |sum, curve| sum.sum(curve));
        prop_assert_eq!(curves.into_iter().sum::<Curve>(), one_by_one);
    }

    /// Rounded curves lie on the right side, on the grid, and are unchanged by further rounding.
    #[test]
    fn rounded(f in curve(), scale in 1u32..30, time in 1u32..9, bits in 1u32..9, rate in 1u32..9) {
        let scale = Rational::from(10) / Rational::from(scale);
        let mut f = f;
        for piece in &mut f.pieces {
            piece.start *= &scale;
            piece.slope /= &scale;
        }
        let [time, bits, rate] = [time, bits, rate].map(|step| Rational::from(step) / Rational::from(3));
        let grid = Grid::new(time.clone(), bits.clone(), rate.clone()).unwrap();
        let (up, down) = (f.rounded_up(&grid), f.rounded_down(&grid));
        for part in (0..400).map(|part| ratio(part, 12)) {
            prop_assert!(down.value(&part) <= f.value(&part) && f.value(&part) <= up.value(&part), "at {}", part);
            prop_assert!(right(&down, &part) <= right(&f, &part) && right(&f, &part) <= right(&up, &part), "behind {}", part);
        }
        prop_assert_eq!(&up.rounded_up(&grid), &up);
        prop_assert_eq!(&down.rounded_down(&grid), &down);
        let whole = |value: &Extended| value.finite().is_none_or(|value| (value / &bits).is_int());
        for rounded in [up, down] {
            for piece in &rounded.pieces {
                prop_assert!((&piece.start / &time).is_int() && whole(&piece.at) && whole(&piece.after));
            }
            prop_assert!((&rounded.last().slope / &rate).is_int());
            let levels: Vec<_> = rounded.pieces.iter().flat_map(|piece| [&piece.at, &piece.after]).collect();
            prop_assert!(levels.is_sorted());
        }
    }

    #[test]
    fn convolution(f in curve(), g in curve()) {
        let result = f.convolution(&g);
        prop_assert_eq!(&result, &g.convolution(&f));
        for time in halves(12) {
            let expected = convolution_by_definition(&f, &g, &time);
            prop_assert_eq!(result.value(&time), expected, "at {}", time);
        }
    }

    #[test]
    fn deconvolution(f in curve(), g in curve()) {
        let result = f.deconvolution(&g);
        let outgrown = match (f.long_term_rate(), g.long_term_rate()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(own), Some(other)) => own > other,
        };
        for time in halves(8) {
            let expected = deconvolution_by_definition(&f, &g, &time, 12);
            let expected = if outgrown { Extended::Infinity } else { expected };
            prop_assert_eq!(result.value(&time), expected, "at {}", time);
        }
    }

    #[test]
    fn vertical_deviation(f in curve(), g in curve()) {
        let backlog = f.vertical_deviation(&g);
        let expected = f.deconvolution(&g).value(&Rational::ZERO).max(Extended::ZERO);
        prop_assert_eq!(backlog, expected);
    }

    #[test]
    fn horizontal_deviation(f in curve(), g in curve()) {
        let little = ratio(1, 10_000);
        let times = || (0..240).flat_map(|part| [ratio(part, 12), ratio(part, 12) + ratio(1, 10_000)]);
        match f.horizontal_deviation(&g) {
            Extended::Finite(delay) => {
                let longer = &delay + &little;
                for time in times() {
                    prop_assert!(f.value(&time) <= g.value(&(&time + &longer)), "at {}", time);
                }
                let shorter = &delay - &little * Rational::from(10);
                let attained = |time| f.value(&time) > g.value(&(&time + &shorter));
                prop_assert!(delay.is_zero() || times().any(attained), "{} is too much", delay);
            }
            _ => {
                let far = Rational::from(1_000);
                let late = &far + ratio(100, 1);
                prop_assert!(times().chain([far, late]).any(|time| f.value(&time) > g.value(&(&time + ratio(20, 1)))));
            }
        }
    }

    /// Corners of a hull are corners of the curve, and no line from one side of a corner to the other is on the curve's side of it.
    #[test]
    fn concave_above(f in curve()) {
        let hull = f.concave_above();
        prop_assert_eq!(hull.value(&Rational::ZERO), Extended::ZERO);
        if f.long_term_rate().is_none() {
            prop_assert_eq!(right(&hull, &Rational::ZERO), Extended::Infinity);
            return Ok(());
        }
        prop_assert_eq!(hull.long_term_rate(), f.long_term_rate());
        for time in halves(12) {
            prop_assert!(hull.value(&time) >= f.value(&time) || time.is_zero());
            prop_assert!(right(&hull, &time) >= right(&f, &time));
            let least = f.leaky_buckets().into_iter().map(|(burst, rate)| burst + rate * &time).min();
            prop_assert_eq!(Some(right(&hull, &time)), least.map(Extended::Finite));
        }
        for piece in &hull.pieces {
            let touched = f.right(&piece.start).0.max(f.value(&piece.start)) == piece.after;
            prop_assert!(touched, "at {}", piece.start);
        }
        let slopes: Vec<_> = hull.pieces.iter().map(|piece| -&piece.slope).collect();
        prop_assert!(slopes.is_sorted_by(|one, other| one < other));
        let line = f.line_above().unwrap().unwrap();
        prop_assert_eq!(line.concave_above(), line.clone());
        prop_assert_eq!(f.vertical_deviation(&line), Extended::ZERO);
    }

    #[test]
    fn convex_below(f in curve(), g in curve()) {
        let hull = f.convex_below();
        for time in halves(12) {
            prop_assert!(hull.value(&time) <= f.value(&time));
            prop_assert!(right(&hull, &time) <= right(&f, &time));
            for (rate, latency) in f.rate_latencies() {
                prop_assert!(Extended::Finite(rate * (&time - latency).max(Rational::ZERO)) <= f.value(&time));
            }
        }
        for piece in &hull.pieces {
            let of_curve = [f.value(&piece.start), f.before(&piece.start).line(&piece.start)];
            prop_assert!(of_curve.contains(&piece.at), "at {}", piece.start);
        }
        let slopes: Vec<_> = hull.pieces.iter().map(|piece| (piece.after.clone() == Extended::Infinity, piece.slope.clone())).collect();
        prop_assert!(slopes.is_sorted_by(|one, other| one < other));
        prop_assert_eq!(hull.long_term_rate(), f.long_term_rate());
        let other = g.convex_below();
        prop_assert_eq!(hull.convolution_of_convex(&other), hull.convolution(&other));
    }

    #[test]
    fn later(f in curve(), delay in 0i64..5) {
        let delay = ratio(delay, 2);
        prop_assert_eq!(f.later(&delay), f.convolution(&Curve::burst_delay(delay.clone()).unwrap()));
    }

    #[test]
    fn first_not_above(f in curve(), g in curve()) {
        let far = 4_000i64;
        let met = f.first_not_above(&g);
        let times = || (1..=far).map(|part| ratio(part, 100));
        let is_met = |time: &Rational| f.value(time) <= g.value(time);
        match met {
            Some(met) => {
                prop_assert!(times().all(|time| time >= met || !is_met(&time)), "before {}", met);
                let little = ratio(1, 1_000_000);
                prop_assert!([&met + &little, met.clone()].iter().any(|time| !time.is_zero() && is_met(time)), "not at {}", met);
            }
            None => prop_assert!(!times().any(|time| is_met(&time))),
        }
    }

    #[test]
    fn residual(f in curve(), g in curve(), from in 0i64..4) {
        let from = Rational::from(from);
        let result = f.residual(&g, &from);
        for time in halves(10) {
            let mut expected = Extended::Infinity;
            for later in halves(14).filter(|later| *later >= time) {
                let back = &later - &from;
                let served = |own: Extended, other: Extended| difference(&own, &other).unwrap_or(Extended::ZERO).max(Extended::ZERO);
                let now = served(f.value(&later), if back > Rational::ZERO { g.value(&back) } else { Extended::ZERO });
                expected = expected.min(if back > Rational::ZERO { now } else { Extended::ZERO });
                if back >= Rational::ZERO {
                    expected = expected.min(served(right(&f, &later), right(&g, &back)));
                }
                if later > time && back > Rational::ZERO {
                    expected = expected.min(served(left(&f, &later), left(&g, &back)));
                }
            }
            // A curve that falls in the long run ends at 0.
            if f.long_term_rate().zip(g.long_term_rate()).is_some_and(|(own, other)| own < other) || g.long_term_rate().is_none() {
                expected = Extended::ZERO;
            }
            let expected = if time <= from { Extended::ZERO } else { expected };
            prop_assert_eq!(result.value(&time), expected, "at {}", time);
        }
    }

    #[test]
    fn advanced(f in curve(), delay in 0i64..20) {
        let delay = ratio(delay, 4);
        let result = f.advanced(&delay);
        for time in halves(10) {
            prop_assert_eq!(result.value(&time), f.value(&(&time + &delay)));
        }
    }
}

#[test]
fn constructors() {
    let number = |value: i64| Extended::Finite(value.into());
    let bucket = Curve::leaky_bucket(3.into(), 2.into()).unwrap();
    assert_eq!(
        [0, 1, 5].map(|time| bucket.value(&time.into())),
        [0, 5, 13].map(number)
    );
    let server = Curve::rate_latency(2.into(), 3.into()).unwrap();
    assert_eq!(
        [0, 3, 5].map(|time| server.value(&time.into())),
        [0, 0, 4].map(number)
    );
    let delay = Curve::burst_delay(3.into()).unwrap();
    assert_eq!(delay.value(&3.into()), number(0));
    assert_eq!(delay.value(&ratio(301, 100)), Extended::Infinity);
    let stairs = Curve::staircase(5.into(), 2.into(), 3).unwrap();
    for half in 1..=12 {
        assert_eq!(
            stairs.value(&ratio(half, 2)),
            number((half + 3) / 4 * 5),
            "{half}/2"
        );
    }
    assert_eq!(stairs.value(&7.into()), Extended::Finite(ratio(45, 2)));
    assert_eq!(
        Curve::staircase(5.into(), 0.into(), 3),
        Err(crate::CurveError::Period)
    );
    assert_eq!(
        Curve::leaky_bucket((-1).into(), 0.into()),
        Err(crate::CurveError::Negative("burst"))
    );
}

#[test]
fn corners_of_a_staircase() {
    let stairs = Curve::staircase(3.into(), 2.into(), 2).unwrap();
    let corners = |end: i64| -> Vec<(Rational, Rational)> { stairs.corners(&end.into()) };
    let expected = |corners: &[(i64, i64)]| -> Vec<(Rational, Rational)> {
        let corners = corners.iter();
        corners
            .map(|(time, value)| ((*time).into(), (*value).into()))
            .collect()
    };
    assert_eq!(corners(1), expected(&[(0, 0), (0, 3), (1, 3)]));
    let until_line = [(0, 0), (0, 3), (2, 3), (2, 6), (4, 6), (4, 9), (6, 12)];
    assert_eq!(corners(6), expected(&until_line));
    let delay = Curve::burst_delay(2.into()).unwrap();
    assert_eq!(delay.corners(&5.into()), expected(&[(0, 0), (2, 0)]));
}

#[test]
fn rate_latency_and_leaky_bucket() {
    let arrival = Curve::leaky_bucket(25.into(), 5.into()).unwrap();
    let server = Curve::rate_latency(10.into(), 10.into()).unwrap();
    assert_eq!(
        arrival.horizontal_deviation(&server),
        Extended::Finite(ratio(25, 2))
    );
    assert_eq!(
        arrival.vertical_deviation(&server),
        Extended::Finite(75.into())
    );
    assert_eq!(
        arrival.deconvolution(&server).value(&0.into()),
        Extended::Finite(75.into())
    );
    let both = server.convolution(&Curve::rate_latency(7.into(), 1.into()).unwrap());
    assert_eq!(both, Curve::rate_latency(7.into(), 11.into()).unwrap());
    assert_eq!(server.horizontal_deviation(&arrival), Extended::Infinity);
}
