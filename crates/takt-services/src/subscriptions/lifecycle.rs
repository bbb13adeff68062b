//! Creation, deletion and transfer of Subscriptions.

use std::sync::Arc;
use std::time::Duration;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::Caller;
use takt_ua::{NodeId, StatusCode};

use super::counts::count;
use super::engine::Engine;
use super::item::SavedItem;
use super::load::PartialLoad;
use super::now::Now;
use super::revise::Revised;
use super::subscription::{NewSubscription, SavedSubscription, Subscription};
use crate::budgets::is_full;

impl Engine {
    /// Creates a Subscription (CreateSubscription, OPC 10000-4, 5.14.2).
    pub(crate) fn create(
        &mut self,
        session: &NodeId,
        owner: Arc<Caller>,
        memory: &MemoryBudget,
        revised: Revised,
        (publishing_enabled, priority): (bool, u8),
        now: Now,
    ) -> Result<u32, StatusCode> {
        let of_session = self.sessions.get(session);
        let of_session = of_session.map_or(0, |session| session.subscriptions.len());
        let is_full_session = is_full(of_session, self.budgets.max_subscriptions_per_session);
        let is_full = is_full(self.subscriptions.len(), self.budgets.max_subscriptions);
        if is_full_session || is_full && !self.give_way(now) {
            return Err(StatusCode::BadTooManySubscriptions);
        }
        self.make_room(now);
        let id = self.free_id();
        let settings = (publishing_enabled, priority);
        let client = (session.clone(), owner);
        self.insert(id, client, memory, revised, settings, now)?;
        self.next_id = id.wrapping_add(1);
        self.created = self.created.wrapping_add(1);
        self.attach(session, id);
        Ok(id)
    }

    /// Returns the next SubscriptionId that no Subscription has, durable ones of earlier runs included. 0 is no SubscriptionId.
    fn free_id(&self) -> u32 {
        let mut id = self.next_id.max(1);
        while self.subscriptions.get(&id).is_some() {
            id = id.wrapping_add(1).max(1);
        }
        id
    }

    /// Continues a durable Subscription of an earlier server, and returns its items, which are to be added. It has no Session until a
    /// client takes it over.
    pub(crate) fn restore(
        &mut self,
        saved: SavedSubscription,
        now: Now,
    ) -> Result<Vec<SavedItem>, StatusCode> {
        let durable = self.subscriptions.values();
        let durable = durable.filter(|subscription| subscription.is_durable());
        if is_full(durable.count(), self.budgets.max_durable_subscriptions)
            || is_full(self.subscriptions.len(), self.budgets.max_subscriptions)
            || self.subscriptions.get(&saved.id).is_some()
        {
            return Err(StatusCode::BadTooManySubscriptions);
        }
        // The limits of this server may differ from those of the server before.
        let revised = Revised::of_request(
            saved.publishing_interval.as_secs_f64() * 1000.0,
            // The lifetime follows below, in hours.
            u32::MAX,
            saved.max_keep_alive_count,
            saved.max_notifications,
            &self.budgets,
        );
        let longest = Duration::from_secs(3600 * u64::from(self.budgets.max_durable_hours));
        let client = (NodeId::NULL, Arc::new(saved.owner));
        let settings = (saved.publishing_enabled, saved.priority);
        let memory = self.durable_memory();
        self.insert(saved.id, client, &memory, revised, settings, now)?;
        let item_ids = saved.items.iter().map(|item| item.id);
        // New items get ids behind those of all restored ones, even if the file is damaged.
        let last_item_id = item_ids.fold(saved.last_item_id, u32::max);
        if let Some(subscription) = self.subscriptions.get_mut(&saved.id) {
            subscription.restore(
                saved.lifetime.min(longest),
                (saved.next_sequence_number, last_item_id),
                saved.messages,
            );
            // Until a client takes it over.
            subscription.pause(now.instant);
        }
        Ok(saved.items)
    }

    /// Adds a Subscription, which belongs to no queue of a Session yet.
    fn insert(
        &mut self,
        id: u32,
        (session, owner): (NodeId, Arc<Caller>),
        memory: &MemoryBudget,
        revised: Revised,
        (publishing_enabled, priority): (bool, u8),
        now: Now,
    ) -> Result<(), StatusCode> {
        let charge = memory.charge(Subscription::MEMORY);
        let charge = charge.map_err(|_| StatusCode::BadTooManySubscriptions)?;
        let subscription = Subscription::new(
            NewSubscription {
                id,
                session,
                owner,
                revised,
                publishing_enabled,
                priority,
                max_retained: self.budgets.max_retransmission_queue,
                max_absence: self.budgets.max_absence,
                max_message: self.max_message,
                charge,
                memory: memory.clone(),
                load: PartialLoad::of(&self.load),
            },
            now,
        );
        self.snapshots.set_session(id, &subscription.session);
        self.subscriptions.insert(id, subscription);
        Ok(())
    }

