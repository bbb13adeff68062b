//! `takt browse ENDPOINT [NODE]`

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use takt_app::client::{AnswerBudget, Client, Follow};
use takt_app::{Attribute, ClientError};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::ReferenceDescription;
use takt_ua::{NodeId, Variant, ids};

use super::connect::{connect, node};
use crate::arguments::BrowseArguments;
use crate::{explain, output};

pub fn run(arguments: &BrowseArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error| explain::client(&error);
    if let Some(name) = &arguments.of_type {
        return of_type(&mut client, name, arguments.connect.json).map_err(explained);
    }
    let start = node(&mut client, &arguments.node).map_err(explained)?;
    if arguments.references {
        return references(&mut client, &start, arguments.connect.json).map_err(explained);
    }
    let event_sources = event_sources(&mut client).map_err(explained)?;
    let mut tree = Tree::new(&mut client, arguments, event_sources);
    tree.show(start)
}

/// Width of the paths beside the names of types, in columns.
const PATHS: usize = 40;

/// Shows the instances of a type by their paths, which begin with the Provider at a registry.
fn of_type(client: &mut Client, name: &str, json: bool) -> Result<(), ClientError> {
    let mut found = client.find_by_type(name)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let width = found.iter().map(|node| node.path.chars().count());
    let width = width.filter(|width| *width < PATHS).max();
    let width = width.unwrap_or(0);
    if found.is_empty() && !json {
        output::line(format_args!("no node is of the type {name}"));
    }
    for node in found {
        if json {
            output::line(json!({
                "path": node.path,
                "nodeId": node.node_id.to_string(),
                "browseName": node.browse_name.to_string(),
                "nodeClass": class_name(node.node_class),
                "typeDefinition": node.type_definition.to_string(),
                "typeName": node.type_name.to_string(),
            }));
            continue;
        }
        let (path, name) = (
            output::printable(&node.path),
            output::printable(node.type_name.name.as_str()),
        );
        let row = format!("{path:<width$}  {name}");
        // A path that fills the row is shown alone, so that it can be copied.
        match takt_figures::width() {
            Some(columns) if row.chars().count() > columns => output::line(path),
            _ => output::line(row),
        }
    }
    Ok(())
}

/// Shows all references of one node in both directions.
fn references(client: &mut Client, start: &NodeId, json: bool) -> Result<(), ClientError> {
    let references = client.browse(start, &Follow::all())?;
    let names = reference_types(client, &references)?;
    for reference in references {
        let name = names.get(&reference.reference_type_id);
        if json {
            let mut row = reference_json(&reference);
            row["referenceTypeName"] = json!(name);
            output::line(row);
        } else {
            let arrow = if reference.is_forward { "→" } else { "←" };
            let unnamed = || reference.reference_type_id.to_string();
            output::line(format_args!(
                "{arrow} {:<24} {:<28} {}",
                output::printable(&name.cloned().unwrap_or_else(unnamed)),
                output::printable(&reference.browse_name.to_string()),
                output::printable(&reference.node_id.to_string())
            ));
        }
    }
    Ok(())
}

/// Reads the names of the ReferenceTypes of `references`. A type that the server does not show has no name.
fn reference_types(
    client: &mut Client,
    references: &[ReferenceDescription],
) -> Result<HashMap<NodeId, String>, ClientError> {
    let types: HashSet<&NodeId> = references
        .iter()
        .map(|reference| &reference.reference_type_id)
        .collect();
    let wanted: Vec<_> = types
        .into_iter()
        .map(|node| (node.clone(), Attribute::BrowseName))
        .collect();
    let values = client.read_attributes(&wanted)?;
    let named = wanted.into_iter().zip(values);
    Ok(named
        .filter_map(|((node, _), value)| match value.value {
            Some(Variant::QualifiedName(name)) => Some((node, name.name.as_str().to_owned())),
            _ => None,
        })
        .collect())
}

