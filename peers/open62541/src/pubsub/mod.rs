//! open62541 as a publisher or subscriber of UADP over UDP or Ethernet, as `peers/README.md` describes it.

mod description;
mod publisher;
mod subscriber;

use std::collections::BTreeMap;
use std::ptr::{null, null_mut};

use open62541_sys as sys;
use serde_json::{Value, json};

use crate::Status;
use crate::convert::{from_data_value, to_variant};
use crate::data::{Owned, bytes, description as type_description, elements};
use description::{
    data_type, dimensions, from_hex, name, node, null_id, rank, standard, string, zero,
};

/// OPC 10000-14, 6.2.4.2.
const DATA_VALUE: u32 = 0b11;
const RAW_DATA: u32 = 0b10_0000;

/// PublisherId, GroupHeader, WriterGroupId, SequenceNumber, PayloadHeader (6.3.1.1.4).
const NETWORK_MESSAGE: u32 = 0b110_0111;

/// Timestamp, Status, SequenceNumber (6.3.1.3.2).
const DATA_SET_MESSAGE: u32 = 0b10_0101;

/// Table of the offsets of all fields in a message, as real-time publishers of open62541 use it (`UA_PubSubOffsetTable`).
#[derive(Debug, Clone)]
pub struct OffsetTable {
    /// The NetworkMessage.
    pub message: Vec<u8>,
    /// `UA_PubSubOffsetType`, and offset in bytes.
    pub offsets: Vec<(u32, usize)>,
}

/// A server that does not listen for clients, and publishes or subscribes.
pub struct PubSub {
    server: *mut sys::UA_Server,
    description: Value,
    count: u32,
    writer_group: Option<Owned<sys::UA_NodeId>>,
}

impl PubSub {
    /// A server with a Variable for each field, which publishes or subscribes.
    ///
    /// # Errors
    /// Error of open62541, or a mistake in the description.
    pub fn start(role: &str, description: Value) -> Result<Self, String> {
        let server = new_server(&description["security"]).map_err(|error| error.to_string())?;
        let mut pubsub = Self {
            server,
            description,
            count: 0,
            writer_group: None,
        };
        // SAFETY: the server is alive, in this call and those that follow.
        let started = Status::check(unsafe { sys::UA_Server_run_startup(server) });
        started.map_err(|error| error.to_string())?;
        for field in pubsub.fields() {
            pubsub.add_variable(field, role == "subscribe")?;
        }
        let components = match role {
            "publish" => pubsub
                .add_publisher()
                .map(|group| pubsub.writer_group = Some(group)),
            "subscribe" => pubsub.add_subscriber(),
            _ => return Err(format!("`{role}` is neither publish nor subscribe")),
        };
        components.map_err(|error| error.to_string())?;
        // SAFETY: as above.
        let enabled = Status::check(unsafe { sys::UA_Server_enableAllPubSubComponents(server) });
        enabled.map_err(|error| error.to_string())?;
        Ok(pubsub)
    }

    /// Does what there is to do now, without waiting.
    pub fn iterate(&mut self) {
        // SAFETY: the server is alive.
        unsafe { sys::UA_Server_run_iterate(self.server, false) };
    }

