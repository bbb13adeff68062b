//! Budget of names: the numbers of Providers and namespaces that each client may have, and names that are reserved.
//!
//! Clients are counted by Unix user over shared memory and by source address over TCP. A namespace counts from its
//! Provider's first registration until `registry forget`, whether the Provider is registered or not: its index is
//! bound to its URI all that time. While the registry runs, an index is never bound to another URI, so that no NodeId
//! can become that of another Provider.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_app::model;
use takt_app::refusals::{Refusals, refused_login, shown};
use takt_crypto::Remedy;
use takt_shm::{ApplicationName, Runtime};
use takt_space::{Caller, Peer};
use takt_ua::StatusCode;

/// Longest reason of a refusal in the log, in characters.
const LONGEST_REASON: usize = 300;

/// Budget of names that each Unix user (over shared memory) or source address (over TCP) may have at a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameBudget {
    /// Largest number of registered Providers.
    pub providers: usize,
    /// Largest number of namespaces of registered Providers, and of unregistered ones that are not forgotten.
    pub namespaces: usize,
}

impl NameBudget {
    /// Returns the budget of this number of Providers, and twice as many namespaces.
    #[must_use]
    pub fn for_providers(providers: usize) -> Self {
        Self {
            providers,
            namespaces: providers.saturating_mul(2),
        }
    }
}

impl Default for NameBudget {
    /// 16 Providers and 32 namespaces.
    fn default() -> Self {
        Self::for_providers(16)
    }
}

/// Owner that is charged with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// The Unix user that registered over shared memory.
    User(u32),
    /// The address that registered over TCP; for an IPv6 address its network.
    Address(IpAddr),
}

impl Owner {
    /// Returns the owner that is charged for registrations of `peer`; `None` if it is unknown.
    pub(crate) fn of(peer: &Peer) -> Option<Self> {
        match peer {
            Peer::SharedMemory { user, .. } => user.map(Self::User),
            Peer::Tcp { .. } => peer.network().map(Self::Address),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => write!(f, "Unix user {user}"),
            Self::Address(address) => write!(f, "address {address}"),
        }
    }
}

/// Owners of the namespaces, and reserved names.
pub(crate) struct Names {
    budget: NameBudget,
    /// Runtime directory of the applications of this host: a running application owns its name.
    runtime: Arc<Runtime>,
    owners: Mutex<HashMap<u16, Owner>>,
    /// Names of the Providers that have added other namespaces than their own, empty once they are forgotten: see
    /// [`set_additional`](Self::set_additional).
    additional: Mutex<HashMap<u16, String>>,
    refusals: Refusals,
}

/// A Provider that wants to be registered for the first time, or again after it has unregistered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Application<'a> {
    pub(crate) name: &'a str,
    /// The index of its namespace.
    pub(crate) namespace: u16,
}

