//! Reads of a history: many values again and again, in pages that nobody continues, and in very many intervals.

use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{DataValue, DateTime, ExtensionObject, NodeId, Variant, ids};

use crate::channel::{Lost, PATIENCE, STEP, Session, Way};
use crate::request;
use crate::target::Attacker;
use crate::values::recorded;

/// Requests that wait at any time.
const PIPELINED: usize = 8;

/// Writes 5000 values of a recorded Variable, and reads them 1000 times in each request.
pub(crate) fn read(attacker: &mut Attacker<'_>, is_under_way: impl FnOnce()) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    record(attacker, &mut session)?;
    is_under_way();
    let (start_time, end_time) = (DateTime(1), DateTime(DateTime::now().0 + 600_000_000));
    let raw = |num_values_per_node| {
        ExtensionObject::from_structure(&ReadRawModifiedDetails {
            start_time,
            end_time,
            num_values_per_node,
            ..ReadRawModifiedDetails::default()
        })
    };
    let times = attacker.count(1000);
    let processed = ExtensionObject::from_structure(&ReadProcessedDetails {
        start_time,
        end_time,
        processing_interval: 1.0,
        aggregate_type: vec![NodeId::numeric(0, ids::AGGREGATE_FUNCTION_AVERAGE); times],
        ..ReadProcessedDetails::default()
    });
    let item = HistoryReadValueId {
        node_id: recorded(),
        ..HistoryReadValueId::default()
    };
    let messages = [raw(0), raw(1), processed].map(|details| {
        request::message(&HistoryReadRequest {
            request_header: session.header(),
            history_read_details: details,
            timestamps_to_return: TimestampsToReturn::Both,
            release_continuation_points: false,
            nodes_to_read: vec![item.clone(); times],
        })
    });
    let mut next = messages.iter().cycle();
    let mut waiting = 0;
    while attacker.goes_on() {
        if waiting < PIPELINED
            && let Some(message) = next.next()
        {
            session.channel.push(attacker, message)?;
            waiting += 1;
        } else if session.channel.receive(attacker, STEP)?.is_some() {
            waiting -= 1;
        }
    }
    Ok(())
}

fn record(attacker: &mut Attacker<'_>, session: &mut Session) -> Result<(), Lost> {
    for part in 0..10_u32 {
        let write = |number: u32| WriteValue {
            node_id: recorded(),
            attribute_id: 13,
            value: DataValue {
                value: Some(Variant::Double(f64::from(part * 500 + number))),
                ..DataValue::default()
            },
            ..WriteValue::default()
        };
        let request = WriteRequest {
            request_header: session.header(),
            nodes_to_write: (0..500).map(write).collect(),
        };
        session
            .channel
            .push(attacker, &request::message(&request))?;
        session.channel.receive(attacker, PATIENCE)?;
    }
    Ok(())
}
