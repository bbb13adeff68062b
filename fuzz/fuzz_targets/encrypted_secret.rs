//! Encrypted secrets of users: no input may do harm, none is opened without the signature of its sender, and each sealed secret is
//! opened again.

use std::sync::LazyLock;
use std::time::Duration;

use takt_crypto::{
    EncryptedSecret, EphemeralKey, NewCertificate, OwnCertificate, PolicyProfile, PublicKey,
};

const NONCE: [u8; 32] = [7; 32];

/// Sender and receiver with one policy.
struct Pair {
    profile: &'static PolicyProfile,
    sender: OwnCertificate,
    public: PublicKey,
    receiver: EphemeralKey,
}

static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let new = NewCertificate {
        application_name: "fuzz".to_owned(),
        application_uri: "urn:fuzz".to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: Duration::from_secs(24 * 3600),
        key_bits: 2048,
    };
    let pair = |profile: &'static PolicyProfile| {
        let receiver = EphemeralKey::generate(profile.curve()?).expect("a key");
        let sender = new.create(profile.key_kind()).expect("a certificate");
        let public = PublicKey::from_spki(&sender.certificate().public_key).expect("a key");
        Some(Pair {
            profile,
            sender,
            public,
            receiver,
        })
    };
    PolicyProfile::ALL.into_iter().filter_map(pair).collect()
});

pub(crate) fn run(bytes: &[u8]) {
    for pair in &*PAIRS {
        let open = |bytes: &[u8]| {
            let secret = EncryptedSecret::parse(bytes).ok()?;
            let opened = secret.open(pair.profile, &pair.receiver, &pair.public, &NONCE);
            opened.ok().map(|secret| secret.to_vec())
        };
        assert!(open(bytes).is_none(), "nobody has signed it");
        if bytes.len() < 4096 {
            let key = pair.receiver.public();
            let sealed = EncryptedSecret::seal(pair.profile, bytes, &NONCE, key, &pair.sender);
            let sealed = sealed.expect("it can be sealed");
            assert_eq!(open(&sealed).as_deref(), Some(bytes));
        }
    }
}
