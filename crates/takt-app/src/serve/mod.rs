//! The thread that serves an application's endpoints: shared memory and TCP on one readiness loop.

mod advertised;
mod capacity;
mod curves;
mod durable;
mod error;
mod handler;
mod idling;
mod kept_memory;
mod peak;
mod security;
mod traffic;
mod validity;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_client::{Endpoint, Waiting, key_log};
use takt_rt::affinity;
use takt_rt::priority::{self, Policy};
use takt_rt::readiness::{
    Alarm, Events, Interest, Readiness, ReadyEvent, Waker, key_tag, tagged_key,
};
use takt_rt::waiting::WaitStep;
use takt_services::{EndpointConfig, SHARED_MEMORY_PROFILE, Server, TCP_PROFILE};
use takt_shm::{ApplicationName, ServerConfig, ShmServer};
use takt_tcp::{
    EndpointUrl, ReverseConnect, ReverseHello, ServerConnectionConfig, TcpServer, TcpServerConfig,
};
use takt_ua::large_memory;

use crate::audit::{AuditLog, AuditTarget};
use crate::server_configuration;
use capacity::Descriptors;
use durable::DurableFile;
use handler::Services;
use idling::Idling;
use kept_memory::KeptMemory;
use peak::Peak;
use traffic::Counters;
use validity::Validity;

pub(crate) use advertised::towards;
pub use advertised::{Advertised, AdvertisedError};
pub use curves::OfferedCurves;
pub use error::ServeError;
pub use security::{EndpointSecurity, ServeSecurityError};
pub use traffic::Traffic;

/// Options of a serving thread: its way of waiting, and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// Way in which the thread waits for requests. Spinning uses a whole core.
    pub waiting: Waiting,
    /// Largest number of connections of each endpoint. By default a quarter more than [`ServerBudgets::max_sessions`]
    /// if the file descriptors of the process are sufficient. There are always fewer Sessions than connections.
    ///
    /// [`ServerBudgets::max_sessions`]: takt_services::ServerBudgets::max_sessions
    pub max_connections: Option<usize>,
    /// Directory in which shared-memory applications find each other; by default the value of `TAKT_RUNTIME_DIR`, or
    /// the user's runtime directory.
    pub runtime_directory: Option<PathBuf>,
    /// The Unix group, by name or number, that shares the shared-memory endpoints; by default only this user has
    /// access. Its applications find each other in `/run/takt/GROUP`, which root creates, unless `TAKT_GROUP_ROOT` or
    /// `runtime_directory` names another directory.
    pub group: Option<String>,
    /// True if the shared-memory endpoint also has services of iceoryx2, which programs without Takt can call. They take
    /// 1.5 MiB of memory and 90 open files. Clients of Takt do not need them.
    pub public_services: bool,
    /// Core that the thread runs on. It is inherited by threads that wait for other servers on behalf of a request:
    /// do not combine this with spinning if there are such threads.
    pub core: Option<usize>,
    /// Scheduling policy of the thread, which is inherited as well; by default that of the starting thread.
    pub policy: Option<Policy>,
    /// True if no endpoint over TCP is opened: only processes of this host reach the server, over shared memory.
    pub no_tcp: bool,
    /// Security of the endpoints over TCP.
    pub security: EndpointSecurity,
    /// Places of the audit log; by default there is none.
    pub audit: Vec<AuditTarget>,
    /// Host under which clients reach the endpoints over TCP. By default each client gets URLs with the host that it used.
    pub advertise: Option<Advertised>,
    /// Clients to which the server connects, where they listen: reverse connect (OPC 10000-6, 7.1.3). The first endpoint over
    /// TCP is served there.
    pub reverse_connect: Vec<EndpointUrl>,
    /// File in which durable Subscriptions outlive the server. By default that of a Provider or a registry is in its state folder;
    /// without a file they end with the server.
    pub durable_subscriptions: Option<PathBuf>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            waiting: Waiting::Sleep,
            max_connections: None,
            runtime_directory: None,
            group: None,
            public_services: true,
            core: None,
            policy: None,
            no_tcp: false,
            security: EndpointSecurity::default(),
            audit: Vec::new(),
            advertise: None,
            reverse_connect: Vec::new(),
            durable_subscriptions: None,
        }
    }
}

