//! Blocks of records of history, and queries over them.

use takt_history::block::{self, Block};
use takt_history::{
    Aggregate, AggregateSettings, Budget, MemoryRecords, ProcessedQuery, QueryOutput, RawQuery,
    ValueForm,
};
use takt_ua::DateTime;

pub(crate) fn run(data: &[u8]) {
    let Ok(decoded) = Block::decode(data) else {
        return;
    };
    // Another encoding of the same records.
    let encoded = block::encode(decoded.iter());
    assert_eq!(Block::decode(&encoded).as_ref(), Ok(&decoded));
    let mut records = MemoryRecords::new(decoded.iter().map(|record| record.to_owned()).collect());
    let last = decoded.len().checked_sub(1).and_then(|at| decoded.get(at));
    let (Some(first), Some(last)) = (decoded.get(0), last) else {
        return;
    };
    let (start, end) = (
        first.source_timestamp,
        DateTime(last.source_timestamp.0.saturating_add(1)),
    );
    let output = || QueryOutput::new(ValueForm::default(), 1000, 1 << 20);
    if let Ok(mut raw) = RawQuery::new(Some(start), Some(end), 0, true) {
        let _ = raw.run(&mut records, &mut output(), &mut Budget::new(10_000));
    }
    for (aggregate, ..) in Aggregate::ALL {
        let settings = AggregateSettings::new(decoded.len() % 2 == 0);
        let interval = (end.0.saturating_sub(start.0)) as f64 / 10_000.0 / 3.0;
        if let Ok(mut query) = ProcessedQuery::new(aggregate, start, end, interval, settings) {
            let _ = query.run(&mut records, &mut output(), &mut Budget::new(10_000));
        }
    }
}
