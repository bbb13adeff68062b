//! Conformance suite over all links that need no privileges and no broker. That of Ethernet, which needs root, is in
//! `tests/tests/privileged/links`, and that of MQTT in `tests/tests/interop/mosquitto`.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::common::{Pair, conforms, message, queue, receive};
use takt_link::{
    Address, LaunchDrops, LaunchMode, LinkError, LinkOptions, ReceiveClock, Source, open_receiver,
    open_sender,
};

fn pair(sender: &str, receiver: &str, options: &LinkOptions) -> Pair {
    let receiver = open_receiver(&receiver.parse().unwrap(), options).unwrap();
    let sender = open_sender(&sender.parse().unwrap(), options).unwrap();
    (sender, receiver)
}

fn loopback(options: &LinkOptions) -> LinkOptions {
    LinkOptions {
        interface: Some("127.0.0.1".to_owned()),
        ..options.clone()
    }
}

#[test]
fn udp_unicast() {
    conforms(&|options| {
        let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
        pair(&address, &address, options)
    });
}

#[test]
fn udp_unicast_to_a_receiver_on_all_interfaces() {
    let port = takt_ports::reserve();
    let (mut sender, mut receiver) = pair(
        &format!("opc.udp://127.0.0.1:{port}"),
        &format!("opc.udp://localhost:{port}"),
        &LinkOptions::default(),
    );
    sender.send(b"data").unwrap();
    let mut source = None;
    let count = receiver.receive(crate::common::PATIENCE, &mut |received| {
        source = Some(received.source)
    });
    assert_eq!(count.unwrap(), 1);
    let Some(Source::Udp(source)) = source else {
        panic!("{source:?}");
    };
    assert_eq!(source.ip().to_string(), "127.0.0.1");
}

#[test]
fn udp_unicast_through_a_chosen_interface() {
    conforms(&|options| {
        let port = takt_ports::reserve();
        let sender = format!("opc.udp://127.0.0.1:{port}");
        let receiver = format!("opc.udp://localhost:{port}");
        pair(&sender, &receiver, &loopback(options))
    });
}

#[test]
fn udp_multicast() {
    conforms(&|options| {
        let address = format!("opc.udp://239.255.84.75:{}", takt_ports::reserve());
        pair(&address, &address, &loopback(options))
    });
}

#[test]
fn all_receivers_of_a_multicast_group_get_a_message() {
    let options = LinkOptions {
        ttl: Some(3),
        dscp: Some(46),
        priority: Some(5),
        ..loopback(&LinkOptions::default())
    };
    let port = takt_ports::reserve();
    let address = format!("opc.udp://239.255.84.76:{port}");
    let (mut sender, mut first) = pair(&address, &address, &options);
    let mut second = open_receiver(&address.parse().unwrap(), &options).unwrap();
    // Another group at the same port is another address.
    let other = format!("opc.udp://239.255.84.77:{port}").parse().unwrap();
    let mut other = open_receiver(&other, &options).unwrap();
    sender.send(b"data").unwrap();
    assert_eq!(receive(&mut *first, 1), [b"data"]);
    assert_eq!(receive(&mut *second, 1), [b"data"]);
    let count = other.receive(Duration::from_millis(20), &mut |_| panic!("not for us"));
    assert_eq!(count.unwrap(), 0);
}

#[test]
fn udp_over_ipv6() {
    if UdpSocket::bind("[::1]:0").is_err() {
        println!("this machine has no IPv6");
        return;
    }
    conforms(&|options| {
        let address = format!("opc.udp://[::1]:{}", takt_ports::reserve());
        pair(&address, &address, options)
    });
}

