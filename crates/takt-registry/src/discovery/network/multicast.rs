//! Servers on the local network by mDNS (OPC 10000-12, Annex C): `_opcua-tcp._tcp` with the properties `path` and `caps`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mdns_sd::{IfKind, Receiver, ServiceDaemon, ServiceEvent, ServiceInfo};
use takt_ua::DateTime;
use takt_ua::structures::ServerOnNetwork;

use super::announcement::{AnnouncedHost, Announcement};
pub use super::records::FoundServer;
use super::records::{Records, SERVICE};

/// Time between two searches, each of which forgets the servers that do not answer any more: strangers choose the lifetimes of
/// their records.
const ROUND: Duration = Duration::from_secs(3600);

/// The same after a server that had no room, or after very many announcements.
const SHORT_ROUND: Duration = Duration::from_secs(60);

/// Time in which servers answer a search.
const ANSWERS: Duration = Duration::from_secs(20);

/// Longest part of the name of a host before an address, so that both fit into the 63 bytes of a label.
const LONGEST_PREFIX: usize = 23;

/// Time limit for farewells at the end.
const FAREWELL: Duration = Duration::from_millis(300);

/// Reason why the network cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("mDNS does not work: {0}")]
pub struct MulticastError(#[from] mdns_sd::Error);

/// The search that is under way.
struct Search {
    daemon: ServiceDaemon,
    /// True if no further search shall begin.
    is_over: bool,
}

/// Multicast extension: announces servers of this host, and listens for those of others. Dropping it says farewell.
pub struct Multicast {
    /// Announces the servers of this host.
    daemon: ServiceDaemon,
    search: Arc<Mutex<Search>>,
    records: Arc<Mutex<Records>>,
    since: DateTime,
    /// Full names in mDNS by the names of the servers.
    announced: Mutex<BTreeMap<String, String>>,
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
        let daemon = ServiceDaemon::new()?;
        // A daemon of its own, because each new search replaces it, and announcements have to go on.
        let searching = ServiceDaemon::new()?;
        let events = searching.browse(SERVICE)?;
        let search = Arc::new(Mutex::new(Search {
            daemon: searching,
            is_over: false,
        }));
        let records = Arc::new(Mutex::new(Records::default()));
        let (kept, searching) = (Arc::clone(&records), Arc::clone(&search));
        let listener = std::thread::Builder::new()
            .name("mdns".to_owned())
            .spawn(move || listen(events, &kept, &searching))
            .map_err(|error| mdns_sd::Error::Msg(error.to_string()))?;
        Ok(Self {
            daemon,
            search,
            records,
            since: DateTime::now(),
            announced: Mutex::default(),
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
        let full_name = info.get_fullname().to_owned();
        self.daemon.register(info)?;
        locked(&self.announced).insert(server.name.clone(), full_name);
        Ok(())
    }

    /// Ends the announcement of a server.
    pub(crate) fn withdraw(&self, name: &str) {
        if let Some(full_name) = locked(&self.announced).remove(name) {
            // The result is of no use: a server that is not announced any more needs no farewell.
            let _ = self.daemon.unregister(&full_name);
        }
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
        let names: Vec<String> = locked(&self.announced).values().cloned().collect();
        let farewells: Vec<_> = names
            .iter()
            .filter_map(|name| self.daemon.unregister(name).ok())
            .collect();
        // The daemon sends them on its own thread, which must not end before.
        for farewell in farewells {
            let _ = farewell.recv_timeout(FAREWELL);
        }
        let searching = {
            let mut search = locked(&self.search);
            search.is_over = true;
            // The listener ends with the event that this causes.
            let _ = search.daemon.stop_browse(SERVICE);
            search.daemon.shutdown()
        };
        for ended in [self.daemon.shutdown(), searching].into_iter().flatten() {
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

/// Keeps what is found, in one search after another, until they are over.
fn listen(mut events: Receiver<ServiceEvent>, records: &Mutex<Records>, search: &Mutex<Search>) {
    let mut begin = Instant::now();
    let mut is_swept = true;
    loop {
        let end = match (is_swept, locked(records).needs_round()) {
            (false, _) => begin + ANSWERS,
            (true, true) => begin + SHORT_ROUND,
            (true, false) => begin + ROUND,
        };
        match events.recv_deadline(end) {
            Ok(ServiceEvent::ServiceResolved(service)) => locked(records).add(&service),
            Ok(ServiceEvent::ServiceRemoved(_, name)) => {
                locked(records).remove(&name);
            }
            Ok(ServiceEvent::SearchStopped(_)) if locked(search).is_over => return,
            Ok(_) => {}
            // The library has ended.
            Err(_) if Instant::now() < end => return,
            Err(_) if !is_swept => {
                locked(records).sweep();
                is_swept = true;
            }
            Err(_) => {
                begin = Instant::now();
                match next_search(search) {
                    Ok(Some(next)) => {
                        events = next;
                        locked(records).begin_round();
                        is_swept = false;
                    }
                    Ok(None) => return,
                    Err(error) => tracing::warn!(%error, "mDNS does not begin another search"),
                }
            }
        }
    }
}

/// Begins another search, without what the last one has found. `None` if no further search shall begin.
fn next_search(search: &Mutex<Search>) -> Result<Option<Receiver<ServiceEvent>>, mdns_sd::Error> {
    let mut search = locked(search);
    if search.is_over {
        return Ok(None);
    }
    let next = ServiceDaemon::new()?;
    let events = next.browse(SERVICE)?;
    let last = std::mem::replace(&mut search.daemon, next);
    // It ends by itself.
    let _ = last.shutdown();
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
