//! A gate at which a request waits until something has room for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::responses::settled::Settled;

/// A gate that opens once. A request that waits there continues on the thread that opens it, or at once if it is open.
#[derive(Default)]
pub(crate) struct Gate(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    is_open: bool,
    waiting: Option<Box<dyn FnOnce() + Send>>,
}

impl Gate {
    /// Creates a gate, and the notice that opens it.
    pub(crate) fn new() -> (Arc<Self>, Settled) {
        let gate = Arc::new(Self::default());
        let opened = Arc::clone(&gate);
        (gate, Settled::new(move |_| opened.open()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) {
        let waiting = {
            let mut inner = self.inner();
            inner.is_open = true;
            inner.waiting.take()
        };
        // After the lock is released, because the request goes on within this call.
        if let Some(go_on) = waiting {
            go_on();
        }
    }

    /// Calls `go_on` when the gate is open.
    pub(crate) fn pass(&self, go_on: impl FnOnce() + Send + 'static) {
        {
            let mut inner = self.inner();
            if !inner.is_open {
                inner.waiting = Some(Box::new(go_on));
                return;
            }
        }
        go_on();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_gate_is_passed_when_it_is_open() {
        let (passed, seen) = mpsc::channel();
        let pass = |gate: &Gate, number: u32| {
            let passed = passed.clone();
            gate.pass(move || passed.send(number).unwrap());
        };
        let (gate, notice) = Gate::new();
        pass(&gate, 1);
        assert!(seen.try_recv().is_err());
        notice.done(Ok(()));
        assert_eq!(seen.try_recv(), Ok(1));
        pass(&gate, 2);
        assert_eq!(seen.try_recv(), Ok(2));
        let (gate, notice) = Gate::new();
        drop(notice);
        pass(&gate, 3);
        assert_eq!(seen.try_recv(), Ok(3), "a gate without a notice is open");
    }
}
