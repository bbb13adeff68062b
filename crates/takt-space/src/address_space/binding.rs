//! Binding of value sources to Variables and of handlers to Methods.

use std::sync::atomic::{AtomicUsize, Ordering};

use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, StatusCode};

use super::edit::Edit;
use super::error::AddressSpaceError;
use super::node::{Binding, MethodBinding, Node};
use super::space::AddressSpace;
use crate::access_level;
use crate::method::MethodHandler;
use crate::value::Value;

impl AddressSpace {
    /// Sets the source of a Variable's value.
    ///
    /// # Errors
    /// There is no such node, or it is not a Variable.
    pub fn set_value(&self, node_id: &NodeId, value: Value) -> Result<(), AddressSpaceError> {
        self.edit().set_value(node_id, value)
    }

    /// Sets whether this server keeps the history of a Variable: its AccessLevel then has HistoryRead, and Historizing is true.
    /// The EventNotifier of an Object that notifies of Events has HistoryRead then.
    ///
    /// # Errors
    /// There is no such node.
    pub fn set_historized(
        &self,
        node_id: &NodeId,
        is_historized: bool,
    ) -> Result<(), AddressSpaceError> {
        let edit = self.edit();
        let node = edit
            .editable(node_id)
            .ok_or_else(|| AddressSpaceError::NodeIdUnknown(node_id.clone()))?;
        node.is_historized.store(is_historized, Ordering::Relaxed);
        Ok(())
    }

    /// Sets the handler of a Method. Its InputArguments are read now.
    ///
    /// # Errors
    /// There is no such node, or it is not a Method.
    pub fn set_method(
        &self,
        node_id: &NodeId,
        handler: MethodHandler,
    ) -> Result<(), AddressSpaceError> {
        self.edit().set_method(node_id, handler)
    }

    /// Sets the StatusCode of a Variable whose value is a cell or stored, and keeps value and source timestamp.
    ///
    /// # Errors
    /// There is no such node, or its value has another kind of source.
    pub fn set_status(
        &self,
        node_id: &NodeId,
        status: StatusCode,
    ) -> Result<(), AddressSpaceError> {
        let view = self.view();
        let node = view
            .node(node_id)
            .ok_or_else(|| AddressSpaceError::NodeIdUnknown(node_id.clone()))?;
        match node.value() {
            Some(value) => value
                .set_status(status)
                .map_err(|_| AddressSpaceError::NoBinding(node_id.clone())),
            None => Err(AddressSpaceError::NoBinding(node_id.clone())),
        }
    }
}

impl Edit<'_> {
    /// Sets the source of a Variable's value.
    ///
    /// # Errors
    /// There is no such node, or it is not a Variable.
    pub fn set_value(&mut self, node_id: &NodeId, value: Value) -> Result<(), AddressSpaceError> {
        self.set_binding(node_id, NodeClass::Variable, Binding::Value(value))
    }

    /// Sets the handler of a Method. Its InputArguments are read now.
    ///
    /// # Errors
    /// There is no such node, or it is not a Method.
    pub fn set_method(
        &mut self,
        node_id: &NodeId,
        handler: MethodHandler,
    ) -> Result<(), AddressSpaceError> {
        // A Call compares its arguments with these, without a search for the Property.
        let inputs = self.space.stored().input_arguments(node_id);
        self.set_binding(
            node_id,
            NodeClass::Method,
            Binding::Method(MethodBinding { handler, inputs }),
        )
    }

    fn set_binding(
        &mut self,
        node_id: &NodeId,
        node_class: NodeClass,
        binding: Binding,
    ) -> Result<(), AddressSpaceError> {
        match self.space.stored().node(node_id) {
            None => return Err(AddressSpaceError::NodeIdUnknown(node_id.clone())),
            Some(node) if node.node_class() != node_class => {
                return Err(AddressSpaceError::NoBinding(node_id.clone()));
            }
            Some(_) => {}
        }
        if let Some(node) = self.editable(node_id) {
            self.rebind(&node, Some(binding));
        }
        Ok(())
    }

    /// Binds a node and counts the remote bindings. The count is raised before the binding is set and lowered after it is
    /// replaced, so that it is never below their number.
    pub(super) fn rebind(&self, node: &Node, binding: Option<Binding>) {
        if let Some(number) = binding.as_ref().and_then(|new| self.remotes(node, new)) {
            number.fetch_add(1, Ordering::Relaxed);
        }
        let before = node.bind(binding);
        if let Some(number) = before.as_ref().and_then(|old| self.remotes(node, old)) {
            number.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts the binding of a node that takes the place of another one, if it is remote.
    pub(super) fn count_remote(&self, node: &Node) {
        let binding = node.binding();
        if let Some(number) = binding.as_ref().and_then(|bound| self.remotes(node, bound)) {
            number.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Stops to count the binding of a node whose place another one has taken.
    pub(super) fn discount_remote(&self, node: &Node) {
        let binding = node.binding();
        if let Some(number) = binding.as_ref().and_then(|bound| self.remotes(node, bound)) {
            number.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns the number in which a binding of this node counts, if it is remote.
    fn remotes(&self, node: &Node, binding: &Binding) -> Option<&AtomicUsize> {
        let is_writable = || node.access_level.unwrap_or(0) & access_level::CURRENT_WRITE != 0;
        match binding {
            _ if !binding.is_remote() => None,
            Binding::Value(_) => is_writable().then_some(&self.space.remote_targets),
            Binding::Method(_) => Some(&self.space.remote_methods),
        }
    }
}
