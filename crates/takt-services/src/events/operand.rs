//! Operands of filters (OPC 10000-4, 7.7.4), checked. The module `filter` decodes them.

use takt_space::{Event, View};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::SimpleAttributeOperand;
use takt_ua::{NodeId, NumericRange, QualifiedName, StatusCode, Variant, ids};

use crate::reading::attributes::{NODE_ID, VALUE};

/// Maximum number of names in a BrowsePath.
const MAX_PATH: usize = 16;

/// An operand of an element of a WHERE clause.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// Result of a later element.
    Element(usize),
    Literal(Variant),
    Field(Field),
}

/// A field of Events: SimpleAttributeOperand.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// EventType that an Event must have; `None`: any.
    of_type: Option<NodeId>,
    /// BrowsePath; empty for the ConditionId.
    path: Vec<QualifiedName>,
    range: Option<NumericRange>,
}

impl Field {
    /// Checks an operand.
    ///
    /// BaseEventType selects a field of any EventType, whether it is known or not (OPC 10000-4, 7.22.3).
    pub(super) fn check(
        operand: SimpleAttributeOperand,
        view: &View<'_>,
    ) -> Result<Self, StatusCode> {
        let type_id = operand.type_definition_id;
        let is_any = type_id.is_null() || type_id.standard_id() == Some(ids::BASE_EVENT_TYPE);
        let path = operand.browse_path;
        if path.len() > MAX_PATH {
            return Err(StatusCode::BadTooManyOperations);
        }
        if !is_any && !view.is_subtype_of(&type_id, ids::BASE_EVENT_TYPE) {
            return Err(match view.node(&type_id) {
                Some(_) => StatusCode::BadTypeDefinitionInvalid,
                None => StatusCode::BadNodeIdUnknown,
            });
        }
        let is_condition_id = operand.attribute_id == NODE_ID && path.is_empty();
        if path.is_empty() && !is_condition_id {
            return Err(StatusCode::BadBrowseNameInvalid);
        }
        if path.iter().any(|name| name.name.is_empty()) {
            return Err(StatusCode::BadBrowseNameInvalid);
        }
        if operand.attribute_id != VALUE && !is_condition_id {
            return Err(StatusCode::BadAttributeIdInvalid);
        }
        if !is_any && !is_condition_id && !has_declaration(view, &type_id, &path) {
            return Err(StatusCode::BadNodeIdUnknown);
        }
        let range = NumericRange::of_request(operand.index_range.as_option())?;
        Ok(Self {
            of_type: (!is_any).then_some(type_id),
            path,
            range,
        })
    }

    /// Returns the value of the field in an Event: null if the Event does not have it.
    pub(super) fn value(&self, event: &Event, view: &View<'_>) -> Variant {
        if let Some(of_type) = &self.of_type
            && !view.is_subtype_of(event.event_type(), of_type)
        {
            return Variant::Empty;
        }
        if self.path.is_empty() {
            return match event.condition() {
                none if none.is_null() => Variant::Empty,
                condition => condition.clone().into(),
            };
        }
        match (event.get(&self.path), &self.range) {
            (Some(value), None) => value.clone(),
            (Some(value), Some(range)) => range.read(value).unwrap_or_default(),
            (None, _) => Variant::Empty,
        }
    }

    /// Returns the approximate bytes of memory beside the structure.
    pub(super) fn memory(&self) -> usize {
        let names = self
            .path
            .iter()
            .map(|name| size_of_val(name) + name.name.as_str().len());
        names.sum()
    }
}

/// Returns true if an EventType or a supertype declares the field.
fn has_declaration(view: &View<'_>, type_id: &NodeId, path: &[QualifiedName]) -> bool {
    /// Maximum depth of types.
    const MAX_DEPTH: usize = 64;
    let mut current = Some(type_id.clone());
    for _ in 0..MAX_DEPTH {
        let Some(owner) = current else { return false };
        let mut found = Some(owner.clone());
        for name in path {
            found = found
                .and_then(|node| view.child(&node, ids::HIERARCHICAL_REFERENCES, name.as_ref()));
        }
        let class = found.and_then(|node| Some(view.node(&node)?.node_class()));
        if matches!(class, Some(NodeClass::Variable | NodeClass::Object)) {
            return true;
        }
        current = view.supertype(&owner);
    }
    false
}
