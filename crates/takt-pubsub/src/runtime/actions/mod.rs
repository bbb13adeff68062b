//! Responders with threads and links, and a Requestor that waits for its responses.

mod client;
mod links;
mod responders;
mod responses;

use std::time::{Duration, Instant};

pub use client::{ActionCallError, ActionClient};
pub use links::{ActionLinks, action_links};
pub use responders::{ActionCompleter, RunningResponders};

/// Longest wait for messages before a thread checks whether it shall end, or an Action has ended.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

fn wait(next: Option<Instant>) -> Duration {
    let next = next.map_or(LONGEST_WAIT, |next| {
        next.saturating_duration_since(Instant::now())
    });
    next.min(LONGEST_WAIT)
}
