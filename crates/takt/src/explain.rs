//! Errors for people: the cause, and the remedy.

mod remedy;
mod serving;
mod shared_memory;
mod shell;
mod status_code;

use std::path::Path;

use miette::{LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity};
use takt_app::certificates::CertificatesError;
use takt_app::{
    ClientError, DatabaseFault, DatabaseFileError, HistoryError, HistoryStartError, ProviderError,
    StateDirectoryError,
};
use takt_capture::ForeignFormat;
use takt_crypto::{CertificateError, StoreError};
use takt_plant::PlantError;
use takt_pubsub::configuration::TomlError;
use takt_registry::{DatabaseError, HistoryPatternError, RegistryError};
use takt_scenario::ScenarioError;
use takt_ua::StatusCode;

use crate::output;
use remedy::trust_command;
use serving::serve;
use shared_memory::GROUPS;

pub use remedy::name_commands;
pub use shared_memory::shared_memory;
pub use shell::{shell_path, shell_word};
pub use takt_terminal::with_help;

/// Explains an error of a Client, with advice.
pub fn client(error: &ClientError) -> Report {
    let mut diagnostic = MietteDiagnostic::new(error.to_string()).with_severity(Severity::Error);
    if let Some(help) = advice(error) {
        diagnostic = diagnostic.with_help(help);
    }
    Report::new(diagnostic)
}

/// Explains why a Provider could not be started, with advice.
pub fn provider(error: &ProviderError) -> Report {
    match error {
        ProviderError::Serve(error) => serve(error),
        ProviderError::StateDirectory(error) => state_directory(error),
        ProviderError::History(HistoryStartError::Store(error)) => history(error),
        error => Report::new(MietteDiagnostic::new(error.to_string())),
    }
}

/// Explains why a registry could not be started, with advice.
pub fn registry(error: &RegistryError) -> Report {
    match error {
        RegistryError::Serve(error) => serve(error),
        RegistryError::Database(error) => database(error),
        RegistryError::Name { found, .. } => with_help(
            error,
            format!("Use --name {found}, or --data for another directory."),
        ),
        RegistryError::Mirror(_) => with_help(error, "--mirror NAME=URL gives a mirror a name."),
        RegistryError::MirrorInterval(_) => {
            with_help(error, "--mirror-interval 250ms is an example.")
        }
        RegistryError::OwnRegistration(url) => {
            with_help(error, format!("Leave out --register-at {url}."))
        }
        RegistryError::HistoryPattern(HistoryPatternError::Variables(_)) => with_help(
            error,
            "--history 'Machine/*' records all Variables of a Provider.",
        ),
        RegistryError::HistoryPattern(HistoryPatternError::Events(_)) => with_help(
            error,
            "--history-events Server records all Events; --where of `takt history --events` chooses those of one source.",
        ),
        RegistryError::History(HistoryStartError::Store(error)) => history(error),
        RegistryError::NodeSetFile { path, .. } => {
            // The content is for the advice alone. If it cannot be read, the error itself says why.
            let first = std::fs::read(path).unwrap_or_default();
            match takt_capture::foreign_format(&first) {
                Some(found) => with_help(
                    format!("{} is {}, not a NodeSet", path.display(), found.name),
                    foreign_advice(found),
                ),
                None => Report::new(MietteDiagnostic::new(error.to_string())),
            }
        }
        error => Report::new(MietteDiagnostic::new(error.to_string())),
    }
}

/// Explains why the file of a history cannot be used, with advice.
fn history(error: &HistoryError) -> Report {
    match error {
        HistoryError::File(error) => database_file(
            error,
            "Restore a copy of the file; or move it away (`mv history.redb history.redb.damaged`): the next start begins a new \
             history.",
        ),
        error => Report::new(MietteDiagnostic::new(error.to_string())),
    }
}

