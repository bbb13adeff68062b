//! The MonitoredItems of one Subscription that have values to publish, and whether they take any.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::list::{End, List, Place};

/// The items that have values to publish, in the order in which they got them. Their type is a parameter because each item
/// holds the list that it is in.
pub(crate) struct Ready<T> {
    items: Mutex<List<Arc<T>>>,
    /// True if there are any; read without the lock.
    is_any: AtomicBool,
    /// True if the items take no values and Events, because nobody is there for them.
    is_suspended: AtomicBool,
}

impl<T> Default for Ready<T> {
    fn default() -> Self {
        Self {
            items: Mutex::default(),
            is_any: AtomicBool::new(false),
            is_suspended: AtomicBool::new(false),
        }
    }
}

impl<T> Ready<T> {
    fn change<R>(&self, change: impl FnOnce(&mut List<Arc<T>>) -> R) -> R {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut items);
        // Still under the lock, so that the last store belongs to the last change.
        self.is_any.store(!items.is_empty(), Ordering::Release);
        result
    }

    /// Appends an item. Returns its place.
    pub(super) fn push_back(&self, item: Arc<T>) -> Place {
        self.change(|items| items.insert(item, End::Back))
    }

    /// Puts an item before all others. Returns its place.
    pub(super) fn push_front(&self, item: Arc<T>) -> Place {
        self.change(|items| items.insert(item, End::Front))
    }

    /// Takes the first item.
    pub(crate) fn pop(&self) -> Option<Arc<T>> {
        self.change(List::pop_front)
    }

    /// Removes an item that has no more values to publish. Without effect if it is not at this place.
    pub(super) fn remove(&self, item: &T, place: Place) {
        self.change(|items| {
            if items
                .get(place)
                .is_some_and(|there| std::ptr::eq(&raw const **there, item))
            {
                // The Subscription holds the item, too, so this does not free it under the lock.
                drop(items.remove(place));
            }
        });
    }

    /// Makes the items refuse values and Events, or take them again.
    pub(super) fn suspend(&self, is_suspended: bool) {
        self.is_suspended.store(is_suspended, Ordering::Release);
    }

    /// Returns true if the items take no values and Events.
    #[inline]
    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended.load(Ordering::Acquire)
    }

    /// Returns true if there are Notifications.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
    }
}
