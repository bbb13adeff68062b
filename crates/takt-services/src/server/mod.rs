//! The server as transports and applications use it.
//!
//! * [`builder`], [`application`]: construction, and what a server says of itself.
//! * [`connection`]: a transport's side of the server.
//! * [`endpoint`], [`announcing`]: endpoints, and how they are described to a client.
//! * [`status`], [`methods`], [`history_nodes`], [`shown_budgets`]: the nodes below the Server object.

mod announcing;
mod application;
pub(crate) mod builder;
pub(crate) mod connection;
pub(crate) mod endpoint;
mod history_nodes;
mod methods;
pub(crate) mod requested_url;
mod shown_budgets;
mod status;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use takt_crypto::ApplicationSecurity;
use takt_rt::log_limit::LogLimit;
use takt_rt::memory_budget::MemoryBudget;
use takt_space::{AddressSpace, Caller, Channel, ChannelSecurity, Peer};
use takt_ua::request_handler::CompletionWaker;
use takt_ua::structures::ApplicationDescription;
use takt_ua::{DateTime, LocalizedText, NodeId, StatusCode};

use self::connection::{Connection, Connections};
use self::endpoint::EndpointConfig;
use self::status::Status;
use crate::audit::auditor::Auditor;
use crate::audit::record::{AuditRecord, AuditSink, AuditedAction};
use crate::budgets::{self, ServerBudgets};
use crate::diagnostics::counts::Diagnostics;
use crate::events::queue::EventSink;
use crate::identity::authentication::Authenticator;
use crate::identity::password_checks::PasswordChecks;
use crate::identity::random::random_id;
use crate::identity::users::Users;
use crate::interfaces::discovery_server::DiscoveryServer;
use crate::interfaces::historian::Historian;
use crate::interfaces::node_management::NodeManagement;
use crate::interfaces::session_observer::SessionObserver;
use crate::responses::timeouts::Timeouts;
use crate::session::Sessions;
use crate::slices::queues::Tasks;
use crate::subscriptions::sampler::Sources;
use crate::subscriptions::{Now, SessionMemory, Subscriptions};

/// An OPC UA server without a transport.
///
/// Transports call [`connect`](Self::connect), [`handle`](Self::handle) and [`disconnect`](Self::disconnect), and
/// [`tick`](Self::tick) at [`next_deadline`](Self::next_deadline), and [`work`](Self::work) between polls for requests that
/// take longer. Any number of threads may do so at once.
pub struct Server {
    pub(crate) space: Arc<AddressSpace>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) budgets: ServerBudgets,
    memory: MemoryBudget,
    memory_without_session: MemoryBudget,
    memory_of_sessions: MemoryBudget,
    pub(crate) memory_of_nodes: MemoryBudget,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) session_observer: Arc<dyn SessionObserver>,
    pub(crate) timeouts: Timeouts,
    pub(crate) tasks: Arc<Tasks<Server>>,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) status: Arc<Status>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) diagnostics: Arc<Diagnostics>,
    pub(crate) application: ApplicationDescription,
    endpoints: ArcSwap<Vec<EndpointConfig>>,
    node_management: RwLock<Arc<dyn NodeManagement>>,
    /// Certificate and trust list, if secured endpoints are served.
    security: OnceLock<Arc<ApplicationSecurity>>,
    /// Users with passwords or certificates.
    users: OnceLock<Arc<dyn Users>>,
    /// History that the server keeps or forwards.
    historian: OnceLock<Arc<dyn Historian>>,
    /// Receiver of audit records.
    audit: OnceLock<Arc<dyn AuditSink>>,
    discovery: OnceLock<Arc<dyn DiscoveryServer>>,
    pub(crate) password_checks: PasswordChecks,
    /// Limit on lines of the log about refused Sessions.
    pub(crate) refusals: LogLimit,
    last_channel: AtomicU64,
    /// [`ServerBudgets::max_sessions`], or fewer.
    pub(crate) max_sessions: AtomicU32,
}

