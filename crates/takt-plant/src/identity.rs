//! Identities of writers and readers (OPC 10000-14, 6.2.9.1 to 6.2.9.3), and the links on which they meet.

use std::net::IpAddr;

use takt_link::{Address, MacAddress};
use takt_scenario::GroupAddress;
use takt_ua::structures::{
    DataSetReaderDataType, DatagramConnectionTransport2DataType,
    DatagramConnectionTransportDataType, DatagramDataSetReaderTransportDataType,
    DatagramWriterGroupTransport2DataType, NetworkAddressUrlDataType, PubSubConnectionDataType,
    WriterGroupDataType,
};
use takt_ua::{ExtensionObject, Variant};

/// PublisherId, to be compared: UIntegers of different sizes are the same if their values are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum PublisherKey {
    Number(u64),
    Text(String),
}

/// Returns a PublisherId; `None` if there is none, which in a reader means any.
pub(crate) fn publisher(id: &Variant) -> Option<PublisherKey> {
    match id {
        Variant::Byte(id) => Some(PublisherKey::Number((*id).into())),
        Variant::UInt16(id) => Some(PublisherKey::Number((*id).into())),
        Variant::UInt32(id) => Some(PublisherKey::Number((*id).into())),
        Variant::UInt64(id) => Some(PublisherKey::Number(*id)),
        Variant::String(id) if !id.as_str().is_empty() => {
            Some(PublisherKey::Text(id.as_str().to_owned()))
        }
        _ => None,
    }
}

/// Returns the address of a WriterGroup: its own, or that of its connection. `None` if that is no address.
pub(crate) fn address_of_group(
    group: &WriterGroupDataType,
    connection: &ExtensionObject,
) -> Option<Address> {
    let own: Option<DatagramWriterGroupTransport2DataType> =
        group.transport_settings.decode_as().ok();
    let own = own.and_then(|own| address(&own.address));
    own.or_else(|| address(connection))
}

/// Returns the address of a DataSetReader: its own, or that of its connection. `None` if that is no address.
pub(crate) fn address_of_reader(
    reader: &DataSetReaderDataType,
    connection: &ExtensionObject,
) -> Option<Address> {
    let own: Option<DatagramDataSetReaderTransportDataType> =
        reader.transport_settings.decode_as().ok();
    let own = own.and_then(|own| address(&own.address));
    own.or_else(|| address(connection))
}

/// Returns the address at which a connection over UDP announces metadata (OPC 10000-14, 6.4.1.2.1). `None` without one; connections
/// over other protocols announce nothing.
pub(crate) fn discovery_address(connection: &PubSubConnectionDataType) -> Option<Address> {
    if !address(&connection.address)?.is_udp() {
        return None;
    }
    let settings = &connection.transport_settings;
    let first: Option<DatagramConnectionTransportDataType> = settings.decode_as().ok();
    let second: Option<DatagramConnectionTransport2DataType> = settings.decode_as().ok();
    let configured = first.map(|it| it.discovery_address);
    address(&configured.or(second.map(|it| it.discovery_address))?)
}

fn address(written: &ExtensionObject) -> Option<Address> {
    let written: NetworkAddressUrlDataType = written.decode_as().ok()?;
    Address::parse(written.url.as_str()).ok()
}

/// Returns true if frames to the address `sent` come to a receiver at `heard`, as far as the addresses tell.
pub(crate) fn hears(heard: &Address, sent: &Address) -> bool {
    match (heard, sent) {
        (
            Address::Ethernet { host, vlan },
            Address::Ethernet {
                host: to,
                vlan: tag,
            },
        ) => {
            // A receiver without a VLAN takes what its interface gives it.
            let same_vlan = |(heard, sent): (&_, &_)| vlan_id(heard) == vlan_id(sent);
            host == to && vlan.as_ref().zip(tag.as_ref()).is_none_or(same_vlan)
        }
        (Address::Udp { host, port }, Address::Udp { host: to, port: at }) => {
            let any = ["localhost", "0.0.0.0", "::"].contains(&host.as_str());
            port == at && (host.eq_ignore_ascii_case(to) || any && !sent.is_ip_multicast())
        }
        (heard, sent) => heard == sent,
    }
}

fn vlan_id(tag: &takt_link::VlanTag) -> u16 {
    tag.id
}

/// Returns true if frames to an address go to a group of receivers.
pub(crate) fn is_multicast(address: &Address) -> bool {
    match address {
        Address::Ethernet { host, .. } => MacAddress::is_group(*host),
        address => address.is_ip_multicast(),
    }
}

/// Returns the group of receivers of an address. `None` for an address of one receiver, and for a group that bridges forward to all
/// ports.
pub(crate) fn multicast_group(address: &Address) -> Option<GroupAddress> {
    match address {
        Address::Ethernet { host, .. } => GroupAddress::parse(&host.to_string()),
        Address::Udp { host, .. } => GroupAddress::parse(host),
        _ => None,
    }
}

