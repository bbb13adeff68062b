//! Discovery messages (OPC 10000-14, 7.2.4.6).

mod announcement;
mod probe;
#[cfg(test)]
mod tests;

pub use announcement::{AnnouncementContent, ApplicationInformation, DiscoveryAnnouncement};
pub use probe::DiscoveryProbe;
