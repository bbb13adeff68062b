//! The companion specifications' NodeSets: Takt's address space of them, compared with that of node-opcua.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::binary::repository;
use crate::peer::{PeerClient, load_nodesets};

/// Number of nodes of one Read.
const READ: usize = 200;

/// Largest number of differences shown.
const SHOWN: usize = 60;

/// All NodeSets of the npm package `node-opcua-nodesets` except namespace 0, as node-opcua loads them.
#[derive(Debug)]
pub struct CompanionNodeSets {
    /// Files in order: each after those that it requires.
    pub files: Vec<String>,
    /// All nodes, in the form of `peers/node/browse_nodeset.js` describes it.
    pub nodes: Vec<Value>,
}

impl CompanionNodeSets {
    /// Loads them into node-opcua.
    ///
    /// # Panics
    /// If the package is not installed or node-opcua cannot load them.
    #[must_use]
    pub fn load() -> Self {
        let folder = folder();
        let mut files: Vec<String> = fs::read_dir(&folder)
            .expect("the package is installed by ./test interop")
            .filter_map(Result::ok)
            .map(|entry| entry.path().display().to_string())
            .filter(|path| {
                path.to_lowercase().ends_with(".xml") && !path.ends_with("Opc.Ua.NodeSet2.xml")
            })
            .collect();
        files.sort();
        let folder = folder.display().to_string();
        let mut arguments = vec!["--search", &folder];
        arguments.extend(files.iter().map(String::as_str));
        let mut rows = load_nodesets(&arguments);
        let first = rows.remove(0);
        let files = strings(&first["files"]);
        Self { files, nodes: rows }
    }
}

