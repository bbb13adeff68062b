//! Events on their way from the application to the engine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use takt_space::{Audience, Event};
use takt_ua::binary::Encode;
use takt_ua::{ByteString, DateTime, NodeId, QualifiedName, Variant};

/// Maximum number of Events that wait for the engine.
const WAITING: usize = 4096;

/// Maximum number of Conditions whose last Event is kept for ConditionRefresh.
const MAX_CONDITIONS: usize = 10_000;

/// Time for which a refresh sends the end of a Condition that no client could see: after a restart of the server, clients come back
/// one after another.
const ENDED: Duration = Duration::from_secs(600);

/// Recorder of the Events of a server, for a history.
pub trait EventRecorder: Send + Sync {
    /// Takes an Event, and the notifiers at which clients receive it. It returns at once. Audit Events are not recorded.
    fn record(&self, event: &Event, notifiers: &[NodeId]);
}

/// Last Events of Conditions, with the times of their reports, by the keys of the Conditions.
type EndedConditions = BTreeMap<Vec<u8>, (Instant, Arc<Event>)>;

/// Wakes the serving thread.
pub(crate) type Wake = Box<dyn Fn() + Send + Sync>;

/// The Events of a server that are not delivered yet, and the last Events of its Conditions.
pub(crate) struct EventQueue {
    events: Lane,
    /// Audit Events. They have a lane of their own, so that busy clients cause no loss of others.
    audit_events: Lane,
    /// True from the report of an Event until the engine takes it.
    is_waiting: AtomicBool,
    /// Number of items that monitor Events.
    listeners: AtomicUsize,
    /// Number of those whose client may see audit Events.
    auditors: AtomicUsize,
    last_id: AtomicU64,
    /// First half of the EventIds of this server.
    prefix: [u8; 8],
    wake: OnceLock<Wake>,
    /// Called when the first item begins to monitor Events.
    listened: OnceLock<Wake>,
    /// Recorder of Events.
    recorder: OnceLock<Arc<dyn EventRecorder>>,
    /// Number of reasons so far to hold refreshes, and the number of those that are over.
    holds: AtomicU64,
    released: AtomicU64,
    conditions: Mutex<BTreeMap<Vec<u8>, Arc<Event>>>,
    /// Last Events of Conditions that have [ended unseen](EventSink::report_unseen_end), with the times of the report.
    ended: Mutex<EndedConditions>,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            events: Lane::default(),
            audit_events: Lane::default(),
            is_waiting: AtomicBool::new(false),
            listeners: AtomicUsize::new(0),
            auditors: AtomicUsize::new(0),
            last_id: AtomicU64::new(0),
            // Without random numbers, EventIds are unique as long as the clock goes forward.
            prefix: crate::identity::random::random().unwrap_or(DateTime::now().0.to_be_bytes()),
            wake: OnceLock::new(),
            listened: OnceLock::new(),
            recorder: OnceLock::new(),
            holds: AtomicU64::new(0),
            released: AtomicU64::new(0),
            conditions: Mutex::default(),
            ended: Mutex::default(),
        }
    }
}

impl EventQueue {
    /// Sets the function that wakes the serving thread. Only the first call has an effect.
    pub(crate) fn set_wake(&self, wake: Wake) {
        let _ = self.wake.set(wake);
    }

