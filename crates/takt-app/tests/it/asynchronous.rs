//! Asynchronous clients: concurrent requests, dropped futures, lost connections, renewal of tokens under load.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::relay::{PATIENCE, Relay, count, options, start};
use futures_core::Stream;
use takt_app::asynchronous::{AsyncClient, AsyncSubscription};
use takt_app::client::Follow;
use takt_app::{
    Client, ClientError, ClientOptions, MonitoredItemOptions, Provider, Subscription,
    SubscriptionOptions, model,
};
use takt_cell::Cell;
use takt_ua::{DateTime, NodeId, StatusCode, Variant, ids};
use tempfile::TempDir;

/// Interval of samples and messages.
const EVERY: Duration = Duration::from_millis(10);

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

fn object() -> NodeId {
    NodeId::numeric(1, model::provider::OBJECT)
}

/// A Provider behind a relay.
struct World {
    directory: TempDir,
    cell: Arc<Cell>,
    _provider: Provider,
    relay: Relay,
}

impl World {
    fn new() -> Self {
        Self::with_delay(Duration::ZERO)
    }

    fn with_delay(delay: Duration) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
        let provider = start(directory.path(), &cell);
        let relay = Relay::with_delay(&provider.endpoints()[1], delay);
        Self {
            directory,
            cell,
            _provider: provider,
            relay,
        }
    }

    fn options(&self, security: &str) -> ClientOptions {
        options(self.directory.path(), security)
    }

    async fn client(&self, security: &str) -> AsyncClient {
        let options = self.options(security);
        AsyncClient::connect(&self.relay.endpoint, options)
            .await
            .unwrap()
    }

    fn monitored() -> MonitoredItemOptions {
        MonitoredItemOptions {
            sampling_interval: EVERY,
            queue_size: 100,
            ..MonitoredItemOptions::default()
        }
    }

    fn subscription() -> SubscriptionOptions {
        SubscriptionOptions {
            publishing_interval: EVERY,
            ..SubscriptionOptions::default()
        }
    }

    async fn subscribed(&self, options: ClientOptions) -> AsyncSubscription {
        let client = AsyncClient::new(&self.relay.endpoint, options);
        let mut subscription = client.subscribe(Self::subscription()).await.unwrap();
        let handle = subscription
            .monitor(&node("Count"), Self::monitored())
            .await;
        assert_eq!(handle.unwrap(), 1);
        subscription
    }
}

async fn next<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> T {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context))
        .await
        .unwrap()
}

/// A future that can be a task of its own on any runtime.
fn sendable<F: Future + Send>(future: F) -> F {
    future
}

async fn wait(client: &AsyncClient, milliseconds: u32) -> Result<Vec<Variant>, ClientError> {
    let inputs = vec![Variant::UInt32(milliseconds)];
    client.call_method(&object(), &node("Wait"), inputs).await
}

async fn services_of(security: &str) {
    let world = World::new();
    let client = world.client(security).await;
    let level = node("Level");
    sendable(client.write(&level, Variant::UInt32(7)))
        .await
        .unwrap();
    assert_eq!(client.read_good(&level).await.unwrap(), Variant::UInt32(7));
    let found = sendable(client.find("Resumed/Level")).await.unwrap();
    assert_eq!(found.node_id.node_id, level);
    let children = sendable(client.browse(&object(), &Follow::children()))
        .await
        .unwrap();
    let names: Vec<_> = children
        .iter()
        .map(|child| child.browse_name.name.as_str())
        .collect();
    assert!(
        ["Count", "Level", "Wait"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    assert_eq!(wait(&client, 1).await.unwrap(), [Variant::UInt32(1)]);
    let unknown = client.read_good(&node("Nothing")).await.unwrap_err();
    assert_eq!(unknown.status_code(), StatusCode::BadNodeIdUnknown);
}

#[tokio::test]
async fn services_give_what_the_blocking_client_gives() {
    services_of("none").await;
    services_of("encrypt").await;
}

#[tokio::test]
async fn many_requests_are_under_way_on_one_connection() {
    let world = World::new();
    let client = world.client("encrypt").await;
    let before = world.relay.connections();
    // Four workers run the Methods: the Reads overtake them.
    let slow = tokio::spawn({
        let client = client.clone();
        async move { wait(&client, 400).await }
    });
    tokio::task::yield_now().await;
    let begin = Instant::now();
    let tasks: Vec<_> = (0..200_u32)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let node = NodeId::numeric(0, ids::SERVER_NAMESPACE_ARRAY);
                for _ in 0..10 {
                    match number % 2 {
                        0 => assert!(matches!(
                            client.read_good(&node).await,
                            Ok(Variant::Array(_))
                        )),
                        _ => {
                            let value = client.read_good(&self::node("Count")).await;
                            assert_eq!(value.unwrap(), Variant::Double(0.0));
                        }
                    }
                }
            })
        })
        .collect();
    assert!(!slow.is_finished());
    for task in tasks {
        task.await.unwrap();
    }
    slow.await.unwrap().unwrap();
    assert!(begin.elapsed() < PATIENCE);
    assert_eq!(world.relay.connections(), before, "one connection");
    assert_eq!(client.epoch(), 1);
}

