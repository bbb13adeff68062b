//! open62541's client.

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::time::{Duration, Instant};

use open62541_sys as sys;
use serde_json::{Value, json};

use crate::Status;
use crate::data::{Described, Owned, elements, to_json};
use crate::security::secure_client;
use crate::status::status_name;

/// A request that open62541's client can send.
pub trait Service: Described {
    /// The response.
    type Response: Described;
    /// The function that sends it and waits for the response.
    const SEND: unsafe extern "C" fn(*mut sys::UA_Client, Self) -> Self::Response;
}

macro_rules! services {
    ($($request:ident -> $response:ident by $function:ident),* $(,)?) => {$(
        impl Service for sys::$request {
            type Response = sys::$response;
            const SEND: unsafe extern "C" fn(*mut sys::UA_Client, Self) -> Self::Response = sys::$function;
        }
    )*};
}

services! {
    UA_ReadRequest -> UA_ReadResponse by UA_Client_Service_read,
    UA_WriteRequest -> UA_WriteResponse by UA_Client_Service_write,
    UA_CallRequest -> UA_CallResponse by UA_Client_Service_call,
    UA_BrowseRequest -> UA_BrowseResponse by UA_Client_Service_browse,
    UA_BrowseNextRequest -> UA_BrowseNextResponse by UA_Client_Service_browseNext,
    UA_TranslateBrowsePathsToNodeIdsRequest -> UA_TranslateBrowsePathsToNodeIdsResponse
        by UA_Client_Service_translateBrowsePathsToNodeIds,
}

/// A client with a session. It stays in one thread: open62541 is built without locks.
#[derive(Debug)]
pub struct Client {
    client: *mut sys::UA_Client,
    endpoint: CString,
}

impl Client {
    /// Connects; `timeout` in milliseconds holds for each request. `security` is null for SecurityPolicy None and an anonymous
    /// user, or the description of `peers/README.md`.
    ///
    /// # Errors
    /// Error of open62541, or a mistake in the description.
    pub fn connect(endpoint: &str, timeout: u32, security: &Value) -> Result<Self, String> {
        let client = Self::new(endpoint, timeout).map_err(|status| status.to_string())?;
        if !security.is_null() {
            // SAFETY: the client is alive, and its configuration with it.
            let config = unsafe { &mut *sys::UA_Client_getConfig(client.client) };
            secure_client(config, security)?;
        }
        // SAFETY: the client is alive; the endpoint is zero-terminated.
        let connected = unsafe { sys::UA_Client_connect(client.client, client.endpoint.as_ptr()) };
        Status::check(connected).map_err(|status| status.to_string())?;
        Ok(client)
    }

