//! Values and Methods of another server, whose use may block.
//!
//! A request that names one is answered later (deferred): its operations are grouped by [`RemoteSource::key`] and run on worker
//! threads, one request of a key at a time. A source that hangs therefore occupies one worker; its queue is bounded, and
//! requests beyond the bound are answered with `BadNoCommunication`. A request whose TimeoutHint ends while it waits is
//! answered with `BadTimeout` then.

use std::sync::Arc;
use std::time::Duration;

use takt_ua::structures::CallMethodResult;
use takt_ua::{DataValue, NodeId, StatusCode, Variant};

/// One Variable to read.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteRead {
    /// NodeId at the source.
    pub node_id: NodeId,
    /// IndexRange (OPC 10000-4, 7.27), empty for the whole value. The source applies it.
    pub index_range: String,
    /// MaxAge of the request in milliseconds (OPC 10000-4, 5.11.2).
    pub max_age: f64,
}

/// One Variable to write.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteWrite {
    /// NodeId at the source.
    pub node_id: NodeId,
    /// IndexRange (OPC 10000-4, 7.27), empty for the whole value. The source applies it.
    pub index_range: String,
    /// The value, with StatusCode and source timestamp if the client sent them.
    pub value: DataValue,
}

/// One Method to call.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteCall {
    /// NodeId of the Object at the source.
    pub object_id: NodeId,
    /// NodeId of the Method at the source.
    pub method_id: NodeId,
    /// Input arguments, which are not checked yet.
    pub input_arguments: Vec<Variant>,
}

/// Another server to which operations of clients are forwarded. Its methods may block, for about `timeout` at most.
pub trait RemoteSource: Send + Sync {
    /// Returns the key of the source. Requests with the same key run one after another, those of different keys in parallel.
    fn key(&self) -> u64;

    /// Reads Values. Returns as many results as `items`; missing ones count as `BadNoCommunication`.
    fn read(&self, items: &[RemoteRead], timeout: Duration) -> Vec<DataValue>;

    /// Writes Values. Returns as many results as `items`; missing ones count as `BadNoCommunication`.
    fn write(&self, items: &[RemoteWrite], timeout: Duration) -> Vec<StatusCode> {
        let _ = timeout;
        vec![StatusCode::BadNotWritable; items.len()]
    }

    /// Calls Methods. Returns as many results as `calls`; missing ones count as `BadNoCommunication`.
    fn call(&self, calls: &[RemoteCall], timeout: Duration) -> Vec<CallMethodResult> {
        let _ = timeout;
        let refused = CallMethodResult {
            status_code: StatusCode::BadNotImplemented,
            ..CallMethodResult::default()
        };
        vec![refused; calls.len()]
    }
}

/// A Variable's value at another server.
#[derive(Clone)]
pub struct RemoteValue {
    /// The server.
    pub source: Arc<dyn RemoteSource>,
    /// NodeId of the Variable at that server.
    pub node_id: NodeId,
}

/// A Method at another server.
#[derive(Clone)]
pub struct RemoteMethod {
    /// The server.
    pub source: Arc<dyn RemoteSource>,
    /// NodeId of the Object at that server; null: the Object that the client names.
    pub object_id: NodeId,
    /// NodeId of the Method at that server.
    pub method_id: NodeId,
}

impl std::fmt::Debug for RemoteValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RemoteValue")
            .field("node_id", &self.node_id)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RemoteMethod {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RemoteMethod")
            .field("object_id", &self.object_id)
            .field("method_id", &self.method_id)
            .finish_non_exhaustive()
    }
}
