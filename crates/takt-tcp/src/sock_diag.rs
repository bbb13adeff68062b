//! The question to the kernel who owns a TCP socket, and its answer: sock_diag(7), without a socket.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes of a question: `nlmsghdr` and `inet_diag_req_v2`.
const QUESTION_SIZE: usize = 72;

/// Bytes of `nlmsghdr`.
const HEADER_SIZE: usize = 16;

/// Bytes of `inet_diag_msg`, in front of its attributes.
const MESSAGE_SIZE: usize = 72;

/// `SOCK_DIAG_BY_FAMILY`: type of the question and of an answer with a socket.
const BY_FAMILY: u16 = 20;

/// `NLMSG_ERROR`: type of an answer without a socket.
const ERROR: u16 = 2;

/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;

const INET: u8 = 2;
const INET6: u8 = 10;
const TCP: u8 = 6;

/// States of TCP sockets of the kernel.
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// Question for the Unix user that made a TCP socket of this network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketQuestion {
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
}

/// Answer of the kernel to a [`SocketQuestion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketAnswer {
    /// The socket is open, and this Unix user made it.
    User(u32),
    /// There is no such socket, or no process has it any more.
    Unknown,
}

impl SocketQuestion {
    /// Asks for a connected socket with these addresses, as it sees them itself. `None` if one address is IPv4 and the other one
    /// IPv6.
    #[must_use]
    pub fn connected(local: SocketAddr, remote: SocketAddr) -> Option<Self> {
        let question = Self {
            local: canonical(local),
            remote: canonical(remote),
            state: ESTABLISHED,
        };
        let same_family = question.local.is_ipv4() == question.remote.is_ipv4();
        same_family.then_some(question)
    }

    /// Asks for a socket that listens at this address.
    pub(crate) fn listening(local: SocketAddr) -> Self {
        let any: IpAddr = match local {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        Self {
            local,
            remote: (any, 0).into(),
            state: LISTEN,
        }
    }

    /// Returns whether this is the socket with these addresses in this state. `false` for a link-local address, whose interface is
    /// missing here.
    pub(crate) fn is_about(&self, local: SocketAddr, remote: SocketAddr, state: u8) -> bool {
        let has = |own: SocketAddr, other| own == canonical(other) && scope(own) == 0;
        state == self.state && has(self.local, local) && has(self.remote, remote)
    }

    /// Returns the message to the kernel. The answer has the same sequence number.
    #[must_use]
    pub fn emit(&self, sequence: u32) -> [u8; QUESTION_SIZE] {
        let mut message = [0; QUESTION_SIZE];
        let mut position = 0;
        let mut put = |bytes: &[u8]| {
            message[position..position + bytes.len()].copy_from_slice(bytes);
            position += bytes.len();
        };
        put(&(QUESTION_SIZE as u32).to_ne_bytes());
        put(&BY_FAMILY.to_ne_bytes());
        put(&REQUEST.to_ne_bytes());
        put(&sequence.to_ne_bytes());
        put(&[0; 4]); // The kernel's port.
        let family = if self.local.is_ipv4() { INET } else { INET6 };
        put(&[family, TCP, 0, 0]);
        put(&u32::MAX.to_ne_bytes()); // All states.
        put(&self.local.port().to_be_bytes());
        put(&self.remote.port().to_be_bytes());
        put(&octets(self.local.ip()));
        put(&octets(self.remote.ip()));
        put(&scope(self.local).to_ne_bytes());
        put(&[0xFF; 8]); // INET_DIAG_NOCOOKIE
        message
    }

    /// Reads a message of the kernel. `None` if it is no answer to this question.
    ///
    /// The kernel also finds a socket that listens at the local address, and names root as the user of a socket that no process has:
    /// both are [`SocketAnswer::Unknown`].
    #[must_use]
    pub fn read(&self, sequence: u32, message: &[u8]) -> Option<SocketAnswer> {
        let size = usize::try_from(u32_at(message, 0)?).ok()?;
        let message = message.get(..size)?;
        if u32_at(message, 8)? != sequence {
            return None;
        }
        let found = match u16::from_ne_bytes(*message.get(4..)?.first_chunk()?) {
            ERROR => return Some(SocketAnswer::Unknown),
            BY_FAMILY => message.get(HEADER_SIZE..HEADER_SIZE + MESSAGE_SIZE)?,
            _ => return None,
        };
        let address = |ip: usize, port: usize| {
            let octets: &[u8; 16] = found.get(ip..)?.first_chunk()?;
            let ip = match *found.first()? {
                INET => IpAddr::from(*octets.first_chunk::<4>()?),
                INET6 => IpAddr::from(*octets).to_canonical(),
                _ => return None,
            };
            let port = u16::from_be_bytes(*found.get(port..)?.first_chunk()?);
            Some((ip, port))
        };
        let has = |own: SocketAddr, found: (IpAddr, u16)| (own.ip(), own.port()) == found;
        let is_same = found.get(1) == Some(&self.state)
            && has(self.local, address(8, 4)?)
            && has(self.remote, address(24, 6)?);
        let (user, inode) = (u32_at(found, 64)?, u32_at(found, 68)?);
        Some(match is_same && inode != 0 {
            true => SocketAnswer::User(user),
            false => SocketAnswer::Unknown,
        })
    }
}

/// Returns the address of IPv4 for one that IPv6 maps: sockets of both kinds are found by it.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => (ip, address.port()).into(),
        IpAddr::V6(_) => address,
    }
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V6(ip) => ip.octets(),
        IpAddr::V4(ip) => {
            let mut octets = [0; 16];
            octets[..4].copy_from_slice(&ip.octets());
            octets
        }
    }
}