/// Returns HasEventSource and its subtypes. They are hierarchical, but lead to nodes that are elsewhere in the tree.
fn event_sources(client: &mut Client) -> Result<HashSet<NodeId>, ClientError> {
    let mut budget = client.answer_budget();
    let mut types = HashSet::from([ids::HAS_EVENT_SOURCE, ids::HAS_NOTIFIER].map(NodeId::from));
    let mut level: Vec<NodeId> = types.iter().cloned().collect();
    while !level.is_empty() {
        let follow = Follow::forward(ids::HAS_SUBTYPE);
        let found = client.browse_many_within(&level, &follow, &mut budget)?;
        // A server that does not show its types has none beyond those of the standard.
        let found = found.into_iter().flatten().flatten();
        let subtypes = found.map(|subtype| subtype.node_id.node_id);
        // A type that is known already is not followed again, so the loop ends even if a server has a circle of subtypes.
        level = subtypes.filter(|node| types.insert(node.clone())).collect();
    }
    Ok(types)
}

/// Leaves out the references that do not make the tree, and all but the first of those to the same node.
fn keep_children(children: &mut Vec<ReferenceDescription>, event_sources: &HashSet<NodeId>) {
    let mut known = HashSet::new();
    children.retain(|child| {
        let node = &child.node_id;
        !event_sources.contains(&child.reference_type_id)
            && known.insert((node.node_id.clone(), node.server_index))
    });
}

/// Largest number of drawn levels. A server may have a chain of nodes without an end, and the indents of its rows would be most of the
/// output. Rows of JSON have none.
const MAX_LEVELS: usize = 1_000;

/// Largest memory of all references that the walk receives, in bytes: about three million references.
const MAX_RECEIVED: usize = 1 << 30;

/// Walk over the nodes below a node, depth first with a stack of its own. Chains of nodes may be longer than the thread's stack.
struct Tree<'a> {
    client: &'a mut Client,
    json: bool,
    depth: usize,
    /// ReferenceTypes that do not make the tree.
    event_sources: HashSet<NodeId>,
    /// Open nodes from the start to the current one.
    open: Vec<Open>,
    /// Nodes of `open`. A node that is in it already is not entered again.
    path: HashSet<NodeId>,
    /// Memory of the references in `open`.
    budget: AnswerBudget,
    /// Memory of all references so far.
    received: usize,
    /// Text before the names on the level of the last element of `open`.
    indent: String,
}

/// A node with its children, which are being shown.
struct Open {
    node: NodeId,
    children: std::vec::IntoIter<ReferenceDescription>,
    /// Length of the indent of its children, in bytes.
    indent: usize,
    /// Use of the budget before its children.
    used: usize,
}

impl<'a> Tree<'a> {
    fn new(
        client: &'a mut Client,
        arguments: &BrowseArguments,
        event_sources: HashSet<NodeId>,
    ) -> Self {
        Self {
            budget: client.answer_budget(),
            client,
            json: arguments.connect.json,
            depth: usize::try_from(arguments.depth).unwrap_or(usize::MAX),
            event_sources,
            open: Vec::new(),
            path: HashSet::new(),
            received: 0,
            indent: String::new(),
        }
    }

    fn show(&mut self, start: NodeId) -> miette::Result<()> {
        self.enter(start)?;
        while let Some(open) = self.open.last_mut() {
            // `indent` had this length before a whole part was added, so no character is cut.
            self.indent.truncate(open.indent);
            let Some(child) = open.children.next() else {
                self.path.remove(&open.node);
                self.budget.return_to(open.used);
                self.open.pop();
                continue;
            };
            let is_last = open.children.len() == 0;
            row(self.json, &open.node, &child, &self.indent, is_last);
            // A node of another server cannot be browsed at this one.
            if child.node_id.server_index == 0 {
                self.indent.push_str(if is_last { "   " } else { "│  " });
                self.enter(child.node_id.node_id)?;
            }
        }
        Ok(())
    }

