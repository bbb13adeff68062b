//! Memory of large values: prepared before it is written for the first time, and kept for the next large value.
//!
//! The system takes several times as long to provide 16 MiB of new memory as a program takes to copy them. A server that
//! handles large values one after the other therefore [keeps](keep_freed) the memory of those that are gone for a while.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Size in bytes from which on memory is prepared and kept.
pub const LARGE: usize = 4 << 20;

/// Number of bytes that usually follow a large value in its message at most: timestamps, and the results of diagnostics.
const BEHIND: usize = 4096;

/// Capacities of large buffers are multiples of this number of bytes, so that a buffer suits other values of about its length.
/// Memory that is never written costs nothing.
const STEP: usize = 1 << 20;

/// Prepares memory of `length` bytes at `start` before it is written for the first time. It must not change the memory.
pub type PrepareMemory = fn(start: *const u8, length: usize);

static PREPARE: OnceLock<PrepareMemory> = OnceLock::new();

static KEPT: Mutex<Kept> = Mutex::new(Kept {
    buffers: Vec::new(),
    most: 0,
    round: 0,
});

/// Number of bytes in [`KEPT`], for readers without the lock.
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Buffers that were freed.
struct Kept {
    /// Buffers with the round in which they were freed, the oldest first.
    buffers: Vec<(u64, Vec<u8>)>,
    /// Largest number of bytes of all buffers together.
    most: usize,
    /// Number of calls of [`release_unused`] that have released all that they found.
    round: u64,
}

/// Sets a function that prepares the memory of values of 4 MiB and more, in this process. Only the first call has an effect.
///
/// The time to copy such a value is mostly the time that the system takes to provide its pages, one by one. A function that
/// makes the system provide them together halves it.
pub fn prepare_with(prepare: PrepareMemory) {
    // Another part of this process may have set the same function.
    let _ = PREPARE.set(prepare);
}

/// Keeps [freed](free) buffers of 4 MiB and more for later ones, at most `most` bytes, in this process. The caller has to call
/// [`release_unused`] about once a second while [`kept`] returns more than 0.
pub fn keep_freed(most: usize) {
    lock().most = most;
}

/// Returns the number of bytes that are kept.
#[inline]
pub fn kept() -> usize {
    KEPT_BYTES.load(Ordering::Relaxed)
}

/// Returns memory of a buffer to the system that was not used since the call before. Each call releases at most one
/// buffer, because that takes about a millisecond. Returns true if there is another one to release now.
pub fn release_unused() -> bool {
    let mut kept = lock();
    let round = kept.round;
    let is_old = |(freed, _): &(u64, Vec<u8>)| *freed < round;
    if !kept.buffers.first().is_some_and(is_old) {
        // The next call releases what is kept now and still unused by then.
        kept.round += 1;
        return false;
    }
    let released = kept.remove(0);
    let more = kept.buffers.first().is_some_and(is_old);
    // Other threads need not wait while the system takes the memory.
    drop(kept);
    drop(released);
    more
}

/// Returns memory of the oldest buffer to the system. Returns false if there is none.
pub fn release_one() -> bool {
    let released = {
        let mut kept = lock();
        (!kept.buffers.is_empty()).then(|| kept.remove(0))
    };
    released.is_some()
}

/// Frees a buffer, or keeps it for a later one.
#[inline]
pub fn free(buffer: Vec<u8>) {
    if buffer.capacity() >= LARGE {
        keep(buffer);
    }
}

#[cold]
fn keep(mut buffer: Vec<u8>) {
    buffer.clear();
    let capacity = buffer.capacity();
    let mut kept = lock();
    // Nothing is kept unless somebody releases it again: `most` is 0 at first.
    if capacity > kept.most {
        return;
    }
    let mut released = Vec::new();
    while kept.bytes() + capacity > kept.most {
        released.push(kept.remove(0));
    }
    let round = kept.round;
    kept.buffers.push((round, buffer));
    kept.publish();
    drop(kept);
    drop(released);
}

/// Returns an empty buffer for at least `capacity` bytes.
#[must_use]
pub fn buffer(capacity: usize) -> Vec<u8> {
    if capacity < LARGE {
        return Vec::with_capacity(capacity);
    }
    let buffer = lock().take(capacity);
    let buffer = buffer.unwrap_or_else(|| {
        // A capacity that overflows fails in `with_capacity` as well, with its own message.
        let rounded = capacity.checked_next_multiple_of(STEP);
        Vec::with_capacity(rounded.unwrap_or(capacity))
    });
    prepare(buffer.as_ptr(), capacity);
    buffer
}

/// Makes room for `capacity` bytes in all.
pub fn reserve_total(buffer: &mut Vec<u8>, capacity: usize) {
    if capacity <= buffer.capacity() {
        return;
    }
    // The lock is not taken in the usual case that nothing is kept.
    let kept = match capacity {
        capacity if capacity >= LARGE && kept() > 0 => lock().take(capacity),
        _ => None,
    };
    match kept {
        Some(mut larger) => {
            larger.extend_from_slice(buffer);
            free(std::mem::replace(buffer, larger));
        }
        // The system can move pages instead of bytes.
        None => buffer.reserve_exact(capacity.saturating_sub(buffer.len())),
    }
}

