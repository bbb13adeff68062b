//! Requestors and Responders that exchange messages, some of which are lost.

use std::time::{Duration, Instant};

use takt_pubsub::Now;
use takt_pubsub::action::{
    ActionCall, ActionEvent, ActionMapping, ActionOutcome, ActionTicket, PublishedAction,
    RequestError, Requestor, Responder,
};
use takt_pubsub::discovery::{AnnouncedApplication, Announcer};
use takt_ua::structures::PubSubConfiguration2DataType;
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};
use takt_wire::{
    AnnouncementContent, NetworkMessageRef, PayloadParameters, PayloadRef, PublisherId,
};

use crate::drill::{configuration, fields};

const INTERVAL: Duration = Duration::from_millis(50);
const TIMEOUT: Duration = Duration::from_secs(5);

fn responder(configuration: &PubSubConfiguration2DataType) -> Responder {
    let connection = &configuration.connections[0];
    let group = &connection.writer_groups[0];
    Responder::new(connection, group, &configuration.published_data_sets, 1).unwrap()
}

fn requestor(mapping: ActionMapping, responder: &Responder) -> Requestor {
    let id = PublisherId::UInt16(17);
    let mut requestor = Requestor::new(id, PublisherId::String("HMI".into()), mapping, 99);
    requestor.learn(responder.actions()[0].clone());
    requestor
}

fn at(start: Instant, milliseconds: u64) -> Now {
    Now {
        instant: start + Duration::from_millis(milliseconds),
        date_time: DateTime::MIN,
    }
}

fn drill() -> Vec<Variant> {
    vec![Variant::Double(2.5), Variant::UInt32(10)]
}

/// Handler of the drill, which counts its calls.
#[derive(Default)]
struct Drill {
    calls: usize,
    later: bool,
    ticket: Option<ActionTicket>,
}

impl takt_pubsub::action::ActionHandler for Drill {
    fn execute(&mut self, call: ActionCall<'_>) -> ActionOutcome {
        self.calls += 1;
        self.ticket = Some(call.ticket);
        assert_eq!(call.action_target.name, "Left");
        assert_eq!(call.requestor_id.unwrap().to_string(), "HMI");
        match (call.arguments, self.later) {
            (_, true) => ActionOutcome::Executing,
            ([Variant::Double(depth), Variant::UInt32(speed)], false) if *speed > 0 => {
                ActionOutcome::Done(vec![Variant::Double(depth / f64::from(*speed))])
            }
            _ => ActionOutcome::Failed(StatusCode::BadOutOfRange),
        }
    }
}

fn ask(requestor: &mut Requestor, now: Now) -> u16 {
    requestor.request(now, 8, 3, drill(), TIMEOUT).unwrap()
}

/// Replaces a Double of a message by a value that cannot be decoded.
fn spoil(mapping: ActionMapping, message: &[u8], value: f64) -> Vec<u8> {
    let (old, new) = match mapping {
        ActionMapping::Uadp => {
            let old = takt_ua::binary::Encode::encode_to_vec(&Variant::Double(value));
            // A Variant in a Variant, of the same length.
            (old, b"\x18\x0C\x03\0\0\0abc".to_vec())
        }
        ActionMapping::Json => (format!(":{value}").into_bytes(), b":[{}]".to_vec()),
    };
    let at = message.windows(old.len()).position(|part| part == old);
    let at = at.unwrap();
    [&message[..at], &new, &message[at + old.len()..]].concat()
}

#[test]
fn an_argument_that_cannot_be_decoded_is_refused_and_such_a_result_is_one_bad_value() {
    let bad = StatusCode::BadDecodingError;
    for mapping in [ActionMapping::Uadp, ActionMapping::Json] {
        let mut responder = responder(&configuration(mapping, Duration::ZERO));
        let mut requestor = requestor(mapping, &responder);
        let now = at(Instant::now(), 0);
        let mut drill = Drill::default();
        let id = ask(&mut requestor, now);
        let message = requestor.poll_transmit().unwrap();
        let spoilt = spoil(mapping, &message, 2.5);
        responder.receive(now, &spoilt, &mut drill).unwrap();
        assert_eq!(drill.calls, 0, "{mapping:?}");
        let response = responder.poll_transmit().unwrap();
        requestor.receive(now, &response.bytes).unwrap();
        let done = ActionEvent::Done(id, Err(bad));
        assert_eq!(requestor.poll_event(), Some(done), "{mapping:?}");

        let id = ask(&mut requestor, now);
        let message = requestor.poll_transmit().unwrap();
        responder.receive(now, &message, &mut drill).unwrap();
        let response = responder.poll_transmit().unwrap();
        let spoilt = spoil(mapping, &response.bytes, 0.25);
        requestor.receive(now, &spoilt).unwrap();
        let done = ActionEvent::Done(id, Ok(vec![Variant::StatusCode(bad)]));
        assert_eq!(requestor.poll_event(), Some(done), "{mapping:?}");
    }
}

