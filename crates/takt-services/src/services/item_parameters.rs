//! Parameters of MonitoredItems, which CreateMonitoredItems and ModifyMonitoredItems revise (OPC 10000-4, 5.13.2 and 5.13.3).

use std::sync::Arc;
use std::time::Duration;

use takt_space::View;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{MonitoringParameters, ReadValueId};
use takt_ua::{ExtensionObject, StatusCode};

use crate::budgets::SubscriptionBudgets;
use crate::events::filter::{CheckedFilter, RefusedFilter};
use crate::reading::attributes::EVENT_NOTIFIER;
use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::filter::Filter;
use crate::subscriptions::item::{Parameters, Sampling};
use crate::subscriptions::load::{Allotment, Load};
use crate::subscriptions::{Engine, Subscription, revise};

/// Revision of the parameters of all items of one request.
pub(super) struct Revision {
    pub(super) timestamps: TimestampsToReturn,
    /// Part of the sampling budget that the items may use, determined for all of them at once.
    allotment: Option<Allotment>,
}

impl Revision {
    pub(super) fn new(timestamps: TimestampsToReturn) -> Self {
        Self {
            timestamps,
            allotment: None,
        }
    }

    /// Prepares the revision of items with a part of the sampling budget.
    pub(super) fn with(timestamps: TimestampsToReturn, allotment: Allotment) -> Self {
        Self {
            timestamps,
            allotment: Some(allotment),
        }
    }

    /// Determines the part of the sampling budget for `count` items. Called before the first item.
    pub(super) fn begin(
        &mut self,
        engine: &mut Engine,
        session: &Session,
        subscription_id: u32,
        count: usize,
    ) {
        self.allotment = Some(engine.allotment(&session.id, subscription_id, count));
    }

    /// Returns the revised parameters of an item, which has the load `held` already.
    pub(super) fn parameters(
        &mut self,
        server: &Server,
        view: &View<'_>,
        subscription: &Subscription,
        watched: &ReadValueId,
        requested: &MonitoringParameters,
        held: Load,
    ) -> Result<(Parameters, ExtensionObject), RefusedFilter> {
        let allotment = self.allotment.as_mut();
        let allotment = allotment.ok_or(StatusCode::BadInternalError)?;
        let budgets = &server.budgets.subscriptions;
        if watched.attribute_id == EVENT_NOTIFIER {
            return self.of_events(view, subscription, requested, budgets);
        }
        let filter = match view.node(&watched.node_id) {
            Some(node) => Filter::of_request(&requested.filter, view, &node, watched.attribute_id)?,
            // The node of a restored item may be missing: the item reports BadNodeIdUnknown.
            None => Filter::default(),
        };
        let queue_size =
            revise::queue_size(requested.queue_size, subscription.is_durable(), budgets);
        let parameters = Parameters {
            client_handle: requested.client_handle,
            sampling: revise::sampling(
                requested.sampling_interval,
                queue_size,
                subscription.publishing_interval(),
                watched,
                view,
                budgets,
                (allotment, held),
            ),
            filter,
            events: None,
            queue_size,
            discard_oldest: requested.discard_oldest,
            timestamps: self.timestamps,
            // They are saved with the Subscription, and revised once more after a restart.
            requested: subscription
                .is_durable()
                .then(|| Box::new(requested.clone())),
        };
        Ok((parameters, ExtensionObject::NULL))
    }

    /// Returns the revised parameters of an item that monitors Events, and the result of its filter if a clause is not valid.
    fn of_events(
        &self,
        view: &View<'_>,
        subscription: &Subscription,
        requested: &MonitoringParameters,
        budgets: &SubscriptionBudgets,
    ) -> Result<(Parameters, ExtensionObject), RefusedFilter> {
        let (filter, result) = CheckedFilter::of_request(&requested.filter, view)?;
        let queue_size =
            revise::event_queue_size(requested.queue_size, subscription.is_durable(), budgets);
        let parameters = Parameters {
            client_handle: requested.client_handle,
            // Events are reported, not sampled.
            sampling: Sampling {
                interval: Duration::ZERO,
                period: Duration::ZERO,
                load: Load::default(),
            },
            filter: Filter::default(),
            events: Some(Arc::new(filter)),
            queue_size,
            discard_oldest: requested.discard_oldest,
            timestamps: self.timestamps,
            requested: subscription
                .is_durable()
                .then(|| Box::new(requested.clone())),
        };
        let result = result.as_ref().map(ExtensionObject::from_structure);
        Ok((parameters, result.unwrap_or_default()))
    }
}