fn folder() -> PathBuf {
    repository().join("peers/node/node_modules/companion-nodesets/nodesets")
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .map(|text| text.as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Compares every node of `expected` with the results of Browse and Read of the server behind `session`.
///
/// # Panics
/// With the differences, if there are any.
pub fn assert_same_nodes(session: &mut PeerClient, expected: &[Value]) {
    let server = Namespaces::read(session);
    let known: BTreeSet<&str> = expected
        .iter()
        .filter_map(|node| node["node"].as_str())
        .collect();
    let mut differences = Vec::new();
    for part in expected.chunks(READ) {
        compare(session, &server, &known, part, &mut differences);
    }
    let count = differences.len();
    differences.truncate(SHOWN);
    assert!(
        differences.is_empty(),
        "{count} differences in {} nodes, the first of them:\n{}",
        expected.len(),
        differences.join("\n")
    );
}

fn compare(
    session: &mut PeerClient,
    server: &Namespaces,
    known: &BTreeSet<&str>,
    part: &[Value],
    differences: &mut Vec<String>,
) {
    let nodes: Vec<String> = part
        .iter()
        .map(|node| server.local(node["node"].as_str().unwrap_or_default()))
        .collect();
    let mut attributes: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for name in [
        "NodeClass",
        "BrowseName",
        "DisplayName",
        "IsAbstract",
        "DataType",
        "ValueRank",
        "InverseName",
    ] {
        let values = session.expect(json!({"op": "read", "nodes": nodes, "attribute": name}));
        attributes.insert(name, values.as_array().cloned().unwrap_or_default());
    }
    for (at, expected) in part.iter().enumerate() {
        let attribute = |name: &str| &attributes[name][at];
        let mut differ = |what: &str, wanted: &Value, found: &Value| {
            if wanted != found {
                differences.push(format!(
                    "{} {what}: {found}, node-opcua has {wanted}",
                    expected["node"]
                ));
            }
        };
        let class = CLASSES
            .iter()
            .find(|(_, name)| expected["class"] == *name)
            .map_or(0, |(bit, _)| *bit);
        differ("NodeClass", &json!(class), &attribute("NodeClass")["value"]);
        differ(
            "BrowseName",
            &expected["browseName"],
            &server.name(&attribute("BrowseName")["value"]),
        );
        differ(
            "DisplayName",
            &expected["displayName"],
            &attribute("DisplayName")["value"]["text"],
        );
        if let Some(is_abstract) = expected.get("isAbstract") {
            differ("IsAbstract", is_abstract, &attribute("IsAbstract")["value"]);
        }
        if let Some(rank) = expected.get("valueRank") {
            differ("ValueRank", rank, &attribute("ValueRank")["value"]);
            // node-opcua returns null if a NodeSet names no DataType; the schema's default is BaseDataType.
            let data_type = match &expected["dataType"] {
                null if null == "i=0" => json!("i=24"),
                other => other.clone(),
            };
            differ(
                "DataType",
                &data_type,
                &server.id(&attribute("DataType")["value"]),
            );
        }
        // For a ReferenceType without an InverseName, node-opcua uses the ReferenceType's name.
        let inverse = expected.get("inverseName");
        if let Some(inverse) = inverse.filter(|inverse| **inverse != expected["displayName"]) {
            differ(
                "InverseName",
                inverse,
                &attribute("InverseName")["value"]["text"],
            );
        }
        references(session, server, known, expected, &nodes[at], differences);
    }
}

/// The bits of NodeClass (OPC 10000-3, 5.2.3).
const CLASSES: [(u32, &str); 8] = [
    (1, "Object"),
    (2, "Variable"),
    (4, "Method"),
    (8, "ObjectType"),
    (16, "VariableType"),
    (32, "ReferenceType"),
    (64, "DataType"),
    (128, "View"),
];

/// Prefix of inverse HasTypeDefinition references.
const INVERSE_TYPE_DEFINITION: &str = "\"i=40\" false ";

fn references(
    session: &mut PeerClient,
    server: &Namespaces,
    known: &BTreeSet<&str>,
    expected: &Value,
    node: &str,
    differences: &mut Vec<String>,
) {
    // A NodeSet may refer to nodes that do not exist in any NodeSet; node-opcua keeps such references, Takt does not.
    let exists = |target: &Value| {
        let target = target.as_str().unwrap_or_default();
        !target.starts_with("nsu=") || known.contains(target)
    };
    let wanted: BTreeSet<String> = expected["references"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|reference| exists(&reference[2]))
        .map(|reference| format!("{} {} {}", reference[0], reference[1], reference[2]))
        .collect();
    let found: BTreeSet<String> =
        match session.request(json!({"op": "browse", "node": node, "direction": "both"})) {
            Ok(references) => references
                .as_array()
                .into_iter()
                .flatten()
                .map(|reference| {
                    let (kind, target) = (
                        server.id(&reference["reference"]),
                        server.id(&reference["node"]),
                    );
                    format!("{kind} {} {target}", reference["forward"])
                })
                .collect(),
            Err(error) => {
                differences.push(format!("{}: Browse says {error}", expected["node"]));
                return;
            }
        };
    for missing in wanted.difference(&found) {
        differences.push(format!(
            "{} lacks the reference {missing}",
            expected["node"]
        ));
    }
    for extra in found.difference(&wanted) {
        // node-opcua does not show the instances of a type; the standard allows both (OPC 10000-3, 7.13).
        if extra.starts_with(INVERSE_TYPE_DEFINITION) {
            continue;
        }
        differences.push(format!(
            "{} has a reference that node-opcua has not: {extra}",
            expected["node"]
        ));
    }
}

/// NamespaceArray of a server, for writing ids and names with URIs instead of indexes.
struct Namespaces(Vec<String>);

impl Namespaces {
    fn read(session: &mut PeerClient) -> Self {
        Self(strings(&session.expect(json!({"op": "namespaces"}))))
    }

    fn uri(&self, index: &str) -> Option<&String> {
        self.0.get(index.parse::<usize>().ok()?)
    }

    /// Converts `ns=2;i=1` to `nsu=URI;i=1`.
    fn id(&self, id: &Value) -> Value {
        let text = id.as_str().unwrap_or_default();
        let by_uri = text
            .strip_prefix("ns=")
            .and_then(|rest| rest.split_once(';'))
            .and_then(|(index, rest)| Some(format!("nsu={};{rest}", self.uri(index)?)));
        by_uri.unwrap_or_else(|| text.to_owned()).into()
    }

    /// Converts `2:Name` to `URI:Name`.
    fn name(&self, name: &Value) -> Value {
        let text = name.as_str().unwrap_or_default();
        let by_uri = text
            .split_once(':')
            .and_then(|(index, rest)| Some(format!("{}:{rest}", self.uri(index)?)));
        by_uri.unwrap_or_else(|| text.to_owned()).into()
    }

    /// Returns the reverse of [`Self::id`]: URIs may contain `;`, identifiers begin with `i=`, `s=`, `g=` or `b=`.
    fn local(&self, id: &str) -> String {
        let Some(rest) = id.strip_prefix("nsu=") else {
            return id.to_owned();
        };
        self.0
            .iter()
            .enumerate()
            .find_map(|(index, uri)| {
                Some(format!(
                    "ns={index};{}",
                    rest.strip_prefix(uri.as_str())?.strip_prefix(';')?
                ))
            })
            .unwrap_or_else(|| id.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_by_uri() {
        let server = Namespaces(vec![
            "http://opcfoundation.org/UA/".to_owned(),
            "urn:a;b".to_owned(),
        ]);
        assert_eq!(server.id(&json!("ns=1;s=x;y")), "nsu=urn:a;b;s=x;y");
        assert_eq!(server.id(&json!("i=85")), "i=85");
        assert_eq!(server.local("nsu=urn:a;b;s=x;y"), "ns=1;s=x;y");
        assert_eq!(server.name(&json!("1:Speed")), "urn:a;b:Speed");
        assert_eq!(server.name(&json!("Speed")), "Speed");
    }
}
