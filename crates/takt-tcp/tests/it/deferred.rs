//! Long responses to deferred requests: they are divided into chunks while they are sent.

use std::sync::Arc;
use std::time::Duration;

use crate::support::toy_policy::{CERTIFICATE, ToyPolicy};
use crate::support::{Answer, Pair, echo, feed};
use takt_crypto::PeerCertificate;
use takt_rt::memory_budget::MemoryBudget;
use takt_tcp::{ClientConnectionConfig, ServerConnectionConfig, ServerEvent};
use takt_ua::enumerations::MessageSecurityMode;

/// Length in bytes of a long response.
const LONG: usize = 4 << 20;

fn response(seed: usize) -> Vec<u8> {
    (0..LONG).map(|i| ((i + seed) % 251) as u8).collect()
}

/// Sends a request, and returns its id when the server has deferred it.
fn defer(pair: &mut Pair) -> u32 {
    let id = pair.request(b"later");
    let bytes = pair.client.transmit().to_vec();
    pair.client.transmitted(bytes.len());
    feed(&mut pair.server, &bytes);
    match pair.server.poll(pair.now).unwrap() {
        Some(ServerEvent::Request(request)) => request.defer(),
        other => panic!("{other:?}"),
    }
    id
}

#[test]
fn long_responses_are_kept_where_they_are_and_sent_in_order() {
    let memory = MemoryBudget::new(64 << 20);
    let config = ServerConnectionConfig {
        memory_without_session: memory.part(32 << 20),
        memory: memory.clone(),
        connection_memory_without_session: 32 << 20,
        ..ServerConnectionConfig::default()
    };
    let mut pair = Pair::open(ClientConnectionConfig::default(), config);
    let ids = [defer(&mut pair), defer(&mut pair), defer(&mut pair)];
    let before = memory.used();
    let short = b"short".to_vec();
    let bodies = [response(1), response(2), short];
    for (id, body) in ids.into_iter().zip(&bodies) {
        pair.server
            .respond_deferred(id, body.clone(), pair.now)
            .unwrap();
    }
    let prepared = pair.server.transmit().len();
    assert!((1..=256 << 10).contains(&prepared), "{prepared} bytes");
    let held = memory.used() - before;
    assert!(
        held <= 2 * LONG + (512 << 10),
        "{held} bytes for two responses"
    );
    assert!(pair.server.is_congested());
    let answers = pair.exchange(echo).unwrap();
    let expected: Vec<_> = ids
        .into_iter()
        .zip(bodies)
        .map(|(id, body)| Answer::Response(id, body))
        .collect();
    assert!(answers == expected);
    assert!(memory.used() <= before + (512 << 10));
    let next = pair.request(b"next");
    let answers = pair.exchange(echo).unwrap();
    assert_eq!(answers, [Answer::Response(next, b"next".to_vec())]);
}

/// A toy policy whose chunks differ in length from their bodies.
fn secured() -> Pair {
    let policy = Arc::new(ToyPolicy {
        blocks: (16, 16),
        legacy: false,
    });
    let mode = MessageSecurityMode::SignAndEncrypt;
    Pair::open(
        ClientConnectionConfig {
            policy: policy.clone(),
            security_mode: mode,
            server_certificate: Arc::new(PeerCertificate::parse(CERTIFICATE.into())),
            ..ClientConnectionConfig::default()
        },
        ServerConnectionConfig {
            policies: vec![policy],
            max_unsent: LONG,
            connection_memory_without_session: 4 * LONG,
            ..ServerConnectionConfig::default()
        },
    )
}

#[test]
fn a_renewed_token_and_a_direct_response_follow_the_chunks_of_a_long_response() {
    let mut pair = secured();
    let id = defer(&mut pair);
    let body = response(3);
    pair.server
        .respond_deferred(id, body.clone(), pair.now)
        .unwrap();
    // Some of it is sent, so that the server takes requests again.
    pair.server.transmitted(0, pair.now);
    pair.wait(Duration::from_secs(60 * 50));
    pair.client.handle_timeout(pair.now).unwrap();
    let direct = pair.request(b"direct");
    let answers = pair.exchange(echo).unwrap();
    assert_eq!(answers.len(), 2);
    let Answer::Response(first, received) = &answers[0] else {
        panic!("{:?}", answers[0]);
    };
    assert_eq!((*first, received.len()), (id, LONG));
    assert!(*received == body);
    assert_eq!(answers[1], Answer::Response(direct, b"direct".to_vec()));
}

#[test]
fn a_closed_connection_sends_its_error_instead_of_the_rest() {
    let mut pair = secured();
    let id = defer(&mut pair);
    pair.server
        .respond_deferred(id, response(4), pair.now)
        .unwrap();
    let prepared = pair.server.transmit().len();
    pair.server
        .close(takt_ua::StatusCode::BadShutdown, "the end");
    let rest = pair.server.transmit();
    assert!(rest.len() < prepared + 100);
    assert!(rest.windows(4).any(|bytes| bytes == b"ERRF"));
    let length = rest.len();
    pair.server.transmitted(length, pair.now);
    assert!(pair.server.transmit().is_empty());
}
