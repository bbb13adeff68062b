//! A Provider at its own endpoint beside its nodes at the registry: they are the same, apart from namespace indexes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use takt_app::client::Follow;
use takt_app::{Attribute, Client, model};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::structures::{Argument, Range};
use takt_ua::{NodeId, Variant, ids};

use crate::registry::{client, consumer, tank, wait_until_available};

/// All attributes but the value, and the WriteMask: a Provider writes attributes of its nodes at the registry only.
const ATTRIBUTES: [Attribute; 25] = [
    Attribute::NodeId,
    Attribute::NodeClass,
    Attribute::BrowseName,
    Attribute::DisplayName,
    Attribute::Description,
    Attribute::UserWriteMask,
    Attribute::IsAbstract,
    Attribute::Symmetric,
    Attribute::InverseName,
    Attribute::ContainsNoLoops,
    Attribute::EventNotifier,
    Attribute::DataType,
    Attribute::ValueRank,
    Attribute::ArrayDimensions,
    Attribute::AccessLevel,
    Attribute::UserAccessLevel,
    Attribute::MinimumSamplingInterval,
    Attribute::Historizing,
    Attribute::Executable,
    Attribute::UserExecutable,
    Attribute::DataTypeDefinition,
    Attribute::RolePermissions,
    Attribute::UserRolePermissions,
    Attribute::AccessRestrictions,
    Attribute::AccessLevelEx,
];

/// A server, whose namespace indexes are replaced by URIs.
struct Server {
    client: Client,
    namespaces: Vec<String>,
}

/// References and attributes of the nodes below the Object of a Provider.
type Nodes = BTreeMap<String, BTreeSet<String>>;

impl Server {
    fn new(mut client: Client) -> Self {
        let namespaces = client.namespace_array().unwrap();
        Self { client, namespaces }
    }

    fn uri(&self, index: u16) -> &str {
        &self.namespaces[usize::from(index)]
    }

    fn node(&self, node: &NodeId) -> String {
        let local = NodeId {
            namespace: 0,
            identifier: node.identifier.clone(),
        };
        format!("{} {local}", self.uri(node.namespace))
    }

    fn value(&self, value: Option<&Variant>) -> String {
        match value {
            Some(Variant::NodeId(node)) => self.node(node),
            Some(Variant::QualifiedName(name)) => {
                format!("{} {}", self.uri(name.namespace), name.name.as_str())
            }
            other => format!("{other:?}"),
        }
    }

    /// Returns the Object of a Provider and all nodes of its namespace that references lead to.
    fn nodes(&mut self, name: &str) -> Nodes {
        let own = model::provider_uri(name);
        let own = self.client.namespace_index(&own).unwrap().unwrap();
        let mut waiting = vec![self.client.find(name).unwrap().node_id.node_id];
        let mut found = Nodes::new();
        while let Some(node) = waiting.pop() {
            let key = self.node(&node);
            if found.contains_key(&key) {
                continue;
            }
            let (mut lines, targets) = self.references(&node);
            waiting.extend(targets.into_iter().filter(|target| target.namespace == own));
            lines.extend(self.attributes(&node));
            found.insert(key, lines);
        }
        found
    }

    /// Returns the references of a node, and their targets. The registry itself adds `CreatedBy`; the Provider has one
    /// node more, `SemanticRegistry`.
    fn references(&mut self, node: &NodeId) -> (BTreeSet<String>, Vec<NodeId>) {
        let created_by = self
            .namespaces
            .iter()
            .position(|uri| uri == model::NAMESPACE_URI);
        let created_by = u16::try_from(created_by.unwrap()).unwrap();
        let created_by = NodeId::numeric(created_by, model::CREATED_BY);
        let references = self.client.browse(node, &Follow::all()).unwrap();
        let references: Vec<_> = references
            .into_iter()
            .filter(|reference| {
                reference.reference_type_id != created_by
                    && reference.browse_name.name.as_str() != "SemanticRegistry"
            })
            .collect();
        let lines = references.iter().map(|reference| {
            format!(
                "{} {} {} {:?} {} {}",
                self.node(&reference.reference_type_id),
                reference.is_forward,
                self.node(&reference.node_id.node_id),
                reference.node_class,
                self.node(&reference.type_definition.node_id),
                self.uri(reference.browse_name.namespace),
            )
        });
        let lines = lines.collect();
        let targets = references.into_iter();
        (
            lines,
            targets.map(|reference| reference.node_id.node_id).collect(),
        )
    }

