//! Network card behind an interface: its driver, and the time stamps that it makes.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::unsafe_code::ethtool;

/// Answers of the driver of an interface (`ETHTOOL_GDRVINFO` and `ETHTOOL_GET_TS_INFO` of `linux/ethtool.h`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkCard {
    /// Name of the driver; empty if it does not tell.
    pub driver: String,
    /// Version of the driver; often that of the kernel.
    pub driver_version: String,
    /// Version of the firmware; empty if there is none.
    pub firmware: String,
    /// Time stamps; `None` if the driver does not tell.
    pub time_stamping: Option<TimeStamping>,
}

/// Time stamps that a network card and its driver can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeStamping {
    /// Flags of SO_TIMESTAMPING (`linux/net_tstamp.h`).
    pub flags: u32,
    /// Number of the PTP clock: 0 for `/dev/ptp0`.
    pub clock: Option<u32>,
}

impl NetworkCard {
    /// Asks the driver of the interface with this name; `None` if there is no such interface.
    #[must_use]
    pub fn of(interface: &str) -> Option<Self> {
        let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).ok()?;
        let socket = socket.as_fd();
        rustix::net::netdevice::name_to_index(socket, interface).ok()?;
        let driver = ethtool::driver(socket, interface).ok();
        let [driver, driver_version, firmware] = driver.unwrap_or_default();
        let stamping = ethtool::time_stamping(socket, interface).ok();
        Some(Self {
            driver,
            driver_version,
            // Drivers without firmware say so in words.
            firmware: Some(firmware).filter(|it| it != "N/A").unwrap_or_default(),
            time_stamping: stamping.map(|(flags, clock)| TimeStamping {
                flags,
                clock: u32::try_from(clock).ok(),
            }),
        })
    }
}

/// Returns the time after which the network card of the interface with this name reports a sent frame at the latest
/// (`ETHTOOL_GCOALESCE`): until then, the kernel counts the frame as one that waits. It is 0 if the driver does not tell.
#[must_use]
pub fn transmit_report_delay(interface: &str) -> Duration {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    let answer = socket_with(family, kind, SocketFlags::CLOEXEC, None)
        .and_then(|socket| ethtool::coalescing(socket.as_fd(), interface));
    let [received, sent] = answer.unwrap_or_default();
    Duration::from_micros(received.max(sent).into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_loopback_interface_has_software_time_stamps() {
        let card = NetworkCard::of("lo").unwrap();
        // SOF_TIMESTAMPING_RX_SOFTWARE and SOF_TIMESTAMPING_SOFTWARE, which each interface has.
        let stamping = card.time_stamping.unwrap();
        assert_eq!(stamping.flags & 0b1_1000, 0b1_1000, "{card:?}");
        assert_eq!(stamping.clock, None);
        assert_eq!(transmit_report_delay("lo"), Duration::ZERO);
        assert_eq!(transmit_report_delay("takt-none"), Duration::ZERO);
        assert_eq!(NetworkCard::of("takt-none"), None);
        assert_eq!(NetworkCard::of("a name that is longer than any"), None);
    }
}
