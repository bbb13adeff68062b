//! Time, waiting, and memory that others use at the same time.
//!
//! This room knows the operating system's clocks, schedulers and descriptors, and nothing of OPC UA:
//!
//! * [`clock`]: the system's clocks as whole nanoseconds;
//! * [`cyclic`]: a loop that starts at absolute times, tells its wake-up latency, and counts overruns;
//! * [`affinity`], [`priority`], [`memory`]: which core a thread runs on, before which others, and that its memory
//!   stays loaded;
//! * [`heap`]: giving freed memory back to the system;
//! * [`memory_budget`]: a limit on the bytes that a server holds on behalf of its clients;
//! * [`descriptors`]: how many file descriptors the process may have open, and how many it has;
//! * [`process`]: whether a process runs, sleeps or is stopped, and how much memory it takes;
//! * [`segment`]: memory shared between processes, which is gone with the last of them;
//! * [`shared_bytes`]: copies out of and into memory that another thread or process is using;
//! * [`readiness`]: waiting for many file descriptors at once (level-triggered `epoll`), and a [`readiness::Waker`].
//!
//! Everything here is Linux. Threads, sockets and buffers belong to whoever uses them; what this room hands out
//! are small wrappers whose errors say which privilege is missing and how to get it. Cycles, wake-up latency and
//! overruns are meant as in the papers on OPC UA PubSub over TSN, where a publisher starts at `base time + n · cycle`.

pub mod affinity;
pub mod clock;
pub mod cyclic;
pub mod descriptors;
pub mod heap;
pub mod memory;
pub mod memory_budget;
pub mod priority;
pub mod process;
pub mod readiness;
mod sched;
pub mod segment;
pub mod shared_bytes;
