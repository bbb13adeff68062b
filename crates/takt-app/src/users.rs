//! The users of the servers of this Unix user: a file with names, Roles, and hashes of passwords or certificates; and the Roles of
//! Unix users and groups over shared memory.
//!
//! A line is `NAME:ROLE,ROLE:PASSWORD-HASH` (Argon2id in the PHC form), `NAME:ROLE:sha256=FINGERPRINT` of a certificate,
//! `NAME:ROLE:unix-user=NUMBER` or `NAME:ROLE:unix-group=NUMBER`. A change takes effect with the next Session.

mod unix;
mod user;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use takt_crypto::{Certificate, FileState, PasswordHash, PasswordProofs, PolicyProfile, now};
use takt_rt::file_lock::FileLock;
use takt_services::{ForwardedIdentity, IssuedUser, Users};
use takt_space::{Caller, Peer, RoleSet, UserRole};
use takt_ua::StatusCode;

use crate::issued_tokens::IssuedTokens;
use crate::private_file;
use crate::refusals::{Refusals, refused_login, refused_service, shown};
use user::{read, write};

pub use unix::{unix_group, unix_user};
pub use user::{User, UserKind, UserProof, UsersError};

/// The file of users.
#[derive(Debug)]
pub struct UserFile {
    path: PathBuf,
    anonymous: RoleSet,
    /// True if anonymous users from the loopback interface are operators.
    trusts_loopback: bool,
    /// The Unix user that runs this process.
    own_user: u32,
    state: Mutex<State>,
    /// A hash that no password has: checking it takes as long as that of a user.
    nobody: LazyLock<Option<PasswordHash>>,
    /// Passwords that were right since the start.
    proofs: Option<PasswordProofs>,
    /// An authorization service with users of its own.
    issued: Option<IssuedTokens>,
    /// Refused logins in the log.
    refusals: Refusals,
}

#[derive(Debug)]
struct State {
    read_at: Option<FileState>,
    users: Arc<Vec<User>>,
    /// Damage of the file, as it was logged. The users are those from before it.
    damage: Option<String>,
    /// True if the file could be read once, or is missing. Until then, the limits of Unix users are not known.
    is_known: bool,
}

impl UserFile {
    /// Creates the users of a file, which may be missing. Anonymous users over TCP have the Roles `anonymous`, unless the operating
    /// system confirms a Unix user that has others.
    pub fn new(path: PathBuf, anonymous: RoleSet) -> Self {
        let state = State {
            read_at: None,
            users: Arc::default(),
            damage: None,
            is_known: false,
        };
        Self {
            path,
            anonymous,
            trusts_loopback: false,
            own_user: rustix::process::geteuid().as_raw(),
            state: Mutex::new(state),
            nobody: LazyLock::new(|| PasswordHash::of(&[0; 32]).ok()),
            proofs: PasswordProofs::new().ok(),
            issued: None,
            refusals: Refusals::default(),
        }
    }

    /// Accepts the tokens of an authorization service as well.
    pub(crate) fn with_issued_tokens(mut self, issued: Option<IssuedTokens>) -> Self {
        self.issued = issued;
        self
    }

    /// Makes anonymous users from the loopback interface operators, as long as the file has no Unix user or group.
    pub(crate) fn trusting_loopback(mut self, trusts: bool) -> Self {
        self.trusts_loopback = trusts;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the users as the file has them now. If it is damaged, they are those from before, and a warning is logged.
    pub fn users(&self) -> Arc<Vec<User>> {
        Arc::clone(&self.current().users)
    }

    /// Reads the file again if it has changed.
    fn current(&self) -> MutexGuard<'_, State> {
        let changed = FileState::of(&self.path);
        let mut state = self.state();
        if state.read_at != changed || changed.is_none() {
            state.read_at = changed.filter(|state| state.has_passed(FileState::SAME_TIME));
            match read(&self.path) {
                Ok(users) => {
                    // Without a time, the file is read at each call, and the warning would come each time.
                    if state.read_at.is_some() {
                        private_file::warn_of_writers(&self.path);
                    }
                    state.users = Arc::new(users);
                    state.damage = None;
                    state.is_known = true;
                }
                Err(error) => {
                    // Its folder may be repaired, which does not change the file.
                    state.read_at = None;
                    let damage = Some(error.to_string());
                    if state.damage != damage {
                        tracing::warn!("the users cannot be read, and stay as they were: {error}");
                        state.damage = damage;
                    }
                }
            }
        }
        state
    }

