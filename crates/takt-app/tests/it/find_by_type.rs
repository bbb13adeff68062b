//! Search by type among many nodes.

use std::time::{Duration, Instant};

use takt_app::serve::{ServeOptions, Serving};
use takt_app::{Client, ClientOptions};
use takt_services::Server;
use takt_ua::{StatusCode, ids};

const OBJECTS: u32 = 100;
const VARIABLES: u32 = 1000;

/// Time limit of the search, in a build without optimization on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_type_is_found_among_100_000_nodes() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::builder("Large", "urn:large").build().unwrap();
    let space = server.address_space();
    for object in 0..OBJECTS {
        let name = format!("O/{object}");
        let parent = space
            .add_object((1, name.as_str()))
            .node_id((1, object + 1));
        let parent = parent.add().unwrap();
        for variable in 0..VARIABLES {
            let name = format!("V{variable}");
            let node = space
                .add_variable((1, name.as_str()))
                .component_of(parent.clone());
            let node = node.node_id((1, 1000 + object * VARIABLES + variable));
            match variable {
                7 => node.type_definition(ids::ANALOG_UNIT_TYPE).add().unwrap(),
                _ => node.add().unwrap(),
            };
        }
    }
    let serve = ServeOptions {
        runtime_directory: Some(directory.path().to_owned()),
        ..ServeOptions::default()
    };
    let endpoint = "opc.iox2://Large".parse().unwrap();
    let _serving = Serving::start(&server, &[endpoint], serve).unwrap();
    let options = ClientOptions {
        timeout: PATIENCE,
        runtime_directory: Some(directory.path().to_owned()),
        ..ClientOptions::named("Test")
    };
    let endpoint = "opc.iox2://Large".parse().unwrap();
    let mut client = Client::connect(&endpoint, options).unwrap();
    let begin = Instant::now();
    // The supertype finds its subtypes.
    let found = client.find_by_type("BaseAnalogType").unwrap();
    println!("{:?}", begin.elapsed());
    assert!(begin.elapsed() < PATIENCE);
    assert_eq!(found.len(), OBJECTS as usize);
    let mut paths: Vec<&str> = found.iter().map(|node| node.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths[0], "O&/0/V7");
    assert_eq!(
        client.find(paths[0]).unwrap().node_id.node_id,
        found[0].node_id
    );
    assert_eq!(found[0].type_name.name, "AnalogUnitType");
    let objects = client.find_by_type("BaseObjectType").unwrap();
    assert!(objects.iter().any(|node| node.path == "O&/0"));
    let unknown = client.find_by_type("BaseAnalogTypo").unwrap_err();
    assert_eq!(unknown.status_code(), StatusCode::BadNoMatch);
    assert!(unknown.to_string().contains("BaseAnalogType"), "{unknown}");
}