/// Keys of the readiness loop, which identify the owner of a descriptor.
const TCP: u8 = 1;
const SHARED_MEMORY: u8 = 2;
const STOP: u8 = 3;
const DEADLINE: u8 = 4;
const EXPECTED: u8 = 5;
const EVENTS: u8 = 6;

/// Largest number of endpoints of one transport: their index has four bits in the tags of events.
const MAX_ENDPOINTS: usize = 16;

/// Number of checks of shared memory per check of the descriptors, while the last request came over shared memory. A check of
/// the descriptors is a system call. After a request over TCP, both are checked in turns: its client would wait for all of them.
const LOOKS: u32 = 64;

/// Endpoints that are served until this is dropped.
pub struct Serving {
    endpoints: Vec<Endpoint>,
    advertise: Option<Advertised>,
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
    durable: Option<DurableFile>,
}

impl Serving {
    /// Opens `endpoints` and serves `server` there, without those over TCP if the options say so. Endpoints over shared memory have the
    /// application's name.
    ///
    /// It raises the soft limit of the process on file descriptors to the hard limit, and makes its allocator
    /// [return large buffers](takt_rt::heap::return_large_buffers),
    /// [provide the pages](takt_rt::heap::provide_pages) of large values together, and keep the memory of freed ones for one
    /// to two seconds, as far as the memory budget allows.
    ///
    /// # Errors
    /// An error if an endpoint cannot be opened; then all are closed.
    pub fn start(
        server: &Arc<Server>,
        endpoints: &[Endpoint],
        options: ServeOptions,
    ) -> Result<Self, ServeError> {
        takt_rt::heap::return_large_buffers();
        large_memory::prepare_with(takt_rt::heap::provide_pages);
        large_memory::keep_freed(kept_memory::MOST);
        let mut endpoints = endpoints.to_vec();
        endpoints.retain(|endpoint| !options.no_tcp || endpoint.is_shared_memory());
        let endpoints = endpoints.as_slice();
        let max_connections = capacity::max_connections(
            options.max_connections,
            server.max_sessions(),
            endpoints,
            Descriptors::of_this_process(),
        )?;
        // OPC 10000-4, 5.7.2.1: for N Sessions there are N + 1 channels.
        let sessions = max_connections.saturating_sub(1).max(1);
        server.limit_sessions(u32::try_from(sessions).unwrap_or(u32::MAX));
        server.show_connections_limit(max_connections.saturating_mul(endpoints.len()));
        let options = ServeOptions {
            max_connections: Some(max_connections),
            ..options
        };
        let advertise = options.advertise.clone();
        if advertise.as_ref().is_some_and(|one| !one.fits(endpoints)) {
            return Err(ServeError::AdvertisedPort);
        }
        // Users, audit and security are complete before the first endpoint opens: no client comes in between.
        options.security.admit(server)?;
        if !options.audit.is_empty() {
            server.set_audit(Arc::new(AuditLog::open(&options.audit)?));
        }
        let opened = options.security.open(server, endpoints, advertise.as_ref());
        if let Some(security) = opened? {
            server_configuration::bind(server, &security)
                .map_err(|error| ServeError::Thread(std::io::Error::other(error)))?;
            server.set_security(security);
        }
        let file = options.durable_subscriptions.as_deref();
        let mut durable = file.map(|path| DurableFile::restore(path, server));
        let stop = Arc::new(AtomicBool::new(false));
        let readiness = Readiness::new()?;
        let waker = Waker::new()?;
        readiness.add(waker.as_fd(), tagged_key(STOP, 0), Interest::READ)?;
        let reported = Arc::new(Waker::new()?);
        readiness.add(reported.as_fd(), tagged_key(EVENTS, 0), Interest::READ)?;
        server.set_wake({
            let reported = Arc::clone(&reported);
            move || reported.wake()
        });
        let (report, opened) = mpsc::sync_channel(1);
        let counters = Arc::new(Counters::default());
        let thread = {
            let services = Services {
                server: Arc::clone(server),
                counters: Arc::clone(&counters),
                allows_none: true,
                none_on_loopback_only: false,
            };
            let stop = Arc::clone(&stop);
            let wanted = endpoints.to_vec();
            // Shared memory stays on the thread that opened it, so the thread opens everything.
            std::thread::Builder::new()
                .name("serve".to_owned())
                .spawn(move || {
                    match Transports::open(services, (readiness, reported), &wanted, &options) {
                        Ok(mut transports) => {
                            if report.send(Ok(transports.endpoints.clone())).is_ok() {
                                transports.run(&stop, options.waiting);
                            }
                        }
                        Err(error) => {
                            // The caller of `start` waits for this result; an error here means that it has ended.
                            let _ = report.send(Err(error));
                        }
                    }
                })?
        };
        match opened.recv() {
            Ok(Ok(endpoints)) => {
                if let Some(durable) = &mut durable {
                    durable.serves();
                }
                Ok(Self {
                    endpoints,
                    advertise,
                    counters,
                    stop,
                    waker,
                    thread: Some(thread),
                    durable,
                })
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ServeError::Thread(std::io::Error::other(
                "the thread ended at once",
            ))),
        }
    }

