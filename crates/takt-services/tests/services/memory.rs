//! What clients hold counts in the memory budgets of the server, and is given back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Client, VALUE, builder, message, read_id};
use takt_services::{Server, ServerLimits, Value};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Variant, ids};

fn server_with(max_memory_per_session: usize) -> Arc<Server> {
    let limits = ServerLimits {
        max_memory_per_session,
        ..ServerLimits::default()
    };
    builder().limits(limits).build().unwrap()
}

fn close(client: &mut Client) {
    let request_header = client.header();
    let _: CloseSessionResponse = client
        .call(CloseSessionRequest {
            request_header,
            delete_subscriptions: true,
        })
        .unwrap();
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
    let limits = ServerLimits {
        max_memory_without_session: 100_000,
        ..ServerLimits::default()
    };
    let server = builder().limits(limits).build().unwrap();
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
    // Another Session has its own.
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
    for number in 0..50_u8 {
        set(&value, vec![number; 10_000]);
        assert!(
            server.memory().used() <= 1 << 20,
            "{}",
            server.memory().used()
        );
    }
    assert!(server.memory().used() > 900_000);
    // A value that is larger than all of it: a StatusCode tells of it, and the budget holds.
    set(&value, vec![0_u8; 2 << 20]);
    assert!(server.memory().used() <= 1 << 20);
    set(&value, 1_u32);
    // All of it is published and acknowledged, or given back with the Subscription.
    let request = DeleteSubscriptionsRequest {
        request_header: client.header(),
        subscription_ids: vec![id],
    };
    let _: DeleteSubscriptionsResponse = client.call(request).unwrap();
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
    for _ in 0..32 {
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
    // In the queue of responses, in that for Republish, and in the item, for the next comparison.
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
