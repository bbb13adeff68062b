//! Reading attributes of nodes (OPC 10000-4, 5.11.2), for the Read service and for MonitoredItems.

pub(crate) mod attributes;
mod data_value;
mod read_item;

use std::cell::Cell;

use takt_space::{Caller, StoredValue, View};
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::ReadValueId;
use takt_ua::views::ReadValueIdRef;
use takt_ua::{DataValue, DateTime, StatusCode};

pub(crate) use data_value::{EncodedResults, LaidOutResults, Results};
pub(crate) use read_item::{Read, Remotes, check_encoding};

/// Returns the DataValue of one item with both timestamps, as a Read returns it, in at most `max_size` bytes. Remote sources
/// are not asked.
pub(crate) fn value_of(
    view: &View<'_>,
    caller: &Caller,
    item: &ReadValueId,
    now: DateTime,
    max_size: usize,
) -> DataValue {
    let mut bytes = Vec::new();
    let mut read = Read {
        view,
        caller,
        max_age: 0.0,
        remotes: Remotes::NotAsked(&Cell::new(false)),
        results: EncodedResults {
            response: &mut Encoder::growing(&mut bytes, max_size),
            timestamps: TimestampsToReturn::Both,
            now,
        },
    };
    let item = ReadValueIdRef {
        node_id: item.node_id.as_ref(),
        attribute_id: item.attribute_id,
        index_range: item.index_range.as_option(),
        data_encoding: item.data_encoding.as_ref(),
    };
    if read.item(&item).is_err() {
        return DataValue::status(StatusCode::BadEncodingLimitsExceeded);
    }
    // The bytes were encoded above, so they can be decoded.
    let decoded = DataValue::decode(&mut Decoder::with_limits(&bytes, StoredValue::LIMITS));
    decoded.unwrap_or_else(|_| DataValue::status(StatusCode::BadInternalError))
}
