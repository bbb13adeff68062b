//! Buggy and hostile clients, which get errors from a server through their channel.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use takt_rt::readiness::{Events, Readiness};
use takt_ua::StatusCode;
use takt_ua::binary::Encoder;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

use crate::header::{HEADER_LENGTH, MessageHeader};
use crate::{
    ApplicationName, ClientConfig, PeerCredentials, ServerConfig, ShmChannels, ShmClient, ShmError,
    ShmServer,
};

const TIMEOUT: Duration = Duration::from_secs(60);

struct Echo;

impl RequestHandler for Echo {
    type Connection = ();

    fn handle(
        &self,
        (): &mut (),
        _: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        response.bytes(request).unwrap();
        RequestOutcome::Complete
    }

    fn take_completed(&self, (): &mut ()) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn disconnect(&self, (): ()) {}
}

impl ShmChannels for Echo {
    fn connect(&self, _: Option<PeerCredentials>, _: &ApplicationName, _: CompletionWaker) {}
}

struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    directory: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        Self::start_with(10_000)
    }

    fn start_with(max_request: u32) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let config = ServerConfig {
            max_request,
            runtime_directory: Some(directory.path().to_path_buf()),
            ..ServerConfig::default()
        };
        let readiness = Arc::new(Readiness::new().unwrap());
        let name = ApplicationName::new("Echo").unwrap();
        let mut server = ShmServer::new(name, Echo, &readiness, 0, config).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut events = Events::with_capacity(16);
            while !stopped.load(Ordering::Relaxed) {
                let timeout = Some(Duration::from_millis(20));
                readiness.wait(&mut events, timeout).unwrap();
                for event in events.iter() {
                    server.ready(event.key);
                }
            }
        });
        Self {
            stop,
            thread: Some(thread),
            directory,
        }
    }

    fn connect(&self) -> ShmClient {
        let config = ClientConfig {
            runtime_directory: Some(self.directory.path().to_path_buf()),
            ..ClientConfig::default()
        };
        ShmClient::connect(&ApplicationName::new("Echo").unwrap(), &config, TIMEOUT).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Sends bytes in place of a message, and waits for the answer.
fn send_raw(client: &mut ShmClient, bytes: &[u8]) -> Result<Vec<u8>, ShmError> {
    client.outbox.acknowledge_with_next(client.inbox.received());
    client.outbox.free_taken(client.inbox.taken());
    client.outbox.send_raw(bytes);
    client.call();
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().max(HEADER_LENGTH), 0);
    let id = MessageHeader::request_id_of(&padded);
    let message = client.wait_for(Some(id), Instant::now(), TIMEOUT)?;
    Ok(client.inbox.body(&message).to_vec())
}

fn message(body_length: u32, body: &[u8]) -> Vec<u8> {
    let header = MessageHeader {
        request_id: 77,
        body_length,
        ..MessageHeader::default()
    };
    [&header.to_bytes(), body].concat()
}

#[test]
fn wrong_headers_are_answered_with_a_status() {
    let server = Server::start();
    let mut client = server.connect();
    let good = message(3, b"abc");
    assert_eq!(send_raw(&mut client, &good).unwrap(), b"abc");
    let with = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        bad
    };
    let cases = [
        (with(0, b'X'), StatusCode::BadDecodingError),
        (with(4, 9), StatusCode::BadProtocolVersionUnsupported),
        (with(6, 0), StatusCode::BadDecodingError),
        (with(6, 33), StatusCode::BadDecodingError),
        (with(7, 0xFF), StatusCode::BadDecodingError),
        (with(18, 1), StatusCode::BadRequestTooLarge),
        (with(17, 0x40), StatusCode::BadRequestTooLarge),
        (with(19, 0xFF), StatusCode::BadRequestTooLarge),
        (
            message(10_001, &[0; 10_001]),
            StatusCode::BadRequestTooLarge,
        ),
        (good[..6].to_vec(), StatusCode::BadDecodingError),
    ];
    for (bytes, expected) in cases {
        let error = send_raw(&mut client, &bytes).unwrap_err();
        assert!(matches!(error, ShmError::Refused(_)), "{error}");
        assert_eq!(error.status_code(), expected, "{bytes:?}");
    }
    assert_eq!(send_raw(&mut client, &good).unwrap(), b"abc");
}

#[test]
fn an_empty_slot_and_unused_bytes_are_harmless() {
    let server = Server::start();
    let mut client = server.connect();
    let error = send_raw(&mut client, &[]).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadDecodingError);
    let response = send_raw(&mut client, &message(3, &[7; 500])).unwrap();
    assert_eq!(response, [7; 3]);
}

