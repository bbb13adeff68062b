//! The checks with Subscriptions.

use std::time::{Duration, Instant};

use opcua::client::DataChangeCallback;
use opcua::client::services::{Republish, SetTriggering, TransferSubscriptions};
use opcua::types::{
    DataChangeFilter, DataChangeTrigger, DataValue, MonitoredItemCreateRequest, MonitoringMode,
    NumericRange, StatusChangeNotification, StatusCode, SubscriptionAcknowledgement,
    TimestampsToReturn, Variant,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::session::{Item, PATIENCE, Session, changes, first};
use crate::{Counted, Failed, Task, expect, expect_status};

const LEVEL: &str = "Watched/Level";
const TRIGGER: &str = "Watched/Trigger";
const LINKED: &str = "Watched/Linked";

/// An id that no Subscription, no message and no item has.
const UNKNOWN: u32 = 4_000_000;

/// The library's own Subscription with one item.
struct Own {
    id: u32,
    values: UnboundedReceiver<Variant>,
}

impl Own {
    async fn create(session: &Session, path: &str) -> Result<Self, Failed> {
        let (sender, values) = unbounded_channel();
        let callback = DataChangeCallback::new(move |value: DataValue, _| {
            let _ = sender.send(value.value.unwrap_or_default());
        });
        let interval = Duration::from_millis(50);
        let id = session
            .session
            .create_subscription(interval, 10_000, 20, 0, 0, true, callback)
            .await?;
        let mut item = MonitoredItemCreateRequest::from(session.node(path));
        item.requested_parameters.sampling_interval = 0.0;
        item.requested_parameters.queue_size = 100;
        let created = session
            .session
            .create_monitored_items(id, TimestampsToReturn::Both, vec![item])
            .await?;
        let status = first(Some(created))?.result.status_code;
        expect_status("the item", status, StatusCode::Good)?;
        Ok(Self { id, values })
    }

    async fn wait(&mut self, wanted: impl Fn(&Variant) -> bool) -> Result<(), Failed> {
        loop {
            let value = timeout(PATIENCE, self.values.recv()).await?;
            match value {
                Some(value) if wanted(&value) => return Ok(()),
                Some(_) => {}
                None => return Err(Failed("the Subscription has ended".to_owned())),
            }
        }
    }

    async fn wait_for(&mut self, value: f64) -> Result<(), Failed> {
        self.wait(|found| *found == Variant::Double(value)).await
    }
}

/// The library's own Subscription gets each value that is written.
pub(crate) async fn subscription(task: &Task) -> Counted {
    let session = task.session().await?;
    session.set(LEVEL, 0.0).await?;
    let mut own = Own::create(&session, LEVEL).await?;
    own.wait_for(0.0).await?;
    for value in [1.5, 2.5, 3.5] {
        session.set(LEVEL, value).await?;
        own.wait_for(value).await?;
    }
    let deleted = session.session.delete_subscription(own.id).await?;
    expect_status("DeleteSubscriptions", deleted, StatusCode::Good)?;
    Ok(4)
}

/// A Subscription with items, whose messages are acknowledged.
struct Watch<'a> {
    session: &'a Session,
    id: u32,
    items: Vec<u32>,
    seen: Vec<(u32, Variant)>,
    acknowledged: Vec<SubscriptionAcknowledgement>,
}

impl<'a> Watch<'a> {
    async fn create(session: &'a Session, items: Vec<Item>) -> Result<Self, Failed> {
        let id = session.subscribe().await?;
        let items = session.monitor(id, items).await?;
        Ok(Self {
            session,
            id,
            items,
            seen: Vec::new(),
            acknowledged: Vec::new(),
        })
    }

    /// Waits for one message.
    async fn collect(&mut self) -> Result<(), Failed> {
        let response = self
            .session
            .publish(std::mem::take(&mut self.acknowledged))
            .await?;
        for result in response.results.into_iter().flatten() {
            expect_status("acknowledgement", result, StatusCode::Good)?;
        }
        let found = changes(&response.notification_message);
        // A keep-alive message has no number of its own.
        if !found.is_empty() {
            let number = response.notification_message.sequence_number;
            self.acknowledged.push(acknowledge(self.id, number));
        }
        self.seen.extend(found);
        Ok(())
    }

    async fn wait_for(&mut self, handle: u32, value: impl Into<Variant>) -> Result<(), Failed> {
        let change = (handle, value.into());
        let started = Instant::now();
        while !self.seen.contains(&change) {
            expect(started.elapsed() < PATIENCE, || {
                format!("{change:?} is not among {:?}", self.seen)
            })?;
            self.collect().await?;
        }
        Ok(())
    }
}

