//! Clients without support of `InteractionVia` use the Providers' data at the registry.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{ClientError, Variable};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::structures::{ReadRequest, ReadValueId};
use takt_ua::{BuiltInType, NodeId, StatusCode, Variant};

use crate::registry::{
    PATIENCE, available, client, consumer, eventually, tank, wait_until_available,
};

fn status<T: std::fmt::Debug>(result: Result<T, ClientError>) -> StatusCode {
    result.unwrap_err().status_code()
}

#[test]
fn a_value_is_as_old_as_the_client_accepts() {
    const MINUTE: Duration = Duration::from_secs(60);
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Counting");
    let count = AtomicU32::new(0);
    // The Provider itself reads 0 at its start.
    let count = move || count.fetch_add(1, Ordering::Relaxed);
    let variable = Variable::callback("Count", BuiltInType::UInt32, count).publish_current(16);
    let _provider = takt_app::Provider::builder(&name)
        .registry(registry.shared_memory())
        .state_directory(sandbox.data_directory().join("state"))
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        })
        .variable(variable)
        .start()
        .unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);
    let count = consumer.find(&format!("{name}/Count")).unwrap();
    let current = consumer.current_value(&count).unwrap().unwrap();
    let node = count.node_id.clone();
    let mut expected = 0_u32;
    for max_age in [MINUTE, MINUTE, Duration::ZERO, MINUTE] {
        if expected == 0 || max_age.is_zero() {
            expected += 1;
        }
        let read = consumer.read_current(&count, &current, max_age).unwrap();
        assert_eq!(read.value, Some(expected.into()));
        // maxAge is forwarded too, so that a cached value is accepted.
        let forwarded = consumer.registry().read_within(&node, MINUTE).unwrap();
        assert_eq!(forwarded.value, read.value);
    }
    let forwarded = consumer.registry().read(&node).unwrap();
    assert_eq!(forwarded.value, Some((expected + 1).into()));
}

#[test]
fn reads_writes_and_calls_are_forwarded() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let name = sandbox.application("Tank");
    let _tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);

    for endpoint in [registry.endpoint.clone(), registry.shared_memory()] {
        let mut client = client(&sandbox, &endpoint);
        let mut find = |path: &str| {
            let found = client.find(&format!("{name}/{path}")).unwrap();
            found.node_id.node_id
        };
        let (object, level, pressure, double) = (
            find(""),
            find("Level"),
            find("Cell/Pressure"),
            find("Double"),
        );
        client.write(&level, 41.0.into()).unwrap();
        let read = client.read(&level).unwrap();
        assert_eq!(read.value, Some(41.0.into()));
        assert_eq!(read.status_code(), StatusCode::Good);
        assert!(read.source_timestamp.is_some());
        let outputs = client.call_method(&object, &double, vec![21.0.into()]);
        assert_eq!(outputs.unwrap(), [Variant::Double(42.0)]);

        // One request for the registry's own nodes and the Provider's.
        let item = |node_id: &NodeId, range: &str| ReadValueId {
            node_id: node_id.clone(),
            attribute_id: 13,
            index_range: range.into(),
            ..ReadValueId::default()
        };
        let state = NodeId::from(takt_ua::ids::SERVER_SERVER_STATUS_STATE);
        let response = client
            .call(ReadRequest {
                nodes_to_read: vec![
                    item(&level, ""),
                    item(&state, ""),
                    item(&pressure, "1:2"),
                    item(&pressure, "7"),
                    item(&NodeId::numeric(1, 99_999), ""),
                ],
                ..ReadRequest::default()
            })
            .unwrap();
        let results = response.results;
        assert_eq!(results[0].value, Some(41.0.into()));
        assert_eq!(results[1].value, Some(Variant::Int32(0)));
        assert_eq!(results[2].value, Some(vec![2_u32, 3].into()));
        assert_eq!(results[3].status_code(), StatusCode::BadIndexRangeNoData);
        assert_eq!(results[4].status_code(), StatusCode::BadNodeIdUnknown);

        // Requests that the Provider would refuse are refused here too.
        assert_eq!(
            status(client.write(&level, "full".into())),
            StatusCode::BadTypeMismatch
        );
        assert_eq!(
            status(client.write(&pressure, vec![1_u32].into())),
            StatusCode::BadNotWritable
        );
        assert_eq!(
            status(client.call_method(&object, &double, Vec::new())),
            StatusCode::BadArgumentsMissing
        );
        assert_eq!(
            status(client.call_method(&object, &double, vec!["x".into()])),
            StatusCode::BadTypeMismatch
        );
    }
}

#[test]
fn a_dead_provider_is_noticed_within_a_second_and_recognised_when_it_returns() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut machine = Provider::start(&sandbox, &registry, "machine");
    let name = machine.name.clone();
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &name);
    let mut client = client(&sandbox, &registry.endpoint);
    let mut find = |path: &str| {
        let found = client.find(&format!("{name}/{path}")).unwrap();
        found.node_id.node_id
    };
    let (object, setpoint, temperature, start) = (
        find(""),
        find("Spindle/SpeedSetpoint"),
        find("Spindle/Temperature"),
        find("Start"),
    );
    assert_eq!(client.read_good(&setpoint).unwrap(), 6_000.0.into());
    let before = crate::registry::node_ids(&mut consumer, &name);

    // On a loaded machine the registry may be delayed, so it has several attempts.
    let mut took = Vec::new();
    loop {
        let killed = Instant::now();
        machine.process.kill();
        eventually("not available", PATIENCE, || {
            available(&mut consumer, &name) == Some(false)
        });
        took.push(killed.elapsed());
        if killed.elapsed() < Duration::from_secs(1) {
            break;
        }
        assert!(took.len() < 5, "noticed after {took:?}");
        machine = Provider::start(&sandbox, &registry, "machine");
        wait_until_available(&mut consumer, &name);
        assert_eq!(client.read_good(&setpoint).unwrap(), 6_000.0.into());
    }
    let last = client.read(&setpoint).unwrap();
    assert_eq!(last.status_code(), StatusCode::UncertainLastUsableValue);
    assert_eq!(last.value, Some(6_000.0.into()));
    let never = client.read(&temperature).unwrap();
    assert_eq!(never.status_code(), StatusCode::BadNoCommunication);
    assert_eq!(never.value, None);
    assert_eq!(
        status(client.write(&setpoint, 1.0.into())),
        StatusCode::BadNoCommunication
    );
    assert_eq!(
        status(client.call_method(&object, &start, Vec::new())),
        StatusCode::BadNoCommunication
    );
    // Its nodes stay, with the attributes that the registry has.
    assert_eq!(crate::registry::node_ids(&mut consumer, &name), before);

    let machine = Provider::start(&sandbox, &registry, "machine");
    assert_eq!(machine.name, name);
    eventually("good values again", PATIENCE, || {
        let read = client.read(&setpoint).unwrap();
        read.status_code() == StatusCode::Good
    });
    // The registry reaches it as soon as it serves, and shows it as available when it has registered.
    eventually("available again", PATIENCE, || {
        available(&mut consumer, &name) == Some(true)
    });
    eventually("its nodes again, with the same NodeIds", PATIENCE, || {
        crate::registry::try_node_ids(&mut consumer, &name).is_ok_and(|found| found == before)
    });
    // The port is another one: the registry forwards to the new endpoint of the Provider.
    assert!(client.call_method(&object, &start, Vec::new()).is_ok());
    assert_eq!(consumer.providers().unwrap().len(), 1);
}
