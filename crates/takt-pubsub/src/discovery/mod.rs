//! Discovery over datagrams (OPC 10000-14, 7.2.4.6): Subscribers send probes, Publishers send announcements.
//!
//! An [`Announcer`] is sans-io: probes and the time go in, announcements come out. A [`Prober`] makes the probes for the missing
//! metadata of a [`Subscriber`](crate::subscriber::Subscriber), which receives the answers like any other message.

mod announcer;
mod knowledge;
mod prober;
mod schedule;

use takt_wire::{DiscoveryProbe, NetworkMessage, Payload, PublisherId, WireEncodeError};

pub use announcer::Announcer;
pub use knowledge::AnnouncedApplication;
pub use prober::Prober;

/// Returns a probe for the DiscoveryAddress. Publishers with another PublisherId do not answer; that of FindApplications is null,
/// and all Publishers answer.
///
/// OPC 10000-14, 7.2.4.6.12.2, defines when to send it; for metadata, a [`Prober`] does this.
///
/// # Errors
/// The probe cannot be encoded.
pub fn probe_message(
    publisher_id: PublisherId,
    probe: DiscoveryProbe,
) -> Result<Vec<u8>, WireEncodeError> {
    let publisher_id = match probe {
        DiscoveryProbe::FindApplications => PublisherId::NULL,
        _ => publisher_id,
    };
    NetworkMessage::discovery(publisher_id, Payload::DiscoveryProbe(probe)).encode_to_vec()
}
