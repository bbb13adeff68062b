//! Changes that become durable later: their requests wait, other clients do not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{Client, builder, decode, message};
use crate::nodes::*;
use takt_services::{NodeManagement, Server, ServerLimits, Settled};
use takt_space::{Caller, Change};
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, ids};

/// Rules whose disk takes until the test says that it is done.
#[derive(Default)]
struct Slow {
    waiting: Mutex<Vec<Settled>>,
    losses: AtomicU64,
}

impl Slow {
    /// Says that all changes so far are durable, or lost.
    fn settle(&self, result: Result<(), StatusCode>) {
        if result.is_err() {
            self.losses.fetch_add(1, Ordering::Relaxed);
        }
        for settled in std::mem::take(&mut *self.waiting.lock().unwrap()) {
            settled.done(result);
        }
    }
}

impl NodeManagement for Slow {
    fn losses(&self) -> u64 {
        self.losses.load(Ordering::Relaxed)
    }

    fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
        Ok(())
    }

    fn commit(&self, _: &Caller, _: &[Change], losses: u64) -> Result<(), StatusCode> {
        match losses == self.losses() {
            true => Ok(()),
            false => Err(LOST),
        }
    }

    fn settle(&self, _: &Caller, losses: u64, settled: Settled) {
        match losses == self.losses() {
            true => self.waiting.lock().unwrap().push(settled),
            false => settled.done(Err(LOST)),
        }
    }
}

const LOST: StatusCode = StatusCode::BadResourceUnavailable;

fn server(work_per_slice: u32) -> (Arc<Server>, Arc<Slow>) {
    let rules = Arc::new(Slow::default());
    let limits = ServerLimits {
        work_per_slice,
        ..ServerLimits::default()
    };
    let server = builder()
        .limits(limits)
        .node_management(Arc::clone(&rules) as _)
        .build();
    (server.unwrap(), rules)
}

fn adding(client: &mut Client, names: impl IntoIterator<Item = String>) -> Vec<u8> {
    let objects = names.into_iter().map(|name| object(&name));
    message(&AddNodesRequest {
        request_header: client.header(),
        nodes_to_add: objects.collect(),
    })
}

fn numbered(count: u32) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("N{number}"))
}

fn statuses(response: &[u8]) -> Vec<StatusCode> {
    let response: AddNodesResponse = decode(response).unwrap();
    let results = response.results.iter();
    results.map(|result| result.status_code).collect()
}

#[test]
fn a_request_waits_for_the_disk_while_others_are_served() {
    for work_per_slice in [400, u32::MAX] {
        let (server, rules) = server(work_per_slice);
        let (mut first, mut second) = (Client::new(&server), Client::new(&server));
        let request = adding(&mut first, numbered(100));
        first.defer(&request, 1).unwrap();
        while server.work() {}
        assert!(first.connection.take_completed().is_none());
        assert_eq!(rules.waiting.lock().unwrap().len(), 1);
        // What it added is visible already.
        let read = second.read_attribute(ids::OBJECTS_FOLDER, 4);
        assert_eq!(read.status_code(), StatusCode::Good);
        // Somebody who relies on it waits as well.
        let again = adding(&mut second, ["N1".to_owned()]);
        second.defer(&again, 2).unwrap();
        while server.work() {}
        assert!(second.connection.take_completed().is_none());
        std::thread::scope(|scope| {
            scope.spawn(|| rules.settle(Ok(())));
        });
        let (request_id, response) = first.connection.take_completed().unwrap();
        assert_eq!(request_id, 1);
        assert_eq!(statuses(&response), [StatusCode::Good; 100]);
        let refused = statuses(&second.completed().1);
        assert_eq!(refused, [StatusCode::BadBrowseNameDuplicated]);
    }
}

#[test]
fn results_that_rest_on_lost_changes_are_the_loss() {
    let (server, rules) = server(u32::MAX);
    let mut client = Client::new(&server);
    let mut objects = ["A", "A", "B"].map(object);
    objects[2].parent_node_id = NodeId::numeric(1, 4711).into();
    let request = message(&AddNodesRequest {
        request_header: client.header(),
        nodes_to_add: objects.into(),
    });
    client.defer(&request, 1).unwrap();
    rules.settle(Err(StatusCode::BadOutOfMemory));
    let lost = StatusCode::BadOutOfMemory;
    let expected = [lost, lost, StatusCode::BadParentNodeIdInvalid];
    assert_eq!(statuses(&client.completed().1), expected);
    // Rules that give no notice have lost the changes.
    let request = adding(&mut client, ["C".to_owned()]);
    client.defer(&request, 2).unwrap();
    rules.waiting.lock().unwrap().clear();
    assert_eq!(statuses(&client.completed().1), [LOST]);
}

#[test]
fn requests_under_way_lose_their_changes_with_the_others() {
    let (server, rules) = server(400);
    let (mut first, mut second) = (Client::new(&server), Client::new(&server));
    let long = adding(&mut first, numbered(200));
    first.defer(&long, 1).unwrap();
    let short = adding(&mut second, ["Short".to_owned()]);
    second.defer(&short, 2).unwrap();
    // The long request has begun, and the short one is done.
    assert_eq!(rules.waiting.lock().unwrap().len(), 1);
    rules.settle(Err(LOST));
    assert_eq!(statuses(&second.completed().1), [LOST]);
    assert_eq!(statuses(&first.completed().1), [LOST; 200]);
    let fresh = adding(&mut second, ["Fresh".to_owned()]);
    second.defer(&fresh, 3).unwrap();
    rules.settle(Ok(()));
    assert_eq!(statuses(&second.completed().1), [StatusCode::Good]);
}

#[test]
fn a_request_without_changes_waits_for_nothing() {
    let (server, rules) = server(u32::MAX);
    let mut client = Client::new(&server);
    let unknown = NodeId::numeric(1, 4711);
    let status = delete(&mut client, &unknown, true);
    assert_eq!(status, StatusCode::BadNodeIdUnknown);
    assert!(rules.waiting.lock().unwrap().is_empty());
}

#[test]
fn a_request_that_is_cancelled_while_it_waits_is_answered_once() {
    let (server, rules) = server(u32::MAX);
    let mut client = Client::new(&server);
    let request = adding(&mut client, ["A".to_owned()]);
    let request_handle = client.handle;
    client.defer(&request, 1).unwrap();
    let request_header = client.header();
    let cancelled: CancelResponse = client
        .call(CancelRequest {
            request_header,
            request_handle,
        })
        .unwrap();
    assert_eq!(cancelled.cancel_count, 1);
    let fault = decode::<AddNodesResponse>(&client.completed().1).unwrap_err();
    assert_eq!(fault, StatusCode::BadRequestCancelledByClient);
    rules.settle(Ok(()));
    assert!(client.connection.take_completed().is_none());
}

#[test]
fn the_notice_may_come_after_the_connection_is_closed() {
    let (server, rules) = server(u32::MAX);
    let mut client = Client::new(&server);
    let memory = server.memory_of_sessions();
    let before = memory.used();
    let request = adding(&mut client, ["A".to_owned()]);
    client.defer(&request, 1).unwrap();
    server.disconnect(client.connection);
    assert!(memory.used() > before, "the request is kept");
    rules.settle(Ok(()));
    assert_eq!(memory.used(), before);
}