    /// Returns true if any item monitors Events.
    pub(crate) fn has_listeners(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) > 0
    }

    /// Returns true if the engine has to take Events.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Acquire)
    }

    /// Returns true if a client that may see audit Events monitors Events.
    #[inline]
    pub(crate) fn has_auditors(&self) -> bool {
        self.auditors.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn add_listener(&self, is_auditor: bool) {
        let before = self.listeners.fetch_add(1, Ordering::Relaxed);
        self.auditors
            .fetch_add(usize::from(is_auditor), Ordering::Relaxed);
        if let (0, Some(listened)) = (before, self.listened.get()) {
            // Before the call, which may lead to the release at once.
            self.holds.fetch_add(1, Ordering::Release);
            listened();
        }
    }

    /// Sets the recorder, which counts as a listener from now on. Only the first call has an effect.
    pub(crate) fn set_recorder(&self, recorder: Arc<dyn EventRecorder>) {
        if self.recorder.set(recorder).is_ok() {
            self.add_listener(false);
        }
    }

    /// Passes an Event to the recorder, if there is one.
    pub(crate) fn record(&self, event: &Event, notifiers: &[NodeId]) {
        if let Some(recorder) = self.recorder.get()
            && event.audience() == Audience::Everybody
        {
            recorder.record(event, notifiers);
        }
    }

    /// Returns true if refreshes that have not begun have to wait.
    pub(crate) fn holds_refreshes(&self) -> bool {
        self.holds.load(Ordering::Acquire) != self.released.load(Ordering::Acquire)
    }

    fn release_refreshes(&self, hold: u64) {
        // The same number again releases nothing, so the engine need not run.
        if self.released.swap(hold, Ordering::AcqRel) != hold {
            self.wake_engine();
        }
    }

    pub(crate) fn remove_listener(&self, is_auditor: bool) {
        self.listeners.fetch_sub(1, Ordering::Relaxed);
        self.auditors
            .fetch_sub(usize::from(is_auditor), Ordering::Relaxed);
    }

    /// Returns a new EventId.
    fn event_id(&self) -> ByteString {
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut id = self.prefix.to_vec();
        id.extend(number.to_be_bytes());
        ByteString::from(id)
    }

    /// Takes an Event from the application. Returns false if it is lost.
    pub(crate) fn report(&self, event: Event) -> bool {
        let is_condition = !event.condition().is_null();
        // Conditions are kept without listeners, too: a client that comes later asks for their states
        // (ConditionRefresh).
        if !is_condition && !self.has_listeners() {
            return true;
        }
        let event = self.complete(event);
        if is_condition {
            self.keep(&event);
        }
        if !self.has_listeners() {
            return true;
        }
        self.send(event)
    }

    /// Keeps the Event of a Condition that clients still have to see.
    fn keep(&self, event: &Arc<Event>) {
        let key = key_of(event);
        // A newer Event supersedes an unseen end. `report_unseen_end` adds its own after this call.
        self.ended().remove(&key);
        let mut conditions = self.conditions();
        if !event.is_retained() {
            conditions.remove(&key);
        // Known Conditions are updated even if there is no room for new ones: a refresh must not send an old state.
        } else if conditions.len() < MAX_CONDITIONS || conditions.contains_key(&key) {
            conditions.insert(key, Arc::clone(event));
        }
    }

    fn conditions(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Arc<Event>>> {
        self.conditions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last Events of the Conditions that clients still have to see.
    fn retained(&self) -> Vec<Arc<Event>> {
        self.conditions().values().cloned().collect()
    }

    /// Returns the Events of a refresh: those of the Conditions that clients still have to see, and those that have ended unseen.
    pub(crate) fn refreshed(&self) -> Vec<Arc<Event>> {
        let mut events = self.retained();
        let mut ended = self.ended();
        ended.retain(|_, (at, _)| at.elapsed() < ENDED);
        events.extend(ended.values().map(|(_, event)| Arc::clone(event)));
        events
    }

    fn ended(&self) -> MutexGuard<'_, EndedConditions> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the last Event of a Condition whose end clients could not see.
    fn report_unseen_end(&self, event: Event) -> bool {
        let event = self.complete(event);
        self.keep(&event);
        let mut ended = self.ended();
        if ended.len() < MAX_CONDITIONS {
            ended.insert(key_of(&event), (Instant::now(), Arc::clone(&event)));
        }
        // Sending wakes the serving thread, which may need this lock for a refresh at once.
        drop(ended);
        !self.has_listeners() || self.send(event)
    }

    /// Forgets the Conditions for which `is_gone` returns true, and returns their last Events.
    fn forget(&self, is_gone: &dyn Fn(&NodeId) -> bool) -> Vec<Arc<Event>> {
        let mut conditions = self.conditions();
        let all = std::mem::take(&mut *conditions).into_iter();
        let (gone, kept): (BTreeMap<_, _>, _) =
            all.partition(|(_, event)| is_gone(event.condition()));
        *conditions = kept;
        gone.into_values().collect()
    }

    /// Adds the missing ones of EventId, Time and ReceiveTime to an Event.
    pub(crate) fn complete(&self, mut event: Event) -> Arc<Event> {
        let now = DateTime::now();
        let mut complete = |name: &str, value: &dyn Fn() -> Variant| {
            if event.named(name).is_none() {
                event.set(vec![QualifiedName::new(0, name)], value());
            }
        };
        complete("EventId", &|| self.event_id().into());
        complete("Time", &|| now.into());
        complete("ReceiveTime", &|| now.into());
        Arc::new(event)
    }

    fn send(&self, event: Arc<Event>) -> bool {
        let lane = match event.audience() {
            Audience::Everybody => &self.events,
            Audience::Auditors => &self.audit_events,
        };
        let is_sent = lane.sender.try_send(event).is_ok();
        if !is_sent {
            lane.lost.fetch_add(1, Ordering::Relaxed);
        }
        // Also for an Event that is lost: the engine reports the loss.
        self.wake_engine();
        is_sent
    }

    fn wake_engine(&self) {
        // Only the first Event wakes the thread; the others are taken with it.
        if !self.is_waiting.swap(true, Ordering::AcqRel)
            && let Some(wake) = self.wake.get()
        {
            wake();
        }
    }

    /// Begins to take Events: those that are reported from now on wake the serving thread again.
    pub(crate) fn begin(&self) {
        self.is_waiting.store(false, Ordering::Release);
    }

    /// Takes the next Event, those for everybody first.
    pub(crate) fn take(&self) -> Option<Arc<Event>> {
        self.events.take().or_else(|| self.audit_events.take())
    }

    /// Takes the number of Events that were lost since the last call, and their audience.
    pub(crate) fn take_lost(&self) -> Option<(u64, Audience)> {
        let lanes = [
            (&self.events, Audience::Everybody),
            (&self.audit_events, Audience::Auditors),
        ];
        // Lazily: the count of a lane that is not returned stays.
        let mut lost = lanes
            .into_iter()
            .map(|(lane, audience)| (lane.take_lost(), audience));
        lost.find(|(count, _)| *count > 0)
    }
}

/// Returns the key of the Condition, or of the branch of one, that an Event belongs to.
fn key_of(event: &Event) -> Vec<u8> {
    let mut key = event.condition().encode_to_vec();
    // Branches have states of their own, and a refresh sends each of them.
    if let Some(Variant::NodeId(branch)) = event.named("BranchId") {
        key.extend(branch.encode_to_vec());
    }
    key
}

/// A bounded queue of Events.
struct Lane {
    sender: SyncSender<Arc<Event>>,
    receiver: Mutex<Receiver<Arc<Event>>>,
    lost: AtomicU64,
}

impl Default for Lane {
    fn default() -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        Self {
            sender,
            receiver: Mutex::new(receiver),
            lost: AtomicU64::new(0),
        }
    }
}

impl Lane {
    fn take(&self) -> Option<Arc<Event>> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.try_recv().ok()
    }

    fn take_lost(&self) -> u64 {
        // It is nearly always 0, and a read costs less than a swap.
        match self.lost.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.lost.swap(0, Ordering::Relaxed),
        }
    }
}

