//! Lists of certificates, and choices from them.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_crypto::{Certificate, KeyKind, PolicyProfile, RevocationList, StoreError, now};
use takt_figures::{Column, Report, Table};

use super::changed::Changed;
use crate::output::joined;
use crate::{explain, output};

/// Shortest beginning of a thumbprint that names a certificate.
const SHORTEST: usize = 8;

/// Digits of a thumbprint that a list shows, as it has to fit a terminal. JSON and `takt trust show` have all.
const SHOWN: usize = 16;

/// A certificate in a list.
pub(super) struct Listed {
    pub(super) folder: &'static str,
    pub(super) certificate: Certificate,
    /// The file, unless it is at another host.
    pub(super) file: Option<PathBuf>,
}

/// A revocation list in a list.
pub(super) struct ListedRevocations {
    pub(super) list: RevocationList,
    /// The file, unless it is at another host.
    pub(super) file: Option<PathBuf>,
}

/// Shows certificates, and the revocation lists of trusted and of other issuers; `none` is said if there are none.
pub(super) fn show(
    all: &[Listed],
    lists: &[Vec<ListedRevocations>; 2],
    none: &str,
    json: bool,
) -> miette::Result<()> {
    let mut report = Report::new(output::line, json);
    if all.is_empty() && lists.iter().all(Vec::is_empty) {
        report.line(none);
        return Ok(());
    }
    let mut table = Table::new([
        Column::text("folder"),
        Column::text("thumbprint").whole(),
        Column::text("name"),
        Column::text("key"),
        Column::text("ApplicationUri"),
        Column::text("valid"),
    ]);
    for one in all {
        let certificate = &one.certificate;
        table.row([
            one.folder.to_owned(),
            // A thumbprint has 40 digits (SHA-1).
            certificate.thumbprint.to_string()[..SHOWN].to_owned(),
            printable(name(certificate)),
            key_of(certificate),
            printable(certificate.application_uri.as_deref().unwrap_or("-")),
            validity(certificate),
        ]);
    }
    let lists = || {
        let folders = ["trusted", "issuer"].into_iter().zip(lists);
        folders.flat_map(|(folder, lists)| lists.iter().map(move |one| (folder, one)))
    };
    for (folder, ListedRevocations { list, .. }) in lists() {
        table.row([
            folder.to_owned(),
            "CRL".to_owned(),
            printable(&list.issuer),
            format!("{} revoked", list.revoked_count()),
            "-".to_owned(),
            list.next_update.map_or("always".to_owned(), time_left),
        ]);
    }
    report.table(&table);
    for one in all {
        let certificate = &one.certificate;
        let row = certificate_row(Some(one.folder), certificate, one.file.as_deref());
        report.row(&row).into_diagnostic()?;
    }
    for (folder, ListedRevocations { list, file }) in lists() {
        let row = list_row(Some(folder), list, file.as_deref());
        report.row(&row).into_diagnostic()?;
    }
    Ok(())
}

/// Returns a certificate for programs. Times are in seconds since 1970.
pub(super) fn certificate_row(
    folder: Option<&str>,
    certificate: &Certificate,
    file: Option<&Path>,
) -> Value {
    json!({
        "folder": folder,
        "thumbprint": certificate.thumbprint.to_string(),
        "name": name(certificate),
        "key": key_of(certificate),
        "subject": certificate.subject,
        "applicationUri": certificate.application_uri,
        "notBefore": certificate.not_before,
        "notAfter": certificate.not_after,
        "file": file.map(|file| file.display().to_string()),
    })
}

/// Returns a revocation list for programs. Times are in seconds since 1970.
pub(super) fn list_row(folder: Option<&str>, list: &RevocationList, file: Option<&Path>) -> Value {
    json!({
        "folder": folder,
        "revocationListOf": list.issuer,
        "thisUpdate": list.this_update,
        "nextUpdate": list.next_update,
        "revoked": list.revoked_count(),
        "file": file.map(|file| file.display().to_string()),
    })
}

