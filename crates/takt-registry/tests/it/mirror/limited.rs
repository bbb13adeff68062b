//! A server that takes few operations in one request.

use takt_app::{Method, Provider, Variable};
use takt_services::{OperationLimits, ServerBudgets};
use takt_ua::StatusCode;
use takt_ua::structures::{CallMethodRequest, CallRequest, WriteRequest, WriteValue};
use takt_ua::{BuiltInType, DataValue, Variant};

use crate::mirror::support::{find, mirror, registry, serve, tcp, wait_for};

const VARIABLES: u32 = 30;

#[test]
fn a_server_with_small_operation_limits_is_mirrored() {
    let directory = tempfile::tempdir().unwrap();
    let operations = OperationLimits {
        max_nodes_per_read: 9,
        max_nodes_per_write: 7,
        max_nodes_per_method_call: 2,
        max_nodes_per_browse: 5,
        max_monitored_items_per_call: 4,
        ..OperationLimits::default()
    };
    let mut builder = Provider::builder("Mill")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .serve(serve(directory.path()))
        .budgets(ServerBudgets {
            operations,
            ..ServerBudgets::default()
        });
    for number in 0..VARIABLES {
        builder = builder.variable(Variable::stored(format!("V{number}"), number).writable());
    }
    builder = builder.method(
        Method::new("Double", |inputs: &[Variant]| match inputs {
            [Variant::UInt32(number)] => Ok(vec![(2 * number).into()]),
            _ => Err(StatusCode::BadInvalidArgument),
        })
        .input("Number", BuiltInType::UInt32)
        .output("Double", BuiltInType::UInt32),
    );
    let server = builder.start().unwrap();
    let (_registry, mut client) = registry(directory.path(), vec![mirror("Mill", &tcp(&server))]);
    for number in 0..VARIABLES {
        let path = format!("Mill/Mill/V{number}");
        wait_for(&mut client, &path, &number.into());
    }
    wait_for(&mut client, "Mill/Available", &true.into());
    wait_for(&mut client, "Mill/Problem", &"".into());

    // The registry takes more operations at once than the server, and divides them.
    let nodes: Vec<_> = (0..VARIABLES)
        .map(|number| find(&mut client, &format!("Mill/Mill/V{number}")).unwrap())
        .collect();
    let value = |number: u32| Variant::from(1000 + number);
    let nodes_to_write = nodes.iter().zip(0..).map(|(node, number)| WriteValue {
        node_id: node.clone(),
        attribute_id: 13,
        value: DataValue {
            value: Some(value(number)),
            ..DataValue::default()
        },
        ..WriteValue::default()
    });
    let written = client.call(WriteRequest {
        nodes_to_write: nodes_to_write.collect(),
        ..WriteRequest::default()
    });
    assert_eq!(
        written.unwrap().results,
        vec![StatusCode::Good; nodes.len()]
    );
    for number in 0..VARIABLES {
        wait_for(&mut client, &format!("Mill/Mill/V{number}"), &value(number));
    }
    let object_id = find(&mut client, "Mill/Mill").unwrap();
    let method_id = find(&mut client, "Mill/Mill/Double").unwrap();
    let call = |number: u32| CallMethodRequest {
        object_id: object_id.clone(),
        method_id: method_id.clone(),
        input_arguments: vec![number.into()],
    };
    let called = client.call(CallRequest {
        methods_to_call: (0..9).map(call).collect(),
        ..CallRequest::default()
    });
    let doubles: Vec<_> = called
        .unwrap()
        .results
        .into_iter()
        .flat_map(|result| result.output_arguments)
        .collect();
    assert_eq!(
        doubles,
        (0..9)
            .map(|number: u32| Variant::from(2 * number))
            .collect::<Vec<_>>()
    );
}
