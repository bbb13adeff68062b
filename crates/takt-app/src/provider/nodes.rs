//! Address space of a Provider: the nodes that it registers, with the sources of their values and the handlers of its
//! Methods. Namespace indexes are those of the Provider's own NamespaceArray.
//!
//! The reduced variant is the server of section 4.3 of the paper: a map from NodeId to source. Its Variables have no
//! parent, so that Browse does not find them. It has the Object and the folders, because a Call names the Object of its
//! Method, and the Properties, because Calls and filters are checked against them.

use std::collections::HashSet;
use std::sync::Arc;

use takt_client::NamespaceMap;
use takt_client::model::{self, OWN_NAMESPACE, provider};
use takt_services::{BuildError, Server, ServerBudgets};
use takt_space::{AddressSpaceError, Change, Edit, Value};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem};
use takt_ua::{DataValue, ExpandedNodeId, Identifier, NodeId, QualifiedName, ids};

use super::error::{NodeError, ProviderError};
use super::expansion;
use super::historical_configuration;
use super::nodesets::{self, NodeSets};
use super::plan::{Offer, Plan, ServerNamespaces};
use super::registry_state::SharedState;
use crate::alarms::Watched;
use crate::workers::Workers;

/// Kind of the address space of a Provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Everything that is registered.
    Complete,
    /// The reduced variant of the paper.
    Reduced,
}

/// Server of a Provider whose endpoints are not known yet.
pub(super) struct Nodes {
    server: Arc<Server>,
    kind: Kind,
    namespaces: ServerNamespaces,
}

impl Nodes {
    /// Creates the server with all nodes but those that name the endpoints. Expands the instances of NodeSets' types.
    pub(super) fn new(
        offer: &mut Offer,
        kind: Kind,
        budgets: ServerBudgets,
        registry: Option<&str>,
    ) -> Result<Self, ProviderError> {
        let name = offer.application_name.clone();
        let name = &name;
        let failed = |cause: NodeError| failed(name, cause);
        let server = Server::builder(name, model::provider_uri(name))
            .budgets(budgets)
            .build()
            .map_err(|error| failed(error.into()))?;
        let space = server.address_space();
        let model = match kind {
            Kind::Complete => {
                let declarations = &offer.declarations;
                let documents = declarations.nodesets.as_ref();
                let types = nodesets::import(space, documents.map(NodeSets::documents));
                types.map_err(|error| failed(BuildError::from(error).into()))?;
                let instances = declarations.instances.iter().map(|instance| {
                    expansion::expand(&space.view(), instance).map_err(|mistake| {
                        ProviderError::Instance {
                            path: instance.path.clone(),
                            mistake: Box::new(mistake),
                        }
                    })
                });
                offer.instances = instances.collect::<Result<_, _>>()?;
                let index = space.namespaces().register(model::NAMESPACE_URI);
                index.map_err(|error| failed(error.into()))?
            }
            Kind::Reduced => match offer.declarations.instances.first() {
                Some(instance) => {
                    return Err(ProviderError::ReducedInstance(instance.path.clone()));
                }
                None => OWN_NAMESPACE,
            },
        };
        let uris = space.namespaces().all();
        offer.namespaces = uris.iter().map(|uri| uri.as_ref().to_owned()).collect();
        let own = OWN_NAMESPACE;
        let nodes = Self {
            server,
            kind,
            namespaces: ServerNamespaces { model, own },
        };
        nodes.add_data(offer, registry)?;
        Ok(nodes)
    }

    fn add_data(&self, offer: &Offer, registry: Option<&str>) -> Result<(), ProviderError> {
        let mut edit = self.server.address_space().edit();
        let object = NodeId::numeric(OWN_NAMESPACE, provider::OBJECT).into();
        let object = self.namespaces.object(object, &offer.application_name);
        let pointer = registry.map(|endpoint| self.namespaces.semantic_registry(endpoint));
        let plan = self.plan(offer);
        let instances = plan.instances.into_iter().flatten();
        let items = [object].into_iter().chain(pointer).chain(plan.data);
        let items: Vec<AddNodesItem> = items.chain(instances).collect();
        let places = items.iter().map(|item| {
            let parent = item.parent_node_id.node_id.clone();
            (parent.to_string(), item.browse_name.clone())
        });
        let announced: HashSet<(String, QualifiedName)> = places.collect();
        for item in items {
            self.add(&mut edit, item, &announced)?;
        }
        Ok(())
    }

    fn plan(&self, offer: &Offer) -> Plan {
        let map = NamespaceMap::between(&offer.namespaces, &offer.namespaces);
        Plan::new(offer, self.namespaces, &map)
    }

