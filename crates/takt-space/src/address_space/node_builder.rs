//! Addition of Objects, Variables and Methods by an application's own code.

use takt_ua::structures::Argument;
use takt_ua::{ExtensionObject, LocalizedText, NodeId, QualifiedName, ids};

use super::definition::{ClassAttributes, NodeDefinition, VariableDefinition, value_rank};
use super::edit::{Edit, NewReference};
use super::node::Binding;
use super::{AddressSpace, AddressSpaceError};
use crate::method::{CallError, LocalMethod, MethodCall, MethodHandler, OutputArguments};
use crate::node_access::NodeAccess;
use crate::value::Value;

impl AddressSpace {
    /// Begins an Object below the Objects folder, of BaseObjectType, unless specified otherwise.
    pub fn add_object(&self, browse_name: impl Into<QualifiedName>) -> NodeBuilder<'_> {
        let attributes = ClassAttributes::Object { event_notifier: 0 };
        self.builder(
            browse_name.into(),
            attributes,
            Some(ids::BASE_OBJECT_TYPE),
            ids::ORGANIZES,
        )
    }

    /// Begins a readable Variable below the Objects folder, of BaseDataVariableType, unless specified otherwise.
    pub fn add_variable(&self, browse_name: impl Into<QualifiedName>) -> NodeBuilder<'_> {
        let attributes = ClassAttributes::Variable(VariableDefinition::default());
        self.builder(
            browse_name.into(),
            attributes,
            Some(ids::BASE_DATA_VARIABLE_TYPE),
            ids::ORGANIZES,
        )
    }

    /// Begins a Method below the Objects folder, unless specified otherwise.
    pub fn add_method(&self, browse_name: impl Into<QualifiedName>) -> NodeBuilder<'_> {
        let attributes = ClassAttributes::Method { executable: true };
        self.builder(browse_name.into(), attributes, None, ids::HAS_COMPONENT)
    }

    fn builder(
        &self,
        browse_name: QualifiedName,
        attributes: ClassAttributes,
        type_definition: Option<u32>,
        reference_type: u32,
    ) -> NodeBuilder<'_> {
        NodeBuilder {
            space: self,
            definition: NodeDefinition::new(NodeId::NULL, browse_name, attributes),
            type_definition: type_definition.map(NodeId::from),
            parent: NodeId::from(ids::OBJECTS_FOLDER),
            reference_type: NodeId::from(reference_type),
            value: None,
            handler: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            has_data_type: false,
            has_value_rank: false,
            is_writable: false,
        }
    }
}

/// A node that is about to be added.
#[must_use = "the node is added by `add`"]
pub struct NodeBuilder<'a> {
    space: &'a AddressSpace,
    definition: NodeDefinition,
    type_definition: Option<NodeId>,
    parent: NodeId,
    reference_type: NodeId,
    value: Option<Value>,
    handler: Option<MethodHandler>,
    inputs: Vec<Argument>,
    outputs: Vec<Argument>,
    has_data_type: bool,
    has_value_rank: bool,
    is_writable: bool,
}