fn acknowledge(subscription_id: u32, sequence_number: u32) -> SubscriptionAcknowledgement {
    SubscriptionAcknowledgement {
        subscription_id,
        sequence_number,
    }
}

/// An AbsoluteDeadband and a PercentDeadband suppress small changes.
pub(crate) async fn deadband(task: &Task) -> Counted {
    let session = task.session().await?;
    let mut done = 0;
    for (kind, reported) in [(1, vec![0.0, 11.0, 22.0]), (2, vec![0.0, 22.0])] {
        session.set(LEVEL, 0.0).await?;
        let filter = DataChangeFilter {
            trigger: DataChangeTrigger::StatusValue,
            deadband_type: kind,
            deadband_value: 10.0,
        };
        let filtered = Item {
            filter: Some(filter),
            ..Item::new(1, LEVEL, MonitoringMode::Reporting)
        };
        let items = vec![filtered, Item::new(2, LEVEL, MonitoringMode::Reporting)];
        let mut watch = Watch::create(&session, items).await?;
        watch.wait_for(1, 0.0).await?;
        for value in [5.0, 9.0, 11.0, 15.0, 22.0] {
            session.set(LEVEL, value).await?;
            let handle = if reported.contains(&value) { 1 } else { 2 };
            watch.wait_for(handle, value).await?;
            done += 1;
        }
        let found: Vec<_> = watch
            .seen
            .iter()
            .filter(|(handle, _)| *handle == 1)
            .collect();
        let expected: Vec<_> = reported
            .iter()
            .map(|value| (1, Variant::Double(*value)))
            .collect();
        expect(found.iter().copied().eq(&expected), || {
            format!("{kind}: {found:?}")
        })?;
        session.unsubscribe(watch.id).await?;
    }
    Ok(done)
}

/// An item in the mode Sampling is reported when the item changes that triggers it.
pub(crate) async fn triggering(task: &Task) -> Counted {
    let session = task.session().await?;
    session.set(TRIGGER, 0_u32).await?;
    session.set(LINKED, 0_u32).await?;
    let items = vec![
        Item::new(1, TRIGGER, MonitoringMode::Reporting),
        Item::new(2, LINKED, MonitoringMode::Sampling),
        Item::new(3, LINKED, MonitoringMode::Reporting),
    ];
    let mut watch = Watch::create(&session, items).await?;
    let request = SetTriggering::new(watch.id, watch.items[0], &session.session)
        .links_to_add(vec![watch.items[1], UNKNOWN]);
    let added = session.send(request).await?.add_results;
    let expected = Some(vec![
        StatusCode::Good,
        StatusCode::BadMonitoredItemIdInvalid,
    ]);
    expect(added == expected, || format!("{added:?}"))?;
    watch.wait_for(1, 0_u32).await?;
    session.set(LINKED, 7_u32).await?;
    watch.wait_for(3, 7_u32).await?;
    let reported = (2, Variant::UInt32(7));
    expect(!watch.seen.contains(&reported), || {
        "reported before the trigger".to_owned()
    })?;
    // The sample of the linked item may be later than that of the trigger.
    let (started, mut number) = (Instant::now(), 0_u32);
    while !watch.seen.contains(&reported) {
        expect(started.elapsed() < PATIENCE, || {
            format!("not reported: {:?}", watch.seen)
        })?;
        number += 1;
        session.set(TRIGGER, number).await?;
        watch.wait_for(1, number).await?;
    }
    session.unsubscribe(watch.id).await?;
    Ok(3)
}

/// A message is sent again until it is acknowledged.
pub(crate) async fn republish(task: &Task) -> Counted {
    let session = task.session().await?;
    let id = session.subscribe().await?;
    session
        .monitor(id, vec![Item::new(1, LEVEL, MonitoringMode::Reporting)])
        .await?;
    let sent = session.publish(Vec::new()).await?;
    let message = &sent.notification_message;
    let number = message.sequence_number;
    expect(!changes(message).is_empty(), || {
        "the first message has no change".to_owned()
    })?;
    let available = sent.available_sequence_numbers == Some(vec![number]);
    expect(available, || {
        format!("{:?}", sent.available_sequence_numbers)
    })?;
    let request = || Republish::new(id, number, &session.session);
    let again = session.send(request()).await?.notification_message;
    expect(again.sequence_number == number, || format!("{again:?}"))?;
    expect(changes(&again) == changes(message), || format!("{again:?}"))?;
    let second = session
        .publish(vec![acknowledge(id, number), acknowledge(id, UNKNOWN)])
        .await?;
    let expected = Some(vec![StatusCode::Good, StatusCode::BadSequenceNumberUnknown]);
    expect(second.results == expected, || {
        format!("{:?}", second.results)
    })?;
    use opcua::client::UARequest as _;
    match request().send(session.session.channel()).await {
        Ok(_) => return Err(Failed("an acknowledged message is sent again".to_owned())),
        Err(error) => {
            let unavailable = StatusCode::BadMessageNotAvailable;
            expect_status("Republish", error.status(), unavailable)?;
        }
    }
    session.unsubscribe(id).await?;
    Ok(4)
}

