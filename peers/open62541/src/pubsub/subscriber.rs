//! Components of a subscriber.

use std::ptr::null_mut;

use open62541_sys as sys;
use serde_json::{Value, json};

use super::description::{
    borrowed, borrowed_object, built_in_type, data_type, dimensions, name, null_id, rank, string,
};
use super::{DATA_SET_MESSAGE, NETWORK_MESSAGE, PubSub};
use crate::Status;
use crate::data::Owned;

impl PubSub {
    pub(super) fn add_subscriber(&self) -> Result<(), Status> {
        let connection = self.add_connection()?;
        let group = self.add_reader_group(&connection)?;
        let reader_name = string("Reader")?;
        let settings = Owned::<sys::UA_UadpDataSetReaderMessageDataType>::from_json(
            &json!({"NetworkMessageContentMask": NETWORK_MESSAGE, "DataSetMessageContentMask": DATA_SET_MESSAGE}),
        )?;
        let target = |field: &Value| json!({"AttributeId": 13, "TargetNodeId": format!("ns=1;s={}", name(field))});
        let targets: Vec<_> = self.fields().iter().map(target).collect();
        let targets = Owned::<sys::UA_TargetVariablesDataType>::from_json(
            &json!({"TargetVariables": targets}),
        )?;
        let meta_data = self.meta_data()?;
        // SAFETY: zeros are an empty configuration; the server is alive and copies what it is lent.
        Status::check(unsafe {
            let mut config: sys::UA_DataSetReaderConfig = std::mem::zeroed();
            config.name = reader_name.lend();
            config.publisherId = self.publisher_id();
            config.writerGroupId = self.number("writerGroupId");
            config.dataSetWriterId = self.number("dataSetWriterId");
            config.dataSetMetaData = meta_data.lend();
            config.dataSetFieldContentMask = self.field_content();
            config.messageSettings = borrowed_object(&settings);
            config.subscribedDataSetType = sys::UA_SubscribedDataSetType::UA_PUBSUB_SDS_TARGET;
            *config.subscribedDataSet.target.as_mut() = targets.lend();
            let (server, group) = (self.server, group.lend());
            sys::UA_Server_addDataSetReader(server, group, &raw const config, null_mut())
        })
    }

    fn meta_data(&self) -> Result<Owned<sys::UA_DataSetMetaDataType>, Status> {
        let field = |field: &Value| {
            json!({
                "Name": name(field),
                "BuiltInType": built_in_type(field),
                "DataType": data_type(field),
                "ValueRank": rank(field),
                "ArrayDimensions": dimensions(field),
            })
        };
        let fields: Vec<_> = self.fields().iter().map(field).collect();
        Owned::from_json(&json!({"Name": "Machine", "Fields": fields}))
    }

    fn add_reader_group(
        &self,
        connection: &Owned<sys::UA_NodeId>,
    ) -> Result<Owned<sys::UA_NodeId>, Status> {
        let group_name = string("Group")?;
        let (security_mode, policy) = self.protection();
        let mut id = null_id();
        // SAFETY: zeros are an empty configuration; the server is alive and copies what it is lent. The policy is its own.
        let status = unsafe {
            let mut config: sys::UA_ReaderGroupConfig = std::mem::zeroed();
            config.name = group_name.lend();
            config.encodingMimeType = sys::UA_PubSubEncodingType::UA_PUBSUB_ENCODING_UADP;
            config.securityMode = security_mode;
            config.securityPolicy = policy;
            let (server, connection) = (self.server, connection.lend());
            sys::UA_Server_addReaderGroup(server, connection, &raw const config, &raw mut id)
        };
        Status::check(status)?;
        let id = Owned::new(id);
        if let Some((token, mut keys)) = self.keys() {
            let [signing, encrypting, nonce] = keys.each_mut().map(|key| borrowed(key));
            // SAFETY: the server is alive and copies the keys, which outlive the call.
            Status::check(unsafe {
                let (server, id) = (self.server, id.lend());
                sys::UA_Server_setReaderGroupEncryptionKeys(
                    server, id, token, signing, encrypting, nonce,
                )
            })?;
        }
        Ok(id)
    }
}
