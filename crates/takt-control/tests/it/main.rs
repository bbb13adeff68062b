//! Control loops over links of this machine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod long_messages;
mod loops;
mod quiet;

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Lock of the processors: loops keep their times beside each other, and not beside the test in `quiet`, which uses all processors.
static PROCESSORS: RwLock<()> = RwLock::new(());

fn together() -> RwLockReadGuard<'static, ()> {
    PROCESSORS.read().unwrap_or_else(PoisonError::into_inner)
}
