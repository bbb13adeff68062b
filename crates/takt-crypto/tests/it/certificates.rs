//! Creation of certificates, each check of OPC 10000-4, 6.1.3, and the folders.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use proptest::prelude::*;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256,
    RevokedCertParams, SanType, SerialNumber,
};
use takt_crypto::{
    ApplicationSecurity, Certificate, CertificateError, CertificateStore, EllipticCurve,
    EncryptedSecret, EphemeralKey, Expectations, KeyKind, NewCertificate, OwnCertificate,
    PeerCertificate, PeerExpectations, PolicyProfile, PrivateKey, PublicKey, RevocationList,
    TrustList,
};
use takt_ua::StatusCode;

const DAY: u64 = 24 * 3600;

/// Keys take long to create without optimization.
static KEY: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap());
static CA_KEY: LazyLock<KeyPair> =
    LazyLock::new(|| KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap());

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_secs()).unwrap()
}

fn at(days: i64) -> rcgen_time::OffsetDateTime {
    SystemTime::now()
        .checked_add(Duration::from_secs(1000 * DAY))
        .and_then(|time| {
            time.checked_sub(Duration::from_secs(
                u64::try_from(1000 - days).unwrap() * DAY,
            ))
        })
        .unwrap()
        .into()
}

/// The type of times in `rcgen`, which does not export it.
mod rcgen_time {
    pub(super) use time::OffsetDateTime;
}

fn application() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Press");
    params.subject_alt_names = vec![
        SanType::URI("urn:plant:press".try_into().unwrap()),
        SanType::DnsName("press.plant".try_into().unwrap()),
        SanType::IpAddress([192, 0, 2, 7].into()),
    ];
    params.is_ca = IsCa::ExplicitNoCa;
    params.serial_number = Some(SerialNumber::from(7));
    params.not_before = at(-1);
    params.not_after = at(100);
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyEncipherment,
        KeyUsagePurpose::DataEncipherment,
    ];
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    params
}

fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, "Plant CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_before = at(-10);
    params.not_after = at(200);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// An application certificate, that of its issuer, and the list of the issuer.
struct Chain {
    application: Certificate,
    authority: Certificate,
    list: RevocationList,
}

fn chain(application: &CertificateParams, authority: &CertificateParams, revoked: &[u64]) -> Chain {
    let root = authority.self_signed(&*CA_KEY).unwrap();
    let issuer = Issuer::from_params(authority, &*CA_KEY);
    let signed = application.signed_by(&*KEY, &issuer).unwrap();
    let list = CertificateRevocationListParams {
        this_update: at(-1),
        next_update: at(30),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: revoked
            .iter()
            .map(|serial| RevokedCertParams {
                serial_number: SerialNumber::from(*serial),
                revocation_time: at(-1),
                reason_code: None,
                invalidity_date: None,
            })
            .collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    let list = list.signed_by(&issuer).unwrap();
    Chain {
        application: Certificate::from_der(signed.der()).unwrap(),
        authority: Certificate::from_der(root.der()).unwrap(),
        list: RevocationList::from_der(list.der()).unwrap(),
    }
}

impl Chain {
    fn new() -> Self {
        chain(&application(), &authority(), &[])
    }

    fn trust(&self) -> TrustList {
        TrustList {
            trusted: vec![self.authority.clone()],
            issuers: Vec::new(),
            revocation_lists: vec![self.list.clone()],
        }
    }

    fn check(&self) -> Result<(), CertificateError> {
        self.trust()
            .check(std::slice::from_ref(&self.application), &expected())
    }
}

fn expected() -> Expectations<'static> {
    Expectations {
        profile: PolicyProfile::ALL[0],
        now: now(),
        is_server: true,
        host: Some("press.plant"),
        application_uri: Some("urn:plant:press"),
    }
}

#[test]
fn a_certificate_of_a_trusted_authority_is_accepted() {
    let chain = Chain::new();
    assert_eq!(chain.check(), Ok(()));
    // Trusted by itself: the issuer and its list are needed all the same.
    let trust = TrustList {
        trusted: vec![chain.application.clone()],
        issuers: vec![chain.authority.clone()],
        revocation_lists: vec![chain.list.clone()],
    };
    let leaf = [chain.application.clone()];
    assert_eq!(trust.check(&leaf, &expected()), Ok(()));
    // The issuer may be sent.
    let trust = TrustList {
        issuers: Vec::new(),
        ..trust
    };
    let refused = trust.check(&leaf, &expected());
    assert_eq!(refused, Err(CertificateError::ChainIncomplete));
    let sent = [chain.application.clone(), chain.authority.clone()];
    assert_eq!(trust.check(&sent, &expected()), Ok(()));
}

