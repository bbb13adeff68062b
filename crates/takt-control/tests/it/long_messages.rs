//! Messages in many chunks.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use takt_cell::Cell;
use takt_control::{
    ControlCycle, ControlError, ControlLoop, ControlOptions, ControlReport, RealTimeOptions,
};
use takt_link::LinkError;
use takt_pubsub::configuration::from_toml;
use takt_ua::{NodeId, Variant};

/// Runs a loop for three cycles, each of which sends a ByteString of this length in messages of 100 bytes at most.
fn long_messages(length: usize) -> Result<ControlReport, ControlError> {
    let port = takt_ports::reserve();
    let text = format!(
        r#"
        [[published_data_sets]]
        name = "Out"
        fields = [{{ name = "Out", data_type = "ByteString", published_variable = "ns=1;s=Out" }}]

        [[connections]]
        publisher_id = 1
        address = "opc.udp://127.0.0.1:{port}"

        [[connections.writer_groups]]
        writer_group_id = 1
        publishing_interval = "2ms"
        header_layout = "UADP-Dynamic"
        max_network_message_size = 100

        [[connections.writer_groups.data_set_writers]]
        data_set_writer_id = 1
        data_set_name = "Out"
        "#
    );
    let long = from_toml(&text).unwrap().configuration;
    let output = Arc::new(Cell::of(&Variant::ByteString(vec![7; length].into())));
    let mut source = HashMap::from([(NodeId::string(1, "Out"), output)]);
    let mut target = HashMap::<NodeId, Arc<Cell>>::new();
    let options = ControlOptions {
        cycles: Some(3),
        real_time: RealTimeOptions {
            lock_memory: false,
            ..RealTimeOptions::default()
        },
        ..ControlOptions::default()
    };
    let control = ControlLoop::new(&long, &mut source, &mut target, options)?;
    control.run(
        &mut |_: &ControlCycle| ControlFlow::Continue(()),
        &AtomicBool::new(false),
    )
}

/// Room for the chunks of a cycle is made before the first one.
#[test]
fn a_long_message_leaves_as_a_whole_or_is_refused_at_the_start() {
    let _together = crate::together();
    let report = long_messages(5_000).unwrap();
    let chunks = report.sent / 3;
    assert!((50..1_024).contains(&chunks), "{report:?}");
    assert_eq!((report.sent, report.send_errors), (chunks * 3, 0));
    let error = long_messages(100_000).unwrap_err();
    assert!(
        matches!(error, ControlError::Link(LinkError::TooMany { .. })),
        "{error}"
    );
}
