//! Requests with the operations of clients, and the results in their responses.

use std::time::Instant;

use takt_app::ClientError;
use takt_app::client::{Client, EncodedResponse};
use takt_app::model::OWN_NAMESPACE;
use takt_services::ForwardedUser;
use takt_space::{RemoteHistoryRead, RemoteOperations, RemoteResults};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{ExtensionObject, UaString};

use super::naming::{Maps, Naming};

/// Sends a request; returns its RequestId.
pub(super) fn send(
    client: &mut Client,
    naming: &Naming,
    maps: &mut Maps,
    operations: &RemoteOperations,
    user: Option<&ForwardedUser>,
    deadline: Instant,
) -> Result<u32, ClientError> {
    naming.update(client, maps)?;
    let map = &maps.to_server;
    let left = deadline.saturating_duration_since(Instant::now());
    // A foreign server learns nothing about the users of the registry.
    let user = user.filter(|_| naming.is_provider());
    let header = user.map(|user| user.header(OWN_NAMESPACE));
    let request_header = RequestHeader {
        additional_header: header.unwrap_or_default(),
        ..RequestHeader::default()
    };
    let request_id = match operations {
        RemoteOperations::Read(reads) => {
            // The smallest maxAge applies to all items; values from the largest Int32 on accept any age.
            let ages = reads.iter().map(|read| read.max_age);
            let max_age = ages.fold(f64::from(i32::MAX), f64::min);
            let nodes_to_read = reads
                .iter()
                .map(|read| ReadValueId {
                    node_id: map.node_id(&read.node_id),
                    attribute_id: 13,
                    index_range: index_range(&read.index_range),
                    ..ReadValueId::default()
                })
                .collect();
            let request = ReadRequest {
                max_age,
                timestamps_to_return: TimestampsToReturn::Both,
                request_header,
                nodes_to_read,
            };
            client.send(request, left)?
        }
        RemoteOperations::Write(writes) => {
            let nodes_to_write = writes
                .iter()
                .map(|write| {
                    let mut value = write.value.clone();
                    if let Some(value) = &mut value.value {
                        map.replace(value);
                    }
                    WriteValue {
                        node_id: map.node_id(&write.node_id),
                        attribute_id: 13,
                        index_range: index_range(&write.index_range),
                        value,
                    }
                })
                .collect();
            let request = WriteRequest {
                request_header,
                nodes_to_write,
            };
            client.send(request, left)?
        }
        RemoteOperations::Call(calls) => {
            let methods_to_call = calls
                .iter()
                .map(|call| {
                    let mut input_arguments = call.input_arguments.clone();
                    map.replace_all(&mut input_arguments);
                    CallMethodRequest {
                        object_id: map.node_id(&call.object_id),
                        method_id: map.node_id(&call.method_id),
                        input_arguments,
                    }
                })
                .collect();
            let request = CallRequest {
                request_header,
                methods_to_call,
            };
            client.send(request, left)?
        }
        RemoteOperations::History(reads) => {
            let nodes_to_read = reads
                .iter()
                .map(|read| HistoryReadValueId {
                    node_id: map.node_id(&read.node.node_id),
                    ..read.node.clone()
                })
                .collect();
            let first = reads.first();
            let request = HistoryReadRequest {
                request_header,
                history_read_details: history_details(reads),
                timestamps_to_return: first.map(|read| read.timestamps).unwrap_or_default(),
                nodes_to_read,
                ..HistoryReadRequest::default()
            };
            client.send(request, left)?
        }
    };
    Ok(request_id)
}

/// Returns an IndexRange; null for the whole value, because some servers take an empty text for a range.
fn index_range(range: &str) -> UaString {
    match range {
        "" => UaString::null(),
        range => UaString::from(range),
    }
}

/// Returns the HistoryReadDetails of one request: aggregates are listed again, one for each Variable.
fn history_details(reads: &[RemoteHistoryRead]) -> ExtensionObject {
    let Some(first) = reads.first() else {
        return ExtensionObject::NULL;
    };
    let Ok(processed) = first.details.decode_as::<ReadProcessedDetails>() else {
        return ExtensionObject::clone(&first.details);
    };
    // Each node has its own aggregate, at its own position.
    let details = reads
        .iter()
        .filter_map(|read| read.details.decode_as::<ReadProcessedDetails>().ok());
    ExtensionObject::from_structure(&ReadProcessedDetails {
        aggregate_type: details.flat_map(|details| details.aggregate_type).collect(),
        ..processed
    })
}

/// Decodes the response to a request with these operations.
pub(super) fn decode(
    operations: &RemoteOperations,
    response: &EncodedResponse<'_>,
) -> Result<RemoteResults, ClientError> {
    match operations {
        RemoteOperations::Read(_) => {
            let response = response.decode::<ReadResponse>()?;
            Ok(RemoteResults::Read(response.results))
        }
        RemoteOperations::Write(_) => {
            let response = response.decode::<WriteResponse>()?;
            Ok(RemoteResults::Write(response.results))
        }
        RemoteOperations::Call(_) => {
            let response = response.decode::<CallResponse>()?;
            Ok(RemoteResults::Call(response.results))
        }
        RemoteOperations::History(_) => {
            let response = response.decode::<HistoryReadResponse>()?;
            Ok(RemoteResults::History(response.results))
        }
    }
}
