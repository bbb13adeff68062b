//! `takt trust`: the certificates that this user's applications have, trust and have rejected.

use std::path::Path;

use miette::IntoDiagnostic;
use serde_json::json;
use takt_app::certificates;
use takt_crypto::{Certificate, CertificateStore, KeyKind, StoredCertificate, now};
use takt_report::{Column, Report, Table};

use crate::arguments::{TrustArguments, TrustCommand};
use crate::{explain, output};

/// Shortest beginning of a thumbprint that names a certificate.
const SHORTEST: usize = 8;

pub fn run(arguments: &TrustArguments) -> miette::Result<()> {
    let store = certificates::open_store(arguments.certificates.as_deref());
    let store = store.map_err(|error| explain::certificates(&error))?;
    match &arguments.command {
        TrustCommand::List { json } => list(&store, *json),
        TrustCommand::Add {
            certificate,
            issuer,
        } => add(&store, certificate, *issuer),
        TrustCommand::Reject { certificate } => reject(&store, certificate),
        TrustCommand::Renew { name, host, key } => renew(&store, name, host, *key),
        TrustCommand::Show { certificate } => show(&store, certificate),
    }
}

/// Returns all certificates with their folders.
fn all(store: &CertificateStore) -> Vec<(&'static str, StoredCertificate)> {
    let folders = [
        ("own", store.own_certificates()),
        ("trusted", store.trusted()),
        ("issuer", store.issuers()),
        ("rejected", store.rejected()),
    ];
    folders
        .into_iter()
        .flat_map(|(folder, certificates)| certificates.into_iter().map(move |one| (folder, one)))
        .collect()
}

fn list(store: &CertificateStore, json: bool) -> miette::Result<()> {
    let all = all(store);
    let mut report = Report::new(output::line, json);
    if all.is_empty() {
        report.line("no certificates: an application creates its own at its first start");
        return Ok(());
    }
    let mut table = Table::new([
        Column::text("folder"),
        Column::text("thumbprint"),
        Column::text("name"),
        Column::text("key"),
        Column::text("ApplicationUri"),
        Column::text("valid"),
    ]);
    for (folder, one) in &all {
        let certificate = &one.certificate;
        table.row([
            (*folder).to_owned(),
            certificate.thumbprint.to_string(),
            printable(name(one)),
            key_of(certificate),
            printable(certificate.application_uri.as_deref().unwrap_or("-")),
            validity(certificate),
        ]);
    }
    report.table(&table);
    for (folder, one) in &all {
        let certificate = &one.certificate;
        report
            .row(&json!({
                "folder": folder,
                "thumbprint": certificate.thumbprint.to_string(),
                "name": name(one),
                "key": key_of(certificate),
                "subject": certificate.subject,
                "application_uri": certificate.application_uri,
                "not_before": certificate.not_before,
                "not_after": certificate.not_after,
                "file": one.path.display().to_string(),
            }))
            .into_diagnostic()?;
    }
    Ok(())
}

/// Returns the name of a certificate: an own one is named by its file, as `takt trust renew` expects it.
fn name(stored: &StoredCertificate) -> &str {
    match &*stored.certificate.common_name {
        "" => "-",
        name => name,
    }
}

/// Returns the kind of a certificate's key: with elliptic curves an application has several certificates.
fn key_of(certificate: &Certificate) -> String {
    match certificate.key_kind {
        Some(KeyKind::Rsa) => format!("RSA {}", certificate.key_bits),
        Some(kind) => kind.to_string(),
        None => "unknown".to_owned(),
    }
}

/// Returns a text of a peer without characters that control a terminal.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .take(80)
        .collect()
}

fn validity(certificate: &Certificate) -> String {
    const DAY: i64 = 24 * 3600;
    let now = now();
    let left = certificate.not_after.saturating_sub(now);
    if certificate.not_before > now {
        "not yet".to_owned()
    } else if left < 0 {
        "expired".to_owned()
    } else {
        format!("{} days", left / DAY)
    }
}