    /// Deletes one Subscription (DeleteSubscriptions, OPC 10000-4, 5.14.8).
    pub(crate) fn delete(&mut self, session: &NodeId, id: u32) -> Result<(), StatusCode> {
        self.subscription(session, id)?;
        self.remove(id);
        if let Some(session) = self.sessions.get_mut(session) {
            session.subscriptions.retain(|known| *known != id);
        }
        self.answer_who_waits_in_vain(session);
        Ok(())
    }

    /// Makes a Subscription durable (SetSubscriptionDurable, OPC 10000-4, 5.14.9): for `hours`, 0 for as long as possible. Its memory
    /// counts for durable Subscriptions from now on. Returns the hours that it lives without a Publish request.
    pub(crate) fn set_durable(
        &mut self,
        session: &NodeId,
        id: u32,
        hours: u32,
    ) -> Result<u32, StatusCode> {
        let longest = self.budgets.max_durable_hours;
        let durable = self.subscriptions.values();
        let durable = durable.filter(|subscription| subscription.is_durable());
        let is_full = is_full(durable.count(), self.budgets.max_durable_subscriptions);
        let memory = self.durable_memory();
        let subscription = self.subscription_of_caller(session, id)?;
        if subscription.item_count() > 0 {
            // Queues are longer only for items that are created later.
            return Err(StatusCode::BadInvalidState);
        }
        if longest == 0 || (is_full && !subscription.is_durable()) {
            return Err(StatusCode::BadTooManySubscriptions);
        }
        if !subscription.is_durable() {
            subscription.move_memory(&memory)?;
        }
        let hours = match hours {
            0 => longest,
            hours => hours.min(longest),
        };
        subscription.set_durable(Duration::from_secs(3600 * u64::from(hours)));
        self.durable_changes(id);
        Ok(hours)
    }

    /// Queues the last samples of items again (ResendData, OPC 10000-5, 9.2), even if they were published before.
    pub(crate) fn resend_data(
        &mut self,
        session: &NodeId,
        id: u32,
        now: Now,
    ) -> Result<(), StatusCode> {
        self.begin_slice(self.work_per_slice);
        self.subscription_of_caller(session, id)?;
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.send_initial_values(now.instant, &mut self.slice);
        }
        Ok(())
    }

    /// Transfers one Subscription (TransferSubscriptions, OPC 10000-4, 5.14.7). The old Session is notified.
    pub(crate) fn transfer(
        &mut self,
        session: &NodeId,
        caller: &Arc<Caller>,
        id: u32,
        send_initial_values: bool,
        now: Now,
    ) -> Result<Vec<u32>, StatusCode> {
        let of_session = self.sessions.get(session);
        let of_session = of_session.map_or(0, |session| session.subscriptions.len());
        let is_full = is_full(of_session, self.budgets.max_subscriptions_per_session);
        let subscription = self
            .subscriptions
            .get_mut(&id)
            .ok_or(StatusCode::BadSubscriptionIdInvalid)?;
        count(&mut subscription.counts.transfers);
        if subscription.session == *session {
            return Err(StatusCode::BadNothingToDo);
        }
        if !caller.may_take_subscription_of(&subscription.owner) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        if is_full {
            return Err(StatusCode::BadTooManySubscriptions);
        }
        let before = std::mem::replace(&mut subscription.session, session.clone());
        subscription.owner = Arc::clone(caller);
        subscription.resume(now.instant);
        subscription.machine.reset_lifetime();
        count(&mut subscription.counts.transferred);
        if send_initial_values {
            subscription.send_initial_values(now.instant, &mut self.slice);
        }
        let available = subscription.retransmission.sequence_numbers().collect();
        let transferred = StatusCode::GoodSubscriptionTransferred;
        let message = subscription.status_change(transferred, now.date_time);
        // The new owner is saved with it.
        self.durable_changes(id);
        self.snapshots.set_session(id, session);
        self.attach(session, id);
        if let Some(old) = self.sessions.get_mut(&before) {
            old.subscriptions.retain(|known| *known != id);
            old.tell(id, message, self.budgets.max_subscriptions_per_session);
        }
        self.serve(&before, now);
        self.answer_who_waits_in_vain(&before);
        Ok(available)
    }
}
