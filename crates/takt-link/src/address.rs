//! Addresses of links: the Url of a NetworkAddressUrlDataType (OPC 10000-14, 6.2.7.5.4 and 7.3).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// Port of `opc.udp` (OPC 10000-14, 7.3.2.2).
pub const UDP_PORT: u16 = 4840;
/// Address of discovery messages (OPC 10000-14, 7.3.2.1).
pub const DISCOVERY_ADDRESS: &str = "opc.udp://224.0.2.14:4840";
/// Port of `mqtt` (OPC 10000-14, 7.3.4.2).
pub const MQTT_PORT: u16 = 1883;
/// Port of `mqtts` (OPC 10000-14, 7.3.4.2).
pub const MQTTS_PORT: u16 = 8883;

/// Address of a link.
///
/// ```
/// use takt_link::Address;
///
/// let address: Address = "opc.eth://01-00-5e-00-00-01:5.6".parse()?;
/// assert_eq!(address.to_string(), "opc.eth://01-00-5E-00-00-01:5.6");
/// assert!("opc.eth://01-00-5E-00-00-01:5.8".parse::<Address>().is_err());
/// # Ok::<(), takt_link::AddressError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// `opc.udp://<address>[:<port>]`, IPv6 addresses in brackets. Receivers of `localhost` listen on all interfaces (OPC
    /// 10000-14, 7.3.2.3).
    Udp {
        /// IP address without brackets, or a name that is resolved when the link is opened.
        host: String,
        /// UDP port.
        port: u16,
    },
    /// `opc.eth://<host>[:<VID>[.PCP]]` (OPC 10000-14, 7.3.3). The host has to be a MAC address: this crate does not resolve
    /// names or IP addresses to one, which the standard leaves to the system.
    Ethernet {
        /// Destination of frames.
        host: MacAddress,
        /// 802.1Q tag of frames; `None` for frames without a tag.
        vlan: Option<VlanTag>,
    },
    /// `mqtt://<domain name>[:<port>]` or `mqtts://` (OPC 10000-14, 7.3.4.2).
    Mqtt {
        /// Name or IP address of the broker.
        host: String,
        /// TCP port of the broker.
        port: u16,
        /// True if TLS protects the connection.
        is_secure: bool,
    },
    /// `opc.iox2://<name>`: shared memory of this host. The applications choose the name.
    Iox2 {
        /// Name of the PubSub stream.
        name: String,
    },
}

/// MAC address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MacAddress(pub [u8; 6]);

/// 802.1Q tag of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VlanTag {
    /// VID, 0 to 4094; with 0 the frame belongs to no VLAN and only has a priority.
    pub id: u16,
    /// PCP, 0 to 7.
    pub priority: u8,
}

/// Error in the text of an [`Address`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The scheme is missing or unknown.
    #[error("{0:?} begins with none of opc.udp://, opc.eth://, opc.iox2://, mqtt:// and mqtts://")]
    Scheme(String),
    /// There is no address after the scheme.
    #[error("{0:?} has no host, as in opc.udp://239.0.0.1:4840")]
    NoHost(String),
    /// There is text after the port.
    #[error("{0:?} has a path; topics and queues are not part of the address")]
    Path(String),
    /// The port is not a number from 1 to 65535.
    #[error("{0:?} is not a port: a number from 1 to 65535")]
    Port(String),
    /// A bracket is missing, or the text in brackets is not an IPv6 address.
    #[error("{0:?} is not an IPv6 address in brackets, as in [ff02::1]:4840")]
    Ipv6(String),
    /// The host is not six groups of two hexadecimal digits.
    #[error(
        "{0:?} is not a MAC address: six groups of two hexadecimal digits with hyphens, as in 01-00-5E-00-00-01"
    )]
    Mac(String),
    /// The VID is not a number from 0 to 4094.
    #[error("{0:?} is not a VLAN ID: a number from 0 to 4094")]
    VlanId(String),
    /// The PCP is not a digit from 0 to 7.
    #[error("{0:?} is not a Priority Code Point: a digit from 0 to 7")]
    Priority(String),
    /// The name of an `opc.iox2` stream has other characters or is too long.
    #[error("{0:?} is not a name: 1 to 128 letters, digits and - _ . ~ + @ /")]
    Name(String),
}

impl Address {
    /// Reads an address; the same as [`str::parse`].
    ///
    /// # Errors
    /// [`AddressError`], with the error and the expected form.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let unknown = || AddressError::Scheme(text.to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(unknown)?;
        // Schemes of URLs have no case (RFC 3986, 3.1).
        let address = match scheme.to_ascii_lowercase().as_str() {
            "opc.udp" => {
                let (host, port) = host_and_port(text, rest, UDP_PORT)?;
                Self::Udp { host, port }
            }
            "opc.eth" => ethernet(text, rest)?,
            "opc.iox2" => Self::Iox2 { name: name(rest)? },
            "mqtt" => mqtt(text, rest, false)?,
            "mqtts" => mqtt(text, rest, true)?,
            _ => return Err(unknown()),
        };
        Ok(address)
    }

    /// Returns true if messages go to topics of a broker.
    #[must_use]
    pub fn has_topics(&self) -> bool {
        matches!(self, Self::Mqtt { .. })
    }

    /// Returns true if this is an address of UDP, whose peers have addresses that can be answered.
    #[must_use]
    pub fn is_udp(&self) -> bool {
        matches!(self, Self::Udp { .. })
    }

    /// Returns true if this is the address of an IP multicast group, all of whose members receive each message.
    #[must_use]
    pub fn is_ip_multicast(&self) -> bool {
        match self {
            Self::Udp { host, .. } => host.parse().is_ok_and(|host: IpAddr| host.is_multicast()),
            _ => false,
        }
    }
}

