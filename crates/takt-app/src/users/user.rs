//! A user, and the text form of users: lines of a file.

use std::io;
use std::path::{Path, PathBuf};

use takt_crypto::{CryptoError, PasswordHash};
use takt_space::RoleSet;

/// Prefix of the fingerprint of a certificate.
const FINGERPRINT: &str = "sha256=";

/// Prefix of the number of a Unix user.
const UNIX_USER: &str = "unix-user=";

/// Prefix of the number of a Unix group.
const UNIX_GROUP: &str = "unix-group=";

/// Largest file of users, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Error of the file of users.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A line of the file is no user.
    #[error("{}, line {line}: this is no user of the form NAME:ROLE,ROLE:PROOF", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1 on.
        line: usize,
    },
    /// Another user has the same certificate.
    #[error("the user {0} has this certificate")]
    KnownCertificate(String),
    /// A name contains characters that the file does not allow.
    #[error("`{0}` is not a name of a user: 1 to 64 letters, digits, `.`, `-`, `_` or `@`")]
    Name(String),
    /// The Unix user does not exist.
    #[error("{0:?} is neither the name nor the number of a Unix user")]
    UnixUser(String),
    /// The Unix group does not exist.
    #[error("{0:?} is neither the name nor the number of a Unix group")]
    UnixGroup(String),
    /// The password is empty or too long.
    #[error("the password cannot be used: it is empty, or longer than 1024 bytes")]
    Password(#[from] CryptoError),
}

/// A user, or a Unix user or group of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Name.
    pub name: String,
    /// Roles.
    pub roles: RoleSet,
    /// Proof of the identity.
    pub proof: UserProof,
}

/// Proof of the identity of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserProof {
    /// A password with this hash.
    Password(PasswordHash),
    /// A certificate with this SHA-256 fingerprint.
    Certificate(String),
    /// The kernel: processes of this Unix user, over shared memory.
    UnixUser(u32),
    /// The kernel: processes that are in this Unix group, over shared memory.
    UnixGroup(u32),
}

/// Kind of users. Names are unique among the users of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserKind {
    /// A user with a password or a certificate.
    Login,
    /// A Unix user.
    UnixUser,
    /// A Unix group.
    UnixGroup,
}

impl UserProof {
    /// Returns the kind of users that have such a proof.
    #[must_use]
    pub fn kind(&self) -> UserKind {
        match self {
            Self::Password(_) | Self::Certificate(_) => UserKind::Login,
            Self::UnixUser(_) => UserKind::UnixUser,
            Self::UnixGroup(_) => UserKind::UnixGroup,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(fingerprint) = text.strip_prefix(FINGERPRINT) {
            return Some(Self::Certificate(fingerprint.to_owned()));
        }
        if let Some(number) = text.strip_prefix(UNIX_USER) {
            return number.parse().ok().map(Self::UnixUser);
        }
        if let Some(number) = text.strip_prefix(UNIX_GROUP) {
            return number.parse().ok().map(Self::UnixGroup);
        }
        PasswordHash::from_phc(text).ok().map(Self::Password)
    }

    fn text(&self) -> String {
        match self {
            Self::Password(hash) => hash.as_phc().to_owned(),
            Self::Certificate(fingerprint) => format!("{FINGERPRINT}{fingerprint}"),
            Self::UnixUser(number) => format!("{UNIX_USER}{number}"),
            Self::UnixGroup(number) => format!("{UNIX_GROUP}{number}"),
        }
    }
}

impl User {
    /// Returns true if the name has only characters that the file allows.
    pub(super) fn has_valid_name(&self) -> bool {
        // A colon or a line break in a name would forge an entry with other Roles.
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@');
        (1..=64).contains(&self.name.len()) && self.name.chars().all(allowed)
    }

    /// Returns true if the user has this name, and is of this kind.
    pub(super) fn is(&self, name: &str, kind: UserKind) -> bool {
        self.name == name && self.proof.kind() == kind
    }

    /// Returns true if it is the same user as another one: with the same name, or for Unix users and groups the same number.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match self.proof {
            UserProof::UnixUser(_) | UserProof::UnixGroup(_) => self.proof == other.proof,
            _ => self.is(&other.name, other.proof.kind()),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(':')?;
        let (roles, proof) = rest.split_once(':')?;
        Some(Self {
            name: name.to_owned(),
            roles: roles.parse().ok()?,
            proof: UserProof::parse(proof)?,
        })
    }
}

/// Reads the users. Empty lines are left out. A file that is missing has none.
pub(super) fn read(path: &Path) -> Result<Vec<User>, UsersError> {
    match crate::private_file::read(path, MAX_FILE) {
        Ok(text) => {
            let lines = text.lines().enumerate();
            let lines = lines.filter(|(_, line)| !line.trim().is_empty());
            let users = lines.map(|(at, line)| {
                User::parse(line).ok_or_else(|| UsersError::Line {
                    path: path.to_owned(),
                    line: at + 1,
                })
            });
            users.collect()
        }
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(Vec::new())
        }
        Err(source) => {
            let path = path.to_owned();
            Err(UsersError::Io { path, source })
        }
    }
}

/// Writes the users for this Unix user only, as a whole.
pub(super) fn write(path: &Path, users: &[User]) -> Result<(), UsersError> {
    let failed = |source| UsersError::Io {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    for user in users {
        text += &format!("{}:{}:{}\n", user.name, user.roles, user.proof.text());
    }
    crate::private_file::write(path, text.as_bytes()).map_err(failed)
}
