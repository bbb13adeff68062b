//! Followers in processes of their own, which can be stopped and killed: this executable again, as one test.

use std::io::Read;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use takt_app::asynchronous::AsyncClient;
use takt_app::{
    ClientOptions, Consumer, DataValue, Endpoint, NodeId, Subscription, SubscriptionOptions,
};

use super::case::LIMIT;
use super::followers::Nodes;

/// Environment variable with the assignment: kind, endpoint, and the two nodes or paths, in lines.
const ASSIGNMENT: &str = "TAKT_STALLS_CLIENT";

/// Names of the nodes in the rows that it prints.
pub(super) const ROWS: [&str; 2] = ["constant", "changing"];

/// Returns the command of a follower. Its runtime directory is in the environment.
pub(super) fn command(kind: &str, endpoint: &str, nodes: [&str; 2]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "stalls::client_process::the_client",
            "--nocapture",
        ])
        .env(ASSIGNMENT, [kind, endpoint, nodes[0], nodes[1]].join("\n"));
    command
}

/// Helper process, not a test of its own.
#[test]
fn the_client() {
    let Ok(assignment) = std::env::var(ASSIGNMENT) else {
        return;
    };
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let parts: Vec<&str> = assignment.split('\n').collect();
    let options = ClientOptions {
        timeout: Duration::from_secs(2),
        ..ClientOptions::named("Follower")
    };
    match parts[..] {
        ["consumer", endpoint, constant, changing] => {
            consume(endpoint, [constant, changing], options);
        }
        ["async", endpoint, constant, changing] => {
            let [constant, changing] = [constant, changing].map(|node| node.parse().unwrap());
            follow(
                &endpoint.parse().unwrap(),
                &Nodes { constant, changing },
                options,
            );
        }
        _ => panic!("wrong assignment: {assignment}"),
    }
}

/// Prints a value as a row of `takt watch`.
fn show(handle: u32, value: &DataValue) {
    let node = ROWS[handle as usize - 1];
    println!(
        "{}",
        json!({
            "node": node,
            "value": value.value.as_ref().and_then(|value| value.as_f64()),
            "status": value.status_code().to_string(),
            "sourceTimestamp": value.source_timestamp.map(|time| time.to_iso8601()),
        })
    );
}

/// An error of the connection means that all values are bad.
fn show_error() {
    let bad = DataValue::status(takt_app::StatusCode::BadNoCommunication);
    (1..=2).for_each(|handle| show(handle, &bad));
}

fn consume(registry: &str, paths: [&str; 2], options: ClientOptions) {
    let mut subscription = subscribed(registry, paths, &options);
    loop {
        match subscription.next(Duration::from_millis(50)) {
            Ok(Some(change)) => show(change.client_handle, &change.value),
            Ok(None) => {}
            Err(_) => {
                show_error();
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

fn subscribed(registry: &str, paths: [&str; 2], options: &ClientOptions) -> Subscription {
    let begin = Instant::now();
    loop {
        let subscribe = || {
            let mut consumer = Consumer::connect(registry, options.clone())?;
            let items = paths.map(|path| consumer.find(path));
            let [constant, changing] = items;
            let items = [constant?, changing?].map(|item| (item, Default::default()));
            consumer.subscribe(&items, SubscriptionOptions::default())
        };
        match subscribe() {
            Ok(subscription) => return subscription,
            Err(error) => assert!(begin.elapsed() < LIMIT, "{error}"),
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn follow(endpoint: &Endpoint, nodes: &Nodes, options: ClientOptions) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let items = nodes.items();
    runtime.block_on(async {
        let client = AsyncClient::connect(endpoint, options).await.unwrap();
        let subscribed = client.subscribe(SubscriptionOptions::default()).await;
        let mut subscription = subscribed.unwrap();
        subscription.monitor_all(items).await.unwrap();
        loop {
            match subscription.next_change().await {
                Ok(change) => show(change.client_handle, &change.value),
                Err(_) => {
                    show_error();
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    });
}

/// Returns the text forms of two NodeIds.
pub(super) fn texts(nodes: [&NodeId; 2]) -> [String; 2] {
    nodes.map(ToString::to_string)
}
