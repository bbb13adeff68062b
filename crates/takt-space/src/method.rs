//! Handlers of Methods (OPC 10000-4, 5.12.2).

use std::sync::Arc;

use takt_layout::{Arguments, Span, ValueWriter};
use takt_ua::binary::{EncodeError, Encoder, ListRef};
use takt_ua::{AsVariant, NodeId, NodeIdRef, StatusCode, Variant, VariantRef};

use crate::caller::Caller;
use crate::remote::RemoteMethod;

/// The code of a Method node.
///
/// The server has checked number, DataType and ValueRank of the arguments before. The Method runs on the transport's thread if it
/// is [`Local`](MethodHandler::Local): code that may block belongs in a [`RemoteSource`](crate::RemoteSource).
///
/// A closure that takes and returns owned Variants is a Method. A closure that borrows the arguments from the request and
/// writes the results directly into the response, and so need not allocate, becomes one by [`MethodHandler::in_place`].
pub trait LocalMethod: Send + Sync {
    /// Runs the Method and adds the output arguments, in order.
    ///
    /// # Errors
    /// The StatusCode of the operation, with one per input argument if they are invalid. The output arguments so far are
    /// discarded.
    fn call(
        &self,
        call: &MethodCall<'_>,
        outputs: &mut OutputArguments<'_, '_>,
    ) -> Result<(), CallError>;
}

impl<F> LocalMethod for F
where
    F: Fn(&Caller, &NodeId, &[Variant]) -> Result<Vec<Variant>, CallError> + Send + Sync,
{
    fn call(
        &self,
        call: &MethodCall<'_>,
        outputs: &mut OutputArguments<'_, '_>,
    ) -> Result<(), CallError> {
        let inputs: Vec<Variant> = call.inputs().map(|input| input.to_owned()).collect();
        for output in self(call.caller, &call.object_id.to_owned(), &inputs)? {
            outputs.push(&output);
        }
        Ok(())
    }
}

/// A handler made by [`MethodHandler::in_place`].
struct InPlace<F>(F);

impl<F> LocalMethod for InPlace<F>
where
    F: Fn(&MethodCall<'_>, &mut OutputArguments<'_, '_>) -> Result<(), CallError> + Send + Sync,
{
    fn call(
        &self,
        call: &MethodCall<'_>,
        outputs: &mut OutputArguments<'_, '_>,
    ) -> Result<(), CallError> {
        self.0(call, outputs)
    }
}

/// A call of a Method.
#[derive(Debug)]
pub struct MethodCall<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// The Object on which the Method is called.
    pub object_id: NodeIdRef<'a>,
    inputs: InputArguments<'a>,
}

impl<'a> MethodCall<'a> {
    /// Creates a call on behalf of `caller`.
    #[inline]
    pub fn new(caller: &'a Caller, object_id: NodeIdRef<'a>, inputs: InputArguments<'a>) -> Self {
        Self {
            caller,
            object_id,
            inputs,
        }
    }

    /// Returns the input arguments, borrowed from the request.
    pub fn inputs(&self) -> impl Iterator<Item = VariantRef<'a>> + use<'a> {
        self.inputs.iter()
    }

    /// Returns one of the input arguments; `None` if the index is too high.
    #[must_use]
    pub fn input(&self, index: usize) -> Option<VariantRef<'a>> {
        self.inputs.iter().nth(index)
    }
}

/// Input arguments in the form of the request.
#[derive(Debug, Clone, Copy)]
pub enum InputArguments<'a> {
    /// Arguments in the binary DataEncoding.
    Encoded(ListRef<'a, VariantRef<'a>>),
    /// Arguments in the fixed layout.
    LaidOut(Arguments<'a>),
}

impl<'a> InputArguments<'a> {
    /// Returns the number of arguments.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Encoded(list) => list.len(),
            Self::LaidOut(arguments) => arguments.len(),
        }
    }

    /// Returns true if there are no arguments.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the arguments, in order.
    pub fn iter(&self) -> impl Iterator<Item = VariantRef<'a>> + use<'a> {
        let (list, laid_out) = match *self {
            Self::Encoded(list) => (Some(list), None),
            Self::LaidOut(arguments) => (None, Some(arguments)),
        };
        let laid_out = laid_out.into_iter().flat_map(|arguments| {
            (0..arguments.len()).filter_map(move |index| arguments.get(index))
        });
        list.into_iter().flatten().chain(laid_out)
    }
}

