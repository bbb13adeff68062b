//! Responses to peers that break the protocol, are slow, or send arbitrary bytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{CHANNEL, NONE, chunk, error_message, feed, hello, message, open_request};
use proptest::prelude::*;
use takt_tcp::{
    ClientConnection, ClientConnectionConfig, ServerConnection, ServerConnectionConfig,
    ServerEvent, TransportError, TransportLimits,
};
use takt_ua::StatusCode;

fn config() -> ServerConnectionConfig {
    ServerConnectionConfig {
        limits: TransportLimits {
            receive_buffer_size: 8192,
            max_message_size: 20_000,
            max_chunk_count: 4,
            ..TransportLimits::default()
        },
        ..ServerConnectionConfig::default()
    }
}

fn server() -> (ServerConnection, Instant) {
    let now = Instant::now();
    (ServerConnection::new(Arc::new(config()), CHANNEL, now), now)
}

/// Polls until there are no more events; counts the requests.
fn poll(server: &mut ServerConnection, now: Instant) -> Result<usize, TransportError> {
    let mut requests = 0;
    while let Some(event) = server.poll(now)? {
        if let ServerEvent::Request(_) = event {
            requests += 1;
        }
    }
    Ok(requests)
}

fn drain(server: &mut ServerConnection, now: Instant) -> Vec<u8> {
    let bytes = server.transmit().to_vec();
    server.transmitted(bytes.len(), now);
    bytes
}

/// Returns a server that has seen `steps` of Hello and OpenSecureChannel; the channel's SequenceNumbers begin at 51.
fn after(steps: usize) -> (ServerConnection, Instant) {
    let (mut server, now) = server();
    let good = [
        hello(65536, 65536, 0, 0),
        open_request(0, NONE, 51, 0, 1, 60_000),
    ];
    for step in &good[..steps] {
        feed(&mut server, step);
        assert_eq!(poll(&mut server, now), Ok(0));
        drain(&mut server, now);
    }
    (server, now)
}

/// Returns the StatusCode of the server's Error message for `bytes` in that state; nothing follows that message.
fn refused(steps: usize, bytes: &[u8]) -> StatusCode {
    let (mut server, now) = after(steps);
    feed(&mut server, bytes);
    let error = poll(&mut server, now).unwrap_err();
    let (status, _) = error_message(&drain(&mut server, now));
    assert_eq!(status, error.status_code());
    assert!(server.is_closed());
    assert_eq!(poll(&mut server, now), Ok(0));
    assert!(server.transmit().is_empty());
    status
}

#[test]
fn before_the_hello() {
    let too_long = [&[0; 20][..], &5000_u32.to_le_bytes(), &[b'x'; 5000]].concat();
    for (bytes, expected) in [
        (
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            message(b"MSGF", &[0; 16]),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            message(b"ACKF", &[0; 20]),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            message(b"RHEF", &[0; 8]),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            open_request(0, NONE, 1, 0, 1, 1000),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            b"HELF\xFF\xFF\xFF\xFF".to_vec(),
            StatusCode::BadTcpMessageTooLarge,
        ),
        (
            b"HELF\x07\0\0\0".to_vec(),
            StatusCode::BadTcpMessageTooLarge,
        ),
        (message(b"HELF", b"short"), StatusCode::BadDecodingError),
        // The URL is checked before the buffer sizes, which are 0 here.
        (
            message(b"HELF", &too_long),
            StatusCode::BadTcpEndpointUrlInvalid,
        ),
        (hello(8191, 8192, 0, 0), StatusCode::BadConnectionRejected),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!(refused(0, &bytes), expected, "{shown}");
    }
}

#[test]
fn the_acknowledge_states_what_was_agreed() {
    let (mut server, now) = server();
    feed(&mut server, &hello(10_000, 9000, 1 << 20, 7));
    poll(&mut server, now).unwrap();
    let expected: Vec<u8> = [0, 8192, 10_000, 20_000, 4_u32]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    assert_eq!(drain(&mut server, now), message(b"ACKF", &expected));
}