#[test]
fn each_check_has_its_status_code() {
    use CertificateError as E;
    let good = Chain::new();
    let leaf = [good.application.clone()];
    let mut seen = Vec::new();
    let mut refused = |result: Result<(), E>, error: E, status: StatusCode| {
        assert_eq!(result, Err(error));
        assert_eq!(error.status_code(), status);
        seen.push(error);
    };

    refused(
        Certificate::from_der(&good.application.der()[1..]).map(drop),
        E::Structure,
        StatusCode::BadCertificateInvalid,
    );
    refused(
        TrustList::default().check(&leaf, &expected()),
        E::ChainIncomplete,
        StatusCode::BadCertificateChainIncomplete,
    );
    // Another key with the name of the issuer.
    let other = authority().self_signed(&*KEY).unwrap();
    let trust = TrustList {
        trusted: vec![Certificate::from_der(other.der()).unwrap()],
        ..good.trust()
    };
    refused(
        trust.check(&leaf, &expected()),
        E::Signature,
        StatusCode::BadCertificateInvalid,
    );
    let profile = Box::leak(Box::new(PolicyProfile {
        min_key_bits: 3072,
        ..*PolicyProfile::ALL[0]
    }));
    refused(
        good.trust().check(
            &leaf,
            &Expectations {
                profile,
                ..expected()
            },
        ),
        E::PolicyCheck,
        StatusCode::BadCertificatePolicyCheckFailed,
    );
    let untrusting = TrustList {
        trusted: Vec::new(),
        issuers: vec![good.authority.clone()],
        ..good.trust()
    };
    refused(
        untrusting.check(&leaf, &expected()),
        E::Untrusted,
        StatusCode::BadCertificateUntrusted,
    );
    for (not_before, not_after) in [(-10, -1), (1, 10)] {
        let mut expired = application();
        (expired.not_before, expired.not_after) = (at(not_before), at(not_after));
        let expired = chain(&expired, &authority(), &[]);
        refused(
            expired.check(),
            E::Time,
            StatusCode::BadCertificateTimeInvalid,
        );
        // A channel that is open is not judged by times when the trust list changes, but by the lists of any time.
        let sent = std::slice::from_ref(&expired.application);
        let trust = expired.trust();
        assert_eq!(trust.check_without_times(sent, &expected()), Ok(()));
        let without = TrustList {
            revocation_lists: Vec::new(),
            ..trust
        };
        let unknown = without.check_without_times(sent, &expected());
        assert_eq!(unknown, Err(E::RevocationUnknown));
    }
    let mut expired = authority();
    expired.not_after = at(-1);
    refused(
        chain(&application(), &expired, &[]).check(),
        E::IssuerTime,
        StatusCode::BadCertificateIssuerTimeInvalid,
    );
    for host in ["other.plant", "192.0.2.8", "press.plant.example"] {
        let host = Some(host);
        refused(
            good.trust()
                .check(&leaf, &Expectations { host, ..expected() }),
            E::HostName,
            StatusCode::BadCertificateHostNameInvalid,
        );
    }
    let application_uri = Some("urn:plant:other");
    refused(
        good.trust().check(
            &leaf,
            &Expectations {
                application_uri,
                ..expected()
            },
        ),
        E::Uri,
        StatusCode::BadCertificateUriInvalid,
    );
    let mut signs_only = application();
    signs_only.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let mut client_only = application();
    client_only.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    for wrong in [signs_only, client_only] {
        refused(
            chain(&wrong, &authority(), &[]).check(),
            E::Use,
            StatusCode::BadCertificateUseNotAllowed,
        );
    }
    let mut no_authority = authority();
    no_authority.is_ca = IsCa::ExplicitNoCa;
    let mut no_signer = authority();
    no_signer.key_usages = vec![KeyUsagePurpose::CrlSign];
    for wrong in [no_authority, no_signer] {
        refused(
            chain(&application(), &wrong, &[]).check(),
            E::IssuerUse,
            StatusCode::BadCertificateIssuerUseNotAllowed,
        );
    }
    let without_list = TrustList {
        revocation_lists: Vec::new(),
        ..good.trust()
    };
    refused(
        without_list.check(&leaf, &expected()),
        E::RevocationUnknown,
        StatusCode::BadCertificateRevocationUnknown,
    );
    refused(
        chain(&application(), &authority(), &[6, 7]).check(),
        E::Revoked,
        StatusCode::BadCertificateRevoked,
    );
    for error in seen {
        let told = error.public_status_code();
        let is_told = matches!(
            error,
            E::Time | E::IssuerTime | E::Uri | E::Use | E::IssuerUse
        );
        assert_eq!(
            told == StatusCode::BadSecurityChecksFailed,
            !is_told,
            "{error:?}"
        );
    }
}

