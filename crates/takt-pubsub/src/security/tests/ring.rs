//! Used and accepted keys over time.

use super::*;

fn tokens_accepted(keys: &KeyRing, now: Instant) -> Vec<u32> {
    let tokens = 0..20;
    tokens
        .filter(|token| keys.receiving(*token, now).is_some())
        .collect()
}

fn sending(keys: &KeyRing, now: Instant) -> Result<u32, NoSendingKey> {
    keys.sending(now).map(SecurityKeys::security_token_id)
}

#[test]
fn keys_follow_each_other_on_time() {
    let start = Instant::now();
    let mut keys = KeyRing::new();
    assert_eq!(sending(&keys, start), Err(NoSendingKey::Empty));
    assert_eq!(keys.request_at(), None);
    assert_eq!((keys.ends_at(), keys.expires_at()), (None, None));
    let update = SecurityKeyUpdate {
        time_to_next_key: LIFETIME / 4,
        ..answer(AES_128, 5, 3)
    };
    keys.update(&update, start).unwrap();
    let at = |quarters: u32| start + LIFETIME / 4 * quarters;
    for (quarters, token) in [(0, 5), (1, 6), (4, 6), (5, 7), (9, 7), (17, 7)] {
        assert_eq!(sending(&keys, at(quarters)), Ok(token), "{quarters}");
    }
    // Token 7 ends after 9 quarters, and is used for two KeyLifetimes longer.
    let behind = at(17) + Duration::from_millis(1);
    assert_eq!(sending(&keys, behind), Err(NoSendingKey::Expired(7)));
    assert_eq!(keys.ends_at(), Some(at(9)));
    assert_eq!(keys.expires_at(), Some(at(17)));
    assert_eq!(tokens_accepted(&keys, at(0)), [5, 6, 7]);
    assert_eq!(tokens_accepted(&keys, at(9)), [5, 6, 7]);
    assert_eq!(tokens_accepted(&keys, at(10)), [6, 7]);
    assert!(tokens_accepted(&keys, behind).is_empty());
}

#[test]
fn past_keys_are_kept_while_they_are_accepted() {
    let start = Instant::now();
    let mut keys = ring(AES_128, 1, 3, start);
    for current in 2..9 {
        let now = start + LIFETIME * (current - 1);
        keys.update(&answer(AES_128, current, 3), now).unwrap();
        assert_eq!(sending(&keys, now), Ok(current));
        let oldest = current.saturating_sub(3).max(1);
        let expected: Vec<u32> = (oldest..current + 3).collect();
        assert_eq!(tokens_accepted(&keys, now), expected);
    }
}

#[test]
fn keys_that_were_invalidated_are_forgotten() {
    let start = Instant::now();
    let mut keys = ring(AES_128, 1, 3, start);
    // Forced rotation: the next key becomes current early, and the old one is still accepted.
    keys.update(&answer(AES_128, 2, 3), start + LIFETIME / 2)
        .unwrap();
    assert_eq!(tokens_accepted(&keys, start + LIFETIME / 2), [1, 2, 3, 4]);
    // All earlier keys are invalid.
    keys.update(&answer(AES_128, 5, 3), start + LIFETIME / 2)
        .unwrap();
    assert_eq!(tokens_accepted(&keys, start + LIFETIME / 2), [5, 6, 7]);
    // There was no request for a long time: the elapsed time explains new tokens.
    let later = start + LIFETIME * 5;
    keys.update(&answer(AES_128, 10, 1), later).unwrap();
    assert_eq!(tokens_accepted(&keys, later), [7, 10]);
    // Another policy has other keys.
    let other = answer(PubSubSecurityPolicy::PubSubAes256Ctr, 11, 1);
    keys.update(&other, later).unwrap();
    assert_eq!(tokens_accepted(&keys, later), [11]);
}

