//! Servers on the local network by mDNS (OPC 10000-12, Annex C): `_opcua-tcp._tcp` with the properties `path` and `caps`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mdns_sd::{IfKind, Receiver, ServiceEvent, ServiceInfo};
use takt_ua::DateTime;
use takt_ua::structures::ServerOnNetwork;

use super::announcement::{AnnouncedHost, Announcement};
use super::announcing::{Announcing, FAREWELL};
use super::daemon::Daemon;
pub use super::records::FoundServer;
use super::records::{Records, SERVICE};

/// Time between two searches, each of which forgets the servers that do not answer any more: strangers choose the lifetimes of
/// their records.
const ROUND: Duration = Duration::from_secs(3600);

/// The same after a server that had no room, or after very many announcements.
const SHORT_ROUND: Duration = Duration::from_secs(60);

/// Interval of the looks at what the library keeps. In this time, a flood of 100 MB/s adds 25 MB.
const LOOK: Duration = Duration::from_millis(250);

/// Time in which servers answer a search.
const ANSWERS: Duration = Duration::from_secs(20);

/// Longest part of the name of a host before an address, so that both fit into the 63 bytes of a label.
const LONGEST_PREFIX: usize = 23;

/// Reason why the network cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("mDNS does not work: {0}")]
pub struct MulticastError(#[from] mdns_sd::Error);

/// The search that is under way.
struct Search {
    daemon: Daemon,
    /// True if no further search shall begin.
    is_over: bool,
}

/// Multicast extension: announces servers of this host, and listens for those of others. Dropping it says farewell.
pub struct Multicast {
    announcing: Arc<Mutex<Announcing>>,
    search: Arc<Mutex<Search>>,
    records: Arc<Mutex<Records>>,
    since: DateTime,
    listener: Option<JoinHandle<()>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Multicast {
    /// Listens on all interfaces of the host.
    ///
    /// # Errors
    /// The system provides no socket or thread.
    pub fn start() -> Result<Self, MulticastError> {
        let announcing = Arc::new(Mutex::new(Announcing::start()?));
        // A daemon of its own, because each new search replaces it, and announcements have to go on.
        let searching = Daemon::start()?;
        let events = searching.library().browse(SERVICE)?;
        let search = Arc::new(Mutex::new(Search {
            daemon: searching,
            is_over: false,
        }));
        let records = Arc::new(Mutex::new(Records::default()));
        let (kept, searching) = (Arc::clone(&records), Arc::clone(&search));
        let announcer = Arc::clone(&announcing);
        let listener = std::thread::Builder::new()
            .name("mdns".to_owned())
            .spawn(move || listen(events, &kept, &searching, &announcer))
            .map_err(|error| mdns_sd::Error::Msg(error.to_string()))?;
        Ok(Self {
            announcing,
            search,
            records,
            since: DateTime::now(),
            listener: Some(listener),
        })
    }

    /// Announces a server of this host with the addresses at which it listens, until it is [withdrawn](Self::withdraw). A
    /// further announcement with the same name replaces it.
    ///
    /// # Errors
    /// The announcement cannot be encoded.
    pub(crate) fn announce(&self, server: &Announcement, host: &str) -> Result<(), MulticastError> {
        let properties = [
            ("path", server.path.clone()),
            ("caps", server.capabilities.join(",")),
        ];
        let info = service(server, host, &properties)?;
        Ok(locked(&self.announcing).announce(&server.name, info)?)
    }

    /// Ends the announcement of a server.
    pub(crate) fn withdraw(&self, name: &str) {
        locked(&self.announcing).withdraw(name);
    }

    /// Returns the servers on the network so far, in the order of their records.
    #[must_use]
    pub fn servers(&self) -> Vec<FoundServer> {
        locked(&self.records).servers()
    }

    /// Returns the records for FindServersOnNetwork, and the time since which they count.
    pub(crate) fn records(&self) -> (DateTime, Vec<ServerOnNetwork>) {
        let servers = self.servers().into_iter().map(|server| ServerOnNetwork {
            record_id: server.record_id,
            server_name: server.name.as_str().into(),
            discovery_url: server.discovery_url.as_str().into(),
            server_capabilities: server
                .capabilities
                .iter()
                .map(|capability| capability.as_str().into())
                .collect(),
        });
        (self.since, servers.collect())
    }
}

impl Drop for Multicast {
    fn drop(&mut self) {
        let searching = {
            let mut search = locked(&self.search);
            search.is_over = true;
            // The listener ends with the event that this causes.
            let _ = search.daemon.library().stop_browse(SERVICE);
            search.daemon.library().shutdown()
        };
        if let Ok(ended) = searching {
            let _ = ended.recv_timeout(FAREWELL);
        }
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// Returns the service of a server of this host.
fn service(
    server: &Announcement,
    host: &str,
    properties: &[(&str, String)],
) -> Result<ServiceInfo, MulticastError> {
    let host = host.trim_end_matches('.');
    let new = |host: &str, address: &str| {
        let host = format!("{host}.local.");
        ServiceInfo::new(
            SERVICE,
            &server.name,
            &host,
            address,
            server.port,
            properties,
        )
    };
    Ok(match server.host {
        // Listeners keep addresses by the name of the host: the one address needs a name of its own.
        AnnouncedHost::Address(address) => {
            let address = address.to_string();
            let suffix = address.replace(['.', ':'], "-");
            let label = host.split('.').next().unwrap_or(host);
            let label: String = label.chars().take(LONGEST_PREFIX).collect();
            new(&format!("{label}-{suffix}"), &address)?
        }
        AnnouncedHost::AllIpv4 => {
            let mut info = new(host, "")?.enable_addr_auto();
            info.set_interfaces(vec![IfKind::IPv4]);
            info
        }
        AnnouncedHost::All => new(host, "")?.enable_addr_auto(),
    })
}

/// Keeps what is found, in one search after another, until they are over. Looks at what the library keeps.
fn listen(
    mut events: Receiver<ServiceEvent>,
    records: &Mutex<Records>,
    search: &Mutex<Search>,
    announcing: &Mutex<Announcing>,
) {
    let mut begin = Instant::now();
    let mut is_swept = true;
    let mut look = begin + LOOK;
    loop {
        let end = match (is_swept, locked(records).needs_round()) {
            (false, _) => begin + ANSWERS,
            (true, true) => begin + SHORT_ROUND,
            (true, false) => begin + ROUND,
        };
        // The events of a flood put off nothing.
        let now = Instant::now();
        let mut is_flooded = false;
        if now >= look {
            look = now + LOOK;
            locked(announcing).look();
            let mut search = locked(search);
            // A library that is flooded may never say that the search has stopped.
            if search.is_over {
                return;
            }
            is_flooded = search.daemon.keeps_too_much();
        }
        if now >= end && !is_swept {
            locked(records).sweep();
            is_swept = true;
        } else if now >= end || is_flooded {
            match next_search(search) {
                Ok(Some(next)) => {
                    events = next;
                    locked(records).begin_search();
                    // The round goes on until servers had the time to answer.
                    if is_swept {
                        locked(records).begin_round();
                        (begin, is_swept) = (now, false);
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    begin = now;
                    tracing::warn!(%error, "mDNS does not begin another search");
                }
            }
        }
        let wake = end.min(look);
        match events.recv_deadline(wake) {
            Ok(ServiceEvent::ServiceResolved(service)) => locked(records).add(&service),
            Ok(ServiceEvent::ServiceRemoved(_, name)) => locked(records).remove(&name),
            Ok(ServiceEvent::SearchStopped(_)) if locked(search).is_over => return,
            Ok(_) => {}
            // The library has ended.
            Err(_) if Instant::now() < wake => return,
            Err(_) => {}
        }
    }
}

/// Begins another search, without what the last one has found. `None` if no further search shall begin.
fn next_search(search: &Mutex<Search>) -> Result<Option<Receiver<ServiceEvent>>, mdns_sd::Error> {
    let mut search = locked(search);
    if search.is_over {
        return Ok(None);
    }
    let next = Daemon::start()?;
    let events = next.library().browse(SERVICE)?;
    let last = std::mem::replace(&mut search.daemon, next);
    // It ends by itself.
    let _ = last.library().shutdown();
    Ok(Some(events))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_server_at_one_address_is_announced_there_only() {
        let announced = |url| {
            let server = Announcement::new("Press", url, []).unwrap();
            service(&server, "press7.plant", &[]).unwrap()
        };
        for (url, address, host) in [
            (
                "opc.tcp://10.9.9.5:4840",
                "10.9.9.5",
                "press7-10-9-9-5.local.",
            ),
            (
                "opc.tcp://[fd12::5]:4840",
                "fd12::5",
                "press7-fd12--5.local.",
            ),
        ] {
            let service = announced(url);
            assert!(!service.is_addr_auto(), "{url}");
            assert_eq!(service.get_hostname(), host);
            let addresses: Vec<_> = service.get_addresses().iter().collect();
            assert_eq!(addresses, [&address.parse::<IpAddr>().unwrap()]);
        }
        for url in ["opc.tcp://0.0.0.0:4840", "opc.tcp://[::]:4840"] {
            let service = announced(url);
            assert!(service.is_addr_auto(), "{url}");
            assert_eq!(service.get_hostname(), "press7.plant.local.");
        }
    }
}
