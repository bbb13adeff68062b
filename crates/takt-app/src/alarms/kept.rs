//! File with the states of the Conditions that clients still have to see, for the next run of the Provider.
//!
//! Without it, an alarm that was active would be normal after a restart, and not acknowledged by anybody: clients that know it as
//! active would never hear of its end, and a pending acknowledgement would be lost. A crash loses the changes of the last moment.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use takt_client::prepare_state_directory;
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::{ByteString, DateTime, LocalizedText, NodeId, UaString};

use crate::private_file;

/// Beginning of the file.
const MARK: &str = "takt alarms 1";

/// State of a Condition.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct KeptState {
    pub(super) is_enabled: bool,
    /// Code of the limit that is exceeded; 0 for none.
    pub(super) active: u8,
    pub(super) is_acked: bool,
    pub(super) is_confirmed: bool,
    pub(super) severity: u16,
    pub(super) last_severity: u16,
    pub(super) comment: LocalizedText,
    pub(super) comment_time: DateTime,
    pub(super) user: UaString,
    pub(super) message: UaString,
    /// EventIds that may be acknowledged.
    pub(super) event_ids: Vec<ByteString>,
}

impl Encode for KeptState {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.bool(self.is_enabled)?;
        encoder.u8(self.active)?;
        encoder.bool(self.is_acked)?;
        encoder.bool(self.is_confirmed)?;
        encoder.u16(self.severity)?;
        encoder.u16(self.last_severity)?;
        self.comment.encode(encoder)?;
        self.comment_time.encode(encoder)?;
        self.user.encode(encoder)?;
        self.message.encode(encoder)?;
        self.event_ids.encode(encoder)
    }
}

impl<'a> Decode<'a> for KeptState {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            is_enabled: decoder.bool()?,
            active: decoder.u8()?,
            is_acked: decoder.bool()?,
            is_confirmed: decoder.bool()?,
            severity: decoder.u16()?,
            last_severity: decoder.u16()?,
            comment: decoder.value()?,
            comment_time: decoder.value()?,
            user: decoder.value()?,
            message: decoder.value()?,
            event_ids: decoder.value()?,
        })
    }
}

/// States by the ConditionIds.
pub(super) type KeptStates = BTreeMap<NodeId, KeptState>;

/// The file. Without a path, the states end with the Provider.
#[derive(Debug, Default)]
pub(super) struct KeptFile {
    path: Option<PathBuf>,
    written: Vec<u8>,
    has_failed: bool,
}

impl KeptFile {
    /// Reads a file, if there is one. Without a file that can be read, all Conditions begin as normal.
    pub(super) fn open(path: Option<PathBuf>) -> (Self, KeptStates) {
        let mut file = Self {
            path,
            ..Self::default()
        };
        let Some(path) = file.path.as_ref().filter(|path| path.exists()) else {
            return (file, KeptStates::new());
        };
        match read(path) {
            Ok((written, states)) => {
                file.written = written;
                (file, states)
            }
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "states of alarms are lost");
                (file, KeptStates::new())
            }
        }
    }

    /// Writes the states, if they are others than those of the file. An empty file is removed.
    pub(super) fn save(&mut self, states: &KeptStates) {
        let Some(path) = &self.path else { return };
        let bytes = match states.is_empty() {
            true => Vec::new(),
            false => encoded(states),
        };
        if bytes == self.written {
            return;
        }
        let saved = match bytes.is_empty() {
            true => fs::remove_file(path).map_err(Box::<dyn Error>::from),
            false => prepared(path).and_then(|()| Ok(private_file::write(path, &bytes)?)),
        };
        match saved {
            Ok(()) => self.has_failed = false,
            Err(error) if !self.has_failed => {
                self.has_failed = true;
                tracing::warn!(%error, file = %path.display(), "states of alarms are not kept");
            }
            Err(_) => {}
        }
        // A state that could not be written is not tried again until it is another one.
        self.written = bytes;
    }
}

/// Another user who can write the folder could acknowledge alarms.
fn prepared(path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let folder = path.parent().unwrap_or(std::path::Path::new("."));
    Ok(prepare_state_directory(folder)?)
}

fn encoded(states: &KeptStates) -> Vec<u8> {
    let mut bytes = UaString::from(MARK).encode_to_vec();
    let count = u32::try_from(states.len()).unwrap_or(u32::MAX);
    bytes.extend(count.to_le_bytes());
    for (condition, state) in states {
        bytes.extend(condition.encode_to_vec());
        bytes.extend(state.encode_to_vec());
    }
    bytes
}

fn read(path: &std::path::Path) -> Result<(Vec<u8>, KeptStates), Box<dyn Error>> {
    prepared(path)?;
    let bytes = fs::read(path)?;
    let states = decoded(&bytes)?;
    Ok((bytes, states))
}

fn decoded(bytes: &[u8]) -> Result<KeptStates, Box<dyn Error>> {
    let mut decoder = Decoder::new(bytes);
    if decoder.string()? != Some(MARK) {
        return Err("it is not a file of alarms of this version".into());
    }
    let count = decoder.u32()?;
    let mut states = KeptStates::new();
    for _ in 0..count {
        states.insert(decoder.value()?, decoder.value()?);
    }
    match decoder.remaining() {
        0 => Ok(states),
        rest => Err(format!("{rest} bytes too many").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> KeptStates {
        let state = KeptState {
            is_enabled: true,
            active: 2,
            severity: 700,
            last_severity: 1,
            comment: "seen".into(),
            comment_time: DateTime(7),
            user: "anna".into(),
            message: "too hot".into(),
            event_ids: vec![ByteString::from(&[1, 2, 3])],
            ..KeptState::default()
        };
        [(NodeId::string(1, "Oven/Overtemperature"), state)].into()
    }

    #[test]
    fn states_are_those_of_the_last_run_until_there_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/Oven.alarms");
        let (mut file, found) = KeptFile::open(Some(path.clone()));
        assert!(found.is_empty());
        file.save(&KeptStates::new());
        assert!(!path.exists());
        file.save(&states());
        let (mut file, found) = KeptFile::open(Some(path.clone()));
        assert_eq!(found, states());
        file.save(&KeptStates::new());
        assert!(!path.exists());
    }

    #[test]
    fn a_broken_file_is_no_state() {
        let bytes = encoded(&states());
        for length in 0..bytes.len() {
            assert!(decoded(&bytes[..length]).is_err(), "{length}");
        }
        assert!(decoded(&[&bytes[..], &[0]].concat()).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Oven.alarms");
        std::fs::write(&path, b"something else").unwrap();
        let (mut file, found) = KeptFile::open(Some(path.clone()));
        assert!(found.is_empty());
        file.save(&states());
        assert_eq!(KeptFile::open(Some(path)).1, states());
    }
}
