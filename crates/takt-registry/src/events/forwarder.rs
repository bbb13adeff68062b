//! Events of Providers and of mirrored servers, reported at the registry while clients monitor Events there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::{ClientError, Subscription, SubscriptionOptions};
use takt_services::{EventSink, Server};
use takt_space::{AddressSpace, Event};
use takt_ua::{NodeId, StatusCode, ids};

use super::fields::{EventFields, ends_refresh};
use super::translation::{of_mirror, of_provider};
use super::upstream::{DeclaredField, Upstream};
use crate::forwarding::Maps;
use crate::rules::Rules;

/// Interval at which servers and listeners are checked, and changes of nodes are reported, while clients monitor Events.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time after which a server is no longer subscribed to when no client monitors Events any more.
const IDLE: Duration = Duration::from_secs(5);

/// Time before the next attempt to subscribe to a server that ended.
const RETRY: Duration = Duration::from_secs(1);

/// Time before the next attempt to subscribe to a server that refused: it has no Events, or not for the registry.
const RETRY_REFUSED: Duration = Duration::from_secs(30);

/// Longest time that the refreshes of clients wait for the Conditions of a server, so that one that hangs does not delay those of
/// the others for long.
const REFRESH: Duration = Duration::from_secs(2);

/// Publishing interval at the servers.
const PUBLISHING: Duration = Duration::from_millis(50);

/// Number of Events that a server queues for the registry.
const QUEUE: u32 = 5000;

/// Numbers of select clauses that are tried: many servers accept no more than 64.
const SELECT_CLAUSES: [usize; 2] = [256, 64];

/// Severities of the Events about servers that come and go.
const COMES: u16 = 100;
const GOES: u16 = 500;

/// The thread that follows servers and listeners. Dropping it stops it, and all Subscriptions.
pub(crate) struct Forwarder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A Subscription at a server.
struct Link {
    upstream: Upstream,
    stop: Arc<AtomicBool>,
    /// Returns true if the server has refused.
    thread: Option<JoinHandle<bool>>,
    /// Time of the next attempt, when the thread has ended.
    retry: Option<Instant>,
    started: Instant,
    /// True once the registry has the states of the Conditions.
    is_refreshed: Arc<AtomicBool>,
}

