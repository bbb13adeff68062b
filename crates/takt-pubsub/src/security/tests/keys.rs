//! Published test vectors, checked with the functions of messages.

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// Plaintext of all examples in NIST SP 800-38A, F.5.
const PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

fn encrypted(policy: PubSubSecurityPolicy, key: &str) -> Vec<u8> {
    let data = [vec![0; 32], hex(key), vec![0; 4]].concat();
    let keys = SecurityKeys::new(policy, 1, &data).unwrap();
    let counter_block = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let mut payload = hex(PLAINTEXT);
    keys.apply_keystream_from(counter_block.try_into().unwrap(), &mut payload)
        .unwrap();
    payload
}

#[test]
fn counter_mode_is_that_of_nist() {
    // F.5.1 and F.5.5.
    assert_eq!(
        encrypted(AES_128, "2b7e151628aed2a6abf7158809cf4f3c"),
        hex(
            "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
             5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee"
        )
    );
    let key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
    assert_eq!(
        encrypted(PubSubSecurityPolicy::PubSubAes256Ctr, key),
        hex(
            "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
             2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6"
        )
    );
}

#[test]
fn signatures_are_those_of_rfc_4231() {
    // A key that is shorter than 32 bytes is the same as one with zeros behind it (RFC 2104).
    let cases: [(&[u8], &[u8], &str); 3] = [
        (
            &[0x0B; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xAA; 20],
            &[0xDD; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
        ),
    ];
    for (key, message, signature) in cases {
        let mut data = key.to_vec();
        data.resize(AES_128.key_data_length(), 0);
        let keys = SecurityKeys::new(AES_128, 1, &data).unwrap();
        assert_eq!(keys.sign(message).to_vec(), hex(signature));
        assert!(keys.verify(message, &hex(signature)));
        assert!(!keys.verify(message, &hex(signature)[..31]));
        assert!(!keys.verify(&message[1..], &hex(signature)));
    }
}

#[test]
fn a_protected_message_equals_that_of_another_implementation() {
    // Made with Python: hmac, hashlib, and AES-CTR of the package `cryptography`.
    let cases = [
        (
            AES_128,
            "b111020101040303080706050844332211010000006fa92c0f3f412bf5df34ff58bf2538da7e126e03
             b83b4960b0f8ae9c0fbdec3e320a2980732364b8364ca054921bf1b1dd",
        ),
        (
            PubSubSecurityPolicy::PubSubAes256Ctr,
            "b111020101040303080706050844332211010000000f051ccbe277bbb7c3211977b65abda49d6883e9
             bd29cd94b85baac6d33ad49ab521c637b585630641a37386beeff6cae8",
        ),
    ];
    let now = Instant::now();
    for (policy, expected) in cases {
        let signing_key = (0..32).collect::<Vec<u8>>();
        let encrypting_key = (0x40..).take(policy.encrypting_key_length());
        let encrypting_key = encrypting_key.collect::<Vec<u8>>();
        let key_nonce = vec![0xA0, 0xA1, 0xA2, 0xA3];
        let mut keys = KeyRing::new();
        let update = SecurityKeyUpdate {
            first_token_id: 0x0506_0708,
            keys: vec![[signing_key, encrypting_key, key_nonce].concat().into()],
            ..answer(policy, 1, 0)
        };
        keys.update(&update, now).unwrap();
        let fields = vec![0xDEAD_BEEF_u32.into(), 21.5.into()];
        let (plain, layout) = encoded(&network_message(policy, ENCRYPT, fields));

        let mut protector = MessageProtector::with_random_part(ENCRYPT, 0x1122_3344).unwrap();
        let mut message = plain.clone();
        protector
            .protect(&keys, &mut message, &layout, now)
            .unwrap();
        assert_eq!(message, hex(expected));

        let mut verifier = MessageVerifier::new(ENCRYPT).unwrap();
        let verified = verifier.verify(&keys, &mut message, now).unwrap();
        assert_eq!(verified.security_token_id, 0x0506_0708);
        assert_eq!(message[layout.encrypted.clone()], plain[layout.encrypted]);
    }
}

#[test]
fn key_data_has_the_length_of_its_policy_and_a_token() {
    for policy in PubSubSecurityPolicy::ALL {
        assert_eq!(PubSubSecurityPolicy::from_uri(policy.uri()), Some(policy));
        let data = key_data(policy, 1);
        let keys = SecurityKeys::new(policy, 7, &data).unwrap();
        assert_eq!(keys.security_token_id(), 7);
        for length in [0, data.len() - 1] {
            let error = SecurityKeys::new(policy, 7, &data[..length]).unwrap_err();
            let expected = data.len();
            let found = length;
            assert_eq!(error, KeyDataError::Length { expected, found });
        }
        let error = SecurityKeys::new(policy, 0, &data).unwrap_err();
        assert_eq!(error, KeyDataError::TokenId);
    }
    assert_eq!(PubSubSecurityPolicy::from_uri("http://example.org/"), None);
}

#[test]
fn debug_output_contains_no_key() {
    let now = Instant::now();
    let update = answer(AES_128, 7, 2);
    let mut keys = KeyRing::new();
    keys.update(&update, now).unwrap();
    let shown = format!("{update:?} {keys:?}");
    assert!(shown.contains("security_token_id: 7"), "{shown}");
    let data = key_data(AES_128, 7);
    assert!(
        !shown.contains(&format!("{}, {}", data[0], data[1])),
        "{shown}"
    );
}
