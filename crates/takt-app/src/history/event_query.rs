//! ReadEventDetails as a query over the store (OPC 10000-11, 6.5.2).

use std::sync::Arc;

use takt_history::{HistoryError, Records};
use takt_services::EventSelection;
use takt_space::{Caller, Event, RemoteHistoryRead, View};
use takt_ua::structures::{HistoryReadResult, ReadEventDetails};
use takt_ua::{
    ByteString, DateTime, ExtensionObject, ExtensionObjectBody, NamespaceMap, NodeId, StatusCode,
    ids,
};

use super::event_times::{SPREAD, time_of};
use super::limits::MAX_RETURN_EVENT_VALUES;

/// Units of work of one slice: a few milliseconds.
const SLICE: u64 = 10_000;

/// Units of work to decode one record, beside its filter.
const RECORD: u64 = 10;

/// Kind of the continuation points of Events, different from those of values.
const POINT: u8 = 4;

/// Returns the latest time of a record of an Event at `time`.
fn later(time: DateTime) -> DateTime {
    DateTime(time.0.saturating_add(SPREAD))
}

/// A query of the recorded Events of one notifier.
pub(super) struct EventsQuery {
    selection: EventSelection,
    caller: Arc<Caller>,
    is_forward: bool,
    /// End of the range, which is not part of it; `None`: after a number of Events.
    end: Option<DateTime>,
    /// Time of the first Event.
    begin: DateTime,
    /// Time from which the next record is searched; `None`: nothing follows.
    next: Option<DateTime>,
    /// Events that are still wanted, if only one time and a number were given.
    left: u32,
    /// Encoded HistoryEventFieldLists.
    output: Vec<u8>,
    count: u32,
    max_count: u32,
    max_bytes: usize,
    /// Map from the indexes of the file to those of the server; `None` if they are the same.
    to_server: Option<NamespaceMap>,
}

impl EventsQuery {
    /// Creates the query of an operation, whose response has room for `max_bytes`. `to_server` maps the indexes of
    /// the file.
    pub(super) fn begin(
        read: &RemoteHistoryRead,
        caller: Option<&Arc<Caller>>,
        view: &View<'_>,
        (max_bytes, to_server): (usize, Option<NamespaceMap>),
    ) -> Result<Self, StatusCode> {
        let details = read.details.decode_as::<ReadEventDetails>();
        let details = details.map_err(|_| StatusCode::BadHistoryOperationInvalid)?;
        let given = |time: DateTime| (time.0 > 0).then_some(time);
        let number = details.num_values_per_node;
        let (start, end) = (given(details.start_time), given(details.end_time));
        let (is_forward, begin, end) = match (start, end, number) {
            (Some(start), Some(end), _) => (start <= end, start, Some(end)),
            (Some(start), None, 1..) => (true, start, None),
            (None, Some(end), 1..) => (false, end, None),
            _ => return Err(StatusCode::BadHistoryOperationInvalid),
        };
        let mut query = Self {
            selection: EventSelection::new(&details.filter, view)?,
            caller: Arc::clone(caller.ok_or(StatusCode::BadUserAccessDenied)?),
            is_forward,
            // One point in time is a range that contains it.
            end: end.map(|end| match end == begin {
                true => DateTime(end.0.saturating_add(1)),
                false => end,
            }),
            begin,
            // A record may be later than its Event.
            next: Some(match is_forward {
                true => begin,
                false => later(begin),
            }),
            left: if end.is_some() { u32::MAX } else { number },
            output: Vec::new(),
            count: 0,
            max_count: match number {
                0 => MAX_RETURN_EVENT_VALUES,
                number => number.min(MAX_RETURN_EVENT_VALUES),
            },
            max_bytes,
            to_server,
        };
        let point = read.node.continuation_point.as_bytes();
        if !point.is_empty() {
            let continued = query.resume(point);
            continued.ok_or(StatusCode::BadContinuationPointInvalid)?;
        }
        Ok(query)
    }

