//! Addresses and transport settings of connections and groups (OPC 10000-14, 6.2.7 and 6.4).

use std::net::IpAddr;

use takt_link::{Address, AddressError, MacAddress};
use takt_ua::ExtensionObject;
use takt_ua::structures::{
    BrokerConnectionTransportDataType, DatagramConnectionTransport2DataType,
    DatagramConnectionTransportDataType, NetworkAddressUrlDataType, PubSubConnectionDataType,
};

use super::authentication;
use super::mistake::Place;

const PROFILES: &str = "http://opcfoundation.org/UA-Profile/Transport/";

/// Checks the address of a connection and the settings of its transport. Returns the address, if it can be used.
pub(super) fn check_connection(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
) -> Option<Address> {
    let sends = !connection.writer_groups.is_empty();
    let address = check(place, "address", &connection.address, sends)?;
    check_profile(place, connection.transport_profile_uri.as_str(), &address);
    let settings = &connection.transport_settings;
    let first: Option<DatagramConnectionTransportDataType> = settings.decode_as().ok();
    let second: Option<DatagramConnectionTransport2DataType> = settings.decode_as().ok();
    if settings.is::<BrokerConnectionTransportDataType>() {
        if !address.has_topics() {
            place.error(
                "broker",
                "the address is not that of a broker",
                "Remove it, or use an mqtt:// or mqtts:// address",
            );
        }
        authentication::check(place, settings, is_secure(&address));
    } else if first.is_none() && second.is_none() {
        if !settings.is_null() {
            place.error("transport_settings", "are of no known type", "Remove them");
        }
    } else if address.has_topics() {
        place.error(
            "transport_settings",
            "datagrams do not go through a broker",
            "Use broker = { … } instead",
        );
    }
    if let Some(second) = &second
        && (!second.qos_category.as_str().is_empty() || !second.datagram_qos.is_empty())
    {
        ignored_quality(place);
    }
    let discovery = first.map(|it| it.discovery_address);
    let discovery = discovery.or(second.map(|it| it.discovery_address));
    if let Some(discovery) = discovery.filter(|address| !address.is_null())
        && let Some(found) = check(place, "DiscoveryAddress", &discovery, true)
        && !(found.is_udp() && address.is_udp())
    {
        place.error(
            "DiscoveryAddress",
            "is for UDP connections only, and has to be a UDP address, too",
            "Use opc.udp://224.0.2.14:4840, the address of the standard",
        );
    }
    Some(address)
}

/// Returns true if TLS protects the connection to a broker.
pub(super) fn is_secure(address: &Address) -> bool {
    matches!(
        address,
        Address::Mqtt {
            is_secure: true,
            ..
        }
    )
}

/// Reports a quality of service that Takt does not set.
pub(super) fn ignored_quality(place: &mut Place<'_>) {
    place.warning(
        "QosCategory",
        "Takt ignores QosCategory and DatagramQos",
        "Use the PCP of an opc.eth address, and queueing disciplines",
    );
}

/// Checks an address; `sends`: messages are sent there.
pub(super) fn check(
    place: &mut Place<'_>,
    key: &'static str,
    address: &ExtensionObject,
    sends: bool,
) -> Option<Address> {
    let forms = "Use opc.udp://239.0.0.1:4840, opc.eth://01-00-5E-00-00-01:VID.PCP, mqtt://HOST:1883 or mqtts://HOST:8883";
    if address.is_null() {
        place.error(key, "is missing", forms);
        return None;
    }
    let Ok(found) = address.decode_as::<NetworkAddressUrlDataType>() else {
        place.error(key, "is no NetworkAddressUrlDataType", forms);
        return None;
    };
    let parsed = match Address::parse(found.url.as_str()) {
        Ok(parsed) => parsed,
        Err(error) => {
            place.error(key, error.to_string(), fix(&error));
            return None;
        }
    };
    let has_interface = !found.network_interface.as_str().is_empty();
    match &parsed {
        Address::Udp { host, .. } => check_host(place, key, host, sends),
        Address::Ethernet { host, .. } => {
            if !has_interface {
                let what = "is missing: opc.eth needs one";
                place.error(
                    "network_interface",
                    what,
                    "Write its name, such as \"eth0\"",
                );
            }
            if *host == MacAddress([0; 6]) {
                place.error(
                    key,
                    "the MAC address is zero",
                    "Use 01-00-5E-00-00-01 or another",
                );
            }
        }
        Address::Mqtt {
            host, is_secure, ..
        } => {
            check_host(place, key, host, false);
            if *is_secure && host.contains(':') {
                let what = "mqtts needs the name of the broker, which its certificate has";
                place.error(key, what, "Use a name or an IPv4 address");
            }
            if has_interface {
                place.warning(
                    "network_interface",
                    "is ignored: the routes of this host decide how the broker is reached",
                    "Remove it",
                );
            }
        }
        Address::Iox2 { .. } => {}
    }
    Some(parsed)
}

