//! Rules for Writes of attributes that are part of the address space itself, such as a DataTypeDefinition.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::node::NodeRef;
use crate::caller::Caller;
use crate::remote::RemoteSource;

/// Rules for clients that write attributes other than the values that Variables accept by their AccessLevel.
pub trait AttributeWrites: Send + Sync {
    /// Returns WriteMask, and UserWriteMask of the caller, of a node (OPC 10000-3, 8.60).
    fn masks(&self, caller: &Caller, node: &NodeRef<'_>) -> (u32, u32);

    /// Returns the source that carries out a Write, and also refuses it; `None` if the Write is refused as if there were no rules.
    fn writer(&self, node: &NodeRef<'_>, attribute_id: u32) -> Option<Arc<dyn RemoteSource>>;
}

/// The rules of an address space, once they are set.
#[derive(Default)]
pub(super) struct Hook(OnceLock<Arc<dyn AttributeWrites>>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.get().is_some())
    }
}

impl Hook {
    /// Sets the rules; a second call has no effect.
    pub(super) fn set(&self, rules: Arc<dyn AttributeWrites>) {
        // The first rules stay.
        let _ = self.0.set(rules);
    }

    /// Returns the rules, if they are set.
    #[inline]
    pub(super) fn get(&self) -> Option<&dyn AttributeWrites> {
        self.0.get().map(Arc::as_ref)
    }
}
