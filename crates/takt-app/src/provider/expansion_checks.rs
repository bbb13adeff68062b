//! Checks that the paths of an instance are those of members of its type, and that mandatory placeholders have nodes.

use takt_space::{ModellingRule, TypeMember};
use takt_ua::enumerations::NodeClass;
use takt_ua::{ExpandedNodeId, NodeId};

use super::expansion::{Expansion, join};
use super::instance_error::InstanceError;

impl Expansion<'_, '_> {
    /// Checks that every path of the application is that of a member of the right NodeClass.
    pub(super) fn check_wanted(&self, extra: &[String]) -> Result<(), InstanceError> {
        for placeholder in &self.instance.placeholders {
            if !self.used_placeholders.contains(&placeholder.path) {
                return Err(match self.seen.contains_key(&placeholder.path) {
                    true => InstanceError::NoPlaceholder(placeholder.path.clone()),
                    false => self.unknown(&placeholder.path),
                });
            }
        }
        let classes =
            |path: &str, class: NodeClass, expected: &'static str| match self.seen.get(path) {
                Some((found, _)) if *found != class => Err(InstanceError::NodeClass {
                    path: path.to_owned(),
                    expected,
                }),
                Some(_) => Ok(()),
                None => Err(self.unknown(path)),
            };
        for variable in &self.instance.variables {
            if !extra.contains(&variable.path) || self.seen.contains_key(&variable.path) {
                classes(&variable.path, NodeClass::Variable, "Variable")?;
            }
        }
        for method in &self.instance.methods {
            classes(&method.path, NodeClass::Method, "Method")?;
        }
        let types = self.instance.types.iter().map(|(path, _)| path);
        let mut others = types.chain(&self.instance.optional);
        match others.find(|path| !self.seen.contains_key(*path)) {
            Some(path) => Err(self.unknown(path)),
            None => Ok(()),
        }
    }

    /// Checks that each mandatory placeholder of a node has a node in its place. It may be another member, with the ReferenceType and
    /// the TypeDefinition of the placeholder or subtypes of them (OPC 10000-3, 6.4.4.4.5).
    pub(super) fn check_placeholders(
        &self,
        parent: &str,
        parent_id: &ExpandedNodeId,
        members: &[TypeMember],
    ) -> Result<(), InstanceError> {
        let mandatory = members.iter();
        let mandatory =
            mandatory.filter(|member| member.rule == ModellingRule::MandatoryPlaceholder);
        for placeholder in mandatory {
            let declaration = placeholder.declaration();
            let declared = declaration.and_then(|node| self.view.type_definition(node));
            let declared = declared.unwrap_or_default();
            let is_subtype = |node: &NodeId, of: &NodeId| self.view.is_subtype_of(node, of);
            let is_present = self.expanded.nodes.iter().any(|node| {
                node.parent_node_id == *parent_id
                    && node.node_class == placeholder.node_class
                    && is_subtype(&node.reference_type_id, &placeholder.reference_type)
                    && (node.node_class == NodeClass::Method
                        || is_subtype(&node.type_definition.node_id, &declared))
            });
            if !is_present {
                let path = join(parent, placeholder.browse_name.name.as_str());
                return Err(InstanceError::MissingPlaceholder(path));
            }
        }
        Ok(())
    }

    fn unknown(&self, path: &str) -> InstanceError {
        let mut parent = path;
        while !parent.is_empty() && !self.seen.contains_key(parent) {
            parent = parent.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        let members = self.seen.get(parent);
        let members = members.map(|(_, names)| names.clone()).unwrap_or_default();
        let rest = path.get(parent.len()..).unwrap_or_default();
        let rest = rest.trim_start_matches('/');
        let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
        if members.iter().any(|member| member == name) {
            return InstanceError::Unnamed(join(parent, name));
        }
        let likeness = |member: &String| strsim::jaro_winkler(member, name);
        let likely = members.iter().filter(|member| likeness(member) > 0.7);
        let similar = likely.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let similar = similar.map(|similar| join(&join(parent, similar), below));
        InstanceError::UnknownMember {
            path: path.to_owned(),
            similar: similar.map(|path| path.trim_end_matches('/').to_owned()),
            parent: parent.to_owned(),
            members,
        }
    }
}
