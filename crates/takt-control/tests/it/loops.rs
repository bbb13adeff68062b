//! Two control loops over UDP on loopback: a publisher and a loopback, as a user would configure them.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use takt_cell::Cell;
use takt_control::{
    ControlApplication, ControlCycle, ControlError, ControlLoop, ControlOptions, ControlReport,
    Deadline, LoopEnding, Reaction, RealTimeOptions, ReceivedMessage, Sending, SentMessage, Trace,
    TracePoint,
};
use takt_pubsub::configuration::from_toml;
use takt_ua::structures::{
    DatagramWriterGroupTransport2DataType, NetworkAddressUrlDataType, PubSubConfiguration2DataType,
    TargetVariablesDataType,
};
use takt_ua::{DateTime, ExtensionObject, NodeId, StatusCode, Variant};

/// Cycle of the tests: long enough for a busy machine.
const CYCLE: Duration = Duration::from_millis(2);

/// Returns the configuration of a loop that publishes `Out` and receives `In`, both a UInt64.
fn configuration(id: u16, peer: u16, to: u16, at: u16) -> PubSubConfiguration2DataType {
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Out"
        fields = [{{ name = "Out", data_type = "UInt64", published_variable = "ns=1;s=Out" }}]

        [[connections]]
        publisher_id = {id}
        address = "opc.udp://127.0.0.1:{at}"

        [[connections.writer_groups]]
        writer_group_id = 1
        publishing_interval = "2ms"
        header_layout = "UADP-Periodic-Fixed"

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 1
        data_set_name = "Out"

        [[connections.reader_groups]]
        [[connections.reader_groups.data_set_readers]]
        publisher_id = {peer}
        writer_group_id = 1
        data_set_writer_id = 1
        header_layout = "UADP-Periodic-Fixed"
        uadp = {{ network_message_number = 1 }}
        fields = [{{ name = "In", data_type = "UInt64", target_node_id = "ns=1;s=In", override_value = 99,
            override_value_handling = "OverrideValue" }}]
        "#
    );
    let mut configuration = from_toml(&text).unwrap().configuration;
    let address = ExtensionObject::from_structure(&NetworkAddressUrlDataType {
        url: format!("opc.udp://127.0.0.1:{to}").as_str().into(),
        ..NetworkAddressUrlDataType::default()
    });
    let settings = DatagramWriterGroupTransport2DataType {
        address,
        ..DatagramWriterGroupTransport2DataType::default()
    };
    let group = &mut configuration.connections[0].writer_groups[0];
    group.transport_settings = ExtensionObject::from_structure(&settings);
    configuration
}

/// Cells of a loop.
struct Cells {
    input: Arc<Cell>,
    output: Arc<Cell>,
}

impl Cells {
    fn new() -> Self {
        let cell = || Arc::new(Cell::of(&Variant::UInt64(0)));
        Self {
            input: cell(),
            output: cell(),
        }
    }

    fn open(
        &self,
        configuration: &PubSubConfiguration2DataType,
        options: ControlOptions,
    ) -> Result<ControlLoop, ControlError> {
        let mut source = HashMap::from([(NodeId::string(1, "Out"), self.output.clone())]);
        let mut target = HashMap::from([(NodeId::string(1, "In"), self.input.clone())]);
        ControlLoop::new(configuration, &mut source, &mut target, options)
    }

    fn read(&self) -> u64 {
        self.input
            .read_scalar::<u64>()
            .unwrap()
            .0
            .unwrap_or_default()
    }

    fn publish(&self, value: u64) {
        self.output
            .set_u64(value, StatusCode::Good, DateTime::now())
            .unwrap();
    }
}

fn options() -> ControlOptions {
    ControlOptions {
        real_time: RealTimeOptions {
            lock_memory: false,
            ..RealTimeOptions::default()
        },
        ..ControlOptions::default()
    }
}

/// Publisher that counts, and notes T1 and T8.
struct Counter<'a> {
    cells: &'a Cells,
    counter: u64,
    trace: Trace,
    launches: Vec<i64>,
}

impl ControlApplication for Counter<'_> {
    fn received(&mut self, message: &ReceivedMessage<'_>) {
        let counter = self.cells.read();
        self.trace.add(TracePoint::T8, counter, message.taken_nanos);
        // The kernel received it before the thread took it.
        assert!(message.link_time.is_some());
    }

    fn update(&mut self, _: &ControlCycle) -> ControlFlow<()> {
        self.counter += 1;
        self.cells.publish(self.counter);
        ControlFlow::Continue(())
    }

    fn sent(&mut self, message: &SentMessage) {
        self.trace
            .add(TracePoint::T1, self.counter, message.handed_over_nanos);
        self.launches.extend(message.launch_nanos);
    }
}

