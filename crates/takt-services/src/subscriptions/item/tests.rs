//! Tests of one item.

use takt_rt::memory_budget::MemoryBudget;
use takt_ua::binary::{Decode, Decoder};
use takt_ua::{DataValue, Variant};

use super::*;

/// Returns an item that reports, in a budget.
fn item(memory: &MemoryBudget) -> Arc<MonitoredItem> {
    let parameters = Parameters {
        client_handle: 5,
        sampling: Sampling {
            interval: Duration::ZERO,
            period: Duration::from_secs(1),
            load: Load::default(),
        },
        filter: Filter::default(),
        events: None,
        queue_size: 1,
        discard_oldest: true,
        timestamps: TimestampsToReturn::Neither,
        requested: None,
    };
    Arc::new(MonitoredItem::new(
        1,
        ReadValueId::default(),
        None,
        MonitoringMode::Reporting,
        parameters,
        (Arc::default(), None),
        memory.empty_charge(),
    ))
}

/// Takes the values that are to be published.
fn published(item: &Arc<MonitoredItem>) -> Vec<DataValue> {
    let Some(ready) = item.ready.pop() else {
        return Vec::new();
    };
    let room = Room {
        notifications: 10,
        full: 1 << 20,
        max: 1 << 20,
    };
    let mut bytes = Vec::new();
    let count = ready.drain(room, true, &mut Encoder::growing(&mut bytes, 1 << 20));
    let mut decoder = Decoder::new(&bytes);
    (0..count)
        .map(|_| {
            assert_eq!(decoder.u32(), Ok(5));
            DataValue::decode(&mut decoder).unwrap()
        })
        .collect()
}

fn sample(text: &str) -> Sample {
    Sample::of(&DataValue::good(text), DateTime(1))
}

#[test]
fn the_last_value_is_sent_once_more() {
    let item = item(&MemoryBudget::new(1 << 20));
    item.send_initial_value();
    assert_eq!(published(&item), []);
    item.offer(sample("running"));
    // It waits already.
    item.send_initial_value();
    for _ in 0..2 {
        let [value] = &published(&item)[..] else {
            panic!("one value is published");
        };
        assert_eq!(value.value, Some(Variant::from("running")));
        assert!(value.status_code().is_good());
        assert_eq!(published(&item), []);
        item.send_initial_value();
    }
    assert!(item.set_mode(MonitoringMode::Sampling).is_none());
    published(&item);
    item.send_initial_value();
    assert_eq!(published(&item), []);
}

#[test]
fn a_value_that_was_not_kept_is_sent_as_a_bad_one_until_the_next_sample() {
    let text = "x".repeat(10_000);
    // The queue has room for the value, but there is none for the copy that the filter compares with.
    let item = item(&MemoryBudget::new(15_000));
    for _ in 0..2 {
        item.set_seen(Seen::Cell(Arc::new(Cell::new(8)), 7));
        item.offer(sample(&text));
        let values = published(&item);
        assert_eq!(values[0].value, Some(Variant::from(text.as_str())));
        item.send_initial_value();
        let [value] = &published(&item)[..] else {
            panic!("one value is published");
        };
        assert_eq!(value.status_code(), StatusCode::BadOutOfMemory);
        assert_eq!(value.value, None);
        // The source is read again, and its value is a change.
        assert!(matches!(item.seen(), Seen::Nothing));
        item.send_initial_value();
        assert_eq!(published(&item), []);
    }
}
