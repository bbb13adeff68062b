//! The fast path: messages that look like one that was received before are recognized by comparing bytes, and their
//! values go from where they stand into cells.

use std::sync::Arc;

use takt_cell::{Cell, EncodedScalar};
use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};
use takt_wire::{FixedMessageReader, FixedMessageRef, NetworkMessage, Payload, ScalarPlace};

use super::data_set_reader::DataSetReader;
use super::received::{DataSetKind, Observer, ReceivedDataSet, ReceivedFields, fixed_value};
use super::target::ReaderTarget;
use crate::error::ReceiveError;
use crate::time::Now;

/// Layouts that a subscriber remembers; more Publishers than that go through the general decoder.
const MAX_LAYOUTS: usize = 256;

/// How often a reader's messages are tried to be of a fixed layout; those that change their size never are.
const MAX_ATTEMPTS: u8 = 8;

/// Bytes that a layout takes: for itself, for each field, and while it is made at most for each byte of the message.
const LAYOUT_PER_MESSAGE: usize = 1024;
const LAYOUT_PER_FIELD: usize = 256;
const LAYOUT_PER_BYTE: usize = LAYOUT_PER_FIELD;

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
    /// Bytes that it takes.
    _memory: Charge,
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
    numbers: Vec<Number>,
    others: Vec<Other>,
}

/// A value of at most eight bytes, without a status and a time of its own, that goes into a cell.
#[derive(Debug)]
struct Number {
    cell: Arc<Cell>,
    place: ScalarPlace,
    built_in_type: BuiltInType,
    field: usize,
}

/// Anything else.
#[derive(Debug)]
struct Other {
    /// Index of the reader's target.
    target: usize,
    /// `None` if the value does not go into a cell as it stands in the message.
    place: Option<Place>,
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
        memory: &MemoryBudget,
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
        if let Some(route) = Route::of(bytes, signature_length, accepted, readers, memory) {
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
        let Self {
            routes,
            last,
            scratch,
            ..
        } = self;
        let (index, route, message) = find(routes, *last, bytes)?;
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
        *last = index;
        let mut count = 0;
        let mut outcome = Ok(());
        for data_set in &route.data_sets {
            let Some(reader) = readers.get_mut(data_set.reader) else {
                continue;
            };
            if !listens(reader, data_set.reader) {
                continue;
            }
            match data_set.receive(&message, reader, scratch, now, observer) {
                Ok(true) => count += 1,
                Ok(false) => {}
                Err(error) => outcome = Err(error),
            }
        }
        Some(outcome.map(|()| count))
    }
}

/// The route whose layout a message has, its index, and the message; the one at `last` is tried first.
#[inline]
fn find<'a>(
    routes: &'a [Route],
    last: usize,
    bytes: &'a [u8],
) -> Option<(usize, &'a Route, FixedMessageRef<'a>)> {
    let of = |index: usize| {
        let route = routes.get(index)?;
        Some((index, route, route.layout.read(bytes)?))
    };
    of(last).or_else(|| (0..routes.len()).find_map(of))
}

impl Route {
    fn of(
        bytes: &[u8],
        signature_length: usize,
        accepted: &[(usize, usize)],
        readers: &[DataSetReader],
        memory: &MemoryBudget,
    ) -> Option<Self> {
        // Without room for a layout, its messages go through the general decoder.
        let mut memory = memory.charge(LAYOUT_PER_BYTE * bytes.len()).ok()?;
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
            let mut data_set = DataSet {
                reader: *reader_index,
                data_set_message: *data_set_message,
                field_count: fields.count(),
                has_status: messages.get(*data_set_message)?.status.is_some(),
                numbers: Vec::new(),
                others: Vec::new(),
            };
            for (index, target) in reader.targets.iter().enumerate() {
                data_set.add(&first, index, target);
            }
            Some(data_set)
        });
        let data_sets = data_sets.collect::<Option<Vec<_>>>()?;
        let fields: usize = data_sets.iter().map(|data_set| data_set.field_count).sum();
        let size = LAYOUT_PER_MESSAGE + LAYOUT_PER_FIELD * fields + 2 * bytes.len();
        memory.resize(size).ok()?;
        Some(Self {
            _memory: memory,
            layout,
            data_sets,
        })
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

impl Number {
    fn of(
        message: &FixedMessageRef<'_>,
        data_set_message: usize,
        target: &ReaderTarget,
    ) -> Option<Self> {
        let field = target.field;
        let bare = message.field_status(data_set_message, field).is_none()
            && message
                .field_source_timestamp(data_set_message, field)
                .is_none();
        let built_in_type = message.variant(data_set_message, field)?.built_in_type()?;
        // What is in its place means something else: the status of a field that is Bad.
        if !bare || built_in_type == BuiltInType::StatusCode {
            return None;
        }
        Some(Self {
            cell: target.plain_cell()?.clone(),
            place: message.scalar_place(data_set_message, field)?,
            built_in_type,
            field,
        })
    }

    #[inline]
    fn store(&self, message: &FixedMessageRef<'_>, time: DateTime) -> Result<(), StatusCode> {
        let scalar = EncodedScalar {
            encoding_mask: self.built_in_type as u8,
            bytes: message.get_scalar(self.place),
        };
        self.cell
            .set_encoded_scalar(scalar, StatusCode::Good, time)
            .map_err(|error| error.status_code())
    }
}

impl DataSet {
    /// Notes how the value for a target of the reader is stored.
    fn add(&mut self, message: &FixedMessageRef<'_>, index: usize, target: &ReaderTarget) {
        match Number::of(message, self.data_set_message, target) {
            Some(number) => self.numbers.push(number),
            None => self.others.push(Other {
                target: index,
                place: Place::of(message, self.data_set_message, target),
            }),
        }
    }

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
        let mut failed = None;
        let time = timestamp.unwrap_or(now.date_time);
        for number in &self.numbers {
            if let Err(status) = number.store(message, time) {
                failed = Some((number.field, status));
            }
        }
        for other in &self.others {
            let Some(target) = reader.targets.get_mut(other.target) else {
                continue;
            };
            let field = target.field;
            let status = message
                .field_status(index, field)
                .unwrap_or(StatusCode::Good);
            let encoded = message.encoded(index, field);
            let written = match (&other.place, target.plain_cell(), encoded) {
                (Some(place), Some(cell), Some(encoded)) if !status.is_bad() => {
                    let own = message.field_source_timestamp(index, field);
                    place.store(encoded, cell, scratch, status, own.unwrap_or(time))
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
                failed = Some((field, status));
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
        match failed {
            None => Ok(true),
            Some((index, status)) => Err(ReceiveError::Target {
                reader: reader.name().to_owned(),
                index,
                status,
            }),
        }
    }
}
