//! Filter for changes of a value: DataChangeFilter (OPC 10000-4, 7.22.2).

use takt_space::{NodeRef, Value, View};
use takt_ua::enumerations::{DataChangeTrigger, DeadbandType};
use takt_ua::structures::{AggregateFilter, DataChangeFilter, EventFilter, Range};
use takt_ua::{ExtensionObject, NodeIdRef, StatusCode, Variant, ids};

use super::sample::Sample;
use crate::reading::attributes;

/// A validated DataChangeFilter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Filter {
    trigger: DataChangeTrigger,
    /// Deadband in units of the value: a PercentDeadband has been multiplied by its EURange. Zero: every change is reported.
    deadband: f64,
}

impl Default for Filter {
    /// Returns the filter of an item without one: StatusValue (OPC 10000-4, 7.22.2).
    fn default() -> Self {
        Self {
            trigger: DataChangeTrigger::StatusValue,
            deadband: 0.0,
        }
    }
}

impl Filter {
    /// Validates the filter that a client requests for an attribute of a node.
    pub(crate) fn of_request(
        filter: &ExtensionObject,
        view: &View<'_>,
        node: &NodeRef<'_>,
        attribute: u32,
    ) -> Result<Self, StatusCode> {
        if filter.is_null() {
            return Ok(Self::default());
        }
        let is_aggregate = filter.is::<AggregateFilter>();
        let is_of_values = is_aggregate || filter.is::<DataChangeFilter>();
        if filter.is::<EventFilter>() || is_of_values && attribute != attributes::VALUE {
            return Err(StatusCode::BadFilterNotAllowed);
        }
        if is_aggregate {
            return Err(StatusCode::BadMonitoredItemFilterUnsupported);
        }
        if !is_of_values {
            return Err(StatusCode::BadMonitoredItemFilterInvalid);
        }
        let filter: DataChangeFilter = filter
            .decode_as()
            .map_err(|_| StatusCode::BadMonitoredItemFilterInvalid)?;
        if !(0..=2).contains(&filter.trigger.0) {
            return Err(StatusCode::BadMonitoredItemFilterInvalid);
        }
        let kind = i32::try_from(filter.deadband_type).map_or(DeadbandType(-1), DeadbandType);
        let value = filter.deadband_value;
        let deadband = match kind {
            DeadbandType::None => 0.0,
            DeadbandType::Absolute | DeadbandType::Percent if !is_number(view, node) => {
                return Err(StatusCode::BadFilterNotAllowed);
            }
            DeadbandType::Absolute if value >= 0.0 && value.is_finite() => value,
            DeadbandType::Percent if (0.0..=100.0).contains(&value) => {
                let range =
                    range(view, node).ok_or(StatusCode::BadMonitoredItemFilterUnsupported)?;
                // The two ends of a range may be exchanged.
                (range.high - range.low).abs() * value / 100.0
            }
            DeadbandType::Absolute | DeadbandType::Percent => {
                return Err(StatusCode::BadDeadbandFilterInvalid);
            }
            _ => return Err(StatusCode::BadMonitoredItemFilterInvalid),
        };
        Ok(Self {
            trigger: filter.trigger,
            deadband,
        })
    }

    /// Returns true if the filter passes `new` as a change, after `last` was reported.
    pub(crate) fn passes(&self, last: &Sample, new: &Sample) -> bool {
        if last.status != new.status {
            return true;
        }
        match self.trigger {
            DataChangeTrigger::Status => false,
            DataChangeTrigger::StatusValueTimestamp
                if last.source_timestamp != new.source_timestamp =>
            {
                true
            }
            // The encodings are compared: that is fast, and NaN is equal to itself.
            _ if last.value == new.value => false,
            _ => self.deadband == 0.0 || exceeds(self.deadband, &last.variant(), &new.variant()),
        }
    }
}