/// Runs a counting publisher beside a loopback for a number of cycles.
fn round_trips(sending: Sending, cycles: u64) -> (ControlReport, Trace) {
    round_trips_and_drain(sending, cycles, 0)
}

/// Runs a counting publisher beside a loopback for a number of cycles, and receives for some more.
fn round_trips_and_drain(
    sending: Sending,
    cycles: u64,
    drain_cycles: u64,
) -> (ControlReport, Trace) {
    let (there, back) = (takt_ports::reserve(), takt_ports::reserve());
    let (publisher, loopback) = (Cells::new(), Cells::new());
    let stop = AtomicBool::new(false);
    let mut counter = Counter {
        cells: &publisher,
        counter: 0,
        trace: Trace::with_capacity(4000),
        launches: Vec::new(),
    };
    let report = std::thread::scope(|scope| {
        let loopback_loop = loopback
            .open(
                &configuration(2, 1, back, there),
                ControlOptions {
                    sending,
                    ..options()
                },
            )
            .unwrap();
        let (loopback, stop) = (&loopback, &stop);
        scope.spawn(move || {
            let mut echo = |_: &ControlCycle| {
                loopback.publish(loopback.read());
                ControlFlow::Continue(())
            };
            loopback_loop.run(&mut echo, stop).unwrap()
        });
        let options = ControlOptions {
            sending,
            cycles: Some(cycles),
            drain_cycles,
            ..options()
        };
        let control = publisher
            .open(&configuration(1, 2, there, back), options)
            .unwrap();
        assert_eq!(control.cycle(), CYCLE);
        let report = control.run(&mut counter, stop);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        report.unwrap()
    });
    (report, counter.trace)
}

