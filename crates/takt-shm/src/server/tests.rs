//! Actions of a server without a request.

use std::path::Path;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use takt_rt::readiness::Events;
use takt_ua::binary::Encoder;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

use super::*;
use crate::channel::socket::{self, PeerCredentials};
use crate::client::{ClientConfig, ShmClient};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Length of the longest response, in bytes.
const LONGEST_RESPONSE: usize = 16 << 20;

/// First byte of a request that is answered later.
const LATER: u8 = b'L';

/// Handler that answers a request with its own bytes, as far as they fit the longest response; some requests later.
struct Echo;

/// Responses that are sent later, and the waker for them.
struct Later {
    waker: CompletionWaker,
    responses: Vec<(u32, Vec<u8>)>,
}

impl RequestHandler for Echo {
    type Connection = Later;

    fn handle(
        &self,
        later: &mut Later,
        id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        if request.first() == Some(&LATER) {
            later.responses.push((id, request.to_vec()));
            (later.waker)();
            return RequestOutcome::Deferred;
        }
        let length = request.len().min(LONGEST_RESPONSE);
        response.bytes(&request[..length]).unwrap();
        RequestOutcome::Complete
    }

    fn take_completed(&self, later: &mut Later) -> Option<(u32, Vec<u8>)> {
        later.responses.pop()
    }

    fn disconnect(&self, _: Later) {}
}

impl ShmChannels for Echo {
    fn connect(
        &self,
        _: Option<PeerCredentials>,
        _: &ApplicationName,
        waker: CompletionWaker,
    ) -> Later {
        Later {
            waker,
            responses: Vec::new(),
        }
    }
}

struct Served {
    server: ShmServer<Echo>,
    readiness: Arc<Readiness>,
}

impl Served {
    fn new(directory: &Path) -> Self {
        let readiness = Arc::new(Readiness::new().unwrap());
        let config = ServerConfig {
            runtime_directory: Some(directory.to_path_buf()),
            public_services: false,
            ..ServerConfig::default()
        };
        let name = "Echo".parse().unwrap();
        let server = ShmServer::new(name, Echo, &readiness, 1, config).unwrap();
        Self { server, readiness }
    }

    /// Handles events until `is_done`. Only events wake it.
    fn until(&mut self, is_done: impl Fn(&ShmServer<Echo>) -> bool) {
        while !is_done(&self.server) {
            self.round();
        }
    }

    /// Returns true if the response of one of the first channels is being copied.
    fn is_copying_a_response(&mut self) -> bool {
        let connections = &mut self.server.connections;
        (0..connections.channels()).any(|index| {
            let slot = connections.channel_slot(index);
            let channel = slot.and_then(|slot| connections.get(slot)?.channel.as_mut());
            channel.is_some_and(|channel| channel.is_copying())
        })
    }

    /// Handles the available events, or the next ones.
    fn round(&mut self) {
        let mut events = Events::with_capacity(8);
        self.readiness.wait(&mut events, Some(TIMEOUT)).unwrap();
        assert!(!events.is_empty(), "nothing wakes the server");
        for event in events.iter() {
            self.server.ready(event.key);
        }
    }
}

fn connect(served: &mut Served, directory: &Path) -> ShmClient {
    let config = ClientConfig {
        runtime_directory: Some(directory.to_path_buf()),
        ..ClientConfig::default()
    };
    let name = served.server.name().clone();
    let connecting = thread::spawn(move || ShmClient::connect(&name, &config, TIMEOUT).unwrap());
    let channels = served.server.channels() + 1;
    served.until(|server| server.channels() == channels);
    connecting.join().unwrap()
}

fn send(client: &mut ShmClient, request: &[u8]) {
    client
        .send(|encoder| encoder.bytes(request), TIMEOUT)
        .unwrap();
}

