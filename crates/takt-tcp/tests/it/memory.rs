//! Budgets of memory: the memory of connections is counted, limited, taken from connections without progress, and
//! freed.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::echo_server::{ACTIVATE, EchoServer};
use crate::support::raw::open;
use crate::support::{CHANNEL, NONE, chunk, error_message, feed, hello, open_request};
use takt_rt::memory_budget::MemoryBudget;
use takt_tcp::{
    RequestBody, ServerConnection, ServerConnectionConfig, ServerEvent, TcpClient, TcpClientConfig,
    TcpServerConfig, TransportError,
};
use takt_ua::StatusCode;

const PATIENCE: Duration = Duration::from_secs(60);

/// Time after which an idle connection frees its buffers.
const IDLE: Duration = Duration::from_secs(5);

/// Size in bytes that every connection may hold in any case.
const GRANTED: usize = 16 << 10;

/// Budgets in KiB: of the server, of connections without a Session, of one connection with and without.
fn budgets(all: usize, without: usize, one: usize, one_without: usize) -> ServerConnectionConfig {
    let memory = MemoryBudget::new(all << 10);
    ServerConnectionConfig {
        memory_without_session: memory.part(without << 10),
        memory,
        connection_memory: one << 10,
        connection_memory_without_session: one_without << 10,
        ..ServerConnectionConfig::default()
    }
}

/// Returns a connection with a channel; SequenceNumbers go on at 52.
fn connection(config: &Arc<ServerConnectionConfig>) -> ServerConnection {
    let now = Instant::now();
    let mut server = ServerConnection::new(Arc::clone(config), CHANNEL, now);
    for bytes in [
        hello(65536, 65536, 0, 0),
        open_request(0, NONE, 51, 0, 1, 0),
    ] {
        feed(&mut server, &bytes);
        while server.poll(now).unwrap().is_some() {}
        let sent = server.transmit().len();
        server.transmitted(sent, now);
    }
    server
}

/// Feeds 60 000 bytes of an unfinished message; returns the number of bytes of memory that are lacking for them.
fn piece(server: &mut ServerConnection, sequence: u32) -> Result<usize, TransportError> {
    let bytes = chunk(b"MSGC", CHANNEL, 1, sequence, 1, &[7; 60_000]);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let space = server.receive_space();
        let count = rest.len().min(space.len());
        space[..count].copy_from_slice(&rest[..count]);
        server.received(count);
        rest = &rest[count..];
        match server.poll(Instant::now())? {
            None => {}
            Some(ServerEvent::OutOfMemory { bytes }) => return Ok(bytes),
            other => panic!("{other:?}"),
        }
    }
    Ok(0)
}

#[test]
fn unfinished_messages_stop_at_the_budget() {
    const LIMIT: usize = 4 << 20;
    let config = Arc::new(budgets(16 << 10, 4 << 10, 1 << 10, 1 << 10));
    let mut connections: Vec<_> = (0..40).map(|_| connection(&config)).collect();
    let mut starving = 0;
    for server in &mut connections {
        for sequence in 52..62 {
            if piece(server, sequence).unwrap() > 0 {
                starving += 1;
                break;
            }
        }
        let held: usize = config.memory_without_session.used();
        assert!(held <= LIMIT + 40 * GRANTED, "{held}");
    }
    // 600 000 bytes each, in buffers that double.
    assert!(starving >= 40 - LIMIT / 600_000, "{starving}");
    let held: usize = connections.iter().map(ServerConnection::memory).sum();
    assert_eq!(held, config.memory.used());
    drop(connections);
    assert_eq!(
        (config.memory.used(), config.memory_without_session.used()),
        (0, 0)
    );
}

