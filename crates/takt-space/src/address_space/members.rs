//! Members that a type declares for its instances: InstanceDeclarations and their ModellingRules (OPC 10000-3, 6.3 and 6.4).

use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, NodeIdRef, QualifiedName, ids};

use super::hierarchy::{MAX_TYPE_DEPTH, TypeFilter};
use super::view::View;

/// Largest number of members of one node, and of interfaces and overridden declarations that are searched for them.
const MAX_MEMBERS: usize = 10_000;

/// ModellingRule of a member (OPC 10000-3, 6.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModellingRule {
    /// Every instance has the member.
    Mandatory,
    /// An instance may have the member.
    Optional,
    /// An instance has one or more nodes like the member, each with a name of its own.
    MandatoryPlaceholder,
    /// An instance has any number of nodes like the member, each with a name of its own.
    OptionalPlaceholder,
}

/// Member that instances of a type have, or may have.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeMember {
    /// ReferenceType from the instance to the member.
    pub reference_type: NodeId,
    /// InstanceDeclarations: the most derived one, and those that it overrides in supertypes and interfaces.
    pub declarations: Vec<NodeId>,
    /// BrowseName.
    pub browse_name: QualifiedName,
    /// NodeClass: Object, Variable or Method.
    pub node_class: NodeClass,
    /// ModellingRule of the most derived declaration.
    pub rule: ModellingRule,
}

impl ModellingRule {
    fn of(rule: NodeIdRef<'_>) -> Option<Self> {
        Some(match rule.standard_id()? {
            ids::MODELLING_RULE_MANDATORY => Self::Mandatory,
            ids::MODELLING_RULE_OPTIONAL => Self::Optional,
            ids::MODELLING_RULE_MANDATORY_PLACEHOLDER => Self::MandatoryPlaceholder,
            ids::MODELLING_RULE_OPTIONAL_PLACEHOLDER => Self::OptionalPlaceholder,
            _ => return None,
        })
    }

    /// Returns true if the member stands for nodes with names of their own.
    pub fn is_placeholder(self) -> bool {
        matches!(self, Self::MandatoryPlaceholder | Self::OptionalPlaceholder)
    }
}

impl TypeMember {
    /// Returns the most derived declaration.
    pub fn declaration(&self) -> Option<&NodeId> {
        self.declarations.first()
    }
}

impl View<'_> {
    /// Returns the members of a node: those below its declarations, those of its type and supertypes, and those of the
    /// interfaces of all of them (HasInterface; OPC 10000-3, 4.10). `declarations` is empty for an instance that is no member
    /// itself.
    ///
    /// A member overrides those with the same BrowseName that come later in this order.
    pub fn members(&self, declarations: &[NodeId], type_definition: &NodeId) -> Vec<TypeMember> {
        let mut owners: Vec<NodeId> = declarations.to_vec();
        self.add_with_supertypes(type_definition, &mut owners);
        let mut next = 0;
        while let Some(owner) = owners.get(next).cloned() {
            next += 1;
            for interface in self.children(&owner, ids::HAS_INTERFACE) {
                self.add_with_supertypes(&interface, &mut owners);
            }
            if owners.len() > MAX_MEMBERS {
                break;
            }
        }
        let mut members: Vec<TypeMember> = Vec::new();
        for owner in &owners {
            for member in self.declared_members(owner) {
                let known = members
                    .iter()
                    .position(|known| known.browse_name == member.browse_name);
                if let Some(known) = known.and_then(|known| members.get_mut(known)) {
                    known.declarations.extend(member.declarations);
                } else if members.len() < MAX_MEMBERS {
                    members.push(member);
                }
            }
        }
        members
    }

    /// Returns the nodes that a type's instances refer to as members, without those of supertypes.
    fn declared_members(&self, owner: &NodeId) -> Vec<TypeMember> {
        let Some(node) = self.node(owner) else {
            return Vec::new();
        };
        let mut aggregates = TypeFilter::with_subtypes(NodeIdRef::from(ids::AGGREGATES));
        let mut organizes = TypeFilter::with_subtypes(NodeIdRef::from(ids::ORGANIZES));
        let references = node.references();
        let members = references.forward().filter_map(|reference| {
            let target = reference.local_target()?;
            let is_member = aggregates.matches(self, reference.reference_type)
                || organizes.matches(self, reference.reference_type);
            if !is_member {
                return None;
            }
            let child = self.node(target)?;
            let node_class = child.node_class();
            let rule = child
                .references()
                .targets(ids::HAS_MODELLING_RULE, true)
                .find_map(ModellingRule::of)?;
            let is_instance = matches!(
                node_class,
                NodeClass::Object | NodeClass::Variable | NodeClass::Method
            );
            is_instance.then(|| TypeMember {
                reference_type: reference.reference_type.to_owned(),
                declarations: vec![target.to_owned()],
                browse_name: child.browse_name().to_owned(),
                node_class,
                rule,
            })
        });
        members.collect()
    }

    fn add_with_supertypes(&self, type_id: &NodeId, owners: &mut Vec<NodeId>) {
        let mut current = (!type_id.is_null()).then(|| type_id.clone());
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(type_id) = current else { return };
            // Then its supertypes are there as well.
            if owners.contains(&type_id) {
                return;
            }
            current = self.supertype(&type_id);
            owners.push(type_id);
        }
    }
}
