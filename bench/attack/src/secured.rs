//! Attacks on secured channels: storms of OpenSecureChannel, and clients with a trusted certificate that break the rules.
//!
//! The attackers repeat what they have signed once: so they need less of the processor than the server.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::certificates;
use takt_crypto::{
    ApplicationSecurity, NewCertificate, PeerCertificate, PolicyProfile, PrivateKey,
};
use takt_tcp::{ClientConnection, ClientConnectionConfig, SecuredPolicy};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{GetEndpointsRequest, GetEndpointsResponse};

use crate::channel::{Channel, Lost, PATIENCE, Way};
use crate::messages::{RawChannel, connect};
use crate::request;
use crate::target::Attacker;

/// Connections at once.
const MANY: usize = 1000;

/// Certificates of strangers: more than a server keeps of those that it has rejected.
const STRANGERS: usize = 100;

/// Channels whose tokens are renewed at once.
const RENEWING: usize = 50;

/// Time by which the clock of a renewing client is set forward: its token has to be renewed.
const LATER: Duration = Duration::from_secs(3600);

/// Longest wait for the answers to a storm.
const STORM: Duration = Duration::from_secs(20);

/// The policy with the longest operations.
const PROFILE: &PolicyProfile = PolicyProfile::ALL[0];

fn failed(error: impl std::fmt::Display) -> Lost {
    Lost::System(std::io::Error::other(error.to_string()))
}

/// Facts that a secured client needs to know of the server.
struct Server {
    certificate: Arc<PeerCertificate>,
    url: String,
}

impl Server {
    /// Asks the server, without security, for its certificate.
    fn of(attacker: &mut Attacker<'_>) -> Result<Self, Lost> {
        let mut channel = Channel::open(attacker, Way::Tcp)?;
        let url = attacker.endpoints.tcp.to_string();
        let request = GetEndpointsRequest {
            endpoint_url: url.as_str().into(),
            ..GetEndpointsRequest::default()
        };
        let response: GetEndpointsResponse = channel.call(attacker, &request)?;
        let secured = response
            .endpoints
            .iter()
            .find(|endpoint| endpoint.security_policy_uri.as_str() == PROFILE.uri);
        let secured = secured.ok_or_else(|| failed("the server has no secured endpoint"))?;
        let certificate = PeerCertificate::parse(secured.server_certificate.as_bytes().to_vec());
        let certificate = Arc::new(certificate);
        Ok(Self { certificate, url })
    }

    /// Returns the configuration of a client with this certificate and key.
    fn client(&self, application: ApplicationSecurity) -> ClientConnectionConfig {
        ClientConnectionConfig {
            policy: SecuredPolicy::for_client(PROFILE, Arc::new(application), None, None),
            security_mode: MessageSecurityMode::SignAndEncrypt,
            server_certificate: Arc::clone(&self.certificate),
            ..ClientConnectionConfig::default()
        }
    }
}

/// Returns the facts of an attacker's certificate.
fn facts(name: &str) -> NewCertificate {
    certificates::describe(name, &format!("urn:takt:bench:{name}"), Vec::new())
}

/// Returns the folder of the server's certificates.
fn folder<'a>(attacker: &Attacker<'a>) -> Result<&'a Path, Lost> {
    let folder = attacker.target.certificates.as_deref();
    folder.ok_or_else(|| failed("the folder of the server's certificates is not known"))
}

/// Returns a client that the server trusts: its certificate is among those of the server's user.
fn trusted(attacker: &mut Attacker<'_>) -> Result<ClientConnectionConfig, Lost> {
    let server = Server::of(attacker)?;
    let store = certificates::open_store(Some(folder(attacker)?)).map_err(failed)?;
    let application = ApplicationSecurity::open(store, &facts("TaktBenchTrusted"));
    Ok(server.client(application.map_err(failed)?))
}