    /// Waits at this port of 127.0.0.1 until a server connects, and creates a Session without security there. open62541 cannot
    /// secure it: after GetEndpoints it connects to the server itself.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn listen(port: u16, timeout: u32, wait: Duration) -> Result<Self, String> {
        let client = Self::new("", timeout).map_err(|status| status.to_string())?;
        let address = Owned::<sys::UA_String>::from_json(&"127.0.0.1".into());
        let address = address.map_err(|status| status.to_string())?;
        // SAFETY: the client is alive, and the function copies the address.
        let listening = unsafe {
            sys::UA_Client_startListeningForReverseConnect(client.client, address.get(), 1, port)
        };
        Status::check(listening).map_err(|status| status.to_string())?;
        let started = Instant::now();
        loop {
            let mut session = sys::UA_SessionState::UA_SESSIONSTATE_CLOSED;
            let mut status = 0;
            // SAFETY: the client is alive, and the results are ours to write.
            unsafe {
                sys::UA_Client_run_iterate(client.client, 10);
                sys::UA_Client_getState(
                    client.client,
                    null_mut(),
                    &raw mut session,
                    &raw mut status,
                );
            }
            Status::check(status).map_err(|status| status.to_string())?;
            if session == sys::UA_SessionState::UA_SESSIONSTATE_ACTIVATED {
                return Ok(client);
            }
            if started.elapsed() > wait {
                return Err("no server has connected".to_owned());
            }
        }
    }

    /// The client of open62541.
    pub(crate) fn as_ptr(&self) -> *mut sys::UA_Client {
        self.client
    }

    /// A client that is not yet connected.
    fn new(endpoint: &str, timeout: u32) -> Result<Self, Status> {
        let endpoint = CString::new(endpoint)
            .map_err(|_| Status(sys::UA_STATUSCODE_BADTCPENDPOINTURLINVALID))?;
        // SAFETY: no preconditions; the result is checked before it is used.
        let client = unsafe { sys::UA_Client_new() };
        if client.is_null() {
            return Err(Status(sys::UA_STATUSCODE_BADOUTOFMEMORY));
        }
        let client = Self { client, endpoint };
        // SAFETY: the client is alive, and its configuration with it. The logger of a new client is open62541's own, which
        // lives as long as the configuration; it writes to the standard output, which is ours, so it is silenced.
        let status = unsafe {
            let config = &mut *sys::UA_Client_getConfig(client.client);
            config.timeout = timeout;
            if let Some(logger) = config.logging.as_mut() {
                logger.log = None;
            }
            sys::UA_ClientConfig_setDefault(config)
        };
        Status::check(status)?;
        Ok(client)
    }

    /// Creates a Subscription with one MonitoredItem for each request; `interval` is its PublishingInterval in milliseconds. Returns
    /// the StatusCode of each item. The changes are given to [`changes`](Self::changes), with the position of the item.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn subscribe(&mut self, interval: f64, items: &[Value]) -> Result<Vec<String>, Status> {
        let request = Owned::<sys::UA_CreateSubscriptionRequest>::from_json(&json!({
            "RequestedPublishingInterval": interval, "RequestedLifetimeCount": 10_000,
            "RequestedMaxKeepAliveCount": 10, "PublishingEnabled": true,
        }))?;
        // SAFETY: the client is alive. The function reads the request, and its response becomes ours.
        let created = Owned::new(unsafe {
            sys::UA_Client_Subscriptions_create(self.client, request.lend(), null_mut(), None, None)
        });
        Status::check(created.get().responseHeader.serviceResult)?;
        let mut statuses = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let item = Owned::<sys::UA_MonitoredItemCreateRequest>::from_json(item)?;
            // SAFETY: as above. The context is no address: the callback reads the position from it.
            let created = Owned::new(unsafe {
                sys::UA_Client_MonitoredItems_createDataChange(
                    self.client,
                    created.get().subscriptionId,
                    sys::UA_TimestampsToReturn::UA_TIMESTAMPSTORETURN_BOTH,
                    item.lend(),
                    without_provenance_mut(position),
                    Some(on_change),
                    None,
                )
            });
            statuses.push(status_name(created.get().statusCode));
        }
        Ok(statuses)
    }

    /// Returns the changes since the last call, with the positions of their items; waits for some as long as `timeout`.
    pub fn changes(&mut self, timeout: Duration) -> Vec<(usize, Value)> {
        let started = Instant::now();
        loop {
            // SAFETY: the client is alive. It works for a fraction of a second at most. An error is a lost connection, which the
            // client opens again in the next turn.
            unsafe { sys::UA_Client_run_iterate(self.client, 10) };
            let changes = CHANGES.take();
            if !changes.is_empty() || started.elapsed() >= timeout {
                return changes;
            }
        }
    }

    /// Sends a request and waits for its response.
    pub fn send<R: Service>(&mut self, request: &Owned<R>) -> Owned<R::Response> {
        // SAFETY: the client is alive. The function reads the request, which stays ours, and the response becomes ours.
        Owned::new(unsafe { R::SEND(self.client, request.lend()) })
    }

    /// Sends a request that is JSON; its response as JSON.
    ///
    /// # Errors
    /// What the request was answered with as a whole (`serviceResult`), or what is wrong with the JSON.
    pub fn request<R: Service>(&mut self, request: &Value) -> Result<Value, Status> {
        // The client has no thread: this is its opportunity to connect again.
        // SAFETY: the client is alive.
        unsafe { sys::UA_Client_run_iterate(self.client, 0) };
        let response = self.send(&Owned::<R>::from_json(request)?).to_json()?;
        let header = &response["ResponseHeader"]["ServiceResult"];
        let result = header
            .as_u64()
            .or_else(|| header["Code"].as_u64())
            .unwrap_or(0);
        Status::check(u32::try_from(result).unwrap_or(u32::MAX))?;
        Ok(response)
    }

    /// GetEndpoints.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn endpoints(&mut self) -> Result<Vec<Value>, Status> {
        let (mut count, mut found) = (0, null_mut());
        let url = self.endpoint.as_ptr();
        // SAFETY: the client is alive, the URL zero-terminated, and both results are ours to write.
        let status = unsafe {
            sys::UA_Client_getEndpoints(self.client, url, &raw mut count, &raw mut found)
        };
        Status::check(status)?;
        // SAFETY: open62541 allocated an array of so many elements for us.
        unsafe { take_array(found, count) }
    }

    /// FindServers.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn servers(&mut self) -> Result<Vec<Value>, Status> {
        let (mut count, mut found) = (0, null_mut());
        let url = self.endpoint.as_ptr();
        // SAFETY: as for `endpoints`; null pointers with a count of 0 ask for no filter.
        let status = unsafe {
            sys::UA_Client_findServers(
                self.client,
                url,
                0,
                null_mut(),
                0,
                null_mut(),
                &raw mut count,
                &raw mut found,
            )
        };
        Status::check(status)?;
        // SAFETY: open62541 allocated an array of so many elements for us.
        unsafe { take_array(found, count) }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: the client is alive and not used again.
        unsafe {
            sys::UA_Client_disconnect(self.client);
            sys::UA_Client_delete(self.client);
        }
    }
}

thread_local! {
    /// Changes that open62541 reported and nobody has read, with the positions of their items.
    static CHANGES: RefCell<Vec<(usize, Value)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a change; called by open62541 in the thread of the client.
unsafe extern "C" fn on_change(
    _client: *mut sys::UA_Client,
    _subscription: u32,
    _subscription_context: *mut c_void,
    _item: u32,
    context: *mut c_void,
    value: *mut sys::UA_DataValue,
) {
    // SAFETY: open62541 hands over an initialised DataValue, or a null pointer.
    if let Some(Ok(value)) = unsafe { value.as_ref() }.map(to_json) {
        CHANGES.with_borrow_mut(|changes| changes.push((context.addr(), value)));
    }
}

/// The JSON of an array's elements; frees the array.
///
/// # Safety
/// `data` must be an array of `count` elements that open62541 allocated and that nobody else frees.
unsafe fn take_array<T: Described>(data: *mut T, count: usize) -> Result<Vec<Value>, Status> {
    // SAFETY: as demanded of the caller.
    let json = unsafe { elements(data, count) }
        .iter()
        .map(to_json)
        .collect();
    // SAFETY: as demanded of the caller; the elements are not used again.
    unsafe { sys::UA_Array_delete(data.cast(), count, crate::data::description::<T>()) };
    json
}
