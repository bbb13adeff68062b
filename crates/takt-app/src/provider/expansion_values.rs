//! Attributes of the Variables and Methods of an instance: those of their declarations, with what the application binds.

use takt_client::model::OWN_NAMESPACE;
use takt_space::VariableRef;
use takt_ua::structures::{MethodAttributes, VariableAttributes};
use takt_ua::{BuiltInType, ExtensionObject, NodeId, ids};

use super::access;
use super::expansion::{Expansion, Place, last_segment};
use super::instance_error::InstanceError;
use super::mask;
use super::variable::{Source, Variable};

impl Expansion<'_, '_> {
    /// Returns the attributes of a Variable, and notes its value.
    pub(super) fn variable(
        &mut self,
        path: &str,
        whole: &str,
        declarations: &[NodeId],
        type_id: &NodeId,
        place: &Place,
    ) -> Result<ExtensionObject, InstanceError> {
        let display_name = self.display_name(declarations, place);
        let template = declarations.first().unwrap_or(type_id);
        let node = self.view.node(template);
        let declared = node.as_ref().and_then(|node| node.typed());
        let (data_type, value_rank, dimensions) = match declared {
            Some(VariableRef {
                data_type,
                value_rank,
                array_dimensions,
                ..
            }) => (data_type.to_owned(), value_rank, array_dimensions.to_vec()),
            None => (NodeId::from(ids::BASE_DATA_TYPE), -2, Vec::new()),
        };
        let mut attributes = VariableAttributes {
            specified_attributes: mask::ACCESS_LEVEL
                | mask::USER_ACCESS_LEVEL
                | mask::ARRAY_DIMENSIONS
                | mask::DATA_TYPE
                | mask::DISPLAY_NAME
                | mask::VALUE_RANK,
            display_name,
            data_type,
            value_rank,
            array_dimensions: dimensions,
            access_level: 1,
            user_access_level: 1,
            ..VariableAttributes::default()
        };
        let mut bound = self.instance.variables.iter();
        let bound = bound.rfind(|variable| variable.path == path);
        let Some(bound) = bound else {
            if let Some(value) = self.view.declared_value(template) {
                attributes.specified_attributes |= mask::VALUE;
                attributes.value = value;
            }
            // Arguments are the registry's own, because it checks calls.
            if !matches!(last_segment(path), "InputArguments" | "OutputArguments") {
                self.expanded.served.push(whole.to_owned());
            }
            return Ok(ExtensionObject::from_structure(&attributes));
        };
        attributes.data_type = self.data_type(path, bound, &attributes.data_type)?;
        let rank = value_rank_of(path, bound, value_rank)?;
        if rank != value_rank || attributes.array_dimensions.is_empty() {
            attributes
                .array_dimensions
                .clone_from(&bound.array_dimensions);
        }
        attributes.value_rank = rank;
        let [level, ..] = bound.access_level().to_le_bytes();
        attributes.access_level = level;
        attributes.user_access_level = level;
        let attributes = access::of_variable(attributes, &bound.access);
        let mut bound = bound.clone();
        whole.clone_into(&mut bound.path);
        self.expanded.served.push(whole.to_owned());
        self.expanded.variables.push(bound);
        Ok(attributes)
    }

    /// Returns the DataType of a bound Variable: its own one if it is a subtype of the declared one, or the declared one.
    fn data_type(
        &self,
        path: &str,
        bound: &Variable,
        declared: &NodeId,
    ) -> Result<NodeId, InstanceError> {
        let own = bound.data_type.node_id(OWN_NAMESPACE);
        let is_default = own == NodeId::numeric(0, bound.built_in_type as u32);
        if !is_default && self.view.is_subtype_of(&own, declared) {
            return Ok(own);
        }
        let mismatch = || InstanceError::DataType {
            path: path.to_owned(),
            found: bound.built_in_type,
            declared: self.name_of(declared),
        };
        if !is_default {
            return Err(mismatch());
        }
        if bound.built_in_type == BuiltInType::ExtensionObject {
            // The structure itself says its type, which Reads and Writes check.
            return match self.view.built_in_type(declared) {
                Some(BuiltInType::ExtensionObject | BuiltInType::Variant) => Ok(declared.clone()),
                _ => Err(mismatch()),
            };
        }
        self.view
            .narrowed(declared, bound.built_in_type)
            .ok_or_else(mismatch)
    }

    /// Returns the attributes of a bound Method.
    pub(super) fn method(
        &mut self,
        path: &str,
        whole: &str,
        declarations: &[NodeId],
        place: &Place,
    ) -> Result<ExtensionObject, InstanceError> {
        let display_name = self.display_name(declarations, place);
        let mut bound = self.instance.methods.iter();
        let bound = bound.rfind(|method| method.path == path);
        // A Method that is only wanted has a node of its own, and cannot be called.
        let access = bound.map(|bound| bound.access.clone()).unwrap_or_default();
        if let Some(bound) = bound {
            let mut bound = bound.clone();
            whole.clone_into(&mut bound.path);
            self.expanded.methods.push(bound);
            self.expanded.served.push(whole.to_owned());
        }
        let attributes = MethodAttributes {
            specified_attributes: mask::EXECUTABLE | mask::USER_EXECUTABLE | mask::DISPLAY_NAME,
            display_name,
            executable: bound.is_some(),
            user_executable: bound.is_some(),
            ..MethodAttributes::default()
        };
        Ok(access::of_method(attributes, &access))
    }

    pub(super) fn display_name(
        &self,
        declarations: &[NodeId],
        place: &Place,
    ) -> takt_ua::LocalizedText {
        let declared = declarations.first().and_then(|node| self.view.node(node));
        match declared {
            Some(node) if node.browse_name() == place.browse_name.as_ref() => {
                node.display_name().to_owned()
            }
            _ => place.browse_name.name.as_str().into(),
        }
    }
}

/// Returns the ValueRank of a bound Variable.
fn value_rank_of(path: &str, bound: &Variable, declared: i32) -> Result<i32, InstanceError> {
    let found = bound.value_rank;
    let fits = match declared {
        // Any; a scalar or one dimension; one or more dimensions (OPC 10000-3, 5.6.2).
        -2 => true,
        -3 => found == -1 || found == 1,
        0 => found >= 1,
        declared => found == declared,
    };
    match (fits, &bound.source) {
        (true, _) => Ok(found),
        // A callback declares no rank of its own unless it is an array.
        (false, Source::Callback(_)) if found == -1 => Ok(declared),
        _ => Err(InstanceError::ValueRank {
            path: path.to_owned(),
            found,
            declared,
        }),
    }
}
