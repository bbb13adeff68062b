//! Turns of connections: one with large messages is served between two waits, and one with many requests handles some.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use takt_rt::readiness::Events;
use takt_tcp::{
    ChannelDescription, TcpChannels, TcpClient, TcpClientConfig, TcpPeer, TcpServer,
    TcpServerConfig,
};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a large request.
const LARGE: usize = 3 << 20;

/// Handler that answers with the length of the request, and counts.
#[derive(Default)]
struct Counter {
    large: Cell<usize>,
    small: Cell<usize>,
    /// Number of requests after which a turn is over; 0 if it never is.
    turn: usize,
    /// Number of requests in this turn.
    in_turn: Cell<usize>,
}

impl RequestHandler for &Counter {
    type Connection = ();

    fn handle(
        &self,
        (): &mut (),
        _: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let count = if request.len() >= LARGE {
            &self.large
        } else {
            &self.small
        };
        count.set(count.get() + 1);
        self.in_turn.set(self.in_turn.get() + 1);
        response.u64(request.len() as u64).unwrap();
        RequestOutcome::Complete
    }

    fn is_turn_over(&self) -> bool {
        self.turn > 0 && self.in_turn.get() >= self.turn
    }

    fn take_completed(&self, (): &mut ()) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn disconnect(&self, (): ()) {}
}

impl TcpChannels for &Counter {
    fn connect(&self, _: TcpPeer, _: ChannelDescription<'_>, _: CompletionWaker) {}

    fn has_session(&self, (): &()) -> bool {
        true
    }
}

/// Sends requests of these lengths at once, and checks the answers.
fn send(url: &takt_tcp::EndpointUrl, lengths: &[usize]) {
    let mut client = TcpClient::connect(url, TcpClientConfig::default(), PATIENCE).unwrap();
    for &length in lengths {
        client
            .send(PATIENCE, |e| e.bytes(&vec![1; length]))
            .unwrap();
    }
    for &length in lengths {
        let (_, answer) = client.receive(PATIENCE).unwrap();
        assert_eq!(answer, (length as u64).to_le_bytes());
    }
}

#[test]
fn one_large_request_is_handled_between_two_waits() {
    const CLIENTS: usize = 4;
    let counter = Counter::default();
    let url = "opc.tcp://127.0.0.1:0".parse().unwrap();
    let mut server = TcpServer::bind(&url, TcpServerConfig::default(), &counter).unwrap();
    let url = server.url().clone();
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| send(&url, &[LARGE, 10, LARGE, LARGE + 1, 10])))
            .collect();
        let mut events = Events::with_capacity(64);
        let mut turns: u32 = 0;
        while clients.iter().any(|client| !client.is_finished()) {
            let before = counter.large.get();
            server
                .turn(&mut events, Some(Duration::from_millis(10)))
                .unwrap();
            let handled = counter.large.get() - before;
            assert!(handled <= 1, "{handled} large requests in one turn");
            turns += 1;
            if turns.is_multiple_of(20) {
                // All clients fill their sockets meanwhile, and are ready in the next turn.
                thread::sleep(Duration::from_millis(2));
            }
        }
    });
    assert_eq!(counter.large.get(), 3 * CLIENTS);
    assert_eq!(counter.small.get(), 2 * CLIENTS);
}

/// Sends many short requests to a server with turns of this many requests. Returns the most that it handled between two waits.
fn most_in_a_turn(turn: usize, requests: usize) -> usize {
    let counter = Counter {
        turn,
        ..Counter::default()
    };
    let url = "opc.tcp://127.0.0.1:0".parse().unwrap();
    let mut server = TcpServer::bind(&url, TcpServerConfig::default(), &counter).unwrap();
    let url = server.url().clone();
    let mut most = 0;
    thread::scope(|scope| {
        let client = scope.spawn(|| send(&url, &vec![50; requests]));
        let mut events = Events::with_capacity(64);
        while !client.is_finished() {
            counter.in_turn.set(0);
            server
                .turn(&mut events, Some(Duration::from_millis(10)))
                .unwrap();
            most = most.max(counter.in_turn.get());
            // The client fills its socket meanwhile: all requests are in one buffer.
            thread::sleep(Duration::from_millis(2));
        }
    });
    assert_eq!(counter.small.get(), requests);
    most
}

#[test]
fn a_turn_ends_before_the_requests_of_a_connection() {
    // A connection that is ready and is continued in the same turn handles one request more.
    let most = most_in_a_turn(3, 100);
    assert!((3..=4).contains(&most), "{most}");
}

#[test]
fn a_connection_has_a_number_of_requests_in_a_turn() {
    let most = most_in_a_turn(0, 500);
    assert!((64..=128).contains(&most), "{most}");
}
