//! Endurance: a plant with all followers, a Publisher, a Subscriber and a history, under stalls, cuts, restarts, jumps of the clock and
//! clients that are killed, at random. No follower differs from a Read afterwards, and no PubSub message is lost without being counted.
//!
//! By default a minute; `TAKT_SOAK_SECONDS=600` sets the time, `TAKT_SOAK_SEED=1` repeats the choice of disturbances.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_app::DateTime;
use takt_tests::clock_steps::STEPS;
use takt_tests::process::Process;
use takt_tests::random::Random;

use super::case::{Disturbance, LIMIT, Side};
use super::companions;
use super::followers::Follower;
use super::moment::Moment;
use super::plant::Plant;
use super::settled::settle;

/// Time of the soak, unless the environment says otherwise.
const SECONDS: u64 = 60;

/// Number of messages that may be on their way at the end, or come before the Subscriber has begun.
const UNDER_WAY: u64 = 100;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

#[test]
fn values_stay_true_under_all_disturbances() {
    let length = Duration::from_secs(number("TAKT_SOAK_SECONDS").unwrap_or(SECONDS));
    let seed = number("TAKT_SOAK_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("{length:?}, seed {seed}");
    let mut random = Random::new(seed);
    let mut plant = Plant::start_with_clock();
    let mut followers = plant.followers();
    let port = takt_ports::reserve();
    let mut subscriber = companions::subscriber(&plant, port);
    let publisher = companions::publisher(&plant, port);
    let begin = Instant::now();
    settle(&plant, &mut followers, "before", &Moment::now());
    let (mut rounds, mut killed) = (0, 0);
    while begin.elapsed() < length {
        rounds += 1;
        let case = format!("seed {seed}, round {rounds}");
        let pause = Duration::from_millis(200 + random.below(3_000));
        let side = [Side::Provider, Side::Registry, Side::Clients][random.below(3) as usize];
        // A client subscribes and is killed during the disturbance.
        let mut visitor = companions::visitor(&plant);
        match random.below(6) {
            0..3 => disturb(
                &mut plant,
                (Disturbance::Stall, side),
                pause,
                &mut followers,
            ),
            3 => disturb(&mut plant, (Disturbance::Cut, side), pause, &mut followers),
            4 => {
                let side = [Side::Provider, Side::Registry][random.below(2) as usize];
                disturb(
                    &mut plant,
                    (Disturbance::Restart, side),
                    pause,
                    &mut followers,
                );
            }
            _ => {
                let step = STEPS[random.below(STEPS.len() as u64) as usize];
                println!("the clock {} for {pause:?}", step.name);
                let now = DateTime::now().to_unix_nanos() / 1_000_000_000;
                if let Some(clock) = &plant.clock {
                    clock.shift(step.shift(now));
                    thread::sleep(pause);
                    clock.shift(0);
                }
            }
        }
        if random.below(4) == 0 {
            subscriber.signal(Signal::STOP);
            thread::sleep(pause);
            subscriber.signal(Signal::CONT);
        }
        visitor.kill();
        killed += 1;
        if random.below(3) == 0 {
            plant.change();
        }
        settle(&plant, &mut followers, &case, &Moment::now());
    }
    println!("{rounds} disturbances, {killed} killed clients");
    settle(&plant, &mut followers, "at the end", &Moment::now());
    companions::check_history(&plant);
    let sent = last_row(publisher);
    let received = last_row(subscriber);
    println!("{sent}\n{received}");
    let count = |row: &Value, name: &str| row[name].as_u64().unwrap_or_default();
    let sent = count(&sent, "networkMessages");
    let taken = count(&received, "networkMessages");
    let missing = count(&received["losses"], "missing");
    assert!(sent > 20 * length.as_secs() / 4, "{sent} messages");
    assert!(
        sent.abs_diff(taken + missing) <= UNDER_WAY,
        "{sent} sent, {taken} received, {missing} missing"
    );
}

fn disturb(
    plant: &mut Plant,
    (disturbance, side): (Disturbance, Side),
    pause: Duration,
    followers: &mut [Follower],
) {
    println!("{disturbance:?} of {side:?} for {pause:?}");
    plant.begin(disturbance, side, followers);
    thread::sleep(pause);
    plant.end(disturbance, side, followers);
}

/// Interrupts a process, and returns the last row that it prints.
fn last_row(mut process: Process) -> Value {
    process.signal(Signal::INT);
    let finished = process.finish(LIMIT);
    let rows = finished.stdout.lines();
    let row = rows.rev().find_map(|line| serde_json::from_str(line).ok());
    row.unwrap_or_else(|| panic!("no row: {} {}", finished.stdout, finished.stderr))
}
