//! `opc.eth` from `takt0` to `takt1`.

use std::time::{Duration, Instant};

use takt_link::{
    DownReason, ETHERTYPE, LaunchMode, LinkError, LinkOptions, LinkState, MacAddress, ReceiveClock,
    Receiver, Sender, Source, VlanTag, WithoutRoom, open_receiver, open_sender,
};

use crate::links::common::{
    PATIENCE, Pair, conforms, message, messages_have_the_time_of_their_reception,
    messages_with_a_launch_time_arrive, receive, refused_messages_are_counted, wait_until_up,
};
use crate::links::counting::allocations;
use crate::links::namespace::{hold_messages, ip, plug, slow_down, unplug, waiting};

const MULTICAST: &str = "opc.eth://01-00-5E-00-00-4B";

fn on(interface: &str, options: &LinkOptions) -> LinkOptions {
    LinkOptions {
        interface: Some(interface.to_owned()),
        ..options.clone()
    }
}

fn sender(address: &str, options: &LinkOptions) -> Box<dyn Sender> {
    open_sender(&address.parse().unwrap(), &on("takt0", options)).unwrap()
}

fn receiver(address: &str, options: &LinkOptions) -> Box<dyn Receiver> {
    open_receiver(&address.parse().unwrap(), &on("takt1", options)).unwrap()
}

fn pair(address: &str, options: &LinkOptions) -> Pair {
    (sender(address, options), receiver(address, options))
}

pub fn multicast_frames() {
    conforms(&|options| pair(MULTICAST, options));
    assert_eq!(
        sender(MULTICAST, &LinkOptions::default()).max_message_size(),
        1500
    );
}

pub fn tagged_frames() {
    conforms(&|options| pair(&format!("{MULTICAST}:5.6"), options));
}

pub fn unicast_frames() {
    ip("link set takt1 address 02:00:00:00:84:75");
    conforms(&|options| pair("opc.eth://02-00-00-00-84-75", options));
}

pub fn tags_are_on_the_wire_as_in_the_standard() {
    ip("link set takt0 address 02:00:00:00:84:74");
    let address = format!("{MULTICAST}:5.6");
    let (mut sender, mut receiver) = pair(&address, &LinkOptions::default());
    sender.send(&message(1, 46)).unwrap();
    let mut sources = Vec::new();
    let mut bytes = Vec::new();
    receiver
        .receive(PATIENCE, &mut |received| {
            sources.push(received.source);
            bytes = received.bytes.to_vec();
        })
        .unwrap();
    let expected = Source::Ethernet {
        address: MacAddress([2, 0, 0, 0, 0x84, 0x74]),
        vlan: Some(VlanTag { id: 5, priority: 6 }),
    };
    assert_eq!(sources, [expected]);
    assert_eq!(bytes, message(1, 46));
    assert_eq!(ETHERTYPE, 0xB62C);
}

pub fn frames_of_other_networks_are_left_alone() {
    let options = LinkOptions::default();
    let addresses = ["", ":0.3", ":5.6", ":6.6"].map(|tag| format!("{MULTICAST}{tag}"));
    let mut senders = addresses.clone().map(|address| sender(&address, &options));
    let mut other = sender("opc.eth://01-00-5E-00-00-4C", &options);
    let mut receivers = addresses.map(|address| receiver(&address, &options));
    for (number, sender) in senders.iter_mut().chain([&mut other]).enumerate() {
        sender.send(&message(number, 60)).unwrap();
    }
    // A VID of 0 stands for a priority without a network: both receivers without a VID get both messages.
    for receiver in &mut receivers[..2] {
        assert_eq!(
            receive(&mut **receiver, 2),
            [message(0, 60), message(1, 60)]
        );
    }
    for number in [2, 3] {
        assert_eq!(receive(&mut *receivers[number], 1), [message(number, 60)]);
    }
    for receiver in &mut receivers {
        let more = receiver.receive(Duration::from_millis(20), &mut |_| {});
        assert_eq!(more.unwrap(), 0);
    }
}

