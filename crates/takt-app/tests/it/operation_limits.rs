//! Requests of many operations at a server that takes few of them at once.

use std::time::{Duration, Instant};

use takt_app::client::Follow;
use takt_app::serve::ServeOptions;
use takt_app::{
    Attribute, Client, ClientError, ClientOptions, Endpoint, MonitoredItemOptions, Provider,
    Subscription, SubscriptionOptions, Variable,
};
use takt_services::{OperationLimits, ServerBudgets};
use takt_ua::structures::ReadRequest;
use takt_ua::{NodeId, StatusCode, Variant};
use tempfile::TempDir;

/// Time limit of required events.
const PATIENCE: Duration = Duration::from_secs(60);

const VARIABLES: u32 = 40;

/// Interval of samples and messages.
const EVERY: Duration = Duration::from_millis(10);

fn start() -> (TempDir, Provider, ClientOptions) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let budgets = ServerBudgets {
        operations: OperationLimits {
            max_nodes_per_read: 7,
            max_nodes_per_browse: 3,
            max_monitored_items_per_call: 6,
            ..OperationLimits::default()
        },
        ..ServerBudgets::default()
    };
    let mut builder = Provider::builder("Small")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .budgets(budgets)
        .serve(ServeOptions {
            runtime_directory: Some(directory.path().to_owned()),
            ..ServeOptions::default()
        });
    for number in 0..VARIABLES {
        builder = builder.variable(Variable::stored(format!("V{number}"), number));
    }
    let options = ClientOptions {
        timeout: PATIENCE,
        runtime_directory: Some(directory.path().to_owned()),
        ..ClientOptions::named("Test")
    };
    let provider = builder.start().unwrap();
    (directory, provider, options)
}

fn tcp(provider: &Provider) -> &Endpoint {
    let mut endpoints = provider.endpoints().iter();
    endpoints
        .find(|endpoint| !endpoint.is_shared_memory())
        .unwrap()
}

fn nodes() -> Vec<NodeId> {
    (0..VARIABLES)
        .map(|number| NodeId::string(1, &format!("V{number}")))
        .collect()
}

fn values_of(nodes: &[NodeId]) -> Vec<(NodeId, Attribute)> {
    nodes
        .iter()
        .map(|node| (node.clone(), Attribute::Value))
        .collect()
}

fn all() -> Vec<Variant> {
    (0..VARIABLES).map(Variant::UInt32).collect()
}

/// Returns the first values of the Variables, in their order.
fn received(subscription: &mut Subscription) -> Vec<Variant> {
    let mut values = Vec::new();
    let begin = Instant::now();
    while values.len() < VARIABLES as usize {
        assert!(begin.elapsed() < PATIENCE, "{values:?}");
        // The session was closed by the test: the next attempt opens another one.
        if let Ok(Some(change)) = subscription.next(Duration::from_millis(100)) {
            values.push((change.client_handle, change.value.value.unwrap()));
        }
    }
    values.sort_by_key(|(handle, _)| *handle);
    values.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn reads_and_browses_are_divided_into_what_the_server_takes() {
    let (_directory, provider, options) = start();
    let mut client = Client::connect(tcp(&provider), options).unwrap();
    let nodes = nodes();
    let read = client.read_attributes(&values_of(&nodes)).unwrap();
    let read: Vec<Variant> = read.into_iter().map(|one| one.value.unwrap()).collect();
    assert_eq!(read, all());
    let browsed = client.browse_many(&nodes, &Follow::all()).unwrap();
    assert_eq!(browsed.len(), nodes.len());
    assert!(browsed.iter().all(|one| !one.as_ref().unwrap().is_empty()));
    let nothing = client.read_attributes(&[]).unwrap();
    assert!(nothing.is_empty());
    // The request is that of the caller: it is not divided.
    let request = ReadRequest {
        nodes_to_read: vec![Default::default(); 8],
        ..ReadRequest::default()
    };
    let refused = client.call(request).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadTooManyOperations);
}

#[test]
fn items_are_created_and_restored_in_what_the_server_takes() -> Result<(), ClientError> {
    let (_directory, provider, options) = start();
    let client = Client::connect(tcp(&provider), options)?;
    let publishing = SubscriptionOptions {
        publishing_interval: EVERY,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, publishing)?;
    let items = nodes()
        .into_iter()
        .map(|node| (node, MonitoredItemOptions::default()));
    let handles = subscription.monitor_all(items.collect())?;
    assert!(handles.iter().all(Result::is_ok), "{handles:?}");
    assert_eq!(received(&mut subscription), all());
    let epoch = subscription.client().epoch();
    subscription.client().close();
    assert_eq!(received(&mut subscription), all());
    assert_eq!(subscription.client().epoch(), epoch + 1);
    Ok(())
}

#[cfg(feature = "async")]
#[tokio::test]
async fn asynchronous_requests_are_divided_too() -> Result<(), ClientError> {
    let (_directory, provider, options) = start();
    let endpoint = tcp(&provider);
    let client = takt_app::asynchronous::AsyncClient::connect(endpoint, options).await?;
    let nodes = nodes();
    let read = client.read_attributes(&values_of(&nodes)).await?;
    let read: Vec<Variant> = read.into_iter().map(|one| one.value.unwrap()).collect();
    assert_eq!(read, all());
    let mut subscription = client.subscribe(SubscriptionOptions::default()).await?;
    let items = nodes
        .into_iter()
        .map(|node| (node, MonitoredItemOptions::default()));
    let handles = subscription.monitor_all(items.collect()).await?;
    assert!(handles.iter().all(Result::is_ok), "{handles:?}");
    Ok(())
}
