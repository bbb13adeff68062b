//! One item of a Write request (OPC 10000-4, 5.11.4): its conditions, and the change of the value or of a part of it.

use std::sync::Arc;

use takt_space::{
    Binding, Caller, Fit, NodeRef, RemoteSource, RemoteWrite, Value, View, access_level,
};
use takt_ua::binary::{Decode, DecodeError, Decoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::{DataValue, DateTime, NodeIdRef, NumericRange, StatusCode, Variant, VariantRef};

use crate::audit::record::AuditedAction;
use crate::identity::access;
use crate::reading::attributes::{DATA_TYPE_DEFINITION, DESCRIPTION, VALUE, attribute};

/// A WriteValue whose Variant is both decoded and available as encoded bytes of the request.
pub(super) struct Item<'a> {
    pub(super) node_id: NodeIdRef<'a>,
    attribute_id: u32,
    pub(super) index_range: Option<&'a str>,
    value: VariantRef<'a>,
    encoded: &'a [u8],
    status: Option<StatusCode>,
    /// Time of the value: see [`time_of`].
    time: Option<DateTime>,
    has_picoseconds: bool,
}

impl<'a> Decode<'a> for Item<'a> {
    #[inline]
    fn decode(items: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let node_id = NodeIdRef::decode(items)?;
        let attribute_id = items.u32()?;
        let index_range = items.string()?;
        // DataValue, OPC 10000-6, 5.2.2.17.
        let mask = items.u8()?;
        let has = |bit: u8| mask & (1 << bit) != 0;
        let start = items.rest();
        let value = if has(0) {
            VariantRef::decode(items)?
        } else {
            VariantRef::Empty
        };
        let length = start.len() - items.remaining();
        // Without a value, a null Variant is written.
        let encoded = if has(0) {
            start.get(..length).unwrap_or_default()
        } else {
            &[0]
        };
        let status = has(1).then(|| items.value()).transpose()?;
        let source_timestamp = has(2).then(|| items.value()).transpose()?;
        let source_picoseconds = has(4).then(|| items.u16()).transpose()?;
        let server_timestamp = has(3).then(|| items.value()).transpose()?;
        let server_picoseconds = has(5).then(|| items.u16()).transpose()?;
        Ok(Self {
            node_id,
            attribute_id,
            index_range,
            value,
            encoded,
            status,
            time: time_of(source_timestamp, server_timestamp),
            has_picoseconds: is_set(source_picoseconds) || is_set(server_picoseconds),
        })
    }
}

/// Returns the time of a written value: its source timestamp, or else its server timestamp. A null timestamp is none.
///
/// No source keeps a server timestamp. That of a Read is the time of the Read (OPC 10000-4, 7.11.4).
#[inline]
fn time_of(source: Option<DateTime>, server: Option<DateTime>) -> Option<DateTime> {
    let is_given = |time: &DateTime| *time != DateTime::MIN;
    source.filter(is_given).or(server.filter(is_given))
}

#[inline]
fn is_set(picoseconds: Option<u16>) -> bool {
    picoseconds.is_some_and(|picoseconds| picoseconds != 0)
}

impl<'a> Item<'a> {
    #[inline]
    pub(super) fn laid_out(item: &takt_layout::WriteItem<'a>) -> Self {
        let (value, encoded) = item.value.unwrap_or((VariantRef::Empty, &[0]));
        Self {
            node_id: item.node_id,
            attribute_id: item.attribute_id,
            index_range: item.index_range,
            value,
            encoded,
            status: Some(item.status),
            time: time_of(item.times.source_timestamp, item.times.server_timestamp),
            has_picoseconds: is_set(item.times.source_picoseconds)
                || is_set(item.times.server_picoseconds),
        }
    }

