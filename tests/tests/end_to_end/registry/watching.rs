//! Notifications of changes to Consumers and conventional clients: by the Provider itself, and through the registry.

use std::time::{Duration, Instant};

use takt_app::{DataChange, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_tests::{Registry, Sandbox};
use takt_ua::{StatusCode, Variant};

use crate::registry::{PATIENCE, client, consumer, tank, wait_until_available};

fn options() -> SubscriptionOptions {
    SubscriptionOptions {
        publishing_interval: Duration::from_millis(20),
        ..SubscriptionOptions::default()
    }
}

fn queue(queue_size: u32) -> MonitoredItemOptions {
    MonitoredItemOptions {
        queue_size,
        ..MonitoredItemOptions::default()
    }
}

/// Returns the changes up to the wanted one.
fn wait_for(subscription: &mut Subscription, is_wanted: impl Fn(&DataChange) -> bool) {
    let started = Instant::now();
    loop {
        let change = subscription.next(PATIENCE).unwrap();
        match change {
            Some(change) if is_wanted(&change) => return,
            _ => assert!(started.elapsed() < 2 * PATIENCE, "the change does not come"),
        }
    }
}

fn has_value(value: f64) -> impl Fn(&DataChange) -> bool {
    move |change| change.value.value == Some(Variant::from(value))
}

#[test]
fn changes_come_from_the_provider_and_through_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Tank");
    let tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);
    let level = consumer.find(&format!("{name}/Level")).unwrap();
    consumer.write(&level, 1.0).unwrap();

    let mut direct = Vec::new();
    for scheme in ["opc.iox2", "opc.tcp"] {
        let level = level.via(scheme).unwrap();
        let items = [(level, queue(100))];
        direct.push(consumer.subscribe(&items, options()).unwrap());
    }
    let mut forwarded = Vec::new();
    for endpoint in [registry.endpoint.clone(), registry.shared_memory()] {
        let client = client(&sandbox, &endpoint);
        let mut subscription = Subscription::create(client, options()).unwrap();
        subscription.monitor(&level.node_id, queue(10)).unwrap();
        forwarded.push(subscription);
    }
    for subscription in direct.iter_mut().chain(&mut forwarded) {
        wait_for(subscription, has_value(1.0));
    }
    for value in 2..50 {
        consumer.write(&level, f64::from(value)).unwrap();
    }
    for subscription in &mut forwarded {
        wait_for(subscription, has_value(49.0));
    }

    drop(tank);
    for subscription in &mut forwarded {
        wait_for(subscription, |change| {
            change.value.status_code() != StatusCode::Good
        });
    }
    for subscription in &mut direct {
        // Values written before the end were sent, or are under way; then the connection is lost.
        let lost = loop {
            match subscription.next(PATIENCE) {
                Ok(change) => assert!(change.is_some(), "neither changes nor an end"),
                Err(error) => break error,
            }
        };
        assert!(lost.is_connection(), "{lost}");
    }
}