#[test]
fn a_request_is_carried_out_once_and_answered() {
    for mapping in [ActionMapping::Uadp, ActionMapping::Json] {
        let mut responder = responder(&configuration(mapping, Duration::ZERO));
        let mut requestor =
            requestor(mapping, &responder).with_response_address("opc.udp://127.0.0.1:7");
        let now = at(Instant::now(), 0);
        let mut drill = Drill::default();
        let id = ask(&mut requestor, now);
        let message = requestor.poll_transmit().unwrap();
        assert_eq!(responder.receive(now, &message, &mut drill).unwrap(), 1);
        let response = responder.poll_transmit().unwrap();
        assert_eq!(
            response.response_address.as_deref(),
            Some("opc.udp://127.0.0.1:7")
        );
        // A duplicate gets the same results, and the Action is not carried out again.
        assert_eq!(responder.receive(now, &message, &mut drill).unwrap(), 0);
        assert!(responder.poll_transmit().is_some());
        assert_eq!(drill.calls, 1);
        requestor.receive(now, &response.bytes).unwrap();
        requestor.receive(now, &response.bytes).unwrap();
        let done = ActionEvent::Done(id, Ok(vec![Variant::Double(0.25)]));
        assert_eq!(requestor.poll_event(), Some(done), "{mapping:?}");
        assert_eq!(requestor.poll_event(), None);
        // Nothing is lost here, so that nothing is acknowledged, or sent again.
        assert_eq!(requestor.poll_transmit(), None);
        assert_eq!(requestor.next_timeout(), None);
        // Both ignore their own messages.
        requestor.receive(now, &message).unwrap();
        assert_eq!(
            responder.receive(now, &response.bytes, &mut drill).unwrap(),
            0
        );
    }
}

#[test]
fn lost_requests_and_responses_are_sent_again() {
    for mapping in [ActionMapping::Uadp, ActionMapping::Json] {
        let mut responder = responder(&configuration(mapping, INTERVAL));
        let mut requestor = requestor(mapping, &responder).with_publishing_interval(INTERVAL);
        let start = Instant::now();
        let mut drill = Drill {
            later: true,
            ..Drill::default()
        };
        let id = ask(&mut requestor, at(start, 0));
        // The first request is lost, the second is received twice.
        requestor.poll_transmit().unwrap();
        let now = at(start, 50);
        assert_eq!(requestor.next_timeout(), Some(now.instant));
        requestor.handle_timeout(now).unwrap();
        let again = requestor.poll_transmit().unwrap();
        for _ in 0..2 {
            responder.receive(now, &again, &mut drill).unwrap();
        }
        assert_eq!(drill.calls, 1);
        let executing = responder.poll_transmit().unwrap();
        requestor.receive(now, &executing.bytes).unwrap();
        assert_eq!(requestor.poll_event(), Some(ActionEvent::Executing(id)));
        assert!(responder.poll_transmit().is_some());
        // The Requestor knows that the Action continues: there are no more requests.
        requestor.handle_timeout(at(start, 500)).unwrap();
        assert_eq!(requestor.poll_transmit(), None);

        let now = at(start, 1000);
        let results = Ok(vec![Variant::Double(4.0)]);
        let ticket = drill.ticket.unwrap();
        assert!(responder.complete(now, ticket, results.clone()).unwrap());
        assert!(!responder.complete(now, ticket, results.clone()).unwrap());
        // The response is also lost, and so is the first acknowledgement.
        responder.poll_transmit().unwrap();
        let now = at(start, 1050);
        responder.handle_timeout(now).unwrap();
        let done = responder.poll_transmit().unwrap();
        requestor.receive(now, &done.bytes).unwrap();
        assert_eq!(
            requestor.poll_event(),
            Some(ActionEvent::Done(id, results.clone()))
        );
        requestor.poll_transmit().unwrap();
        let now = at(start, 1100);
        requestor.handle_timeout(now).unwrap();
        let idle = requestor.poll_transmit().unwrap();
        responder.receive(now, &idle, &mut drill).unwrap();
        let last = responder.poll_transmit().unwrap();
        requestor.receive(now, &last.bytes).unwrap();
        assert_eq!(requestor.next_timeout(), None);
        // Both are silent; a late duplicate of the request is not carried out.
        responder.handle_timeout(at(start, 1500)).unwrap();
        assert_eq!(responder.poll_transmit(), None);
        responder
            .receive(at(start, 1500), &again, &mut drill)
            .unwrap();
        assert_eq!(drill.calls, 1);
    }
}

