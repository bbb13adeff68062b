//! Expansion of an [`Instance`] to the nodes that its type requires and its application chose (OPC 10000-3, 6.4).

use std::collections::{BTreeMap, BTreeSet};

use takt_client::model::OWN_NAMESPACE;
use takt_space::{ModellingRule, TypeMember, View};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem, ObjectAttributes, VariableAttributes};
use takt_ua::{ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, Variant, ids};

use super::access;
use super::instance::{Instance, Placeholder};
use super::instance_error::InstanceError;
use super::mask;
use super::method::Method;
use super::nodesets;
use super::property;
use super::variable::{Source, Variable};

/// Largest number of nodes of one instance: a registry gets them in one request.
const MAX_NODES: usize = 1_000;

/// Largest depth of members.
const MAX_DEPTH: usize = 32;

/// Nodes of an instance. NamespaceIndexes are those of the Provider.
#[derive(Clone, Default)]
pub(super) struct Expanded {
    pub(super) path: String,
    /// The nodes, parents before children. The first one, the instance itself, has no parent yet.
    pub(super) nodes: Vec<AddNodesItem>,
    /// References to folders of NodeSets.
    pub(super) references: Vec<AddReferencesItem>,
    /// Bound Variables, with their whole paths.
    pub(super) variables: Vec<Variable>,
    /// Bound Methods, with their whole paths.
    pub(super) methods: Vec<Method>,
    /// Paths of all Variables and Methods that the Provider serves.
    pub(super) served: Vec<String>,
}

/// Expands an instance.
pub(super) fn expand(view: &View<'_>, instance: &Instance) -> Result<Expanded, InstanceError> {
    let mut instance = instance.clone();
    let extra = take_properties(&mut instance);
    let type_id = instance
        .type_name
        .find(view, nodesets::roots(NodeClass::Unspecified))?;
    let class = match view.node(&type_id).map(|node| node.node_class()) {
        Some(NodeClass::VariableType) => NodeClass::Variable,
        _ => NodeClass::Object,
    };
    let wanted: Vec<String> = instance.wanted().into_iter().map(str::to_owned).collect();
    let mut expansion = Expansion {
        view,
        instance: &instance,
        wanted,
        seen: BTreeMap::new(),
        used_placeholders: BTreeSet::new(),
        expanded: Expanded {
            path: instance.path.clone(),
            ..Expanded::default()
        },
    };
    expansion.check_abstract("", &type_id)?;
    let name = last_segment(&instance.path);
    let root = Place {
        path: String::new(),
        browse_name: QualifiedName::new(OWN_NAMESPACE, name),
        reference_type: ids::HAS_COMPONENT.into(),
        parent: ExpandedNodeId::default(),
    };
    expansion.add(root, class, &[], &type_id, 0)?;
    expansion.check_wanted(&extra)?;
    expansion.add_extra(extra);
    expansion.organize()?;
    // The Properties of `add_extra` were not counted yet.
    if expansion.expanded.nodes.len() > MAX_NODES {
        return Err(InstanceError::TooManyNodes { limit: MAX_NODES });
    }
    Ok(expansion.expanded)
}

/// Turns units, ranges and states of bound Variables into values of their Properties. Returns the paths of these.
fn take_properties(instance: &mut Instance) -> Vec<String> {
    let mut paths = Vec::new();
    let mut added = Vec::new();
    for variable in &mut instance.variables {
        for property in property::of_variable(variable) {
            let path = join(&variable.path, property.name);
            paths.push(path.clone());
            let data_type = NodeId::numeric(0, property.data_type);
            let mut value = Variable::stored(path, property.value).data_type(data_type);
            value.access = access::of_properties(&variable.access);
            added.push(value);
        }
        variable.unit = None;
        variable.range = None;
        variable.states = Vec::new();
    }
    instance.variables.extend(added);
    paths
}

/// Node to be added.
pub(super) struct Place {
    /// Path below the instance.
    path: String,
    pub(super) browse_name: QualifiedName,
    reference_type: NodeId,
    parent: ExpandedNodeId,
}

/// Expansion of one instance. Attributes are in `expansion_values`, checks of paths in `expansion_checks`.
pub(super) struct Expansion<'a, 'v> {
    pub(super) view: &'a View<'v>,
    pub(super) instance: &'a Instance,
    wanted: Vec<String>,
    /// NodeClass of the members that exist, and names of possible members of each: by path.
    pub(super) seen: BTreeMap<String, (NodeClass, Vec<String>)>,
    /// Paths of placeholders that have nodes in their place.
    pub(super) used_placeholders: BTreeSet<String>,
    pub(super) expanded: Expanded,
}

