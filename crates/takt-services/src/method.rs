//! What runs when a Method is called (OPC 10000-4, 5.12.2).

use std::sync::Arc;

use takt_ua::{NodeId, StatusCode, Variant};

use crate::caller::Caller;
use crate::remote::RemoteMethod;

/// The code behind a Method node.
///
/// The server has checked number, DataType and ValueRank of the arguments before. It runs on the transport's thread:
/// what may block belongs behind a [`RemoteSource`](crate::RemoteSource).
pub trait Method: Send + Sync {
    /// Runs the Method on `object` and gives the output arguments, in order.
    ///
    /// # Errors
    /// The StatusCode of the operation, with one per input argument where they are to blame.
    fn call(
        &self,
        caller: &Caller,
        object: &NodeId,
        inputs: &[Variant],
    ) -> Result<Vec<Variant>, CallError>;
}

impl<F> Method for F
where
    F: Fn(&Caller, &NodeId, &[Variant]) -> Result<Vec<Variant>, CallError> + Send + Sync,
{
    fn call(
        &self,
        caller: &Caller,
        object: &NodeId,
        inputs: &[Variant],
    ) -> Result<Vec<Variant>, CallError> {
        self(caller, object, inputs)
    }
}

/// Why a Method refused, or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{status}")]
pub struct CallError {
    /// StatusCode of the operation.
    pub status: StatusCode,
    /// One StatusCode per input argument, or empty.
    pub input_argument_results: Vec<StatusCode>,
}

impl CallError {
    /// Blames the argument at `index` of `count`: `BadInvalidArgument` for the operation, `status` for the argument.
    pub fn argument(index: usize, count: usize, status: StatusCode) -> Self {
        let mut input_argument_results = vec![StatusCode::Good; count];
        if let Some(result) = input_argument_results.get_mut(index) {
            *result = status;
        }
        Self {
            status: StatusCode::BadInvalidArgument,
            input_argument_results,
        }
    }
}

impl From<StatusCode> for CallError {
    fn from(status: StatusCode) -> Self {
        Self {
            status,
            input_argument_results: Vec::new(),
        }
    }
}

/// Where calls of a Method go.
#[derive(Clone)]
pub enum MethodHandler {
    /// Code of this process.
    Local(Arc<dyn Method>),
    /// Another server: the request is run on a worker thread and answered later.
    Remote(RemoteMethod),
}

impl MethodHandler {
    /// Code of this process, often a closure.
    pub fn local(method: impl Method + 'static) -> Self {
        Self::Local(Arc::new(method))
    }
}

impl std::fmt::Debug for MethodHandler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local(_) => formatter.write_str("Local"),
            Self::Remote(remote) => formatter.debug_tuple("Remote").field(remote).finish(),
        }
    }
}