/// Returns the name of a certificate, as `takt trust renew` expects it.
fn name(certificate: &Certificate) -> &str {
    match &*certificate.common_name {
        "" => "-",
        name => name,
    }
}

/// Returns the kind of a certificate's key: with elliptic curves an application has several certificates.
pub(super) fn key_of(certificate: &Certificate) -> String {
    match certificate.key_kind {
        Some(KeyKind::Rsa) => format!("RSA {}", certificate.key_bits),
        Some(kind) => kind.to_string(),
        None => "unknown".to_owned(),
    }
}

/// Returns the beginning of a text of a peer, without characters that control a terminal.
pub(super) fn printable(text: &str) -> String {
    output::printable(text).chars().take(80).collect()
}

pub(super) fn validity(certificate: &Certificate) -> String {
    match certificate.not_before > now() {
        true => "not yet".to_owned(),
        false => time_left(certificate.not_after),
    }
}

/// Returns the days until a time in seconds since 1970.
fn time_left(end: i64) -> String {
    const DAY: i64 = 24 * 3600;
    match end.saturating_sub(now()) {
        ..0 => "expired".to_owned(),
        left => format!("{} days", left / DAY),
    }
}

/// Shows a revocation list with the serial numbers of the revoked certificates, one in each line.
pub(super) fn show_list(list: &RevocationList, json: bool) {
    if json {
        let serials: Vec<String> = list
            .revoked_serials()
            .into_iter()
            .map(hexadecimal)
            .collect();
        output::line(joined(
            list_row(None, list, None),
            json!({"revokedSerialNumbers": serials}),
        ));
        return;
    }
    let day = |time: i64| {
        takt_ua::DateTime::from_unix_nanos(time.saturating_mul(1_000_000_000)).to_iso8601()
    };
    let next = list
        .next_update
        .map(|time| format!("{} ({})", day(time), time_left(time)));
    for (what, value) in [
        ("issuer", printable(&list.issuer)),
        ("issued", day(list.this_update)),
        ("next list", next.unwrap_or_else(|| "-".to_owned())),
        ("revoked", list.revoked_count().to_string()),
    ] {
        output::line(format_args!("{what:<15} {value}"));
    }
    for serial in list.revoked_serials() {
        output::line(format_args!("{:<15} {}", "", hexadecimal(serial)));
    }
}

