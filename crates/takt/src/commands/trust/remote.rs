//! Certificates of a server (`--server`), which are managed over the network (OPC 10000-12, 7.10).

use std::path::{Path, PathBuf};
use std::time::Duration;

use takt_app::ClientError;
use takt_app::client::{Client, ClientOptions};
use takt_crypto::{Certificate, CertificateStore, KeyKind, OwnCertificate, RevocationList, issue};
use takt_ua::enumerations::TrustListMasks;
use takt_ua::structures::TrustListDataType;
use takt_ua::{ByteString, StatusCode};

use super::changed::Changed;
use super::listing::{self, Listed, ListedRevocations, certificate_row, list_row, printable};
use crate::arguments::{Given, TrustServerArguments};
use crate::commands::connect::reverse;
use crate::commands::user::password;
use crate::explain;

/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// Opens a session at the server, if one is given.
pub(super) fn connect(
    arguments: &TrustServerArguments,
    certificates: Option<&PathBuf>,
    given: &Given,
) -> miette::Result<Option<Client>> {
    let Some(server) = &arguments.server else {
        let is_given = arguments.security.is_given()
            || arguments.reverse.listen.is_some()
            || given.has("timeout");
        return match is_given {
            false => Ok(None),
            true => Err(explain::with_help(
                "a user, and the security and the timeout of a connection, are for --server only",
                "--server opc.tcp://HOST:PORT names the server whose certificates are managed.",
            )),
        };
    };
    let options = ClientOptions {
        timeout: arguments.timeout,
        reverse: reverse(server, &arguments.reverse)?,
        server_uri: arguments.reverse.server_uri.clone(),
        // Servers refuse these Methods on channels without encryption.
        security: arguments.security.encrypted(certificates),
        identity: arguments.security.user.identity(password)?,
        ..ClientOptions::named("takt")
    };
    let client = Client::connect(server, options).map_err(|error| explain::client(&error))?;
    Ok(Some(client))
}

/// Explains an error of a Method of the server.
fn explained(error: ClientError) -> miette::Report {
    let help = match error.status_code() {
        StatusCode::BadUserAccessDenied => {
            "The user needs the role security-admin: --user NAME. At a server of Takt, `takt user add NAME --role security-admin` adds \
             one."
        }
        StatusCode::BadSecurityModeInsufficient => {
            "This needs an encrypted connection: leave --security away."
        }
        StatusCode::BadNotExecutable
        | StatusCode::BadMethodInvalid
        | StatusCode::BadNodeIdUnknown => {
            "The server does not let its certificates be managed over the network. A server of Takt does, with secured endpoints."
        }
        StatusCode::BadTransactionPending | StatusCode::BadNotWritable => {
            "Another client changes the certificates of the server: try again later."
        }
        StatusCode::BadCertificateChainIncomplete => {
            "Certificates of the trust list depend on each other: the issuer (CA) comes first and goes last."
        }
        StatusCode::BadCertificatePolicyCheckFailed | StatusCode::BadCertificateInvalid => {
            "SHA-1, RSA keys under 2048 bits, and revocation lists that their issuer has not signed are refused. `takt trust show FILE` \
             shows a certificate."
        }
        StatusCode::BadSecurityChecksFailed => {
            "The server does not accept the certificate: its log tells the check that failed."
        }
        _ => return explain::client(&error),
    };
    explain::with_help(error, help)
}

fn parsed(list: &[ByteString]) -> impl Iterator<Item = Certificate> {
    // An unreadable certificate is not shown. It stays in the lists, which are written back as they came.
    let parsed = |der: &ByteString| Certificate::from_der(der.as_bytes()).ok();
    list.iter().filter_map(parsed)
}

