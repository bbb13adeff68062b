//! Secured channels: each SecurityPolicy and mode with real keys, renewal of tokens and certificates, and peers that break a
//! rule. All failures of decryption and signature look alike.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::support::plant::{Plant, certificate};
use crate::support::{Answer, Pair, echo, error_message};
use proptest::prelude::*;
use takt_crypto::{
    CertificateError, CertificateStore, KeyKind, KeyShare, PeerCertificate, PolicyProfile,
    TrustList,
};
use takt_tcp::{
    AsymmetricSecurity, Role, SecurityError, SecurityPolicy, ServerEvent, TokenSecurity,
    TransportError,
};
use takt_ua::StatusCode;
use takt_ua::enumerations::MessageSecurityMode;

const MODES: [MessageSecurityMode; 2] = [
    MessageSecurityMode::Sign,
    MessageSecurityMode::SignAndEncrypt,
];

/// Creating keys takes long, so most tests share one pair of applications.
static PLANT: LazyLock<Plant> = LazyLock::new(|| Plant::new(2048, 2048));

fn pair(plant: &Plant, profile: &'static PolicyProfile, mode: MessageSecurityMode) -> Pair {
    Pair::open(plant.client_config(profile, mode), plant.server_config())
}

fn encrypted_with(profile: &'static PolicyProfile) -> Pair {
    pair(&PLANT, profile, MessageSecurityMode::SignAndEncrypt)
}

fn encrypted() -> Pair {
    encrypted_with(PolicyProfile::ALL[0])
}

/// The policies with elliptic curves, and one with RSA.
fn various() -> impl Iterator<Item = &'static PolicyProfile> {
    let mut all = PolicyProfile::ALL.into_iter();
    all.next()
        .into_iter()
        .chain(all.filter(|profile| profile.curve().is_some()))
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 7) as u8).collect()
}

#[test]
fn requests_and_responses_of_every_size_with_each_policy() {
    for profile in PolicyProfile::ALL {
        for mode in MODES {
            let mut pair = pair(&PLANT, profile, mode);
            for size in (1..100).chain([8000, 8100, 8127, 8128, 8192, 30_000, 100_000]) {
                let body = pattern(size);
                let id = pair.request(&body);
                if size > 16 {
                    let sent = pair.client.transmit();
                    let is_readable = sent.windows(16).any(|part| *part == body[..16]);
                    assert_eq!(is_readable, mode == MessageSecurityMode::Sign);
                }
                let answers = pair.exchange(echo).unwrap();
                assert_eq!(
                    answers,
                    [Answer::Response(id, body)],
                    "{} {size}",
                    profile.name
                );
            }
        }
    }
}

#[test]
fn keys_of_every_length_and_mixed() {
    for (client_bits, server_bits) in [(2048, 4096), (4096, 2048), (3072, 3072)] {
        let plant = Plant::new(client_bits, server_bits);
        for profile in PolicyProfile::ALL {
            let mut pair = pair(&plant, profile, MessageSecurityMode::SignAndEncrypt);
            let id = pair.request(b"question");
            let answers = pair.exchange(echo).unwrap();
            assert_eq!(answers, [Answer::Response(id, b"question".to_vec())]);
        }
    }
}

#[test]
fn tokens_are_renewed_while_messages_are_under_way() {
    for profile in various() {
        let mut pair = encrypted_with(profile);
        for _ in 0..5 {
            pair.wait(Duration::from_secs(2800));
            let now = pair.now;
            // A message of the old token is under way when the token is renewed.
            let late = pair.request(b"with the old token");
            pair.client.handle_timeout(now).unwrap();
            let answers = pair.exchange(echo).unwrap();
            assert_eq!(
                answers,
                [Answer::Response(late, b"with the old token".to_vec())]
            );
            let id = pair.request(b"with the new token");
            let answers = pair.exchange(echo).unwrap();
            assert_eq!(
                answers,
                [Answer::Response(id, b"with the new token".to_vec())]
            );
        }
    }
}

/// Sends bytes to the server of an open pair; returns its error, and what it told the client.
fn refused(pair: &mut Pair, bytes: &[u8]) -> (TransportError, StatusCode, String) {
    crate::support::feed(&mut pair.server, bytes);
    let now = pair.now;
    let error = loop {
        match pair.server.poll(now) {
            Ok(Some(ServerEvent::Request(_))) => panic!("the message was accepted"),
            Ok(Some(_)) => {}
            Ok(None) => panic!("the message was ignored"),
            Err(error) => break error,
        }
    };
    let (status, reason) = error_message(pair.server.transmit());
    (error, status, reason)
}

