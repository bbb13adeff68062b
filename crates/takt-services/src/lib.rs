//! OPC UA services: Sessions, Subscriptions, and the services themselves (OPC 10000-4), synchronous and transport-free.
//!
//! A transport hands [`Server::handle`] a request message and a buffer for the response; a Read over TCP, a Read over shared
//! memory and a test run the same code. This crate has no sockets, no chunks, and no clock except the one
//! that stamps responses. Operations at other servers ([`RemoteSource`](takt_space::RemoteSource)), and changes that are being
//! made durable ([`Settled`]), are answered later.
//!
//! * [`Server`], [`ServerBuilder`], [`Connection`]: for transports.
//! * [`Server::address_space`]: nodes and values, for applications (`takt_space`).
//! * [`Server::events`]: the sink for Events of applications.
//! * [`NodeManagement`], [`Authenticator`], [`SessionObserver`]: interfaces for servers that need rules of their own.
//!
//! No message from a client can make the server panic, and all memory that clients can make it allocate is bounded by
//! [`ServerBudgets`].

#![forbid(unsafe_code)]

mod audit;
mod budgets;
mod diagnostics;
mod events;
mod identity;
mod interfaces;
mod reading;
mod responses;
mod server;
mod services;
mod session;
mod slices;
mod subscriptions;

pub use audit::record::{AuditRecord, AuditSink, AuditedAction, NodeService};
pub use budgets::{OperationLimits, ServerBudgets, SubscriptionBudgets};
pub use events::queue::{EventRecorder, EventSink};
pub use events::selection::EventSelection;
pub use identity::authentication::{AnonymousOnly, Authenticator};
pub use identity::forwarded_identity::ForwardedIdentity;
pub use identity::forwarded_user::ForwardedUser;
pub use identity::user_id::{acting_user_id, client_user_id};
pub use identity::users::{IssuedUser, Users};
pub use interfaces::discovery_server::DiscoveryServer;
pub use interfaces::historian::Historian;
pub use interfaces::node_management::{EverybodyManages, NoNodeManagement, NodeManagement};
pub use interfaces::session_observer::{NoSessionObserver, SessionObserver};
pub use responses::settled::Settled;
pub use server::Server;
pub use server::builder::{BuildError, ServerBuilder};
pub use server::connection::Connection;
pub use server::endpoint::{AnnouncedHost, EndpointConfig, SHARED_MEMORY_PROFILE, TCP_PROFILE};
pub use services::restored::{RestoreError, Saving};

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
