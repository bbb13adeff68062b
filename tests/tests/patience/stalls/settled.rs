//! Followers that show what a Read returns.

use std::thread;
use std::time::Duration;

use super::case::LIMIT;
use super::followers::Follower;
use super::moment::Moment;
use super::plant::Plant;

/// Waits until each follower shows the constant value as a Read returns it, and a value that has changed since a moment. Returns the
/// times until then, without the delays of the machine.
pub(super) fn settle(
    plant: &Plant,
    followers: &mut [Follower],
    case: &str,
    since: &Moment,
) -> Vec<Duration> {
    let mut times = vec![None; followers.len()];
    let mut direct = plant.direct();
    while times.iter().any(Option::is_none) {
        let read = direct.read();
        for (follower, time) in followers.iter_mut().zip(&mut times) {
            if time.is_some() {
                continue;
            }
            let (constant, changing) = (follower.constant(), follower.changing());
            let is_current = changing.as_ref().is_some_and(|it| it.since >= since.time);
            if constant == read && read.is_some() && is_current {
                *time = Some(since.undelayed());
                continue;
            }
            assert!(
                since.elapsed() < LIMIT,
                "{case}: {} shows {constant:?} and {changing:?}, a Read returns {read:?}",
                follower.name
            );
        }
        thread::sleep(Duration::from_millis(20));
    }
    times.into_iter().flatten().collect()
}
