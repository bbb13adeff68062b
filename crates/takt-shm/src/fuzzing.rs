//! Broken peer that is controlled by the bytes of an input: for the fuzz target `shm_peer`, and for tests.
//!
//! It has only what a peer has: its own outbox, the map of attention if it is a client, and the socket. The other side, a real
//! server or client, must neither panic nor hang, and messages that it accepts must lie within its bounds.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a test in all but name"
)]

use std::cell::OnceCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use takt_rt::memory_budget::MemoryBudget;
use takt_rt::readiness::{Events, Readiness, Waker};
use takt_rt::segment::Segment;
use takt_rt::shared_bytes;
use takt_ua::binary::Encoder;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

use crate::channel::attention::Attention;
use crate::channel::layout::{self, OUTBOX, Place, QUEUE, SENT, TAKEN, place_word};
use crate::channel::mail::{Mail, Received};
use crate::channel::socket::{self, Post};
use crate::directory::name_lock;
use crate::directory::runtime::Runtime;
use crate::header::MessageHeader;
use crate::{
    ApplicationName, ClientConfig, PeerCredentials, ServerConfig, ShmChannels, ShmClient,
    ShmServer, WaitPolicy,
};

/// Length of the longest message of either side, in bytes.
const LIMIT: u32 = 100_000;
/// Number of acts of the peer for one input.
const ACTS: usize = 200;

/// Handler that answers every second request with its own bytes at once, and the others later.
struct Echo;

impl RequestHandler for Echo {
    type Connection = Vec<(u32, Vec<u8>)>;

    fn handle(
        &self,
        later: &mut Self::Connection,
        id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        assert!(request.len() <= LIMIT as usize, "too long a request");
        if id % 2 == 1 {
            later.push((id, request.to_vec()));
            return RequestOutcome::Deferred;
        }
        let _ = response.bytes(request);
        RequestOutcome::Complete
    }

    fn take_completed(&self, later: &mut Self::Connection) -> Option<(u32, Vec<u8>)> {
        later.pop()
    }

    fn disconnect(&self, _: Self::Connection) {}
}

impl ShmChannels for Echo {
    fn connect(
        &self,
        _: Option<PeerCredentials>,
        _: &ApplicationName,
        waker: CompletionWaker,
    ) -> Self::Connection {
        waker();
        Vec::new()
    }
}

/// Remaining bytes of the input.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or_default()
    }

    fn number(&mut self) -> u64 {
        let mut number = [0; 8];
        let width = usize::from(self.byte() % 9);
        let bytes = self.bytes(width);
        number[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(number)
    }
}

/// State and acts of both kinds of peers.
struct Peer {
    socket: OwnedFd,
    outbox: Segment,
    /// Memory for large messages that was passed on last.
    large: Option<Segment>,
}

impl Peer {
    fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            outbox: Segment::create("takt-fuzz", OUTBOX).unwrap(),
            large: None,
        }
    }

    fn store(&self, word: usize, value: u64) {
        let words = self.outbox.words();
        words[word % words.len()].store(value, Ordering::SeqCst);
    }

    fn load(&self, word: usize) -> u64 {
        self.outbox.words()[word].load(Ordering::SeqCst)
    }

    fn send(&self, mail: Mail, descriptors: &[BorrowedFd<'_>]) {
        // The buffer may be full, or the other side gone.
        let _ = socket::send(&self.socket, mail, descriptors);
    }

    /// Publishes a message that is nearly correct.
    fn publish(&mut self, input: &mut Input<'_>) {
        let sent = self.load(SENT);
        let kind = input.byte();
        let place = match kind % 4 {
            0 if self.large.is_some() => Place::Large(u32::from(input.byte() % 4)),
            slot => Place::Slot(usize::from(slot)),
        };
        let body = input.byte();
        let header = MessageHeader {
            request_id: u32::from(input.byte()),
            body_length: u32::from(body) << (kind >> 4),
            status: u32::from(kind & 8) << 28,
            ..MessageHeader::default()
        };
        let start = match place {
            Place::Slot(number) => layout::slot(number).start / 8,
            Place::Large(_) => 0,
        };
        let segment = match (place, &self.large) {
            (Place::Large(_), Some(large)) => large,
            _ => &self.outbox,
        };
        shared_bytes::store(&segment.words()[start..], header.to_bytes().as_chunks().0);
        self.store(place_word(sent), place.to_word());
        self.store(SENT, sent.wrapping_add(1));
    }

    /// Sends a mail: a good one with the wrong descriptors, or no mail at all.
    fn mail(&mut self, input: &mut Input<'_>) {
        let kind = input.byte();
        let number = input.number() as u32;
        if kind.is_multiple_of(8) {
            let _ = rustix::net::send(
                &self.socket,
                input.bytes(40),
                rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT,
            );
            return;
        }
        let mail = match kind % 8 {
            1 => Mail::Open {
                max_response: number,
            },
            2 => Mail::Hello { connection: number },
            3 => Mail::Opened {
                max_request: number,
                max_response: number,
            },
            4 => Mail::Goodbye,
            5 => Mail::Ring,
            _ => Mail::Large {
                generation: number % 4,
            },
        };
        let length = 1 << (number % 20);
        let memory = match kind >> 6 {
            0 | 1 => Segment::create("takt-fuzz", length).unwrap(),
            2 => Segment::create_for_all("takt-fuzz", length).unwrap(),
            _ => return self.send(mail, &[std::io::stderr().as_fd()]),
        };
        let fd = memory.fd();
        self.send(mail, &[fd; 3][..usize::from(kind >> 3) % 4]);
        self.large = Some(memory);
    }

    /// Performs one act; returns `false` if it is the other side's turn.
    fn act(&mut self, input: &mut Input<'_>) -> bool {
        match input.byte() % 8 {
            0 => {
                let word = input.number() as usize;
                self.store(word, input.number());
            }
            // This is one of the words that matter.
            1 => {
                let word = SENT + usize::from(input.byte() % 8);
                self.store(word, input.number());
            }
            2 => {
                let slot = layout::slot(usize::from(input.byte()) % QUEUE);
                let start = slot.start / 8 + usize::from(input.byte() % 8);
                let count = usize::from(input.byte() % 64);
                shared_bytes::store(
                    &self.outbox.words()[start..],
                    input.bytes(count).as_chunks().0,
                );
            }
            3 => self.store(TAKEN, self.load(TAKEN).wrapping_add(1)),
            4 => self.mail(input),
            5 | 6 => self.publish(input),
            _ => return false,
        }
        true
    }
}

