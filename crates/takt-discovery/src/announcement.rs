//! A server as it is announced on the network (OPC 10000-12, Annex C).

use crate::name::sanitized;

/// Scheme of endpoints that mDNS can announce as `_opcua-tcp._tcp`.
const SCHEME: &str = "opc.tcp://";

/// Longest property of a TXT record in bytes, with its key (RFC 6763, 6.1).
const LONGEST_PROPERTY: usize = 255;

/// A server to be announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub(crate) name: String,
    pub(crate) port: u16,
    /// Path of the DiscoveryUrl with its first slash; empty if there is none.
    pub(crate) path: String,
    /// Identifiers of capabilities (OPC 10000-12, Annex D), `NA` if there are none.
    pub(crate) capabilities: Vec<String>,
}

/// Reason why a server cannot be announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementError {
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
    /// host: it is not announced, because mDNS announces the addresses of this host.
    ///
    /// # Errors
    /// See [`AnnouncementError`].
    pub fn new<'c>(
        name: &str,
        discovery_url: &str,
        capabilities: impl IntoIterator<Item = &'c str>,
    ) -> Result<Self, AnnouncementError> {
        let name = sanitized(name.trim());
        if name.trim().is_empty() {
            return Err(AnnouncementError::Name);
        }
        let (port, path) = port_and_path(discovery_url).ok_or(AnnouncementError::Url)?;
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
            identifiers.push("NA".to_owned());
        }
        if "caps=".len() + identifiers.join(",").len() > LONGEST_PROPERTY {
            return Err(AnnouncementError::Capability);
        }
        Ok(Self {
            name,
            port,
            path: path.to_owned(),
            capabilities: identifiers,
        })
    }
}

/// Returns port and path of a URL.
fn port_and_path(url: &str) -> Option<(u16, &str)> {
    let rest = url.strip_prefix(SCHEME)?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_plain || "path=".len() + path.len() > LONGEST_PROPERTY {
        return None;
    }
    let port = match authority.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() => port.parse().ok()?,
        _ => return None,
    };
    let path = if path == "/" { "" } else { path };
    (port > 0).then_some((port, path))
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
