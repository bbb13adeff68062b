//! The users of the servers of this Unix user: a file with names, Roles, and hashes of passwords or certificates; and the Roles of
//! Unix users and groups over shared memory.
//!
//! A line is `NAME:ROLE,ROLE:PASSWORD-HASH` (Argon2id in the PHC form), `NAME:ROLE:sha256=FINGERPRINT` of a certificate,
//! `NAME:ROLE:unix-user=NUMBER` or `NAME:ROLE:unix-group=NUMBER`. A change takes effect with the next Session.

mod unix;
mod user;

use std::collections::HashMap;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use takt_crypto::{Certificate, PasswordHash, PolicyProfile, now};
use takt_services::{ForwardedIdentity, IssuedUser, Users};
use takt_space::{Peer, RoleSet};
use takt_ua::StatusCode;

use crate::issued_tokens::IssuedTokens;
use crate::refusals::{Refusals, refused_login, shown};
use user::{read, write};

pub use unix::{unix_group, unix_user};
pub use user::{User, UserKind, UserProof, UsersError};

/// Failed attempts of one address for one name after which further ones are refused for a while.
const ATTEMPTS: u32 = 5;

/// Time for which they are refused.
const LOCKED: Duration = Duration::from_secs(60);

/// Largest number of names and addresses with failed attempts that are remembered.
const MAX_FAILURES: usize = 1024;

/// Shortest time between two checks of wrong passwords. A check takes about 20 ms of a processor.
const PAUSE: Duration = Duration::from_millis(200);

/// Number of checks that may come at once after a rest.
const BURST: u32 = 10;

/// A name and the address from which it is tried; for IPv6 its network.
type Attempt = (String, Option<IpAddr>);

/// The file of users.
#[derive(Debug)]
pub struct UserFile {
    path: PathBuf,
    anonymous: RoleSet,
    /// The Unix user that runs this process.
    own_user: u32,
    state: Mutex<State>,
    /// A hash that no password has: checking it takes as long as that of a user.
    nobody: LazyLock<Option<PasswordHash>>,
    /// An authorization service with users of its own.
    issued: Option<IssuedTokens>,
    /// Refused logins in the log.
    refusals: Refusals,
}

#[derive(Debug)]
struct State {
    read_at: Option<SystemTime>,
    users: Arc<Vec<User>>,
    /// Damage of the file, as it was logged. The users are those from before it.
    damage: Option<String>,
    /// True if the file could be read once, or is missing. Until then, the limits of Unix users are not known.
    is_known: bool,
    /// Failed attempts, and the time until which they count.
    failures: HashMap<Attempt, (u32, Instant)>,
    /// Time up to which checks have been paid for.
    paid: Instant,
}

/// Returns the time up to which checks have been paid for if there was none for long: as many as are allowed at once are free.
fn rested(at: Instant) -> Instant {
    at.checked_sub(PAUSE * BURST).unwrap_or(at)
}

/// Time in which a file may change twice with the same time of modification: more than a tick of the kernel.
const SAME_TIME: Duration = Duration::from_millis(100);

/// Returns true if a file that is changed now gets another time of modification than this one.
fn has_passed(modified: &SystemTime) -> bool {
    modified.elapsed().is_ok_and(|age| age > SAME_TIME)
}