/// Another Session takes over a Subscription, with its first values.
pub(crate) async fn transfer(task: &Task) -> Counted {
    let (first, second) = (task.session().await?, task.session().await?);
    let id = first.subscribe().await?;
    first
        .monitor(id, vec![Item::new(1, LEVEL, MonitoringMode::Reporting)])
        .await?;
    let sent = first.publish(Vec::new()).await?;
    let has_change =
        |sent: &opcua::types::PublishResponse| !changes(&sent.notification_message).is_empty();
    expect(has_change(&sent), || {
        "the first message has no change".to_owned()
    })?;
    let request = TransferSubscriptions::new(&second.session)
        .subscription_ids(vec![id, UNKNOWN])
        .send_initial_values(true);
    let results = second.send(request).await?.results.unwrap_or_default();
    let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    let expected = [StatusCode::Good, StatusCode::BadSubscriptionIdInvalid];
    expect(statuses == expected, || format!("{statuses:?}"))?;
    let received = second.publish(Vec::new()).await?;
    expect(received.subscription_id == id, || format!("{received:?}"))?;
    expect(has_change(&received), || {
        "no first value after the transfer".to_owned()
    })?;
    let told = first
        .publish(Vec::new())
        .await?
        .notification_message
        .notification_data;
    let told = told.into_iter().flatten().next();
    let status = told
        .as_ref()
        .and_then(|told| told.inner_as::<StatusChangeNotification>());
    let transferred = StatusCode::GoodSubscriptionTransferred;
    expect(
        status.is_some_and(|change| change.status == transferred),
        || format!("{told:?}"),
    )?;
    second.unsubscribe(id).await?;
    Ok(4)
}

/// A server that is killed and started again is used again: the library connects by itself.
pub(crate) async fn restart(task: &Task) -> Counted {
    let session = task.session().await?;
    let mut own = Own::create(&session, "Values/Double").await?;
    own.wait_for(2.5).await?;
    task.want("restart").await?;
    let started = Instant::now();
    loop {
        let value = DataValue::value_only(4.5);
        let failure = match session
            .write("Values/Double", value, NumericRange::None)
            .await
        {
            Ok(StatusCode::Good) => break,
            Ok(status) => status.to_string(),
            Err(Failed(error)) => error,
        };
        expect(started.elapsed() < PATIENCE, || {
            format!("not there again: {failure}")
        })?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The library creates the Subscription again, perhaps later than this, but sends no Publish request for it.
    loop {
        session.session.trigger_publish_now();
        if let Ok(waited) = timeout(Duration::from_secs(1), own.wait_for(4.5)).await {
            waited?;
            break;
        }
        expect(started.elapsed() < PATIENCE, || {
            "no value after the restart".to_owned()
        })?;
    }
    session.set("Values/Double", 2.5).await?;
    own.wait_for(2.5).await?;
    Ok(3)
}

/// The demonstration's Machine is started, watched and stopped.
pub(crate) async fn machine(task: &Task) -> Counted {
    let session = task.session().await?;
    session.set("Spindle/SpeedSetpoint", 3000.0).await?;
    let mut own = Own::create(&session, "Spindle/Speed").await?;
    let call = async |method, expected| {
        let status = session.call(method, Vec::new()).await?.status_code;
        expect_status(method, status, expected)
    };
    call("Start", StatusCode::Good).await?;
    own.wait(|speed| matches!(speed, Variant::Double(1000.0..)))
        .await?;
    call("Start", StatusCode::BadInvalidState).await?;
    let fast = DataValue::value_only(1e9);
    let refused = session
        .write("Spindle/SpeedSetpoint", fast, NumericRange::None)
        .await?;
    expect_status("1e9", refused, StatusCode::BadOutOfRange)?;
    call("Stop", StatusCode::Good).await?;
    Ok(5)
}
