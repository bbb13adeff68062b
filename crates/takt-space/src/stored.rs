//! A value in the memory of the server.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use arc_swap::ArcSwap;
use takt_cell::{CellLocation, Publication};
use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder, Limits};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, StatusCode, Variant, large_memory};

use crate::remote::RemoteValue;

/// A stored value with its StatusCode and source timestamp. Reading takes no lock, and never waits.
///
/// A value is replaced as a whole. The memory of the value before is reused for the next one, so setting values of the same
/// size allocates nothing, unless a reader still uses the value before.
pub struct StoredValue {
    content: ArcSwap<Content>,
    /// Locked while a value is set: a read-modify-write must not undo another change.
    setting: Mutex<Setting>,
    /// Number of values set so far.
    generation: AtomicU64,
    /// Publication of the value for other processes.
    publication: OnceLock<Box<Publication>>,
    /// Variable of another server of which this value is a copy.
    origin: OnceLock<Box<RemoteValue>>,
}

/// Observer of every value that is set, in order: a MonitoredItem that reports by exception.
pub trait ChangeObserver: Send + Sync {
    /// Notifies that a value was set: an encoded Variant with its StatusCode and source timestamp. After the result `false` the
    /// observer gets no more notifications.
    fn changed(
        self: Arc<Self>,
        stored: &StoredValue,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> bool;
}

/// Values above this many bytes count in the memory budget if a client writes them.
const LARGE: usize = 4096;

/// Bytes of the longest value whose memory is reused for the value after the next. Longer values are allocated each time:
/// keeping two of them in memory would cost more.
const LONGEST_SPARE: usize = 1 << 20;

/// State for setting a value.
#[derive(Default)]
struct Setting {
    /// The value before the current one.
    spare: Option<Arc<Content>>,
    observers: Vec<Weak<dyn ChangeObserver>>,
    /// The memory of a large value that a client wrote.
    charge: Option<Charge>,
}

struct Content {
    /// An encoded Variant (OPC 10000-6, 5.2.2.16).
    encoded: Vec<u8>,
    status: StatusCode,
    time: DateTime,
}

impl StoredValue {
    /// Limits for decoding an encoded value: it was checked on arrival, so its lengths are not limited again.
    pub const LIMITS: Limits = Limits {
        max_string_length: usize::MAX,
        max_array_length: usize::MAX,
        max_memory: usize::MAX,
        ..Limits::DEFAULT
    };

    /// Creates a Good value, as of now.
    pub fn new(value: &Variant) -> Self {
        Self::with_status(value, StatusCode::Good)
    }

    /// Creates a value with a StatusCode, as of now.
    pub fn with_status(value: &Variant, status: StatusCode) -> Self {
        let content = Content {
            encoded: value.encode_to_vec(),
            status,
            time: DateTime::now(),
        };
        Self {
            content: ArcSwap::from_pointee(content),
            setting: Mutex::default(),
            generation: AtomicU64::new(0),
            publication: OnceLock::new(),
            origin: OnceLock::new(),
        }
    }

    /// Creates a copy of a value of another server, which has none yet: null, `BadWaitingForInitialData`. The application sets
    /// it when the other server reports a change. Clients read the copy, and their Writes go to the other server.
    pub fn copy_of(origin: RemoteValue) -> Self {
        let stored = Self::with_status(&Variant::Empty, StatusCode::BadWaitingForInitialData);
        // The cell is empty: the value was created just now.
        let _ = stored.origin.set(Box::new(origin));
        stored
    }

    /// Returns the Variable of another server of which this value is a copy.
    #[inline]
    pub fn origin(&self) -> Option<&RemoteValue> {
        self.origin.get().map(Box::as_ref)
    }