impl UserFile {
    /// Creates the users of a file, which may be missing. Anonymous users beyond the loopback interface have the Roles
    /// `anonymous`.
    pub fn new(path: PathBuf, anonymous: RoleSet) -> Self {
        let state = State {
            read_at: None,
            users: Arc::default(),
            damage: None,
            is_known: false,
            failures: HashMap::new(),
            paid: rested(Instant::now()),
        };
        Self {
            path,
            anonymous,
            own_user: rustix::process::geteuid().as_raw(),
            state: Mutex::new(state),
            nobody: LazyLock::new(|| PasswordHash::of(&[0; 32]).ok()),
            issued: None,
            refusals: Refusals::default(),
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

    /// Returns the users as the file has them now. If it is damaged, they are those from before, and a warning is logged.
    pub fn users(&self) -> Arc<Vec<User>> {
        Arc::clone(&self.current().users)
    }

    /// Reads the file again if it has changed.
    fn current(&self) -> MutexGuard<'_, State> {
        let modified = fs::metadata(&self.path)
            .and_then(|file| file.modified())
            .ok();
        let mut state = self.state();
        if state.read_at != modified || modified.is_none() {
            state.read_at = modified.filter(has_passed);
            match read(&self.path) {
                Ok(users) => {
                    state.users = Arc::new(users);
                    state.damage = None;
                    state.is_known = true;
                }
                Err(error) => {
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

    /// Adds a user, or replaces the one with the same name and kind.
    ///
    /// # Errors
    /// [`UsersError`].
    pub fn add(&self, user: User) -> Result<(), UsersError> {
        if !user.has_valid_name() {
            return Err(UsersError::Name(user.name));
        }
        let mut users = read(&self.path)?;
        users.retain(|other| !other.is(&user.name, user.proof.kind()));
        let is_certificate = matches!(user.proof, UserProof::Certificate(_));
        let other = users.iter().find(|other| other.proof == user.proof);
        if let Some(other) = other.filter(|_| is_certificate) {
            return Err(UsersError::KnownCertificate(other.name.clone()));
        }
        users.push(user);
        write(&self.path, &users)
    }

    /// Removes a user; returns false if there is none with this name and kind.
    ///
    /// # Errors
    /// [`UsersError::Io`].
    pub fn remove(&self, name: &str, kind: UserKind) -> Result<bool, UsersError> {
        let mut users = read(&self.path)?;
        let before = users.len();
        users.retain(|user| !user.is(name, kind));
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
        let paid = state.paid.max(rested(at));
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
            // Only guesses count: all clients of a plant may log in at once after a restart of the server.
            state.paid = state.paid.checked_sub(PAUSE).unwrap_or(state.paid);
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
            let address = address.map_or("this host".to_owned(), |address| address.to_string());
            tracing::warn!(
                ?user,
                address,
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

    fn user_name(&self, peer: &Peer, name: &str, password: &[u8]) -> Result<RoleSet, StatusCode> {
        let attempt = (name.chars().take(64).collect(), peer.network());
        let at = Instant::now();
        if !self.permit(&attempt, at) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        let users = self.users();
        let mut logins = users.iter();
        let user = logins.find(|user| user.is(name, UserKind::Login));
        let known = user.and_then(|user| match &user.proof {
            UserProof::Password(hash) => Some((hash, user.roles)),
            _ => None,
        });
        // An unknown name takes as long as a wrong password.
        let hash = known.map(|(hash, _)| hash).or(self.nobody.as_ref());
        let matches = hash.is_some_and(|hash| hash.matches(password));
        let roles = known.filter(|_| matches).map(|(_, roles)| roles);
        if roles.is_none() {
            self.refusals.warn(&refused_login(name, peer));
        }
        self.note(attempt, roles.is_some(), at);
        roles.ok_or(StatusCode::BadUserAccessDenied)
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
            ForwardedIdentity::Unix { user, groups } => Some(self.anonymous(&Peer::SharedMemory {
                user: Some(*user),
                process: None,
                groups: groups.clone(),
            })),
            ForwardedIdentity::Address(address) => Some(self.anonymous(&Peer::Tcp {
                address: (*address, 0).into(),
            })),
            ForwardedIdentity::Other => None,
        }
    }

    /// The Unix user that runs the server, and root, have all Roles over shared memory. Others have those of the file.
    fn anonymous(&self, peer: &Peer) -> RoleSet {
        let (users, is_known) = {
            let state = self.current();
            (Arc::clone(&state.users), state.is_known)
        };
        match peer {
            Peer::SharedMemory {
                user: Some(user), ..
            } if *user == self.own_user || *user == 0 => RoleSet::ALL,
            // A damaged file may limit everybody.
            _ if !is_known => self.anonymous,
            Peer::SharedMemory {
                user: Some(user),
                groups,
                ..
            } => unix::roles(&users, *user, groups)
                .map_or_else(|| peer.roles(), RoleSet::authenticated),
            // It may be any Unix user of this host, also one whose rights the file limits.
            Peer::Tcp { .. }
                if users
                    .iter()
                    .any(|user| user.proof.kind() != UserKind::Login) =>
            {
                self.anonymous
            }
            Peer::Tcp { .. } => peer.roles().union(self.anonymous),
            // The kernel did not say who it is.
            Peer::SharedMemory { user: None, .. } => self.anonymous,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use takt_space::UserRole;

    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::Tcp {
            address: ([192, 0, 2, last], 50_000).into(),
        }
    }

    fn user(name: &str, password: &str) -> User {
        User {
            name: name.to_owned(),
            roles: UserRole::Operator.into(),
            proof: UserProof::Password(PasswordHash::of(password.as_bytes()).unwrap()),
        }
    }

    fn file(folder: &tempfile::TempDir) -> UserFile {
        UserFile::new(folder.path().join("users"), UserRole::Observer.into())
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
        assert_eq!(check("anna", "hammer"), Ok(UserRole::Operator.into()));
        for (name, password) in [("anna", "nail"), ("anna", ""), ("bert", "hammer")] {
            assert_eq!(check(name, password), denied);
        }
        assert!(!users.remove("anna", UserKind::UnixUser).unwrap());
        assert!(users.remove("anna", UserKind::Login).unwrap());
        assert!(!users.remove("anna", UserKind::Login).unwrap());
        assert_eq!(check("anna", "hammer"), denied);
        assert!(users.add(user("a:b", "x")).is_err());
    }

    /// A mistake in the file gives nobody a right: neither while the server runs, nor at its start.
    #[test]
    fn a_damaged_file_gives_no_rights() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        let member = Peer::SharedMemory {
            user: Some(4_000_000_000),
            process: None,
            groups: vec![4_000_000_001],
        };
        let limited = User {
            name: "plant".to_owned(),
            roles: UserRole::Observer.into(),
            proof: UserProof::UnixGroup(4_000_000_001),
        };
        assert!(users.anonymous(&member).contains(UserRole::Operator));
        users.add(limited).unwrap();
        let observes = |users: &UserFile| {
            let roles = users.anonymous(&member);
            roles.contains(UserRole::Observer) && !roles.contains(UserRole::Operator)
        };
        assert!(observes(&users));
        let path = folder.path().join("users");
        let text = fs::read_to_string(&path).unwrap();
        for damaged in [
            text.replace("observer", "observr").into_bytes(),
            [text.as_bytes(), &[0xFF]].concat(),
        ] {
            std::thread::sleep(SAME_TIME);
            fs::write(&path, damaged).unwrap();
            assert!(observes(&users));
            assert!(observes(&file(&folder)));
            assert!(users.remove("plant", UserKind::UnixGroup).is_err());
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(observes(&users) && observes(&file(&folder)));
    }

    #[test]
    fn one_certificate_is_one_user() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        let with = |name: &str| User {
            name: name.to_owned(),
            roles: UserRole::Operator.into(),
            proof: UserProof::Certificate("ab".to_owned()),
        };
        users.add(with("anna")).unwrap();
        users.add(with("anna")).unwrap();
        let error = users.add(with("bert")).unwrap_err();
        assert!(matches!(error, UsersError::KnownCertificate(_)), "{error}");
    }

    /// The log does not tell which names are known.
    #[test]
    fn refusals_of_known_and_unknown_names_look_alike() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        users.add(user("anna", "hammer")).unwrap();
        for name in ["anna", "bert"] {
            let refused = users.user_name(&peer(1), name, b"nail");
            assert_eq!(refused, Err(StatusCode::BadUserAccessDenied));
        }
        let mut lines = users.refusals.lines();
        lines.sort();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[0].replace("anna", "bert"), lines[1]);
        assert!(!lines.concat().contains("nail"));
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
    fn addresses_of_one_ipv6_network_are_one_guesser() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        users.add(user("anna", "hammer")).unwrap();
        let check = |address: &str, password: &str| {
            let address = format!("[{address}]:50000").parse().unwrap();
            users.user_name(&Peer::Tcp { address }, "anna", password.as_bytes())
        };
        let denied = Err(StatusCode::BadUserAccessDenied);
        for host in 1..=ATTEMPTS {
            assert_eq!(check(&format!("2001:db8::{host}"), "nail"), denied);
        }
        assert_eq!(check("2001:db8::99", "hammer"), denied);
        assert!(check("2001:db8:0:1::99", "hammer").is_ok());
    }

    #[test]
    fn checks_are_limited_in_time_and_failures_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = |number: usize| (format!("name{number}"), None);
        let users = file(&folder);
        let at = Instant::now();
        assert!((0..BURST as usize).all(|number| users.permit(&attempt(number), at)));
        let users = file(&folder);
        let at = Instant::now() + Duration::from_secs(10);
        let permitted = (0..100).filter(|number| users.permit(&attempt(*number), at));
        assert_eq!(permitted.count(), BURST as usize + 1);
        assert!(users.permit(&attempt(0), at + PAUSE));
        for number in 0..2 * MAX_FAILURES {
            users.note(attempt(number), false, at);
        }
        assert!(users.state().failures.len() <= MAX_FAILURES);
    }

    #[test]
    fn right_passwords_are_not_limited() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        let attempt = ("anna".to_owned(), None);
        let at = Instant::now() + Duration::from_secs(10);
        for _ in 0..10 * BURST {
            assert!(users.permit(&attempt, at));
            users.note(attempt.clone(), true, at);
        }
        // Guesses between them are limited as before.
        let guess = |number: usize| (format!("name{number}"), None);
        let permitted = (0..100).filter(|number| users.permit(&guess(*number), at));
        assert_eq!(permitted.count(), BURST as usize + 1);
    }

    #[test]
    fn unix_users_have_the_roles_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let users = file(&folder);
        let process = |user, group| Peer::SharedMemory {
            user,
            process: None,
            groups: vec![group],
        };
        let roles = |peer: &Peer| users.anonymous(peer).to_string();
        let usual = "anonymous,authenticated-user,observer,operator,engineer";
        let stranger = rustix::process::geteuid().as_raw() + 4711;
        let loopback = Peer::Tcp {
            address: ([127, 0, 0, 1], 50_000).into(),
        };
        assert_eq!(roles(&process(Some(stranger), 100)), usual);
        assert_eq!(roles(&loopback), "anonymous,observer,operator");
        let add = |name: &str, roles: &str, proof| {
            let (name, roles) = (name.to_owned(), roles.parse().unwrap());
            users.add(User { name, roles, proof }).unwrap();
        };
        add("plant", "supervisor", UserProof::UnixGroup(100));
        let everybody = "anonymous,authenticated-user,observer";
        let supervisor = format!("{everybody},supervisor");
        assert_eq!(roles(&process(Some(stranger), 100)), supervisor);
        assert_eq!(roles(&process(Some(stranger), 101)), usual);
        add("bert", "security-admin", UserProof::UnixUser(stranger));
        let admin = format!("{everybody},security-admin");
        assert_eq!(roles(&process(Some(stranger), 100)), admin);
        // Every Unix user of this host can come from the loopback interface.
        assert_eq!(roles(&loopback), "observer");
        assert_eq!(roles(&process(None, 100)), "observer");
        let own = rustix::process::geteuid().as_raw();
        for all in [own, 0] {
            assert_eq!(users.anonymous(&process(Some(all), 100)), RoleSet::ALL);
        }
        assert!(!users.allows_user_names() && !users.allows_certificates());
    }
}
