//! The client's side of opc.tcp: a server that answers anything, behind a proper opening or without one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_fuzz::{choice, parts};
use takt_tcp::{
    ClientConnection, ClientConnectionConfig, ServerConnection, ServerConnectionConfig,
    TransportLimits,
};

const LIMITS: TransportLimits = TransportLimits {
    receive_buffer_size: 8192,
    send_buffer_size: 8192,
    max_message_size: 1 << 16,
    max_chunk_count: 16,
    max_sent_message_size: 1 << 16,
};

/// Sends bytes to the client. Returns `false` once the connection is closed.
fn deliver(client: &mut ClientConnection, mut bytes: &[u8], now: Instant) -> bool {
    loop {
        let space = client.receive_space();
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        bytes = &bytes[count..];
        client.received(count);
        loop {
            match client.poll(now) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return false,
            }
        }
        let sent = client.transmit().len();
        client.transmitted(sent);
        if bytes.is_empty() || count == 0 {
            return true;
        }
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((opening, data)) = choice(data) else {
        return;
    };
    let now = Instant::now();
    let config = ClientConnectionConfig {
        limits: LIMITS,
        ..ClientConnectionConfig::default()
    };
    let mut client = ClientConnection::new(config, "opc.tcp://127.0.0.1:4840");
    if opening % 2 == 1 {
        open(&mut client, now);
    }
    for part in parts(data) {
        let _ = client.request(|encoder| encoder.bytes(&[1, 0, 119, 2]));
        if !deliver(&mut client, part, now) {
            break;
        }
    }
    let _ = client.handle_timeout(now + Duration::from_secs(7200));
    client.close();
    let _ = client.transmit().len();
}

/// Opens the SecureChannel with a proper server.
fn open(client: &mut ClientConnection, now: Instant) {
    let config = Arc::new(ServerConnectionConfig::default());
    let mut server = ServerConnection::new(config, 7, now);
    for _ in 0..2 {
        let bytes = client.transmit().to_vec();
        client.transmitted(bytes.len());
        server.receive_space()[..bytes.len()].copy_from_slice(&bytes);
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
