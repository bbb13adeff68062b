//! `opc.udp` multicast on `takt0`, looped back.

use std::time::Duration;

use takt_link::{DownReason, LaunchMode, LinkOptions, LinkState, open_receiver, open_sender};

use crate::links::common::{Pair, receive, refused_messages_are_counted};
use crate::links::ethernet::{wait_until_down, wait_until_it_works};
use crate::links::namespace::{hold_messages, ip, plug, unplug};

const MULTICAST: &str = "opc.udp://239.255.84.75:4840";

fn pair(from: &str, to: &str) -> Pair {
    let address = MULTICAST.parse().unwrap();
    let options = |interface: &str| LinkOptions {
        interface: Some(interface.to_owned()),
        ..LinkOptions::default()
    };
    let receiver = open_receiver(&address, &options(to)).unwrap();
    (open_sender(&address, &options(from)).unwrap(), receiver)
}

pub fn multicast_is_looped_back_if_that_is_wanted() {
    let address = MULTICAST.parse().unwrap();
    let options = |multicast_loopback| LinkOptions {
        interface: Some("10.84.75.1".to_owned()),
        multicast_loopback,
        ttl: Some(2),
        ..LinkOptions::default()
    };
    let mut same = open_receiver(&address, &options(true)).unwrap();
    let mut looping = open_sender(&address, &options(true)).unwrap();
    let mut quiet = open_sender(&address, &options(false)).unwrap();
    looping.send(b"looped").unwrap();
    quiet.send(b"quiet").unwrap();
    assert_eq!(receive(&mut *same, 1), [b"looped"]);
    let more = same.receive(Duration::from_millis(50), &mut |_| {});
    assert_eq!(more.unwrap(), 0);
}

pub fn refused_messages_with_a_launch_time_are_counted() {
    // Usable at once: the kernel need not look for another host with this address.
    ip("address add fe80::4b/64 dev takt0 nodad");
    hold_messages();
    let options = LinkOptions {
        interface: Some("takt0".to_owned()),
        launch_times: Some(LaunchMode::Strict),
        ..LinkOptions::default()
    };
    for address in [MULTICAST, "opc.udp://[ff02::4b]:4840"] {
        let mut sender = open_sender(&address.parse().unwrap(), &options).unwrap();
        refused_messages_are_counted(&mut *sender);
        hold_messages();
    }
}

pub fn a_link_that_goes_down_comes_back() {
    let mut pair = pair("takt0", "takt0");
    wait_until_it_works(&mut pair);
    ip("link set takt0 down");
    let (_, receiver) = wait_until_down(&mut pair);
    assert_eq!(receiver, LinkState::Down(DownReason::InterfaceDown));
    ip("link set takt0 up");
    wait_until_it_works(&mut pair);
}

pub fn a_link_without_a_route_is_opened_and_comes_up() {
    for interface in ["takt0", "takt1", "lo"] {
        ip(&format!("link set {interface} down"));
    }
    let address = MULTICAST.parse().unwrap();
    let receiver = open_receiver(&address, &LinkOptions::default()).unwrap();
    let sender = open_sender(&address, &LinkOptions::default()).unwrap();
    let mut pair = (sender, receiver);
    let unreachable = LinkState::Down(DownReason::Unreachable);
    assert_eq!(pair.0.state(), unreachable);
    assert!(!pair.1.state().is_up());
    for interface in ["lo", "takt0", "takt1"] {
        ip(&format!("link set {interface} up"));
    }
    ip("route add 224.0.0.0/4 dev takt0");
    wait_until_it_works(&mut pair);
}

pub fn an_interface_that_vanishes_comes_back() {
    let mut pair = pair("takt0", "takt0");
    wait_until_it_works(&mut pair);
    unplug();
    let gone = LinkState::Down(DownReason::InterfaceGone);
    assert_eq!(wait_until_down(&mut pair), (gone, gone));
    plug();
    wait_until_it_works(&mut pair);
}
