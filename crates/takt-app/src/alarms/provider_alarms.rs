//! The alarms of one Provider: their Conditions, and the values that these follow from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use takt_services::EventSink;
use takt_space::{AddressSpace, AddressSpaceError, Event, StoredValue, Value};
use takt_ua::{DataValue, DateTime, NodeId, QualifiedName, StatusCode, Variant, ids};

use super::condition::Condition;
use super::kept::KeptStates;
use super::limits::LimitMonitor;

/// A Condition with its value.
pub(super) struct Alarm {
    pub(super) value: Value,
    pub(super) monitor: Mutex<LimitMonitor>,
    pub(super) condition: Arc<Mutex<Condition>>,
    /// Components of the Condition in the address space, by BrowsePath.
    pub(super) shown: Vec<Component>,
}

/// A component of a Condition: its BrowsePath and its value.
pub(super) type Component = (Vec<QualifiedName>, Arc<StoredValue>);

/// The alarms of one Provider.
pub(super) struct Alarms {
    pub(super) sink: EventSink,
    pub(super) alarms: HashMap<NodeId, Alarm>,
    /// ConditionIds by the NodeId of their ShelvingState.
    pub(super) shelving_states: HashMap<NodeId, NodeId>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every state is consistent, even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Alarms {
    /// Compares all values with their limits. The first time, Events tell the Conditions of the last run, too.
    pub(super) fn look(&self, now: Instant, is_first: bool) {
        for alarm in self.alarms.values() {
            // Without a lock: a callback may take long, and must not hold up the Methods.
            let value = current(&alarm.value);
            let mut condition = lock(&alarm.condition);
            let mut monitor = lock(&alarm.monitor);
            let status = value.status_code();
            let mut changed = condition.set_quality(status);
            changed |= condition.expire(now);
            changed |= is_first && condition.is_retained();
            let number = value.value.as_ref().and_then(Variant::as_f64);
            if let Some(number) = number.filter(|_| !status.is_bad()) {
                if let Some(state) = monitor.update(number, now) {
                    condition.set_active(state, number);
                    changed = true;
                } else if is_first && condition.active().is_some() {
                    condition.begin_again(number);
                }
            }
            if changed && condition.is_enabled() {
                let event = self.event(alarm, &mut condition);
                // Clients of the last run know the Condition as active.
                match is_first && !condition.is_retained() {
                    true => self.sink.report_unseen_end(event),
                    false => self.sink.report(event),
                };
            }
        }
    }

    /// Returns the states of Conditions for the next run.
    pub(super) fn kept(&self) -> KeptStates {
        let alarms = self.alarms.iter();
        let kept =
            alarms.filter_map(|(id, alarm)| Some((id.clone(), lock(&alarm.condition).kept()?)));
        kept.collect()
    }

    pub(super) fn report(&self, alarm: &Alarm, condition: &mut Condition) {
        let event = self.event(alarm, condition);
        self.sink.report(event);
    }

    /// Returns the next Event of a Condition, which its components show from now on.
    fn event(&self, alarm: &Alarm, condition: &mut Condition) -> Event {
        let event = condition.event(self.sink.new_event_id(), DateTime::now());
        for (path, shown) in &alarm.shown {
            // A field that the Event does not have is null.
            shown.set(event.get(path).cloned().unwrap_or_default());
        }
        event
    }
}

/// Shows the fields of an Event in the components of its Condition that exist in the address space.
pub(super) fn show(
    space: &AddressSpace,
    event: &Event,
) -> Result<Vec<Component>, AddressSpaceError> {
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
