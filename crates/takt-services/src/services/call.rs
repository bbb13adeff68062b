//! Call (OPC 10000-4, 5.12.2).

use std::sync::Arc;

use takt_ua::binary::{Decode, Decoder, Encode, Encoder, ListRef};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::CallMethodResult;
use takt_ua::views::CallMethodRequestRef;
use takt_ua::{NodeId, NodeIdRef, StatusCode, Variant, VariantRef, ids};

use super::attributes::is_executable;
use super::deferred::{self, RemoteResults};
use super::{Fault, Handled, Request, check_count};
use crate::address_space::{
    Binding, Inner, MAX_TYPE_DEPTH, MethodBinding, NodeRef, TypeFilter, VariableRef, View,
};
use crate::connection::{Connection, Outcome};
use crate::method::{CallError, MethodHandler};
use crate::remote::RemoteCall;
use crate::session::Session;

/// Handles a Call request; `body` follows the RequestHeader.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    if request.server.space.has_remotes() {
        let calls = remote_calls(request, body.clone())?;
        if calls.defer(request, connection, session) {
            return Ok(Outcome::Deferred);
        }
    }
    respond(request, session, body, response, None)?;
    Ok(Outcome::Complete)
}

/// Checks the number of calls, and that all of them can be decoded.
fn calls<'a>(
    request: &Request<'_>,
    body: &mut Decoder<'a>,
) -> Result<ListRef<'a, CallMethodRequestRef<'a>>, Fault> {
    let count = body
        .clone()
        .array_length(CallMethodRequestRef::MIN_SIZE)?
        .unwrap_or(0);
    check_count(
        count,
        request.server.limits.operations.max_nodes_per_method_call,
    )?;
    Ok(ListRef::decode(body)?)
}

/// Answers a Call request, with what remote sources said before.
pub(crate) fn respond(
    request: &Request<'_>,
    session: &Session,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
    remote: Option<&RemoteResults>,
) -> Result<(), Fault> {
    let calls = calls(request, &mut body)?;
    request.respond(ids::CALL_RESPONSE_ENCODING_DEFAULT_BINARY, response)?;
    response.array_length(Some(calls.len()))?;
    let view = request.server.space.view();
    for (index, call) in calls.iter().enumerate() {
        match remote.and_then(|remote| remote.call(index)) {
            Some(result) => result.encode(response)?,
            None => match call_method(&view, session, &call) {
                Ok(outputs) => encode_outputs(&outputs, response)?,
                Err(error) => encode_error(&error, response)?,
            },
        }
    }
    response.array_length(None)?;
    Ok(())
}

fn encode_outputs(outputs: &[Variant], response: &mut Encoder<'_>) -> Result<(), Fault> {
    StatusCode::Good.encode(response)?;
    // Results and diagnostics of input arguments: only where they are to blame.
    response.array_length(None)?;
    response.array_length(None)?;
    Ok(outputs.encode(response)?)
}

fn encode_error(error: &CallError, response: &mut Encoder<'_>) -> Result<(), Fault> {
    let result = CallMethodResult {
        status_code: error.status,
        input_argument_results: error.input_argument_results.clone(),
        ..CallMethodResult::default()
    };
    Ok(result.encode(response)?)
}

/// The calls that go to remote sources. Made only if there are such sources.
#[inline(never)]
fn remote_calls(
    request: &Request<'_>,
    mut body: Decoder<'_>,
) -> Result<deferred::Operations, Fault> {
    let calls = calls(request, &mut body)?;
    let view = request.server.space.view();
    let mut operations = deferred::Operations::default();
    for (index, call) in calls.iter().enumerate() {
        // What is wrong with the others is said when the request is answered.
        let Ok((node, inputs)) = check(&view, &call) else {
            continue;
        };
        let Inner::Node(entry) = node.inner else {
            continue;
        };
        let binding = entry.binding();
        if let Some(Binding::Method(MethodBinding {
            handler: MethodHandler::Remote(remote),
            ..
        })) = binding.as_deref()
        {
            let object_id = match remote.object_id.is_null() {
                true => call.object_id.to_owned(),
                false => remote.object_id.clone(),
            };
            let method_id = remote.method_id.clone();
            let call = RemoteCall {
                object_id,
                method_id,
                input_arguments: inputs,
            };
            operations.call(Arc::clone(&remote.source), index, call);
        }
    }
    Ok(operations)
}

fn call_method(
    view: &View<'_>,
    session: &Session,
    call: &CallMethodRequestRef<'_>,
) -> Result<Vec<Variant>, CallError> {
    let (node, inputs) = check(view, call)?;
    let Inner::Node(entry) = node.inner else {
        return Err(StatusCode::BadNotExecutable.into());
    };
    let binding = entry.binding();
    match binding.as_deref() {
        Some(Binding::Method(MethodBinding {
            handler: MethodHandler::Local(method),
            ..
        })) => method.call(&session.caller.load(), &call.object_id.to_owned(), &inputs),
        // Remote calls were made before, or there was no room for the request in its queue.
        Some(Binding::Method(_)) => Err(StatusCode::BadNoCommunication.into()),
        _ => Err(StatusCode::BadNotExecutable.into()),
    }
}

