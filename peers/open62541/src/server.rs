//! open62541's server, with the nodes of `peers/README.md`.

use std::ptr::{null, null_mut};

use open62541_sys as sys;
use serde_json::{Value, json};

use crate::Status;
use crate::data::{Owned, elements};
use crate::history::Store;
use crate::security::secure_server;

const NAMESPACE_URI: &std::ffi::CStr = c"urn:takt:peer";

/// A server that listens on 127.0.0.1. It stays in one thread: open62541 is built without locks.
#[derive(Debug)]
pub struct Server {
    server: *mut sys::UA_Server,
    namespace: u16,
    store: Store,
}

impl Server {
    /// A server with all its nodes, not yet listening. `security` is null, or the description of `peers/README.md`.
    ///
    /// # Errors
    /// Error of open62541, or a mistake in the description.
    pub fn new(port: u16, security: &Value) -> Result<Self, String> {
        Self::configured(port, security)?
            .with_nodes()
            .map_err(|status| status.to_string())
    }

    fn configured(port: u16, security: &Value) -> Result<Self, String> {
        // SAFETY: a configuration is zeroed before it is filled, as open62541's own programs do.
        let mut config: sys::UA_ServerConfig = unsafe { std::mem::zeroed() };
        // SAFETY: the configuration is ours; no certificate is given. Its logger writes to the standard output, which is
        // ours, so it is silenced before anything else is done.
        let status = unsafe {
            config.logging = sys::UA_Log_Stdout_new(sys::UA_LogLevel::UA_LOGLEVEL_FATAL);
            if security.is_null() {
                sys::UA_ServerConfig_setMinimal(&raw mut config, port, null())
            } else {
                // Without an endpoint for it, this policy is for GetEndpoints only.
                config.securityPolicyNoneDiscoveryOnly = true;
                match sys::UA_ServerConfig_setBasics_withPort(&raw mut config, port) {
                    0 => sys::UA_ServerConfig_addSecurityPolicyNone(&raw mut config, null()),
                    fault => fault,
                }
            }
        };
        Status::check(status).map_err(|status| status.to_string())?;
        if !security.is_null() {
            secure_server(&mut config, security)?;
        }
        listen_on_loopback(&mut config, port);
        config.maxReferencesPerNode = 0;
        // Milliseconds: the default are 15 s.
        config.reverseReconnectInterval = 100;
        let store = Store::add(&mut config);
        // SAFETY: the configuration is complete; the server takes over what it owns.
        let server = unsafe { sys::UA_Server_newWithConfig(&raw mut config) };
        if server.is_null() {
            return Err("the server refuses its configuration".to_owned());
        }
        // SAFETY: the server is alive, the text zero-terminated.
        let namespace = unsafe { sys::UA_Server_addNamespace(server, NAMESPACE_URI.as_ptr()) };
        Ok(Self {
            server,
            namespace,
            store,
        })
    }

    fn with_nodes(mut self) -> Result<Self, Status> {
        self.add_nodes()?;
        Ok(self)
    }

    /// The index of `urn:takt:peer`.
    #[must_use]
    pub fn namespace(&self) -> u16 {
        self.namespace
    }

    /// Serves until `ended` says so; `ready` is called once clients can connect.
    ///
    /// # Errors
    /// Error of open62541, for example that the port is in use.
    pub fn run(&mut self, ready: impl FnOnce(), ended: impl Fn() -> bool) -> Result<(), Status> {
        self.run_with(ready, ended, |_| Ok(()))
    }

    /// Serves as [`run`](Self::run) does, and calls `each` between two rounds.
    ///
    /// # Errors
    /// Error of open62541 or of `each`.
    pub fn run_with(
        &mut self,
        ready: impl FnOnce(),
        ended: impl Fn() -> bool,
        mut each: impl FnMut(&mut Self) -> Result<(), Status>,
    ) -> Result<(), Status> {
        // SAFETY: the server is alive, in this call and those that follow.
        Status::check(unsafe { sys::UA_Server_run_startup(self.server) })?;
        ready();
        while !ended() {
            // SAFETY: as above. It waits for something to do, a fraction of a second at most.
            unsafe { sys::UA_Server_run_iterate(self.server, true) };
            each(self)?;
        }
        // SAFETY: as above.
        Status::check(unsafe { sys::UA_Server_run_shutdown(self.server) })
    }