#[test]
fn a_stale_token_is_refused() {
    for profile in various() {
        let mut pair = encrypted_with(profile);
        pair.wait(Duration::from_secs(2800));
        pair.request(b"with the old token");
        let stale = pair.client.transmit().to_vec();
        pair.exchange(echo).unwrap();
        let now = pair.now;
        pair.client.handle_timeout(now).unwrap();
        pair.exchange(echo).unwrap();
        pair.request(b"with the new token");
        pair.exchange(echo).unwrap();
        let (error, status, _) = refused(&mut pair, &stale);
        assert_eq!(error, TransportError::TokenUnknown(1));
        assert_eq!(status, StatusCode::BadSecureChannelTokenUnknown);
    }
}

#[test]
fn a_replayed_message_is_refused() {
    for profile in various() {
        for mode in MODES {
            let mut pair = pair(&PLANT, profile, mode);
            pair.request(b"open the valve");
            let sent = pair.client.transmit().to_vec();
            pair.exchange(echo).unwrap();
            let (error, status, reason) = refused(&mut pair, &sent);
            match profile.cipher.is_authenticated() {
                false => assert!(matches!(error, TransportError::SequenceNumber { .. })),
                // The SequenceNumber is a part of the nonce.
                true => assert_eq!(error, SecurityError::Signature.into()),
            }
            assert_eq!(
                (status, &*reason),
                (StatusCode::BadSecurityChecksFailed, "")
            );
        }
    }
}

#[test]
fn messages_out_of_order_are_refused() {
    for profile in various() {
        let mut pair = encrypted_with(profile);
        pair.request(b"first");
        let count = pair.client.transmit().len();
        pair.client.transmitted(count);
        pair.request(b"second");
        let second = pair.client.transmit().to_vec();
        let (_, status, reason) = refused(&mut pair, &second);
        assert_eq!(
            (status, &*reason),
            (StatusCode::BadSecurityChecksFailed, "")
        );
    }
}

#[test]
fn a_message_of_another_channel_is_refused() {
    for profile in various() {
        let mut other = encrypted_with(profile);
        other.request(b"for another channel");
        let sent = other.client.transmit().to_vec();
        let (_, status, reason) = refused(&mut encrypted_with(profile), &sent);
        assert_eq!(
            (status, &*reason),
            (StatusCode::BadSecurityChecksFailed, "")
        );
    }
}

/// Reasons for a refusal must not differ, whatever byte of a message was changed: an attacker would learn from them.
#[test]
fn every_changed_byte_behind_the_header_gets_the_same_answer() {
    for profile in various() {
        for mode in MODES {
            let mut first = pair(&PLANT, profile, mode);
            first.request(&pattern(40));
            let length = first.client.transmit().len();
            for at in 16..length {
                let mut pair = pair(&PLANT, profile, mode);
                pair.request(&pattern(40));
                let mut sent = pair.client.transmit().to_vec();
                sent[at] ^= 0x41;
                let (_, status, reason) = refused(&mut pair, &sent);
                assert_eq!(
                    (status, &*reason),
                    (StatusCode::BadSecurityChecksFailed, ""),
                    "{} {at}",
                    profile.name
                );
            }
        }
    }
}

#[test]
fn truncated_messages_are_refused() {
    for profile in various() {
        let mut first = encrypted_with(profile);
        first.request(&pattern(100));
        let length = first.client.transmit().len();
        for removed in [1, 15, 16, 32, 48, length - 24] {
            let mut pair = encrypted_with(profile);
            pair.request(&pattern(100));
            let mut sent = pair.client.transmit().to_vec();
            sent.truncate(length - removed);
            let size = u32::try_from(sent.len()).unwrap();
            sent[4..8].copy_from_slice(&size.to_le_bytes());
            let (_, status, reason) = refused(&mut pair, &sent);
            assert_eq!(
                (status, &*reason),
                (StatusCode::BadSecurityChecksFailed, ""),
                "{} {removed}",
                profile.name
            );
        }
    }
}

