//! Choice of the connections that give way when there are too many (OPC 10000-4, 5.6.2.1).

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::support::echo_server::{ACTIVATE, EchoServer};
use crate::support::raw::{message, open, rest};
use crate::support::{NONE, error_message, hello, open_request};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use takt_tcp::{TcpClient, TcpClientConfig, TcpServerConfig};
use takt_ua::StatusCode;

const PATIENCE: Duration = Duration::from_secs(60);

fn server(max_connections: usize) -> EchoServer {
    EchoServer::without_sessions(TcpServerConfig {
        max_connections,
        ..TcpServerConfig::default()
    })
}

fn client(server: &EchoServer) -> TcpClient {
    TcpClient::connect(&server.url, TcpClientConfig::default(), PATIENCE).unwrap()
}

fn activate(client: &mut TcpClient) {
    assert_eq!(
        client.request(PATIENCE, |e| e.bytes(ACTIVATE)).unwrap(),
        ACTIVATE
    );
}

/// Returns a client that does nothing more once `bytes` are sent.
fn stalled(server: &EchoServer, bytes: &[u8], answers: usize) -> TcpStream {
    let mut stream = server.raw();
    stream.write_all(bytes).unwrap();
    for _ in 0..answers {
        message(&mut stream);
    }
    stream
}

#[test]
fn the_oldest_channel_without_a_session_is_closed() {
    let server = server(3);
    let mut with_session = client(&server);
    activate(&mut with_session);
    let mut oldest = client(&server);
    let mut newer = client(&server);
    let mut newest = client(&server);
    let error = oldest.request(PATIENCE, |e| e.u8(1)).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadTcpNotEnoughResources);
    assert!(
        error.to_string().contains("too many connections"),
        "{error}"
    );
    for client in [&mut with_session, &mut newer, &mut newest] {
        assert_eq!(client.request(PATIENCE, |e| e.u8(1)).unwrap(), [1]);
    }
}

#[test]
fn half_open_connections_do_not_lock_out_others() {
    let said_hello = hello(65536, 65536, 0, 0);
    let opened = [said_hello.clone(), open_request(0, NONE, 51, 0, 1, 0)].concat();
    for (bytes, answers) in [(&b""[..], 0), (b"HELF", 0), (&said_hello, 1), (&opened, 2)] {
        let server = server(10);
        let mut first = client(&server);
        activate(&mut first);
        let mut crowd: Vec<_> = (0..30).map(|_| stalled(&server, bytes, answers)).collect();
        // All places are taken; new clients are let in, one after the other, and stay.
        let mut others: Vec<_> = (0..5)
            .map(|_| {
                let mut other = client(&server);
                activate(&mut other);
                crowd.push(stalled(&server, bytes, answers));
                other
            })
            .collect();
        others.push(first);
        for other in &mut others {
            assert_eq!(other.request(PATIENCE, |e| e.u8(1)).unwrap(), [1]);
        }
        // The oldest of the crowd received the reason in an Error message.
        let last = rest(&mut crowd[0]);
        assert_eq!(error_message(&last).0, StatusCode::BadTcpNotEnoughResources);
        drop((crowd, others));
        server.wait_until_empty();
    }
}

#[test]
fn a_crowd_displaces_itself_and_not_clients_with_more_progress() {
    let server = server(10);
    let mut slow = server.raw();
    slow.write_all(&hello(65536, 65536, 0, 0)).unwrap();
    message(&mut slow);
    let crowd: Vec<_> = (0..50).map(|_| server.raw()).collect();
    // One is served before it, so all are accepted: the client that said Hello before them is still there.
    activate(&mut client(&server));
    slow.write_all(&open_request(0, NONE, 51, 0, 1, 0)).unwrap();
    assert_eq!(&message(&mut slow)[..4], b"OPNF");
    drop(crowd);
}

#[test]
fn a_crowd_displaces_itself_and_not_a_client_with_another_address() {
    let server = server(10);
    let here = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&here, &SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
    connect(
        &here,
        &SocketAddr::from(([127, 0, 0, 1], server.url.port())),
    )
    .unwrap();
    let mut lone = TcpStream::from(here);
    let crowd: Vec<_> = (0..50).map(|_| server.raw()).collect();
    activate(&mut client(&server));
    open(&mut lone);
    drop(crowd);
}

#[test]
fn a_new_connection_is_refused_if_all_others_have_sessions() {
    let server = server(2);
    let mut clients: Vec<_> = (0..2).map(|_| client(&server)).collect();
    clients.iter_mut().for_each(activate);
    let refused = TcpClient::connect(&server.url, TcpClientConfig::default(), PATIENCE);
    let status = refused.unwrap_err().status_code();
    assert_eq!(status, StatusCode::BadTcpNotEnoughResources);
    for client in &mut clients {
        assert_eq!(client.request(PATIENCE, |e| e.u8(1)).unwrap(), [1]);
    }
}
