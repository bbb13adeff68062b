//! Continuation points of HistoryRead (OPC 10000-4, 7.9).

use std::collections::VecDeque;

use takt_rt::memory_budget::Charge;
use takt_ua::binary::Encode;
use takt_ua::{ByteString, NodeId};

/// Position from which a HistoryRead continues.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HistoryPoint {
    /// The Variable or notifier, as the client names it.
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
            // With a capacity of 0 there is none to give way, and none is kept.
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