    /// Returns the endpoints with their actual ports.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Returns the endpoints as clients on other hosts reach them: with the advertised host, if there is one.
    pub fn advertised(&self) -> Vec<Endpoint> {
        advertised::advertised(&self.endpoints, self.advertise.as_ref())
    }

    /// Returns the traffic so far.
    pub fn traffic(&self) -> Traffic {
        self.counters.traffic()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to stop.
            let _ = thread.join();
        }
        // Nothing changes the Subscriptions any more.
        drop(self.durable.take());
    }
}

/// State of the serving thread.
struct Transports {
    services: Services,
    readiness: Arc<Readiness>,
    tcp: Vec<TcpServer<Services>>,
    shared_memory: Vec<ShmServer<Services>>,
    /// Alarm for the next task of the server: a Session may have timed out, or a Subscription samples or publishes.
    alarm: Alarm,
    /// Goes off shortly before requests are expected.
    expected: Alarm,
    /// Woken when an Event is reported.
    reported: Arc<Waker>,
    peak: Peak,
    kept: KeptMemory,
    validity: Validity,
    endpoints: Vec<Endpoint>,
}

impl Transports {
    fn open(
        services: Services,
        (readiness, reported): (Readiness, Arc<Waker>),
        endpoints: &[Endpoint],
        options: &ServeOptions,
    ) -> Result<Self, ServeError> {
        if let Some(core) = options.core {
            affinity::pin(core)?;
        }
        if let Some(policy) = options.policy {
            priority::set(policy)?;
        }
        let alarm = Alarm::new()?;
        readiness.add(alarm.as_fd(), tagged_key(DEADLINE, 0), Interest::READ)?;
        let expected = Alarm::new()?;
        readiness.add(expected.as_fd(), tagged_key(EXPECTED, 0), Interest::READ)?;
        let mut transports = Self {
            alarm,
            expected,
            reported,
            peak: Peak::default(),
            kept: KeptMemory::default(),
            validity: Validity::default(),
            services,
            readiness: Arc::new(readiness),
            tcp: Vec::new(),
            shared_memory: Vec::new(),
            endpoints: Vec::new(),
        };
        for endpoint in endpoints {
            match endpoint {
                Endpoint::Tcp(url) => transports.open_tcp(url, options)?,
                Endpoint::SharedMemory(name) => transports.open_shared_memory(name, options)?,
            }
        }
        Ok(transports)
    }