/// Runs a broken client and a good server.
pub fn broken_client(input: &[u8]) {
    let mut input = Input(input);
    let readiness = Arc::new(Readiness::new().unwrap());
    let name = ApplicationName::new(&format!("Fuzz{}", std::process::id())).unwrap();
    let config = ServerConfig {
        group: None,
        max_connections: 4,
        memory: MemoryBudget::new(1 << 24),
        max_request: LIMIT,
        max_response: LIMIT,
        public_services: false,
        runtime_directory: Some(directory()),
    };
    let runtime = runtime();
    let mut server = ShmServer::new(name.clone(), Echo, &readiness, 0, config).unwrap();
    let mut events = Events::with_capacity(16);
    let mut serve = || {
        readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
        for event in events.iter() {
            server.ready(event.key);
        }
        server.turn();
    };
    let path = name_lock::socket_path(&runtime, &name);
    let mut peer = Peer::new(socket::connect(&path).unwrap().expect("it listens"));
    serve();
    let Post::Mail(Received { descriptors, .. }) = socket::receive(&peer.socket) else {
        panic!("no hello");
    };
    let [_, map, bell]: [OwnedFd; 3] = descriptors.try_into().expect("with descriptors");
    let (bell, map) = (
        Waker::from_eventfd(bell).unwrap(),
        Segment::open_for_all(map, 1 << 16).unwrap(),
    );
    let max_response = LIMIT;
    peer.send(Mail::Open { max_response }, &[peer.outbox.fd()]);
    serve();
    for _ in 0..ACTS {
        if input.0.is_empty() {
            break;
        }
        if !peer.act(&mut input) {
            let words = map.words();
            words[usize::from(input.byte()) % words.len()].store(input.number(), Ordering::SeqCst);
            bell.wake();
            serve();
            // There are more requests than there is room for responses: the client takes none of those by itself.
            for _ in 0..input.byte() % 8 {
                peer.publish(&mut input);
                bell.wake();
                serve();
            }
        }
    }
    bell.wake();
    serve();
}

/// Runs a broken server and a good client.
pub fn broken_server(input: &[u8]) {
    let mut input = Input(input);
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .unwrap();
    let mut peer = Peer::new(ours);
    let mut attention = Attention::new(64).unwrap();
    let doorbell = Waker::new().unwrap();
    let [state, map] = attention.descriptors();
    let connection = u32::from(input.byte());
    let first = [state, map, doorbell.as_fd()];
    peer.send(Mail::Hello { connection }, &first);
    let opened = Mail::Opened {
        max_request: LIMIT,
        max_response: input.number() as u32,
    };
    peer.send(opened, &[peer.outbox.fd()]);
    let config = ClientConfig {
        group: None,
        wait: match input.byte() % 3 {
            0 => WaitPolicy::Spin,
            1 => WaitPolicy::ADAPTIVE,
            _ => WaitPolicy::Sleep,
        },
        max_response: LIMIT,
        runtime_directory: Some(directory()),
    };
    let Ok(mut client) = ShmClient::open(theirs, runtime(), &config, Instant::now()) else {
        return;
    };
    for _ in 0..ACTS {
        if input.0.is_empty() {
            break;
        }
        if peer.act(&mut input) {
            continue;
        }
        attention.set_awake(input.byte().is_multiple_of(2));
        peer.send(Mail::Ring, &[]);
        let request = vec![7; usize::from(input.byte()) << (input.byte() % 10)];
        let encode = |encoder: &mut Encoder<'_>| encoder.bytes(&request);
        let timeout = Duration::ZERO;
        let length = match input.byte() % 3 {
            0 => client.request(encode, timeout).map(<[u8]>::len),
            1 => client
                .request_in_place(encode, timeout)
                .map(|body| body.to_vec().len()),
            _ => Ok(usize::from(client.is_connected())),
        };
        assert!(
            length.unwrap_or_default() <= LIMIT as usize,
            "too long a response"
        );
        while let Post::Mail(_) = socket::receive(&peer.socket) {}
    }
}

fn directory() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("takt-fuzz-{user}"))
}

/// Directory that is held for good, so that servers that come and go do not sweep it each time.
struct Held {
    runtime: Arc<Runtime>,
    _directory: Directory,
}

/// Directory, which is removed if no other process has put anything into it.
struct Directory;

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(directory());
    }
}

fn runtime() -> Arc<Runtime> {
    thread_local! {
        static HELD: OnceCell<Held> = const { OnceCell::new() };
    }
    let open = || Held {
        runtime: Runtime::open(Some(&directory())).expect("a runtime directory"),
        _directory: Directory,
    };
    HELD.with(|held| Arc::clone(&held.get_or_init(open).runtime))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn no_client_can_harm_a_server(input in prop::collection::vec(any::<u8>(), 0..600)) {
            broken_client(&input);
        }

        #[test]
        fn no_server_can_harm_a_client(input in prop::collection::vec(any::<u8>(), 0..600)) {
            broken_server(&input);
        }
    }
}