#[test]
fn requests_fail_after_their_timeout() {
    let mapping = ActionMapping::Uadp;
    let mut responder = responder(&configuration(mapping, Duration::ZERO));
    let mut requestor = requestor(mapping, &responder);
    let start = Instant::now();
    let mut patient = self::requestor(mapping, &responder);
    // It waits for as long as an Instant can represent.
    let endless = patient.request(at(start, 0), 8, 3, self::drill(), Duration::MAX);
    assert!(endless.is_ok());
    let mut drill = Drill {
        later: true,
        ..Drill::default()
    };
    let id = ask(&mut requestor, at(start, 0));
    let message = requestor.poll_transmit().unwrap();
    responder
        .receive(at(start, 0), &message, &mut drill)
        .unwrap();
    assert_eq!(responder.poll_transmit(), None);
    let late = at(start, 5000);
    assert_eq!(responder.next_timeout(), Some(late.instant));
    responder.handle_timeout(late).unwrap();
    let response = responder.poll_transmit().unwrap();
    let mut other = self::requestor(mapping, &responder);
    ask(&mut other, late);
    other.receive(late, &response.bytes).unwrap();
    let timeout = || Some(ActionEvent::Done(id, Err(StatusCode::BadTimeout)));
    assert_eq!(other.poll_event(), timeout());
    let results = Ok(vec![Variant::Double(4.0)]);
    assert!(
        !responder
            .complete(late, drill.ticket.unwrap(), results)
            .unwrap()
    );
    // A Requestor without a response gives up at the same time.
    requestor.handle_timeout(late).unwrap();
    assert_eq!(requestor.poll_event(), timeout());
    // Remembered requests are forgotten at some time.
    let end = responder.next_timeout().unwrap();
    assert!(end > late.instant);
    responder.handle_timeout(at(end, 0)).unwrap();
    assert_eq!(responder.next_timeout(), None);
}

#[test]
fn mistakes_are_answered() {
    let mapping = ActionMapping::Uadp;
    let mut responder = responder(&configuration(mapping, Duration::ZERO));
    let now = at(Instant::now(), 0);
    let mut careful = requestor(mapping, &responder);
    let error = careful.request(now, 8, 4, drill(), TIMEOUT).unwrap_err();
    assert!(matches!(error, RequestError::UnknownAction { .. }));
    let error = careful.request(now, 8, 3, vec![], TIMEOUT).unwrap_err();
    assert!(matches!(
        error,
        RequestError::Arguments(StatusCode::BadArgumentsMissing)
    ));

    let known = responder.actions()[0].clone();
    let mut target = known.clone();
    target.action_targets[0].action_target_id = 4;
    let mut types = known.clone();
    types.request = Box::new(fields(&[
        ("Depth", BuiltInType::String),
        ("Speed", BuiltInType::UInt32),
    ]));
    let mut more = known.clone();
    more.request = Box::new(fields(&[
        ("Depth", BuiltInType::Double),
        ("Speed", BuiltInType::UInt32),
        ("Cooling", BuiltInType::Boolean),
    ]));
    let text = Variant::String("deep".into());
    let speed = Variant::UInt32(0);
    let cases: [(PublishedAction, u16, Vec<Variant>, StatusCode); 4] = [
        (target, 4, drill(), StatusCode::BadNotFound),
        (
            types,
            3,
            vec![text, speed.clone()],
            StatusCode::BadTypeMismatch,
        ),
        (
            more,
            3,
            [drill(), vec![Variant::Boolean(true)]].concat(),
            StatusCode::BadTooManyArguments,
        ),
        (
            known,
            3,
            vec![Variant::Double(1.0), speed],
            StatusCode::BadOutOfRange,
        ),
    ];
    for (number, (action, target, arguments, expected)) in cases.into_iter().enumerate() {
        let id = PublisherId::UInt16(17);
        let me = PublisherId::String("HMI".into());
        let mut requestor = Requestor::new(id, me, mapping, number as u64);
        requestor.learn(action);
        let id = requestor
            .request(now, 8, target, arguments, TIMEOUT)
            .unwrap();
        let message = requestor.poll_transmit().unwrap();
        let mut drill = Drill::default();
        responder.receive(now, &message, &mut drill).unwrap();
        let response = responder.poll_transmit().unwrap();
        requestor.receive(now, &response.bytes).unwrap();
        assert_eq!(
            requestor.poll_event(),
            Some(ActionEvent::Done(id, Err(expected)))
        );
        let is_a_call = expected == StatusCode::BadOutOfRange;
        assert_eq!(drill.calls, usize::from(is_a_call));
    }
}

