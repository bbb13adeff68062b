//! Messages at the interface that are for another address than that of this end: the reason why none comes here.
//!
//! The listener costs time for each frame of the interface. So it hears only while no message has come, and begins
//! behind the time that both ends need to start.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_link::{Address, ETHERTYPE, FrameListener, HeardFrame, MacAddress, VlanTag};
use takt_wire::NetworkMessageRef;

/// Time without a message after which the listener begins.
const SILENCE: Duration = Duration::from_millis(200);

/// Maximum number of kinds of messages that are told apart.
const MOST: usize = 4;

/// EtherType of an 802.1Q tag.
const TAG: u16 = 0x8100;

/// Messages to one address from one WriterGroup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stray {
    destination: MacAddress,
    vlan: u16,
    /// PublisherId and WriterGroupId; `?` if the message does not have them.
    publisher: String,
    group: String,
    pub(super) count: u64,
}

/// Listener for strays.
#[derive(Debug)]
pub(super) struct StrayListener {
    interface: String,
    /// Address of this end.
    own: (MacAddress, u16),
    /// PublisherId, WriterGroupId and DataSetWriterId of the other end, joined by `/`.
    peer: String,
    begin: Instant,
    listener: Option<FrameListener>,
    strays: Vec<Stray>,
}

impl StrayListener {
    /// Creates a listener for an end that receives at this address; `None` if it does not receive frames of Ethernet.
    pub(super) fn new(address: &str, peer: String, interface: Option<&str>) -> Option<Self> {
        let Ok(Address::Ethernet { host, vlan }) = Address::parse(address) else {
            return None;
        };
        Some(Self {
            interface: interface?.to_owned(),
            own: (host, vlan.map_or(0, |tag| tag.id)),
            peer,
            begin: Instant::now(),
            listener: None,
            strays: Vec::new(),
        })
    }

    /// Hears what came since the last call. It is called again and again until this end has a message.
    pub(super) fn listen(&mut self) {
        if self.begin.elapsed() < SILENCE {
            return;
        }
        if self.listener.is_none() {
            // Without rights the links had not been opened; an interface that is gone is reported by them.
            self.listener = FrameListener::open_received_uadp(&self.interface).ok();
        }
        let (own, peer, strays) = (self.own, self.peer.as_str(), &mut self.strays);
        if let Some(listener) = &mut self.listener {
            let _ = listener.listen(Duration::ZERO, &mut |frame| note(&frame, own, peer, strays));
        }
    }

    /// Returns the messages that were heard.
    pub(super) fn strays(self) -> Vec<Stray> {
        self.strays
    }
}

fn note(frame: &HeardFrame<'_>, own: (MacAddress, u16), peer: &str, strays: &mut Vec<Stray>) {
    let Some((destination, vlan, message)) = parts(frame) else {
        return;
    };
    if (destination, vlan) == own {
        return;
    }
    let Ok(message) = NetworkMessageRef::new_checked(message) else {
        return;
    };
    let unknown = || "?".to_owned();
    let publisher = message.publisher_id;
    let group = message.group_header.and_then(|group| group.writer_group_id);
    let stray = Stray {
        destination,
        vlan,
        publisher: publisher.map_or_else(unknown, |id| id.to_string()),
        group: group.map_or_else(unknown, |id| id.to_string()),
        count: 0,
    };
    if let Some(known) = strays.iter_mut().find(|known| known.is_like(&stray)) {
        known.count += 1;
    } else if strays.len() < MOST || stray.is_from(peer) {
        strays.push(Stray { count: 1, ..stray });
    }
}

/// Returns destination, VLAN (0 for none) and payload of a frame with a UADP message.
fn parts<'a>(frame: &HeardFrame<'a>) -> Option<(MacAddress, u16, &'a [u8])> {
    let (destination, rest) = frame.bytes.split_first_chunk::<6>()?;
    let rest = rest.get(6..)?;
    let (kind, rest) = rest.split_first_chunk::<2>()?;
    let destination = MacAddress(*destination);
    let outside = frame.tag.map_or(0, |tag| tag.id);
    match u16::from_be_bytes(*kind) {
        ETHERTYPE => Some((destination, outside, rest)),
        TAG => {
            let (tag, rest) = rest.split_first_chunk::<2>()?;
            let (kind, rest) = rest.split_first_chunk::<2>()?;
            let tag = u16::from_be_bytes(*tag) & 0xFFF;
            (u16::from_be_bytes(*kind) == ETHERTYPE).then_some((destination, tag, rest))
        }
        _ => None,
    }
}

impl Stray {
    fn is_like(&self, other: &Self) -> bool {
        (self.destination, self.vlan) == (other.destination, other.vlan)
            && self.publisher == other.publisher
            && self.group == other.group
    }

    /// Returns true if the messages have the PublisherId and the WriterGroup of the other end (`peer`): the ends then use
    /// different addresses. Messages of others prove nothing, because an interface may have many of them.
    pub(super) fn is_from(&self, peer: &str) -> bool {
        let mut parts = peer.split('/');
        (parts.next(), parts.next()) == (Some(self.publisher.as_str()), Some(self.group.as_str()))
    }

    /// Returns the object for programs.
    pub(super) fn object(&self) -> Value {
        json!({
            "destination": self.destination.to_string(),
            "vlan": self.vlan,
            "publisherId": self.publisher,
            "writerGroupId": self.group,
            "count": self.count,
        })
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = place(self.destination, self.vlan);
        write!(
            f,
            "{} to {place}, from Publisher {}, WriterGroup {}",
            self.count, self.publisher, self.group
        )
    }
}

/// Returns the text of an address of Ethernet.
fn place(host: MacAddress, vlan: u16) -> String {
    match vlan {
        0 => format!("{host} without a VLAN"),
        vlan => format!("{host} in VLAN {vlan}"),
    }
}

/// Returns the text of the address of an end, as those of strays are written.
pub(super) fn place_of(address: &str) -> String {
    match Address::parse(address) {
        Ok(Address::Ethernet { host, vlan }) => place(host, vlan.map_or(0, |tag: VlanTag| tag.id)),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_other_end_elsewhere_is_evidence() {
        let stray = |publisher: &str, group: &str| Stray {
            destination: MacAddress([1, 0, 0x5E, 0, 0x54, 9]),
            vlan: 5,
            publisher: publisher.to_owned(),
            group: group.to_owned(),
            count: 3,
        };
        assert!(stray("1", "1").is_from("1/1/1"));
        for (publisher, group) in [("1", "4"), ("2", "1"), ("?", "?"), ("11", "1"), ("1", "11")] {
            assert!(
                !stray(publisher, group).is_from("1/1/1"),
                "{publisher}/{group}"
            );
        }
    }
}
