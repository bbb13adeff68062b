//! Tests of Subscriptions through the services, with a clock that the test advances.

mod abandoned;
mod diagnostics;
mod diagnostics_nodes;
mod durable;
mod events;
mod items;
mod methods;
mod publishing;
mod sampling;
mod sampling_budget;

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_services::Server;
use takt_space::Value;
use takt_ua::enumerations::{DataChangeTrigger, DeadbandType, MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{DataValue, ExtensionObject, NodeId, StatusCode, Variant};

use crate::common::{Client, VALUE, catch_up, decode, message, read_id};

/// A client with one Subscription, and the current time.
struct Subscriber {
    client: Client,
    server: Arc<Server>,
    now: Instant,
    id: u32,
    request_id: u32,
    /// True while a Publish request is not answered.
    is_waiting: bool,
}

/// Publishing interval of the tests' Subscriptions.
const INTERVAL: Duration = Duration::from_millis(100);

impl Subscriber {
    fn new(server: &Arc<Server>) -> Self {
        Self::of(Client::connect(server))
    }

    /// Opens a Session of this client, with a Subscription.
    fn of(mut client: Client) -> Self {
        client.create().unwrap();
        client.activate().unwrap();
        let mut subscriber = Self {
            server: Arc::clone(&client.server),
            client,
            now: Instant::now(),
            id: 0,
            request_id: 100,
            is_waiting: false,
        };
        let created = subscriber.create(|_| {}).unwrap();
        subscriber.id = created.subscription_id;
        subscriber
    }

    fn create(
        &mut self,
        change: impl FnOnce(&mut CreateSubscriptionRequest),
    ) -> Result<CreateSubscriptionResponse, StatusCode> {
        let mut request = CreateSubscriptionRequest {
            request_header: self.client.header(),
            requested_publishing_interval: INTERVAL.as_secs_f64() * 1000.0,
            requested_lifetime_count: 30,
            requested_max_keep_alive_count: 5,
            publishing_enabled: true,
            ..CreateSubscriptionRequest::default()
        };
        change(&mut request);
        let created = self.client.call(request);
        self.now = self.now.max(Instant::now());
        created
    }

    fn monitor(
        &mut self,
        items: Vec<MonitoredItemCreateRequest>,
    ) -> Result<Vec<MonitoredItemCreateResult>, StatusCode> {
        let request = CreateMonitoredItemsRequest {
            request_header: self.client.header(),
            subscription_id: self.id,
            timestamps_to_return: TimestampsToReturn::Both,
            items_to_create: items,
        };
        let created: CreateMonitoredItemsResponse = self.client.call(request)?;
        Ok(created.results)
    }

    /// Monitors one item, reported by exception if its source supports that.
    fn watch(
        &mut self,
        node_id: &NodeId,
        handle: u32,
        queue_size: u32,
    ) -> MonitoredItemCreateResult {
        let item = item(node_id, handle, queue_size);
        self.monitor(vec![item]).unwrap().remove(0)
    }

    fn send_publish(&mut self, acknowledged: &[u32]) -> Result<(), StatusCode> {
        self.request_id += 1;
        let id = self.id;
        let request = PublishRequest {
            request_header: self.client.header(),
            subscription_acknowledgements: acknowledged
                .iter()
                .map(|number| SubscriptionAcknowledgement {
                    subscription_id: id,
                    sequence_number: *number,
                })
                .collect(),
        };
        self.client.defer(&message(&request), self.request_id)
    }

    /// Returns the answer to a Publish request, if there is one.
    fn published(&mut self) -> Option<Result<PublishResponse, StatusCode>> {
        let (_, response) = self.client.connection.take_completed()?;
        Some(decode(&response))
    }

    /// Advances the time by publishing intervals.
    fn wait(&mut self, intervals: u32) {
        for _ in 0..intervals {
            self.wait_for(INTERVAL);
        }
    }

    fn wait_for(&mut self, time: Duration) {
        self.now += time;
        self.catch_up();
    }

    /// Runs all work that is due by now, slice by slice. Returns the number of slices.
    fn catch_up(&mut self) -> usize {
        catch_up(&self.server, self.now)
    }

    /// Returns the client handles and values that are published in the next interval.
    fn changes(&mut self) -> Vec<(u32, DataValue)> {
        if !self.is_waiting {
            self.send_publish(&[]).unwrap();
        }
        self.wait(1);
        let response = self.published();
        self.is_waiting = response.is_none();
        response.map_or(Vec::new(), |response| changes(&response.unwrap()))
    }

    fn values(&mut self) -> Vec<(u32, Variant)> {
        let changes = self.changes().into_iter();
        changes
            .map(|(handle, value)| (handle, value.value.unwrap_or_default()))
            .collect()
    }
}

fn item(node_id: &NodeId, handle: u32, queue_size: u32) -> MonitoredItemCreateRequest {
    MonitoredItemCreateRequest {
        item_to_monitor: read_id(node_id.clone(), VALUE),
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            client_handle: handle,
            queue_size,
            discard_oldest: true,
            ..MonitoringParameters::default()
        },
    }
}

fn filtered(
    node_id: &NodeId,
    trigger: DataChangeTrigger,
    deadband: DeadbandType,
    value: f64,
) -> MonitoredItemCreateRequest {
    let filter = DataChangeFilter {
        trigger,
        deadband_type: u32::try_from(deadband.0).unwrap(),
        deadband_value: value,
    };
    let mut item = item(node_id, 1, 10);
    item.requested_parameters.filter = ExtensionObject::from_structure(&filter);
    item
}

fn changes(response: &PublishResponse) -> Vec<(u32, DataValue)> {
    let data = &response.notification_message.notification_data;
    let data = data.iter().map(|object| {
        let change: DataChangeNotification = object.decode_as().unwrap();
        change
    });
    data.flat_map(|data| data.monitored_items)
        .map(|item| (item.client_handle, item.value))
        .collect()
}

fn status_change(response: &PublishResponse) -> StatusCode {
    let [object] = &response.notification_message.notification_data[..] else {
        panic!("one notification");
    };
    let change: StatusChangeNotification = object.decode_as().unwrap();
    change.status
}

/// Adds a Variable below Objects.
fn variable(server: &Server, name: &str, value: &Value) -> NodeId {
    let space = server.address_space();
    space.add_variable(name).value(value.clone()).add().unwrap()
}

fn set(value: &Value, new: impl Into<Variant>) {
    match value {
        Value::Stored(stored) => stored.set(new),
        _ => panic!("not stored"),
    }
}
