//! `takt browse ENDPOINT [NODE]`

use serde_json::{Value, json};
use takt_app::ClientError;
use takt_app::client::{Client, Follow};
use takt_ua::NodeId;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::ReferenceDescription;

use super::connect::{connect, node};
use crate::arguments::BrowseArguments;
use crate::{explain, output};

pub fn run(arguments: &BrowseArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error| explain::client(&error);
    let start = node(&mut client, &arguments.node).map_err(explained)?;
    if arguments.references {
        return references(&mut client, &start, arguments.connect.json).map_err(explained);
    }
    let mut tree = Tree {
        client: &mut client,
        json: arguments.connect.json,
        path: vec![start.clone()],
    };
    tree.show(&start, arguments.depth, "").map_err(explained)
}

/// All references of one node, both ways.
fn references(client: &mut Client, start: &NodeId, json: bool) -> Result<(), ClientError> {
    for reference in client.browse(start, &Follow::all())? {
        if json {
            output::line(reference_json(&reference));
        } else {
            let arrow = if reference.is_forward { "→" } else { "←" };
            output::line(format_args!(
                "{arrow} {:<24} {:<28} {}",
                reference.reference_type_id.to_string(),
                reference.browse_name.to_string(),
                reference.node_id
            ));
        }
    }
    Ok(())
}

struct Tree<'a> {
    client: &'a mut Client,
    json: bool,
    /// From the start to where the walk is: a node that comes round again is not entered.
    path: Vec<NodeId>,
}

impl Tree<'_> {
    fn show(&mut self, parent: &NodeId, depth: u32, indent: &str) -> Result<(), ClientError> {
        if depth == 0 {
            return Ok(());
        }
        let children = self.client.browse(parent, &Follow::children())?;
        let count = children.len();
        for (number, child) in children.into_iter().enumerate() {
            let last = number + 1 == count;
            if self.json {
                let mut row = reference_json(&child);
                row["parent"] = json!(parent.to_string());
                output::line(row);
            } else {
                let branch = if last { "└─ " } else { "├─ " };
                output::line(format_args!(
                    "{indent}{branch}{}  {}  {}",
                    child.browse_name.name.as_str(),
                    class_name(child.node_class),
                    child.node_id
                ));
            }
            let local = child.node_id.server_index == 0;
            let node = child.node_id.node_id;
            if local && !self.path.contains(&node) {
                let deeper = format!("{indent}{}", if last { "   " } else { "│  " });
                self.path.push(node.clone());
                self.show(&node, depth - 1, &deeper)?;
                self.path.pop();
            }
        }
        Ok(())
    }
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

fn class_name(class: NodeClass) -> &'static str {
    match class {
        NodeClass::Object => "Object",
        NodeClass::Variable => "Variable",
        NodeClass::Method => "Method",
        NodeClass::ObjectType => "ObjectType",
        NodeClass::VariableType => "VariableType",
        NodeClass::ReferenceType => "ReferenceType",
        NodeClass::DataType => "DataType",
        NodeClass::View => "View",
        _ => "Unspecified",
    }
}