/// Checks a call, and gives the Method and its input arguments.
fn check<'v>(
    view: &'v View<'_>,
    call: &CallMethodRequestRef<'_>,
) -> Result<(NodeRef<'v>, Vec<Variant>), CallError> {
    if call.object_id.is_null() {
        return Err(StatusCode::BadNodeIdInvalid.into());
    }
    let method = view
        .node(call.method_id)
        .filter(|node| node.node_class() == NodeClass::Method);
    let Some(owners) = method
        .map(|method| view.owners(&method))
        .filter(|owners| !owners.is_empty())
    else {
        // A Method without an owner is that of a Provider, whose Objects live in another server.
        return match method {
            Some(method) => check_method(view, call, method),
            None if view.node(call.object_id).is_none() => Err(StatusCode::BadNodeIdUnknown.into()),
            None => Err(StatusCode::BadMethodInvalid.into()),
        };
    };
    let object = view
        .node(call.object_id)
        .ok_or(StatusCode::BadNodeIdUnknown)?;
    if !matches!(
        object.node_class(),
        NodeClass::Object | NodeClass::ObjectType
    ) {
        return Err(StatusCode::BadNodeIdInvalid.into());
    }
    match method {
        Some(method) if view.is_owner(&object, &owners) => check_method(view, call, method),
        _ => Err(StatusCode::BadMethodInvalid.into()),
    }
}

/// Checks what does not depend on the Object.
fn check_method<'v>(
    view: &'v View<'_>,
    call: &CallMethodRequestRef<'_>,
    method: NodeRef<'v>,
) -> Result<(NodeRef<'v>, Vec<Variant>), CallError> {
    if !is_executable(&method) {
        return Err(StatusCode::BadNotExecutable.into());
    }
    let inputs = arguments(view, &method, &call.input_arguments)?;
    Ok((method, inputs))
}

/// Checks number, DataType and ValueRank of the input arguments.
fn arguments(
    view: &View<'_>,
    method: &NodeRef<'_>,
    given: &ListRef<'_, VariantRef<'_>>,
) -> Result<Vec<Variant>, CallError> {
    let Inner::Node(entry) = method.inner else {
        return Err(StatusCode::BadNotExecutable.into());
    };
    let binding = entry.binding();
    let declared = match binding.as_deref() {
        // Whoever runs it checks them; its arguments may have been declared after it was bound.
        Some(Binding::Method(MethodBinding {
            handler: MethodHandler::Remote(_),
            ..
        })) => {
            return Ok(given.iter().map(|value| value.to_owned()).collect());
        }
        Some(Binding::Method(MethodBinding { inputs, .. })) => inputs,
        _ => return Err(StatusCode::BadNotExecutable.into()),
    };
    if given.len() < declared.len() {
        return Err(StatusCode::BadArgumentsMissing.into());
    }
    if given.len() > declared.len() {
        return Err(StatusCode::BadTooManyArguments.into());
    }
    let mut inputs = Vec::with_capacity(declared.len());
    let mut first_wrong = None;
    for (index, (value, argument)) in given.iter().zip(declared).enumerate() {
        let variable = VariableRef {
            data_type: argument.data_type.as_ref(),
            value_rank: argument.value_rank,
            array_dimensions: &argument.array_dimensions,
            access_level: 0,
        };
        if let Err(status) = view.check_value_of(&variable, &value) {
            first_wrong.get_or_insert_with(|| vec![StatusCode::Good; declared.len()]);
            if let Some(result) = first_wrong
                .as_mut()
                .and_then(|results: &mut Vec<_>| results.get_mut(index))
            {
                *result = status;
            }
        }
        inputs.push(value.to_owned());
    }
    match first_wrong {
        None => Ok(inputs),
        Some(input_argument_results) => Err(CallError {
            status: StatusCode::BadInvalidArgument,
            input_argument_results,
        }),
    }
}

impl View<'_> {
    /// The nodes that have a Method as a component.
    fn owners(&self, method: &NodeRef<'_>) -> Vec<NodeId> {
        let mut components = TypeFilter::with_subtypes(NodeIdRef::from(ids::HAS_COMPONENT));
        let references = method.references();
        let inverse = references.iter().filter(|reference| !reference.is_forward);
        inverse
            .filter(|reference| components.matches(self, reference.reference_type))
            .filter_map(|reference| reference.local_target())
            .map(|owner| owner.to_owned())
            .collect()
    }

    /// Whether one of the owners is the Object or ObjectType itself, its type, or a supertype of that.
    fn is_owner(&self, object: &NodeRef<'_>, owners: &[NodeId]) -> bool {
        if owners.iter().any(|owner| object.node_id() == *owner) {
            return true;
        }
        let mut current = match object.node_class() {
            NodeClass::Object => self.type_definition(object.node_id()),
            _ => self.supertype(object.node_id()),
        };
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(type_id) = current else { return false };
            if owners.contains(&type_id) {
                return true;
            }
            current = self.supertype(&type_id);
        }
        false
    }
}
