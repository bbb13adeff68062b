//! Methods of a Provider.

use takt_space::{CallError, Caller, MethodCall, MethodHandler, OutputArguments};
use takt_ua::structures::Argument;
use takt_ua::{BuiltInType, NodeId, StatusCode, UaString, Variant};

/// A Method of a Provider.
#[derive(Clone)]
pub struct Method {
    pub(super) path: String,
    pub(super) inputs: Vec<Argument>,
    pub(super) outputs: Vec<Argument>,
    pub(super) handler: MethodHandler,
    pub(super) is_inline: bool,
}

impl Method {
    /// Creates a Method without arguments that runs `handler`, on a worker thread unless it is [`inline`](Self::inline).
    /// The number and types of the input arguments are checked before the call.
    pub fn new(
        path: impl Into<String>,
        handler: impl Fn(&[Variant]) -> Result<Vec<Variant>, StatusCode> + Send + Sync + 'static,
    ) -> Self {
        Self::with_handler(
            path,
            MethodHandler::local(move |_: &Caller, _: &NodeId, inputs: &[Variant]| {
                handler(inputs).map_err(CallError::from)
            }),
        )
    }

    /// Creates a Method as [`new`](Self::new) does, but `handler` borrows its input arguments and writes its output
    /// arguments. If it is [`inline`](Self::inline), these are parts of the request and of the response: nothing is
    /// allocated for them.
    pub fn in_place(
        path: impl Into<String>,
        handler: impl Fn(&MethodCall<'_>, &mut OutputArguments<'_, '_>) -> Result<(), CallError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self::with_handler(path, MethodHandler::in_place(handler))
    }

    fn with_handler(path: impl Into<String>, handler: MethodHandler) -> Self {
        Self {
            path: path.into(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            handler,
            is_inline: false,
        }
    }

    /// Runs the handler on the thread that serves all clients, which saves two changes of threads. The handler has to be
    /// quick: all clients wait until it returns.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.is_inline = true;
        self
    }

    /// Adds an input argument.
    #[must_use]
    pub fn input(mut self, name: &str, data_type: impl Into<DataType>) -> Self {
        self.inputs.push(argument(name, data_type.into()));
        self
    }

    /// Adds an output argument.
    #[must_use]
    pub fn output(mut self, name: &str, data_type: impl Into<DataType>) -> Self {
        self.outputs.push(argument(name, data_type.into()));
        self
    }
}

/// The DataType of an argument: a built-in type, or the NodeId of any other.
#[derive(Debug, Clone, PartialEq)]
pub struct DataType(NodeId);

impl From<BuiltInType> for DataType {
    fn from(data_type: BuiltInType) -> Self {
        Self(NodeId::numeric(0, data_type as u32))
    }
}

impl From<NodeId> for DataType {
    fn from(node: NodeId) -> Self {
        Self(node)
    }
}

fn argument(name: &str, DataType(data_type): DataType) -> Argument {
    Argument {
        name: UaString::from(name),
        data_type,
        value_rank: -1,
        ..Argument::default()
    }
}