    /// Sets `Count` to its next value.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn count(&mut self) -> Result<(), Status> {
        self.count += 1;
        let value = json!({"UaType": 7, "Value": self.count});
        let value = Owned::<sys::UA_Variant>::from_json(&value)?;
        let node = node("Count")?;
        // SAFETY: the server is alive; it copies what it is lent.
        Status::check(unsafe { sys::UA_Server_writeValue(self.server, node.lend(), value.lend()) })
    }

    /// Sends a message now, as real-time publishers do by a clock of their own.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn publish(&self) -> Result<(), Status> {
        let group = self.writer_group.as_ref();
        let group = group.ok_or(Status(sys::UA_STATUSCODE_BADNOTFOUND))?;
        // SAFETY: the server is alive; the group is one of its own.
        let status = unsafe { sys::UA_Server_triggerWriterGroupPublish(self.server, group.lend()) };
        Status::check(status)
    }

    /// A publisher's message of fixed layout, and where its parts are.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn offset_table(&self) -> Result<OffsetTable, Status> {
        let group = self.writer_group.as_ref();
        let group = group.ok_or(Status(sys::UA_STATUSCODE_BADNOTFOUND))?;
        // SAFETY: zeros are an empty table; the server is alive. What the table has is copied before it is freed.
        unsafe {
            let mut table: sys::UA_PubSubOffsetTable = std::mem::zeroed();
            let (server, group) = (self.server, group.lend());
            Status::check(sys::UA_Server_computeWriterGroupOffsetTable(
                server,
                group,
                &raw mut table,
            ))?;
            let offsets = elements(table.offsets, table.offsetsSize).iter();
            let copy = OffsetTable {
                message: bytes(&table.networkMessage).to_vec(),
                offsets: offsets
                    .map(|entry| (entry.offsetType.0, entry.offset))
                    .collect(),
            };
            sys::UA_PubSubOffsetTable_clear(&raw mut table);
            Ok(copy)
        }
    }

    /// The fields as they are now.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn values(&self) -> Result<BTreeMap<String, Value>, Status> {
        let mut values = BTreeMap::new();
        for name in self.fields().iter().map(name) {
            let item = Owned::<sys::UA_ReadValueId>::from_json(
                &json!({"NodeId": format!("ns=1;s={name}"), "AttributeId": 13}),
            )?;
            let neither = sys::UA_TimestampsToReturn::UA_TIMESTAMPSTORETURN_NEITHER;
            // SAFETY: the server is alive and only reads the item; what it returns is ours.
            let value = Owned::<sys::UA_DataValue>::new(unsafe {
                sys::UA_Server_read(self.server, item.get(), neither)
            });
            values.insert(name.to_owned(), from_data_value(&value.to_json()?));
        }
        Ok(values)
    }

    fn fields(&self) -> &[Value] {
        self.description["fields"]
            .as_array()
            .map_or(&[], Vec::as_slice)
    }

    fn number(&self, name: &str) -> u16 {
        let number = self.description[name].as_u64().unwrap_or(0);
        u16::try_from(number).unwrap_or(0)
    }

    /// A Variable for a field: with its value, or empty, so that whatever is read there has been received.
    fn add_variable(&self, field: &Value, empty: bool) -> Result<(), String> {
        let mut value = to_variant(field)?;
        if empty {
            value["Value"] = zero(field);
        }
        let add = || {
            let attributes = Owned::<sys::UA_VariableAttributes>::from_json(&json!({
                "DisplayName": {"Text": name(field)},
                "Value": value,
                "DataType": data_type(field),
                "ValueRank": rank(field),
                "ArrayDimensions": dimensions(field),
                "AccessLevel": 3,
                "UserAccessLevel": 3,
            }))?;
            let browse_name =
                Owned::<sys::UA_QualifiedName>::from_json(&format!("1:{}", name(field)).into())?;
            // SAFETY: the server is alive; it copies everything that it is lent.
            Status::check(unsafe {
                sys::UA_Server_addVariableNode(
                    self.server,
                    node(name(field))?.lend(),
                    standard("i=85")?.lend(),
                    standard("i=35")?.lend(),
                    browse_name.lend(),
                    standard("i=63")?.lend(),
                    attributes.lend(),
                    null_mut(),
                    null_mut(),
                )
            })
        };
        add().map_err(|error: Status| format!("{}: {error}", name(field)))
    }

    fn add_connection(&self) -> Result<Owned<sys::UA_NodeId>, Status> {
        let url = self.description["url"].as_str().unwrap_or_default();
        let profile = match url.starts_with("opc.eth:") {
            true => "http://opcfoundation.org/UA-Profile/Transport/pubsub-eth-uadp",
            false => "http://opcfoundation.org/UA-Profile/Transport/pubsub-udp-uadp",
        };
        let profile = string(profile)?;
        let interface = self.description["interface"].as_str().unwrap_or_default();
        let address = Owned::<sys::UA_NetworkAddressUrlDataType>::from_json(
            &json!({"NetworkInterface": interface, "Url": url}),
        )?;
        let mut lent = address.lend();
        let name = string("UDP")?;
        let mut id = null_id();
        // SAFETY: zeros are an empty configuration; the server is alive and copies what it is lent.
        let status = unsafe {
            let mut config: sys::UA_PubSubConnectionConfig = std::mem::zeroed();
            config.name = name.lend();
            config.publisherId = self.publisher_id();
            config.transportProfileUri = profile.lend();
            let address_type = type_description::<sys::UA_NetworkAddressUrlDataType>();
            sys::UA_Variant_setScalar(
                &raw mut config.address,
                (&raw mut lent).cast(),
                address_type,
            );
            sys::UA_Server_addPubSubConnection(self.server, &raw const config, &raw mut id)
        };
        Status::check(status)?;
        Ok(Owned::new(id))
    }

    fn publisher_id(&self) -> sys::UA_PublisherId {
        // SAFETY: zeros are a PublisherId, and a number owns nothing.
        unsafe {
            let mut id: sys::UA_PublisherId = std::mem::zeroed();
            id.idType = sys::UA_PublisherIdType::UA_PUBLISHERIDTYPE_UINT16;
            *id.id.uint16.as_mut() = self.number("publisherId");
            id
        }
    }

    /// DataSetFieldContentMask.
    fn field_content(&self) -> u32 {
        match self.description["encoding"].as_str() {
            Some("DataValue") => DATA_VALUE,
            Some("RawData") => RAW_DATA,
            _ => 0,
        }
    }

    /// SecurityMode and policy.
    fn protection(
        &self,
    ) -> (
        sys::UA_MessageSecurityMode,
        *mut sys::UA_PubSubSecurityPolicy,
    ) {
        use sys::UA_MessageSecurityMode as Mode;
        let mode = match self.description["security"]["encrypted"].as_bool() {
            None => return (Mode::UA_MESSAGESECURITYMODE_NONE, null_mut()),
            Some(false) => Mode::UA_MESSAGESECURITYMODE_SIGN,
            Some(true) => Mode::UA_MESSAGESECURITYMODE_SIGNANDENCRYPT,
        };
        // SAFETY: the server is alive, and its configuration with it.
        let policy = unsafe {
            (*sys::UA_Server_getConfig(self.server))
                .pubSubConfig
                .securityPolicies
        };
        (mode, policy)
    }

    /// SecurityTokenId, signing key, encrypting key and nonce, if messages are protected.
    fn keys(&self) -> Option<(u32, [Vec<u8>; 3])> {
        let security = self.description["security"].as_object()?;
        let key = |name: &str| from_hex(security[name].as_str().unwrap_or_default());
        let token = security["token"].as_u64()?;
        let keys = [key("signing"), key("encrypting"), key("nonce")];
        Some((u32::try_from(token).ok()?, keys))
    }
}

