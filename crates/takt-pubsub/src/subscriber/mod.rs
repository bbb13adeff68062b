//! Subscribers.
