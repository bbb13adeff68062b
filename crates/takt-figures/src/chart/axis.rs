//! Axes: their range, their scale and their ticks.

use crate::number::trimmed;

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Fitted scale: linear, or logarithmic if the given ticks are spread more evenly on it.
    #[default]
    Fitted,
    /// Linear scale.
    Linear,
    /// Logarithmic scale. Values are above zero.
    Logarithmic,
}

/// Narrowest range of a linear axis, as a share of its values.
const NARROWEST: f64 = 0.05;

/// An axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    name: String,
    scale: Scale,
    ticks: Vec<(f64, String)>,
    range: Option<(f64, f64)>,
}

impl Axis {
    /// Creates an axis whose range and ticks fit the data. The name contains the unit.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            scale: Scale::Fitted,
            ticks: Vec::new(),
            range: None,
        }
    }

    /// Creates an axis with names at 0, 1, 2 and so on.
    pub fn names(name: impl Into<String>, names: &[String]) -> Self {
        let ticks = names.iter().enumerate();
        let ticks = ticks.map(|(index, name)| (index as f64, name.clone()));
        Self {
            scale: Scale::Linear,
            ticks: ticks.collect(),
            range: Some((-0.5, names.len() as f64 - 0.5)),
            ..Self::new(name)
        }
    }

    /// Sets the scale.
    #[must_use]
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Sets ticks, each with place and label.
    #[must_use]
    pub fn ticks(mut self, ticks: impl IntoIterator<Item = (f64, String)>) -> Self {
        self.ticks = ticks.into_iter().collect();
        self.ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.ticks.dedup_by(|one, other| one.0 == other.0);
        self
    }

    /// Sets the range.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Returns true if a logarithmic scale was set.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.scale == Scale::Logarithmic
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the axis for these values, with about `count` ticks. Without `tight` it extends beyond the values, to zero or to a
    /// tick.
    pub(super) fn resolve(&self, values: &[f64], count: usize, tight: bool) -> Resolved {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let is_logarithmic = finite().all(|value| value > 0.0)
            && match self.scale {
                Scale::Logarithmic => true,
                Scale::Linear => false,
                Scale::Fitted => is_more_even_logarithmic(&self.ticks),
            };
        let low = finite().fold(f64::MAX, f64::min);
        let high = finite().fold(f64::MIN, f64::max);
        // There is no finite value. The axis needs a range all the same, one that a logarithm accepts.
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        if is_logarithmic {
            self.logarithmic(low, high, tight)
        } else {
            self.linear(low, high, count, tight)
        }
    }

    fn logarithmic(&self, low: f64, high: f64, tight: bool) -> Resolved {
        // Without a margin, a single value would have no range.
        let margin = if tight && low < high { 1.0 } else { 1.25 };
        let (low, high) = self.range.unwrap_or((low / margin, high * margin));
        let ticks = if self.ticks.is_empty() {
            logarithmic_ticks(low, high)
        } else {
            self.ticks.clone()
        };
        Resolved {
            low,
            high,
            is_logarithmic: true,
            ticks,
        }
    }

    fn linear(&self, low: f64, high: f64, count: usize, tight: bool) -> Resolved {
        let (mut low, mut high) = self.range.unwrap_or((low, high));
        if self.range.is_none() && !tight && low > 0.0 && low < 0.4 * high {
            low = 0.0;
        }
        // Insignificant differences appear as none.
        let narrowest = if tight { 1e-9 } else { NARROWEST };
        if self.range.is_none() && high - low <= high.abs() * narrowest {
            let middle = f64::midpoint(low, high);
            let half = (middle.abs() * NARROWEST / 2.0).max(0.5);
            (low, high) = (middle - half, middle + half);
        }
        let step = nice_step((high - low) / count.max(1) as f64);
        if self.range.is_none() && !tight {
            // A quotient that is a whole number but for a rounding error must not add a step.
            low = (low / step + 1e-9).floor() * step;
            high = (high / step - 1e-9).ceil() * step;
        }
        let ticks = if self.ticks.is_empty() {
            linear_ticks(low, high, step)
        } else {
            self.ticks.clone()
        };
        Resolved {
            low,
            high,
            is_logarithmic: false,
            ticks,
        }
    }
}

/// An axis with its range and its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resolved {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    ticks: Vec<(f64, String)>,
}

impl Resolved {
    /// Returns what a reader has to know who expects an axis that begins at 0; `None` if 0 is on the axis.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match (self.is_logarithmic, self.low > 0.0 || self.high < 0.0) {
            (true, _) => Some("The vertical axis is logarithmic."),
            (false, true) => Some("The vertical axis does not begin at 0."),
            (false, false) => None,
        }
    }

    /// Returns the place of a value between the beginning of the axis, 0, and its end, 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high) = (self.low, self.high);
        if self.is_logarithmic {
            // Values of 0 and below have no logarithm.
            return (value.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln();
        }
        (value - low) / (high - low)
    }

    /// Returns places and labels of the ticks on the axis.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        let ticks = self.ticks.iter();
        let placed = ticks.map(|(value, label)| (self.place(*value), label.as_str()));
        // The first and the last tick are at 0 and 1 only up to rounding errors.
        placed.filter(|(place, _)| (-0.001..=1.001).contains(place))
    }
}

/// Returns true if the smallest distance of two ticks is larger on a logarithmic axis.
fn is_more_even_logarithmic(ticks: &[(f64, String)]) -> bool {
    let (Some((first, _)), Some((last, _))) = (ticks.first(), ticks.last()) else {
        return false;
    };
    if *first <= 0.0 || first >= last {
        return false;
    }
    let smallest = |place: &dyn Fn(f64) -> f64| {
        let pairs = ticks.windows(2);
        let distances = pairs.map(|pair| place(pair[1].0) - place(pair[0].0));
        distances.fold(f64::MAX, f64::min) / (place(*last) - place(*first))
    };
    smallest(&f64::ln) > 1.5 * smallest(&|value| value)
}

