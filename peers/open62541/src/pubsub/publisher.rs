//! Components of a publisher.

use std::ptr::null_mut;

use open62541_sys as sys;
use serde_json::json;

use super::description::{borrowed, borrowed_object, name, null_id, string};
use super::{DATA_SET_MESSAGE, NETWORK_MESSAGE, PubSub};
use crate::Status;
use crate::data::{Owned, description as type_description};

impl PubSub {
    pub(super) fn add_publisher(&self) -> Result<Owned<sys::UA_NodeId>, Status> {
        let connection = self.add_connection()?;
        let data_set = self.add_data_set()?;
        let group = self.add_writer_group(&connection)?;
        let settings = Owned::<sys::UA_UadpDataSetWriterMessageDataType>::from_json(
            &json!({"DataSetMessageContentMask": DATA_SET_MESSAGE, "ConfiguredSize": 0, "NetworkMessageNumber": 0, "DataSetOffset": 0}),
        )?;
        let (writer_name, data_set_name) = (string("Writer")?, string("Machine")?);
        // SAFETY: zeros are an empty configuration; the server is alive and copies what it is lent.
        Status::check(unsafe {
            let mut config: sys::UA_DataSetWriterConfig = std::mem::zeroed();
            config.name = writer_name.lend();
            config.dataSetWriterId = self.number("dataSetWriterId");
            config.dataSetFieldContentMask = self.field_content();
            // Without delta frames, which open62541 1.5 counts wrongly: they end with null values for the first field.
            config.keyFrameCount = 0;
            config.messageSettings = borrowed_object(&settings);
            config.dataSetName = data_set_name.lend();
            sys::UA_Server_addDataSetWriter(
                self.server,
                group.lend(),
                data_set.lend(),
                &raw const config,
                null_mut(),
            )
        })?;
        Ok(group)
    }

    fn add_data_set(&self) -> Result<Owned<sys::UA_NodeId>, Status> {
        let data_set_name = string("Machine")?;
        let mut id = null_id();
        // SAFETY: zeros are an empty configuration; the server is alive and copies what it is lent.
        let mut result = unsafe {
            let mut config: sys::UA_PublishedDataSetConfig = std::mem::zeroed();
            config.name = data_set_name.lend();
            config.publishedDataSetType =
                sys::UA_PublishedDataSetType::UA_PUBSUB_DATASET_PUBLISHEDITEMS;
            sys::UA_Server_addPublishedDataSet(self.server, &raw const config, &raw mut id)
        };
        // SAFETY: an array of numbers that open62541 allocated, if it did.
        unsafe {
            let number = type_description::<sys::UA_UInt32>();
            let size = result.fieldAddResultsSize;
            sys::UA_Array_delete(result.fieldAddResults.cast(), size, number);
            result.fieldAddResults = null_mut();
        }
        Status::check(result.addResult)?;
        let id = Owned::new(id);
        for field in self.fields() {
            let alias = string(name(field))?;
            let variable = Owned::<sys::UA_PublishedVariableDataType>::from_json(
                &json!({"PublishedVariable": format!("ns=1;s={}", name(field)), "AttributeId": 13}),
            )?;
            // SAFETY: as above.
            let result = unsafe {
                let mut config: sys::UA_DataSetFieldConfig = std::mem::zeroed();
                config.dataSetFieldType = sys::UA_DataSetFieldType::UA_PUBSUB_DATASETFIELD_VARIABLE;
                let field = config.field.variable.as_mut();
                field.fieldNameAlias = alias.lend();
                field.publishParameters = variable.lend();
                sys::UA_Server_addDataSetField(
                    self.server,
                    id.lend(),
                    &raw const config,
                    null_mut(),
                )
            };
            Status::check(result.result)?;
        }
        Ok(id)
    }

    fn add_writer_group(
        &self,
        connection: &Owned<sys::UA_NodeId>,
    ) -> Result<Owned<sys::UA_NodeId>, Status> {
        let group_name = string("Group")?;
        let settings = Owned::<sys::UA_UadpWriterGroupMessageDataType>::from_json(
            &json!({"GroupVersion": 0, "DataSetOrdering": 0, "NetworkMessageContentMask": NETWORK_MESSAGE,
                "SamplingOffset": 0.0, "PublishingOffset": []}),
        )?;
        let (security_mode, policy) = self.protection();
        let mut id = null_id();
        // SAFETY: zeros are an empty configuration; the server is alive and copies what it is lent. The policy is its own.
        let status = unsafe {
            let mut config: sys::UA_WriterGroupConfig = std::mem::zeroed();
            config.name = group_name.lend();
            config.writerGroupId = self.number("writerGroupId");
            config.publishingInterval = f64::from(self.number("interval"));
            config.messageSettings = borrowed_object(&settings);
            config.encodingMimeType = sys::UA_PubSubEncodingType::UA_PUBSUB_ENCODING_UADP;
            config.securityMode = security_mode;
            config.securityPolicy = policy;
            let (server, connection) = (self.server, connection.lend());
            sys::UA_Server_addWriterGroup(server, connection, &raw const config, &raw mut id)
        };
        Status::check(status)?;
        let id = Owned::new(id);
        if let Some((token, mut keys)) = self.keys() {
            let [signing, encrypting, nonce] = keys.each_mut().map(|key| borrowed(key));
            // SAFETY: the server is alive and copies the keys, which outlive the call.
            Status::check(unsafe {
                let (server, id) = (self.server, id.lend());
                sys::UA_Server_setWriterGroupEncryptionKeys(
                    server, id, token, signing, encrypting, nonce,
                )
            })?;
        }
        Ok(id)
    }
}
