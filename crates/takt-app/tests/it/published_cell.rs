//! A cell that a Provider serves is published; another Provider serves the cell that it is received into: all clients
//! get the same value.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use takt_app::{Client, Provider, Variable};
use takt_cell::Cell;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::runtime::{PubSub, RuntimeOptions};
use takt_pubsub::subscriber::SubscriberObserver;
use takt_ua::structures::PubSubConnectionDataType;
use takt_ua::{NodeId, Variant};

use crate::support::{PATIENCE, client_options, node, options};

/// Returns a Provider with one cell, `Speed`.
fn provider(name: &str, directory: &std::path::Path) -> (Provider, Arc<Cell>) {
    let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
    let provider = Provider::builder(name)
        .serve(options(directory))
        .variable(Variable::cell("Speed", &cell).writable())
        .start()
        .unwrap();
    (provider, cell)
}

#[test]
fn a_value_written_at_one_provider_is_published_to_another() {
    let directory = tempfile::tempdir().unwrap();
    let (_machine, sent) = provider("Machine", directory.path());
    let (_display, received) = provider("Display", directory.path());
    let port = takt_ports::reserve();
    let configuration = from_toml(&format!(
        r#"
        [[published_data_sets]]
        name = "Data"
        fields = [{{ name = "Speed", data_type = "Double", published_variable = "ns=1;s=Speed" }}]

        [[connections]]
        name = "UDP"
        publisher_id = 1
        address = "opc.udp://127.0.0.1:{port}"

        [[connections.writer_groups]]
        name = "Group"
        writer_group_id = 1
        publishing_interval = "5ms"

        [[connections.writer_groups.data_set_writers]]
        name = "Writer"
        data_set_writer_id = 1
        data_set_name = "Data"

        [[connections.reader_groups]]
        name = "Group"

        [[connections.reader_groups.data_set_readers]]
        name = "Reader"
        publisher_id = 1
        data_set_writer_id = 1
        fields = [{{ name = "Speed", data_type = "Double", target_node_id = "ns=1;s=Speed" }}]
        "#
    ));
    let configuration = configuration.unwrap().configuration;
    let speed = NodeId::string(1, "Speed");
    let mut source = HashMap::from([(speed.clone(), sent)]);
    let mut target = HashMap::from([(speed, received)]);
    let mut nobody =
        |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
    let options = RuntimeOptions::default();
    let running = PubSub::start(
        &configuration,
        &mut source,
        &mut target,
        &mut nobody,
        &options,
    )
    .unwrap();

    let connect = |name: &str| {
        let endpoint = format!("opc.iox2://{name}").parse().unwrap();
        Client::connect(&endpoint, client_options(directory.path())).unwrap()
    };
    let (mut machine, mut display) = (connect("Machine"), connect("Display"));
    for value in [1500.0, 1600.0] {
        machine
            .write(&node("Speed"), Variant::Double(value))
            .unwrap();
        let deadline = Instant::now() + PATIENCE;
        while display.read(&node("Speed")).unwrap().value != Some(Variant::Double(value)) {
            assert!(Instant::now() < deadline, "{value} has not arrived");
        }
    }
    let group = running.writer_groups().next().unwrap();
    assert_eq!(group.statistics.fixed, group.statistics.network_messages);
}
