//! The nodes of a Provider, which it adds to the registry and serves itself: its Object, and all others.
//!
//! The registry gets the Object first, by namespace URI, and assigns an index to the URI; then it gets all others by that
//! index.

use std::collections::BTreeSet;

use takt_client::model::{self, provider};
use takt_client::{Endpoint, NamespaceMap};
use takt_space::NodeAccess;
use takt_ua::binary::Encode;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{
    ExpandedNodeId, ExtensionObject, LocalizedText, NodeId, QualifiedName, UaString, Variant, ids,
};

use super::access;
use super::alarm::LimitAlarm;
use super::alarm_nodes;
use super::declarations::Declarations;
use super::expansion::Expanded;
use super::historical_configuration;
use super::mapped;
use super::mask;
use super::method::Method;
use super::property::{self, Property};
use super::texts::{Names, Texts};
use super::variable::Variable;

/// Declarations of a Provider, and its endpoints.
pub(super) struct Offer {
    pub(super) application_name: String,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) declarations: Declarations,
    /// Nodes of the instances of NodeSets' types.
    pub(super) instances: Vec<Expanded>,
    /// NamespaceArray of the Provider.
    pub(super) namespaces: Vec<String>,
}

impl Offer {
    /// Returns all Variables with a source: those of the Provider, and the bound ones of instances.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable> {
        let bound = self
            .instances
            .iter()
            .flat_map(|instance| &instance.variables);
        self.declarations.variables.iter().chain(bound)
    }

    /// Returns all Methods with a handler.
    pub(super) fn methods(&self) -> impl Iterator<Item = &Method> {
        let bound = self.instances.iter().flat_map(|instance| &instance.methods);
        self.declarations.methods.iter().chain(bound)
    }
}

/// The nodes and references of one Provider at one server.
pub(super) struct Plan {
    /// The ServerEndpoint Properties.
    pub(super) endpoints: Vec<AddNodesItem>,
    /// Folders, Variables and Methods with their Properties, parents before children.
    pub(super) data: Vec<AddNodesItem>,
    /// The nodes of each instance of a NodeSet's type, parents before children. They are added by one request: the server
    /// then creates no mandatory members itself.
    pub(super) instances: Vec<Vec<AddNodesItem>>,
    /// The `InteractionVia` references from the data to the endpoints.
    pub(super) references: Vec<AddReferencesItem>,
}

/// Indexes at one server of the namespaces that the plan needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerNamespaces {
    /// Index of the registry's model.
    pub(super) model: u16,
    /// Index of the Provider's own namespace.
    pub(super) own: u16,
}

impl Plan {
    /// Plans the nodes for a server. `map` has its NamespaceIndexes, by those of the Provider.
    pub(super) fn new(offer: &Offer, namespaces: ServerNamespaces, map: &NamespaceMap) -> Self {
        let mut builder = Builder {
            namespaces,
            folders: BTreeSet::new(),
            data: Vec::new(),
        };
        let endpoints = builder.endpoints(&offer.endpoints);
        let mut references = Vec::new();
        let declarations = &offer.declarations;
        // First, so that a DataType exists when a Variable that has it is added.
        for data_type in &declarations.data_types {
            builder.data.extend(data_type.nodes(namespaces.own));
            for property in data_type.properties() {
                let own = data_type.data_type();
                builder.data_property(own.path(), property, &NodeAccess::default());
            }
        }
        for object in &declarations.objects {
            builder.folder(&object.path, &object.texts);
        }
        for variable in &declarations.variables {
            builder.variable(variable);
            references.extend(builder.interaction_via(&variable.path, &endpoints));
            for (path, _) in historical_configuration::values(variable) {
                references.extend(builder.interaction_via(&path, &endpoints));
            }
        }
        for method in &declarations.methods {
            builder.method(method);
            references.extend(builder.interaction_via(&method.path, &endpoints));
        }
        // After the Variables, to which the references of alarms lead.
        for alarm in &declarations.alarms {
            builder.alarm(alarm);
            references.extend(builder.interaction_via(&alarm.path, &endpoints));
            for reference in alarm_nodes::references(alarm, builder.namespaces.own) {
                // Two alarms may have the same Variable.
                if !references.contains(&reference) {
                    references.push(reference);
                }
            }
        }
        let mut instances = Vec::new();
        for instance in &offer.instances {
            let parent = builder.parent_of(&instance.path);
            let mut nodes: Vec<AddNodesItem> = instance.nodes.clone();
            for node in &mut nodes {
                mapped::replace(map, node);
            }
            // Only here the parent is known: it may be a folder that this plan adds.
            if let Some(root) = nodes.first_mut() {
                root.parent_node_id = parent;
            }
            instances.push(nodes);
            for path in &instance.served {
                references.extend(builder.interaction_via(path, &endpoints));
            }
            for reference in &instance.references {
                let mut reference = reference.clone();
                map.replace_node_id(&mut reference.source_node_id);
                map.replace_expanded(&mut reference.target_node_id);
                references.push(reference);
            }
        }
        Self {
            endpoints,
            data: builder.data,
            instances,
            references,
        }
    }

