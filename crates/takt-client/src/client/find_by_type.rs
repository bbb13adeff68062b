//! Search for the instances of a type, by Browse only, so that it works at any server.
//!
//! HasTypeDefinition is followed from the type and its subtypes to the instances if the server lists them (OPC 10000-3, 7.13,
//! leaves that to the server). Otherwise the nodes below the Objects folder are browsed, in requests for many nodes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::ReferenceDescription;
use takt_ua::{NodeId, QualifiedName, ids};

use super::{AnswerBudget, Client, Follow};
use crate::error::ClientError;

/// Number of nodes of one Browse request. Servers accept fewer than 1000 often.
const BATCH: usize = 250;

/// Largest depth of paths.
const MAX_DEPTH: usize = 64;

/// Least likeness of a name that is suggested.
const LIKELY: f64 = 0.75;

/// An instance of a type: an Object or a Variable below the Objects folder.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedNode {
    /// Path below the Objects folder, for [`Client::find`]: at a registry it begins with the name of the Provider.
    pub path: String,
    /// NodeId.
    pub node_id: NodeId,
    /// BrowseName.
    pub browse_name: QualifiedName,
    /// NodeClass: Object or Variable.
    pub node_class: NodeClass,
    /// Its type: the wanted one or a subtype.
    pub type_definition: NodeId,
    /// BrowseName of the type.
    pub type_name: QualifiedName,
}

/// Types by NodeId, with their BrowseNames.
type Types = HashMap<NodeId, QualifiedName>;

/// A visited node.
struct Visited {
    reference: ReferenceDescription,
    /// Position of the node above; `None` for the Objects folder.
    above: Option<usize>,
    /// True if only a folder below the Objects folder lists it so far. Another parent is then better: it is part of that one.
    is_listed: bool,
}

impl Client {
    /// Returns the instances of a type and its subtypes below the Objects folder.
    ///
    /// `name` is the NodeId of the type, its BrowseName with or without namespace (`5:MachineToolType`, `MachineToolType`,
    /// `http://opcfoundation.org/UA/MachineTool/:MachineToolType`), or the beginning of its BrowseName before `Type` or `_`:
    /// `MachineryItemState` is `MachineryItemState_StateMachineType`.
    ///
    /// # Errors
    /// [`ClientError::NoSuchType`], which names a similar one.
    pub fn find_by_type(&mut self, name: &str) -> Result<Vec<TypedNode>, ClientError> {
        let budget = &mut self.answer_budget();
        let types = self.types_named(name, budget)?;
        let instances = match self.lists_instances()? {
            true => self.instances_of(&types, budget)?,
            false => self.instances_by_walk(&types, budget)?,
        };
        Ok(instances)
    }

    /// Returns the types with this name, and their subtypes.
    fn types_named(&mut self, name: &str, budget: &mut AnswerBudget) -> Result<Types, ClientError> {
        let roots = [
            (ids::BASE_OBJECT_TYPE, "BaseObjectType"),
            (ids::BASE_VARIABLE_TYPE, "BaseVariableType"),
        ];
        if let Ok(node) = name.parse::<NodeId>() {
            let class = self.read_attribute(&node, super::Attribute::BrowseName)?;
            let Some(takt_ua::Variant::QualifiedName(browse_name)) = class.value else {
                return Err(ClientError::operation(name, class.status_code()));
            };
            return self.subtypes(&[(node, *browse_name)], budget);
        }
        let root = |(id, name)| (NodeId::from(id), QualifiedName::new(0, name));
        let all = self.subtypes(&roots.map(root), budget)?;
        let (namespace, text) = self.namespace_of(name)?;
        let of_namespace =
            |known: &QualifiedName| namespace.is_none_or(|namespace| namespace == known.namespace);
        let (with_type, with_line) = (format!("{text}Type"), format!("{text}_"));
        let is: [&dyn Fn(&str) -> bool; 3] = [
            &|known| known == text,
            &|known| known == with_type,
            &|known| known.starts_with(&with_line),
        ];
        // A better match hides the others.
        for is in is {
            let named = all
                .iter()
                .filter(|(_, known)| of_namespace(known) && is(known.name.as_str()));
            let named: Vec<_> = named.map(|(id, name)| (id.clone(), name.clone())).collect();
            if !named.is_empty() {
                return self.subtypes(&named, budget);
            }
        }
        let likeness = |known: &QualifiedName| strsim::jaro_winkler(known.name.as_str(), text);
        let likely = all.values().filter(|known| likeness(known) > LIKELY);
        let similar = likely.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        Err(ClientError::NoSuchType {
            what: format!("the type {name}"),
            similar: similar.map(|similar| similar.name.as_str().to_owned()),
        })
    }

