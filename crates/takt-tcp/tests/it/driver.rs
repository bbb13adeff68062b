//! Server and client over real sockets on loopback, with correct peers and with peers that break the protocol.

use std::io::Write;
use std::net::{Shutdown, TcpListener};
use std::time::{Duration, Instant};

use crate::support::echo_server::{Echo, EchoServer, HELD};
use crate::support::raw::{message, open, rest};
use crate::support::{NONE, chunk, error_message, hello, open_request};
use takt_rt::readiness::Events;
use takt_tcp::{
    EndpointUrl, ServerConnectionConfig, TcpClient, TcpClientConfig, TcpClientError, TcpServer,
    TcpServerConfig, TransportError, TransportLimits, WaitMode,
};
use takt_ua::StatusCode;

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn connect(server: &EchoServer) -> TcpClient {
    TcpClient::connect(&server.url, TcpClientConfig::default(), PATIENCE).unwrap()
}

fn server() -> EchoServer {
    EchoServer::start(TcpServerConfig::default())
}

fn server_with(connection: ServerConnectionConfig) -> EchoServer {
    EchoServer::start(TcpServerConfig {
        connection,
        ..TcpServerConfig::default()
    })
}

/// Deadlines short enough for a test, and long enough for a correct peer on a loaded machine.
fn hasty() -> ServerConnectionConfig {
    ServerConnectionConfig {
        handshake_timeout: Duration::from_secs(2),
        chunk_timeout: Duration::from_secs(2),
        send_timeout: Duration::from_secs(2),
        ..ServerConnectionConfig::default()
    }
}

#[test]
fn requests_in_every_wait_mode_and_size() {
    let server = server();
    let spin = WaitMode::SpinThenBlock(Duration::from_micros(50));
    for wait in [WaitMode::Block, WaitMode::Spin, spin] {
        let config = TcpClientConfig {
            wait,
            ..TcpClientConfig::default()
        };
        let mut client = TcpClient::connect(&server.url, config, PATIENCE).unwrap();
        for size in [1, 100, 4200, 70_000, 3_000_000] {
            let body: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let response = client.request(PATIENCE, |e| e.bytes(&body)).unwrap();
            assert!(response == body, "{wait:?} {size}");
        }
        client.close();
    }
    server.wait_until_empty();
}

#[test]
fn many_clients_at_once() {
    let server = server();
    std::thread::scope(|scope| {
        for thread in 0..20_u32 {
            let server = &server;
            scope.spawn(move || {
                let mut client = connect(server);
                for round in 0..200_u32 {
                    let body = [thread.to_le_bytes(), round.to_le_bytes()].concat();
                    let response = client.request(PATIENCE, |e| e.bytes(&body)).unwrap();
                    assert_eq!(response, body);
                }
            });
        }
    });
    server.wait_until_empty();
}

#[test]
fn pipelined_and_deferred_requests() {
    let server = server();
    let mut client = connect(&server);
    let mut ids = Vec::new();
    for round in 0..100_u8 {
        let body = match round % 10 {
            0 => [b"later".as_slice(), &[round]].concat(),
            _ => vec![round],
        };
        ids.push((client.send(PATIENCE, |e| e.bytes(&body)).unwrap(), body));
    }
    let mut got: Vec<_> = (0..100)
        .map(|_| {
            let (id, body) = client.receive(PATIENCE).unwrap();
            (id, body.to_vec())
        })
        .collect();
    got.sort();
    assert_eq!(got, ids);
}

#[test]
fn a_late_response_does_not_answer_the_next_request() {
    let server = server();
    let mut client = connect(&server);
    let error = client
        .request(Duration::from_millis(5), |e| e.bytes(HELD))
        .unwrap_err();
    assert!(matches!(error, TcpClientError::Timeout), "{error}");
    assert_eq!(error.status_code(), StatusCode::BadTimeout);
    server.release();
    let response = client.request(PATIENCE, |e| e.bytes(b"now")).unwrap();
    assert_eq!(response, b"now");
}

