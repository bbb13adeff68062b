//! Registration of a Provider: connects to the registry when possible, adds what is missing there, and stays
//! connected so that the registry shows the Provider as available.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::Duration;

use takt_client::certificates::{trust_advice, unknown_issuer_advice};
use takt_client::model::{self, provider};
use takt_client::{
    Client, ClientError, ClientOptions, ClientSecurity, Endpoint, Identity, NamespaceMap,
};
use takt_crypto::{CertificateError, Remedy};
use takt_rt::pauses::Pauses;
use takt_rt::readiness::Waker;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, NodeId, StatusCode, Variant, ids};

use super::plan::{Offer, Plan, ServerNamespaces};
use super::registered_nodes::{
    add_in_one_request, add_nodes, add_references, delete_nodes, registered_revision,
    remove_previous,
};
use super::registry_state::{RegistryState, SharedState};
use super::secret::SecretFile;

/// First pause after an attempt to register, and the pause between looks for a registry that is not there yet over shared
/// memory, which cost little.
const RETRY: Duration = Duration::from_millis(250);

/// Longest pause. A registry that refuses a Provider should not be busy with it, and its audit log should not fill.
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Interval at which the registry is checked for a response. The kernel reports its end at once.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Time limit of a NodeManagement request. When many Providers register at once, each waits for all the others, and giving up
/// would only make the registry start again with it. The end of a registry is noticed at once.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Ends a registration when it is dropped.
pub(super) struct Stop {
    sender: Option<Sender<()>>,
    waker: Waker,
}

/// Receiving side of [`Stop`], for the registration.
pub(super) struct Stopped {
    receiver: Receiver<()>,
    waker: Waker,
}

impl Stop {
    pub(super) fn new() -> std::io::Result<(Self, Stopped)> {
        let (sender, receiver) = mpsc::channel();
        let waker = Waker::new()?;
        let stop = Self {
            sender: Some(sender),
            waker: waker.clone(),
        };
        Ok((stop, Stopped { receiver, waker }))
    }

    /// Removes the registration first.
    pub(super) fn unregister(self) {
        if let Some(sender) = &self.sender {
            // A registration that has ended has nothing left to remove.
            let _ = sender.send(());
        }
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        // Before the wake-up, so that the thread finds the end.
        drop(self.sender.take());
        self.waker.wake();
    }
}

/// Keeps `offer` registered at `registry` until it is [stopped](Stop).
///
/// `on_registered` gets the index that the Provider's namespace has at the registry, after each registration.
pub(super) struct Registration {
    pub(super) offer: Offer,
    /// Digest of everything that is offered.
    pub(super) revision: u64,
    pub(super) registry: Endpoint,
    /// File of the secret; `None` over shared memory, and for a user.
    pub(super) secret: Option<SecretFile>,
    pub(super) state: Arc<SharedState>,
    pub(super) runtime_directory: Option<PathBuf>,
    pub(super) group: Option<String>,
    /// User as whom the Provider registers over TCP; if it is anonymous, the secret counts.
    pub(super) user: Identity,
    /// Security of a connection over TCP.
    pub(super) security: ClientSecurity,
    pub(super) on_registered: Box<dyn Fn(u16) + Send>,
}

