//! The checks with Events and history.

use std::time::Duration;

use opcua::client::{EventCallback, HistoryReadAction};
use opcua::types::{
    AttributeId, ByteString, CallMethodRequest, ContentFilter, DateTime, EventFilter,
    ExtensionObject, HistoryData, HistoryReadValueId, LocalizedText, MethodId,
    MonitoredItemCreateRequest, MonitoringMode, MonitoringParameters, NodeId, NumericRange,
    ObjectId, ObjectTypeId, QualifiedName, ReadRawModifiedDetails, SimpleAttributeOperand,
    StatusCode, TimestampsToReturn, Variant,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::session::{PATIENCE, Session, attribute, first};
use crate::{Counted, Failed, Task, expect, expect_status};

/// Selected fields: an empty path is the NodeId of the Condition.
const FIELDS: [&str; 8] = [
    "EventType",
    "ConditionName",
    "Severity",
    "Retain",
    "EventId",
    "",
    "AckedState/Id",
    "ConfirmedState/Id",
];

fn operand(path: &str) -> SimpleAttributeOperand {
    let (of_type, id) = match path {
        "" => (ObjectTypeId::ConditionType, AttributeId::NodeId),
        _ => (ObjectTypeId::BaseEventType, AttributeId::Value),
    };
    let names = path.split('/').filter(|name| !name.is_empty());
    SimpleAttributeOperand {
        type_definition_id: of_type.into(),
        browse_path: Some(names.map(|name| QualifiedName::new(0, name)).collect()),
        attribute_id: id as u32,
        index_range: NumericRange::None,
    }
}

/// Waits for an Event.
async fn wait(
    events: &mut UnboundedReceiver<Vec<Variant>>,
    wanted: impl Fn(&[Variant]) -> bool,
) -> Result<Vec<Variant>, Failed> {
    loop {
        match timeout(PATIENCE, events.recv()).await? {
            Some(fields) if wanted(&fields) => return Ok(fields),
            Some(_) => {}
            None => return Err(Failed("the Subscription has ended".to_owned())),
        }
    }
}

async fn call(
    session: &Session,
    object: NodeId,
    method: MethodId,
    arguments: Vec<Variant>,
) -> Result<(), Failed> {
    let request = CallMethodRequest {
        object_id: object,
        method_id: method.into(),
        input_arguments: Some(arguments),
    };
    let called = session.session.call_one(request).await?;
    expect_status(format!("{method:?}"), called.status_code, StatusCode::Good)
}

/// The library's own Subscription gets an active alarm after a refresh; the alarm is acknowledged and confirmed.
pub(crate) async fn event(task: &Task) -> Counted {
    let session = task.session().await?;
    let (sender, mut events) = unbounded_channel();
    let callback = EventCallback::new(move |fields, _| {
        let _ = sender.send(fields.unwrap_or_default());
    });
    let interval = Duration::from_millis(50);
    let own = &session.session;
    let id = own.create_subscription(interval, 10_000, 20, 0, 0, true, callback);
    let id = id.await?;
    let filter = EventFilter {
        select_clauses: Some(FIELDS.map(operand).to_vec()),
        where_clause: ContentFilter::default(),
    };
    let item = MonitoredItemCreateRequest {
        item_to_monitor: attribute(ObjectId::Server.into(), AttributeId::EventNotifier as u32),
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            client_handle: 1,
            sampling_interval: 0.0,
            filter: ExtensionObject::from_message(filter),
            queue_size: 100,
            discard_oldest: true,
        },
    };
    let created = own.create_monitored_items(id, TimestampsToReturn::Both, vec![item]);
    let status = first(Some(created.await?))?.result.status_code;
    expect_status("the item", status, StatusCode::Good)?;
    let refresh = MethodId::ConditionType_ConditionRefresh;
    let condition_type = ObjectTypeId::ConditionType.into();
    call(&session, condition_type, refresh, vec![id.into()]).await?;
    let is =
        |fields: &[Variant], kind: ObjectTypeId| fields[0] == Variant::from(NodeId::from(kind));
    let name = Variant::from(task.field("start"));
    let is_alarm = |fields: &[Variant]| fields[1] == name;
    // The registry knows an alarm when it has subscribed to its Provider, which may be after the refresh.
    let (mut begun, mut ended, mut alarm) = (false, false, None);
    let alarm = loop {
        let fields = wait(&mut events, |_| true).await?;
        begun |= is(&fields, ObjectTypeId::RefreshStartEventType);
        ended |= begun && is(&fields, ObjectTypeId::RefreshEndEventType);
        if is_alarm(&fields) {
            alarm = Some(fields);
        }
        if begun
            && ended
            && let Some(alarm) = alarm.take()
        {
            break alarm;
        }
    };
    let is_active =
        matches!(alarm[2], Variant::UInt16(500..)) && alarm[3] == Variant::Boolean(true);
    expect(is_active, || format!("the alarm: {alarm:?}"))?;
    let Variant::NodeId(condition) = &alarm[5] else {
        return Err(Failed(format!("the alarm: {alarm:?}")));
    };
    let comment = Variant::from(LocalizedText::new("en", "by async-opcua"));
    let mut last = alarm[4].clone();
    for (method, state) in [
        (MethodId::AcknowledgeableConditionType_Acknowledge, 6),
        (MethodId::AcknowledgeableConditionType_Confirm, 7),
    ] {
        let arguments = vec![last, comment.clone()];
        call(&session, condition.as_ref().clone(), method, arguments).await?;
        let response = wait(&mut events, |fields| {
            is_alarm(fields) && fields[state] == Variant::Boolean(true)
        });
        last = response.await?[4].clone();
    }
    own.delete_subscription(id).await?;
    Ok(5)
}