/// Returns true if the response has come, with the bytes of the request.
fn is_answered(client: &mut ShmClient, request: &[u8]) -> bool {
    match client.receive(Duration::ZERO) {
        Ok((_, response)) => {
            let length = request.len().min(LONGEST_RESPONSE);
            assert!(response.unwrap() == &request[..length]);
            true
        }
        Err(ShmError::Timeout) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn only_clients_without_a_channel_are_dropped() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let mut client = connect(&mut served, directory.path());
    let begun = Instant::now();
    let socket = directory.path().join("Echo.sock");
    let silent = socket::connect(&socket).unwrap().unwrap();
    served.until(|server| server.connections.next_late().is_some());
    served.until(|server| server.connections.next_late().is_none());
    assert!(begun.elapsed() >= Duration::from_secs(4));
    let mut hung_up = [PollFd::new(&silent, PollFlags::empty())];
    poll(&mut hung_up, None).unwrap();
    assert!(hung_up[0].revents().contains(PollFlags::HUP));
    assert_eq!(served.server.channels(), 1);
    assert!(client.is_connected());
}

/// All clients can write to the map of attention, a broken one too.
#[test]
fn a_request_whose_mark_was_taken_away_is_found_before_the_server_sleeps() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let mut client = connect(&mut served, directory.path());
    let server = &mut served.server;
    server.set_awake(true);
    server.turn();
    client
        .send(|encoder| encoder.bytes(b"hello"), TIMEOUT)
        .unwrap();
    server.attention.unmark(0);
    assert_eq!(server.turn(), 0);
    server.set_awake(false);
    assert_eq!(server.turn(), 1);
    let (_, response) = client.receive(TIMEOUT).unwrap();
    assert_eq!(response.unwrap(), b"hello");
    // While it sleeps, clients ring it whatever the marks are.
    client
        .send(|encoder| encoder.bytes(b"again"), TIMEOUT)
        .unwrap();
    served.server.attention.unmark(0);
    let mut events = Events::with_capacity(8);
    served.readiness.wait(&mut events, Some(TIMEOUT)).unwrap();
    let answered: usize = events
        .iter()
        .map(|event| served.server.ready(event.key))
        .sum();
    assert_eq!(answered, 1);
}

/// A client that connects again and again does not delay the others.
#[test]
fn some_connections_and_mails_are_taken_at_a_time() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let socket = directory.path().join("Echo.sock");
    let mut clients: Vec<_> = (0..30)
        .map(|_| socket::connect(&socket).unwrap().unwrap())
        .collect();
    let mut taken = Vec::new();
    let mut events = Events::with_capacity(8);
    while taken.last() != Some(&clients.len()) {
        served.readiness.wait(&mut events, Some(TIMEOUT)).unwrap();
        assert_eq!(events.len(), 1, "the listener stays readable");
        let key = events.iter().next().unwrap().key;
        served.server.ready(key);
        taken.push(served.server.connections.slots().count());
    }
    assert_eq!(taken, [8, 16, 24, 30]);

    let loud = clients.swap_remove(0);
    let rings = 100;
    for _ in 0..rings {
        socket::send(&loud, Mail::Ring, &[]).unwrap();
    }
    let mut turns = 0;
    loop {
        let left = Some(Duration::ZERO);
        served.readiness.wait(&mut events, left).unwrap();
        let Some(event) = events.iter().next() else {
            break;
        };
        served.server.ready(event.key);
        turns += 1;
    }
    assert!(turns >= rings / MAILS_PER_TURN, "{turns}");
}

/// Returns the number of requests of a client that are answered before the one of another client. One more is sent.
fn answered_meanwhile(
    served: &mut Served,
    client: &mut ShmClient,
    (other, response): (&mut ShmClient, &[u8]),
) -> usize {
    send(client, b"small");
    let mut answered = 0;
    while !is_answered(other, response) {
        served.round();
        if is_answered(client, b"small") {
            answered += 1;
            send(client, b"small");
        }
    }
    answered
}

#[test]
fn others_are_answered_while_a_large_request_is_copied() {
    const SLICES: usize = 16;
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let [mut large, mut small] = [(); 2].map(|()| connect(&mut served, directory.path()));
    let request = vec![7; SLICES * copies::SLICE];
    send(&mut large, &request);
    let answered = answered_meanwhile(&mut served, &mut small, (&mut large, &request));
    // A round may copy two slices: there was a ring, too.
    assert!(answered >= SLICES / 2, "{answered}");
}

