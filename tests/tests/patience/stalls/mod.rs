//! Followers after stalls, cuts and restarts: each one shows the value that a Read returns, also a value that has not changed.
//!
//! Each case has a registry with a mirror, a Provider, and all followers over both transports, and one disturbance. All cases run at
//! the same time.

mod case;
mod client_process;
mod companions;
mod followers;
mod good;
mod log;
mod moment;
mod plant;
mod receiver;
mod relay;
mod settled;
mod soak;

use std::thread;
use std::time::Duration;

use case::{Case, Disturbance, Side};
use moment::Moment;
use plant::Plant;
use settled::settle;

/// Time, without the delays of a loaded machine, after which each follower shows the current values.
const SOON: Duration = Duration::from_secs(2);

/// The cases, which have each pair of kind, side, duration and change that is possible.
const CASES: [Case; 17] = [
    (Disturbance::Stall, Side::Provider, 0.5, false),
    (Disturbance::Stall, Side::Provider, 3.0, false),
    (Disturbance::Stall, Side::Provider, 15.0, false),
    (Disturbance::Stall, Side::Registry, 0.5, true),
    (Disturbance::Stall, Side::Registry, 3.0, false),
    (Disturbance::Stall, Side::Registry, 15.0, true),
    (Disturbance::Stall, Side::Clients, 0.5, true),
    (Disturbance::Stall, Side::Clients, 3.0, true),
    (Disturbance::Stall, Side::Clients, 15.0, false),
    (Disturbance::Cut, Side::Provider, 3.0, false),
    (Disturbance::Cut, Side::Registry, 0.5, true),
    (Disturbance::Cut, Side::Provider, 15.0, true),
    (Disturbance::Restart, Side::Provider, 0.5, false),
    (Disturbance::Restart, Side::Provider, 3.0, false),
    (Disturbance::Restart, Side::Registry, 0.5, true),
    (Disturbance::Restart, Side::Clients, 0.5, true),
    (Disturbance::Restart, Side::Clients, 3.0, false),
];

#[test]
fn every_follower_shows_the_value_of_a_read_after_a_disturbance() {
    let cases = CASES.map(|case| thread::spawn(move || run(case)));
    let mut slow = Vec::new();
    let mut faults = Vec::new();
    let (mut count, mut most) = (0, Duration::ZERO);
    for (case, running) in CASES.iter().zip(cases) {
        let Ok(times) = running.join() else {
            faults.push(case);
            continue;
        };
        count += times.len();
        most = times.iter().map(|(_, time)| *time).fold(most, Ord::max);
        let late = times.into_iter().filter(|(_, time)| *time >= SOON);
        slow.extend(late.map(|late| (case, late)));
    }
    println!("{count} followers: {most:?} at most");
    assert!(faults.is_empty(), "{faults:?}");
    assert!(slow.is_empty(), "{slow:#?}");
}

/// Runs one case; returns the followers, and the times that their values took.
fn run(case: Case) -> Vec<(String, Duration)> {
    let (disturbance, side, seconds, changes) = case;
    let mut plant = Plant::start();
    let mut followers = plant.followers();
    let names: Vec<_> = followers.iter().map(|it| it.name.clone()).collect();
    let begin = Moment::now();
    settle(&plant, &mut followers, &format!("{case:?} before"), &begin);
    drop(begin);
    let length = Duration::from_secs_f64(seconds);
    plant.begin(disturbance, side, &mut followers);
    if changes {
        plant.change();
    }
    thread::sleep(length);
    if disturbance == Disturbance::Stall && seconds > 1.0 {
        // The mirror notices a server that hangs within a second, and the receiver a Publisher.
        let noticing = match side {
            Side::Provider => "mirrored over memory",
            Side::Registry => "",
            Side::Clients => "publish over memory",
        };
        for follower in followers.iter_mut().filter(|it| it.name == noticing) {
            assert_eq!(follower.constant(), None, "{case:?}: {noticing}");
        }
    }
    plant.end(disturbance, side, &mut followers);
    let end = Moment::now();
    let mut times = settle(&plant, &mut followers, &format!("{case:?}"), &end);
    println!("{case:?}: {:?}", end.elapsed());
    // A late error would make a value bad once more.
    thread::sleep(SOON.saturating_sub(end.elapsed()) + SOON);
    drop(end);
    let later = Moment::now();
    times.extend(settle(
        &plant,
        &mut followers,
        &format!("{case:?} later"),
        &later,
    ));
    for follower in &mut followers {
        follower.check_log(disturbance, length, &format!("{case:?}"));
    }
    names.iter().cycle().cloned().zip(times).collect()
}
