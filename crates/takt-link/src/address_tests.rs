#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;

fn udp(host: &str, port: u16) -> Address {
    Address::Udp {
        host: host.to_owned(),
        port,
    }
}

#[test]
fn udp_addresses() {
    assert_eq!(
        Address::parse("opc.udp://239.0.0.1"),
        Ok(udp("239.0.0.1", 4840))
    );
    assert_eq!(
        Address::parse("OPC.UDP://host:5000/"),
        Ok(udp("host", 5000))
    );
    assert_eq!(
        Address::parse("opc.udp://[ff02::1]:1"),
        Ok(udp("ff02::1", 1))
    );
    assert_eq!(
        Address::parse("opc.udp://[ff02::1]"),
        Ok(udp("ff02::1", 4840))
    );
    assert_eq!(
        Address::parse(DISCOVERY_ADDRESS),
        Ok(udp("224.0.2.14", 4840))
    );
    let wrong = |text: &str| Address::parse(text).unwrap_err();
    assert_eq!(
        wrong("opc.udp://"),
        AddressError::NoHost("opc.udp://".into())
    );
    assert_eq!(wrong("opc.udp://a:0"), AddressError::Port("0".into()));
    assert_eq!(wrong("opc.udp://a:+1"), AddressError::Port("+1".into()));
    assert_eq!(
        wrong("opc.udp://a:65536"),
        AddressError::Port("65536".into())
    );
    assert_eq!(
        wrong("opc.udp://ff02::1"),
        AddressError::Ipv6("ff02::1".into())
    );
    assert_eq!(
        wrong("opc.udp://[ff02::1"),
        AddressError::Ipv6("[ff02::1".into())
    );
    assert_eq!(
        wrong("opc.udp://a/b"),
        AddressError::Path("opc.udp://a/b".into())
    );
    assert_eq!(
        wrong("opc.tcp://a"),
        AddressError::Scheme("opc.tcp://a".into())
    );
    assert_eq!(wrong("239.0.0.1"), AddressError::Scheme("239.0.0.1".into()));
}

#[test]
fn ethernet_addresses() {
    let host = MacAddress([0x01, 0x00, 0x5E, 0, 0, 0xAB]);
    let parse = |tag: &str| Address::parse(&format!("opc.eth://01-00-5e-00-00-ab{tag}"));
    let with = |id, priority| {
        Ok(Address::Ethernet {
            host,
            vlan: Some(VlanTag { id, priority }),
        })
    };
    assert_eq!(parse(""), Ok(Address::Ethernet { host, vlan: None }));
    assert_eq!(parse(":5"), with(5, 0));
    assert_eq!(parse(":4094.7"), with(4094, 7));
    assert_eq!(parse(":0.3"), with(0, 3));
    assert_eq!(parse(":4095"), Err(AddressError::VlanId("4095".into())));
    assert_eq!(parse(":"), Err(AddressError::VlanId("".into())));
    assert_eq!(parse(":1.8"), Err(AddressError::Priority("8".into())));
    assert_eq!(parse(":1."), Err(AddressError::Priority("".into())));
    assert_eq!(parse(":1.07"), Err(AddressError::Priority("07".into())));
    for text in [
        "192.168.0.1",
        "01-00-5E-00-00",
        "01-00-5E-00-00-0G",
        "1-0-5E-0-0-1",
    ] {
        assert_eq!(
            Address::parse(&format!("opc.eth://{text}")),
            Err(AddressError::Mac(text.into()))
        );
    }
    assert!(host.is_group());
    assert!(!MacAddress([2, 0, 0, 0, 0, 1]).is_group());
}

#[test]
fn other_addresses() {
    let mqtt = |port, is_secure| {
        Ok(Address::Mqtt {
            host: "broker".into(),
            port,
            is_secure,
        })
    };
    assert_eq!(Address::parse("mqtt://broker"), mqtt(1883, false));
    assert_eq!(Address::parse("mqtts://broker"), mqtt(8883, true));
    assert_eq!(Address::parse("mqtts://broker:7"), mqtt(7, true));
    let name = "Line1/Cell".to_owned();
    assert_eq!(
        Address::parse("opc.iox2://Line1/Cell"),
        Ok(Address::Iox2 { name })
    );
    assert_eq!(
        Address::parse("opc.iox2://"),
        Err(AddressError::Name("".into()))
    );
    assert_eq!(
        Address::parse("opc.iox2://a b"),
        Err(AddressError::Name("a b".into()))
    );
}

proptest! {
    #[test]
    fn parsing_any_text_does_not_panic(text in "(opc\\.(udp|eth|iox2)|mqtts?)://.{0,40}") {
        let _ = Address::parse(&text);
    }

    #[test]
    fn displayed_addresses_parse_to_the_same(text in "(opc\\.udp|mqtts?)://([a-z]{1,9}|[0-9a-f:\\[\\]]{2,12})(:[0-9]{1,5})?|opc\\.eth://([0-9a-fA-F]{2}-){5}[0-9a-f]{2}(:[0-9]{1,4}(\\.[0-7])?)?") {
        if let Ok(address) = Address::parse(&text) {
            prop_assert_eq!(Address::parse(&address.to_string()), Ok(address));
        }
    }
}
