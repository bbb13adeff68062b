//! Mirrors of foreign servers: their types, Objects, Variables, Methods and Events in the address space of the registry.
//!
//! * [`scan`]: the address space of the server as plain data, browsed within its [`budget`].
//! * [`copy`]: the nodes at the registry, and their changes; [`attributes`] and [`references`]: parts of that.
//! * [`deletion`]: the deletion of nodes in steps.
//! * [`event_types`]: the fields that EventTypes of the server declare.
//! * [`follow`]: the thread, with one Subscription for the values of all Variables; [`follower`]: its state; [`values`]: the values;
//!   [`live`]: those that clients read at the server.
//! * [`namespaces`]: the namespaces of mirrors in the database.
//! * [`shared`]: types, which several mirrors may use.
//! * [`unreadable`]: values that cannot be decoded.
//! * [`silence`]: a server that hangs while its connection is open.
//! * [`problem`]: the reason why a mirror is away, and whether it lasts.
//! * [`mirrored`]: the server for those that forward its Events and the Methods of its Conditions.
//!
//! Writes and Calls go to the server through a [`Gateway`], as those to a Provider do. The registry checks the rights of its
//! client first; the server sees the user of the mirror. `docs/mirror.md` describes names, limits and states.

mod attributes;
mod budget;
mod copy;
mod deletion;
mod event_types;
mod follow;
mod follower;
mod live;
mod mirrored;
mod namespaces;
mod options;
mod problem;
mod references;
mod scan;
mod shared;
mod silence;
mod unreadable;
mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use takt_app::ClientOptions;
use takt_space::{AddressSpace, AddressSpaceError};

pub use options::{MirrorOptions, MirrorOptionsError};

use crate::forwarding::Upstream;
use crate::forwarding::{Gateway, Naming};
use crate::rules::Rules;
use budget::MirrorMemory;
use copy::Copy;
use follower::Follower;
use live::LiveValues;
use mirrored::Mirrored;
use namespaces::KeptNamespaces;
use shared::Shared;
use unreadable::Unreadable;

/// Mirrors. Dropping them stops them.
pub(crate) struct Mirrors {
    stop: Arc<AtomicBool>,
    servers: Vec<Arc<Mirrored>>,
    /// Mirrors whose threads are not started.
    followers: Vec<Follower>,
    threads: Vec<JoinHandle<()>>,
}

impl Mirrors {
    /// Adds a folder for each mirror. `client` has the options of connections apart from those of a mirror, and `max_memory` is the
    /// memory budget of the registry in bytes.
    pub(crate) fn new(
        all: &[MirrorOptions],
        space: &Arc<AddressSpace>,
        rules: &Arc<Rules>,
        client: &ClientOptions,
        max_memory: usize,
    ) -> Result<Self, AddressSpaceError> {
        let memory = MirrorMemory::of(max_memory);
        let stop = Arc::new(AtomicBool::new(false));
        let registry = rules.providers.space();
        // A namespace of the database without nodes is one of mirrors.
        let foreign = space.namespaces_with_nodes();
        let shared = Arc::new(Shared::new(foreign, KeptNamespaces::new(rules)));
        let (mut servers, mut followers) = (Vec::new(), Vec::new());
        for options in all {
            let naming = Naming::prefixed(registry.clone(), options.prefix());
            let mut security = options.security.clone();
            if security.certificates.is_none() {
                security
                    .certificates
                    .clone_from(&client.security.certificates);
            }
            let client = ClientOptions {
                identity: options.identity.clone(),
                server_uri: options.server_uri.clone(),
                reverse: options.reverse.clone(),
                max_memory: memory.answers,
                security,
                ..client.clone()
            };
            let gateway = Arc::new(Gateway::new(naming.clone(), client.clone()));
            gateway.set_endpoint(options.endpoint.clone());
            let live = Arc::new(LiveValues::default());
            gateway.observe_reads(Arc::clone(&live) as _);
            let copy = Copy::new(
                options,
                Arc::clone(space),
                Arc::clone(&gateway),
                naming.clone(),
                Arc::clone(&shared),
            )?;
            servers.push(Arc::clone(copy.server()));
            followers.push(Follower {
                options: options.clone(),
                client,
                memory,
                copy,
                gateway,
                naming,
                stop: Arc::clone(&stop),
                kept: 0,
                last_scan: None,
                unreadable: Unreadable::new(&options.name),
                live,
            });
        }
        Ok(Self {
            stop,
            servers,
            followers,
            threads: Vec::new(),
        })
    }

    /// Starts the threads.
    pub(crate) fn start(&mut self) {
        for follower in self.followers.drain(..) {
            let name = follower.options.name.clone();
            let thread = std::thread::Builder::new().name("mirror".to_owned());
            match thread.spawn(move || follower.run()) {
                Ok(thread) => self.threads.push(thread),
                Err(error) => {
                    tracing::error!(mirror = name, %error, "the mirror does not run");
                }
            }
        }
    }

    /// Returns a function for the servers whose Events are mirrored.
    pub(crate) fn upstreams(&self) -> impl Fn() -> Vec<Upstream> + Send + 'static {
        let servers = self.servers.clone();
        move || servers.iter().map(|server| server.upstream()).collect()
    }

    /// Returns a function that finds the gateway to the server with the instances of a namespace.
    pub(crate) fn gateways(&self) -> impl Fn(u16) -> Option<Arc<Gateway>> + Send + Sync + 'static {
        let servers = self.servers.clone();
        move |namespace| {
            servers
                .iter()
                .find_map(|server| server.gateway_of(namespace))
        }
    }
}

impl Drop for Mirrors {
    fn drop(&mut self) {
        // All threads see the flag before the first one is waited for, so they end at the same time.
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The panic of a thread was already reported.
            let _ = thread.join();
        }
    }
}
