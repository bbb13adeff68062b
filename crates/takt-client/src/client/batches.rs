//! Numbers of operations that a server accepts in one request.
//!
//! A server may limit them, and may say so in its OperationLimits (OPC 10000-5, 6.3.11) or not. The limits are learned from
//! refusals, so that a server that refuses nothing is asked nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use takt_ua::StatusCode;

use crate::error::ClientError;

/// Services with many operations in one request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Batched {
    Read,
    Browse,
    CreateMonitoredItems,
}

/// Largest numbers of operations that are sent in one request of a session.
#[derive(Debug)]
pub(crate) struct Batches {
    sizes: [AtomicUsize; 3],
}

impl Default for Batches {
    fn default() -> Self {
        let unlimited = || AtomicUsize::new(usize::MAX);
        Self {
            sizes: [unlimited(), unlimited(), unlimited()],
        }
    }
}

impl Batches {
    /// Returns the operations of the next request: the first ones of those that are left.
    pub(crate) fn next<'a, T>(&self, service: Batched, left: &'a [T]) -> &'a [T] {
        left.get(..self.size(service)).unwrap_or(left)
    }

    /// Returns the largest number of operations of the next request.
    pub(crate) fn size(&self, service: Batched) -> usize {
        // Relaxed: a limit orders no other memory, and an old one costs one refusal.
        self.of(service).load(Ordering::Relaxed)
    }

    /// Returns true if the server refused a request because of its number of operations: smaller ones are sent from now on.
    pub(crate) fn shrink(&self, service: Batched, count: usize, error: &ClientError) -> bool {
        let is_too_large = matches!(
            error,
            ClientError::Service { status, .. } if *status == StatusCode::BadTooManyOperations
        );
        let shrinks = is_too_large && count > 1;
        if shrinks {
            // Not a store: a concurrent request may have learned a smaller limit.
            self.of(service).fetch_min(count / 2, Ordering::Relaxed);
            tracing::debug!(?service, count, "the server takes fewer operations at once");
        }
        shrinks
    }

    /// Forgets the limits of the previous session: the server may be another one.
    pub(crate) fn reset(&self) {
        for size in &self.sizes {
            size.store(usize::MAX, Ordering::Relaxed);
        }
    }

    fn of(&self, service: Batched) -> &AtomicUsize {
        let [read, browse, items] = &self.sizes;
        match service {
            Batched::Read => read,
            Batched::Browse => browse,
            Batched::CreateMonitoredItems => items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: StatusCode) -> ClientError {
        ClientError::Service {
            service: "ReadRequest",
            status,
        }
    }

    #[test]
    fn a_refusal_halves_the_requests_of_its_service_until_the_next_session() {
        let batches = Batches::default();
        let operations = [0; 100];
        let next = |service| batches.next(service, &operations).len();
        let too_many = refused(StatusCode::BadTooManyOperations);
        assert_eq!(next(Batched::Read), 100);
        assert!(batches.shrink(Batched::Read, 100, &too_many));
        assert_eq!((next(Batched::Read), next(Batched::Browse)), (50, 100));
        // A refusal of a larger request that was under way at the same time.
        assert!(batches.shrink(Batched::Read, 80, &too_many));
        assert_eq!(next(Batched::Read), 40);
        assert!(!batches.shrink(Batched::Read, 1, &too_many));
        assert!(!batches.shrink(Batched::Read, 9, &refused(StatusCode::BadTimeout)));
        assert_eq!(next(Batched::Read), 40);
        batches.reset();
        assert_eq!(next(Batched::Read), 100);
    }
}
