//! The Methods of namespace 0 that concern Subscriptions: of the Server object (OPC 10000-5, 9.1 and 9.2), for clients that have
//! lost track of their MonitoredItems or of the values that they have received; and ConditionRefresh (OPC 10000-9, 5.5.7).

use std::sync::Arc;

use takt_space::{AddressSpace, AddressSpaceError, CallError, Caller, MethodHandler};
use takt_ua::{NodeId, StatusCode, Variant, ids};

use crate::subscriptions::{Engine, Now, Subscriptions};

/// Binds the handlers of the Methods.
pub(crate) fn bind(
    space: &AddressSpace,
    subscriptions: &Arc<Subscriptions>,
) -> Result<(), AddressSpaceError> {
    let mut edit = space.edit();
    let mut set = |id: u32, run: Method| {
        let subscriptions = Arc::clone(subscriptions);
        let method = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
            let mut numbers = Vec::with_capacity(inputs.len());
            for input in inputs {
                let Variant::UInt32(number) = input else {
                    return Err(CallError::from(StatusCode::BadInvalidArgument));
                };
                numbers.push(*number);
            }
            let run = |engine: &mut Engine| run(engine, &caller.session_id, &numbers);
            Ok(subscriptions.with(run)?)
        };
        edit.set_method(&NodeId::from(id), MethodHandler::local(method))
    };
    set(ids::SERVER_GET_MONITORED_ITEMS, get_monitored_items)?;
    set(ids::SERVER_RESEND_DATA, resend_data)?;
    set(ids::SERVER_SET_SUBSCRIPTION_DURABLE, set_durable)?;
    set(ids::CONDITION_TYPE_CONDITION_REFRESH, condition_refresh)?;
    set(ids::CONDITION_TYPE_CONDITION_REFRESH2, condition_refresh)
}

/// A Method for a Subscription of the calling Session, with its input arguments.
type Method = fn(&mut Engine, &NodeId, &[u32]) -> Result<Vec<Variant>, StatusCode>;

/// Returns the only input argument: the SubscriptionId.
fn subscription_id(inputs: &[u32]) -> Result<u32, StatusCode> {
    match inputs {
        [id] => Ok(*id),
        _ => Err(StatusCode::BadInvalidArgument),
    }
}

/// Handles GetMonitoredItems: returns serverHandles and clientHandles, in the same order.
fn get_monitored_items(
    engine: &mut Engine,
    session: &NodeId,
    inputs: &[u32],
) -> Result<Vec<Variant>, StatusCode> {
    let items = engine
        .subscription_of_caller(session, subscription_id(inputs)?)?
        .items();
    let handles = items.map(|item| (item.id, item.client_handle()));
    let (server, client): (Vec<u32>, Vec<u32>) = handles.unzip();
    Ok(vec![server.into(), client.into()])
}

/// Handles ResendData: reporting items publish their last sample again with the next publishing interval.
fn resend_data(
    engine: &mut Engine,
    session: &NodeId,
    inputs: &[u32],
) -> Result<Vec<Variant>, StatusCode> {
    engine.resend_data(session, subscription_id(inputs)?, Now::get())?;
    Ok(Vec::new())
}

/// Handles SetSubscriptionDurable: returns RevisedLifetimeInHours.
fn set_durable(
    engine: &mut Engine,
    session: &NodeId,
    inputs: &[u32],
) -> Result<Vec<Variant>, StatusCode> {
    match inputs {
        [id, hours] => Ok(vec![engine.set_durable(session, *id, *hours)?.into()]),
        _ => Err(StatusCode::BadInvalidArgument),
    }
}

/// Handles ConditionRefresh and ConditionRefresh2: the items of a Subscription that monitor Events, or one of them, get the last
/// Events of all Conditions whose Retain is true.
fn condition_refresh(
    engine: &mut Engine,
    session: &NodeId,
    inputs: &[u32],
) -> Result<Vec<Variant>, StatusCode> {
    let (id, item) = match inputs {
        [id] => (*id, None),
        [id, item] => (*id, Some(*item)),
        _ => return Err(StatusCode::BadInvalidArgument),
    };
    let subscription = engine.subscription_of_caller(session, id)?;
    if let Some(item) = item
        && !subscription.item(item)?.is_for_events()
    {
        return Err(StatusCode::BadMonitoredItemIdInvalid);
    }
    engine.dispatch.refresh(id, item)?;
    Ok(Vec::new())
}
