//! Protected messages are read again; others are refused.

use proptest::prelude::*;
use takt_wire::{FixedMessage, NetworkMessageRef};

use super::*;

fn policies() -> impl Strategy<Value = PubSubSecurityPolicy> {
    prop_oneof![
        Just(PubSubSecurityPolicy::PubSubAes128Ctr),
        Just(PubSubSecurityPolicy::PubSubAes256Ctr)
    ]
}

fn modes() -> impl Strategy<Value = MessageSecurityMode> {
    prop_oneof![Just(MessageSecurityMode::Sign), Just(ENCRYPT)]
}

proptest! {
    #[test]
    fn protected_messages_are_verified_and_decrypted(
        policy in policies(),
        mode in modes(),
        fields in proptest::collection::vec(any::<u64>(), 0..100),
        random_part in any::<u32>(),
    ) {
        let now = Instant::now();
        let keys = ring(policy, 1, 2, now);
        let fields = fields.into_iter().map(Variant::from).collect();
        let (plain, layout) = encoded(&network_message(policy, mode, fields));
        let mut protector = MessageProtector::with_random_part(mode, random_part).unwrap();
        let mut verifier = MessageVerifier::new(mode).unwrap();
        for _ in 0..3 {
            let mut message = plain.clone();
            protector.protect(&keys, &mut message, &layout, now).unwrap();
            let same = message[layout.encrypted.clone()] == plain[layout.encrypted.clone()];
            prop_assert_eq!(same, mode == MessageSecurityMode::Sign);
            verifier.verify(&keys, &mut message, now).unwrap();
            prop_assert_eq!(&message[layout.encrypted.clone()], &plain[layout.encrypted.clone()]);
        }
    }

    #[test]
    fn any_flipped_bit_is_refused(
        policy in policies(),
        mode in modes(),
        fields in proptest::collection::vec(any::<u64>(), 0..8),
        place in any::<proptest::sample::Index>(),
        bit in 0..8,
    ) {
        let now = Instant::now();
        let keys = ring(policy, 1, 2, now);
        let fields = fields.into_iter().map(Variant::from).collect();
        let (mut message, layout) = encoded(&network_message(policy, mode, fields));
        MessageProtector::new(mode).unwrap().protect(&keys, &mut message, &layout, now).unwrap();
        let mut verifier = MessageVerifier::new(mode).unwrap();
        let mut changed = message.clone();
        changed[place.index(message.len())] ^= 1_u8 << bit;
        let before = changed.clone();
        prop_assert!(verifier.verify(&keys, &mut changed, now).is_err());
        prop_assert_eq!(changed, before);
        // A refused message has left no trace.
        prop_assert!(verifier.verify(&keys, &mut message, now).is_ok());
    }

    #[test]
    fn random_bytes_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let now = Instant::now();
        let keys = ring(AES_128, 1, 2, now);
        let mut verifier = MessageVerifier::new(MessageSecurityMode::Sign).unwrap();
        prop_assert!(verifier.verify(&keys, &mut bytes, now).is_err());
    }
}

#[test]
fn no_message_can_be_cut_short_or_made_longer() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let (mut message, layout) = plain(AES_128, ENCRYPT, 7);
    let mut protector = MessageProtector::new(ENCRYPT).unwrap();
    protector
        .protect(&keys, &mut message, &layout, now)
        .unwrap();
    let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
    for length in 0..message.len() {
        let mut short = message[..length].to_vec();
        assert!(verifier.verify(&keys, &mut short, now).is_err(), "{length}");
    }
    for extra in [1, 32] {
        let mut long = message.clone();
        long.resize(message.len() + extra, 0);
        assert!(verifier.verify(&keys, &mut long, now).is_err());
    }
}

#[test]
fn a_message_of_fixed_layout_is_protected_in_a_copy() {
    let now = Instant::now();
    let keys = ring(AES_128, 9, 2, now);
    let template = network_message(AES_128, ENCRYPT, vec![0_u32.into(), 0.0.into()]);
    let mut fixed = FixedMessage::new(&template, &[]).unwrap();
    let reader = fixed.reader();
    let (count, level) = (fixed.slot(0, 0).unwrap(), fixed.slot::<f64>(0, 1).unwrap());
    let mut protector = MessageProtector::new(ENCRYPT).unwrap();
    let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
    let mut send_buffer = vec![0; fixed.bytes().len()];
    for cycle in 0..10_u32 {
        fixed.store(count, cycle);
        fixed.store(level, 21.5);
        send_buffer.copy_from_slice(fixed.bytes());
        let layout = fixed.security_layout();
        protector
            .protect(&keys, &mut send_buffer, layout, now)
            .unwrap();
        assert_eq!(
            NetworkMessageRef::new_checked(&send_buffer)
                .unwrap()
                .security_header
                .map(|header| header.security_token_id),
            Some(9)
        );
        verifier.verify(&keys, &mut send_buffer, now).unwrap();
        let read = reader.read(&send_buffer).unwrap();
        assert_eq!((read.get(count), read.get(level)), (cycle, 21.5));
    }
}

#[test]
fn a_recorded_message_is_inspected_whatever_its_signature_is() {
    let now = Instant::now();
    let keys = ring(AES_128, 1, 2, now);
    let (plain, layout) = encoded(&network_message(
        AES_128,
        ENCRYPT,
        vec![Variant::from(7_u64)],
    ));
    let mut message = plain.clone();
    let mut protector = MessageProtector::new(ENCRYPT).unwrap();
    protector
        .protect(&keys, &mut message, &layout, now)
        .unwrap();
    let key = |token| SecurityKeys::new(AES_128, token, &key_data(AES_128, token)).unwrap();
    let payload = layout.encrypted.clone();
    // Messages are verified repeatedly, unlike in a Subscriber.
    for flipped in [0, 0, 1] {
        let mut recorded = message.clone();
        recorded[layout.signature.start] ^= flipped;
        let inspection = key(1).inspect(&mut recorded).unwrap();
        assert_eq!(
            (inspection.genuine, inspection.decrypted),
            (flipped == 0, true)
        );
        assert_eq!(recorded[payload.clone()], plain[payload.clone()]);
    }
    let refused = key(2).inspect(&mut message.clone());
    assert_eq!(refused, Err(VerifyError::UnknownToken(1)));
}
