//! Nodes of namespace 0 that show the history of a server (OPC 10000-11, 5.3).

use std::sync::Arc;

use takt_space::{AddressSpaceError, Value};
use takt_ua::structures::{EventFilter, SimpleAttributeOperand};
use takt_ua::{ExtensionObject, NodeId, QualifiedName, UaString, ids};

use super::Server;
use crate::interfaces::historian::Historian;
use crate::reading::attributes::VALUE;

impl Server {
    /// Sets the history that the server keeps or forwards, and shows it in ServerCapabilities and HistoryServerCapabilities
    /// (OPC 10000-11, 5.3). Only the first call has an effect.
    ///
    /// # Errors
    /// A node of namespace 0 cannot be changed.
    pub fn set_historian(&self, historian: Arc<dyn Historian>) -> Result<(), AddressSpaceError> {
        let aggregates = historian.aggregates();
        let max_values = historian.max_return_data_values();
        if self.keep_historian(historian) {
            self.show_history(&aggregates, max_values)?;
        }
        Ok(())
    }

    /// Shows that the history has Events, and all their fields: HistoryServerCapabilities (OPC 10000-11, 5.5.2) and
    /// HistoricalEventFilter (5.4.2). `max_events` is the maximum number of Events of a notifier in one response.
    ///
    /// # Errors
    /// A node of namespace 0 cannot be changed.
    pub fn show_event_history(&self, max_events: u32) -> Result<(), AddressSpaceError> {
        let mut edit = self.space.edit();
        let limit = self.budgets.operations.max_nodes_per_history_read_events;
        let values = [
            (
                ids::HISTORY_SERVER_CAPABILITIES_ACCESS_HISTORY_EVENTS_CAPABILITY,
                Value::stored(true),
            ),
            (
                ids::HISTORY_SERVER_CAPABILITIES_MAX_RETURN_EVENT_VALUES,
                Value::stored(max_events),
            ),
            (
                ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_READ_EVENTS,
                Value::stored(limit),
            ),
            // Current values, history, and history of Events (OPC 10000-12, Annex D).
            (
                ids::SERVER_CONFIGURATION_SERVER_CAPABILITIES,
                Value::stored(["DA", "HD", "HE"].map(UaString::from).to_vec()),
            ),
            (
                ids::HISTORICAL_EVENT_FILTER,
                Value::stored(ExtensionObject::from_structure(&fields_of_events())),
            ),
        ];
        for (id, value) in values {
            edit.set_value(&NodeId::from(id), value)?;
        }
        Ok(())
    }

    fn show_history(&self, aggregates: &[u32], max_values: u32) -> Result<(), AddressSpaceError> {
        let mut edit = self.space.edit();
        let mut set = |id: u32, value: Value| edit.set_value(&NodeId::from(id), value);
        set(
            ids::HISTORY_SERVER_CAPABILITIES_ACCESS_HISTORY_DATA_CAPABILITY,
            Value::stored(true),
        )?;
        // Records have both timestamps.
        set(
            ids::HISTORY_SERVER_CAPABILITIES_SERVER_TIMESTAMP_SUPPORTED,
            Value::stored(true),
        )?;
        set(
            ids::HISTORY_SERVER_CAPABILITIES_MAX_RETURN_DATA_VALUES,
            Value::stored(max_values),
        )?;
        let limit = self.budgets.operations.max_nodes_per_history_read_data;
        set(
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_READ_DATA,
            Value::stored(limit),
        )?;
        // HistoryUpdate refuses each operation, but limits their number all the same.
        set(
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_UPDATE_DATA,
            Value::stored(limit),
        )?;
        set(
            ids::SERVER_SERVER_CAPABILITIES_MAX_HISTORY_CONTINUATION_POINTS,
            Value::stored(self.budgets.max_history_continuation_points),
        )?;
        // Current values and history (OPC 10000-12, Annex D).
        let capabilities = vec![UaString::from("DA"), UaString::from("HD")];
        set(
            ids::SERVER_CONFIGURATION_SERVER_CAPABILITIES,
            Value::stored(capabilities),
        )?;
        let folders = [
            ids::HISTORY_SERVER_CAPABILITIES_AGGREGATE_FUNCTIONS,
            ids::SERVER_SERVER_CAPABILITIES_AGGREGATE_FUNCTIONS,
        ];
        for folder in folders {
            for aggregate in aggregates {
                edit.add_reference(
                    &NodeId::from(folder),
                    &NodeId::from(ids::ORGANIZES),
                    true,
                    &NodeId::from(*aggregate).into(),
                )?;
            }
        }
        Ok(())
    }
}

/// Returns the fields of BaseEventType. Fields of subtypes are recorded as well, but have no common list.
fn fields_of_events() -> EventFilter {
    const FIELDS: [&str; 8] = [
        "EventId",
        "EventType",
        "SourceNode",
        "SourceName",
        "Time",
        "ReceiveTime",
        "Message",
        "Severity",
    ];
    let clause = |name| SimpleAttributeOperand {
        type_definition_id: NodeId::from(ids::BASE_EVENT_TYPE),
        browse_path: vec![QualifiedName::new(0, name)],
        attribute_id: VALUE,
        ..SimpleAttributeOperand::default()
    };
    EventFilter {
        select_clauses: FIELDS.map(clause).to_vec(),
        ..EventFilter::default()
    }
}
