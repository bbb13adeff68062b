//! The copy of a foreign server in the address space of the registry.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use takt_app::NamespaceMap;
use takt_space::{
    AddressSpace, AddressSpaceError, ClassAttributes, MethodHandler, NewReference, NodeDefinition,
    RemoteMethod, RemoteSource, RemoteValue, StoredValue, Value, VariableDefinition,
};
use takt_ua::enumerations::NodeClass;
use takt_ua::{LocalizedText, NodeId, QualifiedName, ids};

use super::attributes::{SUBSCRIBE_TO_EVENTS, attributes, digest, map_for_digests};
use super::budget;
use super::deletion::{delete, warn_on_error};
use super::event_types::declared_fields;
use super::mirrored::Mirrored;
use super::options::MirrorOptions;
use super::references::{add_references, references_of_others};
use super::scan::{Found, Scan};
use super::shared::{Shared, SharedTypes};
use crate::forwarding::{Gateway, Naming};

/// Numeric identifiers in the namespace of the folder.
const FOLDER: u32 = 1;
const AVAILABLE: u32 = 2;
const ENDPOINT: u32 = 3;
const PROBLEM: u32 = 4;

/// The nodes of one mirror in the address space.
pub(super) struct Copy {
    space: Arc<AddressSpace>,
    gateway: Arc<Gateway>,
    naming: Naming,
    shared: Arc<Shared>,
    folder: NodeId,
    server: Arc<Mirrored>,
    available: Arc<StoredValue>,
    problem: Arc<StoredValue>,
    /// Digests of the nodes that this mirror has added, by their NodeIds at the registry.
    nodes: HashMap<NodeId, u64>,
    /// Values of the Variables, by their NodeIds at the registry: those at the server may change with each of its starts.
    values: HashMap<NodeId, Arc<StoredValue>>,
}

impl Copy {
    /// Adds the folder of the mirror.
    pub(super) fn new(
        options: &MirrorOptions,
        space: Arc<AddressSpace>,
        gateway: Arc<Gateway>,
        naming: Naming,
        shared: Arc<Shared>,
    ) -> Result<Self, AddressSpaceError> {
        let namespace = space.namespaces().register(&options.folder_uri())?;
        shared.namespaces.keep(&space, &[namespace]);
        let folder = NodeId::numeric(namespace, FOLDER);
        let name = QualifiedName::new(namespace, options.name.as_str());
        let object = ClassAttributes::Object {
            event_notifier: SUBSCRIBE_TO_EVENTS,
        };
        let references = [
            NewReference::forward(ids::HAS_TYPE_DEFINITION, ids::FOLDER_TYPE),
            NewReference::inverse(ids::ORGANIZES, ids::OBJECTS_FOLDER),
        ];
        let definition = NodeDefinition::new(folder.clone(), name, object);
        space.edit().add_node(definition, &references)?;
        let available = Arc::new(StoredValue::new(&false.into()));
        let problem = Arc::new(StoredValue::new(&"".into()));
        let endpoint = Arc::new(StoredValue::new(&options.endpoint.to_string().into()));
        for (identifier, name, data_type, value) in [
            (AVAILABLE, "Available", ids::BOOLEAN, &available),
            (ENDPOINT, "ServerEndpoint", ids::STRING, &endpoint),
            (PROBLEM, "Problem", ids::STRING, &problem),
        ] {
            let node = NodeId::numeric(namespace, identifier);
            let variable = VariableDefinition {
                data_type: data_type.into(),
                ..VariableDefinition::default()
            };
            let name = QualifiedName::new(namespace, name);
            let references = [
                NewReference::forward(ids::HAS_TYPE_DEFINITION, ids::PROPERTY_TYPE),
                NewReference::inverse(ids::HAS_PROPERTY, folder.clone()),
            ];
            let attributes = ClassAttributes::Variable(variable);
            let mut edit = space.edit();
            edit.add_node(
                NodeDefinition::new(node.clone(), name, attributes),
                &references,
            )?;
            edit.set_value(&node, Value::Stored(Arc::clone(value)))?;
        }
        let server = Mirrored::new(
            &options.name,
            folder.clone(),
            naming.clone(),
            Arc::clone(&gateway),
        );
        Ok(Self {
            space,
            gateway,
            naming,
            shared,
            folder,
            server: Arc::new(server),
            available,
            problem,
            nodes: HashMap::new(),
            values: HashMap::new(),
        })
    }

    /// Returns the server for those that forward its Events and Calls.
    pub(super) fn server(&self) -> &Arc<Mirrored> {
        &self.server
    }

