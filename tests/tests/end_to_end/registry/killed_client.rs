//! kill -9 of clients while they use a registry, and of commands that change its files.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use takt_app::Client;
use takt_tests::{Process, Sandbox};
use takt_ua::{NodeId, Variant, ids};

use crate::registry::operations::{Desk, Operation, Plant, Seat};
use crate::registry::roles::add_user;
use crate::registry::{PATIENCE, eventually};

/// Environment variable of a client in a process of its own: its place and its operation, in JSON.
const SEAT: &str = "TAKT_TEST_SEAT";

/// Time for which the server keeps a Session and a Subscription without a client.
const LIFETIME: Duration = Duration::from_secs(4);

/// Operations of each client before it is killed.
const OPERATIONS: usize = 3;

const DONE: &str = "done";

/// Works until the process is killed.
fn work_until_killed(described: &str) {
    let described: Value = serde_json::from_str(described).unwrap();
    let seat = Seat {
        endpoint: described["endpoint"].as_str().unwrap().to_owned(),
        data: described["data"].as_str().unwrap().into(),
        namespace: described["namespace"].as_u64().unwrap().try_into().unwrap(),
    };
    let index = usize::try_from(described["operation"].as_u64().unwrap()).unwrap();
    let mut desk = Desk::sit_down(&seat, Operation::ALL[index], LIFETIME).unwrap();
    loop {
        // A new certificate waits while the trust list is being changed.
        while let Err(status) = desk.work() {
            eprintln!("{:?}: {status}", Operation::ALL[index]);
            std::thread::sleep(Duration::from_millis(10));
        }
        println!("{DONE}");
    }
}

/// Starts a client with this operation.
fn start(plant: &Plant, index: usize, test: &str) -> Process {
    let described = json!({
        "endpoint": plant.seat.endpoint,
        "data": plant.seat.data,
        "namespace": plant.seat.namespace,
        "operation": index,
    });
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", test])
        .env(SEAT, described.to_string());
    Process::spawn(&format!("{:?}", Operation::ALL[index]), &mut command)
}

/// Returns the numbers of Sessions and Subscriptions of a server.
fn counts(client: &mut Client) -> [Variant; 2] {
    const SESSIONS: u32 =
        ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SESSION_COUNT;
    const SUBSCRIPTIONS: u32 =
        ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SUBSCRIPTION_COUNT;
    [SESSIONS, SUBSCRIPTIONS].map(|count| client.read_good(&NodeId::from(count)).unwrap())
}

#[test]
fn clients_that_are_killed_during_an_operation_leave_nothing_at_the_server() {
    if let Ok(described) = std::env::var(SEAT) {
        return work_until_killed(&described);
    }
    let plant = Plant::start(|_| {});
    let mut observer = crate::registry::client(&plant.sandbox, &plant.registry.shared_memory());
    let before = counts(&mut observer);
    let test = "registry::killed_client::clients_that_are_killed_during_an_operation_leave_nothing_at_the_server";
    let indexes = 0..Operation::ALL.len();
    let mut clients: Vec<Process> = indexes.map(|index| start(&plant, index, test)).collect();
    for client in &mut clients {
        for _ in 0..OPERATIONS {
            client.wait_for("an operation", PATIENCE, |line| line.contains(DONE));
        }
    }
    assert_ne!(counts(&mut observer), before);
    for client in &mut clients {
        client.kill();
    }
    eventually("Sessions and Subscriptions end", PATIENCE, || {
        counts(&mut observer) == before
    });
    // No lock is left: not that of the trust list either.
    drop(plant.all_work());
}

/// A user whose command was not killed exists; the file of users is never damaged.
#[test]
fn a_killed_command_damages_no_file_of_users() {
    const COMMANDS: u64 = 8;
    let sandbox = Sandbox::new();
    let _ = add_user(&sandbox, "first", "observer");
    let users = sandbox.data_directory().join("users");
    let users = users.to_str().unwrap();
    let password = sandbox.data_directory().join("password");
    let listed = || {
        let list = ["user", "--users", users, "list"];
        sandbox.rows(&list)
    };
    let mut confirmed = vec!["first".to_owned()];
    for number in 0..COMMANDS {
        let name = format!("user{number}");
        let add = ["user", "--users", users, "add", &name, "--password-file"];
        let add = [&add[..], &[password.to_str().unwrap()]].concat();
        let mut command = Process::spawn("takt user add", &mut sandbox.takt(&add));
        // The moment of the kill is another one in each round; the result may be either.
        std::thread::sleep(Duration::from_millis(15 * number));
        command.signal(rustix::process::Signal::KILL);
        if command.wait(PATIENCE).success() {
            confirmed.push(name);
        }
        let rows = listed();
        for name in &confirmed {
            assert!(rows.iter().any(|row| row["name"] == **name), "{rows:?}");
        }
    }
    let _ = add_user(&sandbox, "last", "observer");
    assert!(listed().iter().any(|row| row["name"] == "last"));
}