/// Returns true if two values differ by more than the deadband; for arrays, if any element does. Values that are not numbers
/// have no deadband.
fn exceeds(deadband: f64, last: &Variant, new: &Variant) -> bool {
    let differ = |last: Option<f64>, new: Option<f64>| match (last, new) {
        // No difference of NaN exceeds anything, so it is compared by itself.
        (Some(last), Some(new)) => last.is_nan() != new.is_nan() || (last - new).abs() > deadband,
        _ => true,
    };
    match (last.as_array(), new.as_array()) {
        (Some(last), Some(new)) => {
            let element = |array: &takt_ua::Array, index| {
                array
                    .elements
                    .get(index)
                    .and_then(|element| element.as_f64())
            };
            last.len() != new.len()
                || (0..new.len()).any(|index| differ(element(last, index), element(new, index)))
        }
        _ => differ(last.as_f64(), new.as_f64()),
    }
}

/// Returns true if a Variable's DataType is a number, or may be one.
fn is_number(view: &View<'_>, node: &NodeRef<'_>) -> bool {
    node.variable().is_some_and(|variable| {
        view.is_subtype_of(variable.data_type, NodeIdRef::numeric(0, ids::NUMBER))
            || variable.data_type == NodeIdRef::numeric(0, ids::BASE_DATA_TYPE)
    })
}

/// Returns the Property EURange (OPC 10000-8, 5.3.2.3).
fn range(view: &View<'_>, node: &NodeRef<'_>) -> Option<Range> {
    let name = takt_ua::QualifiedNameRef {
        namespace: 0,
        name: Some("EURange"),
    };
    let property = NodeIdRef::numeric(0, ids::HAS_PROPERTY);
    let property = view.child(node.node_id(), property, name)?;
    let value = match view.node(&property)?.value()? {
        Value::Stored(stored) => stored.get(),
        Value::Cell(cell) => cell.get().ok()?,
        Value::Callback(source) => source.read(),
        // The answer of another server cannot be waited for here.
        Value::Remote(_) => return None,
    };
    match value.value? {
        Variant::ExtensionObject(object) => object.decode_as().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::{DataValue, DateTime};

    fn sample(value: impl Into<Variant>, time: i64) -> Sample {
        let value = DataValue::good(value).with_source_timestamp(DateTime(time));
        Sample::of(&value, DateTime(0))
    }

    fn bad(mut sample: Sample) -> Sample {
        sample.status = StatusCode::BadNoCommunication;
        sample
    }

    fn filter(trigger: DataChangeTrigger, deadband: f64) -> Filter {
        Filter { trigger, deadband }
    }

    #[test]
    fn triggers_select_the_reported_changes() {
        let last = sample(1_i32, 1);
        let (same, later, other) = (sample(1_i32, 1), sample(1_i32, 2), sample(2_i32, 1));
        for (trigger, on_time, on_value) in [
            (DataChangeTrigger::Status, false, false),
            (DataChangeTrigger::StatusValue, false, true),
            (DataChangeTrigger::StatusValueTimestamp, true, true),
        ] {
            let filter = filter(trigger, 0.0);
            assert!(!filter.passes(&last, &same));
            assert_eq!(filter.passes(&last, &later), on_time, "{trigger:?}");
            assert_eq!(filter.passes(&last, &other), on_value, "{trigger:?}");
            assert!(filter.passes(&last, &bad(same.clone())), "{trigger:?}");
        }
    }

    #[test]
    fn a_deadband_suppresses_small_changes() {
        let filter = filter(DataChangeTrigger::StatusValue, 0.5);
        let last = sample(10.0_f64, 1);
        assert!(!filter.passes(&last, &sample(10.5_f64, 1)));
        assert!(filter.passes(&last, &sample(10.6_f64, 1)));
        assert!(filter.passes(&last, &sample(9.4_f64, 1)));
        assert!(filter.passes(&last, &sample(f64::NAN, 1)));
        let last = sample(vec![1.0_f64, 2.0], 1);
        assert!(!filter.passes(&last, &sample(vec![1.2_f64, 1.8], 1)));
        assert!(filter.passes(&last, &sample(vec![1.0_f64, 2.6], 1)));
        assert!(filter.passes(&last, &sample(vec![1.0_f64], 1)));
    }
}
