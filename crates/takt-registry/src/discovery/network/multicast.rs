//! Servers on the local network by mDNS (OPC 10000-12, Annex C): `_opcua-tcp._tcp` with the properties `path` and `caps`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mdns_sd::{IfKind, ResolvedService, ServiceDaemon, ServiceEvent, ServiceInfo};
use takt_ua::DateTime;
use takt_ua::structures::ServerOnNetwork;

use super::announcement::{AnnouncedHost, Announcement};
use super::name::sanitized;

/// Service type of endpoints of `opc.tcp`.
const SERVICE: &str = "_opcua-tcp._tcp.local.";

/// Number of servers on the network that are kept, and of capabilities of each.
const MAX_SERVERS: usize = 1000;
const MAX_CAPABILITIES: usize = 32;

/// Longest part of the name of a host before an address, so that both fit into the 63 bytes of a label.
const LONGEST_PREFIX: usize = 23;

/// Time limit for farewells at the end.
const FAREWELL: Duration = Duration::from_millis(300);

/// Reason why the network cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("mDNS does not work: {0}")]
pub struct MulticastError(#[from] mdns_sd::Error);

/// A server that was found on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// Number of the record; it grows.
    pub record_id: u32,
    /// Name of the server.
    pub name: String,
    /// URL with an address of the host, because its `.local` name needs a resolver.
    pub discovery_url: String,
    /// Name of the host, as announced.
    pub host: String,
    /// Identifiers of capabilities (OPC 10000-12, Annex D).
    pub capabilities: Vec<String>,
}

#[derive(Default)]
struct Records {
    by_name: BTreeMap<String, FoundServer>,
    last_id: u32,
}

/// Multicast extension: announces servers of this host, and listens for those of others. Dropping it says farewell.
pub struct Multicast {
    daemon: ServiceDaemon,
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
        let events = daemon.browse(SERVICE)?;
        let records = Arc::new(Mutex::new(Records::default()));
        let kept = Arc::clone(&records);
        let listener = std::thread::Builder::new()
            .name("mdns".to_owned())
            .spawn(move || {
                while let Ok(event) = events.recv() {
                    match event {
                        ServiceEvent::ServiceResolved(service) => locked(&kept).add(&service),
                        ServiceEvent::ServiceRemoved(_, name) => {
                            locked(&kept).by_name.remove(&name);
                        }
                        ServiceEvent::SearchStopped(_) => return,
                        _ => {}
                    }
                }
            })
            .map_err(|error| mdns_sd::Error::Msg(error.to_string()))?;
        Ok(Self {
            daemon,
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
        let mut found: Vec<_> = locked(&self.records).by_name.values().cloned().collect();
        found.sort_by_key(|server| server.record_id);
        found
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
        for farewell in farewells {
            let _ = farewell.recv_timeout(FAREWELL);
        }
        let _ = self.daemon.stop_browse(SERVICE);
        if let Ok(ended) = self.daemon.shutdown() {
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

impl Records {
    fn add(&mut self, service: &ResolvedService) {
        let full_name = service.get_fullname();
        let Some(found) = found(service) else {
            return;
        };
        let known = self.by_name.get(full_name);
        if known.is_none() && self.by_name.len() >= MAX_SERVERS {
            return;
        }
        let record_id = known.map(|known| known.record_id).unwrap_or_else(|| {
            self.last_id = self.last_id.wrapping_add(1).max(1);
            self.last_id
        });
        self.by_name
            .insert(full_name.to_owned(), FoundServer { record_id, ..found });
    }
}

/// Returns a server from its records. Texts of strangers are cut, and lose their control characters.
fn found(service: &ResolvedService) -> Option<FoundServer> {
    let name = service.get_fullname().strip_suffix(SERVICE)?;
    let name = sanitized(&unescaped(name.trim_end_matches('.')));
    let host = sanitized(service.get_hostname().trim_end_matches('.'));
    let addresses = service
        .get_addresses()
        .iter()
        .map(|address| address.to_ip_addr());
    let address = addresses.min_by_key(preference);
    let authority = match address {
        Some(IpAddr::V6(address)) => format!("[{address}]"),
        Some(IpAddr::V4(address)) => address.to_string(),
        None => host.clone(),
    };
    let path = service.get_property_val_str("path").unwrap_or_default();
    let is_plain = path.len() < 256 && path.bytes().all(|byte| byte.is_ascii_graphic());
    let path = if is_plain {
        path.trim_start_matches('/')
    } else {
        ""
    };
    let slash = if path.is_empty() { "" } else { "/" };
    let capabilities = service.get_property_val_str("caps").unwrap_or_default();
    Some(FoundServer {
        record_id: 0,
        name,
        discovery_url: format!("opc.tcp://{authority}:{}{slash}{path}", service.get_port()),
        host,
        capabilities: capabilities
            .split(',')
            .map(|capability| sanitized(capability.trim()))
            .filter(|capability| !capability.is_empty())
            .take(MAX_CAPABILITIES)
            .collect(),
    })
}

/// Returns the order in which addresses are preferred: IPv4, then IPv6 that is valid beyond its link, and the loopback
/// interface last.
fn preference(address: &IpAddr) -> (u8, IpAddr) {
    let rank = match address {
        address if address.is_loopback() => 3,
        IpAddr::V4(_) => 0,
        IpAddr::V6(address) if address.is_unicast_link_local() => 2,
        IpAddr::V6(_) => 1,
    };
    (rank, *address)
}

/// Removes the escapes of dots and backslashes in the name of an instance (RFC 6763, 4.3).
fn unescaped(name: &str) -> String {
    let mut unescaped = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => unescaped.extend(characters.next()),
            character => unescaped.push(character),
        }
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(name: &str, addresses: &str, properties: &[(&str, &str)]) -> ResolvedService {
        ServiceInfo::new(SERVICE, name, "press7.local.", addresses, 4840, properties)
            .unwrap()
            .as_resolved_service()
    }

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

    #[test]
    fn records_become_urls() {
        let service = resolved(
            "Press 7.1",
            "fe80::1,10.0.0.7,127.0.0.1",
            &[("path", "/line"), ("caps", "DA,AC")],
        );
        let server = found(&service).unwrap();
        assert_eq!(server.name, "Press 7.1");
        assert_eq!(server.discovery_url, "opc.tcp://10.0.0.7:4840/line");
        assert_eq!(server.capabilities, ["DA", "AC"]);
        let plain = found(&resolved("a", "", &[("path", "/a b")])).unwrap();
        assert_eq!(plain.discovery_url, "opc.tcp://press7.local:4840");
        let v6 = found(&resolved("a", "2001:db8::1", &[])).unwrap();
        assert_eq!(v6.discovery_url, "opc.tcp://[2001:db8::1]:4840");
    }

    #[test]
    fn records_are_bounded_and_keep_their_number() {
        let mut records = Records::default();
        for number in 0..MAX_SERVERS + 10 {
            records.add(&resolved(&format!("s{number}"), "10.0.0.7", &[]));
        }
        assert_eq!(records.by_name.len(), MAX_SERVERS);
        records.add(&resolved("s0", "10.0.0.8", &[]));
        let all: Vec<_> = records.by_name.values().collect();
        let first = all.iter().find(|server| server.name == "s0").unwrap();
        assert_eq!(first.record_id, 1);
        assert_eq!(first.discovery_url, "opc.tcp://10.0.0.8:4840");
    }
}
