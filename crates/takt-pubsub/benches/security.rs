//! Protecting and verifying messages, beside the raw cryptographic operations of the same bytes.
//!
//! ```text
//! cargo bench -p takt-pubsub --bench security
//! ```

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use aes::Aes128Enc;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctr::cipher::{InnerIvInit, StreamCipher, StreamCipherCoreWrapper};
use ctr::{CtrCore, flavors::Ctr32BE};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use takt_pubsub::security::{
    KeyRing, MessageProtector, MessageVerifier, PubSubSecurityPolicy, SIGNATURE_LENGTH,
    SecurityKeyUpdate,
};
use takt_ua::Variant;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, NetworkMessage, PublisherId, SecurityLayout,
};

const MODE: MessageSecurityMode = MessageSecurityMode::SignAndEncrypt;
const POLICY: PubSubSecurityPolicy = PubSubSecurityPolicy::PubSubAes128Ctr;

fn keys(now: Instant) -> KeyRing {
    let mut keys = KeyRing::new();
    let update = SecurityKeyUpdate {
        security_policy_uri: POLICY.uri().to_owned(),
        first_token_id: 1,
        keys: vec![vec![7; POLICY.key_data_length()].into(); 2],
        time_to_next_key: Duration::from_secs(3600),
        key_lifetime: Duration::from_secs(3600),
    };
    keys.update(&update, now).unwrap();
    keys
}

fn message(fields: usize) -> (Vec<u8>, SecurityLayout) {
    let fields = vec![Variant::from(0_u64); fields];
    let content = DataSetContent::KeyFrame(Fields::Variant(fields));
    let message = NetworkMessage {
        security_header: Some(POLICY.security_header(MODE).unwrap()),
        signature: vec![0; SIGNATURE_LENGTH],
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(1)),
            vec![DataSetMessage::new(content)],
        )
    };
    let mut bytes = Vec::new();
    let layout = message
        .encode(&mut Encoder::growing(&mut bytes, 10_000))
        .unwrap();
    (bytes, layout)
}

/// Performs the cryptographic operations that are unavoidable: AES-CTR of the payload, HMAC-SHA256 of all signed bytes.
fn raw(mac: &Hmac<Sha256>, cipher: &Aes128Enc, message: &mut [u8], layout: &SecurityLayout) {
    let core = CtrCore::<&Aes128Enc, Ctr32BE>::inner_iv_init(cipher, &[3; 16].into());
    let payload = &mut message[layout.encrypted.clone()];
    StreamCipherCoreWrapper::from_core(core).apply_keystream(payload);
    let mut mac = mac.clone();
    mac.update(&message[layout.signed.clone()]);
    message[layout.signature.clone()].copy_from_slice(&mac.finalize().into_bytes());
}

fn security(criterion: &mut Criterion) {
    let now = Instant::now();
    let keys = keys(now);
    let mac = Hmac::<Sha256>::new_from_slice(&[7; 32]).unwrap();
    let cipher = Aes128Enc::new_from_slice(&[7; 16]).unwrap();
    for fields in [5, 30, 105] {
        let (mut bytes, layout) = message(fields);
        let mut group = criterion.benchmark_group(format!("{} bytes", bytes.len()));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("raw", |bencher| {
            bencher.iter(|| raw(&mac, &cipher, black_box(&mut bytes), &layout));
        });
        let mut protector = MessageProtector::new(MODE).unwrap();
        group.bench_function("protect", |bencher| {
            bencher.iter(|| protector.protect(&keys, black_box(&mut bytes), &layout, now));
        });
        // Each message is verified once; making it is not measured.
        let mut verifier = MessageVerifier::new(MODE).unwrap();
        let (plain, _) = message(fields);
        group.bench_function("verify", |bencher| {
            bencher.iter_custom(|iterations| {
                let mut messages = vec![plain.clone(); 100];
                let (mut rest, mut time) = (iterations, Duration::ZERO);
                while rest > 0 {
                    let some = &mut messages[..rest.min(100) as usize];
                    for bytes in some.iter_mut() {
                        bytes.copy_from_slice(&plain);
                        protector.protect(&keys, bytes, &layout, now).unwrap();
                    }
                    let start = Instant::now();
                    for bytes in some.iter_mut() {
                        verifier.verify(&keys, black_box(bytes), now).unwrap();
                    }
                    time += start.elapsed();
                    rest -= some.len() as u64;
                }
                time
            });
        });
    }
}

criterion_group!(benches, security);
criterion_main!(benches);
