//! Changes that become durable later: their requests wait, other clients do not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{Client, builder, decode, message};
use crate::services::nodes::*;
use takt_services::{NodeManagement, Server, ServerBudgets, Settled};
use takt_space::{Caller, Change};
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, ids};

/// Rules whose disk takes until the test says that it is done.
#[derive(Default)]
struct Slow {
    waiting: Mutex<Vec<Settled>>,
    losses: AtomicU64,
    /// Number of operations that were kept.
    commits: AtomicU64,
    /// Number of operations for which there is room; `None` if there is always room.
    room: Mutex<Option<u64>>,
    delayed: Mutex<Vec<Settled>>,
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
    fn has_room(&self) -> bool {
        *self.room.lock().unwrap() != Some(0)
    }

    fn wait_for_room(&self, room: Settled) {
        self.delayed.lock().unwrap().push(room);
    }

    fn losses(&self) -> u64 {
        self.losses.load(Ordering::Relaxed)
    }

    fn authorize(&self, _: &Caller, _: &Change) -> Result<(), StatusCode> {
        Ok(())
    }

    fn commit(&self, _: &Caller, _: &[Change], losses: u64) -> Result<(), StatusCode> {
        match losses == self.losses() {
            true => {
                self.commits.fetch_add(1, Ordering::Relaxed);
                if let Some(room) = &mut *self.room.lock().unwrap() {
                    *room -= 1;
                }
                Ok(())
            }
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
    server_with(ServerBudgets {
        work_per_slice,
        ..ServerBudgets::default()
    })
}

fn server_with(budgets: ServerBudgets) -> (Arc<Server>, Arc<Slow>) {
    let rules = Arc::new(Slow::default());
    let server = builder()
        .budgets(budgets)
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
    // In many slices, and in one.
    for work_per_slice in [400, u32::MAX] {
        let (server, rules) = server(work_per_slice);
        let (mut first, mut second) = (Client::new(&server), Client::new(&server));
        let request = adding(&mut first, numbered(100));
        first.defer(&request, 1).unwrap();
        while server.work() {}
        assert!(first.connection.take_completed().is_none());
        assert_eq!(rules.waiting.lock().unwrap().len(), 1);
        // Its changes are visible already.
        let read = second.read_attribute(ids::OBJECTS_FOLDER, 4);
        assert_eq!(read.status_code(), StatusCode::Good);
        // A client that relies on it waits as well.
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
    // The second name is in use only because of the first change, which is lost.
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

/// Returns a server whose Sessions have little memory.
fn small_server(work_per_slice: u32) -> (Arc<Server>, Arc<Slow>) {
    let budgets = ServerBudgets {
        work_per_slice,
        max_memory_per_session: 100_000,
        ..ServerBudgets::default()
    };
    server_with(budgets)
}

/// Returns names that are long together.
fn long_names(prefix: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |number| format!("{prefix}{number}{}", "x".repeat(500)))
}

#[test]
fn a_request_that_has_no_memory_to_wait_changes_nothing() {
    for work_per_slice in [400, u32::MAX] {
        let (server, rules) = small_server(work_per_slice);
        let mut client = Client::new(&server);
        let before = server.memory_of_sessions().used();
        let large = adding(&mut client, long_names("A", 300));
        let refused = client.raw(&large);
        assert_eq!(
            decode::<AddNodesResponse>(&refused).unwrap_err(),
            StatusCode::BadOutOfMemory
        );
        assert!(rules.waiting.lock().unwrap().is_empty());
        assert_eq!(rules.commits.load(Ordering::Relaxed), 0);
        // Requests that may wait get their results, whatever the others hold when these come.
        let mut waiting = 0;
        loop {
            let request = adding(&mut client, long_names(&format!("B{waiting}n"), 20));
            if let Err(status) = client.defer(&request, waiting) {
                assert_eq!(status, StatusCode::BadOutOfMemory);
                break;
            }
            while server.work() {}
            waiting += 1;
        }
        assert!(waiting > 1);
        let kept = rules.commits.load(Ordering::Relaxed);
        assert_eq!(kept, 20 * u64::from(waiting));
        rules.settle(Ok(()));
        for _ in 0..waiting {
            let response = client.completed().1;
            assert_eq!(statuses(&response), [StatusCode::Good; 20]);
        }
        assert_eq!(server.memory_of_sessions().used(), before);
    }
}

impl Slow {
    /// Makes room for so many operations.
    fn make_room(&self, operations: Option<u64>) {
        *self.room.lock().unwrap() = operations;
        for delayed in std::mem::take(&mut *self.delayed.lock().unwrap()) {
            delayed.done(Ok(()));
        }
    }
}

#[test]
fn requests_wait_for_room_while_others_are_served() {
    for work_per_slice in [400, u32::MAX] {
        let (server, rules) = server(work_per_slice);
        let (mut first, mut second) = (Client::new(&server), Client::new(&server));
        rules.make_room(Some(3));
        let request = adding(&mut first, numbered(10));
        first.defer(&request, 1).unwrap();
        // It waits behind the one before it.
        let after = adding(&mut first, ["N1".to_owned()]);
        first.defer(&after, 2).unwrap();
        while server.work() {}
        assert_eq!(rules.commits.load(Ordering::Relaxed), 3);
        assert_eq!(rules.delayed.lock().unwrap().len(), 1);
        let read = second.read_attribute(ids::OBJECTS_FOLDER, 4);
        assert_eq!(read.status_code(), StatusCode::Good);
        // Room for a part of the rest, from another thread.
        std::thread::scope(|scope| {
            scope.spawn(|| rules.make_room(Some(2)));
        });
        while server.work() {}
        assert_eq!(rules.commits.load(Ordering::Relaxed), 5);
        rules.make_room(None);
        while server.work() {}
        rules.settle(Ok(()));
        let (request_id, response) = first.completed();
        assert_eq!(request_id, 1);
        assert_eq!(statuses(&response), [StatusCode::Good; 10]);
        let refused = first.completed();
        assert_eq!(refused.0, 2);
        assert_eq!(statuses(&refused.1), [StatusCode::BadBrowseNameDuplicated]);
    }
}

#[test]
fn a_connection_may_close_while_its_request_waits_for_room() {
    let (server, rules) = server(u32::MAX);
    let mut client = Client::new(&server);
    rules.make_room(Some(0));
    let request = adding(&mut client, numbered(2));
    client.defer(&request, 1).unwrap();
    while server.work() {}
    server.disconnect(client.connection);
    assert_eq!(rules.delayed.lock().unwrap().len(), 1);
    rules.make_room(None);
    assert!(!server.work(), "nothing is left to do");
    assert_eq!(rules.commits.load(Ordering::Relaxed), 0);
}
