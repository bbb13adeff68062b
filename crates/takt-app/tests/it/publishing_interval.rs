//! Publishing interval of 1 ms: what is revised, and what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{client_options, options};
use takt_app::serve::Serving;
use takt_app::{Client, Endpoint, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_services::Server;
use takt_space::{StoredValue, Value};
use takt_ua::Variant;

const INTERVAL: Duration = Duration::from_millis(1);
const MESSAGES: usize = 2000;

/// A value that changes more often than it is published, in a queue for one value: each message has one change. The intervals
/// between messages are printed with `--nocapture`.
#[test]
fn a_publishing_interval_of_1_ms_is_granted_and_kept() {
    let server = Server::builder("Fast", "urn:test:fast").build().unwrap();
    let stored = Arc::new(StoredValue::new(&Variant::from(0_u32)));
    let value = Value::Stored(Arc::clone(&stored));
    let space = server.address_space();
    let node = space.add_variable("Count").value(value).add().unwrap();
    let directory = tempfile::tempdir().unwrap();
    for endpoint in ["opc.iox2://Fast", "opc.tcp://127.0.0.1:0"] {
        let endpoint: Endpoint = endpoint.parse().unwrap();
        let serving = Serving::start(&server, &[endpoint], options(directory.path())).unwrap();
        let client = client_options(directory.path());
        let client = Client::connect(&serving.endpoints()[0], client).unwrap();
        let options = SubscriptionOptions {
            publishing_interval: INTERVAL,
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(client, options).unwrap();
        assert_eq!(subscription.publishing_interval(), INTERVAL);
        subscription
            .monitor(&node, MonitoredItemOptions::default())
            .unwrap();
        let stop = AtomicBool::new(false);
        let mut gaps = Vec::with_capacity(MESSAGES);
        let mut total = Duration::ZERO;
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut number = 0_u32;
                while !stop.load(Ordering::Relaxed) {
                    number += 1;
                    stored.set(number);
                    std::thread::sleep(INTERVAL / 4);
                }
            });
            let begin = Instant::now();
            let mut last = begin;
            while gaps.len() < MESSAGES {
                if subscription
                    .next(crate::support::PATIENCE)
                    .unwrap()
                    .is_some()
                {
                    let now = Instant::now();
                    gaps.push(now - last);
                    last = now;
                }
            }
            total = begin.elapsed();
            stop.store(true, Ordering::Relaxed);
        });
        gaps.sort_unstable();
        let mean = total / u32::try_from(MESSAGES).unwrap();
        let (median, p99) = (gaps[MESSAGES / 2], gaps[MESSAGES / 100 * 99]);
        println!(
            "{}: mean {mean:?}, median {median:?}, p99 {p99:?}, longest {:?}",
            serving.endpoints()[0],
            gaps[MESSAGES - 1]
        );
        // Far more than on an idle machine, and far less than without timers of this resolution.
        assert!(median < INTERVAL * 5, "median {median:?}");
        assert_eq!(subscription.lost_messages(), 0);
    }
}