#[test]
fn others_are_answered_while_a_large_deferred_response_is_copied() {
    const SLICES: usize = 16;
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let [mut large, mut small] = [(); 2].map(|()| connect(&mut served, directory.path()));
    for round in 0..2 {
        let mut request = vec![round; SLICES * copies::SLICE];
        request[0] = LATER;
        send(&mut large, &request);
        // The request is copied in slices too.
        while !served.is_copying_a_response() {
            served.round();
        }
        let answered = answered_meanwhile(&mut served, &mut small, (&mut large, &request));
        assert!(answered >= SLICES / 2 - 1, "{answered}");
        while !is_answered(&mut small, b"small") {
            served.round();
        }
    }
}

#[test]
fn a_client_that_leaves_during_its_large_response_leaves_nothing() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let mut client = connect(&mut served, directory.path());
    let idle = served.server.config.memory.used();
    send(&mut client, &vec![LATER; 16 * copies::SLICE]);
    while !served.is_copying_a_response() {
        served.round();
    }
    // This has no effect on memory in use.
    served.server.trim();
    assert!(served.server.config.memory.used() > idle + 32 * copies::SLICE);
    drop(client);
    served.until(|server| server.channels() == 0);
    served.server.trim();
    // The other thread gives back the segments; only the copy of the request is left.
    while served.server.config.memory.used() > kept(&served) {
        thread::yield_now();
    }
}

#[test]
fn one_large_request_is_copied_at_a_time_and_none_waits_for_a_client_that_left() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let mut clients = [(); 3].map(|()| connect(&mut served, directory.path()));
    let request = vec![7; 12 * copies::SLICE];
    let idle = served.server.config.memory.used();
    for client in &mut clients {
        send(client, &request);
    }
    served.round();
    // The memory is each request in its client's segment, whose length is a power of two, and one copy.
    let used = served.server.config.memory.used() - idle;
    let mapped = clients.len() * (16 * copies::SLICE);
    assert!(used <= mapped + request.len(), "{used}");
    let [first, mut second, third] = clients;
    // Either of them may be first: only one of them has a copy.
    drop((first, third));
    while !is_answered(&mut second, &request) {
        served.round();
    }
    assert_eq!(served.server.channels(), 1);
    drop(second);
    served.until(|server| server.channels() == 0);
    served.server.trim();
    // The other thread gives back the segments; only the copy is left.
    while served.server.config.memory.used() > kept(&served) {
        thread::yield_now();
    }
    // In slices: no more than one of them is freed at once.
    let mut used = served.server.config.memory.used();
    while used > 0 {
        served.round();
        let left = served.server.config.memory.used();
        assert!(used - left <= copies::SLICE, "{used} {left}");
        used = left;
    }
}

#[test]
fn a_client_that_leaves_during_its_large_request_leaves_no_copy() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let mut client = connect(&mut served, directory.path());
    send(&mut client, &vec![7; 16 * copies::SLICE]);
    while kept(&served) == 0 {
        served.round();
    }
    // This has no effect on a copy in use.
    served.server.trim();
    drop(client);
    served.until(|server| server.channels() == 0);
    // The alarm wakes the server.
    served.until(|server| server.copies.kept() == 0);
}

/// Returns the number of bytes of the copy of the last large request.
fn kept(served: &Served) -> usize {
    served.server.copies.kept()
}

#[test]
fn large_requests_one_after_the_other_use_the_same_memory() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let request = vec![7; served.server.config.max_request as usize];
    // Their segments together are more than the budget.
    for _ in 0..5 {
        let mut client = connect(&mut served, directory.path());
        send(&mut client, &request);
        while !is_answered(&mut client, &request) {
            served.round();
        }
        // The copy stays, although the rest of the memory is not enough for all others.
        served.server.look_at_all();
        assert_eq!(kept(&served), request.len());
        drop(client);
        served.until(|server| server.channels() == 0);
    }
}

#[test]
fn a_copy_makes_room_for_what_else_is_in_the_budget() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut served = Served::new(directory.path());
    let mut client = connect(&mut served, directory.path());
    let request = vec![7; 16 * copies::SLICE];
    send(&mut client, &request);
    while !is_answered(&mut client, &request) {
        served.round();
    }
    assert_eq!(kept(&served), request.len());
    let memory = served.server.config.memory.clone();
    let _others = memory.charge(memory.available()).unwrap();
    send(&mut client, b"small");
    while !is_answered(&mut client, b"small") {
        served.round();
    }
    assert_eq!(kept(&served), 0);
}