#[test]
fn random_bytes_are_answered_and_do_no_harm() {
    let server = Server::start();
    let client = RefCell::new(server.connect());
    let other = RefCell::new(server.connect());
    let bytes = || prop::collection::vec(any::<u8>(), 0..200);
    let headed = (bytes(), bytes()).prop_map(|(mut head, tail)| {
        // A good header, overwritten in places, tests more of the server than noise does.
        let mut message = message(tail.len() as u32, &tail);
        head.truncate(16);
        for pair in head.chunks_exact(2) {
            let at = usize::from(pair[0]) % HEADER_LENGTH;
            message[at] = pair[1];
        }
        message
    });
    let mut runner = proptest::test_runner::TestRunner::default();
    runner
        .run(&prop_oneof![bytes(), headed], |message| {
            // Any answer is accepted, but there must be one.
            let result = send_raw(&mut client.borrow_mut(), &message);
            let ended = matches!(result, Err(ShmError::Timeout | ShmError::ConnectionClosed));
            prop_assert!(!ended, "{result:?}");
            let mut other = other.borrow_mut();
            let answer = other.request(|encoder| encoder.bytes(b"fine"), TIMEOUT);
            prop_assert_eq!(answer.unwrap(), b"fine");
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_client_that_writes_nonsense_loses_its_connection_and_nothing_else() {
    let server = Server::start();
    let mut other = server.connect();
    // More messages than there is room for, an invalid place, a large segment that was never passed on.
    for (word, value) in [(8, 99), (8, u64::MAX), (9, 4), (9, 1 << 32 | 7)] {
        let mut client = server.connect();
        client.outbox.scribble(word, value);
        if word == 9 {
            client.outbox.scribble(8, 1);
        }
        client.call();
        let begin = Instant::now();
        while client.is_connected() {
            assert!(begin.elapsed() < TIMEOUT, "{word} {value}");
            std::thread::sleep(Duration::from_millis(1));
        }
        let answer = other.request(|e| e.bytes(b"fine"), TIMEOUT);
        assert_eq!(answer.unwrap(), b"fine");
    }
    // The acknowledgement and the sleep flag cannot harm the server.
    for (word, value) in [(13, u64::MAX), (14, 1), (15, 1)] {
        let mut client = server.connect();
        client.outbox.scribble(word, value);
        let answer = client.request(|e| e.bytes(b"fine"), TIMEOUT);
        assert_eq!(answer.unwrap(), b"fine");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn hostile_writes_of_a_client_do_not_affect_others(
        scribbles in prop::collection::vec((8_usize..16, prop_oneof![0_u64..6, any::<u64>()]), 1..20),
    ) {
        let server = Server::start();
        let mut other = server.connect();
        let client = server.connect();
        for (word, value) in scribbles {
            client.outbox.scribble(word, value);
            client.call();
        }
        prop_assert_eq!(other.request(|e| e.bytes(b"fine"), TIMEOUT).unwrap(), b"fine");
    }
}

#[test]
fn large_messages_take_memory_and_give_it_back() {
    let server = Server::start_with(8 << 20);
    let mut client = server.connect();
    let body: Vec<u8> = (0..5_000_000_u32).map(|n| n as u8).collect();
    for size in [
        16_000, 16_352, 16_353, 20_000, 100_000, 5_000_000, 100, 3_000_000,
    ] {
        let response = client.request(|e| e.bytes(&body[..size]), TIMEOUT).unwrap();
        assert!(response == &body[..size], "{size}");
        let in_place = client
            .request_in_place(|e| e.bytes(&body[..size]), TIMEOUT)
            .unwrap();
        assert!(in_place.to_vec() == body[..size], "{size}");
    }
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines()
            .filter(|line| line.contains("takt-large"))
            .count()
    };
    assert!(mapped() > 0);
    for _ in 0..3000 {
        client.request(|e| e.bytes(b"small"), TIMEOUT).unwrap();
    }
    drop(client);
}

#[test]
fn responses_come_for_whichever_request_was_sent() {
    let server = Server::start();
    let mut client = server.connect();
    let mut sent = std::collections::VecDeque::new();
    let mut received = 0_u32;
    for number in 0..100_u32 {
        // Requests are sent until there is no room in either direction: then responses have to be taken.
        let id = loop {
            match client.send(|e| e.u32(number), TIMEOUT) {
                Ok(id) => break id,
                Err(ShmError::Busy(_)) if sent.len() < 8 => std::thread::yield_now(),
                Err(ShmError::Busy(_)) => check(&mut client, &mut sent, &mut received),
                Err(error) => panic!("{error}"),
            }
        };
        sent.push_back(id);
    }
    while !sent.is_empty() {
        check(&mut client, &mut sent, &mut received);
    }
    let nothing = client.receive(Duration::ZERO);
    assert!(matches!(nothing, Err(ShmError::Timeout)));
}

fn check(client: &mut ShmClient, sent: &mut std::collections::VecDeque<u32>, received: &mut u32) {
    let (answered, response) = client.receive(TIMEOUT).unwrap();
    assert_eq!(response.unwrap(), received.to_le_bytes());
    assert_eq!(Some(answered), sent.pop_front());
    *received += 1;
}
