//! Trust lists that a client has written, as CloseAndUpdate reads and checks them.

use std::sync::LazyLock;

use takt_crypto::CertificateStore;

/// Folders without certificates.
static STORE: LazyLock<CertificateStore> = LazyLock::new(|| {
    let root = std::env::temp_dir().join("takt-fuzz-trust-list");
    CertificateStore::open(&root).expect("folders can be made")
});

pub(crate) fn run(bytes: &[u8]) {
    let _ = takt_app::fuzzing::trust_list_contents(&STORE, bytes);
}