pub fn frames_for_which_there_was_no_room_are_counted() {
    const COUNT: usize = 1000;
    let options = LinkOptions {
        socket_buffer: Some(65_536),
        ..LinkOptions::default()
    };
    let (mut sender, mut receiver) = pair(MULTICAST, &options);
    for number in 0..COUNT {
        sender.send(&message(number, 1000)).unwrap();
    }
    while receiver
        .receive(Duration::from_millis(20), &mut |_| {})
        .unwrap()
        > 0
    {}
    let counters = receiver.counters();
    assert!(counters.overflowed > 0);
    assert_eq!(counters.messages + counters.overflowed, COUNT as u64);
}

/// Sends 500 messages of 60 bytes through a port that stands still, and returns how many of them wait there.
fn wait_at_a_stalled_port(options: &LinkOptions) -> usize {
    let mut sender = sender(&format!("{MULTICAST}:5.6"), options);
    // A message takes almost a second.
    slow_down("800bit");
    let (mut sent, mut full) = (0, 0);
    for number in 0..500 {
        match sender.send(&message(number, 60)) {
            Ok(()) => sent += 1,
            Err(LinkError::Full) => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    let counters = sender.counters();
    assert_eq!((counters.messages, counters.overflowed), (sent, full));
    waiting()
}

pub fn few_messages_wait_at_a_slow_port() {
    let options = |send_room| LinkOptions {
        without_room: WithoutRoom::Discard,
        send_room,
        ..LinkOptions::default()
    };
    let system = wait_at_a_stalled_port(&options(None));
    let found = [1, 3, 20].map(|room| wait_at_a_stalled_port(&options(Some(room))));
    eprintln!("waiting: {found:?}, {system} with the buffer of the system");
    assert!(system > 100, "{system}");
    // The kernel has room for 4608 bytes at least.
    for (room, found) in [1, 3, 20].into_iter().zip(found) {
        assert!(
            (1..=room.max(6) * 3 / 2).contains(&found),
            "{room}: {found}"
        );
    }
    assert!(found[2] >= 15, "{found:?}");
}

/// A message in three chunks per interval: all of them come, or none.
pub fn chunks_wait_together_at_a_slow_port() {
    let options = LinkOptions {
        without_room: WithoutRoom::Discard,
        send_room: Some(2),
        ..LinkOptions::default()
    };
    let (mut sender, mut receiver) = pair(&format!("{MULTICAST}:5.6"), &options);
    slow_down("1mbit");
    let (mut come, mut refused) = (Vec::new(), 0);
    let mut take = |timeout| {
        let number = |bytes: &[u8]| u32::from_le_bytes(*bytes.first_chunk().unwrap());
        let mut each = |received: takt_link::Received<'_>| come.push(number(received.bytes));
        receiver.receive(timeout, &mut each).unwrap()
    };
    for interval in 0..100_u32 {
        for chunk in 0..3 {
            let mut message = sender.reserve(1_400).unwrap();
            message[..4].copy_from_slice(&(interval * 3 + chunk).to_le_bytes());
            message.commit().unwrap();
        }
        match sender.flush() {
            Ok(count) => assert_eq!(count, 3),
            Err(LinkError::Full) => refused += 3,
            Err(error) => panic!("{error}"),
        }
        take(Duration::from_millis(2));
    }
    while take(Duration::from_millis(500)) > 0 {}
    let sent = sender.counters().messages;
    assert_eq!(
        (sent, sender.counters().overflowed),
        (300 - refused, refused)
    );
    assert_eq!(come.len() as u64, sent);
    assert!(refused > 0 && sent >= 9, "{refused} of 300 had no room");
    for chunks in come.chunks(3) {
        let first = chunks[0];
        assert_eq!((first % 3, chunks), (0, &[first, first + 1, first + 2][..]));
    }
}

pub fn messages_are_sent_without_allocation() {
    for per_cycle in [1, 5] {
        let pair = pair(&format!("{MULTICAST}:5.6"), &LinkOptions::default());
        assert_eq!(allocations(pair, per_cycle), 0, "{per_cycle} at a time");
    }
}

pub fn frames_with_launch_times() {
    let options = |mode, options: &LinkOptions| LinkOptions {
        launch_times: Some(mode),
        ..options.clone()
    };
    for mode in [LaunchMode::Strict, LaunchMode::Deadline] {
        conforms(&|chosen| pair(MULTICAST, &options(mode, chosen)));
        let pair = pair(
            &format!("{MULTICAST}:5.6"),
            &options(mode, &LinkOptions::default()),
        );
        messages_with_a_launch_time_arrive(pair);
    }
}

pub fn frames_have_the_time_of_their_reception() {
    for clock in [ReceiveClock::Software, ReceiveClock::Hardware] {
        let options = LinkOptions {
            receive_times: Some(clock),
            ..LinkOptions::default()
        };
        for address in [MULTICAST.to_owned(), format!("{MULTICAST}:5.6")] {
            messages_have_the_time_of_their_reception(pair(&address, &options));
        }
    }
}

pub fn refused_frames_are_counted() {
    hold_messages();
    let options = LinkOptions {
        launch_times: Some(LaunchMode::Strict),
        ..LinkOptions::default()
    };
    let mut sender = sender(MULTICAST, &options);
    refused_messages_are_counted(&mut *sender);
    let (_, count) = takt_malloc::count(|| {
        for _ in 0..1000 {
            sender.send(&[7; 1000]).unwrap();
            sender.launch_drops();
        }
    });
    assert_eq!(count, 0, "allocations for refused frames");
    assert!(sender.launch_drops().refused > 1000);
}

/// Calls until both ends know that the link is down, and returns the sender's error.
pub fn wait_until_down(pair: &mut Pair) -> (LinkState, LinkState) {
    let begin = Instant::now();
    loop {
        let _ = pair.0.send(b"lost");
        match pair.1.receive(Duration::from_millis(10), &mut |_| {}) {
            Ok(_) | Err(LinkError::Down(_)) => {}
            Err(error) => panic!("{error}"),
        }
        let states = (pair.0.state(), pair.1.state());
        if !states.0.is_up() && !states.1.is_up() {
            return states;
        }
        assert!(begin.elapsed() < PATIENCE, "{states:?}");
    }
}

/// Calls until a message gets through again.
pub fn wait_until_it_works(pair: &mut Pair) {
    let begin = Instant::now();
    let mut count = 0;
    while count == 0 {
        assert!(
            begin.elapsed() < PATIENCE,
            "{:?} {:?}",
            pair.0.state(),
            pair.1.state()
        );
        match pair.0.send(b"again") {
            Ok(()) | Err(LinkError::Down(_)) => {}
            Err(error) => panic!("{error}"),
        }
        match pair.1.receive(Duration::from_millis(10), &mut |_| {}) {
            Ok(received) => count = received,
            Err(LinkError::Down(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    wait_until_up(pair);
    // Messages that are still under way.
    while pair
        .1
        .receive(Duration::from_millis(50), &mut |_| {})
        .unwrap()
        > 0
    {}
    pair.0.send(&message(7, 100)).unwrap();
    assert_eq!(receive(&mut *pair.1, 1), [message(7, 100)]);
}

pub fn a_link_that_goes_down_comes_back() {
    let mut pair = pair(&format!("{MULTICAST}:5.6"), &LinkOptions::default());
    wait_until_it_works(&mut pair);
    ip("link set takt0 down");
    let (sender, receiver) = wait_until_down(&mut pair);
    assert_eq!(sender, LinkState::Down(DownReason::InterfaceDown));
    assert_eq!(receiver, LinkState::Down(DownReason::NoCarrier));
    let Err(LinkError::Down(reason)) = pair.0.send(b"lost") else {
        panic!("sent");
    };
    assert_eq!(reason, DownReason::InterfaceDown);
    assert!(pair.0.counters().discarded > 0);
    ip("link set takt0 up");
    wait_until_it_works(&mut pair);
    ip("link set takt1 down");
    let (sender, receiver) = wait_until_down(&mut pair);
    assert_eq!(sender, LinkState::Down(DownReason::NoCarrier));
    assert_eq!(receiver, LinkState::Down(DownReason::InterfaceDown));
    ip("link set takt1 up");
    wait_until_it_works(&mut pair);
}

pub fn an_interface_that_vanishes_comes_back() {
    let mut pair = pair(MULTICAST, &LinkOptions::default());
    wait_until_it_works(&mut pair);
    unplug();
    let gone = LinkState::Down(DownReason::InterfaceGone);
    assert_eq!(wait_until_down(&mut pair), (gone, gone));
    plug();
    wait_until_it_works(&mut pair);
}
