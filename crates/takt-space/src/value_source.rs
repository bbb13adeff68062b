//! Values that are computed for each read, and a source whose last value is kept.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use takt_cell::{Cell, CellLocation, Publication};
use takt_ua::binary::{Encode, Encoder};
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

/// Values up to this size are encoded on the stack.
const STACK_BYTES: usize = 512;

/// A value that is computed, or read from a device, when a client asks for it.
pub trait ValueSource: Send + Sync {
    /// Returns the value. Without a source timestamp it counts as read now.
    fn read(&self) -> DataValue;

    /// Takes a value that a client writes; its type has been checked against DataType and ValueRank.
    ///
    /// The result is the StatusCode of the operation.
    fn write(&self, value: &DataValue) -> StatusCode {
        let _ = value;
        StatusCode::BadNotWritable
    }

    /// Returns the parts of a written DataValue that [`write`](Self::write) stores along with the value: the bits `STATUS_WRITE`
    /// and `TIMESTAMP_WRITE` of [`access_level`](crate::access_level). By default the source stores the value only, and a Write
    /// with a status other than Good or a timestamp gets `BadWriteNotSupported`.
    fn stored_parts(&self) -> u32 {
        0
    }

    /// Returns the last value if it is kept; only [`CachedValue`] implements this.
    fn cached(&self) -> Option<&CachedValue> {
        None
    }
}

/// A [`ValueSource`] whose last value is kept with the time of its request, and published in memory that other processes read.
///
/// A client that accepts a value of some age (maxAge of a Read, OPC 10000-4, 5.11.2.2) gets the kept value if it is recent
/// enough, and the source is not asked. Each value that the source returns, to a Read or to the sampling of a MonitoredItem,
/// replaces the kept value; a Write discards it. A value that is larger than the declared capacity is not kept.
pub struct CachedValue {
    source: Arc<dyn ValueSource>,
    publication: Publication,
    /// Number of calls of the source so far, for reading and writing.
    calls: AtomicU64,
    /// Number of the call whose value is published. Locked while publishing: one thread at a time.
    published: Mutex<u64>,
}

impl CachedValue {
    /// Keeps values of up to `capacity` bytes, encoded as a Variant (OPC 10000-6, 5.2.2.16): a number of 8 bytes takes 9. There
    /// is no value until the source is asked for the first time.
    ///
    /// # Errors
    /// The system has no memory or descriptors left, or the shared memory of this process has reached 1 GiB.
    pub fn new(source: Arc<dyn ValueSource>, capacity: usize) -> io::Result<Self> {
        Ok(Self {
            source,
            publication: Publication::of_cache(capacity)?,
            calls: AtomicU64::new(0),
            published: Mutex::new(0),
        })
    }

    /// Returns the location at which other processes find the last value.
    #[must_use]
    pub fn location(&self) -> Option<CellLocation> {
        self.publication.location()
    }

    /// Returns true if the last value is recent enough at the time `now` for a client with this maxAge, in milliseconds.
    pub fn satisfies(&self, max_age: f64, now: DateTime) -> bool {
        // Above the range of a Duration, any age is accepted.
        let max_age = Duration::try_from_secs_f64(max_age / 1000.0).unwrap_or(Duration::MAX);
        let reading = self.publication.reading();
        reading.is_ok_and(|reading| reading.satisfies(max_age, now))
    }

    /// Returns the last value, with both timestamps.
    pub fn last(&self) -> Option<DataValue> {
        self.publication.get().ok()
    }

    /// Returns the cell with the last value of the callback and its time;
    /// [`CellError::Withheld`](takt_cell::CellError::Withheld) if the value was too large.
    pub fn cell(&self) -> &Cell {
        self.publication.as_cell()
    }

    fn begin_call(&self) -> u64 {
        // Relaxed is enough: only the numbers count, and the lock in `publish` orders the memory.
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Publishes the result of a call, unless the result of a later one is published already.
    fn publish(&self, call: u64, publish: impl FnOnce(&Publication)) {
        let mut published = self
            .published
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Calls may run on several threads, and a slow one may end after a later one.
        if *published < call {
            *published = call;
            publish(&self.publication);
        }
    }
}

impl ValueSource for CachedValue {
    fn read(&self) -> DataValue {
        let call = self.begin_call();
        // The time is taken before the call: the value is not older than that.
        let now = DateTime::now();
        let mut value = self.source.read();
        let source_timestamp = *value.source_timestamp.get_or_insert(now);
        let server_timestamp = *value.server_timestamp.get_or_insert(now);
        let status = value.status_code();
        encoded(value.value.as_ref(), |encoded| {
            self.publish(call, |publication| {
                publication.set(encoded, status, source_timestamp, server_timestamp);
            });
        });
        value
    }

