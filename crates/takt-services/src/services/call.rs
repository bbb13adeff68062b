//! Call (OPC 10000-4, 5.12.2).

use std::sync::Arc;

use takt_layout::{ResponseWriter, Service};
use takt_space::{
    AddressSpace, Binding, CallError, Caller, InputArguments, MethodBinding, MethodCall,
    MethodHandler, NodeRef, OutputArguments, RemoteCall, RemoteMethod, Spans, VariableRef, View,
};
use takt_ua::binary::{Decode, Encode, EncodeError, Encoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::CallMethodResult;
use takt_ua::views::CallMethodRequestRef;
use takt_ua::{NodeIdRef, StatusCode, ids};

use super::body::{Body, Items};
use super::deferred;
use super::request::{Handled, Request};
use super::sliced::read_write_call::{self, Context, Run, Steps};
use crate::audit::record::AuditedAction;
use crate::budgets::OperationLimits;
use crate::identity::access;
use crate::responses::fault::Fault;
use crate::server::connection::Connection;
use crate::session::Session;

/// Handles a Call request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Body<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    read_write_call::handle::<CallSteps>(request, connection, session, body, response)
}

/// The passes of a Call.
pub(super) struct CallSteps;

impl Steps for CallSteps {
    const HAS_EFFECTS: bool = true;
    const RESPONSE: u32 = ids::CALL_RESPONSE_ENCODING_DEFAULT_BINARY;
    const SERVICE: Service = Service::Call;

    type Options = ();
    type Item<'a> = Item<'a>;

    #[inline]
    fn parse(_: Body<'_>, items: &mut Items<'_>) -> Result<((), usize), Fault> {
        Ok(((), items.count(CallMethodRequestRef::MIN_SIZE)?))
    }

    #[inline]
    fn limit(limits: &OperationLimits) -> u32 {
        limits.max_nodes_per_method_call
    }

    #[inline]
    fn next<'a>(items: &mut Items<'a>) -> Result<Item<'a>, Fault> {
        match items {
            Items::Encoded(items) => {
                let item = CallMethodRequestRef::decode(items)?;
                Ok(Item {
                    object_id: item.object_id,
                    method_id: item.method_id,
                    inputs: InputArguments::Encoded(item.input_arguments),
                })
            }
            Items::LaidOut(items) => {
                let item = items.call()?;
                Ok(Item {
                    object_id: item.object_id,
                    method_id: item.method_id,
                    inputs: InputArguments::LaidOut(item.input_arguments),
                })
            }
        }
    }

    #[inline]
    fn skip(items: &mut Items<'_>) -> Result<(), Fault> {
        match items {
            Items::Encoded(items) => Ok(CallMethodRequestRef::skip(items)?),
            Items::LaidOut(items) => Ok(items.call().map(drop)?),
        }
    }

    #[inline]
    fn has_remotes(space: &AddressSpace) -> bool {
        space.has_remote_methods()
    }

    fn find_remote(
        context: &Context<'_, ()>,
        index: usize,
        item: &Item<'_>,
        found: &mut deferred::Operations,
    ) {
        // Errors of the other calls are returned when the request is answered.
        let Ok(node) = check(context.view, context.caller, item) else {
            return;
        };
        let binding = node.binding();
        if let Some(Binding::Method(MethodBinding {
            handler: MethodHandler::Remote(remote),
            ..
        })) = binding.get()
        {
            let object_id = match remote.object_id.is_null() {
                true => item.object_id.to_owned(),
                false => remote.object_id.clone(),
            };
            let call = RemoteCall {
                object_id,
                method_id: remote.method_id.clone(),
                input_arguments: item.inputs.iter().map(|input| input.to_owned()).collect(),
            };
            found.call(Arc::clone(&remote.source), index, call);
        }
    }

    fn encode(run: Run<'_, '_, '_, Self>, response: &mut Encoder<'_>) -> Result<bool, Fault> {
        let (calls, remote) = (Calls::new(&run), run.context.remote);
        let start = response.position();
        run.each(|index, items| {
            let item = Self::next(items)?;
            match remote.and_then(|remote| remote.call(index)) {
                Some(result) => {
                    calls.audit(&item, result.status_code);
                    result.encode(response)?;
                }
                None => calls.encode(&item, response)?,
            }
            Ok(response.position() - start)
        })
    }

    fn lay_out(
        run: Run<'_, '_, '_, Self>,
        mut response: ResponseWriter<'_, '_>,
    ) -> Result<bool, Fault> {
        let (calls, remote) = (Calls::new(&run), run.context.remote);
        let start = response.position();
        run.each(|index, items| {
            let item = Self::next(items)?;
            match remote.and_then(|remote| remote.call(index)) {
                Some(result) => {
                    calls.audit(&item, result.status_code);
                    lay_out(result, &mut response)?;
                }
                None => calls.lay_out(&item, &mut response)?,
            }
            Ok(response.position() - start)
        })
    }
}

