//! Protected messages of a day over UDP, in less time: one each 8.64 ms, keys that change every 10 000 messages.
//!
//! `TAKT_SOAK_MESSAGES` is the number of messages; 10 000 000 are a day.

use std::time::{Duration, Instant};

use takt_link::{Address, LinkOptions, open_receiver, open_sender};
use takt_pubsub::Now;
use takt_pubsub::ReceiveError;
use takt_pubsub::runtime::LinkOutput;
use takt_pubsub::security::{KeyRing, PubSubSecurityPolicy, SecurityKeyUpdate, VerifyError};
use takt_pubsub::subscriber::{ReceivedDataSet, SubscriberObserver};
use takt_ua::enumerations::{MessageSecurityMode, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};

use crate::support::Setup;

const UP: PubSubState = PubSubState::Operational;
/// Interval of messages: a day has 86 400 s, and 10 million messages.
const INTERVAL: Duration = Duration::from_micros(8640);
const MESSAGES_OF_A_KEY: u64 = 10_000;
const KEY_LIFETIME: Duration = Duration::from_micros(8640 * MESSAGES_OF_A_KEY);

/// Observer that checks that every value is received once, and in order.
#[derive(Default)]
struct Count {
    next: u64,
    missing: u64,
}

impl SubscriberObserver for Count {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let (_, first) = received.fields().next().unwrap();
        assert_eq!(first.value, Some(Variant::UInt64(self.next)));
        self.next += 1;
        self.missing += u64::from(received.missing);
    }
}

/// Returns the answer of the service at a time: the current key and the next.
fn ask(start: Instant, now: Instant) -> SecurityKeyUpdate {
    let age = now.saturating_duration_since(start);
    let token = (age.as_nanos() / KEY_LIFETIME.as_nanos()) as u32;
    let key = |token: u32| {
        let mut key = vec![7; 68];
        key[..4].copy_from_slice(&token.to_le_bytes());
        key.into()
    };
    SecurityKeyUpdate {
        security_policy_uri: PubSubSecurityPolicy::PubSubAes256Ctr.uri().to_owned(),
        first_token_id: token + 1,
        keys: vec![key(token + 1), key(token + 2)],
        time_to_next_key: KEY_LIFETIME * (token + 1) - age,
        key_lifetime: KEY_LIFETIME,
    }
}

#[test]
fn no_message_is_lost_or_accepted_twice() {
    let wanted = std::env::var("TAKT_SOAK_MESSAGES");
    let messages: u64 = wanted.map_or(30_000, |wanted| wanted.parse().unwrap());
    let mut values = vec![Variant::Double(0.0); 10];
    values.insert(0, Variant::UInt64(0));
    let mut setup = Setup::new(&values);
    setup.protect(MessageSecurityMode::SignAndEncrypt);
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let counter = setup.cell(0);
    let port = takt_ports::reserve();
    let address: Address = format!("opc.udp://127.0.0.1:{port}").parse().unwrap();
    let mut receiver = open_receiver(&address, &LinkOptions::default()).unwrap();
    let mut sender = open_sender(&address, &LinkOptions::default()).unwrap();

    let start = Instant::now();
    let (mut sending, mut receiving) = (KeyRing::new(), KeyRing::new());
    let mut count = Count::default();
    let mut replays = 0;
    let mut tokens = 0;
    for number in 0..messages {
        let instant = start + INTERVAL * u32::try_from(number).unwrap();
        let now = Now {
            instant,
            date_time: DateTime(132_000_000_000_000_000 + number as i64),
        };
        // Both request keys when their rings demand it, the subscriber a quarter of a KeyLifetime later.
        if sending.request_at().is_none_or(|at| at <= instant) {
            sending.update(&ask(start, instant), instant).unwrap();
            group.set_keys(&sending);
            tokens += 1;
        }
        if receiving
            .request_at()
            .is_none_or(|at| at + KEY_LIFETIME / 4 <= instant)
        {
            receiving.update(&ask(start, instant), instant).unwrap();
            subscriber.set_keys("Keys", &receiving);
        }
        counter
            .set_scalar(number, StatusCode::Good, now.date_time)
            .unwrap();
        let published = group
            .publish(now, UP, &mut LinkOutput::new(sender.as_mut()))
            .unwrap();
        assert_eq!((published.network_messages, published.fixed), (1, 1));
        sender.flush().unwrap();
        let mut recorded = None;
        let received = receiver.receive(Duration::from_secs(60), &mut |received| {
            recorded = (number % 97 == 0).then(|| received.bytes.to_vec());
            let reception = subscriber
                .receive(now, UP, received.bytes, &mut count)
                .unwrap();
            assert_eq!(reception.accepted, 1);
        });
        assert_eq!(received.unwrap(), 1, "message {number}");
        if let Some(mut recorded) = recorded {
            let outcome = subscriber.receive(now, UP, &mut recorded, &mut count);
            assert!(
                matches!(outcome, Err(ReceiveError::Security(VerifyError::Replay(_)))),
                "{outcome:?}"
            );
            replays += 1;
        }
    }
    assert_eq!((count.next, count.missing), (messages, 0));
    println!(
        "{messages} messages, {tokens} answers of the service, {replays} replays refused, in {:.1} s",
        start.elapsed().as_secs_f64()
    );
}
