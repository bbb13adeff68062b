//! The running registry: database, address space, rules and endpoints put together.

mod application_uri;
#[cfg(test)]
mod attribute_tests;
mod checks;
#[cfg(test)]
mod namespace_tests;
mod options;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use takt_app::serve::{ServeError, Serving, Traffic};
use takt_app::{ClientOptions, ClientSecurity, Endpoint, SecurityChoice, model};
use takt_services::Server;
use takt_shm::Runtime;
use takt_space::{AddressSpace, CallError, Caller, MethodHandler};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::{NodeId, StatusCode, Variant};

use crate::database::Database;
use crate::discovery::{self, Announcer, Discovery, Multicast, Registrant, RegistrationsElsewhere};
use crate::durable::DurableMethods;
use crate::error::RegistryError;
use crate::events::{self, Forwarder, KeptConditions};
use crate::history::RegistryHistory;
use crate::key_push::{KeyPush, KeyPushParts};
use crate::mirror::Mirrors;
use crate::names::Names;
use crate::namespaces;
use crate::providers::{Providers, is_engineer};
use crate::rules::{OwnAttributes, Rules};
use crate::security_groups::{self, SecurityGroups};

pub use options::RegistryOptions;

/// A running registry. Dropping it stops it; the registrations of Providers stay in its database.
pub struct Registry {
    application_name: String,
    _elsewhere: RegistrationsElsewhere,
    _announcer: Option<Announcer>,
    /// Mirrors end while their values can still be read.
    _mirrors: Mirrors,
    /// Keys are not pushed any more when the database is closed.
    _forwarder: Forwarder,
    _key_push: KeyPush,
    /// The endpoints are closed first, then the database.
    serving: Serving,
    _ending: Ending,
    server: Arc<Server>,
}

/// Makes all changes durable and closes the database when it is dropped.
struct Ending(Arc<Rules>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end_history();
        self.0.database.end();
    }
}

impl Registry {
    /// Opens the database, loads the NodeSets, restores the registrations, and serves.
    pub fn start(options: RegistryOptions) -> Result<Self, RegistryError> {
        let database = Database::open(&options.database)?;
        Self::start_with(database, options)
    }

