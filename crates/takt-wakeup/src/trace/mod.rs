//! Events of the kernel's trace buffers (`Documentation/trace/ring-buffer-design.rst`, `events.rst`).
//!
//! [`formats`] reads the layout of each event from the `format` files of tracefs, [`page`] the pages of `trace_pipe_raw`. Both are
//! sans-io and take any bytes: damaged ones give an error or fewer events, never a panic.

mod bytes;
pub mod event;
pub mod formats;
pub mod page;
