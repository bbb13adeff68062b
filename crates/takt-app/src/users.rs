//! The users of the servers of this Unix user: a file with names, roles, and hashes of passwords or certificates.
//!
//! A line is `NAME:ROLE:PASSWORD-HASH` (Argon2id in the PHC form) or `NAME:ROLE:sha256=FINGERPRINT` of a certificate. A change
//! takes effect at once.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use takt_crypto::{Certificate, CryptoError, PasswordHash, PolicyProfile, now};
use takt_services::{IssuedUser, Users};
use takt_space::{Peer, UserRole};
use takt_ua::StatusCode;

use crate::issued_tokens::IssuedTokens;

/// Prefix of the fingerprint of a certificate.
const FINGERPRINT: &str = "sha256=";

/// Failed attempts of one address for one name after which further ones are refused for a while.
const ATTEMPTS: u32 = 5;

/// Time for which they are refused.
const LOCKED: Duration = Duration::from_secs(60);

/// Largest number of names and addresses with failed attempts that are remembered.
const MAX_FAILURES: usize = 1024;

/// Shortest time between two checks of passwords, which take about 20 ms of a processor.
const PAUSE: Duration = Duration::from_millis(200);

/// Number of checks that may come at once after a rest.
const BURST: u32 = 10;

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
    /// A name contains characters that the file does not allow.
    #[error("`{0}` is not a name of a user: 1 to 64 letters, digits, `.`, `-`, `_` or `@`")]
    Name(String),
    /// The password is too long.
    #[error("the password cannot be used: it is longer than 1024 bytes")]
    Password(#[from] CryptoError),
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Name.
    pub name: String,
    /// UserRole.
    pub role: UserRole,
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
}

/// A name and the address from which it is tried.
type Attempt = (String, Option<IpAddr>);

/// The file of users.
#[derive(Debug)]
pub struct UserFile {
    path: PathBuf,
    anonymous: UserRole,
    state: Mutex<State>,
    /// A hash that no password has: checking it takes as long as that of a user.
    nobody: LazyLock<Option<PasswordHash>>,
    /// An authorization service with users of its own.
    issued: Option<IssuedTokens>,
}

#[derive(Debug)]
struct State {
    read_at: Option<SystemTime>,
    users: Arc<Vec<User>>,
    /// Failed attempts, and the time until which they count.
    failures: HashMap<Attempt, (u32, Instant)>,
    /// Time up to which checks have been paid for.
    paid: Instant,
}

impl UserFile {
    /// Creates the users of a file, which may be missing. Anonymous users beyond the loopback interface have the role
    /// `anonymous`.
    pub fn new(path: PathBuf, anonymous: UserRole) -> Self {
        let state = State {
            read_at: None,
            users: Arc::default(),
            failures: HashMap::new(),
            paid: Instant::now(),
        };
        Self {
            path,
            anonymous,
            state: Mutex::new(state),
            nobody: LazyLock::new(|| PasswordHash::of(&[0; 32]).ok()),
            issued: None,
        }
    }

    /// Accepts the tokens of an authorization service as well.
    pub(crate) fn with_issued_tokens(mut self, issued: Option<IssuedTokens>) -> Self {
        self.issued = issued;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the users as the file has them now. A file that cannot be read has none.
    pub fn users(&self) -> Arc<Vec<User>> {
        let modified = fs::metadata(&self.path)
            .and_then(|file| file.modified())
            .ok();
        let mut state = self.state();
        if state.read_at != modified {
            state.users = Arc::new(read(&self.path).unwrap_or_default());
            state.read_at = modified;
        }
        Arc::clone(&state.users)
    }

    /// Adds a user, or replaces the one with the same name.
    ///
    /// # Errors
    /// [`UsersError`].
    pub fn add(&self, user: User) -> Result<(), UsersError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@');
        if user.name.is_empty() || user.name.len() > 64 || !user.name.chars().all(allowed) {
            return Err(UsersError::Name(user.name));
        }
        let mut users = read(&self.path)?;
        users.retain(|other| other.name != user.name);
        users.push(user);
        write(&self.path, &users)
    }

