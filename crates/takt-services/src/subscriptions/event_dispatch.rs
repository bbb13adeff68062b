//! Delivery of Events to the items that monitor them, in slices.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use takt_space::{Caller, Event, View};
use takt_ua::{NodeId, StatusCode, ids};

use super::event_items::{EventItems, ItemKey};
use super::item::MonitoredItem;
use super::slice::Slice;
use crate::events::notifiers::notifiers;
use crate::events::queue::EventQueue;
use crate::events::receivers::{is_auditor, may_receive};

/// Severity of an EventQueueOverflowEvent.
const OVERFLOW_SEVERITY: u16 = 500;

/// Units of work that the items of one Session may take for one Event: its filters must not delay Events of others. The remaining
/// items lose the Event.
const UNITS_PER_SESSION: u64 = 20_000;

/// Events that are being delivered, and refreshes that clients have requested.
pub(crate) struct Dispatch {
    queue: Arc<EventQueue>,
    items: Arc<EventItems<MonitoredItem>>,
    current: Option<Delivery>,
    refreshes: VecDeque<Refresh>,
    /// True if the next slice begins with refreshes.
    refreshes_first: bool,
    /// Unix user of the server.
    own_user: Option<u32>,
}

/// An Event, and the items to which it has been offered.
struct Delivery {
    event: Arc<Event>,
    notifiers: Vec<NodeId>,
    /// True for Events that every item gets, whatever its filter is.
    is_for_all: bool,
    last: Option<ItemKey>,
    /// Units of work that the items of each Session have taken.
    spent: HashMap<NodeId, u64>,
}

/// A refresh of a Subscription, or of one of its items (ConditionRefresh, OPC 10000-9, 5.5.7).
struct Refresh {
    subscription: u32,
    item: Option<u32>,
    /// Remaining Events; `None`: the refresh has not begun.
    events: Option<VecDeque<Arc<Event>>>,
    current: Option<Delivery>,
}

impl Refresh {
    /// Returns true if the refresh may begin or go on. While refreshes are held, only those go on that have begun.
    fn may_run(&self, held: bool) -> bool {
        !held || self.events.is_some()
    }
}

/// The owner of a Subscription.
pub(crate) type OwnerOf<'o> = &'o dyn Fn(u32) -> Option<Arc<Caller>>;

impl Dispatch {
    pub(crate) fn new(queue: Arc<EventQueue>, items: Arc<EventItems<MonitoredItem>>) -> Self {
        use std::os::unix::fs::MetadataExt;
        let own = std::fs::metadata("/proc/self").ok();
        Self {
            queue,
            items,
            current: None,
            refreshes: VecDeque::new(),
            refreshes_first: false,
            own_user: own.map(|own| own.uid()),
        }
    }

    /// Returns the items that monitor Events.
    pub(crate) fn items(&self) -> &Arc<EventItems<MonitoredItem>> {
        &self.items
    }

    /// Returns true if a client may see audit Events.
    pub(crate) fn is_auditor(&self, caller: &Caller) -> bool {
        is_auditor(caller, self.own_user)
    }

    /// Returns true if there is work.
    pub(crate) fn is_due(&self) -> bool {
        let held = self.queue.holds_refreshes();
        self.queue.is_waiting()
            || self.current.is_some()
            || self.refreshes.iter().any(|refresh| refresh.may_run(held))
    }

    /// Requests a refresh.
    ///
    /// # Errors
    /// `BadRefreshInProgress`: one refresh of the Subscription has not ended.
    pub(crate) fn refresh(
        &mut self,
        subscription: u32,
        item: Option<u32>,
    ) -> Result<(), StatusCode> {
        let mut refreshes = self.refreshes.iter();
        if refreshes.any(|refresh| refresh.subscription == subscription) {
            return Err(StatusCode::BadRefreshInProgress);
        }
        self.refreshes.push_back(Refresh {
            subscription,
            item,
            events: None,
            current: None,
        });
        Ok(())
    }

