//! The heap of this process: returning freed memory to the system, and providing pages.

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

/// Makes all threads of this process share one heap. It has to be called before the process starts its threads.
///
/// Otherwise glibc gives a thread a heap of its own, which takes 64 MiB of address space at once and returns it only as a
/// whole. A process with few threads that allocate at the same time loses nothing: the shared heap is rarely locked. A
/// limit of address space (`ulimit -v`) is then a limit of memory in use. Without glibc it does nothing.
pub fn share_one_heap() {
    #[cfg(all(target_env = "gnu", not(miri)))]
    {
        // SAFETY: mallopt has no preconditions, and is safe to call from any thread (mallopt(3)).
        let done = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
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

/// Makes the system provide the pages of `length` bytes of memory at `start`, which is about to be written. The contents are
/// not changed.
///
/// Pages that are provided together take about a third of the time of pages that are provided one by one, when each is written
/// for the first time. Linux before 5.14 does nothing.
pub fn provide_pages(start: *const u8, length: usize) {
    let page = rustix::param::page_size();
    let first = start.addr() / page * page;
    let end = start.addr().saturating_add(length);
    let end = end.saturating_add(page - 1) / page * page;
    let start = start.with_addr(first).cast_mut().cast();
    // SAFETY: this advice changes neither the contents nor the protection of any memory (madvise(2)).
    let provided =
        unsafe { rustix::mm::madvise(start, end - first, rustix::mm::Advice::LinuxPopulateWrite) };
    // Otherwise each page is provided when it is written.
    let _ = provided;
}
