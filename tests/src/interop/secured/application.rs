//! Foreign applications and their certificates.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::authority::openssl;
use crate::sandbox::Sandbox;

/// A foreign application with a certificate of its own.
#[derive(Debug)]
pub struct Foreign {
    application: String,
    folder: PathBuf,
}

impl Foreign {
    /// Makes the certificate of an application in a new folder of the sandbox. `policy` is a SecurityPolicy for which it has to be.
    ///
    /// # Panics
    /// If openssl fails.
    #[must_use]
    pub fn new(sandbox: &Sandbox, name: &str, policy: &str) -> Self {
        let application = format!("urn:takt:peer:{name}");
        let folder = sandbox.data_directory().join(name);
        std::fs::create_dir(&folder).expect("a folder can be made");
        let extensions = [
            format!("subjectAltName=URI:{application},DNS:localhost,IP:127.0.0.1"),
            "basicConstraints=critical,CA:FALSE".to_owned(),
            format!(
                "keyUsage=critical,digitalSignature,nonRepudiation,{}",
                usage_of(policy)
            ),
            "extendedKeyUsage=serverAuth,clientAuth".to_owned(),
        ];
        let subject = format!("/CN={name}/O=Takt");
        let new = ["req", "-x509", "-sha256", "-nodes", "-days", "30"];
        let named = [
            "-subj",
            &subject,
            "-keyout",
            "key.pem",
            "-out",
            "certificate.pem",
        ];
        let mut arguments = [&new[..], key_of(policy), &named].concat();
        for extension in &extensions {
            arguments.extend(["-addext", extension]);
        }
        openssl(&folder, arguments);
        Self {
            application,
            folder,
        }
    }

    /// Returns the file of the certificate, in PEM.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    /// Returns the file of the private key, in PEM.
    pub(super) fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// Returns the fields of a description of security that name this application.
    #[must_use]
    pub fn described(&self) -> Value {
        json!({
            "application": self.application,
            "certificate": text(&self.certificate()),
            "key": text(&self.key()),
        })
    }

    /// Lets the applications with this folder of certificates trust this one, as its rejected certificate.
    ///
    /// # Panics
    /// If it is not among the rejected certificates.
    pub(super) fn is_trusted_now(&self, sandbox: &Sandbox, certificates: &Path) {
        let folder = text(certificates);
        let listed = sandbox.rows(&["trust", "list", "--certificates", folder]);
        let rejected = listed.iter().find(|row| {
            row["folder"] == "rejected" && row["applicationUri"] == self.application.as_str()
        });
        let thumbprint = rejected.and_then(|row| row["thumbprint"].as_str());
        let thumbprint = thumbprint.unwrap_or_else(|| panic!("it is not rejected: {listed:?}"));
        let _ = sandbox
            .run(&["trust", "add", thumbprint, "--certificates", folder])
            .expect_success();
    }
}

/// Returns the options of openssl for a new key that a SecurityPolicy accepts.
fn key_of(policy: &str) -> &'static [&'static str] {
    match policy {
        "ECC_nistP256" => &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
        "ECC_nistP384" => &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"],
        _ => &["-newkey", "rsa:2048"],
    }
}

/// Returns the usage of such a key, besides signatures (OPC 10000-6, 6.2.2).
fn usage_of(policy: &str) -> &'static str {
    match policy.starts_with("ECC") {
        true => "keyAgreement",
        false => "keyEncipherment,dataEncipherment",
    }
}

/// Returns a path as text.
pub(super) fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