/// Largest number of ticks of an axis: with damaged data a step may be much smaller than the range.
const MAX_TICKS: usize = 1_000;

/// Returns the next larger of 1, 2 and 5 times a power of ten.
fn nice_step(least: f64) -> f64 {
    // Damaged data may have any range.
    if !(least.is_finite() && least >= f64::MIN_POSITIVE) {
        return 1.0;
    }
    let power = 10_f64.powf(least.log10().floor());
    // `least` is a quotient. A rounding error above a factor must not lead to the next one.
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= least * 0.999);
    factor.unwrap_or(10.0) * power
}

fn linear_ticks(low: f64, high: f64, step: f64) -> Vec<(f64, String)> {
    // A tick at an end must not get lost by a rounding error.
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let tick = |number: i64| {
        let value = number as f64 * step;
        (value, trimmed(value, decimals))
    };
    (first..=last).take(MAX_TICKS).map(tick).collect()
}

/// Returns multiples of powers of ten: as many of 1, 2 and 5 as give at most nine ticks.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let decades = (high / low).log10();
    if decades < 0.7 {
        let step = nice_step((high - low) / 5.0);
        return linear_ticks(low, high, step);
    }
    let factors: &[f64] = match decades {
        decades if decades <= 3.0 => &[1.0, 2.0, 5.0],
        decades if decades <= 5.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let exponent = |value: f64| value.log10().clamp(-300.0, 300.0);
    let exponents = exponent(low).floor() as i32..=exponent(high).ceil() as i32;
    let ticks = exponents.flat_map(|exponent| {
        factors.iter().map(move |factor| {
            let value = factor * 10_f64.powi(exponent);
            (value, trimmed(value, (-exponent).max(0) as usize))
        })
    });
    ticks
        .filter(|(value, _)| (low..=high).contains(value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_data_has_an_axis() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1e-320,
            1e-300,
            1e300,
            9.3e18,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for one in values {
            for other in values {
                for tight in [false, true] {
                    let axis = Axis::new("µs").resolve(&[one, other], 5, tight);
                    assert!(axis.ticks.len() <= MAX_TICKS, "{one} {other}");
                }
                assert!(linear_ticks(one, other, nice_step(other - one)).len() <= MAX_TICKS);
                assert!(logarithmic_ticks(one, other).len() <= 2 * MAX_TICKS);
            }
        }
    }

    fn labels(axis: &Resolved) -> Vec<&str> {
        axis.ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn ranges_fit_the_data() {
        let axis = Axis::new("µs");
        let far = axis.resolve(&[572.0, 745.0], 5, false);
        assert_eq!((far.low, far.high), (550.0, 750.0));
        assert_eq!(labels(&far), ["550", "600", "650", "700", "750"]);
        let near = axis.resolve(&[10.0, 745.0], 5, false);
        assert_eq!((near.low, near.high), (0.0, 800.0));
        let equal = axis.resolve(&[50.288, 50.376], 5, false);
        assert!(equal.high - equal.low > 1.0, "{equal:?}");
        let alone = axis.resolve(&[5.0], 5, true);
        assert!(alone.low < 5.0 && alone.high > 5.0);
        assert!(axis.resolve(&[], 5, true).ticks().count() > 2);
        let share = Axis::new("%").range(0.0, 100.0).resolve(&[50.0], 5, false);
        assert_eq!(labels(&share), ["0", "20", "40", "60", "80", "100"]);
    }

    #[test]
    fn an_axis_without_0_says_so() {
        let remark = |axis: Axis, values: &[f64]| axis.resolve(values, 5, false).remark();
        let axis = || Axis::new("\u{b5}s");
        let cut = Some("The vertical axis does not begin at 0.");
        assert_eq!(remark(axis(), &[572.0, 745.0]), cut);
        assert_eq!(remark(axis(), &[-745.0, -572.0]), cut);
        assert_eq!(remark(axis(), &[10.0, 745.0]), None);
        assert_eq!(remark(axis(), &[-1.0, 2.0]), None);
        let logarithmic = axis().scale(Scale::Logarithmic);
        let found = remark(logarithmic, &[1.0, 1000.0]);
        assert_eq!(found, Some("The vertical axis is logarithmic."));
    }

    #[test]
    fn values_that_grow_by_factors_are_on_a_logarithmic_axis() {
        let at = |values: &[f64]| {
            let ticks = values.iter().map(|value| (*value, value.to_string()));
            let axis = Axis::new("").ticks(ticks);
            axis.resolve(values, 5, true)
        };
        let hops = at(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert!(!hops.is_logarithmic);
        assert_eq!(labels(&hops), ["1", "2", "3", "4", "5", "6", "7"]);
        let counts = at(&[2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 160.0]);
        assert!(counts.is_logarithmic);
        assert!((counts.place(2.0), counts.place(160.0)) == (0.0, 1.0));
        assert!(!at(&[-1.0, 0.0, 1000.0]).is_logarithmic);
    }

    #[test]
    fn logarithmic_ticks_are_few() {
        let of = |low: f64, high: f64| -> Vec<String> {
            let ticks = logarithmic_ticks(low, high).into_iter();
            ticks.map(|tick| tick.1).collect()
        };
        assert_eq!(of(0.4, 9.0), ["0.5", "1", "2", "5"]);
        assert_eq!(of(30.0, 40.0), ["30", "32", "34", "36", "38", "40"]);
        for decades in 1..12 {
            let count = of(1.0, 10_f64.powi(decades)).len();
            assert!((2..=13).contains(&count), "{decades}: {count}");
        }
    }
}