#[test]
fn an_intermediate_authority_can_be_revoked() {
    let root = authority();
    let root_issuer = Issuer::from_params(&root, &*CA_KEY);
    let root_certificate = root.self_signed(&*CA_KEY).unwrap();
    let mut between = authority();
    between
        .distinguished_name
        .push(DnType::CommonName, "Line CA");
    between.serial_number = Some(SerialNumber::from(99));
    let between_certificate = between.signed_by(&*KEY, &root_issuer).unwrap();
    let between_issuer = Issuer::from_params(&between, &*KEY);
    let leaf = application().signed_by(&*KEY, &between_issuer).unwrap();
    let list = |issuer: &Issuer<'_, &KeyPair>, revoked: &[u64]| {
        let list = CertificateRevocationListParams {
            this_update: at(-1),
            next_update: at(30),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked
                .iter()
                .map(|serial| RevokedCertParams {
                    serial_number: SerialNumber::from(*serial),
                    revocation_time: at(-1),
                    reason_code: None,
                    invalidity_date: None,
                })
                .collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        RevocationList::from_der(list.signed_by(issuer).unwrap().der()).unwrap()
    };
    let check = |lists: Vec<RevocationList>| {
        let trust = TrustList {
            trusted: vec![Certificate::from_der(root_certificate.der()).unwrap()],
            issuers: Vec::new(),
            revocation_lists: lists,
        };
        let mut sent = leaf.der().to_vec();
        sent.extend_from_slice(between_certificate.der());
        trust.check(&Certificate::chain_from_der(&sent).unwrap(), &expected())
    };
    let of_between = || list(&between_issuer, &[]);
    assert_eq!(check(vec![of_between(), list(&root_issuer, &[])]), Ok(()));
    assert_eq!(
        check(vec![of_between(), list(&root_issuer, &[99])]),
        Err(CertificateError::IssuerRevoked)
    );
    assert_eq!(
        check(vec![of_between()]),
        Err(CertificateError::IssuerRevocationUnknown)
    );
    assert_eq!(
        CertificateError::IssuerRevoked.status_code(),
        StatusCode::BadCertificateIssuerRevoked
    );
    assert_eq!(
        CertificateError::IssuerRevocationUnknown.status_code(),
        StatusCode::BadCertificateIssuerRevocationUnknown
    );
}

/// A self-signed certificate with an RSA key of 1024 bits, which the libraries here do not create.
const SHORT_KEY: &str = "\
-----BEGIN CERTIFICATE-----
MIICGjCCAYOgAwIBAgIUJDu9H/TIcyTLaNXCQHRAEdsmRFAwDQYJKoZIhvcNAQEL
BQAwEDEOMAwGA1UEAwwFU2hvcnQwIBcNMjYxMTI4MDgzODI2WhgPMjEyNjExMDQw
ODM4MjZaMBAxDjAMBgNVBAMMBVNob3J0MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCB
iQKBgQDvS70NKwDNqgLkhOBGmwowwFueETe5rgGCKTeQiSdHU5Um0Q7pmSZh62bD
7Bkh0UeeCF/KBJR+ueotC4X9FW8IrSCuMj2tWGqNhlQ+5MImvFLsPTzYlsAUwpdm
DtNgvEmWmaLwxpVi2QyDDCcFp6dNITWDe7Lfz616NMvYQyfFWwIDAQABo28wbTAd
BgNVHQ4EFgQUktNN6KuSKtjCMirpvfo+WkeNd0EwHwYDVR0jBBgwFoAUktNN6KuS
KtjCMirpvfo+WkeNd0EwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhg91cm46
cGxhbnQ6c2hvcnQwDQYJKoZIhvcNAQELBQADgYEABLlK5Yl8zugj8Cl84ljiHe2u
3NF0q3aVoo1NrZZZ1jhe1JT9CXphMEgKWBpHCW55SBL8eyUI69M1FANQLTl2z/6g
EH9xHkQhl3biuAYmWMVDh7BvLfqzih3573FqSE4ltNuMADhOrTBEkx227fc80IzH
CpKBSYhSLBiExvkUwJU=
-----END CERTIFICATE-----";