#[test]
fn tokens_are_renewed_under_way() {
    const TOKEN: Duration = Duration::from_secs(2);
    // A client that does not get its turn for a quarter of the token's lifetime may lose its channel: then there is
    // another try.
    for _ in 0..5 {
        let (outcome, longest_pause) = renew_tokens(TOKEN);
        match outcome {
            Err(error) if longest_pause >= TOKEN / 5 => {
                eprintln!("after {longest_pause:?}: {error}")
            }
            outcome => return outcome.unwrap(),
        }
    }
    panic!("no try without a long pause");
}

/// Runs clients for three lifetimes of a token; returns the longest time for which they did not run.
fn renew_tokens(token: Duration) -> (Result<(), TcpClientError>, Duration) {
    let server = server_with(ServerConnectionConfig {
        min_token_lifetime: token,
        max_token_lifetime: token,
        ..ServerConnectionConfig::default()
    });
    let mut busy = connect(&server);
    let mut idle = connect(&server);
    let mut dead = connect(&server);
    let mut last = Instant::now();
    let mut longest_pause = Duration::ZERO;
    let until = last + 3 * token;
    let mut round = 0_u32;
    while last < until {
        round += 1;
        let body = round.to_le_bytes();
        let renewed = busy.request(PATIENCE, |e| e.bytes(&body));
        let renewed = renewed.map(|response| assert_eq!(response, body));
        let renewed = renewed.and_then(|()| idle.maintain(PATIENCE));
        std::thread::sleep(Duration::from_millis(1));
        longest_pause = longest_pause.max(last.elapsed());
        last = Instant::now();
        if renewed.is_err() {
            return (renewed, longest_pause);
        }
    }
    let answered = idle.request(PATIENCE, |e| e.u8(1));
    let answered = answered.map(|response| assert_eq!(response, [1]));
    // A client that does nothing loses the channel, and its next request fails.
    let error = dead.request(PATIENCE, |e| e.u8(1)).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadSecureChannelClosed);
    assert!(error.is_fatal());
    (answered, longest_pause)
}

/// A Subscription of which the server has nothing to tell is such a client.
#[test]
fn clients_that_only_wait_renew_their_tokens() {
    const TOKEN: Duration = Duration::from_secs(4);
    let server = server_with(ServerConnectionConfig {
        min_token_lifetime: TOKEN,
        max_token_lifetime: TOKEN,
        ..ServerConnectionConfig::default()
    });
    let slices = [
        Duration::from_millis(20),
        Duration::from_millis(300),
        PATIENCE,
    ];
    let released = std::thread::scope(|scope| {
        let waiting = slices.map(|slice| {
            let mut client = connect(&server);
            client.send(PATIENCE, |e| e.bytes(HELD)).unwrap();
            scope.spawn(move || {
                loop {
                    match client.receive(slice) {
                        Err(TcpClientError::Timeout) => {}
                        received => return received.map(|(_, body)| body == HELD),
                    }
                }
            })
        });
        // The server accepts a token for a quarter longer than its lifetime.
        std::thread::sleep(TOKEN + TOKEN / 2);
        server.release();
        waiting.map(|thread| thread.join().unwrap())
    });
    for (slice, received) in slices.iter().zip(released) {
        assert!(received.unwrap(), "{slice:?}");
    }
}

#[test]
fn connecting_without_a_listener_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = EndpointUrl::from_address(listener.local_addr().unwrap());
    // A listener that accepts and sends nothing.
    let error = TcpClient::connect(&url, TcpClientConfig::default(), Duration::from_millis(50));
    assert!(matches!(error, Err(TcpClientError::Timeout)));
    drop(listener);
    let error = TcpClient::connect(&url, TcpClientConfig::default(), PATIENCE).unwrap_err();
    assert!(matches!(error, TcpClientError::Connect { .. }));
    assert_eq!(error.status_code(), StatusCode::BadConnectionRejected);
}

#[test]
fn a_server_that_is_gone() {
    let server = server();
    let mut client = connect(&server);
    drop(server);
    let error = client.request(PATIENCE, |e| e.u8(1)).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadConnectionClosed);
    assert!(!client.is_open());
    let again = client.request(PATIENCE, |e| e.u8(1)).unwrap_err();
    assert!(matches!(
        again,
        TcpClientError::Transport(TransportError::Closed)
    ));
}

#[test]
fn a_port_in_use() {
    let server = server();
    let error = TcpServer::bind(&server.url, TcpServerConfig::default(), Echo::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("is in use"), "{error}");
}