impl NodeBuilder<'_> {
    /// Sets the NodeId; by default a free numeric one in the namespace of the BrowseName, or in namespace 1 if that is 0.
    pub fn node_id(mut self, node_id: impl Into<NodeId>) -> Self {
        self.definition.node_id = node_id.into();
        self
    }

    /// Sets the DisplayName; by default the text of the BrowseName.
    pub fn display_name(mut self, text: impl Into<LocalizedText>) -> Self {
        self.definition.display_name = Some(Box::new(text.into()));
        self
    }

    /// Sets the Description; by default there is none.
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.definition.description = Some(Box::new(text.into()));
        self
    }

    /// Sets the EventNotifier of an Object (OPC 10000-3, 8.59): 1 for an Object whose Events clients may monitor.
    pub fn event_notifier(mut self, bits: u8) -> Self {
        if let ClassAttributes::Object { event_notifier } = &mut self.definition.attributes {
            *event_notifier = bits;
        }
        self
    }

    /// Sets RolePermissions and AccessRestrictions; by default the Roles have their default permissions.
    pub fn access(mut self, access: NodeAccess) -> Self {
        self.definition.access = Some(Box::new(access));
        self
    }

    /// Sets the parent, whose component (HasComponent) the node becomes.
    pub fn component_of(self, parent: impl Into<NodeId>) -> Self {
        self.below(parent, ids::HAS_COMPONENT)
    }

    /// Sets the parent, whose Property the Variable becomes; the Variable gets PropertyType.
    pub fn property_of(self, parent: impl Into<NodeId>) -> Self {
        self.below(parent, ids::HAS_PROPERTY)
            .type_definition(ids::PROPERTY_TYPE)
    }

    /// Sets the parent, and the hierarchical ReferenceType of the reference from it.
    pub fn below(mut self, parent: impl Into<NodeId>, reference_type: impl Into<NodeId>) -> Self {
        self.parent = parent.into();
        self.reference_type = reference_type.into();
        self
    }

    /// Sets the TypeDefinition of an Object or Variable.
    pub fn type_definition(mut self, type_definition: impl Into<NodeId>) -> Self {
        self.type_definition = Some(type_definition.into());
        self
    }

    /// Sets the DataType of a Variable; by default that of a stored value or cell, else BaseDataType.
    pub fn data_type(mut self, data_type: impl Into<NodeId>) -> Self {
        self.has_data_type = true;
        let data_type = data_type.into();
        self.variable(|variable| variable.data_type = data_type)
    }

    /// Makes a Variable an array of one dimension with at most `length` elements; 0: any number.
    pub fn array(mut self, length: u32) -> Self {
        self.has_value_rank = true;
        self.variable(|variable| {
            variable.value_rank = value_rank::ONE_DIMENSION;
            variable.array_dimensions = vec![length];
        })
    }

    /// Sets ValueRank and ArrayDimensions of a Variable.
    pub fn value_rank(mut self, value_rank: i32, array_dimensions: &[u32]) -> Self {
        self.has_value_rank = true;
        self.variable(|variable| {
            variable.value_rank = value_rank;
            variable.array_dimensions = array_dimensions.to_vec();
        })
    }

    /// Permits clients to write the Variable's value, and all parts of a DataValue that its source stores with it: see
    /// [`Value::write_access`].
    pub fn writable(mut self) -> Self {
        self.is_writable = true;
        self
    }

    /// Sets the AccessLevelEx of a Variable: bits of [`access_level`](crate::access_level).
    pub fn access_level(self, level: u32) -> Self {
        self.variable(|variable| variable.access_level = level)
    }

    /// Sets the source of the Variable's value.
    pub fn value(mut self, value: Value) -> Self {
        self.value = Some(value);
        self
    }

    /// Takes DataType and ValueRank from the value if they were not given.
    fn follow_value(mut self) -> Self {
        let Some((built_in_type, is_array)) = self.value.as_ref().and_then(Value::shape) else {
            return self;
        };
        let (has_data_type, has_value_rank) = (self.has_data_type, self.has_value_rank);
        self = self.variable(|variable| {
            if !has_data_type {
                // The identifier of a built-in type is its number (OPC 10000-6, 5.1.2).
                variable.data_type = NodeId::from(u32::from(built_in_type as u8));
            }
            if is_array && !has_value_rank {
                variable.value_rank = value_rank::ONE_DIMENSION;
            }
        });
        self
    }

    fn variable(mut self, change: impl FnOnce(&mut VariableDefinition)) -> Self {
        if let ClassAttributes::Variable(variable) = &mut self.definition.attributes {
            change(variable);
        }
        self
    }

    /// Adds an input argument of a Method: its name, DataType and ValueRank.
    pub fn input(mut self, name: &str, data_type: impl Into<NodeId>, value_rank: i32) -> Self {
        self.inputs
            .push(argument(name, data_type.into(), value_rank));
        self
    }

    /// Adds an output argument of a Method: its name, DataType and ValueRank.
    pub fn output(mut self, name: &str, data_type: impl Into<NodeId>, value_rank: i32) -> Self {
        self.outputs
            .push(argument(name, data_type.into(), value_rank));
        self
    }

    /// Sets the handler of the Method.
    pub fn handler(mut self, method: impl LocalMethod + 'static) -> Self {
        self.handler = Some(MethodHandler::local(method));
        self
    }

    /// Sets the handler of the Method: see [`MethodHandler::in_place`].
    pub fn in_place<F>(mut self, method: F) -> Self
    where
        F: Fn(&MethodCall<'_>, &mut OutputArguments<'_, '_>) -> Result<(), CallError>
            + Send
            + Sync
            + 'static,
    {
        self.handler = Some(MethodHandler::in_place(method));
        self
    }

    /// Adds the node, with the Properties for its arguments if it is a Method.
    ///
    /// # Errors
    /// The parent does not exist, or the NodeId cannot be used.
    pub fn add(self) -> Result<NodeId, AddressSpaceError> {
        self.follow_value().add_now()
    }

    fn add_now(self) -> Result<NodeId, AddressSpaceError> {
        // Before the checks, so that nothing changes between them and the addition.
        let mut edit = self.space.edit();
        let mut definition = self.definition;
        if edit.view().node(&self.parent).is_none() {
            return Err(AddressSpaceError::ParentNodeIdInvalid(self.parent));
        }
        if definition.node_id.is_null() {
            definition.node_id = edit.free_node_id(definition.browse_name.namespace.max(1));
        }
        let node_id = definition.node_id.clone();
        let mut value = None;
        if let ClassAttributes::Variable(variable) = &mut definition.attributes {
            let source = self.value.unwrap_or_else(Value::not_set);
            if self.is_writable {
                variable.access_level |= source.write_access();
            }
            value = Some(Binding::Value(source));
        }
        let mut references = vec![NewReference::inverse(self.reference_type, self.parent)];
        if let Some(type_definition) = self.type_definition {
            references.push(NewReference::forward(
                ids::HAS_TYPE_DEFINITION,
                type_definition,
            ));
        }
        edit.add_node_with(definition, &references, value, None)?;
        add_arguments(&mut edit, &node_id, "InputArguments", &self.inputs)?;
        add_arguments(&mut edit, &node_id, "OutputArguments", &self.outputs)?;
        // After the arguments, because the binding of a Method contains them.
        if let Some(handler) = self.handler {
            edit.set_method(&node_id, handler)?;
        }
        Ok(node_id)
    }
}

