//! OPC UA services: Sessions, Subscriptions, and the services themselves (OPC 10000-4), synchronous and transport-free.
//!
//! A transport hands [`Server::handle`] a request message and a buffer for the response; a Read over TCP, a Read over shared
//! memory and a test run the same code. This crate has no sockets, no chunks, and no clock except the one
//! that stamps responses. Operations at other servers ([`RemoteSource`](takt_space::RemoteSource)), and changes that are being
//! made durable ([`Settled`]), are answered later.
//!
//! * [`Server`], [`ServerBuilder`], [`Connection`], [`Outcome`]: for transports.
//! * [`Server::address_space`]: nodes and values, for applications (`takt_space`).
//! * [`Server::events`]: the sink for Events of applications.
//! * [`NodeManagement`], [`Authenticator`], [`SessionObserver`]: interfaces for servers that need rules of their own.
//!
//! No message from a client can make the server panic, and all memory that clients can make it allocate is bounded by
//! [`ServerLimits`].

#![forbid(unsafe_code)]

mod access;
mod additional_header;
mod audit;
mod auditing;
mod auditor;
mod authentication;
mod budgets;
mod builder;
mod claimed_user;
mod completed;
mod connection;
mod continuation;
mod deadline;
mod diagnostics;
mod discovery_server;
mod endpoint;
mod events;
mod fault;
mod forwarded;
mod forwarded_identity;
mod gate;
mod history;
mod history_nodes;
mod limits;
mod message;
mod node_management;
mod password_checks;
mod pending;
mod random;
mod reading;
mod requested_url;
mod server;
mod server_diagnostics;
mod server_methods;
mod server_status;
mod services;
mod session;
mod session_diagnostics;
mod session_observer;
mod session_security;
mod settled;
mod subscriptions;
mod tasks;
mod timeouts;
mod user_tokens;
mod users;
mod work;

pub use audit::{
    AuditRecord, AuditSink, AuditedAction, NodeService, acting_user_id, client_user_id,
};
pub use authentication::{AnonymousOnly, Authenticator};
pub use builder::{BuildError, ServerBuilder};
pub use connection::{Connection, Outcome};
pub use discovery_server::DiscoveryServer;
pub use endpoint::{AnnouncedHost, EndpointConfig, SHARED_MEMORY_PROFILE, TCP_PROFILE};
pub use events::queue::{EventRecorder, EventSink};
pub use events::selection::EventSelection;
pub use forwarded::ForwardedUser;
pub use forwarded_identity::ForwardedIdentity;
pub use history::Historian;
pub use limits::{OperationLimits, ServerLimits, SubscriptionLimits};
pub use node_management::{EverybodyManages, NoNodeManagement, NodeManagement};
pub use server::Server;
pub use services::restored::{RestoreError, Saving};
pub use session_observer::{NoSessionObserver, SessionObserver};
pub use settled::Settled;
pub use users::{IssuedUser, Users};

/// Functions for fuzz targets and property tests.
#[doc(hidden)]
pub mod fuzzing {
    use takt_space::{AddressSpace, Caller, Event, RoleSet};
    use takt_ua::ExtensionObject;

    use crate::events::filter::CheckedFilter;
    use crate::{ForwardedUser, Server};

    /// Returns the file of a server without durable Subscriptions. Its last four bytes are their number.
    pub fn no_subscriptions(server: &Server) -> Vec<u8> {
        crate::services::restored::encoded(server, &[], crate::Saving::AtEnd).unwrap_or_default()
    }

    /// Reads an additionalHeader of a request from `forwarder`. Returns the Roles with which the request is carried out. `None`: the
    /// request is not forwarded.
    ///
    /// # Panics
    /// If the user is not read again from the header that is written for it.
    pub fn forwarded_roles(header: &ExtensionObject, forwarder: &Caller) -> Option<RoleSet> {
        let user = ForwardedUser::read(&header.as_ref())?;
        let again = ForwardedUser::read(&user.header(1).as_ref());
        assert_eq!(again.as_ref(), Some(&user), "another user is read");
        Some(user.caller(forwarder, None).roles)
    }

    /// Validates an EventFilter and evaluates it for an Event. `None`: the filter is refused.
    pub fn event_filter(
        filter: &ExtensionObject,
        event: &Event,
        space: &AddressSpace,
    ) -> Option<bool> {
        let view = space.view();
        let (filter, _) = CheckedFilter::of_request(filter, &view).ok()?;
        let (passes, units) = filter.passes(event, &view);
        assert!(units < 2_000, "a filter took {units} units of work");
        // Fields that are too large are an error, not a panic.
        let _ = filter.select(event, &view);
        Some(passes)
    }
}
