//! The aggregate functions: names and NodeIds (OPC 10000-13, 4.2.2), for clients and servers. `takt-history/src/aggregate` computes
//! them: a new one is a variant here, and an arm of `Calculation::result` there.

use crate::ids;
use crate::types::NodeId;

/// A supported aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub enum Aggregate {
    Interpolative,
    Average,
    TimeAverage,
    Total,
    Minimum,
    Maximum,
    MinimumActualTime,
    MaximumActualTime,
    Range,
    Count,
    Start,
    End,
    Delta,
    DurationGood,
    DurationBad,
    PercentGood,
    PercentBad,
    StandardDeviationSample,
    StandardDeviationPopulation,
    VarianceSample,
    VariancePopulation,
}

impl Aggregate {
    /// All of them, with the NodeIds of their AggregateFunctions in namespace 0, and their BrowseNames.
    pub const ALL: [(Self, u32, &'static str); 21] = [
        (
            Self::Interpolative,
            ids::AGGREGATE_FUNCTION_INTERPOLATIVE,
            "Interpolative",
        ),
        (Self::Average, ids::AGGREGATE_FUNCTION_AVERAGE, "Average"),
        (
            Self::TimeAverage,
            ids::AGGREGATE_FUNCTION_TIME_AVERAGE,
            "TimeAverage",
        ),
        (Self::Total, ids::AGGREGATE_FUNCTION_TOTAL, "Total"),
        (Self::Minimum, ids::AGGREGATE_FUNCTION_MINIMUM, "Minimum"),
        (Self::Maximum, ids::AGGREGATE_FUNCTION_MAXIMUM, "Maximum"),
        (
            Self::MinimumActualTime,
            ids::AGGREGATE_FUNCTION_MINIMUM_ACTUAL_TIME,
            "MinimumActualTime",
        ),
        (
            Self::MaximumActualTime,
            ids::AGGREGATE_FUNCTION_MAXIMUM_ACTUAL_TIME,
            "MaximumActualTime",
        ),
        (Self::Range, ids::AGGREGATE_FUNCTION_RANGE, "Range"),
        (Self::Count, ids::AGGREGATE_FUNCTION_COUNT, "Count"),
        (Self::Start, ids::AGGREGATE_FUNCTION_START, "Start"),
        (Self::End, ids::AGGREGATE_FUNCTION_END, "End"),
        (Self::Delta, ids::AGGREGATE_FUNCTION_DELTA, "Delta"),
        (
            Self::DurationGood,
            ids::AGGREGATE_FUNCTION_DURATION_GOOD,
            "DurationGood",
        ),
        (
            Self::DurationBad,
            ids::AGGREGATE_FUNCTION_DURATION_BAD,
            "DurationBad",
        ),
        (
            Self::PercentGood,
            ids::AGGREGATE_FUNCTION_PERCENT_GOOD,
            "PercentGood",
        ),
        (
            Self::PercentBad,
            ids::AGGREGATE_FUNCTION_PERCENT_BAD,
            "PercentBad",
        ),
        (
            Self::StandardDeviationSample,
            ids::AGGREGATE_FUNCTION_STANDARD_DEVIATION_SAMPLE,
            "StandardDeviationSample",
        ),
        (
            Self::StandardDeviationPopulation,
            ids::AGGREGATE_FUNCTION_STANDARD_DEVIATION_POPULATION,
            "StandardDeviationPopulation",
        ),
        (
            Self::VarianceSample,
            ids::AGGREGATE_FUNCTION_VARIANCE_SAMPLE,
            "VarianceSample",
        ),
        (
            Self::VariancePopulation,
            ids::AGGREGATE_FUNCTION_VARIANCE_POPULATION,
            "VariancePopulation",
        ),
    ];

    /// Returns the aggregate of an AggregateFunction; `None` if it is not supported.
    #[must_use]
    pub fn of_node(node_id: &NodeId) -> Option<Self> {
        let found = Self::ALL
            .iter()
            .find(|(_, id, _)| *node_id == NodeId::numeric(0, *id));
        found.map(|(aggregate, ..)| *aggregate)
    }

    /// Returns the NodeId of the AggregateFunction.
    #[must_use]
    pub fn node_id(self) -> NodeId {
        let found = Self::ALL.iter().find(|(aggregate, ..)| *aggregate == self);
        NodeId::numeric(0, found.map_or(0, |(_, id, _)| *id))
    }

    /// Returns the BrowseName.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(aggregate, ..)| *aggregate == self);
        found.map_or("", |(.., name)| name)
    }

    /// Returns the aggregate with this name, in any case of its letters.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let found = Self::ALL
            .iter()
            .find(|(.., known)| known.eq_ignore_ascii_case(name));
        found.map(|(aggregate, ..)| *aggregate)
    }
}
