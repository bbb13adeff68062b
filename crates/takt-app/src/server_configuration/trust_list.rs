//! The Methods of the trust list (OPC 10000-12, 7.8.2), which is a file (OPC 10000-20, 4.2).

use takt_crypto::{Certificate, CertificateError, CertificateStore, StoredLists};
use takt_ua::{ByteString, StatusCode, Variant, ids};

use super::administration::{Administration, Call, refuse};
use super::contents;
use super::method::{Method, MethodResult};
use super::methods::audit_trust_list;

/// Modes of Open: reading, and writing of a new content.
const READ: u8 = 1;
const WRITE_AND_ERASE: u8 = 6;

/// Most bytes that one Read returns.
const MAX_READ: i32 = 256 << 10;

pub(super) const ALL: [Method; 10] = [
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_OPEN,
        run: open,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_OPEN_WITH_MASKS,
        run: open_with_masks,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_CLOSE,
        run: close,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_CLOSE_AND_UPDATE,
        run: close_and_update,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_READ,
        run: read,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_WRITE,
        run: write,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_GET_POSITION,
        run: get_position,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_SET_POSITION,
        run: set_position,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_ADD_CERTIFICATE,
        run: add_certificate,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_REMOVE_CERTIFICATE,
        run: remove_certificate,
    },
];

