//! Trace files: what is read is written again with the same bytes.

use takt_control::Trace;
use takt_control::trace_file::{TraceReader, write};

pub(crate) fn run(data: &[u8]) {
    let Ok(mut reader) = TraceReader::new(data) else {
        return;
    };
    let records: Result<Vec<_>, _> = reader.by_ref().collect();
    let Ok(records) = records else {
        return;
    };
    let mut trace = Trace::with_capacity(records.len());
    for record in &records {
        trace.add(record.point, record.counter, record.nanos);
    }
    let description = reader.header().description.clone();
    let description: Vec<_> = description
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let mut bytes = Vec::new();
    write(&mut bytes, &description, &trace).expect("a Vec takes all bytes");
    let again = TraceReader::new(bytes.as_slice()).expect("a written trace can be read");
    let again: Result<Vec<_>, _> = again.collect();
    assert_eq!(again.expect("its records, too"), records);
}
