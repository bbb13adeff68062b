//! Protecting and verifying messages allocates nothing, also while keys change.

use std::time::{Duration, Instant};

use takt_pubsub::security::{
    KeyRing, MessageProtector, MessageVerifier, PubSubSecurityPolicy, SIGNATURE_LENGTH,
    SecurityKeyUpdate,
};
use takt_ua::Variant;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::{DataSetContent, DataSetMessage, Fields, NetworkMessage, PublisherId};

const KEY_LIFETIME: Duration = Duration::from_millis(100);

#[test]
fn protected_messages_allocate_nothing() {
    takt_malloc::alone(|| {
        let mode = MessageSecurityMode::SignAndEncrypt;
        let policy = PubSubSecurityPolicy::PubSubAes256Ctr;
        let start = Instant::now();
        let mut keys = KeyRing::new();
        let update = SecurityKeyUpdate {
            security_policy_uri: policy.uri().to_owned(),
            first_token_id: 1,
            keys: (0..20)
                .map(|token| vec![token; policy.key_data_length()].into())
                .collect(),
            time_to_next_key: KEY_LIFETIME,
            key_lifetime: KEY_LIFETIME,
        };
        keys.update(&update, start).unwrap();
        let fields = vec![Variant::from(0_u64); 30];
        let content = DataSetContent::KeyFrame(Fields::Variant(fields));
        let message = NetworkMessage {
            security_header: Some(policy.security_header(mode).unwrap()),
            signature: vec![0; SIGNATURE_LENGTH],
            ..NetworkMessage::data(
                Some(PublisherId::String("a Publisher".into())),
                vec![DataSetMessage::new(content)],
            )
        };
        let mut plain = Vec::new();
        let layout = message
            .encode(&mut Encoder::growing(&mut plain, 10_000))
            .unwrap();
        let mut protector = MessageProtector::new(mode).unwrap();
        let mut verifier = MessageVerifier::new(mode).unwrap();
        let mut send_buffer = plain.clone();

        let (token, allocations) = takt_malloc::count(|| {
            let mut token = 0;
            for cycle in 0..10_000 {
                // The keys change ten times.
                let now = start + KEY_LIFETIME / 1000 * cycle;
                send_buffer.copy_from_slice(&plain);
                protector
                    .protect(&keys, &mut send_buffer, &layout, now)
                    .unwrap();
                let verified = verifier.verify(&keys, &mut send_buffer, now).unwrap();
                token = verified.security_token_id;
            }
            token
        });
        assert_eq!(token, 10);
        assert_eq!(allocations, 0);
    });
}
