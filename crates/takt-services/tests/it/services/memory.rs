//! Memory that the server holds for clients: it counts in the budgets, and is given back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Client, VALUE, builder, catch_up, message, read_id};
use crate::services::nodes::{self, add_one};
use takt_services::{EverybodyManages, Server, ServerBudgets};
use takt_space::Value;
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Variant, ids};

fn server_with(max_memory_per_session: usize) -> Arc<Server> {
    let budgets = ServerBudgets {
        max_memory_per_session,
        ..ServerBudgets::default()
    };
    builder().budgets(budgets).build().unwrap()
}

/// Closes the Session with its Subscriptions, which gives back all of their memory.
fn close(client: &mut Client) {
    let request_header = client.header();
    let _: CloseSessionResponse = client
        .call(CloseSessionRequest {
            request_header,
            delete_subscriptions: true,
        })
        .unwrap();
    catch_up(&client.server, Instant::now());
}

fn subscribe(client: &mut Client) -> Result<u32, StatusCode> {
    let request = CreateSubscriptionRequest {
        request_header: client.header(),
        requested_publishing_interval: 100.0,
        requested_lifetime_count: 30,
        requested_max_keep_alive_count: 5,
        publishing_enabled: true,
        ..CreateSubscriptionRequest::default()
    };
    let created: CreateSubscriptionResponse = client.call(request)?;
    Ok(created.subscription_id)
}

fn monitor(
    client: &mut Client,
    subscription_id: u32,
    node_id: &NodeId,
    count: u32,
) -> Vec<MonitoredItemCreateResult> {
    let item = |client_handle| MonitoredItemCreateRequest {
        item_to_monitor: read_id(node_id.clone(), VALUE),
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            client_handle,
            queue_size: 10_000,
            discard_oldest: true,
            ..MonitoringParameters::default()
        },
    };
    let request = CreateMonitoredItemsRequest {
        request_header: client.header(),
        subscription_id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_create: (0..count).map(item).collect(),
    };
    let created: CreateMonitoredItemsResponse = client.call(request).unwrap();
    created.results
}

fn variable(server: &Server, name: &str, value: &Value) -> NodeId {
    let space = server.address_space();
    space.add_variable(name).value(value.clone()).add().unwrap()
}

fn set(value: &Value, new: impl Into<Variant>) {
    match value {
        Value::Stored(stored) => stored.set(new),
        _ => panic!("not stored"),
    }
}

#[test]
fn a_session_counts_until_it_is_closed() {
    let server = server_with(64 << 20);
    let before = server.memory().used();
    let mut client = Client::connect(&server);
    client.create().unwrap();
    let created = server.memory().used();
    assert!(created > before);
    assert_eq!(server.memory_without_session().used(), created - before);
    client.activate().unwrap();
    assert_eq!(server.memory_without_session().used(), 0);
    assert_eq!(server.memory_of_sessions().used(), created - before);
    close(&mut client);
    assert_eq!(server.memory().used(), before);
}

