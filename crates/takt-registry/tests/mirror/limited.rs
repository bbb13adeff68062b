//! A server that takes few operations in one request.

use takt_app::{Provider, Variable};
use takt_services::{OperationLimits, ServerLimits};

use crate::support::{mirror, registry, serve, tcp, wait_for};

const VARIABLES: u32 = 30;

#[test]
fn a_server_with_small_operation_limits_is_mirrored() {
    let directory = tempfile::tempdir().unwrap();
    let operations = OperationLimits {
        max_nodes_per_read: 9,
        max_nodes_per_browse: 5,
        max_monitored_items_per_call: 4,
        ..OperationLimits::default()
    };
    let mut builder = Provider::builder("Mill")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .serve(serve(directory.path()))
        .limits(ServerLimits {
            operations,
            ..ServerLimits::default()
        });
    for number in 0..VARIABLES {
        builder = builder.variable(Variable::stored(format!("V{number}"), number));
    }
    let server = builder.start().unwrap();
    let (_registry, mut client) = registry(directory.path(), vec![mirror("Mill", &tcp(&server))]);
    for number in 0..VARIABLES {
        let path = format!("Mill/Mill/V{number}");
        wait_for(&mut client, &path, &number.into());
    }
    wait_for(&mut client, "Mill/Available", &true.into());
    wait_for(&mut client, "Mill/Problem", &"".into());
}
