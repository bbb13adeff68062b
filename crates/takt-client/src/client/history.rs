//! Reading of history (OPC 10000-4, 5.11.3); continuation points are handled internally.

use std::time::Duration;

use takt_ua::Aggregate;
use takt_ua::binary::Encode;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{
    ByteString, DataValue, DateTime, ExtensionObject, NodeId, Structure, Variant, foreign,
};

use super::Client;
use super::answer_budget::AnswerBudget;
use super::attributes::good;
use super::event_query::EventQuery;
use super::requests::{Requests, ready};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// Range of raw values: at least two of its fields are given (OPC 10000-11, 6.5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryRange {
    /// Time of the first value.
    pub start: Option<DateTime>,
    /// End of the values, which is not part of them. Before `start`, or without a `start`: values come in reverse order.
    pub end: Option<DateTime>,
    /// Largest number of values; 0: all.
    pub limit: u32,
    /// True if the nearest values outside of the range are returned as well.
    pub bounds: bool,
}

/// Largest number of consecutive responses with a continuation point and no value.
const MAX_EMPTY: usize = 1_000;

impl Client {
    /// Returns the recorded values of a Variable.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the request, for example because it keeps no history of the node.
    pub fn history_raw(
        &mut self,
        node: &NodeId,
        range: HistoryRange,
    ) -> Result<Vec<DataValue>, ClientError> {
        ready(HistoryServices::history_raw(self, node, range))
    }

    /// Passes the recorded values of a Variable to `take`, one response after another, until it returns false.
    ///
    /// # Errors
    /// See [`history_raw`](Self::history_raw).
    pub fn history_raw_with(
        &mut self,
        node: &NodeId,
        range: HistoryRange,
        take: impl FnMut(Vec<DataValue>) -> bool,
    ) -> Result<(), ClientError> {
        ready(HistoryServices::history_raw_with(self, node, range, take))
    }

    /// Returns the values of a Variable at these times, interpolated where nothing was recorded.
    ///
    /// # Errors
    /// See [`history_raw`](Self::history_raw).
    pub fn history_at(
        &mut self,
        node: &NodeId,
        times: &[DateTime],
    ) -> Result<Vec<DataValue>, ClientError> {
        ready(HistoryServices::history_at(self, node, times))
    }

    /// Returns an aggregate of each interval between two times (OPC 10000-13), with the defaults of the server.
    ///
    /// # Errors
    /// See [`history_raw`](Self::history_raw).
    pub fn history_processed(
        &mut self,
        node: &NodeId,
        aggregate: Aggregate,
        (start, end): (DateTime, DateTime),
        interval: Duration,
    ) -> Result<Vec<DataValue>, ClientError> {
        ready(HistoryServices::history_processed(
            self,
            node,
            aggregate,
            (start, end),
            interval,
        ))
    }

    /// Returns the recorded Events of a notifier in a range, with the selected fields. The bounds of the range are not used.
    ///
    /// # Errors
    /// See [`history_raw`](Self::history_raw).
    pub fn history_events(
        &mut self,
        notifier: &NodeId,
        range: HistoryRange,
        query: &EventQuery,
    ) -> Result<Vec<Vec<Variant>>, ClientError> {
        ready(HistoryServices::history_events(
            self, notifier, range, query,
        ))
    }
}

/// HistoryRead of any client.
pub(crate) trait HistoryServices: Requests {
    /// Does the work of [`Client::history_raw`].
    async fn history_raw(
        &mut self,
        node: &NodeId,
        range: HistoryRange,
    ) -> Result<Vec<DataValue>, ClientError> {
        let mut collected = Collected::new(self);
        self.history_raw_with(node, range, |page| collected.add(page))
            .await?;
        collected.values()
    }

    /// Does the work of [`Client::history_raw_with`].
    async fn history_raw_with(
        &mut self,
        node: &NodeId,
        range: HistoryRange,
        mut take: impl FnMut(Vec<DataValue>) -> bool,
    ) -> Result<(), ClientError> {
        let details = ReadRawModifiedDetails {
            is_read_modified: false,
            start_time: range.start.unwrap_or_default(),
            end_time: range.end.unwrap_or_default(),
            num_values_per_node: range.limit,
            return_bounds: range.bounds,
        };
        let limit = usize::try_from(range.limit).unwrap_or(usize::MAX);
        let mut left = if limit == 0 { usize::MAX } else { limit };
        let details = ExtensionObject::from_structure(&details);
        self.history(node, &details, TimestampsToReturn::Both, |mut page| {
            // The limit is that of one response, and more may follow.
            page.truncate(left);
            left -= page.len();
            take(page) && left > 0
        })
        .await
    }

    /// Does the work of [`Client::history_at`].
    async fn history_at(
        &mut self,
        node: &NodeId,
        times: &[DateTime],
    ) -> Result<Vec<DataValue>, ClientError> {
        let details = ReadAtTimeDetails {
            req_times: times.to_vec(),
            use_simple_bounds: false,
        };
        self.history_of(
            node,
            &ExtensionObject::from_structure(&details),
            TimestampsToReturn::Both,
        )
        .await
    }

