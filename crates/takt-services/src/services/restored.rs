//! Durable Subscriptions that outlive the server (OPC 10000-4, 6.8).
//!
//! The application stores the bytes while the server serves and when it ends, and restores them before the next one serves. Each
//! Subscription goes on with its queues, its unacknowledged messages and its sequence numbers; the same user of the same
//! application takes it over with TransferSubscriptions.
//!
//! Format: `TKDS`, a version (UInt32), whether the server went on (Boolean), the NamespaceArray (String[]), the number of
//! Subscriptions (Int32), and the Subscriptions, all in OPC UA Binary (OPC 10000-6, 5.2).

use std::sync::Arc;
use std::time::Instant;

use takt_space::View;
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{NamespaceMap, NodeId, NumericRange, StatusCode};

use super::create_items::{NewItem, check_notifier};
use super::item_parameters::Revision;
use super::renumbered::renumber;
use crate::reading::attributes::EVENT_NOTIFIER;
use crate::server::Server;
use crate::subscriptions::item::SavedItem;
use crate::subscriptions::load::Load;
use crate::subscriptions::{Engine, Now, SavedSubscription};

const MAGIC: &[u8; 4] = b"TKDS";
const VERSION: u32 = 2;

/// Numbers that the Subscriptions of a crashed server leave out: more than it can have used since it saved them. A client sees
/// a gap, and no number twice.
const SKIPPED: u32 = 1 << 24;

/// Occasion of saving durable Subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saving {
    /// The server goes on. If it crashes, clients get values of these Subscriptions that they have received since once more,
    /// in messages with new sequence numbers.
    WhileServing,
    /// The server does not serve any more.
    AtEnd,
}

/// Reason why durable Subscriptions are not restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are no Subscriptions, or of another version of Takt.
    #[error("these are no durable Subscriptions of this version of Takt")]
    Format,
    /// The bytes are damaged.
    #[error("the durable Subscriptions are damaged: {0}")]
    Decode(#[from] DecodeError),
}

impl Server {
    /// Returns the durable Subscriptions for [`restore_subscriptions`](Self::restore_subscriptions); `None` if there are none.
    /// They go on here.
    pub fn saved_subscriptions(&self, occasion: Saving) -> Option<Vec<u8>> {
        let saved = self.subscriptions.with(|engine| engine.saved());
        if saved.is_empty() {
            return None;
        }
        let encoded = encoded(self, &saved, occasion);
        encoded
            .inspect_err(|error| tracing::error!(%error, "durable Subscriptions cannot be encoded"))
            .ok()
    }

    /// Sets the function that is called when a durable Subscription or an item of one begins, changes or ends: it should be saved soon. The
    /// function must not wait, nor call this server. `None` removes it.
    pub fn set_durable_observer(&self, observer: Option<Box<dyn Fn() + Send>>) {
        self.subscriptions
            .with(|engine| engine.set_durable_observer(observer));
    }

    /// Continues the durable Subscriptions of an earlier server. Returns their number; those beyond the limits of this server are left
    /// out, and so are MonitoredItems of Events that their owner may not receive any more. Namespaces may have other indexes here:
    /// NodeIds and values get them. An item whose node this server does not have is BadNodeIdUnknown.
    ///
    /// # Errors
    /// The bytes are damaged. No Subscription is restored then.
    pub fn restore_subscriptions(&self, bytes: &[u8]) -> Result<usize, RestoreError> {
        let mut decoder = Decoder::with_limits(bytes, self.budgets.encoding);
        if decoder.bytes(MAGIC.len())? != MAGIC || decoder.u32()? != VERSION {
            return Err(RestoreError::Format);
        }
        let crashed = decoder.bool()?;
        let count = decoder.array_length(4)?.unwrap_or_default();
        let mut namespaces = Vec::new();
        for _ in 0..count {
            namespaces.push(decoder.string()?.unwrap_or_default().to_owned());
        }
        let current = self.namespace_uris();
        let has_moved = current.get(..namespaces.len()) != Some(&namespaces[..]);
        let moved = has_moved.then(|| NamespaceMap::between(&namespaces, &current));
        let count = decoder.array_length(4)?.unwrap_or_default();
        // All are decoded first, so damaged bytes restore nothing.
        let mut saved = Vec::new();
        for _ in 0..count {
            let mut subscription = SavedSubscription::decode(&mut decoder)?;
            if crashed {
                subscription.skip_numbers(SKIPPED);
            }
            if let Some(map) = &moved {
                renumber(&mut subscription, map);
            }
            saved.push(subscription);
        }
        let mut restored = 0;
        for saved in saved {
            let id = saved.id;
            match self.restore(saved) {
                Ok(()) => restored += 1,
                Err(status) => tracing::warn!(id, %status, "a durable Subscription is lost"),
            }
        }
        Ok(restored)
    }

