//! Refused messages, and the error of each.

use super::*;

const SIGN: MessageSecurityMode = MessageSecurityMode::Sign;

fn protected(mode: MessageSecurityMode, keys: &KeyRing, now: Instant) -> Vec<u8> {
    let (mut message, layout) = plain(AES_128, mode, 7);
    let mut protector = MessageProtector::new(mode).unwrap();
    protector.protect(keys, &mut message, &layout, now).unwrap();
    message
}

#[test]
fn less_protection_than_configured() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let mut signed = protected(SIGN, &keys, now);
    let mut encrypts = MessageVerifier::new(ENCRYPT).unwrap();
    assert_eq!(
        encrypts.verify(&keys, &mut signed, now),
        Err(VerifyError::SecurityModeTooLow(ENCRYPT))
    );
    let mut signs = MessageVerifier::new(SIGN).unwrap();
    let mut unprotected = network_message(AES_128, SIGN, vec![7_u32.into()]);
    unprotected.security_header = None;
    unprotected.signature = Vec::new();
    let (mut unprotected, _) = encoded(&unprotected);
    assert_eq!(
        signs.verify(&keys, &mut unprotected, now),
        Err(VerifyError::SecurityModeTooLow(SIGN))
    );
    // More protection than configured is accepted.
    let mut encrypted = protected(ENCRYPT, &keys, now);
    assert!(signs.verify(&keys, &mut encrypted, now).is_ok());

    for mode in [MessageSecurityMode::Invalid, MessageSecurityMode::None] {
        let error = SecurityModeError(mode);
        assert_eq!(MessageVerifier::new(mode).unwrap_err(), error);
        assert_eq!(MessageProtector::new(mode).unwrap_err(), error.into());
    }
}

#[test]
fn tokens_signatures_and_nonces() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let mut verifier = MessageVerifier::new(SIGN).unwrap();
    let mut message = protected(ENCRYPT, &keys, now);
    assert_eq!(
        verifier.verify(&ring(AES_128, 2, 2, now), &mut message, now),
        Err(VerifyError::UnknownToken(1))
    );
    assert_eq!(
        verifier.verify(&KeyRing::new(), &mut message, now),
        Err(VerifyError::UnknownToken(1))
    );
    // The same token, another key.
    let mut other = KeyRing::new();
    let update = SecurityKeyUpdate {
        first_token_id: 1,
        ..answer(AES_128, 50, 1)
    };
    other.update(&update, now).unwrap();
    assert_eq!(
        verifier.verify(&other, &mut message, now),
        Err(VerifyError::Signature)
    );
    let mut short_nonce = network_message(AES_128, SIGN, vec![]);
    let header = short_nonce.security_header.as_mut().unwrap();
    header.message_nonce.pop();
    let (mut short_nonce, _) = encoded(&short_nonce);
    assert_eq!(
        verifier.verify(&keys, &mut short_nonce, now),
        Err(VerifyError::MessageNonce(7))
    );
    assert!(matches!(
        verifier.verify(&keys, &mut [0x01], now),
        Err(VerifyError::SecurityModeTooLow(_))
    ));
    assert!(matches!(
        verifier.verify(&keys, &mut [], now),
        Err(VerifyError::Wire(_))
    ));
}

#[test]
fn a_message_is_accepted_once() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
    let seen = Err(VerifyError::Replay(Replay::Seen));
    let mut recorded = Vec::new();
    for _restart in 0..5 {
        let mut protector = MessageProtector::new(ENCRYPT).unwrap();
        let (template, layout) = plain(AES_128, ENCRYPT, 7);
        for _ in 0..10 {
            let mut message = template.clone();
            protector
                .protect(&keys, &mut message, &layout, now)
                .unwrap();
            recorded.push(message.clone());
            assert!(verifier.verify(&keys, &mut message, now).is_ok());
        }
        for message in &recorded {
            assert_eq!(verifier.verify(&keys, &mut message.clone(), now), seen);
        }
    }
}

#[test]
fn publishers_and_groups_are_told_apart() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
    for publisher in [
        None,
        Some(PublisherId::UInt16(1)),
        Some(PublisherId::Byte(1)),
    ] {
        for group in [None, Some(1), Some(2)] {
            let mut message = network_message(AES_128, ENCRYPT, vec![7_u32.into()]);
            message.publisher_id = publisher.clone();
            message.group_header = group.map(|id| GroupHeader {
                writer_group_id: Some(id),
                ..GroupHeader::default()
            });
            let (mut message, layout) = encoded(&message);
            // All protectors drew the same random part, and count alike.
            let mut protector = MessageProtector::with_random_part(ENCRYPT, 7).unwrap();
            protector
                .protect(&keys, &mut message, &layout, now)
                .unwrap();
            assert!(verifier.verify(&keys, &mut message.clone(), now).is_ok());
            assert!(verifier.verify(&keys, &mut message, now).is_err());
        }
    }
}

#[test]
fn messages_without_a_usable_key_or_room_are_not_protected() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let mut protector = MessageProtector::new(ENCRYPT).unwrap();
    let (mut message, layout) = plain(AES_128, ENCRYPT, 7);
    assert_eq!(
        protector.protect(&KeyRing::new(), &mut message, &layout, now),
        Err(NoSendingKey::Empty.into())
    );
    assert_eq!(
        protector.protect(&keys, &mut message[1..], &layout, now),
        Err(ProtectError::Layout)
    );
    assert_eq!(
        protector.protect(&keys, &mut message, &SecurityLayout::default(), now),
        Err(ProtectError::Layout)
    );
    let (mut signed, layout) = plain(AES_128, SIGN, 7);
    assert_eq!(
        protector.protect(&keys, &mut signed, &layout, now),
        Err(ProtectError::SecurityFlags {
            found: 1,
            mode: ENCRYPT
        })
    );
    let unsigned = NetworkMessage {
        signature: vec![0; 16],
        ..network_message(AES_128, ENCRYPT, vec![])
    };
    let (mut message, layout) = encoded(&unsigned);
    assert_eq!(
        protector.protect(&keys, &mut message, &layout, now),
        Err(ProtectError::Layout)
    );
}
