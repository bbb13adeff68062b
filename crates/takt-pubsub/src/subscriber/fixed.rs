//! The fast path: messages that look like one that was received before are recognized by comparing bytes, and their
//! values go from where they stand into cells.

use takt_cell::Cell;
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};
use takt_wire::{FixedMessageReader, FixedMessageRef, NetworkMessage, Payload};

use super::data_set_reader::DataSetReader;
use super::received::{DataSetKind, Observer, ReceivedDataSet, ReceivedFields, fixed_value};
use super::target::ReaderTarget;
use crate::error::ReceiveError;
use crate::time::Now;

/// Layouts that a subscriber remembers; more Publishers than that go through the general decoder.
const MAX_LAYOUTS: usize = 256;

/// How often a reader's messages are tried to be of a fixed layout; those that change their size never are.
const MAX_ATTEMPTS: u8 = 8;

/// Longest value that goes into a cell on the fast path, in bytes.
const MAX_VALUE: usize = 64 << 10;

/// The layouts of messages that were received, and who wants them.
#[derive(Debug, Default)]
pub(super) struct FixedLayouts {
    routes: Vec<Route>,
    /// The one that the last message had: often the next one has it, too.
    last: usize,
    attempts: Vec<u8>,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Route {
    layout: FixedMessageReader,
    data_sets: Vec<DataSet>,
}

/// A DataSetMessage that a reader wants.
#[derive(Debug)]
struct DataSet {
    reader: usize,
    data_set_message: usize,
    field_count: usize,
    has_status: bool,
    /// For each target of the reader, how its value is stored.
    places: Vec<Option<Place>>,
}

/// What stands before a value in its encoding as a Variant.
#[derive(Debug)]
struct Place {
    head: [u8; 5],
    head_length: usize,
}

impl FixedLayouts {
    /// Forgets everything: readers have changed.
    pub(super) fn clear(&mut self) {
        self.routes.clear();
        self.attempts.clear();
    }

    /// Remembers the layout of a message, which these readers have accepted; pairs of reader and DataSetMessage.
    pub(super) fn learn(
        &mut self,
        bytes: &[u8],
        signature_length: usize,
        accepted: &[(usize, usize)],
        readers: &[DataSetReader],
    ) {
        self.attempts.resize(readers.len(), 0);
        let tries = accepted.iter().any(|(reader, _)| {
            self.attempts
                .get(*reader)
                .is_some_and(|attempts| *attempts < MAX_ATTEMPTS)
        });
        if !tries || self.routes.len() >= MAX_LAYOUTS {
            return;
        }
        for (reader, _) in accepted {
            if let Some(attempts) = self.attempts.get_mut(*reader) {
                *attempts = attempts.saturating_add(1);
            }
        }
        if let Some(route) = Route::of(bytes, signature_length, accepted, readers) {
            self.scratch.resize(MAX_VALUE.min(bytes.len() + 8), 0);
            self.routes.push(route);
        }
    }

    /// Takes a message of a layout that is known. `None` if it is for the general decoder; else how many readers took it.
    #[inline]
    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        readers: &mut [DataSetReader],
        listens: impl Fn(&DataSetReader, usize) -> bool,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Option<Result<usize, ReceiveError>> {
        let (index, route, message) = self.find(bytes)?;
        // A status that is not Good is the general decoder's.
        let good = |data_set: &DataSet| {
            !data_set.has_status
                || message
                    .status(data_set.data_set_message)
                    .is_some_and(|it| it.is_good())
        };
        if !route.data_sets.iter().all(good) {
            return None;
        }
        self.last = index;
        // Borrowed apart: the scratch is not the route's.
        let route = self.routes.get(index)?;
        let message = route.layout.read(bytes)?;
        let mut count = 0;
        let mut outcome = Ok(());
        for data_set in &route.data_sets {
            let Some(reader) = readers.get_mut(data_set.reader) else {
                continue;
            };
            if !listens(reader, data_set.reader) {
                continue;
            }
            match data_set.receive(&message, reader, &mut self.scratch, now, observer) {
                Ok(true) => count += 1,
                Ok(false) => {}
                Err(error) => outcome = Err(error),
            }
        }
        Some(outcome.map(|()| count))
    }

    #[inline]
    fn find<'a>(&'a self, bytes: &'a [u8]) -> Option<(usize, &'a Route, FixedMessageRef<'a>)> {
        let of = |index: usize| {
            let route = self.routes.get(index)?;
            Some((index, route, route.layout.read(bytes)?))
        };
        of(self.last).or_else(|| (0..self.routes.len()).find_map(of))
    }
}

