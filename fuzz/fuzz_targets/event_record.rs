//! Records of Events in the store of history.

use takt_space::Event;

pub(crate) fn run(data: &[u8]) {
    let Ok(event) = Event::of_record(data) else {
        return;
    };
    // The encoding may be longer: defaults are written in full.
    let Some(record) = event.to_record(data.len() * 16 + 1024) else {
        return;
    };
    let decoded = Event::of_record(&record).expect("an encoded Event is decoded");
    assert_eq!(decoded.to_record(record.len()), Some(record));
}
