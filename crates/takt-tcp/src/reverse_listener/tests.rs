use std::io::{Read, Write};
use std::time::Duration;

use super::*;
use crate::reverse_hello::ReverseHello;

fn listener() -> ReverseListener {
    ReverseListener::bind(&"opc.tcp://127.0.0.1:0".parse().unwrap()).unwrap()
}

fn expected() -> ExpectedServer {
    ExpectedServer {
        url: "opc.tcp://PLC:4840".parse().unwrap(),
        server_uri: Some("urn:plc".to_owned()),
    }
}

fn hello(server_uri: &str, endpoint_url: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let hello = ReverseHello {
        server_uri: server_uri.to_owned(),
        endpoint_url: endpoint_url.to_owned(),
    };
    hello.write(&mut out).unwrap();
    out
}

fn within(time: u64) -> Instant {
    Instant::now() + Duration::from_millis(time)
}

#[test]
fn the_expected_server_is_taken_and_others_are_refused() {
    let listener = listener();
    listener.expect(&expected());
    for (uri, url) in [
        ("urn:other", "opc.tcp://plc:4840"),
        ("urn:plc", "opc.tcp://plc:4841"),
        ("urn:plc", "opc.tcp://plc:4840/x"),
        ("urn:plc", "nonsense"),
    ] {
        let mut wrong = TcpStream::connect(listener.address()).unwrap();
        wrong.write_all(&hello(uri, url)).unwrap();
        let mut answer = Vec::new();
        wrong.read_to_end(&mut answer).unwrap();
        assert_eq!(answer[..4], *b"ERRF", "{uri} {url}");
        let status = takt_ua::StatusCode::BadTcpEndpointUrlInvalid
            .0
            .to_le_bytes();
        assert_eq!(answer[8..12], status);
    }
    assert!(!listener.is_missing(&expected()));
    let refused = listener.take(&expected(), within(10)).unwrap_err();
    assert!(listener.is_missing(&expected()));
    assert!(matches!(refused, ReverseError::OtherServer { .. }));
    let shown = refused.to_string();
    let difference = r#"EndpointUrl "nonsense" instead of "opc.tcp://PLC:4840""#;
    assert!(
        shown.contains(difference) && !shown.contains("ServerUri"),
        "{shown}"
    );

    let mut server = TcpStream::connect(listener.address()).unwrap();
    server
        .write_all(&hello("urn:plc", "opc.tcp://plc:4840"))
        .unwrap();
    let (mut socket, url) = listener.take(&expected(), within(5000)).unwrap();
    assert!(!listener.is_missing(&expected()));
    assert_eq!(url, "opc.tcp://plc:4840");
    socket.set_nonblocking(false).unwrap();
    socket.write_all(b"x").unwrap();
    let mut byte = [0];
    server.read_exact(&mut byte).unwrap();
}

#[test]
fn a_server_that_closes_its_connection_is_forgotten() {
    let listener = listener();
    listener.expect(&expected());
    let mut server = TcpStream::connect(listener.address()).unwrap();
    server
        .write_all(&hello("urn:plc", "opc.tcp://plc:4840"))
        .unwrap();
    while listener.shared.state().arrived.is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(server);
    while !listener.shared.state().arrived.is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(listener.take(&expected(), within(10)).is_err());
}

#[test]
fn a_thousand_silent_strangers_do_not_keep_the_server_out() {
    let listener = listener();
    listener.expect(&expected());
    let strangers: Vec<_> = (0..1000)
        .map(|_| TcpStream::connect(listener.address()).unwrap())
        .collect();
    let begin = Instant::now();
    let mut server = TcpStream::connect(listener.address()).unwrap();
    server
        .write_all(&hello("urn:plc", "opc.tcp://plc:4840"))
        .unwrap();
    listener.take(&expected(), within(5000)).unwrap();
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
    drop(strangers);
}

#[test]
fn connections_that_wait_are_limited() {
    let listener = listener();
    listener.expect(&expected());
    let mut servers: Vec<_> = (0..20)
        .map(|_| {
            let mut server = TcpStream::connect(listener.address()).unwrap();
            server
                .write_all(&hello("urn:plc", "opc.tcp://plc:4840"))
                .unwrap();
            server
        })
        .collect();
    // The oldest ones are closed.
    for server in &mut servers[..16] {
        let timeout = Some(Duration::from_secs(5));
        server.set_read_timeout(timeout).unwrap();
        let mut byte = [0];
        assert_eq!(server.read(&mut byte).unwrap_or(0), 0);
    }
    assert_eq!(listener.shared.state().arrived.len(), 4);
}

#[test]
fn the_socket_is_closed_with_the_last_copy() {
    let listener = listener();
    let address = listener.address();
    drop(listener.clone());
    assert!(TcpStream::connect(address).is_ok());
    drop(listener);
    let end = within(5000);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
}
