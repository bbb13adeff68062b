//! Alarms of a Provider (OPC 10000-9): Conditions that follow from the values of Variables.
//!
//! A thread looks at the values of all Variables with an alarm, compares them with their [`limits`], and reports an Event of each
//! [`condition`] that changes. The Methods of the Conditions are those of their types.

mod condition;
pub(crate) mod fields;
pub(crate) mod limits;
mod methods;
pub(crate) mod shelving;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_services::EventSink;
use takt_space::{AddressSpace, AddressSpaceError, Event, StoredValue, Value};
use takt_ua::{DataValue, DateTime, NodeId, QualifiedName, StatusCode, Variant, ids};

use condition::{Condition, Identity};
use limits::{LimitMonitor, Limits};
use shelving::Shelving;

pub use methods::CONDITION_METHODS;

/// Interval at which values are compared with their limits.
const INTERVAL: Duration = Duration::from_millis(50);

/// An alarm that is to be watched.
pub(crate) struct Watched {
    /// ConditionId.
    pub(crate) id: NodeId,
    pub(crate) name: String,
    /// NodeId, path and value of the Variable.
    pub(crate) source: (NodeId, String, Value),
    pub(crate) needs_confirmation: bool,
    pub(crate) limits: Limits,
    pub(crate) kind: Kind,
    /// MaxTimeShelved, if it can be shelved.
    pub(crate) max_time_shelved: Option<Duration>,
}

/// Kind of a limit alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One state at a time (OPC 10000-9, 5.8.19).
    Exclusive,
    /// A state for each limit (OPC 10000-9, 5.8.20).
    NonExclusive,
}

impl Kind {
    /// Returns the EventType, which is the type of the Condition.
    pub(crate) fn event_type(self) -> u32 {
        match self {
            Self::Exclusive => ids::EXCLUSIVE_LIMIT_ALARM_TYPE,
            Self::NonExclusive => ids::NON_EXCLUSIVE_LIMIT_ALARM_TYPE,
        }
    }
}

/// A Condition with its value.
struct Alarm {
    value: Value,
    monitor: Mutex<LimitMonitor>,
    condition: Arc<Mutex<Condition>>,
    /// Components of the Condition in the address space, by BrowsePath.
    shown: Vec<Component>,
}

/// A component of a Condition: its BrowsePath and its value.
type Component = (Vec<QualifiedName>, Arc<StoredValue>);

/// The alarms of one Provider.
struct Alarms {
    sink: EventSink,
    alarms: HashMap<NodeId, Alarm>,
    /// ConditionIds by the NodeId of their ShelvingState.
    shelving_states: HashMap<NodeId, NodeId>,
}

/// The thread that watches the alarms of a Provider. Dropping it stops it.
pub(crate) struct AlarmWatch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every state is consistent, even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AlarmWatch {
    /// Binds the Methods of Conditions, and starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(
        space: &AddressSpace,
        sink: EventSink,
        watched: Vec<Watched>,
    ) -> std::io::Result<Self> {
        let (mut alarms, mut shelving_states) = (HashMap::new(), HashMap::new());
        for one in watched {
            let (source, source_name, value) = one.source;
            let identity = Identity {
                id: one.id.clone(),
                name: one.name,
                source,
                source_name,
                needs_confirmation: one.needs_confirmation,
                kind: one.kind,
            };
            let shelving = one.max_time_shelved.map(Shelving::new);
            let mut condition = Condition::new(identity, one.limits, shelving);
            let first = condition.event(sink.new_event_id(), DateTime::now());
            let alarm = Alarm {
                value,
                monitor: Mutex::new(LimitMonitor::new(one.limits)),
                shown: show(space, &first).map_err(std::io::Error::other)?,
                condition: Arc::new(Mutex::new(condition)),
            };
            let shelving_state = methods::shelving_state(space, &one.id, &alarm.condition);
            if let Some(node) = shelving_state.map_err(std::io::Error::other)? {
                shelving_states.insert(node, one.id.clone());
            }
            alarms.insert(one.id, alarm);
        }
        let alarms = Arc::new(Alarms {
            sink,
            alarms,
            shelving_states,
        });
        methods::bind(space, &alarms).map_err(std::io::Error::other)?;
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::Builder::new().name("alarms".to_owned());
        let thread = thread.spawn({
            let stop = Arc::clone(&stop);
            move || {
                while !stop.load(Ordering::Acquire) {
                    alarms.look(Instant::now());
                    std::thread::park_timeout(INTERVAL);
                }
            }
        })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for AlarmWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

impl Alarms {
    /// Compares all values with their limits.
    fn look(&self, now: Instant) {
        for alarm in self.alarms.values() {
            let value = current(&alarm.value);
            let mut condition = lock(&alarm.condition);
            let mut monitor = lock(&alarm.monitor);
            let status = value.status_code();
            let mut changed = condition.set_quality(status);
            changed |= condition.expire(now);
            let number = value.value.as_ref().and_then(Variant::as_f64);
            if let Some(number) = number.filter(|_| !status.is_bad())
                && let Some(state) = monitor.update(number, now)
            {
                condition.set_active(state, number);
                changed = true;
            }
            if changed && condition.is_enabled() {
                self.report(alarm, &mut condition);
            }
        }
    }

    fn report(&self, alarm: &Alarm, condition: &mut Condition) {
        let event = condition.event(self.sink.new_event_id(), DateTime::now());
        for (path, shown) in &alarm.shown {
            // A field that the Event does not have is null.
            shown.set(event.get(path).cloned().unwrap_or_default());
        }
        self.sink.report(event);
    }
}

/// Shows the fields of an Event in the components of its Condition that exist in the address space.
fn show(space: &AddressSpace, event: &Event) -> Result<Vec<Component>, AddressSpaceError> {
    let mut shown = Vec::new();
    for field in event.fields() {
        let mut node = Some(event.condition().clone());
        for name in &field.path {
            node = node.and_then(|node| {
                let view = space.view();
                view.child(&node, ids::HIERARCHICAL_REFERENCES, name.as_ref())
            });
        }
        let Some(node) = node else { continue };
        let value = Value::stored(field.value.clone());
        if let Value::Stored(stored) = &value {
            shown.push((field.path.clone(), Arc::clone(stored)));
        }
        space.set_value(&node, value)?;
    }
    Ok(shown)
}

fn current(value: &Value) -> DataValue {
    match value {
        Value::Cell(cell) => cell
            .get()
            .unwrap_or_else(|_| DataValue::status(StatusCode::BadNoData)),
        Value::Stored(stored) => stored.get(),
        Value::Callback(source) => source.read(),
        Value::Remote(_) => DataValue::status(StatusCode::BadNotSupported),
    }
}