/// Explains why a database cannot be used, with advice.
fn database(error: &DatabaseError) -> Report {
    let lost = "Restore a copy of the file; or move it away (`mv registry.redb registry.redb.damaged`) and start with an empty one: \
                Providers register again by themselves, with the same NodeIds but perhaps other NamespaceIndexes, those over opc.tcp \
                need a new secret (remove NAME.secret in their state folder), and SecurityGroups get new keys.";
    match error {
        DatabaseError::Directory(error) => state_directory(error),
        DatabaseError::File(error) => database_file(error, lost),
        DatabaseError::Record { .. } => with_help(error, lost),
        error => with_help(
            error,
            "Check for free space on the disk, and the disk itself.",
        ),
    }
}

/// Explains why a database file cannot be used. `lost` is advice for lost content.
fn database_file(error: &DatabaseFileError, lost: &str) -> Report {
    let help = match &error.fault {
        DatabaseFault::Empty
        | DatabaseFault::Damaged(_)
        | DatabaseFault::Foreign(_)
        | DatabaseFault::NoFile => lost,
        DatabaseFault::InUse => {
            "Stop the other process, or give this one a folder of its own (--data)."
        }
        DatabaseFault::Format { .. } => {
            "Use the version of Takt that wrote the file, or another folder (--data)."
        }
        DatabaseFault::Storage(_) => {
            let disk = "Check for free space on the disk, and the disk itself.";
            error.io_error().map_or(disk, file_help)
        }
    };
    with_help(error, help)
}

/// Explains why certificates cannot be used.
pub fn certificates(error: &CertificatesError) -> Report {
    match error {
        CertificatesError::Folder(error) => state_directory(error),
        CertificatesError::Store(error) => with_help(
            error,
            "Is the folder readable and writable for this user alone? Remove a damaged certificate and its key from the folders \
             `own/certs` and `own/private`: the next start makes new ones, which the peers have to trust.",
        ),
    }
}

/// Explains why a state folder cannot be used.
pub fn state_directory(error: &StateDirectoryError) -> Report {
    let help = match error {
        StateDirectoryError::Unknown | StateDirectoryError::Relative { .. } => {
            "Set HOME or XDG_STATE_HOME to an absolute path of a folder of this user, or give the registry one with --data."
        }
        StateDirectoryError::Owner { .. } => {
            "Secrets and keys are kept there: it must belong to the user that runs this. For a server of another user, run this as \
             that user (`sudo -u USER takt ...`). Else name another folder with XDG_STATE_HOME, or --data of the registry."
        }
        StateDirectoryError::Mode { .. } => {
            "Secrets and keys are kept there: only its owner may write it (`chmod go-w FOLDER`), or name another folder with \
             XDG_STATE_HOME, or --data of the registry."
        }
        StateDirectoryError::Io { .. } => {
            "Check for free space on the disk, or name another folder with XDG_STATE_HOME, or --data of the registry."
        }
    };
    with_help(error, help)
}

/// Returns the way to what is in a file of another kind.
fn foreign_advice(found: ForeignFormat) -> &'static str {
    match found {
        ForeignFormat::CAPTURE => "`takt pubsub decode` and `takt analyze` read captures.",
        ForeignFormat { advice, .. } => advice,
    }
}

/// Refuses a file of another kind, which it names; `wanted` is the right kind, with its article.
pub fn refuse_foreign(bytes: &[u8], name: &str, wanted: &str) -> miette::Result<()> {
    match takt_capture::foreign_format(bytes) {
        Some(found) => Err(with_help(
            format!("{name} is {}, not {wanted}", found.name),
            foreign_advice(found),
        )),
        None => Ok(()),
    }
}

/// Returns what helps against an error of a file that is read or written.
pub fn file_help(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;

    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "The disk is full: make room. The file has its old content."
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "Run this as the user to whom the folder belongs (`sudo -u USER takt ...`), or name a folder that this user can write."
        }
        ErrorKind::NotFound => "Is the name right? The folder has to exist.",
        _ => "Check the file and its folder: `ls -la` shows owner and mode.",
    }
}

/// Explains why a folder of certificates cannot be changed.
pub fn store(error: &StoreError) -> Report {
    let help = match error {
        StoreError::Io { source, .. } => file_help(source),
        _ => "`takt trust --help` tells more.",
    };
    with_help(error, help)
}