    /// Publishes the value and all later ones in memory that other processes read without a request: see
    /// [`Value::publish_current`](crate::Value::publish_current).
    ///
    /// # Errors
    /// The system has no memory or descriptors left, or the shared memory of this process has reached 1 GiB.
    pub fn publish_current(&self, capacity: usize) -> io::Result<()> {
        // The lock prevents setting a value in between.
        let _setting = self.setting();
        if self.publication.get().is_none() {
            let publication = Publication::of_source(capacity)?;
            self.content.load().publish(&publication);
            // The cell was empty a moment ago, and it changes only under the lock.
            let _ = self.publication.set(Box::new(publication));
        }
        Ok(())
    }

    /// Returns the location at which other processes find the value, if it is published.
    pub(crate) fn location(&self) -> Option<CellLocation> {
        self.publication.get()?.location()
    }

    /// Returns the value.
    pub fn get(&self) -> DataValue {
        self.content.load().data_value()
    }

    /// Sets a Good value, as of now.
    pub fn set(&self, value: impl Into<Variant>) {
        self.set_encoded(
            &value.into().encode_to_vec(),
            StatusCode::Good,
            DateTime::now(),
        );
    }

    /// Sets value, StatusCode and source timestamp. Missing parts are null, Good and now.
    pub fn set_data_value(&self, value: &DataValue) {
        let encoded = value
            .value
            .as_ref()
            .unwrap_or(&Variant::Empty)
            .encode_to_vec();
        let time = value.source_timestamp.unwrap_or_else(DateTime::now);
        self.set_encoded(&encoded, value.status_code(), time);
    }

    /// Changes the StatusCode, and keeps value and source timestamp.
    pub fn set_status(&self, status: StatusCode) {
        let mut setting = self.setting();
        let content = self.content.load_full();
        self.replace(&mut setting, &content.encoded, status, content.time);
    }

    /// Sets an encoded Variant that the caller has checked.
    pub(crate) fn set_encoded(&self, encoded: &[u8], status: StatusCode, time: DateTime) {
        self.replace(&mut self.setting(), encoded, status, time);
    }

    /// Sets an encoded Variant that the caller has checked, on behalf of a client.
    ///
    /// # Errors
    /// The value is large, and there is not enough memory for it in the budget.
    pub fn write_encoded(
        &self,
        encoded: &[u8],
        status: StatusCode,
        time: DateTime,
        memory: &MemoryBudget,
    ) -> Result<(), StatusCode> {
        let mut setting = self.setting();
        setting.count(encoded.len(), memory)?;
        self.replace(&mut setting, encoded, status, time);
        Ok(())
    }

    /// Sets an encoded Variant that the caller has checked and has stored elsewhere for a client, so that it cannot be refused. It
    /// counts in the budget even if there is not enough memory: the caller has reserved [`memory_of_written`].
    pub(crate) fn set_accepted(
        &self,
        encoded: &[u8],
        status: StatusCode,
        time: DateTime,
        memory: &MemoryBudget,
    ) {
        let mut setting = self.setting();
        if let Some(needed) = setting.needed(encoded.len()) {
            setting.charged(memory).force(needed);
        }
        self.replace(&mut setting, encoded, status, time);
    }

    /// Changes the value based on the current one; no other change is made meanwhile.
    ///
    /// # Errors
    /// The error of `change`; the value stays as it is.
    pub fn update(
        &self,
        change: impl FnOnce(DataValue) -> Result<(Variant, StatusCode, DateTime), StatusCode>,
    ) -> Result<(), StatusCode> {
        let mut setting = self.setting();
        let (value, status, time) = change(self.get())?;
        self.replace(&mut setting, &value.encode_to_vec(), status, time);
        Ok(())
    }

