//! Read (OPC 10000-4, 5.11.2): one pass over the request, each DataValue written straight into the response.

use std::sync::Arc;

use takt_cell::CellLocation;
use takt_layout::{ResponseWriter, Service};
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::ReadValueId;
use takt_ua::views::ReadValueIdRef;
use takt_ua::{DataValue, DateTime, NodeIdRef, NumericRange, StatusCode, ids};

use super::attributes::{self, VALUE};
use super::body::Body;
use super::data_value::{EncodedResults, LaidOutResults, Results};
use super::deferred::{self, RemoteResults};
use super::read_item::Read;
use super::{Fault, Handled, Request, check_count, check_timestamps};
use crate::address_space::Binding;
use crate::connection::{Connection, Outcome};
use crate::remote::RemoteRead;
use crate::server::Server;
use crate::session::Session;
use crate::stored::NO_LIMITS;
use crate::value::Value;

/// What a Read request asks for, apart from its items.
#[derive(Clone, Copy)]
struct Parameters {
    max_age: f64,
    timestamps: TimestampsToReturn,
    count: usize,
}

/// Handles a Read request.
#[inline]
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    if request.server.space.has_remotes() {
        let reads = remote_reads(request, body.clone())?;
        if reads.defer(request, connection, session)? {
            return Ok(Outcome::Deferred);
        }
    }
    respond(request, body, response, None)?;
    Ok(Outcome::Complete)
}

/// The parameters of a request in the binary DataEncoding; its items follow.
#[inline]
fn encoded_parameters(request: &Request<'_>, body: &mut Decoder<'_>) -> Result<Parameters, Fault> {
    Parameters {
        max_age: body.f64()?,
        timestamps: TimestampsToReturn(body.i32()?),
        count: body.array_length(ReadValueIdRef::MIN_SIZE)?.unwrap_or(0),
    }
    .checked(request)
}

/// The parameters of a request in the fixed layout.
#[inline]
fn laid_out_parameters(
    request: &Request<'_>,
    body: &takt_layout::Request<'_>,
) -> Result<Parameters, Fault> {
    Parameters {
        max_age: body.head().max_age,
        timestamps: body.head().timestamps_to_return,
        count: body.count(),
    }
    .checked(request)
}

impl Parameters {
    #[inline]
    fn checked(self, request: &Request<'_>) -> Result<Self, Fault> {
        let limits = &request.server.limits.operations;
        check_count(self.count, limits.max_nodes_per_read)?;
        if self.max_age.is_nan() || self.max_age < 0.0 {
            return Err(Fault(StatusCode::BadMaxAgeInvalid));
        }
        check_timestamps(self.timestamps)?;
        Ok(self)
    }
}

/// Answers a Read request, with what remote sources said before.
#[inline]
pub(crate) fn respond(
    request: &Request<'_>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
    remote: Option<&RemoteResults>,
) -> Result<(), Fault> {
    let now = request.now;
    match body {
        Body::Encoded(mut body) => {
            let parameters = encoded_parameters(request, &mut body)?;
            request.respond(ids::READ_RESPONSE_ENCODING_DEFAULT_BINARY, response)?;
            response.array_length(Some(parameters.count))?;
            let results = EncodedResults {
                response,
                timestamps: parameters.timestamps,
                now,
            };
            let next = || Ok(ReadValueIdRef::decode(&mut body)?);
            let results = read(request, parameters, next, results, remote)?;
            Ok(results.response.array_length(None)?)
        }
        Body::LaidOut(body) => {
            let parameters = laid_out_parameters(request, body)?;
            let (count, handle) = (parameters.count, request.header.request_handle);
            let results = LaidOutResults {
                response: ResponseWriter::begin(response, Service::Read, count, handle, now)?,
                timestamps: parameters.timestamps,
                now,
            };
            let mut items = body.items();
            let next = || Ok(items.read()?);
            read(request, parameters, next, results, remote).map(drop)
        }
    }
}

