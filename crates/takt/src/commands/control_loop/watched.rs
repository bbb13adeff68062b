//! Application that shows other threads whether it has received a message.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_control::{ControlApplication, ControlCycle, ReceivedMessage, SentMessage};

/// Application of one end, and the flag that its first message sets.
pub(super) struct Watched<'a, A> {
    pub(super) application: &'a mut A,
    pub(super) has_message: &'a AtomicBool,
}

impl<A: ControlApplication> ControlApplication for Watched<'_, A> {
    fn received(&mut self, message: &ReceivedMessage<'_>) {
        // The flag carries no data.
        self.has_message.store(true, Ordering::Relaxed);
        self.application.received(message);
    }

    fn update(&mut self, cycle: &ControlCycle) -> ControlFlow<()> {
        self.application.update(cycle)
    }

    fn publishes(&self) -> bool {
        self.application.publishes()
    }

    fn sent(&mut self, message: &SentMessage) {
        self.application.sent(message);
    }
}
