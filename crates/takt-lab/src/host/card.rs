//! Facts about a network card.

use takt_link::{NetworkCard, TimeStamping};

use super::{HostFact, HostFiles};

/// Name of a fact: device of the network card's PTP clock.
pub(crate) const PTP_CLOCK: &str = "PTP clock";

/// Name of a fact: speed of the link.
pub(crate) const SPEED: &str = "speed";

/// Name of a fact: duplex of the link, `full` or `half`.
pub(crate) const DUPLEX: &str = "duplex";

/// This fact if the link sends in one direction at a time.
pub(crate) const HALF: &str = "half";

/// Cards by vendor and device of PCI (<https://pci-ids.ucw.cz>), for people.
const CARDS: [(&str, &[&str]); 3] = [
    (
        "Intel I210",
        &[
            "8086:1533",
            "8086:1536",
            "8086:1537",
            "8086:1538",
            "8086:157b",
            "8086:157c",
        ],
    ),
    (
        "Intel I225",
        &[
            "8086:15f2",
            "8086:15f3",
            "8086:3100",
            "8086:3101",
            "8086:0d9f",
        ],
    ),
    ("Intel I226", &["8086:125b", "8086:125c", "8086:125d"]),
];

/// Flags of SO_TIMESTAMPING, with the names of `ethtool -T` (`linux/net_tstamp.h`).
const FLAGS: [(u32, &str); 7] = [
    (1, "hardware-transmit"),
    (1 << 1, "software-transmit"),
    (1 << 2, "hardware-receive"),
    (1 << 3, "software-receive"),
    (1 << 4, "software-system-clock"),
    (1 << 5, "hardware-legacy-clock"),
    (1 << 6, "hardware-raw-clock"),
];

/// Returns the facts about the card of an interface: model, driver, firmware, speed, time stamps. `card` has the answers of the
/// kernel.
#[must_use]
pub fn card_facts(files: &HostFiles, interface: &str, card: &NetworkCard) -> Vec<HostFact> {
    let mut facts: Vec<HostFact> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.push((name.to_owned(), value));
        }
    };
    let path = |name: &str| format!("sys/class/net/{interface}/{name}");
    add("network card", model(files, &path));
    let driver = Some(card.driver.clone()).filter(|driver| !driver.is_empty());
    let driver = driver.or_else(|| files.target(&path("device/driver")));
    add("driver", driver);
    add("driver version", Some(card.driver_version.clone()));
    add("firmware", Some(card.firmware.clone()));
    let speed = files.text(&path("speed")).and_then(|it| it.parse().ok());
    let speed = speed.filter(|megabits: &i64| *megabits > 0);
    add(SPEED, speed.map(|megabits| format!("{megabits} Mbit/s")));
    // A link that is down, and a device without cable, tell "unknown".
    let duplex = files.text(&path("duplex"));
    add(
        DUPLEX,
        duplex.filter(|it| ["full", HALF].contains(&it.as_str())),
    );
    add(
        "time stamps",
        card.time_stamping.as_ref().map(time_stamping_text),
    );
    let clock = card.time_stamping.as_ref().and_then(|it| it.clock);
    add(PTP_CLOCK, clock.map(|index| format!("/dev/ptp{index}")));
    facts
}