#[test]
fn sessions_that_are_not_activated_share_their_memory() {
    let budgets = ServerBudgets {
        max_memory_without_session: 100_000,
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut client = Client::connect(&server);
    let request = CreateSessionRequest {
        session_name: "x".repeat(60_000).as_str().into(),
        ..CreateSessionRequest::default()
    };
    let first: Result<CreateSessionResponse, _> = client.call(request.clone());
    assert!(first.is_ok());
    let second: Result<CreateSessionResponse, _> = client.call(request);
    assert_eq!(second.unwrap_err(), StatusCode::BadOutOfMemory);
    assert_eq!(server.session_count(), 1);
    server.disconnect(client.connection);
    assert_eq!(server.memory().used(), 0);
}

#[test]
fn items_and_subscriptions_are_refused_when_the_memory_of_the_session_is_spent() {
    let server = server_with(200_000);
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut client = Client::new(&server);
    let before = server.memory().used();
    let id = subscribe(&mut client).unwrap();
    let created = monitor(&mut client, id, &node, 1000);
    let refused = created.iter().filter(|result| result.status_code.is_bad());
    let refused: Vec<_> = refused.map(|result| result.status_code).collect();
    assert!(
        refused.len() > 500 && refused.len() < 990,
        "{}",
        refused.len()
    );
    assert!(
        refused
            .iter()
            .all(|status| *status == StatusCode::BadTooManyMonitoredItems)
    );
    assert!(server.memory().used() <= 200_000);
    let more = std::iter::from_fn(|| subscribe(&mut client).err().or(Some(StatusCode::Good)));
    let refusal = more.take(100).find(|status| status.is_bad());
    assert_eq!(refusal, Some(StatusCode::BadTooManySubscriptions));
    // Another Session has its own budget.
    let mut other = Client::new(&server);
    let with_other = server.memory().used();
    let id = subscribe(&mut other).unwrap();
    assert!(
        monitor(&mut other, id, &node, 10)
            .iter()
            .all(|result| result.status_code.is_good())
    );
    close(&mut other);
    close(&mut client);
    assert!(with_other > before);
    assert_eq!(server.memory().used(), 0);
}

#[test]
fn queued_values_stay_within_the_memory_of_the_session() {
    let server = server_with(1 << 20);
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut client = Client::new(&server);
    let id = subscribe(&mut client).unwrap();
    monitor(&mut client, id, &node, 20);
    let idle = server.memory().used();
    // All values together would be ten times as large as the budget.
    for number in 0..50_u8 {
        set(&value, vec![number; 10_000]);
        assert!(
            server.memory().used() <= 1 << 20,
            "{}",
            server.memory().used()
        );
    }
    assert!(server.memory().used() > 900_000);
    // A value larger than the whole budget is replaced by a StatusCode, and the budget holds.
    set(&value, vec![0_u8; 2 << 20]);
    assert!(server.memory().used() <= 1 << 20);
    set(&value, 1_u32);
    // All memory is given back after publication and acknowledgement, or with the Subscription.
    let request = DeleteSubscriptionsRequest {
        request_header: client.header(),
        subscription_ids: vec![id],
    };
    let _: DeleteSubscriptionsResponse = client.call(request).unwrap();
    catch_up(&server, Instant::now());
    assert!(server.memory().used() < idle);
    close(&mut client);
    assert_eq!(server.memory().used(), 0);
}

#[test]
fn a_subscription_counts_until_its_lifetime_is_over() {
    let server = server_with(1 << 20);
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut client = Client::new(&server);
    let id = subscribe(&mut client).unwrap();
    monitor(&mut client, id, &node, 20);
    let mut now = Instant::now();
    let used = server.memory().used();
    let request_header = client.header();
    let _: CloseSessionResponse = client
        .call(CloseSessionRequest {
            request_header,
            delete_subscriptions: false,
        })
        .unwrap();
    let left = server.memory().used();
    assert!(left > 0 && left < used);
    // The shortest lifetime is 5 s.
    for _ in 0..52 {
        now += Duration::from_millis(100);
        server.tick(now);
    }
    assert_eq!(server.memory().used(), 0);
}

#[test]
fn links_count() {
    let server = server_with(1 << 20);
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut client = Client::new(&server);
    let id = subscribe(&mut client).unwrap();
    let created = monitor(&mut client, id, &node, 600);
    let used = server.memory().used();
    let links: Vec<u32> = created
        .iter()
        .map(|result| result.monitored_item_id)
        .collect();
    let request = SetTriggeringRequest {
        request_header: client.header(),
        subscription_id: id,
        triggering_item_id: links[0],
        links_to_add: links[1..].to_vec(),
        links_to_remove: Vec::new(),
    };
    let _: SetTriggeringResponse = client.call(request).unwrap();
    assert!(server.memory().used() > used + 4500);
    let request = SetTriggeringRequest {
        request_header: client.header(),
        subscription_id: id,
        triggering_item_id: links[0],
        links_to_add: Vec::new(),
        links_to_remove: links[1..].to_vec(),
    };
    let _: SetTriggeringResponse = client.call(request).unwrap();
    assert!(server.memory().used() < used + 1000);
    close(&mut client);
    assert_eq!(server.memory().used(), 0);
}

#[test]
fn requests_and_responses_that_wait_count() {
    let server = server_with(1 << 20);
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut client = Client::new(&server);
    let id = subscribe(&mut client).unwrap();
    monitor(&mut client, id, &node, 1);
    let idle = server.memory().used();
    for number in 0..3 {
        let request = PublishRequest {
            request_header: client.header(),
            ..PublishRequest::default()
        };
        client.defer(&message(&request), number).unwrap();
    }
    let waiting = server.memory().used();
    assert!(waiting > idle);
    set(&value, vec![0_u8; 100_000]);
    server.tick(Instant::now() + Duration::from_millis(200));
    // Copies of the value are in the queue of responses, in the queue for Republish, and in the item, for the next comparison.
    assert!(server.memory().used() > waiting + 290_000);
    assert!(client.connection.take_completed().is_some());
    assert!(server.memory().used() < waiting + 250_000);
    close(&mut client);
    while client.connection.take_completed().is_some() {}
    assert_eq!(server.memory().used(), 0);
}

#[test]
fn continuation_points_count() {
    let server = server_with(64 << 20);
    let mut client = Client::new(&server);
    let idle = server.memory().used();
    let request = BrowseRequest {
        request_header: client.header(),
        requested_max_references_per_node: 1,
        nodes_to_browse: vec![BrowseDescription {
            node_id: ids::SERVER.into(),
            include_subtypes: true,
            result_mask: 63,
            ..BrowseDescription::default()
        }],
        ..BrowseRequest::default()
    };
    let browsed: BrowseResponse = client.call(request).unwrap();
    assert!(server.memory().used() > idle);
    let request = BrowseNextRequest {
        request_header: client.header(),
        release_continuation_points: true,
        continuation_points: vec![browsed.results[0].continuation_point.clone()],
    };
    let _: BrowseNextResponse = client.call(request).unwrap();
    assert_eq!(server.memory().used(), idle);
}

fn managed_with(max_memory_of_nodes: usize) -> Arc<Server> {
    let budgets = ServerBudgets {
        max_memory_of_nodes,
        ..ServerBudgets::default()
    };
    let builder = builder().budgets(budgets);
    builder
        .node_management(Arc::new(EverybodyManages))
        .build()
        .unwrap()
}

#[test]
fn nodes_and_references_that_clients_add_count_until_they_are_deleted() {
    let server = managed_with(100_000);
    let mut client = Client::new(&server);
    // The application's own nodes do not count.
    for number in 0..100 {
        variable(&server, &format!("own{number}"), &Value::stored(1_u32));
    }
    let before = server.memory_of_nodes().used();
    assert_eq!(before, 0);
    let mut added = Vec::new();
    let refusal = loop {
        let name = format!("v{}", added.len());
        match add_one(&mut client, nodes::variable(&name, ids::DOUBLE, 1.0_f64)) {
            Ok(node) => added.push(node),
            Err(status) => break status,
        }
        assert!(added.len() < 1000, "there is a limit");
    };
    assert_eq!(refusal, StatusCode::BadOutOfMemory);
    assert!(added.len() > 50, "{}", added.len());
    let full = server.memory_of_nodes().used();
    assert!(full > 98_000 && full <= 100_000, "{full}");

    delete(&mut client, added.split_off(2));
    let two = server.memory_of_nodes().used();
    let reference = |client: &mut Client, is_added: bool| {
        let (source, target) = (added[0].clone(), added[1].clone());
        let request_header = client.header();
        let status = if is_added {
            let item = AddReferencesItem {
                source_node_id: source,
                reference_type_id: ids::HAS_COMPONENT.into(),
                is_forward: true,
                target_node_id: target.into(),
                ..AddReferencesItem::default()
            };
            let request = AddReferencesRequest {
                request_header,
                references_to_add: vec![item],
            };
            let added: AddReferencesResponse = client.call(request).unwrap();
            added.results[0]
        } else {
            let item = DeleteReferencesItem {
                source_node_id: source,
                reference_type_id: ids::HAS_COMPONENT.into(),
                is_forward: true,
                target_node_id: target.into(),
                delete_bidirectional: true,
            };
            let request = DeleteReferencesRequest {
                request_header,
                references_to_delete: vec![item],
            };
            let deleted: DeleteReferencesResponse = client.call(request).unwrap();
            deleted.results[0]
        };
        assert_eq!(status, StatusCode::Good);
    };
    reference(&mut client, true);
    assert!(server.memory_of_nodes().used() > two);
    reference(&mut client, false);
    assert_eq!(server.memory_of_nodes().used(), two);
    reference(&mut client, true);
    delete(&mut client, added);
    assert_eq!(server.memory_of_nodes().used(), before);
}

fn delete(client: &mut Client, nodes: Vec<NodeId>) {
    let item = |node_id| DeleteNodesItem {
        node_id,
        delete_target_references: true,
    };
    let request = DeleteNodesRequest {
        request_header: client.header(),
        nodes_to_delete: nodes.into_iter().map(item).collect(),
    };
    let deleted: DeleteNodesResponse = client.call(request).unwrap();
    assert!(deleted.results.iter().all(|status| status.is_good()));
}

#[test]
fn large_values_that_clients_write_count_until_the_node_goes() {
    let server = managed_with(1 << 20);
    let mut client = Client::new(&server);
    let writable = AddNodesItem {
        node_attributes: takt_ua::ExtensionObject::from_structure(&VariableAttributes {
            specified_attributes: nodes::ACCESS_LEVEL | nodes::VALUE,
            access_level: 3,
            value: Variant::from(1_u32),
            ..VariableAttributes::default()
        }),
        ..nodes::variable("v", ids::DOUBLE, 1.0_f64)
    };
    let node = add_one(&mut client, writable).unwrap();
    let small = server.memory_of_nodes().used();
    assert_eq!(
        client.write_value(node.clone(), vec![0_u8; 1000]),
        StatusCode::Good
    );
    // A value of up to 4096 bytes does not count.
    assert_eq!(server.memory_of_nodes().used(), small);
    assert_eq!(
        client.write_value(node.clone(), vec![0_u8; 100_000]),
        StatusCode::Good
    );
    // Twice, because the memory of the value before is kept for the next one.
    assert!(server.memory_of_nodes().used() >= small + 200_000);
    assert_eq!(
        client.write_value(node.clone(), vec![0_u8; 600_000]),
        StatusCode::BadOutOfMemory
    );
    assert_eq!(client.write_value(node.clone(), 1_u32), StatusCode::Good);
    delete(&mut client, vec![node]);
    assert_eq!(server.memory_of_nodes().used(), 0);
}

#[test]
fn budgets_are_shown_below_vendor_server_info() {
    let server = server_with(64 << 20);
    let mut client = Client::new(&server);
    let request = BrowseRequest {
        request_header: client.header(),
        nodes_to_browse: vec![BrowseDescription {
            node_id: ids::SERVER_VENDOR_SERVER_INFO.into(),
            reference_type_id: ids::HAS_COMPONENT.into(),
            result_mask: 63,
            ..BrowseDescription::default()
        }],
        ..BrowseRequest::default()
    };
    let browsed: BrowseResponse = client.call(request).unwrap();
    let shown = &browsed.results[0].references;
    assert_eq!(shown.len(), 20, "{shown:?}");
    let mut value = |name: &str| {
        let node = NodeId::string(1, format!("Budgets.{name}").as_str());
        match client.read_value(node).value {
            Some(Variant::UInt64(value)) => usize::try_from(value).unwrap(),
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(value("MemoryLimit"), server.budgets().max_memory);
    assert_eq!(value("MemoryUsed"), server.memory().used());
    assert!(value("MemoryPeak") >= value("MemoryUsed") && value("MemoryUsed") > 0);
    assert_eq!(value("MemoryWithoutSessionLimit"), 64 << 20);
    assert_eq!((value("Sessions"), value("SessionsLimit")), (1, 1024));
    assert_eq!(
        (value("SamplingLoad"), value("SamplingLoadLimit")),
        (0, 400_000)
    );
    assert_eq!(value("Connections"), 1);
    server.show_connections_limit(7);
    server.limit_sessions(5);
    let mut value = |name: &str| {
        let node = NodeId::string(1, format!("Budgets.{name}").as_str());
        client.read_value(node).value
    };
    assert_eq!(value("ConnectionsLimit"), Some(Variant::UInt64(7)));
    assert_eq!(value("SessionsLimit"), Some(Variant::UInt64(5)));
}
