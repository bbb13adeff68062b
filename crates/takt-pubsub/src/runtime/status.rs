//! Status of threads, which never wait for its readers.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use takt_link::LinkState;
use takt_rt::cyclic::Cycle;
use takt_ua::enumerations::PubSubState;

use crate::losses::{LossCause, Losses};

/// State of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentState {
    /// Name of the connection, and of the WriterGroup if it is one.
    pub name: String,
    /// State of the component.
    pub state: PubSubState,
    /// State of its link: the first one that is down, if it has several.
    pub link: LinkState,
    /// Numbers of messages of its thread.
    pub statistics: Statistics,
}

/// Numbers of messages of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Number of NetworkMessages that were sent or received.
    pub network_messages: u64,
    /// Number of those that were made on the fast path.
    pub fixed: u64,
    /// Number of messages that were not made, not sent, or not accepted.
    pub errors: u64,
    /// Number of DataSetMessages that DataSetReaders have accepted.
    pub data_set_messages: u64,
    /// Numbers of lost messages by cause, up to a quarter of a second old. They are not errors.
    pub losses: Losses,
    /// Number of publishing intervals that passed unused.
    pub overruns: u64,
    /// Number of times that the clock of the publishing intervals was set.
    pub clock_steps: u64,
    /// Greatest wake-up latency of a publishing interval, in nanoseconds.
    pub max_wake_up_latency: u64,
}

/// State shared with the thread.
#[derive(Debug)]
pub(super) struct Status {
    state: AtomicI32,
    link: Mutex<LinkState>,
    link_is_down: AtomicBool,
    network_messages: AtomicU64,
    fixed: AtomicU64,
    errors: AtomicU64,
    data_set_messages: AtomicU64,
    losses: [AtomicU64; LossCause::ALL.len()],
    overruns: AtomicU64,
    clock_steps: AtomicU64,
    max_wake_up_latency: AtomicU64,
    /// Id of the thread (`gettid`) if it sleeps until times; 0 before, and for other threads.
    thread: AtomicU32,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            state: AtomicI32::new(PubSubState::PreOperational.0),
            link: Mutex::new(LinkState::Up),
            link_is_down: AtomicBool::new(false),
            network_messages: AtomicU64::new(0),
            fixed: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            data_set_messages: AtomicU64::new(0),
            losses: Default::default(),
            overruns: AtomicU64::new(0),
            clock_steps: AtomicU64::new(0),
            max_wake_up_latency: AtomicU64::new(0),
            thread: AtomicU32::new(0),
        }
    }
}

impl Status {
    /// Sets the id of the thread, whose sleeps may be ended early then.
    pub(super) fn set_thread(&self, id: u32) {
        self.thread.store(id, Ordering::Relaxed);
    }

    /// Returns the id of the thread; 0 if it is not known.
    pub(super) fn thread(&self) -> u32 {
        self.thread.load(Ordering::Relaxed)
    }

    /// Returns the state of the component with this name.
    pub(super) fn component(&self, name: &str) -> ComponentState {
        ComponentState {
            name: name.to_owned(),
            state: self.state(),
            link: self.link(),
            statistics: self.statistics(),
        }
    }

    pub(super) fn state(&self) -> PubSubState {
        PubSubState(self.state.load(Ordering::Relaxed))
    }

    /// Returns the state of the link; Up as long as it is not known.
    pub(super) fn link(&self) -> LinkState {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(super) fn set_states(&self, link: LinkState, component: PubSubState) {
        self.state.store(component.0, Ordering::Relaxed);
        // As long as the link stays up, a cycle takes no lock.
        if !link.is_up() || self.link_is_down.load(Ordering::Relaxed) {
            self.set_link(link);
        }
    }

    /// Sets the state of the link, unless another thread reads it at this moment: then the next call does.
    #[cold]
    fn set_link(&self, state: LinkState) {
        if let Ok(mut link) = self.link.try_lock() {
            *link = state;
            self.link_is_down.store(!state.is_up(), Ordering::Relaxed);
        }
    }

    /// Adds numbers. Only the thread itself adds, so that additions need not be atomic.
    #[inline]
    pub(super) fn add(&self, network_messages: u64, fixed: u64, errors: u64) {
        let add = |counter: &AtomicU64, number: u64| {
            counter.store(counter.load(Ordering::Relaxed) + number, Ordering::Relaxed);
        };
        add(&self.network_messages, network_messages);
        add(&self.fixed, fixed);
        add(&self.errors, errors);
    }

    /// Adds accepted DataSetMessages, as [`add`](Self::add) adds messages.
    #[inline]
    pub(super) fn add_data_sets(&self, count: u64) {
        let sum = self.data_set_messages.load(Ordering::Relaxed) + count;
        self.data_set_messages.store(sum, Ordering::Relaxed);
    }

    pub(super) fn set_losses(&self, losses: &Losses) {
        for (counter, cause) in self.losses.iter().zip(LossCause::ALL) {
            counter.store(losses.of(cause), Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn note_cycle(&self, cycle: &Cycle) {
        self.overruns.store(cycle.overruns, Ordering::Relaxed);
        self.clock_steps.store(cycle.clock_steps, Ordering::Relaxed);
        let wake_up_latency = cycle.wake_up_latency_nanos;
        if wake_up_latency > self.max_wake_up_latency.load(Ordering::Relaxed) {
            self.max_wake_up_latency
                .store(wake_up_latency, Ordering::Relaxed);
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        // The numbers are read one by one, and need not be of the same moment.
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut losses = Losses::default();
        for (counter, cause) in self.losses.iter().zip(LossCause::ALL) {
            losses.add(cause, load(counter));
        }
        Statistics {
            network_messages: load(&self.network_messages),
            fixed: load(&self.fixed),
            errors: load(&self.errors),
            data_set_messages: load(&self.data_set_messages),
            losses,
            overruns: load(&self.overruns),
            clock_steps: load(&self.clock_steps),
            max_wake_up_latency: load(&self.max_wake_up_latency),
        }
    }
}

/// Interval in which the numbers of links are read: asking the kernel costs a system call.
pub(super) const COUNT_INTERVAL: Duration = Duration::from_millis(250);

/// Returns the state of a component that has only a link.
pub(super) fn state_of_link(link: LinkState) -> PubSubState {
    match link {
        LinkState::Up => PubSubState::Operational,
        LinkState::Down(_) => PubSubState::Error,
    }
}