    /// Adds the Variable `Counter`, and Objects `Line0`, `Line1` and so on of the ObjectType `LineType` with 100 Variables each, as
    /// the servers `large_server` of other peers have them.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn add_lines(&mut self, variables: usize) -> Result<(), Status> {
        const PER_LINE: usize = 100;
        let scalar = json!([]);
        self.add_variable_below("Peer", "Counter", 7, json!(0), &scalar)?;
        self.add_line_type()?;
        for first in (0..variables).step_by(PER_LINE) {
            let line = format!("Line{}", first / PER_LINE);
            self.add_object(
                &line,
                "Peer",
                "i=47",
                &format!("ns={};s=LineType", self.namespace),
            )?;
            for number in 0..PER_LINE.min(variables - first) {
                let name = format!("{line}/Value{number}");
                self.add_variable_below(&line, &name, 11, json!(first + number), &scalar)?;
            }
        }
        Ok(())
    }

    /// Sets `Counter`.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn count(&mut self, value: u32) -> Result<(), Status> {
        let variant = Owned::<sys::UA_Variant>::from_json(&json!({"UaType": 7, "Value": value}))?;
        // SAFETY: the server is alive, and copies the value.
        Status::check(unsafe {
            sys::UA_Server_writeValue(self.server, self.node_id("Counter")?.lend(), variant.lend())
        })
    }

    /// Adds the Variable `Recorded` with a history of this many values: 0, 1, … each a second after the one before.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn add_recorded(&mut self, count: u32) -> Result<(), Status> {
        let last = json!(count.saturating_sub(1));
        self.add_variable("Recorded", 11, last, &json!([]))?;
        let node = self.node_id("Recorded")?;
        // SAFETY: the server is alive, and the store is that of its configuration.
        unsafe { self.store.record(self.server, &node, count) }
    }

    /// Reports an Event of the server with this Severity.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn report(&mut self, severity: u16) -> Result<(), Status> {
        let text = json!({"Locale": "en", "Text": format!("Severity {severity}")});
        let text = Owned::<sys::UA_LocalizedText>::from_json(&text)?;
        // SAFETY: the server is alive, and copies what it is lent; null pointers are for no further fields and no EventId.
        Status::check(unsafe {
            sys::UA_Server_createEvent(
                self.server,
                standard("i=2253")?.lend(),
                standard("i=2041")?.lend(),
                severity,
                text.lend(),
                null(),
                null(),
                null_mut(),
            )
        })
    }

    /// Connects to a client that listens at this URL.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn connect_to(&mut self, url: &str) -> Result<(), Status> {
        let url = Owned::<sys::UA_String>::from_json(&url.into())?;
        let mut handle = 0;
        // SAFETY: the server is alive, and copies the URL; without a callback there is no context.
        Status::check(unsafe {
            sys::UA_Server_addReverseConnect(
                self.server,
                url.lend(),
                None,
                null_mut(),
                &raw mut handle,
            )
        })
    }

    fn add_line_type(&mut self) -> Result<(), Status> {
        let attributes = Owned::<sys::UA_ObjectTypeAttributes>::from_json(
            &json!({"DisplayName": {"Text": "LineType"}}),
        )?;
        // SAFETY: the server is alive; it copies everything that it is lent.
        Status::check(unsafe {
            sys::UA_Server_addObjectTypeNode(
                self.server,
                self.node_id("LineType")?.lend(),
                standard("i=58")?.lend(),
                standard("i=45")?.lend(),
                self.browse_name("LineType")?.lend(),
                attributes.lend(),
                null_mut(),
                null_mut(),
            )
        })
    }

    fn add_nodes(&mut self) -> Result<(), Status> {
        self.add_peer()?;
        let array: Vec<u32> = (0..1024).collect();
        let scalar = json!([]);
        for (name, built_in_type, value, dimensions) in [
            ("UInt32", 7, json!(42), &scalar),
            ("Double", 11, json!(2.5), &scalar),
            ("String", 12, json!("Grüße"), &scalar),
            ("Boolean", 1, json!(true), &scalar),
            (
                "LocalizedText",
                21,
                json!({"Locale": "en", "Text": "Spindle"}),
                &scalar,
            ),
            ("DateTime", 13, json!("2024-02-29T12:34:56.789Z"), &scalar),
            ("UInt32Array", 7, json!(array), &json!([1024])),
            (
                "Matrix",
                11,
                json!([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
                &json!([2, 3]),
            ),
            ("ReadOnly", 8, json!("-9007199254740993"), &scalar),
        ] {
            self.add_variable(name, built_in_type, value, dimensions)?;
        }
        self.add_multiply()
    }

    fn node_id(&self, name: &str) -> Result<Owned<sys::UA_NodeId>, Status> {
        Owned::from_json(&format!("ns={};s={name}", self.namespace).into())
    }

    fn browse_name(&self, name: &str) -> Result<Owned<sys::UA_QualifiedName>, Status> {
        Owned::from_json(&format!("{}:{name}", self.namespace).into())
    }

    fn add_peer(&mut self) -> Result<(), Status> {
        self.add_object("Peer", "", "i=35", "i=58")
    }

    /// Adds an Object below another one, or below the Objects folder.
    fn add_object(
        &mut self,
        name: &str,
        parent: &str,
        reference: &str,
        object_type: &str,
    ) -> Result<(), Status> {
        let attributes =
            Owned::<sys::UA_ObjectAttributes>::from_json(&json!({"DisplayName": {"Text": name}}))?;
        let parent = match parent {
            "" => standard("i=85")?,
            parent => self.node_id(parent)?,
        };
        // SAFETY: the server is alive; it copies everything that it is lent.
        Status::check(unsafe {
            sys::UA_Server_addObjectNode(
                self.server,
                self.node_id(name)?.lend(),
                parent.lend(),
                standard(reference)?.lend(),
                self.browse_name(name)?.lend(),
                standard(object_type)?.lend(),
                attributes.lend(),
                null_mut(),
                null_mut(),
            )
        })
    }

    fn add_variable(
        &mut self,
        name: &str,
        built_in_type: u32,
        value: Value,
        dimensions: &Value,
    ) -> Result<(), Status> {
        self.add_variable_below("Peer", name, built_in_type, value, dimensions)
    }

    fn add_variable_below(
        &mut self,
        parent: &str,
        name: &str,
        built_in_type: u32,
        value: Value,
        dimensions: &Value,
    ) -> Result<(), Status> {
        let rank = dimensions.as_array().map_or(0, Vec::len);
        let access_level = match name {
            "ReadOnly" => 1,
            // With HistoryRead.
            "Recorded" => 5,
            _ => 3,
        };
        let mut variant = json!({"UaType": built_in_type, "Value": value});
        if rank > 1 {
            variant["Dimensions"] = dimensions.clone();
        }
        let attributes = Owned::<sys::UA_VariableAttributes>::from_json(&json!({
            "DisplayName": {"Text": name},
            "Value": variant,
            "DataType": format!("i={built_in_type}"),
            "ValueRank": if rank == 0 { -1 } else { i64::try_from(rank).unwrap_or(1) },
            "ArrayDimensions": dimensions,
            "AccessLevel": access_level,
            "UserAccessLevel": access_level,
            "Historizing": name == "Recorded",
        }))?;
        // SAFETY: the server is alive; it copies everything that it is lent.
        Status::check(unsafe {
            sys::UA_Server_addVariableNode(
                self.server,
                self.node_id(name)?.lend(),
                self.node_id(parent)?.lend(),
                standard("i=47")?.lend(),
                self.browse_name(name.rsplit('/').next().unwrap_or(name))?
                    .lend(),
                standard("i=63")?.lend(),
                attributes.lend(),
                null_mut(),
                null_mut(),
            )
        })
    }

    fn add_multiply(&mut self) -> Result<(), Status> {
        let attributes = Owned::<sys::UA_MethodAttributes>::from_json(
            &json!({"DisplayName": {"Text": "Multiply"}, "Executable": true, "UserExecutable": true}),
        )?;
        let argument = |name: &str| {
            Owned::<sys::UA_Argument>::from_json(
                &json!({"Name": name, "DataType": "i=11", "ValueRank": -1}),
            )
        };
        let (a, b, product) = (argument("A")?, argument("B")?, argument("Product")?);
        let inputs = [a.lend(), b.lend()];
        let outputs = [product.lend()];
        // SAFETY: the server is alive; it copies everything that it is lent, the arrays included. The callback is a
        // function of this program and needs no context.
        Status::check(unsafe {
            sys::UA_Server_addMethodNode(
                self.server,
                self.node_id("Multiply")?.lend(),
                self.node_id("Peer")?.lend(),
                standard("i=47")?.lend(),
                self.browse_name("Multiply")?.lend(),
                attributes.lend(),
                Some(multiply),
                inputs.len(),
                inputs.as_ptr(),
                outputs.len(),
                outputs.as_ptr(),
                null_mut(),
                null_mut(),
            )
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the server is alive and not used again.
        unsafe { sys::UA_Server_delete(self.server) };
    }
}

/// A NodeId of namespace 0.
fn standard(text: &str) -> Result<Owned<sys::UA_NodeId>, Status> {
    Owned::from_json(&text.into())
}

/// Replaces the server's URLs, which mean all interfaces, by one.
fn listen_on_loopback(config: &mut sys::UA_ServerConfig, port: u16) {
    let url = format!("opc.tcp://127.0.0.1:{port}");
    // SAFETY: the configuration owns its array of URLs, which is freed and replaced by one of the same kind; the String is
    // copied by open62541 from the zero-terminated text.
    unsafe {
        let strings = crate::data::description::<sys::UA_String>();
        sys::UA_Array_delete(config.serverUrls.cast(), config.serverUrlsSize, strings);
        config.serverUrls = sys::UA_Array_new(1, strings).cast();
        config.serverUrlsSize = usize::from(!config.serverUrls.is_null());
        if let Some(first) = config.serverUrls.as_mut() {
            let text = std::ffi::CString::new(url).unwrap_or_default();
            *first = sys::UA_String_fromChars(text.as_ptr());
        }
    }
}

/// The Method's body. open62541 has checked number and types of the inputs.
unsafe extern "C" fn multiply(
    _server: *mut sys::UA_Server,
    _session_id: *const sys::UA_NodeId,
    _session_context: *mut std::ffi::c_void,
    _method_id: *const sys::UA_NodeId,
    _method_context: *mut std::ffi::c_void,
    _object_id: *const sys::UA_NodeId,
    _object_context: *mut std::ffi::c_void,
    input_size: usize,
    input: *const sys::UA_Variant,
    _output_size: usize,
    output: *mut sys::UA_Variant,
) -> sys::UA_StatusCode {
    // SAFETY: open62541 hands over as many initialised Variants as it says.
    let factors = unsafe { elements(input, input_size) };
    // SAFETY: a Variant of the declared type Double points to one.
    let factor = |variant: &sys::UA_Variant| unsafe { *variant.data.cast::<f64>() };
    let mut product: f64 = factors.iter().map(factor).product();
    let double = crate::data::description::<sys::UA_Double>();
    // SAFETY: there is room for the one declared output, and the value is copied.
    unsafe { sys::UA_Variant_setScalarCopy(output, (&raw mut product).cast(), double) }
}