    /// Returns a number that grows with every set: while it stays the same, the value does not change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Notifies an observer of the current value, and of every later one.
    pub fn observe<O: ChangeObserver + 'static>(&self, observer: &Arc<O>) {
        // Sets wait until the observer is in the list, so that it misses none of them.
        let mut setting = self.setting();
        let observers = &mut setting.observers;
        // A value that is seldom set would collect observers that are dropped, because the only other removal is at a
        // set.
        observers.retain(|observer| observer.strong_count() > 0);
        let weak: Weak<O> = Arc::downgrade(observer);
        let weak: Weak<dyn ChangeObserver> = weak;
        let content = self.content.load_full();
        if Arc::clone(observer).changed(self, &content.encoded, content.status, content.time)
            && !observers.iter().any(|known| known.ptr_eq(&weak))
        {
            observers.push(weak);
        }
    }

    fn setting(&self) -> MutexGuard<'_, Setting> {
        self.setting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, setting: &mut Setting, encoded: &[u8], status: StatusCode, time: DateTime) {
        let fresh = || Content {
            encoded: large_memory::copy_to_buffer(encoded),
            status,
            time,
        };
        // The spare is the value before the current one: readers have mostly finished with it, while the current one
        // must stay as it is for them.
        let reused = setting.spare.take().and_then(|mut spare| {
            // A reader may still use it.
            let content = Arc::get_mut(&mut spare)?;
            content.encoded.clear();
            content.encoded.extend_from_slice(encoded);
            (content.status, content.time) = (status, time);
            Some(spare)
        });
        let next = reused.unwrap_or_else(|| Arc::new(fresh()));
        if let Some(publication) = self.publication.get() {
            next.publish(publication);
        }
        let before = self.content.swap(next);
        if before.encoded.capacity() <= LONGEST_SPARE {
            setting.spare = Some(before);
        } else if let Some(before) = Arc::into_inner(before) {
            large_memory::free(before.encoded);
        }
        // After the swap: a reader that sees the new number reads the new value.
        self.generation.fetch_add(1, Ordering::Release);
        // Still under the lock, so that observers get the values in the order in which they were set.
        setting.observers.retain(|observer| {
            let observer = observer.upgrade();
            observer.is_some_and(|observer| observer.changed(self, encoded, status, time))
        });
    }

    /// Returns the number of bytes of the encoded value.
    pub fn size_of_value(&self) -> usize {
        self.content.load().encoded.len()
    }

    /// Passes the encoded Variant with its StatusCode and source timestamp to `read`.
    pub fn read_encoded<R>(&self, read: impl FnOnce(&[u8], StatusCode, DateTime) -> R) -> R {
        let content = self.content.load();
        read(&content.encoded, content.status, content.time)
    }

    /// Appends the DataValue with the parts that a client wants.
    #[inline]
    pub fn encode_data_value(
        &self,
        response: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        now: DateTime,
    ) -> Result<(), EncodeError> {
        self.content.load().encode(response, timestamps, now)
    }
}

/// Returns the bytes that a value of `bytes` bytes counts in the memory budget if a client writes it: with those of the value before if
/// its memory is reused.
pub(crate) fn memory_of_written(bytes: usize) -> usize {
    match bytes {
        bytes if bytes <= LARGE => 0,
        bytes if bytes <= LONGEST_SPARE => 2 * bytes,
        bytes => bytes,
    }
}

impl Setting {
    /// Reserves memory for a value of `bytes` bytes.
    #[inline]
    fn count(&mut self, bytes: usize, memory: &MemoryBudget) -> Result<(), StatusCode> {
        let Some(needed) = self.needed(bytes) else {
            return Ok(());
        };
        let resized = self.charged(memory).resize(needed);
        resized.map_err(|_| StatusCode::BadOutOfMemory)
    }

    /// Returns the bytes to count with a value of `bytes` bytes; `None` if they are counted already.
    #[inline]
    fn needed(&self, bytes: usize) -> Option<usize> {
        let charged = self.charge.as_ref().map_or(0, Charge::bytes);
        // Memory that is reused does not become smaller.
        let needed = memory_of_written(bytes).max(charged.min(2 * LONGEST_SPARE));
        (needed != charged).then_some(needed)
    }

    fn charged(&mut self, memory: &MemoryBudget) -> &mut Charge {
        self.charge.get_or_insert_with(|| memory.empty_charge())
    }
}

