//! Requestors and Responders of this project that are connected only by a broker.

use std::time::{Duration, Instant};

use takt_pubsub::action::{ActionCall, ActionHandler, ActionMapping, ActionOutcome, Requestor};
use takt_pubsub::runtime::{
    ActionClient, ActionCompleter, RunningResponders, RuntimeOptions, action_links, meta_data_links,
};
use takt_ua::structures::{
    BrokerDataSetWriterTransportDataType, NetworkAddressUrlDataType, WriterGroupDataType,
};
use takt_ua::{ExtensionObject, Variant};
use takt_wire::PublisherId;

use crate::mosquitto::Broker;
use crate::mosquitto::common::PATIENCE;
use crate::mosquitto::drill::configuration;

/// The Requestor learns of the Action from messages that the broker has retained, and requests it by the topics of
/// the standard's tree.
#[test]
fn actions_are_requested_by_way_of_a_broker() {
    let broker = Broker::start("allow_anonymous true");
    for mapping in [ActionMapping::Uadp, ActionMapping::Json] {
        let mut configuration = configuration(mapping, Duration::ZERO);
        let connection = &mut configuration.connections[0];
        connection.address = ExtensionObject::from_structure(&NetworkAddressUrlDataType {
            url: format!("mqtt://127.0.0.1:{}", broker.port).as_str().into(),
            ..NetworkAddressUrlDataType::default()
        });
        let queues = BrokerDataSetWriterTransportDataType {
            meta_data_queue_name: format!("machine/{mapping:?}").as_str().into(),
            ..BrokerDataSetWriterTransportDataType::default()
        };
        connection.writer_groups[0].data_set_writers[0].transport_settings =
            ExtensionObject::from_structure(&queues);
        let mut handlers = |_: &WriterGroupDataType, _: ActionCompleter| {
            let handler = |call: ActionCall<'_>| match call.arguments {
                [Variant::Double(depth), _] => {
                    ActionOutcome::Done(vec![Variant::Double(depth * 2.0)])
                }
                other => panic!("{other:?}"),
            };
            Box::new(handler) as Box<dyn ActionHandler + Send>
        };
        let options = RuntimeOptions::default();
        let _running = RunningResponders::start(&configuration, &mut handlers, &options).unwrap();

        let connection = &configuration.connections[0];
        let group = &connection.writer_groups[0];
        let links = action_links(connection, group, &options.link).unwrap();
        let kept = meta_data_links(connection, group, &options.link).unwrap();
        let requestor = || {
            let me = PublisherId::String("HMI".into());
            Requestor::new(PublisherId::UInt16(17), me, mapping, 5)
        };
        let mut listening = ActionClient::new(requestor(), &links.request, &kept[0].1).unwrap();
        let deadline = Instant::now() + PATIENCE;
        while listening.requestor().actions().is_empty() {
            assert!(Instant::now() < deadline, "the broker has kept nothing");
            listening.step(Duration::from_millis(10));
        }
        let mut requestor = requestor();
        requestor.learn(listening.requestor().actions()[0].clone());
        let response = links.response.as_ref().unwrap();
        let mut client = ActionClient::new(requestor, &links.request, response).unwrap();
        let arguments = || vec![Variant::Double(2.5), Variant::UInt32(1)];
        // Nothing arrives before both have subscribed.
        let deadline = Instant::now() + PATIENCE;
        let results = loop {
            match client.call(8, 3, arguments(), Duration::from_secs(1)) {
                Ok(results) => break results,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
        };
        assert_eq!(results, [Variant::Double(5.0)], "{mapping:?}");
    }
}
