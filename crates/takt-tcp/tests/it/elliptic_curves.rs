//! Attacks on channels with elliptic curves: wrong EphemeralKeys, EphemeralKeys that are used again, and certificates with keys of
//! another kind than the SecurityPolicy demands.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use crate::support::plant::Plant;
use crate::support::{Answer, Pair, echo};
use takt_crypto::{
    CertificateError, CertificateStore, EllipticCurve, EphemeralKey, KeyKind, KeyShare,
    PeerCertificate, PolicyProfile,
};
use takt_tcp::{
    AsymmetricSecurity, ClientConnectionConfig, Role, SecuredPolicy, SecurityError, SecurityPolicy,
    ServerConnectionConfig, TokenSecurity, TransportError,
};
use takt_ua::StatusCode;
use takt_ua::enumerations::MessageSecurityMode;

static PLANT: LazyLock<Plant> = LazyLock::new(|| Plant::new(2048, 2048));

/// Changes that an attacker makes to what a policy sends.
#[derive(Debug, Default)]
struct Attack {
    /// Nonce instead of an EphemeralKey.
    nonce: Option<Vec<u8>>,
    /// The first nonce is sent again with each renewal.
    repeats: bool,
    /// SenderCertificate.
    certificate: Option<Vec<u8>>,
    /// ReceiverCertificateThumbprint.
    thumbprint: Option<Vec<u8>>,
}

/// A real policy with changes.
#[derive(Debug)]
struct Attacker {
    policy: Arc<dyn SecurityPolicy>,
    attack: Attack,
    first: Mutex<Option<Vec<u8>>>,
}

impl Attacker {
    fn with(policy: Arc<dyn SecurityPolicy>, attack: Attack) -> Arc<dyn SecurityPolicy> {
        Arc::new(Self {
            policy,
            attack,
            first: Mutex::default(),
        })
    }
}

impl SecurityPolicy for Attacker {
    fn uri(&self) -> &str {
        self.policy.uri()
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        self.policy.allows(mode)
    }

    fn nonce_length(&self) -> usize {
        self.policy.nonce_length()
    }

    fn legacy_sequence_numbers(&self) -> bool {
        self.policy.legacy_sequence_numbers()
    }

    fn accept_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        self.policy.accept_peer(peer)
    }

    fn keep_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        self.policy.keep_peer(peer)
    }

    fn asymmetric(
        &self,
        peer: &PeerCertificate,
        thumbprint: Option<&[u8]>,
    ) -> Result<AsymmetricSecurity, SecurityError> {
        let mut security = self.policy.asymmetric(peer, thumbprint)?;
        let attack = &self.attack;
        security.certificate = attack.certificate.clone().unwrap_or(security.certificate);
        security.peer_thumbprint = attack
            .thumbprint
            .clone()
            .unwrap_or(security.peer_thumbprint);
        Ok(security)
    }

    fn key_share(&self) -> Result<KeyShare, SecurityError> {
        if let Some(nonce) = &self.attack.nonce {
            return Ok(KeyShare::from_nonce(nonce.clone()));
        }
        let mut first = self.first.lock().unwrap();
        if let (true, Some(nonce)) = (self.attack.repeats, &*first) {
            return Ok(KeyShare::from_nonce(nonce.clone()));
        }
        let share = self.policy.key_share()?;
        *first = Some(share.nonce().to_vec());
        Ok(share)
    }

    fn symmetric(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError> {
        if self.attack.nonce.is_some() {
            // The attacker has no key for its nonce; the victim must not come so far that this matters.
            let other = self.policy.key_share()?;
            return self.policy.symmetric(role, mode, &other, peer_nonce);
        }
        self.policy.symmetric(role, mode, own, peer_nonce)
    }
}

fn on_curves() -> impl Iterator<Item = (&'static PolicyProfile, EllipticCurve)> {
    let all = PolicyProfile::ALL.into_iter();
    all.filter_map(|profile| Some((profile, profile.curve()?)))
}

fn client(profile: &'static PolicyProfile) -> ClientConnectionConfig {
    PLANT.client_config(profile, MessageSecurityMode::SignAndEncrypt)
}

fn attacking_client(profile: &'static PolicyProfile, attack: Attack) -> Pair {
    let mut config = client(profile);
    config.policy = Attacker::with(config.policy, attack);
    Pair::new(config, PLANT.server_config())
}

fn attacking_server(profile: &'static PolicyProfile, attack: Attack) -> Pair {
    let policy = SecuredPolicy::for_server(profile, Arc::clone(&PLANT.server));
    let config = ServerConnectionConfig {
        policies: vec![Attacker::with(policy, attack)],
        ..PLANT.server_config()
    };
    Pair::new(client(profile), config)
}

/// Nonces with the length of an EphemeralKey that are none.
fn wrong_keys(curve: EllipticCurve) -> Vec<Vec<u8>> {
    let length = curve.ephemeral_key_length();
    let mut wrong = vec![vec![0; length]];
    match curve {
        // One is a point of small order.
        EllipticCurve::Curve25519 => wrong.push([vec![1], vec![0; length - 1]].concat()),
        _ => {
            let mut changed = EphemeralKey::generate(curve).unwrap().public().to_vec();
            changed[length - 1] ^= 1;
            wrong.extend([changed, vec![0xFF; length], vec![1; length]]);
        }
    }
    wrong
}

#[test]
fn wrong_ephemeral_keys_are_refused_by_both_sides() {
    for (profile, curve) in on_curves() {
        for nonce in wrong_keys(curve) {
            let attack = || Attack {
                nonce: Some(nonce.clone()),
                ..Attack::default()
            };
            for mut pair in [
                attacking_client(profile, attack()),
                attacking_server(profile, attack()),
            ] {
                let error = pair.exchange(echo).unwrap_err();
                assert_eq!(
                    error,
                    SecurityError::KeyDerivation.into(),
                    "{}",
                    profile.name
                );
                let status = error.public_status_code();
                assert_eq!(status, StatusCode::BadSecurityChecksFailed);
            }
        }
    }
}