fn fix(error: &AddressError) -> &'static str {
    match error {
        AddressError::Port(_) => "Write a port from 1 to 65535, or none for the usual one",
        AddressError::VlanId(_) | AddressError::Priority(_) => {
            "Write VID.PCP, from 0.0 to 4094.7, as in opc.eth://01-00-5E-00-00-01:5.6"
        }
        AddressError::Ipv6(_) => "Write opc.udp://[ff02::1]:4840",
        AddressError::Path(_) => "Topics are a queue_name, in broker = { … }",
        AddressError::Mac(_) => "Write opc.eth://01-00-5E-00-00-01",
        _ => {
            "Use opc.udp://239.0.0.1:4840, opc.eth://01-00-5E-00-00-01, opc.iox2://NAME, mqtt://HOST or mqtts://HOST"
        }
    }
}

fn check_host(place: &mut Place<'_>, key: &'static str, host: &str, sends: bool) {
    let Ok(ip) = host.parse::<IpAddr>() else {
        let is_number = host.chars().all(|one| one.is_ascii_digit() || one == '.');
        let is_name = host
            .chars()
            .all(|one| one.is_alphanumeric() || "-_.".contains(one));
        if is_number || !is_name {
            let what = format!("'{host}' is neither an IP address nor the name of a host");
            place.error(
                key,
                what,
                "Write an address, such as 239.0.0.1, or [ff02::1], or a name",
            );
        }
        return;
    };
    if ip.is_unspecified() && sends {
        let what = format!("{ip} is no destination of messages");
        place.error(
            key,
            what,
            "Use the address of a host, or a multicast one, such as 239.0.0.1",
        );
    }
    if let IpAddr::V4(ip) = ip
        && ip.octets().starts_with(&[224, 0, 0])
    {
        place.warning(
            key,
            format!("{ip} is reserved for protocols of the network"),
            "Use an address from 239.0.0.0 to 239.255.255.255",
        );
    }
}

/// Checks that the TransportProfileUri names the transport of the address.
fn check_profile(place: &mut Place<'_>, profile: &str, address: &Address) {
    let usual: &[&str] = match address {
        Address::Udp { .. } => &["pubsub-udp-uadp"],
        Address::Ethernet { .. } => &["pubsub-eth-uadp"],
        Address::Mqtt { .. } => &["pubsub-mqtt-uadp", "pubsub-mqtt-json"],
        Address::Iox2 { .. } => return,
    };
    let name = profile.strip_prefix(PROFILES).unwrap_or(profile);
    if profile.is_empty() || usual.contains(&name) {
        return;
    }
    // JSON without a broker is reported with the groups that send it.
    if name
        .strip_suffix("-json")
        .is_some_and(|transport| usual.iter().any(|it| it.starts_with(transport)))
    {
        return;
    }
    place.error(
        "transport_profile_uri",
        format!("'{profile}' is not the profile of {address}"),
        format!("Leave it out, or write {PROFILES}{}", usual.join(" or …")),
    );
}
