//! HistoryRead (OPC 10000-4, 5.11.3; OPC 10000-11, 6.5): the source of the history of each Variable or notifier is asked, and
//! answers later.
//!
//! Continuation points are those of the Session: each keeps the one of its source.

use std::sync::Arc;

use takt_space::{RemoteHistoryRead, RemoteSource, Value};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::{NodeClass, PermissionType, TimestampsToReturn};
use takt_ua::structures::{
    HistoryReadResult, HistoryReadValueId, ReadAtTimeDetails, ReadEventDetails,
    ReadProcessedDetails, ReadRawModifiedDetails,
};
use takt_ua::{ByteString, ExtensionObject, NodeId, NumericRange, StatusCode, ids};

use super::body::Body;
use super::deferred::{self, RemoteResults};
use super::request::{Request, check_count, check_timestamps};
use super::sliced::operation_list::{Items, Operations};
use super::sliced::service::{Progress, Turn};
use crate::identity::access;
use crate::responses::fault::Fault;
use crate::session::Session;
use crate::session::history_points::HistoryPoint;

/// A HistoryRead request.
pub(super) struct HistoryRead {
    details: Details,
    timestamps: TimestampsToReturn,
    /// True if continuation points are released, and nothing is read.
    release: bool,
    found: deferred::Operations,
    index: usize,
}

/// HistoryReadDetails.
enum Details {
    /// The same for all Variables.
    Same(Arc<ExtensionObject>),
    /// A filter of Events, the same for all notifiers.
    Events(Arc<ExtensionObject>),
    /// One aggregate for each Variable.
    Processed(ReadProcessedDetails),
    /// A kind of history that no source has.
    Unsupported,
}

impl Details {
    /// Checks the details of a request for `count` Variables.
    fn parse(details: ExtensionObject, count: usize) -> Result<Self, Fault> {
        let invalid = |_| Fault(StatusCode::BadHistoryOperationInvalid);
        if details.is::<ReadProcessedDetails>() {
            let details: ReadProcessedDetails = details.decode_as().map_err(invalid)?;
            return match details.aggregate_type.len() == count {
                true => Ok(Self::Processed(details)),
                false => Err(Fault(StatusCode::BadAggregateListMismatch)),
            };
        }
        if details.is::<ReadRawModifiedDetails>() {
            let raw: ReadRawModifiedDetails = details.decode_as().map_err(invalid)?;
            // Recorded values are never modified, so there is no history of modifications.
            return Ok(match raw.is_read_modified {
                true => Self::Unsupported,
                false => Self::Same(Arc::new(details)),
            });
        }
        if details.is::<ReadEventDetails>() {
            return Ok(Self::Events(Arc::new(details)));
        }
        if details.is::<ReadAtTimeDetails>() {
            return Ok(Self::Same(Arc::new(details)));
        }
        match details.is_null() {
            true => Err(Fault(StatusCode::BadHistoryOperationInvalid)),
            false => Ok(Self::Unsupported),
        }
    }

    /// Returns the details for the Variable of this index.
    fn of(&self, index: usize) -> Result<Arc<ExtensionObject>, StatusCode> {
        match self {
            Self::Same(details) | Self::Events(details) => Ok(Arc::clone(details)),
            Self::Processed(details) => {
                let aggregate = details.aggregate_type.get(index);
                let one = ReadProcessedDetails {
                    aggregate_type: aggregate.cloned().into_iter().collect(),
                    aggregate_configuration: details.aggregate_configuration.clone(),
                    ..*details
                };
                Ok(Arc::new(ExtensionObject::from_structure(&one)))
            }
            Self::Unsupported => Err(StatusCode::BadHistoryOperationUnsupported),
        }
    }
}

impl Operations for HistoryRead {
    type Item = HistoryReadValueId;
    const COST: u64 = 2;

