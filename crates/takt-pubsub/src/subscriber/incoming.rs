//! DataSetMessages of any mapping at a DataSetReader.

use std::collections::{BTreeMap, HashSet};

use takt_ua::{DataValue, DateTime, StatusCode};
use takt_wire::{DamagedField, DataSetContentRef, DataSetMessageRef, NetworkMessageRef};

use super::conformity::{conforms, described, expected};
use super::damage::Mismatched;
use super::data_set_kind::DataSetKind;
use super::data_set_reader::DataSetReader;
use super::received::{ReceivedDataSet, ReceivedFields, SubscriberObserver};
use crate::error::ReceiveError;
use crate::sequence::SequenceNumber;
use crate::time::Now;

/// Header of a DataSetMessage, completed from the header of the NetworkMessage.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) kind: DataSetKind,
    /// True if the message has all fields of the DataSet. JSON messages have them for certain only if they say that they are
    /// key frames.
    pub(super) is_complete: bool,
    pub(super) sequence_number: Option<SequenceNumber>,
    pub(super) major_version: Option<u32>,
    pub(super) group_version: Option<u32>,
    pub(super) timestamp: Option<DateTime>,
    pub(super) status: StatusCode,
}

/// Fields of a DataSetMessage, with their indexes in the metadata.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) fields: Vec<(usize, DataValue)>,
    /// Those that cannot be decoded, and those that could be read nevertheless.
    pub(super) damaged: Vec<DamagedField>,
}

