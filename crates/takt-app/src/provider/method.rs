//! Methods of a Provider.

use takt_space::{CallError, Caller, MethodCall, MethodHandler, NodeAccess, OutputArguments};
use takt_ua::{LocalizedText, NodeId, StatusCode, Variant};

use super::access::with_access;
use super::field::{DataType, Field};
use super::texts::Texts;

/// A Method of a Provider.
#[derive(Clone)]
pub struct Method {
    pub(super) path: String,
    pub(super) texts: Texts,
    pub(super) inputs: Vec<Field>,
    pub(super) outputs: Vec<Field>,
    pub(super) handler: MethodHandler,
    pub(super) is_inline: bool,
    /// RolePermissions and AccessRestrictions.
    pub(super) access: NodeAccess,
}

with_access!(Method);

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
            texts: Texts::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            handler,
            is_inline: false,
            access: NodeAccess::default(),
        }
    }

    /// Runs the handler on the thread that serves all clients, which saves two changes of threads. The handler has to be
    /// quick: all clients wait until it returns.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.is_inline = true;
        self
    }

    /// Sets its DisplayName; by default the last segment of the path.
    #[must_use]
    pub fn display_name(mut self, text: impl Into<LocalizedText>) -> Self {
        self.texts.display_name = Some(text.into());
        self
    }

    /// Sets its Description.
    #[must_use]
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.texts.description = Some(text.into());
        self
    }

    /// Adds an input argument: a scalar.
    #[must_use]
    pub fn input(self, name: &str, data_type: impl Into<DataType>) -> Self {
        self.input_field(Field::new(name, data_type))
    }

    /// Adds an input argument.
    #[must_use]
    pub fn input_field(mut self, argument: Field) -> Self {
        self.inputs.push(argument);
        self
    }

    /// Adds an output argument: a scalar.
    #[must_use]
    pub fn output(self, name: &str, data_type: impl Into<DataType>) -> Self {
        self.output_field(Field::new(name, data_type))
    }

    /// Adds an output argument.
    #[must_use]
    pub fn output_field(mut self, argument: Field) -> Self {
        self.outputs.push(argument);
        self
    }
}
