//! Servers that were found on the network: strangers choose their names, addresses and lifetimes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use mdns_sd::ResolvedService;

use super::name::sanitized;

/// Service type of endpoints of `opc.tcp`.
pub(super) const SERVICE: &str = "_opcua-tcp._tcp.local.";

/// Number of servers on the network that are kept, and of capabilities of each.
const MAX_SERVERS: usize = 1000;
const MAX_CAPABILITIES: usize = 32;

/// Number of announcements after which the next search begins early: the library keeps all of them.
const MAX_ANNOUNCEMENTS: usize = 20_000;

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

/// A server that is kept.
struct Record {
    server: FoundServer,
    /// Address of the server, or its host.
    source: String,
    /// Round in which it was found last.
    round: u64,
    /// Search in which it was found first.
    search: u64,
    /// True if it was found in a later search, too: it answers.
    is_proven: bool,
}

/// Servers that were found in the searches so far.
#[derive(Default)]
pub(super) struct Records {
    by_name: BTreeMap<String, Record>,
    last_id: u32,
    round: u64,
    search: u64,
    /// True if a server was left out in this round.
    is_full: bool,
    /// Number of announcements in this round.
    announcements: usize,
}

impl Records {
    /// Returns true if the next search shall begin early.
    pub(super) fn needs_round(&self) -> bool {
        self.is_full || self.announcements > MAX_ANNOUNCEMENTS
    }

    /// Notes that another search begins: a server that is found again answers.
    pub(super) fn begin_search(&mut self) {
        self.search += 1;
    }

    pub(super) fn begin_round(&mut self) {
        self.round += 1;
        self.is_full = false;
        self.announcements = 0;
    }

    /// Forgets the servers that have not answered in this round.
    pub(super) fn sweep(&mut self) {
        let round = self.round;
        self.by_name.retain(|_, record| record.round == round);
    }

    /// Removes the server with this full name.
    pub(super) fn remove(&mut self, full_name: &str) {
        self.by_name.remove(full_name);
    }

    /// Returns the servers, in the order of their records.
    pub(super) fn servers(&self) -> Vec<FoundServer> {
        let found = self.by_name.values();
        let mut found: Vec<_> = found.map(|record| record.server.clone()).collect();
        found.sort_by_key(|server| server.record_id);
        found
    }

    /// Keeps a server. If there is no room, the last one of the source with most servers gives way: a source that announces many
    /// takes the room of no other one. A source is an address that a stranger has chosen. So if each has one server, the oldest server
    /// that has not answered another search gives way to one of a new source.
    pub(super) fn add(&mut self, service: &ResolvedService) {
        self.announcements += 1;
        let full_name = service.get_fullname();
        let Some(found) = found(service) else {
            return;
        };
        let source = service
            .get_addresses()
            .iter()
            .map(|address| address.to_ip_addr())
            .min_by_key(preference)
            .map_or_else(|| found.host.clone(), |address| address.to_string());
        let known = self.by_name.get(full_name);
        let (search, is_proven) = known.map_or((self.search, false), |known| {
            (known.search, known.is_proven || known.search < self.search)
        });
        let known = known.map(|known| known.server.record_id);
        if known.is_none() && self.by_name.len() >= MAX_SERVERS && !self.make_room(&source) {
            self.is_full = true;
            return;
        }
        let record_id = known.unwrap_or_else(|| {
            // FindServersOnNetwork returns the records above a number: one with 0 would never be returned.
            self.last_id = self.last_id.wrapping_add(1).max(1);
            self.last_id
        });
        let record = Record {
            server: FoundServer { record_id, ..found },
            source,
            round: self.round,
            search,
            is_proven,
        };
        self.by_name.insert(full_name.to_owned(), record);
    }

    /// Removes a server of the source with most servers, if these are more than those of `source` and one. If no source has several,
    /// removes one that is not proven for a new source.
    fn make_room(&mut self, source: &str) -> bool {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for record in self.by_name.values() {
            *counts.entry(&record.source).or_default() += 1;
        }
        let own = counts.get(source).copied().unwrap_or(0);
        let Some((most, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else {
            return false;
        };
        let all = self.by_name.iter();
        let number = |(_, record): &(&String, &Record)| record.server.record_id;
        // With a smaller difference, two sources would take the same room from each other in turns.
        let gives_way = if count > own + 1 {
            all.filter(|(_, record)| record.source == most)
                .max_by_key(number)
        } else if own == 0 {
            all.filter(|(_, record)| !record.is_proven)
                .min_by_key(number)
        } else {
            None
        };
        let Some(name) = gives_way.map(|(name, _)| name.clone()) else {
            return false;
        };
        self.is_full = true;
        self.by_name.remove(&name).is_some()
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
    use mdns_sd::ServiceInfo;

    use super::*;

    fn resolved(name: &str, addresses: &str, properties: &[(&str, &str)]) -> ResolvedService {
        ServiceInfo::new(SERVICE, name, "press7.local.", addresses, 4840, properties)
            .unwrap()
            .as_resolved_service()
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
        assert!(records.needs_round());
        records.add(&resolved("s0", "10.0.0.8", &[]));
        let mut all = records.by_name.values().map(|record| &record.server);
        let first = all.find(|server| server.name == "s0").unwrap();
        assert_eq!(first.record_id, 1);
        assert_eq!(first.discovery_url, "opc.tcp://10.0.0.8:4840");
    }

    /// Servers are found beside a thousand records that never expire.
    #[test]
    fn a_flood_of_one_source_gives_way_and_one_of_many_sources_to_servers_that_answer() {
        let is_known = |records: &Records, name: &str| {
            let mut all = records.by_name.values();
            all.any(|record| record.server.name == name)
        };
        let mut records = Records::default();
        for number in 0..2 * MAX_SERVERS {
            records.add(&resolved(&format!("flood{number}"), "10.0.0.7", &[]));
        }
        for number in 0..5 {
            let address = format!("10.0.1.{number}");
            records.add(&resolved(&format!("press{number}"), &address, &[]));
            assert!(is_known(&records, &format!("press{number}")));
        }
        assert_eq!(records.by_name.len(), MAX_SERVERS);

        // Each server of this flood has an address of its own.
        let flood = |records: &mut Records, name: &str| {
            for number in 0..2 * MAX_SERVERS {
                let address = format!("10.1.{}.{}", number / 250, number % 250);
                records.add(&resolved(&format!("{name}{number}"), &address, &[]));
            }
        };
        let mut records = Records::default();
        flood(&mut records, "first");
        records.add(&resolved("press", "10.0.1.1", &[]));
        assert!(is_known(&records, "press") && records.needs_round());
        records.begin_search();
        // It answers, and has its place from now on.
        records.add(&resolved("press", "10.0.1.1", &[]));
        flood(&mut records, "second");
        assert!(is_known(&records, "press"));
        assert_eq!(records.by_name.len(), MAX_SERVERS);
        records.begin_round();
        records.add(&resolved("press", "10.0.1.1", &[]));
        records.sweep();
        assert_eq!(records.by_name.len(), 1, "it has answered again");
        assert!(!records.needs_round());
        // Without an answer, it gives way.
        let mut records = Records::default();
        records.add(&resolved("press", "10.0.1.1", &[]));
        flood(&mut records, "third");
        assert!(!is_known(&records, "press"));
    }
}