impl Names {
    pub(crate) fn new(budget: NameBudget, runtime: Arc<Runtime>) -> Self {
        Self {
            budget,
            runtime,
            owners: Mutex::default(),
            additional: Mutex::default(),
            refusals: Refusals::default(),
        }
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<u16, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn additional(&self) -> MutexGuard<'_, HashMap<u16, String>> {
        self.additional
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a namespace with a URI of a Provider's choice belongs to nobody, so that the next Provider that adds a node
    /// there gets it. Its URI stays in the NamespaceArray, where clients find it and add it no more.
    pub(crate) fn is_vacant(&self, namespace: u16) -> bool {
        self.additional()
            .get(&namespace)
            .is_some_and(String::is_empty)
    }

    /// Notes that a namespace with a URI of its choice belongs to a Provider until it is freed; to nobody if the name is empty.
    pub(crate) fn set_additional(&self, namespace: u16, provider: &str) {
        self.additional().insert(namespace, provider.to_owned());
    }

    /// Returns the Provider that has added a namespace with a URI of its choice.
    pub(crate) fn provider_of_additional(&self, namespace: u16) -> Option<String> {
        let additional = self.additional();
        let provider = additional.get(&namespace)?;
        (!provider.is_empty()).then(|| provider.clone())
    }

    /// Returns the namespaces that a Provider has added beside its own.
    pub(crate) fn additional_of(&self, provider: &str) -> Vec<u16> {
        let additional = self.additional();
        let of_provider = additional.iter().filter(|(_, name)| *name == provider);
        let mut namespaces: Vec<u16> = of_provider.map(|(namespace, _)| *namespace).collect();
        namespaces.sort_unstable();
        namespaces
    }

    /// Checks whether a Provider may have another namespace; returns the owner to charge.
    pub(crate) fn admit_namespace(&self, caller: &Caller, name: &str) -> Result<Owner, StatusCode> {
        let owner = Owner::of(caller.peer()).ok_or(StatusCode::BadUserAccessDenied)?;
        let count = self
            .owners()
            .values()
            .filter(|other| **other == owner)
            .count();
        if count >= self.budget.namespaces {
            let _ = self.refuse_change(
                name,
                &format_args!(
                    "{owner} has {count} namespaces, which is the limit (max_namespaces)"
                ),
            );
            return Err(StatusCode::BadResourceUnavailable);
        }
        Ok(owner)
    }

    /// Charges only `owner` with a namespace.
    pub(crate) fn set(&self, namespace: u16, owner: Owner) {
        self.owners().insert(namespace, owner);
    }

    /// Frees a namespace; one with a URI of a Provider's choice is [vacant](Self::is_vacant) then. Returns whether an owner was
    /// charged with it.
    pub(crate) fn free(&self, namespace: u16) -> bool {
        if let Some(provider) = self.additional().get_mut(&namespace) {
            provider.clear();
        }
        self.owners().remove(&namespace).is_some()
    }

    /// Returns whether an owner is charged with a namespace.
    pub(crate) fn is_taken(&self, namespace: u16) -> bool {
        self.owners().contains_key(&namespace)
    }

    /// Checks whether `caller` may have the name in addition to the `registered` Providers' namespaces; returns the
    /// owner to charge.
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        application: Application<'_>,
        registered: &[u16],
    ) -> Result<Owner, StatusCode> {
        let name = application.name;
        let Some(owner) = Owner::of(caller.peer()) else {
            return Err(StatusCode::BadUserAccessDenied);
        };
        let (providers, namespaces) = {
            let owners = self.owners();
            let is_owners = |namespace: &u16| owners.get(namespace) == Some(&owner);
            // A Provider that comes back is charged with its namespace already.
            let others = owners
                .keys()
                .filter(|other| **other != application.namespace);
            (
                registered.iter().filter(|other| is_owners(other)).count(),
                others.filter(|other| is_owners(other)).count(),
            )
        };
        let budget = self.budget;
        if providers >= budget.providers {
            self.refusals.warn(&format_args!(
                "{name} is not registered: {owner} has {providers} Providers, which is the limit (max_providers)"
            ));
            return Err(StatusCode::BadResourceUnavailable);
        }
        if namespaces >= budget.namespaces {
            self.refusals.warn(&format_args!(
                "{name} is not registered: {owner} has {namespaces} namespaces, which is the limit (max_namespaces); \
                 an administrator frees those of Providers that are gone{}",
                Remedy::ForgetProvider
            ));
            return Err(StatusCode::BadResourceUnavailable);
        }
        let running = ApplicationName::new(name).ok();
        let running = running.and_then(|name| self.runtime.user_of(&name));
        match (running, owner) {
            (None, _) => Ok(owner),
            (Some(user), Owner::User(other)) if user == other => Ok(owner),
            (Some(user), _) => {
                self.refusals.warn(&format_args!(
                    "{name} is not registered for {owner}: an application of Unix user {user} runs under this name on this \
                     host, and may register over shared memory"
                ));
                Err(StatusCode::BadUserAccessDenied)
            }
        }
    }

    /// Refuses a registration of a caller that may not add nodes.
    pub(crate) fn refuse(&self, peer: &Peer) -> StatusCode {
        match Owner::of(peer) {
            Some(owner @ Owner::Address(_)) => self.refusals.warn(&format_args!(
                "registration over opc.tcp refused to {owner}: allow registration over opc.tcp (allow_tcp_registration) if you trust \
                 all clients that reach its port, or give a user the role engineer{}",
                Remedy::AddUser
            )),
            Some(owner) => self.refusals.warn(&format_args!(
                "registration refused to {owner}, which has no role engineer{}",
                Remedy::ListUsers
            )),
            None => self.refusals.warn(&format_args!("registration refused")),
        }
        StatusCode::BadUserAccessDenied
    }

    /// Refuses a change of nodes to a caller that is not named as a Provider.
    pub(crate) fn refuse_nameless(&self, caller: &Caller) -> StatusCode {
        let uri = shown(caller.application_uri.as_str());
        self.refusals.warn(&format_args!(
            "changes of nodes refused to a client with the ApplicationUri {uri}: that of a Provider is {}",
            model::provider_uri("NAME")
        ));
        StatusCode::BadUserAccessDenied
    }