    /// Removes a user; returns false if there is none with this name.
    ///
    /// # Errors
    /// [`UsersError::Io`].
    pub fn remove(&self, name: &str) -> Result<bool, UsersError> {
        let mut users = read(&self.path)?;
        let before = users.len();
        users.retain(|user| user.name != name);
        write(&self.path, &users)?;
        Ok(users.len() < before)
    }

    /// Returns whether a password may be checked now. Guessing is refused before it costs time.
    fn permit(&self, attempt: &Attempt, at: Instant) -> bool {
        let mut state = self.state();
        let failed = state.failures.get(attempt);
        if failed.is_some_and(|(count, until)| *count >= ATTEMPTS && at < *until) {
            return false;
        }
        let rested = at.checked_sub(PAUSE * BURST).unwrap_or(at);
        let paid = state.paid.max(rested);
        if paid > at {
            return false;
        }
        state.paid = paid + PAUSE;
        true
    }

    /// Remembers the result of a check.
    fn note(&self, attempt: Attempt, succeeded: bool, at: Instant) {
        let mut state = self.state();
        if succeeded {
            state.failures.remove(&attempt);
            return;
        }
        if state.failures.len() >= MAX_FAILURES && !state.failures.contains_key(&attempt) {
            state.failures.retain(|_, (_, until)| at < *until);
            // Names that were tried least give way.
            let least = state.failures.iter().min_by_key(|(_, (count, _))| *count);
            if let Some((least, _)) = least.filter(|_| state.failures.len() >= MAX_FAILURES) {
                let least = least.clone();
                state.failures.remove(&least);
            }
        }
        let failure = state.failures.entry(attempt.clone()).or_insert((0, at));
        if at >= failure.1 {
            failure.0 = 0;
        }
        *failure = (failure.0 + 1, at + LOCKED);
        if failure.0 == ATTEMPTS {
            let (user, address) = attempt;
            tracing::warn!(
                ?user,
                ?address,
                "too many wrong passwords: refused for a minute"
            );
        }
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
        let users = self.users();
        let mut users = users.iter();
        users.any(|user| user.name == name && matches!(user.proof, UserProof::Password(_)))
    }

    fn user_name(&self, peer: &Peer, name: &str, password: &[u8]) -> Result<UserRole, StatusCode> {
        let address = match peer {
            Peer::Tcp { address } => Some(address.ip()),
            Peer::SharedMemory { .. } => None,
        };
        let attempt = (name.chars().take(64).collect(), address);
        let at = Instant::now();
        if !self.permit(&attempt, at) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        let users = self.users();
        let user = users.iter().find(|user| user.name == name);
        let known = user.and_then(|user| match &user.proof {
            UserProof::Password(hash) => Some((hash, user.role)),
            UserProof::Certificate(_) => None,
        });
        // An unknown name takes as long as a wrong password.
        let hash = known.map(|(hash, _)| hash).or(self.nobody.as_ref());
        let matches = hash.is_some_and(|hash| hash.matches(password));
        let role = known.filter(|_| matches).map(|(_, role)| role);
        self.note(attempt, role.is_some(), at);
        role.ok_or(StatusCode::BadUserAccessDenied)
    }

