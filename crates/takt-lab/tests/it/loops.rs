//! Publisher and loopback of shipped scenarios on this host: UDP on loopback, and message sizes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_control::{
    ControlOptions, ControlReport, LoopEnding, RealTimeOptions, Sending, Trace, TracePoint,
};
use takt_lab::{
    CounterPayload, LoopAddresses, LoopEnd, LoopError, RoundTrips, ScenarioApplication,
    ScenarioLoop,
};
use takt_pubsub::Now;
use takt_pubsub::publisher::{FieldSource, WriterGroup};
use takt_scenario::{Scenario, ScenarioFile};
use takt_statistics::Quantile;
use takt_ua::enumerations::PubSubState;

fn scenarios(name: &str) -> Vec<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let file = ScenarioFile::parse(&text, path.to_str().unwrap()).unwrap();
    file.variants()
        .unwrap()
        .into_iter()
        .map(|it| it.scenario)
        .collect()
}

/// Returns addresses on loopback.
fn on_loopback() -> LoopAddresses {
    LoopAddresses {
        there: format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()),
        back: format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()),
    }
}

fn options(cycles: Option<u64>) -> ControlOptions {
    ControlOptions {
        sending: Sending::Immediate,
        cycles,
        real_time: RealTimeOptions {
            lock_memory: false,
            ..RealTimeOptions::default()
        },
        ..ControlOptions::default()
    }
}

/// Runs both ends for a number of cycles of the Publisher.
fn run(control: &ScenarioLoop, cycles: u64) -> [(ControlReport, ScenarioApplication); 2] {
    let stop = AtomicBool::new(false);
    let end = |end, cycles| {
        let (input, output) = (
            CounterPayload::new(control.fields()),
            CounterPayload::new(control.fields()),
        );
        let control = control.open(end, &input, &output, options(cycles)).unwrap();
        let trace = Trace::with_capacity(100_000);
        (control, ScenarioApplication::new(end, input, output, trace))
    };
    std::thread::scope(|scope| {
        let (loopback, mut sends_back) = end(LoopEnd::Loopback, None);
        let stop = &stop;
        let loopback = scope.spawn(move || {
            let report = loopback.run(&mut sends_back, stop).unwrap();
            (report, sends_back)
        });
        let (publisher, mut counts) = end(LoopEnd::Publisher, Some(cycles));
        let report = publisher.run(&mut counts, stop).unwrap();
        stop.store(true, Ordering::Relaxed);
        [(report, counts), loopback.join().unwrap()]
    })
}

#[test]
fn messages_have_the_length_that_the_scenario_counts() {
    for file in [
        "e3.toml",
        "b.toml",
        "line-taprio.toml",
        "whitepaper.toml",
        "d.toml",
    ] {
        for scenario in scenarios(file) {
            let control = ScenarioLoop::of(&scenario, None).unwrap();
            let configuration = control.configuration(LoopEnd::Publisher).unwrap();
            let connection = &configuration.connections[0];
            let payload = CounterPayload::new(control.fields());
            let mut index = 0;
            let mut source = |_: takt_pubsub::publisher::PublishedField<'_>| {
                index += 1;
                Some(FieldSource::Cell(payload.cells()[index - 1].clone()))
            };
            let data_sets = &configuration.published_data_sets;
            let group = &connection.writer_groups[0];
            let mut group = WriterGroup::new(connection, group, data_sets, &mut source).unwrap();
            let mut messages: Vec<Vec<u8>> = Vec::new();
            let now = Now::read();
            let sent = group
                .publish(now, PubSubState::Operational, &mut messages)
                .unwrap();
            assert_eq!((sent.network_messages, sent.fixed), (1, 1));
            let length = messages[0].len();
            assert_eq!(length, CounterPayload::length_of(control.fields()));
            let payload = control.application().frame.payload() as usize;
            // The whitepaper's 100 bytes are no whole number of fields.
            assert!(payload - length < 9, "{file}: {length} of {payload} bytes");
        }
    }
}

