//! Events of Providers and of mirrored servers, reported at the registry while clients monitor Events there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_services::{EventSink, Server};
use takt_space::{AddressSpace, Event};
use takt_ua::{NodeId, ids};

use super::kept::KeptConditions;
use super::link::Link;
use super::unknown::Unknown;
use crate::forwarding::Upstream;
use crate::rules::Rules;

/// Interval at which servers and listeners are checked, and changes of nodes are reported, while clients monitor Events.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time after which a server is no longer subscribed to when no client monitors Events any more.
const IDLE: Duration = Duration::from_secs(5);

/// Severities of the Events about servers that come and go.
const COMES: u16 = 100;
const GOES: u16 = 500;

/// The thread that follows servers and listeners. Dropping it stops it, and all Subscriptions.
pub(crate) struct Forwarder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Forwarder {
    /// Starts the thread. `mirrors` returns the mirrored servers, `kept` has the Conditions of the last run.
    pub(crate) fn start(
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        mirrors: impl Fn() -> Vec<Upstream> + Send + 'static,
        mut kept: KeptConditions,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let following = Following {
            rules: Arc::downgrade(rules),
            mirrors: Box::new(mirrors),
            space: Arc::clone(server.address_space()),
            sink: server.events(),
            links: HashMap::new(),
            unknown: Unknown::of(kept.last_run(server.address_space())),
            kept,
            available: HashMap::new(),
            listened: None,
            is_following: false,
        };
        let sink = server.events();
        let thread = std::thread::Builder::new().name("events".to_owned());
        let thread = thread.spawn({
            let stop = Arc::clone(&stop);
            move || following.run(&stop)
        })?;
        let sleeper = thread.thread().clone();
        sink.on_first_listener(move || sleeper.unpark());
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has nothing left to stop.
            let _ = thread.join();
        }
    }
}

/// State of the thread.
struct Following {
    rules: Weak<Rules>,
    mirrors: Box<dyn Fn() -> Vec<Upstream> + Send>,
    space: Arc<AddressSpace>,
    sink: EventSink,
    /// Subscriptions, by the Objects of their servers.
    links: HashMap<NodeId, Link>,
    /// Conditions of servers whose Subscriptions have ended.
    unknown: Unknown,
    /// Conditions for the next run of the registry.
    kept: KeptConditions,
    /// Known servers, by their Objects, and whether they are available.
    available: HashMap<NodeId, (Upstream, bool)>,
    /// Last time at which a client monitored Events.
    listened: Option<Instant>,
    /// True while servers that come and go are reported.
    is_following: bool,
}