    /// Sets the sources of the Variables and the handlers of the Methods, and returns the alarms to watch. `Available` follows from
    /// `registry_state`.
    pub(super) fn bind(
        &self,
        offer: &Offer,
        registry_state: &Arc<SharedState>,
        workers: &Workers,
    ) -> Result<Vec<Watched>, ProviderError> {
        let space = self.server.address_space();
        let mut watched = Vec::new();
        for variable in offer.variables() {
            let node = NodeId::string(OWN_NAMESPACE, &variable.path);
            let value = variable
                .value()
                .map_err(|error| failed(&variable.path, error.into()))?;
            let alarms = offer.declarations.alarms.iter();
            for alarm in alarms.filter(|alarm| alarm.variable == variable.path) {
                watched.push(alarm.watched(value.clone()));
            }
            // A source may take its time, so workers ask it, unless the application promises that it is quick.
            let value = match variable.is_inline {
                true => value,
                false => workers.value(value),
            };
            space
                .set_value(&node, value)
                .map_err(|error| failed(&variable.path, error.into()))?;
        }
        for variable in &offer.declarations.variables {
            for (path, value) in historical_configuration::values(variable) {
                let node = NodeId::string(OWN_NAMESPACE, &path);
                let set = space.set_value(&node, Value::stored(value));
                set.map_err(|error| failed(&path, error.into()))?;
            }
        }
        for method in offer.methods() {
            let node = NodeId::string(OWN_NAMESPACE, &method.path);
            let handler = match method.is_inline {
                true => method.handler.clone(),
                false => workers.handler(&method.handler),
            };
            space
                .set_method(&node, handler)
                .map_err(|error| failed(&method.path, error.into()))?;
        }
        if self.kind == Kind::Complete {
            let state = Arc::clone(registry_state);
            let available = Value::callback(move || DataValue::good(state.is_registered()));
            let node = NodeId::numeric(OWN_NAMESPACE, provider::AVAILABLE);
            space
                .set_value(&node, available)
                .map_err(|error| failed(&offer.application_name, error.into()))?;
        }
        Ok(watched)
    }

    /// Adds the nodes and references that name the endpoints, and the revision. Returns the revision.
    pub(super) fn add_endpoints(&self, offer: &Offer) -> Result<u64, ProviderError> {
        let plan = self.plan(offer);
        let revision = plan.revision();
        if self.kind == Kind::Reduced {
            return Ok(revision);
        }
        let mut edit = self.server.address_space().edit();
        for item in plan.endpoints {
            self.add(&mut edit, item, &HashSet::new())?;
        }
        for item in &plan.references {
            add_reference(&mut edit, item)
                .map_err(|error| failed(&offer.application_name, error.into()))?;
        }
        let revision_item = self.namespaces.revision(revision);
        self.add(&mut edit, revision_item, &HashSet::new())?;
        edit.forget_names();
        Ok(revision)
    }

    /// Adds a node as the service AddNodes of the registry does: with the children that its type requires, except for the
    /// announced ones, which are added later.
    fn add(
        &self,
        edit: &mut Edit<'_>,
        item: AddNodesItem,
        announced: &HashSet<(String, QualifiedName)>,
    ) -> Result<(), ProviderError> {
        let path = match &item.requested_new_node_id.node_id.identifier {
            Identifier::String(path) => path.to_string(),
            _ => item.browse_name.name.as_str().to_owned(),
        };
        let failed = |error| failed(&path, NodeError::AddressSpace(error));
        if self.kind == Kind::Reduced {
            return edit.add_item(&reduced(item)).map_err(failed);
        }
        let is_announced = |parent: &NodeId, name: &QualifiedName| {
            announced.contains(&(parent.to_string(), name.clone()))
        };
        let (_, changes) = edit
            .plan_add_instance(item, &model::required_node_id, &is_announced)
            .map_err(failed)?;
        for change in &changes {
            match change {
                Change::AddNode(item) => edit.add_item(item),
                Change::AddReference(item) => add_reference(edit, item),
                _ => Ok(()),
            }
            .map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the server.
    pub(super) fn server(&self) -> &Arc<Server> {
        &self.server
    }
}

/// Returns a node of the reduced variant, which has no types beyond those of the standard.
fn reduced(mut item: AddNodesItem) -> AddNodesItem {
    let property = NodeId::numeric(0, ids::PROPERTY_TYPE);
    match item.node_class {
        NodeClass::Variable if item.type_definition.node_id != property => {
            // Clients know its NodeId from the registry, so it needs no place in the hierarchy.
            item.parent_node_id = ExpandedNodeId::default();
        }
        NodeClass::Object if item.type_definition.node_id.namespace != 0 => {
            item.type_definition = NodeId::numeric(0, ids::BASE_OBJECT_TYPE).into();
        }
        _ => {}
    }
    item
}

fn add_reference(edit: &mut Edit<'_>, item: &AddReferencesItem) -> Result<(), AddressSpaceError> {
    edit.add_reference(
        &item.source_node_id,
        &item.reference_type_id,
        item.is_forward,
        &item.target_node_id,
    )
}

fn failed(path: &str, cause: NodeError) -> ProviderError {
    ProviderError::Node {
        path: path.to_owned(),
        cause,
    }
}
