//! Scenarios that are made of the configurations themselves.

use std::path::PathBuf;
use std::time::Duration;

use takt_calculus::Realisation;
use takt_plant::{PlantConfiguration, scenario_of_plant};
use takt_pubsub::configuration::from_toml;
use takt_pubsub::monitor::FlowDirection;
use takt_scenario::PlantFile;
use takt_watchdog::{WatchOptions, watched_flows};

fn read(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/plant");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The machines of the example are watched without an option: the names of the scenario are theirs.
#[test]
fn a_configuration_fits_the_scenario_that_was_made_of_it() {
    let names = ["press.toml", "robot.toml"];
    let parsed = names.map(|name| {
        let text = read(name);
        (from_toml(&text).unwrap(), text)
    });
    let configurations: Vec<PlantConfiguration> = names
        .into_iter()
        .zip(&parsed)
        .map(|(name, (file, text))| PlantConfiguration::new(name, file.clone(), Some(text)))
        .collect();
    let plant = PlantFile::parse(&read("plant.toml"), "plant.toml").unwrap();
    let made = scenario_of_plant(&plant, &configurations).unwrap();
    let scenario = made.file.scenario();
    let options = WatchOptions {
        clocks_within: Some(Duration::from_micros(1)),
        // Its shaper is that of the kernel.
        realisation: Realisation::Software { driver_queue: 1 },
        ..WatchOptions::default()
    };
    for ((file, _), (own, other)) in parsed.iter().zip([
        ("press/Press", "robot/Robot"),
        ("robot/Robot", "press/Press"),
    ]) {
        let flows = watched_flows(&file.configuration, scenario, &options).unwrap();
        assert_eq!(flows.len(), 2);
        for (direction, name) in [
            (FlowDirection::Sending, own),
            (FlowDirection::Receiving, other),
        ] {
            let mut found = flows.iter().map(|flow| flow.description());
            let flow = found.find(|it| it.direction == direction).unwrap();
            assert_eq!(flow.name, name);
            let is_receiving = direction == FlowDirection::Receiving;
            assert_eq!(flow.delay.is_some(), is_receiving, "{flow:?}");
            assert_eq!(flow.sending.is_some(), !is_receiving, "{flow:?}");
        }
    }
}