#[test]
fn a_trusted_certificate_with_a_short_key_is_refused_because_of_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("short.pem");
    fs::write(&file, SHORT_KEY).unwrap();
    let short = Certificate::from_file(&file).unwrap();
    assert_eq!(short.key_bits, 1024);
    let trust = TrustList {
        trusted: vec![short.clone()],
        ..TrustList::default()
    };
    let refused = trust.check(&[short], &expected());
    assert_eq!(refused, Err(CertificateError::PolicyCheck));
}

fn new(name: &str) -> NewCertificate {
    NewCertificate {
        application_name: name.to_owned(),
        application_uri: format!("urn:takt:{name}"),
        host_names: vec!["localhost".to_owned()],
        addresses: vec![[127, 0, 0, 1].into(), [0_u16, 0, 0, 0, 0, 0, 0, 1].into()],
        validity: Duration::from_secs(365 * DAY),
        key_bits: 2048,
    }
}

#[test]
fn an_own_certificate_passes_all_checks_of_its_policies_and_of_no_other() {
    for kind in KeyKind::ALL {
        let identity = new("Press").create(kind).unwrap();
        let certificate = identity.certificate();
        assert_eq!(
            certificate.application_uri.as_deref(),
            Some("urn:takt:Press")
        );
        assert_eq!(certificate.key_kind, Some(kind));
        assert!(certificate.is_self_issued());
        assert!(
            certificate.subject.contains("CN=Press"),
            "{}",
            certificate.subject
        );
        let trust = TrustList {
            trusted: vec![certificate.clone()],
            ..TrustList::default()
        };
        for profile in PolicyProfile::ALL {
            for (is_server, host) in [
                (true, Some("LOCALHOST")),
                (true, Some("127.0.0.1")),
                (true, Some("[::1]")),
                (false, None),
            ] {
                let expected = Expectations {
                    profile,
                    now: now(),
                    is_server,
                    host,
                    application_uri: Some("urn:takt:Press"),
                };
                let checked = trust.check(std::slice::from_ref(certificate), &expected);
                assert_eq!(
                    checked,
                    match profile.key_kind() == kind {
                        true => Ok(()),
                        false => Err(CertificateError::PolicyCheck),
                    }
                );
            }
            let user = certificate.check_known_user(profile, now());
            assert_eq!(user.is_ok(), profile.key_kind() == kind);
        }
        let pem = identity.key().to_pem().unwrap();
        let again = PrivateKey::from_pem(&pem).unwrap();
        assert_eq!(again.kind(), kind);
        assert!(OwnCertificate::new(vec![certificate.clone()], again).is_ok());
        let other = new("Press").create(kind).unwrap();
        let pem = other.key().to_pem().unwrap();
        let other = PrivateKey::from_pem(&pem).unwrap();
        assert!(OwnCertificate::new(vec![certificate.clone()], other).is_err());
    }
}

#[test]
fn certificates_of_each_kind_have_files_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    for kind in KeyKind::ALL {
        assert!(store.existing("Press", kind).unwrap().is_none());
        let own = store.own(&new("Press"), kind).unwrap();
        let again = store.existing("Press", kind).unwrap().unwrap();
        assert_eq!(own.thumbprint(), again.thumbprint());
    }
    assert_eq!(store.own_certificates().len(), KeyKind::ALL.len());
    // A file with a key of another kind is not used.
    let rsa = store.own_files("Press", KeyKind::Rsa);
    let curve = store.own_files("Press", KeyKind::Ec(EllipticCurve::NistP256));
    std::fs::copy(rsa.0, curve.0).unwrap();
    std::fs::copy(rsa.1, curve.1).unwrap();
    let kind = KeyKind::Ec(EllipticCurve::NistP256);
    assert!(store.existing("Press", kind).is_err());
}

