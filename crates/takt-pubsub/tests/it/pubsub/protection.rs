use std::time::Duration;

use takt_pubsub::security::VerifyError;
use takt_pubsub::subscriber::Reception;
use takt_pubsub::{Now, ReceiveError};
use takt_ua::enumerations::{MessageSecurityMode, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};
use takt_wire::NetworkMessageRef;

use crate::support::{Setup, keys, now};

const UP: PubSubState = PubSubState::Operational;

fn publish(group: &mut takt_pubsub::publisher::WriterGroup, now: Now) -> Vec<Vec<u8>> {
    let mut output = Vec::new();
    group.publish(now, UP, &mut output).unwrap();
    output
}

#[test]
fn protected_messages_take_the_fast_path_through_a_change_of_keys() {
    for mode in [
        MessageSecurityMode::Sign,
        MessageSecurityMode::SignAndEncrypt,
    ] {
        let mut setup = Setup::new(&[Variant::UInt32(0), Variant::Double(1.5)]);
        setup.protect(mode);
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let mut time = now();
        // Without keys, there are no messages.
        assert!(publish(&mut group, time).is_empty());
        assert_eq!(group.state(UP), PubSubState::PreOperational);
        assert_eq!(group.security_group_id(), Some("Keys"));
        let ring = keys(5, time.instant);
        group.set_keys(&ring);
        subscriber.set_keys("Keys", &ring);
        let mut tokens = Vec::new();
        for step in 0..20_u32 {
            let value = Variant::UInt32(step);
            setup
                .cell(0)
                .set(&value, StatusCode::Good, DateTime::now())
                .unwrap();
            let mut message = publish(&mut group, time).remove(0);
            let header = NetworkMessageRef::new_checked(&message)
                .unwrap()
                .security_header
                .unwrap();
            assert_eq!(
                header.encrypted,
                mode == MessageSecurityMode::SignAndEncrypt
            );
            tokens.push(header.security_token_id);
            let recorded = message.clone();
            let reception = subscriber.receive(time, UP, &mut message, &mut ()).unwrap();
            assert_eq!(
                reception,
                Reception {
                    accepted: 1,
                    fixed: step > 0,
                    ..Reception::default()
                }
            );
            assert_eq!(setup.target(0).get().unwrap().value, Some(value));
            let again = subscriber.receive(time, UP, &mut recorded.clone(), &mut ());
            assert!(
                matches!(again, Err(ReceiveError::Security(VerifyError::Replay(_)))),
                "{again:?}"
            );
            time.instant += Duration::from_secs(6);
        }
        assert_eq!((tokens[0], tokens[19]), (5, 6));
        assert_eq!(group.state(UP), PubSubState::Operational);
    }
}

#[test]
fn chunks_and_delta_frames_are_protected_too() {
    let mut setup = Setup::new(&[Variant::from(vec![7_u8; 64]), Variant::from(vec![8_u8; 64])]);
    setup.group.max_network_message_size = 150;
    setup.writer().key_frame_count = 10;
    setup.protect(MessageSecurityMode::SignAndEncrypt);
    setup.received = setup
        .cells
        .keys()
        .map(|id| (id.clone(), std::sync::Arc::new(takt_cell::Cell::new(200))))
        .collect();
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let time = now();
    let ring = keys(1, time.instant);
    group.set_keys(&ring);
    subscriber.set_keys("Keys", &ring);
    let mut messages = publish(&mut group, time);
    assert!(messages.len() > 1);
    let mut accepted = 0;
    for message in &mut messages {
        assert!(message.len() <= 150);
        accepted += subscriber
            .receive(time, UP, message, &mut ())
            .unwrap()
            .accepted;
    }
    assert_eq!(accepted, 1);
    assert_eq!(
        setup.target(1).get().unwrap().value,
        Some(Variant::from(vec![8_u8; 64]))
    );
    setup
        .cell(0)
        .set(
            &Variant::from(vec![9_u8; 8]),
            StatusCode::Good,
            DateTime::now(),
        )
        .unwrap();
    let mut delta = publish(&mut group, time).remove(0);
    assert_eq!(
        subscriber
            .receive(time, UP, &mut delta, &mut ())
            .unwrap()
            .accepted,
        1
    );
    assert_eq!(
        setup.target(0).get().unwrap().value,
        Some(Variant::from(vec![9_u8; 8]))
    );
}

#[test]
fn messages_with_less_protection_than_expected_are_refused() {
    let time = now();
    let ring = keys(1, time.instant);
    let message = |mode| {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        setup.protect(mode);
        let mut group = setup.build();
        group.set_keys(&ring);
        publish(&mut group, time).remove(0)
    };
    let receive = |mode, mut message: Vec<u8>| {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        setup.protect(mode);
        let mut subscriber = setup.build_subscriber();
        subscriber.set_keys("Keys", &ring);
        subscriber.receive(time, UP, &mut message, &mut ())
    };
    let modes = [
        MessageSecurityMode::None,
        MessageSecurityMode::Sign,
        MessageSecurityMode::SignAndEncrypt,
    ];
    for (wanted, mode) in modes.into_iter().enumerate() {
        for (found, sent) in modes.into_iter().enumerate() {
            let outcome = receive(mode, message(sent));
            let accepted = outcome
                .as_ref()
                .is_ok_and(|reception| reception.accepted == 1);
            // More protection than configured is accepted, if there are keys.
            let expected = if wanted == 0 {
                found == 0
            } else {
                found >= wanted
            };
            assert_eq!(accepted, expected, "{mode:?}, {sent:?}: {outcome:?}");
        }
    }
    let mut changed = message(MessageSecurityMode::Sign);
    let last = changed.len() - 40;
    changed[last] ^= 1;
    let outcome = receive(MessageSecurityMode::Sign, changed);
    assert_eq!(outcome, Err(ReceiveError::Security(VerifyError::Signature)));
}