/// Returns the application round trips in cycles, T8 − T1, of each counter's first answer.
fn in_cycles(trace: &Trace) -> Vec<f64> {
    let mut sent = HashMap::new();
    let mut answered = HashMap::new();
    for record in trace.records() {
        match record.point {
            TracePoint::T1 => sent.entry(record.counter).or_insert(record.nanos),
            _ => answered.entry(record.counter).or_insert(record.nanos),
        };
    }
    let trip = |(counter, at): (&u64, &i64)| Some((at - sent.get(counter)?) as f64);
    let cycle = CYCLE.as_nanos() as f64;
    answered
        .iter()
        .filter_map(trip)
        .map(|nanos| nanos / cycle)
        .collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn a_counter_returns_in_the_cycles_that_the_schedule_needs() {
    let _together = crate::together();
    let (report, trace) = round_trips(Sending::Immediate, 300);
    assert_eq!((report.ending, report.cycles), (LoopEnding::Complete, 300));
    assert_eq!(
        (report.sent, report.send_errors, report.refused),
        (300, 0, 0)
    );
    // Sent at 0.6, taken at 0 of the next cycle, sent back at 0.6, taken at 0: 1.4 cycles.
    let trips = in_cycles(&trace);
    assert!(trips.len() > 150, "{report:?}");
    let median = median(trips);
    assert!((1.3..1.6).contains(&median), "{median}");
}

#[test]
fn the_thread_keeps_the_offset() {
    let _together = crate::together();
    let offset = CYCLE / 10;
    let (report, trace) = round_trips(Sending::AtOffset(offset), 300);
    assert_eq!(report.send_errors, 0);
    let into_cycle = |nanos: i64| nanos.rem_euclid(CYCLE.as_nanos() as i64) as f64;
    let sent = trace.records().iter();
    let sent = sent.filter(|record| record.point == TracePoint::T1);
    let offsets: Vec<f64> = sent.map(|record| into_cycle(record.nanos)).collect();
    assert!(offsets.len() > 150);
    // Sent at 0.1, taken there at 0.1, sent back at 0.1 of the next cycle: one cycle.
    let median_trip = median(in_cycles(&trace));
    assert!((0.9..1.3).contains(&median_trip), "{median_trip}");
    let at = median(offsets);
    assert!((200_000.0..600_000.0).contains(&at), "{at} ns");
}

#[test]
fn the_last_message_is_answered_while_the_loop_drains() {
    let _together = crate::together();
    let offset = Sending::AtOffset(CYCLE / 2);
    for sending in [Sending::Immediate, offset] {
        let (report, trace) = round_trips_and_drain(sending, 40, 30);
        assert_eq!((report.ending, report.cycles), (LoopEnding::Complete, 40));
        assert_eq!((report.sent, report.send_errors), (40, 0), "{sending:?}");
        let last = trace.records().last().unwrap();
        assert_eq!(
            (last.point, last.counter),
            (TracePoint::T8, 40),
            "{sending:?}"
        );
    }
}

/// Runs a loop whose peer sends for a while and then falls silent.
fn silence(deadline: Deadline) -> (ControlReport, u64, StatusCode, Vec<u64>) {
    let (there, back) = (takt_ports::reserve(), takt_ports::reserve());
    let cells = Cells::new();
    let peer = Cells::new();
    let stop = AtomicBool::new(false);
    let mut missed = Vec::new();
    let report = std::thread::scope(|scope| {
        let talking = ControlOptions {
            cycles: Some(20),
            ..options()
        };
        let control = ControlOptions {
            cycles: Some(150),
            deadline,
            ..options()
        };
        let control = cells
            .open(&configuration(2, 1, back, there), control)
            .unwrap();
        let talking = peer
            .open(&configuration(1, 2, there, back), talking)
            .unwrap();
        peer.publish(7);
        scope.spawn(|| {
            // The peer starts later: cycles before its first message are not missed ones.
            std::thread::sleep(Duration::from_millis(20));
            talking.run(
                &mut |_: &ControlCycle| ControlFlow::Continue(()),
                &AtomicBool::new(false),
            )
        });
        let mut note = |cycle: &ControlCycle| {
            if cycle.deadline_missed {
                missed.push(cycle.missed);
            }
            ControlFlow::Continue(())
        };
        control.run(&mut note, &stop).unwrap()
    });
    let status = cells.input.get().unwrap().status_code();
    (report, cells.read(), status, missed)
}

#[test]
fn reactions_to_a_silent_peer() {
    let _together = crate::together();
    let deadline = |reaction| Deadline {
        cycles: 5,
        reaction,
    };
    let (report, value, status, missed) = silence(deadline(Reaction::Count));
    assert_eq!(
        (report.ending, value, status),
        (LoopEnding::Complete, 7, StatusCode::Good)
    );
    assert!(report.longest_miss >= 5 && missed[0] == 5, "{report:?}");

    let (_, value, status, _) = silence(deadline(Reaction::HoldLast));
    assert_eq!((value, status), (7, StatusCode::UncertainLastUsableValue));

    let (_, value, status, _) = silence(deadline(Reaction::Substitute));
    assert_eq!((value, status), (99, StatusCode::GoodLocalOverride));

    let (report, _, _, missed) = silence(deadline(Reaction::Stop));
    assert_eq!((report.ending, missed), (LoopEnding::Deadline, vec![5]));
    assert!(
        report.cycles < 150 && report.longest_miss == 5,
        "{report:?}"
    );
}

#[test]
fn impossible_loops_are_refused() {
    let _together = crate::together();
    let cells = Cells::new();
    let none = PubSubConfiguration2DataType::default();
    let error = cells.open(&none, options()).unwrap_err();
    assert!(
        matches!(error, ControlError::Connections { found: 0 }),
        "{error}"
    );
    let mut two = configuration(1, 2, 4841, 4842);
    let group = two.connections[0].writer_groups[0].clone();
    two.connections[0].writer_groups.push(group);
    let error = cells.open(&two, options()).unwrap_err();
    assert!(
        matches!(error, ControlError::WriterGroups { found: 2, .. }),
        "{error}"
    );
    let mut without = configuration(1, 2, 4841, 4842);
    let reader = &mut without.connections[0].reader_groups[0].data_set_readers[0];
    let mut targets: TargetVariablesDataType = reader.subscribed_data_set.decode_as().unwrap();
    targets.target_variables[0].override_value = Variant::String("no number".into());
    reader.subscribed_data_set = ExtensionObject::from_structure(&targets);
    let substitute = ControlOptions {
        deadline: Deadline {
            cycles: 1,
            reaction: Reaction::Substitute,
        },
        ..options()
    };
    let error = cells.open(&without, substitute).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("field In has no OverrideValue"),
        "{error}"
    );
}
