//! Network card behind an interface: its driver, and the time stamps that it makes.

use std::os::fd::AsFd;
use std::path::Path;
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

/// Greatest number of interfaces above each other that are looked at, such as a VLAN above a bridge above a bond.
const DEPTH: usize = 8;

/// Greatest number of network cards below an interface that are asked.
const CARDS: usize = 64;

/// Returns the time after which the network card of the interface with this name reports a sent frame at the latest
/// (`ETHTOOL_GCOALESCE`): until then, the kernel counts the frame as one that waits. For a VLAN, a bond or a bridge, it is the
/// greatest one of the network cards below, as `/sys/class/net/NAME/lower_*` names them. It is 0 for interfaces without a network card,
/// such as loopback and veth; `None` if a driver does not tell, or if there is no such interface.
#[must_use]
pub fn transmit_report_delay(interface: &str) -> Option<Duration> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).ok()?;
    Cards {
        sysfs: Path::new("/sys/class/net"),
        ask: &|name| {
            let [received, sent] = ethtool::coalescing(socket.as_fd(), name).ok()?;
            Some(Duration::from_micros(received.max(sent).into()))
        },
    }
    .report_delay(interface)
}

/// Network cards of this host.
struct Cards<'a> {
    /// Directory with one directory for each interface.
    sysfs: &'a Path,
    /// Returns the answer of the driver of an interface; `None` if it does not tell.
    ask: &'a dyn Fn(&str) -> Option<Duration>,
}

impl Cards<'_> {
    fn report_delay(&self, interface: &str) -> Option<Duration> {
        let mut asked = 0;
        self.greatest(interface, DEPTH, &mut asked)
    }

    /// Returns the greatest delay of an interface and those below; `depth` is the number of interfaces above each other, `asked` that of
    /// the interfaces so far.
    fn greatest(&self, interface: &str, depth: usize, asked: &mut usize) -> Option<Duration> {
        *asked += 1;
        if depth == 0 || *asked > CARDS {
            return None;
        }
        let directory = self.sysfs.join(interface);
        let entries = std::fs::read_dir(&directory).ok()?;
        let mut greatest = (self.ask)(interface);
        let mut has_lower = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(lower) = name.to_str().and_then(|name| name.strip_prefix("lower_")) else {
                continue;
            };
            has_lower = true;
            greatest = greatest.max(Some(self.greatest(lower, depth - 1, asked)?));
        }
        // The link `device` leads to the hardware.
        let is_virtual = !has_lower && !directory.join("device").exists();
        greatest.or(is_virtual.then_some(Duration::ZERO))
    }
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
        assert_eq!(transmit_report_delay("lo"), Some(Duration::ZERO));
        assert_eq!(transmit_report_delay("takt-none"), None);
        assert_eq!(NetworkCard::of("takt-none"), None);
        assert_eq!(NetworkCard::of("a name that is longer than any"), None);
    }

    /// Makes the directory of an interface with these entries.
    fn interface(sysfs: &Path, name: &str, entries: &[&str]) {
        for entry in entries {
            std::fs::create_dir_all(sysfs.join(name).join(entry)).unwrap();
        }
        std::fs::create_dir_all(sysfs.join(name)).unwrap();
    }

    #[test]
    fn an_interface_above_network_cards_has_the_greatest_delay_of_them() {
        let directory = tempfile::tempdir().unwrap();
        let sysfs = directory.path();
        for (name, entries) in [
            ("eth0", &["device", "upper_bond0"][..]),
            ("eth1", &["device", "upper_bond0"]),
            ("eth2", &["device"]),
            ("silent", &["device"]),
            ("veth0", &[]),
            ("bond0", &["lower_eth0", "lower_eth1"]),
            ("bond0.5", &["lower_bond0"]),
            ("bridge0", &["lower_bond0.5", "lower_veth0"]),
            ("bridge1", &["lower_veth0"]),
            ("bridge2", &["lower_eth0", "lower_silent"]),
            ("loop0", &["lower_loop1"]),
            ("loop1", &["lower_loop0"]),
        ] {
            interface(sysfs, name, entries);
        }
        let many: Vec<_> = (0..=CARDS).map(|it| format!("lower_port{it}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        interface(sysfs, "wide", &many);
        for lower in many {
            interface(sysfs, lower.trim_start_matches("lower_"), &[]);
        }
        let micros = |micros| Some(Duration::from_micros(micros));
        let cards = Cards {
            sysfs,
            ask: &|name| match name {
                "eth0" => micros(100),
                "eth1" => micros(5_000),
                "eth2" => micros(0),
                _ => None,
            },
        };
        for (name, expected) in [
            ("eth0", micros(100)),
            ("eth2", micros(0)),
            ("silent", None),
            ("veth0", micros(0)),
            ("bond0", micros(5_000)),
            ("bond0.5", micros(5_000)),
            ("bridge0", micros(5_000)),
            ("bridge1", micros(0)),
            // One of its ports may report as late as it likes.
            ("bridge2", None),
            ("loop0", None),
            ("wide", None),
            ("none", None),
        ] {
            assert_eq!(cards.report_delay(name), expected, "{name}");
        }
    }
}
