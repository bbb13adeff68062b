//! The Methods of ServerConfiguration (OPC 10000-12, 7.10.5 to 7.10.13).

use takt_crypto::{
    Certificate, KeyKind, MAX_CHAIN_LENGTH, MAX_CHAIN_SIZE, OwnUpdateError, PrivateKey,
};
use takt_services::AuditedAction;
use takt_ua::{ByteString, Elements, NodeId, StatusCode, Variant, ids};

use super::administration::{Administration, Call, refuse};
use super::method::{Method, MethodResult};

/// Forms of private keys that UpdateCertificate takes.
pub(super) const KEY_FORMATS: [&str; 1] = ["PEM"];

/// The only CertificateGroup that is managed.
const GROUP: u32 = ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP;
const TRUST_LIST: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST;

/// Longest key in PEM, in bytes.
const MAX_KEY: usize = 32 << 10;

pub(super) const ALL: [Method; 6] = [
    Method {
        id: ids::SERVER_CONFIGURATION_UPDATE_CERTIFICATE,
        run: update_certificate,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CREATE_SIGNING_REQUEST,
        run: create_signing_request,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_APPLY_CHANGES,
        run: apply_changes,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_CANCEL_CHANGES,
        run: cancel_changes,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_GET_REJECTED_LIST,
        run: get_rejected_list,
    },
    Method {
        id: ids::SERVER_CONFIGURATION_GET_CERTIFICATES,
        run: get_certificates,
    },
];

/// Checks the CertificateGroup; null stands for the DefaultApplicationGroup.
fn check_group(group: &NodeId) -> Result<(), StatusCode> {
    match group.is_null() || *group == NodeId::from(GROUP) {
        true => Ok(()),
        false => Err(StatusCode::BadInvalidArgument),
    }
}

/// Returns the kind of the keys of a type of certificates of which the server has one; null and the abstract type stand for the
/// first one.
fn kind(administration: &Administration, certificate_type: &NodeId) -> Result<KeyKind, StatusCode> {
    let any = NodeId::from(ids::APPLICATION_CERTIFICATE_TYPE);
    let is_any = certificate_type.is_null() || *certificate_type == any;
    let wanted = KeyKind::of_certificate_type(certificate_type);
    let mut own = administration.security.kinds();
    own.find(|kind| is_any || Some(*kind) == wanted)
        .ok_or(StatusCode::BadInvalidArgument)
}

/// Returns an array of ByteStrings; a null value is an empty one.
fn byte_strings(value: &Variant) -> Result<&[ByteString], StatusCode> {
    match value {
        Variant::Empty => Ok(&[]),
        Variant::Array(array) => match &array.elements {
            Elements::ByteString(strings) => Ok(strings),
            _ => Err(StatusCode::BadInvalidArgument),
        },
        _ => Err(StatusCode::BadInvalidArgument),
    }
}

fn update_certificate(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [
        Variant::NodeId(group),
        Variant::NodeId(certificate_type),
        Variant::ByteString(certificate),
        issuers,
        Variant::String(format),
        Variant::ByteString(key),
    ] = inputs
    else {
        return Err(StatusCode::BadInvalidArgument);
    };
    check_group(group)?;
    let kind = kind(administration, certificate_type)?;
    let issuers = byte_strings(issuers)?;
    let mut size = certificate.as_bytes().len();
    let mut chain = Certificate::chain_from_der(certificate.as_bytes())
        .map_err(|_| StatusCode::BadCertificateInvalid)?;
    for issuer in issuers {
        size = size.saturating_add(issuer.as_bytes().len());
        if size > MAX_CHAIN_SIZE || chain.len() >= MAX_CHAIN_LENGTH {
            return Err(StatusCode::BadCertificateInvalid);
        }
        let issuer = Certificate::from_der(issuer.as_bytes());
        chain.push(issuer.map_err(|_| StatusCode::BadCertificateInvalid)?);
    }
    let key = match (format.as_str(), key.as_bytes()) {
        (_, []) => None,
        (format, pem) if KEY_FORMATS.contains(&format) && pem.len() <= MAX_KEY => {
            let pem = std::str::from_utf8(pem).map_err(|_| StatusCode::BadInvalidArgument)?;
            let key = PrivateKey::from_pem(pem);
            Some(key.map_err(|_| StatusCode::BadInvalidArgument)?)
        }
        _ => return Err(StatusCode::BadNotSupported),
    };
    let session = &call.caller.session_id;
    // Before the expensive checks, whose result could not be used.
    administration.state().check_transaction(session)?;
    let uri = &administration.application_uri;
    let checked = administration.security.check_update(&chain, uri, key);
    let update = checked.map_err(|error| {
        tracing::warn!(%error, "UpdateCertificate is refused");
        refuse_update(&error)
    })?;
    if update.kind() != kind {
        tracing::warn!("UpdateCertificate is refused: the certificate is not one for {kind}");
        return Err(StatusCode::BadSecurityChecksFailed);
    }
    let charge = administration.memory.charge(size + MAX_KEY);
    let charge = charge.map_err(|_| StatusCode::BadOutOfMemory)?;
    // This checks the owner of the transaction again: another Session may have begun one during the checks.
    let mut state = administration.state();
    state.transaction(call.caller, charge)?.replace(update);
    Ok(vec![Variant::from(true)])
}

