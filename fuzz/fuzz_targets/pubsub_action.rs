//! Messages to a Responder and a Requestor: after arbitrary messages a request is still executed once and answered.

#[path = "../../crates/takt-pubsub/tests/it/drill.rs"]
mod drill;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use takt_fuzz::parts;
use takt_pubsub::Now;
use takt_pubsub::action::{
    ActionCall, ActionEvent, ActionHandler, ActionMapping, ActionOutcome, Requestor, Responder,
};
use takt_ua::{DateTime, Variant};
use takt_wire::PublisherId;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Time after which all state has expired.
const LATER: Duration = Duration::from_secs(100 * 24 * 3600);

fn at(time: Duration) -> Now {
    Now {
        instant: *START + time,
        date_time: DateTime::MIN,
    }
}

struct Drill;

impl ActionHandler for Drill {
    fn execute(&mut self, _: ActionCall<'_>) -> ActionOutcome {
        ActionOutcome::Done(vec![Variant::Double(0.25)])
    }
}

pub(crate) fn run(data: &[u8]) {
    for mapping in [ActionMapping::Uadp, ActionMapping::Json] {
        let configuration = drill::configuration(mapping, Duration::from_millis(50));
        let connection = &configuration.connections[0];
        let mut responder = Responder::new(
            connection,
            &connection.writer_groups[0],
            &configuration.published_data_sets,
            1,
        )
        .expect("a good configuration");
        let requestor = |number| {
            let id = PublisherId::String("HMI".into());
            let mut requestor = Requestor::new(PublisherId::UInt16(17), id, mapping, number);
            requestor.learn(responder.actions()[0].clone());
            requestor
        };
        let (mut asked, mut fresh) = (requestor(99), requestor(100));
        let arguments = || vec![Variant::Double(2.5), Variant::UInt32(10)];
        let timeout = Duration::from_secs(5);
        asked
            .request(at(Duration::ZERO), 8, 3, arguments(), timeout)
            .expect("a good request");
        for (index, part) in parts(data).enumerate() {
            let now = at(Duration::from_millis(30 * index as u64));
            let _ = responder.receive(now, part, &mut Drill);
            let _ = asked.receive(now, part);
            let _ = responder.handle_timeout(now);
            let _ = asked.handle_timeout(now);
            while responder.poll_transmit().is_some() {}
            while asked.poll_transmit().is_some() {}
        }
        let now = at(LATER);
        let _ = responder.handle_timeout(now);
        while responder.poll_transmit().is_some() {}
        let id = fresh
            .request(now, 8, 3, arguments(), timeout)
            .expect("a good request");
        let request = fresh.poll_transmit().expect("the request");
        assert_eq!(
            responder
                .receive(now, &request, &mut Drill)
                .expect("a request"),
            1
        );
        let response = responder.poll_transmit().expect("an answer");
        fresh.receive(now, &response.bytes).expect("an answer");
        assert_eq!(
            fresh.poll_event(),
            Some(ActionEvent::Done(id, Ok(vec![Variant::Double(0.25)])))
        );
    }
}
