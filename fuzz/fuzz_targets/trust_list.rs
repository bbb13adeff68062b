//! Trust lists that a client has written, as CloseAndUpdate reads and checks them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use takt_crypto::CertificateStore;

/// Folders without certificates.
static STORE: LazyLock<CertificateStore> = LazyLock::new(|| {
    let root = std::env::temp_dir().join("takt-fuzz-trust-list");
    CertificateStore::open(&root).expect("folders can be made")
});

fuzz_target!(|bytes: &[u8]| {
    let _ = takt_app::fuzzing::trust_list_contents(&STORE, bytes);
});
