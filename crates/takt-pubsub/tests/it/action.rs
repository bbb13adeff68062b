//! Running Responders, and Requestors that send them requests over UDP.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use takt_link::LinkOptions;
use takt_pubsub::action::{ActionCall, ActionHandler, ActionMapping, ActionOutcome, Requestor};
use takt_pubsub::runtime::{
    ActionCallError, ActionClient, ActionCompleter, LinkPlan, PubSub, RunningResponders,
    RuntimeOptions,
};
use takt_pubsub::subscriber::SubscriberObserver;
use takt_ua::structures::{
    DatagramConnectionTransport2DataType, NetworkAddressUrlDataType, PubSubConfiguration2DataType,
    PubSubConnectionDataType, WriterGroupDataType,
};
use takt_ua::{ExtensionObject, StatusCode, Variant};
use takt_wire::PublisherId;

/// Longest wait for an expected event, which usually happens long before.
const PATIENCE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(20);

fn address(url: &str) -> ExtensionObject {
    ExtensionObject::from_structure(&NetworkAddressUrlDataType {
        network_interface: "127.0.0.1".into(),
        url: url.into(),
    })
}

fn plan(url: &str) -> LinkPlan {
    LinkPlan {
        address: url.parse().unwrap(),
        options: LinkOptions {
            interface: Some("127.0.0.1".to_owned()),
            ..LinkOptions::default()
        },
    }
}

fn configuration(mapping: ActionMapping, url: &str) -> PubSubConfiguration2DataType {
    let mut configuration = crate::drill::configuration(mapping, INTERVAL);
    configuration.connections[0].address = address(url);
    configuration
}

/// Starts a Responder that divides; longer divisions are done on another thread.
fn start(configuration: &PubSubConfiguration2DataType) -> RunningResponders {
    let mut handlers = |_: &WriterGroupDataType, completer: ActionCompleter| {
        let handler = move |call: ActionCall<'_>| match call.arguments {
            [Variant::Double(_), Variant::UInt32(0)] => {
                ActionOutcome::Failed(StatusCode::BadOutOfRange)
            }
            [Variant::Double(depth), Variant::UInt32(speed)] => {
                let results = vec![Variant::Double(depth / f64::from(*speed))];
                if *speed > 5 {
                    return ActionOutcome::Done(results);
                }
                let (completer, ticket) = (completer.clone(), call.ticket);
                std::thread::spawn(move || {
                    std::thread::sleep(INTERVAL);
                    completer.complete(ticket, Ok(results))
                });
                ActionOutcome::Executing
            }
            _ => ActionOutcome::Failed(StatusCode::BadInternalError),
        };
        Box::new(handler) as Box<dyn ActionHandler + Send>
    };
    RunningResponders::start(configuration, &mut handlers, &RuntimeOptions::default()).unwrap()
}

fn requestor(mapping: ActionMapping) -> Requestor {
    let me = PublisherId::String("HMI".into());
    Requestor::new(PublisherId::UInt16(17), me, mapping, 5).with_publishing_interval(INTERVAL)
}

fn check(client: &mut ActionClient) {
    let mut call = |depth, speed| {
        let arguments = vec![Variant::Double(depth), Variant::UInt32(speed)];
        client.call(8, 3, arguments, PATIENCE)
    };
    assert_eq!(call(10.0, 10).unwrap(), [Variant::Double(1.0)]);
    assert_eq!(call(10.0, 4).unwrap(), [Variant::Double(2.5)]);
    let error = call(10.0, 0).unwrap_err();
    assert!(matches!(
        error,
        ActionCallError::Failed(StatusCode::BadOutOfRange)
    ));
}

#[test]
fn a_multicast_group_carries_requests_and_responses_and_discovery_tells_of_them() {
    let urls =
        [1, 2].map(|group| format!("opc.udp://239.255.44.{group}:{}", takt_ports::reserve()));
    let [data, discovery] = urls.each_ref().map(String::as_str);
    let mut configuration = configuration(ActionMapping::Uadp, data);
    configuration.connections[0].transport_settings =
        ExtensionObject::from_structure(&DatagramConnectionTransport2DataType {
            discovery_address: address(discovery),
            discovery_announce_rate: 1,
            ..DatagramConnectionTransport2DataType::default()
        });
    let _responders = start(&configuration);
    // Announcements come from the PubSub of the same configuration, which publishes nothing of this group.
    let mut nobody =
        |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
    let mut source = |_: takt_pubsub::publisher::PublishedField<'_>| None;
    let mut target = std::collections::HashMap::new();
    let options = RuntimeOptions::default();
    let running = PubSub::start(
        &configuration,
        &mut source,
        &mut target,
        &mut nobody,
        &options,
    );
    let running = running.unwrap();
    assert_eq!(running.writer_groups().count(), 0);

    let mapping = ActionMapping::Uadp;
    let (data, discovery) = (plan(data), plan(discovery));
    let mut listening = ActionClient::new(requestor(mapping), &data, &discovery).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while listening.requestor().actions().is_empty() {
        assert!(Instant::now() < deadline, "nothing was announced");
        listening.step(INTERVAL);
    }
    let known = listening.requestor().actions()[0].clone();
    let mut requestor = requestor(mapping);
    requestor.learn(known);
    let mut client = ActionClient::new(requestor, &data, &data).unwrap();
    check(&mut client);
}

#[test]
fn responses_go_where_the_requestor_wants_them() {
    let [request, response] =
        [(); 2].map(|()| format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()));
    for mapping in [ActionMapping::Uadp, ActionMapping::Json] {
        let configuration = configuration(mapping, &request);
        let _responders = start(&configuration);
        let connection = &configuration.connections[0];
        let writer = &connection.writer_groups[0].data_set_writers[0];
        let data_sets = &configuration.published_data_sets;
        let mut requestor = requestor(mapping).with_response_address(&response);
        let known = takt_pubsub::action::PublishedAction::of_writer(writer, data_sets);
        requestor.learn(known.unwrap());
        let mut client = ActionClient::new(requestor, &plan(&request), &plan(&response)).unwrap();
        check(&mut client);
    }
}

#[test]
fn messages_that_are_not_understood_are_counted_and_told() {
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let responders = start(&configuration(ActionMapping::Uadp, &url));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let deadline = Instant::now() + PATIENCE;
    // A UADPVersion that does not exist.
    while responders.responders().all(|it| it.statistics.errors == 0) {
        assert!(Instant::now() < deadline, "nothing is counted");
        let address = url.strip_prefix("opc.udp://").unwrap();
        socket.send_to(&[0x0F, 1, 2, 3], address).unwrap();
        std::thread::sleep(INTERVAL);
    }
    let problem = responders.problems().remove(0);
    assert_eq!(&*problem.component, "Machine/Tools");
    assert!(problem.cause.to_string().contains("UADPVersion 15"));
    let states: Vec<_> = responders.responders().map(|it| it.name).collect();
    assert_eq!(states, ["Machine/Tools"]);
}
