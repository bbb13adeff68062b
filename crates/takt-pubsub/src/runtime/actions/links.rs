//! Links of Actions (OPC 10000-14, 7.3.4.7.9 and 7.3.4.7.10).

use takt_link::{Content, LinkOptions, MqttMessageType, TopicTree};
use takt_ua::structures::{
    BrokerWriterGroupTransportDataType, JsonWriterGroupMessageDataType, PubSubConnectionDataType,
    WriterGroupDataType,
};
use takt_wire::PublisherId;

use crate::error::{ConfigurationError, ConfigurationProblem};
use crate::runtime::links::{LinkPlan, writer_group_link};

/// Links of a Responder.
#[derive(Debug, Clone)]
pub struct ActionLinks {
    /// Link of requests.
    pub request: LinkPlan,
    /// Link of responses to requests without a response address; `None`: such requests are not answered.
    pub response: Option<LinkPlan>,
}

/// Returns the links of a Responder's WriterGroup. With a broker, requests come to its QueueName, or else to the topic
/// `action-request` of the standard's tree, and responses go to `action-response` (OPC 10000-14, 7.3.4.7.9 and 7.3.4.7.10). With
/// multicast, responses go to the address of the requests.
///
/// # Errors
/// The address is invalid.
pub fn action_links(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    base: &LinkOptions,
) -> Result<ActionLinks, ConfigurationError> {
    let mut request = writer_group_link(connection, group, base)?;
    // Responses are sent at any time, and not in the intervals of a group.
    request.options.launch_times = None;
    if !request.address.has_topics() {
        let response = Some(request.clone()).filter(LinkPlan::is_shared);
        return Ok(ActionLinks { request, response });
    }
    let settings: Option<BrokerWriterGroupTransportDataType> =
        group.transport_settings.decode_as().ok();
    let queue = settings.map(|settings| settings.queue_name);
    let queue = queue.filter(|queue| !queue.as_str().is_empty());
    let is_json = group
        .message_settings
        .is::<JsonWriterGroupMessageDataType>();
    let content = if is_json {
        Content::Json
    } else {
        Content::Uadp
    };
    let publisher_id = PublisherId::from_variant(&connection.publisher_id);
    let publisher_id = publisher_id.map(|id| id.to_string()).unwrap_or_default();
    let topic = |kind| {
        let tree = TopicTree::new(takt_link::DEFAULT_PREFIX, content);
        let topic =
            tree.and_then(|it| it.topic(kind, &publisher_id, Some(group.name.as_str()), None));
        topic.map_err(|error| {
            ConfigurationProblem::parameter("QueueName", error.to_string()).at(group.name.as_str())
        })
    };
    let mut response = request.clone();
    request.options.mqtt.topic = match queue {
        Some(queue) => queue.to_string(),
        None => topic(MqttMessageType::ActionRequest)?,
    };
    response.options.mqtt.topic = topic(MqttMessageType::ActionResponse)?;
    // The quality of service is AtLeastOnce or better (OPC 10000-14, 6.2.11.2.3).
    for plan in [&mut request, &mut response] {
        plan.options.mqtt.quality_of_service = plan.options.mqtt.quality_of_service.max(1);
    }
    Ok(ActionLinks {
        request,
        response: Some(response),
    })
}
