//! Mirrors of foreign servers: their types, Objects, Variables and Methods in the address space of the registry.
//!
//! * [`scan`]: the address space of the server as plain data, browsed within [`limits`].
//! * [`copy`]: the nodes at the registry, and their changes.
//! * [`follow`]: the thread, with one Subscription for the values of all Variables.
//!
//! Writes and Calls go to the server through a [`Gateway`], as those to a Provider do. The registry checks the rights of its
//! client first; the server sees the user of the mirror. `docs/mirror.md` describes names, limits and states.

mod copy;
mod follow;
mod limits;
mod options;
mod scan;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use takt_app::ClientOptions;
use takt_space::{AddressSpace, AddressSpaceError};

pub use options::{MirrorOptions, MirrorOptionsError};

use crate::forwarding::{Gateway, Naming, RegistrySpace};
use copy::Copy;
use follow::Follower;

/// Running mirrors. Dropping them stops them.
pub(crate) struct Mirrors {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Mirrors {
    /// Adds a folder for each mirror, and starts its thread. `client` has the options of connections apart from those of a mirror.
    pub(crate) fn start(
        all: &[MirrorOptions],
        space: &Arc<AddressSpace>,
        registry: &RegistrySpace,
        client: &ClientOptions,
    ) -> Result<Self, AddressSpaceError> {
        let stop = Arc::new(AtomicBool::new(false));
        let uris = space.namespaces().all();
        let foreign: HashSet<String> = uris.iter().map(|uri| uri.as_ref().to_owned()).collect();
        let mut threads = Vec::new();
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
                security,
                ..client.clone()
            };
            let name = options.folder_uri();
            let gateway = Arc::new(Gateway::new(&name, naming.clone(), client.clone()));
            gateway.set_endpoint(options.endpoint.clone());
            let copy = Copy::new(
                options,
                Arc::clone(space),
                Arc::clone(&gateway),
                naming.clone(),
                foreign.clone(),
            )?;
            let follower = Follower {
                options: options.clone(),
                client,
                copy,
                gateway,
                naming,
                stop: Arc::clone(&stop),
                kept: 0,
                last_scan: None,
            };
            let thread = std::thread::Builder::new().name("mirror".to_owned());
            match thread.spawn(move || follower.run()) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    tracing::error!(mirror = options.name, %error, "the mirror does not run");
                }
            }
        }
        Ok(Self { stop, threads })
    }
}

impl Drop for Mirrors {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The panic of a thread was already reported.
            let _ = thread.join();
        }
    }
}