    /// Returns the action in the audit log. The value may be secret, so it is not part of it.
    pub(super) fn audited(&self) -> AuditedAction<'a> {
        AuditedAction::Write {
            node_id: self.node_id,
            attribute_id: self.attribute_id,
            index_range: self.index_range.unwrap_or_default(),
        }
    }

    /// Returns the DataValue to write, with a value of the type of the Variable.
    pub(super) fn converted(&self, fit: Fit) -> Result<DataValue, DecodeError> {
        let encoding_byte = match fit {
            Fit::Exactly => return Ok(self.data_value(self.value.to_owned())),
            Fit::AsByteArray => BYTE_ARRAY,
            Fit::AsByteString => BYTE_STRING,
        };
        let converted = with_type(self.encoded, encoding_byte);
        Variant::decode(&mut Decoder::new(&converted)).map(|value| self.data_value(value))
    }

    fn data_value(&self, value: Variant) -> DataValue {
        DataValue {
            value: Some(value),
            status: self.status,
            source_timestamp: self.time,
            ..DataValue::default()
        }
    }

    /// Returns the source that carries out the Write, if it is one of an attribute of the address space itself: any but the Value
    /// of a Variable that clients may write.
    pub(super) fn attribute_writer(
        &self,
        view: &View<'_>,
        node: &NodeRef<'_>,
    ) -> Option<Arc<dyn RemoteSource>> {
        let rules = view.attribute_writes()?;
        let accepts = |level: u32| level & access_level::CURRENT_WRITE != 0;
        let is_value = self.attribute_id == VALUE
            && node
                .variable()
                .is_some_and(|variable| accepts(variable.access_level));
        match is_value {
            true => None,
            false => rules.writer(node, self.attribute_id),
        }
    }

    /// Returns the Write of an attribute of the address space. Timestamps have a meaning for a Value only (OPC 10000-4, 7.11.1).
    pub(super) fn attribute_write(
        &self,
        caller: &Caller,
        node: &NodeRef<'_>,
    ) -> Result<RemoteWrite, StatusCode> {
        access::check_browse(caller, node)?;
        let may_be_missing = match self.attribute_id {
            VALUE | DESCRIPTION => true,
            DATA_TYPE_DEFINITION => node.node_class() == NodeClass::DataType,
            _ => false,
        };
        if !may_be_missing {
            attribute(caller, node, self.attribute_id)?;
        }
        if self.status.is_some_and(|status| status != StatusCode::Good)
            || (self.attribute_id == VALUE && self.has_picoseconds)
            || self.index_range.is_some_and(|range| !range.is_empty())
        {
            return Err(StatusCode::BadWriteNotSupported);
        }
        Ok(RemoteWrite {
            node_id: node.node_id().to_owned(),
            attribute_id: self.attribute_id,
            index_range: String::new(),
            value: self.data_value(self.value.to_owned()),
        })
    }

    /// Returns the refusal of an item of the address space itself; `None` for a Value that clients may write. If its conditions hold,
    /// the Write was made before this is asked, or the rules took no more of them. It is apart, so that a Write of a Value stays small.
    #[cold]
    fn refused_by_rules(
        &self,
        view: &View<'_>,
        caller: &Caller,
        node: &NodeRef<'_>,
    ) -> Option<StatusCode> {
        self.attribute_writer(view, node)?;
        let refused = self.attribute_write(caller, node).err();
        Some(refused.unwrap_or(StatusCode::BadNotWritable))
    }

    /// Returns true for a Bad status without a value, which a Variable of any DataType can have (OPC 10000-4, 7.11).
    #[inline]
    fn is_failure(&self) -> bool {
        self.status.is_some_and(StatusCode::is_bad) && matches!(self.value, VariantRef::Empty)
    }
}

/// Checks all conditions of an item that do not depend on the current value.
// Called once for each Write; the search for remote sources calls it, too, so the compiler would leave it alone.
#[inline(always)]
pub(super) fn check<'v>(
    view: &'v View<'_>,
    caller: &Caller,
    item: &Item<'_>,
) -> Result<(NodeRef<'v>, Fit, Option<NumericRange>), StatusCode> {
    let Some(node) = view.node(item.node_id) else {
        return Err(if item.node_id.is_null() {
            StatusCode::BadNodeIdInvalid
        } else {
            StatusCode::BadNodeIdUnknown
        });
    };
    let has_rules = view.attribute_writes().is_some();
    let variable = match node.variable() {
        Some(variable) if item.attribute_id == VALUE => variable,
        // VariableTypes may have a Value as well, but it cannot be written.
        _ if item.attribute_id == VALUE && node.typed().is_some() => {
            return Err(StatusCode::BadNotWritable);
        }
        _ => {
            if has_rules && let Some(status) = item.refused_by_rules(view, caller, &node) {
                return Err(status);
            }
            return Err(match attribute(caller, &node, item.attribute_id) {
                Ok(_) => StatusCode::BadNotWritable,
                Err(status) => status,
            });
        }
    };
    if has_rules && let Some(status) = item.refused_by_rules(view, caller, &node) {
        return Err(status);
    }
    access::check_write(caller, &node, variable.access_level)?;
    let may = |bits: u32| variable.access_level & bits == bits;
    // The status Good is the same as no status.
    let says_status = item.status.is_some_and(|status| status != StatusCode::Good);
    if (says_status && !may(access_level::STATUS_WRITE))
        || (item.time.is_some() && !may(access_level::TIMESTAMP_WRITE))
        || item.has_picoseconds
    {
        return Err(StatusCode::BadWriteNotSupported);
    }
    let range = NumericRange::of_request(item.index_range)?;
    if item.is_failure() && range.is_none() {
        return Ok((node, Fit::Exactly, None));
    }
    let fit = view.check_value(&node, &variable, &item.value, range.is_some())?;
    Ok((node, fit, range))
}

