//! Memory of large values, which may be prepared before it is written for the first time.

use std::sync::OnceLock;

/// Size in bytes from which on memory is prepared.
const LARGE: usize = 4 << 20;

/// Number of bytes that usually follow a large value in its message at most: timestamps, and the results of diagnostics.
const BEHIND: usize = 4096;

/// Prepares memory of `length` bytes at `start` before it is written for the first time. It must not change the memory.
pub type PrepareMemory = fn(start: *const u8, length: usize);

static PREPARE: OnceLock<PrepareMemory> = OnceLock::new();

/// Sets a function that prepares the memory of values of 4 MiB and more, in this process. Only the first call has an effect.
///
/// The time to copy such a value is mostly the time that the system takes to provide its pages, one by one. A function that
/// makes the system provide them together halves it.
pub fn prepare_with(prepare: PrepareMemory) {
    // Another part of this process may have set the same function.
    let _ = PREPARE.set(prepare);
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

/// Appends `bytes`.
pub(crate) fn append(vec: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() >= LARGE {
        // The bytes behind the value must not double the memory.
        vec.reserve(bytes.len() + BEHIND);
        prepare(vec.as_ptr_range().end, bytes.len());
    }
    vec.extend_from_slice(bytes);
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

    #[test]
    fn memory_of_large_values_is_prepared_once() {
        prepare_with(count);
        let value = copy(&vec![7; LARGE]);
        assert_eq!(PREPARED.swap(0, Ordering::Relaxed), LARGE);
        let mut message = vec![1];
        append(&mut message, &value);
        assert!(message[1..] == *value);
        assert!(PREPARED.swap(0, Ordering::Relaxed) >= LARGE);
        drop(copy(&value[1..]));
        assert_eq!(PREPARED.load(Ordering::Relaxed), 0);
    }
}
