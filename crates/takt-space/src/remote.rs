//! Values and Methods of another server, and callbacks and Methods that worker threads run.
//!
//! A request that names one is answered later (deferred): its operations are grouped by [`RemoteSource::key`], and the
//! source answers each group when it can, from any thread. A request whose TimeoutHint ends while it waits is answered
//! with `BadTimeout` then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{CallMethodResult, HistoryReadResult, HistoryReadValueId};
use takt_ua::{DataValue, ExtensionObject, NodeId, StatusCode, Variant};

use crate::caller::Caller;
use crate::value_source::{CachedValue, ValueSource};

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
    /// AttributeId: 13 (Value), except for a source of [`AttributeWrites`](crate::AttributeWrites).
    pub attribute_id: u32,
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
    /// Input arguments; unchecked if the source [checks](RemoteMethod::checks_arguments) them.
    pub input_arguments: Vec<Variant>,
}

/// One Variable whose history is read (OPC 10000-4, 5.11.3).
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteHistoryRead {
    /// NodeId, IndexRange and continuation point at the source.
    pub node: HistoryReadValueId,
    /// HistoryReadDetails. ReadProcessedDetails have the one aggregate of this Variable.
    pub details: Arc<ExtensionObject>,
    /// Timestamps that the client wants.
    pub timestamps: TimestampsToReturn,
}

/// Operations of one service for one source.
#[derive(Debug, Clone, PartialEq)]
pub enum RemoteOperations {
    /// Values to read.
    Read(Vec<RemoteRead>),
    /// Values to write.
    Write(Vec<RemoteWrite>),
    /// Methods to call.
    Call(Vec<RemoteCall>),
    /// Variables whose history is read.
    History(Vec<RemoteHistoryRead>),
}

/// Results of [`RemoteOperations`], in the order of the operations. Missing ones count as `BadNoCommunication`.
#[derive(Debug, Clone, PartialEq)]
pub enum RemoteResults {
    /// Values that were read.
    Read(Vec<DataValue>),
    /// StatusCodes of written values.
    Write(Vec<StatusCode>),
    /// Results of called Methods.
    Call(Vec<CallMethodResult>),
    /// Values of history, with the continuation points of the source.
    History(Vec<HistoryReadResult>),
}

impl RemoteOperations {
    /// Returns the number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Read(reads) => reads.len(),
            Self::Write(writes) => writes.len(),
            Self::Call(calls) => calls.len(),
            Self::History(reads) => reads.len(),
        }
    }

    /// Returns true if there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the results of operations that all failed with `status`.
    #[must_use]
    pub fn failed(&self, status: StatusCode) -> RemoteResults {
        let refused = CallMethodResult {
            status_code: status,
            ..CallMethodResult::default()
        };
        match self {
            Self::Read(reads) => RemoteResults::Read(vec![DataValue::status(status); reads.len()]),
            Self::Write(writes) => RemoteResults::Write(vec![status; writes.len()]),
            Self::Call(calls) => RemoteResults::Call(vec![refused; calls.len()]),
            Self::History(reads) => {
                let refused = HistoryReadResult {
                    status_code: status,
                    ..HistoryReadResult::default()
                };
                RemoteResults::History(vec![refused; reads.len()])
            }
        }
    }
}

/// Operations that a source carries out for one client.
pub struct RemoteRequest {
    /// The operations.
    pub operations: RemoteOperations,
    /// Number of the client's channel, 0 for the server itself. A source treats its clients alike.
    pub client: u64,
    /// The client; `None` for the server itself.
    pub caller: Option<Arc<Caller>>,
    /// Length in bytes of the message with the operations.
    pub size: usize,
    /// Time at which an answer is too late.
    pub deadline: Instant,
    /// Time at which an answer is too late for the client's TimeoutHint; `None` if it set none. The deadline is not later.
    pub hint: Option<Instant>,
    /// Receiver of the results.
    pub reply: Box<dyn RemoteReply>,
}

/// Receiver of the results of a [`RemoteRequest`]. Dropping it counts as an answer without results.
pub trait RemoteReply: Send {
    /// Returns false if the request needs no results any more, for example because the client cancelled it.
    fn is_awaited(&self) -> bool;

    /// Answers the request.
    fn answer(self: Box<Self>, results: RemoteResults);
}

/// Key of a [`RemoteSource`], unique in the process: two sources have the same key only if they share a copy of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceKey(u64);

impl SourceKey {
    /// Returns a key that no source has.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A new key, as [`SourceKey::new`] returns it: two defaults are not equal.
impl Default for SourceKey {
    fn default() -> Self {
        Self::new()
    }
}

/// Another server, or a worker thread, to which operations of clients are forwarded.
pub trait RemoteSource: Send + Sync {
    /// Returns the key of the source. Operations of one request with the same key are forwarded together, to any of the sources
    /// with this key.
    fn key(&self) -> SourceKey;

    /// Forwards operations. It returns at once; the answer comes from any thread, at the latest at the deadline.
    fn forward(&self, request: RemoteRequest);
}

/// A Variable's value at another server, or a callback that worker threads run.
#[derive(Clone)]
pub struct RemoteValue {
    /// The server, or the workers.
    pub source: Arc<dyn RemoteSource>,
    /// NodeId of the Variable at that server.
    pub node_id: NodeId,
    /// The callback, if worker threads of this process run it.
    pub callback: Option<Arc<dyn ValueSource>>,
}

impl RemoteValue {
    /// Returns the last value, if it is kept at this server.
    #[must_use]
    pub fn cached(&self) -> Option<&CachedValue> {
        self.callback.as_ref()?.cached()
    }
}

/// A Method at another server, or on a worker thread.
#[derive(Clone)]
pub struct RemoteMethod {
    /// The server, or the worker.
    pub source: Arc<dyn RemoteSource>,
    /// NodeId of the Object at that server; null: the Object that the client names.
    pub object_id: NodeId,
    /// NodeId of the Method at that server.
    pub method_id: NodeId,
    /// True if the source checks number and types of the input arguments. Its arguments may have been declared after the Method
    /// was bound.
    pub checks_arguments: bool,
    /// True if clients may also name an Object that is no node of this server: a Condition need not be a node
    /// (OPC 10000-9, 5.5.2). The source then checks the Object.
    pub takes_unknown_objects: bool,
}

impl std::fmt::Debug for RemoteRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RemoteRequest")
            .field("operations", &self.operations)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
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
