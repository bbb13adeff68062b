//! Read (OPC 10000-4, 5.11.2): one pass over the request, each DataValue written directly into the response.

use std::sync::Arc;

use takt_cell::CellLocation;
use takt_layout::Service;
use takt_space::{Binding, RemoteRead, Value};
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::views::ReadValueIdRef;
use takt_ua::{NodeIdRef, NumericRange, StatusCode, ids};

use super::body::{Body, Items};
use super::deferred::{self, RemoteResults};
use super::request::{Handled, Request, check_count, check_timestamps};
use super::steps::{self, Pass, Steps};
use crate::access;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::reading::Read;
use crate::reading::attributes::VALUE;
use crate::reading::{EncodedResults, LaidOutResults, Results};
use crate::server::Server;
use crate::session::Session;

/// Parameters of a Read request, apart from its items.
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
    steps::handle::<ReadSteps>(request, connection, session, body, response)
}

/// The passes of a Read.
pub(super) struct ReadSteps;

impl Steps for ReadSteps {
    const HAS_EFFECTS: bool = false;

    #[inline]
    fn count(request: &Request<'_>, body: &Body<'_>) -> Result<usize, Fault> {
        Ok(parameters(request, body)?.0.count)
    }

    #[inline(never)]
    fn search(
        request: &Request<'_>,
        body: &Body<'_>,
        found: &mut deferred::Operations,
        pass: &mut Pass<'_>,
    ) -> Result<bool, Fault> {
        let (parameters, items) = parameters(request, body)?;
        let mut items = pass.items(request, items);
        pass.each_item(request, &mut items, parameters.count, |index, items| {
            find_remote(request, parameters, index, &next(items)?, found);
            Ok(0)
        })
    }

    #[inline]
    fn respond(
        request: &Request<'_>,
        _: &Session,
        body: &Body<'_>,
        response: &mut Encoder<'_>,
        remote: Option<&RemoteResults>,
        pass: &mut Pass<'_>,
    ) -> Result<bool, Fault> {
        let (parameters, items) = parameters(request, body)?;
        let items = pass.items(request, items);
        let (timestamps, now) = (parameters.timestamps, request.now);
        match body {
            Body::Encoded(_) => {
                if pass.is_first() {
                    request.respond(ids::READ_RESPONSE_ENCODING_DEFAULT_BINARY, response)?;
                    response.array_length(Some(parameters.count))?;
                }
                let results = EncodedResults {
                    response,
                    timestamps,
                    now,
                };
                let (done, results) = read(request, parameters, items, results, remote, pass)?;
                if done {
                    results.response.array_length(None)?;
                }
                Ok(done)
            }
            Body::LaidOut(_) => {
                let results = LaidOutResults {
                    response: pass.writer(request, response, Service::Read, parameters.count)?,
                    timestamps,
                    now,
                };
                Ok(read(request, parameters, items, results, remote, pass)?.0)
            }
        }
    }
}

/// Returns the parameters of a request, and its items.
#[inline]
fn parameters<'a>(
    request: &Request<'_>,
    body: &Body<'a>,
) -> Result<(Parameters, Items<'a>), Fault> {
    match body {
        Body::Encoded(body) => {
            let mut items = body.clone();
            let parameters = encoded_parameters(request, &mut items)?;
            Ok((parameters, Items::Encoded(items)))
        }
        Body::LaidOut(body) => {
            let parameters = laid_out_parameters(request, body)?;
            Ok((parameters, Items::LaidOut(body.items())))
        }
    }
}

#[inline]
fn next<'a>(items: &mut Items<'a>) -> Result<ReadValueIdRef<'a>, Fault> {
    match items {
        Items::Encoded(items) => Ok(ReadValueIdRef::decode(items)?),
        Items::LaidOut(items) => Ok(items.read()?),
    }
}

/// Decodes the parameters of a request in the binary DataEncoding; its items follow.
#[inline]
fn encoded_parameters(request: &Request<'_>, body: &mut Decoder<'_>) -> Result<Parameters, Fault> {
    Parameters {
        max_age: body.f64()?,
        timestamps: TimestampsToReturn(body.i32()?),
        count: body.array_length(ReadValueIdRef::MIN_SIZE)?.unwrap_or(0),
    }
    .checked(request)
}

/// Returns the parameters of a request in the fixed layout.
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

#[inline]
fn read<'a, R: Results>(
    request: &Request<'a>,
    parameters: Parameters,
    mut items: Items<'a>,
    results: R,
    remote: Option<&RemoteResults>,
    pass: &mut Pass<'_>,
) -> Result<(bool, R), Fault> {
    let view = request.server.space.view();
    let start = results.position();
    let mut read = Read {
        view: &view,
        caller: request.caller,
        max_age: parameters.max_age,
        results,
    };
    let done = pass.each_item(request, &mut items, parameters.count, |index, items| {
        let item = next(items)?;
        match remote.and_then(|remote| remote.read(index)) {
            Some(value) => read.results.data_value(value)?,
            None => read.item(&item)?,
        }
        Ok(read.results.position() - start)
    })?;
    Ok((done, read.results))
}

/// Adds an item to the operations of remote sources, if its source is remote.
fn find_remote(
    request: &Request<'_>,
    parameters: Parameters,
    index: usize,
    item: &ReadValueIdRef<'_>,
    found: &mut deferred::Operations,
) {
    if item.attribute_id != VALUE || !item.data_encoding.is_null() {
        return;
    }
    let view = request.server.space.view();
    let Some(node) = view.node(item.node_id) else {
        return;
    };
    let readable = node
        .variable()
        .is_some_and(|variable| access::may_read(request.caller, variable.access_level));
    if let (true, Some(Value::Remote(remote))) = (readable, node.value())
        && NumericRange::of_request(item.index_range).is_ok()
    {
        let read = RemoteRead {
            node_id: remote.node_id,
            index_range: item.index_range.unwrap_or_default().to_owned(),
            max_age: parameters.max_age,
        };
        found.read(remote.source, index, read);
    }
}

impl Server {
    /// Returns the location at which other processes can read the Value of a Variable without a request, if it is
    /// [published](takt_space::Value::publish_current) or comes from a [shared](takt_cell::Cell::share) cell, and the client of
    /// this connection may read it.
    pub fn shared_cell(
        &self,
        connection: &Connection,
        node_id: &NodeIdRef<'_>,
    ) -> Option<CellLocation> {
        let view = self.space.view();
        let node = view.in_memory(node_id)?;
        if !access::may_read(&connection.caller, node.access_level()?) {
            return None;
        }
        match node.binding().get() {
            Some(Binding::Value(value)) => value.location(),
            _ => None,
        }
    }
}
