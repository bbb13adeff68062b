//! Message security of a WriterGroup (OPC 10000-14, 6.2.5.2 to 6.2.5.4).

use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::WriterGroupDataType;
use takt_wire::{NetworkMessage, SecurityLayout};

use super::mapping::Sink;
use super::output::{Output, Reserved};
use crate::error::{ConfigurationProblem, PublishError};
use crate::security::{KeyRing, MessageProtector, PubSubSecurityPolicy, SIGNATURE_LENGTH};
use crate::settings::no_security_group;
use crate::state::Condition;
use crate::time::Now;

/// Returns the MessageSecurityMode of protected messages; `None` without security. Configurations without a mode have Invalid.
pub(crate) fn mode(mode: MessageSecurityMode) -> Option<MessageSecurityMode> {
    match mode {
        MessageSecurityMode::None | MessageSecurityMode::Invalid => None,
        mode => Some(mode),
    }
}

/// Gives a message a SecurityHeader, and room for the signature. Both SecurityPolicies have the same lengths.
pub(crate) fn prepare(mode: MessageSecurityMode, message: &mut NetworkMessage) {
    let header = PubSubSecurityPolicy::PubSubAes256Ctr.security_header(mode);
    message.security_header = header.ok();
    message.signature = vec![0; SIGNATURE_LENGTH];
}

/// Keys of a WriterGroup, and the protection of its messages.
#[derive(Debug)]
pub(crate) struct Protection {
    mode: MessageSecurityMode,
    protector: MessageProtector,
    pub(crate) keys: KeyRing,
}

impl Protection {
    /// Returns the protection of a group; `None` without security.
    ///
    /// # Errors
    /// The group has a SecurityGroup and no mode: its messages would be sent unprotected.
    pub(crate) fn new(group: &WriterGroupDataType) -> Result<Option<Self>, ConfigurationProblem> {
        let Some(mode) = self::mode(group.security_mode) else {
            return no_security_group(&group.security_group_id).map(|()| None);
        };
        let problem = |error: &dyn std::error::Error| {
            ConfigurationProblem::parameter("SecurityMode", error.to_string())
        };
        Ok(Some(Self {
            mode,
            protector: MessageProtector::new(mode).map_err(|error| problem(&error))?,
            keys: KeyRing::new(),
        }))
    }

    /// Returns the condition of the group: it waits for its first key, and is in Error when the last key has expired (OPC
    /// 10000-14, 6.2.12.2).
    pub(crate) fn condition(&self, now: Now) -> Condition {
        match self.keys.sending(now.instant) {
            Ok(_) => Condition::Ready,
            Err(crate::security::NoSendingKey::Empty) => Condition::Preparing,
            Err(crate::security::NoSendingKey::Expired(_)) => Condition::Failed,
        }
    }

    /// Gives a message a SecurityHeader, and room for the signature.
    pub(crate) fn prepare(&self, message: &mut NetworkMessage) {
        prepare(self.mode, message);
    }

    /// Encodes and protects a message that is sent rarely.
    pub(crate) fn encode(
        &mut self,
        mut message: NetworkMessage,
        now: Now,
    ) -> Result<Vec<u8>, PublishError> {
        self.prepare(&mut message);
        let mut encoded = Vec::new();
        let layout = message.encode(&mut Encoder::growing(&mut encoded, usize::MAX))?;
        self.protector
            .protect(&self.keys, &mut encoded, &layout, now.instant)?;
        Ok(encoded)
    }
}

/// Copies a message to the memory from which it is sent, and protects it there; the message itself stays readable.
#[inline]
pub(super) fn send<O: Output>(
    protection: &mut Option<Protection>,
    now: Now,
    message: &[u8],
    layout: &SecurityLayout,
    output: &mut O,
) -> Result<(), PublishError> {
    let mut reserved = output.reserve(message.len()).map_err(not_taken)?;
    let room = copy(message, &mut reserved)?;
    if let Some(protection) = protection {
        let Protection {
            protector, keys, ..
        } = protection;
        // After an error the reservation is dropped, which sends nothing.
        protector.protect(keys, room, layout, now.instant)?;
    }
    reserved.commit().map_err(not_taken)
}

/// Copies a message that is not protected to the memory from which it is sent.
pub(super) fn send_bytes<O: Output>(message: &[u8], output: &mut O) -> Result<(), PublishError> {
    let mut reserved = output.reserve(message.len()).map_err(not_taken)?;
    copy(message, &mut reserved)?;
    reserved.commit().map_err(not_taken)
}

#[inline]
fn copy<'a>(message: &[u8], reserved: &'a mut impl Reserved) -> Result<&'a mut [u8], PublishError> {
    let room = reserved.as_mut();
    let room = room.get_mut(..message.len()).ok_or(PublishError::NoRoom)?;
    room.copy_from_slice(message);
    Ok(room)
}

/// Refuses a message that is longer than those of its flow.
#[inline]
pub(super) fn check_length(longest: Option<usize>, found: usize) -> Result<(), PublishError> {
    match longest {
        Some(longest) if found > longest => Err(PublishError::Length { longest, found }),
        _ => Ok(()),
    }
}

fn not_taken<E: std::error::Error + Send + Sync + 'static>(error: E) -> PublishError {
    PublishError::Output(Box::new(error))
}

/// [`Output`] of a WriterGroup, with the protection of its messages.
pub(super) struct ProtectingSink<'a, O> {
    pub(super) protection: &'a mut Option<Protection>,
    pub(super) now: Now,
    pub(super) limit: usize,
    pub(super) output: &'a mut O,
    /// Length of the last message.
    pub(super) length: usize,
    /// Length of the longest message of its flow, in bytes; `None` if messages of any length are sent.
    pub(super) longest: Option<usize>,
}

impl<O: Output> Sink for ProtectingSink<'_, O> {
    fn limit(&self) -> usize {
        self.limit
    }

    fn send(
        &mut self,
        message: &[u8],
        layout: Option<&SecurityLayout>,
    ) -> Result<(), PublishError> {
        self.length = message.len();
        check_length(self.longest, message.len())?;
        match layout {
            Some(layout) => send(self.protection, self.now, message, layout, self.output),
            None => send_bytes(message, self.output),
        }
    }
}
