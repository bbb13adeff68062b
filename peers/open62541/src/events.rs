//! Events and history with open62541's client.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};
use std::time::{Duration, Instant};

use open62541_sys as sys;
use serde_json::{Value, json};

use crate::Status;
use crate::client::Client;
use crate::data::{Owned, elements, to_json};
use crate::status::status_name;

thread_local! {
    /// Fields of Events that open62541 reported and nobody has read.
    static EVENTS: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
    /// Pages of values of the HistoryRead that is under way.
    static PAGES: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

impl Client {
    /// Monitors the Events of a node. A field is a path of names, or empty for the NodeId of a Condition. Returns the id of the
    /// Subscription.
    ///
    /// # Errors
    /// Error of open62541, or the StatusCode of the MonitoredItem.
    pub fn subscribe_events(&mut self, node: &Value, fields: &[&str]) -> Result<u32, String> {
        let request = Owned::<sys::UA_CreateSubscriptionRequest>::from_json(&json!({
            "RequestedPublishingInterval": 50.0, "RequestedLifetimeCount": 10_000,
            "RequestedMaxKeepAliveCount": 10, "PublishingEnabled": true,
        }))
        .map_err(|status| status.to_string())?;
        let select: Vec<Value> = fields.iter().copied().map(select_clause).collect();
        let item = Owned::<sys::UA_MonitoredItemCreateRequest>::from_json(&json!({
            "ItemToMonitor": {"NodeId": node, "AttributeId": 12},
            "MonitoringMode": 2,
            "RequestedParameters": {
                "SamplingInterval": 0.0, "QueueSize": 100, "DiscardOldest": true,
                "Filter": {"UaTypeId": "i=725", "UaBody": {"SelectClauses": select}},
            },
        }))
        .map_err(|status| status.to_string())?;
        // SAFETY: the client is alive. The functions read the requests, and their responses become ours.
        let created = Owned::new(unsafe {
            let client = self.as_ptr();
            sys::UA_Client_Subscriptions_create(client, request.lend(), null_mut(), None, None)
        });
        let subscription = created.get().subscriptionId;
        Status::check(created.get().responseHeader.serviceResult)
            .map_err(|status| status.to_string())?;
        // SAFETY: as above.
        let created = Owned::new(unsafe {
            sys::UA_Client_MonitoredItems_createEvent(
                self.as_ptr(),
                subscription,
                sys::UA_TimestampsToReturn::UA_TIMESTAMPSTORETURN_BOTH,
                item.lend(),
                null_mut(),
                Some(on_event),
                None,
            )
        });
        match created.get().statusCode {
            0 => Ok(subscription),
            refused => Err(status_name(refused)),
        }
    }

    /// Returns the fields of the Events since the last call; waits for some as long as `timeout`.
    pub fn events(&mut self, timeout: Duration) -> Vec<Value> {
        let started = Instant::now();
        loop {
            // SAFETY: the client is alive.
            unsafe { sys::UA_Client_run_iterate(self.as_ptr(), 10) };
            let events = EVENTS.take();
            if !events.is_empty() || started.elapsed() >= timeout {
                return events;
            }
        }
    }

    /// Reads the raw values of the last hour in pages of `page` values.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn history(&mut self, node: &Value, page: u32) -> Result<Vec<Value>, Status> {
        let node = Owned::<sys::UA_NodeId>::from_json(node)?;
        // SAFETY: no preconditions.
        let now = unsafe { sys::UA_DateTime_now() };
        let (hour, minute) = (36_000_000_000, 600_000_000);
        // SAFETY: the client is alive, and the function reads the NodeId.
        let read = unsafe {
            sys::UA_Client_HistoryRead_raw(
                self.as_ptr(),
                from_ref(node.get()),
                Some(on_page),
                now - hour,
                now + minute,
                sys::UA_String::default(),
                false,
                page,
                sys::UA_TimestampsToReturn::UA_TIMESTAMPSTORETURN_BOTH,
                null_mut(),
            )
        };
        let pages = PAGES.take();
        Status::check(read)?;
        Ok(pages)
    }
}

fn select_clause(field: &str) -> Value {
    match field {
        "" => json!({"TypeDefinitionId": "i=2782", "AttributeId": 1}),
        path => json!({
            "TypeDefinitionId": "i=2041", "AttributeId": 13,
            "BrowsePath": path.split('/').collect::<Vec<_>>(),
        }),
    }
}

/// Keeps the fields of an Event; called by open62541 in the thread of the client.
unsafe extern "C" fn on_event(
    _client: *mut sys::UA_Client,
    _subscription: u32,
    _subscription_context: *mut c_void,
    _item: u32,
    _context: *mut c_void,
    fields: sys::UA_KeyValueMap,
) {
    // SAFETY: open62541 hands over as many initialised pairs as it says.
    let fields = unsafe { elements(fields.map, fields.mapSize) };
    let fields = fields.iter().map(|field| to_json(&field.value));
    let fields: Vec<Value> = fields.map(Result::unwrap_or_default).collect();
    EVENTS.with_borrow_mut(|events| events.push(fields.into()));
}

/// Keeps a page of values; called by open62541 while it reads them.
unsafe extern "C" fn on_page(
    _client: *mut sys::UA_Client,
    _node: *const sys::UA_NodeId,
    _more: bool,
    data: *const sys::UA_ExtensionObject,
    _context: *mut c_void,
) -> bool {
    // SAFETY: open62541 hands over an initialised structure, or a null pointer.
    if let Some(Ok(page)) = unsafe { data.as_ref() }.map(to_json) {
        PAGES.with_borrow_mut(|pages| pages.push(page));
    }
    true
}
