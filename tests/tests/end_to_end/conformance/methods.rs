//! Call (OPC 10000-4, 5.12.2).

use takt_app::Client;
use takt_ua::structures::{CallMethodRequest, CallMethodResult, CallRequest};
use takt_ua::{NodeId, StatusCode, Variant, ids};

use crate::conformance::plant::{MAX_OPERATIONS, fault, node, standard};

fn request(object: NodeId, method: NodeId, inputs: &[Variant]) -> CallMethodRequest {
    CallMethodRequest {
        object_id: object,
        method_id: method,
        input_arguments: inputs.to_vec(),
    }
}

fn call(client: &mut Client, calls: Vec<CallMethodRequest>) -> Vec<CallMethodResult> {
    let expected = calls.len();
    let response = client.call(CallRequest {
        methods_to_call: calls,
        ..CallRequest::default()
    });
    let results = response.unwrap().results;
    assert_eq!(results.len(), expected);
    results
}

fn add(inputs: &[Variant]) -> CallMethodRequest {
    request(node("Plant"), node("Add"), inputs)
}

pub(crate) fn a_method_is_called(client: &mut Client) {
    let results = call(
        client,
        vec![
            add(&[1.5.into(), 2.0.into()]),
            request(node("Plant"), node("Refuse"), &[]),
            add(&[(-1.0).into(), 1.0.into()]),
        ],
    );
    assert_eq!(results[0].status_code, StatusCode::Good);
    assert_eq!(results[0].output_arguments, [Variant::Double(3.5)]);
    assert_eq!(results[1].status_code, StatusCode::BadInvalidState);
    assert!(results[1].output_arguments.is_empty());
    assert_eq!(results[2].output_arguments, [Variant::Double(0.0)]);
    assert_eq!(
        fault(client.call(CallRequest::default())),
        StatusCode::BadNothingToDo
    );
    let too_many = client.call(CallRequest {
        methods_to_call: vec![add(&[1.0.into(), 2.0.into()]); MAX_OPERATIONS as usize + 1],
        ..CallRequest::default()
    });
    assert_eq!(fault(too_many), StatusCode::BadTooManyOperations);
}

pub(crate) fn arguments_are_checked(client: &mut Client) {
    let results = call(
        client,
        vec![
            add(&[]),
            add(&[1.0.into()]),
            add(&[1.0.into(), 2.0.into(), 3.0.into()]),
            add(&[1.0.into(), "two".into()]),
            add(&[vec![1.0_f64].into(), Variant::Empty]),
            request(node("Plant"), node("Refuse"), &[1.0.into()]),
        ],
    );
    let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    assert_eq!(
        statuses,
        [
            StatusCode::BadArgumentsMissing,
            StatusCode::BadArgumentsMissing,
            StatusCode::BadTooManyArguments,
            StatusCode::BadInvalidArgument,
            StatusCode::BadInvalidArgument,
            StatusCode::BadTooManyArguments,
        ]
    );
    assert_eq!(
        results[3].input_argument_results,
        [StatusCode::Good, StatusCode::BadTypeMismatch]
    );
    assert_eq!(
        results[4].input_argument_results,
        [StatusCode::BadTypeMismatch, StatusCode::BadTypeMismatch]
    );
}

pub(crate) fn the_method_must_belong_to_the_object(client: &mut Client) {
    let inputs = [1.0.into(), 2.0.into()];
    let results = call(
        client,
        vec![
            request(node("Many"), node("Add"), &inputs),
            request(node("Nobody"), node("Add"), &inputs),
            request(NodeId::NULL, node("Add"), &inputs),
            request(node("UInt32"), node("Add"), &inputs),
            request(node("Plant"), node("Nobody"), &inputs),
            request(node("Plant"), node("UInt32"), &inputs),
            request(node("Plant"), NodeId::NULL, &inputs),
            // A Method of the standard that is not implemented here.
            request(
                standard(ids::SERVER),
                standard(ids::SERVER_REQUEST_SERVER_STATE_CHANGE),
                &[1_u32.into(), 1_u32.into()],
            ),
        ],
    );
    let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    assert_eq!(
        statuses[..3],
        [
            StatusCode::BadMethodInvalid,
            StatusCode::BadNodeIdUnknown,
            StatusCode::BadNodeIdInvalid
        ]
    );
    assert!(
        statuses.iter().all(|status| status.is_bad()),
        "{statuses:?}"
    );
    for wrong_method in &statuses[4..7] {
        assert_eq!(*wrong_method, StatusCode::BadMethodInvalid);
    }
}
