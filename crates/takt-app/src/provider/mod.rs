//! The Provider of the paper `opcua-shared-memory-iceoryx2`, section 4.3: serves values and Methods, and keeps them
//! registered with the SemanticRegistryServer. It shows at its own endpoints the address space that it registers, unless
//! it is [`reduced`](ProviderBuilder::reduced).
//!
//! A Provider serves over shared memory, and over TCP if configured, from one thread. It serves without a registry
//! too: it registers as soon as possible, and again whenever the registry comes back.

mod access;
mod alarm;
mod alarm_nodes;
mod declarations;
mod enumeration;
mod error;
mod expansion;
mod expansion_checks;
mod expansion_values;
mod field;
mod historical_configuration;
mod instance;
mod instance_error;
mod mapped;
mod mask;
mod method;
mod model_structure;
mod nodes;
mod nodesets;
mod object;
mod own_type;
mod plan;
mod property;
mod registered_nodes;
mod registration;
mod registry_state;
mod secret;
mod structure;
mod texts;
mod variable;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use takt_client::model::{self, DEFAULT_REGISTRY};
use takt_client::{
    ClientSecurity, Endpoint, Identity, StateDirectoryError, directory_or_default,
    prepare_state_directory,
};
use takt_history::HistoryStoreOptions;
use takt_services::{EventSink, Server, ServerBudgets};
use takt_space::RoleSet;
use takt_ua::{NodeId, ids};

pub use alarm::LimitAlarm;
pub use enumeration::Enumeration;
pub use error::{DeclarationMistake, NodeError, ProviderError};
pub use field::{DataType, Field};
pub use instance::{Instance, MemberValue};
pub use instance_error::InstanceError;
pub use method::Method;
pub use model_structure::ModelStructure;
pub use nodesets::{NodeSets, NodeSetsError, TypeName, TypeNameError};
pub use object::Object;
pub use own_type::OwnType;
pub use registry_state::RegistryState;
pub use structure::{StructureDataType, StructureError, StructureFields};
pub use variable::{Unit, Variable};

use crate::alarms::AlarmWatch;
use crate::history::{History, HistoryCounts, HistoryStartError};
use crate::serve::{Advertised, ServeOptions, Serving, Traffic, towards};
use crate::workers::{WorkerOptions, Workers};
use declarations::Declarations;
use nodes::{Kind, Nodes};
use plan::Offer;
use registration::{Registration, Stop};
use registry_state::SharedState;
use secret::SecretFile;

/// Configuration of a Provider, created with [`Provider::builder`].
pub struct ProviderBuilder {
    application_name: String,
    registry: Option<String>,
    endpoints: Vec<String>,
    declarations: Declarations,
    state_directory: Option<PathBuf>,
    registry_identity: Identity,
    registry_security: ClientSecurity,
    budgets: ServerBudgets,
    serve: ServeOptions,
    workers: WorkerOptions,
    history: HistoryStoreOptions,
    historized_events: bool,
    event_history_roles: Option<RoleSet>,
    kind: Kind,
}

/// A running Provider. Dropping it stops it; its registration stays in the registry, as not available.
pub struct Provider {
    application_name: String,
    endpoints: Vec<Endpoint>,
    server: Arc<Server>,
    workers: Workers,
    history: Option<History>,
    registry_state: Arc<SharedState>,
    stop_registration: Option<Stop>,
    registration: Option<JoinHandle<()>>,
    serving: Option<Serving>,
    /// Stopped when the Provider is dropped.
    _alarms: Option<AlarmWatch>,
}

impl ProviderBuilder {
    /// Sets the registry's endpoint; by default `opc.iox2://SemanticRegistryServer`.
    #[must_use]
    pub fn registry(mut self, endpoint: impl Into<String>) -> Self {
        self.registry = Some(endpoint.into());
        self
    }

    /// Sets the user as whom the Provider registers over `opc.tcp`, with the role engineer at the registry. By default the first
    /// registration is anonymous, and the registry gives a secret for the next ones (`takt registry --allow-tcp-registration`).
    #[must_use]
    pub fn registry_identity(mut self, identity: Identity) -> Self {
        self.registry_identity = identity;
        self
    }

    /// Sets the security of the connection to a registry over `opc.tcp`. Its certificates are by default in the folder of the
    /// Provider's own ones.
    #[must_use]
    pub fn registry_security(mut self, security: ClientSecurity) -> Self {
        self.registry_security = security;
        self
    }