fn mqtt(text: &str, rest: &str, is_secure: bool) -> Result<Address, AddressError> {
    let default = if is_secure { MQTTS_PORT } else { MQTT_PORT };
    let (host, port) = host_and_port(text, rest, default)?;
    Ok(Address::Mqtt {
        host,
        port,
        is_secure,
    })
}

fn host_and_port(text: &str, rest: &str, default: u16) -> Result<(String, u16), AddressError> {
    // A slash alone is no path.
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return Err(AddressError::Path(text.to_owned()));
    }
    let (host, port) = if let Some(bracketed) = rest.strip_prefix('[') {
        let wrong = || AddressError::Ipv6(rest.to_owned());
        let (host, after) = bracketed.split_once(']').ok_or_else(wrong)?;
        host.parse::<Ipv6Addr>().map_err(|_| wrong())?;
        let port = match after {
            "" => None,
            _ => Some(after.strip_prefix(':').ok_or_else(wrong)?),
        };
        (host, port)
    } else {
        match rest.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err(AddressError::Ipv6(rest.to_owned()));
            }
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        }
    };
    if host.is_empty() {
        return Err(AddressError::NoHost(text.to_owned()));
    }
    let port = match port {
        None => default,
        Some(port) => number(port)
            .filter(|&port| port != 0)
            .ok_or_else(|| AddressError::Port(port.to_owned()))?,
    };
    Ok((host.to_owned(), port))
}

fn ethernet(text: &str, rest: &str) -> Result<Address, AddressError> {
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.is_empty() {
        return Err(AddressError::NoHost(text.to_owned()));
    }
    let (host, tag) = match rest.split_once(':') {
        Some((host, tag)) => (host, Some(tag)),
        None => (rest, None),
    };
    let vlan = tag.map(|tag| {
        let (id, priority) = tag.split_once('.').unwrap_or((tag, "0"));
        Ok(VlanTag {
            id: number(id)
                .filter(|&id| id <= VlanTag::MAX_ID)
                .ok_or_else(|| AddressError::VlanId(id.to_owned()))?,
            priority: number(priority)
                .and_then(|priority| u8::try_from(priority).ok())
                .filter(|&code| code <= 7 && priority.len() == 1)
                .ok_or_else(|| AddressError::Priority(priority.to_owned()))?,
        })
    });
    Ok(Address::Ethernet {
        host: host.parse()?,
        vlan: vlan.transpose()?,
    })
}

fn name(text: &str) -> Result<String, AddressError> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.~+@/".contains(c);
    if text.is_empty() || text.len() > 128 || !text.chars().all(allowed) {
        return Err(AddressError::Name(text.to_owned()));
    }
    Ok(text.to_owned())
}

/// Returns a decimal number of digits alone: `parse` would accept a sign.
fn number(text: &str) -> Option<u16> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp { host, port } => write!(f, "opc.udp://{}:{port}", Bracketed(host)),
            Self::Ethernet { host, vlan } => {
                write!(f, "opc.eth://{host}")?;
                match vlan {
                    Some(VlanTag { id, priority }) => write!(f, ":{id}.{priority}"),
                    None => Ok(()),
                }
            }
            Self::Mqtt {
                host,
                port,
                is_secure,
            } => {
                let scheme = if *is_secure { "mqtts" } else { "mqtt" };
                write!(f, "{scheme}://{}:{port}", Bracketed(host))
            }
            Self::Iox2 { name } => write!(f, "opc.iox2://{name}"),
        }
    }
}

/// Host as written in a URL.
struct Bracketed<'a>(&'a str);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.parse() {
            Ok(IpAddr::V6(address)) => write!(f, "[{address}]"),
            _ => f.write_str(self.0),
        }
    }
}

impl VlanTag {
    /// Greatest VID; 4095 is reserved (IEEE 802.1Q).
    pub const MAX_ID: u16 = 4094;
}

impl MacAddress {
    /// Returns true if this is the address of a group: multicast or broadcast.
    #[must_use]
    pub fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl FromStr for MacAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::Mac(text.to_owned());
        let mut bytes = [0; 6];
        let mut groups = text.split('-');
        for byte in &mut bytes {
            let group = groups.next().filter(|group| group.len() == 2);
            let group = group.ok_or_else(wrong)?;
            if !group.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(wrong());
            }
            *byte = u8::from_str_radix(group, 16).map_err(|_| wrong())?;
        }
        match groups.next() {
            None => Ok(Self(bytes)),
            Some(_) => Err(wrong()),
        }
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02X}-{b:02X}-{c:02X}-{d:02X}-{e:02X}-{g:02X}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
