//! Encoding of a trust list (OPC 10000-12, 7.8.2.8), and the checks of a new one.

use takt_crypto::{Certificate, CertificateError, CertificateStore, RevocationList, StoredLists};
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::TrustListMasks;
use takt_ua::structures::TrustListDataType;
use takt_ua::{ByteString, StatusCode};

/// Largest trust list, in bytes of its encoding (MaxTrustListSize).
pub(super) const MAX_TRUST_LIST: usize = 1 << 20;

const TRUSTED: u32 = TrustListMasks::TrustedCertificates.0 as u32;
const TRUSTED_CRLS: u32 = TrustListMasks::TrustedCrls.0 as u32;
const ISSUERS: u32 = TrustListMasks::IssuerCertificates.0 as u32;
const ISSUER_CRLS: u32 = TrustListMasks::IssuerCrls.0 as u32;

/// All lists.
pub(super) const ALL: u32 = TrustListMasks::All.0 as u32;

/// Returns the lists of a store that `mask` names, as a client reads them.
pub(super) fn encoded(store: &CertificateStore, mask: u32) -> Result<Vec<u8>, StatusCode> {
    let [trusted_crls, issuer_crls] = store.revocation_lists();
    let certificates = |bit: u32, stored: Vec<takt_crypto::StoredCertificate>| {
        let named = stored.iter().filter(|_| mask & bit != 0);
        named
            .map(|one| ByteString::from(one.certificate.der()))
            .collect()
    };
    let crls = |bit: u32, lists: Vec<RevocationList>| {
        let named = lists.iter().filter(|_| mask & bit != 0);
        named.map(|one| ByteString::from(one.der())).collect()
    };
    let list = TrustListDataType {
        specified_lists: mask & ALL,
        trusted_certificates: certificates(TRUSTED, store.trusted()),
        trusted_crls: crls(TRUSTED_CRLS, trusted_crls),
        issuer_certificates: certificates(ISSUERS, store.issuers()),
        issuer_crls: crls(ISSUER_CRLS, issuer_crls),
    };
    let bytes = list.encode_to_vec();
    match bytes.len() <= MAX_TRUST_LIST {
        true => Ok(bytes),
        false => Err(StatusCode::BadResponseTooLarge),
    }
}

/// Reads what a client has written.
pub(super) fn decoded(bytes: &[u8]) -> Result<StoredLists, StatusCode> {
    let mut decoder = Decoder::new(bytes);
    let list = TrustListDataType::decode(&mut decoder);
    let list = list.map_err(|_| StatusCode::BadInvalidArgument)?;
    if decoder.remaining() != 0 || list.specified_lists & !ALL != 0 {
        return Err(StatusCode::BadInvalidArgument);
    }
    let named = |bit: u32| list.specified_lists & bit != 0;
    Ok(StoredLists {
        trusted: named(TRUSTED)
            .then(|| certificates(&list.trusted_certificates))
            .transpose()?,
        trusted_revocations: named(TRUSTED_CRLS)
            .then(|| crls(&list.trusted_crls))
            .transpose()?,
        issuers: named(ISSUERS)
            .then(|| certificates(&list.issuer_certificates))
            .transpose()?,
        issuer_revocations: named(ISSUER_CRLS)
            .then(|| crls(&list.issuer_crls))
            .transpose()?,
    })
}

fn certificates(list: &[ByteString]) -> Result<Vec<Certificate>, StatusCode> {
    let read = |der: &ByteString| Certificate::from_der(der.as_bytes());
    let read = list.iter().map(read).collect::<Result<Vec<_>, _>>();
    read.map_err(CertificateError::status_code)
}

fn crls(list: &[ByteString]) -> Result<Vec<RevocationList>, StatusCode> {
    let read = |der: &ByteString| RevocationList::from_der(der.as_bytes());
    let read = list.iter().map(read).collect::<Result<Vec<_>, _>>();
    read.map_err(CertificateError::status_code)
}

/// Checks the signatures of a new trust list as far as the issuers are in it. Expiry and missing revocation lists are no reason to
/// refuse it (OPC 10000-12, 7.8.2.5).
pub(super) fn check(store: &CertificateStore, new: &StoredLists) -> Result<(), StatusCode> {
    let stored = |list: Vec<takt_crypto::StoredCertificate>| {
        list.into_iter().map(|one| one.certificate).collect()
    };
    let trusted = new.trusted.clone();
    let trusted = trusted.unwrap_or_else(|| stored(store.trusted()));
    let issuers = new.issuers.clone();
    let issuers: Vec<Certificate> = issuers.unwrap_or_else(|| stored(store.issuers()));
    let all = || trusted.iter().chain(&issuers);
    let changed = new.trusted.iter().chain(&new.issuers).flatten();
    for certificate in changed {
        let mut known = all()
            .filter(|issuer| certificate.names_issuer(issuer))
            .peekable();
        if known.peek().is_none() {
            continue;
        }
        let failed = |issuer: &Certificate| certificate.verify_signed_by(issuer).err();
        let mut errors = known.map(failed).collect::<Vec<_>>();
        // Several issuers may have the same name: one whose key fits is enough.
        if !errors.contains(&None) {
            let error = errors
                .pop()
                .flatten()
                .unwrap_or(CertificateError::Signature);
            return Err(error.status_code());
        }
    }
    let lists = new
        .trusted_revocations
        .iter()
        .chain(&new.issuer_revocations);
    for list in lists.flatten() {
        let mut known = all().filter(|issuer| list.names_issuer(issuer)).peekable();
        if known.peek().is_some() && !known.any(|issuer| list.verify_signed_by(issuer).is_ok()) {
            return Err(StatusCode::BadCertificateInvalid);
        }
    }
    Ok(())
}

/// Does what CloseAndUpdate does with these bytes of a client, except for the change. Returns whether they are accepted.
pub fn fuzz(store: &CertificateStore, bytes: &[u8]) -> bool {
    let Ok(lists) = decoded(bytes) else {
        return false;
    };
    check(store, &lists).is_ok()
}