    /// Shows whether the server is connected, and why not.
    pub(super) fn show(&self, available: bool, problem: &str) {
        self.available.set(available);
        self.problem.set(problem);
    }

    /// Returns the BrowseName of a node, and `id`, its NodeId at the server.
    pub(super) fn name_of(&self, node: &NodeId, id: &NodeId) -> String {
        let view = self.space.view();
        let name = view.node(node).map(|node| node.browse_name().to_owned());
        match name {
            Some(name) => format!("{} ({id})", name.name),
            None => id.to_string(),
        }
    }

    /// Returns true if another server does not have a type any more that this server has, too.
    pub(super) fn has_inherited(&self) -> bool {
        self.shared.has_inherited(self.folder.namespace)
    }

    /// Returns the values of the Variables, by their NodeIds at the registry.
    pub(super) fn values(&self) -> &HashMap<NodeId, Arc<StoredValue>> {
        &self.values
    }

    /// Makes a Variable be read at the server for each Read, because its values are too large to be kept.
    pub(super) fn read_live(&mut self, node: &NodeId) {
        self.values.remove(node);
        if self.nodes.contains_key(node) {
            let value = Value::Remote(self.remote(node));
            warn_on_error(node, self.space.set_value(node, value));
        }
    }

    fn remote(&self, node: &NodeId) -> RemoteValue {
        RemoteValue {
            source: Arc::clone(&self.gateway) as Arc<dyn RemoteSource>,
            node_id: node.clone(),
            callback: None,
        }
    }

    /// Brings the copy up to date with a scan: adds, replaces and deletes nodes.
    pub(super) fn update(&mut self, scan: &Scan) -> Result<(), AddressSpaceError> {
        let namespaces = self.register(scan)?;
        let registry = self.space.namespaces().all();
        let maps = self.naming.maps(&registry, &scan.namespaces);
        let map = &maps.to_registry;
        let id_of = |node: &Found| match node.is_type {
            true => map.type_id(&node.node_id),
            false => map.node_id(&node.node_id),
        };
        let ids: HashMap<&NodeId, NodeId> = scan
            .nodes
            .iter()
            .map(|node| (&node.node_id, id_of(node)))
            .collect();
        let for_digests = map_for_digests(scan, map);
        let digests: HashMap<NodeId, u64> = scan
            .nodes
            .iter()
            .map(|node| (id_of(node), digest(node, &for_digests)))
            .collect();
        let shared = Arc::clone(&self.shared);
        let mut types = shared.types();
        let gone = self.gone(scan, &ids, &digests, &mut types);
        // The deletion of a shared type takes away the references that others have to it.
        let kept = references_of_others(&self.space.view(), &gone, &digests, &types);
        delete(&self.space, &gone);
        for node in &gone {
            self.nodes.remove(node);
            self.values.remove(node);
        }
        let is_there = |node: &NodeId| self.space.view().node(node).is_some();
        // ReferenceTypes first: references need them. Types come before instances in a scan.
        let (mut added, others): (Vec<&Found>, Vec<&Found>) = scan
            .nodes
            .iter()
            .filter(|node| !is_there(&id_of(node)) && !self.is_foreign(&id_of(node), node))
            .partition(|node| node.class == NodeClass::ReferenceType);
        added.extend(others);
        for step in added.chunks(budget::STEP) {
            self.add(step, &ids, &digests, map)?;
        }
        // The digests contain the references: these are the same, too.
        if added.is_empty() && gone.is_empty() && self.server.has_namespaces(&namespaces) {
            return Ok(());
        }
        add_references(&self.space, &self.folder, scan, (&ids, map), kept);
        let is_type = |node: &&Found| node.is_type && node.class == NodeClass::ObjectType;
        let types: Vec<NodeId> = scan.nodes.iter().filter(is_type).map(id_of).collect();
        let fields = declared_fields(&self.space.view(), types.iter());
        self.server.set(namespaces, fields);
        Ok(())
    }

