//! Foreign clients see instances of the companion specifications MachineTool and Robotics, and decode a structure of a NodeSet.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_app::serve::ServeOptions;
use takt_app::{Instance, Method, NodeSets, Provider, TypeName};
use takt_cell::Cell;
use takt_tests::binary::repository;
use takt_tests::{Peer, PeerClient, Registry, Sandbox, process};
use takt_ua::{LocalizedText, Variant};

const PATIENCE: Duration = Duration::from_secs(60);
const MACHINE_TOOL: &str = "http://opcfoundation.org/UA/MachineTool/";
const PRESS: &str = "urn:takt:test:press";

fn companions() -> Vec<PathBuf> {
    let folder = repository().join("peers/node/node_modules/companion-nodesets/nodesets");
    let files = ["Di", "IA", "Machinery", "Machinery.Jobs", "MachineTool"];
    let files = files.map(|name| folder.join(format!("Opc.Ua.{name}.NodeSet2.xml")));
    let files = files.into_iter().map(|file| match file.exists() {
        true => file,
        false => file.with_file_name("Opc.Ua.Machinery.Jobs.Nodeset2.xml"),
    });
    let jobs = folder.join("opc.ua.isa95-jobcontrol.nodeset2.xml");
    files.chain([jobs]).collect()
}

fn start(sandbox: &Sandbox, files: &[PathBuf], instance: Instance) -> (Registry, Provider) {
    // Other NodeSets come first at the registry, so NamespaceIndexes differ from those of the Provider.
    let nodesets = NodeSets::load(files).unwrap();
    let more = repository()
        .join("peers/node/node_modules/companion-nodesets/nodesets/Opc.ISA95.NodeSet2.xml");
    let all: Vec<&Path> = [more.as_path()]
        .into_iter()
        .chain(files.iter().map(PathBuf::as_path))
        .collect();
    let arguments: Vec<&str> = all
        .iter()
        .flat_map(|file| ["--nodeset", file.to_str().unwrap()])
        .collect();
    let registry = Registry::start(sandbox, &arguments);
    let provider = Provider::builder(sandbox.application("Hall"))
        .registry(registry.shared_memory())
        .endpoint("opc.tcp://127.0.0.1:0")
        .nodesets(&nodesets)
        .instance(instance)
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        });
    let provider = provider.start().unwrap();
    let begin = Instant::now();
    while !provider.is_registered() {
        let state = provider.registry_state();
        assert!(begin.elapsed() < PATIENCE, "{state}");
        std::thread::sleep(Duration::from_millis(10));
    }
    (registry, provider)
}

fn endpoints(registry: &Registry, provider: &Provider) -> [String; 2] {
    let own = provider
        .endpoints()
        .iter()
        .find(|endpoint| !endpoint.is_shared_memory());
    [registry.endpoint.clone(), own.unwrap().to_string()]
}

#[test]
fn foreign_clients_see_a_machine_tool() {
    let sandbox = Sandbox::new();
    let feed = Arc::new(Cell::of(&Variant::Double(80.0)));
    let mill = Instance::new("Mill", TypeName::new(MACHINE_TOOL, "MachineToolType"))
        .bind("Identification/Manufacturer", LocalizedText::from("Acme"))
        .bind("Identification/SerialNumber", "4711")
        .bind("Monitoring/MachineTool/FeedOverride", &feed)
        .organized_in("Machines");
    let (registry, provider) = start(&sandbox, &companions(), mill);
    let name = provider.application_name().to_owned();
    for endpoint in endpoints(&registry, &provider) {
        for peer in [Peer::Asyncua, Peer::NodeOpcua] {
            let mut client = PeerClient::connect(peer, &endpoint).unwrap();
            let mill = client.find(&[&name, "Mill"]);
            assert_eq!(client.find(&["Machines", "Mill"]), mill);
            let types = client.expect(json!({"op": "browse", "node": mill, "reference": "i=40"}));
            let type_name = types[0]["browseName"].as_str().unwrap_or_default();
            assert!(type_name.ends_with("MachineToolType"), "{peer:?}: {types}");
            let mut read = |path: &[&str]| -> Value {
                let path: Vec<&str> = [name.as_str(), "Mill"]
                    .into_iter()
                    .chain(path.iter().copied())
                    .collect();
                let node = client.find(&path);
                client.read(&node)
            };
            assert_eq!(read(&["Identification", "SerialNumber"])["value"], "4711");
            let feed = &read(&["Monitoring", "MachineTool", "FeedOverride"])["value"];
            assert_eq!(feed.as_f64(), Some(80.0), "{peer:?}");
            let maker = &read(&["Identification", "Manufacturer"])["value"]["text"];
            assert_eq!(*maker, "Acme");
            // Mandatory, and not bound.
            let unbound = read(&["Production", "ActiveProgram", "Name"]);
            assert_eq!(unbound["status"], "BadWaitingForInitialData", "{peer:?}");
        }
    }
}

const ROBOTICS: &str = "http://opcfoundation.org/UA/Robotics/";

