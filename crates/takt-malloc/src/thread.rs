//! The main thread of the process.

use std::ffi::c_int;

// SAFETY: glibc exports these under exactly these signatures (gettid(2), getpid(2)).
unsafe extern "C" {
    fn gettid() -> c_int;
    fn getpid() -> c_int;
}

/// Returns true if this is the main thread. It makes two system calls and nothing else.
pub(crate) fn is_main() -> bool {
    // SAFETY: neither function has a precondition.
    unsafe { gettid() == getpid() }
}