/// Writes an item; `now` is its source timestamp if the client gives no timestamp.
#[inline]
pub(super) fn write(
    view: &View<'_>,
    caller: &Caller,
    item: &Item<'_>,
    now: DateTime,
) -> Result<(), StatusCode> {
    let (node, fit, range) = check(view, caller, item)?;
    let binding = node.binding();
    let Some(Binding::Value(target)) = binding.get() else {
        return Err(StatusCode::BadNotWritable);
    };
    let status = item.status.unwrap_or_default();
    let time = item.time.unwrap_or(now);
    if let Some(range) = range {
        return write_part(target, &range, item, status, time);
    }
    match fit {
        Fit::Exactly => write_encoded(view, target, item, item.encoded, (status, time)),
        Fit::AsByteArray => {
            let encoded = with_type(item.encoded, BYTE_ARRAY);
            write_encoded(view, target, item, &encoded, (status, time))
        }
        Fit::AsByteString => {
            let encoded = with_type(item.encoded, BYTE_STRING);
            write_encoded(view, target, item, &encoded, (status, time))
        }
    }
}

/// Encoding bytes of a Variant with an array of Byte, and of one with a ByteString (OPC 10000-6, 5.2.2.16).
const BYTE_ARRAY: u8 = 3 | 0x80;
const BYTE_STRING: u8 = 15;

/// Returns the same Variant with another type whose encoding differs only in the encoding byte.
fn with_type(encoded: &[u8], encoding_byte: u8) -> Vec<u8> {
    let mut converted = encoded.to_vec();
    if let Some(first) = converted.first_mut() {
        *first = encoding_byte;
    }
    converted
}

#[inline]
fn write_encoded(
    view: &View<'_>,
    target: &Value,
    item: &Item<'_>,
    encoded: &[u8],
    (status, time): (StatusCode, DateTime),
) -> Result<(), StatusCode> {
    match target {
        Value::Cell(cell) => {
            // The encoded Variant of the request was checked when it was decoded.
            let set = if std::ptr::eq(encoded, item.encoded) {
                cell.set_ref(&item.value, status, time)
            } else {
                cell.set_encoded(encoded, status, time)
            };
            set.map_err(|error| error.status_code())
        }
        // The Write to the origin of a copy was made before, as one to a remote value.
        Value::Stored(stored) if stored.origin().is_some() => Err(StatusCode::BadNoCommunication),
        Value::Stored(stored) => stored.write_encoded(encoded, status, time, view.memory()),
        Value::Callback(source) => {
            let value = if std::ptr::eq(encoded, item.encoded) {
                item.value.to_owned()
            } else {
                Variant::decode(&mut Decoder::new(encoded)).map_err(|error| error.status_code())?
            };
            result(source.write(&item.data_value(value)))
        }
        // Remote writes were made before, or the queue of the source had no room for the request.
        Value::Remote(_) => Err(StatusCode::BadNoCommunication),
    }
}

/// Writes a part of an array or string (OPC 10000-4, 7.27). If a real-time thread sets a cell in between, the part of that value is
/// written.
#[inline(never)]
fn write_part(
    target: &Value,
    range: &NumericRange,
    item: &Item<'_>,
    status: StatusCode,
    time: DateTime,
) -> Result<(), StatusCode> {
    let part = item.value.to_owned();
    let merge = |current: Option<Variant>| {
        let mut whole = current.ok_or(StatusCode::BadIndexRangeNoData)?;
        range.write(&mut whole, &part)?;
        Ok::<_, StatusCode>(whole)
    };
    match target {
        Value::Cell(cell) => cell.update(|current| Ok((merge(current.value)?, status, time))),
        Value::Stored(stored) if stored.origin().is_some() => Err(StatusCode::BadNoCommunication),
        Value::Stored(stored) => stored.update(|current| Ok((merge(current.value)?, status, time))),
        Value::Callback(source) => {
            // This is not atomic: a callback can only be read and written.
            let whole = merge(source.read().value)?;
            result(source.write(&item.data_value(whole)))
        }
        Value::Remote(_) => Err(StatusCode::BadNoCommunication),
    }
}

fn result(status: StatusCode) -> Result<(), StatusCode> {
    if status == StatusCode::Good {
        Ok(())
    } else {
        Err(status)
    }
}
