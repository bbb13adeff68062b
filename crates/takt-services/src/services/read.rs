//! Read (OPC 10000-4, 5.11.2): one pass over the request, each DataValue written directly into the response.

use std::sync::Arc;

use takt_cell::CellLocation;
use takt_layout::{ResponseWriter, Service};
use takt_space::{Binding, CachedValue, RemoteRead, Value};
use takt_ua::binary::{Decode, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::views::ReadValueIdRef;
use takt_ua::{DateTime, NodeIdRef, NumericRange, StatusCode, ids};

use super::body::{Body, Items};
use super::deferred;
use super::request::{Handled, Request, check_timestamps};
use super::sliced::read_write_call::{self, Context, Run, Steps};
use crate::budgets::OperationLimits;
use crate::identity::access;
use crate::reading::attributes::VALUE;
use crate::reading::{EncodedResults, LaidOutResults, Results};
use crate::reading::{Read, Remotes};
use crate::responses::fault::Fault;
use crate::server::Server;
use crate::server::connection::Connection;
use crate::session::Session;

/// Parameters of a Read request beside its items.
#[derive(Clone, Copy)]
pub(super) struct Options {
    max_age: f64,
    timestamps: TimestampsToReturn,
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
    read_write_call::handle::<ReadSteps>(request, connection, session, body, response)
}

/// The passes of a Read.
pub(super) struct ReadSteps;

impl Steps for ReadSteps {
    const HAS_EFFECTS: bool = false;
    const RESPONSE: u32 = ids::READ_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: Service = Service::Read;

    type Options = Options;
    type Item<'a> = ReadValueIdRef<'a>;

    #[inline]
    fn parse(body: Body<'_>, items: &mut Items<'_>) -> Result<(Options, usize), Fault> {
        let options = match (body, &mut *items) {
            (Body::LaidOut(body), _) => Options {
                max_age: body.head().max_age,
                timestamps: body.head().timestamps_to_return,
            },
            (_, Items::Encoded(items)) => Options {
                max_age: items.f64()?,
                timestamps: TimestampsToReturn(items.i32()?),
            },
            (Body::Encoded(_), Items::LaidOut(_)) => {
                return Err(Fault(StatusCode::BadDecodingError));
            }
        };
        Ok((options, items.count(ReadValueIdRef::MIN_SIZE)?))
    }

    #[inline]
    fn limit(limits: &OperationLimits) -> u32 {
        limits.max_nodes_per_read
    }

    #[inline]
    fn check(options: Options) -> Result<(), Fault> {
        if options.max_age.is_nan() || options.max_age < 0.0 {
            return Err(Fault(StatusCode::BadMaxAgeInvalid));
        }
        check_timestamps(options.timestamps)
    }

    #[inline]
    fn next<'a>(items: &mut Items<'a>) -> Result<ReadValueIdRef<'a>, Fault> {
        match items {
            Items::Encoded(items) => Ok(ReadValueIdRef::decode(items)?),
            Items::LaidOut(items) => Ok(items.read()?),
        }
    }

    fn find_remote(
        context: &Context<'_, Options>,
        index: usize,
        item: &ReadValueIdRef<'_>,
        found: &mut deferred::Operations,
    ) {
        // The other attributes are those of the node here.
        if item.attribute_id != VALUE {
            return;
        }
        let Some(node) = context.view.node(item.node_id) else {
            return;
        };
        let readable = access::may_read(context.caller, &node);
        if let (true, Some(Value::Remote(remote))) = (readable, node.value())
            // An invalid range is an error that needs no source.
            && NumericRange::of_request(item.index_range).is_ok()
        {
            let max_age = context.options.max_age;
            let is_young = |cached: &CachedValue| cached.satisfies(max_age, DateTime::now());
            if remote.cached().is_some_and(is_young) {
                // The kept value is sent.
                return;
            }
            let read = RemoteRead {
                node_id: remote.node_id,
                index_range: item.index_range.unwrap_or_default().to_owned(),
                max_age,
            };
            found.read(remote.source, index, read);
        }
    }

    #[inline]
    fn encode(run: Run<'_, '_, '_, Self>, response: &mut Encoder<'_>) -> Result<bool, Fault> {
        let (timestamps, now) = (run.context.options.timestamps, run.context.now);
        let results = EncodedResults {
            response,
            timestamps,
            now,
        };
        read(run, results)
    }

    #[inline]
    fn lay_out(
        run: Run<'_, '_, '_, Self>,
        response: ResponseWriter<'_, '_>,
    ) -> Result<bool, Fault> {
        let (timestamps, now) = (run.context.options.timestamps, run.context.now);
        let results = LaidOutResults {
            response,
            timestamps,
            now,
        };
        read(run, results)
    }
}

/// Reads items, and adds their values to the results.
#[inline]
fn read<R: Results>(run: Run<'_, '_, '_, ReadSteps>, results: R) -> Result<bool, Fault> {
    let context = run.context;
    let start = results.position();
    let mut read = Read {
        view: context.view,
        caller: context.caller,
        max_age: context.options.max_age,
        remotes: match context.remote {
            Some(_) => Remotes::Asked,
            None => Remotes::NotAsked(context.met_remote),
        },
        results,
    };
    run.each(|index, items| {
        let item = ReadSteps::next(items)?;
        match context.remote.and_then(|remote| remote.read(index)) {
            Some(value) => read.answered(value, &item)?,
            None => read.item(&item)?,
        }
        Ok(read.results.position() - start)
    })
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
        // A node with permissions of its own has no such level: the memory is shared with all clients.
        let is_shared = access::is_readable(node.access_level()?);
        if !is_shared || !access::may_read(&connection.caller, &node) {
            return None;
        }
        match node.binding().get() {
            Some(Binding::Value(value)) => value.location(),
            _ => None,
        }
    }
}