    /// Delivers Events within the slice.
    pub(crate) fn run(&mut self, view: &View<'_>, owner: OwnerOf<'_>, slice: &mut Slice) {
        // By turns: neither many Events nor a long refresh keeps the other waiting.
        self.refreshes_first = !self.refreshes_first;
        if self.refreshes_first {
            self.run_refreshes(view, owner, slice);
        }
        self.run_events(view, owner, slice);
        if !self.refreshes_first {
            self.run_refreshes(view, owner, slice);
        }
    }

    fn run_events(&mut self, view: &View<'_>, owner: OwnerOf<'_>, slice: &mut Slice) {
        self.queue.begin();
        while !slice.is_over() {
            let delivery = match self.current.take() {
                Some(delivery) => Some(delivery),
                None => self.next(view, slice),
            };
            let Some(mut delivery) = delivery else { return };
            if !self.deliver(&mut delivery, (None, None), view, owner, slice) {
                self.current = Some(delivery);
                return;
            }
        }
        // The rest is taken in the next slice. `begin` has cleared the flag of the queue, so only an Event in `current` makes it due.
        self.current = self.current.take().or_else(|| self.next(view, slice));
    }

    /// Takes the next Event.
    fn next(&self, view: &View<'_>, slice: &mut Slice) -> Option<Delivery> {
        if let Some((lost, audience)) = self.queue.take_lost() {
            tracing::warn!(
                lost,
                "Events were lost: they are reported faster than delivered"
            );
            let overflow = self.queue.complete(overflow().to(audience));
            // The history shows the loss as well.
            self.queue.record(&overflow, &notifiers(&overflow, view));
            return Some(Delivery::for_all(overflow));
        }
        let event = self.queue.take()?;
        let notifiers = notifiers(&event, view);
        self.queue.record(&event, &notifiers);
        slice.spend_units(1 + u64::try_from(notifiers.len()).unwrap_or(0));
        Some(Delivery {
            event,
            notifiers,
            is_for_all: false,
            last: None,
            spent: HashMap::new(),
        })
    }

    fn run_refreshes(&mut self, view: &View<'_>, owner: OwnerOf<'_>, slice: &mut Slice) {
        let held = self.queue.holds_refreshes();
        for _ in 0..self.refreshes.len() {
            let Some(mut refresh) = self.refreshes.pop_front() else {
                return;
            };
            if !refresh.may_run(held) {
                self.refreshes.push_back(refresh);
                continue;
            }
            let is_done = !slice.is_over() && self.run_refresh(&mut refresh, view, owner, slice);
            if !is_done {
                // Other Subscriptions take turns.
                self.refreshes.push_back(refresh);
                return;
            }
        }
    }

    /// Continues a refresh. Returns true if it is complete.
    fn run_refresh(
        &self,
        refresh: &mut Refresh,
        view: &View<'_>,
        owner: OwnerOf<'_>,
        slice: &mut Slice,
    ) -> bool {
        let scope = (Some(refresh.subscription), refresh.item);
        let mut events = refresh.events.take().unwrap_or_else(|| {
            let marker = |event_type: u32, message: &str| {
                let event = Event::new(event_type, ids::SERVER).source_name("Server");
                self.queue.complete(event.message(message))
            };
            // The states as of now: later changes come as Events of their own.
            let retained = self.queue.refreshed();
            slice.spend_units(1 + u64::try_from(retained.len() / 16).unwrap_or(0));
            let start =
                std::iter::once(marker(ids::REFRESH_START_EVENT_TYPE, "The refresh begins"));
            let end = std::iter::once(marker(
                ids::REFRESH_END_EVENT_TYPE,
                "The refresh is complete",
            ));
            start.chain(retained).chain(end).collect()
        });
        loop {
            let delivery = refresh.current.take().or_else(|| {
                let event = events.pop_front()?;
                Some(match is_marker(&event) {
                    true => Delivery::for_all(event),
                    false => Delivery {
                        notifiers: notifiers(&event, view),
                        event,
                        is_for_all: false,
                        last: None,
                        spent: HashMap::new(),
                    },
                })
            });
            let Some(mut delivery) = delivery else {
                return true;
            };
            slice.spend_units(1);
            if !self.deliver(&mut delivery, scope, view, owner, slice) {
                refresh.current = Some(delivery);
                refresh.events = Some(events);
                return false;
            }
        }
    }