    /// Does the work of [`Client::history_processed`].
    async fn history_processed(
        &mut self,
        node: &NodeId,
        aggregate: Aggregate,
        (start, end): (DateTime, DateTime),
        interval: Duration,
    ) -> Result<Vec<DataValue>, ClientError> {
        let details = ReadProcessedDetails {
            start_time: start,
            end_time: end,
            processing_interval: interval.as_secs_f64() * 1000.0,
            aggregate_type: vec![aggregate.node_id()],
            aggregate_configuration: AggregateConfiguration {
                use_server_capabilities_defaults: true,
                ..AggregateConfiguration::default()
            },
        };
        let details = ExtensionObject::from_structure(&details);
        self.history_of(node, &details, TimestampsToReturn::Source)
            .await
    }

    /// Does the work of [`Client::history_events`].
    async fn history_events(
        &mut self,
        notifier: &NodeId,
        range: HistoryRange,
        query: &EventQuery,
    ) -> Result<Vec<Vec<Variant>>, ClientError> {
        let details = ReadEventDetails {
            num_values_per_node: range.limit,
            start_time: range.start.unwrap_or_default(),
            end_time: range.end.unwrap_or_default(),
            filter: query.filter(),
        };
        let details = ExtensionObject::from_structure(&details);
        let limit = match range.limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let mut collected = Collected::new(self);
        let timestamps = TimestampsToReturn::Both;
        self.pages(notifier, &details, timestamps, |page: HistoryEvent| {
            let count = page.events.len();
            let events = page.events.into_iter().map(|event| event.event_fields);
            let goes_on = collected.add(events.collect());
            collected.values.truncate(limit);
            (count, goes_on && collected.values.len() < limit)
        })
        .await?;
        collected.values()
    }

    async fn history_of(
        &mut self,
        node: &NodeId,
        details: &ExtensionObject,
        timestamps: TimestampsToReturn,
    ) -> Result<Vec<DataValue>, ClientError> {
        let mut collected = Collected::new(self);
        self.history(node, details, timestamps, |page| collected.add(page))
            .await?;
        collected.values()
    }

    /// Reads until there is no continuation point, or until `take` returns false.
    async fn history(
        &mut self,
        node: &NodeId,
        details: &ExtensionObject,
        timestamps: TimestampsToReturn,
        mut take: impl FnMut(Vec<DataValue>) -> bool,
    ) -> Result<(), ClientError> {
        self.pages(node, details, timestamps, |page: HistoryData| {
            (page.data_values.len(), take(page.data_values))
        })
        .await
    }

    /// Passes the data of each response to `take`, which returns its number of values, and whether more are wanted.
    async fn pages<T: Structure + Default>(
        &mut self,
        node: &NodeId,
        details: &ExtensionObject,
        timestamps: TimestampsToReturn,
        mut take: impl FnMut(T) -> (usize, bool),
    ) -> Result<(), ClientError> {
        let mut point = ByteString::default();
        let mut empty = 0;
        loop {
            let mut response = self
                .history_request(node, details, timestamps, point, false)
                .await?;
            self.expect_count("HistoryReadResponse", 1, response.results.len())?;
            let result = response.results.swap_remove(0);
            good(node, result.status_code)?;
            let taken = self.page(&result.history_data).map(&mut take);
            empty = match taken {
                Ok((0, _)) => empty + 1,
                _ => 0,
            };
            point = result.continuation_point;
            if point.is_empty() {
                return taken.map(drop);
            }
            let outcome = match taken {
                Ok(_) if empty > MAX_EMPTY => {
                    Err(self.protocol("HistoryRead returns continuation points without end"))
                }
                Ok((_, true)) => continue,
                Ok((_, false)) => Ok(()),
                Err(error) => Err(error),
            };
            // A server that does not release the point forgets it with the Session.
            let _ = self
                .history_request(node, details, timestamps, point, true)
                .await;
            return outcome;
        }
    }

    /// Returns the data of one response.
    fn page<T: Structure + Default>(&self, data: &ExtensionObject) -> Result<T, ClientError> {
        if data.is_null() {
            return Ok(T::default());
        }
        foreign::decode_body::<T, _>(data, T::decode)
            .ok_or_else(|| self.protocol("HistoryRead returns another kind of history"))?
            .map_err(|error| ClientError::protocol(self.endpoint(), error))
    }

    async fn history_request(
        &mut self,
        node: &NodeId,
        details: &ExtensionObject,
        timestamps_to_return: TimestampsToReturn,
        continuation_point: ByteString,
        release_continuation_points: bool,
    ) -> Result<HistoryReadResponse, ClientError> {
        self.call(HistoryReadRequest {
            history_read_details: details.clone(),
            timestamps_to_return,
            release_continuation_points,
            nodes_to_read: vec![HistoryReadValueId {
                node_id: node.clone(),
                continuation_point,
                ..HistoryReadValueId::default()
            }],
            ..HistoryReadRequest::default()
        })
        .await
    }
}

impl<C: Requests> HistoryServices for C {}

/// Values of several answers, within the budget of one call.
struct Collected<T> {
    endpoint: Endpoint,
    budget: AnswerBudget,
    values: Vec<T>,
    fits: Result<(), ClientError>,
}

impl<T: Encode> Collected<T> {
    fn new(client: &(impl Requests + ?Sized)) -> Self {
        Self {
            endpoint: client.endpoint().clone(),
            budget: client.answer_budget(),
            values: Vec::new(),
            fits: Ok(()),
        }
    }

    /// Adds a page; returns false if it does not fit the budget.
    fn add(&mut self, page: Vec<T>) -> bool {
        self.fits = self.budget.take(&self.endpoint, "history", &page);
        self.values.extend(page);
        self.fits.is_ok()
    }

    fn values(self) -> Result<Vec<T>, ClientError> {
        self.fits.map(|()| self.values)
    }
}
