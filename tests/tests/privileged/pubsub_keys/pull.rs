//! Keys that both ends request from the key service.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_tests::Process;

use crate::pubsub_keys::plant::{Accepted, INTERVAL, LIFETIME, Plant, SERVICE};
use crate::pubsub_keys::tap::Tap;
use crate::pubsub_keys::{PATIENCE, assert_consecutive, end, wait_until};

/// SecurityGroup for the commands of Takt, which have this ApplicationUri.
const GROUP: [&str; 2] = ["--security-group", "Plant:urn:takt:consumer:takt"];

/// Starts the key service and both ends, which trust each other in the end.
fn start(plant: &Plant, tap: &Tap) -> (Process, Process, Process) {
    let registry = plant.registry(&GROUP);
    let keys = ["--keys", SERVICE, "--timeout", "20s"];
    let subscriber = plant.subscriber("", &keys);
    let publisher = plant.publisher("", &keys);
    // Nobody trusts anybody yet. Both ends wait, and need no restart.
    for end in [&publisher, &subscriber] {
        let report = || end.report();
        wait_until("advice", report, || report().contains("takt trust add"));
    }
    assert_eq!(tap.count(), 0);
    plant.trust(["takt", "takt"]);
    (registry, publisher, subscriber)
}

pub fn keys_are_renewed_through_rotations_and_outages() {
    let plant = Plant::new();
    let tap = Tap::at(&plant.network.second);
    let (registry, publisher, mut subscriber) = start(&plant, &tap);
    let mut accepted = Accepted::default();
    let report = |subscriber: &Process| {
        let both = format!("{}{}", publisher.report(), subscriber.report());
        format!("\n{:?}{both}", tap.tokens())
    };

    // Two rotations, with both ends at the key service.
    wait_until(
        "rotations",
        || report(&subscriber),
        || tap.tokens().len() >= 3,
    );
    accepted.take(&mut subscriber);
    assert!(accepted.count > 0);
    assert_eq!(accepted.missing, 0, "{}", report(&subscriber));
    assert_consecutive(&tap.tokens());

    // An outage for longer than a KeyLifetime: the next key of the stock is used.
    let (messages, token) = (tap.count(), tap.token().unwrap());
    let _ = end(registry).expect_success();
    sleep(LIFETIME * 6 / 5);
    assert!(tap.token().unwrap() > token, "{}", report(&subscriber));
    let enough = LIFETIME.as_millis() / INTERVAL.as_millis() / 2;
    assert!((tap.count() - messages) as u128 > enough);
    let registry = plant.registry(&GROUP);
    // More keys than there were in the stock.
    wait_until(
        "new keys",
        || report(&subscriber),
        || tap.token() > Some(token + 3),
    );
    accepted.take(&mut subscriber);
    assert_eq!(accepted.missing, 0, "{}", report(&subscriber));
    assert_consecutive(&tap.tokens());

    // An outage for longer than the stock: the last key is used for two KeyLifetimes more (OPC 10000-14, 6.2.12.2).
    let outage = Instant::now();
    let _ = end(registry).expect_success();
    wait_until(
        "silence",
        || report(&subscriber),
        || publisher.report().contains("the last key has expired"),
    );
    assert!(outage.elapsed() > LIFETIME * 3, "{:?}", outage.elapsed());
    assert!(tap.last().unwrap() > outage + LIFETIME * 3);
    let (messages, token) = (tap.count(), tap.token().unwrap());
    sleep(Duration::from_millis(500));
    assert_eq!(tap.count(), messages, "no message with an expired key");
    accepted.take(&mut subscriber);

    // It is back: nobody has to do anything.
    let before = accepted.count;
    let registry = plant.registry(&GROUP);
    wait_until(
        "messages",
        || report(&subscriber),
        || tap.token() > Some(token),
    );
    let begin = Instant::now();
    while accepted.count < before + 10 {
        assert!(begin.elapsed() < PATIENCE, "{}", report(&subscriber));
        sleep(INTERVAL);
        accepted.take(&mut subscriber);
    }

    let said = [end(publisher), end(subscriber)].map(|finished| {
        assert!(finished.status.success(), "{}", finished.stderr);
        finished.stderr
    });
    for said in &said {
        let count = |text: &str| said.matches(text).count();
        // Each outage is reported once, although the service is asked again and again.
        assert_eq!(count("SecurityGroup Plant gets no new keys"), 2, "{said}");
        assert_eq!(count("SecurityGroup Plant has new keys again"), 3, "{said}");
        assert_eq!(count("the last key has expired"), 1, "{said}");
    }
    let _ = end(registry).expect_success();
}

pub fn a_silent_service_delays_neither_messages_nor_the_end() {
    let plant = Plant::new();
    let tap = Tap::at(&plant.network.second);
    let (mut registry, publisher, mut subscriber) = start(&plant, &tap);
    let mut accepted = Accepted::default();
    let begin = Instant::now();
    while accepted.count < 10 {
        assert!(begin.elapsed() < PATIENCE, "{}", subscriber.report());
        sleep(INTERVAL);
        accepted.take(&mut subscriber);
    }

    // The service hangs: connections stay open, and nothing is refused.
    registry.signal(Signal::STOP);
    let token = tap.token().unwrap();
    // A question is due after half a KeyLifetime; it waits for an answer for 20 s.
    sleep(LIFETIME);
    let (before, begin) = (accepted.count, Instant::now());
    accepted.take(&mut subscriber);
    let enough = LIFETIME.as_millis() / INTERVAL.as_millis() / 2;
    assert!(
        u128::from(accepted.count - before) > enough,
        "{}",
        accepted.count - before
    );
    assert_eq!(accepted.missing, 0);
    let said = end(subscriber);
    assert!(begin.elapsed() < LIFETIME, "{:?}", begin.elapsed());
    assert!(said.status.success(), "{}", said.stderr);

    // It goes on: the Publisher gets more keys than it had.
    registry.signal(Signal::CONT);
    let report = || format!("\n{:?}{}", tap.tokens(), publisher.report());
    wait_until("new keys", report, || tap.token() > Some(token + 3));
    assert_consecutive(&tap.tokens());
    let _ = end(publisher).expect_success();
    let _ = end(registry).expect_success();
}