    /// Disables the registration: only clients that know the endpoint and the NodeIds find the Provider.
    #[must_use]
    pub fn without_registry(mut self) -> Self {
        self.registry = None;
        self
    }

    /// Adds an endpoint to `opc.iox2://<ApplicationName>`, for example `opc.tcp://127.0.0.1:0`.
    #[must_use]
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoints.push(endpoint.into());
        self
    }

    /// Adds a DataType: an [`Enumeration`], or a [`StructureDataType`] after the DataTypes of its fields.
    #[must_use]
    pub fn data_type(mut self, data_type: impl Into<OwnType>) -> Self {
        self.declarations.data_types.push(data_type.into());
        self
    }

    /// Adds an Object, or sets the texts of one that a path implies.
    #[must_use]
    pub fn object(mut self, object: Object) -> Self {
        self.declarations.objects.push(object);
        self
    }

    /// Sets the NodeSets with the types of the [instances](Self::instance). The registry has to load them as well.
    #[must_use]
    pub fn nodesets(mut self, nodesets: &NodeSets) -> Self {
        self.declarations.nodesets = Some(nodesets.clone());
        self
    }

    /// Adds an instance of a type of the [NodeSets](Self::nodesets), or of namespace 0.
    #[must_use]
    pub fn instance(mut self, instance: Instance) -> Self {
        self.declarations.instances.push(instance);
        self
    }

    /// Adds a Variable.
    #[must_use]
    pub fn variable(mut self, variable: Variable) -> Self {
        self.declarations.variables.push(variable);
        self
    }

    /// Adds Variables, such as those of [`flow_variables`](crate::flow_variables).
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = Variable>) -> Self {
        self.declarations.variables.extend(variables);
        self
    }

    /// Adds a Method.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.declarations.methods.push(method);
        self
    }

    /// Adds an alarm, after its Variable or before.
    #[must_use]
    pub fn alarm(mut self, alarm: LimitAlarm) -> Self {
        self.declarations.alarms.push(alarm);
        self
    }

    /// Sets the budgets of the Provider: what its clients may use, and the memory that it holds for them.
    #[must_use]
    pub fn budgets(mut self, budgets: ServerBudgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets the options of the serving thread: its way of waiting, and its budgets.
    #[must_use]
    pub fn serve(mut self, options: ServeOptions) -> Self {
        self.serve = options;
        self
    }

    /// Sets the host, and perhaps the port, under which clients reach the endpoints over `opc.tcp`: in the answers to discovery,
    /// in the registry, and in the certificate that is created at the first start. It is [`ServeOptions::advertise`].
    #[must_use]
    pub fn advertise(mut self, advertised: Advertised) -> Self {
        self.serve.advertise = Some(advertised);
        self
    }

    /// Sets the number of worker threads for Methods and callbacks that are not inline ([`Method::inline`],
    /// [`Variable::inline`]), and of requests that wait for one.
    #[must_use]
    pub fn workers(mut self, options: WorkerOptions) -> Self {
        self.workers = options;
        self
    }

    /// Records all Events of the Provider except audit Events. Clients read them with HistoryRead at the Server Object.
    #[must_use]
    pub fn historized_events(mut self) -> Self {
        self.historized_events = true;
        self
    }

    /// Lets only clients with one of these Roles read the recorded Events, instead of all that may read. Others get
    /// BadUserAccessDenied.
    #[must_use]
    pub fn event_history_roles(mut self, roles: impl Into<RoleSet>) -> Self {
        self.event_history_roles = Some(roles.into());
        self
    }

    /// Sets the limits of the file with the history of its Variables and Events: see [`Variable::historized`] and
    /// [`historized_events`](Self::historized_events).
    #[must_use]
    pub fn history(mut self, options: HistoryStoreOptions) -> Self {
        self.history = options;
        self
    }

    /// Sets the directory for history and for the secret of a registration over `opc.tcp`; by default the user's [state
    /// folder](crate::state_directory).
    #[must_use]
    pub fn state_directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.state_directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Makes it the reduced server of the paper (section 4.3), which uses less memory: a client has to know the NodeIds of
    /// its Variables from the registry. Browse shows only an Object with the registry's endpoint, the Methods and the folders.
    #[must_use]
    pub fn reduced(mut self) -> Self {
        self.kind = Kind::Reduced;
        self
    }

    /// Opens the endpoints, serves, and begins to register.
    pub fn start(mut self) -> Result<Provider, ProviderError> {
        self.declarations.check()?;
        let registry: Option<Endpoint> = self.registry.as_deref().map(str::parse).transpose()?;
        // Over shared memory the Unix user authenticates the Provider, without a secret.
        let secret = match &registry {
            Some(registry)
                if !registry.is_shared_memory()
                    && self.registry_identity == Identity::Anonymous =>
            {
                Some(SecretFile::new(
                    self.state_directory.as_deref(),
                    &self.application_name,
                )?)
            }
            _ => None,
        };
        let mut endpoints: Vec<Endpoint> =
            vec![format!("opc.iox2://{}", self.application_name).parse()?];
        for endpoint in &self.endpoints {
            endpoints.push(endpoint.parse()?);
        }
        let mut offer = Offer {
            application_name: self.application_name,
            endpoints,
            declarations: self.declarations,
            instances: Vec::new(),
            namespaces: Vec::new(),
        };
        let workers = Workers::new(self.workers);
        let registry_state = Arc::new(SharedState::new(match registry {
            Some(_) => RegistryState::NotRegistered { reason: None },
            None => RegistryState::Disabled,
        }));
        let history_file = history_file(
            &offer,
            self.historized_events,
            self.state_directory.as_deref(),
        )?;
        let nodes = Nodes::new(
            &mut offer,
            self.kind,
            self.budgets,
            self.registry.as_deref(),
        )?;
        let watched = nodes.bind(&offer, &registry_state, &workers)?;
        let history = match history_file {
            Some(path) => Some(record(&offer, nodes.server(), &path, self.history)?),
            None => None,
        };
        if let Some(history) = history.as_ref().filter(|_| self.historized_events) {
            let events = history.record_events(NodeId::from(ids::SERVER), "Server");
            events.map_err(HistoryStartError::from)?;
            if let Some(roles) = self.event_history_roles {
                history.let_read_events(roles);
            }
        }
        // Without a state folder, durable Subscriptions and states of alarms end with the Provider.
        let directory = directory_or_default(self.state_directory.as_deref()).ok();
        let state_file = |extension: &str| {
            let name = format!("{}.{extension}", offer.application_name);
            directory.as_ref().map(|folder| folder.join(name))
        };
        if self.serve.durable_subscriptions.is_none() {
            self.serve.durable_subscriptions = state_file("subscriptions");
        }
        let alarms_file = state_file("alarms");
        let runtime_directory = self.serve.runtime_directory.clone();
        let group = self.serve.group.clone();
        let certificates = self.registry_security.certificates.take();
        let certificates = certificates.or_else(|| self.serve.security.certificates.clone());
        let security = ClientSecurity {
            certificates,
            ..self.registry_security
        };
        // Before the nodes of the endpoints are added: a port may be assigned only now.
        let serving = Serving::start(nodes.server(), &offer.endpoints, self.serve)?;
        // Ports are known now.
        offer.endpoints = serving.advertised();
        if let Some(registry) = &registry {
            offer.endpoints = towards(offer.endpoints, registry);
        }
        let revision = nodes.add_endpoints(&offer)?;
        let alarms = match watched.is_empty() {
            true => None,
            false => {
                let server = nodes.server();
                let space = server.address_space();
                let watch = AlarmWatch::start(space, server.events(), watched, alarms_file);
                Some(watch.map_err(ProviderError::Thread)?)
            }
        };
        let mut provider = Provider {
            application_name: offer.application_name.clone(),
            endpoints: serving.endpoints().to_vec(),
            server: Arc::clone(nodes.server()),
            workers,
            history,
            registry_state,
            stop_registration: None,
            registration: None,
            serving: Some(serving),
            _alarms: alarms,
        };
        if let Some(registry) = registry {
            provider.register(Registration {
                offer,
                revision,
                registry,
                secret,
                state: Arc::clone(&provider.registry_state),
                runtime_directory,
                group,
                user: self.registry_identity,
                security,
                on_registered: provider.on_registered(),
            })?;
        }
        Ok(provider)
    }
}

