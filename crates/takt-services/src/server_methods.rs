//! The Methods of the Server object that concern Subscriptions (OPC 10000-5, 9.1 and 9.2): for clients that have lost track of
//! their MonitoredItems or of the values that they have received.

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
            let [Variant::UInt32(subscription)] = *inputs else {
                return Err(CallError::from(StatusCode::BadInvalidArgument));
            };
            let run = |engine: &mut Engine| run(engine, &caller.session_id, subscription);
            Ok(subscriptions.with(run)?)
        };
        edit.set_method(&NodeId::from(id), MethodHandler::local(method))
    };
    set(ids::SERVER_GET_MONITORED_ITEMS, get_monitored_items)?;
    set(ids::SERVER_RESEND_DATA, resend_data)
}

/// A Method for a Subscription of the calling Session.
type Method = fn(&mut Engine, &NodeId, u32) -> Result<Vec<Variant>, StatusCode>;

/// Handles GetMonitoredItems: returns serverHandles and clientHandles, in the same order.
fn get_monitored_items(
    engine: &mut Engine,
    session: &NodeId,
    subscription: u32,
) -> Result<Vec<Variant>, StatusCode> {
    let items = engine
        .subscription_of_caller(session, subscription)?
        .items();
    let handles = items.map(|item| (item.id, item.client_handle()));
    let (server, client): (Vec<u32>, Vec<u32>) = handles.unzip();
    Ok(vec![server.into(), client.into()])
}

/// Handles ResendData: reporting items publish their last sample again with the next publishing interval.
fn resend_data(
    engine: &mut Engine,
    session: &NodeId,
    subscription: u32,
) -> Result<Vec<Variant>, StatusCode> {
    engine.resend_data(session, subscription, Now::get())?;
    Ok(Vec::new())
}