#[test]
fn sending_without_a_receiver_succeeds() {
    let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let address: Address = address.parse().unwrap();
    let mut sender = open_sender(&address, &LinkOptions::default()).unwrap();
    for number in 0..10 {
        for part in 0..number {
            queue(&mut *sender, &message(part, 40));
        }
        assert_eq!(sender.flush().unwrap(), number);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(sender.state().is_up());
    let mut receiver = open_receiver(&address, &LinkOptions::default()).unwrap();
    sender.send(&message(7, 40)).unwrap();
    assert_eq!(receive(&mut *receiver, 1), [message(7, 40)]);
}

#[test]
fn messages_for_which_a_slow_receiver_had_no_room_are_counted() {
    const COUNT: usize = 2000;
    let options = LinkOptions {
        socket_buffer: Some(16_384),
        ..LinkOptions::default()
    };
    let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let (mut sender, mut receiver) = pair(&address, &address, &options);
    for number in 0..COUNT {
        sender.send(&message(number, 100)).unwrap();
    }
    while receiver.receive(Duration::ZERO, &mut |_| {}).unwrap() > 0 {}
    let counters = receiver.counters();
    assert!(counters.overflowed > 0);
    assert_eq!(counters.messages + counters.overflowed, COUNT as u64);
}

/// After a message that came alone, a polling receiver takes one message with each call.
#[test]
fn a_polling_receiver_gets_single_messages_and_bursts() {
    let options = LinkOptions {
        poll_only: true,
        ..LinkOptions::default()
    };
    let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let (mut sender, mut receiver) = pair(&address, &address, &options);
    let mut got = Vec::new();
    let mut sent = Vec::new();
    for burst in [1, 1, 40, 1, 3] {
        for _ in 0..burst {
            let number = sent.len() as u8;
            sender.send(&[number; 20]).unwrap();
            sent.push(number);
        }
        let begin = Instant::now();
        while got.len() < sent.len() && begin.elapsed() < crate::common::PATIENCE {
            let before = got.len();
            let count = receiver.receive(Duration::ZERO, &mut |received| {
                assert_eq!(received.bytes.len(), 20);
                got.push(received.bytes[0]);
            });
            assert_eq!(count.unwrap(), got.len() - before);
        }
        assert_eq!(got, sent);
    }
    assert_eq!(receiver.receive(Duration::ZERO, &mut |_| {}).unwrap(), 0);
    assert_eq!(receiver.counters().messages, sent.len() as u64);
}

#[test]
fn messages_longer_than_the_receiver_wants_are_discarded_and_counted() {
    let address: Address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve())
        .parse()
        .unwrap();
    let options = LinkOptions {
        max_message_size: Some(100),
        ..LinkOptions::default()
    };
    let mut receiver = open_receiver(&address, &options).unwrap();
    let mut sender = open_sender(&address, &LinkOptions::default()).unwrap();
    sender.send(&message(1, 101)).unwrap();
    sender.send(&message(2, 100)).unwrap();
    assert_eq!(receive(&mut *receiver, 1), [message(2, 100)]);
    assert_eq!(receiver.counters().discarded, 1);
}

#[test]
fn options_out_of_range_are_refused() {
    let open = |address: &str, options: LinkOptions| {
        let address = address.parse().unwrap();
        let sender = open_sender(&address, &options).map(drop);
        sender
            .and(open_receiver(&address, &options).map(drop))
            .unwrap_err()
    };
    let udp = "opc.udp://127.0.0.1:4840";
    let default = LinkOptions::default;
    for (options, option) in [
        (
            LinkOptions {
                batch: 0,
                ..default()
            },
            "batch",
        ),
        (
            LinkOptions {
                batch: 1025,
                ..default()
            },
            "batch",
        ),
        (
            LinkOptions {
                max_message_size: Some(0),
                ..default()
            },
            "max_message_size",
        ),
        (
            LinkOptions {
                max_message_size: Some(65_508),
                ..default()
            },
            "max_message_size",
        ),
        (
            LinkOptions {
                dscp: Some(64),
                ..default()
            },
            "dscp",
        ),
        (
            LinkOptions {
                priority: Some(16),
                ..default()
            },
            "priority",
        ),
    ] {
        let LinkError::Option { option: told, .. } = open(udp, options) else {
            panic!("{option}");
        };
        assert_eq!(told, option);
    }
    let nowhere = LinkOptions {
        interface: Some("takt-none".to_owned()),
        ..default()
    };
    assert!(matches!(
        open(udp, nowhere),
        LinkError::NoSuchInterface { .. }
    ));
    let error = open("opc.eth://01-00-5E-00-00-01", default());
    assert!(matches!(error, LinkError::InterfaceRequired));
    // This is an address of documentation (RFC 5737), which no host has.
    let foreign: Address = "opc.udp://192.0.2.1:4840".parse().unwrap();
    let error = open_receiver(&foreign, &default()).map(drop).unwrap_err();
    assert!(
        error.to_string().contains("not one of this host"),
        "{error}"
    );
}

