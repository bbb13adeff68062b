//! open62541's store of values in memory. The bindings leave its plugins out, so they are declared here.

use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};

use open62541_sys as sys;
use serde_json::json;

use crate::Status;
use crate::data::Owned;

/// `UA_HistoryDataBackend` of `plugin/historydata/history_data_backend.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Backend {
    context: *mut c_void,
    delete: usize,
    set: unsafe extern "C" fn(
        *mut sys::UA_Server,
        *mut c_void,
        *const sys::UA_NodeId,
        *mut c_void,
        *const sys::UA_NodeId,
        bool,
        *const sys::UA_DataValue,
    ) -> sys::UA_StatusCode,
    others: [usize; 14],
}

/// `UA_HistorizingNodeIdSettings` of `plugin/historydata/history_data_gathering.h`.
#[repr(C)]
struct Settings {
    backend: Backend,
    response_size: usize,
    update_strategy: u32,
    polling_interval: usize,
    context: *mut c_void,
}

/// `UA_HistoryDataGathering` of the same file.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Gathering {
    context: *mut c_void,
    delete: usize,
    register: unsafe extern "C" fn(
        *mut sys::UA_Server,
        *mut c_void,
        *const sys::UA_NodeId,
        Settings,
    ) -> sys::UA_StatusCode,
    others: [usize; 5],
}

unsafe extern "C" {
    fn UA_HistoryDataBackend_Memory(nodes: usize, values: usize) -> Backend;
    fn UA_HistoryDataGathering_Default(nodes: usize) -> Gathering;
    fn UA_HistoryDatabase_default(gathering: Gathering) -> sys::UA_HistoryDatabase;
}

/// The stored values of one Variable.
#[derive(Debug)]
pub(crate) struct Store(Gathering);

impl Store {
    /// Adds a store to the configuration of a server, which frees it.
    pub(crate) fn add(config: &mut sys::UA_ServerConfig) -> Self {
        // SAFETY: no preconditions. The gathering is freed once, with the server; the copy is used while the server lives.
        let gathering = unsafe {
            let gathering = UA_HistoryDataGathering_Default(1);
            config.historyDatabase = UA_HistoryDatabase_default(gathering);
            gathering
        };
        config.accessHistoryDataCapability = true;
        Self(gathering)
    }

    /// Stores the values 0, 1, … as those of a Variable, one for each second until now.
    ///
    /// # Safety
    /// The server must be alive, and be that of the configuration.
    pub(crate) unsafe fn record(
        &self,
        server: *mut sys::UA_Server,
        node: &Owned<sys::UA_NodeId>,
        count: u32,
    ) -> Result<(), Status> {
        let size = count as usize;
        // SAFETY: as demanded of the caller. The server copies the settings, and frees the backend.
        let backend = unsafe { UA_HistoryDataBackend_Memory(1, size) };
        let settings = Settings {
            backend,
            response_size: size,
            // Values are stored by this program only.
            update_strategy: 0,
            polling_interval: 0,
            context: null_mut(),
        };
        // SAFETY: as above.
        let registered =
            unsafe { (self.0.register)(server, self.0.context, from_ref(node.get()), settings) };
        Status::check(registered)?;
        // SAFETY: no preconditions.
        let now = unsafe { sys::UA_DateTime_now() };
        for value in 0..count {
            let variant = json!({"UaType": 11, "Value": f64::from(value)});
            let time = now - i64::from(count - 1 - value) * 10_000_000;
            let variant = Owned::<sys::UA_Variant>::from_json(&variant)?;
            let mut stored = sys::UA_DataValue {
                value: variant.lend(),
                sourceTimestamp: time,
                serverTimestamp: time,
                ..Default::default()
            };
            stored.set_hasValue(true);
            stored.set_hasSourceTimestamp(true);
            stored.set_hasServerTimestamp(true);
            // SAFETY: as above; the value is copied.
            let set = unsafe {
                (backend.set)(
                    server,
                    backend.context,
                    null(),
                    null_mut(),
                    from_ref(node.get()),
                    true,
                    from_ref(&stored),
                )
            };
            Status::check(set)?;
        }
        Ok(())
    }
}
