//! Deletion of nodes in steps, between which others may change the address space.

use takt_space::{AddressSpace, AddressSpaceError, Edit};
use takt_ua::NodeId;

use super::budget;

/// Deletes nodes, with the references of others to them. Each step holds the lock of the address space for few nodes and
/// references, also if one node has millions of them. Returns the number of nodes and references of the largest step.
pub(super) fn delete(space: &AddressSpace, nodes: &[NodeId]) -> usize {
    let (mut largest, mut step) = (0, 0);
    let mut edit = space.edit();
    for node in nodes {
        loop {
            if step >= budget::STEP {
                largest = largest.max(step);
                step = 0;
                drop(edit);
                edit = space.edit();
            }
            match edit.detach(node, budget::STEP) {
                0 => break,
                detached => step += detached,
            }
        }
        step += 1 + references(&edit, node);
        warn_on_error(node, edit.delete_node(node, true));
    }
    largest.max(step)
}

fn references(edit: &Edit<'_>, node: &NodeId) -> usize {
    let view = edit.view();
    view.node(node).map_or(0, |node| node.references().len())
}

/// Logs why a node of the copy could not be changed.
pub(super) fn warn_on_error(node: &NodeId, result: Result<(), AddressSpaceError>) {
    if let Err(error) = result {
        tracing::warn!(%node, %error, "the copy of a server could not be changed");
    }
}

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;
    use takt_space::{ClassAttributes, NewReference, NodeDefinition};
    use takt_ua::{QualifiedName, ids};

    use super::*;

    #[test]
    fn a_node_with_many_references_is_deleted_in_steps() {
        let count = u32::try_from(10 * budget::STEP).unwrap();
        let space = AddressSpace::new("urn:test", 10, usize::MAX, MemoryBudget::new(1 << 20));
        let node = |number| NodeId::numeric(1, number);
        for number in 0..=count {
            let name = QualifiedName::new(1, number.to_string().as_str());
            let class = ClassAttributes::Object { event_notifier: 0 };
            let definition = NodeDefinition::new(node(number + 1), name, class);
            let to_first = [NewReference::inverse(ids::ORGANIZES, node(1))];
            let references = if number == 0 { &[][..] } else { &to_first[..] };
            space.edit().add_node(definition, references).unwrap();
        }
        let few: Vec<NodeId> = (2..=count / 2).map(node).collect();
        let most = 3 * budget::STEP;
        let first = delete(&space, &[node(1)]);
        assert!(first <= most, "{first} of {most}");
        let others = delete(&space, &few);
        assert!(others <= most, "{others} of {most}");
        let view = space.view();
        assert!(view.node(&node(1)).is_none());
        assert!(few.iter().all(|node| view.node(node).is_none()));
        let rest = view.node(&node(count + 1)).unwrap();
        assert_eq!(rest.references().iter().count(), 0);
    }
}
