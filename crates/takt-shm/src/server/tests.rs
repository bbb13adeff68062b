//! What a server does without being asked.

use std::path::Path;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use takt_rt::readiness::Events;
use takt_ua::binary::Encoder;

use super::*;
use crate::channel::socket::{self, PeerCredentials};
use crate::client::{ClientConfig, ShmClient};
use crate::handler::{CompletionWaker, Outcome};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Answers a request with its own bytes.
struct Echo;

impl Handler for Echo {
    type Connection = ();

    fn connect(&self, _: Option<PeerCredentials>, _: &ApplicationName, _: CompletionWaker) {}

    fn handle(&self, _: &mut (), _: u32, request: &[u8], response: &mut Encoder<'_>) -> Outcome {
        response.bytes(request).unwrap();
        Outcome::Complete
    }

    fn take_completed(&self, _: &mut ()) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn disconnect(&self, _: ()) {}
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

    /// Handles events until `is_done`. Nothing but events wakes it.
    fn until(&mut self, is_done: impl Fn(&ShmServer<Echo>) -> bool) {
        let mut events = Events::with_capacity(8);
        while !is_done(&self.server) {
            self.readiness.wait(&mut events, Some(TIMEOUT)).unwrap();
            assert!(!events.is_empty(), "nothing wakes the server");
            for event in events.iter() {
                self.server.ready(event.key);
            }
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
    served.until(|server| server.channels() == 1);
    connecting.join().unwrap()
}

#[test]
fn who_opens_no_channel_is_dropped_and_nobody_else() {
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

/// All clients can write the map of attention, a broken one too.
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
    // Asleep it is rung, whatever the marks are.
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

/// Who connects again and again does not keep the others waiting.
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