/// Returns the time stamps of a card in the words of `ethtool -T`.
#[must_use]
pub fn time_stamping_text(of: &TimeStamping) -> String {
    let flags = FLAGS.iter().filter(|(flag, _)| of.flags & flag != 0);
    let names: Vec<&str> = flags.map(|(_, name)| *name).collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// Returns the model of a card from its PCI ids.
fn model(files: &HostFiles, path: &dyn Fn(&str) -> String) -> Option<String> {
    let id = |name: &str| {
        let text = files.text(&path(name))?;
        text.strip_prefix("0x").map(str::to_owned)
    };
    let ids = format!("{}:{}", id("device/vendor")?, id("device/device")?);
    let known = CARDS.iter().find(|(_, all)| all.contains(&ids.as_str()));
    Some(match known {
        Some((name, _)) => format!("{name} ({ids})"),
        None => format!("PCI {ids}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::tree;
    use super::*;

    fn card(time_stamping: Option<TimeStamping>) -> NetworkCard {
        NetworkCard {
            driver: "igb".to_owned(),
            driver_version: "6.1.0-rt".to_owned(),
            firmware: "3.16, 0x800004ff".to_owned(),
            time_stamping,
        }
    }

    #[test]
    fn a_card_is_named() {
        let root = tree(&[
            ("sys/class/net/enp3s0/device/vendor", "0x8086\n"),
            ("sys/class/net/enp3s0/device/device", "0x1533\n"),
            ("sys/class/net/enp3s0/speed", "1000\n"),
            ("sys/class/net/enp3s0/duplex", "full\n"),
        ]);
        let stamping = TimeStamping {
            flags: 0b101_1111,
            clock: Some(0),
        };
        let facts = card_facts(
            &HostFiles::below(root.path()),
            "enp3s0",
            &card(Some(stamping)),
        );
        let expected = [
            ("network card", "Intel I210 (8086:1533)"),
            ("driver", "igb"),
            ("driver version", "6.1.0-rt"),
            ("firmware", "3.16, 0x800004ff"),
            ("speed", "1000 Mbit/s"),
            ("duplex", "full"),
            (
                "time stamps",
                "hardware-transmit, software-transmit, hardware-receive, software-receive, software-system-clock, \
                 hardware-raw-clock",
            ),
            ("PTP clock", "/dev/ptp0"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(facts, expected);
    }

    /// An interface may have any characters but `/` and white space in its name (dev_valid_name of the kernel).
    #[test]
    fn names_of_interfaces_may_be_odd() {
        for name in ["eth0:1", "wlan-0.100", "\u{e9}th", "a%sb", "..x", "-x"] {
            let speed = format!("sys/class/net/{name}/speed");
            let root = tree(&[(speed.as_str(), "2500\n")]);
            let files = HostFiles::below(root.path());
            let facts = card_facts(&files, name, &NetworkCard::default());
            let expected = [("speed".to_owned(), "2500 Mbit/s".to_owned())];
            assert_eq!(facts, expected, "{name}");
        }
    }

    #[test]
    fn a_driver_that_tells_no_time_stamps_has_no_such_facts() {
        let root = tree(&[
            ("sys/class/net/lo/duplex", "unknown\n"),
            ("sys/class/net/lo/speed", "x\n"),
        ]);
        let files = HostFiles::below(root.path());
        assert_eq!(card_facts(&files, "lo", &NetworkCard::default()), []);
        // `ethtool -T` of a card without PTP clock: software stamps, "PTP Hardware Clock: none".
        let software = TimeStamping {
            flags: 0b1_1010,
            clock: None,
        };
        let facts = card_facts(&files, "lo", &card(Some(software)));
        let names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["driver", "driver version", "firmware", "time stamps"]
        );
        let nothing = TimeStamping {
            flags: 0,
            clock: None,
        };
        assert_eq!(time_stamping_text(&nothing), "none");
        // Flags of newer kernels have no names here.
        let newer = TimeStamping {
            flags: 1 << 20,
            clock: Some(u32::MAX),
        };
        assert_eq!(time_stamping_text(&newer), "none");
        let facts = card_facts(&files, "lo", &card(Some(newer)));
        let clock = ("PTP clock".to_owned(), "/dev/ptp4294967295".to_owned());
        assert_eq!(facts.last(), Some(&clock));
    }

    /// A bond, a VLAN and a tunnel have no device of PCI, and their driver is not below `device`.
    #[test]
    fn virtual_drivers_have_their_names_only() {
        let root = tree(&[("sys/class/net/bond0/speed", "20000\n")]);
        let virtual_card = NetworkCard {
            driver: "bonding".to_owned(),
            ..NetworkCard::default()
        };
        let facts = card_facts(&HostFiles::below(root.path()), "bond0", &virtual_card);
        let expected = [("driver", "bonding"), ("speed", "20000 Mbit/s")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(facts, expected);
    }

    #[test]
    fn unknown_cards_have_their_numbers() {
        let root = tree(&[
            ("sys/class/net/eth0/device/vendor", "0x1af4\n"),
            ("sys/class/net/eth0/device/device", "0x1000\n"),
            ("sys/class/net/eth0/speed", "-1\n"),
        ]);
        let card = NetworkCard::default();
        let facts = card_facts(&HostFiles::below(root.path()), "eth0", &card);
        assert_eq!(
            facts,
            [("network card".to_owned(), "PCI 1af4:1000".to_owned())]
        );
    }
}
