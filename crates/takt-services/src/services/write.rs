//! Write (OPC 10000-4, 5.11.4): the Value of Variables; no other attribute can be written.
//!
//! The whole request is decoded before the first value is written, so a request that turns out to be damaged changes nothing.

use std::sync::Arc;

use takt_layout::{ResponseWriter, Service};
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, Encoder, ListRef};
use takt_ua::views::WriteValueRef;
use takt_ua::{DataValue, DateTime, NodeIdRef, NumericRange, StatusCode, Variant, VariantRef, ids};

use super::attributes::{VALUE, attribute};
use super::body::{Body, Items};
use super::deferred::{self, RemoteResults};
use super::{Fault, Handled, Request, check_count};
use crate::address_space::{Binding, Fit, Inner, NodeRef, View, access_level};
use crate::connection::{Connection, Outcome};
use crate::remote::RemoteWrite;
use crate::session::Session;
use crate::value::Value;

/// Handles a Write request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    if request.server.space.has_remotes() {
        let writes = remote_writes(request, body.clone())?;
        if writes.defer(request, connection, session)? {
            return Ok(Outcome::Deferred);
        }
    }
    respond(request, body, response, None)?;
    Ok(Outcome::Complete)
}

/// Checks the number of items, and that all of them can be decoded.
#[inline]
fn items<'a>(request: &Request<'_>, body: Body<'a>) -> Result<(usize, Items<'a>), Fault> {
    let limits = &request.server.limits;
    let most = limits.operations.max_nodes_per_write;
    // The count first: what is too much is not worth decoding.
    match body {
        Body::Encoded(mut body) => {
            let count = body
                .clone()
                .array_length(WriteValueRef::MIN_SIZE)?
                .unwrap_or(0);
            check_count(count, most)?;
            let list = ListRef::<WriteValueRef<'_>>::decode(&mut body)?;
            let items = Decoder::with_limits(list.as_bytes(), limits.encoding);
            Ok((count, Items::Encoded(items)))
        }
        Body::LaidOut(body) => {
            check_count(body.count(), most)?;
            let mut items = body.items();
            for _ in 0..body.count() {
                items.write()?;
            }
            Ok((body.count(), Items::LaidOut(body.items())))
        }
    }
}

/// Answers a Write request, with what remote sources said before.
pub(crate) fn respond(
    request: &Request<'_>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
    remote: Option<&RemoteResults>,
) -> Result<(), Fault> {
    let (count, items) = items(request, body)?;
    match items {
        Items::Encoded(mut items) => {
            request.respond(ids::WRITE_RESPONSE_ENCODING_DEFAULT_BINARY, response)?;
            response.array_length(Some(count))?;
            // Room for the response first: once a value is written, the client should hear of it.
            if response.available() < count.saturating_mul(4).saturating_add(4) {
                return Err(Fault(StatusCode::BadResponseTooLarge));
            }
            let next = || Ok(Item::decode(&mut items)?);
            write_all(request, count, next, remote, |status| {
                Ok(status.encode(response)?)
            })?;
            response.array_length(None)?;
        }
        Items::LaidOut(mut items) => {
            let next = || Ok(Item::laid_out(&items.write()?));
            let (handle, now) = (request.header.request_handle, request.now);
            let mut response = ResponseWriter::begin(response, Service::Write, count, handle, now)?;
            write_all(request, count, next, remote, |status| {
                response.status(status);
                Ok(())
            })?;
        }
    }
    Ok(())
}

#[inline]
fn write_all<'a>(
    request: &Request<'_>,
    count: usize,
    mut next: impl FnMut() -> Result<Item<'a>, Fault>,
    remote: Option<&RemoteResults>,
    mut respond: impl FnMut(StatusCode) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let view = request.server.space.view();
    for index in 0..count {
        let item = next()?;
        respond(match remote.and_then(|remote| remote.write(index)) {
            Some(status) => status,
            None => write(&view, &item, request.now)
                .err()
                .unwrap_or(StatusCode::Good),
        })?;
    }
    Ok(())
}

/// The items that remote sources have to be told. Made only if there are such sources.
#[inline(never)]
fn remote_writes(request: &Request<'_>, body: Body<'_>) -> Result<deferred::Operations, Fault> {
    let (count, mut items) = items(request, body)?;
    let view = request.server.space.view();
    let mut operations = deferred::Operations::default();
    for index in 0..count {
        let item = Item::next(&mut items)?;
        let Some(Value::Remote(remote)) = view.node(item.node_id).and_then(|node| node.value())
        else {
            continue;
        };
        // What is wrong with the others is said when the request is answered.
        if check(&view, &item).is_ok() {
            let write = RemoteWrite {
                node_id: remote.node_id,
                index_range: item.index_range.unwrap_or_default().to_owned(),
                value: item.data_value(),
            };
            operations.write(remote.source, index, write);
        }
    }
    Ok(operations)
}

/// A WriteValue with its Variant both decoded and as it stands in the request.
struct Item<'a> {
    node_id: NodeIdRef<'a>,
    attribute_id: u32,
    index_range: Option<&'a str>,
    value: VariantRef<'a>,
    encoded: &'a [u8],
    status: Option<StatusCode>,
    source_timestamp: Option<DateTime>,
    has_server_timestamp: bool,
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
        let encoded = if has(0) {
            start.get(..length).unwrap_or_default()
        } else {
            &[0]
        };
        let status = has(1).then(|| items.value()).transpose()?;
        let source_timestamp = has(2).then(|| items.value()).transpose()?;
        if has(4) {
            items.u16()?;
        }
        if has(3) {
            items.i64()?;
        }
        if has(5) {
            items.u16()?;
        }
        Ok(Self {
            node_id,
            attribute_id,
            index_range,
            value,
            encoded,
            status,
            source_timestamp,
            has_server_timestamp: has(3) || has(5),
            has_picoseconds: has(4),
        })
    }
}