impl Following {
    fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Acquire) {
            let Some(rules) = self.rules.upgrade() else {
                break;
            };
            let is_wanted = self.follow(&rules);
            // A thread that sleeps must not keep the rules, and with them the database, alive.
            drop(rules);
            match is_wanted {
                true => std::thread::park_timeout(INTERVAL),
                // The first listener wakes the thread.
                false => std::thread::park(),
            }
        }
        if let Some(rules) = self.rules.upgrade().filter(|_| self.is_following) {
            let upstreams = self.upstreams(&rules);
            self.keep(&upstreams);
        }
        for (_, link) in self.links.drain() {
            link.end();
        }
    }

    /// Returns all servers.
    fn upstreams(&self, rules: &Rules) -> Vec<Upstream> {
        let mut upstreams = rules.providers.upstreams();
        upstreams.extend((self.mirrors)());
        upstreams
    }

    /// Brings everything up to date. Returns true if clients monitor Events, or did a short time ago.
    fn follow(&mut self, rules: &Rules) -> bool {
        let now = Instant::now();
        // Before the servers are looked at: refreshes that are held later wait for the next round.
        let last_hold = self.sink.last_hold();
        if self.sink.has_listeners() {
            self.listened = Some(now);
        }
        let is_wanted = self
            .listened
            .is_some_and(|listened| now.duration_since(listened) < IDLE);
        rules.model_changes.set_wanted(is_wanted);
        rules.model_changes.report(&self.sink);
        let upstreams = self.upstreams(rules);
        if self.is_following {
            self.tell(&upstreams);
        } else {
            // Clients hear of changes from now on only.
            let known = upstreams.iter().map(|upstream| {
                let state = (upstream.clone(), upstream.endpoint.is_some());
                (upstream.object.clone(), state)
            });
            self.available = known.collect();
        }
        self.is_following = is_wanted;
        self.links.retain(|object, link| {
            let upstream = upstreams.iter().find(|upstream| upstream.object == *object);
            let is_same = upstream.is_some_and(|upstream| link.is_to(upstream));
            let stays = is_wanted && is_same && !link.has_to_begin_again(now);
            if !stays {
                // Without waiting for the thread: its server may hang.
                link.stop();
                self.unknown.forget(&self.sink, &link.upstream);
            }
            stays
        });
        let is_known = |object: &NodeId| upstreams.iter().any(|known| known.object == *object);
        self.unknown.end_without(&self.sink, is_known);
        for (object, link) in &self.links {
            if link.knows_conditions() {
                self.unknown.end(&self.sink, object);
            }
        }
        if !is_wanted {
            // Clients that come later learn the states by a refresh. After a restart of the registry, those of before come again.
            if self.listened.is_some() {
                self.unknown = Unknown::default();
                self.kept.save(Vec::new(), &self.space);
            }
            self.sink.release_refreshes(last_hold);
            return false;
        }
        if self.kept.is_due(now) {
            self.keep(&upstreams);
        }
        for upstream in upstreams {
            if upstream.endpoint.is_none() || self.links.contains_key(&upstream.object) {
                continue;
            }
            self.unknown.forget(&self.sink, &upstream);
            // Clients that refresh meanwhile shall also get the Conditions of this server.
            self.sink.hold_refreshes();
            match Link::start(upstream.clone(), self.sink.clone(), Arc::clone(&self.space)) {
                Ok(link) => {
                    self.links.insert(upstream.object, link);
                }
                Err(error) => {
                    tracing::warn!(%error, "Events of {} are not forwarded", upstream.title());
                }
            }
        }
        if !self.links.values().any(Link::is_refreshing) {
            self.sink.release_refreshes(last_hold);
        }
        true
    }

    /// Keeps the Conditions that clients still have to see for the next run.
    fn keep(&mut self, upstreams: &[Upstream]) {
        let mut conditions: Vec<_> = self.unknown.conditions().collect();
        for event in self.sink.retained() {
            let namespace = event.condition().namespace;
            let mut upstreams = upstreams.iter();
            if let Some(of) = upstreams.find(|one| one.namespaces.contains(&namespace)) {
                conditions.push((of.object.clone(), event));
            }
        }
        self.kept.save(conditions, &self.space);
    }

    /// Reports servers that have come or gone.
    fn tell(&mut self, upstreams: &[Upstream]) {
        for upstream in upstreams {
            let is_available = upstream.endpoint.is_some();
            let now = (upstream.clone(), is_available);
            let before = self.available.insert(upstream.object.clone(), now);
            let is_known = before.is_some();
            if before.is_some_and(|(_, before)| before != is_available) || !is_known && is_available
            {
                self.report(upstream, is_available);
            }
        }
        let mut gone = Vec::new();
        self.available.retain(|object, (upstream, _)| {
            let is_known = upstreams.iter().any(|known| known.object == *object);
            if !is_known {
                gone.push(upstream.clone());
            }
            is_known
        });
        for upstream in gone {
            self.report(&upstream, false);
        }
    }

    fn report(&self, upstream: &Upstream, is_available: bool) {
        let title = upstream.title();
        let (message, severity) = match is_available {
            true => (format!("{title} is available"), COMES),
            false => (format!("{title} is not available"), GOES),
        };
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, upstream.object.clone())
            .source_name(upstream.name.as_str())
            .severity(severity)
            .message(message.as_str());
        self.sink.report(event);
    }
}