impl Registration {
    /// Runs on its own thread: a connection over shared memory stays on the thread that opened it.
    pub(super) fn run(self, stop: &Stopped) {
        let mut client = Client::new(&self.registry, self.client_options());
        client.set_interrupt(stop.waker.clone());
        let mut epoch = 0;
        // Each reason of an outage is logged once, not at every attempt.
        let mut logged = String::new();
        let mut pauses = Pauses::new(RETRY, LONGEST_RETRY);
        loop {
            let mut retry = RETRY;
            let result = if epoch == client.epoch() && epoch != 0 {
                heartbeat(&mut client)
            } else {
                self.register(&mut client)
                    .map_err(|error| self.explained(error))
            };
            match result {
                Ok(()) => {
                    pauses.reset();
                    // A heartbeat that reconnected leaves a newer epoch: the next round registers again.
                    if !self.state.is_registered() {
                        epoch = client.epoch();
                        self.state.set(RegistryState::Registered);
                        if !logged.is_empty() {
                            tracing::warn!(registry = %self.registry, "registered");
                            logged.clear();
                        }
                    } else if epoch != client.epoch() {
                        self.state
                            .set(RegistryState::NotRegistered { reason: None });
                        continue;
                    }
                }
                Err(error) => {
                    retry = pause_after(&error, &self.registry, &mut pauses);
                    let mut reason = error.to_string();
                    if let Some(advice) = advice(&error) {
                        reason += &format!(". {advice}");
                    }
                    if reason != logged {
                        tracing::warn!(
                            registry = %self.registry,
                            provider = self.offer.application_name,
                            error = %reason,
                            "not registered: Consumers do not find this Provider; it tries again"
                        );
                        logged.clone_from(&reason);
                    }
                    self.state.set(RegistryState::NotRegistered {
                        reason: Some(reason),
                    });
                    epoch = 0;
                    client.close();
                }
            }
            // A first registration over TCP ends without a connection: the next one is made in the Provider's name.
            let is_settled = self.state.is_registered() && client.is_connected();
            client.wait_for_end(if is_settled { HEARTBEAT } else { retry });
            if client.is_hung_up() {
                // Before the search for its successor, which may take time.
                self.state.set(RegistryState::NotRegistered {
                    reason: Some(format!("{} has ended", self.registry)),
                });
                tracing::info!(registry = %self.registry, "the registry has ended");
                epoch = 0;
                client.close();
            }
            match stop.receiver.try_recv() {
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return,
                Ok(()) => {
                    if let Err(error) = self.unregister(&mut client) {
                        tracing::warn!(registry = %self.registry, %error, "still registered");
                    }
                    return;
                }
            }
        }
    }

    fn client_options(&self) -> ClientOptions {
        ClientOptions {
            application_uri: model::provider_uri(&self.offer.application_name),
            timeout: TIMEOUT,
            identity: self.identity(),
            runtime_directory: self.runtime_directory.clone(),
            group: self.group.clone(),
            security: self.security.clone(),
            ..ClientOptions::named(&self.offer.application_name)
        }
    }

    /// Returns the identity: over shared memory the Unix user authenticates the Provider, over TCP its user, or the secret of
    /// its first registration.
    fn identity(&self) -> Identity {
        if self.user != Identity::Anonymous && !self.registry.is_shared_memory() {
            return self.user.clone();
        }
        match self.secret.as_ref().and_then(SecretFile::load) {
            Some(password) => Identity::UserName {
                name: self.offer.application_name.clone(),
                password,
            },
            None => Identity::Anonymous,
        }
    }

    /// Makes the registry contain exactly the offered nodes.
    fn register(&self, client: &mut Client) -> Result<(), ClientError> {
        let model = model_index(client)?;
        self.state.set(RegistryState::Registering);
        let first = !self.is_known(client)? && self.add_provider_object(client, model)?;
        let own = self.own_index(client)?;
        if registered_revision(client, own)? != Some(self.revision) {
            let namespaces = ServerNamespaces { model, own };
            let plan = Plan::new(&self.offer, namespaces, &self.namespace_map(client)?);
            remove_previous(client, namespaces)?;
            add_nodes(client, &plan.endpoints)?;
            add_nodes(client, &plan.data)?;
            for instance in &plan.instances {
                add_in_one_request(client, instance)?;
            }
            // References need the nodes at both of their ends.
            add_references(client, &plan.references)?;
            // Last, because it makes the Provider available.
            add_nodes(client, &[namespaces.revision(self.revision)])?;
        }
        if first && let Some(secret) = &self.secret {
            self.keep_secret(client, model, secret)?;
        }
        (self.on_registered)(own);
        Ok(())
    }

