//! Hosts of URLs, and what they mean for clients on this host and on others.

use std::net::{IpAddr, UdpSocket};

/// Scheme of shared memory, which has no host.
const SHARED_MEMORY: &str = "opc.iox2";

/// Returns the name of this host.
pub(crate) fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// Returns the scheme of a URL, the place of its host, and the host itself; `None` without a host.
fn parts(url: &str) -> Option<(&str, usize, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.starts_with('[') {
        true => authority.get(..=authority.find(']')?)?,
        false => authority.split(':').next()?,
    };
    (!host.is_empty()).then_some((scheme, scheme.len() + "://".len(), host))
}

/// Returns the address that a host is.
fn address(host: &str) -> Option<IpAddr> {
    let address: IpAddr = host.trim_matches(['[', ']']).parse().ok()?;
    // ::ffff:127.0.0.1 is 127.0.0.1.
    Some(address.to_canonical())
}

/// Returns true if a host stands for the loopback interface.
pub(crate) fn is_loopback(host: &str) -> bool {
    match address(host) {
        Some(address) => address.is_loopback(),
        None => {
            let first = host.split('.').next().unwrap_or(host);
            first.eq_ignore_ascii_case("localhost")
        }
    }
}

/// Returns true if clients on other hosts can use a URL: it is neither of shared memory nor of the loopback interface.
pub(super) fn is_url_on_network(url: &str) -> bool {
    parts(url).is_some_and(|(scheme, _, host)| scheme != SHARED_MEMORY && !is_loopback(host))
}

/// Returns a URL at all addresses with this host instead, and other URLs unchanged.
pub(super) fn with_host(url: &str, host: &str) -> String {
    match parts(url) {
        Some((scheme, begin, found))
            if scheme != SHARED_MEMORY
                && address(found).is_some_and(|address| address.is_unspecified()) =>
        {
            let rest = url.get(begin + found.len()..).unwrap_or_default();
            format!("{scheme}://{host}{rest}")
        }
        _ => url.to_owned(),
    }
}

/// Returns an address as the host of a URL.
pub(super) fn host_of(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Returns true if a URL leads to this host from other hosts: its host is all addresses, an address of this host, or the name
/// `own`, with or without a domain.
pub(crate) fn is_of_this_host(url: &str, own: &str) -> bool {
    let Some((_, _, host)) = parts(url).filter(|_| is_url_on_network(url)) else {
        return false;
    };
    match address(host) {
        // A socket can be bound to addresses of this host only.
        Some(address) => address.is_unspecified() || UdpSocket::bind((address, 0)).is_ok(),
        None => {
            let (host, own) = (host.to_ascii_lowercase(), own.to_ascii_lowercase());
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
        assert_eq!(host_of("fd00::1".parse().unwrap()), "[fd00::1]");
        assert_eq!(host_of("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1");
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