#[test]
fn keys_of_other_tools_are_read() {
    // `openssl ecparam -genkey -name prime256v1`, which writes the curve in front of the key.
    let text = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    let key = PrivateKey::generate_on(EllipticCurve::NistP256).unwrap();
    let pem = format!("{text}{}", &**key.to_pem().unwrap());
    let read = PrivateKey::from_pem(&pem).unwrap();
    assert_eq!(read.public_spki().unwrap(), key.public_spki().unwrap());
    assert!(PrivateKey::from_pem(text).is_err());
}

/// A secret, sealed for an EphemeralKey.
struct Sealed {
    profile: &'static PolicyProfile,
    receiver: EphemeralKey,
    sender: OwnCertificate,
    bytes: Vec<u8>,
}

impl Sealed {
    fn new(profile: &'static PolicyProfile, secret: &[u8]) -> Self {
        let sender = new("Client").create(profile.key_kind()).unwrap();
        let receiver = EphemeralKey::generate(profile.curve().unwrap()).unwrap();
        let bytes = EncryptedSecret::seal(profile, secret, &[7; 32], receiver.public(), &sender);
        Self {
            profile,
            bytes: bytes.unwrap(),
            receiver,
            sender,
        }
    }

    fn open(&self, bytes: &[u8], nonce: &[u8]) -> Option<Vec<u8>> {
        let key = PublicKey::from_spki(&self.sender.certificate().public_key).unwrap();
        let secret = EncryptedSecret::parse(bytes).ok()?;
        let opened = secret.open(self.profile, &self.receiver, &key, nonce);
        Some(opened.ok()?.to_vec())
    }
}

fn on_curves() -> impl Iterator<Item = &'static PolicyProfile> {
    let mut all = PolicyProfile::ALL.into_iter();
    std::iter::from_fn(move || all.find(|profile| profile.curve().is_some()))
}

#[test]
fn encrypted_secrets_of_every_length_are_opened_by_their_receiver_only() {
    for profile in on_curves() {
        for length in (0..40).chain([1000, 20_000]) {
            let secret = vec![b'x'; length];
            let sealed = Sealed::new(profile, &secret);
            assert_eq!(sealed.open(&sealed.bytes, &[7; 32]), Some(secret));
            assert_eq!(sealed.open(&sealed.bytes, &[8; 32]), None, "another nonce");
            if length < 3 {
                let other = Sealed::new(profile, b"");
                assert_eq!(
                    other.open(&sealed.bytes, &[7; 32]),
                    None,
                    "another receiver"
                );
            }
        }
    }
}

#[test]
fn no_byte_of_an_encrypted_secret_can_be_changed() {
    for profile in on_curves() {
        let sealed = Sealed::new(profile, b"secret");
        for at in 0..sealed.bytes.len() {
            let mut bytes = sealed.bytes.clone();
            bytes[at] ^= 0x21;
            assert_eq!(sealed.open(&bytes, &[7; 32]), None, "{} {at}", profile.name);
        }
        for end in 0..sealed.bytes.len() {
            assert_eq!(sealed.open(&sealed.bytes[..end], &[7; 32]), None);
        }
        let longer = [&*sealed.bytes, &[0]].concat();
        assert_eq!(sealed.open(&longer, &[7; 32]), None);
    }
}

#[test]
fn folders_take_effect_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("pki");
    let store = CertificateStore::open(&root).unwrap();
    let own = store.own(&new("Press"), KeyKind::Rsa).unwrap();
    let (certificate_file, key_file) = store.own_files("Press", KeyKind::Rsa);
    assert_eq!(fs::metadata(&key_file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(root.join("own/private")).unwrap().mode() & 0o777,
        0o700
    );
    assert_eq!(fs::read(&certificate_file).unwrap(), own.chain_der());
    // It is created once.
    let again = CertificateStore::open(&root)
        .unwrap()
        .own(&new("Press"), KeyKind::Rsa)
        .unwrap();
    assert_eq!(again.thumbprint(), own.thumbprint());

    let peer = new("../../Evil/Peer").create(KeyKind::Rsa).unwrap();
    let peer = peer.certificate();
    let is_trusted = || {
        let list = store.trust_list();
        list.trusted.iter().any(|one| one == peer)
    };
    assert!(!is_trusted());
    let rejected = store.reject(peer).unwrap();
    assert_eq!(rejected.parent().unwrap(), root.join("rejected/certs"));
    assert!(store.is_rejected(peer));
    let trusted = store.trust(peer).unwrap();
    assert_eq!(trusted.parent().unwrap(), root.join("trusted/certs"));
    assert!(is_trusted());
    assert!(store.rejected().is_empty());
    store.reject(peer).unwrap();
    assert!(!is_trusted());

    let renewed = store.renew(&new("Press"), KeyKind::Rsa).unwrap();
    assert_ne!(renewed.thumbprint(), own.thumbprint());
    assert_eq!(
        store
            .existing("Press", KeyKind::Rsa)
            .unwrap()
            .unwrap()
            .thumbprint(),
        renewed.thumbprint()
    );
    // A file that is no certificate disturbs no other.
    fs::write(root.join("trusted/certs/readme.txt"), "no certificate").unwrap();
    store.trust(peer).unwrap();
    assert!(is_trusted());
}

