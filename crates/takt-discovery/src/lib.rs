//! LocalDiscoveryServer with multicast extension (OPC 10000-12, 4; OPC 10000-4, 5.5): servers of other applications.
//!
//! * [`Registrations`] has the servers of this host that have registered themselves, without sockets and clocks.
//! * [`Multicast`] announces servers on the local network by mDNS, and collects those that others announce.
//!
//! The room knows neither services nor sessions: the registry puts it behind FindServers, RegisterServer2 and
//! FindServersOnNetwork, and the command line behind `takt discover`.

#![forbid(unsafe_code)]

mod announcement;
mod multicast;
mod name;
mod registrations;

pub use announcement::{Announcement, AnnouncementError};
pub use multicast::{FoundServer, Multicast, MulticastError};
pub use registrations::{RegistrationError, Registrations};
