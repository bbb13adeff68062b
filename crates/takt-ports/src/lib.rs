//! Ports of this host for tests, reserved for one process.
//!
//! A test that binds port 0, drops the socket and gives the number to a server shares the number with everybody: the kernel
//! gives it to the next outgoing connection of any process. Ports from here are outside the range that the kernel hands out
//! (`ip_local_port_range`, ip-sysctl), and no two processes have the same.

#![forbid(unsafe_code)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test without a port fails by panicking"
)]

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::{Mutex, PoisonError};

/// Lowest port: those below belong to well-known services, among them 4840 of OPC UA.
const FIRST: u16 = 10_000;

/// First port of the kernel's range if it cannot be read: its default.
const KERNEL_FIRST: u16 = 32_768;

/// Reservations of this process. A socket in the abstract namespace (unix(7)) exists once in a network namespace, and the kernel
/// removes it at the end of the process, also after a crash.
static RESERVED: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());

/// Reserves a port for TCP and UDP until this process ends, also while no socket is bound to it.
///
/// # Panics
/// If no port is free.
#[must_use]
pub fn reserve() -> u16 {
    let range = range();
    let count = usize::from(range.end - range.start);
    // Two processes that start at the same place would try the same ports one after the other.
    let begin = usize::try_from(RandomState::new().hash_one(()) % count as u64).unwrap_or(0);
    let reserved = (0..count).find_map(|step| {
        let offset = u16::try_from((begin + step) % count).ok()?;
        try_reserve(range.start + offset)
    });
    reserved.unwrap_or_else(|| panic!("none of the ports {range:?} is free"))
}

/// Ports below those that the kernel gives to sockets without one.
fn range() -> Range<u16> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = text
        .ok()
        .and_then(|it| it.split_whitespace().next()?.parse().ok());
    let end: u16 = first.unwrap_or(KERNEL_FIRST);
    // A host can give nearly all ports to the kernel; then a port is as good as any other.
    if end > FIRST {
        FIRST..end
    } else {
        FIRST..u16::MAX
    }
}

/// Returns the port if it is neither reserved by another call nor in use.
fn try_reserve(port: u16) -> Option<u16> {
    let reservation = hold(port).ok()?;
    if !is_free(port) {
        return None;
    }
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    reserved.push(reservation);
    Some(port)
}

/// Returns true if no socket of the host has the port, for TCP and UDP.
fn is_free(port: u16) -> bool {
    let any = (Ipv4Addr::UNSPECIFIED, port);
    TcpListener::bind(any).is_ok() && UdpSocket::bind(any).is_ok()
}

fn hold(port: u16) -> io::Result<UnixListener> {
    let name = SocketAddr::from_abstract_name(format!("takt-port-{port}"))?;
    UnixListener::bind_addr(&name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ports_differ_and_are_not_those_of_the_kernel() {
        let ports: BTreeSet<u16> = (0..100).map(|_| reserve()).collect();
        assert_eq!(ports.len(), 100);
        let kernel = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let kernel = kernel.local_addr().expect("it is bound").port();
        assert!(range().end <= kernel || range().end == u16::MAX, "{kernel}");
    }

    #[test]
    fn a_port_is_reserved_once() {
        let port = reserve();
        assert_eq!(try_reserve(port), None);
    }

    #[test]
    fn a_port_in_use_is_not_free() {
        let port = reserve();
        assert!(is_free(port));
        let socket = UdpSocket::bind(("127.0.0.1", port)).expect("it is free");
        assert!(!is_free(port));
        drop(socket);
        let socket = TcpListener::bind(("127.0.0.1", port)).expect("it is free");
        assert!(!is_free(port));
        drop(socket);
    }
}