/// Returns true if bridges forward frames to the group `sent` towards a receiver that listens at `heard`: also to another port of UDP,
/// which bridges do not know, and to another IP address with the same Ethernet group.
pub(crate) fn joins(heard: &Address, sent: &Address) -> bool {
    let ethernet = |address| multicast_group(address).map(GroupAddress::ethernet);
    let tag = |address: &Address| match address {
        Address::Ethernet { vlan, .. } => vlan.map(|tag| tag.id),
        _ => None,
    };
    let same_vlan = |(heard, sent)| heard == sent;
    ethernet(heard) == ethernet(sent) && tag(heard).zip(tag(sent)).is_none_or(same_vlan)
}

/// Returns true if messages to an address never leave their host.
pub(crate) fn stays_on_host(address: &Address) -> bool {
    match address {
        Address::Iox2 { .. } => true,
        Address::Udp { host, .. } => {
            let is_loopback = |host: IpAddr| host.is_loopback();
            host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
        }
        _ => false,
    }
}

/// Returns the bytes between EtherType and message: the headers of IP and UDP. A name may stand for an address of IPv6, whose header
/// is the longer one.
pub(crate) fn ip_headers(address: &Address) -> usize {
    match address {
        Address::Udp { host, .. } if host.parse::<std::net::Ipv4Addr>().is_ok() => 20 + 8,
        Address::Udp { .. } => 40 + 8,
        _ => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn receivers_hear_their_address() {
        let address = |text: &str| text.parse::<Address>().unwrap();
        let hears = |heard: &str, sent: &str| super::hears(&address(heard), &address(sent));
        assert!(hears(
            "opc.udp://239.0.0.1:4840",
            "opc.udp://239.0.0.1:4840"
        ));
        assert!(!hears(
            "opc.udp://239.0.0.1:4841",
            "opc.udp://239.0.0.1:4840"
        ));
        assert!(!hears(
            "opc.udp://239.0.0.2:4840",
            "opc.udp://239.0.0.1:4840"
        ));
        assert!(hears(
            "opc.udp://localhost:4840",
            "opc.udp://192.0.2.7:4840"
        ));
        assert!(!hears(
            "opc.udp://localhost:4840",
            "opc.udp://239.0.0.1:4840"
        ));
        let group = "opc.eth://01-00-5E-00-00-01";
        assert!(hears(group, "opc.eth://01-00-5E-00-00-01:5.6"));
        assert!(hears(
            "opc.eth://01-00-5E-00-00-01:5.3",
            "opc.eth://01-00-5E-00-00-01:5.6"
        ));
        assert!(!hears(
            "opc.eth://01-00-5E-00-00-01:7.6",
            "opc.eth://01-00-5E-00-00-01:5.6"
        ));
        assert!(!hears(group, "opc.udp://239.0.0.1:4840"));
    }

    #[test]
    fn bridges_know_groups_and_no_ports() {
        let address = |text: &str| text.parse::<Address>().unwrap();
        let joins = |heard: &str, sent: &str| super::joins(&address(heard), &address(sent));
        assert!(joins(
            "opc.udp://239.0.0.1:4841",
            "opc.udp://239.0.0.1:4840"
        ));
        assert!(joins(
            "opc.udp://239.128.0.1:4840",
            "opc.udp://239.0.0.1:4840"
        ));
        assert!(!joins(
            "opc.udp://239.0.0.2:4840",
            "opc.udp://239.0.0.1:4840"
        ));
        assert!(joins(
            "opc.eth://01-00-5E-00-00-01",
            "opc.eth://01-00-5E-00-00-01:5.6"
        ));
        assert!(!joins(
            "opc.eth://01-00-5E-00-00-01:7",
            "opc.eth://01-00-5E-00-00-01:5.6"
        ));
        for (text, group) in [
            ("opc.udp://[ff15::7]:4840", Some("ff15::7")),
            ("opc.eth://01-00-5E-00-00-01:5.6", Some("01-00-5E-00-00-01")),
            ("opc.udp://224.0.0.22:4840", None),
            ("opc.eth://02-00-5E-00-00-01", None),
        ] {
            let found = multicast_group(&address(text)).map(|it| it.to_string());
            assert_eq!(found.as_deref(), group, "{text}");
        }
    }

    #[test]
    fn headers_and_kinds_follow_from_addresses() {
        for (text, headers, multicast, stays) in [
            ("opc.eth://01-00-5E-00-00-01", 0, true, false),
            ("opc.eth://02-00-5E-00-00-01", 0, false, false),
            ("opc.udp://239.0.0.1:4840", 28, true, false),
            ("opc.udp://[ff02::1]:4840", 48, true, false),
            ("opc.udp://192.0.2.7:4840", 28, false, false),
            ("opc.udp://robot.example:4840", 48, false, false),
            ("opc.udp://127.0.0.1:4840", 28, false, true),
            ("opc.iox2://a", 0, false, true),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(ip_headers(&address), headers, "{text}");
            assert_eq!(is_multicast(&address), multicast, "{text}");
            assert_eq!(stays_on_host(&address), stays, "{text}");
        }
    }

    #[test]
    fn publishers_are_compared_by_their_values() {
        assert_eq!(publisher(&Variant::Byte(5)), publisher(&Variant::UInt64(5)));
        assert_ne!(publisher(&Variant::from("5")), publisher(&Variant::Byte(5)));
        assert_eq!(publisher(&Variant::Empty), None);
        assert_eq!(publisher(&Variant::from("")), None);
    }
}
