//! 100 000 cycles of a publisher and a loopback: no allocation, and no page fault.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use takt_cell::Cell;
use takt_control::{ControlCycle, ControlLoop, ControlOptions, ControlReport};
use takt_pubsub::configuration::from_toml;
use takt_ua::structures::PubSubConfiguration2DataType;
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

const CYCLES: u64 = 100_000;

/// Cycles after which everything is warm: layouts are learned from the first message.
const WARM: u64 = 1_000;

fn configuration(own: u16, peer: u16, to: u16, at: u16) -> PubSubConfiguration2DataType {
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Out"
        fields = [{{ name = "Out", data_type = "UInt64", published_variable = "ns=1;s=Out" }}]

        [[connections]]
        publisher_id = {own}
        address = "opc.udp://127.0.0.1:{at}"

        [[connections.writer_groups]]
        writer_group_id = 1
        publishing_interval = 0.05
        header_layout = "UADP-Periodic-Fixed"
        transport_settings = {{ "$type" = "DatagramWriterGroupTransport2DataType", Address = {{ "$type" = "NetworkAddressUrlDataType", Url = "opc.udp://127.0.0.1:{to}" }} }}

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
        fields = [{{ name = "In", data_type = "UInt64", target_node_id = "ns=1;s=In" }}]
        "#
    );
    from_toml(&text).unwrap().configuration
}

/// Runs a loop that copies its input, plus `step`, to its output, and counts its cycles.
fn run(
    configuration: &PubSubConfiguration2DataType,
    step: u64,
    options: ControlOptions,
    stop: &AtomicBool,
    mut each: impl FnMut(&ControlCycle),
) -> ControlReport {
    let cell = || Arc::new(Cell::of(&Variant::UInt64(0)));
    let (input, output) = (cell(), cell());
    let mut source = HashMap::from([(NodeId::string(1, "Out"), output.clone())]);
    let mut target = HashMap::from([(NodeId::string(1, "In"), input.clone())]);
    let control = ControlLoop::new(configuration, &mut source, &mut target, options).unwrap();
    let mut update = |cycle: &ControlCycle| {
        let (value, _) = input.read_scalar::<u64>().unwrap();
        let value = value.unwrap_or_default() + step;
        output
            .set_u64(value, StatusCode::Good, DateTime::now())
            .unwrap();
        each(cycle);
        ControlFlow::Continue(())
    };
    control.run(&mut update, stop).unwrap()
}

#[test]
fn a_hundred_thousand_cycles_allocate_nothing_and_have_no_page_fault() {
    let _alone = crate::PROCESSORS.write();
    takt_malloc::alone(|| {
        let (there, back) = (takt_ports::reserve(), takt_ports::reserve());
        let stop = AtomicBool::new(false);
        let warm = AtomicU64::new(0);
        let mut counted = 0;
        let (mut fault_start, mut faults) = (None, 0);
        let report = std::thread::scope(|scope| {
            let (stop, warm) = (&stop, &warm);
            scope.spawn(move || {
                let configuration = configuration(2, 1, back, there);
                run(&configuration, 0, ControlOptions::default(), stop, |_| {
                    warm.fetch_add(1, Ordering::Relaxed);
                })
            });
            // The loopback has learned the layout when the publisher has received its answers.
            let options = ControlOptions {
                cycles: Some(CYCLES + WARM),
                ..ControlOptions::default()
            };
            let mut cycles = 0;
            let mut before = 0;
            let report = run(&configuration(1, 2, there, back), 1, options, stop, |_| {
                cycles += 1;
                if cycles == WARM {
                    before = takt_malloc::allocations();
                    fault_start = Some(takt_rt::faults::PageFaults::of_this_thread());
                }
                if cycles == CYCLES + WARM {
                    counted = takt_malloc::allocations() - before;
                    let now = takt_rt::faults::PageFaults::of_this_thread();
                    let since = now - fault_start.unwrap();
                    faults = since.minor + since.major;
                }
            });
            stop.store(true, Ordering::Relaxed);
            report
        });
        assert_eq!(report.cycles, CYCLES + WARM);
        assert!(report.received > CYCLES / 4, "{report:?}");
        assert!(warm.load(Ordering::Relaxed) > CYCLES / 4);
        // The harness of the tests may allocate now and then, not in each cycle.
        assert!(counted <= 5, "{counted} allocations");
        let locked = report.preparations.iter();
        let locked = locked.filter(|it| it.setting == "locked memory" && it.problem.is_none());
        if locked.count() == 1 {
            assert_eq!(faults, 0, "{report:?}");
        } else {
            println!("skipped: page faults, because the memory of this process cannot be locked");
        }
    });
}