    fn open_tcp(&mut self, url: &EndpointUrl, options: &ServeOptions) -> Result<(), ServeError> {
        let server = &self.services.server;
        let connection = ServerConnectionConfig {
            policies: security::policies(server.security()),
            key_log: server.security().and_then(|_| key_log::of_this_process()),
            memory: server.memory().clone(),
            memory_without_session: server.memory_without_session().clone(),
            ..ServerConnectionConfig::default()
        };
        let mut config = TcpServerConfig {
            connection,
            ..TcpServerConfig::default()
        };
        if let Some(max_connections) = options.max_connections {
            config.max_connections = max_connections;
        }
        let tag = tag(TCP, self.tcp.len())?;
        let is_loopback = security::is_loopback(url);
        let allows_none = is_loopback || options.security.allow_none;
        let services = Services {
            allows_none,
            // A client beyond the loopback interface reaches such an endpoint through reverse connect.
            none_on_loopback_only: !options.security.allow_none,
            ..self.services.clone()
        };
        let mut tcp = TcpServer::bind_on(url, config, services, Arc::clone(&self.readiness), tag)?;
        let url = tcp.url().clone();
        if allows_none && !is_loopback {
            tracing::warn!(
                endpoint = %url,
                "reachable from the network without security, as its options allow: every client can read and listen"
            );
        }
        let server = &self.services.server;
        if options.security.trust_loopback {
            tracing::warn!(
                endpoint = %url,
                "trust_loopback is set: every Unix user of this host, and everybody whose connections come from its loopback interface, \
                 can write and call here"
            );
        }
        let (announced, rule) = advertised::announced(&url, options.advertise.as_ref());
        let text = announced.to_string();
        if self.tcp.is_empty() && !options.reverse_connect.is_empty() {
            tcp.connect_to(ReverseConnect {
                hello: ReverseHello {
                    server_uri: server.application_uri().to_owned(),
                    endpoint_url: text.clone(),
                },
                clients: options.reverse_connect.clone(),
            })?;
        }
        let none = allows_none.then(|| EndpointConfig::without_security(&text, TCP_PROFILE));
        let secured = server.security();
        let secured = secured.map(|security| security::endpoints(security, &text));
        for endpoint in none.into_iter().chain(secured.into_iter().flatten()) {
            server.add_endpoint(endpoint.with_announced_host(rule));
        }
        self.endpoints.push(Endpoint::Tcp(url));
        self.tcp.push(tcp);
        Ok(())
    }

    fn open_shared_memory(
        &mut self,
        name: &ApplicationName,
        options: &ServeOptions,
    ) -> Result<(), ServeError> {
        let defaults = ServerConfig::default();
        let config = ServerConfig {
            max_connections: options.max_connections.unwrap_or(defaults.max_connections),
            memory: self.services.server.memory().clone(),
            runtime_directory: options.runtime_directory.clone(),
            group: options.group.clone(),
            public_services: options.public_services,
            ..defaults
        };
        let tag = tag(SHARED_MEMORY, self.shared_memory.len())?;
        let server = self.services.clone();
        let shared_memory = ShmServer::new(name.clone(), server, &self.readiness, tag, config)?;
        let endpoint = Endpoint::SharedMemory(name.clone());
        let announced =
            EndpointConfig::without_security(endpoint.to_string(), SHARED_MEMORY_PROFILE);
        self.services.server.add_endpoint(announced);
        self.endpoints.push(endpoint);
        self.shared_memory.push(shared_memory);
        Ok(())
    }

    fn run(&mut self, stop: &AtomicBool, waiting: Waiting) {
        let mut events = Events::with_capacity(64);
        let mut idling = Idling::of_this_thread(waiting);
        for shared_memory in &mut self.shared_memory {
            shared_memory.set_processor(idling.bound_to());
        }
        self.look_at_certificates(Instant::now());
        // Restored Subscriptions are sampled before the first client comes.
        self.set_alarm();
        let mut awake = false;
        let mut look_again = false;
        // True if the last request came over shared memory.
        let mut in_memory = !self.shared_memory.is_empty();
        while !stop.load(Ordering::Acquire) {
            let step = idling.step(|processor| self.client_is_on(processor));
            let looking = step == WaitStep::Spin;
            if awake != looking {
                awake = looking;
                look_again = true;
                for shared_memory in &mut self.shared_memory {
                    shared_memory.set_awake(awake);
                }
            }
            // Checks go on after announcing sleep until no request is found: a client that sent one before it saw that has not rung
            // the doorbell.
            // One slice of the long requests is run between two checks of the transports.
            let working = self.services.server.work();
            let looks = match looking && !working && in_memory {
                true => LOOKS,
                false => 1,
            };
            let mut answered = (looking || look_again) && self.look(looks);
            in_memory |= answered;
            look_again = answered;
            let timeout = (looking || answered || working).then_some(Duration::ZERO);
            if let (None, WaitStep::Sleep(Some(at))) = (timeout, step) {
                self.expected.at(at);
            }
            if let Err(error) = self.readiness.wait(&mut events, timeout) {
                tracing::error!(%error, "the readiness loop is broken, serving ends");
                return;
            }
            if !events.is_empty() {
                let now = Instant::now();
                for event in events.iter() {
                    if self.dispatch(event, now) {
                        answered = true;
                        in_memory = split_tag(key_tag(event.key)).0 == SHARED_MEMORY;
                    }
                }
                for tcp in &mut self.tcp {
                    tcp.serve_large(now);
                }
            }
            self.set_alarm();
            if answered {
                idling.answered();
            }
        }
    }