/// Returns the interface of a link-local address; 0 for others.
fn scope(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(_) => 0,
        SocketAddr::V6(address) => address.scope_id(),
    }
}

fn u32_at(bytes: &[u8], position: usize) -> Option<u32> {
    let bytes = bytes.get(position..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Answer of Linux 6.18 about a client 127.0.0.1:35962 of root at 127.0.0.1:38045.
    const ANSWER: &str = "7c000000140000000700000043550000\
        020100008c7a949d7f0000010000000000000000000000007f0000010000000000000000\
        0000000000000000020000000000000000000000000000000000000000000000c8b86500\
        050008000000000008000f00000000000c00150001000000000000000600160052000000";

    fn bytes(text: &str) -> Vec<u8> {
        let digits = text.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.map(|pair| byte(pair).unwrap()).collect()
    }

    fn question(local: &str, remote: &str) -> SocketQuestion {
        SocketQuestion::connected(local.parse().unwrap(), remote.parse().unwrap()).unwrap()
    }

    fn recorded() -> SocketQuestion {
        question("127.0.0.1:35962", "127.0.0.1:38045")
    }

    #[test]
    fn a_question_has_the_layout_of_the_kernel() {
        let expected = "48000000140001000700000000000000020600 00ffffffff8c7a949d7f000001000000000000000000000000\
            7f00000100000000000000000000000000000000ffffffffffffffff";
        let expected = bytes(&expected.replace(' ', ""));
        assert_eq!(recorded().emit(7).to_vec(), expected);
        // The same client at a socket for both kinds of addresses.
        let mapped = question("[::ffff:127.0.0.1]:35962", "[::ffff:127.0.0.1]:38045");
        assert_eq!(mapped.emit(7).to_vec(), expected);
        let link_local = question("[fe80::1%3]:1", "[fe80::2%3]:2").emit(1);
        assert_eq!(
            (link_local[16], &link_local[60..64]),
            (INET6, &[3, 0, 0, 0][..])
        );
        let (v4, v6) = ("127.0.0.1:1".parse().unwrap(), "[::1]:1".parse().unwrap());
        assert_eq!(SocketQuestion::connected(v4, v6), None);
    }

    #[test]
    fn an_answer_names_the_user_of_exactly_this_socket() {
        let answer = bytes(ANSWER);
        assert_eq!(recorded().read(7, &answer), Some(SocketAnswer::User(0)));
        assert_eq!(recorded().read(8, &answer), None);
        let mut other = answer.clone();
        other[80..84].copy_from_slice(&1000_u32.to_ne_bytes());
        assert_eq!(recorded().read(7, &other), Some(SocketAnswer::User(1000)));
        for question in [
            question("127.0.0.1:35963", "127.0.0.1:38045"),
            question("127.0.0.1:35962", "127.0.0.1:38046"),
            question("127.0.0.2:35962", "127.0.0.1:38045"),
            question("127.0.0.1:35962", "127.0.0.2:38045"),
            question("[::1]:35962", "[::1]:38045"),
        ] {
            assert_eq!(question.read(7, &answer), Some(SocketAnswer::Unknown));
        }
    }

    /// Such sockets have the user 0 in the answer, or belong to somebody else.
    #[test]
    fn a_socket_without_a_process_is_not_that_of_root() {
        for state in 2..=12 {
            let mut answer = bytes(ANSWER);
            answer[17] = state;
            assert_eq!(recorded().read(7, &answer), Some(SocketAnswer::Unknown));
        }
        let mut orphan = bytes(ANSWER);
        orphan[84..88].fill(0);
        assert_eq!(recorded().read(7, &orphan), Some(SocketAnswer::Unknown));
        // NLMSG_ERROR with ENOENT.
        let none = [&bytes("2400000002000000")[..], &[7, 0, 0, 0], &[0xFE; 24]].concat();
        assert_eq!(recorded().read(7, &none), Some(SocketAnswer::Unknown));
    }

    proptest! {
        #[test]
        fn damaged_answers_are_no_answers(
            cut in 0_usize..88,
            place in 0_usize..88,
            value: u8,
            noise: Vec<u8>,
        ) {
            let answer = bytes(ANSWER);
            prop_assert_eq!(recorded().read(7, &answer[..cut]), None);
            let mut damaged = answer.clone();
            damaged[place] = value;
            let is_user = matches!(recorded().read(7, &damaged), Some(SocketAnswer::User(user)) if user != 0);
            // Only its own field changes the user.
            prop_assert!(!is_user || (80..84).contains(&place));
            let _ = recorded().read(7, &noise);
        }
    }
}