#[test]
fn a_starving_connection_goes_on_when_there_is_room() {
    let config = Arc::new(budgets(1000, 100, 1000, 1000));
    let hoard = config.memory_without_session.charge(80 << 10).unwrap();
    let mut server = connection(&config);
    let message = chunk(b"MSGF", CHANNEL, 1, 52, 1, &[7; 60_000]);
    feed(&mut server, &message[..5000]);
    assert!(matches!(
        server.poll(Instant::now()),
        Ok(Some(ServerEvent::OutOfMemory { .. }))
    ));
    drop(hoard);
    assert!(matches!(server.poll(Instant::now()), Ok(None)));
    feed(&mut server, &message[5000..]);
    assert!(matches!(
        server.poll(Instant::now()),
        Ok(Some(ServerEvent::Request(_)))
    ));
}

#[test]
fn one_connection_has_a_limit_which_depends_on_its_session() {
    let config = Arc::new(budgets(4000, 4000, 1000, 200));
    let mut server = connection(&config);
    let until_refused = |server: &mut ServerConnection| {
        let mut sequence = 52;
        loop {
            match piece(server, sequence) {
                Ok(lacking) => assert_eq!(lacking, 0),
                Err(error) => return (error, sequence - 52),
            }
            sequence += 1;
        }
    };
    let (error, pieces) = until_refused(&mut server);
    let limit = 200 << 10;
    assert_eq!(error, TransportError::NotEnoughMemory { limit });
    assert_eq!(pieces, 2);
    let (status, _) = error_message(server.transmit());
    assert_eq!(status, StatusCode::BadTcpNotEnoughResources);
    assert!(
        config.memory.used() <= GRANTED,
        "kept by a closed connection"
    );

    let mut server = connection(&config);
    server.set_session(true);
    assert_eq!(
        config.memory.used() - config.memory_without_session.used(),
        server.memory()
    );
    let (_, pieces) = until_refused(&mut server);
    assert!(pieces > 5, "{pieces}");
}

#[test]
fn a_message_that_is_dealt_with_or_taken_takes_no_memory() {
    for is_taken in [false, true] {
        memory_of_a_message(is_taken);
    }
}

fn memory_of_a_message(is_taken: bool) {
    let config = Arc::new(budgets(8 << 10, 8 << 10, 8 << 10, 8 << 10));
    let mut server = connection(&config);
    for sequence in 52..82 {
        assert_eq!(piece(&mut server, sequence), Ok(0));
    }
    assert!(config.memory.used() >= 1_800_000);
    feed(&mut server, &chunk(b"MSGF", CHANNEL, 1, 82, 1, b"end"));
    let now = Instant::now();
    match server.poll(now) {
        Ok(Some(ServerEvent::Request(mut request))) => {
            assert_eq!(request.body.bytes().len(), 1_800_003);
            if is_taken {
                let RequestBody::Assembled(body) = &mut request.body else {
                    panic!("it has several chunks");
                };
                assert_eq!(std::mem::take(*body).len(), 1_800_003);
                request.defer();
            }
        }
        other => panic!("{other:?}"),
    }
    // No more bytes are needed for that.
    assert!(matches!(server.poll(now), Ok(None)));
    assert!(config.memory.used() <= 80 << 10, "{}", config.memory.used());
    server.release_memory();
    assert_eq!(config.memory.used(), 0);
}

/// Lets the server answer one request with `length` bytes; returns whether they fit.
fn respond(server: &mut ServerConnection, sequence: u32, length: usize) -> bool {
    feed(
        server,
        &chunk(b"MSGF", CHANNEL, 1, sequence, sequence, b"?"),
    );
    let now = Instant::now();
    let Ok(Some(ServerEvent::Request(mut request))) = server.poll(now) else {
        panic!("no request");
    };
    let (fits, _) = request
        .respond(|_, encoder| {
            let fits = encoder.bytes(&vec![0; length]).is_ok();
            if !fits {
                encoder.truncate(0);
            }
            fits
        })
        .unwrap();
    assert!(matches!(server.poll(now), Ok(None)));
    fits
}

