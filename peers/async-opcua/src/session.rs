//! Services of one Session, as requests whose responses the check sees.

use std::sync::Arc;
use std::time::Duration;

use opcua::client::reverse_connect::ReverseConnectionSource;
use opcua::client::services::{
    Browse, BrowseNext, Call, CreateMonitoredItems, CreateSubscription, DeleteSubscriptions,
    Publish, Read, Write,
};
use opcua::client::{ClientBuilder, UARequest};
use opcua::crypto::CertificateStore;
use opcua::sync::RwLock;
use opcua::types::{
    AttributeId, BrowseDescription, BrowseDirection, BrowseResult, ByteString, CallMethodResult,
    DataChangeFilter, DataChangeNotification, DataValue, ExtensionObject,
    MonitoredItemCreateRequest, MonitoringMode, MonitoringParameters, NodeId, NotificationMessage,
    NumericRange, PublishResponse, QualifiedName, ReadValueId, ReferenceTypeId, StatusCode,
    SubscriptionAcknowledgement, TimestampsToReturn, Variant, WriteValue,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::security::Security;
use crate::{Failed, expect, expect_status};

/// Time until a request has failed, long enough for a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// One connection with an activated Session.
pub(crate) struct Session {
    pub(crate) session: Arc<opcua::client::Session>,
    event_loop: JoinHandle<StatusCode>,
    index: u16,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.event_loop.abort();
    }
}

/// A MonitoredItem to be created.
pub(crate) struct Item {
    pub(crate) handle: u32,
    pub(crate) path: &'static str,
    pub(crate) mode: MonitoringMode,
    pub(crate) filter: Option<DataChangeFilter>,
}

impl Item {
    pub(crate) fn new(handle: u32, path: &'static str, mode: MonitoringMode) -> Self {
        Self {
            handle,
            path,
            mode,
            filter: None,
        }
    }
}

impl Session {
    /// Opens a channel and a Session. With `listen`, the server connects to this address; only its endpoints are asked for before.
    pub(crate) async fn connect(
        endpoint: &str,
        namespace: &str,
        security: &Security,
        lifetime: u32,
        listen: Option<&str>,
    ) -> Result<Self, Failed> {
        let certificates = std::env::temp_dir().join("takt-async-opcua");
        let builder = ClientBuilder::new()
            .application_name("async-opcua")
            .application_uri("urn:takt:peers:async-opcua")
            .pki_dir(&certificates)
            .channel_lifetime(lifetime)
            .session_retry_limit(-1)
            .session_retry_initial(Duration::from_millis(50))
            .session_retry_max(Duration::from_millis(200))
            .request_timeout(PATIENCE)
            .publish_timeout(PATIENCE)
            .max_array_length(1_000_000)
            .max_message_size(64 << 20)
            .max_chunk_count(1_024);
        let mut client = security
            .configure(builder)
            .client()
            .map_err(|errors| Failed(errors.join(", ")))?;
        let endpoint = security.endpoint(&client, endpoint).await?;
        let identity = security.identity()?;
        let (session, mut event_loop) = match listen {
            Some(address) => {
                let listener = TcpListener::bind(address).await?;
                let source = ReverseConnectionSource::new_listener(Arc::new(listener));
                let builder = client.session_builder().with_connector(source);
                let builder = builder.connect_to_endpoint_directly(endpoint)?;
                let builder = builder.user_identity_token(identity);
                // Without security nobody looks at certificates.
                let store = CertificateStore::new(&certificates);
                let (session, event_loop) = builder.build(Arc::new(RwLock::new(store)))?;
                (session, event_loop.spawn())
            }
            None => {
                let connected = client.connect_to_endpoint_directly(endpoint, identity)?;
                let (session, event_loop) = connected;
                (session, event_loop.spawn())
            }
        };
        // The library waits on if it gives up.
        let is_connected = tokio::select! {
            is_connected = session.wait_for_connection() => is_connected,
            _ = &mut event_loop => false,
        };
        expect(is_connected, || "no connection".to_owned())?;
        let index = session.get_namespace_index(namespace).await?;
        Ok(Self {
            session,
            event_loop,
            index,
        })
    }

    /// Sends a request and returns its response.
    pub(crate) async fn send<R: UARequest>(&self, request: R) -> Result<R::Out, Failed> {
        Ok(request.send(self.session.channel()).await?)
    }

    pub(crate) fn node(&self, path: &str) -> NodeId {
        NodeId::new(self.index, path)
    }

    /// Browses hierarchical references.
    pub(crate) async fn browse(
        &self,
        node_id: NodeId,
        most: u32,
        browse_direction: BrowseDirection,
    ) -> Result<BrowseResult, Failed> {
        let description = BrowseDescription {
            node_id,
            browse_direction,
            reference_type_id: ReferenceTypeId::HierarchicalReferences.into(),
            include_subtypes: true,
            node_class_mask: 0,
            result_mask: 63,
        };
        let request = Browse::new(&self.session)
            .max_references_per_node(most)
            .browse_node(description);
        first(self.send(request).await?.results)
    }

    /// Continues, or releases the continuation point.
    pub(crate) async fn browse_next(
        &self,
        point: &ByteString,
        release: bool,
    ) -> Result<Option<Vec<BrowseResult>>, Failed> {
        let request = BrowseNext::new(&self.session)
            .release_continuation_points(release)
            .continuation_point(point.clone());
        Ok(self.send(request).await?.results)
    }