impl Provider {
    /// Creates the configuration of a Provider with this ApplicationName.
    pub fn builder(application_name: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder {
            application_name: application_name.into(),
            registry: Some(format!("opc.iox2://{DEFAULT_REGISTRY}")),
            endpoints: Vec::new(),
            declarations: Declarations::default(),
            state_directory: None,
            registry_identity: Identity::Anonymous,
            registry_security: ClientSecurity::default(),
            budgets: ServerBudgets::of_process(),
            serve: ServeOptions::default(),
            workers: WorkerOptions::default(),
            history: HistoryStoreOptions::default(),
            historized_events: false,
            event_history_roles: None,
            kind: Kind::Complete,
        }
    }

    /// Returns the ApplicationName.
    pub fn application_name(&self) -> &str {
        &self.application_name
    }

    /// Returns the endpoints: shared memory first, TCP with the actual port.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Returns the traffic of its clients so far, over all its endpoints.
    pub fn traffic(&self) -> Traffic {
        self.serving
            .as_ref()
            .map(Serving::traffic)
            .unwrap_or_default()
    }

    /// Returns whether it is available at the registry.
    pub fn is_registered(&self) -> bool {
        self.registry_state.is_registered()
    }

    /// Returns the state of the registration, with the reason if it failed. Failures are also logged as warnings.
    pub fn registry_state(&self) -> RegistryState {
        self.registry_state.get()
    }

