//! Keys of PubSub between two hosts: `takt registry` and `takt publish` on one of them, `takt subscribe` on the other one, through
//! rotations of the keys and outages of the key service.
//!
//! The hosts are network namespaces, which vanish with the processes that hold them.

mod plant;
mod pull;
mod push;
mod tap;

use std::time::{Duration, Instant};

use self::plant::{INTERVAL, LIFETIME};
use rustix::process::Signal;
use takt_tests::network::NETWORKS;
use takt_tests::privileged::Test;
use takt_tests::{Finished, Process};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test {
            name: "pull::keys_are_renewed_through_rotations_and_outages",
            needs: NETWORKS,
            run: pull::keys_are_renewed_through_rotations_and_outages,
        },
        Test {
            name: "pull::a_silent_service_delays_neither_messages_nor_the_end",
            needs: NETWORKS,
            run: pull::a_silent_service_delays_neither_messages_nor_the_end,
        },
        Test {
            name: "push::keys_are_pushed_through_rotations_and_outages",
            needs: NETWORKS,
            run: push::keys_are_pushed_through_rotations_and_outages,
        },
    ]
}

/// Waits until something is true. The message of a failure has the output of `report`.
fn wait_until(what: &str, report: impl Fn() -> String, mut is_true: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_true() {
        assert!(
            begin.elapsed() < PATIENCE,
            "{what} not within {PATIENCE:?}{}",
            report()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ends a process as `systemctl stop` does.
fn end(mut process: Process) -> Finished {
    process.signal(Signal::TERM);
    process.finish(PATIENCE)
}

/// Asserts that each key had its turn, and that none came back.
fn assert_consecutive(tokens: &[(u32, usize)]) {
    let follow = |pair: &[(u32, usize)]| pair[1].0 == pair[0].0 + 1;
    assert!(tokens.windows(2).all(follow), "{tokens:?}");
    // The first and the last one may have had less time.
    let enough = LIFETIME.as_millis() / INTERVAL.as_millis() / 2;
    let between = tokens.get(1..tokens.len().saturating_sub(1));
    let had_time = |(_, count): &(u32, usize)| *count as u128 >= enough;
    assert!(
        between.unwrap_or_default().iter().all(had_time),
        "{tokens:?}"
    );
}