/// Returns the Hello and the OpenSecureChannel request of a client. Any number of connections may send them.
fn opening(config: ClientConnectionConfig, url: &str) -> Result<Vec<u8>, Lost> {
    let mut machine = ClientConnection::new(config, url);
    let mut bytes = machine.transmit().to_vec();
    machine.transmitted(bytes.len());
    // The answer of a server to the Hello (OPC 10000-6, 7.1.2.4): version, sizes of buffers, no limits of messages.
    let mut acknowledge = b"ACKF".to_vec();
    for number in [28_u32, 0, 1 << 16, 1 << 16, 0, 0] {
        acknowledge.extend_from_slice(&number.to_le_bytes());
    }
    machine.receive_space()[..acknowledge.len()].copy_from_slice(&acknowledge);
    machine.received(acknowledge.len());
    machine.poll(Instant::now()).map_err(failed)?;
    bytes.extend_from_slice(machine.transmit());
    Ok(bytes)
}

/// Opens 1000 secured channels at once with a trusted certificate, again and again.
pub(crate) fn storm(attacker: &mut Attacker<'_>, is_under_way: impl FnOnce()) -> Result<(), Lost> {
    let url = attacker.endpoints.tcp.to_string();
    let opening = opening(trusted(attacker)?, &url)?;
    is_under_way();
    while attacker.goes_on() {
        burst(attacker, &[&opening]);
    }
    Ok(())
}

/// Does the same with certificates that the server does not know, each of 100.
pub(crate) fn strangers(
    attacker: &mut Attacker<'_>,
    is_under_way: impl FnOnce(),
) -> Result<(), Lost> {
    let server = Server::of(attacker)?;
    let folder = folder(attacker)?.with_file_name("strangers");
    let mut openings = Vec::new();
    let key = PrivateKey::generate(2048).map_err(failed)?;
    let pem = key.to_pem().map_err(failed)?;
    for index in 0..attacker.count(STRANGERS) {
        let store = certificates::open_store(Some(&folder)).map_err(failed)?;
        let trusted = server.certificate.leaf();
        let trusted = trusted.ok_or_else(|| failed("the server has no valid certificate"))?;
        store.trust(trusted).map_err(failed)?;
        let key = PrivateKey::from_pem(&pem).map_err(failed)?;
        let created = facts(&format!("Stranger{index}")).create_for(key);
        let (certificate_file, key_file) = (folder.join("own.der"), folder.join("own.pem"));
        std::fs::write(&certificate_file, created.map_err(failed)?.chain_der())?;
        std::fs::write(&key_file, pem.as_bytes())?;
        let application = ApplicationSecurity::with_files(store, &certificate_file, &key_file);
        let client = server.client(application.map_err(failed)?);
        openings.push(opening(client, &server.url)?);
    }
    is_under_way();
    let openings: Vec<&Vec<u8>> = openings.iter().collect();
    while attacker.goes_on() {
        burst(attacker, &openings);
    }
    Ok(())
}

