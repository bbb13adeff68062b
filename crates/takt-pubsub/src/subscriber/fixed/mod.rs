//! Fast path: a message with the layout of an earlier one is recognized by comparing bytes, and its values are copied from their
//! places into cells.

mod place;

use std::collections::BTreeMap;

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::{DataValue, StatusCode};
use takt_wire::{FixedMessageReader, FixedMessageRef, NetworkMessage, Payload};

use self::place::{MAX_VALUE, Number, Other, Place};
use super::conformity::conforms;
use super::data_set_kind::DataSetKind;
use super::data_set_reader::DataSetReader;
use super::received::{ReceivedDataSet, ReceivedFields, SubscriberObserver, fixed_value};
use super::target::ReaderTarget;
use crate::equal_lengths::EqualLengths;
use crate::error::ReceiveError;
use crate::sequence::SequenceNumber;
use crate::time::Now;

/// Number of layouts that a subscriber remembers; the general decoder decodes all others.
const MAX_LAYOUTS: usize = 256;

/// Number of a reader's first messages that are checked for a fixed layout, and of layouts that are remembered for it.
const MAX_ATTEMPTS: u8 = 8;

/// Bytes of memory of a layout: for itself, for each field, and, while it is made, for each byte of the message.
const LAYOUT_PER_MESSAGE: usize = 1024;
const LAYOUT_PER_FIELD: usize = 256;
const LAYOUT_PER_BYTE: usize = LAYOUT_PER_FIELD;

/// Layouts of received messages, and the readers of their DataSetMessages.
#[derive(Debug, Default)]
pub(super) struct FixedLayouts {
    routes: Vec<Route>,
    /// Index of the layout of the last message, which is often that of the next.
    last: usize,
    attempts: Vec<Attempts>,
    scratch: Vec<u8>,
}

/// Search for the layouts of a reader.
#[derive(Debug, Clone, Default)]
struct Attempts {
    count: u8,
    /// True if one was in vain: such messages have no fixed layout.
    has_failed: bool,
    /// Lengths of the messages of the general decoder.
    lengths: EqualLengths,
}

impl Attempts {
    /// Notes a message of the general decoder; returns true if it is to be checked.
    fn note(&mut self, length: usize) -> bool {
        let are_equal = self.lengths.note(length);
        self.count < MAX_ATTEMPTS || (!self.has_failed && are_equal)
    }
}

/// Layout of messages, and the readers of their DataSetMessages.
#[derive(Debug)]
struct Route {
    /// Memory of the route.
    _memory: Charge,
    /// Index of the link of the messages.
    link: usize,
    layout: FixedMessageReader,
    /// GroupVersion of all messages with this layout.
    group_version: Option<u32>,
    data_sets: Vec<DataSet>,
}

/// DataSetMessage for a reader.
#[derive(Debug)]
struct DataSet {
    reader: usize,
    data_set_message: usize,
    field_count: usize,
    has_status: bool,
    numbers: Vec<Number>,
    others: Vec<Other>,
}

impl FixedLayouts {
    /// Forgets all layouts, because readers have changed.
    pub(super) fn clear(&mut self) {
        // `last` may point behind the end: `find` looks at the others then.
        self.routes.clear();
        self.attempts.clear();
    }

    /// Forgets the layouts of a reader that is removed. The last reader takes its index.
    pub(super) fn forget_reader(&mut self, removed: usize, last: usize) {
        let is_of = |data_set: &DataSet| data_set.reader == removed;
        self.routes
            .retain(|route| !route.data_sets.iter().any(is_of));
        let data_sets = self.routes.iter_mut().flat_map(|it| &mut it.data_sets);
        for data_set in data_sets.filter(|data_set| data_set.reader == last) {
            data_set.reader = removed;
        }
        // Readers that are newer than the last call of `learn` have no entry yet.
        self.attempts.resize(last + 1, Attempts::default());
        self.attempts.swap_remove(removed);
    }

    /// Remembers the layout of a message. `accepted` has pairs of a reader and the DataSetMessage that it has accepted.
    pub(super) fn learn(
        &mut self,
        (bytes, link): (&[u8], usize),
        signature_length: usize,
        accepted: &[(usize, usize)],
        readers: &[DataSetReader],
        memory: &MemoryBudget,
    ) {
        self.attempts.resize(readers.len(), Attempts::default());
        let mut tries = false;
        for (reader, _) in accepted {
            if let Some(attempts) = self.attempts.get_mut(*reader) {
                // No `any`, which ends at the first match: each reader notes the length.
                tries |= attempts.note(bytes.len());
            }
        }
        if !tries {
            return;
        }
        self.make_room(accepted);
        if self.routes.len() >= MAX_LAYOUTS {
            return;
        }
        let route = Route::of((bytes, link), signature_length, accepted, readers, memory);
        for (reader, _) in accepted {
            if let Some(attempts) = self.attempts.get_mut(*reader) {
                attempts.count = attempts.count.saturating_add(1);
                attempts.lengths.reset();
                attempts.has_failed |= route.is_none();
            }
        }
        if let Some(route) = route {
            // The head of a Variant comes in front of RawData.
            let longest = self.scratch.len().max(bytes.len() + 8);
            self.scratch.resize(MAX_VALUE.min(longest), 0);
            self.routes.push(route);
        }
    }

