//! Nodes of iceoryx2 in a runtime directory.

use std::path::Path;

use iceoryx2::prelude::{Node, NodeBuilder, NodeName, SignalHandlingMode};

use crate::directory::ipc::Ipc;
use crate::directory::leftovers;
use crate::directory::location::SHARED_MEMORY_DIRECTORY;
use crate::directory::management;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;

impl Runtime {
    /// Creates a node of iceoryx2.
    pub(crate) fn node(&self, name: &str) -> Result<Node<Ipc>, ShmError> {
        let operation = "create a node";
        let name = NodeName::new(name).map_err(|e| ShmError::iceoryx(operation, e))?;
        let make = || {
            NodeBuilder::new()
                .name(&name)
                .config(self.iceoryx2_config())
                .signal_handling_mode(SignalHandlingMode::Disabled)
                .create::<Ipc>()
                .map_err(|e| ShmError::iceoryx(operation, e))
        };
        let shared = Path::new(SHARED_MEMORY_DIRECTORY);
        let prefix = self.iceoryx2_config().global.prefix.to_string();
        if management::is_empty(shared, &prefix) {
            leftovers::remove_unborn(&prefix);
        }
        let node = match make() {
            Err(_) if management::remove_damaged(shared, &prefix)? => make(),
            made => made,
        };
        management::protect(shared, &prefix);
        node
    }
}