/// Explains a mistake in a PubSub configuration, and shows it in the text.
pub fn configuration(name: &str, text: &str, error: &TomlError) -> Report {
    let help = "docs/pubsub.md is the reference of this file.";
    let diagnostic = MietteDiagnostic::new(format!("{name}: {error}")).with_help(help);
    let Some(span) = error.span.clone() else {
        return Report::new(diagnostic);
    };
    // Only the first line of a long part is shown.
    let first_line = text.get(span.clone()).and_then(|part| part.lines().next());
    let end = span.start + first_line.map_or(0, str::len);
    let label = LabeledSpan::at(span.start..end, "here");
    let source =
        NamedSource::new(output::printable(name), output::shown_source(text)).with_language("TOML");
    Report::new(diagnostic.with_label(label)).with_source_code(source)
}

/// Returns line and column of the place that an error shows, from 1. The column counts characters.
pub fn place(error: &Report) -> Option<(usize, usize)> {
    let label = error.labels()?.next()?;
    let before = (0, label.offset()).into();
    let content = error.source_code()?.read_span(&before, 0, 0).ok()?;
    let before = String::from_utf8_lossy(content.data());
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    Some((line, column.chars().count() + 1))
}

/// Longest line that is shown, in bytes. A longer line would fill the screen; line and column have to suffice.
const LONGEST_SHOWN: usize = 500;

/// Returns the line of a position.
fn line_at(text: &str, place: usize) -> &str {
    let (before, behind) = text.split_at_checked(place).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = behind
        .find('\n')
        .map_or(text.len(), |end| before.len() + end);
    text.get(start..end).unwrap_or_default()
}

/// Explains the mistakes in a scenario, and shows each in the text.
pub fn scenario(text: &str, error: &ScenarioError) -> Report {
    scenario_with_help(
        text,
        error,
        "docs/scenario.md is the reference of this file.",
    )
}

/// Explains the mistakes in a scenario, with this advice, and shows each in the text.
pub fn scenario_with_help(text: &str, error: &ScenarioError, help: &str) -> Report {
    let count = error.mistakes.len();
    let (first, more) = match error.mistakes.first() {
        Some(first) if count == 1 => (first.to_string(), String::new()),
        Some(first) => (first.to_string(), format!(" (and {} more)", count - 1)),
        None => (error.to_string(), String::new()),
    };
    let labels = error.mistakes.iter().map(|mistake| {
        let label = match &mistake.help {
            Some(help) => format!("{}: {help}", mistake.message),
            None => mistake.message.clone(),
        };
        let part = text.get(mistake.span.clone()).unwrap_or_default();
        let length = part
            .lines()
            .next()
            .map_or(0, str::len)
            // A label without length would not show where the mistake is.
            .max(usize::from(!text.is_empty()));
        LabeledSpan::at(mistake.span.start..mistake.span.start + length, label)
    });
    let diagnostic =
        MietteDiagnostic::new(format!("{}: {first}{more}", error.file)).with_help(help);
    let is_shown = |span: &std::ops::Range<usize>| line_at(text, span.start).len() <= LONGEST_SHOWN;
    if !error.mistakes.iter().all(|mistake| is_shown(&mistake.span)) {
        return Report::new(diagnostic);
    }
    let diagnostic = diagnostic.with_labels(labels);
    let source = NamedSource::new(output::printable(&error.file), output::shown_source(text))
        .with_language("TOML");
    Report::new(diagnostic).with_source_code(source)
}

/// Explains the mistakes in a network file, and shows each in the text.
pub fn network(text: &str, error: &ScenarioError) -> Report {
    scenario_with_help(text, error, "docs/plant.md is the reference of this file.")
}

/// Explains why configurations and a network file make no scenario; `text` is that of the network file.
pub fn plant(text: &str, error: &PlantError) -> Report {
    match error {
        PlantError::Network(error) => network(text, error),
        PlantError::Configurations(_) => with_help(
            error,
            "docs/plant.md names the messages that a scenario can have.",
        ),
        PlantError::Scenario { text, error } => scenario_with_help(
            text,
            error,
            "The files are read, and the scenario that they make is shown. Change the values that its comments name.",
        ),
    }
}

