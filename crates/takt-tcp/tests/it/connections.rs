//! Client and server state machines connected in memory.

use std::sync::Arc;
use std::time::Duration;

use crate::support::toy_policy::{CERTIFICATE, ToyPolicy};
use crate::support::{Answer, CHANNEL, Pair, echo};
use proptest::prelude::*;
use takt_crypto::PeerCertificate;
use takt_tcp::{
    ClientConnectionConfig, SendRequestError, ServerConnectionConfig, ServerEvent, TransportError,
    TransportLimits,
};
use takt_ua::StatusCode;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{ReadRequest, RequestHeader, ServiceFault};
use takt_ua::{Structure, binary::Decode, binary::Decoder, binary::Encode};

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

/// Chunks of the smallest size, so that messages soon need several.
fn small() -> TransportLimits {
    TransportLimits {
        receive_buffer_size: 8192,
        send_buffer_size: 8192,
        ..TransportLimits::default()
    }
}

fn client(limits: TransportLimits) -> ClientConnectionConfig {
    ClientConnectionConfig {
        limits,
        ..ClientConnectionConfig::default()
    }
}

fn server(limits: TransportLimits) -> ServerConnectionConfig {
    ServerConnectionConfig {
        limits,
        ..ServerConnectionConfig::default()
    }
}

fn toy(blocks: (usize, usize), mode: MessageSecurityMode) -> Pair {
    let policy = Arc::new(ToyPolicy {
        blocks,
        legacy: false,
    });
    Pair::open(
        ClientConnectionConfig {
            policy: policy.clone(),
            security_mode: mode,
            server_certificate: Arc::new(PeerCertificate::parse(CERTIFICATE.into())),
            ..client(small())
        },
        ServerConnectionConfig {
            policies: vec![policy],
            ..server(small())
        },
    )
}

#[test]
fn requests_and_responses_of_every_size() {
    let mut pair = Pair::open(client(small()), server(small()));
    assert_eq!(pair.client.channel_id(), CHANNEL);
    let one_chunk = 8192 - 24;
    for size in [1, 100, one_chunk, one_chunk + 1, 2 * one_chunk, 1 << 20] {
        let body = pattern(size);
        let id = pair.request(&body);
        let answers = pair.exchange(echo).unwrap();
        assert_eq!(answers, [Answer::Response(id, body)], "{size} bytes");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let mut pair = Pair::open(client(small()), server(small()));
    let expected: Vec<_> = (1..200)
        .map(|size| {
            let body = pattern(size);
            Answer::Response(pair.request(&body), body)
        })
        .collect();
    assert_eq!(pair.exchange(echo).unwrap(), expected);
}

#[test]
fn with_signatures_padding_and_a_cipher() {
    for blocks in [(1, 1), (16, 16), (14, 16), (201, 300)] {
        for mode in [
            MessageSecurityMode::Sign,
            MessageSecurityMode::SignAndEncrypt,
        ] {
            let mut pair = toy(blocks, mode);
            for size in [1, 13, 14, 5000, 8100, 8192, 30_000] {
                let body = pattern(size);
                let id = pair.request(&body);
                let answers = pair.exchange(echo).unwrap();
                assert_eq!(answers, [Answer::Response(id, body)], "{blocks:?} {size}");
            }
        }
    }
}

#[test]
fn a_changed_bit_closes_the_channel() {
    let mut pair = toy((14, 16), MessageSecurityMode::SignAndEncrypt);
    pair.request(b"hello");
    let mut bytes = pair.client.transmit().to_vec();
    bytes[30] ^= 1;
    crate::support::feed(&mut pair.server, &bytes);
    let error = pair.server.poll(pair.now).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadSecurityChecksFailed);
    let (status, reason) = crate::support::error_message(pair.server.transmit());
    assert_eq!(status, StatusCode::BadSecurityChecksFailed);
    assert_eq!(reason, "", "6.7.3: not a word about why");
}

#[test]
fn tokens_are_renewed_at_three_quarters() {
    let config = ClientConnectionConfig {
        token_lifetime: Duration::from_secs(100),
        ..client(small())
    };
    let mut pair = Pair::open(config, server(small()));
    let opened = pair.now;
    let renewal = pair.client.next_timeout().unwrap();
    assert_eq!(renewal, opened + Duration::from_secs(75));
    for round in 1..10 {
        pair.wait(Duration::from_secs(76));
        pair.client.handle_timeout(pair.now).unwrap();
        // A request goes out under the old token right behind the renewal.
        let id = pair.request(&[round]);
        let answers = pair.exchange(echo).unwrap();
        assert_eq!(answers, [Answer::Response(id, vec![round])]);
        pair.server.handle_timeout(pair.now).unwrap();
        let id = pair.request(&[round, round]);
        let answers = pair.exchange(echo).unwrap();
        assert_eq!(answers, [Answer::Response(id, vec![round, round])]);
    }
}

