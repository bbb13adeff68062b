//! The servers of this host that are announced, and the daemon that does it.

use std::collections::BTreeMap;
use std::time::Duration;

use mdns_sd::{Error, ServiceInfo};

use super::daemon::Daemon;

/// Time limit for farewells.
pub(super) const FAREWELL: Duration = Duration::from_millis(300);

/// Announces servers until it is dropped.
pub(super) struct Announcing {
    daemon: Daemon,
    /// Services by the names of the servers.
    announced: BTreeMap<String, ServiceInfo>,
    was_replaced: bool,
}

impl Announcing {
    pub(super) fn start() -> Result<Self, Error> {
        Ok(Self {
            daemon: Daemon::start()?,
            announced: BTreeMap::new(),
            was_replaced: false,
        })
    }

    /// Announces a server of this name. A further one with the same name replaces it.
    pub(super) fn announce(&mut self, name: &str, service: ServiceInfo) -> Result<(), Error> {
        self.daemon.library().register(service.clone())?;
        self.announced.insert(name.to_owned(), service);
        Ok(())
    }

    /// Ends the announcement of a server.
    pub(super) fn withdraw(&mut self, name: &str) {
        if let Some(service) = self.announced.remove(name) {
            // The result is of no use: a server that is not announced any more needs no farewell.
            let _ = self.daemon.library().unregister(service.get_fullname());
        }
    }

    /// Replaces the daemon if it keeps too much: it stores records of strangers too, of which it has no use. Other hosts get a farewell
    /// and a new announcement.
    pub(super) fn look(&mut self) {
        if !self.daemon.keeps_too_much() {
            return;
        }
        let next = match Daemon::start() {
            Ok(next) => next,
            Err(error) => {
                tracing::warn!(%error, "mDNS does not begin anew");
                return;
            }
        };
        if !std::mem::replace(&mut self.was_replaced, true) {
            tracing::warn!(
                "others announce so much by mDNS that the announcements of this host begin anew"
            );
        }
        let last = std::mem::replace(&mut self.daemon, next);
        if let Ok(ended) = last.library().shutdown() {
            // A farewell after the new announcement would end it.
            let _ = ended.recv_timeout(FAREWELL);
        }
        for service in self.announced.values() {
            if let Err(error) = self.daemon.library().register(service.clone()) {
                tracing::warn!(%error, name = service.get_fullname(), "not announced any more");
            }
        }
    }
}

impl Drop for Announcing {
    fn drop(&mut self) {
        let services = self.announced.values();
        let farewells: Vec<_> = services
            .filter_map(|service| {
                self.daemon
                    .library()
                    .unregister(service.get_fullname())
                    .ok()
            })
            .collect();
        // The daemon sends them on its own thread, which must not end before.
        for farewell in farewells {
            let _ = farewell.recv_timeout(FAREWELL);
        }
        if let Ok(ended) = self.daemon.library().shutdown() {
            let _ = ended.recv_timeout(FAREWELL);
        }
    }
}
