//! Count of calls of malloc while messages are sent and received.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test fails by panicking, and not every test program uses everything"
)]

use std::time::Duration;

use takt_link::{LaunchDrops, LaunchTime};

use super::common::Pair;

/// Number of cycles.
pub const CYCLES: usize = 10_000;

/// Runs cycles of `per_cycle` messages, and returns the number of allocations meanwhile.
pub fn allocations((mut sender, mut receiver): Pair, per_cycle: usize) -> u64 {
    let launch_time = Some(LaunchTime::from_tai_nanos(1));
    let mut cycle = || {
        for _ in 0..per_cycle {
            let mut message = sender.reserve(200).unwrap();
            message.fill(7);
            message.commit_at(launch_time).unwrap();
        }
        sender.flush().unwrap();
        let mut count = 0;
        while count < per_cycle {
            let received = receiver.receive(Duration::from_secs(10), &mut |received| {
                assert_eq!(received.bytes.len(), 200);
            });
            let received = received.unwrap();
            assert_ne!(received, 0, "a message is lost");
            count += received;
        }
        assert!(sender.state().is_up() && receiver.state().is_up());
        assert_eq!(sender.launch_drops(), LaunchDrops::default());
    };
    cycle();
    // Threads of the test program, which are counted too, are busy for a moment only.
    let mut run = || takt_malloc::count(|| (0..CYCLES).for_each(|_| cycle())).1;
    (0..3).map(|_| run()).min().unwrap()
}