/// Returns the digits of a serial number.
pub(super) fn hexadecimal(serial: &[u8]) -> String {
    serial.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Returns the revocation list in a file. Other files are `None`, unless the name ends in .crl.
pub(super) fn revocation_list(text: &str) -> miette::Result<Option<RevocationList>> {
    let path = Path::new(text);
    match RevocationList::from_file(path) {
        Ok(list) => Ok(Some(list)),
        Err(error) if path.extension().is_some_and(|end| end == "crl") => {
            let error = match error {
                StoreError::Certificate { path, .. } => {
                    format!("{} is not a revocation list", path.display())
                }
                error => error.to_string(),
            };
            let help = "A revocation list (CRL) is a file in DER or PEM.";
            Err(explain::with_help(error, help))
        }
        Err(_) => Ok(None),
    }
}

/// Returns warnings of a certificate that is trusted now, but that no peer can use: because of itself, or of what `known` certificates
/// and `lists` lack.
pub(super) fn shortcomings(
    certificate: &Certificate,
    known: &[Certificate],
    lists: &[RevocationList],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(error) = certificate.shortcoming(&PolicyProfile::ALL, now()) {
        warnings.push(format!(
            "connections with this certificate are refused all the same: {error}"
        ));
    }
    let issuer = match certificate.is_issuer() {
        true => Some(certificate),
        // Nobody else vouches for it, so no revocation list is needed.
        false if certificate.is_self_issued() => return warnings,
        false => known.iter().find(|one| certificate.names_issuer(one)),
    };
    match issuer {
        None => warnings.push(format!(
            "the certificate of its issuer (CA), {}, is unknown: `takt trust add FILE --issuer` adds it, unless the peer sends it",
            printable(&certificate.issuer)
        )),
        Some(issuer) if !lists.iter().any(|list| list.names_issuer(issuer)) => {
            warnings.push(format!(
                "certificates of {} are refused until its revocation list is known: `takt trust add FILE.crl`",
                printable(&issuer.subject)
            ));
        }
        Some(_) => {}
    }
    warnings
}

/// Explains why a revocation list is refused that is older than the one in use.
pub(super) fn older_list() -> miette::Report {
    explain::with_help(
        "a newer revocation list of the same issuer is in use",
        "An older one would accept certificates that were revoked since. `takt trust reject FILE.crl` removes the one in use.",
    )
}

/// Returns the removal of a revocation list, and the consequence.
pub(super) fn removed(list: &RevocationList) -> Changed {
    Changed {
        text: format!(
            "the revocation list of {} is removed; its certificates are refused until there is another one",
            printable(&list.issuer)
        ),
        object: list_row(None, list, None),
        warnings: Vec::new(),
    }
}

/// Returns warnings of a revocation list that has no effect: it has expired, or is of an issuer that is not among the `known`
/// certificates.
pub(super) fn shortcomings_of_list(list: &RevocationList, known: &[Certificate]) -> Vec<String> {
    let mut warnings = Vec::new();
    if list.next_update.is_some_and(|end| end < now()) {
        warnings.push(
            "the revocation list has expired: certificates of its issuer are refused".to_owned(),
        );
    }
    if !known.iter().any(|one| list.names_issuer(one)) {
        warnings.push(format!(
            "its issuer, {}, is unknown: `takt trust add FILE` trusts it",
            printable(&list.issuer)
        ));
    }
    warnings
}

/// Returns a warning if a certificate that was rejected stays accepted, because its issuer is trusted.
pub(super) fn accepted_by_issuer(
    certificate: &Certificate,
    trusted: &[Certificate],
) -> Option<String> {
    let mut issuers = trusted.iter();
    let is_issuer = |issuer: &&Certificate| {
        // Anybody can write the name of an issuer into a certificate; only its key signs.
        certificate.names_issuer(issuer) && certificate.verify_signed_by(issuer).is_ok()
    };
    if certificate.is_self_issued() {
        return None;
    }
    let issuer = issuers.find(is_issuer)?;
    Some(format!(
        "the certificate is still accepted, because its issuer, {}, is trusted: the issuer has to revoke it, and \
         `takt trust add FILE.crl` adds its new revocation list",
        printable(&issuer.subject)
    ))
}

/// Returns the certificate that `text` names: the beginning of a thumbprint of one of `known`, or a file.
pub(super) fn find(
    known: impl Iterator<Item = Certificate>,
    text: &str,
) -> miette::Result<Certificate> {
    if Path::new(text).is_file() {
        return Certificate::from_file(Path::new(text)).map_err(|error| {
            let help = match error {
                StoreError::Content { .. } => {
                    "A file with one certificate is needed. Of several, usually the first one is that of the application, and the \
                     following ones are those of its issuers (CA)."
                }
                _ => "A certificate is a file in DER or PEM.",
            };
            explain::with_help(error, help)
        });
    }
    let wanted = text.to_ascii_uppercase();
    let is_hexadecimal = wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    if wanted.len() < SHORTEST || !is_hexadecimal {
        return Err(explain::with_help(
            format!("`{text}` is neither a file nor a thumbprint"),
            "`takt trust list` shows the thumbprints; the first 8 digits are enough.",
        ));
    }
    let is_named = |one: &Certificate| one.thumbprint.to_string().starts_with(&wanted);
    let mut found: Vec<Certificate> = known.filter(is_named).collect();
    // The same certificate may be in several folders.
    found.sort_by_key(|one| one.thumbprint);
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
