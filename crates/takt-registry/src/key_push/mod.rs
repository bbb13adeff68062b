//! Push of keys: the registry sets the keys of SecurityGroups at other applications (OPC 10000-14, 8.6).
//!
//! Push targets come from the options of the registry, and from AddPushTarget; the latter are in the database. Each target has a
//! thread, so that one that does not answer delays no other. A push carries the current key and all future ones. The next one
//! follows after half a KeyLifetime, but after 10 s at most, because a target that was started again may have no keys; and at once
//! when keys are invalidated or rotated.

mod changes;
mod methods;
mod nodes;
mod options;
mod parts;
mod running;
mod schedule;
mod target;
mod targets;

use std::sync::Arc;

use takt_ua::structures::PubSubKeyPushTargetDataType;

use crate::error::RegistryError;
use changes::PushTargetChanges;
use targets::PushTargets;

pub use options::{PushTargetError, PushTargetOptions};
pub(crate) use parts::KeyPushParts;

/// The push targets. Their threads end when this is dropped.
pub(crate) struct KeyPush(Arc<PushTargets>);

impl KeyPush {
    /// Shows the configured targets and the stored ones in the address space, binds the Methods, and starts to push.
    pub(crate) fn start(
        configured: &[PushTargetOptions],
        stored: Vec<PubSubKeyPushTargetDataType>,
        parts: KeyPushParts<'_>,
    ) -> Result<Self, RegistryError> {
        let space = parts.space;
        let targets = PushTargets::start(configured, stored, &parts)?;
        let changes: Arc<dyn PushTargetChanges> = targets.clone();
        methods::bind(space, parts.durable, &Arc::downgrade(&changes))?;
        Ok(Self(targets))
    }
}

impl Drop for KeyPush {
    fn drop(&mut self) {
        self.0.end();
    }
}