#[test]
fn nonces_of_another_length_are_refused() {
    for (profile, curve) in on_curves() {
        for length in [0, 32, 33, 64, 65, 96, 97] {
            if length == curve.ephemeral_key_length() {
                continue;
            }
            let attack = || Attack {
                nonce: Some(vec![7; length]),
                ..Attack::default()
            };
            for mut pair in [
                attacking_client(profile, attack()),
                attacking_server(profile, attack()),
            ] {
                let error = pair.exchange(echo).unwrap_err();
                assert!(matches!(error, TransportError::Nonce { .. }), "{error}");
            }
        }
    }
}

#[test]
fn an_ephemeral_key_is_not_used_again_for_a_renewal() {
    for (profile, _) in on_curves() {
        let attack = Attack {
            repeats: true,
            ..Attack::default()
        };
        let mut pair = attacking_client(profile, attack);
        assert_eq!(pair.exchange(echo), Ok(Vec::new()));
        let id = pair.request(b"question");
        let answers = pair.exchange(echo).unwrap();
        assert_eq!(answers, [Answer::Response(id, b"question".to_vec())]);
        pair.wait(Duration::from_secs(2800));
        let now = pair.now;
        pair.client.handle_timeout(now).unwrap();
        let error = pair.exchange(echo).unwrap_err();
        assert_eq!(error, SecurityError::NonceRepeated.into());
        assert_eq!(error.public_status_code(), StatusCode::BadNonceInvalid);
    }
}

/// The keys of a recorded channel do not follow from the keys of certificates: each channel has other EphemeralKeys.
#[test]
fn channels_and_tokens_have_keys_of_their_own() {
    for (profile, _) in on_curves() {
        let policy = SecuredPolicy::for_server(profile, Arc::clone(&PLANT.server));
        let nonces: Vec<Vec<u8>> = (0..20)
            .map(|_| policy.key_share().unwrap().nonce().to_vec())
            .collect();
        let mut distinct = nonces.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), nonces.len());
    }
}

#[test]
fn a_certificate_with_a_key_of_another_kind_is_refused() {
    for profile in PolicyProfile::ALL {
        for kind in KeyKind::ALL {
            if kind == profile.key_kind() {
                continue;
            }
            let other = PLANT.client.identity_of(kind).unwrap();
            let attack = Attack {
                certificate: Some(other.chain_der().to_vec()),
                ..Attack::default()
            };
            let error = attacking_client(profile, attack)
                .exchange(echo)
                .unwrap_err();
            let expected = SecurityError::Certificate(CertificateError::PolicyCheck);
            assert_eq!(error, expected.into(), "{} {kind}", profile.name);
            let (status, public) = (error.status_code(), error.public_status_code());
            assert_eq!(status, StatusCode::BadCertificatePolicyCheckFailed);
            assert_eq!(public, StatusCode::BadSecurityChecksFailed);

            // The client does not even begin with such a certificate of the server.
            let mut config = client(profile);
            let server = PLANT.server.identity_of(kind).unwrap();
            config.server_certificate =
                Arc::new(PeerCertificate::parse(server.chain_der().to_vec()));
            let mut pair = Pair::new(config, PLANT.server_config());
            assert_eq!(pair.exchange(echo), Err(expected.into()));
        }
    }
}

#[test]
fn the_thumbprint_of_a_certificate_for_another_policy_is_refused() {
    for profile in PolicyProfile::ALL {
        for kind in KeyKind::ALL {
            if kind == profile.key_kind() {
                continue;
            }
            let other = PLANT.server.identity_of(kind).unwrap();
            let attack = Attack {
                thumbprint: Some(other.thumbprint().0.to_vec()),
                ..Attack::default()
            };
            let error = attacking_client(profile, attack)
                .exchange(echo)
                .unwrap_err();
            assert_eq!(error, SecurityError::Thumbprint.into());
            let status = error.public_status_code();
            assert_eq!(status, StatusCode::BadCertificateInvalid);
        }
    }
}

#[test]
fn an_application_without_a_certificate_for_the_policy_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(folder.path()).unwrap();
    let new = crate::support::plant::certificate("client", 2048);
    let only_rsa = takt_crypto::ApplicationSecurity::open(store, &new).unwrap();
    only_rsa
        .store()
        .trust(
            PLANT
                .server
                .identity_of(KeyKind::Ec(EllipticCurve::NistP256))
                .unwrap()
                .certificate(),
        )
        .unwrap();
    let profile = PolicyProfile::by_name("ECC_nistP256").unwrap();
    let mut config = client(profile);
    config.policy = SecuredPolicy::for_client(profile, Arc::new(only_rsa), None, None);
    let error = Pair::new(config, PLANT.server_config())
        .exchange(echo)
        .unwrap_err();
    assert_eq!(error, SecurityError::OwnCertificate.into());
    assert_eq!(error.status_code(), StatusCode::BadSecurityPolicyRejected);
}

#[test]
fn sequence_numbers_begin_at_zero() {
    for (profile, _) in on_curves() {
        let pair = Pair::open(
            PLANT.client_config(profile, MessageSecurityMode::Sign),
            PLANT.server_config(),
        );
        let mut pair = pair;
        pair.request(b"question");
        // Behind the header of 16 bytes; the OpenSecureChannel request had 0.
        assert_eq!(pair.client.transmit()[16..20], 1_u32.to_le_bytes());
    }
}