#[test]
fn another_protocol_gets_an_error_message_and_is_closed() {
    let server = server();
    let mut stream = server.raw();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: plc\r\n\r\n")
        .unwrap();
    let (status, reason) = error_message(&rest(&mut stream));
    assert_eq!(status, StatusCode::BadTcpMessageTypeInvalid);
    assert_eq!(
        reason,
        "message type \"GET\" is unknown or not allowed here"
    );
    drop(stream);
    server.wait_until_empty();
}

#[test]
fn an_error_message_arrives_although_the_peer_goes_on_sending() {
    let server = server();
    let mut stream = server.raw();
    open(&mut stream);
    stream.write_all(b"MSGF\xFF\xFF\xFF\x7F").unwrap();
    for _ in 0..100 {
        if stream.write_all(&[0; 8192]).is_err() {
            break;
        }
    }
    let (status, _) = error_message(&rest(&mut stream));
    assert_eq!(status, StatusCode::BadTcpMessageTooLarge);
}

#[test]
fn half_open_and_slow_peers() {
    let server = server_with(hasty());
    let mut silent = server.raw();
    let mut half = server.raw();
    half.write_all(&hello(8192, 8192, 0, 0)[..20]).unwrap();
    let mut unopened = server.raw();
    unopened.write_all(&hello(8192, 8192, 0, 0)).unwrap();
    let mut slow = server.raw();
    let channel = open(&mut slow);
    slow.write_all(&chunk(b"MSGF", channel, 1, 52, 1, b"body")[..26])
        .unwrap();
    assert_eq!(&message(&mut unopened)[..4], b"ACKF");
    let mut good = connect(&server);
    for stream in [&mut silent, &mut half, &mut unopened, &mut slow] {
        let (status, _) = error_message(&rest(stream));
        assert_eq!(status, StatusCode::BadTimeout);
    }
    assert_eq!(good.request(PATIENCE, |e| e.u8(1)).unwrap(), [1]);
    drop((silent, half, unopened, slow, good));
    server.wait_until_empty();
}

#[test]
fn peers_that_vanish_at_any_point() {
    let server = server();
    let mut bytes = hello(65536, 65536, 0, 0);
    bytes.extend(open_request(0, NONE, 51, 0, 1, 0));
    for length in 0..=bytes.len() {
        let mut stream = server.raw();
        stream.write_all(&bytes[..length]).unwrap();
        if length % 3 == 0 {
            stream.shutdown(Shutdown::Write).unwrap();
        }
    }
    server.wait_until_empty();
}

#[test]
fn a_client_that_does_not_read_is_dropped() {
    let server = server_with(ServerConnectionConfig {
        max_unsent: 100_000,
        ..hasty()
    });
    let mut greedy = server.raw();
    let channel = open(&mut greedy);
    let request = vec![7; 60_000];
    greedy.set_nonblocking(true).unwrap();
    let mut sequence = 51;
    let mut sent = 0;
    let begun = Instant::now();
    let mut left: Vec<u8> = Vec::new();
    // Unread bytes fill the sockets, then the server ends the connection.
    while begun.elapsed() < PATIENCE {
        if left.is_empty() {
            sequence += 1;
            left = chunk(b"MSGF", channel, 1, sequence, sequence, &request);
        }
        match greedy.write(&left) {
            Ok(count) => {
                left.drain(..count);
                sent += count;
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(_) => break,
        }
    }
    assert!(
        begun.elapsed() < PATIENCE,
        "still served after {sent} bytes"
    );
    let mut good = connect(&server);
    assert_eq!(good.request(PATIENCE, |e| e.u8(1)).unwrap(), [1]);
}

#[test]
fn a_slow_reader_gets_everything() {
    let server = server_with(ServerConnectionConfig {
        max_unsent: 100_000,
        ..ServerConnectionConfig::default()
    });
    let mut stream = server.raw();
    let channel = open(&mut stream);
    let mut writer = stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        for sequence in 52..552 {
            let body = vec![sequence as u8; 50_000];
            let bytes = chunk(b"MSGF", channel, 1, sequence, sequence, &body);
            writer.write_all(&bytes).unwrap();
        }
    });
    std::thread::sleep(Duration::from_millis(300));
    for sequence in 52..552_u32 {
        let response = message(&mut stream);
        assert_eq!(response[20..24], sequence.to_le_bytes());
        assert_eq!(response.len(), 50_024);
        assert!(response[24..].iter().all(|&byte| byte == sequence as u8));
    }
    sender.join().unwrap();
}

