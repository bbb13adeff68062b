//! Hostile peers, which harm only themselves.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::*;
use rustix::fs::OFlags;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::process::{Resource, getrlimit, setrlimit};
use takt_rt::memory_budget::MemoryBudget;
use takt_rt::readiness::Readiness;
use takt_rt::segment::{Segment, SegmentView};
use takt_shm::header::MessageHeader;
use takt_shm::{ServerConfig, ShmServer, WaitPolicy};
use takt_ua::StatusCode;

// Places in an outbox, as docs/shared-memory.md has them.
const OUTBOX: usize = 4096 + 4 * 16384;
const SENT: usize = 64 / 8;
const ASLEEP: usize = 112 / 8;
const PLACE_0: usize = 72 / 8;
const LARGE: u64 = 1 << 32;
const SLOT_0: usize = 4096 / 8;

const OPEN: u16 = 2;
const LARGE_MEMORY: u16 = 5;

/// Returns a socket to the application, without any mail.
fn connect_socket(directory: &Path) -> OwnedFd {
    let kind = SocketType::SEQPACKET;
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
    let path = directory.join("Echo.sock");
    rustix::net::connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

/// Returns the next mail: its bytes, and the descriptors that came with it.
fn receive(socket: &OwnedFd) -> (Vec<u8>, Vec<OwnedFd>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut buffer = [0; 64];
    let mut slices = [IoSliceMut::new(&mut buffer)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::net::recvmsg(socket, &mut slices, &mut control, flags).unwrap();
    let descriptors = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(list) => list.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let descriptors = descriptors.collect();
    (buffer[..received.bytes].to_vec(), descriptors)
}

fn send(socket: &OwnedFd, hello: &[u8], kind: u16, numbers: [u32; 2], memory: &Segment) {
    // The mail has the version that the server uses.
    let mut mail = hello[..6].to_vec();
    mail.extend(kind.to_le_bytes());
    mail.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [memory.fd()];
    assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let slices = [std::io::IoSlice::new(&mail)];
    rustix::net::sendmsg(socket, &slices, &mut control, SendFlags::NOSIGNAL).unwrap();
}

fn is_eventfd(fd: &OwnedFd) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap();
    link.to_string_lossy().contains("eventfd")
}

/// Makes every process wait that writes to one of these.
fn block_eventfds(descriptors: &[OwnedFd]) -> usize {
    let eventfds = descriptors.iter().filter(|fd| is_eventfd(fd));
    eventfds
        .map(|fd| {
            let full = (u64::MAX - 1).to_ne_bytes();
            rustix::io::write(fd, &full).unwrap();
            let flags = rustix::fs::fcntl_getfl(fd).unwrap();
            rustix::fs::fcntl_setfl(fd, flags - OFlags::NONBLOCK).unwrap();
        })
        .count()
}

fn store(memory: &Segment, word: usize, value: u64) {
    memory.words()[word].store(value.to_le(), Ordering::SeqCst);
}

/// Writes a request into slot 0, and publishes it with the state that the client sleeps at the doorbell.
fn publish_request(outbox: &Segment, body: [u8; 8]) {
    let header = MessageHeader {
        request_id: 1,
        body_length: 8,
        ..MessageHeader::default()
    };
    let bytes = [&header.to_bytes()[..], &body].concat();
    for (word, chunk) in (SLOT_0..).zip(bytes.chunks_exact(8)) {
        store(
            outbox,
            word,
            u64::from_le_bytes(*chunk.first_chunk().unwrap()),
        );
    }
    store(outbox, ASLEEP, 1);
    store(outbox, SENT, 1);
}

#[test]
fn a_client_with_blocking_doorbells_does_not_block_others() {
    let directory = RuntimeDirectory::new();
    let server =
        ServerThread::start_waiting("Echo", server_config(directory.path()), WaitPolicy::Spin);
    let server = server.unwrap();
    let mut other = connect(directory.path(), "Echo").unwrap();
    let socket = connect_socket(directory.path());
    let (hello, descriptors) = receive(&socket);
    assert!(block_eventfds(&descriptors) > 0);
    let outbox = Segment::create("takt-test", OUTBOX).unwrap();
    send(&socket, &hello, OPEN, [1000, 0], &outbox);
    let (opened, _) = receive(&socket);
    assert_eq!(opened[6..8], 3_u16.to_le_bytes());
    publish_request(&outbox, *b"question");
    eventually("both are answered", || {
        assert_eq!(request(&mut other, b"still there").unwrap(), b"still there");
        takt_shm::applications(Some(directory.path()))
            .unwrap()
            .iter()
            .any(|there| there.counts().is_some_and(|counts| counts.requests >= 3))
    });
    drop(server);
}

#[test]
fn silent_connections_make_room_for_new_ones() {
    let directory = RuntimeDirectory::new();
    let config = ServerConfig {
        max_connections: 4,
        ..server_config(directory.path())
    };
    let _server = ServerThread::start("Echo", config).unwrap();
    let mut first = connect(directory.path(), "Echo").unwrap();
    // Each gets a Hello, so each has a place.
    let silent: Vec<OwnedFd> = (0..3)
        .map(|_| {
            let socket = connect_socket(directory.path());
            receive(&socket);
            socket
        })
        .collect();
    let mut second = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut second, b"second").unwrap(), b"second");
    assert_eq!(request(&mut first, b"first").unwrap(), b"first");
    // The oldest of them is closed.
    assert!(receive(&silent[0]).0.is_empty());
}

