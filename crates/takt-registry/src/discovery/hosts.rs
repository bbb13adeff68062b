//! Hosts of URLs, and what they mean for clients on this host and on others.

use std::net::{IpAddr, UdpSocket};

use takt_ua::UrlParts;

/// Scheme of shared memory, which has no host.
const SHARED_MEMORY: &str = "opc.iox2";

/// Returns the name of this host.
pub(crate) fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// Returns the parts of a URL that is not of shared memory.
fn network_url(url: &str) -> Option<UrlParts<'_>> {
    let parts = UrlParts::parse(url).ok();
    parts.filter(|url| !url.has_scheme(SHARED_MEMORY))
}

/// Returns true if a host stands for the loopback interface.
pub(crate) fn is_loopback(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let first = host.split('.').next().unwrap_or(host);
            first.eq_ignore_ascii_case("localhost")
        }
    }
}

/// Returns true if clients on other hosts can use a URL: it is neither of shared memory nor of the loopback interface.
pub(super) fn is_url_on_network(url: &str) -> bool {
    network_url(url).is_some_and(|url| !is_loopback(url.host()))
}

/// Returns a URL at all addresses with this host instead, and other URLs unchanged.
pub(super) fn with_host(url: &str, host: &str) -> String {
    match network_url(url) {
        Some(parts)
            if parts
                .address()
                .is_some_and(|address| address.is_unspecified()) =>
        {
            parts.with_host(host).to_string()
        }
        _ => url.to_owned(),
    }
}

/// Returns true if a URL leads to this host from other hosts: its host is all addresses, an address of this host, or the name
/// `own`, with or without a domain.
pub(crate) fn is_of_this_host(url: &str, own: &str) -> bool {
    let Some(url) = network_url(url).filter(|url| !is_loopback(url.host())) else {
        return false;
    };
    match url.address() {
        // A socket can be bound to addresses of this host only.
        Some(address) => address.is_unspecified() || UdpSocket::bind((address, 0)).is_ok(),
        None => {
            let (host, own) = (url.host().to_ascii_lowercase(), own.to_ascii_lowercase());
            let extends = |long: &str, short: &str| {
                let domain = long.strip_prefix(short);
                domain.is_some_and(|domain| domain.is_empty() || domain.starts_with('.'))
            };
            extends(&host, &own) || extends(&own, &host)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_the_loopback_interface_are_not_on_the_network() {
        for url in [
            "opc.tcp://127.0.0.1:4840",
            "opc.tcp://127.1.2.3:4840/path",
            "opc.tcp://[::1]:4840",
            "opc.tcp://[::ffff:127.0.0.1]:4840",
            "opc.tcp://localhost:4840",
            "opc.tcp://LOCALHOST.localdomain:4840",
            "opc.https://localhost/path",
            "opc.iox2://Press",
            "opc.tcp://:4840",
            "press",
        ] {
            assert!(!is_url_on_network(url), "{url}");
        }
        for url in [
            "opc.tcp://0.0.0.0:4840",
            "opc.tcp://10.0.0.1:4840",
            "opc.https://press7/127.0.0.1",
            "opc.tcp://[fd00::1]:4840",
        ] {
            assert!(is_url_on_network(url), "{url}");
        }
    }

    #[test]
    fn all_addresses_become_a_host() {
        for (url, expected) in [
            ("opc.tcp://0.0.0.0:4840/a", "opc.tcp://plc7:4840/a"),
            ("opc.tcp://[::]:4840", "opc.tcp://plc7:4840"),
            ("opc.https://0.0.0.0", "opc.https://plc7"),
            ("opc.tcp://0.0.0.0.example:1", "opc.tcp://0.0.0.0.example:1"),
            ("opc.tcp://10.0.0.1:4840", "opc.tcp://10.0.0.1:4840"),
            ("opc.iox2://0.0.0.0", "opc.iox2://0.0.0.0"),
        ] {
            assert_eq!(with_host(url, "plc7"), expected);
        }
        assert_eq!(
            with_host("OPC.TCP://[::]:4840/a", "fd00::1"),
            "OPC.TCP://[fd00::1]:4840/a"
        );
    }

    #[test]
    fn urls_of_this_host_have_its_name_or_an_address_of_it() {
        for (url, expected) in [
            ("opc.tcp://0.0.0.0:4840", true),
            ("opc.tcp://plc7:4840", true),
            ("opc.tcp://PLC7.plant.example:4840", true),
            ("opc.tcp://plc70:4840", false),
            ("opc.tcp://press7:4840", false),
            // An address for documentation (RFC 5737), which no host has.
            ("opc.tcp://192.0.2.7:4840", false),
            ("opc.tcp://127.0.0.1:4840", false),
            ("opc.tcp://localhost:4840", false),
        ] {
            assert_eq!(is_of_this_host(url, "plc7"), expected, "{url}");
        }
        assert!(is_of_this_host("opc.tcp://plc7:1", "plc7.plant.example"));
    }
}
