//! The C functions themselves.
//!
//! SAFETY of the whole module: every function has the signature and the contract of the C function that it is named
//! after (C17, 7.22.3; POSIX `posix_memalign`), adds one to a counter, and passes its arguments unchanged to glibc's
//! implementation under glibc's internal name. `free` is glibc's own, which is the counterpart of all of these. The
//! counter is a static atomic: nothing here allocates, locks, or touches thread-local storage, so it may run at any
//! time, before `main` too.

use std::ffi::{c_int, c_void};

use crate::counter::add_one;

/// `ENOMEM` (errno.h) on every Linux.
const OUT_OF_MEMORY: c_int = 12;
/// `EINVAL` (errno.h) on every Linux.
const INVALID: c_int = 22;

// SAFETY: glibc exports these under exactly these signatures; see the module's comment.
unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(pointer: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
}

// SAFETY: replaces malloc by a function with its contract; see the module's comment.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    add_one();
    // SAFETY: any size is allowed.
    unsafe { __libc_malloc(size) }
}

// SAFETY: replaces calloc by a function with its contract; see the module's comment.
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    add_one();
    // SAFETY: any count and size are allowed; glibc checks the product.
    unsafe { __libc_calloc(count, size) }
}

// SAFETY: replaces realloc by a function with its contract; see the module's comment.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(pointer: *mut c_void, size: usize) -> *mut c_void {
    add_one();
    // SAFETY: the caller gives a pointer from this family, as realloc demands.
    unsafe { __libc_realloc(pointer, size) }
}

// SAFETY: replaces memalign by a function with its contract; see the module's comment.
#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    add_one();
    // SAFETY: glibc checks the alignment.
    unsafe { __libc_memalign(alignment, size) }
}

// SAFETY: replaces aligned_alloc by a function with its contract; see the module's comment.
#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    memalign(alignment, size)
}

// SAFETY: replaces posix_memalign by a function with its contract; see the module's comment.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return INVALID;
    }
    let pointer = memalign(alignment, size);
    if pointer.is_null() {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the caller gives a place for the pointer, as posix_memalign demands.
    unsafe { *result = pointer };
    0
}
