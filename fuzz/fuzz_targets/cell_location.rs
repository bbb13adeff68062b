//! Location and contents of a cell of another process, both of which that process controls.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use takt_cell::{CellLocation, CellReader};
use takt_rt::segment::{Segment, SegmentView};
use takt_ua::DateTime;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::TimestampsToReturn;

/// Size of the other process's memory in bytes.
const LENGTH: usize = 4096;

struct Foreign {
    segment: Segment,
    view: Arc<SegmentView>,
}

thread_local! {
    static FOREIGN: Foreign = {
        let segment = Segment::create("fuzz", LENGTH).expect("a segment");
        let fd = segment.fd().try_clone_to_owned().expect("a descriptor");
        let view = Arc::new(SegmentView::open(&fd, LENGTH).expect("a view"));
        Foreign { segment, view }
    };
}

fn read(reader: &CellReader) {
    let _ = reader.get();
    let _ = reader.reading();
    let mut buffer = [0; 256];
    let _ = reader.read_into(&mut buffer);
    let _ = reader.read_scalar::<f64>();
    let _ = reader.read_scalar::<u8>();
    let _ = reader.read_slice::<u32>(&mut [0; 16]);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::growing(&mut bytes, 1 << 16);
    let _ = reader.encode_data_value(&mut encoder, TimestampsToReturn::Both, DateTime::now());
}

pub(crate) fn run(data: &[u8]) {
    let Some((location, memory)) = data.split_at_checked(CellLocation::LENGTH) else {
        return;
    };
    let Some(location) = CellLocation::parse(location) else {
        return;
    };
    assert_eq!(CellLocation::parse(&location.to_bytes()), Some(location));
    FOREIGN.with(|Foreign { segment, view }| {
        let (words, _) = memory.as_chunks::<8>();
        let bytes = words
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .chain(std::iter::repeat(0));
        for (word, value) in segment.words().iter().zip(bytes) {
            word.store(value, Ordering::Relaxed);
        }
        if let Some(reader) = CellReader::new(Arc::clone(view), &location) {
            read(&reader);
        }
    });
}