#[test]
fn while_opening() {
    let open = open_request;
    let other = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256";
    let long = "x".repeat(256);
    for (bytes, expected) in [
        (
            hello(8192, 8192, 0, 0),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            chunk(b"MSGF", 0, 0, 1, 1, b""),
            StatusCode::BadTcpSecureChannelUnknown,
        ),
        (
            chunk(b"CLOF", 9, 0, 1, 1, b""),
            StatusCode::BadTcpSecureChannelUnknown,
        ),
        (
            open(9, NONE, 1, 0, 1, 1000),
            StatusCode::BadSecureChannelIdInvalid,
        ),
        (
            open(0, other, 1, 0, 1, 1000),
            StatusCode::BadSecurityPolicyRejected,
        ),
        (
            open(0, &long, 1, 0, 1, 1000),
            StatusCode::BadSecurityPolicyRejected,
        ),
        (
            open(0, NONE, 1, 0, 2, 1000),
            StatusCode::BadSecurityModeRejected,
        ),
        (
            open(0, NONE, 1, 0, 0, 1000),
            StatusCode::BadSecurityModeRejected,
        ),
        (
            open(0, NONE, 1, 1, 1, 1000),
            StatusCode::BadRequestTypeInvalid,
        ),
        (
            open(0, NONE, 1, 7, 1, 1000),
            StatusCode::BadRequestTypeInvalid,
        ),
        (
            message(b"OPNF", &[0xFF; 40]),
            StatusCode::BadSecureChannelIdInvalid,
        ),
        (message(b"OPNF", &[0; 40]), StatusCode::BadDecodingError),
        (
            message(b"OPNC", &[0; 40]),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
    ] {
        assert_eq!(refused(1, &bytes), expected, "{bytes:?}");
    }
}

#[test]
fn on_an_open_channel() {
    let body = [0; 6000];
    let too_large = [
        chunk(b"MSGC", CHANNEL, 1, 52, 1, &body),
        chunk(b"MSGC", CHANNEL, 1, 53, 1, &body),
        chunk(b"MSGC", CHANNEL, 1, 54, 1, &body),
        chunk(b"MSGF", CHANNEL, 1, 55, 1, &body),
    ];
    let too_many: Vec<_> = (52..57)
        .map(|sequence| chunk(b"MSGC", CHANNEL, 1, sequence, 1, b"x"))
        .collect();
    let mixed = [
        chunk(b"MSGC", CHANNEL, 1, 52, 1, b"x"),
        chunk(b"MSGF", CHANNEL, 1, 53, 2, b"y"),
    ];
    for (bytes, expected) in [
        (too_many.concat(), StatusCode::BadTcpMessageTooLarge),
        (mixed.concat(), StatusCode::BadSecurityChecksFailed),
        (
            chunk(b"MSGF", 78, 1, 52, 1, b"x"),
            StatusCode::BadTcpSecureChannelUnknown,
        ),
        (
            chunk(b"CLOF", 78, 1, 52, 1, b"x"),
            StatusCode::BadTcpSecureChannelUnknown,
        ),
        (
            chunk(b"MSGF", CHANNEL, 2, 52, 1, b"x"),
            StatusCode::BadSecureChannelTokenUnknown,
        ),
        (
            chunk(b"MSGF", CHANNEL, 1, 51, 1, b"x"),
            StatusCode::BadSecurityChecksFailed,
        ),
        (
            chunk(b"MSGF", CHANNEL, 1, 53, 1, b"x"),
            StatusCode::BadSecurityChecksFailed,
        ),
        (
            chunk(b"CLOF", CHANNEL, 1, 53, 1, b"x"),
            StatusCode::BadSecurityChecksFailed,
        ),
        (
            chunk(b"MSGX", CHANNEL, 1, 52, 1, b"x"),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            hello(8192, 8192, 0, 0),
            StatusCode::BadTcpMessageTypeInvalid,
        ),
        (
            b"MSGF\x01\x20\0\0".to_vec(),
            StatusCode::BadTcpMessageTooLarge,
        ),
        (
            b"MSGF\x17\0\0\0".to_vec(),
            StatusCode::BadTcpMessageTooLarge,
        ),
        (
            open_request(0, NONE, 52, 0, 1, 1),
            StatusCode::BadSecureChannelIdInvalid,
        ),
        (
            open_request(CHANNEL, NONE, 52, 0, 1, 1),
            StatusCode::BadRequestTypeInvalid,
        ),
        (
            open_request(CHANNEL, "urn:x", 52, 1, 1, 1),
            StatusCode::BadSecurityPolicyRejected,
        ),
    ] {
        assert_eq!(refused(2, &bytes), expected, "{:?}", &bytes[..8]);
    }
    let (mut server, now) = after(2);
    let mut last = Ok(0);
    for part in &too_large {
        feed(&mut server, part);
        last = poll(&mut server, now);
    }
    assert_eq!(last, Err(TransportError::MessageTooLarge { limit: 20_000 }));
}

#[test]
fn aborted_messages_are_forgotten() {
    let (mut server, now) = after(2);
    let bytes = [
        chunk(b"MSGC", CHANNEL, 1, 52, 1, &[0; 8000]),
        chunk(
            b"MSGA",
            CHANNEL,
            1,
            53,
            1,
            &[0, 0, 0, 0x80, 255, 255, 255, 255],
        ),
        chunk(b"MSGF", CHANNEL, 1, 54, 2, b"next"),
    ];
    let mut requests = 0;
    for part in &bytes {
        feed(&mut server, part);
        requests += poll(&mut server, now).unwrap();
    }
    assert_eq!(requests, 1);
}

#[test]
fn a_null_policy_uri_means_none() {
    let (mut server, now) = after(1);
    feed(&mut server, &open_request(0, "", 1, 0, 1, 1000));
    assert!(matches!(
        server.poll(now),
        Ok(Some(ServerEvent::Opened(channel))) if channel.security_policy_uri == NONE
    ));
    assert_eq!(&server.transmit()[..4], b"OPNF");
}

#[test]
fn a_certificate_without_a_security_policy_proves_nothing() {
    let (mut server, now) = after(1);
    let mut open = open_request(0, NONE, 1, 0, 1, 1000);
    // SenderCertificate, behind the header of the message, the SecureChannelId and the URI; it was null.
    let at = 8 + 4 + 4 + NONE.len();
    open.splice(at..at + 4, [&3_u32.to_le_bytes()[..], b"DER"].concat());
    let size = u32::try_from(open.len()).unwrap();
    open[4..8].copy_from_slice(&size.to_le_bytes());
    feed(&mut server, &open);
    assert!(matches!(
        server.poll(now),
        Ok(Some(ServerEvent::Opened(channel))) if channel.client_certificate.der().is_empty()
    ));
}

#[test]
fn lifetimes_are_revised() {
    for (requested, revised) in [
        (0, 3_600_000),
        (1, 1000),
        (60_000, 60_000),
        (u32::MAX, 3_600_000),
    ] {
        let (mut server, now) = after(1);
        feed(&mut server, &open_request(0, NONE, 1, 0, 1, requested));
        poll(&mut server, now).unwrap();
        let response = drain(&mut server, now);
        // RevisedLifetime stands before the ServerNonce, which is null.
        let at = response.len() - 8;
        assert_eq!(response[at..at + 4], u32::to_le_bytes(revised));
    }
}

#[test]
fn slow_peers() {
    let seconds = Duration::from_secs;
    let timeout = |steps: usize, bytes: &[u8]| {
        let (mut server, now) = after(steps);
        feed(&mut server, bytes);
        poll(&mut server, now).unwrap();
        let deadline = server.next_timeout().unwrap();
        server.handle_timeout(deadline - seconds(1)).unwrap();
        let error = server.handle_timeout(deadline).unwrap_err();
        let (status, reason) = error_message(server.transmit());
        assert_eq!(status, error.status_code());
        (deadline - now, status, reason)
    };
    let late = |what| {
        let reason = format!("the peer took too long to {what}");
        (seconds(10), StatusCode::BadTimeout, reason)
    };
    assert_eq!(timeout(0, b""), late("say Hello"));
    assert_eq!(
        timeout(0, b"HELF\x40\0\0\0half"),
        late("complete a message")
    );
    assert_eq!(timeout(1, b""), late("open a SecureChannel"));
    let begun = chunk(b"MSGC", CHANNEL, 1, 52, 1, b"more to come");
    assert_eq!(timeout(2, &begun), late("complete a message"));
    assert_eq!(timeout(2, &begun[..20]), late("complete a message"));

    // One byte at a time does not help: the time counts from the first.
    let (mut server, mut now) = after(2);
    let begun_at = now;
    for byte in &begun[..10] {
        feed(&mut server, &[*byte]);
        poll(&mut server, now).unwrap();
        assert_eq!(server.next_timeout(), Some(begun_at + seconds(10)));
        now += seconds(1);
    }
}

/// Arbitrary bytes, in arbitrary pieces, often with a plausible beginning.
fn soup() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let kinds = prop::sample::select(vec![
        "HELF", "ACKF", "ERRF", "OPNF", "MSGC", "MSGF", "MSGA", "CLOF",
    ]);
    let body = prop::collection::vec(any::<u8>(), 0..200);
    let plausible = (kinds, body.clone(), 52_u32..54).prop_map(|(kind, body, sequence)| {
        let kind: &[u8; 4] = kind.as_bytes().try_into().unwrap();
        match kind {
            b"HELF" if body.len() > 100 => hello(8192, 8192, 0, 0),
            b"OPNF" if body.len() > 50 => {
                let mut open = open_request(0, NONE, sequence, 0, 1, 1000);
                for (at, byte) in body.iter().enumerate().skip(198) {
                    open[at % 100 + 8] ^= byte;
                }
                open
            }
            b"MSGC" | b"MSGF" | b"MSGA" | b"CLOF" if body.len() > 20 => {
                chunk(kind, CHANNEL, 1, sequence, 1, &body)
            }
            _ => message(kind, &body),
        }
    });
    prop::collection::vec(prop_oneof![3 => plausible, 1 => body], 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_server_survives_random_input(parts in soup(), steps in 0_usize..3) {
        let (mut server, now) = after(steps);
        for part in parts {
            feed(&mut server, &part);
            if poll(&mut server, now).is_err() {
                break;
            }
        }
        prop_assert!(server.transmit().len() < 100_000);
        let _ = server.handle_timeout(now + Duration::from_secs(20));
    }

    #[test]
    fn a_client_survives_random_input(parts in soup()) {
        let now = Instant::now();
        let mut client = ClientConnection::new(ClientConnectionConfig::default(), crate::support::URL);
        let ack: Vec<u8> = [0, 65536, 65536, 0, 0_u32].iter().flat_map(|n| n.to_le_bytes()).collect();
        'all: for part in [vec![message(b"ACKF", &ack)], parts].concat() {
            let mut bytes = &part[..];
            while !bytes.is_empty() {
                let space = client.receive_space();
                let count = bytes.len().min(space.len());
                space[..count].copy_from_slice(&bytes[..count]);
                client.received(count);
                bytes = &bytes[count..];
                loop {
                    match client.poll(now) {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(_) => break 'all,
                    }
                }
            }
        }
    }
}
