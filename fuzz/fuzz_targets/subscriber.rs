//! A Subscriber that learns: readers of announced DataSetWriters, metadata from announcements, and layouts of
//! messages, with which the next messages are compared.

use std::time::Instant;

use takt_pubsub::Now;
use takt_pubsub::subscriber::{ReceivedDataSet, Subscriber, SubscriberObserver};
use takt_ua::DateTime;
use takt_ua::enumerations::PubSubState;

/// Reads everything that was received.
struct Look;

impl SubscriberObserver for Look {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        assert_eq!(received.fields().count(), received.len());
        drop(format!("{received:?}"));
    }
}

pub(crate) fn run(data: &[u8]) {
    let mut subscriber = Subscriber::discovering(4);
    let now = Now {
        instant: Instant::now(),
        date_time: DateTime::now(),
    };
    let mut last: Vec<u8> = Vec::new();
    let mut rest = data;
    // Two bytes of length before each message; with the highest bit set, the last message is repeated with one byte
    // changed.
    while let Some((length, tail)) = rest.split_first_chunk::<2>() {
        let number = u16::from_le_bytes(*length);
        rest = tail;
        if number & 0x8000 == 0 {
            let (message, tail) = tail.split_at(usize::from(number).min(tail.len()));
            (last, rest) = (message.to_vec(), tail);
        } else if let Some((change, tail)) = tail.split_first() {
            rest = tail;
            let length = last.len().max(1);
            if let Some(byte) = last.get_mut(usize::from(number & 0x7FFF) % length) {
                *byte ^= change;
            }
        }
        let mut message = last.clone();
        let _ = subscriber.receive(now, PubSubState::Operational, &mut message, &mut Look);
        assert!(subscriber.readers().len() <= 4);
        assert!(subscriber.memory().used() <= subscriber.memory().limit());
    }
    subscriber.handle_timeout(now, PubSubState::Operational, &mut Look);
}
