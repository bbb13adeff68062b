//! HistoryReadDetails as queries, and their continuation points.

use takt_history::{
    Aggregate, AggregateSettings, AtTimeQuery, Budget, HistoryError, ProcessedQuery, QueryOutput,
    QueryProgress, RawPosition, RawQuery, RawStage, Records, ValueForm,
};
use takt_space::RemoteHistoryRead;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{
    AggregateConfiguration, ReadAtTimeDetails, ReadProcessedDetails, ReadRawModifiedDetails,
};
use takt_ua::{DateTime, NumericRange, StatusCode};

use super::limits::MAX_RETURN_DATA_VALUES;

/// A query of the history of one Variable.
pub(super) enum Query {
    Raw(RawQuery),
    AtTime(AtTimeQuery),
    Processed(Box<ProcessedQuery>),
}

/// A query with the form and the number of its values.
pub(super) struct Begun {
    pub(super) query: Query,
    pub(super) form: ValueForm,
    pub(super) max_values: u32,
}

impl Query {
    /// Creates the query of an operation.
    pub(super) fn begin(read: &RemoteHistoryRead, stepped: bool) -> Result<Begun, StatusCode> {
        let details = &read.details;
        let invalid = |_| StatusCode::BadHistoryOperationInvalid;
        let range = NumericRange::of_request(read.node.index_range.as_option())?;
        let timestamps = read.timestamps;
        let form = ValueForm {
            source_timestamp: timestamps != TimestampsToReturn::Server,
            server_timestamp: timestamps != TimestampsToReturn::Source,
            index_range: range,
        };
        let has_range = form.index_range.is_some();
        let mut max_values = MAX_RETURN_DATA_VALUES;
        let mut query = if details.is::<ReadRawModifiedDetails>() {
            let raw: ReadRawModifiedDetails = details.decode_as().map_err(invalid)?;
            if raw.num_values_per_node > 0 {
                max_values = max_values.min(raw.num_values_per_node);
            }
            Self::Raw(RawQuery::new(
                given(raw.start_time),
                given(raw.end_time),
                raw.num_values_per_node,
                raw.return_bounds,
            )?)
        } else if details.is::<ReadAtTimeDetails>() {
            let at: ReadAtTimeDetails = details.decode_as().map_err(invalid)?;
            if has_range {
                return Err(StatusCode::BadIndexRangeNoData);
            }
            let settings = AggregateSettings::new(stepped);
            Self::AtTime(AtTimeQuery::new(
                at.req_times,
                at.use_simple_bounds,
                settings,
            ))
        } else {
            let processed: ReadProcessedDetails = details.decode_as().map_err(invalid)?;
            // A calculated value has the time of its interval only (OPC 10000-13, 5.4.3.1).
            if timestamps == TimestampsToReturn::Server {
                return Err(StatusCode::BadTimestampsToReturnInvalid);
            }
            if has_range {
                return Err(StatusCode::BadIndexRangeNoData);
            }
            let aggregate = processed
                .aggregate_type
                .first()
                .and_then(Aggregate::of_node);
            let aggregate = aggregate.ok_or(StatusCode::BadAggregateNotSupported)?;
            let start =
                given(processed.start_time).ok_or(StatusCode::BadHistoryOperationInvalid)?;
            let end = given(processed.end_time).ok_or(StatusCode::BadHistoryOperationInvalid)?;
            let settings = settings(&processed.aggregate_configuration, stepped);
            let interval = processed.processing_interval;
            let mut query = ProcessedQuery::new(aggregate, start, end, interval, settings)?;
            if stepped {
                // Changes are recorded: without one, the last value holds until now.
                query = query.known_until(DateTime::now());
            }
            Self::Processed(Box::new(query))
        };
        // The point has the whole state of the query, so that nothing is kept for a client that never continues.
        let point = read.node.continuation_point.as_bytes();
        if !point.is_empty() {
            query
                .resume(point)
                .ok_or(StatusCode::BadContinuationPointInvalid)?;
        }
        Ok(Begun {
            query,
            form,
            max_values,
        })
    }

    pub(super) fn run(
        &mut self,
        records: &mut impl Records,
        output: &mut QueryOutput,
        budget: &mut Budget,
    ) -> Result<QueryProgress, HistoryError> {
        match self {
            Self::Raw(query) => query.run(records, output, budget),
            Self::AtTime(query) => query.run(records, output, budget),
            Self::Processed(query) => query.run(records, output, budget),
        }
    }

    /// Returns true if an empty result is Good_NoData.
    pub(super) fn may_be_empty(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    /// Returns the continuation point; empty if nothing follows.
    pub(super) fn continuation_point(&self) -> Vec<u8> {
        let number = |kind: u8, next: u64| {
            let mut point = vec![kind];
            point.extend_from_slice(&next.to_le_bytes());
            point
        };
        match self {
            Self::Raw(query) => {
                let Some(position) = query.position() else {
                    return Vec::new();
                };
                let mut point = vec![
                    1,
                    match position.stage {
                        RawStage::StartBound => 0,
                        RawStage::Records => 1,
                        RawStage::EndBound => 2,
                        RawStage::Over => 3,
                    },
                ];
                point.extend_from_slice(&position.time.0.to_le_bytes());
                point.extend_from_slice(&position.left.to_le_bytes());
                point
            }
            Self::AtTime(query) => {
                let next = query.position();
                next.map_or_else(Vec::new, |next| number(2, next as u64))
            }
            Self::Processed(query) => {
                let next = query.position();
                next.map_or_else(Vec::new, |next| number(3, next))
            }
        }
    }

    /// Continues from a continuation point of a query with the same details; `None` if it is not valid.
    fn resume(&mut self, point: &[u8]) -> Option<()> {
        let (kind, rest) = point.split_first()?;
        match (self, kind) {
            (Self::Raw(query), 1) => {
                let (stage, rest) = rest.split_first()?;
                let (time, left) = rest.split_at_checked(8)?;
                query.resume(RawPosition {
                    stage: match stage {
                        0 => RawStage::StartBound,
                        1 => RawStage::Records,
                        2 => RawStage::EndBound,
                        _ => return None,
                    },
                    time: DateTime(i64::from_le_bytes(time.try_into().ok()?)),
                    left: u32::from_le_bytes(left.try_into().ok()?),
                });
            }
            (Self::AtTime(query), 2) => {
                let next = u64::from_le_bytes(rest.try_into().ok()?);
                query.resume(usize::try_from(next).ok()?);
            }
            (Self::Processed(query), 3) => query.resume(u64::from_le_bytes(rest.try_into().ok()?)),
            _ => return None,
        }
        Some(())
    }
}

/// Returns a time, unless it is not specified (OPC 10000-11, 6.5.3.1): DateTime.MinValue.
fn given(time: DateTime) -> Option<DateTime> {
    (time.0 > 0).then_some(time)
}

fn settings(configuration: &AggregateConfiguration, stepped: bool) -> AggregateSettings {
    if configuration.use_server_capabilities_defaults {
        return AggregateSettings::new(stepped);
    }
    AggregateSettings {
        treat_uncertain_as_bad: configuration.treat_uncertain_as_bad,
        percent_data_bad: configuration.percent_data_bad,
        percent_data_good: configuration.percent_data_good,
        use_sloped_extrapolation: configuration.use_sloped_extrapolation,
        stepped,
    }
}