    /// Requests the children of a node, to be shown next, unless the node is too deep or contains itself.
    fn enter(&mut self, node: NodeId) -> miette::Result<()> {
        if self.open.len() >= self.depth || self.path.contains(&node) {
            return Ok(());
        }
        if !self.json && self.open.len() >= MAX_LEVELS {
            return Err(endless(&format!("{MAX_LEVELS} levels"), &node));
        }
        let used = self.budget.used();
        let nodes = std::slice::from_ref(&node);
        let follow = Follow::children();
        let children = self
            .client
            .browse_many_within(nodes, &follow, &mut self.budget);
        let children = children.and_then(|mut children| children.swap_remove(0));
        let mut children = children.map_err(|error| explain::client(&error))?;
        self.received += self.budget.used() - used;
        if self.received > MAX_RECEIVED {
            return Err(endless(&format!("{} MiB", MAX_RECEIVED >> 20), &node));
        }
        keep_children(&mut children, &self.event_sources);
        self.path.insert(node.clone());
        self.open.push(Open {
            node,
            children: children.into_iter(),
            indent: self.indent.len(),
            used,
        });
        Ok(())
    }
}

/// Returns the error of a tree with more than `limit` before the children of a node.
fn endless(limit: &str, node: &NodeId) -> miette::Report {
    explain::with_help(
        format!(
            "there are more than {limit} up to {}",
            output::printable(&node.to_string())
        ),
        "Show fewer levels with --depth, or start at a node further down.",
    )
}

fn row(json: bool, parent: &NodeId, child: &ReferenceDescription, indent: &str, is_last: bool) {
    if json {
        let mut row = reference_json(child);
        row["parent"] = json!(parent.to_string());
        output::line(row);
        return;
    }
    let branch = if is_last { "└─ " } else { "├─ " };
    output::line(format_args!(
        "{indent}{branch}{}  {}  {}",
        output::printable(child.browse_name.name.as_str()),
        class_name(child.node_class),
        output::printable(&child.node_id.to_string())
    ));
}

fn reference_json(reference: &ReferenceDescription) -> Value {
    json!({
        "nodeId": reference.node_id.to_string(),
        "browseName": reference.browse_name.to_string(),
        "displayName": reference.display_name.text.as_str(),
        "nodeClass": class_name(reference.node_class),
        "referenceType": reference.reference_type_id.to_string(),
        "isForward": reference.is_forward,
        "typeDefinition": reference.type_definition.to_string(),
    })
}

/// Returns the name of a NodeClass.
pub fn class_name(class: NodeClass) -> &'static str {
    class.name().unwrap_or("Unspecified")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(reference_type: u32, node: u32) -> ReferenceDescription {
        ReferenceDescription {
            reference_type_id: reference_type.into(),
            node_id: NodeId::numeric(1, node).into(),
            ..ReferenceDescription::default()
        }
    }

    #[test]
    fn a_child_is_listed_once_and_an_event_source_not_at_all() {
        let event_sources = [ids::HAS_EVENT_SOURCE, ids::HAS_NOTIFIER].map(NodeId::from);
        let mut children = vec![
            reference(ids::HAS_EVENT_SOURCE, 7),
            reference(ids::HAS_COMPONENT, 1),
            reference(ids::HAS_NOTIFIER, 2),
            reference(ids::ORGANIZES, 1),
            reference(ids::ORGANIZES, 2),
        ];
        keep_children(&mut children, &HashSet::from(event_sources));
        let kept: Vec<_> = children
            .into_iter()
            .map(|child| (child.reference_type_id, child.node_id.node_id))
            .collect();
        let of = |reference_type: u32, node| (reference_type.into(), NodeId::numeric(1, node));
        assert_eq!(kept, [of(ids::HAS_COMPONENT, 1), of(ids::ORGANIZES, 2)]);
    }
}