    /// Returns the FNV-1a hash of the encoded plan: the same on every host and in every version of the compiler.
    pub(super) fn revision(&self) -> u64 {
        let instances = self.instances.iter().flatten();
        let nodes = self.endpoints.iter().chain(&self.data).chain(instances);
        let nodes = nodes.map(Encode::encode_to_vec);
        let references = self.references.iter().map(Encode::encode_to_vec);
        nodes
            .chain(references)
            .flatten()
            .fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            })
    }
}

impl ServerNamespaces {
    /// Returns the Provider's Object, with the NodeId that the server is asked for.
    pub(super) fn object(self, node: ExpandedNodeId, application_name: &str) -> AddNodesItem {
        AddNodesItem {
            parent_node_id: NodeId::numeric(0, ids::OBJECTS_FOLDER).into(),
            reference_type_id: NodeId::numeric(0, ids::ORGANIZES),
            requested_new_node_id: node,
            browse_name: QualifiedName::new(self.model, application_name),
            node_class: NodeClass::Object,
            node_attributes: notifier_attributes(application_name),
            type_definition: NodeId::numeric(self.model, model::PROVIDER_TYPE).into(),
        }
    }

    /// Returns the Property `Revision`. It is added last: where it exists, everything else does.
    pub(super) fn revision(self, revision: u64) -> AddNodesItem {
        let name = QualifiedName::new(self.model, "Revision");
        self.property_of_object(provider::REVISION, name, ids::UINT64, revision.into())
    }

    /// Returns the Property `SemanticRegistry`, which the Provider has at its own endpoints only.
    pub(super) fn semantic_registry(self, endpoint: &str) -> AddNodesItem {
        let name = QualifiedName::new(self.own, "SemanticRegistry");
        self.property_of_object(
            provider::SEMANTIC_REGISTRY,
            name,
            ids::STRING,
            endpoint.into(),
        )
    }

    fn property_of_object(
        self,
        identifier: u32,
        name: QualifiedName,
        data_type: u32,
        value: Variant,
    ) -> AddNodesItem {
        let object = NodeId::numeric(self.own, provider::OBJECT);
        let node = NodeId::numeric(self.own, identifier);
        let access = NodeAccess::default();
        property(
            object.into(),
            node.into(),
            name,
            data_type,
            -1,
            value,
            &access,
        )
    }
}

struct Builder {
    namespaces: ServerNamespaces,
    folders: BTreeSet<String>,
    data: Vec<AddNodesItem>,
}

impl Builder {
    fn data(&self, path: &str) -> ExpandedNodeId {
        NodeId::string(self.namespaces.own, path).into()
    }

    fn numeric(&self, identifier: u32) -> ExpandedNodeId {
        NodeId::numeric(self.namespaces.own, identifier).into()
    }

    fn name(&self, name: &str) -> QualifiedName {
        QualifiedName::new(self.namespaces.own, name)
    }