#[test]
fn an_idle_connection_keeps_no_buffers() {
    let config = Arc::new(budgets(8 << 10, 8 << 10, 8 << 10, 8 << 10));
    let mut server = connection(&config);
    assert!(respond(&mut server, 52, 1000));
    let now = Instant::now();
    let sent = server.transmit().len();
    server.transmitted(sent, now);
    assert!(config.memory.used() > 0);
    let idle_at = server.next_timeout().unwrap();
    server.handle_timeout(idle_at).unwrap();
    assert_eq!(config.memory.used(), 0);
    // Nothing wakes the server for this connection until its token expires.
    assert!(server.next_timeout().unwrap() > now + PATIENCE);
    // The beginning of a message is kept.
    let message = chunk(b"MSGF", CHANNEL, 1, 53, 53, &[7; 5000]);
    feed(&mut server, &message[..3000]);
    assert!(matches!(server.poll(idle_at), Ok(None)));
    server.handle_timeout(idle_at + IDLE).unwrap();
    assert!(config.memory.used() > 0);
    feed(&mut server, &message[3000..]);
    assert!(matches!(
        server.poll(idle_at),
        Ok(Some(ServerEvent::Request(_)))
    ));
}

#[test]
fn unread_responses_stop_at_the_budget() {
    let config = Arc::new(budgets(2 << 10, 1 << 10, 2 << 10, 1 << 10));
    let mut connections: Vec<_> = (0..20).map(|_| connection(&config)).collect();
    let mut refused = 0;
    for server in &mut connections {
        server.set_session(true);
        refused += usize::from(!respond(server, 52, 400_000));
        // A small response fits in any case.
        assert!(respond(server, 53, 1000));
        let used = config.memory.used();
        assert!(used <= (2 << 20) + 20 * GRANTED, "{used}");
    }
    assert!((14..20).contains(&refused), "{refused}");
    let sent = connections[0].transmit().len();
    connections[0].transmitted(sent, Instant::now());
    assert!(respond(&mut connections[19], 54, 300_000));
    drop(connections);
    assert_eq!(config.memory.used(), 0);
}

#[test]
fn a_deferred_response_beyond_the_budget_becomes_a_fault() {
    let config = Arc::new(budgets(200, 200, 200, 200));
    let mut server = connection(&config);
    feed(&mut server, &chunk(b"MSGF", CHANNEL, 1, 52, 9, b"?"));
    let now = Instant::now();
    match server.poll(now) {
        Ok(Some(ServerEvent::Request(request))) => request.defer(),
        other => panic!("{other:?}"),
    }
    // TypeId, timestamp, RequestHandle 9, and more.
    let mut response = vec![1, 0, 0x78, 2, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0];
    response.resize(300_000, 0);
    server.respond_deferred(9, response, now).unwrap();
    let fault = server.transmit();
    assert!(fault.len() < 100);
    let status = StatusCode::BadOutOfMemory.0.to_le_bytes();
    assert!(fault.windows(4).any(|bytes| bytes == status), "{fault:?}");
}

#[test]
fn without_memory_requests_wait_until_responses_are_read() {
    let config = Arc::new(budgets(1000, 1000, 1000, 1000));
    let mut server = connection(&config);
    let _hoard = config.memory.charge(config.memory.available()).unwrap();
    let mut answered = 0;
    for sequence in 52..200 {
        feed(
            &mut server,
            &chunk(b"MSGF", CHANNEL, 1, sequence, sequence, b"?"),
        );
        let now = Instant::now();
        while let Ok(Some(event)) = server.poll(now) {
            let ServerEvent::Request(mut request) = event else {
                panic!("{event:?}");
            };
            let (fits, _) = request.respond(|_, e| e.bytes(&[0; 1000])).unwrap();
            if fits.is_err() {
                request.fault(StatusCode::BadOutOfMemory).unwrap();
            }
            answered += 1;
        }
    }
    assert!(server.is_congested());
    assert!((7..12).contains(&answered), "{answered}");
    assert!(server.memory() <= 2 * GRANTED, "{}", server.memory());
}