    /// Sets the alarm to the next time at which something has to be done without a request.
    fn set_alarm(&mut self) {
        let memory = self.services.server.memory();
        let give_back = self.peak.note(memory.used());
        let release = self.kept.note(memory.used(), memory.limit());
        let deadline = self.services.server.next_deadline();
        let deadlines = deadline.into_iter().chain(give_back).chain(release);
        // The look at the certificates is mostly the latest: as the last one, it does not set the alarm again.
        for at in deadlines.chain(self.validity.next()) {
            self.alarm.at(at);
        }
    }

    /// Looks at the own certificates if it is time.
    fn look_at_certificates(&mut self, now: Instant) {
        if let Some(security) = self.services.server.security() {
            self.validity.look(now, security);
        }
    }

    /// Returns true if the client that was served last runs on `processor`.
    fn client_is_on(&self, processor: usize) -> bool {
        let mut servers = self.shared_memory.iter();
        servers.any(|server| server.shares_processor(processor))
    }

    /// Checks shared memory up to `times` times; returns whether there was a request.
    fn look(&mut self, times: u32) -> bool {
        (0..times).any(|_| {
            std::hint::spin_loop();
            let answered: usize = self.shared_memory.iter_mut().map(ShmServer::turn).sum();
            answered > 0
        })
    }

    /// Handles an event; returns true if a transport may have answered requests.
    fn dispatch(&mut self, event: ReadyEvent, now: Instant) -> bool {
        let (kind, number) = split_tag(key_tag(event.key));
        match kind {
            DEADLINE => {
                self.alarm.acknowledge();
                self.services.server.tick(now);
                self.kept.release(now);
                self.look_at_certificates(now);
                if self.peak.is_due(self.services.server.memory().used(), now) {
                    takt_rt::heap::give_back();
                }
                false
            }
            EXPECTED => {
                self.expected.acknowledge();
                false
            }
            EVENTS => {
                self.reported.drain();
                self.services.server.tick(now);
                false
            }
            TCP => {
                if let Some(tcp) = self.tcp.get_mut(number) {
                    tcp.ready(event, now);
                }
                true
            }
            SHARED_MEMORY => {
                let server = self.shared_memory.get_mut(number);
                server.is_some_and(|server| server.ready(event.key) > 0)
            }
            _ => false,
        }
    }
}

/// Returns a transport's tag: its kind in the lower half, its index among those in the upper half.
fn tag(kind: u8, number: usize) -> Result<u8, ServeError> {
    match u8::try_from(number) {
        Ok(number) if usize::from(number) < MAX_ENDPOINTS => Ok(kind | number << 4),
        _ => Err(ServeError::TooManyEndpoints),
    }
}

fn split_tag(tag: u8) -> (u8, usize) {
    (tag & 0x0F, usize::from(tag >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_identify_transports() {
        let split = |kind, number| tag(kind, number).map(split_tag);
        for number in 0..MAX_ENDPOINTS {
            assert!(matches!(split(TCP, number), Ok((TCP, found)) if found == number));
        }
        for number in [MAX_ENDPOINTS, 255, 256] {
            assert!(matches!(
                split(SHARED_MEMORY, number),
                Err(ServeError::TooManyEndpoints)
            ));
        }
        assert_eq!(split_tag(key_tag(tagged_key(STOP, 0))).0, STOP);
    }
}
