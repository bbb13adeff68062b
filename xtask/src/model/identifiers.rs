//! NodeIds and their names.

use std::collections::BTreeMap;

use super::error::content;
use crate::error::Error;
use crate::read::nodeset::Nodeset;

/// Reads the names of the nodes from the NodeSet, and from the table those that the NodeSet lacks.
///
/// The deprecated type dictionaries (one Variable per type, in two languages) are left out, and so are declarations
/// more than one level below a type, which are not addressed by number.
pub(super) fn read(
    nodeset: &Nodeset,
    node_ids: &BTreeMap<u32, String>,
) -> Result<BTreeMap<u32, String>, Error> {
    const DICTIONARIES: [u32; 2] = [7617, 8252];
    let mut result = BTreeMap::new();
    for id in nodeset.nodes.keys() {
        let (outermost, depth) = nodeset.outermost(*id);
        let below_type = nodeset
            .nodes
            .get(&outermost)
            .is_some_and(|top| top.class.ends_with("Type"));
        if depth > 0 && DICTIONARIES.contains(&outermost) || below_type && depth > 1 {
            continue;
        }
        let name = nodeset.symbolic_path(*id);
        if let Some(other) = node_ids.get(id).filter(|other| **other != name) {
            return Err(content(format!(
                "i={id} is {name} in the NodeSet, {other} in the table of NodeIds"
            )));
        }
        result.insert(*id, name);
    }
    for (id, name) in node_ids {
        if !nodeset.nodes.contains_key(id) {
            result.insert(*id, name.clone());
        }
    }
    Ok(result)
}
