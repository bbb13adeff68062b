//! Two applications with certificates that trust each other.

use std::sync::Arc;
use std::time::Duration;

use takt_crypto::{
    ApplicationSecurity, CertificateStore, EllipticCurve, KeyKind, NewCertificate, PeerCertificate,
    PolicyProfile,
};
use takt_tcp::{
    ClientConnectionConfig, NoSecurity, SecuredPolicy, ServerConnectionConfig, TransportLimits,
};
use takt_ua::enumerations::MessageSecurityMode;

/// Client and server, each with folders of its own.
pub(crate) struct Plant {
    pub(crate) folders: tempfile::TempDir,
    pub(crate) client: Arc<ApplicationSecurity>,
    pub(crate) server: Arc<ApplicationSecurity>,
}

pub(crate) fn certificate(name: &str, key_bits: usize) -> NewCertificate {
    NewCertificate {
        application_name: name.to_owned(),
        application_uri: format!("urn:{name}"),
        host_names: vec!["localhost".to_owned()],
        addresses: vec![[127, 0, 0, 1].into()],
        validity: Duration::from_secs(24 * 3600),
        key_bits,
    }
}

impl Plant {
    /// Creates both applications; they do not trust each other yet.
    pub(crate) fn of_strangers(client_bits: usize, server_bits: usize) -> Self {
        Self::with_folders([("client", client_bits), ("server", server_bits)])
    }

    /// Creates both applications with the same folders.
    pub(crate) fn of_one_user() -> Self {
        Self::with_folders([("", 2048), ("", 2048)])
    }

    /// Creates both applications with these folders and lengths of keys.
    fn with_folders([client, server]: [(&str, usize); 2]) -> Self {
        let folders = tempfile::tempdir().unwrap();
        let application = |name, (folder, bits): (&str, usize)| {
            let store = CertificateStore::open(&folders.path().join(folder)).unwrap();
            let new = certificate(name, bits);
            let curves = EllipticCurve::ALL.map(KeyKind::Ec);
            let opened = ApplicationSecurity::open_with(store, &new, KeyKind::Rsa, &curves);
            Arc::new(opened.unwrap())
        };
        Self {
            client: application("client", client),
            server: application("server", server),
            folders,
        }
    }

    pub(crate) fn new(client_bits: usize, server_bits: usize) -> Self {
        let plant = Self::of_strangers(client_bits, server_bits);
        plant.client_trusts();
        plant.server_trusts();
        plant
    }

    pub(crate) fn client_trusts(&self) {
        trust_all(&self.client, &self.server);
    }

    pub(crate) fn server_trusts(&self) {
        trust_all(&self.server, &self.client);
    }

    pub(crate) fn client_config(
        &self,
        profile: &'static PolicyProfile,
        security_mode: MessageSecurityMode,
    ) -> ClientConnectionConfig {
        ClientConnectionConfig {
            policy: SecuredPolicy::for_client(
                profile,
                Arc::clone(&self.client),
                Some("127.0.0.1".to_owned()),
                Some("urn:server".to_owned()),
            ),
            security_mode,
            server_certificate: self.server_certificate(profile),
            limits: limits(),
            token_lifetime: Duration::from_secs(3600),
            key_log: None,
        }
    }

    /// The certificate that the server uses with this policy.
    pub(crate) fn server_certificate(&self, profile: &PolicyProfile) -> Arc<PeerCertificate> {
        let own = self.server.identity_of(profile.key_kind()).unwrap();
        Arc::new(PeerCertificate::parse(own.chain_der().to_vec()))
    }

    /// A server that offers every policy.
    pub(crate) fn server_config(&self) -> ServerConnectionConfig {
        let secured = PolicyProfile::ALL.into_iter();
        let secured =
            secured.map(|profile| SecuredPolicy::for_server(profile, Arc::clone(&self.server)));
        ServerConnectionConfig {
            policies: std::iter::once(NoSecurity::policy())
                .chain(secured)
                .collect(),
            limits: limits(),
            ..ServerConnectionConfig::default()
        }
    }
}

fn trust_all(one: &ApplicationSecurity, other: &ApplicationSecurity) {
    for kind in other.kinds() {
        let certificate = other.identity_of(kind).unwrap().certificate().clone();
        one.store().trust(&certificate).unwrap();
    }
}

/// Limits under which messages of some 10 KiB have several chunks.
fn limits() -> TransportLimits {
    TransportLimits {
        receive_buffer_size: 8192,
        send_buffer_size: 8192,
        ..TransportLimits::default()
    }
}
