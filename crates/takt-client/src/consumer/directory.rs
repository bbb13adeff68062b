//! Contents of the registry: its Providers, their data, and the endpoints that serve the data.

use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::ReferenceDescription;
use takt_ua::{NodeId, Variant, ids};

use super::Consumer;
use super::item::{GlobalNodeId, Item};
use crate::client::{Attribute, Follow, TypedNode};
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::model;

/// A Provider as the registry shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderEntry {
    /// ApplicationName of the Provider.
    pub name: String,
    /// NodeId of its Object at the registry.
    pub node_id: NodeId,
    /// True if the Provider is connected to the registry.
    pub available: bool,
    /// Endpoints of the Provider, shared memory first. Endpoints that this version cannot parse are left out.
    pub endpoints: Vec<Endpoint>,
}

/// An Object of a Provider's tree that is being browsed.
struct Object {
    path: String,
    node: NodeId,
    /// Index of the Object above it.
    parent: Option<usize>,
}

/// Returns whether `node` is the Object at `index` or above it.
fn contains(objects: &[Object], index: usize, node: &NodeId) -> bool {
    let mut above = objects.get(index);
    while let Some(object) = above {
        if object.node == *node {
            return true;
        }
        above = object.parent.and_then(|parent| objects.get(parent));
    }
    false
}

impl Consumer {
    /// Returns the Providers that the registry knows, available or not.
    pub fn providers(&mut self) -> Result<Vec<ProviderEntry>, ClientError> {
        let namespace = self.model_namespace()?;
        let provider_type = NodeId::numeric(namespace, model::PROVIDER_TYPE);
        let objects = NodeId::numeric(0, ids::OBJECTS_FOLDER);
        let found: Vec<ReferenceDescription> = self
            .registry
            .browse(&objects, &Follow::children())?
            .into_iter()
            .filter(|reference| reference.type_definition.node_id == provider_type)
            .collect();
        found
            .into_iter()
            .map(|reference| self.provider_entry(&reference))
            .collect()
    }

    fn provider_entry(
        &mut self,
        provider: &ReferenceDescription,
    ) -> Result<ProviderEntry, ClientError> {
        let node_id = provider.node_id.node_id.clone();
        let properties = self
            .registry
            .browse(&node_id, &Follow::forward(ids::HAS_PROPERTY))?;
        let (available, others): (Vec<_>, Vec<_>) = properties
            .into_iter()
            .partition(|property| property.browse_name.name.as_str() == "Available");
        let available = match available.first() {
            Some(property) => {
                self.registry.read_good(&property.node_id.node_id)? == Variant::Boolean(true)
            }
            None => false,
        };
        let endpoints: Vec<NodeId> = others
            .into_iter()
            .filter(|property| {
                property
                    .browse_name
                    .name
                    .as_str()
                    .starts_with("ServerEndpoint")
            })
            .map(|property| property.node_id.node_id)
            .collect();
        Ok(ProviderEntry {
            name: provider.browse_name.name.as_str().to_owned(),
            node_id,
            available,
            endpoints: self.read_endpoints(&endpoints)?,
        })
    }

