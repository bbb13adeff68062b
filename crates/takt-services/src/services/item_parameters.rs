//! Parameters of MonitoredItems, which CreateMonitoredItems and ModifyMonitoredItems revise (OPC 10000-4, 5.13.2 and 5.13.3).

use takt_space::View;
use takt_ua::StatusCode;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{MonitoringParameters, ReadValueId};

use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::filter::Filter;
use crate::subscriptions::item::Parameters;
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

    /// Determines the part of the sampling budget for `count` items. Called before the first item.
    pub(super) fn begin(&mut self, engine: &Engine, session: &Session, count: usize) {
        self.allotment = Some(engine.allotment(&session.id, count));
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
    ) -> Result<Parameters, StatusCode> {
        let allotment = self.allotment.as_mut();
        let allotment = allotment.ok_or(StatusCode::BadInternalError)?;
        let limits = &server.limits.subscriptions;
        let filter = match view.node(&watched.node_id) {
            Some(node) => Filter::of_request(&requested.filter, view, &node, watched.attribute_id)?,
            None => Filter::default(),
        };
        let queue_size = revise::queue_size(requested.queue_size, limits);
        Ok(Parameters {
            client_handle: requested.client_handle,
            sampling: revise::sampling(
                requested.sampling_interval,
                queue_size,
                subscription.publishing_interval(),
                watched,
                view,
                limits,
                (allotment, held),
            ),
            filter,
            queue_size,
            discard_oldest: requested.discard_oldest,
            timestamps: self.timestamps,
        })
    }
}
