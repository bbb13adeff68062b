//! A server as it is announced on the network (OPC 10000-12, Annex C).

use std::net::IpAddr;

use takt_ua::UrlParts;

use super::name::sanitized;

/// Scheme of endpoints that mDNS can announce as `_opcua-tcp._tcp`.
const SCHEME: &str = "opc.tcp";

/// Longest property of a TXT record in bytes, with its key (RFC 6763, 6.1).
const LONGEST_PROPERTY: usize = 255;

/// A server to be announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) name: String,
    pub(super) host: AnnouncedHost,
    pub(super) port: u16,
    /// Path of the DiscoveryUrl with its first slash; empty if there is none.
    pub(super) path: String,
    /// Identifiers of capabilities (OPC 10000-12, Annex D), `NA` if there are none.
    pub(super) capabilities: Vec<String>,
}

/// Addresses with which a server is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnnouncedHost {
    /// The only address at which it listens.
    Address(IpAddr),
    /// All IPv4 addresses of this host.
    AllIpv4,
    /// All addresses of this host: the URL has `[::]` or a name.
    All,
}

impl AnnouncedHost {
    /// Returns the addresses that the host of a URL stands for.
    fn of(url: UrlParts<'_>) -> Self {
        match url.address() {
            Some(IpAddr::V4(address)) if address.is_unspecified() => Self::AllIpv4,
            Some(address) if !address.is_unspecified() => Self::Address(address),
            _ => Self::All,
        }
    }
}

/// Reason why a server cannot be announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnnouncementError {
    /// Names have at most 63 bytes, and at least one visible character.
    #[error("the name has no visible character")]
    Name,
    /// mDNS announces endpoints of `opc.tcp` only.
    #[error("the URL is not `opc.tcp://HOST:PORT`, with an optional path")]
    Url,
    /// Capabilities are short identifiers: letters, digits, `.`, `_` and `-`.
    #[error("a capability is not an identifier")]
    Capability,
}

impl Announcement {
    /// Creates the announcement of a server: its name, its DiscoveryUrl and its capabilities. The host of the URL has to be this
    /// host. If it is an address, the server is announced with this address only.
    ///
    /// # Errors
    /// See [`AnnouncementError`].
    pub(crate) fn new<'c>(
        name: &str,
        discovery_url: &str,
        capabilities: impl IntoIterator<Item = &'c str>,
    ) -> Result<Self, AnnouncementError> {
        let name = sanitized(name.trim());
        if name.trim().is_empty() {
            return Err(AnnouncementError::Name);
        }
        let (url, port, path) = announced_parts(discovery_url).ok_or(AnnouncementError::Url)?;
        let mut identifiers: Vec<String> = Vec::new();
        for capability in capabilities {
            let is_identifier = !capability.is_empty()
                && capability
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
            if !is_identifier {
                return Err(AnnouncementError::Capability);
            }
            identifiers.push(capability.to_owned());
        }
        if identifiers.is_empty() {
            // The identifier for unknown capabilities (OPC 10000-12, Annex D).
            identifiers.push("NA".to_owned());
        }
        if "caps=".len() + identifiers.join(",").len() > LONGEST_PROPERTY {
            return Err(AnnouncementError::Capability);
        }
        Ok(Self {
            name,
            host: AnnouncedHost::of(url),
            port,
            path: path.to_owned(),
            capabilities: identifiers,
        })
    }
}

/// Returns the parts of a URL with a port, and a path that fits into a record.
fn announced_parts(url: &str) -> Option<(UrlParts<'_>, u16, &str)> {
    let parts = UrlParts::parse(url)
        .ok()
        .filter(|url| url.has_scheme(SCHEME))?;
    let path = match parts.path() {
        "/" => "",
        path => path,
    };
    let is_plain =
        !path.starts_with(['?', '#']) && path.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_plain || "path=".len() + path.len() > LONGEST_PROPERTY {
        return None;
    }
    let port = parts.port().filter(|port| *port > 0)?;
    Some((parts, port, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_have_port_path_and_capabilities() {
        let one = Announcement::new("Press", "opc.tcp://press7:4840/line/2", ["DA", "AC"]).unwrap();
        assert_eq!((one.port, one.path.as_str()), (4840, "/line/2"));
        assert_eq!(one.capabilities, ["DA", "AC"]);
        let plain = Announcement::new("Press", "opc.tcp://[::1]:4841/", []).unwrap();
        assert_eq!((plain.port, plain.path.as_str()), (4841, ""));
        assert_eq!(plain.capabilities, ["NA"]);
        for (url, host) in [
            ("opc.tcp://press7:4840", AnnouncedHost::All),
            ("OPC.TCP://Press7:4840", AnnouncedHost::All),
            ("opc.tcp://[::]:4840", AnnouncedHost::All),
            ("opc.tcp://0.0.0.0:4840", AnnouncedHost::AllIpv4),
            (
                "opc.tcp://10.9.9.5:4840",
                AnnouncedHost::Address([10, 9, 9, 5].into()),
            ),
            (
                "opc.tcp://[fd12::5]:4840",
                AnnouncedHost::Address("fd12::5".parse().unwrap()),
            ),
        ] {
            let server = Announcement::new("Press", url, []).unwrap();
            assert_eq!(server.host, host, "{url}");
        }
        for (name, url, capabilities, error) in [
            ("\n", "opc.tcp://a:1", vec![], AnnouncementError::Name),
            ("a", "opc.tcp://a", vec![], AnnouncementError::Url),
            ("a", "opc.tcp://a:0", vec![], AnnouncementError::Url),
            ("a", "opc.tcp://:4840", vec![], AnnouncementError::Url),
            ("a", "opc.iox2://a", vec![], AnnouncementError::Url),
            ("a", "opc.tcp://a:1/ b", vec![], AnnouncementError::Url),
            (
                "a",
                "opc.tcp://a:1",
                vec!["D,A"],
                AnnouncementError::Capability,
            ),
        ] {
            assert_eq!(
                Announcement::new(name, url, capabilities),
                Err(error),
                "{url}"
            );
        }
    }
}
