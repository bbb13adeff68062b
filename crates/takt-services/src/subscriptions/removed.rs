//! Memory of removed Subscriptions and MonitoredItems, which is given back in slices.
//!
//! For clients they no longer exist. Their memory counts in the budget of their Session until it is given back.

use std::collections::VecDeque;

use super::queue::Discarded;
use super::slice::Slice;
use super::subscription::Subscription;

/// Removed Subscriptions and discarded samples.
#[derive(Default)]
pub(crate) struct Removed {
    subscriptions: VecDeque<Subscription>,
    samples: VecDeque<Discarded>,
}

impl Removed {
    /// Adds a Subscription that clients no longer see.
    pub(super) fn add(&mut self, mut subscription: Subscription) {
        subscription.stop();
        self.subscriptions.push_back(subscription);
    }

    /// Adds samples that are no longer needed.
    pub(crate) fn discard(&mut self, samples: Option<Discarded>) {
        self.samples.extend(samples);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.subscriptions.is_empty() && self.samples.is_empty()
    }

    /// Gives back as much memory as the slice allows.
    pub(super) fn give_back(&mut self, slice: &mut Slice) {
        while !slice.is_over() {
            if let Some(samples) = self.samples.front_mut() {
                if !samples.give_back(slice) {
                    return;
                }
                self.samples.pop_front();
            } else if let Some(subscription) = self.subscriptions.front_mut() {
                if subscription.give_back(slice, &mut self.samples) && self.samples.is_empty() {
                    self.subscriptions.pop_front();
                }
            } else {
                return;
            }
        }
    }
}