fn open(administration: &Administration, call: &Call<'_>, inputs: &[Variant]) -> MethodResult {
    let [Variant::Byte(mode)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    match *mode {
        READ => open_for_reading(administration, call, contents::ALL),
        WRITE_AND_ERASE => {
            let session = &call.caller.session_id;
            let charge = administration.memory.empty_charge();
            let mut state = administration.state();
            state.check_transaction(session)?;
            state.files.check(session, true)?;
            let handle = state.files.add(session, Vec::new(), true, charge);
            Ok(vec![Variant::from(handle)])
        }
        _ => Err(StatusCode::BadNotSupported),
    }
}

fn open_with_masks(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [Variant::UInt32(masks)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    open_for_reading(administration, call, *masks)
}

fn open_for_reading(administration: &Administration, call: &Call<'_>, mask: u32) -> MethodResult {
    let session = &call.caller.session_id;
    administration.state().files.check(session, false)?;
    let bytes = contents::encoded(administration.security.store(), mask)?;
    let charge = administration.memory.charge(bytes.len());
    let charge = charge.map_err(|_| StatusCode::BadOutOfMemory)?;
    let handle = administration
        .state()
        .files
        .add(session, bytes, false, charge);
    Ok(vec![Variant::from(handle)])
}

fn close(administration: &Administration, call: &Call<'_>, inputs: &[Variant]) -> MethodResult {
    let [Variant::UInt32(handle)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let session = &call.caller.session_id;
    administration.state().files.close(session, *handle)?;
    Ok(Vec::new())
}

fn close_and_update(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    // Clients of the first edition send a second argument, which has no meaning any more.
    let ([Variant::UInt32(handle)] | [Variant::UInt32(handle), Variant::Boolean(_)]) = inputs
    else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let session = &call.caller.session_id;
    // The file is closed in any case, also if its content is refused.
    let written = {
        let mut state = administration.state();
        if !state.files.get(session, *handle)?.is_written() {
            return Err(StatusCode::BadInvalidState);
        }
        state.files.close(session, *handle)?.unwrap_or_default()
    };
    let lists = contents::decoded(&written)?;
    contents::check(administration.security.store(), &lists)?;
    let charge = administration.memory.charge(written.len());
    let charge = charge.map_err(|_| StatusCode::BadOutOfMemory)?;
    administration
        .state()
        .transaction(call.caller, charge)?
        .change(lists);
    Ok(vec![Variant::from(true)])
}

fn read(administration: &Administration, call: &Call<'_>, inputs: &[Variant]) -> MethodResult {
    let [Variant::UInt32(handle), Variant::Int32(length)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let mut state = administration.state();
    let file = state.files.get(&call.caller.session_id, *handle)?;
    let data = ByteString::from(file.read((*length).min(MAX_READ))?);
    Ok(vec![Variant::from(data)])
}

fn write(administration: &Administration, call: &Call<'_>, inputs: &[Variant]) -> MethodResult {
    let [Variant::UInt32(handle), Variant::ByteString(data)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let mut state = administration.state();
    let file = state.files.get(&call.caller.session_id, *handle)?;
    file.write(data.as_bytes())?;
    Ok(Vec::new())
}

fn get_position(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [Variant::UInt32(handle)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let mut state = administration.state();
    let file = state.files.get(&call.caller.session_id, *handle)?;
    Ok(vec![Variant::from(file.position())])
}

fn set_position(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [Variant::UInt32(handle), Variant::UInt64(position)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let mut state = administration.state();
    let file = state.files.get(&call.caller.session_id, *handle)?;
    file.set_position(*position);
    Ok(Vec::new())
}

/// Checks that nothing else is about to change the trust list.
fn check_unused(administration: &Administration) -> Result<(), StatusCode> {
    let state = administration.state();
    match (&state.transaction, state.files.is_empty()) {
        (Some(_), _) => Err(StatusCode::BadTransactionPending),
        (None, false) => Err(StatusCode::BadInvalidState),
        (None, true) => Ok(()),
    }
}

/// Changes the trust list at once.
fn apply(administration: &Administration, call: &Call<'_>, lists: &StoredLists) -> MethodResult {
    let applied = administration.security.apply(lists, &[]);
    let status = match &applied {
        Ok(()) => StatusCode::Good,
        Err(error) => refuse(error),
    };
    audit_trust_list(administration, call, status);
    match status {
        StatusCode::Good => Ok(Vec::new()),
        status => Err(status),
    }
}

fn add_certificate(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [Variant::ByteString(der), Variant::Boolean(is_trusted)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    check_unused(administration)?;
    let certificate = Certificate::from_der(der.as_bytes());
    let certificate = certificate.map_err(CertificateError::status_code)?;
    // Issuers need revocation lists: they come with the whole trust list.
    if certificate.is_issuer() || !is_trusted {
        return Err(StatusCode::BadCertificateInvalid);
    }
    let store = administration.security.store();
    let (mut trusted, issuers) = stored(store);
    if !certificate.is_self_issued() {
        let mut known = trusted.iter().chain(&issuers);
        if !known.any(|issuer| certificate.names_issuer(issuer)) {
            return Err(StatusCode::BadCertificateChainIncomplete);
        }
    }
    trusted.push(certificate);
    let lists = StoredLists {
        trusted: Some(trusted),
        ..StoredLists::default()
    };
    contents::check(store, &lists)?;
    check_size(&lists)?;
    apply(administration, call, &lists)
}

/// Checks that the trust list does not become larger than a client can read.
fn check_size(lists: &StoredLists) -> Result<(), StatusCode> {
    let trusted = lists.trusted.iter().flatten();
    // In the encoded list, each certificate has its length in front.
    let size: usize = trusted.map(|one| one.der().len() + 4).sum();
    match size <= contents::MAX_TRUST_LIST {
        true => Ok(()),
        false => Err(StatusCode::BadRequestTooLarge),
    }
}

fn remove_certificate(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [Variant::String(thumbprint), Variant::Boolean(is_trusted)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    check_unused(administration)?;
    let store = administration.security.store();
    let (mut trusted, mut issuers) = stored(store);
    let list = match is_trusted {
        true => &mut trusted,
        false => &mut issuers,
    };
    let is_named = |one: &Certificate| {
        let own = one.thumbprint.to_string();
        // Clients write the digits in upper or lower case.
        own.eq_ignore_ascii_case(thumbprint.as_str())
    };
    let found = list.iter().position(is_named);
    let removed = list.remove(found.ok_or(StatusCode::BadInvalidArgument)?);
    // The certificates that it has issued could not be verified any more.
    let mut left = trusted.iter().chain(&issuers);
    if left.any(|one| !one.is_self_issued() && one.names_issuer(&removed)) {
        return Err(StatusCode::BadCertificateChainIncomplete);
    }
    // The revocation lists of an issuer go with it: without its certificate nothing can verify them.
    let mut lists = StoredLists::default();
    let [trusted_crls, issuer_crls] = store.revocation_lists().map(|lists| {
        let left = lists.into_iter();
        left.filter(|list| !list.names_issuer(&removed)).collect()
    });
    match is_trusted {
        true => {
            lists.trusted = Some(trusted);
            lists.trusted_revocations = Some(trusted_crls);
        }
        false => {
            lists.issuers = Some(issuers);
            lists.issuer_revocations = Some(issuer_crls);
        }
    }
    apply(administration, call, &lists)
}

/// Returns the trusted certificates, and those of issuers.
fn stored(store: &CertificateStore) -> (Vec<Certificate>, Vec<Certificate>) {
    let certificates = |list: Vec<takt_crypto::StoredCertificate>| {
        let list = list.into_iter();
        list.map(|one| one.certificate).collect()
    };
    (certificates(store.trusted()), certificates(store.issuers()))
}