impl Forwarder {
    /// Starts the thread. `mirrors` returns the mirrored servers.
    pub(crate) fn start(
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        mirrors: impl Fn() -> Vec<Upstream> + Send + 'static,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let following = Following {
            rules: Arc::downgrade(rules),
            mirrors: Box::new(mirrors),
            space: Arc::clone(server.address_space()),
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
    mirrors: Box<dyn Fn() -> Vec<Upstream> + Send>,
    space: Arc<AddressSpace>,
    sink: EventSink,
    /// Subscriptions, by the Objects of their servers.
    links: HashMap<NodeId, Link>,
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
        let mut upstreams = rules.providers.upstreams();
        upstreams.extend((self.mirrors)());
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
                link.stop.store(true, Ordering::Release);
                // The states of its Conditions are not known any more. The next Subscription asks for them.
                forget_conditions(&self.sink, &link.upstream);
            }
            stays
        });
        if !is_wanted {
            self.sink.release_refreshes(last_hold);
            return false;
        }
        for upstream in upstreams {
            if upstream.endpoint.is_none() || self.links.contains_key(&upstream.object) {
                continue;
            }
            forget_conditions(&self.sink, &upstream);
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

fn forget_conditions(sink: &EventSink, upstream: &Upstream) {
    sink.forget_conditions(|condition| upstream.namespaces.contains(&condition.namespace));
}

impl Link {
    fn start(
        upstream: Upstream,
        sink: EventSink,
        space: Arc<AddressSpace>,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let is_refreshed = Arc::new(AtomicBool::new(false));
        let forwarder = std::thread::current();
        let thread = std::thread::Builder::new().name("events-of".to_owned());
        let thread = thread.spawn({
            let (stop, upstream) = (Arc::clone(&stop), upstream.clone());
            let is_refreshed = Arc::clone(&is_refreshed);
            let refreshed = move || {
                is_refreshed.store(true, Ordering::Release);
                forwarder.unpark();
            };
            move || {
                let forwarded = forward(&upstream, &sink, &space, &refreshed, &stop);
                refreshed();
                let Err(error) = forwarded else { return false };
                let is_refused = matches!(error, ClientError::Operation { .. });
                let name = upstream.title();
                match is_refused {
                    true => tracing::warn!(%error, "Events of {name} are not forwarded"),
                    false => tracing::debug!(%error, "Events of {name} are not forwarded"),
                }
                is_refused
            }
        })?;
        Ok(Self {
            upstream,
            stop,
            thread: Some(thread),
            retry: None,
            started: Instant::now(),
            is_refreshed,
        })
    }

    /// Returns true while it is to this server, with its present fields.
    fn is_to(&self, upstream: &Upstream) -> bool {
        let endpoint = |upstream: &Upstream| {
            let endpoint = upstream.endpoint.as_ref();
            endpoint.map(|(endpoint, _)| endpoint.clone())
        };
        endpoint(upstream) == endpoint(&self.upstream)
            && upstream.namespaces == self.upstream.namespaces
            && upstream.fields == self.upstream.fields
    }

    /// Returns true if the thread has ended, and it is time for the next attempt.
    fn has_to_begin_again(&mut self, now: Instant) -> bool {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            // A thread that panicked is tried again soon.
            let pause = match thread.join() {
                Ok(true) => RETRY_REFUSED,
                _ => RETRY,
            };
            self.retry = Some(self.started + pause);
        }
        self.retry.is_some_and(|retry| now >= retry)
    }

    /// Returns true while refreshes have to wait for the Conditions of this server.
    fn is_refreshing(&self) -> bool {
        !self.is_refreshed.load(Ordering::Acquire) && self.started.elapsed() < REFRESH
    }

    fn end(self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread {
            // A thread that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

/// Forwards Events of one server until it is stopped or the connection ends. Calls `refreshed` when the states of its Conditions are
/// known.
fn forward(
    upstream: &Upstream,
    sink: &EventSink,
    space: &AddressSpace,
    refreshed: &impl Fn(),
    stop: &AtomicBool,
) -> Result<(), ClientError> {
    let Some((endpoint, options)) = upstream.endpoint.clone() else {
        return Ok(());
    };
    let mut client = Client::connect(&endpoint, options)?;
    let mut maps = Maps::default();
    upstream.naming.update(&mut client, &mut maps)?;
    let options = SubscriptionOptions {
        publishing_interval: PUBLISHING,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, options)?;
    let fields = monitor(&mut subscription, upstream, &maps)?;
    match subscription.refresh_conditions() {
        Ok(()) => {}
        Err(error) if error.is_connection() => return Err(error),
        Err(error) => {
            tracing::debug!(%error, "{} has no Conditions", upstream.title());
            refreshed();
        }
    }
    let followed = follow(
        &mut subscription,
        upstream,
        &fields,
        &maps,
        (sink, space),
        refreshed,
        stop,
    );
    if let Err(error) = &followed
        && !error.is_connection()
    {
        // For example a server without memory for its answers. Nothing else tells clients that Events are missing.
        sink.report(lost(upstream));
    }
    followed
}

/// Reports the Events of a Subscription until it is stopped, or the session ends.
fn follow(
    subscription: &mut Subscription,
    upstream: &Upstream,
    fields: &EventFields,
    maps: &Maps,
    (sink, space): (&EventSink, &AddressSpace),
    refreshed: &impl Fn(),
    stop: &AtomicBool,
) -> Result<(), ClientError> {
    let epoch = subscription.client().epoch();
    while !stop.load(Ordering::Acquire) {
        let next = subscription.next_event(INTERVAL)?;
        if subscription.client().epoch() != epoch {
            // Another session: the namespaces may be others, and the Conditions have other states.
            return Ok(());
        }
        let Some(notification) = next else { continue };
        if ends_refresh(&notification.fields) {
            refreshed();
        }
        let Some(event) = fields.event_of(&notification.fields) else {
            continue;
        };
        let map = &maps.to_registry;
        let event = match upstream.naming.is_provider() {
            true => Some(of_provider(&event, map)),
            false => of_mirror(&event, map, &upstream.object, &space.view()),
        };
        if let Some(event) = event {
            sink.report(event);
        }
    }
    Ok(())
}

/// Returns the Event that tells that Events of a server are missing (OPC 10000-5, 6.4.2).
fn lost(upstream: &Upstream) -> Event {
    Event::new(
        ids::EVENT_QUEUE_OVERFLOW_EVENT_TYPE,
        upstream.object.clone(),
    )
    .source_name(upstream.name.as_str())
    .severity(GOES)
    .message(format!("{}: Events were lost", upstream.title()).as_str())
}

/// Monitors the Events of a server, with as many fields as it accepts.
fn monitor(
    subscription: &mut Subscription,
    upstream: &Upstream,
    maps: &Maps,
) -> Result<EventFields, ClientError> {
    let to_server = &maps.to_server;
    let declared = upstream.fields.iter().map(|field| DeclaredField {
        event_type: to_server.type_id(&field.event_type),
        path: field
            .path
            .iter()
            .map(|name| to_server.type_name(name))
            .collect(),
    });
    let declared: Vec<_> = declared.collect();
    let mut refused = ClientError::operation(&upstream.name, StatusCode::BadEventFilterInvalid);
    for most in SELECT_CLAUSES {
        let fields = EventFields::new(&declared, most);
        let query = fields.query().queue_size(QUEUE);
        match subscription.monitor_events(&NodeId::from(ids::SERVER), query) {
            Ok(_) => return Ok(fields),
            Err(error @ ClientError::Operation { .. }) => refused = error,
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}