#[test]
fn the_service_is_asked_in_time_and_not_too_often() {
    let start = Instant::now();
    let keys = ring(AES_128, 1, 2, start);
    assert_eq!(keys.request_at(), Some(start + LIFETIME / 2));
    // Without a future key, the next request is at the end of the current key.
    let mut keys = KeyRing::new();
    let alone = SecurityKeyUpdate {
        time_to_next_key: LIFETIME / 5,
        ..answer(AES_128, 1, 1)
    };
    keys.update(&alone, start).unwrap();
    assert_eq!(keys.request_at(), Some(start + LIFETIME / 5));
    let over = SecurityKeyUpdate {
        time_to_next_key: Duration::ZERO,
        ..alone
    };
    keys.update(&over, start).unwrap();
    assert_eq!(keys.request_at(), Some(start + LIFETIME / 16));

    let mut keys = ring(AES_128, 1, 2, start);
    keys.unknown_token(0);
    keys.unknown_token(2);
    assert_eq!(keys.request_at(), Some(start + LIFETIME / 2));
    keys.unknown_token(3);
    assert_eq!(keys.request_at(), Some(start + LIFETIME / 16));
    keys.request_failed(start + LIFETIME / 16);
    assert_eq!(keys.request_at(), Some(start + LIFETIME / 16 * 2));
}

#[test]
fn invalid_answers_are_refused_and_change_nothing() {
    let now = Instant::now();
    let mut keys = ring(AES_128, 1, 2, now);
    let good = answer(AES_128, 5, 2);
    let mut short = good.clone();
    short.keys[1].pop();
    let refused = [
        (
            SecurityKeyUpdate {
                security_policy_uri: "urn:x".to_owned(),
                ..good.clone()
            },
            KeyRingError::SecurityPolicy("urn:x".to_owned()),
        ),
        (answer(AES_128, 5, 0), KeyRingError::NoKey),
        (
            SecurityKeyUpdate {
                key_lifetime: Duration::ZERO,
                ..good.clone()
            },
            KeyRingError::KeyLifetime(Duration::ZERO),
        ),
        (
            SecurityKeyUpdate {
                time_to_next_key: Duration::MAX,
                ..good.clone()
            },
            KeyRingError::KeyLifetime(Duration::MAX),
        ),
        (
            short,
            KeyRingError::Key {
                security_token_id: 6,
                source: KeyDataError::Length {
                    expected: 52,
                    found: 51,
                },
            },
        ),
    ];
    for (update, error) in refused {
        assert_eq!(keys.update(&update, now), Err(error));
        assert_eq!(tokens_accepted(&keys, now), [1, 2]);
    }
    // Token 0 means no token, and numbers do not wrap to it.
    let zero = answer(AES_128, 0, 1);
    assert!(keys.update(&zero, now).is_err());
    let last = SecurityKeyUpdate {
        first_token_id: u32::MAX,
        ..good
    };
    keys.update(&last, now).unwrap();
    assert!(keys.receiving(u32::MAX, now).is_some());
}

#[test]
fn the_number_of_keys_of_a_ring_is_limited() {
    let now = Instant::now();
    let mut keys = ring(AES_128, 1, 1000, now);
    let count = |keys: &KeyRing| {
        (0..3000)
            .filter(|token| keys.receiving(*token, now).is_some())
            .count()
    };
    assert_eq!(count(&keys), MAX_KEYS);
    keys.update(&answer(AES_128, 40, 1000), now).unwrap();
    assert_eq!(count(&keys), MAX_KEYS);
}

#[test]
fn a_key_that_has_expired_never_comes_back() {
    let start = Instant::now();
    let mut keys = ring(AES_128, 1, 1, start);
    let expired = start + LIFETIME * 3 + Duration::from_millis(1);
    assert!(tokens_accepted(&keys, expired).is_empty());
    let longer = SecurityKeyUpdate {
        key_lifetime: LIFETIME * 10,
        time_to_next_key: LIFETIME * 10,
        ..answer(AES_128, 2, 1)
    };
    keys.update(&longer, expired).unwrap();
    assert_eq!(tokens_accepted(&keys, expired), [2]);
}
