//! Parts of the registry that push targets use.

use std::sync::Arc;

use takt_app::ClientOptions;
use takt_space::AddressSpace;

use crate::durable::DurableMethods;
use crate::rules::Rules;
use crate::security_groups::SecurityGroups;

/// Parts of the registry that push targets use.
pub(crate) struct KeyPushParts<'a> {
    pub(crate) groups: &'a Arc<SecurityGroups>,
    pub(crate) rules: &'a Arc<Rules>,
    pub(crate) durable: &'a Arc<DurableMethods>,
    pub(crate) space: &'a Arc<AddressSpace>,
    /// Options of encrypted connections.
    pub(crate) client: ClientOptions,
}
