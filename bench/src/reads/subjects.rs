//! Servers that are compared, and clients of them.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use takt_app::{Client, ClientOptions, ClientSecurity, Endpoint, SecurityChoice};
use takt_crypto::{CertificateStore, KeyKind, NewCertificate, PolicyProfile};
use takt_rt::priority::Policy;
use takt_ua::enumerations::{MessageSecurityMode, TimestampsToReturn};
use takt_ua::structures::{ReadRequest, ReadResponse, ReadValueId};
use takt_ua::{NodeId, Variant};

use super::case::{CLIENTS, LONGEST, NODES};
use super::server::{ReadFloor, ReadServer, variable};

use crate::assignment::Assignment;
use crate::error::BenchError;
use crate::floors::protection::Protection;
use crate::floors::tcp::EchoClient;
use crate::process::{Process, Ready};
use crate::round_trip::{MessageSizes, RoundTrip, Wait};
use crate::seat::{self, CorePair};
use crate::subject;

/// Subject in errors.
const CLIENT: &str = "a client of the Reads";

/// The attribute Value (OPC 10000-6, A.1).
const VALUE: u32 = 13;

/// Timeout of a request, longer than any answer takes.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Name of the foreign server in its certificate.
const FOREIGN: &str = "open62541";

/// ApplicationUri of the foreign server.
const FOREIGN_URI: &str = "urn:takt:bench:open62541";

/// Security of the channels: none, or a SecurityPolicy in mode SignAndEncrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Security(pub(super) Option<&'static PolicyProfile>);

impl Security {
    /// Returns the name of the SecurityPolicy (OPC 10000-7).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.map_or("None", |profile| profile.name)
    }

    fn protection(self) -> Result<Option<Protection>, BenchError> {
        let protection = self.0.map(Protection::of).transpose();
        protection.map_err(BenchError::round_trip("the keys of the floor"))
    }
}

/// Name of Takt in the rows.
pub(super) const TAKT: &str = "takt";

/// Server that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Bytes over TCP. With a SecurityPolicy, both sides secure and check them.
    Floor,
    /// Takt.
    Takt,
    /// open62541.
    Open62541,
}

/// Programs, folders and cores of all subjects.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) program: &'a Path,
    pub(super) open62541: Option<&'a Path>,
    pub(super) cores: CorePair,
    /// Folder for certificates.
    pub(super) folder: &'a Path,
}

impl Setting<'_> {
    /// Starts a server.
    pub(super) fn start(
        &self,
        subject: Subject,
        security: Security,
    ) -> Result<Process, BenchError> {
        let core = self.cores.server;
        let mut command = match (subject, self.open62541) {
            (Subject::Floor, _) => ReadFloor {
                core,
                longest: LONGEST,
                clients: CLIENTS,
                policy: security.0.map(|profile| profile.name.to_owned()),
            }
            .command(self.program)?,
            (Subject::Takt, _) => ReadServer {
                core,
                variables: NODES,
                certificates: self.folder.join("pki"),
            }
            .command(self.program)?,
            (Subject::Open62541, program) => {
                let program = program.ok_or_else(|| BenchError::Process {
                    what: FOREIGN.to_owned(),
                    reason: "is not built".to_owned(),
                })?;
                self.foreign(program, security)?
            }
        };
        Process::start(subject.name(security), &mut command)
    }

    /// Returns the command that starts open62541.
    fn foreign(&self, program: &Path, security: Security) -> Result<Command, BenchError> {
        let mut command = Command::new(program);
        command.arg("0");
        if let Some(profile) = security.0 {
            let (certificate, key) = self.foreign_certificate(profile.key_kind())?;
            let description = json!({
                "application": FOREIGN_URI,
                "certificate": certificate,
                "key": key,
                "policies": [profile.name],
            });
            command.arg(description.to_string());
        }
        command.args(["--core", &self.cores.server.to_string()]);
        command.args(["--variables", &NODES.to_string()]);
        if let Policy::Fifo(priority) = seat::policy() {
            command.args(["--fifo", &priority.to_string()]);
        }
        Ok(command)
    }

    /// Returns the files of the foreign server's certificate, which the clients of Takt trust, and of its key.
    fn foreign_certificate(&self, kind: KeyKind) -> Result<(String, String), BenchError> {
        let failed = BenchError::round_trip(FOREIGN);
        let own = CertificateStore::open(&self.folder.join("foreign"))
            .and_then(|store| {
                let new = NewCertificate {
                    application_name: FOREIGN.to_owned(),
                    application_uri: FOREIGN_URI.to_owned(),
                    host_names: vec!["localhost".to_owned()],
                    addresses: vec![[127, 0, 0, 1].into()],
                    validity: Duration::from_secs(86_400),
                    key_bits: 2048,
                };
                let own = store.own(&new, kind)?;
                CertificateStore::open(&self.folder.join("pki"))?.trust(own.certificate())?;
                Ok((own, store.own_files(FOREIGN, kind).1))
            })
            .map_err(failed)?;
        let (own, key) = own;
        let certificate = key.with_extension("certificate.pem");
        std::fs::write(&certificate, own.certificate().to_pem())
            .map_err(BenchError::system("write a certificate"))?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok((text(&certificate), text(&key)))
    }

    /// Connects to a server. A Read takes `nodes` nodes; `sizes` are the lengths of its messages, for the floor.
    pub(super) fn connect(
        &self,
        subject: Subject,
        security: Security,
        server: &Ready,
        nodes: u32,
        sizes: MessageSizes,
    ) -> Result<Connection, BenchError> {
        if subject == Subject::Floor {
            let address = server.endpoint.parse();
            let address = address.map_err(BenchError::round_trip(CLIENT))?;
            let client = EchoClient::connect(address, Wait::Sleep)?;
            let mut client = client.protected(security.protection()?);
            client.set_sizes(sizes);
            return Ok(Connection::Floor(client));
        }
        let endpoint: Endpoint = server
            .endpoint
            .parse()
            .map_err(BenchError::round_trip(CLIENT))?;
        let choice = match security.0 {
            None => SecurityChoice::None,
            Some(profile) => SecurityChoice::Secured {
                policy: Some(profile.name),
                mode: Some(MessageSecurityMode::SignAndEncrypt),
            },
        };
        let options = ClientOptions {
            timeout: TIMEOUT,
            waiting: Wait::Sleep.policy(),
            security: ClientSecurity {
                choice,
                certificates: Some(self.folder.join("pki")),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named("TaktBenchReads")
        };
        let client = Client::connect(&endpoint, options).map_err(BenchError::round_trip(CLIENT))?;
        Connection::session(client, server.namespace, nodes)
    }
}

