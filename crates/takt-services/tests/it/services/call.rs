//! Call (OPC 10000-4, 5.12.2).

use std::sync::{Arc, Mutex};

use crate::common::{Client, server};
use takt_services::Server;
use takt_space::{CallError, Caller, ClassAttributes, MethodHandler, NodeDefinition, Value};
use takt_ua::structures::{CallMethodRequest, CallMethodResult, CallRequest, CallResponse};
use takt_ua::{NodeId, QualifiedName, StatusCode, Variant, ids};

fn call(
    client: &mut Client,
    object: impl Into<NodeId>,
    method: &NodeId,
    input_arguments: Vec<Variant>,
) -> CallMethodResult {
    let request_header = client.header();
    let call = CallMethodRequest {
        object_id: object.into(),
        method_id: method.clone(),
        input_arguments,
    };
    let request = CallRequest {
        request_header,
        methods_to_call: vec![call],
    };
    client
        .call_either::<_, CallResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

fn divide(_: &Caller, _: &NodeId, inputs: &[Variant]) -> Result<Vec<Variant>, CallError> {
    match inputs {
        [Variant::Double(_), Variant::Double(0.0)] => {
            Err(CallError::argument(1, 2, StatusCode::BadOutOfRange))
        }
        [Variant::Double(dividend), Variant::Double(divisor)] => {
            Ok(vec![(dividend / divisor).into()])
        }
        _ => Err(StatusCode::BadInternalError.into()),
    }
}

/// An Object with a Method that divides.
fn calculator(server: &Arc<Server>) -> (NodeId, NodeId) {
    let space = server.address_space();
    let object = space.add_object((1, "Calculator")).add().unwrap();
    let method = space
        .add_method((1, "Divide"))
        .component_of(object.clone())
        .input("Dividend", ids::DOUBLE, -1)
        .input("Divisor", ids::DOUBLE, -1)
        .output("Quotient", ids::DOUBLE, -1)
        .handler(divide)
        .add()
        .unwrap();
    (object, method)
}

#[test]
fn methods_are_called_with_checked_arguments() {
    let mut client = Client::new(&server());
    let (object, method) = calculator(&Arc::clone(&client.server));
    let mut divide = |inputs: Vec<Variant>| call(&mut client, object.clone(), &method, inputs);
    let good = divide(vec![7.0.into(), 2.0.into()]);
    assert_eq!(
        (good.status_code, good.output_arguments),
        (StatusCode::Good, vec![3.5.into()])
    );
    assert!(good.input_argument_results.is_empty());

    assert_eq!(
        divide(vec![7.0.into()]).status_code,
        StatusCode::BadArgumentsMissing
    );
    assert_eq!(
        divide(vec![7.0.into(); 3]).status_code,
        StatusCode::BadTooManyArguments
    );
    let wrong = divide(vec![7.0.into(), "two".into()]);
    assert_eq!(wrong.status_code, StatusCode::BadInvalidArgument);
    assert_eq!(
        wrong.input_argument_results,
        [StatusCode::Good, StatusCode::BadTypeMismatch]
    );
    let array = divide(vec![vec![7.0].into(), 2.0.into()]);
    assert_eq!(
        array.input_argument_results,
        [StatusCode::BadTypeMismatch, StatusCode::Good]
    );
    let refused = divide(vec![7.0.into(), 0.0.into()]);
    assert_eq!(refused.status_code, StatusCode::BadInvalidArgument);
    assert_eq!(
        refused.input_argument_results,
        [StatusCode::Good, StatusCode::BadOutOfRange]
    );
    assert!(refused.output_arguments.is_empty());
}

#[test]
fn invalid_calls_are_refused() {
    let mut client = Client::new(&server());
    let (object, method) = calculator(&Arc::clone(&client.server));
    let space = Arc::clone(client.server.address_space());
    let other = space.add_object((1, "Other")).add().unwrap();
    let variable = space
        .add_variable((1, "V"))
        .value(Value::stored(1_u32))
        .add()
        .unwrap();
    let unbound = space
        .add_method((1, "Unbound"))
        .component_of(object.clone())
        .add()
        .unwrap();
    for (on, what, status) in [
        (NodeId::NULL, &method, StatusCode::BadNodeIdInvalid),
        (
            NodeId::numeric(1, 9999),
            &method,
            StatusCode::BadNodeIdUnknown,
        ),
        (
            NodeId::numeric(1, 9999),
            &NodeId::numeric(1, 9998),
            StatusCode::BadNodeIdUnknown,
        ),
        (variable.clone(), &method, StatusCode::BadNodeIdInvalid),
        (other, &method, StatusCode::BadMethodInvalid),
        (object.clone(), &variable, StatusCode::BadMethodInvalid),
        (
            object.clone(),
            &NodeId::numeric(1, 9998),
            StatusCode::BadMethodInvalid,
        ),
        (object.clone(), &unbound, StatusCode::BadNotExecutable),
        (
            ids::SERVER.into(),
            &NodeId::from(ids::SERVER_REQUEST_SERVER_STATE_CHANGE),
            StatusCode::BadNotExecutable,
        ),
    ] {
        let result = call(&mut client, on.clone(), what, vec![1.0.into(), 1.0.into()]);
        assert_eq!(result.status_code, status, "{what} on {on}");
    }
}

#[test]
fn an_object_may_use_the_method_of_its_type() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let attributes = ClassAttributes::ObjectType { is_abstract: false };
    let machine_type = NodeId::numeric(1, 1000);
    space
        .edit()
        .add_node(
            NodeDefinition::new(
                machine_type.clone(),
                QualifiedName::new(1, "MachineType"),
                attributes,
            ),
            &[takt_space::NewReference::inverse(
                ids::HAS_SUBTYPE,
                ids::BASE_OBJECT_TYPE,
            )],
        )
        .unwrap();
    let called = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&called);
    let start = move |caller: &Caller, object: &NodeId, _: &[Variant]| {
        log.lock()
            .unwrap()
            .push((caller.application_name.clone(), object.clone()));
        Ok::<_, CallError>(Vec::new())
    };
    let start = space
        .add_method((1, "Start"))
        .component_of(machine_type.clone())
        .handler(start)
        .add()
        .unwrap();
    let machine = space
        .add_object((1, "Machine"))
        .type_definition(machine_type.clone())
        .add()
        .unwrap();
    let stranger = space.add_object((1, "Stranger")).add().unwrap();
    for on in [&machine, &machine_type] {
        assert_eq!(
            call(&mut client, on.clone(), &start, Vec::new()).status_code,
            StatusCode::Good
        );
    }
    let refused = call(&mut client, stranger, &start, Vec::new());
    assert_eq!(refused.status_code, StatusCode::BadMethodInvalid);
    let objects: Vec<NodeId> = called
        .lock()
        .unwrap()
        .iter()
        .map(|(_, object)| object.clone())
        .collect();
    assert_eq!(objects, [machine, machine_type]);
}