/// Returns the certificate that `text` names: the beginning of a thumbprint, or a file.
fn find(store: &CertificateStore, text: &str) -> miette::Result<Certificate> {
    if Path::new(text).is_file() {
        return Certificate::from_file(Path::new(text))
            .map_err(|error| explain::with_help(error, "A certificate is a file in DER or PEM."));
    }
    let wanted = text.to_ascii_uppercase();
    let is_hexadecimal = wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    if wanted.len() < SHORTEST || !is_hexadecimal {
        return Err(explain::with_help(
            format!("`{text}` is neither a file nor a thumbprint"),
            "`takt trust list` shows the thumbprints; the first 8 digits are enough.",
        ));
    }
    let mut found: Vec<Certificate> = all(store)
        .into_iter()
        .map(|(_, stored)| stored.certificate)
        .filter(|one| one.thumbprint.to_string().starts_with(&wanted))
        .collect();
    found.dedup_by_key(|one| one.thumbprint);
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(explain::with_help(
            format!("no certificate has the thumbprint {wanted}"),
            "`takt trust list` shows the thumbprints. A peer's certificate is kept when its first connection is refused.",
        )),
        _ => Err(explain::with_help(
            format!("several certificates have a thumbprint that begins with {wanted}"),
            "Give more digits.",
        )),
    }
}

fn add(store: &CertificateStore, text: &str, issuer: bool) -> miette::Result<()> {
    let failed = |error| explain::with_help(error, "Is the folder writable?");
    if Path::new(text).extension().is_some_and(|end| end == "crl") {
        let der = std::fs::read(text).into_diagnostic()?;
        let path = store.add_revocation_list(&der).map_err(failed)?;
        output::line(format_args!("{} is in use", path.display()));
        return Ok(());
    }
    let certificate = find(store, text)?;
    let (path, is) = match issuer {
        true => (store.add_issuer(&certificate), "completes chains"),
        false => (store.trust(&certificate), "is trusted"),
    };
    path.map_err(failed)?;
    output::line(format_args!(
        "{} ({}) {is}",
        printable(&certificate.subject),
        certificate.thumbprint
    ));
    Ok(())
}

fn reject(store: &CertificateStore, text: &str) -> miette::Result<()> {
    let certificate = find(store, text)?;
    let own = store.own_certificates();
    if own.iter().any(|own| own.certificate == certificate) {
        return Err(explain::with_help(
            "this is an own certificate, which is trusted as long as it is in the folder",
            "`takt trust renew NAME` replaces it.",
        ));
    }
    let rejected = store.reject(&certificate);
    rejected.map_err(|error| explain::with_help(error, "Is the folder writable?"))?;
    output::line(format_args!(
        "{} ({}) is not trusted any more; open connections end with their next token",
        printable(&certificate.subject),
        certificate.thumbprint
    ));
    Ok(())
}

fn renew(
    store: &CertificateStore,
    name: &str,
    hosts: &[String],
    key: Option<KeyKind>,
) -> miette::Result<()> {
    let wanted = KeyKind::ALL.into_iter();
    let wanted = wanted.filter(|kind| key.is_none_or(|key| key == *kind));
    let mut renewed = 0;
    for kind in wanted {
        let known = store.existing(name, kind).map_err(|error| {
            explain::with_help(error, "Remove the two files of the application.")
        })?;
        let Some(known) = known else {
            continue;
        };
        let uri = known.certificate().application_uri.clone();
        let new = certificates::describe(name, &uri.unwrap_or_default(), hosts.to_vec());
        let identity = store.renew(&new, kind);
        let identity =
            identity.map_err(|error| explain::with_help(error, "Is the folder writable?"))?;
        output::line(format_args!(
            "{name} has a new {kind} certificate, {}; peers have to trust it",
            identity.thumbprint()
        ));
        renewed += 1;
    }
    match renewed {
        0 => Err(explain::with_help(
            format!("there is no such certificate of an application {name}"),
            "`takt trust list` shows the names in the folder `own`.",
        )),
        _ => Ok(()),
    }
}

fn show(store: &CertificateStore, text: &str) -> miette::Result<()> {
    let one = find(store, text)?;
    let joined = |parts: Vec<String>| match parts.is_empty() {
        true => "-".to_owned(),
        false => printable(&parts.join(", ")),
    };
    let addresses = one.addresses.iter().map(ToString::to_string).collect();
    let serial = one
        .serial
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    for (what, value) in [
        ("subject", printable(&one.subject)),
        ("issuer", printable(&one.issuer)),
        (
            "ApplicationUri",
            printable(one.application_uri.as_deref().unwrap_or("-")),
        ),
        ("host names", joined(one.host_names.clone())),
        ("addresses", joined(addresses)),
        ("serial number", serial),
        ("valid", validity(&one)),
        ("key", key_of(&one)),
        ("thumbprint", one.thumbprint.to_string()),
    ] {
        output::line(format_args!("{what:<15} {value}"));
    }
    Ok(())
}
