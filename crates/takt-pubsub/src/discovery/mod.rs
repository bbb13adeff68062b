//! Discovery over datagrams (OPC 10000-14, 7.2.4.6): Subscribers ask with probes, Publishers tell of themselves with announcements.
//!
//! An [`Announcer`] is sans-io: probes and the time go in, announcements come out. A Subscriber makes probes with [`probe_message`],
//! for what [`Subscriber::missing_meta_data`](crate::subscriber::Subscriber::missing_meta_data) lists, and takes the answers like any
//! other message.

mod announcer;
mod knowledge;
mod schedule;

use takt_wire::{DiscoveryProbe, NetworkMessage, Payload, PublisherId, WireEncodeError};

pub use announcer::Announcer;
pub use knowledge::Application;

/// A probe, to be sent to the DiscoveryAddress. Publishers with another PublisherId do not answer; that of FindApplications is null,
/// and all answer.
///
/// Subscribers that have just begun, or have seen another version of metadata, wait 100 ms to 500 ms at random before they ask, and
/// 500 ms for the answer; from probe to probe they wait twice as long (7.2.4.6.12.2).
///
/// # Errors
/// It cannot be encoded.
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
