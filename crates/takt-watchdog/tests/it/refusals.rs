//! Messages that the scenario does not have.

use takt_watchdog::WatchError;

use crate::support::{ETHERNET, flows, length};

fn refused(of_configuration: &[(&str, &str)], of_scenario: &[(&str, &str)]) -> String {
    flows(of_configuration, of_scenario)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_longer_message_is_refused_with_both_lengths() {
    // A short payload is padded to 46 bytes.
    for payload in ["1 B", "22 B", "46 B"] {
        flows(&[], &[("46 B", payload)]).unwrap();
    }
    // Bounds hold for shorter messages.
    flows(&[], &[("46 B", "1000 B")]).unwrap();
    let array = [("\"Double\", published", "\"Double[10]\", published")];
    // An array has its length before its elements.
    let found = length() + 4 + 9 * 8;
    assert_eq!(
        refused(&array, &[]),
        format!(
            "Out/Spindle: messages have {found} bytes of payload in their frames, and those of flow Spindle at most 46"
        )
    );
    flows(&array, &[("46 B", &format!("{found} B"))]).unwrap();
    // Signature and header of the security have 46 bytes.
    let signed = [(
        "publishing_interval = \"10ms\"",
        "publishing_interval = \"10ms\"\nsecurity_mode = \"Sign\"\nsecurity_group_id = \"G\"",
    )];
    let found = length() + 46;
    flows(&signed, &[("46 B", &format!("{found} B"))]).unwrap();
    let text = refused(&signed, &[("46 B", &format!("{} B", found - 1))]);
    assert!(
        text.contains(&format!("{found} bytes of payload")),
        "{text}"
    );
}

#[test]
fn udp_has_headers_of_its_own() {
    for (address, headers) in [
        ("opc.udp://239.0.0.1:4840", 28),
        ("opc.udp://[ff02::1]:4840", 48),
    ] {
        let udp = [("ADDRESS", address)];
        let found = length() + headers;
        flows(&udp, &[("46 B", &format!("{found} B"))]).unwrap();
        let text = refused(&udp, &[("46 B", &format!("{} B", found - 1))]);
        let end = format!(
            "have {found} bytes of payload in their frames, and those of flow Spindle at most {}",
            found - 1
        );
        assert!(text.ends_with(&end), "{text}");
    }
    let six = [("ADDRESS", "opc.udp://[ff02::1]:4840")];
    assert_eq!(
        refused(&six, &[]),
        "Out/Spindle: the headers of IP and UDP have 48 bytes, and the payload of flow Spindle has 46"
    );
}

#[test]
fn another_cycle_is_refused() {
    assert_eq!(
        refused(&[], &[("10 ms", "4 ms")]),
        "Out/Spindle: the publishing interval is 10000 µs, and the cycle of flow Spindle is 4000 µs"
    );
    // A reader may say the interval of its Publisher.
    let reader = "uadp = { network_message_number = 1, publishing_interval = \"9.5ms\" }";
    let text = refused(&[("uadp = { network_message_number = 1 }", reader)], &[]);
    assert!(
        text.starts_with("In/Spindle: the publishing interval is 9500 µs"),
        "{text}"
    );
    flows(&[("10ms", "250us")], &[("10 ms", "250 us")]).unwrap();
}

#[test]
fn another_tag_is_refused() {
    for (address, found) in [
        ("opc.eth://01-00-5E-00-00-01:7.2", "VLAN 7 with PCP 2"),
        ("opc.eth://01-00-5E-00-00-01:8.3", "VLAN 8 with PCP 3"),
        ("opc.eth://01-00-5E-00-00-01", "no VLAN tag"),
    ] {
        assert_eq!(
            refused(&[("ADDRESS", address)], &[]),
            format!("Out/Spindle: the address has {found}, and flow Spindle has VLAN 7 with PCP 3")
        );
    }
    flows(&[("ADDRESS", ETHERNET)], &[]).unwrap();
}

#[test]
fn messages_that_are_no_frames_of_a_scenario_are_refused() {
    let iox2 = [("ADDRESS", "opc.iox2://press")];
    assert!(matches!(
        flows(&iox2, &[]),
        Err(WatchError::Transport { .. })
    ));
    let json = [
        (
            "header_layout = \"UADP-Periodic-Fixed\"\n\n",
            "header_layout = \"JSON-NetworkMessage\"\n\n",
        ),
        ("ADDRESS", "opc.udp://239.0.0.1:4840"),
    ];
    assert!(matches!(flows(&json, &[]), Err(WatchError::Json { .. })));
}

#[test]
fn several_messages_in_a_cycle_are_refused() {
    let two = "data_set_writer_id = 1\ndata_set_name = \"Data\"\nuadp = { network_message_number = 1 }\n\n\
               [[connections.writer_groups.data_set_writers]]\nname = \"Second\"\ndata_set_writer_id = 2\ndata_set_name = \"Data\"\n\
               uadp = { network_message_number = 2 }\n\n[[connections]]\nname = \"In\"";
    let one = "data_set_writer_id = 1\ndata_set_name = \"Data\"\n\n[[connections]]\nname = \"In\"";
    let text = refused(&[(one, two)], &[]);
    assert_eq!(
        text,
        "Out/Spindle: 2 messages in each publishing interval, and flow Spindle has one in each cycle"
    );
}