    /// Forgets the oldest layout of readers that have many: its length is not that of the last messages.
    fn make_room(&mut self, accepted: &[(usize, usize)]) {
        let is_theirs = |route: &Route| {
            let mut data_sets = route.data_sets.iter();
            data_sets.any(|one| accepted.iter().any(|(reader, _)| one.reader == *reader))
        };
        let theirs = self.routes.iter().filter(|route| is_theirs(route)).count();
        if theirs >= usize::from(MAX_ATTEMPTS)
            && let Some(oldest) = self.routes.iter().position(is_theirs)
        {
            self.routes.remove(oldest);
        }
    }

    /// Receives a message of a known layout and returns the number of readers that took it; `None` if the general decoder has to decode
    /// it.
    #[inline]
    pub(super) fn receive(
        &mut self,
        (bytes, link): (&[u8], usize),
        readers: &mut [DataSetReader],
        listens: impl Fn(&DataSetReader, usize) -> bool,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Option<Result<usize, ReceiveError>> {
        let Self {
            routes,
            last,
            scratch,
            ..
        } = self;
        let (index, route, message) = find(routes, *last, link, bytes)?;
        // The general decoder decodes messages whose status is not Good, and those with a field that cannot be decoded.
        let good = |data_set: &DataSet| {
            !data_set.has_status
                || message
                    .status(data_set.data_set_message)
                    .is_some_and(|it| it.is_good())
        };
        if !route.data_sets.iter().all(good) || !message.is_readable() {
            return None;
        }
        // Zeros may follow a message as padding. The general decoder refuses one that is so longer than those of its flow.
        let is_too_long = |data_set: &DataSet| {
            let reader = readers.get(data_set.reader);
            let longest = reader.and_then(|reader| reader.longest);
            longest.is_some_and(|longest| bytes.len() > longest)
        };
        if route.data_sets.iter().any(is_too_long) {
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
            let received = (&message, route.group_version);
            match data_set.receive(received, reader, scratch, now, observer) {
                Ok(true) => count += 1,
                Ok(false) => {}
                Err(error) => outcome = Err(error),
            }
        }
        Some(outcome.map(|()| count))
    }
}

/// Returns the route of this link whose layout a message has, with its index and the message; the route at `last` is tried first.
#[inline]
fn find<'a>(
    routes: &'a [Route],
    last: usize,
    link: usize,
    bytes: &'a [u8],
) -> Option<(usize, &'a Route, FixedMessageRef<'a>)> {
    let of = |index: usize| {
        let route = routes.get(index).filter(|route| route.link == link)?;
        Some((index, route, route.layout.read(bytes)?))
    };
    of(last).or_else(|| (0..routes.len()).find_map(of))
}

impl Route {
    fn of(
        (bytes, link): (&[u8], usize),
        signature_length: usize,
        accepted: &[(usize, usize)],
        readers: &[DataSetReader],
        memory: &MemoryBudget,
    ) -> Option<Self> {
        // Without memory for a layout, the general decoder decodes its messages.
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
            let field_count = fields.count();
            // The general decoder gives fields of other types their status.
            let is_exact = |index: usize| {
                let field = reader.meta_data.fields.get(index);
                let value = first.variant(*data_set_message, index);
                reader.is_learned
                    || field
                        .zip(value)
                        .is_none_or(|(field, value)| conforms(field, &value))
            };
            if !(0..field_count).all(is_exact) {
                return None;
            }
            let mut data_set = DataSet {
                reader: *reader_index,
                data_set_message: *data_set_message,
                field_count,
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
            link,
            layout,
            group_version: message.group_header.and_then(|it| it.group_version),
            data_sets,
        })
    }
}

impl DataSet {
    /// Adds the value of a target of the reader.
    fn add(&mut self, message: &FixedMessageRef<'_>, index: usize, target: &ReaderTarget) {
        match Number::of(message, self.data_set_message, index, target) {
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
        (message, group_version): (&FixedMessageRef<'_>, Option<u32>),
        reader: &mut DataSetReader,
        scratch: &mut [u8],
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<bool, ReceiveError> {
        let index = self.data_set_message;
        let number = message
            .data_set_sequence_number(index)
            .or(message.sequence_number())
            .map(SequenceNumber::UInt16);
        let kind = DataSetKind::KeyFrame;
        let Some(missing) = reader.accept(number, kind, now.instant) else {
            return Ok(false);
        };
        reader.note(kind);
        // All values are new.
        reader.take_gap();
        let timestamp = message.data_set_timestamp(index).or(message.timestamp());
        let mut failed = None;
        let time = timestamp.unwrap_or(now.date_time);
        for number in &self.numbers {
            if let Err(status) = number.store(message, time) {
                reader.fail_target(number.target, status, now.date_time);
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
            let copied = match (&other.place, target.plain_cell()) {
                (Some(place), Some(cell)) if !status.is_bad() => {
                    let own = message.field_source_timestamp(index, field);
                    let encoded = place.encoded(message, index, field, scratch);
                    encoded.is_some_and(|encoded| {
                        let time = own.unwrap_or(time);
                        cell.set_encoded(encoded, status, time).is_ok()
                    })
                }
                _ => false,
            };
            if copied {
                continue;
            }
            let value = fixed_value(message, index, field, timestamp);
            let value = value.unwrap_or(DataValue::status(StatusCode::BadDecodingError));
            let written = target.write(value, now.date_time);
            if let Err(status) = written {
                failed = Some((field, status));
            }
        }
        observer.data_set(&ReceivedDataSet {
            reader,
            kind,
            sequence_number: number.map(SequenceNumber::value),
            missing,
            group_version,
            timestamp,
            status: StatusCode::Good,
            fields: ReceivedFields::Fixed {
                message: *message,
                data_set_message: index,
                count: self.field_count,
            },
            absent: &BTreeMap::new(),
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
