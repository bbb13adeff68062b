//! The heap of this process: returning freed memory to the system.

/// Smallest size in bytes of a buffer in a mapping of its own, and of free memory at the end of a heap that is returned
/// at once.
#[cfg(all(target_env = "gnu", not(miri)))]
const LARGE: libc::c_int = 4 << 20;

/// Makes the allocator of this process return freed buffers of 4 MiB and more to the system, and keep no more than that
/// at the end of each thread's heap.
///
/// Otherwise glibc adapts its limits: once a buffer of 32 MiB was freed, buffers up to that size come from the heap of
/// their thread, and up to 64 MiB stay at its end. [`give_back`] does not reach these, except in the first thread.
/// Growing a buffer in a mapping of its own moves pages, not bytes. Without glibc it does nothing.
pub fn return_large_buffers() {
    #[cfg(all(target_env = "gnu", not(miri)))]
    for parameter in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
        // SAFETY: mallopt has no preconditions, and is safe to call from any thread (mallopt(3)).
        let done = unsafe { libc::mallopt(parameter, LARGE) };
        debug_assert!(done != 0, "glibc knows the parameter");
    }
}

/// Returns freed memory to the system, if the allocator holds whole pages of it.
///
/// After a peak of many large buffers glibc keeps tens of MiB, since it expects another peak. This scans the heap,
/// which takes up to milliseconds: call it rarely. Without glibc it does nothing.
pub fn give_back() {
    #[cfg(all(target_env = "gnu", not(miri)))]
    // SAFETY: malloc_trim has no preconditions, and is safe to call from any thread (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
#[cfg(all(target_env = "gnu", not(miri)))]
mod tests {
    use std::hint::black_box;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let line = line.unwrap().trim().trim_end_matches(" kB");
        line.parse::<usize>().unwrap() << 10
    }

    /// Lock for running one test at a time, because resident memory is counted for the whole process.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn large_buffers_go_back_when_they_are_freed() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        return_large_buffers();
        let use_and_free = || {
            let before = resident();
            // The first buffer would make glibc raise its limits; the second one would come from the heap of this
            // thread, and stay.
            for mebibytes in [31, 24] {
                drop(black_box(vec![1_u8; mebibytes << 20]));
            }
            resident().saturating_sub(before)
        };
        let kept = std::thread::spawn(use_and_free).join().unwrap();
        assert!(kept < 8 << 20, "{kept} bytes stay");
    }

    #[test]
    fn freed_memory_goes_back() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Small pieces, of which every hundredth stays: this memory is not returned automatically.
        let mut pieces: Vec<_> = (0..64_000).map(|_| vec![1_u8; 1000]).collect();
        let mut index = 0;
        pieces.retain(|_| {
            index += 1;
            index % 100 == 0
        });
        let before = resident();
        give_back();
        let after = resident();
        assert!(after + (16 << 20) < before, "{before} {after}");
        assert_eq!(pieces.len(), 640);
    }
}