    /// Reads the users.
    ///
    /// # Errors
    /// [`UsersError::Io`], [`UsersError::Line`].
    pub fn read(&self) -> Result<Vec<User>, UsersError> {
        read(&self.path)
    }

    /// Keeps other processes from changing the users at the same time.
    fn lock(&self) -> Result<Option<FileLock>, UsersError> {
        private_file::lock(&self.path).map_err(|source| UsersError::Io {
            path: self.path.clone(),
            source,
        })
    }

    /// Adds a user, or replaces the one with the same name and kind.
    ///
    /// # Errors
    /// [`UsersError`].
    pub fn add(&self, user: User) -> Result<(), UsersError> {
        if !user.has_valid_name() {
            return Err(UsersError::Name(user.name));
        }
        let _lock = self.lock()?;
        let mut users = read(&self.path)?;
        users.retain(|other| !user.is_same(other));
        // A certificate is that of one user: with two entries, the order in the file would decide about its roles.
        let is_certificate = matches!(user.proof, UserProof::Certificate(_));
        let other = users.iter().find(|other| other.proof == user.proof);
        if let Some(other) = other.filter(|_| is_certificate) {
            return Err(UsersError::KnownCertificate(other.name.clone()));
        }
        users.push(user);
        write(&self.path, &users)
    }

    /// Removes a user; returns false if there is none with this name and kind. Unix users and groups have numbers as well.
    ///
    /// # Errors
    /// [`UsersError::Io`], [`UsersError::Line`].
    pub fn remove(&self, name: &str, kind: UserKind) -> Result<bool, UsersError> {
        let _lock = self.lock()?;
        let mut users = read(&self.path)?;
        let before = users.len();
        // The Unix user may not exist any more: then only the name counts.
        let proof = match kind {
            UserKind::Login => None,
            UserKind::UnixUser => unix_user(name).ok(),
            UserKind::UnixGroup => unix_group(name).ok(),
        };
        users.retain(|user| !user.is(name, kind) && proof.as_ref() != Some(&user.proof));
        write(&self.path, &users)?;
        Ok(users.len() < before)
    }

    /// Checks the password of a user.
    fn matches(&self, name: &str, hash: &PasswordHash, password: &[u8], users: &[User]) -> bool {
        let proofs = self.proofs.as_ref();
        if let Some(is_right) = proofs.and_then(|proofs| proofs.check(name, hash, password)) {
            return is_right;
        }
        let is_right = hash.matches(password);
        if let (true, Some(proofs)) = (is_right, proofs) {
            let is_user = |name: &str| users.iter().any(|user| user.is(name, UserKind::Login));
            proofs.keep(name, hash, password, is_user);
        }
        is_right
    }
}

impl UserFile {
    /// Returns the Roles of a client over TCP of whom only the address counts.
    fn of_address(&self, peer: &Peer, users: &[User]) -> RoleSet {
        let mut proofs = users.iter().map(|user| user.proof.kind());
        // It may be a Unix user whose rights the file limits.
        if proofs.any(|kind| kind != UserKind::Login) {
            return self.anonymous;
        }
        let roles = peer.roles().union(self.anonymous);
        match self.trusts_loopback && peer.is_on_loopback() {
            true => roles.union(UserRole::Operator.into()),
            false => roles,
        }
    }
}

/// Returns the hash of the password of a user, and its Roles.
fn password_of<'u>(users: &'u [User], name: &str) -> Option<(&'u PasswordHash, RoleSet)> {
    let mut logins = users.iter();
    let user = logins.find(|user| user.is(name, UserKind::Login))?;
    match &user.proof {
        UserProof::Password(hash) => Some((hash, user.roles)),
        _ => None,
    }
}

impl Users for UserFile {
    fn allows_user_names(&self) -> bool {
        let users = self.users();
        let mut users = users.iter();
        users.any(|user| matches!(user.proof, UserProof::Password(_)))
    }

    fn allows_certificates(&self) -> bool {
        let users = self.users();
        let mut users = users.iter();
        users.any(|user| matches!(user.proof, UserProof::Certificate(_)))
    }

    fn has_password(&self, name: &str) -> bool {
        password_of(&self.users(), name).is_some()
    }

    fn is_quick(&self, name: &str) -> bool {
        let users = self.users();
        let hash = password_of(&users, name).map(|(hash, _)| hash);
        hash.zip(self.proofs.as_ref())
            .is_some_and(|(hash, proofs)| proofs.knows(name, hash))
    }