impl Drop for PubSub {
    fn drop(&mut self) {
        // SAFETY: the server is alive and not used again. What it says of its end no longer matters.
        unsafe {
            sys::UA_Server_disableAllPubSubComponents(self.server);
            sys::UA_Server_run_shutdown(self.server);
            sys::UA_Server_delete(self.server);
        }
    }
}

/// A server without TCP, with the SecurityPolicy that the description names.
fn new_server(security: &Value) -> Result<*mut sys::UA_Server, Status> {
    // SAFETY: a configuration is zeroed before it is filled, as open62541's own programs do.
    let mut config: sys::UA_ServerConfig = unsafe { std::mem::zeroed() };
    // SAFETY: the configuration is ours; no certificate is given. Its logger writes to the standard output, which is ours, so it
    // is silenced before anything else is done.
    let status = unsafe {
        config.logging = sys::UA_Log_Stdout_new(sys::UA_LogLevel::UA_LOGLEVEL_FATAL);
        sys::UA_ServerConfig_setMinimal(&raw mut config, 4840, null())
    };
    Status::check(status)?;
    config.tcpEnabled = false;
    if let Some(uri) = security["policy"].as_str() {
        let size = size_of::<sys::UA_PubSubSecurityPolicy>();
        // SAFETY: the server frees the memory as it was allocated, with all that the policy has in it. A policy is initialised by
        // one of these functions and needs nothing but the logger, which lives as long as the server.
        let status = unsafe {
            let memory = sys::UA_Array_new(size, type_description::<sys::UA_Byte>());
            let policy = memory.cast::<sys::UA_PubSubSecurityPolicy>();
            if policy.is_null() {
                return Err(Status(sys::UA_STATUSCODE_BADOUTOFMEMORY));
            }
            config.pubSubConfig.securityPolicies = policy;
            config.pubSubConfig.securityPoliciesSize = 1;
            if uri.ends_with("#PubSub-Aes128-CTR") {
                sys::UA_PubSubSecurityPolicy_Aes128Ctr(policy, config.logging)
            } else {
                sys::UA_PubSubSecurityPolicy_Aes256Ctr(policy, config.logging)
            }
        };
        Status::check(status)?;
    }
    // SAFETY: the configuration is complete; the server takes over what it owns.
    let server = unsafe { sys::UA_Server_newWithConfig(&raw mut config) };
    if server.is_null() {
        return Err(Status(sys::UA_STATUSCODE_BADINTERNALERROR));
    }
    Ok(server)
}