fn refuse_update(error: &OwnUpdateError) -> StatusCode {
    match error {
        OwnUpdateError::Store(error) => refuse(error),
        OwnUpdateError::Elsewhere => StatusCode::BadNotSupported,
        OwnUpdateError::Certificate(_) | OwnUpdateError::Key | OwnUpdateError::Kind(_) => {
            StatusCode::BadSecurityChecksFailed
        }
    }
}

fn create_signing_request(
    administration: &Administration,
    _: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    // The nonce is entropy, of which the system has enough.
    let [
        Variant::NodeId(group),
        Variant::NodeId(certificate_type),
        Variant::String(subject),
        Variant::Boolean(regenerate),
        Variant::ByteString(_),
    ] = inputs
    else {
        return Err(StatusCode::BadInvalidArgument);
    };
    check_group(group)?;
    let kind = kind(administration, certificate_type)?;
    let subject = Some(subject.as_str()).filter(|subject| !subject.is_empty());
    let request = administration
        .security
        .signing_request(kind, subject, *regenerate);
    let request = request.map_err(|error| refuse_update(&error))?;
    Ok(vec![Variant::from(ByteString::from(request))])
}

fn apply_changes(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    no_arguments(inputs)?;
    let session = &call.caller.session_id;
    let transaction = administration.state().take_transaction(session)?;
    let (lists, certificates) = (&transaction.lists, &transaction.certificates);
    let applied = administration.security.apply(lists, certificates);
    let status = match &applied {
        Ok(()) => StatusCode::Good,
        Err(error) => refuse(error),
    };
    for certificate in certificates {
        let (group, certificate_type) =
            (NodeId::from(GROUP), certificate.kind().certificate_type());
        let updated = AuditedAction::CertificateUpdated {
            object_id: call.object_id.as_ref(),
            method_id: call.method_id.as_ref(),
            group: group.as_ref(),
            certificate_type: certificate_type.as_ref(),
        };
        administration.audit(call, updated, status);
    }
    if !lists.is_empty() {
        audit_trust_list(administration, call, status);
    }
    match status {
        StatusCode::Good => Ok(Vec::new()),
        status => Err(status),
    }
}

/// Records a change of the trust list.
pub(super) fn audit_trust_list(
    administration: &Administration,
    call: &Call<'_>,
    status: StatusCode,
) {
    let trust_list = NodeId::from(TRUST_LIST);
    let updated = AuditedAction::TrustListUpdated {
        object_id: call.object_id.as_ref(),
        method_id: call.method_id.as_ref(),
        trust_list: trust_list.as_ref(),
    };
    administration.audit(call, updated, status);
}

fn cancel_changes(
    administration: &Administration,
    call: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    no_arguments(inputs)?;
    let session = &call.caller.session_id;
    administration.state().take_transaction(session)?;
    Ok(Vec::new())
}

fn get_rejected_list(
    administration: &Administration,
    _: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    no_arguments(inputs)?;
    let rejected = administration.security.store().rejected();
    let rejected = rejected.iter();
    let rejected = rejected.map(|one| ByteString::from(one.certificate.der()));
    Ok(vec![Variant::from(rejected.collect::<Vec<_>>())])
}

fn get_certificates(
    administration: &Administration,
    _: &Call<'_>,
    inputs: &[Variant],
) -> MethodResult {
    let [Variant::NodeId(group)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    check_group(group)?;
    let security = &administration.security;
    let own = security
        .kinds()
        .filter_map(|kind| Some((kind.certificate_type(), security.identity_of(kind)?)));
    let own = own.map(|(id, own)| (id, ByteString::from(own.certificate().der())));
    let (types, certificates): (Vec<NodeId>, Vec<ByteString>) = own.unzip();
    Ok(vec![Variant::from(types), Variant::from(certificates)])
}

fn no_arguments(inputs: &[Variant]) -> Result<(), StatusCode> {
    match inputs {
        [] => Ok(()),
        _ => Err(StatusCode::BadTooManyArguments),
    }
}