    /// Returns the Properties `ServerEndpoint`, `ServerEndpoint2`, ….
    fn endpoints(&self, endpoints: &[Endpoint]) -> Vec<AddNodesItem> {
        let property = |(number, endpoint): (u32, &Endpoint)| {
            let name = match number {
                0 => "ServerEndpoint".to_owned(),
                _ => format!("ServerEndpoint{}", number + 1),
            };
            self.namespaces.property_of_object(
                provider::FIRST_ENDPOINT + number,
                QualifiedName::new(self.namespaces.model, &name),
                ids::STRING,
                endpoint.to_string().into(),
            )
        };
        (0..).zip(endpoints).map(property).collect()
    }

    fn variable(&mut self, variable: &Variable) {
        let parent = self.parent_of(&variable.path);
        let name = last_segment(&variable.path);
        let names = Names::new(name, &variable.texts);
        // VariableAttributes of AddNodes have only this byte of the AccessLevelEx.
        let [access_level, ..] = variable.access_level().to_le_bytes();
        let historizing = match variable.recording {
            Some(_) => mask::HISTORIZING,
            None => 0,
        };
        self.data.push(AddNodesItem {
            parent_node_id: parent,
            reference_type_id: NodeId::numeric(0, ids::HAS_COMPONENT),
            requested_new_node_id: self.data(&variable.path),
            browse_name: self.name(name),
            node_class: NodeClass::Variable,
            node_attributes: access::of_variable(
                VariableAttributes {
                    specified_attributes: mask::ACCESS_LEVEL
                        | mask::USER_ACCESS_LEVEL
                        | mask::ARRAY_DIMENSIONS
                        | mask::DATA_TYPE
                        | mask::VALUE_RANK
                        | historizing
                        | names.mask,
                    historizing: variable.recording.is_some(),
                    display_name: names.display_name,
                    description: names.description,
                    data_type: variable.data_type.node_id(self.namespaces.own),
                    value_rank: variable.value_rank,
                    array_dimensions: variable.array_dimensions.clone(),
                    access_level,
                    user_access_level: access_level,
                    ..VariableAttributes::default()
                },
                &variable.access,
            ),
            type_definition: NodeId::numeric(0, variable.type_definition()).into(),
        });
        if variable.recording.is_some() {
            self.data.push(historical_configuration::object(
                self.data(&variable.path),
                self.data(&historical_configuration::path(&variable.path)),
            ));
        }
        for property in property::of_variable(variable) {
            self.data_property(&variable.path, property, &variable.access);
        }
    }

    fn method(&mut self, method: &Method) {
        let parent = self.parent_of(&method.path);
        let name = last_segment(&method.path);
        let names = Names::new(name, &method.texts);
        self.data.push(AddNodesItem {
            parent_node_id: parent,
            reference_type_id: NodeId::numeric(0, ids::HAS_COMPONENT),
            requested_new_node_id: self.data(&method.path),
            browse_name: self.name(name),
            node_class: NodeClass::Method,
            node_attributes: access::of_method(
                MethodAttributes {
                    specified_attributes: mask::EXECUTABLE | mask::USER_EXECUTABLE | names.mask,
                    display_name: names.display_name,
                    description: names.description,
                    executable: true,
                    user_executable: true,
                    ..MethodAttributes::default()
                },
                &method.access,
            ),
            type_definition: ExpandedNodeId::default(),
        });
        for property in property::of_method(method, self.namespaces.own) {
            self.data_property(&method.path, property, &method.access);
        }
    }

    fn alarm(&mut self, alarm: &LimitAlarm) {
        let parent = self.parent_of(&alarm.path);
        let name = last_segment(&alarm.path);
        self.data.push(AddNodesItem {
            parent_node_id: parent,
            reference_type_id: NodeId::numeric(0, ids::HAS_COMPONENT),
            requested_new_node_id: self.data(&alarm.path),
            browse_name: self.name(name),
            node_class: NodeClass::Object,
            node_attributes: object_attributes(name, &Texts::default()),
            type_definition: NodeId::numeric(0, alarm.kind.event_type()).into(),
        });
        let components = alarm_nodes::components(alarm, self.namespaces.own);
        self.data.extend(components);
    }

    /// Returns the node that the path's last segment belongs to: the Provider's Object or a folder, which is added if
    /// it is new.
    fn parent_of(&mut self, path: &str) -> ExpandedNodeId {
        let Some((folder, _)) = path.rsplit_once('/') else {
            return self.numeric(provider::OBJECT);
        };
        self.folder(folder, &Texts::default());
        self.data(folder)
    }