/// Returns an empty `Vec` for `count` elements.
pub(crate) fn with_capacity<T>(count: usize) -> Vec<T> {
    let vec = Vec::with_capacity(count);
    prepare(vec.as_ptr(), count.saturating_mul(size_of::<T>()));
    vec
}

/// Returns a copy of `bytes`.
#[must_use]
pub fn copy(bytes: &[u8]) -> Vec<u8> {
    let mut copy = with_capacity(bytes.len());
    copy.extend_from_slice(bytes);
    copy
}

/// Returns a copy of `bytes`, in a buffer that may have more room: [`free`] takes it back.
#[must_use]
pub fn copy_to_buffer(bytes: &[u8]) -> Vec<u8> {
    // Values and their messages get buffers of one size.
    let mut copy = match bytes.len() {
        length if length >= LARGE => buffer(length.saturating_add(BEHIND)),
        length => Vec::with_capacity(length),
    };
    copy.extend_from_slice(bytes);
    copy
}

/// Appends `bytes`.
pub(crate) fn append(vec: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() >= LARGE {
        // The bytes behind the value must not double the memory.
        let needed = vec.len().saturating_add(bytes.len()).saturating_add(BEHIND);
        if needed > vec.capacity() {
            let mut larger = buffer(needed);
            larger.extend_from_slice(vec);
            free(std::mem::replace(vec, larger));
        }
    }
    vec.extend_from_slice(bytes);
}

impl Kept {
    fn bytes(&self) -> usize {
        self.buffers
            .iter()
            .map(|(_, buffer)| buffer.capacity())
            .sum()
    }

    fn publish(&self) {
        KEPT_BYTES.store(self.bytes(), Ordering::Relaxed);
    }

    fn remove(&mut self, index: usize) -> Vec<u8> {
        let (_, buffer) = self.buffers.remove(index);
        self.publish();
        buffer
    }

    /// Takes the smallest buffer with room for `capacity` bytes, unless most of it would stay unused.
    fn take(&mut self, capacity: usize) -> Option<Vec<u8>> {
        let capacities = self.buffers.iter().map(|(_, buffer)| buffer.capacity());
        // A quarter more suits values whose length varies, and wastes little.
        let largest = capacity.saturating_add(capacity / 4 + STEP);
        let suits = |size: &usize| (capacity..=largest).contains(size);
        let suitable = capacities.enumerate().filter(|(_, size)| suits(size));
        let (index, _) = suitable.min_by_key(|(_, size)| *size)?;
        Some(self.remove(index))
    }
}

fn lock() -> MutexGuard<'static, Kept> {
    // The list is valid after each step, so a panic of another thread does no harm.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prepares `length` bytes at `start`.
fn prepare<T>(start: *const T, length: usize) {
    if length >= LARGE
        && let Some(prepare) = PREPARE.get()
    {
        prepare(start.cast(), length);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    static PREPARED: AtomicUsize = AtomicUsize::new(0);

    fn count(_: *const u8, length: usize) {
        PREPARED.fetch_add(length, Ordering::Relaxed);
    }

    /// One test, because all of it is about one state of the process.
    #[test]
    fn memory_of_large_values_is_prepared_once_and_kept_for_a_while() {
        prepare_with(count);
        let value = copy(&vec![7; LARGE]);
        assert_eq!(PREPARED.swap(0, Ordering::Relaxed), LARGE);
        let mut message = vec![1];
        append(&mut message, &value);
        assert!(message[1..] == *value);
        assert!(PREPARED.swap(0, Ordering::Relaxed) >= LARGE);
        drop(copy(&value[1..]));
        assert_eq!(PREPARED.load(Ordering::Relaxed), 0);

        free(message);
        assert_eq!(kept(), 0, "nothing is kept before it is wanted");
        keep_freed(3 * LARGE);
        free(copy_to_buffer(&value[1..]));
        assert_eq!(kept(), 0, "a small buffer");

        let first = copy_to_buffer(&value);
        let (place, capacity) = (first.as_ptr(), first.capacity());
        assert_eq!(capacity, LARGE + STEP);
        free(first);
        assert_eq!(kept(), capacity);
        assert!(buffer(capacity + 1).capacity() > capacity, "too small");
        assert_eq!(kept(), capacity);
        let mut again = vec![2];
        append(&mut again, &value);
        assert_eq!((again.as_ptr(), kept()), (place, 0), "the same memory");
        assert!(again[0] == 2 && again[1..] == *value);
        free(again);
        let mut growing = vec![3; 10];
        reserve_total(&mut growing, LARGE);
        assert_eq!((growing.as_ptr(), growing.len()), (place, 10));
        free(growing);

        // The oldest one has to go.
        free(Vec::with_capacity(2 * LARGE));
        assert_eq!(kept(), 2 * LARGE);
        free(Vec::with_capacity(4 * LARGE));
        assert_eq!(kept(), 2 * LARGE, "larger than all that is kept");
        free(Vec::with_capacity(LARGE));
        assert_eq!(kept(), 3 * LARGE);

        assert!(!release_unused(), "freed just now");
        assert_eq!(kept(), 3 * LARGE);
        free(buffer(LARGE));
        assert!(!release_unused(), "one of them was used again");
        assert_eq!(kept(), LARGE);
        assert!(!release_unused());
        assert!(!release_unused());
        assert_eq!(kept(), 0);
        free(Vec::with_capacity(LARGE));
        assert!(release_one());
        assert!(!release_one());
    }
}