#[tokio::test]
async fn dropped_futures_leave_the_connection_usable() {
    let world = World::new();
    let level = node("Level");
    for security in ["none", "encrypt"] {
        let client = world.client(security).await;
        let before = world.relay.connections();
        for round in 0..50_u32 {
            // Dropped before it is polled, after the request is sent, and while the response may arrive.
            drop(client.read(&node("Count")));
            let slow = tokio::time::timeout(Duration::from_millis(1), wait(&client, 5)).await;
            assert!(slow.is_err());
            let race = tokio::time::timeout(
                Duration::from_micros(u64::from(round) * 20),
                client.read(&level),
            );
            let _ = race.await;
            client
                .write(&node("Level"), Variant::UInt32(round))
                .await
                .unwrap();
            let value = client.read_good(&node("Level")).await.unwrap();
            assert_eq!(
                value,
                Variant::UInt32(round),
                "the response to this request"
            );
        }
        assert_eq!(client.epoch(), 1);
        assert_eq!(world.relay.connections(), before);
    }
}

#[tokio::test]
async fn a_dropped_attempt_to_connect_is_repeated() {
    let world = World::new();
    let client = AsyncClient::new(&world.relay.endpoint, world.options("encrypt"));
    let count = node("Count");
    for micros in [0, 100, 1000, 3000, 10_000] {
        let attempt = client.read(&count);
        let _ = tokio::time::timeout(Duration::from_micros(micros), attempt).await;
    }
    client.read_good(&node("Count")).await.unwrap();
    // A resumed session is not lost with a dropped attempt either.
    let epoch = client.epoch();
    world.relay.cut();
    for micros in [100, 1000, 3000] {
        let attempt = client.read(&count);
        let _ = tokio::time::timeout(Duration::from_micros(micros), attempt).await;
    }
    client.read_good(&node("Count")).await.unwrap();
    assert_eq!(client.epoch(), epoch);
}

#[tokio::test]
async fn requests_survive_a_cut_connection() {
    let world = World::new();
    let client = world.client("none").await;
    for _ in 0..3 {
        world.relay.cut();
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { client.read_good(&node("Count")).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
    }
    assert_eq!(client.epoch(), 1, "one session");
    // A Call is not repeated: it may have been executed.
    let calling = tokio::spawn({
        let client = client.clone();
        async move { wait(&client, 300).await }
    });
    // The Call has arrived then, and its Method still waits.
    tokio::time::sleep(Duration::from_millis(100)).await;
    world.relay.cut();
    let error = calling.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Closed { .. }), "{error}");
}

