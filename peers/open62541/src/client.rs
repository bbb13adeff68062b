//! open62541's client.

use std::ffi::CString;
use std::ptr::null_mut;

use open62541_sys as sys;
use serde_json::Value;

use crate::Status;
use crate::data::{Described, Owned, elements, to_json};

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
    /// Connects with SecurityPolicy None, anonymously; `timeout` in milliseconds holds for each request.
    ///
    /// # Errors
    /// What open62541 says if it cannot.
    pub fn connect(endpoint: &str, timeout: u32) -> Result<Self, Status> {
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
        // SAFETY: the client is alive; the endpoint is zero-terminated.
        Status::check(unsafe { sys::UA_Client_connect(client.client, client.endpoint.as_ptr()) })?;
        Ok(client)
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
    /// What open62541 says if it fails.
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
    /// What open62541 says if it fails.
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
