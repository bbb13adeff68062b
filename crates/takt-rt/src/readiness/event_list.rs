//! Events of the kernel whose data is a number, never a pointer.

use std::ops::{Deref, DerefMut};

use rustix::event::epoll;

/// Events of one wait. They can move to another thread.
pub(super) struct EventList(Vec<epoll::Event>);

// SAFETY: the type of events is not `Send` because its data can be a pointer. All events here come from a `Readiness`, which adds
// descriptors with a number as their data.
unsafe impl Send for EventList {}

impl EventList {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }
}

impl Deref for EventList {
    type Target = Vec<epoll::Event>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for EventList {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
