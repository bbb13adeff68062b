//! Kills: 16 Consumers read from three Providers as fast as they can, while Providers and Consumers are killed at
//! random (SIGKILL) and started again. It checks that nothing hangs, no value is torn, and nothing leaks: neither
//! memory or descriptors in the surviving processes, nor files.
//!
//! By default some ten thousand requests; `TAKT_KILLS_REQUESTS=10000000` sets the number, `TAKT_KILLS_SEED=1` repeats
//! the choice of killed processes.

mod plant;

use std::time::{Duration, Instant};

use plant::{CONSUMERS, PROVIDERS, Plant, Usage};
use takt_tests::Sandbox;
use takt_tests::random::Random;

const REQUESTS: u64 = 40_000;
/// Smallest number of processes to be killed, independent of the speed of the machine.
const MIN_KILLS: u32 = 20;
/// Mean time between two kills.
const PAUSE_MS: u64 = 500;
/// Time without a report after which a Consumer counts as hanging.
const SILENCE: Duration = Duration::from_secs(120);
/// Allowed growth of a process between the first tenth and the end: caches and free lists grow slowly to their
/// limits.
const MORE_MEMORY: u64 = 12 << 20;
/// Allowed growth above the most descriptors in the first tenth.
const MORE_DESCRIPTORS: usize = 8;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    Some(
        digits
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}

#[test]
fn no_hangs_torn_values_or_leaks_while_peers_are_killed() {
    let wanted = number("TAKT_KILLS_REQUESTS").unwrap_or(REQUESTS);
    let seed = number("TAKT_KILLS_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("{wanted} requests, seed {seed}");
    let mut random = Random::new(seed);
    let sandbox = Sandbox::new();
    let before = sandbox.left_behind();
    {
        let mut plant = Plant::start(&sandbox, seed);
        let alone = plant.descriptors();
        plant.start_consumers();
        disturb(&mut plant, &mut random, wanted);
        plant.stop_consumers();
        eventually("descriptors are closed", || {
            let now = plant.descriptors();
            (now.iter().zip(&alone).all(|(now, alone)| now <= alone))
                .then_some(())
                .ok_or(format!("{now:?}, before {alone:?}"))
        });
    }
    eventually("files are removed", || {
        takt_shm::clean_dead(Some(&sandbox.runtime_directory())).unwrap();
        let left = sandbox.left_behind();
        (left == before).then_some(()).ok_or(format!("{left:#?}"))
    });
}

fn disturb(plant: &mut Plant<'_>, random: &mut Random, wanted: u64) {
    let started = Instant::now();
    let mut next_kill = Instant::now();
    let mut kills = [0_u32; 2];
    let mut warm: Option<Vec<Usage>> = None;
    // A process has fewer descriptors while one of its peers starts again, so the most in the first tenth counts.
    let mut most = plant.all_descriptors();
    let mut next_word = Duration::from_secs(30);
    loop {
        let counted = plant.count(SILENCE);
        let all_kills = kills[0] + kills[1];
        if warm.is_none() {
            for (most, now) in most.iter_mut().zip(plant.all_descriptors()) {
                *most = now.max(*most);
            }
        }
        if warm.is_none() && counted.read >= wanted / 10 && all_kills >= MIN_KILLS / 3 {
            warm = Some(plant.usage());
        }
        if started.elapsed() >= next_word {
            next_word += Duration::from_secs(30);
            println!("{:?}: {counted:?}, killed {kills:?}", started.elapsed());
        }
        if counted.read >= wanted && all_kills >= MIN_KILLS {
            break;
        }
        if Instant::now() >= next_kill {
            next_kill = Instant::now() + Duration::from_millis(random.below(2 * PAUSE_MS));
            // The first process of each kind survives.
            if random.below(5) == 0 {
                plant.replace_provider(1 + random.below(PROVIDERS as u64 - 1) as usize);
                kills[0] += 1;
            } else {
                plant.replace_consumer(1 + random.below(CONSUMERS as u64 - 1) as usize);
                kills[1] += 1;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let counted = plant.count(SILENCE);
    println!(
        "{counted:?} in {:?}, killed {} Providers and {} Consumers",
        started.elapsed(),
        kills[0],
        kills[1]
    );
    for (warm, now) in warm.expect("measured").iter().zip(plant.usage()) {
        println!("{}: {warm:?}, at the end {now:?}", now.name);
        assert!(now.memory <= warm.memory + MORE_MEMORY, "memory leaks");
    }
    // A connection to a killed process is closed with a short delay.
    eventually("descriptors do not leak", || {
        let now = plant.all_descriptors();
        (now.iter().zip(&most))
            .all(|(now, most)| *now <= most + MORE_DESCRIPTORS)
            .then_some(())
            .ok_or(format!("{now:?}, the most in the first tenth {most:?}"))
    });
}

/// Waits until a condition is true.
fn eventually(what: &str, mut test: impl FnMut() -> Result<(), String>) {
    let started = Instant::now();
    while let Err(fault) = test() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "not so: {what}: {fault}"
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}
