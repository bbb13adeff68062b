//! Network interfaces: found by name, IP address or MAC address, and watched.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::address::MacAddress;
use crate::error::{DownReason, LinkError, LinkState};
use crate::unsafe_code::interfaces::{self, Question};

/// Returns the name of the network interface that has this name, IP address or MAC address.
///
/// # Errors
/// [`LinkError::NoSuchInterface`], or the interfaces cannot be listed.
pub fn interface_name(wanted: &str) -> Result<String, LinkError> {
    Interface::find(wanted).map(|interface| interface.name)
}

/// Network interface of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) index: u32,
    pub(crate) mac: Option<MacAddress>,
    pub(crate) addresses: Vec<IpAddr>,
}

impl Interface {
    /// Finds the interface that has this name, IP address or MAC address.
    pub(crate) fn find(wanted: &str) -> Result<Self, LinkError> {
        let all = Self::all()?;
        let address: Option<IpAddr> = wanted.parse().ok();
        let mac: Option<MacAddress> = wanted.parse().ok();
        let found = all.iter().find(|interface| {
            interface.name == wanted
                || address.is_some_and(|address| interface.addresses.contains(&address))
                || (mac.is_some() && mac == interface.mac)
                // All of 127.0.0.0/8 belongs to loopback.
                || (interface.name == "lo" && address.is_some_and(|address| address.is_loopback()))
        });
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = all
                .iter()
                .map(|interface| interface.name.as_str())
                .collect();
            LinkError::NoSuchInterface {
                name: wanted.to_owned(),
                known: names.join(", "),
            }
        })
    }

    fn all() -> Result<Vec<Self>, LinkError> {
        let mut all: Vec<Self> = Vec::new();
        interfaces::for_each_address(|name, address| {
            let place = all.iter().position(|interface| interface.name == name);
            let place = place.unwrap_or_else(|| {
                all.push(Self {
                    name: name.to_owned(),
                    index: 0,
                    mac: None,
                    addresses: Vec::new(),
                });
                all.len() - 1
            });
            let interface = &mut all[place];
            if let Some(address) = socket_address(address) {
                interface.addresses.push(address.ip());
            } else if let Some((index, mac)) = packet_address(address) {
                interface.index = index;
                interface.mac = Some(mac);
            }
        })
        .map_err(|errno| LinkError::open("list the network interfaces", errno))?;
        // Only interfaces with a packet address have an index; messages cannot go to others.
        all.retain(|interface| interface.index != 0);
        Ok(all)
    }

    /// Returns the first IPv4 address of the interface.
    pub(crate) fn ipv4(&self) -> Option<Ipv4Addr> {
        self.addresses.iter().find_map(|address| match address {
            IpAddr::V4(address) => Some(*address),
            IpAddr::V6(_) => None,
        })
    }

    /// Returns an address of the family of `other`, if possible of its scope.
    pub(crate) fn address_like(&self, other: IpAddr) -> Option<IpAddr> {
        let addresses = || self.addresses.iter().copied();
        let is_alike = |address: &IpAddr| address.is_ipv4() == other.is_ipv4();
        let has_scope = |address: &IpAddr| is_link_local(*address) == is_link_local(other);
        let found = addresses().find(|address| is_alike(address) && has_scope(address));
        found.or_else(|| addresses().find(is_alike))
    }

    /// Returns an address with a port. A link-local IPv6 address exists on every interface, so it names this one (RFC
    /// 4007, 6).
    pub(crate) fn socket_address(&self, address: IpAddr, port: u16) -> SocketAddr {
        match address {
            IpAddr::V6(v6) if is_link_local(address) => {
                SocketAddrV6::new(v6, port, 0, self.index).into()
            }
            _ => SocketAddr::new(address, port),
        }
    }

    /// Returns the length of the longest payload of a frame, in bytes.
    pub(crate) fn mtu(&self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        interfaces::ask_interface(socket, &self.name, Question::Mtu).map(|mtu| mtu as usize)
    }

    /// Returns the state of the interface: up if frames get through it. Allocates nothing.
    pub(crate) fn state(&self, socket: BorrowedFd<'_>) -> LinkState {
        // An interface of the same name may be another one.
        if rustix::net::netdevice::name_to_index(socket, &self.name) != Ok(self.index) {
            return LinkState::Down(DownReason::InterfaceGone);
        }
        match interfaces::ask_interface(socket, &self.name, Question::Flags) {
            Err(_) => LinkState::Down(DownReason::InterfaceGone),
            Ok(flags) if flags & libc::IFF_UP as u32 == 0 => {
                LinkState::Down(DownReason::InterfaceDown)
            }
            // IFF_UP is the will of the administrator, IFF_RUNNING the state of the device.
            Ok(flags) if flags & libc::IFF_RUNNING as u32 == 0 => {
                LinkState::Down(DownReason::NoCarrier)
            }
            Ok(_) => LinkState::Up,
        }
    }
}