/// Sink for the Events of an application: from any thread, without waiting.
///
/// Events wait in a bounded queue for the thread that serves clients. Without clients that monitor Events, an Event costs one
/// comparison. The last Event of each Condition is kept as long as its field `Retain` is true, for ConditionRefresh.
#[derive(Clone)]
pub struct EventSink(pub(crate) Arc<EventQueue>);

impl EventSink {
    /// Reports an Event to all clients that monitor its source, or a node above it. EventId, Time and ReceiveTime are added if
    /// they are missing.
    ///
    /// Returns false if the queue is full: the Event is lost, and clients get an EventQueueOverflowEvent.
    pub fn report(&self, event: Event) -> bool {
        self.0.report(event)
    }

    /// Reports the last Event of a Condition that has ended while no client could see it, because the server or the source of the
    /// Condition was not running. Clients that come back later, and ask for the states (ConditionRefresh), get it for ten minutes,
    /// too, although its field `Retain` is false: they would keep the Condition as active.
    ///
    /// Returns false if the queue is full.
    pub fn report_unseen_end(&self, event: Event) -> bool {
        self.0.report_unseen_end(event)
    }

    /// Returns the last Events of the Conditions that clients still have to see.
    #[must_use]
    pub fn retained(&self) -> Vec<Arc<Event>> {
        self.0.retained()
    }

    /// Returns true if any client monitors Events. Events of Conditions must be reported in any case.
    #[must_use]
    pub fn has_listeners(&self) -> bool {
        self.0.has_listeners()
    }

    /// Sets the recorder of all Events, for a history. Only the first call has an effect.
    pub fn set_recorder(&self, recorder: Arc<dyn EventRecorder>) {
        self.0.set_recorder(recorder);
    }

    /// Sets a function that is called when a first client begins to monitor Events, after a time without any. Only the first call
    /// has an effect. The function returns at once.
    ///
    /// The application may have to fetch the states of Conditions then. So refreshes (ConditionRefresh, OPC 10000-9, 5.5.7) that
    /// clients request from then on begin only after [`release_refreshes`](Self::release_refreshes).
    pub fn on_first_listener(&self, listened: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.listened.set(Box::new(listened));
    }

    /// Lets refreshes wait that clients request from now on, because the states of more Conditions are being fetched.
    pub fn hold_refreshes(&self) {
        self.0.holds.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of the last reason to hold refreshes: a first listener, or [`hold_refreshes`](Self::hold_refreshes).
    #[must_use]
    pub fn last_hold(&self) -> u64 {
        self.0.holds.load(Ordering::Acquire)
    }

    /// Lets refreshes begin, if there was no newer reason to hold them than the one with this number.
    pub fn release_refreshes(&self, last_hold: u64) {
        self.0.release_refreshes(last_hold);
    }

    /// Forgets the retained Events of Conditions for whose ConditionId `is_gone` returns true, and returns them.
    pub fn forget_conditions(&self, is_gone: impl Fn(&NodeId) -> bool) -> Vec<Arc<Event>> {
        self.0.forget(&is_gone)
    }

    /// Returns whether an Event of this Condition, or of this branch of it, is retained.
    #[must_use]
    pub fn retains(&self, event: &Event) -> bool {
        self.0.conditions().contains_key(&key_of(event))
    }

    /// Returns whether a Condition [has ended unseen](Self::report_unseen_end), and clients are told so.
    #[must_use]
    pub fn knows_end(&self, event: &Event) -> bool {
        self.0.ended().contains_key(&key_of(event))
    }

    /// Returns an EventId that is unique at this server, for an Event that the application has to recognize later.
    #[must_use]
    pub fn new_event_id(&self) -> ByteString {
        self.0.event_id()
    }
}

impl std::fmt::Debug for EventSink {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("EventSink").finish_non_exhaustive()
    }
}