pub(super) fn list(client: &mut Client, json: bool) -> miette::Result<()> {
    let own = client.server_certificates().map_err(explained)?;
    let trust = client.read_trust_list().map_err(explained)?;
    let rejected = client.rejected_certificates().map_err(explained)?;
    let folders = [
        ("own", &own),
        ("trusted", &trust.trusted_certificates),
        ("issuer", &trust.issuer_certificates),
        ("rejected", &rejected),
    ];
    let listed = |(folder, list): (&'static str, &Vec<ByteString>)| {
        let certificates: Vec<_> = parsed(list).collect();
        let certificates = certificates.into_iter();
        certificates.map(move |certificate| Listed {
            folder,
            certificate,
            file: None,
        })
    };
    let all: Vec<_> = folders.into_iter().flat_map(listed).collect();
    let lists = [&trust.trusted_crls, &trust.issuer_crls].map(|lists| {
        let listed = lists_in(lists).map(|list| ListedRevocations { list, file: None });
        listed.collect()
    });
    listing::show(&all, &lists, "the server shows no certificates", json)
}

pub(super) fn add(
    client: &mut Client,
    store: &CertificateStore,
    text: &str,
    issuer: bool,
) -> miette::Result<Changed> {
    let mut trust = client.read_trust_list().map_err(explained)?;
    if let Some(list) = listing::revocation_list(text)? {
        let known = known_certificates(&trust);
        // One list for each issuer: the newest.
        let is_newer = |present: RevocationList| {
            present.issuer == list.issuer && present.this_update > list.this_update
        };
        if lists_in(&trust.trusted_crls).any(is_newer) {
            return Err(listing::older_list());
        }
        remove_lists_of(&list.issuer, &mut trust.trusted_crls);
        trust.trusted_crls.push(ByteString::from(list.der()));
        write(client, trust, TrustListMasks::TrustedCrls)?;
        return Ok(Changed {
            text: format!("{text} is in use"),
            object: list_row(Some("trusted"), &list, None),
            warnings: listing::shortcomings_of_list(&list, &known),
        });
    }
    let rejected = client.rejected_certificates().map_err(explained)?;
    let known = parsed(&rejected).chain(parsed(&trust.issuer_certificates));
    let known = known.chain(parsed(&trust.trusted_certificates));
    let own = store.own_certificates().into_iter();
    let certificate = listing::find(known.chain(own.map(|one| one.certificate)), text)?;
    let (folder, list, other, is) = match issuer {
        true => (
            "issuer",
            &mut trust.issuer_certificates,
            &mut trust.trusted_certificates,
            "completes chains",
        ),
        false => (
            "trusted",
            &mut trust.trusted_certificates,
            &mut trust.issuer_certificates,
            "is trusted",
        ),
    };
    // In both lists, an issuer would be trusted as an application, too.
    other.retain(|der| der.as_bytes() != certificate.der());
    if list.iter().all(|der| der.as_bytes() != certificate.der()) {
        list.push(ByteString::from(certificate.der()));
    }
    let known = known_certificates(&trust);
    let lists = lists_in(&trust.trusted_crls).chain(lists_in(&trust.issuer_crls));
    let lists: Vec<RevocationList> = lists.collect();
    let both = TrustListMasks::TrustedCertificates.0 | TrustListMasks::IssuerCertificates.0;
    write(client, trust, TrustListMasks(both))?;
    Ok(Changed {
        text: format!(
            "{} ({}) {is} at the server",
            printable(&certificate.subject),
            certificate.thumbprint
        ),
        object: certificate_row(Some(folder), &certificate, None),
        warnings: listing::shortcomings(&certificate, &known, &lists),
    })
}

fn lists_in(lists: &[ByteString]) -> impl Iterator<Item = RevocationList> {
    let parsed = |der: &ByteString| RevocationList::from_der(der.as_bytes()).ok();
    lists.iter().filter_map(parsed)
}

fn remove_lists_of(issuer: &str, lists: &mut Vec<ByteString>) {
    lists.retain(|der| {
        // A list that cannot be read here may be that of another issuer, and stays.
        RevocationList::from_der(der.as_bytes()).map_or(true, |list| list.issuer != issuer)
    });
}