/// Returns the values up to `last`, and the number of errors of the connection. Each future has a short life.
async fn values(subscription: &mut AsyncSubscription, last: f64) -> (Vec<f64>, usize) {
    let (mut values, mut errors) = (Vec::new(), 0);
    let begin = Instant::now();
    while values.last() != Some(&last) {
        assert!(begin.elapsed() < PATIENCE, "{values:?}");
        // The stream is dropped after each wait.
        let mut changes = subscription.changes();
        match tokio::time::timeout(Duration::from_millis(7), next(&mut changes)).await {
            Err(_) => {}
            Ok(Ok(change)) => match change.value.value {
                Some(Variant::Double(value)) => values.push(value),
                Some(Variant::UInt32(_)) => {}
                other => panic!("{other:?}"),
            },
            Ok(Err(ClientError::Closed { .. })) => errors += 1,
            Ok(Err(error)) => panic!("{error}"),
        }
    }
    (values, errors)
}

async fn resumes(security: &str) {
    let world = World::new();
    let mut subscription = world.subscribed(world.options(security)).await;
    assert_eq!(values(&mut subscription, 0.0).await.0, [0.0]);
    for round in 0..3_u32 {
        let begin = round * 20;
        let cell = Arc::clone(&world.cell);
        let counted = tokio::task::spawn_blocking(move || count(&cell, begin + 1..begin + 21));
        tokio::time::sleep(Duration::from_millis(300)).await;
        world.relay.cut();
        let (values, errors) = values(&mut subscription, f64::from(begin + 20)).await;
        let expected: Vec<f64> = (begin + 1..begin + 21).map(f64::from).collect();
        assert_eq!(values, expected);
        assert_eq!(errors, 1, "the loss is reported once");
        counted.await.unwrap();
    }
    assert_eq!(subscription.client().epoch(), 1, "one session");
    assert_eq!(subscription.lost_messages(), 0);
    subscription
        .client()
        .read_good(&node("Count"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_stream_goes_on_after_its_connection_was_cut() {
    resumes("none").await;
    resumes("encrypt").await;
}

/// Sets the five numbers up to `to`, and returns the values that arrive.
async fn counted(world: &World, subscription: &mut AsyncSubscription, to: u32) -> Vec<f64> {
    let cell = Arc::clone(&world.cell);
    let counting = tokio::task::spawn_blocking(move || count(&cell, to - 4..to + 1));
    let (values, _) = values(subscription, f64::from(to)).await;
    counting.await.unwrap();
    values
}

#[tokio::test]
async fn futures_with_shorter_lives_than_a_round_trip_make_progress() {
    let world = World::with_delay(Duration::from_millis(15));
    let mut subscription = world.subscribed(world.options("none")).await;
    assert_eq!(values(&mut subscription, 0.0).await.0, [0.0]);
    // Missing messages are requested again.
    let cell = Arc::clone(&world.cell);
    let counting = tokio::task::spawn_blocking(move || count(&cell, 1..11));
    tokio::time::sleep(Duration::from_millis(200)).await;
    world.relay.cut();
    let (resumed, errors) = values(&mut subscription, 10.0).await;
    counting.await.unwrap();
    assert_eq!(resumed, (1..11).map(f64::from).collect::<Vec<_>>());
    assert_eq!(errors, 1);
    // A Subscription with more items than one request is created anew, once, and so are its items.
    let more = vec![(node("Level"), World::monitored()); 1000];
    let more = subscription.monitor_all(more).await.unwrap();
    assert!(more.iter().all(Result::is_ok));
    subscription.client().close().await;
    let restored = counted(&world, &mut subscription, 15).await;
    assert_eq!(restored.last(), Some(&15.0));
    assert_eq!(subscription.client().epoch(), 2);
    let diagnostics =
        ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SUBSCRIPTION_COUNT;
    let count = subscription
        .client()
        .read_good(&NodeId::numeric(0, diagnostics))
        .await;
    assert_eq!(count.unwrap(), Variant::UInt32(1));
    assert_eq!(
        counted(&world, &mut subscription, 20).await,
        [16.0, 17.0, 18.0, 19.0, 20.0]
    );
}

/// Options with tokens that are renewed after 750 ms.
fn short_tokens(world: &World) -> ClientOptions {
    let mut options = world.options("encrypt");
    options.security.token_lifetime = Some(Duration::from_secs(1));
    options
}

#[tokio::test]
async fn renewal_under_load_keeps_every_notification() {
    let world = World::new();
    let subscription = world.subscribed(short_tokens(&world)).await;
    let client = subscription.client().clone();
    let load: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                loop {
                    client.read_good(&node("Level")).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            })
        })
        .collect();
    let cell = Arc::clone(&world.cell);
    let counted = tokio::task::spawn_blocking(move || count(&cell, 1..81));
    let mut changes = subscription.into_changes();
    for expected in 0..81 {
        let change = tokio::time::timeout(PATIENCE, next(&mut changes)).await;
        let value = change.unwrap().unwrap().value.value;
        assert_eq!(value, Some(Variant::Double(f64::from(expected))));
    }
    counted.await.unwrap();
    for task in load {
        assert!(!task.is_finished(), "no Read failed");
        task.abort();
    }
    assert_eq!(client.epoch(), 1);
}