/// A connection whose request is prepared.
pub(super) enum Connection {
    Floor(EchoClient),
    Session {
        client: Box<Client>,
        request: Vec<u8>,
        sizes: MessageSizes,
    },
}

impl Connection {
    /// Prepares a Read and checks its first response.
    fn session(mut client: Client, namespace: u16, nodes: u32) -> Result<Self, BenchError> {
        let failed = BenchError::round_trip(CLIENT);
        let encoded = RefCell::new(Vec::new());
        let response = client.exchange(
            |token, encoder| {
                let message = subject::message(&request(token, namespace, nodes));
                let sent = encoder.bytes(&message);
                *encoded.borrow_mut() = message;
                sent
            },
            <[u8]>::to_vec,
        );
        let response = response.map_err(failed)?;
        check(&response, nodes).map_err(BenchError::round_trip(CLIENT))?;
        let request = encoded.into_inner();
        Ok(Self::Session {
            client: Box::new(client),
            sizes: MessageSizes {
                request: request.len(),
                response: response.len(),
            },
            request,
        })
    }

    /// Returns the lengths of the messages of a Session.
    pub(super) fn sizes(&self) -> Option<MessageSizes> {
        match self {
            Self::Floor(_) => None,
            Self::Session { sizes, .. } => Some(*sizes),
        }
    }

    /// Sends the request and waits for its response, whose length is checked: a ServiceFault is shorter.
    #[inline]
    pub(super) fn read(&mut self) -> Result<(), BenchError> {
        match self {
            Self::Floor(client) => client.round_trip(),
            Self::Session {
                client,
                request,
                sizes,
            } => {
                let length = client
                    .exchange(|_, encoder| encoder.bytes(request), <[u8]>::len)
                    .map_err(BenchError::round_trip(CLIENT))?;
                match length == sizes.response {
                    true => Ok(()),
                    false => Err(BenchError::round_trip(CLIENT)("another response")),
                }
            }
        }
    }
}

impl Subject {
    /// Returns its name in rows.
    pub(super) fn name(self, security: Security) -> &'static str {
        match (self, security.0) {
            (Self::Floor, None) => "floor: TCP echo",
            (Self::Floor, Some(_)) => "floor: TCP echo, protect, verify",
            (Self::Takt, _) => TAKT,
            (Self::Open62541, _) => FOREIGN,
        }
    }
}

fn request(token: &NodeId, namespace: u16, nodes: u32) -> ReadRequest {
    ReadRequest {
        request_header: subject::header(token),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: (0..nodes)
            .map(|number| ReadValueId {
                node_id: variable(namespace, number),
                attribute_id: VALUE,
                ..ReadValueId::default()
            })
            .collect(),
        ..ReadRequest::default()
    }
}

/// Checks that a response has a good value of the type Double for each node.
fn check(response: &[u8], nodes: u32) -> Result<(), String> {
    let response: ReadResponse = subject::decode(response)?;
    let good = response.results.iter().filter(|result| {
        result.status_code().is_good() && matches!(result.value, Some(Variant::Double(_)))
    });
    let (good, all) = (good.count(), response.results.len());
    match u32::try_from(good) == Ok(nodes) && all == good {
        true => Ok(()),
        false => Err(format!("{good} good values of {all}, not {nodes}")),
    }
}