impl Expansion<'_, '_> {
    /// Adds a node and its members.
    fn add(
        &mut self,
        place: Place,
        class: NodeClass,
        declarations: &[NodeId],
        type_id: &NodeId,
        depth: usize,
    ) -> Result<(), InstanceError> {
        let path = place.path.clone();
        let whole = self.whole(&path);
        let node_id = ExpandedNodeId::from(NodeId::string(OWN_NAMESPACE, &whole));
        let attributes = match class {
            NodeClass::Variable => self.variable(&path, &whole, declarations, type_id, &place)?,
            NodeClass::Method => self.method(&path, &whole, declarations, &place)?,
            _ => ExtensionObject::from_structure(&ObjectAttributes {
                specified_attributes: mask::DISPLAY_NAME,
                display_name: self.display_name(declarations, &place),
                ..ObjectAttributes::default()
            }),
        };
        self.expanded.nodes.push(AddNodesItem {
            parent_node_id: place.parent,
            reference_type_id: place.reference_type,
            requested_new_node_id: node_id.clone(),
            browse_name: place.browse_name,
            node_class: class,
            node_attributes: attributes,
            type_definition: match class {
                NodeClass::Method => ExpandedNodeId::default(),
                _ => type_id.clone().into(),
            },
        });
        let members = match class {
            NodeClass::Method => self.arguments(declarations),
            _ => self.view.members(declarations, type_id),
        };
        let names = members.iter();
        let names = names.map(|member| member.browse_name.name.as_str().to_owned());
        self.seen.insert(path.clone(), (class, names.collect()));
        // A type may contain itself.
        if depth > MAX_DEPTH || self.expanded.nodes.len() > MAX_NODES {
            return Err(InstanceError::TooManyNodes { limit: MAX_NODES });
        }
        for member in &members {
            self.member(&path, &node_id, member, depth)?;
        }
        self.check_placeholders(&path, &node_id, &members)
    }

    fn member(
        &mut self,
        parent: &str,
        parent_id: &ExpandedNodeId,
        member: &TypeMember,
        depth: usize,
    ) -> Result<(), InstanceError> {
        let path = join(parent, member.browse_name.name.as_str());
        let Some(declaration) = member.declaration() else {
            return Ok(());
        };
        let declared = self.view.type_definition(declaration).unwrap_or_default();
        let place = |path: String, browse_name: QualifiedName| Place {
            path,
            browse_name,
            reference_type: member.reference_type.clone(),
            parent: parent_id.clone(),
        };
        if member.rule.is_placeholder() {
            let named: Vec<Placeholder> = self.instance.placeholders.clone();
            let named = named.into_iter().filter(|named| named.path == path);
            for named in named {
                self.used_placeholders.insert(path.clone());
                let path = join(parent, &named.name);
                let type_id = match &named.type_name {
                    Some(_) => self.narrowed(&path, named.type_name.as_ref(), member, &declared)?,
                    None => self.type_of(&path, member, &declared)?,
                };
                let name = QualifiedName::new(OWN_NAMESPACE, named.name.as_str());
                let place = place(path, name);
                self.add(
                    place,
                    member.node_class,
                    &member.declarations,
                    &type_id,
                    depth + 1,
                )?;
            }
            return Ok(());
        }
        let is_chosen = self.is_wanted(&path);
        let is_shared = member.node_class == NodeClass::Method && !is_chosen;
        if is_shared || (member.rule == ModellingRule::Optional && !is_chosen) {
            // Servers share a Method that is not bound with the type (OPC 10000-3, 6.4.2).
            return Ok(());
        }
        let type_id = match member.node_class {
            NodeClass::Method => NodeId::NULL,
            _ => self.type_of(&path, member, &declared)?,
        };
        let place = place(path, member.browse_name.clone());
        self.add(
            place,
            member.node_class,
            &member.declarations,
            &type_id,
            depth + 1,
        )
    }

    /// Returns the Properties of a Method with its arguments, which have no ModellingRule in most NodeSets.
    fn arguments(&self, declarations: &[NodeId]) -> Vec<TypeMember> {
        let Some(declaration) = declarations.first() else {
            return Vec::new();
        };
        let properties = self.view.children(declaration, ids::HAS_PROPERTY);
        let arguments = properties.into_iter().filter_map(|property| {
            let browse_name = self.view.node(&property)?.browse_name().to_owned();
            let name = browse_name.name.as_str();
            ["InputArguments", "OutputArguments"]
                .contains(&name)
                .then(|| TypeMember {
                    reference_type: ids::HAS_PROPERTY.into(),
                    declarations: vec![property],
                    browse_name: browse_name.clone(),
                    node_class: NodeClass::Variable,
                    rule: ModellingRule::Mandatory,
                })
        });
        arguments.collect()
    }