    fn parse(
        request: &Request<'_>,
        _: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<HistoryReadValueId>), Fault> {
        let server = request.server;
        if server.historian().is_none() {
            return Err(Fault(StatusCode::BadServiceUnsupported));
        }
        let details = ExtensionObject::decode(body)?;
        let timestamps = TimestampsToReturn(body.i32()?);
        let release = body.bool()?;
        let operations = &server.budgets.operations;
        let limit = match details.is::<ReadEventDetails>() {
            true => operations.max_nodes_per_history_read_events,
            false => operations.max_nodes_per_history_read_data,
        };
        let items = Items::take(request, body, limit)?;
        check_timestamps(timestamps)?;
        // The fields of Events have the timestamps that the client selects.
        if timestamps == TimestampsToReturn::Neither && !details.is::<ReadEventDetails>() {
            return Err(Fault(StatusCode::BadTimestampsToReturnInvalid));
        }
        let details = match release {
            // A release reads nothing, so its details do not matter.
            true => Details::Unsupported,
            false => Details::parse(details, items.len())?,
        };
        let read = Self {
            details,
            timestamps,
            release,
            found: deferred::Operations::new(request, respond),
            index: 0,
        };
        Ok((read, items))
    }

    fn begin(&mut self, _: &mut Turn<'_, '_>, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<HistoryReadValueId>,
    ) -> Result<(), Fault> {
        while let Some(item) = items.next(turn)? {
            turn.work.spend(Self::COST);
            let index = self.index;
            self.index += 1;
            match self.operation(turn, index, item) {
                Ok((source, read)) => self.found.history(source, index, read),
                Err(status_code) => self.found.know_history(
                    index,
                    HistoryReadResult {
                        status_code,
                        ..HistoryReadResult::default()
                    },
                ),
            }
        }
        Ok(())
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        let none = deferred::Operations::new(turn.request, respond);
        let found = std::mem::replace(&mut self.found, none);
        if !found.is_empty() {
            return Ok(Progress::Remote(found));
        }
        let known = found.into_known();
        answer(
            turn.request,
            turn.session,
            self.index,
            turn.response,
            &known,
        )?;
        Ok(Progress::Complete)
    }
}

impl HistoryRead {
    /// Returns the operation for a Variable, and the source of its history.
    fn operation(
        &self,
        turn: &Turn<'_, '_>,
        index: usize,
        mut item: HistoryReadValueId,
    ) -> Result<(Arc<dyn RemoteSource>, RemoteHistoryRead), StatusCode> {
        let name = item.continuation_point.as_bytes();
        let point = match name {
            [] => None,
            name => {
                let taken = turn.session.history_points().take(name, &item.node_id);
                Some(taken.ok_or(StatusCode::BadContinuationPointInvalid)?)
            }
        };
        if self.release {
            // The point is gone, which is all that the client wants.
            return Err(match point {
                Some(_) => StatusCode::Good,
                None => StatusCode::BadContinuationPointInvalid,
            });
        }
        let details = self.details.of(index)?;
        let (source, node_id) = self.source(turn, &item.node_id)?;
        NumericRange::of_request(item.index_range.as_option())?;
        let encoding = &item.data_encoding;
        if !encoding.name.is_empty()
            && (encoding.namespace != 0 || encoding.name != "Default Binary")
        {
            return Err(StatusCode::BadDataEncodingInvalid);
        }
        item.node_id = node_id;
        item.continuation_point = point.map(|point| point.of_source).unwrap_or_default();
        let read = RemoteHistoryRead {
            node: item,
            details,
            timestamps: self.timestamps,
        };
        Ok((source, read))
    }