/// Returns a client and server after the Hello, and the client's OpenSecureChannel request.
fn opening(plant: &Plant, profile: &'static PolicyProfile) -> (Pair, Vec<u8>) {
    let config = plant.client_config(profile, MessageSecurityMode::SignAndEncrypt);
    let mut pair = Pair::new(config, plant.server_config());
    let now = pair.now;
    let hello = pair.client.transmit().to_vec();
    pair.client.transmitted(hello.len());
    crate::support::feed(&mut pair.server, &hello);
    assert!(pair.server.poll(now).unwrap().is_none());
    let acknowledge = pair.server.transmit().to_vec();
    pair.server.transmitted(acknowledge.len(), now);
    pair.client.receive_space()[..acknowledge.len()].copy_from_slice(&acknowledge);
    pair.client.received(acknowledge.len());
    let _ = pair.client.poll(now);
    let open = pair.client.transmit().to_vec();
    (pair, open)
}

#[test]
fn a_changed_open_request_is_refused_without_a_reason() {
    let (_, open) = opening(&PLANT, PolicyProfile::ALL[0]);
    let encrypted_part = open.len() - 512;
    for at in (encrypted_part..open.len()).step_by(61) {
        let (mut pair, mut open) = opening(&PLANT, PolicyProfile::ALL[0]);
        open[at] ^= 4;
        let (_, status, reason) = refused(&mut pair, &open);
        assert_eq!(
            (status, &*reason),
            (StatusCode::BadSecurityChecksFailed, ""),
            "{at}"
        );
    }
}

#[test]
fn a_replayed_open_request_opens_nothing_that_can_be_used() {
    for profile in various() {
        let (mut pair, open) = opening(&PLANT, profile);
        crate::support::feed(&mut pair.server, &open);
        let now = pair.now;
        assert!(matches!(
            pair.server.poll(now),
            Ok(Some(ServerEvent::Opened(_)))
        ));
        // Another connection gets a channel with other keys, because the server's nonce differs: a replayed request is refused.
        let (mut attacked, _) = opening(&PLANT, profile);
        crate::support::feed(&mut attacked.server, &open);
        assert!(matches!(
            attacked.server.poll(now),
            Ok(Some(ServerEvent::Opened(_)))
        ));
        let count = pair.server.transmit().len();
        let opened = pair.server.transmit().to_vec();
        pair.server.transmitted(count, now);
        pair.client.transmitted(open.len());
        pair.client.receive_space()[..opened.len()].copy_from_slice(&opened);
        pair.client.received(opened.len());
        pair.client.poll(now).unwrap();
        pair.request(b"open the valve");
        let request = pair.client.transmit().to_vec();
        let count = attacked.server.transmit().len();
        attacked.server.transmitted(count, now);
        let (_, status, reason) = refused(&mut attacked, &request);
        assert_eq!(
            (status, &*reason),
            (StatusCode::BadSecurityChecksFailed, "")
        );
    }
}

#[test]
fn a_very_long_open_request_costs_no_decryption() {
    let (mut pair, mut open) = opening(&PLANT, PolicyProfile::ALL[0]);
    let more = 256 * (8192 - open.len()).div_euclid(256);
    open.extend(vec![7; more]);
    let size = u32::try_from(open.len()).unwrap();
    open[4..8].copy_from_slice(&size.to_le_bytes());
    let (error, status, _) = refused(&mut pair, &open);
    assert_eq!(error, TransportError::Security(SecurityError::Length));
    assert_eq!(status, StatusCode::BadSecurityChecksFailed);
}

#[test]
fn strangers_are_refused_on_both_sides_until_they_are_trusted() {
    let plant = Plant::of_strangers(2048, 2048);
    let profile = PolicyProfile::ALL[1];
    let mode = MessageSecurityMode::SignAndEncrypt;
    let untrusted = TransportError::Security(CertificateError::Untrusted.into());
    let mut pair = Pair::new(plant.client_config(profile, mode), plant.server_config());
    assert_eq!(pair.exchange(echo), Err(untrusted.clone()));
    assert_eq!(untrusted.status_code(), StatusCode::BadCertificateUntrusted);
    // The client keeps the certificate for the administrator, and sends nothing.
    assert_eq!(plant.client.store().rejected().len(), 1);
    plant.client_trusts();

    let (mut pair, open) = opening(&plant, profile);
    let (error, status, reason) = refused(&mut pair, &open);
    assert_eq!(error, untrusted);
    assert_eq!(
        (status, &*reason),
        (StatusCode::BadSecurityChecksFailed, "")
    );
    assert_eq!(plant.server.store().rejected().len(), 1);
    // No restart is needed.
    plant.server_trusts();
    assert!(
        Pair::open(plant.client_config(profile, mode), plant.server_config())
            .client
            .is_open()
    );
}