/// Writer of the output arguments of a Method, directly into the response.
pub struct OutputArguments<'w, 'b> {
    target: Target<'w, 'b>,
    /// Error of the first argument that did not fit.
    error: Option<EncodeError>,
}

enum Target<'w, 'b> {
    Encoded {
        response: &'w mut Encoder<'b>,
        count: usize,
    },
    LaidOut {
        values: ValueWriter<'w, 'b>,
        spans: &'w mut Spans,
    },
}

/// Positions of output arguments; the first ones are stored without allocation.
#[derive(Default)]
pub struct Spans {
    count: usize,
    first: [Span; 16],
    rest: Vec<Span>,
}

impl Spans {
    fn push(&mut self, span: Span) {
        match self.first.get_mut(self.count) {
            Some(place) => *place = span,
            None => self.rest.push(span),
        }
        self.count += 1;
    }

    /// Returns the positions, in order.
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        let first = self.first.iter().take(self.count);
        first.chain(&self.rest).copied()
    }
}

impl<'w, 'b> OutputArguments<'w, 'b> {
    /// Writes into a response in the binary DataEncoding, one argument after another.
    pub fn encoded(response: &'w mut Encoder<'b>) -> Self {
        Self {
            target: Target::Encoded { response, count: 0 },
            error: None,
        }
    }

    /// Writes into a response in the fixed layout; `spans` collects the positions.
    pub fn laid_out(values: ValueWriter<'w, 'b>, spans: &'w mut Spans) -> Self {
        Self {
            target: Target::LaidOut { values, spans },
            error: None,
        }
    }

    /// Adds the next output argument: a [`Variant`] or a [`VariantRef`].
    pub fn push(&mut self, value: &impl AsVariant) {
        if self.error.is_some() {
            return;
        }
        let pushed = match &mut self.target {
            Target::Encoded { response, count } => {
                *count += 1;
                value.encode(response)
            }
            Target::LaidOut { values, spans } => values
                .value(|encoder| value.encode(encoder))
                .map(|(span, ())| spans.push(span)),
        };
        self.error = pushed.err();
    }

    /// Returns the number of output arguments.
    ///
    /// # Errors
    /// Some output arguments did not fit into the response.
    pub fn finish(self) -> Result<usize, EncodeError> {
        match (self.error, self.target) {
            (Some(error), _) => Err(error),
            (None, Target::Encoded { count, .. }) => Ok(count),
            (None, Target::LaidOut { spans, .. }) => Ok(spans.count),
        }
    }
}

/// Reason for the failure of a Method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{status}")]
pub struct CallError {
    /// StatusCode of the operation.
    pub status: StatusCode,
    /// One StatusCode per input argument, or empty.
    pub input_argument_results: Vec<StatusCode>,
}

impl CallError {
    /// Creates an error for the argument at `index` of `count`: `BadInvalidArgument` for the operation, `status` for the
    /// argument.
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

/// Target of calls of a Method.
#[derive(Clone)]
pub enum MethodHandler {
    /// Code of this process.
    Local(Arc<dyn LocalMethod>),
    /// Another server, or a worker thread: the request is answered later.
    Remote(RemoteMethod),
}

impl MethodHandler {
    /// Creates a handler in this process, often a closure.
    pub fn local(method: impl LocalMethod + 'static) -> Self {
        Self::Local(Arc::new(method))
    }

    /// Creates a handler from a closure that borrows its input arguments from the request and writes the output arguments into
    /// the response.
    pub fn in_place<F>(method: F) -> Self
    where
        F: Fn(&MethodCall<'_>, &mut OutputArguments<'_, '_>) -> Result<(), CallError>
            + Send
            + Sync
            + 'static,
    {
        Self::Local(Arc::new(InPlace(method)))
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
