//! Time, waiting, and memory that others use at the same time.
//!
//! This crate wraps the operating system's clocks, schedulers and descriptors, and is independent of OPC UA:
//!
//! * [`clock`]: the system's clocks as whole nanoseconds; [`tai_offset`] sets that of TAI;
//! * [`sleeping`]: waiting for a time of a clock that may be set; [`thread_signal`] ends a sleep early;
//! * [`cyclic`]: a loop that starts at absolute times, reports its wake-up latency, and counts overruns;
//! * [`real_time`]: all real-time settings of a cyclic thread at once;
//! * [`late`]: late wake-ups of a cyclic thread, on their way to a thread that looks for their causes;
//! * [`affinity`], [`priority`], [`memory`]: the cores that a thread runs on, its priority, and memory that stays
//!   loaded;
//! * [`time_limit`]: the end of a run or of a wait, however long;
//! * [`timer_slack`], [`cpu_latency`]: threads and processors that wake up without delay;
//! * [`faults`]: page faults of a thread;
//! * [`log_limit`]: a limit on lines of the log that clients cause;
//! * [`file_lock`]: locks of files and folders;
//! * [`heap`]: returning freed memory to the system;
//! * [`memory_budget`]: a limit on the bytes that a server holds on behalf of its clients;
//! * [`memory_limit`]: the limit of the cgroup that the process runs in;
//! * [`descriptors`]: the limit of file descriptors of the process, and the number of open ones;
//! * [`child`], [`interrupt`]: child processes that end with their parent; Ctrl-C and SIGTERM as a flag;
//! * [`pauses`]: growing pauses between attempts that fail;
//! * [`prefetch`]: cache lines that are transferred beside other work;
//! * [`process`]: the state and the memory of a process: running, sleeping or stopped;
//! * [`segment`]: memory shared between processes, which is freed with the last of them;
//! * [`shared_bytes`]: copies out of and into memory that another thread or process is using;
//! * [`system_calls`]: the number of system calls of other processes;
//! * [`waiting`]: learned spinning and sleeping of threads that wait for messages;
//! * [`readiness`]: waiting for many file descriptors at once (level-triggered `epoll`), and a [`readiness::Waker`].
//!
//! Everything here is for Linux. Threads, sockets and buffers belong to the callers; this crate provides small
//! wrappers whose errors name the missing privilege and the way to get it. Cycles, wake-up latency and overruns have
//! the meaning of the papers on OPC UA PubSub over TSN, where a publisher starts at `base time + n · cycle`.

#![deny(unsafe_code)]

pub mod affinity;
pub mod child;
pub mod clock;
pub mod cpu_latency;
pub mod cyclic;
pub mod descriptors;
#[allow(unsafe_code, reason = "a system call that rustix does not offer")]
pub mod faults;
pub mod file_lock;
#[allow(unsafe_code, reason = "a call of the C library")]
pub mod heap;
pub mod interrupt;
pub mod late;
pub mod log_limit;
pub mod memory;
pub mod memory_budget;
pub mod memory_limit;
pub mod pauses;
#[allow(unsafe_code, reason = "instructions that the language does not offer")]
pub mod prefetch;
pub mod priority;
pub mod process;
pub mod readiness;
pub mod real_time;
#[allow(unsafe_code, reason = "system calls that rustix does not offer")]
mod sched;
#[allow(unsafe_code, reason = "memory that is shared with other processes")]
pub mod segment;
#[allow(unsafe_code, reason = "memory that others use at the same time")]
pub mod shared_bytes;
pub mod sleeping;
#[allow(unsafe_code, reason = "a system call that rustix does not offer")]
pub mod system_calls;
#[allow(unsafe_code, reason = "a system call that rustix does not offer")]
pub mod tai_offset;
#[allow(unsafe_code, reason = "a system call that rustix does not offer")]
pub mod thread_signal;
pub mod time_limit;
pub mod timer_slack;
pub mod waiting;