    fn start_with(database: Database, mut options: RegistryOptions) -> Result<Self, RegistryError> {
        checks::check(&options)?;
        // Such a client can take the place of a Provider, too.
        options.serve.security.anonymous_operators |= options.allow_tcp_registration;
        let shared_memory: Endpoint = format!("opc.iox2://{}", options.application_name).parse()?;
        let mut contents = database.load()?;
        let application_uri = application_uri::application_uri(
            &options.application_name,
            &contents,
            options.serve.security.certificates.as_deref(),
        )?;
        let providers = ClientOptions {
            runtime_directory: options.serve.runtime_directory.clone(),
            group: options.serve.group.clone(),
            // With the certificate of the registry.
            application_uri: application_uri.clone(),
            security: ClientSecurity {
                certificates: options.serve.security.certificates.clone(),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named(&options.application_name)
        };
        let push = ClientOptions {
            security: ClientSecurity {
                choice: SecurityChoice::Secured {
                    policy: None,
                    mode: Some(MessageSecurityMode::SignAndEncrypt),
                },
                ..providers.security.clone()
            },
            ..providers.clone()
        };
        let group = options.serve.group.as_deref();
        let runtime = Runtime::find(group, options.serve.runtime_directory.as_deref());
        let runtime = runtime.map_err(ServeError::SharedMemory)?;
        let rules = Arc::new(Rules::new(
            database,
            Providers::new(providers.clone(), options.allow_tcp_registration),
            Names::new(options.name_budget, runtime),
        ));
        let server = Server::builder(&options.application_name, application_uri.clone())
            .budgets(options.budgets)
            .node_management(Arc::clone(&rules) as _)
            .authenticator(Arc::clone(&rules) as _)
            .session_observer(Arc::clone(&rules) as _)
            .build()?;
        let space = server.address_space();
        // All assigned indexes are bound to their URIs again, before new ones are assigned.
        let capacity = server.budgets().max_namespaces;
        let mut forgotten = namespaces::take_unnamed(&mut contents);
        forgotten.extend(namespaces::take_forgotten(
            &mut contents,
            capacity,
            &options.mirrors,
        ));
        rules.database.free_namespaces(forgotten)?;
        namespaces::restore(space, &mut contents)?;
        space.import_nodeset(model::NODESET_NAME, model::NODESET)?;
        import(space, &options.nodesets)?;
        rules.record_own(namespaces::unknown(space, &contents))?;
        rules.database.settle_now()?;
        let model = space.namespaces().register(model::NAMESPACE_URI)?;
        rules.bind(&server, model);
        let attributes = OwnAttributes::start(&rules).map_err(RegistryError::Thread)?;
        space.set_attribute_writes(attributes);
        rules.keep_history(RegistryHistory::start(
            &server,
            &options.database,
            &options.history,
        )?);
        let durable = DurableMethods::new(&rules);
        let configured = &options.security_groups;
        let groups = SecurityGroups::new(&rules, &durable, space, &mut contents, configured)?;
        let push_targets = std::mem::take(&mut contents.push_targets);
        rules.restore(space, contents)?;
        bind_methods(space, &rules, &durable, model)?;
        let max_memory = server.budgets().max_memory;
        let mut mirrors = Mirrors::new(&options.mirrors, space, &rules, &providers, max_memory)
            .map_err(|source| RegistryError::Mirror(source.to_string()))?;
        events::bind_methods(space, &rules, Box::new(mirrors.gateways()))?;
        groups.start(configured)?;
        security_groups::bind_methods(space, &groups)?;
        let network = match options.multicast {
            true => Some(Arc::new(Multicast::start()?)),
            false => None,
        };
        let discovery = Arc::new(Discovery::new(&rules, space, &application_uri, network));
        server.set_discovery(Arc::clone(&discovery) as _);
        let endpoints = [shared_memory, options.endpoint];
        let beside = || options.database.with_extension("subscriptions");
        options
            .serve
            .durable_subscriptions
            .get_or_insert_with(beside);
        // Clients come only now, when the restored nodes and all Methods are there.
        let serving = Serving::start(&server, &endpoints, options.serve)?;
        let capabilities = discovery::capabilities(&options.history);
        let announcer = match options.multicast {
            true => Some(
                Announcer::start(
                    &discovery,
                    &options.application_name,
                    &serving.advertised(),
                    &capabilities,
                )
                .map_err(RegistryError::Thread)?,
            ),
            false => None,
        };
        let registrant = Registrant {
            application_name: &options.application_name,
            application_uri: &application_uri,
            endpoints: &serving.advertised(),
            host: discovery.host(),
            capabilities: &capabilities,
            multicast: options.multicast,
        };
        let elsewhere =
            RegistrationsElsewhere::start(&options.register_at, &registrant, &providers);
        let elsewhere = elsewhere.map_err(RegistryError::Thread)?;
        mirrors.start();
        let kept = KeptConditions::new(&options.database);
        let forwarder = Forwarder::start(&server, &rules, mirrors.upstreams(), kept);
        let forwarder = forwarder.map_err(RegistryError::Thread)?;
        let parts = KeyPushParts {
            groups: &groups,
            rules: &rules,
            durable: &durable,
            space,
            client: push,
        };
        let key_push = KeyPush::start(&options.push_targets, push_targets, parts)?;
        Ok(Self {
            application_name: options.application_name,
            _elsewhere: elsewhere,
            _announcer: announcer,
            _mirrors: mirrors,
            _forwarder: forwarder,
            _key_push: key_push,
            _ending: Ending(rules),
            server,
            serving,
        })
    }

    /// Returns the ApplicationName.
    pub fn application_name(&self) -> &str {
        &self.application_name
    }

    /// Returns the endpoints: shared memory first, TCP with the actual port.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.serving.endpoints()
    }

    /// Returns the traffic of Providers and Consumers so far, over all endpoints.
    pub fn traffic(&self) -> Traffic {
        self.serving.traffic()
    }

    /// Returns the server behind the endpoints.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }
}

/// Loads NodeSet files, each after those that it requires.
fn import(space: &AddressSpace, paths: &[PathBuf]) -> Result<(), RegistryError> {
    let documents = paths
        .iter()
        .map(|path| match std::fs::read_to_string(path) {
            Ok(xml) => Ok((path.to_string_lossy(), xml)),
            Err(source) => Err(RegistryError::NodeSetFile {
                path: path.clone(),
                source,
            }),
        })
        .collect::<Result<Vec<_>, _>>()?;
    space.import_nodesets(&documents)?;
    Ok(())
}

/// Binds `Forget` and `IssueSecret` of the Registry object.
fn bind_methods(
    space: &AddressSpace,
    rules: &Arc<Rules>,
    durable: &Arc<DurableMethods>,
    model: u16,
) -> Result<(), takt_space::AddressSpaceError> {
    let forgetting = Arc::clone(rules);
    space.set_method(
        &NodeId::numeric(model, model::REGISTRY_FORGET),
        durable.handler(move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
            if !is_engineer(caller) {
                return Err(CallError::from(StatusCode::BadUserAccessDenied));
            }
            match inputs.first() {
                Some(Variant::String(name)) => forgetting.forget(name.as_str())?,
                _ => return Err(StatusCode::BadInvalidArgument.into()),
            }
            Ok(Vec::new())
        }),
    )?;
    let issuing = Arc::clone(rules);
    space.set_method(
        &NodeId::numeric(model, model::REGISTRY_ISSUE_SECRET),
        MethodHandler::local(move |caller: &Caller, _: &NodeId, _: &[Variant]| {
            let secret = issuing.providers.issue_secret(&caller.session_id)?;
            Ok(vec![Variant::from(secret.as_str())])
        }),
    )
}
