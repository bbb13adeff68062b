//! Time and waiting.
//!
//! This room knows the operating system's clocks, schedulers and descriptors, and nothing of OPC UA:
//!
//! * [`readiness`]: waiting for many file descriptors at once (level-triggered `epoll`), and a [`readiness::Waker`].
//!
//! Everything here is Linux. Memory, sockets and threads belong to whoever uses them; what this room hands out
//! are small wrappers whose errors say which privilege is missing and how to get it.

pub mod readiness;