    fn namespace_uris(&self) -> Vec<String> {
        let namespaces = self.space.namespaces();
        let uris = (0..=u16::MAX).map_while(|index| namespaces.uri(index));
        uris.map(|uri| uri.to_string()).collect()
    }

    fn restore(&self, saved: SavedSubscription) -> Result<(), StatusCode> {
        let now = Now::get();
        self.subscriptions.with(|engine| {
            let id = saved.id;
            let items = engine.restore(saved, now)?;
            self.restore_items(engine, id, items, now)
        })
    }

    fn restore_items(
        &self,
        engine: &mut Engine,
        id: u32,
        items: Vec<SavedItem>,
        now: Now,
    ) -> Result<(), StatusCode> {
        // A restored Subscription has no Session until a client takes it over.
        let allotment = engine.allotment(&NodeId::NULL, id, items.len());
        let mut revision = Revision::with(TimestampsToReturn::Both, allotment);
        let mut room = engine.room_for_items(id, now);
        let view = self.space.view();
        let links: Vec<(u32, Vec<u32>)> = items
            .iter()
            .map(|item| (item.id, item.links.clone()))
            .collect();
        for item in items {
            if room == 0 {
                break;
            }
            room -= 1;
            let item_id = item.id;
            let restored = self.restore_item(engine, (&view, &mut revision), id, item, now.instant);
            if let Err(status) = restored {
                tracing::warn!(id, item_id, %status, "a MonitoredItem of a durable Subscription is lost");
            }
        }
        let (subscription, _) = engine.subscription_to_change(&NodeId::NULL, id)?;
        // Links come last, because both items have to exist.
        for (from, to) in links {
            for to in to {
                if let (Ok(from), Ok(to)) = (subscription.item(from), subscription.item(to)) {
                    // Without memory for it, the item is not triggered.
                    let _ = from.link(to);
                }
            }
        }
        Ok(())
    }

    fn restore_item(
        &self,
        engine: &mut Engine,
        (view, revision): (&View<'_>, &mut Revision),
        id: u32,
        saved: SavedItem,
        now: Instant,
    ) -> Result<(), StatusCode> {
        let event_items = Arc::clone(engine.dispatch.items());
        let owner = Arc::clone(&engine.subscription(&NodeId::NULL, id)?.owner);
        let is_auditor = engine.dispatch.is_auditor(&owner);
        let subscription = engine.subscription(&NodeId::NULL, id)?;
        // The bytes come from a file, so they are checked as those of a request are.
        if !(0..=2).contains(&saved.request.monitoring_mode.0) {
            return Err(StatusCode::BadMonitoringModeInvalid);
        }
        if subscription.item(saved.id).is_ok() {
            return Err(StatusCode::BadMonitoredItemIdInvalid);
        }
        let watched = saved.request.item_to_monitor;
        if watched.attribute_id == EVENT_NOTIFIER
            && let Some(node) = view.node(&watched.node_id)
        {
            check_notifier(&owner, &node)?;
        }
        let range = NumericRange::of_request(watched.index_range.as_option())?;
        revision.timestamps = saved.timestamps;
        let parameters = revision.parameters(
            self,
            view,
            subscription,
            &watched,
            &saved.request.requested_parameters,
            Load::default(),
        );
        let (parameters, _) = parameters.map_err(|refused| refused.status)?;
        let new = NewItem {
            id: saved.id,
            watched,
            range,
            mode: saved.request.monitoring_mode,
            parameters,
        };
        let item = new.make(subscription, (&event_items, is_auditor))?;
        item.restore(saved.last, saved.samples, saved.has_overflow_event);
        subscription.add(item, now);
        Ok(())
    }
}

/// Returns the bytes of durable Subscriptions of a server.
pub(crate) fn encoded(
    server: &Server,
    saved: &[SavedSubscription],
    occasion: Saving,
) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::growing(&mut bytes, usize::MAX);
    encoder.bytes(MAGIC)?;
    encoder.u32(VERSION)?;
    encoder.bool(occasion == Saving::WhileServing)?;
    let namespaces = server.namespace_uris();
    encoder.array_length(Some(namespaces.len()))?;
    for uri in &namespaces {
        encoder.string(Some(uri))?;
    }
    encoder.array_length(Some(saved.len()))?;
    for saved in saved {
        saved.encode(&mut encoder)?;
    }
    Ok(bytes)
}