#[test]
fn a_certificate_is_renewed_while_channels_are_open() {
    let plant = Plant::new(2048, 2048);
    let (profile, mode) = (PolicyProfile::ALL[0], MessageSecurityMode::SignAndEncrypt);
    let mut before = Pair::open(plant.client_config(profile, mode), plant.server_config());
    let old = plant.client_config(profile, mode);
    CertificateStore::open(&plant.folders.path().join("server"))
        .unwrap()
        .renew(&certificate("server", 2048), KeyKind::Rsa)
        .unwrap();
    // The open channel renews its token with the certificate that it began with.
    before.wait(Duration::from_secs(2800));
    let now = before.now;
    before.client.handle_timeout(now).unwrap();
    before.exchange(echo).unwrap();
    let id = before.request(b"question");
    let answers = before.exchange(echo).unwrap();
    assert_eq!(answers, [Answer::Response(id, b"question".to_vec())]);
    // A client that has the old certificate can still open a channel, and one that trusts the new one, too.
    assert!(Pair::open(old, plant.server_config()).client.is_open());
    plant.client_trusts();
    let new = plant.client_config(profile, mode);
    assert!(Pair::open(new, plant.server_config()).client.is_open());
}

#[test]
fn applications_of_one_user_keep_their_channels_when_one_renews_its_certificate() {
    let plant = Plant::of_one_user();
    let (profile, mode) = (PolicyProfile::ALL[0], MessageSecurityMode::SignAndEncrypt);
    let mut open = Pair::open(plant.client_config(profile, mode), plant.server_config());
    let old = plant.client_config(profile, mode);
    for name in ["client", "server"] {
        let store = plant.client.store();
        let new = certificate(name, 2048);
        store.renew(&new, KeyKind::Rsa).unwrap();
    }
    open.server.keep_client().unwrap();
    // The token is renewed with the certificates that the channel began with.
    open.wait(Duration::from_secs(2800));
    let now = open.now;
    open.client.handle_timeout(now).unwrap();
    open.exchange(echo).unwrap();
    let id = open.request(b"question");
    let answers = open.exchange(echo).unwrap();
    assert_eq!(answers, [Answer::Response(id, b"question".to_vec())]);
    // New channels need the new certificates.
    let mut late = Pair::new(old, plant.server_config());
    let refused = late.exchange(echo).unwrap_err();
    assert_eq!(
        refused,
        TransportError::Security(CertificateError::Untrusted.into())
    );
    let new = plant.client_config(profile, mode);
    assert!(Pair::open(new, plant.server_config()).client.is_open());
    assert!(plant.server.store().rejected().is_empty());
}

#[test]
fn a_secured_channel_accepts_no_unsecured_renewal() {
    let mut pair = encrypted();
    let renewal =
        crate::support::open_request(crate::support::CHANNEL, crate::support::NONE, 52, 1, 1, 0);
    let (error, status, _) = refused(&mut pair, &renewal);
    assert!(matches!(error, TransportError::SecurityPolicy(_)));
    assert_eq!(status, StatusCode::BadSecurityPolicyRejected);
}

#[test]
fn a_mode_without_security_is_refused_with_a_policy() {
    let config = PLANT.client_config(PolicyProfile::ALL[0], MessageSecurityMode::None);
    let mut pair = Pair::new(config, PLANT.server_config());
    let error = pair.exchange(echo).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadSecurityModeRejected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_chunks_on_a_secured_channel_never_panic(
        body in prop::collection::vec(any::<u8>(), 8..400),
        kind in prop::sample::select(vec![*b"MSGF", *b"MSGC", *b"MSGA", *b"CLOF", *b"OPNF"]),
    ) {
        let mut pair = encrypted();
        let mut all: Vec<u8> = [crate::support::CHANNEL, 1].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        all.extend(body);
        let bytes = crate::support::message(&kind, &all);
        crate::support::feed(&mut pair.server, &bytes);
        let now = pair.now;
        prop_assert!(pair.server.poll(now).is_err());
    }
}

/// A policy that counts its decisions, and that can be told to refuse.
#[derive(Debug)]
struct Deciding {
    policy: Arc<dyn SecurityPolicy>,
    /// The list at the start: other tests change the folders, and a new list means one decision more.
    list: Option<Arc<TrustList>>,
    accepted: AtomicUsize,
    kept: AtomicUsize,
    /// Number of decisions of each kind after which the policy refuses.
    most: (usize, usize),
}

