//! The computed nodes that a view has looked at. They stay where they are while others are added.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use takt_ua::{NodeId, NodeIdRef};

use super::computed::ComputedNode;
use super::node::{Base, Binding, Node};

/// The nodes by their NodeIds.
#[derive(Default)]
pub(super) struct KeptNodes {
    nodes: Arena,
    places: RefCell<HashMap<NodeId, usize>>,
}

impl KeptNodes {
    /// Returns the node with this NodeId, if it is kept.
    pub(super) fn get(&self, node_id: NodeIdRef<'_>) -> Option<&Arc<Node>> {
        let place = *self.places.borrow().get(&node_id.to_owned())?;
        self.nodes.get(place)
    }

    /// Keeps a node.
    pub(super) fn keep(&self, node: ComputedNode) -> Option<&Arc<Node>> {
        let ComputedNode { definition, value } = node;
        let id = definition.node_id.clone();
        let node = Node::new(Base::Added(Box::new(definition)));
        if let Some(value) = value {
            node.bind(Some(Binding::Value(value)));
        }
        let (place, node) = self.nodes.push(Arc::new(node))?;
        self.places.borrow_mut().insert(id, place);
        Some(node)
    }
}

/// Number of nodes in the first block of an arena; each block has twice as many as the one before.
const FIRST_BLOCK: usize = 16;

/// Number of blocks: more than memory holds.
const BLOCKS: usize = 28;

type Block = Box<[OnceCell<Arc<Node>>]>;

/// Nodes that stay where they are while others are added.
#[derive(Default)]
struct Arena {
    blocks: [OnceCell<Block>; BLOCKS],
    length: Cell<usize>,
}

impl Arena {
    /// Returns the block of a node, and its place there.
    fn place(index: usize) -> (usize, usize) {
        let at = index / FIRST_BLOCK + 1;
        let block = usize::try_from(at.ilog2()).unwrap_or_default();
        let first = FIRST_BLOCK * ((1 << block) - 1);
        (block, index - first)
    }

    fn get(&self, index: usize) -> Option<&Arc<Node>> {
        let (block, at) = Self::place(index);
        self.blocks.get(block)?.get()?.get(at)?.get()
    }

    fn push(&self, node: Arc<Node>) -> Option<(usize, &Arc<Node>)> {
        let index = self.length.get();
        let (block, at) = Self::place(index);
        let block_size = FIRST_BLOCK << block;
        let cells = self.blocks.get(block)?.get_or_init(|| {
            let cells = std::iter::repeat_with(OnceCell::new);
            cells.take(block_size).collect()
        });
        let node = cells.get(at)?.get_or_init(|| node);
        self.length.set(index + 1);
        Some((index, node))
    }
}