/// Parts of a server that a [`ServerBuilder`] provides.
pub(crate) struct Parts {
    pub(crate) space: Arc<AddressSpace>,
    pub(crate) budgets: ServerBudgets,
    pub(crate) memory: MemoryBudget,
    pub(crate) memory_of_nodes: MemoryBudget,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) node_management: Arc<dyn NodeManagement>,
    pub(crate) session_observer: Arc<dyn SessionObserver>,
    pub(crate) status: Arc<Status>,
    pub(crate) application: ApplicationDescription,
    /// Number of the first SessionId and the first SubscriptionId, if it is not random.
    pub(crate) first_id: Option<u32>,
}

impl Server {
    pub(crate) fn new(parts: Parts) -> Self {
        let memory = parts.memory;
        let max_sessions = parts.budgets.max_sessions;
        let part = |limit| memory.part_with_reserve(limit, budgets::reserve(limit));
        let memory_of_sessions = part(parts.budgets.max_memory_of_sessions);
        let durable = memory_of_sessions.part(parts.budgets.max_memory_of_durable);
        Self {
            memory_without_session: part(parts.budgets.max_memory_without_session),
            memory,
            tasks: Arc::new(Tasks::new(&parts.budgets)),
            memory_of_nodes: parts.memory_of_nodes,
            subscriptions: Arc::new(Subscriptions::new(
                parts.budgets.subscriptions,
                parts.budgets.max_response_size,
                parts.budgets.work_per_slice,
                parts.first_id.unwrap_or_else(random_id),
                SessionMemory::new(memory_of_sessions.clone(), durable),
            )),
            memory_of_sessions,
            timeouts: Timeouts::default(),
            space: parts.space,
            sessions: Arc::new(Sessions::new(parts.first_id.unwrap_or_else(random_id))),
            budgets: parts.budgets,
            authenticator: parts.authenticator,
            session_observer: parts.session_observer,
            status: parts.status,
            connections: Arc::default(),
            diagnostics: Arc::default(),
            application: parts.application,
            endpoints: ArcSwap::default(),
            node_management: RwLock::new(parts.node_management),
            security: OnceLock::new(),
            users: OnceLock::new(),
            historian: OnceLock::new(),
            audit: OnceLock::new(),
            discovery: OnceLock::new(),
            password_checks: PasswordChecks::default(),
            refusals: LogLimit::default(),
            last_channel: AtomicU64::new(0),
            max_sessions: AtomicU32::new(max_sessions),
        }
    }

    /// Returns the ApplicationUri.
    pub fn application_uri(&self) -> &str {
        self.application.application_uri.as_str()
    }

    /// Returns the ApplicationName.
    pub fn application_name(&self) -> &str {
        self.application.application_name.text.as_str()
    }

    /// Opens a connection: a peer has opened a channel with this security to `endpoint_url`.
    ///
    /// `waker` is called, from any thread, when [`Connection::take_completed`] has a response.
    pub fn connect(
        &self,
        peer: Peer,
        security: ChannelSecurity,
        endpoint_url: String,
        waker: CompletionWaker,
    ) -> Connection {
        let channel = Channel {
            // 0 stands for no channel.
            id: self.last_channel.fetch_add(1, Ordering::Relaxed) + 1,
            peer,
            security,
        };
        self.connections.add();
        let connection = Connection::new(channel, endpoint_url, waker);
        let opened = AuditedAction::OpenSecureChannel;
        self.audit_of(&connection.caller, opened, StatusCode::Good);
        connection
    }

    /// Closes a connection whose channel is closed. Its Sessions stay open until they time out: a client may activate them for
    /// another channel.
    pub fn disconnect(&self, connection: Connection) {
        let closed = AuditedAction::CloseSecureChannel;
        self.audit_of(&connection.caller, closed, StatusCode::Good);
        self.tasks.channel_closed(self, connection.channel);
        self.connections.remove();
        self.subscriptions
            .with(|engine| engine.channel_closed(&connection.completed));
        let now = Instant::now();
        for session_id in self.sessions.channel_closed(connection.channel) {
            self.subscriptions
                .with(|engine| engine.set_has_channel(&session_id, false, now));
            self.session_observer.gone(&session_id);
        }
    }

