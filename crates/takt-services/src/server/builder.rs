//! Construction of a server.

use std::sync::Arc;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::{AddressSpace, AddressSpaceError, ImportError};
use takt_ua::structures::BuildInfo;

use super::application::{application_description, build_info};
use super::status::{self, Status};
use super::{Parts, Server, methods, shown_budgets};
use crate::budgets::{self, ServerBudgets};
use crate::diagnostics::{self, sessions::Clients};
use crate::identity::authentication::{AnonymousOnly, Authenticator};
use crate::interfaces::node_management::{NoNodeManagement, NodeManagement};
use crate::interfaces::session_observer::{NoSessionObserver, SessionObserver};

/// Configuration of a server that is not built yet. Made with [`Server::builder`].
pub struct ServerBuilder {
    application_name: String,
    application_uri: String,
    product_uri: String,
    build_info: Option<BuildInfo>,
    budgets: ServerBudgets,
    authenticator: Arc<dyn Authenticator>,
    node_management: Arc<dyn NodeManagement>,
    session_observer: Arc<dyn SessionObserver>,
    namespaces: Vec<String>,
    nodesets: Vec<(String, String)>,
    first_id: Option<u32>,
}

/// Reasons why a server could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A node or namespace could not be added.
    #[error(transparent)]
    AddressSpace(#[from] AddressSpaceError),
    /// A NodeSet could not be imported.
    #[error(transparent)]
    NodeSet(#[from] ImportError),
}

impl Server {
    /// Begins the configuration of a server with this ApplicationName and ApplicationUri (OPC 10000-4, 7.2).
    pub fn builder(
        application_name: impl Into<String>,
        application_uri: impl Into<String>,
    ) -> ServerBuilder {
        ServerBuilder::new(application_name.into(), application_uri.into())
    }
}

impl ServerBuilder {
    pub(crate) fn new(application_name: String, application_uri: String) -> Self {
        Self {
            application_name,
            application_uri,
            product_uri: String::from("urn:takt"),
            build_info: None,
            budgets: ServerBudgets::default(),
            authenticator: Arc::new(AnonymousOnly),
            node_management: Arc::new(NoNodeManagement),
            session_observer: Arc::new(NoSessionObserver),
            namespaces: Vec::new(),
            nodesets: Vec::new(),
            first_id: None,
        }
    }

    /// Sets the ProductUri (OPC 10000-4, 7.2).
    #[must_use]
    pub fn product_uri(mut self, product_uri: impl Into<String>) -> Self {
        self.product_uri = product_uri.into();
        self
    }

    /// Sets the BuildInfo that ServerStatus shows; by default that of this version of Takt.
    #[must_use]
    pub fn build_info(mut self, build_info: BuildInfo) -> Self {
        self.build_info = Some(build_info);
        self
    }

    /// Sets the budgets of requests and clients.
    #[must_use]
    pub fn budgets(mut self, budgets: ServerBudgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Sets the authentication of users; by default every client may activate a Session, without a user.
    #[must_use]
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticator = authenticator;
        self
    }

    /// Sets the rules for clients that change the address space; by default no client may.
    #[must_use]
    pub fn node_management(mut self, rules: Arc<dyn NodeManagement>) -> Self {
        self.node_management = rules;
        self
    }

    /// Sets the observer of Sessions; by default there is none.
    #[must_use]
    pub fn session_observer(mut self, observer: Arc<dyn SessionObserver>) -> Self {
        self.session_observer = observer;
        self
    }

    /// Appends a URI to the NamespaceArray. Index 1 is the ApplicationUri.
    #[must_use]
    pub fn namespace(mut self, uri: impl Into<String>) -> Self {
        self.namespaces.push(uri.into());
        self
    }

    /// Imports a NodeSet2 XML document. Errors name it by `name`, usually its path. The order of documents does not matter.
    #[must_use]
    pub fn nodeset(mut self, name: impl Into<String>, xml: impl Into<String>) -> Self {
        self.nodesets.push((name.into(), xml.into()));
        self
    }

    /// Sets the number of the first SessionId and the first SubscriptionId, so that responses of two servers can be compared. By default, it
    /// is random: a client that still has ids of an earlier run finds no Session or Subscription of another client (OPC 10000-4, 5.14.2.2).
    #[must_use]
    pub fn first_id(mut self, first: u32) -> Self {
        self.first_id = Some(first);
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// A NodeSet is not valid, a namespace URI is empty, or a limit is exceeded.
    pub fn build(self) -> Result<Arc<Server>, BuildError> {
        let limit = self.budgets.max_memory;
        let memory = MemoryBudget::with_reserve(limit, budgets::reserve(limit));
        let memory_of_nodes = memory.part(self.budgets.max_memory_of_nodes);
        let space = Arc::new(AddressSpace::new(
            &self.application_uri,
            self.budgets.max_namespaces,
            self.budgets.max_nodes,
            memory_of_nodes.clone(),
        ));
        for uri in &self.namespaces {
            space.namespaces().register(uri)?;
        }
        space.import_nodesets(&self.nodesets)?;
        let build_info = self
            .build_info
            .unwrap_or_else(|| build_info(&self.product_uri, &self.application_name));
        let status = Arc::new(Status::new(build_info, space.created()));
        let application = application_description(
            &self.application_name,
            &self.application_uri,
            &self.product_uri,
        );
        status::bind(&space, &status, &self.budgets, &application)?;
        let server = Server::new(Parts {
            space,
            memory,
            memory_of_nodes,
            budgets: self.budgets,
            authenticator: self.authenticator,
            node_management: self.node_management,
            session_observer: self.session_observer,
            status,
            application,
            first_id: self.first_id,
        });
        methods::bind(&server.space, &server.subscriptions)?;
        shown_budgets::bind(&server)?;
        let (sessions, subscriptions) = (&server.sessions, &server.subscriptions);
        diagnostics::summary::bind(&server.space, &server.diagnostics, sessions, subscriptions)?;
        let clients = Arc::new(Clients {
            sessions: Arc::clone(sessions),
            subscriptions: Arc::clone(subscriptions),
            server_uri: server.application.application_uri.clone(),
        });
        diagnostics::sessions::bind(&server.space, &clients)?;
        diagnostics::nodes::bind(&server.space, clients);
        Ok(Arc::new(server))
    }
}