    fn resume(&mut self, point: &[u8]) -> Option<()> {
        let (time, left) = point.strip_prefix(&[POINT])?.split_at_checked(8)?;
        self.next = Some(DateTime(i64::from_le_bytes(time.try_into().ok()?)));
        self.left = self.left.min(u32::from_le_bytes(left.try_into().ok()?));
        Some(())
    }

    /// Returns the number of encoded bytes.
    pub(super) fn bytes(&self) -> usize {
        self.output.len()
    }

    /// Runs one slice. Returns true if the output is full, or nothing follows.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn run(
        &mut self,
        records: &mut impl Records,
        view: &View<'_>,
    ) -> Result<bool, HistoryError> {
        let mut units = SLICE;
        while units > 0 {
            let Some(time) = self.next.filter(|_| self.left > 0) else {
                self.next = None;
                return Ok(true);
            };
            let found = match self.is_forward {
                true => records.at_or_after(time)?,
                false => records.at_or_before(time)?,
            };
            let may_follow = |record: DateTime| match (self.end, self.is_forward) {
                (None, _) => true,
                (Some(end), true) => record < later(end),
                (Some(end), false) => record > end,
            };
            let Some(record) = found.filter(|record| may_follow(record.source_timestamp)) else {
                self.next = None;
                return Ok(true);
            };
            // A client gets no continuation point if nothing follows.
            let is_full = self.count >= self.max_count || self.output.len() >= self.max_bytes;
            if is_full {
                return Ok(true);
            }
            let at = record.source_timestamp.0;
            let step = if self.is_forward { 1 } else { -1 };
            let event = Event::of_record(record.value);
            // A large record takes longer to decode: one more unit for each KiB.
            let size = u64::try_from(record.value.len() >> 10).unwrap_or(0);
            self.next = Some(DateTime(at.saturating_add(step)));
            units = units.saturating_sub(RECORD + size);
            let mut event = match event {
                Ok(event) => event,
                Err(error) => {
                    tracing::warn!(%error, "history: an Event cannot be read");
                    continue;
                }
            };
            if let Some(map) = &self.to_server {
                event.renumber(map);
            }
            if !self.is_inside(time_of(&event).unwrap_or(DateTime(at))) {
                continue;
            }
            let (fields, work) = self.selection.select(&event, &self.caller, view);
            units = units.saturating_sub(work);
            if let Some(fields) = fields {
                self.output.extend_from_slice(&fields);
                self.count += 1;
                if self.end.is_none() {
                    self.left -= 1;
                }
            }
        }
        Ok(false)
    }

    /// Returns true if the Time of an Event is in the range.
    fn is_inside(&self, time: DateTime) -> bool {
        let (begin, end) = (self.begin, self.end);
        match self.is_forward {
            true => time >= begin && end.is_none_or(|end| time < end),
            false => time <= begin && end.is_none_or(|end| time > end),
        }
    }

    /// Returns the result, with a continuation point if more follows.
    pub(super) fn result(&self) -> HistoryReadResult {
        let point = self.next.map(|next| {
            let mut point = vec![POINT];
            point.extend_from_slice(&next.0.to_le_bytes());
            point.extend_from_slice(&self.left.to_le_bytes());
            ByteString::from(point)
        });
        // HistoryEvent is an array of HistoryEventFieldLists, arrays of Variants (OPC 10000-11, 6.6.4).
        let mut body = Vec::with_capacity(self.output.len() + 4);
        body.extend_from_slice(&self.count.to_le_bytes());
        body.extend_from_slice(&self.output);
        HistoryReadResult {
            status_code: match self.count == 0 && point.is_none() {
                true => StatusCode::GoodNoData,
                false => StatusCode::Good,
            },
            continuation_point: point.unwrap_or_default(),
            history_data: ExtensionObject {
                type_id: NodeId::numeric(0, ids::HISTORY_EVENT_ENCODING_DEFAULT_BINARY),
                body: ExtensionObjectBody::Binary(body),
            },
        }
    }
}