    /// Returns the time at which [`tick`](Self::tick) is due: for Sessions and deferred requests, which can time out, and for
    /// Subscriptions. `None`: not before another event. Takes no lock: transports check it after each request.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        let subscriptions = self.subscriptions.next_deadline();
        let sessions = self.sessions.next_check();
        let timeouts = self.timeouts.next_deadline();
        let times = subscriptions.into_iter().chain(sessions).chain(timeouts);
        times.min()
    }

    /// Does all due work: samples, publishes, closes Sessions that have timed out, and answers requests that have timed out.
    pub fn tick(&self, now: Instant) {
        let expired = self.sessions.expire(now);
        self.diagnostics.sessions_timed_out.add(expired.len());
        for session_id in expired {
            self.session_over(&session_id, now);
        }
        self.timeouts.expire(now);
        let date_time = DateTime::now();
        let now = Now {
            instant: now,
            date_time,
        };
        let units = self.subscriptions.tick(self.sources(), now);
        self.tasks.note_units(units);
    }

    /// Returns the sources of the values that MonitoredItems sample.
    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
            space: &self.space,
            max_remote_timeout: self.budgets.max_remote_timeout,
            max_size: self.budgets.max_response_size,
            snapshots: self.subscriptions.snapshots(),
        }
    }

    /// Handles the end of a Session other than by CloseSession: its Subscriptions stay alive until their lifetime is over
    /// (OPC 10000-4, 5.7.1).
    pub(crate) fn session_over(&self, session_id: &NodeId, now: Instant) {
        self.subscriptions
            .with(|engine| engine.session_closed(session_id, false, now));
        self.session_observer.gone(session_id);
    }

    /// Runs one slice of the requests that take longer, of one connection after another. Returns true if more remains.
    ///
    /// Transports call it between polls, without sleeping while it returns `true`. It begins a turn of the transports.
    pub fn work(self: &Arc<Self>) -> bool {
        self.tasks.run_next(self)
    }

    /// Returns true if the requests that were handled since the last call of [`work`](Self::work) took a slice together.
    ///
    /// Then a transport handles no second request of a connection before it has served the others. A request takes less than a
    /// slice, but many of them may be in one buffer.
    #[inline]
    pub fn is_turn_over(&self) -> bool {
        self.tasks.is_turn_over()
    }

    /// Returns the longest slice so far, in units of work.
    pub fn longest_slice(&self) -> u64 {
        self.tasks.longest_slice()
    }

    /// Announces an endpoint in GetEndpoints, FindServers and CreateSession.
    pub fn add_endpoint(&self, endpoint: EndpointConfig) {
        self.endpoints.rcu(|endpoints| {
            // This may run again, if another endpoint is added at the same time.
            let mut endpoints = Vec::clone(endpoints);
            endpoints.push(endpoint.clone());
            endpoints
        });
    }

    /// Sets certificate and trust list. Only the first call has an effect.
    pub fn set_security(&self, security: Arc<ApplicationSecurity>) {
        let _ = self.security.set(security);
    }

    /// Sets the users. Only the first call has an effect.
    pub fn set_users(&self, users: Arc<dyn Users>) {
        let _ = self.users.set(users);
    }

    /// Sets the source of other servers for Discovery. Only the first call has an effect.
    pub fn set_discovery(&self, discovery: Arc<dyn DiscoveryServer>) {
        let _ = self.discovery.set(discovery);
    }

    pub(crate) fn discovery(&self) -> Option<&dyn DiscoveryServer> {
        self.discovery.get().map(|discovery| &**discovery)
    }

    /// Sets the receiver of audit records. Only the first call has an effect.
    pub fn set_audit(&self, sink: Arc<dyn AuditSink>) {
        let _ = self.audit.set(sink);
    }

    /// Keeps the historian, unless there is one. Returns true if it is kept.
    pub(crate) fn keep_historian(&self, historian: Arc<dyn Historian>) -> bool {
        self.historian.set(historian).is_ok()
    }

    pub(crate) fn historian(&self) -> Option<&dyn Historian> {
        self.historian.get().map(|historian| &**historian)
    }

    /// Returns true if anybody receives audit records.
    #[inline]
    pub(crate) fn is_audited(&self) -> bool {
        self.audit.get().is_some() || self.subscriptions.events().has_auditors()
    }

    /// Returns the receivers of audit records, if there are any.
    pub(crate) fn audit(&self) -> Option<Auditor<'_>> {
        let events = self.subscriptions.events();
        let auditor = Auditor {
            sink: self.audit.get().map(|sink| &**sink),
            events: events.has_auditors().then_some(&**events),
        };
        (auditor.sink.is_some() || auditor.events.is_some()).then_some(auditor)
    }

    /// Records an action of `caller` that is not part of a request, if there is an [`AuditSink`](crate::AuditSink).
    pub fn audit_of(&self, caller: &Caller, action: AuditedAction<'_>, status: StatusCode) {
        if let Some(auditor) = self.audit() {
            auditor.record(&AuditRecord {
                action,
                time: DateTime::now(),
                status,
                caller,
                claimed_user: None,
                client_audit_entry_id: None,
                server_id: self.application_uri(),
            });
        }
    }

    pub(crate) fn users(&self) -> Option<&Arc<dyn Users>> {
        self.users.get()
    }

    /// Returns certificate and trust list, if secured endpoints are served.
    pub fn security(&self) -> Option<&Arc<ApplicationSecurity>> {
        self.security.get()
    }

    /// Returns the announced endpoints.
    pub fn endpoints(&self) -> Vec<EndpointConfig> {
        Vec::clone(&self.endpoints.load())
    }

    /// Returns the address space: nodes, references and values.
    pub fn address_space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    /// Returns the sink for Events of the application.
    pub fn events(&self) -> EventSink {
        EventSink(Arc::clone(self.subscriptions.events()))
    }

    /// Sets the function that wakes the serving thread when an Event is reported: then [`tick`](Self::tick) is due. Only the first
    /// call has an effect.
    pub fn set_wake(&self, wake: impl Fn() + Send + Sync + 'static) {
        self.subscriptions.events().set_wake(Box::new(wake));
    }

    /// Returns the budgets that are in force.
    pub fn budgets(&self) -> &ServerBudgets {
        &self.budgets
    }

    /// Returns the memory budget that the server and its transports use for clients.
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Returns the part of [`memory`](Self::memory) for connections without an activated Session.
    pub fn memory_without_session(&self) -> &MemoryBudget {
        &self.memory_without_session
    }

    /// Returns the part of [`memory`](Self::memory) for all Sessions together.
    pub fn memory_of_sessions(&self) -> &MemoryBudget {
        &self.memory_of_sessions
    }

    /// Returns the maximum number of Sessions at once: [`ServerBudgets::max_sessions`], or fewer where there are fewer channels.
    pub fn max_sessions(&self) -> u32 {
        self.max_sessions.load(Ordering::Relaxed)
    }

    /// Returns the part of [`memory`](Self::memory) for nodes, references, namespaces and large values that clients added or
    /// wrote.
    pub fn memory_of_nodes(&self) -> &MemoryBudget {
        &self.memory_of_nodes
    }

    /// Returns the number of Sessions.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the number of requests of the Session with this id; it overflows to 0. `None` if there is no such Session.
    pub fn session_requests(&self, session_id: &NodeId) -> Option<u32> {
        self.sessions.requests(session_id)
    }

    /// Returns the part of the sampling budget that all MonitoredItems use, in units of work per second: see
    /// [`SubscriptionBudgets::max_sampling_load`](crate::SubscriptionBudgets::max_sampling_load).
    pub fn sampling_load(&self) -> u64 {
        self.subscriptions.sampling_load()
    }

    /// Sets the rules for clients that change the address space.
    pub fn set_node_management(&self, rules: Arc<dyn NodeManagement>) {
        *self
            .node_management
            .write()
            .unwrap_or_else(PoisonError::into_inner) = rules;
    }

    pub(crate) fn node_management(&self) -> Arc<dyn NodeManagement> {
        // A clone, so that no lock is held while the rules are asked.
        Arc::clone(
            &self
                .node_management
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Announces in ServerStatus that the server will stop at `at` (OPC 10000-5, 12.10).
    pub fn announce_shutdown(&self, at: DateTime, reason: &str) {
        self.status
            .announce_shutdown(at, LocalizedText::from(reason));
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Server")
            .field("application", &self.application)
            .field("sessions", &self.session_count())
            .finish_non_exhaustive()
    }
}
