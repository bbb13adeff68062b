//! Followers after stalls, cuts and restarts: each one shows the value that a Read returns, also a value that has not changed.
//!
//! Each case has a registry with a mirror, a Provider, and all followers over both transports, and one disturbance. All cases run at
//! the same time.

mod case;
mod companions;
mod followers;
mod log;
mod plant;
mod relay;
mod settled;
mod soak;

use std::thread;
use std::time::{Duration, Instant};

use case::{Case, Disturbance, LIMIT, Side};
use followers::Follower;
use plant::Plant;
use settled::settle;

/// Time after which a follower shall show the current value, at least in most cases.
const SOON: Duration = Duration::from_secs(2);

/// The cases, which have each pair of kind, side, duration and change that is possible.
const CASES: [Case; 14] = [
    (Disturbance::Stall, Side::Provider, 0.5, false),
    (Disturbance::Stall, Side::Provider, 3.0, false),
    (Disturbance::Stall, Side::Provider, 15.0, false),
    (Disturbance::Stall, Side::Registry, 0.5, true),
    (Disturbance::Stall, Side::Registry, 3.0, false),
    (Disturbance::Stall, Side::Registry, 15.0, true),
    (Disturbance::Stall, Side::Clients, 3.0, true),
    (Disturbance::Stall, Side::Clients, 15.0, false),
    (Disturbance::Cut, Side::Provider, 3.0, false),
    (Disturbance::Cut, Side::Registry, 0.5, true),
    (Disturbance::Cut, Side::Provider, 15.0, true),
    (Disturbance::Restart, Side::Provider, 0.5, false),
    (Disturbance::Restart, Side::Provider, 3.0, false),
    (Disturbance::Restart, Side::Registry, 0.5, true),
];

#[test]
fn every_follower_shows_the_value_of_a_read_after_a_disturbance() {
    let cases = CASES.map(|case| thread::spawn(move || run(case)));
    let mut all = Vec::new();
    let mut faults = Vec::new();
    for (case, running) in CASES.iter().zip(cases) {
        match running.join() {
            Ok(times) => all.extend(times),
            Err(_) => faults.push(case),
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
    all.sort_unstable();
    let most = all[all.len() * 3 / 4];
    println!(
        "{} values: {most:?} for three quarters of them, {:?} at most",
        all.len(),
        all.last()
    );
    assert!(most < SOON, "{all:?}");
}

/// Runs one case; returns the times that the values of followers took.
fn run(case: Case) -> Vec<Duration> {
    let (disturbance, side, seconds, changes) = case;
    let mut plant = Plant::start();
    let mut followers = plant.followers();
    let begin = Instant::now();
    settle(&plant, &mut followers, &format!("{case:?} before"), begin);
    let before: Vec<_> = followers.iter_mut().map(Follower::changing).collect();
    let length = Duration::from_secs_f64(seconds);
    plant.begin(disturbance, side, &mut followers);
    if changes {
        plant.change();
    }
    thread::sleep(length);
    if (disturbance, side) == (Disturbance::Stall, Side::Provider) && seconds > 1.0 {
        // The mirror notices a server that hangs within a second.
        let mirrored = followers
            .iter_mut()
            .find(|it| it.name == "mirrored over memory");
        assert_eq!(mirrored.and_then(Follower::constant), None, "{case:?}");
    }
    plant.end(disturbance, side, &mut followers);
    let end = Instant::now();
    let times = settle(&plant, &mut followers, &format!("{case:?}"), end);
    for (follower, before) in followers.iter_mut().zip(before) {
        while follower.changing() == before {
            assert!(end.elapsed() < LIMIT, "{case:?}: {} stands", follower.name);
            thread::sleep(Duration::from_millis(20));
        }
    }
    // A late error would make a value bad once more.
    thread::sleep(SOON.saturating_sub(end.elapsed()) + SOON);
    settle(
        &plant,
        &mut followers,
        &format!("{case:?} later"),
        Instant::now(),
    );
    for follower in &mut followers {
        follower.check_log(disturbance, length, &format!("{case:?}"));
    }
    times
}