/// Returns the certificates of trusted applications and of issuers.
fn known_certificates(trust: &TrustListDataType) -> Vec<Certificate> {
    let trusted = parsed(&trust.trusted_certificates);
    trusted.chain(parsed(&trust.issuer_certificates)).collect()
}

/// Writes the lists of `trust` that `masks` names.
fn write(
    client: &mut Client,
    mut trust: TrustListDataType,
    masks: TrustListMasks,
) -> miette::Result<()> {
    // The server keeps the lists that are not named, so a change by somebody else there is not undone.
    trust.specified_lists = u32::try_from(masks.0).unwrap_or_default();
    client.write_trust_list(&trust).map_err(explained)
}

pub(super) fn reject(client: &mut Client, text: &str) -> miette::Result<Changed> {
    let mut trust = client.read_trust_list().map_err(explained)?;
    if let Some(list) = listing::revocation_list(text)? {
        let before = trust.trusted_crls.len();
        remove_lists_of(&list.issuer, &mut trust.trusted_crls);
        if trust.trusted_crls.len() == before {
            return Err(explain::with_help(
                "the server has no revocation list of this issuer",
                "`takt trust list --server ENDPOINT` shows the lists.",
            ));
        }
        write(client, trust, TrustListMasks::TrustedCrls)?;
        return Ok(listing::removed(&list));
    }
    let trusted: Vec<_> = parsed(&trust.trusted_certificates).collect();
    let issuers = parsed(&trust.issuer_certificates);
    let certificate = listing::find(trusted.iter().cloned().chain(issuers), text)?;
    let thumbprint = certificate.thumbprint.to_string();
    client
        .remove_certificate(&thumbprint, trusted.contains(&certificate))
        .map_err(explained)?;
    let warning = listing::accepted_by_issuer(&certificate, &trusted);
    Ok(Changed {
        text: format!(
            "{} ({thumbprint}) is not trusted any more at the server; its open connections end",
            printable(&certificate.subject),
        ),
        object: certificate_row(None, &certificate, None),
        warnings: warning.into_iter().collect(),
    })
}

pub(super) fn renew(
    client: &mut Client,
    kind: KeyKind,
    ca: Option<(&Path, &Path)>,
    days: u32,
) -> miette::Result<Changed> {
    let Some((certificate, key)) = ca else {
        return Err(explain::with_help(
            "the new certificate of a server is signed by an issuer (CA)",
            "--ca FILE names the certificate of the issuer, --ca-key FILE its key. Without an issuer, `takt trust renew NAME` makes a \
             self-signed certificate on the host of the server.",
        ));
    };
    let ca = OwnCertificate::from_files(certificate, key).map_err(|error| {
        explain::with_help(
            error,
            "--ca is a certificate in DER or PEM, --ca-key the key that belongs to it, in PEM.",
        )
    })?;
    // With a new key: the present one may be the reason of the renewal.
    let request = client.create_signing_request(kind, true);
    let request = request.map_err(|error| match error.status_code() {
        StatusCode::BadInvalidArgument => explain::with_help(
            error,
            "The server has no certificate with such a key: --key names the kind. `takt trust list --server` shows its certificates.",
        ),
        _ => explained(error),
    })?;
    let validity = Duration::from_secs(u64::from(days) * DAY);
    let new = issue(request.as_bytes(), &ca, validity).map_err(|error| {
        explain::with_help(
            error,
            "The certificate of the issuer has to be one of a CA.",
        )
    })?;
    client
        .update_certificate(kind, new.der(), &[ca.certificate().der()])
        .map_err(explained)?;
    Ok(Changed {
        text: format!(
            "the server has a new {kind} certificate, {}, signed by {}; new connections use it",
            new.thumbprint,
            printable(&ca.certificate().subject)
        ),
        object: certificate_row(Some("own"), &new, None),
        warnings: Vec::new(),
    })
}