impl Deciding {
    fn with(policy: Arc<dyn SecurityPolicy>, most: (usize, usize)) -> Arc<Self> {
        Arc::new(Self {
            list: policy.trust_list(),
            policy,
            accepted: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            most,
        })
    }

    fn count(&self) -> (usize, usize) {
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        (count(&self.accepted), count(&self.kept))
    }

    fn decide(&self, number: &AtomicUsize, most: usize) -> Result<(), SecurityError> {
        match number.fetch_add(1, Ordering::Relaxed) < most {
            true => Ok(()),
            false => Err(CertificateError::Untrusted.into()),
        }
    }
}

impl SecurityPolicy for Deciding {
    fn uri(&self) -> &str {
        self.policy.uri()
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        self.policy.allows(mode)
    }

    fn nonce_length(&self) -> usize {
        self.policy.nonce_length()
    }

    fn accept_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        assert!(peer.leaf().is_some(), "parsed before the decision");
        self.decide(&self.accepted, self.most.0)
    }

    fn keep_peer(&self, peer: &PeerCertificate) -> Result<(), SecurityError> {
        assert!(peer.leaf().is_some(), "parsed before the decision");
        self.decide(&self.kept, self.most.1)
    }

    fn asymmetric(
        &self,
        peer: &PeerCertificate,
        thumbprint: Option<&[u8]>,
    ) -> Result<AsymmetricSecurity, SecurityError> {
        self.policy.asymmetric(peer, thumbprint)
    }

    fn trust_list(&self) -> Option<Arc<TrustList>> {
        self.list.clone()
    }

    fn key_share(&self) -> Result<KeyShare, SecurityError> {
        self.policy.key_share()
    }

    fn symmetric(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        own: &KeyShare,
        peer_nonce: &[u8],
    ) -> Result<TokenSecurity, SecurityError> {
        self.policy.symmetric(role, mode, own, peer_nonce)
    }
}

/// Makes a pair whose policies count and refuse their decisions.
fn deciding(
    most_of_client: (usize, usize),
    most_of_server: (usize, usize),
) -> (Pair, [Arc<Deciding>; 2]) {
    let (profile, mode) = (PolicyProfile::ALL[0], MessageSecurityMode::SignAndEncrypt);
    let mut client = PLANT.client_config(profile, mode);
    let mut server = PLANT.server_config();
    let of_client = Deciding::with(Arc::clone(&client.policy), most_of_client);
    client.policy = of_client.clone();
    let mut policies = server.policies.iter();
    let found = policies.find(|policy| policy.uri() == profile.uri).unwrap();
    let of_server = Deciding::with(Arc::clone(found), most_of_server);
    server.policies = vec![of_server.clone()];
    (Pair::new(client, server), [of_client, of_server])
}

#[test]
fn both_sides_decide_at_opening_and_while_the_channel_lives() {
    let many = (9, 9);
    let (mut pair, [client, server]) = deciding(many, many);
    pair.exchange(echo).unwrap();
    assert!(pair.client.is_open());
    assert_eq!((client.count(), server.count()), ((1, 0), (1, 0)));
    pair.wait(Duration::from_secs(2800));
    let now = pair.now;
    pair.client.handle_timeout(now).unwrap();
    pair.exchange(echo).unwrap();
    assert_eq!((client.count(), server.count()), ((1, 1), (1, 1)));
    pair.server.keep_client().unwrap();
    assert_eq!(server.count(), (1, 2));
}

#[test]
fn each_decision_of_each_side_ends_the_channel() {
    let (never, once) = ((0, 9), (1, 0));
    let untrusted = TransportError::Security(CertificateError::Untrusted.into());
    for (of_client, of_server) in [(never, (9, 9)), ((9, 9), never)] {
        let (mut pair, _) = deciding(of_client, of_server);
        assert_eq!(pair.exchange(echo).unwrap_err(), untrusted);
        assert!(!pair.client.is_open());
    }
    for (of_client, of_server) in [(once, (9, 9)), ((9, 9), once)] {
        let (mut pair, _) = deciding(of_client, of_server);
        pair.exchange(echo).unwrap();
        pair.wait(Duration::from_secs(2800));
        let now = pair.now;
        let renewed = pair.client.handle_timeout(now);
        let renewed = renewed.and_then(|()| pair.exchange(echo).map(drop));
        assert_eq!(renewed.unwrap_err(), untrusted);
    }
    let (mut pair, _) = deciding((9, 9), once);
    pair.exchange(echo).unwrap();
    assert_eq!(pair.server.keep_client().unwrap_err(), untrusted);
}
