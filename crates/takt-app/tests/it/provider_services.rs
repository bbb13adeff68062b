//! Services at a Provider: Calls, filters and Writes.

use takt_app::model::provider;
use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Method, MonitoredItemOptions, Provider, Subscription};
use takt_app::{SubscriptionOptions, Variable};
use takt_ua::enumerations::{DataChangeTrigger, DeadbandType};
use takt_ua::structures::{DataChangeFilter, WriteRequest, WriteValue};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant};

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

/// A Provider and a client of it.
fn start(directory: &std::path::Path) -> (Provider, Client) {
    let serve = ServeOptions {
        runtime_directory: Some(directory.to_path_buf()),
        ..ServeOptions::default()
    };
    let answer = |_: &[Variant]| Ok(vec![42_u32.into()]);
    let provider = Provider::builder("Services")
        .without_registry()
        .variable(Variable::stored("Tank/Level", 5.0_f64).range(0.0..200.0))
        .variable(Variable::stored("Tank/Name", "B 1").writable())
        .method(Method::new("Answer", answer))
        .method(Method::new("Pump/Motor/Answer", answer))
        .serve(serve)
        .start()
        .unwrap();
    let options = ClientOptions {
        runtime_directory: Some(directory.to_path_buf()),
        ..ClientOptions::named("Test")
    };
    let endpoint = "opc.iox2://Services".parse().unwrap();
    (provider, Client::connect(&endpoint, options).unwrap())
}

#[test]
fn a_method_is_called_on_its_object_only() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, mut client) = start(directory.path());
    let object = NodeId::numeric(1, provider::OBJECT);
    let (answer, inner) = (node("Answer"), node("Pump/Motor/Answer"));
    for (on, method) in [(&object, &answer), (&node("Pump/Motor"), &inner)] {
        let outputs = client.call_method(on, method, Vec::new()).unwrap();
        assert_eq!(outputs, [Variant::from(42_u32)]);
    }
    for (on, method, expected) in [
        (&object, &inner, StatusCode::BadMethodInvalid),
        (&node("Pump"), &inner, StatusCode::BadMethodInvalid),
        (&node("Tank"), &answer, StatusCode::BadMethodInvalid),
        (&object, &node("Missing"), StatusCode::BadMethodInvalid),
        (
            &node("Tank"),
            &node("Missing"),
            StatusCode::BadMethodInvalid,
        ),
        (&node("Missing"), &answer, StatusCode::BadNodeIdUnknown),
        (&node("Tank/Level"), &answer, StatusCode::BadNodeIdInvalid),
    ] {
        let refused = client.call_method(on, method, Vec::new()).unwrap_err();
        assert_eq!(refused.status_code(), expected, "{method} on {on}");
    }
}

#[test]
fn a_percent_deadband_refers_to_the_range() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, client) = start(directory.path());
    let mut subscription = Subscription::create(client, SubscriptionOptions::default()).unwrap();
    let options = || MonitoredItemOptions {
        filter: Some(DataChangeFilter {
            trigger: DataChangeTrigger::StatusValue,
            deadband_type: u32::try_from(DeadbandType::Percent.0).unwrap(),
            deadband_value: 10.0,
        }),
        ..MonitoredItemOptions::default()
    };
    assert!(subscription.monitor(&node("Tank/Level"), options()).is_ok());
    let text = subscription.monitor(&node("Tank/Name"), options());
    assert_eq!(
        text.unwrap_err().status_code(),
        StatusCode::BadFilterNotAllowed
    );
}

#[test]
fn a_write_may_have_a_status_and_timestamps() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, mut client) = start(directory.path());
    let (time, status) = (DateTime(4711), StatusCode::UncertainInitialValue);
    let value = DataValue::good("B 2")
        .with_status(status)
        .with_source_timestamp(time)
        .with_server_timestamp(DateTime(4712));
    let write = WriteRequest {
        nodes_to_write: vec![WriteValue {
            node_id: node("Tank/Name"),
            attribute_id: takt_app::Attribute::Value as u32,
            value,
            ..WriteValue::default()
        }],
        ..WriteRequest::default()
    };
    let results = client.call(write).unwrap().results;
    assert_eq!(results, [StatusCode::Good]);
    let read = client.read(&node("Tank/Name")).unwrap();
    assert_eq!(read.value, Some("B 2".into()));
    assert_eq!(
        (read.status, read.source_timestamp),
        (Some(status), Some(time))
    );
}
