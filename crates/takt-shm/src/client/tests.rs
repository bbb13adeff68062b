//! What a buggy or hostile client can do to a server through its channel: get errors.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use takt_rt::readiness::{Events, Readiness};
use takt_ua::StatusCode;
use takt_ua::binary::Encoder;

use crate::header::{FLAG_WAKE, HEADER_LENGTH, MessageHeader};
use crate::{
    ApplicationName, ClientConfig, CompletionWaker, Handler, Outcome, PeerCredentials,
    ServerConfig, ShmClient, ShmError, ShmServer,
};

const TIMEOUT: Duration = Duration::from_secs(10);

struct Echo;

impl Handler for Echo {
    type Connection = ();

    fn connect(&self, _: Option<PeerCredentials>, _: &ApplicationName, _: CompletionWaker) {}

    fn handle(&self, (): &mut (), _: u32, request: &[u8], response: &mut Encoder<'_>) -> Outcome {
        response.bytes(request).unwrap();
        Outcome::Complete
    }

    fn take_completed(&self, (): &mut ()) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn disconnect(&self, (): ()) {}
}

struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    directory: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let config = ServerConfig {
            max_request: 10_000,
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

/// Sends bytes in place of a message, and waits for the answer to it.
fn send_raw(client: &mut ShmClient, bytes: &[u8]) -> Result<Vec<u8>, ShmError> {
    client.discard_late().unwrap();
    client.sender.send_raw(bytes);
    client.server.as_ref().unwrap().wake();
    let id = MessageHeader::request_id_of(bytes);
    client.wait_for(Some(id), Instant::now(), TIMEOUT)?;
    Ok(client.response.clone())
}

fn message(body_length: u32, body: &[u8]) -> Vec<u8> {
    let header = MessageHeader {
        request_id: 77,
        flags: FLAG_WAKE,
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
        (with(6, 200), StatusCode::BadDecodingError),
        (with(16, 4), StatusCode::BadDecodingError),
        (with(19, 0xFF), StatusCode::BadRequestTooLarge),
        (
            message(10_001, &[0; 10_001]),
            StatusCode::BadRequestTooLarge,
        ),
        (good[..12].to_vec(), StatusCode::BadDecodingError),
        (
            good[..HEADER_LENGTH + 2].to_vec(),
            StatusCode::BadDecodingError,
        ),
    ];
    for (bytes, expected) in cases {
        let error = send_raw(&mut client, &bytes).unwrap_err();
        assert!(matches!(error, ShmError::Refused(_)), "{error}");
        assert_eq!(error.status_code(), expected, "{bytes:?}");
    }
    assert_eq!(send_raw(&mut client, &good).unwrap(), b"abc");
}

#[test]
fn an_empty_sample_and_unused_bytes_are_harmless() {
    let server = Server::start();
    let mut client = server.connect();
    let error = send_raw(&mut client, &[]).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadDecodingError);
    let response = send_raw(&mut client, &message(3, &[7; 500])).unwrap();
    assert_eq!(response, [7; 3]);
}

#[test]
fn random_bytes_are_answered_and_harm_nobody() {
    let server = Server::start();
    let client = RefCell::new(server.connect());
    let other = RefCell::new(server.connect());
    let bytes = || prop::collection::vec(any::<u8>(), 0..200);
    let headed = (bytes(), bytes()).prop_map(|(mut head, tail)| {
        // A good header, overwritten in places, leads further into the server than noise does.
        let mut message = message(tail.len() as u32, &tail);
        head.truncate(16);
        for pair in head.chunks_exact(2) {
            let at = usize::from(pair[0]) % HEADER_LENGTH;
            // Who does not ask to be woken finds the answer at the end of the timeout.
            if at != 12 {
                message[at] = pair[1];
            }
        }
        message
    });
    let mut runner = proptest::test_runner::TestRunner::default();
    runner
        .run(&prop_oneof![bytes(), headed], |message| {
            // Any answer will do, as long as there is one.
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
