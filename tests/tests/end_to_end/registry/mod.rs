//! The registry with its Providers: contents, forwarding, persistence, and access.

mod advertised;
mod advice;
mod audit;
mod browsing;
mod certificates;
mod clock;
mod elliptic_curves;
mod forwarded_users;
mod forwarding;
mod issued_tokens;
mod key_log;
mod killed;
mod killed_client;
mod life;
mod model;
mod names;
mod operations;
mod ownership;
mod permissions;
mod pipelining;
mod push_targets;
mod refusals;
mod registered;
mod required_children;
mod roles;
mod secrets;
mod secured_links;
mod security_groups;
mod trust;
mod watching;

use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{
    Attribute, Client, ClientOptions, Consumer, Identity, Method, Provider, ProviderBuilder, Unit,
    Variable,
};
use takt_tests::{Registry, Sandbox};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::{
    CreateMonitoredItemsRequest, CreateSubscriptionRequest, MonitoredItemCreateRequest,
    MonitoringParameters, ReadValueId,
};
use takt_ua::{BuiltInType, NodeId, StatusCode, Variant};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a client with an arbitrary identity.
fn client_as(sandbox: &Sandbox, endpoint: &str, uri: &str, identity: Identity) -> Client {
    let options = ClientOptions {
        application_uri: uri.to_owned(),
        identity,
        timeout: PATIENCE,
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ClientOptions::named("Client")
    };
    Client::new(&endpoint.parse().unwrap(), options)
}

/// Returns a client like that of any product.
fn client(sandbox: &Sandbox, endpoint: &str) -> Client {
    client_as(sandbox, endpoint, "", Identity::Anonymous)
}

/// Creates a Subscription with this item. Returns the status of the item.
fn monitor(client: &mut Client, node: &NodeId) -> StatusCode {
    let subscription = client.call(CreateSubscriptionRequest {
        requested_publishing_interval: 100.0,
        requested_lifetime_count: 100,
        requested_max_keep_alive_count: 10,
        publishing_enabled: true,
        ..CreateSubscriptionRequest::default()
    });
    let created = client.call(CreateMonitoredItemsRequest {
        subscription_id: subscription.unwrap().subscription_id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_create: vec![MonitoredItemCreateRequest {
            item_to_monitor: ReadValueId {
                node_id: node.clone(),
                attribute_id: Attribute::Value as u32,
                ..ReadValueId::default()
            },
            monitoring_mode: MonitoringMode::Reporting,
            requested_parameters: MonitoringParameters {
                sampling_interval: 100.0,
                queue_size: 1,
                ..MonitoringParameters::default()
            },
        }],
        ..CreateMonitoredItemsRequest::default()
    });
    created.unwrap().results[0].status_code
}

fn consumer(sandbox: &Sandbox, registry: &Registry) -> Consumer {
    let options = ClientOptions {
        timeout: PATIENCE,
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ClientOptions::named("Consumer")
    };
    Consumer::connect(&registry.shared_memory(), options).unwrap()
}

/// Returns a Provider in this process: `Level`, `Cell/Pressure` and the Method `Double`.
fn tank(
    sandbox: &Sandbox,
    name: &str,
    registry: &str,
) -> Result<Provider, takt_app::ProviderError> {
    let double = |inputs: &[Variant]| match inputs {
        [Variant::Double(value)] => Ok(vec![Variant::Double(2.0 * value)]),
        _ => Err(StatusCode::BadInvalidArgument),
    };
    provider_builder(sandbox, name, registry)
        .variable(
            Variable::stored("Level", 40.0)
                .writable()
                .unit(Unit::PERCENT)
                .range(0.0..100.0),
        )
        .variable(Variable::stored("Cell/Pressure", vec![1_u32, 2, 3]))
        .method(
            Method::new("Double", double)
                .input("Value", BuiltInType::Double)
                .output("Twice", BuiltInType::Double),
        )
        .start()
}

/// Waits until a condition is true.
fn eventually(what: &str, within: Duration, mut so: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
    started.elapsed()
}

/// Returns whether the registry shows a Provider as available; `None` if the registry does not know it.
fn available(consumer: &mut Consumer, name: &str) -> Option<bool> {
    let providers = consumer.providers().ok()?;
    let provider = providers.iter().find(|provider| provider.name == name)?;
    Some(provider.available)
}

fn wait_until_available(consumer: &mut Consumer, name: &str) {
    eventually(&format!("{name} is available"), PATIENCE, || {
        available(consumer, name) == Some(true)
    });
}

/// Returns all items of a Provider with their NodeIds at the registry, by path.
fn node_ids(consumer: &mut Consumer, name: &str) -> Vec<(String, NodeId)> {
    try_node_ids(consumer, name).unwrap()
}

/// Returns the same; an error while the Provider registers with other endpoints, which replaces its nodes.
fn try_node_ids(
    consumer: &mut Consumer,
    name: &str,
) -> Result<Vec<(String, NodeId)>, takt_app::ClientError> {
    let providers = consumer.providers()?;
    let provider = providers.iter().find(|provider| provider.name == name);
    let items = consumer.items(provider.unwrap())?;
    let mut found: Vec<_> = items
        .into_iter()
        .map(|item| (item.path, item.node_id))
        .collect();
    found.sort();
    Ok(found)
}

/// Returns the builder of a Provider in the sandbox, which registers at `registry` and has an endpoint over TCP.
fn provider_builder(sandbox: &Sandbox, name: &str, registry: &str) -> ProviderBuilder {
    Provider::builder(name)
        .registry(registry)
        .endpoint("opc.tcp://127.0.0.1:0")
        .state_directory(sandbox.data_directory().join("state"))
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        })
}