fn argument(name: &str, data_type: NodeId, value_rank: i32) -> Argument {
    Argument {
        name: name.into(),
        data_type,
        value_rank,
        ..Argument::default()
    }
}

fn add_arguments(
    edit: &mut Edit<'_>,
    method: &NodeId,
    name: &str,
    arguments: &[Argument],
) -> Result<(), AddressSpaceError> {
    if arguments.is_empty() {
        return Ok(());
    }
    let node_id = edit.free_node_id(method.namespace);
    let attributes = ClassAttributes::Variable(VariableDefinition {
        data_type: NodeId::from(ids::ARGUMENT),
        value_rank: value_rank::ONE_DIMENSION,
        array_dimensions: vec![u32::try_from(arguments.len()).unwrap_or(0)],
        ..VariableDefinition::default()
    });
    let value: Vec<ExtensionObject> = arguments
        .iter()
        .map(ExtensionObject::from_structure)
        .collect();
    edit.add_node_with(
        NodeDefinition::new(node_id, QualifiedName::new(0, name), attributes),
        &[
            NewReference::inverse(ids::HAS_PROPERTY, method.clone()),
            NewReference::forward(ids::HAS_TYPE_DEFINITION, ids::PROPERTY_TYPE),
        ],
        Some(Binding::Value(Value::stored(value))),
        None,
    )
}