/// Opens connections until there are 1000, of which each sends one of the openings, and waits for the answers.
fn burst(attacker: &mut Attacker<'_>, openings: &[&Vec<u8>]) {
    let mut waiting: Vec<TcpStream> = Vec::new();
    for index in 0..attacker.count(MANY) {
        if !attacker.goes_on() {
            return;
        }
        let opened = connect(attacker).and_then(|mut socket| {
            socket.write_all(openings[index % openings.len()])?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        match opened {
            Ok(socket) => {
                attacker.tally.messages += 2;
                waiting.push(socket);
            }
            Err(lost) => attacker.refused(lost),
        }
    }
    let deadline = Instant::now() + STORM;
    let mut answered = Vec::new();
    while attacker.goes_on() && Instant::now() < deadline && !waiting.is_empty() {
        waiting.retain_mut(|socket| match answer(socket) {
            None => true,
            Some(is_accepted) => {
                answered.push(is_accepted);
                false
            }
        });
        attacker.wait(Duration::from_millis(2));
    }
    let accepted = answered.iter().filter(|is_accepted| **is_accepted).count();
    attacker.tally.responses += answered.len() as u64;
    if accepted < answered.len() {
        attacker.tally.refusals += (answered.len() - accepted) as u64;
        attacker.tally.last_refusal = "the server closed the connection".to_owned();
    }
}

/// Returns whether the server opened a channel; `None` while it has not answered.
fn answer(socket: &mut TcpStream) -> Option<bool> {
    let mut bytes = [0; 4096];
    match socket.read(&mut bytes) {
        Ok(0) => Some(false),
        Ok(count) => {
            let received = &bytes[..count];
            let has = |kind: &[u8]| received.windows(4).any(|part| part == kind);
            match (has(b"OPNF"), has(b"ERRF")) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                // The Acknowledge message.
                _ => None,
            }
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(_) => Some(false),
    }
}

/// Renews the tokens of 50 channels at once, again and again, with a trusted certificate.
pub(crate) fn renewals(
    attacker: &mut Attacker<'_>,
    is_under_way: impl FnOnce(),
) -> Result<(), Lost> {
    let config = trusted(attacker)?;
    let mut is_under_way = Some(is_under_way);
    let mut channels = Vec::new();
    let mut now = Instant::now();
    while attacker.goes_on() {
        while channels.len() < attacker.count(RENEWING) && attacker.goes_on() {
            match RawChannel::open_with(attacker, config.clone()) {
                Ok(channel) => channels.push(channel),
                Err(lost) => attacker.refused(lost),
            }
        }
        if let Some(is_under_way) = is_under_way.take() {
            is_under_way();
        }
        now += LATER;
        // All requests are under way before the first response is read.
        channels.retain_mut(|channel| channel.send_renewal(now).is_ok());
        attacker.tally.messages += channels.len() as u64;
        let before = channels.len();
        channels.retain_mut(|channel| channel.await_renewal(now).is_ok());
        attacker.tally.responses += channels.len() as u64;
        if channels.len() < before {
            attacker.refused("a token was not renewed");
        }
    }
    Ok(())
}

/// A rule of secured channels that a trusted client breaks.
#[derive(Debug, Clone, Copy)]
enum Violation {
    /// A message with a token that a newer one has replaced.
    StaleToken,
    /// A message whose signature is wrong.
    Signature,
    /// A message of which the end is missing.
    Truncated,
    /// A message that was sent before.
    Repeated,
}

const VIOLATIONS: [Violation; 4] = [
    Violation::StaleToken,
    Violation::Signature,
    Violation::Truncated,
    Violation::Repeated,
];

/// Opens channels with a trusted certificate and breaks a rule on each.
pub(crate) fn violations(
    attacker: &mut Attacker<'_>,
    is_under_way: impl FnOnce(),
) -> Result<(), Lost> {
    let config = trusted(attacker)?;
    is_under_way();
    let body = request::message(&GetEndpointsRequest {
        endpoint_url: attacker.endpoints.tcp.to_string().into(),
        ..GetEndpointsRequest::default()
    });
    let mut kinds = VIOLATIONS.into_iter().cycle();
    while attacker.goes_on() {
        let broken = RawChannel::open_with(attacker, config.clone())
            .and_then(|channel| violate(channel, kinds.next(), &body));
        attacker.tally.messages += 1;
        match broken {
            Ok(()) => attacker.tally.responses += 1,
            Err(lost) => attacker.refused(lost),
        }
    }
    Ok(())
}

/// Breaks a rule, and waits for the end of the connection.
fn violate(mut channel: RawChannel, kind: Option<Violation>, body: &[u8]) -> Result<(), Lost> {
    let mut chunk = channel.take_chunks(body);
    match kind {
        Some(Violation::StaleToken) => {
            let now = Instant::now() + LATER;
            channel.send(&chunk)?;
            channel.send_renewal(now)?;
            channel.await_renewal(now)?;
            let with_new_token = channel.take_chunks(body);
            channel.send(&with_new_token)?;
        }
        Some(Violation::Truncated) => {
            chunk.truncate(chunk.len().saturating_sub(16));
            let size = u32::try_from(chunk.len()).unwrap_or_default();
            chunk[4..8].copy_from_slice(&size.to_le_bytes());
        }
        Some(Violation::Repeated) => channel.send(&chunk)?,
        Some(Violation::Signature) | None => {
            if let Some(last) = chunk.last_mut() {
                *last ^= 1;
            }
        }
    }
    channel.send(&chunk)?;
    channel.await_end(PATIENCE)
}
