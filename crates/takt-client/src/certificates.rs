//! The folders of certificates of this user, and the facts of new certificates.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use takt_crypto::Remedy;
use takt_crypto::{CertificateStore, NewCertificate, StoreError};

use crate::state_directory::{StateDirectoryError, prepare_state_directory, state_directory};

/// Validity of a certificate: five years.
const VALIDITY: Duration = Duration::from_secs(5 * 365 * 24 * 3600);

/// Length of new keys in bits: the shortest that the SecurityPolicies allow, and the quickest.
const KEY_BITS: usize = 2048;

/// Error of folders of certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificatesError {
    /// The folder is missing or not safe.
    #[error(transparent)]
    Folder(#[from] StateDirectoryError),
    /// A certificate or key cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the folder of certificates of this user: `pki` in its [state folder](crate::state_directory).
///
/// # Errors
/// [`StateDirectoryError`].
pub fn certificates_directory() -> Result<PathBuf, StateDirectoryError> {
    Ok(state_directory()?.join("pki"))
}

/// Returns the advice to trust a certificate, in the folders below `folder`, by default those of this user.
#[must_use]
pub fn trust_advice(thumbprint: &str, folder: Option<&Path>) -> String {
    let remedy = Remedy::Trust { thumbprint, folder };
    format!("trust it{}{remedy}", below(folder))
}

/// Returns the place of certificates in an advice.
fn below(folder: Option<&Path>) -> String {
    folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()))
}

/// Returns advice on a certificate whose issuer (CA) is unknown, with the folders below `folder`, by default those of this user. To trust
/// the certificate itself would not help: its chain has to be complete.
#[must_use]
pub fn unknown_issuer_advice(issuer: &str, folder: Option<&Path>) -> String {
    format!(
        "The issuer (CA) {issuer} is unknown. Trust it and add its revocation list, without which its certificates are refused{}{}.",
        below(folder),
        Remedy::TrustIssuer { folder }
    )
}

/// Opens the folders below `folder`, by default those of this user, after a check of the owner.
///
/// # Errors
/// [`CertificatesError`].
pub fn open_store(folder: Option<&Path>) -> Result<CertificateStore, CertificatesError> {
    let folder = chosen(folder)?;
    prepare_state_directory(&folder)?;
    Ok(CertificateStore::open(&folder)?)
}

/// Opens the same folders to read them: missing ones are not created.
///
/// # Errors
/// [`CertificatesError`].
pub fn open_store_to_read(folder: Option<&Path>) -> Result<CertificateStore, CertificatesError> {
    let folder = chosen(folder)?;
    if folder.exists() {
        prepare_state_directory(&folder)?;
    }
    Ok(CertificateStore::open_to_read(&folder)?)
}

fn chosen(folder: Option<&Path>) -> Result<PathBuf, StateDirectoryError> {
    match folder {
        Some(folder) => Ok(folder.to_owned()),
        None => certificates_directory(),
    }
}

/// Returns the facts of a certificate for an application of this host: it contains the names and addresses of the host, and
/// `hosts`.
pub fn describe(
    application_name: &str,
    application_uri: &str,
    hosts: Vec<String>,
) -> NewCertificate {
    let mut host_names = vec![host_name(), "localhost".to_owned()];
    let mut addresses = vec![IpAddr::from([127, 0, 0, 1]), IpAddr::from(LOOPBACK_6)];
    addresses.extend(local_addresses());
    for host in hosts {
        // An IPv6 address in a URL has brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            // A server may listen at the address of all interfaces, but no client connects to it.
            Ok(address) if address.is_unspecified() => {}
            Ok(address) => addresses.push(address),
            Err(_) => host_names.push(host.to_owned()),
        }
    }
    host_names.retain(|name| !name.is_empty());
    NewCertificate {
        application_name: application_name.to_owned(),
        application_uri: application_uri.to_owned(),
        host_names: distinct(host_names),
        addresses: distinct(addresses),
        validity: VALIDITY,
        key_bits: KEY_BITS,
    }
}

/// Returns the first of equal elements.
fn distinct<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut kept = Vec::with_capacity(all.len());
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

const LOOPBACK_6: [u16; 8] = [0, 0, 0, 0, 0, 0, 0, 1];

/// Returns the name of this host.
pub fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// Returns the addresses of the network interfaces.
fn local_addresses() -> Vec<IpAddr> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let mut addresses = addresses_4(&read("/proc/net/fib_trie"));
    addresses.extend(addresses_6(&read("/proc/net/if_inet6")));
    addresses
}

/// Returns the addresses of this host in the kernel's routing table: leaves of which the next line says that they are local.
fn addresses_4(table: &str) -> Vec<IpAddr> {
    let mut lines = table.lines().map(str::trim).peekable();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(address) = line.strip_prefix("|-- ")
            // Not the network 127.0.0.0/8, which is local as a whole.
            && lines.peek().is_some_and(|next| next.contains("/32 host LOCAL"))
            && let Ok(address) = address.parse()
        {
            found.push(address);
        }
    }
    found
}

/// Returns the addresses in the kernel's table of IPv6 addresses, except those that are valid on one link only.
fn addresses_6(table: &str) -> Vec<IpAddr> {
    let address = |line: &str| {
        // The first column is the address, in hexadecimal digits without colons.
        let digits = line.split_whitespace().next()?;
        let number = u128::from_str_radix(digits, 16).ok()?;
        let address = std::net::Ipv6Addr::from(number);
        (!address.is_unicast_link_local()).then_some(IpAddr::from(address))
    };
    table.lines().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_the_kernels_tables() {
        let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 192.0.2.7\n        /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\n     |-- 127.0.0.0\n        /8 host LOCAL\n";
        assert_eq!(addresses_4(table), [IpAddr::from([192, 0, 2, 7])]);
        let table = "00000000000000000000000000000001 01 80 10 80 lo\nfe800000000000000000000000000001 02 40 20 80 eth0\n";
        assert_eq!(addresses_6(table), [IpAddr::from(LOOPBACK_6)]);
    }

    #[test]
    fn advice_on_an_unknown_issuer_names_it_and_the_folder() {
        let advice = unknown_issuer_advice("CN=Plant CA", Some(Path::new("/pki")));
        assert!(advice.contains("CN=Plant CA"), "{advice}");
        for part in ["revocation list", " in /pki"] {
            assert!(advice.contains(part), "{advice}");
        }
    }

    #[test]
    fn names_and_addresses_appear_once() {
        let hosts = vec![
            "plc".to_owned(),
            "127.0.0.1".to_owned(),
            "0.0.0.0".to_owned(),
        ];
        let new = describe("Press", "urn:press", hosts);
        assert!(new.host_names.contains(&"plc".to_owned()));
        assert!(new.host_names.contains(&"localhost".to_owned()));
        let loopback = IpAddr::from([127, 0, 0, 1]);
        let count = new.addresses.iter().filter(|one| **one == loopback).count();
        assert_eq!(count, 1);
        assert!(new.addresses.iter().all(|one| !one.is_unspecified()));
    }
}