    /// Stops the Provider and removes its whole registration from the registry.
    pub fn unregister(mut self) {
        if let Some(stop) = self.stop_registration.take() {
            stop.unregister();
        }
    }

    /// Returns the numbers of records of its history since the start.
    pub fn history_counts(&self) -> HistoryCounts {
        let history = self.history.as_ref();
        history.map(History::counts).unwrap_or_default()
    }

    /// Returns the sink for Events of the application.
    pub fn events(&self) -> EventSink {
        self.server.events()
    }

    /// Returns the NodeId of declared data, for example as the source of an [`Event`](takt_space::Event).
    #[must_use]
    pub fn node_id(&self, path: &str) -> NodeId {
        NodeId::string(model::OWN_NAMESPACE, path)
    }

    /// Returns the server behind the endpoints.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Returns the callback that makes the server accept the registry's index of the Provider's namespace.
    fn on_registered(&self) -> Box<dyn Fn(u16) + Send> {
        let server = Arc::clone(&self.server);
        Box::new(move |index| {
            server
                .address_space()
                .namespaces()
                .set_alias(index, model::OWN_NAMESPACE);
        })
    }

    fn register(&mut self, registration: Registration) -> Result<(), ProviderError> {
        let (stop, stopped) = Stop::new().map_err(ProviderError::Thread)?;
        let thread = std::thread::Builder::new()
            .name("registration".to_owned())
            .spawn(move || registration.run(&stopped))
            .map_err(ProviderError::Thread)?;
        self.stop_registration = Some(stop);
        self.registration = Some(thread);
        Ok(())
    }
}

/// Returns the file of the history, if Events or a Variable have one.
fn history_file(
    offer: &Offer,
    has_events: bool,
    directory: Option<&Path>,
) -> Result<Option<PathBuf>, StateDirectoryError> {
    let mut variables = offer.declarations.variables.iter();
    if !has_events && !variables.any(|variable| variable.recording.is_some()) {
        return Ok(None);
    }
    let directory = directory_or_default(directory)?;
    prepare_state_directory(&directory)?;
    let name = format!("{}.history.redb", offer.application_name);
    Ok(Some(directory.join(name)))
}

/// Begins to record the Variables that have a history.
fn record(
    offer: &Offer,
    server: &Arc<Server>,
    path: &Path,
    options: HistoryStoreOptions,
) -> Result<History, ProviderError> {
    let history = History::start(server, path, options)?;
    for variable in &offer.declarations.variables {
        if let Some(recording) = variable.recording {
            let node = NodeId::string(model::OWN_NAMESPACE, &variable.path);
            history.record(node, &variable.path, recording);
        }
    }
    Ok(history)
}

impl Drop for Provider {
    fn drop(&mut self) {
        // The registration ends first, so that the registry knows that the Provider ends before its endpoints are
        // closed.
        drop(self.stop_registration.take());
        if let Some(registration) = self.registration.take() {
            // A thread that panicked has nothing left to clean up.
            let _ = registration.join();
        }
        drop(self.serving.take());
        // The history ends after the endpoints: it records what clients write until then.
        drop(self.history.take());
        self.workers.stop();
    }
}