    /// Refuses a change of nodes to an application, and says why.
    pub(crate) fn refuse_change(&self, name: &str, reason: &dyn fmt::Display) -> StatusCode {
        self.refusals.warn(&format_args!(
            "a change of nodes refused to {}: {}",
            shown(name),
            shown_reason(&reason.to_string())
        ));
        StatusCode::BadUserAccessDenied
    }

    /// Refuses a login that is neither of a known user nor of a Provider. The client does not learn which part is wrong.
    pub(crate) fn refuse_login(&self, name: &str, peer: &Peer) {
        self.refusals.warn(&refused_login(name, peer));
    }
}

/// Returns a reason with NodeIds and names of a client for the log: with escaped control characters, and not longer than a few lines.
fn shown_reason(reason: &str) -> String {
    reason
        .chars()
        .take(LONGEST_REASON)
        .collect::<String>()
        .escape_debug()
        .to_string()
}

#[cfg(test)]
mod tests {
    use takt_space::{Channel, ChannelSecurity};

    use super::*;

    fn caller(peer: Peer) -> Caller {
        Caller::of_channel(Arc::new(Channel {
            id: 1,
            peer,
            security: ChannelSecurity::none(),
        }))
    }

    fn local(user: u32) -> Caller {
        caller(Peer::SharedMemory {
            user: Some(user),
            process: Some(1),
            groups: Vec::new(),
        })
    }

    fn remote(address: &str) -> Caller {
        let address = address.parse().unwrap();
        caller(Peer::tcp(address))
    }

    fn names(budget: NameBudget) -> (Names, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::open(Some(directory.path())).unwrap();
        (Names::new(budget, runtime), directory)
    }

    fn application(namespace: u16) -> Application<'static> {
        Application {
            name: "Application",
            namespace,
        }
    }

    #[test]
    fn each_user_and_each_address_has_a_budget() {
        let budget = NameBudget {
            providers: 2,
            namespaces: 3,
        };
        let (names, _directory) = names(budget);
        let full = Err(StatusCode::BadResourceUnavailable);
        let callers = [
            local(1000),
            local(1001),
            remote("10.0.0.7:1"),
            remote("10.0.0.8:1"),
        ];
        let mut registered = Vec::new();
        let mut next = 5_u16;
        for caller in &callers {
            for _ in 0..2 {
                let owner = names.admit(caller, application(next), &registered).unwrap();
                names.set(next, owner);
                registered.push(next);
                next += 1;
            }
            assert_eq!(names.admit(caller, application(next), &registered), full);
        }
        // Another port of the same host counts as the same host.
        assert_eq!(
            names.admit(&remote("10.0.0.7:2"), application(99), &registered),
            full
        );
        // An unregistered Provider keeps its namespace.
        registered.retain(|namespace| *namespace != 5);
        let owner = names
            .admit(&callers[0], application(next), &registered)
            .unwrap();
        names.set(next, owner);
        assert_eq!(names.admit(&callers[0], application(99), &registered), full);
        // It may register again, and forgetting it frees its namespace.
        assert_eq!(
            names.admit(&callers[0], application(5), &registered),
            Ok(owner)
        );
        assert!(names.free(5) && !names.free(5));
        assert_eq!(
            names.admit(&callers[0], application(99), &registered),
            Ok(owner)
        );
    }

    #[test]
    fn a_refused_login_is_no_refused_registration() {
        let (names, _directory) = names(NameBudget::default());
        let client = remote("10.0.0.7:1");
        for _ in 0..2 {
            names.refuse_login("nobody\n", client.peer());
        }
        let lines = names.refusals.lines();
        let [line] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert!(
            line.contains(r"address 10.0.0.7: the user nobody\n is unknown"),
            "{line}"
        );
        assert!(!line.contains("regist"), "{line}");
    }

    #[test]
    fn an_address_is_that_of_a_host() {
        let owner =
            |address: &str| Owner::of(remote(address).peer()).map(|owner| owner.to_string());
        for (address, expected) in [
            ("10.0.0.7:4840", "address 10.0.0.7"),
            ("[::ffff:10.0.0.7]:1", "address 10.0.0.7"),
            ("[2001:db8::1:2:3]:1", "address 2001:db8::"),
        ] {
            assert_eq!(owner(address).as_deref(), Some(expected), "{address}");
        }
        let nobody = Peer::SharedMemory {
            user: None,
            process: None,
            groups: Vec::new(),
        };
        assert_eq!(Owner::of(&nobody), None);
    }
}
