//! Places of a peer on this host: free ports, and programs.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use crate::own::PORTS;
use crate::random::Random;

/// Ports that are tried: below those that the system hands out.
const FIRST_PORT: u16 = 20_000;
const LAST_PORT: u16 = 32_000;

/// Returns true if a program is in one of the folders of programs.
pub(crate) fn has_program(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

/// Returns true if a port can be bound, for TCP and UDP.
pub(crate) fn is_free(port: u16) -> bool {
    let any = (Ipv4Addr::UNSPECIFIED, port);
    TcpListener::bind(any).is_ok() && UdpSocket::bind(any).is_ok()
}

/// Finds ten ports that follow each other, and that are all free.
pub(crate) fn free_ports(seed: u64, is_free: impl Fn(u16) -> bool) -> Option<u16> {
    let places = usize::from((LAST_PORT - FIRST_PORT) / PORTS);
    let mut random = Random::new(seed ^ u64::from(std::process::id()));
    (0..200).find_map(|_| {
        let place = u16::try_from(random.below(places)).ok()?;
        let first = FIRST_PORT + place * PORTS;
        (first..first + PORTS).all(&is_free).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn ports_are_free() {
        let first = free_ports(1, is_free).unwrap();
        let holder = TcpListener::bind(("127.0.0.1", first)).unwrap();
        assert!(!is_free(first));
        drop(holder);
    }
}
