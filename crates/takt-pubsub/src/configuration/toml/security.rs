//! SecurityMode of groups and readers (OPC 10000-14, 6.2.5.2).

use takt_ua::enumerations::MessageSecurityMode;

use super::scalar::Enumeration;

/// Name of a MessageSecurityMode.
pub(super) type SecurityMode = Enumeration<{ MessageSecurityMode::TYPE_ID }>;

/// Mode of a group that has no such key.
pub(super) const GROUP: MessageSecurityMode = MessageSecurityMode::None;
/// Mode of a reader that has no such key: that of its group.
pub(super) const READER: MessageSecurityMode = MessageSecurityMode::Invalid;

/// Returns the mode, or the default if there is none.
pub(super) fn read(
    mode: Option<SecurityMode>,
    default: MessageSecurityMode,
) -> MessageSecurityMode {
    mode.map_or(default, |mode| MessageSecurityMode(mode.0))
}

/// Returns the mode, or `None` if it is the default.
pub(super) fn write(
    mode: MessageSecurityMode,
    default: MessageSecurityMode,
) -> Option<SecurityMode> {
    (mode != default).then_some(Enumeration(mode.0))
}