/// Returns options with launch times; `None`, with a note in the test's output, without CAP_NET_ADMIN.
fn launching(mode: LaunchMode) -> Option<LinkOptions> {
    let options = LinkOptions {
        launch_times: Some(mode),
        ..LinkOptions::default()
    };
    let address = "opc.udp://127.0.0.1:4840".parse().unwrap();
    match open_sender(&address, &options) {
        Ok(_) => Some(options),
        Err(LinkError::Open { cause, .. })
            if cause.kind() == std::io::ErrorKind::PermissionDenied =>
        {
            println!("skipped: launch times need CAP_NET_ADMIN");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn udp_with_launch_times() {
    for mode in [LaunchMode::Strict, LaunchMode::Deadline] {
        let Some(base) = launching(mode) else {
            return;
        };
        let address = || format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
        let options = |options: &LinkOptions| LinkOptions {
            launch_times: base.launch_times,
            ..options.clone()
        };
        conforms(&|chosen| {
            let address = address();
            pair(&address, &address, &options(chosen))
        });
        let address = address();
        crate::common::messages_with_a_launch_time_arrive(pair(&address, &address, &base));
    }
}

/// Hosts answer messages to a port at which no socket listens. The answers come to the same queue as the reports of
/// dropped messages.
#[test]
fn answers_to_messages_with_launch_times_are_no_drops() {
    let Some(options) = launching(LaunchMode::Strict) else {
        return;
    };
    for host in ["127.0.0.1", "[::1]"] {
        if UdpSocket::bind(format!("{host}:0")).is_err() {
            println!("skipped: {host}");
            continue;
        }
        let address = format!("opc.udp://{host}:{}", takt_ports::reserve());
        let mut sender = open_sender(&address.parse().unwrap(), &options).unwrap();
        for number in 0..200 {
            crate::common::queue(&mut *sender, &crate::common::message(number, 50));
            if number % 3 == 0 {
                sender.flush().unwrap();
                assert_eq!(sender.launch_drops(), LaunchDrops::default());
            }
        }
        sender.flush().unwrap();
        assert!(sender.state().is_up());
        assert_eq!(sender.counters().messages, 200);
    }
}

#[test]
fn launch_times_are_ignored_unless_they_are_enabled() {
    let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    crate::common::messages_with_a_launch_time_arrive(pair(
        &address,
        &address,
        &LinkOptions::default(),
    ));
    let (_directory, options) = shared_memory();
    let address = "opc.iox2://Line1";
    crate::common::messages_with_a_launch_time_arrive(pair(address, address, &options));
}

#[test]
fn udp_with_times_of_reception() {
    for clock in [ReceiveClock::Software, ReceiveClock::Hardware] {
        let options = LinkOptions {
            receive_times: Some(clock),
            ..LinkOptions::default()
        };
        for host in ["127.0.0.1", "localhost"] {
            let port = takt_ports::reserve();
            let sender = format!("opc.udp://127.0.0.1:{port}");
            let pair = pair(&sender, &format!("opc.udp://{host}:{port}"), &options);
            crate::common::messages_have_the_time_of_their_reception(pair);
        }
    }
}

/// Returns a directory in which only this test's processes meet.
fn shared_memory() -> (tempfile::TempDir, LinkOptions) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = LinkOptions {
        runtime_directory: Some(directory.path().to_owned()),
        ..LinkOptions::default()
    };
    (directory, options)
}

#[test]
fn iox2() {
    let (_directory, base) = shared_memory();
    conforms(&|options| {
        let options = LinkOptions {
            runtime_directory: base.runtime_directory.clone(),
            ..options.clone()
        };
        pair("opc.iox2://Line1/Cell", "opc.iox2://Line1/Cell", &options)
    });
}

#[test]
fn messages_in_shared_memory_are_for_all_receivers_and_of_all_senders() {
    let (_directory, options) = shared_memory();
    let address = "opc.iox2://Line1".parse().unwrap();
    let polling = LinkOptions {
        poll_only: true,
        ..options.clone()
    };
    let mut receivers =
        [&options, &options, &polling].map(|options| open_receiver(&address, options).unwrap());
    let mut other = open_receiver(&"opc.iox2://Line2".parse().unwrap(), &options).unwrap();
    let mut senders = [0, 1].map(|_| open_sender(&address, &options).unwrap());
    for (number, sender) in senders.iter_mut().enumerate() {
        sender.send(&message(number, 100)).unwrap();
    }
    for receiver in &mut receivers {
        let mut received = receive(&mut **receiver, 2);
        received.sort();
        assert_eq!(received, [message(0, 100), message(1, 100)]);
    }
    assert!(receivers[0].as_fd().is_some());
    assert!(receivers[2].as_fd().is_none());
    assert_eq!(other.receive(Duration::ZERO, &mut |_| {}).unwrap(), 0);
}

#[test]
fn messages_for_which_a_slow_receiver_of_shared_memory_had_no_room_are_counted() {
    let (_directory, options) = shared_memory();
    let (mut sender, mut receiver) = pair("opc.iox2://Line1", "opc.iox2://Line1", &options);
    for number in 0..100 {
        sender.send(&message(number, 10)).unwrap();
    }
    let messages = receive(&mut *receiver, 1);
    let expected: Vec<Vec<u8>> = (0..messages.len())
        .map(|number| message(number, 10))
        .collect();
    assert_eq!(messages, expected);
    assert_eq!(messages.len() as u64 + sender.counters().overflowed, 100);
    // There is room again.
    sender.send(&message(1, 10)).unwrap();
    assert_eq!(receive(&mut *receiver, 1), [message(1, 10)]);
}

#[test]
fn a_message_wakes_a_receiver_of_shared_memory() {
    let (_directory, options) = shared_memory();
    let theirs = options.clone();
    let receiving = std::thread::spawn(move || {
        let address = "opc.iox2://Line1".parse().unwrap();
        let mut receiver = open_receiver(&address, &theirs).unwrap();
        receiver
            .receive(crate::common::PATIENCE, &mut |_| {})
            .unwrap()
    });
    let mut sender = open_sender(&"opc.iox2://Line1".parse().unwrap(), &options).unwrap();
    while !receiving.is_finished() {
        sender.send(b"data").unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_ne!(receiving.join().unwrap(), 0);
}

/// Environment variable with the directory in which the process that is killed shares memory.
const VICTIM: &str = "TAKT_LINK_TEST_VICTIM";

#[test]
fn leftovers_of_killed_processes_do_no_harm() {
    let address = "opc.iox2://Line1".parse().unwrap();
    let (directory, options) = match std::env::var_os(VICTIM) {
        // This process is the one that is killed.
        Some(directory) => {
            let options = LinkOptions {
                runtime_directory: Some(directory.into()),
                ..LinkOptions::default()
            };
            let _receiver = open_receiver(&address, &options).unwrap();
            let mut sender = open_sender(&address, &options).unwrap();
            loop {
                sender.send(b"alive").unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        None => shared_memory(),
    };
    // These are more than can send and receive at a time.
    for _ in 0..10 {
        let mut receiver = open_receiver(&address, &options).unwrap();
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "conformance::leftovers_of_killed_processes_do_no_harm";
        command
            .args(["--exact", name])
            .env(VICTIM, directory.path());
        let mut victim = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        receive(&mut *receiver, 3);
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    let (mut sender, mut receiver) = pair("opc.iox2://Line1", "opc.iox2://Line1", &options);
    sender.send(&message(1, 100)).unwrap();
    let messages = receive(&mut *receiver, 1);
    assert_eq!(messages.last(), Some(&message(1, 100)));
}
