//! Open links allocate nothing for sending and receiving, at the level of malloc, except for the loans of iceoryx2.
//! `tests/tests/privileged/links` tests this for `opc.eth`.

use takt_link::{LaunchMode, LinkOptions, ReceiveClock, open_receiver, open_sender};

#[test]
fn messages_are_sent_without_allocation() {
    takt_malloc::alone(|| {
        let options = LinkOptions {
            interface: Some("lo".to_owned()),
            ..LinkOptions::default()
        };
        for per_cycle in [1, 5] {
            let port = takt_ports::reserve();
            let address = format!("opc.udp://127.0.0.1:{port}").parse().unwrap();
            let receiver = open_receiver(&address, &options).unwrap();
            let sender = open_sender(&address, &options).unwrap();
            let count = crate::counting::allocations((sender, receiver), per_cycle);
            assert_eq!(count, 0, "opc.udp, {per_cycle} at a time");
        }
        let launching = LinkOptions {
            launch_times: Some(LaunchMode::Strict),
            receive_times: Some(ReceiveClock::Hardware),
            ..options.clone()
        };
        let address = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
        let address = address.parse().unwrap();
        match open_sender(&address, &launching) {
            Ok(sender) => {
                let receiver = open_receiver(&address, &launching).unwrap();
                let count = crate::counting::allocations((sender, receiver), 5);
                assert_eq!(count, 0, "opc.udp with launch times and times of reception");
            }
            Err(error) => println!("skipped: launch times: {error}"),
        }
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let options = LinkOptions {
            runtime_directory: Some(directory.path().to_owned()),
            ..LinkOptions::default()
        };
        for per_cycle in [1, 5] {
            let address = "opc.iox2://Line1".parse().unwrap();
            let receiver = open_receiver(&address, &options).unwrap();
            let sender = open_sender(&address, &options).unwrap();
            let count = crate::counting::allocations((sender, receiver), per_cycle);
            // Each loan of iceoryx2 0.10 allocates its bookkeeping (`ChunkMutSharedState`); nothing else does.
            let loans = (crate::counting::CYCLES * per_cycle) as u64;
            assert!(count <= loans, "opc.iox2, {per_cycle} at a time: {count}");
        }
    });
}
