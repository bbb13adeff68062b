//! Messages that a Subscriber verifies: every message is refused, or equals the protected one.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use takt_fuzz::parts;
use takt_pubsub::security::{
    KeyRing, MessageProtector, MessageVerifier, PubSubSecurityPolicy, SecurityKeyUpdate,
};
use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::NetworkMessageRef;

static NOW: LazyLock<Instant> = LazyLock::new(Instant::now);

static KEYS: LazyLock<KeyRing> = LazyLock::new(|| {
    let policy = PubSubSecurityPolicy::PubSubAes128Ctr;
    let update = SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id: 1,
        keys: vec![vec![7; policy.key_data_length()].into(); 2],
        time_to_next_key: Duration::from_secs(3600),
        key_lifetime: Duration::from_secs(3600),
    };
    let mut keys = KeyRing::new();
    keys.update(&update, *NOW).expect("good keys");
    keys
});

pub(crate) fn run(data: &[u8]) {
    let mode = MessageSecurityMode::Sign;
    let mut protector = MessageProtector::with_random_part(mode, 7).expect("a mode that protects");
    let mut verifier = MessageVerifier::new(mode).expect("a mode that protects");
    for part in parts(data) {
        let mut bytes = part.to_vec();
        // A signature cannot be guessed.
        verifier
            .verify(&KEYS, &mut bytes, *NOW)
            .expect_err("a forged message was accepted");
        assert_eq!(bytes, part);
        // The same with a valid signature: if there is space for it, the headers decide.
        let layout =
            NetworkMessageRef::new_checked(&bytes).and_then(|message| message.security_layout(32));
        if let Ok(layout) = layout
            && protector.protect(&KEYS, &mut bytes, &layout, *NOW).is_ok()
        {
            let mut again = bytes.clone();
            verifier
                .verify(&KEYS, &mut bytes, *NOW)
                .expect("a genuine message");
            assert_eq!(bytes[layout.encrypted.clone()], part[layout.encrypted]);
            verifier
                .verify(&KEYS, &mut again, *NOW)
                .expect_err("a message was accepted twice");
        }
    }
}