#[test]
fn a_response_that_is_late_by_one_token_is_accepted() {
    let config = ClientConnectionConfig {
        token_lifetime: Duration::from_secs(100),
        ..client(small())
    };
    let mut pair = Pair::open(config, server(small()));
    let id = pair.request(b"slow");
    let mut deferred = None;
    let bytes = pair.client.transmit().to_vec();
    pair.client.transmitted(bytes.len());
    crate::support::feed(&mut pair.server, &bytes);
    if let Some(ServerEvent::Request(request)) = pair.server.poll(pair.now).unwrap() {
        deferred = Some(request.request_id);
        request.defer();
    }
    assert_eq!(deferred, Some(id));

    pair.wait(Duration::from_secs(80));
    pair.client.handle_timeout(pair.now).unwrap();
    pair.exchange(echo).unwrap();
    // The client has the new token but has not used it: the server still sends with the old one.
    let (server, now) = (&mut pair.server, pair.now);
    server
        .respond_deferred(id, b"at last".to_vec(), now)
        .unwrap();
    let token = u32::from_le_bytes(server.transmit()[12..16].try_into().unwrap());
    assert_eq!(token, 1);
    let answers = pair.exchange(echo).unwrap();
    assert_eq!(answers, [Answer::Response(id, b"at last".to_vec())]);
}

#[test]
fn a_token_that_is_not_renewed_ends_the_channel() {
    let config = ClientConnectionConfig {
        token_lifetime: Duration::from_secs(100),
        ..client(small())
    };
    let mut pair = Pair::open(config, server(small()));
    pair.wait(Duration::from_secs(124));
    pair.server.handle_timeout(pair.now).unwrap();
    pair.request(b"just in time");
    assert_eq!(pair.exchange(echo).unwrap().len(), 1);
    pair.wait(Duration::from_secs(1));
    assert_eq!(
        pair.server.handle_timeout(pair.now),
        Err(TransportError::TokenExpired)
    );
    let error = pair.exchange(echo).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadSecureChannelClosed);
    assert!(matches!(error, TransportError::Peer { .. }));
}

#[test]
fn closing_is_seen_by_the_server() {
    let mut pair = Pair::open(client(small()), server(small()));
    pair.client.close();
    let bytes = pair.client.transmit().to_vec();
    assert_eq!(&bytes[..4], b"CLOF");
    crate::support::feed(&mut pair.server, &bytes);
    assert!(matches!(
        pair.server.poll(pair.now),
        Ok(Some(ServerEvent::Closed))
    ));
    assert!(pair.server.is_closed());
    assert!(pair.server.transmit().is_empty());
    assert_eq!(pair.server.next_timeout(), None);
    let refused = pair.client.request(|e| e.u8(1));
    let closed = SendRequestError::Transport(TransportError::Closed);
    assert_eq!(refused, Err(closed));
}

fn read_request(handle: u32) -> Vec<u8> {
    let request = ReadRequest {
        request_header: RequestHeader {
            request_handle: handle,
            ..RequestHeader::default()
        },
        ..ReadRequest::default()
    };
    let mut body = vec![1, 0];
    body.extend(
        u16::try_from(ReadRequest::BINARY_ENCODING_ID)
            .unwrap()
            .to_le_bytes(),
    );
    body.extend(request.encode_to_vec());
    body
}

fn fault_of(body: &[u8]) -> (u32, StatusCode) {
    let mut d = Decoder::new(body);
    d.bytes(4).unwrap();
    let header = ServiceFault::decode(&mut d).unwrap().response_header;
    (header.request_handle, header.service_result)
}

#[test]
fn a_response_above_the_clients_limits_becomes_a_fault() {
    for (max_message_size, max_chunk_count) in [(20_000, 0), (0, 2)] {
        let limits = TransportLimits {
            max_message_size,
            max_chunk_count,
            ..small()
        };
        let mut pair = Pair::open(client(limits), server(small()));
        let huge = |_: &[u8], e: &mut takt_ua::binary::Encoder<'_>| {
            if e.bytes(&[0; 20_001]).is_err() {
                e.truncate(0);
            }
        };
        let id = pair.request(&read_request(0xBEEF));
        let answers = pair.exchange(huge).unwrap();
        let [Answer::Response(answered, body)] = &answers[..] else {
            panic!("{answers:?}");
        };
        let expected = (0xBEEF, StatusCode::BadResponseTooLarge);
        assert_eq!((*answered, fault_of(body)), (id, expected));

        // A body that is not a request gets an abort chunk, and the channel stays open.
        let id = pair.request(b"?");
        let aborted = Answer::Aborted(id, StatusCode::BadResponseTooLarge);
        assert_eq!(pair.exchange(huge).unwrap(), [aborted]);
        let id = pair.request(b"!");
        let response = Answer::Response(id, b"!".to_vec());
        assert_eq!(pair.exchange(echo).unwrap(), [response]);
    }
}

