//! Keys that the key service pushes to both ends.

use std::thread::sleep;
use std::time::Instant;

use takt_tests::Process;

use crate::pubsub_keys::plant::{Accepted, INTERVAL, LIFETIME, Plant};
use crate::pubsub_keys::tap::Tap;
use crate::pubsub_keys::{PATIENCE, assert_consecutive, end, wait_until};

pub fn keys_are_pushed_through_rotations_and_outages() {
    let plant = Plant::new();
    let tap = Tap::at(&plant.network.second);
    let names = ["the-publisher", "the-subscriber"];
    let endpoints = ["opc.tcp://10.84.79.1:4850", "opc.tcp://10.84.79.2:4850"];
    let service = plant.network.first.registry_uri(&plant.registry_name());
    let configuration = |uri: &str| {
        format!(
            "default_security_key_services = [{{ Server = {{ ApplicationUri = \"{uri}\", ApplicationType = \"Client\" }} }}]"
        )
    };
    let target = |which: usize| {
        let ends = [
            "--key-endpoint",
            endpoints[which],
            "--key-name",
            names[which],
        ];
        ends.to_vec()
    };
    let own = configuration(&service);
    // A push target belongs to one service: another one is refused.
    let foreign = plant.publisher(&configuration("urn:another"), &target(0));
    let mut subscriber = plant.subscriber(&own, &target(1));
    let options = [0, 1].map(|it| format!("Plant=urn:takt:pubsub:{}@{}", names[it], endpoints[it]));
    let arguments = [
        "--security-group",
        "Plant",
        "--push-target",
        &options[0],
        "--push-target",
        &options[1],
    ];
    let registry = plant.registry(&arguments);
    let trusting = || registry.report();
    // Both applications have to trust each other before.
    wait_until("a refusal", trusting, || {
        let report = registry.report();
        names
            .iter()
            .all(|name| report.contains(&format!("CN={name}")))
    });
    plant.trust(names);
    wait_until("a refusal", trusting, || {
        registry.report().contains("default_security_key_services")
    });
    assert!(
        registry.report().contains(&service),
        "{}",
        registry.report()
    );
    assert_eq!(tap.count(), 0);
    let said = foreign.report();
    assert!(said.contains("does not name this application"), "{said}");
    wait_until(
        "a report",
        || foreign.report(),
        || foreign.report().contains("SecurityGroup Plant has no keys"),
    );
    let refused = end(foreign).expect_failure();
    assert!(refused.contains("--push-target"), "{refused}");

    let publisher = plant.publisher(&own, &target(0));
    let mut accepted = Accepted::default();
    let report = |registry: &Process, subscriber: &Process| {
        let ends = format!("{}{}", publisher.report(), subscriber.report());
        format!("\n{:?}{}{ends}", tap.tokens(), registry.report())
    };
    let both = |subscriber: &Process| report(&registry, subscriber);
    wait_until(
        "rotations",
        || both(&subscriber),
        || tap.tokens().len() >= 4,
    );
    accepted.take(&mut subscriber);
    assert!(accepted.count > 0);
    assert_eq!(accepted.missing, 0, "{}", both(&subscriber));
    assert_consecutive(&tap.tokens());
    assert!(
        registry.report().contains("are pushed to"),
        "{}",
        registry.report()
    );

    // An outage within the stock of keys, and a restart from the database.
    let token = tap.token().unwrap();
    let _ = end(registry).expect_success();
    sleep(LIFETIME * 6 / 5);
    assert!(tap.token().unwrap() > token, "{:?}", tap.tokens());
    let registry = plant.registry(&arguments);
    let both = |subscriber: &Process| report(&registry, subscriber);
    wait_until(
        "new keys",
        || both(&subscriber),
        || tap.token() > Some(token + 3),
    );
    accepted.take(&mut subscriber);
    assert_eq!(accepted.missing, 0, "{}", both(&subscriber));
    assert_consecutive(&tap.tokens());

    // A target that is killed and started again gets its keys by itself.
    subscriber.kill();
    let gone = || {
        registry
            .report()
            .contains("cannot be pushed to urn:takt:pubsub:the-subscriber")
    };
    wait_until("a failure", || registry.report(), gone);
    sleep(LIFETIME / 2);
    let failures = registry.report().matches("cannot be pushed").count();
    assert_eq!(failures, 1, "{}", registry.report());
    let mut subscriber = plant.subscriber(&own, &target(1));
    let mut accepted = Accepted::default();
    let begin = Instant::now();
    while accepted.count < 10 {
        assert!(begin.elapsed() < PATIENCE, "{}", both(&subscriber));
        sleep(INTERVAL);
        accepted.take(&mut subscriber);
    }

    // Invalid keys are replaced at once, long before their time.
    let token = tap.token().unwrap();
    let local = format!("opc.iox2://{}", plant.registry_name());
    let invalidate = [
        "call",
        &local,
        "ns=1;s=SecurityGroups.InvalidateKeys/Plant",
        "--object",
        "ns=1;s=SecurityGroups/Plant",
    ];
    let _ = plant.here.run(&invalidate).expect_success();
    let begin = Instant::now();
    wait_until(
        "a new key",
        || both(&subscriber),
        || tap.token() > Some(token + 1),
    );
    assert!(begin.elapsed() < LIFETIME, "{}", both(&subscriber));

    // The Object of the target shows when keys were pushed, and pushes them on demand.
    let uri = format!("urn:takt:pubsub:{}", names[0]);
    let time = |property: &str| {
        let node = format!("ns=1;s=KeyPushTargets.{property}/{uri}");
        plant.here.rows(&["read", &local, &node])[0]["value"].clone()
    };
    let before = time("LastPushExecutionTime");
    let trigger = format!("ns=1;s=KeyPushTargets.TriggerKeyUpdate/{uri}");
    let object = format!("ns=1;s=KeyPushTargets/{uri}");
    let _ = plant
        .here
        .run(&["call", &local, &trigger, "--object", &object])
        .expect_success();
    wait_until(
        "a push",
        || both(&subscriber),
        || time("LastPushExecutionTime") != before,
    );
    assert!(
        time("LastPushErrorTime").as_str().is_some(),
        "{}",
        time("LastPushErrorTime")
    );
    for process in [publisher, subscriber, registry] {
        let _ = end(process).expect_success();
    }
}