/// A robot with one axis and one motor: each mandatory placeholder of the specification has a node.
fn robot(position: &Arc<Cell>) -> Instance {
    let arm = "MotionDevices/Arm";
    Instance::new("Robot", TypeName::new(ROBOTICS, "MotionDeviceSystemType"))
        .placeholder("MotionDevices/<MotionDeviceIdentifier>", "Arm")
        .placeholder(format!("{arm}/Axes/<AxisIdentifier>"), "Axis1")
        .placeholder(format!("{arm}/PowerTrains/<PowerTrainIdentifier>"), "Train")
        .placeholder(
            format!("{arm}/PowerTrains/Train/<MotorIdentifier>"),
            "Motor",
        )
        .placeholder("Controllers/<ControllerIdentifier>", "Controller")
        .placeholder(
            "Controllers/Controller/Software/<SoftwareIdentifier>",
            "System",
        )
        .placeholder(
            "Controllers/Controller/TaskControls/<TaskControlIdentifier>",
            "Task",
        )
        .placeholder("SafetyStates/<SafetyStateIdentifier>", "Safety")
        .bind(&format!("{arm}/Manufacturer"), LocalizedText::from("Acme"))
        .bind(&format!("{arm}/SerialNumber"), "R-7")
        .bind(
            &format!("{arm}/Axes/Axis1/ParameterSet/ActualPosition"),
            position,
        )
        .bind("SafetyStates/Safety/ParameterSet/EmergencyStop", false)
        .organized_in("DeviceSet")
}

#[test]
fn a_foreign_client_sees_a_robot() {
    let sandbox = Sandbox::new();
    let folder = repository().join("peers/node/node_modules/companion-nodesets/nodesets");
    let files = ["Di", "IA", "Robotics"];
    let files = files.map(|name| folder.join(format!("Opc.Ua.{name}.NodeSet2.xml")));
    let position = Arc::new(Cell::of(&Variant::Double(12.5)));
    let (registry, provider) = start(&sandbox, &files, robot(&position));
    let name = provider.application_name().to_owned();
    let mut client = PeerClient::connect(Peer::NodeOpcua, &registry.endpoint).unwrap();
    let robot = client.find(&[&name, "Robot"]);
    assert_eq!(client.find(&["DeviceSet", "Robot"]), robot);
    let types = client.expect(json!({"op": "browse", "node": robot, "reference": "i=40"}));
    let type_name = types[0]["browseName"].as_str().unwrap_or_default();
    assert!(type_name.ends_with("MotionDeviceSystemType"), "{types}");
    let mut read = |path: &str| -> Value {
        let path = [name.as_str(), "Robot"].into_iter().chain(path.split('/'));
        let node = client.find(&path.collect::<Vec<_>>());
        client.read(&node)
    };
    let axis = "MotionDevices/Arm/Axes/Axis1/ParameterSet/ActualPosition";
    assert_eq!(read(axis)["value"].as_f64(), Some(12.5));
    assert_eq!(read("MotionDevices/Arm/SerialNumber")["value"], "R-7");
    let maker = &read("MotionDevices/Arm/Manufacturer")["value"]["text"];
    assert_eq!(*maker, "Acme");
    let stop = "SafetyStates/Safety/ParameterSet/EmergencyStop";
    assert_eq!(read(stop)["value"], false);
    // Mandatory, and not bound.
    let motor = "MotionDevices/Arm/PowerTrains/Train/Motor/ParameterSet/MotorTemperature";
    assert_eq!(read(motor)["status"], "BadWaitingForInitialData");
    let rows = sandbox.rows(&["browse", &registry.endpoint, "--type", "MotionDeviceType"]);
    assert!(rows[0].to_string().contains("Arm"), "{rows:?}");
}

#[test]
fn asyncua_decodes_a_structure_of_a_nodeset() {
    let sandbox = Sandbox::new();
    let file = repository().join("crates/takt-app/tests/it/instances/Press.NodeSet2.xml");
    let nodesets = NodeSets::load([&file]).unwrap();
    let structure = |name: &str| nodesets.structure(&TypeName::new(PRESS, name)).unwrap();
    let point = structure("PointDataType")
        .value(&[("Force", 2.5.into())])
        .unwrap();
    let stroke = structure("StrokeDataType").value(&[
        ("Force", 250.0.into()),
        ("State", 1_i32.into()),
        ("Points", vec![point].into()),
    ]);
    let press = Instance::new("Press", TypeName::new(PRESS, "PressType"))
        .variable(takt_app::Variable::stored("Stroke", stroke.unwrap()).writable())
        .method(Method::new("Reset", |_| Ok(Vec::new())));
    let (registry, provider) = start(&sandbox, &[file], press);
    for endpoint in endpoints(&registry, &provider) {
        let mut client = PeerClient::connect(Peer::Asyncua, &endpoint).unwrap();
        let name = provider.application_name();
        let node = client.find(&[name, "Press", "Stroke"]);
        let (object, method) = (
            client.find(&[name, "Press"]),
            client.find(&[name, "Press", "Reset"]),
        );
        let mut command = Command::new(repository().join(".cache/venv/bin/python"));
        command.arg(repository().join("peers/asyncua/instance_values.py"));
        command.args([&endpoint, &node, &object, &method]);
        let output = process::run("instance_values.py", &mut command, PATIENCE).expect_success();
        let said: Value = serde_json::from_str(&output).unwrap();
        // asyncua shows its encoding mask as a field.
        let expected = json!({
            "value": {"Encoding": 0, "Force": 250.0, "Comment": null, "State": "Closing", "Points": [{"Time": 0.0, "Force": 2.5}]},
            "written": {"Encoding": 0, "Force": 300.0, "Comment": "new", "State": "Idle", "Points": []},
            "called": true,
        });
        assert_eq!(said, expected, "{endpoint}");
        // The next client begins with the first value again.
        let first = said["value"]["Force"].as_f64();
        assert_eq!(first, Some(250.0));
        command = Command::new(repository().join(".cache/venv/bin/python"));
        command.arg(repository().join("peers/asyncua/instance_values.py"));
        command.args([&endpoint, &node, "restore"]);
        let _ = process::run("instance_values.py", &mut command, PATIENCE).expect_success();
    }
}