/// Advice on servers that require secure channels.
const SECURITY: &str = "The server has no endpoint without security. Without --security none, the most secure endpoint is used.";

/// Advice on a server's certificate that did not pass a check.
fn refused_certificate(
    thumbprint: &str,
    certificates: Option<&Path>,
    issuer: &str,
    cause: CertificateError,
) -> String {
    let command = |words: &str| trust_command(words, certificates);
    let trust = |action| command(&format!("{action} {thumbprint}"));
    match cause {
        CertificateError::ChainIncomplete => format!(
            "The issuer (CA) {issuer} is unknown. `{}` trusts it, and `{}` adds its revocation list, without which its certificates are \
             refused.",
            command("add CA.der"),
            command("add CA.crl")
        ),
        CertificateError::Untrusted => format!(
            "If the server's administrator confirms this thumbprint, `{}` trusts it. `{}` shows the certificate.",
            trust("add"),
            trust("show")
        ),
        CertificateError::HostName => format!(
            "`{}` shows the names and addresses in the certificate: use one of them in the URL, renew the server's certificate \
             (`takt trust renew NAME --host HOST` at a server of Takt), or accept the difference with `--any-host`.",
            trust("show")
        ),
        CertificateError::Time | CertificateError::IssuerTime => {
            "Renew the server's certificate (`takt trust renew NAME` at a server of Takt), or correct the clock of this host.".to_owned()
        }
        CertificateError::PolicyCheck => {
            "The server needs a certificate with SHA-256 and an RSA key of 2048 to 4096 bits.".to_owned()
        }
        CertificateError::RevocationUnknown | CertificateError::IssuerRevocationUnknown => {
            format!(
                "`{}` adds the revocation list of the issuer (CA).",
                command("add FILE.crl")
            )
        }
        _ => "The server needs another certificate; its administrator can tell more.".to_owned(),
    }
}

/// Advice on a server that has no endpoint with the wanted security; `possible` are choices that it has endpoints for.
fn no_endpoint(possible: &[String], wanted: &str) -> String {
    if possible.is_empty() {
        return "--security none connects without security: only on a network that trusted hosts alone can reach.".to_owned();
    }
    let curves = match wanted.starts_with("ECC_") {
        true => {
            " A server of Takt offers policies with elliptic curves if it is started with --curves."
        }
        false => "",
    };
    format!(
        "The server has endpoints for --security {}. Without --security, the most secure one is used; on the loopback interface, none if the \
         server offers that.{curves}",
        possible.join(", ")
    )
}

/// Advice on a server that refused the certificate of this application: it fails the check `own` here too, or only trust may be
/// missing.
fn refused_here(
    thumbprint: &str,
    issuer: Option<&str>,
    own: Option<CertificateError>,
    status: StatusCode,
) -> String {
    match (own, status) {
        (Some(CertificateError::Time), _) => format!(
            "The certificate of this application, {thumbprint}, has expired or is not valid yet. `takt trust list` shows its name and \
             `takt trust renew NAME` replaces it, unless --certificate names it. Is the clock of this host right?"
        ),
        (Some(_), _) => format!(
            "The certificate of this application, {thumbprint}, uses SHA-1, or a key that the SecurityPolicy does not allow. RSA keys \
             have at least 2048 bits. `takt trust renew NAME` makes another one; or name another with --certificate."
        ),
        (
            None,
            StatusCode::BadCertificateTimeInvalid | StatusCode::BadCertificateIssuerTimeInvalid,
        ) => format!(
            "By the clock of this host, the certificate {thumbprint} of this application is valid: compare the clocks of both hosts. \
             That of an issuer (CA) may have expired."
        ),
        (None, StatusCode::BadCertificateUriInvalid | StatusCode::BadCertificateUseNotAllowed) => {
            format!(
                "The certificate {thumbprint} of this application lacks its ApplicationUri, or is not for this use (KeyUsage). \
             `takt trust show {thumbprint}` shows it, and `takt trust renew NAME` makes another one."
            )
        }
        (None, _) => {
            let trusted_with = match issuer {
                // The certificate alone would not be accepted there.
                Some(issuer) => format!(
                    "`takt trust add CA.der` trusts its issuer (CA), {issuer}, and `takt trust add CA.crl` adds the revocation list"
                ),
                None => format!("`takt trust add {thumbprint}` trusts it"),
            };
            format!(
                "The server does not trust this application yet: its certificate has the thumbprint {thumbprint}. At a server of Takt, \
                 {trusted_with}. If it is trusted there, the log of the server tells which check failed: the certificate may be revoked."
            )
        }
    }
}

