//! Certificates in the folders of this user.

use serde_json::json;
use takt_app::certificates;
use takt_crypto::{Certificate, CertificateStore, KeyKind, StoreError, StoredCertificate};

use super::changed::Changed;
use super::listing::{
    self, Listed, ListedRevocations, certificate_row, key_of, list_row, printable, validity,
};
use crate::output::joined as joined_objects;
use crate::{explain, output};

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

pub(super) fn list(store: &CertificateStore, json: bool) -> miette::Result<()> {
    let all = all(store).into_iter();
    let all = all.map(|(folder, stored)| Listed {
        folder,
        certificate: stored.certificate,
        file: Some(stored.path),
    });
    let none = format!(
        "no certificates in {}: an application creates its own at its first start",
        store.root().display()
    );
    let lists = store.stored_revocation_lists().map(|lists| {
        let listed = lists.into_iter().map(|one| ListedRevocations {
            list: one.list,
            file: Some(one.path),
        });
        listed.collect()
    });
    listing::show(&all.collect::<Vec<_>>(), &lists, &none, json)
}

/// Returns the certificate that `text` names: the beginning of a thumbprint, or a file.
fn find(store: &CertificateStore, text: &str) -> miette::Result<Certificate> {
    let known = all(store).into_iter();
    listing::find(known.map(|(_, stored)| stored.certificate), text)
}

pub(super) fn add(store: &CertificateStore, text: &str, issuer: bool) -> miette::Result<Changed> {
    if let Some(list) = listing::revocation_list(text)? {
        let path = store
            .add_revocation_list(&list)
            .map_err(|error| match error {
                StoreError::OlderList { .. } => listing::older_list(),
                StoreError::Certificate { .. } => explain::with_help(
                    format!("{text} was not signed by its issuer"),
                    "Ask the issuer (CA) for its revocation list.",
                ),
                error => explain::store(&error),
            })?;
        return Ok(Changed {
            text: format!("{} is in use", path.display()),
            object: list_row(Some("trusted"), &list, Some(&path)),
            warnings: listing::shortcomings_of_list(&list, &known(store)),
        });
    }
    let certificate = find(store, text)?;
    let (folder, path, is) = match issuer {
        true => ("issuer", store.add_issuer(&certificate), "completes chains"),
        false => ("trusted", store.trust(&certificate), "is trusted"),
    };
    let path = path.map_err(|error| explain::store(&error))?;
    let lists = store.revocation_lists().concat();
    Ok(Changed {
        text: format!(
            "{} ({}) {is}",
            printable(&certificate.subject),
            certificate.thumbprint
        ),
        object: certificate_row(Some(folder), &certificate, Some(&path)),
        warnings: listing::shortcomings(&certificate, &known(store), &lists),
    })
}

/// Returns the certificates of trusted applications and of issuers.
fn known(store: &CertificateStore) -> Vec<Certificate> {
    let trust = store.trust_list();
    [&*trust.trusted, &*trust.issuers].concat()
}

pub(super) fn reject(store: &CertificateStore, text: &str) -> miette::Result<Changed> {
    if let Some(list) = listing::revocation_list(text)? {
        return match store
            .remove_revocation_list(&list)
            .map_err(|error| explain::store(&error))?
        {
            true => Ok(listing::removed(&list)),
            false => Err(explain::with_help(
                "no revocation list of this issuer is in use",
                "`takt trust list` shows the lists.",
            )),
        };
    }
    let certificate = find(store, text)?;
    let own = store.own_certificates();
    if own.iter().any(|own| own.certificate == certificate) {
        return Err(explain::with_help(
            "this is an own certificate, which is trusted as long as it is in the folder",
            "`takt trust renew NAME` replaces it.",
        ));
    }
    let rejected = store.reject(&certificate);
    let path = rejected.map_err(|error| explain::store(&error))?;
    let warning = listing::accepted_by_issuer(&certificate, &store.trust_list().trusted);
    Ok(Changed {
        text: format!(
            "{} ({}) is not trusted any more; its open connections end",
            printable(&certificate.subject),
            certificate.thumbprint
        ),
        object: certificate_row(Some("rejected"), &certificate, Some(&path)),
        warnings: warning.into_iter().collect(),
    })
}

