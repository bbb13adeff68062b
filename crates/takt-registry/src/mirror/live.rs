//! Values that clients read at a mirrored server, on their way to the thread of the mirror: it names those that cannot be decoded.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use takt_space::RemoteRead;
use takt_ua::{DataValue, NodeId};

use super::unreadable::Fault;
use crate::forwarding::ReadObserver;

/// Largest number of values on their way; more are noted with the next Read.
const MOST: usize = 1_000;

/// Faults in the results of Reads. The thread of a gateway puts them here.
#[derive(Debug, Default)]
pub(super) struct LiveValues(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Nodes that are named: a good value ends that.
    known: HashSet<NodeId>,
    arrived: Vec<(NodeId, Option<Fault>)>,
}

impl LiveValues {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete when the lock is released.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what has arrived.
    pub(super) fn take(&self) -> Vec<(NodeId, Option<Fault>)> {
        std::mem::take(&mut self.state().arrived)
    }

    /// Sets whether the fault of a node is known.
    pub(super) fn set_known(&self, node: &NodeId, is_known: bool) {
        let mut state = self.state();
        match is_known {
            true => state.known.insert(node.clone()),
            false => state.known.remove(node),
        };
    }
}

impl ReadObserver for LiveValues {
    fn observe(&self, items: &[RemoteRead], values: &[DataValue]) {
        let mut state = self.state();
        for (item, value) in items.iter().zip(values) {
            let fault = Fault::of(value);
            // A part of a value tells nothing about the rest.
            let is_news = match fault {
                Some(_) => true,
                None => item.index_range.is_empty() && state.known.contains(&item.node_id),
            };
            if is_news && state.arrived.len() < MOST {
                state.arrived.push((item.node_id.clone(), fault));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::StatusCode;

    use super::*;

    fn read(number: u32) -> RemoteRead {
        RemoteRead {
            node_id: NodeId::numeric(2, number),
            index_range: String::new(),
            max_age: 0.0,
        }
    }

    #[test]
    fn only_news_arrive() {
        let live = LiveValues::default();
        let items = [read(1), read(2)];
        let bad = DataValue::status(StatusCode::BadDecodingError);
        let good = DataValue::good(1.5);
        live.observe(&items, &[bad, good.clone()]);
        let fault = Some(Fault::Undecodable(StatusCode::BadDecodingError));
        assert_eq!(live.take(), [(items[0].node_id.clone(), fault)]);
        live.set_known(&items[0].node_id, true);
        let part = RemoteRead {
            index_range: "1:2".to_owned(),
            ..read(1)
        };
        live.observe(&[part], std::slice::from_ref(&good));
        assert!(live.take().is_empty());
        live.observe(&items, &[good.clone(), good]);
        assert_eq!(live.take(), [(items[0].node_id.clone(), None)]);
    }

    #[test]
    fn their_number_is_bounded() {
        let live = LiveValues::default();
        let items: Vec<_> = (0..5_000).map(read).collect();
        let bad = DataValue::status(StatusCode::BadDecodingError);
        live.observe(&items, &vec![bad; items.len()]);
        assert_eq!(live.take().len(), MOST);
    }
}
