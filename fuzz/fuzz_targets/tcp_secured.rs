//! A secured channel: bodies of any content and size cross it unchanged, and bytes that were not protected end it.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use takt_crypto::{
    ApplicationSecurity, CertificateStore, EllipticCurve, KeyKind, NewCertificate, PeerCertificate,
    PolicyProfile,
};
use takt_fuzz::{choice, parts};
use takt_tcp::{
    ClientConnection, ClientConnectionConfig, SecuredPolicy, ServerConnection,
    ServerConnectionConfig, ServerEvent,
};
use takt_ua::enumerations::MessageSecurityMode;

/// One application plays both sides. Creating its keys takes long.
static APPLICATION: LazyLock<Arc<ApplicationSecurity>> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("takt-fuzz-{}", std::process::id()));
    let store = CertificateStore::open(&folder).expect("a temporary folder can be made");
    let new = NewCertificate {
        application_name: "fuzz".to_owned(),
        application_uri: "urn:fuzz".to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: Duration::from_secs(24 * 3600),
        key_bits: 2048,
    };
    let curves = EllipticCurve::ALL.map(KeyKind::Ec);
    let application = ApplicationSecurity::open_with(store, &new, KeyKind::Rsa, &curves)
        .expect("certificates can be made");
    // The trust list is kept in memory from now on.
    let _ = application.store().trust_list();
    Arc::new(application)
});

fn move_bytes(client: &mut ClientConnection, server: &mut ServerConnection, now: Instant) -> bool {
    loop {
        let sent = client.transmit().to_vec();
        client.transmitted(sent.len());
        if !deliver(server, &sent, now) {
            return false;
        }
        let answered = server.transmit().to_vec();
        server.transmitted(answered.len(), now);
        let mut rest = &answered[..];
        while !rest.is_empty() {
            let space = client.receive_space();
            let count = space.len().min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            client.received(count);
            rest = &rest[count..];
            while client
                .poll(now)
                .expect("the server keeps the protocol")
                .is_some()
            {}
        }
        if sent.is_empty() && answered.is_empty() {
            return true;
        }
    }
}

/// Returns `false` once the connection is closed.
fn deliver(server: &mut ServerConnection, mut bytes: &[u8], now: Instant) -> bool {
    while !bytes.is_empty() {
        let space = server.receive_space();
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        server.received(count);
        bytes = &bytes[count..];
        loop {
            match server.poll(now) {
                Ok(Some(ServerEvent::Request(mut request))) => {
                    let _ = request.respond(|body, encoder| encoder.bytes(body.bytes()).is_ok());
                }
                Ok(Some(ServerEvent::Opened(_) | ServerEvent::Renewed)) => {}
                Ok(None) => break,
                _ => return false,
            }
        }
        if count == 0 {
            return true;
        }
    }
    true
}

pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, rest)) = choice(bytes) else {
        return;
    };
    let profile = PolicyProfile::ALL[usize::from(kind >> 3) % PolicyProfile::ALL.len()];
    let application = &*APPLICATION;
    let now = Instant::now();
    let client = ClientConnectionConfig {
        policy: SecuredPolicy::for_client(profile, Arc::clone(application), None, None),
        security_mode: match kind & 4 {
            0 => MessageSecurityMode::Sign,
            _ => MessageSecurityMode::SignAndEncrypt,
        },
        server_certificate: application
            .identity_of(profile.key_kind())
            .map(|own| Arc::new(PeerCertificate::parse(own.chain_der().to_vec())))
            .unwrap_or_default(),
        ..ClientConnectionConfig::default()
    };
    let server = ServerConnectionConfig {
        policies: vec![SecuredPolicy::for_server(profile, Arc::clone(application))],
        ..ServerConnectionConfig::default()
    };
    let mut client = ClientConnection::new(client, "opc.tcp://localhost:4840");
    let mut server = ServerConnection::new(Arc::new(server), 7, now);
    assert!(move_bytes(&mut client, &mut server, now) && client.is_open());
    for part in parts(rest) {
        if client.request(|encoder| encoder.bytes(part)).is_ok() {
            assert!(move_bytes(&mut client, &mut server, now));
        }
    }
    // A message that nobody protected.
    let body = [&7_u32.to_le_bytes(), &1_u32.to_le_bytes(), rest].concat();
    let size = u32::try_from(body.len() + 8).unwrap_or(u32::MAX);
    let forged = [b"MSGF".as_slice(), &size.to_le_bytes(), &body].concat();
    if (24..8192).contains(&forged.len()) {
        assert!(
            !deliver(&mut server, &forged, now),
            "a forged message was accepted"
        );
    }
}