pub(super) fn renew(
    store: &CertificateStore,
    name: &str,
    hosts: &[String],
    key: Option<KeyKind>,
    self_signed: bool,
    tell: impl Fn(Changed) -> miette::Result<()>,
) -> miette::Result<()> {
    let wanted = KeyKind::ALL.into_iter();
    let wanted = wanted.filter(|kind| key.is_none_or(|key| key == *kind));
    let mut renewed = 0;
    for kind in wanted {
        // The key is not needed: a pair that does not fit together is replaced as well.
        let known = store.own_certificate(name, kind).map_err(|error| {
            explain::with_help(error, "Remove the two files of the application.")
        })?;
        let Some(known) = known else {
            continue;
        };
        if !known.is_self_issued() && !self_signed {
            return Err(explain::with_help(
                format!(
                    "the {kind} certificate of {name} was signed by {}, and the new one would be self-signed",
                    printable(&known.issuer)
                ),
                "`takt trust renew --server ENDPOINT --ca FILE --ca-key FILE` renews that of a server with the issuer (CA). Or replace \
                 the two files in the folder `own`. With --self-signed it is made all the same, and each peer has to trust it.",
            ));
        }
        let uri = known.application_uri.clone().unwrap_or_default();
        // Names and addresses that clients use stay: those of --advertise, for example, which this host does not know.
        let addresses = known.addresses.iter().map(ToString::to_string);
        let kept = known.host_names.iter().cloned().chain(addresses);
        let new = certificates::describe(name, &uri, kept.chain(hosts.iter().cloned()).collect());
        let identity = store.renew(&new, kind);
        let identity = identity.map_err(|error| explain::store(&error))?;
        let own = store.own_certificates().into_iter();
        let mut own = own.filter(|one| one.certificate.thumbprint == identity.thumbprint());
        let path = own.next().map(|one| one.path);
        tell(Changed {
            text: format!(
                "{name} has a new {kind} certificate, {}; peers have to trust it",
                identity.thumbprint()
            ),
            object: certificate_row(Some("own"), identity.certificate(), path.as_deref()),
            warnings: Vec::new(),
        })?;
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

pub(super) fn show(store: &CertificateStore, text: &str, json: bool) -> miette::Result<()> {
    if let Some(list) = listing::revocation_list(text)? {
        listing::show_list(&list, json);
        return Ok(());
    }
    let one = find(store, text)?;
    let joined = |parts: Vec<String>| match parts.is_empty() {
        true => "-".to_owned(),
        false => printable(&parts.join(", ")),
    };
    let addresses: Vec<String> = one.addresses.iter().map(ToString::to_string).collect();
    if json {
        output::line(joined_objects(
            certificate_row(None, &one, None),
            json!({
                "issuer": one.issuer,
                "serialNumber": listing::hexadecimal(&one.serial),
                "hostNames": one.host_names,
                "addresses": addresses,
            }),
        ));
        return Ok(());
    }
    for (what, value) in [
        ("subject", printable(&one.subject)),
        ("issuer", printable(&one.issuer)),
        (
            "ApplicationUri",
            printable(one.application_uri.as_deref().unwrap_or("-")),
        ),
        ("host names", joined(one.host_names.clone())),
        ("addresses", joined(addresses)),
        ("serial number", listing::hexadecimal(&one.serial)),
        ("valid", validity(&one)),
        ("key", key_of(&one)),
        ("thumbprint", one.thumbprint.to_string()),
    ] {
        output::line(format_args!("{what:<15} {value}"));
    }
    Ok(())
}