impl Route {
    fn of(
        bytes: &[u8],
        signature_length: usize,
        accepted: &[(usize, usize)],
        readers: &[DataSetReader],
    ) -> Option<Self> {
        let parameters = takt_wire::PayloadParameters {
            signature_length,
            ..Default::default()
        };
        let message = NetworkMessage::decode(bytes, &parameters).ok()?;
        let Payload::DataSetMessages(messages) = &message.payload else {
            return None;
        };
        let raw_data = |index: usize| {
            let (reader, _) = accepted.iter().find(|(_, message)| *message == index)?;
            readers.get(*reader)?.raw_data()
        };
        let raw_data: Vec<_> = (0..messages.len()).map(raw_data).collect();
        let layout = FixedMessageReader::new(&message, &raw_data).ok()?;
        let first = layout.read(bytes)?;
        let data_sets = accepted.iter().map(|(reader_index, data_set_message)| {
            let reader = readers.get(*reader_index)?;
            let fields = (0..).map_while(|field| first.encoded(*data_set_message, field));
            let place = |target: &ReaderTarget| Place::of(&first, *data_set_message, target);
            Some(DataSet {
                reader: *reader_index,
                data_set_message: *data_set_message,
                field_count: fields.count(),
                has_status: messages.get(*data_set_message)?.status.is_some(),
                places: reader.targets.iter().map(place).collect(),
            })
        });
        let data_sets = data_sets.collect::<Option<Vec<_>>>()?;
        Some(Self { layout, data_sets })
    }
}

impl Place {
    /// `None` if the value does not go into a cell as it stands in the message.
    fn of(
        message: &FixedMessageRef<'_>,
        data_set_message: usize,
        target: &ReaderTarget,
    ) -> Option<Self> {
        target.plain_cell()?;
        let value = message.variant(data_set_message, target.field)?;
        let built_in_type = value.built_in_type()?;
        let size = built_in_type.encoded_size()?;
        let encoded = message.encoded(data_set_message, target.field)?;
        // What is in its place means something else: the status of a field that is Bad.
        if built_in_type == BuiltInType::StatusCode {
            return None;
        }
        let mut head = [built_in_type as u8, 0, 0, 0, 0];
        let head_length = match &value {
            Variant::Array(array) => {
                let whole = array.len() * size == encoded.len() && array.dimensions.len() < 2;
                if !whole || encoded.len() + head.len() > MAX_VALUE {
                    return None;
                }
                let count = u32::try_from(array.len()).ok()?.to_le_bytes();
                let [mask, length @ ..] = &mut head;
                *mask |= 0x80;
                *length = count;
                5
            }
            _ => 1,
        };
        Some(Self { head, head_length })
    }

    /// Puts the value into a cell, by its encoding.
    #[inline]
    fn store(
        &self,
        encoded: &[u8],
        cell: &Cell,
        scratch: &mut [u8],
        status: StatusCode,
        time: DateTime,
    ) -> Result<(), StatusCode> {
        let length = self.head_length + encoded.len();
        let target = scratch
            .get_mut(..length)
            .ok_or(StatusCode::BadInternalError)?;
        let (head, value) = target.split_at_mut(self.head_length);
        head.copy_from_slice(self.head.get(..self.head_length).unwrap_or_default());
        value.copy_from_slice(encoded);
        cell.set_encoded(target, status, time)
            .map_err(|error| error.status_code())
    }
}

impl DataSet {
    #[inline]
    fn receive(
        &self,
        message: &FixedMessageRef<'_>,
        reader: &mut DataSetReader,
        scratch: &mut [u8],
        now: Now,
        observer: &mut dyn Observer,
    ) -> Result<bool, ReceiveError> {
        let index = self.data_set_message;
        let number = message
            .data_set_sequence_number(index)
            .or(message.sequence_number());
        let kind = DataSetKind::KeyFrame;
        let Some(missing) = reader.accept(number, kind, now.instant) else {
            return Ok(false);
        };
        reader.note(kind);
        let timestamp = message.data_set_timestamp(index).or(message.timestamp());
        let mut outcome = Ok(true);
        for (place, target) in self.places.iter().zip(&mut reader.targets) {
            let field = target.field;
            let status = message
                .field_status(index, field)
                .unwrap_or(StatusCode::Good);
            let written = match (place, target.plain_cell(), message.encoded(index, field)) {
                (Some(place), Some(cell), Some(encoded)) if !status.is_bad() => {
                    let time = message.field_source_timestamp(index, field).or(timestamp);
                    let time = time.unwrap_or(now.date_time);
                    place.store(encoded, cell, scratch, status, time)
                }
                _ => match fixed_value(message, index, field) {
                    Some(mut value) => {
                        value.source_timestamp = value.source_timestamp.or(timestamp);
                        target.write(value, now.date_time)
                    }
                    None => Err(StatusCode::BadDecodingError),
                },
            };
            if let Err(status) = written {
                let reader = String::new();
                outcome = Err(ReceiveError::Target {
                    reader,
                    index: field,
                    status,
                });
            }
        }
        observer.data_set(&ReceivedDataSet {
            reader,
            kind,
            sequence_number: number,
            missing,
            timestamp,
            status: StatusCode::Good,
            fields: ReceivedFields::Fixed {
                message: *message,
                data_set_message: index,
                count: self.field_count,
            },
        });
        outcome.map_err(|error| match error {
            ReceiveError::Target { index, status, .. } => {
                let reader = reader.name().to_owned();
                ReceiveError::Target {
                    reader,
                    index,
                    status,
                }
            }
            other => other,
        })
    }
}