/// One call of a Method.
pub(super) struct Item<'a> {
    object_id: NodeIdRef<'a>,
    method_id: NodeIdRef<'a>,
    inputs: InputArguments<'a>,
}

/// The calls of one request.
struct Calls<'r, 'a> {
    request: &'r Request<'a>,
    view: &'r View<'r>,
    caller: &'r Caller,
}

impl<'r, 'a> Calls<'r, 'a> {
    fn new(run: &Run<'r, 'a, '_, CallSteps>) -> Self {
        Self {
            request: run.request,
            view: run.context.view,
            caller: run.context.caller,
        }
    }

    /// Records a call. Arguments may be secret, so they are not part of the record.
    #[inline]
    fn audit(&self, item: &Item<'_>, status: StatusCode) {
        self.request.audit(status, || AuditedAction::Call {
            object_id: item.object_id,
            method_id: item.method_id,
            method: self
                .view
                .node(item.method_id)
                .and_then(|method| method.browse_name().name),
        });
    }

    /// Calls the Method and encodes the result in the binary DataEncoding.
    fn encode(&self, item: &Item<'_>, response: &mut Encoder<'_>) -> Result<(), Fault> {
        let start = response.position();
        // The outputs are encoded straight behind this; an error replaces all of it.
        StatusCode::Good.encode(response)?;
        // Results and diagnostics of input arguments are encoded only if an argument is invalid.
        response.array_length(None)?;
        response.array_length(None)?;
        let count_at = response.position();
        response.array_length(Some(0))?;
        let mut outputs = OutputArguments::encoded(response);
        let called = self.call(item, &mut outputs);
        self.audit(item, status_of(&called));
        let count = outputs.finish();
        match called {
            Ok(()) => {
                let count = i32::try_from(count?).map_err(|_| EncodeError::LengthOverflow)?;
                response.patch_i32(count_at, count);
                Ok(())
            }
            Err(error) => {
                response.truncate(start);
                let result = CallMethodResult {
                    status_code: error.status,
                    input_argument_results: error.input_argument_results,
                    ..CallMethodResult::default()
                };
                Ok(result.encode(response)?)
            }
        }
    }

    /// Calls the Method and encodes the result in the fixed layout.
    fn lay_out(&self, item: &Item<'_>, response: &mut ResponseWriter<'_, '_>) -> Result<(), Fault> {
        let mut spans = Spans::default();
        let mut outputs = OutputArguments::laid_out(response.values(), &mut spans);
        let called = self.call(item, &mut outputs);
        self.audit(item, status_of(&called));
        let count = outputs.finish();
        match called {
            Ok(()) => {
                count?;
                response.call_result(StatusCode::Good, &[], spans.iter())?;
            }
            Err(error) => {
                if let Some(first) = spans.iter().next() {
                    response.take_back(first);
                }
                let blame = &error.input_argument_results;
                response.call_result(error.status, blame, std::iter::empty())?;
            }
        }
        Ok(())
    }

    fn call(
        &self,
        item: &Item<'_>,
        outputs: &mut OutputArguments<'_, '_>,
    ) -> Result<(), CallError> {
        let node = check(self.view, self.caller, item)?;
        let binding = node.binding();
        match binding.get() {
            Some(Binding::Method(MethodBinding {
                handler: MethodHandler::Local(method),
                ..
            })) => {
                let call = MethodCall::new(self.caller, item.object_id, item.inputs);
                method.call(&call, outputs)
            }
            // Remote calls were made before, or the queue of the source had no room for the request.
            Some(Binding::Method(_)) => Err(StatusCode::BadNoCommunication.into()),
            _ => Err(StatusCode::BadNotExecutable.into()),
        }
    }
}

