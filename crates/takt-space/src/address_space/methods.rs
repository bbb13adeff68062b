//! Methods and the Objects on which they can be called (OPC 10000-4, 5.12.2.1).

use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeIdRef, ids};

use super::hierarchy::{MAX_TYPE_DEPTH, TypeFilter};
use super::node::NodeRef;
use super::view::View;

impl View<'_> {
    /// Returns true if the Method can be called on this Object or ObjectType: the node itself, its type, or a supertype of it
    /// has the Method as a component.
    #[inline]
    pub fn is_method_of(&self, method: &NodeRef<'_>, object: &NodeRef<'_>) -> bool {
        // From the side of the Method: it has few parents, while an Object may have thousands of components.
        if self.is_owned_by(method, |owner| object.node_id() == owner) {
            return true;
        }
        let mut current = match object.node_class() {
            NodeClass::Object => self.type_definition(object.node_id()),
            _ => self.supertype(object.node_id()),
        };
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(type_id) = current else { break };
            if self.is_owned_by(method, |owner| owner == type_id.as_ref()) {
                return true;
            }
            current = self.supertype(&type_id);
        }
        self.is_shelving(method, object)
    }

    /// Returns true if the Method shelves, and the Object is an alarm or its ShelvingState: ConditionIds are accepted in place of the
    /// ShelvingState, and Methods of the AlarmConditionType in place of those of the machine (OPC 10000-9, 5.8.17.3).
    fn is_shelving(&self, method: &NodeRef<'_>, object: &NodeRef<'_>) -> bool {
        let declared = NodeIdRef::from(ids::ALARM_CONDITION_TYPE_SHELVING_STATE);
        let machine = NodeIdRef::from(ids::SHELVED_STATE_MACHINE_TYPE);
        if object.node_class() != NodeClass::Object
            || !self.is_owned_by(method, |owner| owner == declared || owner == machine)
        {
            return false;
        }
        let of_object = self.type_definition(object.node_id());
        of_object.is_some_and(|of_object| {
            of_object.as_ref() == machine
                || self.is_subtype_of(&of_object, ids::ALARM_CONDITION_TYPE)
        })
    }

    #[inline]
    fn is_owned_by(&self, method: &NodeRef<'_>, is: impl Fn(NodeIdRef<'_>) -> bool) -> bool {
        let mut components = TypeFilter::with_subtypes(NodeIdRef::from(ids::HAS_COMPONENT));
        let references = method.references();
        references
            .iter()
            .filter(|reference| !reference.is_forward)
            .filter(|reference| components.matches(self, reference.reference_type))
            .any(|reference| reference.local_target().is_some_and(&is))
    }
}