    fn user_name(&self, peer: &Peer, name: &str, password: &[u8]) -> Result<RoleSet, StatusCode> {
        let users = self.users();
        let known = password_of(&users, name);
        let matches = match known {
            Some((hash, _)) => self.matches(name, hash, password, &users),
            // An unknown name takes as long as a wrong password.
            None => self
                .nobody
                .as_ref()
                .is_some_and(|hash| hash.matches(password)),
        };
        let roles = known.filter(|_| matches).map(|(_, roles)| roles);
        roles.ok_or_else(|| {
            self.refusals.warn(&refused_login(name, peer));
            StatusCode::BadUserAccessDenied
        })
    }

    fn certificate(
        &self,
        certificate: &Certificate,
        profile: &PolicyProfile,
    ) -> Result<(String, RoleSet), StatusCode> {
        let fingerprint = certificate.fingerprint();
        let users = self.users();
        let found = users.iter().find(
            |user| matches!(&user.proof, UserProof::Certificate(known) if *known == fingerprint),
        );
        let refused = |reason: &dyn std::fmt::Display| {
            let subject = shown(&certificate.subject);
            self.refusals.warn(&format_args!(
                "the certificate {subject} of a user is refused: {reason}"
            ));
            StatusCode::BadIdentityTokenRejected
        };
        let found = found.ok_or_else(|| refused(&"no user has it"))?;
        let checked = certificate.check_known_user(profile, now());
        checked.map_err(|error| refused(&error))?;
        Ok((found.name.clone(), found.roles))
    }

    fn issuer_endpoint_url(&self) -> Option<String> {
        self.issued.as_ref().map(IssuedTokens::issuer_endpoint_url)
    }

    fn issued(&self, token: &[u8]) -> Result<IssuedUser, StatusCode> {
        let issued = self.issued.as_ref();
        issued.map_or(Err(StatusCode::BadIdentityTokenRejected), |issued| {
            issued.user(token)
        })
    }

    /// A user of the file has the Roles of the file here, whatever another server gives it; and so has a Unix user, or an address.
    fn limit(&self, user: &ForwardedIdentity) -> Option<RoleSet> {
        match user {
            ForwardedIdentity::Name(name) => {
                let state = self.current();
                if !state.is_known {
                    return Some(self.anonymous);
                }
                let mut users = state.users.iter();
                let known = users.find(|known| known.is(name, UserKind::Login));
                known.map(|known| known.roles.authenticated())
            }
            // A client over TCP, whose groups the other server does not know.
            ForwardedIdentity::Unix { user, groups } if groups.is_empty() => {
                Some(self.anonymous(&Peer::Tcp {
                    address: (Ipv4Addr::LOCALHOST, 0).into(),
                    user: Some(*user),
                }))
            }
            ForwardedIdentity::Unix { user, groups } => Some(self.anonymous(&Peer::SharedMemory {
                user: Some(*user),
                process: None,
                groups: groups.clone(),
            })),
            ForwardedIdentity::Address(address) => {
                Some(self.anonymous(&Peer::tcp((*address, 0).into())))
            }
            ForwardedIdentity::Other => None,
        }
    }

    /// The Unix user that runs the server, and root, have all Roles. Others have those of the file.
    fn anonymous(&self, peer: &Peer) -> RoleSet {
        let (users, is_known) = {
            let state = self.current();
            (Arc::clone(&state.users), state.is_known)
        };
        match peer {
            _ if peer
                .user()
                .is_some_and(|user| user == self.own_user || user == 0) =>
            {
                // Both control this process anyhow.
                RoleSet::ALL
            }
            // A damaged file may limit everybody.
            _ if !is_known => self.anonymous,
            Peer::SharedMemory {
                user: Some(user),
                groups,
                ..
            } => unix::roles(&users, *user, groups)
                .map_or_else(|| peer.roles(), RoleSet::authenticated),
            Peer::Tcp { user, .. } => {
                let entry = user.and_then(|user| unix::roles(&users, user, &[]));
                entry.map_or_else(|| self.of_address(peer, &users), RoleSet::authenticated)
            }
            // The kernel did not say who it is.
            Peer::SharedMemory { user: None, .. } => self.anonymous,
        }
    }

    fn refused(&self, caller: &Caller, service: &'static str) {
        self.refusals.warn(&refused_service(caller, service));
    }
}

#[cfg(test)]
mod tests;