#[test]
fn counters_of_a_shipped_scenario_return_in_order() {
    let mut scenario = scenarios("e3.toml").remove(1);
    // A busy machine keeps cycles of 2 ms, not those of 250 µs.
    scenario.applications[0].cycle = "2 ms".parse().unwrap();
    let control = ScenarioLoop::of(&scenario, Some("control")).unwrap();
    let control = control.with_addresses(on_loopback()).unwrap();
    let [(report, publisher), (loopback_report, loopback)] = run(&control, 500);
    assert_eq!((report.ending, report.sent), (LoopEnding::Complete, 500));
    assert_eq!(loopback_report.ending, LoopEnding::Stopped);
    assert_eq!((report.refused, loopback_report.refused), (0, 0));
    assert_eq!((publisher.torn, loopback.torn), (None, None));
    assert_eq!(loopback.counters.reordered, 0);
    // Messages come in order; the first ones may find no loopback yet.
    assert!(loopback.counters.messages > 400, "{loopback_report:?}");
    let trips = RoundTrips::of(publisher.trace.records());
    assert!(trips.count() > 300, "{trips:?}");
    let median = trips.quantile(Quantile::MEDIAN).unwrap() as f64 / 2e6;
    assert!((1.3..1.6).contains(&median), "{median} cycles");
    let points = |point| move |record: &&takt_control::TraceRecord| record.point == point;
    let records = loopback.trace.records().iter();
    let taken = records.clone().filter(points(TracePoint::T4)).count() as u64;
    let sent = records.filter(points(TracePoint::T5)).count() as u64;
    assert_eq!(
        (taken, sent),
        (loopback_report.received, loopback_report.sent)
    );
}

#[test]
fn torn_data_stops_the_run_and_shows_the_evidence() {
    let mut scenario = scenarios("e3.toml").remove(1);
    scenario.applications[0].cycle = "2 ms".parse().unwrap();
    let control = ScenarioLoop::of(&scenario, None).unwrap();
    let control = control.with_addresses(on_loopback()).unwrap();
    let (input, output) = (
        CounterPayload::new(control.fields()),
        CounterPayload::new(control.fields()),
    );
    let loopback = control
        .open(LoopEnd::Loopback, &input, &output, options(Some(2000)))
        .unwrap();
    let mut application =
        ScenarioApplication::new(LoopEnd::Loopback, input, output, Trace::with_capacity(10));
    // A publisher that changes one field only: the fields of its messages differ.
    let (own_input, own_output) = (
        CounterPayload::new(control.fields()),
        CounterPayload::new(control.fields()),
    );
    let publisher = control
        .open(LoopEnd::Publisher, &own_input, &own_output, options(None))
        .unwrap();
    let stop = AtomicBool::new(false);
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            let mut tears = |_: &takt_control::ControlCycle| {
                number += 1;
                own_output.set(if number < 20 { number } else { 20 });
                if number >= 20 {
                    let torn = &own_output.cells()[2];
                    let now = takt_ua::DateTime::now();
                    torn.set_u64(number, takt_ua::StatusCode::Good, now)
                        .unwrap();
                }
                std::ops::ControlFlow::Continue(())
            };
            publisher.run(&mut tears, &stop).unwrap()
        });
        let report = loopback.run(&mut application, &AtomicBool::new(false));
        stop.store(true, Ordering::Relaxed);
        report.unwrap()
    });
    assert_eq!(report.ending, LoopEnding::Application);
    let torn = application.torn.unwrap();
    assert_eq!(
        (torn.counter, torn.field, torn.values.len()),
        (20, 2, control.fields())
    );
    assert!(
        torn.value > 20 && torn.to_string().contains("field 2 has"),
        "{torn}"
    );
}

#[test]
fn unknown_applications_are_named() {
    let scenario = scenarios("e3.toml").remove(0);
    let error = ScenarioLoop::of(&scenario, Some("other")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the scenario has no application other; it has control"
    );
    let control = ScenarioLoop::of(&scenario, None).unwrap();
    assert_eq!(control.addresses().there, "opc.eth://01-00-5E-00-54-01:1.3");
    let wrong = LoopAddresses {
        there: "opc.eth://nowhere".to_owned(),
        ..on_loopback()
    };
    assert!(matches!(
        control.with_addresses(wrong),
        Err(LoopError::Address(_))
    ));
}
