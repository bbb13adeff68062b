//! Many requests at a time, which the registry forwards to one Provider.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use takt_app::{Client, ClientError};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::structures::{ReadRequest, ReadResponse, ReadValueId};
use takt_ua::{NodeId, StatusCode};

use crate::registry::{PATIENCE, client, consumer, eventually, wait_until_available};

/// Requests of the burst.
const BURST: usize = 500;

/// Sends Reads without waiting for their responses; returns the StatusCodes of all.
fn burst(client: &mut Client, node: &NodeId) -> Vec<StatusCode> {
    let request = ReadRequest {
        nodes_to_read: vec![ReadValueId {
            node_id: node.clone(),
            attribute_id: 13,
            ..ReadValueId::default()
        }],
        ..ReadRequest::default()
    };
    let (mut sent, mut statuses) = (0, Vec::new());
    while statuses.len() < BURST {
        while sent < BURST {
            match client.send(request.clone(), PATIENCE) {
                Ok(_) => sent += 1,
                // The server holds requests back until it has answered others.
                Err(ClientError::Service { .. }) if statuses.len() < sent => break,
                Err(error) => panic!("request {sent}: {error}"),
            }
        }
        let received = client.receive(PATIENCE, |response| response.decode::<ReadResponse>());
        statuses.push(match received.unwrap() {
            Ok(response) => response.results[0].status_code(),
            Err(error) => error.status_code(),
        });
    }
    statuses
}

#[test]
fn a_burst_of_one_client_fails_no_request_of_any_client() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let mut consumer = consumer(&sandbox, &registry);
    wait_until_available(&mut consumer, &machine.name);
    let setpoint = format!("{}/Spindle/SpeedSetpoint", machine.name);
    let found = client(&sandbox, &registry.endpoint)
        .find(&setpoint)
        .unwrap();
    let node = found.node_id.node_id;
    let (stop, read) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut beside = client(&sandbox, &registry.endpoint);
            while !stop.load(Ordering::Relaxed) {
                let status = beside.read(&node).unwrap().status_code();
                assert_eq!(status, StatusCode::Good);
                read.fetch_add(1, Ordering::Relaxed);
            }
        });
        for endpoint in [registry.endpoint.clone(), registry.shared_memory()] {
            let before = read.load(Ordering::Relaxed);
            eventually("the other client reads", PATIENCE, || {
                read.load(Ordering::Relaxed) > before
            });
            let statuses = burst(&mut client(&sandbox, &endpoint), &node);
            assert_eq!(statuses, vec![StatusCode::Good; BURST], "{endpoint}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}