#[test]
fn renewal_under_load_keeps_every_notification_of_the_blocking_client() {
    let world = World::new();
    let client = Client::connect(&world.relay.endpoint, short_tokens(&world)).unwrap();
    let mut subscription = Subscription::create(client, World::subscription()).unwrap();
    subscription
        .monitor(&node("Count"), World::monitored())
        .unwrap();
    let cell = Arc::clone(&world.cell);
    let counting = thread::spawn(move || count(&cell, 1..81));
    let mut seen = Vec::new();
    let begin = Instant::now();
    while seen.last() != Some(&80.0) {
        assert!(begin.elapsed() < PATIENCE, "{seen:?}");
        // Reads between the messages are the load.
        for _ in 0..20 {
            subscription.client().read_good(&node("Level")).unwrap();
        }
        if let Some(change) = subscription.next(Duration::from_millis(5)).unwrap() {
            let Some(Variant::Double(value)) = change.value.value else {
                panic!("{change:?}");
            };
            seen.push(value);
        }
    }
    counting.join().unwrap();
    let expected: Vec<f64> = (0..81).map(f64::from).collect();
    assert_eq!(seen, expected);
    assert_eq!(subscription.client().epoch(), 1);
}

/// Returns the number of sessions at the server.
async fn sessions(client: &AsyncClient) -> u32 {
    let node = NodeId::numeric(
        0,
        ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SESSION_COUNT,
    );
    match client.read_good(&node).await.unwrap() {
        Variant::UInt32(count) => count,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_ends_with_its_last_client() {
    let world = World::new();
    let client = world.client("none").await;
    let other = world.client("encrypt").await;
    assert_eq!(sessions(&client).await, 2);
    let last = other.clone();
    drop(other);
    last.read_good(&node("Count")).await.unwrap();
    drop(last);
    let begin = Instant::now();
    while sessions(&client).await != 1 {
        assert!(begin.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    client.close().await;
    assert!(!client.is_connected());
    client.read_good(&node("Count")).await.unwrap();
    assert_eq!(client.epoch(), 2, "a closed client opens another session");
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let shared = "opc.iox2://Machine".parse().unwrap();
    let error = AsyncClient::connect(&shared, ClientOptions::named("Test")).await;
    let text = error.err().unwrap().to_string();
    assert!(text.contains("opc.tcp://host:port"), "{text}");
    let nobody = "opc.tcp://127.0.0.1:9".parse().unwrap();
    let options = ClientOptions {
        timeout: Duration::from_millis(200),
        ..ClientOptions::named("Test")
    };
    let attempt = pin!(AsyncClient::connect(&nobody, options));
    let error = attempt.await.err().unwrap();
    assert!(error.is_connection(), "{error}");
}

/// A runtime that has ended leaves no request that waits for ever.
#[test]
fn the_end_of_a_runtime_ends_its_requests() {
    let world = World::new();
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime();
    let client = first.block_on(world.client("none"));
    drop(first);
    // The client opens another connection on the runtime of its next request.
    let value = runtime().block_on(client.read_good(&node("Count")));
    assert_eq!(value.unwrap(), Variant::Double(0.0));
    let set = world.cell.set_f64(1.0, StatusCode::Good, DateTime::now());
    set.unwrap();
}