impl std::fmt::Debug for StoredValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("StoredValue")
            .field(&self.get())
            .finish()
    }
}

impl Content {
    fn publish(&self, publication: &Publication) {
        publication.set(&self.encoded, self.status, self.time, DateTime::MIN);
    }

    fn data_value(&self) -> DataValue {
        // With a Bad status there is no value (OPC 10000-4, 7.11). The stored value was checked before.
        let value = || {
            Variant::decode(&mut Decoder::with_limits(
                &self.encoded,
                StoredValue::LIMITS,
            ))
            .unwrap_or_default()
        };
        DataValue {
            value: (!self.status.is_bad()).then(value),
            status: Some(self.status),
            source_timestamp: (self.time != DateTime::MIN).then_some(self.time),
            ..DataValue::default()
        }
    }

    /// Appends a DataValue (OPC 10000-6, 5.2.2.17) around the encoded Variant.
    #[inline]
    fn encode(
        &self,
        response: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        now: DateTime,
    ) -> Result<(), EncodeError> {
        let source = matches!(
            timestamps,
            TimestampsToReturn::Source | TimestampsToReturn::Both
        );
        let server = matches!(
            timestamps,
            TimestampsToReturn::Server | TimestampsToReturn::Both
        );
        let source = source && self.time != DateTime::MIN;
        let has_value = !self.status.is_bad();
        let has_status = self.status != StatusCode::Good;
        let bit = |present: bool, position: u8| u8::from(present) << position;
        response.u8(bit(has_value, 0) | bit(has_status, 1) | bit(source, 2) | bit(server, 3))?;
        if has_value {
            response.bytes(&self.encoded)?;
        }
        if has_status {
            self.status.encode(response)?;
        }
        if source {
            self.time.encode(response)?;
        }
        // The server holds the current value, which is up to date now, whenever it was set.
        if server { now.encode(response) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(stored: &StoredValue) -> Variant {
        stored.get().value.unwrap()
    }

    #[test]
    fn a_stored_value_holds_values_of_any_length() {
        let stored = StoredValue::new(&Variant::from("a"));
        for length in [0, 1, 100, 5_000, 70_000, 3, 200_000] {
            let text = "x".repeat(length);
            stored.set(text.as_str());
            assert_eq!(value(&stored), Variant::from(text.as_str()));
        }
    }

    #[test]
    fn status_and_time_are_kept_with_the_value() {
        let stored = StoredValue::new(&Variant::from(1_u32));
        let time = DateTime(123_456_789);
        let uncertain = DataValue::good(2_u32)
            .with_status(StatusCode::UncertainInitialValue)
            .with_source_timestamp(time);
        stored.set_data_value(&uncertain);
        stored.set_status(StatusCode::BadNoCommunication);
        let read = stored.get();
        assert_eq!(read.value, None, "a Bad value is not shown");
        assert_eq!(read.status, Some(StatusCode::BadNoCommunication));
        stored.set_status(StatusCode::UncertainLastUsableValue);
        let read = stored.get();
        assert_eq!(
            read.value,
            Some(Variant::from(2_u32)),
            "and not forgotten either"
        );
        assert_eq!(read.source_timestamp, Some(time));
    }

    #[test]
    fn a_stored_value_is_encoded_as_a_data_value() {
        let numbers: Vec<u32> = (0..20_000).collect();
        let stored = StoredValue::new(&Variant::from(numbers.clone()));
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, 1 << 20);
        stored
            .encode_data_value(&mut encoder, TimestampsToReturn::Both, DateTime(7))
            .unwrap();
        let read = DataValue::decode(&mut Decoder::new(&bytes)).unwrap();
        assert_eq!(read.value, Some(Variant::from(numbers)));
        assert_eq!(read.server_timestamp, Some(DateTime(7)));
        assert!(read.source_timestamp.is_some());
    }
}