/// Returns true for a link-local IPv6 address.
fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// Returns bytes `from..from + N`, if they exist.
fn part<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}

fn family(bytes: &[u8]) -> Option<i32> {
    part(bytes, 0).map(|bytes| i32::from(u16::from_ne_bytes(bytes)))
}

/// Returns the IP address and port of a `struct sockaddr_in` or `struct sockaddr_in6`; an IPv4 address as such, also where a
/// socket of both families has it in IPv6.
pub(crate) fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(part(bytes, 2)?);
    let address = match family(bytes)? {
        libc::AF_INET => IpAddr::V4(Ipv4Addr::from(part::<4>(bytes, 4)?)),
        libc::AF_INET6 => IpAddr::V6(Ipv6Addr::from(part::<16>(bytes, 8)?)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// Returns the index of the interface and the MAC address of a `struct sockaddr_ll`. Loopback has one of zeros.
pub(crate) fn packet_address(bytes: &[u8]) -> Option<(u32, MacAddress)> {
    if family(bytes)? != libc::AF_PACKET {
        return None;
    }
    let index = u32::from_ne_bytes(part(bytes, 4)?);
    Some((index, MacAddress(part(bytes, 12)?)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn loopback_is_found_by_name_and_by_address() {
        let by_name = Interface::find("lo").unwrap();
        assert_eq!(Interface::find("127.0.0.1").unwrap(), by_name);
        assert_ne!(by_name.index, 0);
        assert!(by_name.addresses.contains(&IpAddr::V4(Ipv4Addr::LOCALHOST)));
    }

    #[test]
    fn an_unknown_interface_is_refused_with_the_known_names() {
        let error = Interface::find("takt-none").unwrap_err().to_string();
        assert!(
            error.contains("takt-none") && error.contains("lo"),
            "{error}"
        );
    }

    #[test]
    fn link_local_addresses_name_their_interface() {
        let [global, local]: [IpAddr; 2] = ["2001:db8::7", "fe80::7"].map(|it| it.parse().unwrap());
        let interface = Interface {
            name: "eth0".to_owned(),
            index: 3,
            mac: None,
            addresses: vec!["10.0.0.7".parse().unwrap(), local, global],
        };
        let of = |address: IpAddr| interface.socket_address(address, 4840).to_string();
        assert_eq!(of(local), "[fe80::7%3]:4840");
        assert_eq!(of(global), "[2001:db8::7]:4840");
        let like = |other: &str| interface.address_like(other.parse().unwrap());
        assert_eq!(like("fe80::1"), Some(local));
        assert_eq!(like("2001:db8::1"), Some(global));
        assert_eq!(like("::1"), Some(global));
    }

    #[test]
    fn short_addresses_are_none() {
        for length in 0..20 {
            let mut bytes = vec![0; length];
            if length >= 2 {
                bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            }
            assert_eq!(socket_address(&bytes), None);
            assert_eq!(packet_address(&bytes), None);
        }
    }
}