/// Raw values of the Variable `Start`: the last three are 100, 200 and 300. They come in pages, too.
pub(crate) async fn history(task: &Task) -> Counted {
    let session = task.session().await?;
    let node = task.start()?;
    let (whole, _) = read(&session, &node, 0, ByteString::null()).await?;
    let last = &whole[whole.len().saturating_sub(3)..];
    let expected = [100.0, 200.0, 300.0].map(Variant::Double);
    expect(*last == expected, || format!("{last:?}"))?;
    let (mut pages, mut point) = (Vec::new(), ByteString::null());
    loop {
        let (page, next) = read(&session, &node, 2, point).await?;
        pages.extend(page);
        if next.is_null_or_empty() {
            break;
        }
        point = next;
    }
    expect(pages == whole, || format!("{pages:?} instead of {whole:?}"))?;
    Ok(whole.len())
}

/// Returns a page of values, and the continuation point.
async fn read(
    session: &Session,
    node: &NodeId,
    most: u32,
    continuation_point: ByteString,
) -> Result<(Vec<Variant>, ByteString), Failed> {
    let now = DateTime::now();
    let details = HistoryReadAction::ReadRawModifiedDetails(ReadRawModifiedDetails {
        is_read_modified: false,
        start_time: (now.ticks() - 36_000_000_000).into(),
        end_time: (now.ticks() + 600_000_000).into(),
        num_values_per_node: most,
        return_bounds: false,
    });
    let item = HistoryReadValueId {
        node_id: node.clone(),
        index_range: NumericRange::None,
        data_encoding: QualifiedName::null(),
        continuation_point,
    };
    let both = TimestampsToReturn::Both;
    let items = [item];
    let results = session.session.history_read(details, both, false, &items);
    let result = first(Some(results.await?))?;
    expect_status("HistoryRead", result.status_code, StatusCode::Good)?;
    let data = result.history_data.inner_as::<HistoryData>();
    let data = data.ok_or("no HistoryData")?;
    let values = data.data_values.iter().flatten();
    let values = values.map(|value| value.value.clone().unwrap_or_default());
    Ok((values.collect(), result.continuation_point))
}