/// Sends the first `bytes` bytes of a message.
fn begin_message(stream: &mut TcpStream, bytes: usize) {
    let channel = open(stream);
    for sequence in 0..(bytes / 60_000).max(1) {
        let sequence = 52 + u32::try_from(sequence).unwrap();
        // The server may have closed the connection to make room for others.
        if stream
            .write_all(&chunk(b"MSGC", channel, 1, sequence, 1, &[0; 60_000]))
            .is_err()
        {
            return;
        }
    }
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn good_client(server: &EchoServer) {
    let mut good = TcpClient::connect(&server.url, TcpClientConfig::default(), PATIENCE).unwrap();
    assert_eq!(
        good.request(PATIENCE, |e| e.bytes(ACTIVATE)).unwrap(),
        ACTIVATE
    );
    for size in [1, 5000, 300_000] {
        let body = vec![42; size];
        let response = good.request(PATIENCE, |e| e.bytes(&body)).unwrap();
        assert!(response == body, "{size}");
    }
}

#[test]
fn unfinished_messages_do_not_lock_out_others() {
    // With and without Sessions: the attacker may have Sessions too.
    for has_sessions in [false, true] {
        let connection = budgets(8 << 10, 4 << 10, 2 << 10, 1 << 10);
        let (all, without) = (
            connection.memory.clone(),
            connection.memory_without_session.clone(),
        );
        let config = TcpServerConfig {
            connection,
            ..TcpServerConfig::default()
        };
        let server = if has_sessions {
            EchoServer::start(config)
        } else {
            EchoServer::without_sessions(config)
        };
        let mut attackers = Vec::new();
        for _ in 0..60 {
            let mut stream = server.raw();
            begin_message(&mut stream, 600_000);
            attackers.push(stream);
            if attackers.len() % 20 == 0 {
                good_client(&server);
            }
        }
        assert!(all.peak() <= (8 << 20) + 64 * GRANTED, "{}", all.peak());
        assert!(
            all.peak() >= 3 << 20,
            "the attack takes memory: {}",
            all.peak()
        );
        if !has_sessions {
            assert!(
                without.peak() <= (4 << 20) + 64 * GRANTED,
                "{}",
                without.peak()
            );
        }
        drop(attackers);
        server.wait_until_empty();
        wait_until(|| all.used() == 0 && without.used() == 0);
    }
}

#[test]
fn a_response_has_room_beside_any_number_of_unfinished_messages() {
    let connection = budgets(8 << 10, 4 << 10, 2 << 10, 1 << 10);
    let server = EchoServer::start(TcpServerConfig {
        connection,
        ..TcpServerConfig::default()
    });
    // The unfinished messages leave another rest of the budget each time, and a search for memory comes before each request.
    let mut attackers = Vec::new();
    for size in 1..120 {
        let mut stream = server.raw();
        begin_message(&mut stream, size * 11_000 % 900_000);
        attackers.push(stream);
        good_client(&server);
    }
}

#[test]
fn unread_responses_do_not_lock_out_others() {
    let connection = budgets(16 << 10, 4 << 10, 16 << 10, 1 << 10);
    let all = connection.memory.clone();
    let server = EchoServer::start(TcpServerConfig {
        connection,
        ..TcpServerConfig::default()
    });
    let mut attackers = Vec::new();
    for _ in 0..8 {
        let mut stream = server.raw();
        let channel = open(&mut stream);
        let mut sequence = 51;
        // More than the sockets' buffers hold: the rest stays in the server.
        for request in 0..12_u32 {
            for part in 0..16 {
                sequence += 1;
                let kind = if part == 15 { b"MSGF" } else { b"MSGC" };
                let bytes = chunk(kind, channel, 1, sequence, request, &[0; 60_000]);
                stream
                    .set_write_timeout(Some(Duration::from_millis(200)))
                    .unwrap();
                if stream.write_all(&bytes).is_err() {
                    break;
                }
            }
        }
        attackers.push(stream);
        good_client(&server);
    }
    assert!(all.peak() <= (16 << 20) + 16 * GRANTED, "{}", all.peak());
    drop(attackers);
    server.wait_until_empty();
    wait_until(|| all.used() == 0);
}