#[test]
fn a_deferred_response_above_the_clients_limits_becomes_a_fault() {
    let limits = TransportLimits {
        max_message_size: 10_000,
        ..small()
    };
    let mut pair = Pair::open(client(limits), server(small()));
    let id = pair.request(b"x");
    let bytes = pair.client.transmit().to_vec();
    pair.client.transmitted(bytes.len());
    crate::support::feed(&mut pair.server, &bytes);
    match pair.server.poll(pair.now).unwrap() {
        Some(ServerEvent::Request(request)) => request.defer(),
        other => panic!("{other:?}"),
    }
    // TypeId, timestamp, RequestHandle 9, and more.
    let mut response = vec![1, 0, 0x78, 2, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0];
    response.resize(10_001, 0);
    let now = pair.now;
    pair.server.respond_deferred(id, response, now).unwrap();
    let answers = pair.exchange(echo).unwrap();
    let [Answer::Response(answered, body)] = &answers[..] else {
        panic!("{answers:?}");
    };
    let expected = (9, StatusCode::BadResponseTooLarge);
    assert_eq!((*answered, fault_of(body)), (id, expected));
}

#[test]
fn a_request_above_the_servers_limits_is_not_sent() {
    let limits = TransportLimits {
        max_message_size: 10_000,
        ..small()
    };
    let mut pair = Pair::open(client(small()), server(limits));
    let result = pair.client.request(|e| e.bytes(&[0; 10_001]));
    assert!(matches!(result, Err(SendRequestError::Encode(_))));
    assert!(pair.client.transmit().is_empty());
    let id = pair.request(&[0; 10_000]);
    let expected = Answer::Response(id, vec![0; 10_000]);
    assert_eq!(pair.exchange(echo).unwrap(), [expected]);
}

#[test]
fn a_client_that_does_not_read_is_not_served_any_further() {
    let config = ServerConnectionConfig {
        max_unsent: 100_000,
        ..server(small())
    };
    let mut pair = Pair::open(client(small()), config);
    for _ in 0..1000 {
        pair.request(&[0; 1000]);
    }
    let mut served = 0;
    let mut bytes = pair.client.transmit().to_vec();
    loop {
        let space = pair.server.receive_space();
        let count = bytes.len().min(space.len());
        space[..count].copy_from_slice(&bytes[..count]);
        pair.server.received(count);
        bytes.drain(..count);
        while let Some(ServerEvent::Request(mut request)) = pair.server.poll(pair.now).unwrap() {
            let echo = request.respond(|body, e| e.bytes(body.bytes()));
            echo.unwrap().0.unwrap();
            served += 1;
        }
        if pair.server.is_congested() {
            break;
        }
    }
    assert_eq!(served, 98, "until 100 000 bytes wait");
    assert!(pair.server.transmit().len() < 102_000);
    // The client delays itself by not reading: the send deadline runs.
    let now = pair.now;
    pair.server.transmitted(10, now);
    pair.wait(Duration::from_secs(29));
    pair.server.transmitted(0, pair.now);
    pair.server.handle_timeout(pair.now).unwrap();
    pair.wait(Duration::from_secs(1));
    assert_eq!(
        pair.server.handle_timeout(pair.now),
        Err(TransportError::Timeout("read its responses"))
    );
}

#[test]
fn deferred_requests_are_bounded_too() {
    let config = ServerConnectionConfig {
        max_deferred: 3,
        ..server(small())
    };
    let mut pair = Pair::open(client(small()), config);
    let ids: Vec<_> = (0..5).map(|i| pair.request(&[i])).collect();
    let bytes = pair.client.transmit().to_vec();
    pair.client.transmitted(bytes.len());
    crate::support::feed(&mut pair.server, &bytes);
    let mut deferred = 0;
    while let Some(ServerEvent::Request(request)) = pair.server.poll(pair.now).unwrap() {
        request.defer();
        deferred += 1;
    }
    assert_eq!(deferred, 3);
    let now = pair.now;
    for id in &ids[..3] {
        pair.server
            .respond_deferred(*id, b"done".to_vec(), now)
            .unwrap();
    }
    assert_eq!(pair.exchange(echo).unwrap().len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunking_round_trip(sizes in proptest::collection::vec(1_usize..60_000, 1..6), encrypted: bool) {
        let mut pair = if encrypted {
            toy((14, 16), MessageSecurityMode::SignAndEncrypt)
        } else {
            Pair::open(client(small()), server(small()))
        };
        let expected: Vec<_> = sizes
            .iter()
            .map(|&size| {
                let body = pattern(size);
                Answer::Response(pair.request(&body), body)
            })
            .collect();
        prop_assert_eq!(pair.exchange(echo).unwrap(), expected);
    }
}
