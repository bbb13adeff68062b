//! Continuous key changes: no message is lost or accepted twice.

use std::collections::VecDeque;

use super::*;

/// Returns the answer of a SecurityKeyService: token n is current for the n-th KeyLifetime.
fn service(start: Instant, now: Instant, keys: u32) -> SecurityKeyUpdate {
    let passed = now - start;
    let periods = (passed.as_nanos() / LIFETIME.as_nanos()) as u32;
    SecurityKeyUpdate {
        time_to_next_key: LIFETIME * (periods + 1) - passed,
        ..answer(AES_128, periods + 1, keys)
    }
}

/// Requests keys for a ring when its next request is due.
fn refresh(keys: &mut KeyRing, start: Instant, now: Instant) {
    if keys.request_at().is_none_or(|at| at <= now) {
        keys.update(&service(start, now, 2), now).unwrap();
    }
}

/// Sends 1000 messages with each key. The Subscriber's clock is behind or ahead, the network delays messages by up to one and a
/// half KeyLifetimes, and every message arrives a second time.
#[test]
fn every_message_is_accepted_exactly_once() {
    const MESSAGES: u32 = 30_000;
    let start = Instant::now() + LIFETIME;
    let interval = LIFETIME / 1000;
    let (template, layout) = plain(AES_128, ENCRYPT, 0);
    let value = layout.encrypted.end - 4..layout.encrypted.end;
    for (publisher_ahead, delay) in [
        (Duration::ZERO, 0),
        (LIFETIME / 3, 7),
        (Duration::ZERO, 100),
        (Duration::ZERO, 1500),
    ] {
        let mut publisher_keys = KeyRing::new();
        let mut subscriber_keys = KeyRing::new();
        let mut protector = MessageProtector::new(ENCRYPT).unwrap();
        let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
        let mut network = VecDeque::new();
        let mut expected = 0_u32;
        for number in 0..MESSAGES + delay {
            let now = start + interval * number;
            if number < MESSAGES {
                let publisher_now = now + publisher_ahead;
                refresh(&mut publisher_keys, start, publisher_now);
                let mut message = template.clone();
                message[value.clone()].copy_from_slice(&number.to_le_bytes());
                protector
                    .protect(&publisher_keys, &mut message, &layout, publisher_now)
                    .unwrap();
                network.push_back(message);
            }
            refresh(&mut subscriber_keys, start, now);
            if number >= delay {
                let mut message = network.pop_front().unwrap();
                let mut again = message.clone();
                verifier
                    .verify(&subscriber_keys, &mut message, now)
                    .unwrap();
                assert_eq!(message[value.clone()], expected.to_le_bytes());
                assert_eq!(
                    verifier.verify(&subscriber_keys, &mut again, now),
                    Err(VerifyError::Replay(Replay::Seen))
                );
                expected += 1;
            }
        }
        assert_eq!(expected, MESSAGES);
    }
}

#[test]
fn a_publisher_without_its_service_is_heard_for_two_key_lifetimes() {
    let start = Instant::now();
    let publisher_keys = ring(AES_128, 1, 1, start);
    let mut subscriber_keys = KeyRing::new();
    let mut protector = MessageProtector::new(ENCRYPT).unwrap();
    let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
    let (template, layout) = plain(AES_128, ENCRYPT, 7);
    for step in 0..=30 {
        let now = start + LIFETIME / 10 * step;
        refresh(&mut subscriber_keys, start, now);
        let mut message = template.clone();
        protector
            .protect(&publisher_keys, &mut message, &layout, now)
            .unwrap();
        verifier
            .verify(&subscriber_keys, &mut message, now)
            .unwrap();
    }
    let now = start + LIFETIME / 10 * 31;
    assert_eq!(
        protector.protect(&publisher_keys, &mut template.clone(), &layout, now),
        Err(NoSendingKey::Expired(1).into())
    );
}
