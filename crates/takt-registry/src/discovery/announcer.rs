//! Announcements of the registry and its Providers on the network.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_app::Endpoint;
use takt_discovery::Announcement;

use super::Discovery;
use super::providers::{ProviderUrls, is_on_network};

/// Interval at which Providers that come and go are noticed.
const INTERVAL: Duration = Duration::from_secs(1);

/// Capabilities of a registry and its Providers: live data (OPC 10000-12, Annex D).
pub(super) const LIVE_DATA: [&str; 1] = ["DA"];

/// Thread that keeps the announcements up to date. Dropping it ends it.
pub(crate) struct Announcer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Announcer {
    /// Announces the registry with this name and these endpoints, and the Providers as they come and go.
    pub(crate) fn start(
        discovery: &Arc<Discovery>,
        name: &str,
        endpoints: &[Endpoint],
    ) -> std::io::Result<Self> {
        let reachable = endpoints.iter().find(|endpoint| is_on_network(endpoint));
        let own = reachable.and_then(|endpoint| {
            let name = discovery.name_on_network(name);
            Announcement::new(&name, &endpoint.to_string(), LIVE_DATA).ok()
        });
        if own.is_none() {
            tracing::warn!(
                "the registry is not announced on the network, because its endpoint is on the loopback interface: \
                 see --endpoint"
            );
        }
        let discovery = Arc::clone(discovery);
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("announcer".to_owned())
            .spawn(move || {
                let mut announced = BTreeSet::new();
                loop {
                    discovery.expire();
                    discovery.announce(own.as_ref(), &mut announced);
                    match stopped.recv_timeout(INTERVAL) {
                        Err(RecvTimeoutError::Timeout) => {}
                        _ => return,
                    }
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Discovery {
    /// Announces the servers that are not announced yet, and withdraws those that are gone.
    fn announce(&self, own: Option<&Announcement>, announced: &mut BTreeSet<(String, String)>) {
        let Some(network) = &self.network else {
            return;
        };
        let mut wanted = BTreeSet::new();
        if let Some(own) = own {
            let key = (String::new(), String::new());
            if !announced.contains(&key)
                && let Err(error) = network.announce(own, &self.host)
            {
                tracing::warn!(%error, "the registry is not announced on the network");
            }
            wanted.insert(key);
        }
        for provider in ProviderUrls::Remote.of_all(&self.rules.providers, &self.space, None) {
            let name = self.name_on_network(provider.application_name.text.as_str());
            let Some(url) = provider.discovery_urls.first() else {
                continue;
            };
            let key = (name, url.as_str().to_owned());
            if !announced.contains(&key) {
                let announcement = Announcement::new(&key.0, &key.1, LIVE_DATA);
                match announcement.map(|one| network.announce(&one, &self.host)) {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::warn!(provider = key.0, %error, "not announced on the network");
                    }
                    Err(error) => {
                        tracing::warn!(provider = key.0, %error, "not announced on the network");
                    }
                }
            }
            wanted.insert(key);
        }
        for (name, url) in announced.iter() {
            let is_gone = !wanted.iter().any(|(wanted, _)| wanted == name);
            if is_gone {
                network.withdraw(name);
                tracing::debug!(name, url, "withdrawn from the network");
            }
        }
        *announced = wanted;
    }
}
