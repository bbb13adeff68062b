//! The key log for Wireshark: messages that a relay has recorded are decrypted with it.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::Signal;
use takt_crypto::{
    Cipher, EllipticCurve, KeyKind, PolicyProfile, SymmetricKeys, SymmetricSignature,
};
use takt_tests::{Registry, Sandbox, process};

use crate::registry::PATIENCE;

const VARIABLE: &str = "OPCUAKEYLOGFILE";

/// Length of the header of a chunk up to the encrypted part: type, size, SecureChannelId and TokenId (OPC 10000-6, 6.7.2).
const HEADER: usize = 16;

/// The memory of the registry's budget in MiB: an unusual number, which is looked for in the messages.
const MEBIBYTES: u64 = 291;

/// NodeId of the Variable that has it.
const NODE: &str = "Budgets.MemoryLimit";

/// All bytes of each direction of the connections through a relay.
#[derive(Debug, Default)]
struct Recorded {
    requests: Vec<u8>,
    responses: Vec<u8>,
}

/// Relays a number of connections, and records them.
fn relay(server: &str, connections: usize) -> (String, JoinHandle<Vec<Recorded>>) {
    let address = server.strip_prefix("opc.tcp://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("opc.tcp://{}", listener.local_addr().unwrap());
    let recording = std::thread::spawn(move || {
        let accepted = listener.incoming().take(connections);
        accepted
            .map(|client| record(&client.unwrap(), &TcpStream::connect(&address).unwrap()))
            .collect()
    });
    (endpoint, recording)
}

fn record(client: &TcpStream, server: &TcpStream) -> Recorded {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let recorded = Arc::clone(&requests);
    let forward = std::thread::spawn(move || copy(&from, &to, &mut recorded.lock().unwrap()));
    let mut responses = Vec::new();
    copy(server, client, &mut responses);
    forward.join().unwrap();
    let requests = std::mem::take(&mut *requests.lock().unwrap());
    Recorded {
        requests,
        responses,
    }
}

/// Copies until one side closes the connection.
fn copy(mut from: &TcpStream, mut to: &TcpStream, recorded: &mut Vec<u8>) {
    from.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        recorded.extend_from_slice(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Returns the chunks with messages of services.
fn messages(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while let Some(size) = bytes.get(4..8) {
        let size = u32::from_le_bytes(size.try_into().unwrap()) as usize;
        let (chunk, rest) = bytes.split_at(size);
        if chunk.starts_with(b"MSG") {
            found.push(chunk);
        }
        bytes = rest;
    }
    found
}

/// Returns the value of a line of a key log.
fn value<'k>(keys: &'k str, name: &str) -> &'k str {
    let mut lines = keys.lines().filter_map(|line| line.split_once(": "));
    let line = lines.find(|(found, _)| *found == name);
    line.unwrap_or_else(|| panic!("the key log has no {name}"))
        .1
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks(2);
    let pair = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(pair).collect()
}

/// Decrypts chunks of one side as Wireshark does: with the key, the vector and the length of signatures in the key log.
fn decrypted(cipher: Cipher, keys: &str, side: &str, chunks: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for chunk in chunks {
        let number = |at: usize| u32::from_le_bytes(chunk[at..at + 4].try_into().unwrap());
        let of = |what: &str| value(keys, &format!("{side}_{what}_{}_{}", number(8), number(12)));
        let (key, iv) = (bytes(of("key")), bytes(of("iv")));
        let signature = SymmetricSignature::HmacSha256;
        let key = SymmetricKeys::new(cipher, signature, &[], &key, &iv).unwrap();
        let mut plain = chunk[HEADER..].to_vec();
        key.decrypt(&mut plain).unwrap();
        let signature: usize = of("siglen").parse().unwrap();
        plain.truncate(plain.len() - signature);
        // The last byte is the length of the padding.
        let padding = *plain.last().unwrap();
        let end = plain.len() - 1 - usize::from(padding);
        assert!(plain[end..].iter().all(|byte| *byte == padding));
        all.extend_from_slice(&plain[8..end]);
    }
    all
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Returns true for the policies that a registry offers without an option.
fn is_offered(profile: &PolicyProfile) -> bool {
    match profile.key_kind() {
        KeyKind::Rsa => true,
        KeyKind::Ec(curve) => curve == EllipticCurve::NistP256,
    }
}

/// Starts a registry that logs keys if there is a file for them.
fn registry(sandbox: &Sandbox, keys: Option<&Path>) -> Registry {
    let mebibytes = MEBIBYTES.to_string();
    let endpoint = "opc.tcp://127.0.0.1:0";
    let arguments = ["--endpoint", endpoint, "--max-memory", &mebibytes];
    Registry::start_in(sandbox, &arguments, |command| {
        set(command, keys);
    })
}

fn set(command: &mut Command, keys: Option<&Path>) {
    match keys {
        Some(keys) => command.env(VARIABLE, keys),
        None => command.env_remove(VARIABLE),
    };
}

#[test]
fn recorded_messages_are_decrypted_with_the_keys_of_server_and_client() {
    let sandbox = Sandbox::new();
    let data = sandbox.data_directory();
    let (at_server, at_client) = (data.join("server.keys"), data.join("client.keys"));
    let registry = registry(&sandbox, Some(&at_server));
    let folder = data.join("pki");
    let all = PolicyProfile::ALL.into_iter();
    for profile in all.filter(|profile| is_offered(profile)) {
        // GetEndpoints, and then the secured channel.
        let (endpoint, recording) = relay(&registry.endpoint, 2);
        let choice = format!("{},encrypt", profile.name);
        let node = format!("ns=1;s={NODE}");
        let mut read = sandbox.takt(&["read", &endpoint, &node, "--security", &choice]);
        read.arg("--certificates").arg(&folder);
        set(&mut read, Some(&at_client));
        let said = process::run("takt read", &mut read, PATIENCE);
        assert!(said.stderr.contains(VARIABLE), "{}", said.stderr);
        let bytes_of_memory = MEBIBYTES << 20;
        assert!(said.expect_success().contains(&bytes_of_memory.to_string()));

        let recorded = recording.join().unwrap().pop().unwrap();
        let (requests, responses) = (messages(&recorded.requests), messages(&recorded.responses));
        // A Variant with an UInt64 (OPC 10000-6, 5.2.2.16).
        let variant = [&[9][..], &bytes_of_memory.to_le_bytes()].concat();
        for (chunks, part) in [(&requests, NODE.as_bytes()), (&responses, &variant)] {
            assert!(chunks.len() > 2, "messages were recorded");
            assert!(!contains(&chunks.concat(), part), "it is encrypted");
        }
        for file in [&at_server, &at_client] {
            let keys = std::fs::read_to_string(file).unwrap();
            let of = |side, chunks| decrypted(profile.cipher, &keys, side, chunks);
            assert!(contains(&of("client", &requests), NODE.as_bytes()));
            assert!(contains(&of("server", &responses), &variant));
        }
    }
    for file in [&at_server, &at_client] {
        let mode = std::fs::metadata(file).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let keys = std::fs::read_to_string(&at_server).unwrap();
    let mut process = registry.process;
    process.signal(Signal::TERM);
    let log = process.finish(PATIENCE).stderr;
    assert!(log.contains(VARIABLE), "a warning: {log}");
    for line in keys.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        assert!(name.contains("_siglen_") || !log.contains(value), "{log}");
    }
}

#[test]
fn no_keys_are_written_by_default_or_into_a_file_that_others_can_read() {
    let sandbox = Sandbox::new();
    let registry = registry(&sandbox, None);
    let folder = sandbox.data_directory().join("pki");
    let readable = sandbox.data_directory().join("readable");
    std::fs::write(&readable, "").unwrap();
    // Libraries that other tests use change the umask of this process for a moment.
    std::fs::set_permissions(&readable, Permissions::from_mode(0o644)).unwrap();
    for keys in [None, Some(&*readable)] {
        let mut read = sandbox.takt(&[
            "read",
            &registry.endpoint,
            "i=2258",
            "--security",
            "encrypt",
        ]);
        read.arg("--certificates").arg(&folder);
        set(&mut read, keys);
        let said = process::run("takt read", &mut read, PATIENCE);
        assert_eq!(
            said.stderr.contains("chmod 600"),
            keys.is_some(),
            "{}",
            said.stderr
        );
        let _ = said.expect_success();
    }
    assert_eq!(std::fs::read(&readable).unwrap(), b"");
    let mut process = registry.process;
    process.signal(Signal::TERM);
    assert_eq!(process.finish(PATIENCE).stderr, "");
}
