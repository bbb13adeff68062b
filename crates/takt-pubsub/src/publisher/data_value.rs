//! Fields as DataValues (OPC 10000-14, 6.2.4.2).

use takt_ua::DataValue;
use takt_ua::enumerations::DataSetFieldContentMask;

use crate::time::Now;

/// Returns a DataValue with exactly the members of the mask, so that the message always has the same size. A missing time is
/// replaced by that of the message.
pub(super) fn data_value(value: &DataValue, members: u32, now: Now) -> DataValue {
    use DataSetFieldContentMask as Mask;
    let has = |bit: u32| members & bit != 0;
    let status = value.status_code();
    DataValue {
        value: value.value.clone().filter(|_| !status.is_bad()),
        // A status that is not Good is sent even if the mask has no bit for it: the value would look Good.
        status: (has(Mask::StatusCode) || !status.is_good()).then_some(status),
        source_timestamp: has(Mask::SourceTimestamp)
            .then(|| value.source_timestamp.unwrap_or(now.date_time)),
        source_picoseconds: has(Mask::SourcePicoSeconds)
            .then(|| value.source_picoseconds.unwrap_or(0)),
        server_timestamp: has(Mask::ServerTimestamp)
            .then(|| value.server_timestamp.unwrap_or(now.date_time)),
        server_picoseconds: has(Mask::ServerPicoSeconds)
            .then(|| value.server_picoseconds.unwrap_or(0)),
    }
}
