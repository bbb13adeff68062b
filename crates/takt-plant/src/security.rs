//! Security of the messages of a WriterGroup.

use takt_scenario::SecurityMode;
use takt_ua::enumerations::MessageSecurityMode;

/// SecurityMode of messages, in the words of a configuration and of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupSecurity(SecurityMode);

impl GroupSecurity {
    pub(crate) fn of(mode: MessageSecurityMode) -> Self {
        Self(match mode {
            MessageSecurityMode::Sign => SecurityMode::Sign,
            MessageSecurityMode::SignAndEncrypt => SecurityMode::SignAndEncrypt,
            _ => SecurityMode::None,
        })
    }

    /// Returns the bytes that a scenario adds to a message.
    pub(crate) fn bytes(self) -> u32 {
        self.0.bytes()
    }

    /// Returns the name in a scenario; `None` without security.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self.0 {
            SecurityMode::None => None,
            SecurityMode::Sign => Some("Sign"),
            SecurityMode::SignAndEncrypt => Some("SignAndEncrypt"),
        }
    }
}
