//! The choice of a Client among the endpoints of a server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use takt_crypto::PolicyProfile;
use takt_ua::enumerations::MessageSecurityMode;

/// Choice among the endpoints of a server over TCP.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SecurityChoice {
    /// On the loopback interface no security if the server offers that, and elsewhere the most secure endpoint.
    #[default]
    Automatic,
    /// No security: SecurityPolicy None.
    None,
    /// The most secure endpoint with this SecurityPolicy and this mode, where they are given.
    Secured {
        /// Name of the SecurityPolicy, `Basic256Sha256` for example.
        policy: Option<&'static str>,
        /// Mode; signed and encrypted is preferred.
        mode: Option<MessageSecurityMode>,
    },
}

impl FromStr for SecurityChoice {
    type Err = String;

    /// Reads `auto`, `none`, a mode (`sign`, `encrypt`), a SecurityPolicy, or a SecurityPolicy and a mode with a comma between.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut policy, mut mode) = (None, None);
        match text.to_ascii_lowercase().as_str() {
            "auto" => return Ok(Self::Automatic),
            "none" => return Ok(Self::None),
            _ => {}
        }
        for part in text.split(',') {
            let is_second = match PolicyProfile::by_name(part) {
                Some(profile) => policy.replace(profile.name).is_some(),
                None => mode.replace(mode_of(part)?).is_some(),
            };
            if is_second {
                return Err("one SecurityPolicy and one mode are possible".to_owned());
            }
        }
        Ok(Self::Secured { policy, mode })
    }
}

fn mode_of(text: &str) -> Result<MessageSecurityMode, String> {
    match text.to_ascii_lowercase().as_str() {
        "sign" => Ok(MessageSecurityMode::Sign),
        "encrypt" | "signandencrypt" => Ok(MessageSecurityMode::SignAndEncrypt),
        _ => {
            let names = PolicyProfile::ALL.map(|profile| profile.name).join(", ");
            Err(format!(
                "`{text}` is not auto, none, sign, encrypt or one of {names}"
            ))
        }
    }
}

impl fmt::Display for SecurityChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Automatic => formatter.write_str("auto"),
            Self::None => formatter.write_str("none"),
            Self::Secured { policy, mode } => {
                let mode = mode.map(|mode| match mode {
                    MessageSecurityMode::Sign => "sign",
                    _ => "encrypt",
                });
                let parts: Vec<&str> = policy.iter().copied().chain(mode).collect();
                formatter.write_str(&match parts.is_empty() {
                    true => "encrypt".to_owned(),
                    false => parts.join(","),
                })
            }
        }
    }
}

/// Certificates and choice of security of a Client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientSecurity {
    /// Choice among the endpoints of the server.
    pub choice: SecurityChoice,
    /// Folder of certificates; by default `pki` in the user's [state folder](crate::state_directory). A missing certificate of
    /// the application is created there.
    pub certificates: Option<PathBuf>,
    /// Certificate (DER or PEM) and private key (PEM) of this application, instead of those in the folder.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Accept a server whose certificate does not name the host in its URL.
    pub any_host: bool,
    /// Requested lifetime of the security tokens of a channel (OPC 10000-4, 5.6.2); an hour by default. The server may choose
    /// another one. A token is renewed after three quarters of its lifetime.
    pub token_lifetime: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let read = |text: &str| text.parse::<SecurityChoice>();
        assert_eq!(read("auto"), Ok(SecurityChoice::Automatic));
        assert_eq!(read("None"), Ok(SecurityChoice::None));
        for text in [
            "sign",
            "encrypt",
            "Basic256Sha256",
            "Aes256_Sha256_RsaPss,sign",
            "Aes128_Sha256_RsaOaep,encrypt",
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert!(
            read("Basic128Rsa15")
                .unwrap_err()
                .contains("Basic256Sha256")
        );
        assert!(read("").is_err());
    }
}
