//! The multicast extension of a LocalDiscoveryServer (OPC 10000-12, 4.2.2 and Annex C): servers that are announced on the local network
//! by mDNS. These files know neither services nor the registry; `takt discover --network` uses them, too.

mod announcement;
mod announcing;
mod daemon;
mod multicast;
mod name;
mod records;

pub(crate) use announcement::{Announcement, AnnouncementError};
pub use multicast::{FoundServer, Multicast, MulticastError};