    pub(crate) async fn read(&self, items: Vec<ReadValueId>) -> Result<Vec<DataValue>, Failed> {
        let request = Read::new(&self.session)
            .timestamps_to_return(TimestampsToReturn::Both)
            .nodes_to_read(items);
        Ok(self.send(request).await?.results.unwrap_or_default())
    }

    /// Reads a part of one Value of the Provider.
    pub(crate) async fn part(&self, path: &str, range: NumericRange) -> Result<DataValue, Failed> {
        let item = ReadValueId {
            index_range: range,
            ..attribute(self.node(path), 13)
        };
        first(Some(self.read(vec![item]).await?))
    }

    /// Reads one Value of the Provider, which must be Good.
    pub(crate) async fn value(&self, path: &str) -> Result<Variant, Failed> {
        let value = self.part(path, NumericRange::None).await?;
        expect_status(path, status(&value), StatusCode::Good)?;
        Ok(value.value.unwrap_or_default())
    }

    /// Writes one Value of the Provider.
    pub(crate) async fn write(
        &self,
        path: &str,
        value: DataValue,
        index_range: NumericRange,
    ) -> Result<StatusCode, Failed> {
        let write = WriteValue {
            node_id: self.node(path),
            attribute_id: AttributeId::Value as u32,
            index_range,
            value,
        };
        first(
            self.send(Write::new(&self.session).node(write))
                .await?
                .results,
        )
    }

    /// Writes a plain value, which must succeed.
    pub(crate) async fn set(&self, path: &str, value: impl Into<Variant>) -> Result<(), Failed> {
        let value = DataValue::value_only(value);
        let status = self.write(path, value, NumericRange::None).await?;
        expect_status(format!("Write of {path}"), status, StatusCode::Good)
    }

    /// Calls a Method of the Provider.
    pub(crate) async fn call(
        &self,
        method: &str,
        arguments: Vec<Variant>,
    ) -> Result<CallMethodResult, Failed> {
        let parents = self
            .browse(self.node(method), 0, BrowseDirection::Inverse)
            .await?;
        let object = first(parents.references)?.node_id.node_id;
        let call = (object, self.node(method), Some(arguments));
        first(
            self.send(Call::new(&self.session).method(call))
                .await?
                .results,
        )
    }

    /// Creates a Subscription whose messages are fetched by `publish`.
    pub(crate) async fn subscribe(&self) -> Result<u32, Failed> {
        let request = CreateSubscription::new(&self.session)
            .publishing_interval(Duration::from_millis(50))
            .max_lifetime_count(10_000)
            .max_keep_alive_count(20)
            .publishing_enabled(true);
        Ok(self.send(request).await?.subscription_id)
    }

    /// Creates MonitoredItems; returns their ids.
    pub(crate) async fn monitor(
        &self,
        subscription: u32,
        items: Vec<Item>,
    ) -> Result<Vec<u32>, Failed> {
        let items = items.into_iter().map(|item| MonitoredItemCreateRequest {
            item_to_monitor: attribute(self.node(item.path), 13),
            monitoring_mode: item.mode,
            requested_parameters: MonitoringParameters {
                client_handle: item.handle,
                sampling_interval: 0.0,
                filter: item
                    .filter
                    .map_or_else(ExtensionObject::null, ExtensionObject::from_message),
                queue_size: 100,
                discard_oldest: true,
            },
        });
        let request = CreateMonitoredItems::new(subscription, &self.session)
            .timestamps_to_return(TimestampsToReturn::Both)
            .items_to_create(items.collect());
        let mut ids = Vec::new();
        for item in self.send(request).await?.results {
            expect_status("an item", item.result.status_code, StatusCode::Good)?;
            ids.push(item.result.monitored_item_id);
        }
        Ok(ids)
    }

    /// Sends a Publish request and waits for its response.
    pub(crate) async fn publish(
        &self,
        acknowledged: Vec<SubscriptionAcknowledgement>,
    ) -> Result<PublishResponse, Failed> {
        self.send(Publish::new(&self.session).acks(acknowledged))
            .await
    }

    pub(crate) async fn unsubscribe(&self, subscription: u32) -> Result<(), Failed> {
        let request = DeleteSubscriptions::new(&self.session).subscription(subscription);
        let status = first(self.send(request).await?.results)?;
        expect_status("DeleteSubscriptions", status, StatusCode::Good)
    }
}

/// Returns the first result.
pub(crate) fn first<T>(results: Option<Vec<T>>) -> Result<T, Failed> {
    let first = results.into_iter().flatten().next();
    first.ok_or_else(|| Failed("no result".to_owned()))
}

/// Returns an attribute that is to be read.
pub(crate) fn attribute(node_id: NodeId, attribute_id: u32) -> ReadValueId {
    ReadValueId {
        node_id,
        attribute_id,
        index_range: NumericRange::None,
        data_encoding: QualifiedName::null(),
    }
}

pub(crate) fn status(value: &DataValue) -> StatusCode {
    value.status.unwrap_or(StatusCode::Good)
}

/// Returns the client handles and values of all MonitoredItemNotifications of a message.
pub(crate) fn changes(message: &NotificationMessage) -> Vec<(u32, Variant)> {
    let notifications = message.notification_data.iter().flatten();
    let changes = notifications.filter_map(|data| data.inner_as::<DataChangeNotification>());
    let items = changes.flat_map(|change| change.monitored_items.iter().flatten());
    items
        .map(|item| {
            (
                item.client_handle,
                item.value.value.clone().unwrap_or_default(),
            )
        })
        .collect()
}