#[test]
fn files_that_are_replaced_in_place_take_effect() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    let [one, other] = ["One", "Other"].map(|name| new(name).create(KeyKind::Rsa).unwrap());
    let file = store.trust(one.certificate()).unwrap();
    let trusts = |peer: &OwnCertificate| store.trust_list().trusted.contains(peer.certificate());
    // The time stamps of the folders do not change any more.
    std::thread::sleep(Duration::from_millis(2200));
    assert!(trusts(&one) && !trusts(&other));
    fs::write(&file, other.certificate().der()).unwrap();
    let begin = Instant::now();
    while !trusts(&other) || trusts(&one) {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "the old one stays"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_renewal_that_fails_keeps_key_and_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    let own = store.own(&new("Press"), KeyKind::Rsa).unwrap();
    // The folder of certificates cannot be used for a while.
    let folder = directory.path().join("own/certs");
    let aside = directory.path().join("aside");
    fs::rename(&folder, &aside).unwrap();
    fs::write(&folder, "").unwrap();
    store.renew(&new("Press"), KeyKind::Rsa).unwrap_err();
    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    let existing = store.existing("Press", KeyKind::Rsa).unwrap().unwrap();
    assert_eq!(existing.thumbprint(), own.thumbprint());
    let private = fs::read_dir(directory.path().join("own/private")).unwrap();
    assert_eq!(private.count(), 1);
}

#[test]
fn a_pair_that_does_not_fit_together_is_renewed() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    let own = store.own(&new("Press"), KeyKind::Rsa).unwrap();
    store.own(&new("Mixer"), KeyKind::Rsa).unwrap();
    let key_of = |name| store.own_files(name, KeyKind::Rsa).1;
    fs::copy(key_of("Mixer"), key_of("Press")).unwrap();
    store.existing("Press", KeyKind::Rsa).unwrap_err();
    let known = store.own_certificate("Press", KeyKind::Rsa).unwrap();
    assert_eq!(known.as_ref(), Some(own.certificate()));
    store.renew(&new("Press"), KeyKind::Rsa).unwrap();
    assert!(store.existing("Press", KeyKind::Rsa).unwrap().is_some());
}

#[test]
fn a_replaced_own_certificate_is_accepted_on_open_channels_only() {
    let directory = tempfile::tempdir().unwrap();
    let open = || CertificateStore::open(directory.path()).unwrap();
    let old = open().own(&new("Viewer"), KeyKind::Rsa).unwrap();
    let server = ApplicationSecurity::open(open(), &new("Server")).unwrap();
    let expected = PeerExpectations {
        profile: PolicyProfile::ALL[0],
        is_server: false,
        host: None,
        application_uri: None,
    };
    let peer = |own: &OwnCertificate| PeerCertificate::parse(own.chain_der().to_vec());
    let before = peer(&old);
    server.accept_peer(&before, &expected).unwrap();
    open().renew(&new("Viewer"), KeyKind::Rsa).unwrap();
    let untrusted = Err(CertificateError::Untrusted);
    for _ in 0..2 {
        assert_eq!(server.accept_peer(&before, &expected), untrusted);
        assert_eq!(server.keep_peer(&before, &expected), Ok(()));
    }
    assert!(open().rejected().is_empty());
    // An administrator's decision is stronger, and so is the removal of the files.
    open().reject(old.certificate()).unwrap();
    assert_eq!(server.keep_peer(&before, &expected), untrusted);
    let now = open().existing("Viewer", KeyKind::Rsa).unwrap().unwrap();
    fs::remove_file(open().own_files("Viewer", KeyKind::Rsa).0).unwrap();
    assert_eq!(server.keep_peer(&peer(&now), &expected), untrusted);
}

