//! Program that uses iceoryx2 and the documented layouts, but not this crate's server and client, and the errors for its
//! mistakes.

use std::os::fd::OwnedFd;
use std::time::Instant;

use crate::common::*;
use iceoryx2::prelude::{NodeBuilder, ServiceName, SignalHandlingMode, ipc};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use takt_shm::Runtime;
use takt_shm::header::MessageHeader;
use takt_ua::StatusCode;

/// Calls a public service with iceoryx2 alone; returns the whole answer.
fn call(runtime: &Runtime, service: &str, message: &[u8]) -> Vec<u8> {
    let node = NodeBuilder::new()
        .config(runtime.iceoryx2_config())
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<ipc::Service>()
        .unwrap();
    let client = node
        .service_builder(&ServiceName::new(service).unwrap())
        .request_response::<[u8], [u8]>()
        .open()
        .unwrap()
        .client_builder()
        .initial_max_slice_len(message.len())
        .create()
        .unwrap();
    let application = service.split('/').next().unwrap();
    let wake = ServiceName::new(&format!("{application}/Wake")).unwrap();
    let notifier = node
        .service_builder(&wake)
        .event()
        .open()
        .unwrap()
        .notifier_builder()
        .create()
        .unwrap();
    let request = client.loan_slice_uninit(message.len()).unwrap();
    let pending = request.write_from_slice(message).send().unwrap();
    notifier.notify().unwrap();
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(response) = pending.receive().unwrap() {
            return response.payload().to_vec();
        }
        assert!(Instant::now() < deadline, "no answer");
    }
}

fn message(id: u32, body: &[u8]) -> Vec<u8> {
    let header = MessageHeader {
        request_id: id,
        body_length: body.len() as u32,
        ..MessageHeader::default()
    };
    [&header.to_bytes(), body].concat()
}

/// Returns the status and the body of an answer, read from the documented layout.
fn parse(answer: &[u8], id: u32) -> (StatusCode, &[u8]) {
    assert_eq!(answer[..8], *b"TAKT\x01\0\x20\0");
    assert_eq!(answer[8..12], id.to_le_bytes());
    let word = |at: usize| u32::from_le_bytes(*answer[at..].first_chunk().unwrap());
    (StatusCode(word(20)), &answer[32..32 + word(16) as usize])
}

fn connect_socket(runtime: &Runtime) -> OwnedFd {
    let kind = SocketType::SEQPACKET;
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
    let path = runtime.path().join("Echo.sock");
    rustix::net::connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

#[test]
fn public_services_are_for_every_iceoryx2_program() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let runtime = Runtime::open(Some(directory.path())).unwrap();
    let body = [&[1, 0, 0x77, 0x02][..], b"the rest of a ReadRequest"].concat();
    let answer = call(&runtime, "Echo/Attributes/Read", &message(5, &body));
    assert_eq!(parse(&answer, 5), (StatusCode::Good, &body[..]));

    let refused = |service: &str, message: &[u8], id: u32| {
        let answer = call(&runtime, service, message);
        let (status, body) = parse(&answer, id);
        assert!(body.is_empty());
        status
    };
    let wrong_type = message(6, &[1, 0, 0x78, 0x02]);
    assert_eq!(
        refused("Echo/Attributes/Read", &wrong_type, 6),
        StatusCode::BadRequestTypeInvalid
    );
    assert_eq!(
        refused(
            "Echo/Attributes/Read",
            b"no header at all",
            u32::from_le_bytes(*b"r at")
        ),
        StatusCode::BadDecodingError
    );
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut client, b"fine").unwrap(), b"fine");
}

/// Returns a mail in the documented layout: kind, two numbers, and no descriptors.
fn mail(kind: u16, first: u32, second: u32) -> Vec<u8> {
    let mut bytes = b"TAKT\x04\0".to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(first.to_le_bytes());
    bytes.extend(second.to_le_bytes());
    bytes
}

#[test]
fn an_open_without_memory_and_mails_out_of_turn_close_the_connection() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let runtime = Runtime::open(Some(directory.path())).unwrap();
    for wrong in [
        mail(2, 1000, 0),
        mail(1, 0, 0),
        mail(5, 1, 0),
        mail(77, 0, 0),
    ] {
        let socket = connect_socket(&runtime);
        let mut hello = [0; 64];
        let (length, _) = rustix::net::recv(&socket, &mut hello[..], RecvFlags::empty()).unwrap();
        assert_eq!((length, &hello[..8]), (16, &b"TAKT\x04\0\x01\0"[..]));
        rustix::net::send(&socket, &wrong, SendFlags::NOSIGNAL).unwrap();
        let (length, _) = rustix::net::recv(&socket, &mut hello[..], RecvFlags::empty()).unwrap();
        assert_eq!(length, 0, "{wrong:?}");
    }
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut client, b"fine").unwrap(), b"fine");
}

#[test]
fn noise_on_the_socket_closes_it() {
    let directory = RuntimeDirectory::new();
    let _server = ServerThread::start("Echo", server_config(directory.path())).unwrap();
    let runtime = Runtime::open(Some(directory.path())).unwrap();
    for noise in [&b"GET / HTTP/1.1"[..], b"x", &[0; 5000]] {
        let socket = connect_socket(&runtime);
        let mut buffer = [0; 64];
        rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty()).unwrap();
        rustix::net::send(&socket, noise, SendFlags::NOSIGNAL).unwrap();
        let (length, _) = rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty()).unwrap();
        assert_eq!(length, 0);
    }
    let mut client = connect(directory.path(), "Echo").unwrap();
    assert_eq!(request(&mut client, b"fine").unwrap(), b"fine");
}