    /// Divides the name of a type into its namespace, if it has one, and its text.
    fn namespace_of<'n>(&mut self, name: &'n str) -> Result<(Option<u16>, &'n str), ClientError> {
        let Some((namespace, text)) = name.rsplit_once(':') else {
            return Ok((None, name));
        };
        if let Ok(index) = namespace.parse() {
            return Ok((Some(index), text));
        }
        match self.namespace_index(namespace)? {
            Some(index) => Ok((Some(index), text)),
            None => Err(ClientError::NoSuchType {
                what: format!("the namespace {namespace}"),
                similar: None,
            }),
        }
    }

    /// Returns these types and all their subtypes.
    fn subtypes(
        &mut self,
        types: &[(NodeId, QualifiedName)],
        budget: &mut AnswerBudget,
    ) -> Result<Types, ClientError> {
        let mut found: Types = types.iter().cloned().collect();
        let mut level: Vec<NodeId> = found.keys().cloned().collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            for batch in level.chunks(BATCH) {
                let follow = Follow::forward(ids::HAS_SUBTYPE);
                let results = self.browse_many_within(batch, &follow, budget)?;
                for reference in results.into_iter().flatten().flatten() {
                    let node = reference.node_id.node_id;
                    if found.insert(node.clone(), reference.browse_name).is_none() {
                        next.push(node);
                    }
                }
            }
            level = next;
        }
        Ok(found)
    }

    /// Returns whether the server lists the instances of types: tries it with an Object of the application. Namespace 0 is no
    /// sample, because a server may list its nodes only.
    fn lists_instances(&mut self) -> Result<bool, ClientError> {
        let objects = NodeId::from(ids::OBJECTS_FOLDER);
        let children = self.browse(&objects, &Follow::children())?;
        let sample = children
            .iter()
            .find(|child| child.node_id.node_id.namespace != 0 && child.node_id.server_index == 0);
        let Some(sample) = sample else {
            return Ok(false);
        };
        let found = self.browse(&sample.type_definition.node_id, &instances());
        Ok(found.is_ok_and(|found| {
            let mut nodes = found.iter().map(|instance| &instance.node_id.node_id);
            nodes.any(|node| *node == sample.node_id.node_id)
        }))
    }

    /// Follows HasTypeDefinition to the instances, and hierarchical references from them to the Objects folder.
    fn instances_of(
        &mut self,
        types: &Types,
        budget: &mut AnswerBudget,
    ) -> Result<Vec<TypedNode>, ClientError> {
        let ids: Vec<NodeId> = types.keys().cloned().collect();
        let mut found = Vec::new();
        for batch in ids.chunks(BATCH) {
            let results = self.browse_many_within(batch, &instances(), budget)?;
            for (type_id, references) in batch.iter().zip(results) {
                for reference in references.unwrap_or_default() {
                    found.push((type_id.clone(), reference));
                }
            }
        }
        let nodes: Vec<NodeId> = found
            .iter()
            .map(|(_, reference)| reference.node_id.node_id.clone())
            .collect();
        let above = self.nodes_above(nodes, budget)?;
        let named = |(type_id, reference): (NodeId, ReferenceDescription)| {
            let node = &reference.node_id.node_id;
            let mut names = vec![escaped(&reference.browse_name)];
            let mut current = node;
            while let Some((parent, name)) = above.get(current) {
                if names.len() > MAX_DEPTH {
                    return None;
                }
                if *parent == NodeId::from(ids::OBJECTS_FOLDER) {
                    names.reverse();
                    return typed(types, reference.clone(), type_id, names.join("/"));
                }
                names.push(name.clone());
                current = parent;
            }
            // Nodes that are no part of the tree below the Objects folder: members of types.
            None
        };
        self.within(found.into_iter().filter_map(named), budget)
    }

    /// Returns the parent of each node, with its name, up to the Objects folder.
    fn nodes_above(
        &mut self,
        nodes: Vec<NodeId>,
        budget: &mut AnswerBudget,
    ) -> Result<HashMap<NodeId, (NodeId, String)>, ClientError> {
        let follow = Follow {
            reference_type: NodeId::from(ids::HIERARCHICAL_REFERENCES),
            direction: BrowseDirection::Inverse,
        };
        let objects = NodeId::from(ids::OBJECTS_FOLDER);
        let mut above = HashMap::new();
        let mut level = nodes;
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for batch in level.chunks(BATCH) {
                let results = self.browse_many_within(batch, &follow, budget)?;
                for (node, parents) in batch.iter().zip(results) {
                    let parents = parents.unwrap_or_default();
                    let is_objects =
                        |parent: &&ReferenceDescription| parent.node_id.node_id == objects;
                    // A node can have several parents: the Objects folder gives the shortest path.
                    let parent = parents.iter().find(is_objects).or_else(|| parents.first());
                    if let Some(parent) = parent {
                        let (id, name) = (&parent.node_id.node_id, escaped(&parent.browse_name));
                        if *id != objects && !above.contains_key(id) {
                            next.push(id.clone());
                        }
                        above.insert(node.clone(), (id.clone(), name));
                    }
                }
            }
            next.sort_by_key(NodeId::to_string);
            next.dedup();
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(above)
    }

    /// Browses all nodes below the Objects folder.
    fn instances_by_walk(
        &mut self,
        types: &Types,
        budget: &mut AnswerBudget,
    ) -> Result<Vec<TypedNode>, ClientError> {
        let mut visited = vec![Visited {
            reference: ReferenceDescription {
                node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
                ..ReferenceDescription::default()
            },
            above: None,
            is_listed: false,
        }];
        let mut known = HashMap::from([(NodeId::from(ids::OBJECTS_FOLDER), 0)]);
        let mut next: usize = 0;
        while next < visited.len() {
            let end = visited.len().min(next + BATCH);
            let batch = visited.get(next..end).unwrap_or_default().iter();
            let batch: Vec<NodeId> = batch
                .map(|node| node.reference.node_id.node_id.clone())
                .collect();
            let results = self.browse_many_within(&batch, &Follow::children(), budget)?;
            for (position, references) in (next..).zip(results) {
                for reference in references.unwrap_or_default() {
                    let is_instance = matches!(
                        reference.node_class,
                        NodeClass::Object | NodeClass::Variable
                    );
                    if !is_instance || reference.node_id.server_index != 0 {
                        continue;
                    }
                    // Position 0 is the Objects folder: what it organizes has its place there.
                    let is_listed = position > 0
                        && reference.reference_type_id.standard_id() == Some(ids::ORGANIZES);
                    match known.entry(reference.node_id.node_id.clone()) {
                        Entry::Vacant(place) => {
                            place.insert(visited.len());
                            visited.push(Visited {
                                reference,
                                above: Some(position),
                                is_listed,
                            });
                        }
                        Entry::Occupied(place) if !is_listed => {
                            move_below(&mut visited, *place.get(), position);
                        }
                        Entry::Occupied(_) => {}
                    }
                }
            }
            next = end;
        }
        let is_wanted = |node: &&Visited| {
            let type_id = &node.reference.type_definition.node_id;
            types.contains_key(type_id)
        };
        let found = visited.iter().filter(is_wanted).filter_map(|node| {
            let type_id = node.reference.type_definition.node_id.clone();
            typed(types, node.reference.clone(), type_id, path(&visited, node))
        });
        self.within(found, budget)
    }

    /// Collects nodes, whose paths may be much longer than the answers that they come from.
    fn within(
        &self,
        nodes: impl Iterator<Item = TypedNode>,
        budget: &mut AnswerBudget,
    ) -> Result<Vec<TypedNode>, ClientError> {
        nodes
            .map(|node| {
                let bytes = size_of::<TypedNode>() + node.path.len();
                budget.take_bytes(self.endpoint(), "paths", bytes)?;
                Ok(node)
            })
            .collect()
    }
}

