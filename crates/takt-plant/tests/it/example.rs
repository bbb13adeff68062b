//! The example: from its files to a proven bound that no simulation exceeds, until a flow more breaks it.

use std::path::PathBuf;

use takt_calculus::{Extended, Rational, Realisation, scenario_bounds_with};
use takt_plant::{PlantConfiguration, PlantScenario, scenario_of_plant};
use takt_pubsub::configuration::{from_binary_file, from_json, from_toml, to_binary_file};
use takt_scenario::{BoundsModel, PlantFile, Scenario};
use takt_sim::{KeptPhases, Model, RunOptions};
use takt_ua::json_encoding::{JsonContext, JsonEncoder, JsonEncoding};

fn read(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/plant");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn toml(name: &str) -> PlantConfiguration {
    let text = read(name);
    PlantConfiguration::new(name, from_toml(&text).unwrap(), Some(&text))
}

fn made(plant: &str, configurations: &[PlantConfiguration]) -> PlantScenario {
    let plant = PlantFile::parse(plant, "plant.toml").unwrap();
    scenario_of_plant(&plant, configurations).unwrap_or_else(|error| panic!("{error}"))
}

fn example() -> PlantScenario {
    made(
        &read("plant.toml"),
        &[toml("press.toml"), toml("robot.toml")],
    )
}

/// Simulated delays may be above a bound by this, for each port, in picoseconds: times are rounded up.
const ROUNDING: i64 = 4;

/// Checks that no simulated delay is above its bound, with both models. Returns the bounds of the flows with the model of IEEE
/// 802.1Q, in nanoseconds; `None` for an infinite one.
fn bounds_hold(scenario: &Scenario) -> Vec<Option<f64>> {
    let mut of_ieee = Vec::new();
    for (model, realisation) in [
        (Model::Linux, Realisation::Software { driver_queue: 1 }),
        (Model::Ieee, Realisation::Ieee),
    ] {
        let analyses = &scenario.bounds.analyses;
        let sound = BoundsModel::Sound;
        let bounds =
            scenario_bounds_with(scenario, sound, realisation, analyses, &mut |_, _| {}).unwrap();
        let mut options = RunOptions {
            model,
            ..RunOptions::new(scenario)
        };
        options.simulation.cycles = 48;
        let worst = takt_sim::search(scenario, &options, &KeptPhases::default(), 60, |_| true);
        of_ieee.clear();
        for (index, flow) in scenario.flows().iter().enumerate() {
            let name = scenario.flow_name(flow.source);
            let bound = bounds
                .flows
                .iter()
                .find(|it| it.source == flow.source)
                .unwrap();
            let found = worst.flows[index].as_ref().unwrap().delay.as_picoseconds();
            let allowed = found.saturating_sub(ROUNDING * flow.ports.len() as i64);
            let allowed = Rational::from_parts(allowed.into(), 1_000_000_000_000_u64.into());
            assert!(found > 0, "{name}");
            assert!(
                Extended::Finite(allowed) <= bound.from_queue,
                "{name} {model:?}: {found} ps"
            );
            of_ieee.push(match &bound.delay {
                Extended::Finite(delay) => {
                    Some((delay * Rational::from(1_000_000_000)).to_f64().value())
                }
                _ => None,
            });
        }
    }
    of_ieee
}

#[test]
fn bounds_hold_until_a_flow_breaks_them() {
    let made_of_two = example();
    assert!(
        made_of_two.warnings.is_empty(),
        "{:?}",
        made_of_two.warnings
    );
    let payloads: Vec<(&str, u32)> = made_of_two
        .flows
        .iter()
        .map(|it| (it.application.as_str(), it.payload))
        .collect();
    // Headers 19, fields with 6 B more each for their status, security. The robot's delta frames
    // have 1 B more, and 2 B for each field.
    let press = 19 + (9 + 21 + 5 + 21) + 4 * 6 + 46;
    let robot = 19 + (1 + 4 + 48 + 2) + 2 * 6 + 1 + 2 * 2;
    assert_eq!(payloads, [("press/Press", press), ("robot/Robot", robot)]);
    let bounds = bounds_hold(made_of_two.file.scenario());
    assert!(bounds.iter().all(Option::is_some), "{bounds:?}");

    let camera = read("camera.toml");
    let plant = read("plant.toml").replace("[\"robot.toml\"]", "[\"robot.toml\", \"camera.toml\"]");
    let camera = PlantConfiguration::new("camera.toml", from_toml(&camera).unwrap(), Some(&camera));
    let with_camera = made(&plant, &[toml("press.toml"), toml("robot.toml"), camera]);
    let broken = bounds_hold(with_camera.file.scenario());
    let names: Vec<&str> = with_camera
        .flows
        .iter()
        .map(|it| it.application.as_str())
        .collect();
    assert_eq!(names, ["press/Press", "robot/Robot", "robot/Camera"]);
    assert!(broken[0].is_some(), "the press sends the other way");
    assert_eq!([broken[1], broken[2]], [None, None]);
}

#[test]
fn each_format_makes_the_same_scenario() {
    let json = |name: &str| {
        let file = from_toml(&read(name)).unwrap();
        let encoder = JsonEncoder::new(JsonEncoding::Compact, JsonContext::default());
        let text = encoder.structure(&file.configuration).to_string();
        PlantConfiguration::new(name, from_json(text.as_bytes()).unwrap(), None)
    };
    let binary = |name: &str| {
        let bytes = to_binary_file(&from_toml(&read(name)).unwrap()).unwrap();
        PlantConfiguration::new(name, from_binary_file(&bytes).unwrap(), None)
    };
    let expected = example();
    for files in [
        [binary("press.toml"), json("robot.toml")],
        [json("press.toml"), binary("robot.toml")],
    ] {
        let found = made(&read("plant.toml"), &files);
        assert_eq!(found.file.scenario(), expected.file.scenario());
        assert_eq!(found.assumptions, expected.assumptions);
    }
}

#[test]
fn each_value_has_its_origin() {
    let text = example().text;
    for line in [
        "name = \"cell\"",
        "discipline = \"tsn\" # plant.toml:5",
        "[[nodes]] # plant.toml:8",
        "wake_up_latency = { least = \"0 s\", most = \"90 us\" } # plant.toml:9, with processing_time 30 us, plant.toml:46",
        "wake_up_latency = { least = \"0 s\", most = \"150 us\" } # assumed, with processing_time 50 us, assumed",
        "forwarding_delay = { least = \"1 us\", most = \"4 us\" } # plant.toml:17",
        "forwarding_delay = { least = \"0 s\", most = \"10 us\" } # assumed",
        "[disciplines.tsn] # plant.toml:39",
        "lower_priority = \"1542 B\" # assumed",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    let application = "[[applications]] # press.toml:19: WriterGroup Cell/Press
name = \"press/Press\"
publisher = \"press\" # plant.toml:46
subscriber = \"robot\" # robot.toml:39: Press/Press/Press
cycle = \"1 ms\" # press.toml:22
offset = \"200 us\" # press.toml:25
";
    assert!(text.contains(application), "{text}");
}