#[inline]
fn read<'a, R: Results>(
    request: &Request<'_>,
    parameters: Parameters,
    mut next: impl FnMut() -> Result<ReadValueIdRef<'a>, Fault>,
    results: R,
    remote: Option<&RemoteResults>,
) -> Result<R, Fault> {
    let view = request.server.space.view();
    let mut read = Read {
        view: &view,
        server: request.server,
        max_age: parameters.max_age,
        results,
    };
    for index in 0..parameters.count {
        let item = next()?;
        match remote.and_then(|remote| remote.read(index)) {
            Some(value) => read.results.data_value(value)?,
            None => read.item(&item)?,
        }
    }
    Ok(read.results)
}

/// The items that remote sources have to be asked for. The first pass of two, made only if there are such sources.
#[inline(never)]
fn remote_reads(request: &Request<'_>, body: Body<'_>) -> Result<deferred::Operations, Fault> {
    match body {
        Body::Encoded(mut body) => {
            let parameters = encoded_parameters(request, &mut body)?;
            let next = || Ok(ReadValueIdRef::decode(&mut body)?);
            remote_items(request, parameters, next)
        }
        Body::LaidOut(body) => {
            let parameters = laid_out_parameters(request, body)?;
            let mut items = body.items();
            remote_items(request, parameters, || Ok(items.read()?))
        }
    }
}

fn remote_items<'a>(
    request: &Request<'_>,
    parameters: Parameters,
    mut next: impl FnMut() -> Result<ReadValueIdRef<'a>, Fault>,
) -> Result<deferred::Operations, Fault> {
    let view = request.server.space.view();
    let mut operations = deferred::Operations::default();
    for index in 0..parameters.count {
        let item = next()?;
        if item.attribute_id != VALUE || !item.data_encoding.is_null() {
            continue;
        }
        let Some(node) = view.node(item.node_id) else {
            continue;
        };
        let readable = node
            .variable()
            .is_some_and(|variable| attributes::is_readable(variable.access_level));
        if let (true, Some(Value::Remote(remote))) = (readable, node.value()) {
            let index_range = item.index_range.unwrap_or_default().to_owned();
            if NumericRange::of_request(item.index_range).is_err() {
                continue;
            }
            let read = RemoteRead {
                node_id: remote.node_id,
                index_range,
                max_age: parameters.max_age,
            };
            operations.read(remote.source, index, read);
        }
    }
    Ok(operations)
}

/// Where others can read the Value of a Variable: see [`Server::shared_cell`].
pub(crate) fn shared_cell(server: &Server, node_id: &NodeIdRef<'_>) -> Option<CellLocation> {
    let view = server.space.view();
    let node = view.in_memory(node_id)?;
    if !node.access_level.is_some_and(attributes::is_readable) {
        return None;
    }
    match node.binding().as_deref() {
        Some(Binding::Value(value)) => value.location(),
        _ => None,
    }
}

/// What a Read of one item would answer, with both timestamps. Remote values are not asked for.
pub(crate) fn value_of(server: &Server, item: &ReadValueId, now: DateTime) -> DataValue {
    let view = server.space.view();
    let mut bytes = Vec::new();
    let mut read = Read {
        view: &view,
        server,
        max_age: 0.0,
        results: EncodedResults {
            response: &mut Encoder::growing(&mut bytes, server.limits.max_response_size),
            timestamps: TimestampsToReturn::Both,
            now,
        },
    };
    let item = ReadValueIdRef {
        node_id: item.node_id.as_ref(),
        attribute_id: item.attribute_id,
        index_range: item.index_range.as_option(),
        data_encoding: item.data_encoding.as_ref(),
    };
    if read.item(&item).is_err() {
        return DataValue::status(StatusCode::BadEncodingLimitsExceeded);
    }
    // Just encoded.
    let decoded = DataValue::decode(&mut Decoder::with_limits(&bytes, NO_LIMITS));
    decoded.unwrap_or_else(|_| DataValue::status(StatusCode::BadInternalError))
}