    /// Adds an Object if it is new.
    fn folder(&mut self, path: &str, texts: &Texts) {
        if !self.folders.insert(path.to_owned()) {
            return;
        }
        let parent = self.parent_of(path);
        let name = last_segment(path);
        self.data.push(AddNodesItem {
            parent_node_id: parent,
            reference_type_id: NodeId::numeric(0, ids::HAS_COMPONENT),
            requested_new_node_id: self.data(path),
            browse_name: self.name(name),
            node_class: NodeClass::Object,
            node_attributes: object_attributes(name, texts),
            type_definition: NodeId::numeric(0, ids::FOLDER_TYPE).into(),
        });
    }

    /// Adds a Property of namespace 0 to a data node.
    fn data_property(&mut self, path: &str, added: Property, access: &NodeAccess) {
        let item = property(
            self.data(path),
            self.data(&added.identifier(path)),
            QualifiedName::new(0, added.name),
            added.data_type,
            added.value_rank,
            added.value,
            &access::of_properties(access),
        );
        self.data.push(item);
    }

    fn interaction_via(&self, path: &str, endpoints: &[AddNodesItem]) -> Vec<AddReferencesItem> {
        endpoints
            .iter()
            .map(|endpoint| AddReferencesItem {
                source_node_id: NodeId::string(self.namespaces.own, path),
                reference_type_id: NodeId::numeric(self.namespaces.model, model::INTERACTION_VIA),
                is_forward: true,
                target_server_uri: UaString::null(),
                target_node_id: endpoint.requested_new_node_id.clone(),
                target_node_class: NodeClass::Variable,
            })
            .collect()
    }
}

/// Returns the attributes of the Provider's Object, at which clients monitor its Events.
fn notifier_attributes(name: &str) -> ExtensionObject {
    /// Bit SubscribeToEvents of EventNotifier (OPC 10000-3, 8.59).
    const SUBSCRIBE_TO_EVENTS: u8 = 1;
    let names = Names::new(name, &Texts::default());
    ExtensionObject::from_structure(&ObjectAttributes {
        specified_attributes: names.mask | mask::EVENT_NOTIFIER,
        display_name: names.display_name,
        description: names.description,
        event_notifier: SUBSCRIBE_TO_EVENTS,
        ..ObjectAttributes::default()
    })
}

fn object_attributes(name: &str, texts: &Texts) -> ExtensionObject {
    let names = Names::new(name, texts);
    ExtensionObject::from_structure(&ObjectAttributes {
        specified_attributes: names.mask,
        display_name: names.display_name,
        description: names.description,
        ..ObjectAttributes::default()
    })
}

fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a Property that holds its value.
fn property(
    parent: ExpandedNodeId,
    node: ExpandedNodeId,
    browse_name: QualifiedName,
    data_type: u32,
    value_rank: i32,
    value: Variant,
    access: &NodeAccess,
) -> AddNodesItem {
    let array_dimensions = if value_rank == 1 {
        value.array_dimensions().unwrap_or_default()
    } else {
        Vec::new()
    };
    AddNodesItem {
        parent_node_id: parent,
        reference_type_id: NodeId::numeric(0, ids::HAS_PROPERTY),
        requested_new_node_id: node,
        node_class: NodeClass::Variable,
        node_attributes: access::of_variable(
            VariableAttributes {
                specified_attributes: mask::ACCESS_LEVEL
                    | mask::USER_ACCESS_LEVEL
                    | mask::ARRAY_DIMENSIONS
                    | mask::DATA_TYPE
                    | mask::DISPLAY_NAME
                    | mask::VALUE
                    | mask::VALUE_RANK,
                display_name: LocalizedText::from(browse_name.name.as_str()),
                data_type: NodeId::numeric(0, data_type),
                value_rank,
                array_dimensions,
                value,
                access_level: 0b01,
                user_access_level: 0b01,
                ..VariableAttributes::default()
            },
            access,
        ),
        browse_name,
        type_definition: NodeId::numeric(0, ids::PROPERTY_TYPE).into(),
    }
}