fn instances() -> Follow {
    Follow {
        reference_type: NodeId::from(ids::HAS_TYPE_DEFINITION),
        direction: BrowseDirection::Inverse,
    }
}

fn typed(
    types: &Types,
    reference: ReferenceDescription,
    type_definition: NodeId,
    path: String,
) -> Option<TypedNode> {
    Some(TypedNode {
        path,
        type_name: types.get(&type_definition)?.clone(),
        node_id: reference.node_id.node_id,
        browse_name: reference.browse_name,
        node_class: reference.node_class,
        type_definition,
    })
}

/// Gives a node that is only listed by a folder another parent, unless that is below the node itself.
fn move_below(visited: &mut [Visited], node: usize, parent: usize) {
    let mut current = Some(parent);
    for _ in 0..MAX_DEPTH {
        match current {
            Some(position) if position == node => return,
            Some(position) => current = visited.get(position).and_then(|node| node.above),
            None => break,
        }
    }
    // `None`: the walk has reached the Objects folder, so the parent is not below the node.
    if let Some(node) = visited.get_mut(node)
        && node.is_listed
        && current.is_none()
    {
        node.above = Some(parent);
        node.is_listed = false;
    }
}

/// Returns the names from below the Objects folder to a node.
fn path(visited: &[Visited], node: &Visited) -> String {
    let mut names = Vec::new();
    let mut current = Some(node);
    while let Some(node) = current {
        if node.above.is_some() {
            names.push(escaped(&node.reference.browse_name));
        }
        current = node.above.and_then(|above| visited.get(above));
    }
    names.reverse();
    names.join("/")
}

/// Returns a name as a segment of a path (OPC 10000-4, A.2).
fn escaped(name: &QualifiedName) -> String {
    let name = name.name.as_str();
    let mut segment = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '/' | '&' | ':') {
            segment.push('&');
        }
        segment.push(character);
    }
    segment
}
