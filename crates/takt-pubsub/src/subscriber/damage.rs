//! Messages and fields that cannot be decoded: they are counted, and reported with their names.

use takt_wire::{DamagedField, LostMessage, RawDataError};

use super::connection::Subscriber;
use super::data_set_reader::DataSetReader;
use super::received::SubscriberObserver;
use crate::error::ReceiveError;

/// Maximum number of fields that a report names.
const MAX_NAMED: usize = 8;

impl Subscriber {
    /// Counts a DataSetMessage of which nothing can be used, at the readers that want it. Returns an error that names the first
    /// one; `None` if no reader wants it.
    #[cold]
    pub(super) fn lose(
        &mut self,
        wanted: &[usize],
        data_set_writer_id: Option<u16>,
        lost: &LostMessage,
    ) -> Option<ReceiveError> {
        let mut error = None;
        for index in wanted {
            let reader = self.readers.get_mut(*index);
            if let Some(reader) = reader.filter(|it| it.wants_writer(data_set_writer_id)) {
                reader.note_lost();
                let reason = lost.error.to_string();
                error.get_or_insert_with(|| reader.lost(lost.field, reason));
            }
        }
        error
    }
}

/// Field whose value has another type than in the metadata.
#[derive(Debug)]
pub(super) struct Mismatched {
    pub(super) index: usize,
    /// Type of the value.
    pub(super) found: String,
    /// Type in the metadata.
    pub(super) expected: String,
}

impl DataSetReader {
    /// Returns the error of a message of which nothing can be used, because of a field or of its header.
    pub(super) fn lost(&self, field: Option<usize>, reason: String) -> ReceiveError {
        ReceiveError::Lost {
            reader: self.name.clone(),
            part: match field {
                Some(index) => format!("the field {}", self.field_name(index)),
                None => "it".to_owned(),
            },
            reason,
        }
    }

    /// Returns the error of RawData of which nothing can be used.
    pub(super) fn lost_raw_data(&self, error: RawDataError) -> ReceiveError {
        match error {
            RawDataError::Decoding { field, error } => self.lost(Some(field), error.to_string()),
            error => ReceiveError::RawData(error),
        }
    }

    /// Counts and reports the fields of an accepted message that cannot be decoded, and reports those that could be read
    /// nevertheless.
    #[cold]
    pub(super) fn report_damage(
        &mut self,
        damaged: &[DamagedField],
        observer: &mut dyn SubscriberObserver,
    ) {
        let bad = || damaged.iter().filter(|field| field.error.is_some());
        if let Some(status) = bad().find_map(|field| field.error) {
            self.note_unreadable();
            observer.refused(&ReceiveError::Unreadable {
                reader: self.name.clone(),
                fields: self.field_names(bad().map(|field| field.index)),
                status,
            });
        }
        let mut mended = damaged
            .iter()
            .filter(|field| field.error.is_none())
            .peekable();
        if mended.peek().is_some() {
            observer.refused(&ReceiveError::Mended {
                reader: self.name.clone(),
                fields: self.field_names(mended.map(|field| field.index)),
            });
        }
    }

    /// Counts and reports the fields of an accepted message that have other types than in the metadata.
    #[cold]
    pub(super) fn report_mismatch(
        &mut self,
        mismatched: Vec<Mismatched>,
        observer: &mut dyn SubscriberObserver,
    ) {
        self.note_unreadable();
        let fields = self.field_names(mismatched.iter().map(|field| field.index));
        if let Some(first) = mismatched.into_iter().next() {
            observer.refused(&ReceiveError::Mismatch {
                reader: self.name.clone(),
                fields,
                found: first.found,
                expected: first.expected,
            });
        }
    }

    fn field_names(&self, indexes: impl Iterator<Item = usize>) -> String {
        let mut names: Vec<String> = indexes.map(|index| self.field_name(index)).collect();
        let others = names.len().saturating_sub(MAX_NAMED);
        names.truncate(MAX_NAMED);
        let text = names.join(", ");
        match (names.len(), others) {
            (1, _) => format!("the field {text}"),
            (_, 0) => format!("each of the fields {text}"),
            (_, others) => format!("each of the fields {text} and {others} more"),
        }
    }

    fn field_name(&self, index: usize) -> String {
        match self.meta_data.fields.get(index) {
            Some(field) if !field.name.as_str().is_empty() => format!("'{}'", field.name),
            _ => format!("[{index}]"),
        }
    }
}
