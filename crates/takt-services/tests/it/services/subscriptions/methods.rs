//! GetMonitoredItems and ResendData of the Server object (OPC 10000-5, 9.1 and 9.2).

use takt_space::Value;
use takt_ua::enumerations::MonitoringMode;
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Variant, ids};

use super::{Subscriber, item, set, variable};
use crate::common::server;

fn call(subscriber: &mut Subscriber, method: u32, inputs: Vec<Variant>) -> CallMethodResult {
    let request = CallRequest {
        request_header: subscriber.client.header(),
        methods_to_call: vec![CallMethodRequest {
            object_id: NodeId::from(ids::SERVER),
            method_id: NodeId::from(method),
            input_arguments: inputs,
        }],
    };
    let mut response: CallResponse = subscriber.client.call(request).unwrap();
    response.results.remove(0)
}

#[test]
fn get_monitored_items_returns_the_items() {
    let server = server();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = Subscriber::new(&server);
    let id = subscriber.id;
    let handles = |subscriber: &mut Subscriber| {
        let result = call(subscriber, ids::SERVER_GET_MONITORED_ITEMS, vec![id.into()]);
        assert_eq!(result.status_code, StatusCode::Good);
        result.output_arguments
    };
    let none: Vec<u32> = Vec::new();
    assert_eq!(handles(&mut subscriber), [none.clone().into(), none.into()]);
    let items = [70, 9, 800].map(|handle| subscriber.watch(&node, handle, 1).monitored_item_id);
    let expected = [items.to_vec().into(), vec![70_u32, 9, 800].into()];
    assert_eq!(handles(&mut subscriber), expected);
    let delete = DeleteMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: id,
        monitored_item_ids: vec![items[1]],
    };
    let _: DeleteMonitoredItemsResponse = subscriber.client.call(delete).unwrap();
    let expected = [vec![items[0], items[2]].into(), vec![70_u32, 800].into()];
    assert_eq!(handles(&mut subscriber), expected);
}

#[test]
fn resend_data_reports_the_current_values_again() {
    let server = server();
    let values = [1_u32, 2, 3, 4].map(Value::stored);
    let names = ["a", "b", "c", "d"];
    let nodes = [0, 1, 2, 3].map(|at| variable(&server, names[at], &values[at]));
    let mut subscriber = Subscriber::new(&server);
    for (handle, mode) in [
        (1, MonitoringMode::Reporting),
        (2, MonitoringMode::Reporting),
        (3, MonitoringMode::Sampling),
        (4, MonitoringMode::Disabled),
    ] {
        let mut item = item(&nodes[handle as usize - 1], handle, 10);
        item.monitoring_mode = mode;
        subscriber.monitor(vec![item]).unwrap();
    }
    assert_eq!(subscriber.values(), [(1, 1_u32.into()), (2, 2_u32.into())]);
    assert!(subscriber.values().is_empty());

    let id = subscriber.id;
    let resend = |subscriber: &mut Subscriber| {
        let result = call(subscriber, ids::SERVER_RESEND_DATA, vec![id.into()]);
        assert_eq!(result.status_code, StatusCode::Good);
        assert!(result.output_arguments.is_empty());
        let mut values = subscriber.values();
        values.sort_by_key(|(handle, _)| *handle);
        values
    };
    // Reporting items publish again, with the next interval, and once.
    assert_eq!(
        resend(&mut subscriber),
        [(1, 1_u32.into()), (2, 2_u32.into())]
    );
    assert!(subscriber.values().is_empty());
    // A value that is not published yet is not published twice.
    set(&values[0], 11_u32);
    assert_eq!(
        resend(&mut subscriber),
        [(1, 11_u32.into()), (2, 2_u32.into())]
    );
}

#[test]
fn both_methods_are_limited_to_the_session_of_the_subscription() {
    let server = server();
    let owner = Subscriber::new(&server);
    let mut other = Subscriber::new(&server);
    for method in [ids::SERVER_GET_MONITORED_ITEMS, ids::SERVER_RESEND_DATA] {
        for (inputs, status) in [
            (vec![owner.id.into()], StatusCode::BadUserAccessDenied),
            (vec![4711_u32.into()], StatusCode::BadSubscriptionIdInvalid),
            (vec![], StatusCode::BadArgumentsMissing),
            (vec![1_i32.into()], StatusCode::BadInvalidArgument),
            (
                vec![1_u32.into(), 1_u32.into()],
                StatusCode::BadTooManyArguments,
            ),
        ] {
            let result = call(&mut other, method, inputs);
            assert_eq!(result.status_code, status);
        }
    }
}