impl<'a> Item<'a> {
    fn next(items: &mut Items<'a>) -> Result<Self, Fault> {
        match items {
            Items::Encoded(items) => Ok(Self::decode(items)?),
            Items::LaidOut(items) => Ok(Self::laid_out(&items.write()?)),
        }
    }

    #[inline]
    fn laid_out(item: &takt_layout::WriteItem<'a>) -> Self {
        let (value, encoded) = item.value.unwrap_or((VariantRef::Empty, &[0]));
        Self {
            node_id: item.node_id,
            attribute_id: item.attribute_id,
            index_range: item.index_range,
            value,
            encoded,
            status: Some(item.status),
            source_timestamp: item.times.source_timestamp,
            has_server_timestamp: item.times.server_timestamp.is_some()
                || item.times.server_picoseconds.is_some(),
            has_picoseconds: item.times.source_picoseconds.is_some(),
        }
    }

    fn data_value(&self) -> DataValue {
        DataValue {
            value: Some(self.value.to_owned()),
            status: self.status,
            source_timestamp: self.source_timestamp,
            ..DataValue::default()
        }
    }
}

/// Checks everything about an item that does not depend on the current value.
#[inline]
fn check<'v>(
    view: &'v View<'_>,
    item: &Item<'_>,
) -> Result<(NodeRef<'v>, Fit, Option<NumericRange>), StatusCode> {
    let Some(node) = view.node(item.node_id) else {
        return Err(if item.node_id.is_null() {
            StatusCode::BadNodeIdInvalid
        } else {
            StatusCode::BadNodeIdUnknown
        });
    };
    let variable = match node.variable() {
        Some(variable) if item.attribute_id == VALUE => variable,
        // VariableTypes may have a Value as well, but not one that can be written.
        _ if item.attribute_id == VALUE && node.typed().is_some() => {
            return Err(StatusCode::BadNotWritable);
        }
        _ => {
            return Err(match attribute(&node, item.attribute_id) {
                Ok(_) => StatusCode::BadNotWritable,
                Err(status) => status,
            });
        }
    };
    let may = |bit: u32| variable.access_level & bit != 0;
    if !may(access_level::CURRENT_WRITE) {
        return Err(StatusCode::BadNotWritable);
    }
    // A client that says Good says nothing that the server would not say itself.
    let says_status = item.status.is_some_and(|status| status != StatusCode::Good);
    if (says_status && !may(access_level::STATUS_WRITE))
        || (item.source_timestamp.is_some() && !may(access_level::TIMESTAMP_WRITE))
        || item.has_server_timestamp
        || item.has_picoseconds
    {
        return Err(StatusCode::BadWriteNotSupported);
    }
    let range = NumericRange::of_request(item.index_range)?;
    let fit = view.check_value(&node, &variable, &item.value, range.is_some())?;
    Ok((node, fit, range))
}

#[inline]
fn write(view: &View<'_>, item: &Item<'_>, now: DateTime) -> Result<(), StatusCode> {
    let (node, fit, range) = check(view, item)?;
    let Inner::Node(entry) = node.inner else {
        return Err(StatusCode::BadNotWritable);
    };
    let binding = entry.binding();
    let Some(Binding::Value(target)) = binding.as_deref() else {
        return Err(StatusCode::BadNotWritable);
    };
    let status = item.status.unwrap_or_default();
    let time = item.source_timestamp.unwrap_or(now);
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

/// Encoding byte of a Variant with an array of Byte, and of one with a ByteString (OPC 10000-6, 5.2.2.16).
const BYTE_ARRAY: u8 = 3 | 0x80;
const BYTE_STRING: u8 = 15;

/// The same Variant as another type, whose encoding differs in nothing else.
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
            // What is in the request was checked when it was decoded.
            let set = if std::ptr::eq(encoded, item.encoded) {
                cell.set_ref(&item.value, status, time)
            } else {
                cell.set_encoded(encoded, status, time)
            };
            set.map_err(|error| error.status_code())
        }
        Value::Stored(stored) => stored.write_encoded(encoded, status, time, view.memory()),
        Value::Callback(source) => {
            let value = if std::ptr::eq(encoded, item.encoded) {
                item.value.to_owned()
            } else {
                Variant::decode(&mut Decoder::new(encoded)).map_err(|error| error.status_code())?
            };
            let written = DataValue {
                value: Some(value),
                ..item.data_value()
            };
            result(source.write(&written))
        }
        // Remote writes were made before, or there was no room for the request in its queue.
        Value::Remote(_) => Err(StatusCode::BadNoCommunication),
    }
}

/// Writes a part of an array or string (OPC 10000-4, 7.27). A cell may be set by its real-time thread in between, which
/// then overtakes the Write.
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
        Value::Cell(cell) => {
            let current = cell.get().map_err(|error| error.status_code())?;
            cell.set(&merge(current.value)?, status, time)
                .map_err(|error| error.status_code())
        }
        Value::Stored(stored) => stored.update(|current| Ok((merge(current.value)?, status, time))),
        Value::Callback(source) => {
            let whole = merge(source.read().value)?;
            result(source.write(&DataValue {
                value: Some(whole),
                ..item.data_value()
            }))
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
