//! Certificates, chains and revocation lists of peers, and every check on them.

use takt_crypto::{Certificate, Expectations, PolicyProfile, RevocationList, TrustList};

pub(crate) fn run(bytes: &[u8]) {
    let list = RevocationList::from_der(bytes);
    let Ok(chain) = Certificate::chain_from_der(bytes) else {
        return;
    };
    assert!(!chain.is_empty());
    let encoded: Vec<u8> = chain.iter().flat_map(Certificate::der).copied().collect();
    assert_eq!(encoded, bytes, "a chain is its certificates");
    assert_eq!(Certificate::leaf_of(bytes), Some(chain[0].der()));
    let trust = TrustList {
        trusted: chain.clone(),
        issuers: Vec::new(),
        revocation_lists: list.into_iter().collect(),
    };
    for host in [None, Some("localhost"), Some("127.0.0.1")] {
        let expected = Expectations {
            profile: PolicyProfile::ALL[0],
            now: chain[0].not_before,
            is_server: true,
            host,
            application_uri: None,
        };
        let _ = trust.check(&chain, &expected);
    }
    let _ = trust.check_user(&chain, PolicyProfile::ALL[0], chain[0].not_after);
}
