//! Clients that were killed, with Subscriptions that would live for hours, take nothing from the others.

use std::process::Command;
use std::time::{Duration, Instant};

use takt_app::{Client, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_attack::Attack;
use takt_tests::attacked::{Kind, Limit, PATIENCE, Server};
use takt_tests::process::Process;
use takt_tests::{Sandbox, binary};
use takt_ua::{NodeId, Variant, ids};

/// Memory of the server in MiB, less than the items of the clients would take.
const MEMORY: &str = "64";

/// Memory in bytes that the Subscriptions of the killed clients take at least.
const TAKEN: u64 = 20 << 20;

/// Interval of a new client, and the number of values that it waits for.
const INTERVAL: Duration = Duration::from_millis(10);
const VALUES: usize = 100;

fn takt(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary::takt());
    command.args(arguments);
    sandbox.confine(&mut command);
    command
}

/// Returns a number that the server shows about its budgets.
fn budget(client: &mut Client, name: &str) -> u64 {
    let node = NodeId::string(1, format!("Budgets.{name}").as_str());
    match client.read_good(&node).unwrap() {
        Variant::UInt64(value) => value,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn others_go_on_when_clients_with_many_subscriptions_were_killed() {
    let sandbox = Sandbox::new();
    let arguments = ["--max-memory", MEMORY];
    let server = Server::start_with(&sandbox, Kind::Registry, Limit::default(), &arguments);
    let target = server.target();
    let mut client = server.client();
    let time = format!("i={}", ids::SERVER_SERVER_STATUS_CURRENT_TIME);
    let mut watch = takt(&sandbox, &["watch", &target.opc_tcp, &time]);
    let mut watch = Process::spawn("takt watch", watch.args(["--interval", "100ms"]));
    watch.next_line(PATIENCE);

    let connections = budget(&mut client, "Connections");
    let killed = Attack::DeadClients
        .start(&binary::attacker(), &target, 1)
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    while budget(&mut client, "MemoryOfSessionsUsed") < TAKEN
        || budget(&mut client, "Connections") > connections
    {
        assert!(Instant::now() < deadline, "the clients do not begin");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Dropping it kills the process.
    drop(killed);

    for endpoint in [&target.opc_tcp, &target.opc_iox2] {
        let read = takt(&sandbox, &["read", endpoint, &time]).output().unwrap();
        assert!(read.status.success(), "{endpoint}: {read:?}");
    }
    while watch.try_line().is_some() {}
    watch.wait_for("a value", PATIENCE, |line| !line.contains("Bad"));
    assert!(!watch.has_ended(), "{}", watch.report());

    let options = SubscriptionOptions {
        publishing_interval: INTERVAL,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(server.client(), options).unwrap();
    let item = MonitoredItemOptions {
        sampling_interval: INTERVAL,
        ..MonitoredItemOptions::default()
    };
    let node = NodeId::numeric(0, ids::SERVER_SERVER_STATUS_CURRENT_TIME);
    subscription.monitor(&node, item).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let mut values = 0;
    while values < VALUES {
        let change = subscription.next(Duration::from_secs(1)).unwrap();
        values += usize::from(change.is_some());
        assert!(Instant::now() < deadline, "{values} values in {PATIENCE:?}");
    }
}