    /// Returns whether the registry counts this session as that of a known Provider. Then the Object is there, and a request to
    /// add it would fail, which an audit log of the registry shows as a failure. Over TCP, the Provider may be available through
    /// the session of somebody else, so the request is the proof that this one may act for it.
    fn is_known(&self, client: &mut Client) -> Result<bool, ClientError> {
        if !self.registry.is_shared_memory() {
            return Ok(false);
        }
        let uri = model::provider_uri(&self.offer.application_name);
        let Some(own) = client.namespace_index(&uri)? else {
            return Ok(false);
        };
        let available = client.read(&NodeId::numeric(own, provider::AVAILABLE))?;
        Ok(available.value == Some(Variant::Boolean(true)))
    }

    /// Returns whether the registry saw this Provider for the first time.
    fn add_provider_object(&self, client: &mut Client, model: u16) -> Result<bool, ClientError> {
        let name = &self.offer.application_name;
        let node = ExpandedNodeId {
            node_id: NodeId::numeric(0, provider::OBJECT),
            namespace_uri: model::provider_uri(name).as_str().into(),
            server_index: 0,
        };
        // The index of its own namespace, which the Object does not need, is not known yet.
        let object = ServerNamespaces { model, own: 0 }.object(node, name);
        let mut response = client.call(AddNodesRequest {
            nodes_to_add: vec![object],
            ..AddNodesRequest::default()
        })?;
        client.expect_count("AddNodesResponse", 1, response.results.len())?;
        match response.results.swap_remove(0).status_code {
            StatusCode::BadNodeIdExists => Ok(false),
            status if status.is_bad() => Err(ClientError::operation(name, status)),
            _ => Ok(true),
        }
    }

    /// Returns the error with the meaning of its StatusCode for a registration.
    fn explained(&self, error: ClientError) -> ClientError {
        let name = &self.offer.application_name;
        let status = match &error {
            ClientError::Service { status, .. } | ClientError::Operation { status, .. } => *status,
            _ => return error,
        };
        let subject = match status {
            StatusCode::BadUserAccessDenied if self.registry.is_shared_memory() => {
                format!(
                    "the name {name} belongs to another user, or this Unix user has no role engineer at the registry"
                )
            }
            StatusCode::BadUserAccessDenied if matches!(&error, ClientError::Service { service, .. } if service.starts_with("ActivateSession")) =>
            {
                format!(
                    "name or password of the user is wrong; an administrator of the registry sees its users{}",
                    Remedy::ListUsers
                )
            }
            StatusCode::BadUserAccessDenied if self.user != Identity::Anonymous => format!(
                "{name} may not register over opc.tcp: the user needs the role engineer at the registry, and the name must belong \
                 neither to a Unix user nor to an application that runs on the host of the registry: there, Providers register over \
                 shared memory"
            ),
            StatusCode::BadUserAccessDenied => format!(
                "{name} may not register over opc.tcp: register as a user with the role engineer at the registry, or allow \
                 registration over opc.tcp there (allow_tcp_registration); and the name must not belong to another user"
            ),
            StatusCode::BadResourceUnavailable => format!(
                "the registry has no room for {name}: its log says whether that is the limit of Providers or a full disk"
            ),
            _ => return error,
        };
        ClientError::operation(subject, status)
    }

    /// Removes the Provider from the registry: its Object is deleted with everything that it created.
    fn unregister(&self, client: &mut Client) -> Result<(), ClientError> {
        let object = NodeId::numeric(self.own_index(client)?, provider::OBJECT);
        delete_nodes(client, &[object])
    }

    fn own_index(&self, client: &mut Client) -> Result<u16, ClientError> {
        let uri = model::provider_uri(&self.offer.application_name);
        client
            .namespace_index(&uri)?
            .ok_or_else(|| client.protocol(format!("the NamespaceArray lacks {uri}")))
    }

    /// Returns the NamespaceIndexes of the registry, by those of the Provider. The registry needs the NodeSets of instances.
    fn namespace_map(&self, client: &mut Client) -> Result<NamespaceMap, ClientError> {
        let registry = client.namespace_array()?;
        let map = NamespaceMap::between(&self.offer.namespaces, &registry);
        let indexes = (0_u16..).zip(&self.offer.namespaces);
        let missing = indexes.filter(|(index, _)| map.index(*index).is_none());
        let missing: Vec<&str> = missing.map(|(_, uri)| uri.as_str()).collect();
        match missing.is_empty() || self.offer.instances.is_empty() {
            true => Ok(map),
            false => Err(ClientError::Invalid(format!(
                "the registry does not have the NodeSets of {}: start it with the file of each",
                missing.join(", ")
            ))),
        }
    }

