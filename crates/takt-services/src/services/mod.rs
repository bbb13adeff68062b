//! The services (OPC 10000-4, 5): one file per service, one table of them ([`dispatch`]).
//!
//! A request is handled in one pass over its bytes; the response is encoded directly behind it. An error of the whole request
//! becomes a ServiceFault; an error of one operation becomes its result.

mod activation;
mod announced;
mod body;
mod browse;
mod browse_next;
mod browsing;
mod call;
mod create_items;
mod deferred;
mod deletion;
mod discovery;
mod dispatch;
mod history_read;
mod history_update;
mod item_changes;
mod item_parameters;
mod manager;
mod modify_items;
mod node_management;
mod pages;
mod path;
mod read;
mod refusals;
mod register_nodes;
mod renumbered;
mod request;
pub(crate) mod restored;
mod session;
mod settling;
mod sliced;
mod subscriptions;
mod translate;
mod triggering;
mod walk;
mod write;
mod write_item;

use std::sync::Arc;

use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;

use self::dispatch::{Known, dispatch};
use self::sliced::request_task::RequestTask;
use crate::responses::message::service_fault;
use crate::server::Server;
use crate::server::connection::Connection;

impl Server {
    /// Handles one request message and encodes its response.
    ///
    /// `request` is TypeId and structure (OPC 10000-6, 5.2.9); the response has the same form. Every error of the request ends
    /// in a ServiceFault. Reading and writing values takes no lock on the address space, and allocates nothing, unless a
    /// value's source does.
    #[inline]
    pub fn handle(
        self: &Arc<Self>,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let outcome = self.begin(connection, request_id, request, response);
        if outcome == RequestOutcome::Deferred {
            self.leave(connection, || request.to_vec());
        }
        outcome
    }

    /// Handles one request message like [`handle`](Self::handle). A request that takes more than one slice keeps the memory of
    /// the message, and leaves an empty one. Otherwise the message is unchanged.
    pub fn handle_owned(
        self: &Arc<Self>,
        connection: &mut Connection,
        request_id: u32,
        request: &mut Vec<u8>,
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let outcome = self.begin(connection, request_id, request, response);
        if outcome == RequestOutcome::Deferred {
            self.leave(connection, || std::mem::take(request));
        }
        outcome
    }

    /// Leaves the rest of a request that has begun to [`work`](Self::work), with its message.
    #[cold]
    fn leave(self: &Arc<Self>, connection: &Connection, message: impl FnOnce() -> Vec<u8>) {
        let begun = connection.begun.take();
        if let Some(mut task) = begun.and_then(|task| task.downcast::<RequestTask>().ok()) {
            task.set_message(message());
            self.tasks.push(self, connection.channel, task);
        }
    }

    /// Handles a request, or its first slice.
    #[inline]
    fn begin(
        self: &Arc<Self>,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let start = response.position();
        let mut known = Known::default();
        match dispatch(self, connection, request_id, request, response, &mut known) {
            Ok(outcome) => outcome,
            Err(fault) => {
                self.diagnostics.rejected(fault);
                known.count_refused(connection, fault);
                response.truncate(start);
                // If not even that fits, the transport finds no response and answers itself.
                if service_fault(response, known.request_handle, fault).is_err() {
                    response.truncate(start);
                }
                RequestOutcome::Complete
            }
        }
    }
}