#[test]
fn a_responder_limits_kept_responses_and_their_sizes() {
    let mapping = ActionMapping::Uadp;
    let mut responder = responder(&configuration(mapping, Duration::ZERO));
    let now = at(Instant::now(), 0);
    let mut drill = Drill::default();
    let mut last = None;
    for number in 0..1025 {
        let id = PublisherId::UInt16(17);
        let me = PublisherId::String("HMI".into());
        let mut requestor = Requestor::new(id, me, mapping, number);
        requestor.learn(responder.actions()[0].clone());
        ask(&mut requestor, now);
        let message = requestor.poll_transmit().unwrap();
        responder.receive(now, &message, &mut drill).unwrap();
        let response = responder.poll_transmit().unwrap();
        requestor.receive(now, &response.bytes).unwrap();
        last = requestor.poll_event();
    }
    assert_eq!(drill.calls, 1024);
    let refused = ActionEvent::Done(1, Err(StatusCode::BadTooManyOperations));
    assert_eq!(last, Some(refused));

    let mut responder = self::responder(&configuration(mapping, Duration::ZERO));
    let mut requestor = requestor(mapping, &responder);
    responder = responder.with_max_message_size(1000);
    ask(&mut requestor, now);
    let message = requestor.poll_transmit().unwrap();
    let mut long = |_: ActionCall<'_>| ActionOutcome::Done(vec![vec![0_u8; 2000].into()]);
    responder.receive(now, &message, &mut long).unwrap();
    let response = responder.poll_transmit().unwrap();
    assert!(response.bytes.len() <= 1000);
    requestor.receive(now, &response.bytes).unwrap();
    let refused = ActionEvent::Done(1, Err(StatusCode::BadResponseTooLarge));
    assert_eq!(requestor.poll_event(), Some(refused));
}

#[test]
fn actions_are_announced() {
    let configuration = configuration(ActionMapping::Uadp, INTERVAL);
    let connection = &configuration.connections[0];
    let now = Instant::now();
    let nobody = AnnouncedApplication::default();
    let mut announcer = Announcer::new(&configuration, connection, nobody, 3, now).unwrap();
    let (messages, _) = announcer.handle_timeout(now);
    let id = PublisherId::UInt16(17);
    let me = PublisherId::String("HMI".into());
    let mut requestor = Requestor::new(id, me, ActionMapping::Uadp, 1);
    let mut connections = Vec::new();
    for message in &messages {
        requestor.receive(at(now, 0), message).unwrap();
        let message = NetworkMessageRef::new_checked(message).unwrap();
        if let PayloadRef::DiscoveryAnnouncement(announcement) =
            message.payload(&PayloadParameters::default()).unwrap()
            && let AnnouncementContent::ActionResponder(announced) = announcement.content
        {
            connections = announced;
        }
    }
    assert_eq!(messages.len(), 2);
    assert_eq!(connections[0].writer_groups, connection.writer_groups);
    let [known] = requestor.actions() else {
        panic!("{:?}", requestor.actions());
    };
    let expected = responder(&configuration);
    assert_eq!(known.request, expected.actions()[0].request);
    assert_eq!(known.response, expected.actions()[0].response);
    assert_eq!(known.action_targets, expected.actions()[0].action_targets);

    // JSON announces the same, as a broker keeps it.
    let json = crate::drill::configuration(ActionMapping::Json, Duration::ZERO);
    let mut responder = responder(&json);
    let messages = responder.meta_data_messages(at(now, 0)).unwrap();
    let id = PublisherId::UInt16(17);
    let me = PublisherId::String("HMI".into());
    let mut requestor = Requestor::new(id, me, ActionMapping::Json, 1);
    requestor.receive(at(now, 0), &messages[0].1).unwrap();
    assert_eq!(requestor.actions(), responder.actions());
}

#[test]
fn a_protected_group_of_actions_is_refused() {
    let mut configuration = configuration(ActionMapping::Uadp, INTERVAL);
    let connection = &mut configuration.connections[0];
    connection.writer_groups[0].security_mode = takt_ua::enumerations::MessageSecurityMode::Sign;
    let connection = &configuration.connections[0];
    let group = &connection.writer_groups[0];
    let data_sets = &configuration.published_data_sets;
    let error = Responder::new(connection, group, data_sets, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Tools: SecurityMode: Actions are not protected"
    );
}
