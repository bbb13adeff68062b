//! Fairness of 256 clients that all send back to back: each gets its share.

use std::time::{Duration, Instant};

use crate::common::*;
use rustix::process::{Resource, getrlimit, setrlimit};
use takt_shm::{ShmClient, ShmError, WaitPolicy};
use takt_ua::StatusCode;

const CLIENTS: usize = 256;
/// Time in which requests are counted.
const WINDOW: Duration = Duration::from_secs(2);
/// Number of pending requests of each client.
const ON_THE_WAY: usize = 3;
/// Smallest number of requests of a client in the window that is meaningful; the window may be longer for that.
const MIN_MEDIAN: u64 = 30;
const PATIENCE: Duration = Duration::from_secs(60);

fn send(client: &mut ShmClient) {
    client
        .send(|encoder| encoder.bytes(b"mine"), TIMEOUT)
        .unwrap();
}

/// Takes the answers, and sends new requests: returns their number.
fn turn(client: &mut ShmClient) -> u64 {
    for answered in 0..ON_THE_WAY as u64 {
        match client.receive(Duration::ZERO) {
            Ok((_, response)) => assert_eq!(response, Ok(&b"mine"[..])),
            Err(ShmError::Timeout) => return answered,
            Err(error) => panic!("{error}"),
        }
        send(client);
    }
    ON_THE_WAY as u64
}

fn median(counts: &[u64]) -> u64 {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// Measures the shares. One thread plays all clients, so that the server is measured and not the order in which the kernel wakes
/// threads.
fn share(wait: WaitPolicy) {
    let directory = RuntimeDirectory::new();
    let _server =
        ServerThread::start_waiting("Echo", server_config(directory.path()), wait).unwrap();
    let config = client_config(directory.path(), WaitPolicy::Spin);
    let mut clients: Vec<ShmClient> = (0..CLIENTS)
        .map(|_| ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap())
        .collect();
    let error = connect(directory.path(), "Echo").map(|_| ()).unwrap_err();
    assert_eq!(
        error.status_code(),
        StatusCode::BadTcpServerTooBusy,
        "{error}"
    );

    for client in &mut clients {
        (0..ON_THE_WAY).for_each(|_| send(client));
    }
    let mut counts = vec![0; CLIENTS];
    let begun = Instant::now();
    while begun.elapsed() < WINDOW || median(&counts) < MIN_MEDIAN {
        assert!(begun.elapsed() < PATIENCE, "{wait:?}: {counts:?}");
        for (client, count) in clients.iter_mut().zip(&mut counts) {
            *count += turn(client);
        }
        // The server may have no core of its own.
        std::thread::yield_now();
    }
    let median = median(&counts);
    let [least, most] = [counts.iter().min(), counts.iter().max()].map(|count| *count.unwrap());
    println!("{wait:?}: {least} to {most} requests of a client, median {median}");
    assert!(
        least >= median / 2,
        "{wait:?}: {least} to {most}, median {median}"
    );
    // A client that leaves makes room.
    clients.pop();
    eventually("a place is free", || {
        connect(directory.path(), "Echo").is_ok()
    });
}

#[test]
fn each_of_256_active_clients_gets_its_share_and_one_more_is_refused() {
    // Each takes some descriptors at either end, and both are in this process.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    for wait in [WaitPolicy::Spin, WaitPolicy::ADAPTIVE, WaitPolicy::Sleep] {
        share(wait);
    }
}
