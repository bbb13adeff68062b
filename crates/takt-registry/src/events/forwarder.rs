//! Events of Providers, reported at the registry while clients monitor Events there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::client::{Client, ClientOptions};
use takt_app::{ClientError, Endpoint, EventQuery, Subscription, SubscriptionOptions};
use takt_services::{EventSink, Server};
use takt_space::Event;
use takt_ua::{NodeId, ids};

use super::fields::{FIELDS, ends_refresh, event_of};
use super::upstream::Upstream;
use crate::rules::Rules;

/// Interval at which Providers and listeners are checked, and changes of nodes are reported, while clients monitor Events.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time after which a Provider is no longer subscribed to when no client monitors Events any more.
const IDLE: Duration = Duration::from_secs(5);

/// Time before the next attempt to subscribe to a Provider that refused or ended.
const RETRY: Duration = Duration::from_secs(1);

/// Longest time that the refreshes of clients wait for the Conditions of a Provider, so that one that hangs does not delay those of
/// the others for long.
const REFRESH: Duration = Duration::from_secs(2);

/// Publishing interval at Providers.
const PUBLISHING: Duration = Duration::from_millis(50);

/// Number of Events that a Provider queues for the registry.
const QUEUE: u32 = 5000;

/// Severities of the Events about Providers.
const COMES: u16 = 100;
const GOES: u16 = 500;

/// The thread that follows Providers and listeners. Dropping it stops it, and all Subscriptions.
pub(crate) struct Forwarder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A Subscription at a Provider.
struct Link {
    namespace: u16,
    endpoint: Endpoint,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    started: Instant,
    /// True once the registry has the states of the Conditions.
    is_refreshed: Arc<AtomicBool>,
}

impl Forwarder {
    /// Starts the thread.
    pub(crate) fn start(server: &Arc<Server>, rules: &Arc<Rules>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let following = Following {
            rules: Arc::downgrade(rules),
            sink: server.events(),
            links: HashMap::new(),
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
    sink: EventSink,
    links: HashMap<String, Link>,
    /// Known Providers: namespace, and true if available.
    available: HashMap<String, (u16, bool)>,
    /// Last time at which a client monitored Events.
    listened: Option<Instant>,
    /// True while Providers that come and go are reported.
    is_following: bool,
}

impl Following {
    fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Acquire) {
            let Some(rules) = self.rules.upgrade() else {
                break;
            };
            let is_wanted = self.follow(&rules);
            drop(rules);
            match is_wanted {
                true => std::thread::park_timeout(INTERVAL),
                // The first listener wakes the thread.
                false => std::thread::park(),
            }
        }
        for (_, link) in self.links.drain() {
            link.end();
        }
    }

    /// Brings everything up to date. Returns true if clients monitor Events, or did a short time ago.
    fn follow(&mut self, rules: &Rules) -> bool {
        let now = Instant::now();
        let last_hold = self.sink.last_hold();
        if self.sink.has_listeners() {
            self.listened = Some(now);
        }
        let is_wanted = self
            .listened
            .is_some_and(|listened| now.duration_since(listened) < IDLE);
        rules.model_changes.set_wanted(is_wanted);
        rules.model_changes.report(&self.sink);
        let upstreams = rules.providers.upstreams();
        if self.is_following {
            self.tell(&upstreams);
        } else {
            // Clients hear of changes from now on only.
            let known = upstreams.iter().map(|upstream| {
                let state = (upstream.namespace, upstream.endpoint.is_some());
                (upstream.name.clone(), state)
            });
            self.available = known.collect();
        }
        self.is_following = is_wanted;
        self.links.retain(|name, link| {
            let upstream = upstreams.iter().find(|upstream| upstream.name == *name);
            let endpoint = upstream.and_then(|upstream| upstream.endpoint.as_ref());
            let is_same = endpoint.is_some_and(|(endpoint, _)| *endpoint == link.endpoint);
            let has_ended = link.thread.is_finished() && link.started.elapsed() >= RETRY;
            let stays = is_wanted && is_same && !has_ended;
            if !stays {
                link.stop.store(true, Ordering::Release);
            }
            if !stays {
                // The states of its Conditions are not known any more. The next Subscription asks for them.
                let namespace = link.namespace;
                self.sink
                    .forget_conditions(|condition| condition.namespace == namespace);
            }
            stays
        });
        if !is_wanted {
            self.sink.release_refreshes(last_hold);
            return false;
        }
        for upstream in upstreams {
            let Some((endpoint, options)) = upstream.endpoint.clone() else {
                continue;
            };
            if !self.links.contains_key(&upstream.name) {
                let (name, namespace) = (upstream.name.clone(), upstream.namespace);
                self.sink
                    .forget_conditions(|condition| condition.namespace == namespace);
                self.sink.hold_refreshes();
                match Link::start(upstream, endpoint, options, self.sink.clone()) {
                    Ok(link) => {
                        self.links.insert(name, link);
                    }
                    Err(error) => tracing::warn!(%error, "Events of {name} are not forwarded"),
                }
            }
        }
        if !self.links.values().any(Link::is_refreshing) {
            self.sink.release_refreshes(last_hold);
        }
        true
    }

