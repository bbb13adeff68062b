//! DataSetMessages of any mapping at a DataSetReader.

use std::collections::HashSet;

use takt_ua::{DataValue, DateTime, StatusCode};
use takt_wire::{DamagedField, DataSetContentRef, DataSetMessageRef, NetworkMessageRef};

use super::data_set_kind::DataSetKind;
use super::data_set_reader::DataSetReader;
use super::received::{ReceivedDataSet, ReceivedFields, SubscriberObserver};
use super::target::ReaderTarget;
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
        let Decoded { fields, damaged } = decoded.inspect_err(|_| self.note_lost())?;
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
        if incoming.is_complete {
            self.fail_missing(&fields, now.date_time);
        }
        if self.take_gap() && kind != DataSetKind::Event {
            // The lost message may have had newer values.
            self.each_absent(&fields, ReaderTarget::doubt);
        }
        observer.data_set(&ReceivedDataSet {
            reader: self,
            kind,
            sequence_number: number.map(SequenceNumber::value),
            missing,
            timestamp: incoming.timestamp,
            status: incoming.status,
            fields: ReceivedFields::Decoded(&fields),
        });
        if !damaged.is_empty() {
            self.report_damage(&damaged, observer);
        }
        outcome
    }

    /// Replaces the values of fields that a complete message should have and has not.
    fn fail_missing(&mut self, fields: &[(usize, DataValue)], now: DateTime) {
        if fields.len() < self.meta_data.fields.len() {
            self.each_absent(fields, |target| {
                target.fail(StatusCode::BadConfigurationError, now);
            });
        }
    }

    /// Calls `change` with the targets of fields that are not among these.
    #[cold]
    fn each_absent(
        &mut self,
        fields: &[(usize, DataValue)],
        mut change: impl FnMut(&mut ReaderTarget),
    ) {
        let present: HashSet<usize> = fields.iter().map(|(index, _)| *index).collect();
        for target in &mut self.targets {
            if !present.contains(&target.field) {
                change(target);
            }
        }
    }
}