/// Reading memory that was never written takes memory of the reading process.
#[test]
fn a_large_message_without_memory_is_refused_and_takes_none() {
    const LENGTH: usize = 16 << 20;
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let socket = connect_socket(directory.path());
    let (hello, bells) = receive(&socket);
    let outbox = Segment::create("takt-test", OUTBOX).unwrap();
    send(&socket, &hello, OPEN, [1000, 0], &outbox);
    let (_, mut descriptors) = receive(&socket);
    let inbox = SegmentView::open(&descriptors.remove(0), 1 << 20).unwrap();
    let large = Segment::create("takt-test", LENGTH).unwrap();
    send(&socket, &hello, LARGE_MEMORY, [7, 0], &large);
    let header = MessageHeader {
        request_id: 1,
        body_length: (LENGTH - 32) as u32,
        ..MessageHeader::default()
    };
    for (word, chunk) in header.to_bytes().chunks_exact(8).enumerate() {
        let number = u64::from_le_bytes(*chunk.first_chunk().unwrap());
        store(&large, word, number);
    }
    store(&outbox, PLACE_0, LARGE | 7);
    store(&outbox, SENT, 1);
    for bell in bells.iter().filter(|fd| is_eventfd(fd)) {
        rustix::io::write(bell, &1_u64.to_ne_bytes()).unwrap();
    }
    eventually("it is answered", || inbox.load(8 * SENT) == Some(1));
    let slot = inbox.load(8 * PLACE_0).unwrap() as usize;
    let status = inbox.load(4096 + slot * 16384 + 16).unwrap() >> 32;
    assert_eq!(status as u32, StatusCode::BadDecodingError.0);
    let taken = 512 * rustix::fs::fstat(large.fd()).unwrap().st_blocks;
    assert!(taken <= 64 << 10, "{taken} bytes of it have memory now");
}

#[test]
fn memory_held_for_clients_is_bounded_and_released() {
    let directory = RuntimeDirectory::new();
    let memory = MemoryBudget::new(8 << 20);
    let config = ServerConfig {
        memory: memory.clone(),
        ..server_config(directory.path())
    };
    let _server = ServerThread::start("Echo", config).unwrap();
    let mut clients: Vec<_> = (0..4)
        .map(|_| connect(directory.path(), "Echo").unwrap())
        .collect();
    let idle = memory.used();
    // Each of them needs both outboxes.
    assert_eq!(idle, 2 * clients.len() * OUTBOX);
    let (large, too_large) = (vec![7; 1_000_000], vec![7; 7_900_000]);
    let error = request(&mut clients[0], &too_large).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadOutOfMemory, "{error}");
    assert!(request(&mut clients[1], &large).unwrap() == large);
    assert!(memory.peak() > 2 * large.len());
    assert!(memory.peak() <= memory.limit());
    // A refused client can continue.
    for client in &mut clients {
        // The second one acknowledges the response to the first, in the memory of the large one.
        for _ in 0..2 {
            assert_eq!(request(client, b"small").unwrap(), b"small");
        }
    }
    eventually("what was taken is given back", || {
        memory.used() < idle + 1024
    });
    assert!(request(&mut clients[3], &large).unwrap() == large);
    drop(clients);
    eventually("all is given back", || memory.used() < 1024);
}

/// Runs a server with only a few more descriptors than it has.
#[test]
fn server_with_few_descriptors() {
    const FEW: usize = 14;
    let Some(arguments) = role() else {
        return;
    };
    let readiness = Arc::new(Readiness::new().unwrap());
    let config = ServerConfig {
        public_services: false,
        ..server_config(Path::new(&arguments[0]))
    };
    let mut server =
        ShmServer::new(name("Echo"), Echo::default(), &readiness, TAG, config).unwrap();
    // Inherited descriptors may have any number: the limit leaves room for a few new ones beside them.
    let is_free = |number: &u64| !Path::new(&format!("/proc/self/fd/{number}")).exists();
    let last = (0..).filter(is_free).nth(FEW - 1).unwrap();
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(last + 1);
    setrlimit(Resource::Nofile, limit).unwrap();
    report_ready();
    serve(&mut server, &readiness, WaitPolicy::Sleep, || false);
}

#[test]
fn a_server_without_descriptors_refuses_new_clients_and_serves_the_others() {
    let directory = RuntimeDirectory::new();
    let path = directory.path().to_str().unwrap();
    let mut server = spawn("hostile::server_with_few_descriptors", &[path]);
    let mut first = connect(directory.path(), "Echo").unwrap();
    let mut clients = Vec::new();
    let refused = loop {
        match connect(directory.path(), "Echo") {
            Ok(client) => clients.push(client),
            Err(error) => break error,
        }
        assert!(clients.len() < 100, "it has no limit");
    };
    println!("{} clients, and then: {refused}", clients.len() + 1);
    assert_eq!(request(&mut first, b"still there").unwrap(), b"still there");
    clients.clear();
    eventually("there is room again", || {
        connect(directory.path(), "Echo").is_ok()
    });
    server.kill().unwrap();
    server.wait().unwrap();
}