#[test]
fn the_trust_list_is_another_object_only_with_another_content() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    let press = new("Press").create(KeyKind::Rsa).unwrap();
    store.trust(press.certificate()).unwrap();
    let list = store.trust_list();
    // The files have just changed, so that they are read each time.
    assert!(Arc::ptr_eq(&list, &store.trust_list()));
    // Another file with the same content.
    let [stored] = &store.trusted()[..] else {
        panic!();
    };
    let copy = stored.path.with_extension("copy");
    fs::copy(&stored.path, &copy).unwrap();
    fs::rename(&copy, &stored.path).unwrap();
    assert!(Arc::ptr_eq(&list, &store.trust_list()));
    fs::remove_file(&stored.path).unwrap();
    assert!(!Arc::ptr_eq(&list, &store.trust_list()));
    assert!(store.trust_list().trusted.is_empty());
}

#[test]
fn a_file_with_more_than_a_certificate_is_explained() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bundle.pem");
    let own = new("Press").create(KeyKind::Rsa).unwrap();
    let pem = own.certificate().to_pem();
    let key = own.key().to_pem().unwrap();
    let read = |content: String| {
        fs::write(&file, content).unwrap();
        Certificate::from_file(&file).map_err(|error| error.to_string())
    };
    let with_key = read(format!("{}{pem}", &*key));
    assert_eq!(with_key.as_ref(), Ok(own.certificate()));
    let only_key = read(key.to_string()).unwrap_err();
    assert!(
        only_key.contains("no certificate, but PRIVATE KEY"),
        "{only_key}"
    );
    let two = read(format!("{pem}{pem}")).unwrap_err();
    assert!(
        two.contains("2 certificates") && two.contains("CN=Press"),
        "{two}"
    );
}

#[test]
fn folders_that_are_only_read_are_not_created() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("pki");
    let store = CertificateStore::open_to_read(&root).unwrap();
    assert!(store.own_certificates().is_empty() && store.trusted().is_empty());
    assert!(!root.exists());
}

#[test]
fn a_certificate_that_is_trusted_during_its_refusal_stays_trusted() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    let peer = new("Peer").create(KeyKind::Rsa).unwrap();
    let peer = peer.certificate();
    store.keep_refused(peer).unwrap();
    assert!(store.is_rejected(peer));
    store.trust(peer).unwrap();
    store.keep_refused(peer).unwrap();
    assert!(!store.is_rejected(peer));
    assert!(store.trust_list().trusted.contains(peer));
}

#[test]
fn rejected_certificates_are_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(directory.path()).unwrap();
    for serial in 0..70 {
        let mut params = application();
        params.serial_number = Some(SerialNumber::from(serial));
        let made = params.self_signed(&*KEY).unwrap();
        let made = Certificate::from_der(made.der()).unwrap();
        match serial % 2 {
            0 => store.reject(&made).map(drop).unwrap(),
            _ => store.keep_refused(&made).unwrap(),
        }
    }
    assert_eq!(store.rejected().len(), 64);
}

/// Changes of the parts that the signature does not cover: tags, lengths, the algorithm, unused bits. The others are tried by the
/// test below.
#[test]
fn no_byte_outside_of_the_signed_part_can_be_changed() {
    let chain = Chain::new();
    let good = chain.application.der();
    let accepted = |der: &[u8]| {
        let certificate = Certificate::from_der(der);
        certificate
            .is_ok_and(|certificate| chain.trust().check(&[certificate], &expected()).is_ok())
    };
    assert!(accepted(good));
    // The signature has 256 bytes, the BIT STRING 5 more, and the AlgorithmIdentifier 15.
    let unsigned = (0..4).chain(good.len() - 256 - 5 - 15..good.len() - 256);
    for at in unsigned {
        for bits in 1..=u8::MAX {
            let mut der = good.to_vec();
            der[at] ^= bits;
            assert!(!accepted(&der), "byte {at}, bits {bits:02X}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_certificates_never_panic_and_are_never_accepted(at in any::<prop::sample::Index>(), bits in 1_u8..) {
        static GOOD: LazyLock<Chain> = LazyLock::new(Chain::new);
        let mut der = GOOD.application.der().to_vec();
        let at = at.index(der.len());
        der[at] ^= bits;
        if let Ok(damaged) = Certificate::from_der(&der) {
            prop_assert!(GOOD.trust().check(&[damaged], &expected()).is_err());
        }
    }
}