    fn keep_secret(
        &self,
        client: &mut Client,
        model: u16,
        file: &SecretFile,
    ) -> Result<(), ClientError> {
        let outputs = client.call_method(
            &NodeId::numeric(model, model::REGISTRY),
            &NodeId::numeric(model, model::REGISTRY_ISSUE_SECRET),
            Vec::new(),
        )?;
        match outputs.first() {
            Some(Variant::String(secret)) => {
                file.store(secret.as_str())?;
                // From now on the session has the Provider's identity.
                client.set_identity(self.identity());
                Ok(())
            }
            _ => Err(client.protocol("IssueSecret returned no secret")),
        }
    }
}

fn pause_after(error: &ClientError, registry: &Endpoint, pauses: &mut Pauses) -> Duration {
    let is_absent = matches!(error, ClientError::Unreachable { .. });
    match is_absent && registry.is_shared_memory() {
        true => RETRY,
        false => pauses.grow(),
    }
}

/// Returns advice on certificates that are not trusted.
fn advice(error: &ClientError) -> Option<String> {
    match error {
        ClientError::ServerCertificate {
            thumbprint,
            certificates,
            cause: CertificateError::Untrusted,
            ..
        } => Some(format!(
            "If this is the thumbprint of the registry, {}",
            trust_advice(thumbprint, certificates.as_deref())
        )),
        ClientError::ServerCertificate {
            issuer,
            certificates,
            cause: CertificateError::ChainIncomplete,
            ..
        } => Some(unknown_issuer_advice(issuer, certificates.as_deref())),
        ClientError::NotTrusted {
            own: Some(error), ..
        } => Some(format!(
            "The certificate of this Provider cannot be used: {error}"
        )),
        ClientError::NotTrusted { thumbprint, .. } => Some(format!(
            "The registry does not trust this Provider yet: trust the certificate {thumbprint} there{}",
            Remedy::Trust {
                thumbprint,
                folder: None
            }
        )),
        ClientError::Identity { .. } => {
            Some("The password is sent encrypted only: the connection has to be".to_owned())
        }
        _ => None,
    }
}

fn model_index(client: &mut Client) -> Result<u16, ClientError> {
    client
        .namespace_index(model::NAMESPACE_URI)?
        .ok_or_else(|| {
            ClientError::Invalid(format!(
                "{} is not a registry: its NamespaceArray lacks {}",
                client.endpoint(),
                model::NAMESPACE_URI
            ))
        })
}

/// Reads the registry's state, which detects a registry that has ended, and opens a new session with one that came
/// back.
fn heartbeat(client: &mut Client) -> Result<(), ClientError> {
    client
        .read(&NodeId::numeric(0, ids::SERVER_SERVER_STATUS_STATE))
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_slow_down_the_attempts_and_an_absent_registry_does_not() {
        let mut pauses = Pauses::new(RETRY, LONGEST_RETRY);
        let local: Endpoint = "opc.iox2://Registry".parse().unwrap();
        let remote: Endpoint = "opc.tcp://plc:4840".parse().unwrap();
        let absent = ClientError::unreachable(&local, takt_client::ConnectionError::NoSession);
        let refused = ClientError::operation("Mixer", StatusCode::BadUserAccessDenied);
        for _ in 0..10 {
            assert_eq!(pause_after(&absent, &local, &mut pauses), RETRY);
        }
        assert_eq!(pause_after(&refused, &remote, &mut pauses), RETRY);
        let later: Vec<Duration> = (0..10)
            .map(|_| pause_after(&refused, &local, &mut pauses))
            .collect();
        assert!(later.is_sorted() && later.last() == Some(&LONGEST_RETRY));
        assert_eq!(pause_after(&absent, &local, &mut pauses), RETRY);
    }
}