    fn certificate(
        &self,
        certificate: &Certificate,
        profile: &PolicyProfile,
    ) -> Result<(String, UserRole), StatusCode> {
        let fingerprint = certificate.fingerprint();
        let users = self.users();
        let found = users.iter().find(
            |user| matches!(&user.proof, UserProof::Certificate(known) if *known == fingerprint),
        );
        let found = found.ok_or(StatusCode::BadIdentityTokenRejected)?;
        let checked = certificate.check_known_user(profile, now());
        checked.map_err(|_| StatusCode::BadIdentityTokenRejected)?;
        Ok((found.name.clone(), found.role))
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

    fn anonymous(&self) -> UserRole {
        self.anonymous
    }
}

/// Reads the users. A line that cannot be read is a user who has no access.
fn read(path: &Path) -> Result<Vec<User>, UsersError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let path = path.to_owned();
            return Err(UsersError::Io { path, source });
        }
    };
    let parse = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let (role, proof) = rest.split_once(':')?;
        let proof = match proof.strip_prefix(FINGERPRINT) {
            Some(fingerprint) => UserProof::Certificate(fingerprint.to_owned()),
            None => UserProof::Password(PasswordHash::from_phc(proof).ok()?),
        };
        Some(User {
            name: name.to_owned(),
            role: role.parse().ok()?,
            proof,
        })
    };
    Ok(text.lines().filter_map(parse).collect())
}

/// Writes the users for this Unix user only, as a whole.
fn write(path: &Path, users: &[User]) -> Result<(), UsersError> {
    let failed = |source| UsersError::Io {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    for user in users {
        let proof = match &user.proof {
            UserProof::Password(hash) => hash.as_phc().to_owned(),
            UserProof::Certificate(fingerprint) => format!("{FINGERPRINT}{fingerprint}"),
        };
        text += &format!("{}:{}:{proof}\n", user.name, user.role);
    }
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    let _ = fs::remove_file(&unfinished);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .map_err(failed)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::Tcp {
            address: ([192, 0, 2, last], 50_000).into(),
        }
    }

    fn user(name: &str, password: &str) -> User {
        User {
            name: name.to_owned(),
            role: UserRole::Operator,
            proof: UserProof::Password(PasswordHash::of(password.as_bytes()).unwrap()),
        }
    }

    fn file(folder: &tempfile::TempDir) -> UserFile {
        UserFile::new(folder.path().join("users"), UserRole::Observer)
    }

    #[test]
    fn passwords_are_checked_and_changes_take_effect() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        assert!(!users.allows_user_names());
        users.add(user("anna", "hammer")).unwrap();
        let path = folder.path().join("users");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("hammer"), "{text}");
        assert!(users.allows_user_names() && !users.allows_certificates());
        let check = |name, password: &str| users.user_name(&peer(1), name, password.as_bytes());
        let denied = Err(StatusCode::BadUserAccessDenied);
        assert_eq!(check("anna", "hammer"), Ok(UserRole::Operator));
        for (name, password) in [("anna", "nail"), ("anna", ""), ("bert", "hammer")] {
            assert_eq!(check(name, password), denied);
        }
        assert!(users.remove("anna").unwrap());
        assert!(!users.remove("anna").unwrap());
        assert_eq!(check("anna", "hammer"), denied);
        assert!(users.add(user("a:b", "x")).is_err());
    }

    #[test]
    fn guessing_locks_the_name_for_one_address() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        let guess = |address| {
            (
                String::from("anna"),
                Some(IpAddr::from([192, 0, 2, address])),
            )
        };
        let at = Instant::now() + Duration::from_secs(10);
        for _ in 0..ATTEMPTS {
            assert!(users.permit(&guess(1), at));
            users.note(guess(1), false, at);
        }
        assert!(!users.permit(&guess(1), at), "locked");
        assert!(users.permit(&guess(2), at), "another address");
        assert!(users.permit(&guess(1), at + LOCKED));
    }

    #[test]
    fn checks_are_limited_in_time_and_failures_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        let at = Instant::now() + Duration::from_secs(10);
        let attempt = |number: usize| (format!("name{number}"), None);
        let permitted = (0..100).filter(|number| users.permit(&attempt(*number), at));
        assert_eq!(permitted.count(), BURST as usize + 1);
        assert!(users.permit(&attempt(0), at + PAUSE));
        for number in 0..2 * MAX_FAILURES {
            users.note(attempt(number), false, at);
        }
        assert!(users.state().failures.len() <= MAX_FAILURES);
    }
}
