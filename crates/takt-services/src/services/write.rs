//! Write (OPC 10000-4, 5.11.4): the Value of Variables, and the attributes for which the address space has rules
//! (`takt_space::AttributeWrites`).
//!
//! The whole request is decoded before the first value is written, so a malformed request changes nothing.

use std::sync::Arc;

use takt_layout::{ResponseWriter, Service};
use takt_space::{AddressSpace, RemoteWrite, Value};
use takt_ua::binary::{Decode, Encode, Encoder};
use takt_ua::views::WriteValueRef;
use takt_ua::{StatusCode, ids};

use super::body::{Body, Items};
use super::deferred;
use super::request::{Handled, Request};
use super::sliced::read_write_call::{self, Context, Run, Steps};
use super::write_item::{Item, check, write};
use crate::budgets::OperationLimits;
use crate::reading::attributes::VALUE;
use crate::responses::fault::Fault;
use crate::server::connection::Connection;
use crate::session::Session;

/// Handles a Write request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    read_write_call::handle::<WriteSteps>(request, connection, session, body, response)
}

/// The passes of a Write.
pub(super) struct WriteSteps;

impl Steps for WriteSteps {
    const HAS_EFFECTS: bool = true;
    const RESULT_SIZE: usize = size_of::<StatusCode>();
    const RESPONSE: u32 = ids::WRITE_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: Service = Service::Write;

    type Options = ();
    type Item<'a> = Item<'a>;

    #[inline]
    fn parse(_: Body<'_>, items: &mut Items<'_>) -> Result<((), usize), Fault> {
        Ok(((), items.count(WriteValueRef::MIN_SIZE)?))
    }

    #[inline]
    fn limit(limits: &OperationLimits) -> u32 {
        limits.max_nodes_per_write
    }

    #[inline]
    fn next<'a>(items: &mut Items<'a>) -> Result<Item<'a>, Fault> {
        match items {
            Items::Encoded(items) => Ok(Item::decode(items)?),
            Items::LaidOut(items) => Ok(Item::laid_out(&items.write()?)),
        }
    }

    #[inline]
    fn skip(items: &mut Items<'_>) -> Result<(), Fault> {
        match items {
            Items::Encoded(items) => Ok(WriteValueRef::skip(items)?),
            Items::LaidOut(items) => Ok(items.write().map(drop)?),
        }
    }

    #[inline]
    fn has_remotes(space: &AddressSpace) -> bool {
        space.has_remote_targets() || space.attribute_writes().is_some()
    }

    fn find_remote(
        context: &Context<'_, ()>,
        index: usize,
        item: &Item<'_>,
        found: &mut deferred::Operations,
    ) {
        let (view, caller) = (context.view, context.caller);
        let Some(node) = view.node(item.node_id) else {
            return;
        };
        if let Some(writer) = item.attribute_writer(view, &node) {
            if let Ok(write) = item.attribute_write(caller, &node) {
                found.write(writer, index, write);
            }
            return;
        }
        let value = node.value();
        let Some(remote) = value.as_ref().and_then(Value::write_target) else {
            return;
        };
        // Errors of the other items are returned when the request is answered.
        if let Ok((_, fit, _)) = check(view, caller, item)
            && let Ok(value) = item.converted(fit)
        {
            let write = RemoteWrite {
                node_id: remote.node_id.clone(),
                attribute_id: VALUE,
                index_range: item.index_range.unwrap_or_default().to_owned(),
                value,
            };
            found.write(Arc::clone(&remote.source), index, write);
        }
    }

    #[inline]
    fn encode(run: Run<'_, '_, '_, Self>, response: &mut Encoder<'_>) -> Result<bool, Fault> {
        write_all(run, |status| Ok(status.encode(response)?))
    }

    #[inline]
    fn lay_out(
        run: Run<'_, '_, '_, Self>,
        mut response: ResponseWriter<'_, '_>,
    ) -> Result<bool, Fault> {
        write_all(run, |status| {
            response.status(status);
            Ok(())
        })
    }
}

/// Writes items, and calls `respond` with each result.
#[inline]
fn write_all(
    run: Run<'_, '_, '_, WriteSteps>,
    mut respond: impl FnMut(StatusCode) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let (context, request) = (run.context, run.request);
    run.each(|index, items| {
        let item = WriteSteps::next(items)?;
        let status = match context.remote.and_then(|remote| remote.write(index)) {
            Some(status) => status,
            None => write(context.view, context.caller, &item, context.now)
                .err()
                .unwrap_or(StatusCode::Good),
        };
        request.audit(status, || item.audited());
        respond(status)?;
        Ok(0)
    })
}
