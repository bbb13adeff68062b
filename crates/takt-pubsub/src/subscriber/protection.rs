//! Message security of readers (OPC 10000-14, 6.2.9.9 to 6.2.9.11).

use std::time::Instant;

use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{DataSetReaderDataType, ReaderGroupDataType};
use takt_wire::{ChunkReassembler, NetworkMessageRef};

use crate::error::{ConfigurationProblem, ReceiveError};
use crate::security::{KeyRing, MessageVerifier, ReplayLimits, Verified, VerifyError};
use crate::settings::{no_security_group, number_property};
use crate::time::Now;

/// Maximum number of pairs of SecurityGroup and SecurityMode of a connection.
pub(super) const MAX_PROTECTIONS: usize = 64;

/// State shared by readers with one SecurityGroup and one SecurityMode.
#[derive(Debug)]
pub(super) struct Protection {
    security_group_id: String,
    mode: MessageSecurityMode,
    verifier: MessageVerifier,
    keys: KeyRing,
    reassembler: ChunkReassembler,
}

/// Protections of a connection. Readers refer to theirs by its index.
#[derive(Debug, Default)]
pub(super) struct Protections {
    protections: Vec<Protection>,
}

impl Protections {
    /// Returns the index for a reader; `None` if its messages are not protected. Parameters that the reader does not have are
    /// those of its group (OPC 10000-14, 6.2.9.9).
    pub(super) fn of(
        &mut self,
        group: &ReaderGroupDataType,
        reader: &DataSetReaderDataType,
    ) -> Result<Option<usize>, ConfigurationProblem> {
        let (mode, id) = match reader.security_mode {
            MessageSecurityMode::Invalid => (group.security_mode, &group.security_group_id),
            mode => (mode, &reader.security_group_id),
        };
        if matches!(
            mode,
            MessageSecurityMode::None | MessageSecurityMode::Invalid
        ) {
            // A SecurityGroup without a mode is a mistake: nothing would be protected.
            no_security_group(id)?;
            return no_security_group(&reader.security_group_id).map(|()| None);
        }
        let known = self.protections.iter().position(|protection| {
            protection.mode == mode && protection.security_group_id == id.as_str()
        });
        if known.is_some() {
            return Ok(known);
        }
        if self.protections.len() >= MAX_PROTECTIONS {
            let what = format!("more than {MAX_PROTECTIONS} in one connection");
            return Err(ConfigurationProblem::parameter("SecurityGroupId", what));
        }
        let usual = ReplayLimits::default();
        let nonces = number_property(&group.group_properties, "MaxMessageNonces")?;
        let limits = ReplayLimits {
            nonces: nonces.unwrap_or(usual.nonces),
            ..usual
        };
        let verifier = MessageVerifier::with_limits(mode, limits)
            .map_err(|error| ConfigurationProblem::parameter("SecurityMode", error.to_string()))?;
        self.protections.push(Protection {
            security_group_id: id.to_string(),
            mode,
            verifier,
            keys: KeyRing::new(),
            reassembler: ChunkReassembler::default(),
        });
        Ok(Some(self.protections.len() - 1))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.protections.is_empty()
    }

    pub(super) fn group_ids(&self) -> impl Iterator<Item = &str> {
        self.protections
            .iter()
            .map(|protection| protection.security_group_id.as_str())
    }

    pub(super) fn set_keys(&mut self, security_group_id: &str, keys: &KeyRing) {
        for protection in &mut self.protections {
            if protection.security_group_id == security_group_id {
                protection.keys = keys.clone();
            }
        }
    }

    /// Verifies and decrypts a message in place with the first of these protections that has its key. Returns the index of that
    /// protection.
    pub(super) fn verify(
        &mut self,
        candidates: impl Iterator<Item = usize>,
        message: &mut [u8],
        now: Now,
    ) -> Result<(usize, Verified), ReceiveError> {
        let mut refused = None;
        for index in candidates {
            let Some(protection) = self.protections.get_mut(index) else {
                continue;
            };
            match protection
                .verifier
                .verify(&protection.keys, message, now.instant)
            {
                Ok(verified) => return Ok((index, verified)),
                Err(error) => {
                    if let VerifyError::UnknownToken(token) = error {
                        protection.keys.unknown_token(token);
                    }
                    // An error with the matching key is more precise than that of a missing key.
                    let unknown = matches!(error, VerifyError::UnknownToken(_));
                    if refused.is_none() || !unknown {
                        refused = Some(error);
                    }
                }
            }
        }
        let refused = refused.map_or(ReceiveError::NotExpected, ReceiveError::Security);
        Err(refused)
    }

    pub(super) fn reassembler(&mut self, index: usize) -> Option<&mut ChunkReassembler> {
        let protection = self.protections.get_mut(index)?;
        Some(&mut protection.reassembler)
    }

    /// Returns the number of payloads of which chunks were lost.
    pub(super) fn incomplete(&self) -> u64 {
        let protections = self.protections.iter();
        protections
            .map(|protection| protection.reassembler.incomplete())
            .sum()
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let protections = self.protections.iter();
        protections
            .filter_map(|protection| protection.reassembler.next_timeout())
            .min()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        for protection in &mut self.protections {
            protection.reassembler.handle_timeout(now);
        }
    }

    /// Returns the keys of a SecurityGroup, if it is known here.
    pub(super) fn keys(&self, security_group_id: &str) -> Option<&KeyRing> {
        let mut protections = self.protections.iter();
        let found = protections.find(|it| it.security_group_id == security_group_id)?;
        Some(&found.keys)
    }
}

/// Returns true if a message has a signature.
#[inline]
pub(super) fn is_signed(message: &NetworkMessageRef<'_>) -> bool {
    message.security_header.is_some_and(|header| header.signed)
}