#[test]
fn too_many_connections_are_refused() {
    let server = EchoServer::start(TcpServerConfig {
        max_connections: 3,
        ..TcpServerConfig::default()
    });
    let mut clients: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    let refused = TcpClient::connect(&server.url, TcpClientConfig::default(), PATIENCE);
    let Err(TcpClientError::Transport(TransportError::Peer { status, reason })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(status, StatusCode::BadTcpNotEnoughResources);
    assert_eq!(reason, "too many connections");
    for client in &mut clients {
        assert_eq!(client.request(PATIENCE, |e| e.u8(1)).unwrap(), [1]);
    }
    clients.clear();
    server.wait_until_empty();
    connect(&server);
}

#[test]
fn limits_of_either_side() {
    let server = server_with(ServerConnectionConfig {
        limits: TransportLimits {
            max_message_size: 100_000,
            ..TransportLimits::default()
        },
        ..ServerConnectionConfig::default()
    });
    let mut config = TcpClientConfig::default();
    config.connection.limits.max_message_size = 50_000;
    let mut client = TcpClient::connect(&server.url, config, PATIENCE).unwrap();
    let too_large = client
        .request(PATIENCE, |e| e.bytes(&[0; 100_001]))
        .unwrap_err();
    assert_eq!(too_large.status_code(), StatusCode::BadRequestTooLarge);
    // The echo does not fit what the client accepts, and its request has no header: an abort chunk comes.
    let aborted = client
        .request(PATIENCE, |e| e.bytes(&[0xFF; 50_001]))
        .unwrap_err();
    assert_eq!(aborted.status_code(), StatusCode::BadResponseTooLarge);
    assert!(!aborted.is_fatal());
    let response = client.request(PATIENCE, |e| e.bytes(&[1; 50_000])).unwrap();
    assert_eq!(response, [1; 50_000]);
}

#[test]
fn a_shutdown_is_announced_to_clients() {
    let url = EndpointUrl::default().with_port(0);
    let mut server = TcpServer::bind(&url, TcpServerConfig::default(), Echo::default()).unwrap();
    let url = server.url().clone();
    let client = std::thread::spawn(move || {
        // The server may shut down first: then it reports BadShutdown instead of opening the channel.
        let mut client = match TcpClient::connect(&url, TcpClientConfig::default(), PATIENCE) {
            Ok(client) => client,
            Err(error) => return error,
        };
        client.receive(PATIENCE).map(|(id, _)| id).unwrap_err()
    });
    let mut events = Events::with_capacity(4);
    let channels = std::sync::Arc::clone(&server.handler().channels);
    while channels.load(std::sync::atomic::Ordering::Relaxed) == 0 {
        server.turn(&mut events, Some(PATIENCE)).unwrap();
    }
    server.close_connections(StatusCode::BadShutdown, "maintenance");
    let error = client.join().unwrap();
    assert_eq!(error.status_code(), StatusCode::BadShutdown);
    assert!(error.to_string().contains("maintenance"), "{error}");
    while server.connection_count() > 0 {
        server.turn(&mut events, Some(PATIENCE)).unwrap();
    }
}

#[test]
fn a_server_that_spins() {
    let url = "opc.tcp://[::1]:0".parse().unwrap();
    let Ok(mut server) = TcpServer::bind(&url, TcpServerConfig::default(), Echo::default()) else {
        return; // No IPv6 here.
    };
    let url = server.url().clone();
    let client = std::thread::spawn(move || {
        let mut client = TcpClient::connect(&url, TcpClientConfig::default(), PATIENCE).unwrap();
        client.request(PATIENCE, |e| e.u8(9)).unwrap().to_vec()
    });
    let mut events = Events::with_capacity(4);
    while !client.is_finished() {
        server.turn(&mut events, Some(Duration::ZERO)).unwrap();
    }
    assert_eq!(client.join().unwrap(), [9]);
}