#[test]
fn a_method_without_an_owner_cannot_be_called() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let attributes = ClassAttributes::Method { executable: true };
    let method = NodeId::string(1, "Start");
    let definition =
        NodeDefinition::new(method.clone(), QualifiedName::new(1, "Start"), attributes);
    space.edit().add_node(definition, &[]).unwrap();
    let handler = |_: &Caller, object: &NodeId, _: &[Variant]| {
        Ok::<_, CallError>(vec![Variant::from(object.clone())])
    };
    space
        .set_method(&method, MethodHandler::local(handler))
        .unwrap();
    let object = space.add_object((1, "Machine")).add().unwrap();
    for (on, status) in [
        (&object, StatusCode::BadMethodInvalid),
        (&NodeId::numeric(5, 17), StatusCode::BadNodeIdUnknown),
    ] {
        let result = call(&mut client, on.clone(), &method, Vec::new());
        assert_eq!(result.status_code, status, "{on}");
    }
}

#[test]
fn the_alias_of_a_namespace_leads_to_the_same_method() {
    let mut client = Client::new(&server());
    let (object, method) = calculator(&Arc::clone(&client.server));
    client.server.address_space().namespaces().set_alias(9, 1);
    let alias = |mut node: NodeId| {
        node.namespace = 9;
        node
    };
    let inputs = vec![7.0.into(), 2.0.into()];
    let result = call(&mut client, alias(object), &alias(method), inputs);
    assert_eq!(result.output_arguments, [Variant::from(3.5)]);
}

#[test]
fn a_method_may_change_the_address_space() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let inner = Arc::downgrade(&space);
    let grow = move |_: &Caller, _: &NodeId, _: &[Variant]| {
        let space = inner.upgrade().ok_or(StatusCode::BadShutdown)?;
        let node = space
            .add_object((1, "New"))
            .add()
            .map_err(|error| error.status_code())?;
        Ok::<_, CallError>(vec![Variant::from(node)])
    };
    let method = space.add_method((1, "Grow")).handler(grow).add().unwrap();
    let result = call(&mut client, ids::OBJECTS_FOLDER, &method, Vec::new());
    let Some(Variant::NodeId(added)) = result.output_arguments.first() else {
        panic!("{result:?}")
    };
    assert!(space.view().node(&**added).is_some());
}