    /// Returns true if the application chose this member or one below it.
    fn is_wanted(&self, path: &str) -> bool {
        let below = |wanted: &String| {
            // A path whose last name only begins like this one is another member.
            let rest = wanted.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.wanted.iter().any(below)
    }

    /// Returns the type of a member: the chosen or the declared one.
    fn type_of(
        &self,
        path: &str,
        member: &TypeMember,
        declared: &NodeId,
    ) -> Result<NodeId, InstanceError> {
        let chosen = self.instance.types.iter().find(|(known, _)| known == path);
        self.narrowed(path, chosen.map(|(_, name)| name), member, declared)
    }

    fn narrowed(
        &self,
        path: &str,
        chosen: Option<&nodesets::TypeName>,
        member: &TypeMember,
        declared: &NodeId,
    ) -> Result<NodeId, InstanceError> {
        let type_id = match chosen {
            None => declared.clone(),
            Some(name) => {
                let type_id = name.find(self.view, nodesets::roots(member.node_class))?;
                if !self.view.is_subtype_of(&type_id, declared) {
                    return Err(InstanceError::NoSubtype {
                        path: path.to_owned(),
                        name: name.to_string(),
                        declared: self.name_of(declared),
                    });
                }
                type_id
            }
        };
        self.check_abstract(path, &type_id)?;
        Ok(type_id)
    }

    fn check_abstract(&self, path: &str, type_id: &NodeId) -> Result<(), InstanceError> {
        match self.view.node(type_id) {
            Some(node) if node.is_abstract() => Err(InstanceError::Abstract {
                path: path.to_owned(),
                name: self.name_of(type_id),
            }),
            _ => Ok(()),
        }
    }

    /// Adds Properties of bound Variables that their types do not have.
    fn add_extra(&mut self, extra: Vec<String>) {
        for path in extra {
            let variable = self
                .instance
                .variables
                .iter()
                .find(|known| known.path == path);
            let (Some(variable), false) = (variable, self.seen.contains_key(&path)) else {
                continue;
            };
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let Source::Stored(value) = &variable.source else {
                continue;
            };
            self.expanded.nodes.push(AddNodesItem {
                parent_node_id: NodeId::string(OWN_NAMESPACE, &self.whole(parent)).into(),
                reference_type_id: ids::HAS_PROPERTY.into(),
                requested_new_node_id: NodeId::string(OWN_NAMESPACE, &self.whole(&path)).into(),
                browse_name: QualifiedName::new(0, name),
                node_class: NodeClass::Variable,
                node_attributes: access::of_variable(
                    VariableAttributes {
                        specified_attributes: mask::ACCESS_LEVEL
                            | mask::USER_ACCESS_LEVEL
                            | mask::DATA_TYPE
                            | mask::DISPLAY_NAME
                            | mask::VALUE
                            | mask::VALUE_RANK,
                        display_name: name.into(),
                        data_type: variable.data_type.node_id(OWN_NAMESPACE),
                        value_rank: variable.value_rank,
                        value: Variant::clone(value),
                        access_level: 1,
                        user_access_level: 1,
                        ..VariableAttributes::default()
                    },
                    &variable.access,
                ),
                type_definition: NodeId::numeric(0, ids::PROPERTY_TYPE).into(),
            });
        }
    }

    /// Adds the references from folders of NodeSets.
    fn organize(&mut self) -> Result<(), InstanceError> {
        for path in &self.instance.folders {
            let mut folder = NodeId::from(ids::OBJECTS_FOLDER);
            for name in path.split('/') {
                let children = self.view.children(&folder, ids::HIERARCHICAL_REFERENCES);
                let child = children.into_iter().find(|child| {
                    let node = self.view.node(child);
                    node.is_some_and(|node| node.browse_name().name == Some(name))
                });
                folder = child.ok_or_else(|| InstanceError::NoFolder(path.clone()))?;
            }
            self.expanded.references.push(AddReferencesItem {
                source_node_id: NodeId::string(OWN_NAMESPACE, &self.instance.path),
                reference_type_id: ids::ORGANIZES.into(),
                is_forward: false,
                target_node_id: folder.into(),
                target_node_class: NodeClass::Object,
                ..AddReferencesItem::default()
            });
        }
        Ok(())
    }

    fn whole(&self, path: &str) -> String {
        join(&self.instance.path, path)
    }

    pub(super) fn name_of(&self, node: &NodeId) -> String {
        let name = self.view.node(node);
        let name = name.and_then(|node| node.browse_name().name.map(str::to_owned));
        name.unwrap_or_else(|| node.to_string())
    }
}

/// Returns a path below another one.
pub(super) fn join(parent: &str, name: &str) -> String {
    match (parent, name) {
        ("", name) => name.to_owned(),
        (parent, "") => parent.to_owned(),
        (parent, name) => format!("{parent}/{name}"),
    }
}

/// Returns the last name of a path.
pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
