//! Functions of the language.

use super::types::{ExpressionType, ValueKind};
use super::value::ExpressionValue;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Mean,
    First,
    Last,
    Spread,
    Argmin,
    Argmax,
    Differences,
    Abs,
    Size,
    Increasing,
    Decreasing,
    Nondecreasing,
    Nonincreasing,
    Every,
    Some,
    Count,
    Only,
    Without,
}

/// Kind of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A series of numbers or times.
    Series,
    /// A series of truths.
    Truths,
    /// Numbers or times, one or several.
    Any,
    /// A series, and names of cells.
    SeriesAndNames,
}

use Function::{
    Abs, Argmax, Argmin, Count, Decreasing, Differences, Every, First, Increasing, Last, Max, Mean,
    Min, Nondecreasing, Nonincreasing, Only, Size, Spread, Without,
};

const ALL: [(&str, Function); 20] = [
    ("min", Min),
    ("max", Max),
    ("mean", Mean),
    ("first", First),
    ("last", Last),
    ("spread", Spread),
    ("argmin", Argmin),
    ("argmax", Argmax),
    ("differences", Differences),
    ("abs", Abs),
    ("size", Size),
    ("increasing", Increasing),
    ("decreasing", Decreasing),
    ("nondecreasing", Nondecreasing),
    ("nonincreasing", Nonincreasing),
    ("every", Every),
    ("some", Function::Some),
    ("count", Count),
    ("only", Only),
    ("without", Without),
];

impl Function {
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let mut all = ALL.iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, function)| *function)
    }

    pub(super) fn names() -> [&'static str; 20] {
        ALL.map(|(name, _)| name)
    }

    fn takes(self) -> Takes {
        match self {
            Every | Self::Some | Count => Takes::Truths,
            Abs => Takes::Any,
            Only | Without => Takes::SeriesAndNames,
            _ => Takes::Series,
        }
    }

    /// Returns the type of the result, or a description of the arguments that the function takes.
    pub(super) fn result(
        self,
        arguments: &[ExpressionType],
    ) -> Result<ExpressionType, &'static str> {
        let scalar = |kind| ExpressionType {
            kind,
            is_series: false,
        };
        let is_number =
            |it: &ExpressionType| matches!(it.kind, ValueKind::Number | ValueKind::Time);
        let (first, others) = match arguments.split_first() {
            Some((first, others)) => (*first, others),
            None => (scalar(ValueKind::Text), arguments),
        };
        let is_series = first.is_series && is_number(&first);
        let is_name = |it: &ExpressionType| *it == scalar(ValueKind::Text);
        match self.takes() {
            Takes::Series if !is_series || !others.is_empty() => {
                return Err("one series, such as `ours(\"RTT\")`");
            }
            Takes::Truths
                if !first.is_series || first.kind != ValueKind::Truth || !others.is_empty() =>
            {
                return Err("one comparison of a series, such as `ours(\"RTT\") < 1 ms`");
            }
            Takes::Any if !is_number(&first) || !others.is_empty() => {
                return Err("one number, time or series");
            }
            Takes::SeriesAndNames
                if !is_series || others.is_empty() || !others.iter().all(is_name) =>
            {
                return Err("a series, and names of cells in quotes");
            }
            _ => {}
        }
        Ok(match self {
            Min | Max | Mean | First | Last | Spread => scalar(first.kind),
            Differences | Abs | Only | Without => first,
            Argmin | Argmax => scalar(ValueKind::Text),
            Size | Count => scalar(ValueKind::Number),
            Increasing | Decreasing | Nondecreasing | Nonincreasing | Every | Self::Some => {
                scalar(ValueKind::Truth)
            }
        })
    }

    /// Computes the function. `names` are those behind the first argument.
    pub(super) fn compute(self, of: ExpressionValue, names: &[String]) -> ExpressionValue {
        use ExpressionValue::{Number, Numbers, Text, Truth};
        if let ExpressionValue::Truths(truths) = &of {
            let count = truths.iter().filter(|(_, truth)| *truth).count();
            return match self {
                // A claim about no cell is no finding.
                Every => Truth(count == truths.len() && !truths.is_empty()),
                Self::Some => Truth(count > 0),
                _ => Number(count as f64),
            };
        }
        if self == Abs {
            return match of {
                Numbers(numbers) => Numbers(each(numbers, f64::abs)),
                of => Number(of.number().abs()),
            };
        }
        let numbers = of.series();
        let values = || numbers.iter().map(|(_, value)| *value);
        // `f64::min` would ignore a NaN.
        let best = |better: fn(f64, f64) -> bool| {
            let mut best: Option<&(String, f64)> = None;
            for one in &numbers {
                if one.1.is_nan() {
                    return None;
                }
                if best.is_none_or(|best| better(one.1, best.1)) {
                    best = Option::Some(one);
                }
            }
            best
        };
        let least = || best(|one, other| one < other);
        let most = || best(|one, other| one > other);
        let value = |of: Option<&(String, f64)>| of.map_or(f64::NAN, |it| it.1);
        let name = |of: Option<&(String, f64)>| of.map_or(String::new(), |it| it.0.clone());
        let pairs = |holds: fn(f64, f64) -> bool| {
            let mut pairs = numbers.windows(2);
            Truth(numbers.len() > 1 && pairs.all(|pair| holds(pair[0].1, pair[1].1)))
        };
        match self {
            Min => Number(value(least())),
            Max => Number(value(most())),
            Mean => Number(values().sum::<f64>() / numbers.len() as f64),
            First => Number(value(numbers.first())),
            Last => Number(value(numbers.last())),
            Spread => Number(value(most()) - value(least())),
            Argmin => Text(name(least())),
            Argmax => Text(name(most())),
            Size => Number(numbers.len() as f64),
            Increasing => pairs(|one, next| one < next),
            Decreasing => pairs(|one, next| one > next),
            Nondecreasing => pairs(|one, next| one <= next),
            Nonincreasing => pairs(|one, next| one >= next),
            Differences => {
                let pairs = numbers.windows(2);
                let differences = pairs.map(|pair| (pair[1].0.clone(), pair[1].1 - pair[0].1));
                Numbers(differences.collect())
            }
            Only | Without => {
                let keeps = |it: &(String, f64)| names.contains(&it.0) == (self == Only);
                Numbers(numbers.into_iter().filter(keeps).collect())
            }
            Abs | Every | Self::Some | Count => Number(f64::NAN),
        }
    }
}

/// Returns a series with a function of each number.
pub(super) fn each(
    mut numbers: Vec<(String, f64)>,
    function: impl Fn(f64) -> f64,
) -> Vec<(String, f64)> {
    for (_, number) in &mut numbers {
        *number = function(*number);
    }
    numbers
}