    /// Returns the Objects and Variables of a type or a subtype of it, of all Providers.
    /// [`find_by_type`](crate::Client::find_by_type) of a client says how the type is named; [`find`](Self::find) returns the
    /// Variables below them by their paths.
    ///
    /// ```no_run
    /// # use takt_client::{ClientError, ClientOptions, Consumer};
    /// # fn main() -> Result<(), ClientError> {
    /// let mut consumer = Consumer::connect("opc.iox2://SemanticRegistryServer", ClientOptions::named("Panel"))?;
    /// for machine in consumer.find_by_type("MachineToolType")? {
    ///     let serial = consumer.find(&format!("{}/Identification/SerialNumber", machine.path))?;
    ///     println!("{}: {:?}", machine.path, consumer.read(&serial)?.value);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_by_type(&mut self, name: &str) -> Result<Vec<TypedNode>, ClientError> {
        self.registry.find_by_type(name)
    }

    /// Returns the Variable or Method at `path`, for example `Machine/Spindle/Speed`, with its endpoints.
    pub fn find(&mut self, path: &str) -> Result<Item, ClientError> {
        let path = path.trim_matches('/');
        let reference = self.registry.find(path)?;
        let parent = match path.rsplit_once('/') {
            Some((parent, _)) => self.registry.find(parent)?.node_id.node_id,
            None => NodeId::numeric(0, ids::OBJECTS_FOLDER),
        };
        self.resolve(path, &reference, &parent)
    }

    /// Returns every Variable and Method below the Provider's Object that has an `InteractionVia` reference, in
    /// browse order.
    ///
    /// # Errors
    /// The registry does not answer, or returns more Objects than a Provider can have.
    pub fn items(&mut self, provider: &ProviderEntry) -> Result<Vec<Item>, ClientError> {
        let mut items = Vec::new();
        let mut objects = vec![Object {
            path: provider.name.clone(),
            node: provider.node_id.clone(),
            parent: None,
        }];
        let budget = &mut self.registry.answer_budget();
        let mut level = 0..1;
        while !level.is_empty() {
            let nodes = objects.get(level.clone()).unwrap_or_default();
            let nodes: Vec<NodeId> = nodes.iter().map(|object| object.node.clone()).collect();
            let children = Follow::children();
            let children = self
                .registry
                .browse_many_within(&nodes, &children, budget)?;
            for ((index, parent), children) in level.clone().zip(nodes).zip(children) {
                for child in children? {
                    let name = child.browse_name.name.as_str();
                    let path = format!("{}/{name}", objects[index].path);
                    // A chain of Objects has long paths.
                    budget.take_bytes(self.registry.endpoint(), "paths", path.len())?;
                    match child.node_class {
                        NodeClass::Object => {
                            let node = child.node_id.node_id;
                            // An Object that contains itself would be browsed for ever.
                            if !contains(&objects, index, &node) {
                                let parent = Some(index);
                                objects.push(Object { path, node, parent });
                            }
                        }
                        NodeClass::Variable | NodeClass::Method => {
                            let item = self.resolve(&path, &child, &parent)?;
                            if !item.endpoints.is_empty() {
                                items.push(item);
                            }
                        }
                        _ => {}
                    }
                }
            }
            level = level.end..objects.len();
        }
        Ok(items)
    }

    /// Follows the `InteractionVia` references of a node.
    fn resolve(
        &mut self,
        path: &str,
        reference: &ReferenceDescription,
        parent: &NodeId,
    ) -> Result<Item, ClientError> {
        let node_id = reference.node_id.node_id.clone();
        let via = Follow {
            reference_type: NodeId::numeric(self.model_namespace()?, model::INTERACTION_VIA),
            direction: BrowseDirection::Forward,
        };
        let targets: Vec<NodeId> = self
            .registry
            .browse(&node_id, &via)?
            .into_iter()
            .map(|target| target.node_id.node_id)
            .collect();
        Ok(Item {
            path: path.to_owned(),
            node_class: reference.node_class,
            namespace_uri: self.registry.namespace_uri(node_id.namespace)?,
            endpoints: self.read_endpoints(&targets)?,
            object: GlobalNodeId {
                namespace_uri: self.registry.namespace_uri(parent.namespace)?,
                node_id: parent.clone(),
            },
            node_id,
            chosen: 0,
        })
    }

    /// Returns the endpoints that these ServerEndpoint Properties hold, shared memory first.
    fn read_endpoints(&mut self, nodes: &[NodeId]) -> Result<Vec<Endpoint>, ClientError> {
        let attributes: Vec<_> = nodes
            .iter()
            .map(|node| (node.clone(), Attribute::Value))
            .collect();
        let mut endpoints: Vec<Endpoint> = self
            .registry
            .read_attributes(&attributes)?
            .into_iter()
            .filter_map(|value| match value.value {
                Some(Variant::String(text)) => text.as_str().parse().ok(),
                _ => None,
            })
            .collect();
        endpoints.sort_by_key(|endpoint| !endpoint.is_shared_memory());
        Ok(endpoints)
    }
}