    /// Returns the attributes of a node, with the value if it is a Property.
    fn attributes(&mut self, node: &NodeId) -> Vec<String> {
        let types = self
            .client
            .browse(node, &Follow::forward(ids::HAS_TYPE_DEFINITION))
            .unwrap();
        let property = NodeId::numeric(0, ids::PROPERTY_TYPE);
        let is_property = types.iter().any(|found| found.node_id.node_id == property);
        let value = is_property.then_some(Attribute::Value);
        let wanted: Vec<_> = ATTRIBUTES
            .into_iter()
            .chain(value)
            .map(|attribute| (node.clone(), attribute))
            .collect();
        let read = self.client.read_attributes(&wanted).unwrap();
        let lines = wanted.iter().zip(&read).map(|((_, attribute), read)| {
            let value = self.value(read.value.as_ref());
            format!("{attribute:?} {:?} {value}", read.status_code())
        });
        lines.collect()
    }
}

#[test]
fn a_provider_shows_what_it_has_registered() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let name = sandbox.application("Tank");
    let tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
    let tank_endpoint = tank.endpoints()[1].to_string();
    let mut consumer = consumer(&sandbox, &registry);
    for (name, endpoint, fewest) in [
        (&machine.name, &machine.endpoint, 25),
        (&name, &tank_endpoint, 10),
    ] {
        wait_until_available(&mut consumer, name);
        let mut there = Server::new(client(&sandbox, &registry.endpoint));
        let mut here = Server::new(client(&sandbox, endpoint));
        let (there, here) = (there.nodes(name), here.nodes(name));
        assert!(here.len() >= fewest, "{here:#?}");
        assert_eq!(
            here.keys().collect::<Vec<_>>(),
            there.keys().collect::<Vec<_>>()
        );
        for (node, lines) in &here {
            assert_eq!(lines, &there[node], "{node}");
        }
    }
}

/// Returns the rows of `takt browse` for a Provider: name, NodeClass, and identifiers of node and parent.
fn browsed(sandbox: &Sandbox, endpoint: &str, name: &str) -> BTreeSet<[String; 4]> {
    let rows = sandbox.rows(&["browse", endpoint, name, "--depth", "9"]);
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let without_index = |node: String| match node.split_once(';') {
        Some((_, identifier)) => identifier.to_owned(),
        None => node,
    };
    rows.iter()
        .map(|row| {
            [
                text(row, "displayName"),
                text(row, "nodeClass"),
                without_index(text(row, "nodeId")),
                without_index(text(row, "parent")),
            ]
        })
        .collect()
}

#[test]
fn the_command_line_browses_a_provider() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    let name = machine.name.as_str();
    wait_until_available(&mut consumer(&sandbox, &registry), name);
    let mut here = browsed(&sandbox, &machine.endpoint, name);
    let pointer = ["SemanticRegistry", "Variable", "i=4", "i=1"].map(str::to_owned);
    assert!(here.remove(&pointer), "{here:?}");
    assert_eq!(here, browsed(&sandbox, &registry.endpoint, name));
    for expected in [
        ["Speed", "Variable", "s=Spindle/Speed", "s=Spindle"],
        [
            "EURange",
            "Variable",
            "s=Spindle/Speed#EURange",
            "s=Spindle/Speed",
        ],
        ["Start", "Method", "s=Start", "i=1"],
    ] {
        assert!(here.contains(&expected.map(str::to_owned)), "{here:?}");
    }
}

/// The values of Properties have the Provider's own data, not those of a type.
#[test]
fn units_and_arguments_of_a_provider_are_readable() {
    let sandbox = Sandbox::new();
    let name = sandbox.application("Tank");
    let tank = tank(&sandbox, &name, "opc.iox2://Nobody").unwrap();
    let mut client = client(&sandbox, &tank.endpoints()[1].to_string());
    let mut property = |path: &str| {
        let node = client.find(&format!("{name}/{path}")).unwrap();
        client.read_good(&node.node_id.node_id).unwrap()
    };
    let Variant::ExtensionObject(range) = property("Level/EURange") else {
        panic!("no Range")
    };
    let range: Range = range.decode_as().unwrap();
    assert_eq!((range.low, range.high), (0.0, 100.0));
    let Variant::Array(arguments) = property("Double/InputArguments") else {
        panic!("no arguments")
    };
    let Some(Variant::ExtensionObject(argument)) = arguments.elements.iter().next() else {
        panic!("no argument")
    };
    let argument: Argument = argument.decode_as().unwrap();
    assert_eq!(argument.name.as_str(), "Value");
    assert_eq!(argument.data_type, NodeId::numeric(0, ids::DOUBLE));
    assert_eq!(property("Available"), false.into(), "no registry");
}
