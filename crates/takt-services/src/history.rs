//! History of Variables: its source, its continuation points, and the nodes that say so.

use std::collections::VecDeque;
use std::sync::Arc;

use takt_rt::memory_budget::Charge;
use takt_space::{AddressSpaceError, RemoteSource, Value};
use takt_ua::binary::Encode;
use takt_ua::{ByteString, NodeId, UaString, ids};

use crate::server::Server;

/// The history that a server keeps, or forwards.
pub trait Historian: Send + Sync {
    /// Returns the source of the history that this server keeps of a Variable. `None`: the source of its value is asked, if that is
    /// another server.
    fn source(&self, node_id: &NodeId) -> Option<Arc<dyn RemoteSource>>;

    /// Returns the AggregateFunctions of namespace 0 that all its sources support (OPC 10000-13, 4.2.2).
    fn aggregates(&self) -> Vec<u32>;

    /// Returns the maximum number of values of a Variable in one response.
    fn max_return_data_values(&self) -> u32;
}

/// Position from which a HistoryRead continues.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HistoryPoint {
    /// The Variable, as the client names it.
    pub(crate) node_id: NodeId,
    /// Continuation point of the source.
    pub(crate) of_source: ByteString,
}

impl HistoryPoint {
    /// Returns the approximate memory in bytes.
    fn memory(&self) -> usize {
        size_of::<(u64, Self)>()
            + self.node_id.encode_to_vec().len()
            + self.of_source.as_bytes().len()
    }
}

/// The continuation points of one Session. The oldest gives way to a new one (OPC 10000-4, 7.9).
#[derive(Debug)]
pub(crate) struct HistoryPoints {
    points: VecDeque<(u64, HistoryPoint)>,
    capacity: usize,
    last_id: u64,
    charge: Charge,
}

impl HistoryPoints {
    pub(crate) fn new(capacity: u16, charge: Charge) -> Self {
        Self {
            points: VecDeque::new(),
            capacity: usize::from(capacity),
            last_id: 0,
            charge,
        }
    }

    /// Keeps a point and returns the name by which the client refers to it; `None` if there is no memory for it.
    pub(crate) fn insert(&mut self, point: HistoryPoint) -> Option<[u8; 8]> {
        while self.points.len() >= self.capacity {
            let (_, oldest) = self.points.pop_front()?;
            self.charge.force(self.charge.bytes() - oldest.memory());
        }
        self.charge
            .resize(self.charge.bytes() + point.memory())
            .ok()?;
        self.last_id += 1;
        self.points.push_back((self.last_id, point));
        Some(self.last_id.to_le_bytes())
    }

    /// Takes a point of this Variable out. Each is used once.
    pub(crate) fn take(&mut self, name: &[u8], node_id: &NodeId) -> Option<HistoryPoint> {
        let id = u64::from_le_bytes(name.try_into().ok()?);
        let is_it =
            |(known, point): &(u64, HistoryPoint)| *known == id && point.node_id == *node_id;
        let index = self.points.iter().position(is_it)?;
        let (_, point) = self.points.remove(index)?;
        self.charge.force(self.charge.bytes() - point.memory());
        Some(point)
    }
}

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

    fn show_history(&self, aggregates: &[u32], max_values: u32) -> Result<(), AddressSpaceError> {
        let mut edit = self.space.edit();
        let mut set = |id: u32, value: Value| edit.set_value(&NodeId::from(id), value);
        set(
            ids::HISTORY_SERVER_CAPABILITIES_ACCESS_HISTORY_DATA_CAPABILITY,
            Value::stored(true),
        )?;
        set(
            ids::HISTORY_SERVER_CAPABILITIES_MAX_RETURN_DATA_VALUES,
            Value::stored(max_values),
        )?;
        let limit = self.limits.operations.max_nodes_per_history_read_data;
        set(
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_READ_DATA,
            Value::stored(limit),
        )?;
        set(
            ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_UPDATE_DATA,
            Value::stored(limit),
        )?;
        set(
            ids::SERVER_SERVER_CAPABILITIES_MAX_HISTORY_CONTINUATION_POINTS,
            Value::stored(self.limits.max_history_continuation_points),
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

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;

    use super::*;

    fn point(node: u32) -> HistoryPoint {
        HistoryPoint {
            node_id: NodeId::from(node),
            of_source: ByteString::from(vec![7; 100]),
        }
    }

    #[test]
    fn the_oldest_point_gives_way() {
        let memory = MemoryBudget::new(1000);
        let mut points = HistoryPoints::new(2, memory.empty_charge());
        let first = points.insert(point(1)).unwrap();
        let second = points.insert(point(2)).unwrap();
        let third = points.insert(point(3)).unwrap();
        assert_eq!(points.take(&first, &NodeId::from(1_u32)), None);
        assert_eq!(
            points.take(&second, &NodeId::from(3_u32)),
            None,
            "another Variable"
        );
        assert_eq!(points.take(&second, &NodeId::from(2_u32)), Some(point(2)));
        assert_eq!(points.take(&second, &NodeId::from(2_u32)), None, "used");
        assert_eq!(points.take(&third, &NodeId::from(3_u32)), Some(point(3)));
        assert_eq!(memory.used(), 0);
        assert_eq!(points.take(b"short", &NodeId::from(3_u32)), None);
    }

    #[test]
    fn points_need_memory() {
        let memory = MemoryBudget::new(300);
        let mut points = HistoryPoints::new(10, memory.empty_charge());
        assert!(points.insert(point(1)).is_some());
        assert_eq!(points.insert(point(2)), None);
    }
}
