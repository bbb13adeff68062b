//! Binary PubSub configuration files between Takt and node-opcua.

use std::fs;

use serde_json::json;
use takt_pubsub::configuration::{from_binary_file, from_toml, to_binary_file};

use crate::binary::repository;
use crate::peer::convert_pubsub_configuration;

/// node-opcua loads Takt's file, and Takt loads the file that node-opcua then writes.
///
/// # Panics
/// If the configuration differs afterwards.
pub fn configuration_files_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = folder.path().join("ours.bin");
    let its = folder.path().join("its.bin");
    let text = fs::read_to_string(repository().join("examples/pubsub/publisher.toml"));
    let file = from_toml(&text.expect("the example")).expect("a configuration");
    let bytes = to_binary_file(&file).expect("a short file");
    fs::write(&ours, bytes).expect("the folder can be written to");
    assert_eq!(
        convert_pubsub_configuration(&ours, &its),
        json!({"dataSets": ["Spindle"], "writers": ["Spindle"]})
    );
    let bytes = fs::read(&its).expect("it has written a file");
    let read = from_binary_file(&bytes).expect("a configuration");
    let (expected, found) = (file.configuration, read.configuration);
    assert_eq!(found.published_data_sets, expected.published_data_sets);
    assert_eq!(found.connections, expected.connections);
    assert_eq!(found.enabled, expected.enabled);
}