impl DataSetReader {
    /// Receives a UADP DataSetMessage from the general decoder. `damaged` are fields that could not be decoded.
    pub(super) fn receive(
        &mut self,
        network_message: &NetworkMessageRef<'_>,
        (message, damaged): (&DataSetMessageRef<'_>, &[DamagedField]),
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<bool, ReceiveError> {
        let kind = match &message.content {
            DataSetContentRef::KeyFrame(_) => DataSetKind::KeyFrame,
            DataSetContentRef::DeltaFrame(_) => DataSetKind::DeltaFrame,
            DataSetContentRef::Event(_) => DataSetKind::Event,
            DataSetContentRef::KeepAlive => DataSetKind::KeepAlive,
            _ => {
                self.note_unknown_kind();
                return Ok(false);
            }
        };
        let group = network_message.group_header.unwrap_or_default();
        let timestamp = message.timestamp.or(network_message.timestamp);
        let number = message.sequence_number.or(group.sequence_number);
        let incoming = Incoming {
            kind,
            is_complete: kind == DataSetKind::KeyFrame,
            sequence_number: number.map(SequenceNumber::UInt16),
            major_version: message.major_version,
            group_version: group.group_version,
            timestamp,
            status: message.status.unwrap_or(StatusCode::Good),
        };
        let decode = |reader: &mut Self| reader.decode(message, damaged, timestamp);
        self.take(&incoming, decode, now, observer)
    }

    /// Checks version and order, writes the fields to their targets, and reports to the observer. Returns `false` if the message
    /// is discarded.
    pub(super) fn take(
        &mut self,
        incoming: &Incoming,
        decode: impl FnOnce(&mut Self) -> Result<Decoded, ReceiveError>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<bool, ReceiveError> {
        let kind = incoming.kind;
        // With another MajorVersion, an index may stand for another field: values would reach wrong targets.
        // The version 0 means that the metadata has none.
        let expected = self.meta_data.configuration_version.major_version;
        if let Some(found) = incoming
            .major_version
            .filter(|found| *found != expected && expected != 0)
        {
            self.fail();
            let reader = self.name.clone();
            return Err(ReceiveError::MetaDataVersion {
                reader,
                expected,
                found,
            });
        }
        let number = incoming.sequence_number;
        // Before the search for a key frame: a delta frame without one is discarded, but it is not missing.
        let Some(missing) = self.accept(number, kind, now.instant) else {
            return Ok(false);
        };
        if kind == DataSetKind::DeltaFrame && !self.has_key_frame() {
            self.note_missing_key_frame();
            return Ok(false);
        }
        let decoded = decode(self);
        let Decoded {
            mut fields,
            damaged,
        } = decoded.inspect_err(|_| self.note_lost())?;
        let mismatched = self.refuse_mismatched(&mut fields);
        self.note(kind);
        let mut outcome = Ok(true);
        for (index, value) in &fields {
            let targets = self
                .targets
                .iter_mut()
                .filter(|target| target.field == *index);
            for target in targets {
                if let Err(status) = target.write(value.clone(), now.date_time) {
                    let (reader, index) = (self.name.clone(), *index);
                    outcome = Err(ReceiveError::Target {
                        reader,
                        index,
                        status,
                    });
                }
            }
        }
        let absent = self.absent(incoming, &fields);
        self.mark_absent(&absent, now.date_time);
        observer.data_set(&ReceivedDataSet {
            reader: self,
            kind,
            sequence_number: number.map(SequenceNumber::value),
            missing,
            group_version: incoming.group_version,
            timestamp: incoming.timestamp,
            status: incoming.status,
            fields: ReceivedFields::Decoded(&fields),
            absent: &absent,
        });
        if !mismatched.is_empty() {
            self.report_mismatch(mismatched, observer);
        }
        if !damaged.is_empty() {
            self.report_damage(&damaged, observer);
        }
        outcome
    }

    /// Replaces the values that do not have the types of the metadata by BadTypeMismatch, whatever their targets would take.
    fn refuse_mismatched(&self, fields: &mut [(usize, DataValue)]) -> Vec<Mismatched> {
        let mut mismatched = Vec::new();
        // Learned metadata has no types.
        if self.is_learned {
            return mismatched;
        }
        for (index, value) in fields {
            let field = self.meta_data.fields.get(*index);
            let (Some(field), Some(found)) = (field, &value.value) else {
                continue;
            };
            if value.status_code().is_bad() || conforms(field, found) {
                continue;
            }
            mismatched.push(Mismatched {
                index: *index,
                found: described(found),
                expected: expected(field),
            });
            value.value = None;
            value.status = Some(StatusCode::BadTypeMismatch);
        }
        mismatched
    }

    /// Returns the fields that a message does not have, with the StatusCode that their last values have from now on; none whose
    /// values stay as they are.
    fn absent(
        &mut self,
        incoming: &Incoming,
        fields: &[(usize, DataValue)],
    ) -> BTreeMap<usize, StatusCode> {
        // An event says nothing about others.
        let has_gap = self.take_gap() && incoming.kind != DataSetKind::Event;
        let has_no_type = incoming.kind == DataSetKind::KeyFrame && !incoming.is_complete;
        let count = self.meta_data.fields.len();
        let lacks_fields = fields.len() < count;
        let absent = |index: &usize, present: &HashSet<usize>| !present.contains(index);
        let uncertain = StatusCode::UncertainLastUsableValue;
        let present = || fields.iter().map(|(index, _)| *index).collect();
        if incoming.is_complete && lacks_fields {
            let (status, present) = (StatusCode::BadConfigurationError, present());
            let absent = (0..count).filter(|index| absent(index, &present));
            absent.map(|index| (index, status)).collect()
        } else if has_no_type && (lacks_fields || !self.silences.is_empty()) {
            let present = present();
            self.silences.resize(count, 0);
            for (index, silence) in self.silences.iter_mut().enumerate() {
                *silence = match present.contains(&index) {
                    true => 0,
                    false => silence.saturating_add(1),
                };
            }
            // It may be a delta frame, but one message of so many is a key frame (OPC 10000-14, 6.2.9.7).
            let longest = self.key_frame_count.max(1);
            let silences = self.silences.iter().enumerate();
            let due =
                silences.filter(|(_, silence)| **silence > 0 && (has_gap || **silence >= longest));
            due.map(|(index, _)| (index, uncertain)).collect()
        } else if has_gap {
            // The lost message may have had newer values.
            let present = present();
            let absent = (0..count).filter(|index| absent(index, &present));
            absent.map(|index| (index, uncertain)).collect()
        } else {
            BTreeMap::new()
        }
    }

    /// Gives the targets of absent fields their statuses.
    fn mark_absent(&mut self, absent: &BTreeMap<usize, StatusCode>, now: DateTime) {
        if absent.is_empty() {
            return;
        }
        for target in &mut self.targets {
            match absent.get(&target.field) {
                Some(status) if status.is_bad() => target.fail(*status, now),
                Some(_) => target.doubt(),
                None => {}
            }
        }
    }
}
