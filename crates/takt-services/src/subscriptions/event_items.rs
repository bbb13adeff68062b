//! The MonitoredItems of all Subscriptions that monitor Events, in the order in which an Event is offered to them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::events::queue::EventQueue;

/// SubscriptionId and MonitoredItemId.
pub(crate) type ItemKey = (u32, u32);

/// The items that monitor Events. Their type is a parameter because each item holds its place here.
pub(crate) struct EventItems<T> {
    items: Mutex<BTreeMap<ItemKey, Weak<T>>>,
    queue: Arc<EventQueue>,
}

impl<T> EventItems<T> {
    pub(crate) fn new(queue: Arc<EventQueue>) -> Arc<Self> {
        Arc::new(Self {
            items: Mutex::default(),
            queue,
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ItemKey, Weak<T>>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the place of a new item, of a client that may see audit Events or not.
    pub(crate) fn place(self: &Arc<Self>, key: ItemKey, is_auditor: bool) -> EventPlace<T> {
        EventPlace {
            key,
            is_auditor,
            items: Arc::clone(self),
        }
    }

    /// Adds an item: Events are offered to it from now on.
    pub(crate) fn add(&self, key: ItemKey, item: &Arc<T>, is_auditor: bool) {
        if self.lock().insert(key, Arc::downgrade(item)).is_none() {
            self.queue.add_listener(is_auditor);
        }
    }

    /// Returns the next item after `last`, of one Subscription or of all.
    pub(crate) fn next(
        &self,
        last: Option<ItemKey>,
        subscription: Option<u32>,
    ) -> Option<(ItemKey, Option<Arc<T>>)> {
        // From a key, not from a place: items come and go between two calls.
        let from = match (last, subscription) {
            (Some(last), _) => Bound::Excluded(last),
            (None, Some(id)) => Bound::Included((id, 0)),
            (None, None) => Bound::Unbounded,
        };
        let items = self.lock();
        let (key, item) = items.range((from, Bound::Unbounded)).next()?;
        if subscription.is_some_and(|id| id != key.0) {
            return None;
        }
        Some((*key, item.upgrade()))
    }

    fn remove(&self, key: ItemKey, is_auditor: bool) {
        if self.lock().remove(&key).is_some() {
            self.queue.remove_listener(is_auditor);
        }
    }
}

/// The place of an item among those that monitor Events.
pub(crate) struct EventPlace<T> {
    key: ItemKey,
    /// True if the client may see audit Events.
    is_auditor: bool,
    items: Arc<EventItems<T>>,
}

impl<T> EventPlace<T> {
    /// Takes the item out: no more Events are offered to it.
    pub(super) fn leave(&self) {
        self.items.remove(self.key, self.is_auditor);
    }
}

impl<T> Drop for EventPlace<T> {
    fn drop(&mut self) {
        self.leave();
    }
}