/// Returns advice on an error of a Client.
pub fn advice(error: &ClientError) -> Option<String> {
    Some(match error {
        ClientError::AccessDenied { .. } | ClientError::Group(_) => GROUPS.to_owned(),
        ClientError::Unreachable { endpoint, .. } if endpoint.starts_with("opc.iox2://") => {
            "Is the application running, under this name, on this host, as this user? \
             `takt demo` starts a registry and two Providers."
                .to_owned()
        }
        ClientError::Unreachable { .. } => {
            "Is the server running, and is this its address and port?".to_owned()
        }
        ClientError::Timeout { .. } => {
            "Increase --timeout, or check whether the server hangs.".to_owned()
        }
        ClientError::SecurityRequired { .. } => SECURITY.to_owned(),
        ClientError::NoSecureEndpoint {
            possible, wanted, ..
        } => no_endpoint(possible, wanted),
        ClientError::ServerCertificate {
            thumbprint,
            certificates,
            issuer,
            cause,
            ..
        } => refused_certificate(thumbprint, certificates.as_deref(), issuer, *cause),
        ClientError::NotTrusted {
            thumbprint,
            issuer,
            own,
            status,
            ..
        } => refused_here(thumbprint, issuer.as_deref(), *own, *status),
        ClientError::Proof { .. } => {
            "Somebody between this host and the server may change messages. Do not use --security none.".to_owned()
        }
        ClientError::Certificates { .. } => {
            "--certificate and --private-key name files of a certificate; --certificates names a folder.".to_owned()
        }
        ClientError::CertificateKind { .. } => {
            "Leave out --certificate, and one of this kind is created; or choose another SecurityPolicy with --security.".to_owned()
        }
        ClientError::UserCertificate(_) => {
            "--user-certificate names a certificate in DER or PEM, --user-private-key its private key in PEM.".to_owned()
        }
        ClientError::Identity { .. } => {
            "--user gives a name, --user-certificate a certificate, --token a JSON Web Token. A password is sent encrypted, or on the \
             loopback interface only; a token is sent encrypted only: --security encrypt."
                .to_owned()
        }
        ClientError::NoSuchType { .. } => {
            "Types come from NodeSets: `takt registry --nodeset FILE` loads one, and a Provider \
             may bring its own."
                .to_owned()
        }
        _ => return status_code::advice(error).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_of_an_unknown_issuer_is_not_to_be_trusted_alone() {
        let failed = CertificateError::ChainIncomplete;
        let server = refused_certificate("0123ABCD", None, "CN=Plant CA", failed);
        let status = StatusCode::BadSecurityChecksFailed;
        let client = refused_here("0123ABCD", Some("CN=Plant CA"), None, status);
        for advice in [server, client] {
            assert!(advice.contains("CN=Plant CA"), "{advice}");
            assert!(advice.contains("`takt trust add CA.der`"), "{advice}");
            assert!(!advice.contains("trust add 0123ABCD"), "{advice}");
        }
        let folder = Path::new("/its pki");
        let missing = CertificateError::RevocationUnknown;
        for cause in [failed, missing, CertificateError::Untrusted] {
            let advice = refused_certificate("0123ABCD", Some(folder), "CN=Plant CA", cause);
            let commands = advice.matches("takt trust").count();
            let options = advice.matches(" --certificates '/its pki'`").count();
            assert_eq!(commands, options, "{advice}");
        }
        let self_signed = refused_here("0123ABCD", None, None, status);
        assert!(self_signed.contains("`takt trust add 0123ABCD`"));
    }
}
