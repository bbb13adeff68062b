//! The server's side of opc.tcp: bytes that arrive in pieces of any size, behind a proper opening or without one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_fuzz::{choice, parts};
use takt_tcp::{
    ClientConnection, ClientConnectionConfig, ServerConnection, ServerConnectionConfig,
    ServerEvent, TransportLimits,
};
use takt_ua::StatusCode;

const LIMITS: TransportLimits = TransportLimits {
    receive_buffer_size: 8192,
    send_buffer_size: 8192,
    max_message_size: 1 << 16,
    max_chunk_count: 16,
    max_sent_message_size: 1 << 16,
};

/// Sends bytes to the server, which answers its requests in one of several ways. Returns `false` once the connection
/// is closed.
fn deliver(server: &mut ServerConnection, mut bytes: &[u8], now: Instant) -> bool {
    loop {
        let space = server.receive_space();
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        bytes = &bytes[count..];
        server.received(count);
        loop {
            match server.poll(now) {
                Ok(Some(ServerEvent::Request(request))) => {
                    if !answer(request) {
                        return false;
                    }
                }
                Ok(Some(ServerEvent::Opened(_) | ServerEvent::Renewed)) => {}
                Ok(None) => break,
                // Without more memory the driver ends the connection.
                Ok(Some(ServerEvent::OutOfMemory { .. } | ServerEvent::Closed)) | Err(_) => {
                    return false;
                }
            }
        }
        let sent = server.transmit().len();
        server.transmitted(sent, now);
        if bytes.is_empty() || count == 0 {
            return true;
        }
    }
}

fn answer(mut request: takt_tcp::Request<'_>) -> bool {
    let body = request.body.bytes().to_vec();
    match body.first().copied().unwrap_or(0) % 4 {
        0 => request
            .respond(|_, encoder| encoder.bytes(&body).is_ok())
            .is_ok(),
        1 => request
            .respond(|_, encoder| encoder.bytes(&[0; 20_000]).is_ok())
            .is_ok(),
        2 => request.fault(StatusCode::BadServiceUnsupported).is_ok(),
        _ => {
            request.defer();
            true
        }
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((opening, data)) = choice(data) else {
        return;
    };
    let now = Instant::now();
    let config = ServerConnectionConfig {
        limits: LIMITS,
        ..ServerConnectionConfig::default()
    };
    let mut server = ServerConnection::new(Arc::new(config), 7, now);
    if opening % 2 == 1 {
        open(&mut server, now);
    }
    for (number, part) in parts(data).enumerate() {
        if !deliver(&mut server, part, now) {
            break;
        }
        if number % 8 == 7 {
            let _ = server.respond_deferred(number as u32, vec![0; 100], now);
        }
    }
    let _ = server.handle_timeout(now + Duration::from_secs(60));
    server.close(StatusCode::BadServerHalted, "the end");
    let _ = server.transmit().len();
}

/// Opens the SecureChannel as a proper client does.
fn open(server: &mut ServerConnection, now: Instant) {
    let mut client = ClientConnection::new(
        ClientConnectionConfig::default(),
        "opc.tcp://127.0.0.1:4840",
    );
    for _ in 0..2 {
        let bytes = client.transmit().to_vec();
        client.transmitted(bytes.len());
        let space = server.receive_space();
        space[..bytes.len()].copy_from_slice(&bytes);
        server.received(bytes.len());
        while let Ok(Some(_)) = server.poll(now) {}
        let bytes = server.transmit().to_vec();
        server.transmitted(bytes.len(), now);
        client.receive_space()[..bytes.len()].copy_from_slice(&bytes);
        client.received(bytes.len());
        while let Ok(Some(_)) = client.poll(now) {}
    }
    assert!(client.is_open());
}
