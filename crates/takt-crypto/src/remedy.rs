//! Remedies: steps of an administrator that texts of the log end with, in the words of the program.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

/// Step of an administrator that helps. A text says by itself what is to be done; [`Display`](fmt::Display) adds how the program does it,
/// in parentheses, and nothing if the program has set no words.
///
/// `folder` is the folder of certificates that it is for. `None`: that of the user who does it, perhaps on another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy<'a> {
    /// Trusts a certificate.
    Trust {
        /// Thumbprint of the certificate.
        thumbprint: &'a str,
        /// Folder of certificates.
        folder: Option<&'a Path>,
    },
    /// Trusts an issuer (CA), and adds its revocation list.
    TrustIssuer {
        /// Folder of certificates.
        folder: Option<&'a Path>,
    },
    /// Adds the revocation list of an issuer (CA).
    AddRevocationList {
        /// Folder of certificates.
        folder: Option<&'a Path>,
    },
    /// Makes a new certificate of an own application.
    Renew {
        /// ApplicationName.
        application: &'a str,
        /// Folder of certificates.
        folder: Option<&'a Path>,
    },
    /// Makes a new certificate of an own application, which contains another host.
    AddHost {
        /// ApplicationName.
        application: &'a str,
        /// Name or address of the host.
        host: &'a str,
        /// Folder of certificates.
        folder: Option<&'a Path>,
    },
    /// Lets an issuer (CA) sign a new certificate of an own application.
    SignAgain,
    /// Adds a user, or gives it a role.
    AddUser,
    /// Lists the users with their roles.
    ListUsers,
    /// Frees the namespace of a Provider that is gone.
    ForgetProvider,
}

/// Words of a program for a remedy, for example its own command.
type Words = fn(&Remedy<'_>) -> String;

/// Words of this process. Texts are made in many places below the ones that know the program, as lines of the log are.
static WORDS: OnceLock<Words> = OnceLock::new();

impl Remedy<'_> {
    /// Sets the words of this process for remedies. A later call has no effect.
    pub fn set_words(words: fn(&Remedy<'_>) -> String) {
        let _ = WORDS.set(words);
    }
}

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match WORDS.get() {
            Some(words) => write!(f, " ({})", words(self)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_words_shows_no_remedy() {
        let remedy = Remedy::TrustIssuer { folder: None };
        assert_eq!(format!("trust it{remedy}"), "trust it");
    }
}