    /// Reports Providers that have come or gone.
    fn tell(&mut self, upstreams: &[Upstream]) {
        for upstream in upstreams {
            let is_available = upstream.endpoint.is_some();
            let now = (upstream.namespace, is_available);
            let before = self.available.insert(upstream.name.clone(), now);
            if before.is_some_and(|(_, before)| before != is_available)
                || before.is_none() && is_available
            {
                self.report(&upstream.name, upstream.namespace, is_available);
            }
        }
        let mut gone = Vec::new();
        self.available.retain(|name, (namespace, _)| {
            let is_known = upstreams.iter().any(|upstream| upstream.name == *name);
            if !is_known {
                gone.push((name.clone(), *namespace));
            }
            is_known
        });
        for (name, namespace) in gone {
            self.report(&name, namespace, false);
        }
    }

    fn report(&self, name: &str, namespace: u16, is_available: bool) {
        let (message, severity) = match is_available {
            true => (format!("Provider {name} is available"), COMES),
            false => (format!("Provider {name} is not available"), GOES),
        };
        let object = NodeId::numeric(namespace, takt_app::model::provider::OBJECT);
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, object)
            .source_name(name)
            .severity(severity)
            .message(message.as_str());
        self.sink.report(event);
    }
}

impl Link {
    fn start(
        upstream: Upstream,
        endpoint: Endpoint,
        options: ClientOptions,
        sink: EventSink,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let namespace = upstream.namespace;
        let is_refreshed = Arc::new(AtomicBool::new(false));
        let forwarder = std::thread::current();
        let thread = std::thread::Builder::new().name("events-of".to_owned());
        let thread = thread.spawn({
            let (stop, endpoint) = (Arc::clone(&stop), endpoint.clone());
            let is_refreshed = Arc::clone(&is_refreshed);
            let refreshed = move || {
                is_refreshed.store(true, Ordering::Release);
                forwarder.unpark();
            };
            move || {
                let forwarded = forward(&upstream, &endpoint, options, &sink, &refreshed, &stop);
                if let Err(error) = forwarded {
                    tracing::debug!(provider = upstream.name, %error, "Events are not forwarded");
                }
                refreshed();
            }
        })?;
        Ok(Self {
            namespace,
            endpoint,
            stop,
            thread,
            started: Instant::now(),
            is_refreshed,
        })
    }

    /// Returns true while refreshes have to wait for the Conditions of this Provider.
    fn is_refreshing(&self) -> bool {
        !self.is_refreshed.load(Ordering::Acquire) && self.started.elapsed() < REFRESH
    }

    fn end(self) {
        self.stop.store(true, Ordering::Release);
        // A thread that panicked has nothing left to do.
        let _ = self.thread.join();
    }
}

/// Forwards Events of one Provider until it is stopped or the connection ends. Calls `refreshed` when the states of its Conditions
/// are known.
fn forward(
    upstream: &Upstream,
    endpoint: &Endpoint,
    options: ClientOptions,
    sink: &EventSink,
    refreshed: &impl Fn(),
    stop: &AtomicBool,
) -> Result<(), ClientError> {
    let mut client = Client::connect(endpoint, options)?;
    let own = client.local_node(&upstream.namespace_uri, &NodeId::NULL)?;
    let options = SubscriptionOptions {
        publishing_interval: PUBLISHING,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, options)?;
    let query = EventQuery::new(FIELDS).condition_id().queue_size(QUEUE);
    subscription.monitor_events(&NodeId::from(ids::SERVER), query)?;
    if let Err(error) = subscription.refresh_conditions() {
        tracing::debug!(provider = upstream.name, %error, "has no Conditions");
        refreshed();
    }
    let to_registry = |node: &NodeId| match node.namespace == own.namespace {
        true => NodeId {
            namespace: upstream.namespace,
            identifier: node.identifier.clone(),
        },
        false => node.clone(),
    };
    while !stop.load(Ordering::Acquire) {
        let Some(notification) = subscription.next_event(INTERVAL)? else {
            continue;
        };
        if let Some(event) = event_of(&notification.fields) {
            sink.report(event.map_node_ids(to_registry));
        } else if ends_refresh(&notification.fields) {
            refreshed();
        }
    }
    Ok(())
}
