//! Reports to the observer of a Subscriber.

use takt_ua::enumerations::PubSubState;
use takt_ua::{DateTime, Variant};

use crate::support::{Setup, now};
use takt_pubsub::Now;
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::subscriber::{Observer, ReceivedDataSet, Subscriber};

const UP: PubSubState = PubSubState::Operational;

/// Returns the only message of a publishing interval.
fn message(group: &mut WriterGroup, now: Now) -> Vec<u8> {
    let mut output: Vec<Vec<u8>> = Vec::new();
    group.publish(now, UP, &mut output).unwrap();
    assert_eq!(output.len(), 1);
    output.remove(0)
}

/// SourceTimestamps of received fields.
#[derive(Default)]
struct Times(Vec<Option<DateTime>>);

impl Observer for Times {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields();
        self.0
            .extend(fields.map(|(_, value)| value.source_timestamp));
    }
}

#[test]
fn fields_have_the_timestamp_of_their_message_on_both_paths() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::Boolean(true)]);
    let mut group = setup.build();
    for mut subscriber in [setup.build_subscriber(), Subscriber::discovering(1)] {
        let mut times = Times::default();
        for step in 0..3 {
            let now = now();
            let mut message = message(&mut group, now);
            let reception = subscriber.receive(now, UP, &mut message, &mut times);
            assert_eq!(reception.unwrap().fixed, step > 0);
            assert_eq!(times.0, [Some(now.date_time); 2], "message {step}");
            times.0.clear();
        }
    }
}