    /// Offers an Event to the remaining items. Returns true if none is left.
    fn deliver(
        &self,
        delivery: &mut Delivery,
        (subscription, only): (Option<u32>, Option<u32>),
        view: &View<'_>,
        owner: OwnerOf<'_>,
        slice: &mut Slice,
    ) -> bool {
        while let Some((key, item)) = self.items.next(delivery.last, subscription) {
            if slice.is_over() {
                return false;
            }
            delivery.last = Some(key);
            slice.spend_units(1);
            if let Some(item) = item
                && only.is_none_or(|id| id == key.1)
                && let Some(caller) = owner(key.0)
            {
                let spent = delivery.spent.get(&caller.session_id).copied();
                let spent = spent.unwrap_or_default();
                if spent >= UNITS_PER_SESSION {
                    self.lose(&item, view);
                    continue;
                }
                let units = self.offer(delivery, &item, &caller, view);
                slice.spend_units(units);
                let session = caller.session_id.clone();
                delivery.spent.insert(session, spent + units);
            }
        }
        true
    }

    /// Tells one item that it has lost an Event, because the filters of its Session take too much work.
    fn lose(&self, item: &Arc<MonitoredItem>, view: &View<'_>) {
        if let Some(filter) = item.event_filter() {
            let overflow = || {
                let overflow = self.queue.complete(overflow());
                filter.select(&overflow, view).unwrap_or_default()
            };
            item.lose_event(overflow);
        }
    }

    /// Offers an Event to one item. Returns the units of work.
    fn offer(
        &self,
        delivery: &Delivery,
        item: &Arc<MonitoredItem>,
        caller: &Caller,
        view: &View<'_>,
    ) -> u64 {
        let event = &delivery.event;
        let watched = &item.item_to_monitor.node_id;
        if !delivery.is_for_all && !delivery.notifiers.contains(watched)
            || !may_receive(caller, event, view, self.own_user)
        {
            return 0;
        }
        let Some(filter) = item.event_filter() else {
            return 0;
        };
        let (passes, units) = match delivery.is_for_all {
            true => (true, 0),
            false => filter.passes(event, view),
        };
        if !passes {
            return units;
        }
        let overflow = || {
            let overflow = self.queue.complete(overflow());
            filter.select(&overflow, view).unwrap_or_default()
        };
        // Fields that are too large for a message are lost.
        let fields = filter.select(event, view).unwrap_or_else(|_| overflow());
        let size = u64::try_from(fields.len() >> 10).unwrap_or(0);
        item.offer_event(fields, overflow);
        units + 4 + size
    }
}

impl Delivery {
    fn for_all(event: Arc<Event>) -> Self {
        Self {
            event,
            notifiers: Vec::new(),
            is_for_all: true,
            last: None,
            spent: HashMap::new(),
        }
    }
}

fn is_marker(event: &Event) -> bool {
    matches!(
        event.event_type().standard_id(),
        Some(ids::REFRESH_START_EVENT_TYPE | ids::REFRESH_END_EVENT_TYPE)
    )
}

/// Returns an EventQueueOverflowEvent (OPC 10000-5, 6.4.2).
fn overflow() -> Event {
    Event::new(ids::EVENT_QUEUE_OVERFLOW_EVENT_TYPE, ids::SERVER)
        .source_name("Server")
        .severity(OVERFLOW_SEVERITY)
        .message("Events were lost, because a queue was full")
}