fn status_of(called: &Result<(), CallError>) -> StatusCode {
    match called {
        Ok(()) => StatusCode::Good,
        Err(error) => error.status,
    }
}

/// Encodes the answer of a remote source in the fixed layout.
fn lay_out(
    result: &CallMethodResult,
    response: &mut ResponseWriter<'_, '_>,
) -> Result<(), EncodeError> {
    let mut spans = Spans::default();
    let mut outputs = OutputArguments::laid_out(response.values(), &mut spans);
    for output in &result.output_arguments {
        outputs.push(output);
    }
    outputs.finish()?;
    let blame = &result.input_argument_results;
    response.call_result(result.status_code, blame, spans.iter())
}

/// Checks a call and returns the Method.
fn check<'v>(
    view: &'v View<'_>,
    caller: &Caller,
    call: &Item<'_>,
) -> Result<NodeRef<'v>, CallError> {
    if call.object_id.is_null() {
        return Err(StatusCode::BadNodeIdInvalid.into());
    }
    let method = view
        .node(call.method_id)
        .filter(|node| node.node_class() == NodeClass::Method);
    let Some(object) = view.node(call.object_id) else {
        let method = method.filter(takes_unknown_objects);
        let method = method.ok_or(StatusCode::BadNodeIdUnknown)?;
        return check_method(view, caller, call, method);
    };
    if !matches!(
        object.node_class(),
        NodeClass::Object | NodeClass::ObjectType
    ) {
        return Err(StatusCode::BadNodeIdInvalid.into());
    }
    // An Object without permissions of its own leaves the decision to its Method.
    if object.access().is_some() {
        access::check_call(caller, &object)?;
    }
    match method {
        Some(method) if view.is_method_of(&method, &object) => {
            check_method(view, caller, call, method)
        }
        _ => Err(StatusCode::BadMethodInvalid.into()),
    }
}

/// Returns true for a Method whose source also takes Objects that are no nodes here.
fn takes_unknown_objects(method: &NodeRef<'_>) -> bool {
    let binding = method.binding();
    matches!(
        binding.get(),
        Some(Binding::Method(MethodBinding {
            handler: MethodHandler::Remote(RemoteMethod {
                takes_unknown_objects: true,
                ..
            }),
            ..
        }))
    )
}

/// Checks the conditions that do not depend on the Object.
fn check_method<'v>(
    view: &'v View<'_>,
    caller: &Caller,
    call: &Item<'_>,
    method: NodeRef<'v>,
) -> Result<NodeRef<'v>, CallError> {
    if !access::is_executable(&method) {
        return Err(StatusCode::BadNotExecutable.into());
    }
    access::check_call(caller, &method)?;
    check_arguments(view, &method, &call.inputs)?;
    Ok(method)
}

/// Checks number, DataType and ValueRank of the input arguments.
fn check_arguments(
    view: &View<'_>,
    method: &NodeRef<'_>,
    given: &InputArguments<'_>,
) -> Result<(), CallError> {
    let binding = method.binding();
    let declared = match binding.get() {
        Some(Binding::Method(MethodBinding {
            handler: MethodHandler::Remote(remote),
            ..
        })) if remote.checks_arguments => return Ok(()),
        Some(Binding::Method(MethodBinding { inputs, .. })) => inputs,
        _ => return Err(StatusCode::BadNotExecutable.into()),
    };
    if given.len() < declared.len() {
        return Err(StatusCode::BadArgumentsMissing.into());
    }
    if given.len() > declared.len() {
        return Err(StatusCode::BadTooManyArguments.into());
    }
    let mut blame = Vec::new();
    for (index, (value, argument)) in given.iter().zip(declared).enumerate() {
        let variable = VariableRef {
            data_type: argument.data_type.as_ref(),
            value_rank: argument.value_rank,
            array_dimensions: &argument.array_dimensions,
            access_level: 0,
        };
        if let Err(status) = view.check_value_of(&variable, &value) {
            // The list is made for the first wrong argument: usually there is none.
            blame.resize(declared.len(), StatusCode::Good);
            if let Some(result) = blame.get_mut(index) {
                *result = status;
            }
        }
    }
    if blame.is_empty() {
        return Ok(());
    }
    Err(CallError {
        status: StatusCode::BadInvalidArgument,
        input_argument_results: blame,
    })
}