    /// Returns the nodes to delete: those that the server does not have any more, unless other mirrors use them, and those that
    /// differ now, or are to be added by this mirror instead of another one.
    fn gone(
        &mut self,
        scan: &Scan,
        ids: &HashMap<&NodeId, NodeId>,
        digests: &HashMap<NodeId, u64>,
        types: &mut SharedTypes,
    ) -> Vec<NodeId> {
        let mirror = self.folder.namespace;
        let all = scan.nodes.iter().filter(|found| found.is_type);
        let used: HashSet<&NodeId> = all
            .filter_map(|found| Some((ids.get(&found.node_id)?, found)))
            .filter(|(node, found)| !self.is_foreign(node, found))
            .map(|(node, _)| node)
            .collect();
        let unused = types.set(mirror, &used);
        let is_left = |node: &NodeId| !digests.contains_key(node) && types.is_used(node);
        self.nodes.retain(|node, _| !is_left(node));
        self.values.retain(|node, _| !is_left(node));
        let view = self.space.view();
        let differs = |(node, digest): &(&NodeId, &u64)| digests.get(*node) != Some(*digest);
        let mut gone: HashSet<NodeId> = self
            .nodes
            .iter()
            .filter(differs)
            .map(|(node, _)| node.clone())
            .collect();
        let inherited = used
            .into_iter()
            .filter(|node| !self.nodes.contains_key(*node) && types.is_first(mirror, node));
        let instead = inherited
            .chain(&unused)
            .filter(|node| view.node(*node).is_some());
        gone.extend(instead.cloned());
        gone.into_iter().collect()
    }

    /// Returns true for a node of a namespace that the registry has from elsewhere.
    fn is_foreign(&self, node: &NodeId, found: &Found) -> bool {
        found.is_type && self.shared.foreign.contains(&node.namespace)
    }

    /// Registers the namespaces of the server. Returns the indexes of those of instances.
    ///
    /// Each namespace may have instances: a Condition need not be a node (OPC 10000-9, 5.5.2).
    fn register(&self, scan: &Scan) -> Result<Vec<u16>, AddressSpaceError> {
        let namespaces = self.space.namespaces();
        let types = scan.nodes.iter().filter(|node| node.is_type);
        let of_types: BTreeSet<u16> = types.map(|node| node.node_id.namespace).collect();
        let mut of_instances = BTreeSet::new();
        let mut all = Vec::new();
        for (index, uri) in scan.namespaces.iter().enumerate() {
            let uri = match index {
                0 => takt_space::STANDARD_NAMESPACE,
                _ => uri.as_str(),
            };
            of_instances.insert(namespaces.register(&self.naming.of_instances(uri))?);
            let has_types = u16::try_from(index).is_ok_and(|index| of_types.contains(&index));
            if has_types && !Naming::is_reserved(uri) {
                all.push(namespaces.register(uri)?);
            }
        }
        all.extend(&of_instances);
        self.shared.namespaces.keep(&self.space, &all);
        Ok(of_instances.into_iter().collect())
    }

    fn add(
        &mut self,
        nodes: &[&Found],
        ids: &HashMap<&NodeId, NodeId>,
        digests: &HashMap<NodeId, u64>,
        map: &NamespaceMap,
    ) -> Result<(), AddressSpaceError> {
        let space = Arc::clone(&self.space);
        let mut edit = space.edit();
        for found in nodes {
            let Some(node) = ids.get(&found.node_id) else {
                continue;
            };
            let mut name = map.type_name(&found.browse_name);
            // Only namespaces with types are registered by their own URIs.
            if !space.namespaces().contains(name.namespace) {
                name.namespace = node.namespace;
            }
            let Some(attributes) = attributes(found, map) else {
                continue;
            };
            let mut definition = NodeDefinition::new(node.clone(), name, attributes);
            let is_same = found.display_name.text.as_str() == found.browse_name.name.as_str();
            if !is_same && found.display_name != LocalizedText::NULL {
                definition.display_name = Some(Box::new(found.display_name.clone()));
            }
            match edit.add_node(definition, &[]) {
                Ok(()) => {}
                // The type is that of another mirror.
                Err(AddressSpaceError::NodeIdExists(_) | AddressSpaceError::NodeIdRejected(_)) => {
                    continue;
                }
                Err(error) => return Err(error),
            }
            let digest = digests.get(node).copied().unwrap_or_default();
            self.nodes.insert(node.clone(), digest);
            match found.class {
                NodeClass::Variable => {
                    let value = Arc::new(StoredValue::copy_of(self.remote(node)));
                    self.values.insert(node.clone(), Arc::clone(&value));
                    edit.set_value(node, Value::Stored(value))?;
                }
                NodeClass::Method => edit.set_method(
                    node,
                    MethodHandler::Remote(RemoteMethod {
                        source: Arc::clone(&self.gateway) as Arc<dyn RemoteSource>,
                        object_id: NodeId::NULL,
                        method_id: node.clone(),
                        checks_arguments: true,
                        takes_unknown_objects: false,
                    }),
                )?,
                _ => {}
            }
        }
        Ok(())
    }
}
