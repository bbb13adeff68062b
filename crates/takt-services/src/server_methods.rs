//! The Methods of the Server object that concern Subscriptions (OPC 10000-5, 9.1 and 9.2): for clients that have lost track of what they
//! watch, or of what they have been told.

use std::sync::Arc;

use takt_space::{AddressSpace, AddressSpaceError, CallError, Caller, MethodHandler};
use takt_ua::{NodeId, StatusCode, Variant, ids};

use crate::subscriptions::{Subscription, Subscriptions};

/// Gives the Methods their code.
pub(crate) fn bind(
    space: &AddressSpace,
    subscriptions: &Arc<Subscriptions>,
) -> Result<(), AddressSpaceError> {
    let mut edit = space.edit();
    let mut set = |id: u32, run: fn(&Subscription) -> Vec<Variant>| {
        let subscriptions = Arc::clone(subscriptions);
        let method = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
            let [Variant::UInt32(subscription)] = *inputs else {
                return Err(CallError::from(StatusCode::BadInvalidArgument));
            };
            let outputs = subscriptions.with(|engine| {
                let subscription =
                    engine.subscription_of_caller(&caller.session_id, subscription)?;
                Ok::<_, StatusCode>(run(subscription))
            });
            Ok(outputs?)
        };
        edit.set_method(&NodeId::from(id), MethodHandler::local(method))
    };
    set(ids::SERVER_GET_MONITORED_ITEMS, get_monitored_items)?;
    set(ids::SERVER_RESEND_DATA, resend_data)
}

/// GetMonitoredItems: serverHandles and clientHandles, in the same order.
fn get_monitored_items(subscription: &Subscription) -> Vec<Variant> {
    let items = subscription.items();
    let mut handles: Vec<(u32, u32)> = items.map(|item| (item.id, item.client_handle())).collect();
    handles.sort_unstable();
    let (server, client): (Vec<u32>, Vec<u32>) = handles.into_iter().unzip();
    vec![server.into(), client.into()]
}

/// ResendData: what the items that report have sampled last is published with the next publishing interval, even if it was before.
fn resend_data(subscription: &Subscription) -> Vec<Variant> {
    subscription.send_initial_values();
    Vec::new()
}