    /// Writes to the source and discards the kept value: a value that was read before does not show the written one.
    fn write(&self, value: &DataValue) -> StatusCode {
        let status = self.source.write(value);
        // The number is taken after the write, so that values of calls that began before it are not published.
        self.publish(self.begin_call(), Publication::withhold);
        status
    }

    fn stored_parts(&self) -> u32 {
        self.source.stored_parts()
    }

    fn cached(&self) -> Option<&CachedValue> {
        Some(self)
    }
}

/// Passes the encoding of a value to `show`; no bytes if there is no value.
fn encoded(value: Option<&Variant>, show: impl FnOnce(&[u8])) {
    let Some(value) = value else {
        return show(&[]);
    };
    let mut stack = [0; STACK_BYTES];
    let mut encoder = Encoder::fixed(&mut stack);
    if value.encode(&mut encoder).is_ok() {
        show(encoder.written());
    } else {
        show(&value.encode_to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source with a value that can be read and written.
    struct Device(Mutex<DataValue>);

    impl ValueSource for Device {
        fn read(&self) -> DataValue {
            self.0.lock().unwrap().clone()
        }

        fn write(&self, value: &DataValue) -> StatusCode {
            *self.0.lock().unwrap() = value.clone();
            StatusCode::Good
        }
    }

    fn cached(value: DataValue, capacity: usize) -> (Arc<Device>, CachedValue) {
        let device = Arc::new(Device(Mutex::new(value)));
        let cached = CachedValue::new(Arc::clone(&device) as Arc<_>, capacity).unwrap();
        (device, cached)
    }

    #[test]
    fn the_last_value_is_kept_with_its_times() {
        let (device, cached) = cached(DataValue::good(1_u32), 16);
        assert_eq!(cached.last(), None, "nobody has asked yet");
        let before = DateTime::now();
        let read = cached.read();
        let server_timestamp = read.server_timestamp.unwrap();
        assert!(server_timestamp >= before && server_timestamp <= DateTime::now());
        assert_eq!(read.source_timestamp, read.server_timestamp);
        let last = cached.last().unwrap();
        assert_eq!(last.value, read.value);
        assert_eq!(last.server_timestamp, read.server_timestamp);

        // A source may set its own timestamps, and may return no value.
        let own = DataValue::status(StatusCode::BadNoCommunication)
            .with_source_timestamp(DateTime(5))
            .with_server_timestamp(DateTime(7));
        *device.0.lock().unwrap() = own.clone();
        assert_eq!(cached.read(), own);
        assert_eq!(cached.last(), Some(own));
    }

    #[test]
    fn max_age_is_in_milliseconds() {
        let time = DateTime(1_000_000_000);
        let value = DataValue::good(1_u32).with_server_timestamp(time);
        let (_, cached) = cached(value, 16);
        assert!(!cached.satisfies(f64::INFINITY, time), "there is none");
        cached.read();
        let later = DateTime(time.0 + 20_000);
        assert!(cached.satisfies(2.0, later) && !cached.satisfies(1.9, later));
        assert!(!cached.satisfies(0.0, time));
        let old = DateTime(i64::MAX);
        assert!(!cached.satisfies(2_147_483_646.0, old));
        for max_age in [2_147_483_647.0, 1e20, f64::MAX, f64::INFINITY] {
            assert!(cached.satisfies(max_age, old), "{max_age}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_or_was_written_is_not_kept() {
        let (device, cached) = cached(DataValue::good("short"), 16);
        cached.read();
        assert!(cached.last().is_some());
        let long = DataValue::good("too long for it");
        *device.0.lock().unwrap() = long.clone();
        assert_eq!(cached.read().value, long.value);
        assert_eq!(cached.last(), None);

        *device.0.lock().unwrap() = DataValue::good("short");
        cached.read();
        assert_eq!(cached.last().unwrap().value, Some("short".into()));
        cached.write(&DataValue::good("new"));
        assert_eq!(cached.last(), None);
        assert_eq!(cached.read().value, Some("new".into()));
        assert_eq!(cached.last().unwrap().value, Some("new".into()));
    }

    #[test]
    fn a_slow_call_does_not_undo_a_later_one() {
        let (_, cached) = cached(DataValue::good(1_u32), 16);
        let slow = cached.begin_call();
        cached.read();
        cached.publish(slow, Publication::withhold);
        assert!(cached.last().is_some());
    }
}
