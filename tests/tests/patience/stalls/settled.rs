//! Followers that show what a Read returns.

use std::thread;
use std::time::{Duration, Instant};

use super::case::LIMIT;
use super::followers::Follower;
use super::plant::Plant;

/// Waits until each follower shows the constant value as a Read returns it; returns the times.
pub(super) fn settle(
    plant: &Plant,
    followers: &mut [Follower],
    case: &str,
    since: Instant,
) -> Vec<Duration> {
    let mut times = vec![None; followers.len()];
    while times.iter().any(Option::is_none) {
        let read = plant.read();
        for (follower, time) in followers.iter_mut().zip(&mut times) {
            if time.is_some() {
                continue;
            }
            let shown = follower.constant();
            if shown == read && read.is_some() {
                *time = Some(since.elapsed());
            }
            assert!(
                since.elapsed() < LIMIT,
                "{case}: {} shows {shown:?}, a Read returns {read:?}",
                follower.name
            );
        }
        thread::sleep(Duration::from_millis(20));
    }
    times.into_iter().flatten().collect()
}
