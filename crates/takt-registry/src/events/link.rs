//! A Subscription for the Events of one server, with its thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::{ClientError, Subscription, SubscriptionOptions};
use takt_services::EventSink;
use takt_space::{AddressSpace, Event};
use takt_ua::{NodeId, StatusCode, ids};

use super::fields::{EventFields, FirstEvents, ends_refresh};
use super::translation::{of_mirror, of_provider};
use crate::forwarding::Maps;
use crate::forwarding::{DeclaredField, Upstream};

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

/// Longest wait for an Event before the thread checks whether it shall end.
const LOOK: Duration = Duration::from_millis(100);

/// Severity of the Event that tells that Events are missing.
const LOST: u16 = 500;

/// A Subscription at a server.
pub(super) struct Link {
    pub(super) upstream: Upstream,
    stop: Arc<AtomicBool>,
    /// Returns true if the server has refused.
    thread: Option<JoinHandle<bool>>,
    /// Time of the next attempt, when the thread has ended.
    retry: Option<Instant>,
    started: Instant,
    /// True once refreshes need not wait for the states of the Conditions any more.
    is_refreshed: Arc<AtomicBool>,
    /// True once the registry has the states of the Conditions.
    knows_conditions: Arc<AtomicBool>,
}

impl Link {
    /// Starts the thread.
    pub(super) fn start(
        upstream: Upstream,
        sink: EventSink,
        space: Arc<AddressSpace>,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let is_refreshed = Arc::new(AtomicBool::new(false));
        let knows_conditions = Arc::new(AtomicBool::new(false));
        let forwarder = std::thread::current();
        let thread = std::thread::Builder::new().name("events-of".to_owned());
        let thread = thread.spawn({
            let (stop, upstream) = (Arc::clone(&stop), upstream.clone());
            let is_refreshed = Arc::clone(&is_refreshed);
            let knows = Arc::clone(&knows_conditions);
            let refreshed = move |knows_all: bool| {
                // Not a store: the end of the thread calls this with false, and what is known stays known.
                knows.fetch_or(knows_all, Ordering::Release);
                is_refreshed.store(true, Ordering::Release);
                forwarder.unpark();
            };
            move || {
                let forwarded = forward(&upstream, &sink, &space, &refreshed, &stop);
                // However it ended, refreshes do not wait for this server any more.
                refreshed(false);
                let Err(error) = forwarded else { return false };
                // Each attempt takes a session of the server for a while.
                let is_refused = error.is_lasting()
                    || matches!(
                        error,
                        ClientError::Operation { .. } | ClientError::Protocol { .. }
                    );
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
            knows_conditions,
        })
    }

    /// Returns true while it is to this server, with its present fields.
    pub(super) fn is_to(&self, upstream: &Upstream) -> bool {
        let endpoint = |upstream: &Upstream| {
            let endpoint = upstream.endpoint.as_ref();
            endpoint.map(|(endpoint, _)| endpoint.clone())
        };
        endpoint(upstream) == endpoint(&self.upstream)
            && upstream.namespaces == self.upstream.namespaces
            && upstream.fields == self.upstream.fields
    }

    /// Returns true if the thread has ended, and it is time for the next attempt.
    pub(super) fn has_to_begin_again(&mut self, now: Instant) -> bool {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            // A thread that panicked is tried again soon.
            let pause = match thread.join() {
                Ok(true) => RETRY_REFUSED,
                _ => RETRY,
            };
            // From its start on, so that a Subscription that lasted long begins again at once.
            self.retry = Some(self.started + pause);
        }
        self.retry.is_some_and(|retry| now >= retry)
    }

    /// Returns true while refreshes have to wait for the Conditions of this server.
    pub(super) fn is_refreshing(&self) -> bool {
        !self.is_refreshed.load(Ordering::Acquire) && self.started.elapsed() < REFRESH
    }

    /// Returns true if the Conditions that the server still has to show are those that it has reported.
    pub(super) fn knows_conditions(&self) -> bool {
        self.knows_conditions.load(Ordering::Acquire)
    }

    /// Lets the thread end.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Ends the thread, and waits for that.
    pub(super) fn end(self) {
        self.stop();
        if let Some(thread) = self.thread {
            // A thread that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

/// Forwards Events of one server until it is stopped or the connection ends. Calls `refreshed` when nothing is
/// to be waited for any more: with true if the states of its Conditions are known.
fn forward(
    upstream: &Upstream,
    sink: &EventSink,
    space: &AddressSpace,
    refreshed: &impl Fn(bool),
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
            refreshed(false);
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
    refreshed: &impl Fn(bool),
    stop: &AtomicBool,
) -> Result<(), ClientError> {
    let epoch = subscription.client().epoch();
    let mut first = FirstEvents::default();
    while !stop.load(Ordering::Acquire) {
        let next = subscription.next_event(LOOK)?;
        if subscription.client().epoch() != epoch {
            // Another session: the namespaces may be others, and the Conditions have other states.
            return Ok(());
        }
        let Some(notification) = next else { continue };
        if ends_refresh(&notification.fields) {
            first.end();
            refreshed(true);
        }
        if first.repeats(&notification.fields) {
            continue;
        }
        let Some(event) = fields.event_of(&notification.fields) else {
            continue;
        };
        let event = match upstream.naming.is_provider() {
            true => Some(of_provider(&event, &maps.to_registry)),
            false => of_mirror(&event, maps, &upstream.object, &space.view()),
        };
        let Some(event) = event else { continue };
        // A server of Takt tells the ends that its clients could not see.
        let is_end = !event.condition().is_null() && !event.is_retained();
        match is_end && !first.is_refreshed() {
            true => sink.report_unseen_end(event),
            false => sink.report(event),
        };
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
    .severity(LOST)
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