    /// Returns the source of the history of a Variable or notifier, and its NodeId there.
    fn source(
        &self,
        turn: &Turn<'_, '_>,
        node_id: &NodeId,
    ) -> Result<(Arc<dyn RemoteSource>, NodeId), StatusCode> {
        let server = turn.request.server;
        let view = server.space.view();
        let caller = turn.request.caller;
        let node = view.node(node_id).ok_or(StatusCode::BadNodeIdUnknown)?;
        // A client must not learn that a node exists if it may not see it.
        access::check_browse(caller, &node).map_err(|_| StatusCode::BadNodeIdUnknown)?;
        if matches!(self.details, Details::Events(_)) {
            if node.node_class() != NodeClass::Object || !node.is_historized() {
                return Err(StatusCode::BadHistoryOperationUnsupported);
            }
            access::check(caller, &node, PermissionType::ReadHistory)?;
            let historian = server.historian();
            let historian = historian.ok_or(StatusCode::BadHistoryOperationUnsupported)?;
            if !historian.may_read_events(caller.roles) {
                return Err(StatusCode::BadUserAccessDenied);
            }
            let source = historian.event_source(node_id);
            let source = source.ok_or(StatusCode::BadHistoryOperationUnsupported)?;
            return Ok((source, node_id.clone()));
        }
        if node.node_class() != NodeClass::Variable || !access::has_history(&node) {
            return Err(StatusCode::BadHistoryOperationUnsupported);
        }
        access::check(caller, &node, PermissionType::ReadHistory)?;
        let historian = server.historian();
        if let Some(source) = historian.and_then(|historian| historian.source(node_id)) {
            return Ok((source, node_id.clone()));
        }
        match node.value() {
            Some(Value::Remote(remote)) if remote.callback.is_none() => {
                Ok((remote.source, remote.node_id))
            }
            _ => Err(StatusCode::BadHistoryOperationUnsupported),
        }
    }
}

/// Answers a request whose sources have answered.
fn respond(
    request: &Request<'_>,
    session: &Session,
    body: Body<'_>,
    response: &mut Encoder<'_>,
    results: &RemoteResults,
) -> Result<(), Fault> {
    let Body::Encoded(body) = body else {
        return Err(Fault(StatusCode::BadInternalError));
    };
    let mut body = body.clone();
    ExtensionObject::decode(&mut body)?;
    body.i32()?;
    body.bool()?;
    let count = body
        .array_length(HistoryReadValueId::MIN_SIZE)?
        .unwrap_or(0);
    check_count(count, u32::MAX)?;
    let mut nodes = Vec::with_capacity(count);
    for _ in 0..count {
        nodes.push(HistoryReadValueId::decode(&mut body)?.node_id);
    }
    encode(request, session, &nodes, response, results)
}

/// Answers a request of `count` Variables, for which no source was asked: there are no continuation points.
fn answer(
    request: &Request<'_>,
    session: &Session,
    count: usize,
    response: &mut Encoder<'_>,
    results: &RemoteResults,
) -> Result<(), Fault> {
    encode(
        request,
        session,
        &vec![NodeId::NULL; count],
        response,
        results,
    )
}

fn encode(
    request: &Request<'_>,
    session: &Session,
    nodes: &[NodeId],
    response: &mut Encoder<'_>,
    results: &RemoteResults,
) -> Result<(), Fault> {
    request.respond(ids::HISTORY_READ_RESPONSE_ENCODING_DEFAULT_BINARY, response)?;
    response.array_length(Some(nodes.len()))?;
    for (index, node) in nodes.iter().enumerate() {
        let Some(result) = results.history(index) else {
            HistoryReadResult {
                status_code: StatusCode::BadNoCommunication,
                ..HistoryReadResult::default()
            }
            .encode(response)?;
            continue;
        };
        let point = match result.continuation_point.as_bytes() {
            [] => None,
            of_source => {
                let point = HistoryPoint {
                    node_id: node.clone(),
                    of_source: ByteString::from(of_source.to_vec()),
                };
                match session.history_points().insert(point) {
                    Some(name) => Some(name),
                    None => {
                        HistoryReadResult {
                            status_code: StatusCode::BadNoContinuationPoints,
                            ..HistoryReadResult::default()
                        }
                        .encode(response)?;
                        continue;
                    }
                }
            }
        };
        result.status_code.encode(response)?;
        response.byte_string(point.as_ref().map(<[u8; 8]>::as_slice))?;
        result.history_data.encode(response)?;
    }
    // No DiagnosticInfos.
    response.array_length(None)?;
    Ok(())
}
