//! The ApplicationUri of a registry, which is also its namespace.

use std::path::Path;

use takt_app::{certificates, model};
use takt_crypto::KeyKind;

use crate::database::Contents;
use crate::error::RegistryError;

/// Index of the namespace of a server: its ApplicationUri.
const OWN_NAMESPACE: u16 = 1;

/// Returns the ApplicationUri of the registry `name`: that of its database, or else that of its certificate, because clients know
/// them already; or else the default one of this host. `pki` is the folder of certificates.
pub(super) fn application_uri(
    name: &str,
    contents: &Contents,
    pki: Option<&Path>,
) -> Result<String, RegistryError> {
    let own = contents
        .namespaces
        .iter()
        .find(|(index, _)| *index == OWN_NAMESPACE);
    if let Some((_, uri)) = own {
        return match model::registry_of_uri(uri) {
            Some(found) if found != name => Err(RegistryError::Name {
                name: name.to_owned(),
                found: found.to_owned(),
            }),
            // An unknown one is refused with the namespaces.
            None => Ok(model::registry_uri(name)),
            Some(_) => Ok(uri.clone()),
        };
    }
    let of_certificate = certificate_uri(name, pki);
    Ok(of_certificate.unwrap_or_else(|| model::registry_uri(name)))
}

/// Returns the ApplicationUri in the certificate of the registry, if it has one. Errors are reported when it is used.
fn certificate_uri(name: &str, pki: Option<&Path>) -> Option<String> {
    let folder = match pki {
        Some(folder) => folder.to_owned(),
        None => certificates::certificates_directory().ok()?,
    };
    // Without endpoints that need one, no folder is created.
    if !folder.exists() {
        return None;
    }
    let store = certificates::open_store(Some(&folder)).ok()?;
    let own = store.existing(name, KeyKind::Rsa).ok()??;
    let uri = own.certificate().application_uri.clone()?;
    (model::registry_of_uri(&uri) == Some(name)).then_some(uri)
}

#[cfg(test)]
mod tests {
    use takt_crypto::CertificateStore;

    use super::*;

    fn database(uri: &str) -> Contents {
        Contents {
            namespaces: vec![(0, "urn:ua".to_owned()), (OWN_NAMESPACE, uri.to_owned())],
            ..Contents::default()
        }
    }

    #[test]
    fn the_uri_has_the_host_unless_the_registry_has_another_one_already() {
        let folder = tempfile::tempdir().unwrap();
        let pki = folder.path().join("pki");
        let uri = |contents: &Contents| application_uri("Plant", contents, Some(&pki)).unwrap();
        let new = uri(&Contents::default());
        assert_eq!(
            new,
            format!("urn:{}:takt:registry:Plant", certificates::host_name())
        );
        assert!(!pki.exists());
        for kept in ["urn:takt:registry:Plant", "urn:plc7:takt:registry:Plant"] {
            assert_eq!(uri(&database(kept)), kept);
        }
        // Namespaces of other programs are refused later.
        assert_eq!(uri(&database("urn:other")), new);

        let certificate = certificates::describe("Plant", "urn:takt:registry:Plant", Vec::new());
        let store: CertificateStore = certificates::open_store(Some(&pki)).unwrap();
        store.renew(&certificate, KeyKind::Rsa).unwrap();
        assert_eq!(uri(&Contents::default()), "urn:takt:registry:Plant");
    }

    #[test]
    fn a_database_has_one_name() {
        let error = application_uri("Plant", &database("urn:takt:registry:RM"), None).unwrap_err();
        assert!(error.to_string().contains("the registry RM"), "{error}");
    }
}
