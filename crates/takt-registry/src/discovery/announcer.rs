//! Announcements of the registry and its Providers on the network.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_app::Endpoint;

use super::Discovery;
use super::hosts::is_of_this_host;
use super::network::{Announcement, AnnouncementError, Multicast, MulticastError};
use super::providers::ProviderUrls;

/// Interval at which Providers that come and go are noticed.
const INTERVAL: Duration = Duration::from_secs(1);

/// Host of an endpoint at all addresses.
const EVERYWHERE: &str = "0.0.0.0";

/// Capabilities of a Provider: live data (OPC 10000-12, Annex D).
const LIVE_DATA: [&str; 1] = ["DA"];

/// Thread that keeps the announcements up to date. Dropping it ends it.
pub(crate) struct Announcer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Announcer {
    /// Announces the registry with this name, these endpoints and capabilities, and the Providers as they come and go.
    pub(crate) fn start(
        discovery: &Arc<Discovery>,
        name: &str,
        endpoints: &[Endpoint],
        capabilities: &[&str],
    ) -> std::io::Result<Self> {
        let mut urls = endpoints.iter().map(ToString::to_string);
        let own = urls.find(|url| is_of_this_host(url, discovery.host()));
        let own = own.and_then(|url| {
            let name = discovery.name_on_network(name);
            Announcement::new(&name, &url, capabilities.iter().copied()).ok()
        });
        if own.is_none() {
            tracing::warn!(
                "the registry is not announced on the network: its endpoint is on the loopback interface, or it advertises \
                 another host"
            );
        }
        let discovery = Arc::clone(discovery);
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("announcer".to_owned())
            .spawn(move || {
                let mut announced = Announced::new();
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
        // This wakes the thread, which waits at the other end.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Names and URLs of servers, and the states of their announcements. The registry has neither name nor URL here.
type Announced = BTreeMap<(String, String), State>;

/// State of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Made,
    /// The network has failed: the announcement is tried again.
    Failed,
    /// The server cannot be announced.
    Refused,
}

impl State {
    /// Makes an announcement if that is due; returns its new state. The first error is passed on.
    fn after(
        before: Option<Self>,
        announce: impl FnOnce() -> Result<(), NotAnnounced>,
        warn: impl FnOnce(&NotAnnounced),
    ) -> Self {
        if let Some(done @ (Self::Made | Self::Refused)) = before {
            return done;
        }
        let Err(error) = announce() else {
            return Self::Made;
        };
        // A failed attempt is repeated each second, and the warning is not.
        if before.is_none() {
            warn(&error);
        }
        match error {
            NotAnnounced::Multicast(_) => Self::Failed,
            NotAnnounced::OtherHost | NotAnnounced::Announcement(_) => Self::Refused,
        }
    }
}

impl Discovery {
    /// Announces the servers that are not announced yet, and withdraws those that are gone.
    fn announce(&self, own: Option<&Announcement>, announced: &mut Announced) {
        let Some(network) = &self.network else {
            return;
        };
        let mut wanted = Announced::new();
        if let Some(own) = own {
            let key = (String::new(), String::new());
            let state = State::after(
                announced.get(&key).copied(),
                || Ok(network.announce(own, &self.host)?),
                |error| tracing::warn!(%error, "the registry is not announced on the network"),
            );
            wanted.insert(key, state);
        }
        let providers = &self.rules.providers;
        for provider in ProviderUrls::Remote.of_all(providers, &self.space, EVERYWHERE) {
            let name = self.name_on_network(provider.application_name.text.as_str());
            // The announcement has addresses of this host: with the host of a gateway it would lead nowhere.
            let mut urls = provider.discovery_urls.iter().map(|url| url.as_str());
            let url = urls.find(|url| is_of_this_host(url, &self.host));
            let key = (name, url.unwrap_or_default().to_owned());
            let state = State::after(
                announced.get(&key).copied(),
                || announce(network, &key.0, url, &self.host),
                |error| tracing::warn!(provider = key.0, %error, "not announced on the network"),
            );
            wanted.insert(key, state);
        }
        // Those without a URL were not announced.
        let on_network = |(_, url): &&(String, String)| !url.is_empty();
        for (name, url) in announced.keys().filter(on_network) {
            let mut left = wanted.keys().filter(on_network);
            // An announcement with another URL and the same name has replaced this one already.
            let is_gone = !left.any(|(wanted, _)| wanted == name);
            if is_gone {
                network.withdraw(name);
                tracing::debug!(name, url, "withdrawn from the network");
            }
        }
        *announced = wanted;
    }
}

/// Reason why a Provider is not announced.
#[derive(Debug, thiserror::Error)]
enum NotAnnounced {
    #[error("it advertises another host")]
    OtherHost,
    #[error(transparent)]
    Announcement(#[from] AnnouncementError),
    #[error(transparent)]
    Multicast(#[from] MulticastError),
}

/// Announces a Provider with its URL on this host.
fn announce(
    network: &Multicast,
    name: &str,
    url: Option<&str>,
    host: &str,
) -> Result<(), NotAnnounced> {
    let url = url.ok_or(NotAnnounced::OtherHost)?;
    let announcement = Announcement::new(name, url, LIVE_DATA)?;
    network.announce(&announcement, host)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_is_tried_again_after_an_error_of_the_network() {
        let mut warnings = 0;
        let mut attempt = |before, outcome: Result<(), NotAnnounced>| {
            State::after(before, || outcome, |_| warnings += 1)
        };
        let network = || {
            let error = MulticastError::from(mdns_sd::Error::Again);
            Err(NotAnnounced::from(error))
        };
        let failed = Some(attempt(None, network()));
        assert_eq!(failed, Some(State::Failed));
        assert_eq!(attempt(failed, network()), State::Failed);
        assert_eq!(attempt(failed, Ok(())), State::Made);
        let refused = Some(attempt(None, Err(NotAnnounced::OtherHost)));
        assert_eq!(refused, Some(State::Refused));
        // These are not tried again.
        assert_eq!(attempt(refused, Ok(())), State::Refused);
        assert_eq!(attempt(Some(State::Made), network()), State::Made);
        assert_eq!(warnings, 2);
    }
}
