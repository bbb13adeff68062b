//! Origins of messages.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

/// Origin of a message: the link that it came through, and its sender.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Origin<'a> {
    /// Index of the link among those of the connection ([`Subscriber::set_reader_links`](super::Subscriber::set_reader_links)).
    pub link: usize,
    /// Sender of the message, as the link names it.
    pub sender: MessageSender<'a>,
}

/// Sender of a message, as a link names it. It is not authenticated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum MessageSender<'a> {
    /// The link does not name senders.
    #[default]
    Unknown,
    /// Topic of a broker, which does not name senders.
    Topic(Cow<'a, str>),
    /// Address and port of a UDP datagram.
    Udp(SocketAddr),
    /// Source address of an Ethernet frame, and its VLAN; 0 for none.
    Ethernet([u8; 6], u16),
    /// Number of a sender in the shared memory of this host.
    SharedMemory(u128),
}

impl Origin<'_> {
    /// Returns a number for the origin. Nobody outside knows the hasher, so nobody can compute an origin with the number of another
    /// one.
    pub(super) fn number(&self, hasher: &RandomState) -> u64 {
        hasher.hash_one(self)
    }
}

impl MessageSender<'_> {
    pub(super) fn into_owned(self) -> MessageSender<'static> {
        match self {
            Self::Unknown => MessageSender::Unknown,
            Self::Topic(topic) => MessageSender::Topic(topic.into_owned().into()),
            Self::Udp(address) => MessageSender::Udp(address),
            Self::Ethernet(address, vlan) => MessageSender::Ethernet(address, vlan),
            Self::SharedMemory(sender) => MessageSender::SharedMemory(sender),
        }
    }
}

impl fmt::Display for MessageSender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("an unknown sender"),
            Self::Topic(topic) => f.write_str(topic),
            Self::Udp(address) => address.fmt(f),
            Self::Ethernet([a, b, c, d, e, g], vlan) => {
                write!(f, "{a:02X}-{b:02X}-{c:02X}-{d:02X}-{e:02X}-{g:02X}")?;
                match vlan {
                    0 => Ok(()),
                    vlan => write!(f, ":{vlan}"),
                }
            }
            Self::SharedMemory(sender) => write!(f, "sender {sender:x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_origins_cannot_be_computed_outside() {
        let origin = |port| Origin {
            link: 1,
            sender: MessageSender::Udp(([127, 0, 0, 1], port).into()),
        };
        let (one, other) = (RandomState::new(), RandomState::new());
        assert_eq!(origin(4840).number(&one), origin(4840).number(&one));
        assert_ne!(origin(4840).number(&one), origin(4841).number(&one));
        assert_ne!(origin(4840).number(&one), origin(4840).number(&other));
    }

    #[test]
    fn senders_are_written_as_their_links_write_addresses() {
        let text = |sender: MessageSender<'_>| sender.to_string();
        assert_eq!(text(MessageSender::Topic("a/b".into())), "a/b");
        let address = "127.0.0.2:4840".parse().unwrap();
        assert_eq!(text(MessageSender::Udp(address)), "127.0.0.2:4840");
        let mac = [0, 1, 2, 0xAB, 4, 5];
        assert_eq!(text(MessageSender::Ethernet(mac, 0)), "00-01-02-AB-04-05");
        assert_eq!(text(MessageSender::Ethernet(mac, 7)), "00-01-02-AB-04-05:7");
        assert_eq!(text(MessageSender::SharedMemory(255)), "sender ff");
    }
}
