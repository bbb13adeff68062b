//! Arguments for brokers.

use std::path::{Path, PathBuf};

use clap::Args;
use takt_link::{MqttOptions, MqttResource};

use crate::{explain, secret_file};

/// Variable with the password of --mqtt-user.
const PASSWORD: &str = "TAKT_MQTT_PASSWORD";

/// Credentials at brokers. They are for all brokers of a configuration, except for those of --mqtt-resource.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options for brokers (mqtt://, mqtts://)")]
pub struct MqttArguments {
    /// User at the broker. The password is read from --mqtt-password-file or from the variable TAKT_MQTT_PASSWORD.
    #[arg(long, value_name = "NAME")]
    pub mqtt_user: Option<String>,
    /// File with the password of --mqtt-user in its first line.
    #[arg(long, value_name = "FILE", requires = "mqtt_user")]
    pub mqtt_password_file: Option<PathBuf>,
    /// Certificates of the authorities that sign those of brokers (PEM) [default: those of the operating system].
    #[arg(long, value_name = "FILE")]
    pub mqtt_ca: Option<PathBuf>,
    /// Certificate of this client, with those of its issuers (PEM).
    #[arg(long, value_name = "FILE", requires = "mqtt_private_key")]
    pub mqtt_certificate: Option<PathBuf>,
    /// Private key of --mqtt-certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "mqtt_certificate")]
    pub mqtt_private_key: Option<PathBuf>,
    /// User and password file for a resource_uri of the configuration; can be given several times.
    #[arg(long, value_name = "URI=USER:PASSWORD_FILE", value_parser = resource)]
    pub mqtt_resource: Vec<Resource>,
}

/// User of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    uri: String,
    user: String,
    password_file: PathBuf,
}

/// Parses `URI=USER:PASSWORD_FILE`.
fn resource(text: &str) -> Result<Resource, String> {
    // A URI has colons of its own, so it is divided at `=` first.
    let parts = text.split_once('=').and_then(|(uri, rest)| {
        let (user, file) = rest.split_once(':')?;
        let is_whole = [uri, user, file].iter().all(|part| !part.is_empty());
        is_whole.then_some((uri, user, file))
    });
    let (uri, user, file) = parts.ok_or("write RESOURCE_URI=USER:PASSWORD_FILE")?;
    Ok(Resource {
        uri: uri.to_owned(),
        user: user.to_owned(),
        password_file: file.into(),
    })
}

impl MqttArguments {
    /// Reads the files, and returns the options of links.
    pub fn options(&self) -> miette::Result<MqttOptions> {
        let credentials = self.mqtt_user.as_ref().map(|user| {
            let password = match &self.mqtt_password_file {
                Some(file) => password(file)?,
                None => std::env::var(PASSWORD).map_err(|_| {
                    explain::with_help(
                        format!("there is no password of the user {user} at the broker"),
                        format!("Give --mqtt-password-file FILE, or set the variable {PASSWORD}."),
                    )
                })?,
            };
            Ok::<_, miette::Report>((user.clone(), password))
        });
        let client_certificate = match (&self.mqtt_certificate, &self.mqtt_private_key) {
            (Some(certificate), Some(key)) => {
                secret_file::warn_of_readers(key);
                Some((pem(certificate)?, pem(key)?))
            }
            _ => None,
        };
        let resources = self.mqtt_resource.iter().map(|resource| {
            Ok::<_, miette::Report>(MqttResource {
                resource_uri: resource.uri.clone(),
                credentials: Some((resource.user.clone(), password(&resource.password_file)?)),
                trusted_certificates: None,
                client_certificate: client_certificate.clone(),
            })
        });
        Ok(MqttOptions {
            credentials: credentials.transpose()?,
            trusted_certificates: self.mqtt_ca.as_deref().map(pem).transpose()?,
            resources: resources.collect::<Result<_, _>>()?,
            client_certificate,
            ..MqttOptions::default()
        })
    }
}

/// Reads a password.
fn password(file: &Path) -> miette::Result<String> {
    const HELP: &str = "The first line of the file is the password.";
    secret_file::warn_of_readers(file);
    let name = file.display();
    match secret_file::first_line(file) {
        Ok(line) if line.is_empty() => Err(explain::with_help(format!("{name} is empty"), HELP)),
        Ok(line) => Ok(line),
        Err(error) => Err(explain::with_help(format!("{name}: {error}"), HELP)),
    }
}

/// Reads certificates or a key.
fn pem(file: &Path) -> miette::Result<Vec<u8>> {
    let text = secret_file::read(file);
    let name = file.display();
    match text {
        Ok(text) if text.contains("-----BEGIN ") => Ok(text.into_bytes()),
        Ok(_) => Err(explain::with_help(
            format!("{name} is not PEM"),
            "`openssl x509 -inform DER -in FILE -out FILE.pem` converts a certificate.",
        )),
        Err(error) => Err(explain::with_help(
            format!("{name}: {error}"),
            "Certificates and keys are files in PEM.",
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_resource_has_a_user_and_a_file() {
        let parsed = resource("mqtts://press@broker:8883=press:/etc/press").unwrap();
        assert_eq!(parsed.uri, "mqtts://press@broker:8883");
        assert_eq!(parsed.user, "press");
        assert_eq!(parsed.password_file, PathBuf::from("/etc/press"));
        for wrong in ["", "a=b", "a=:c", "=b:c", "a=b:"] {
            assert!(resource(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn passwords_and_certificates_are_read_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let arguments = MqttArguments {
            mqtt_user: Some("press".to_owned()),
            mqtt_password_file: Some(path("password", "secret\n")),
            ..MqttArguments::default()
        };
        let options = arguments.options().unwrap();
        let expected = ("press".to_owned(), "secret".to_owned());
        assert_eq!(options.credentials, Some(expected));
        let refused = |arguments: MqttArguments| arguments.options().unwrap_err().to_string();
        let no_pem = refused(MqttArguments {
            mqtt_ca: Some(path("ca", "nothing")),
            ..MqttArguments::default()
        });
        assert!(no_pem.ends_with("is not PEM"), "{no_pem}");
        let empty = refused(MqttArguments {
            mqtt_user: Some("press".to_owned()),
            mqtt_password_file: Some(path("empty", "\n")),
            ..MqttArguments::default()
        });
        assert!(empty.ends_with("is empty"), "{empty}");
    }
}
