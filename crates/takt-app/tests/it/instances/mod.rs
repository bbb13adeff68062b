//! Instances of a NodeSet's types at a Provider's own endpoint and at the registry.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::client::Follow;
use takt_app::serve::ServeOptions;
use takt_app::{
    Attribute, Client, ClientError, ClientOptions, Instance, InstanceError, Method, ModelStructure,
    NodeSets, Provider, ProviderError, TypeName, Unit, Variable,
};
use takt_cell::Cell;
use takt_registry::{Registry, RegistryOptions};
use takt_ua::enumerations::BrowseDirection;
use takt_ua::{BuiltInType, NodeId, StatusCode, Variant, ids};

const PATIENCE: Duration = Duration::from_secs(60);
const PRESS: &str = "urn:takt:test:press";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/instances/Press.NodeSet2.xml")
}

fn nodesets() -> NodeSets {
    NodeSets::load([file()]).unwrap()
}

fn name(name: &str) -> TypeName {
    TypeName::new(PRESS, name)
}

fn stroke(structure: &ModelStructure, point: &ModelStructure) -> takt_ua::ExtensionObject {
    let point = |force: f64| point.value(&[("Force", force.into())]).unwrap();
    let points = vec![point(1.0), point(2.0)];
    structure
        .value(&[
            ("Force", 250.0.into()),
            ("State", 1_i32.into()),
            ("Points", points.into()),
        ])
        .unwrap()
}

fn press(nodesets: &NodeSets, load: &Arc<Cell>) -> Instance {
    let structure = nodesets.structure(&name("StrokeDataType")).unwrap();
    let point = nodesets.structure(&name("PointDataType")).unwrap();
    Instance::new("Hall/Press", name("PressType"))
        .bind("Identification/SerialNumber", "4711")
        .variable(Variable::cell("Load", load).writable().unit(Unit::PERCENT))
        .bind("Stroke", stroke(&structure, &point))
        .bind("Label", "Left")
        .bind("State", 1_i32)
        .placeholder_of_type("Tools/<Tool>", "Upper", name("DieType"))
        .bind("Tools/Upper/Identifier", "D-1")
        .method(Method::new("Reset", |inputs| {
            assert_eq!(inputs, [Variant::Int32(1)]);
            Ok(Vec::new())
        }))
        .organized_in("Presses")
}

struct Plant {
    client: Client,
    own: u16,
    model: u16,
    load: Arc<Cell>,
    nodesets: NodeSets,
    _provider: Provider,
    _registry: Option<Registry>,
}

impl Plant {
    fn start(directory: &Path, with_registry: bool) -> Self {
        let serve = || ServeOptions {
            runtime_directory: Some(directory.join("runtime")),
            ..ServeOptions::default()
        };
        let registry = with_registry.then(|| {
            Registry::start(RegistryOptions {
                endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
                database: directory.join("registry.redb"),
                nodesets: vec![file()],
                serve: serve(),
                ..RegistryOptions::default()
            })
            .unwrap()
        });
        let nodesets = nodesets();
        let load = Arc::new(Cell::of(&Variant::Double(12.5)));
        let gauge = Instance::new("Gauge", name("GaugeType"))
            .bind("", 7_i16)
            .bind("Place", "Door");
        let builder = Provider::builder("Plant")
            .nodesets(&nodesets)
            .instance(press(&nodesets, &load))
            .instance(gauge)
            .serve(serve());
        let builder = match with_registry {
            true => builder,
            false => builder.without_registry(),
        };
        let provider = builder.start().unwrap();
        let begin = Instant::now();
        while with_registry && !provider.is_registered() {
            let state = provider.registry_state();
            assert!(begin.elapsed() < PATIENCE, "{state:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let endpoint = match with_registry {
            true => "opc.iox2://SemanticRegistryServer",
            false => "opc.iox2://Plant",
        };
        let options = ClientOptions {
            timeout: PATIENCE,
            runtime_directory: Some(directory.join("runtime")),
            ..ClientOptions::named("Test")
        };
        let mut client = Client::connect(&endpoint.parse().unwrap(), options).unwrap();
        let own = client.namespace_index("urn:takt:provider:Plant").unwrap();
        let model = client.namespace_index(PRESS).unwrap();
        Self {
            client,
            own: own.unwrap(),
            model: model.unwrap(),
            load,
            nodesets,
            _provider: provider,
            _registry: registry,
        }
    }

    fn node(&self, path: &str) -> NodeId {
        NodeId::string(self.own, path)
    }

    fn value(&mut self, path: &str) -> Variant {
        let node = self.node(path);
        self.client.read_good(&node).unwrap()
    }

    fn children(&mut self, path: &str) -> Vec<String> {
        let node = self.node(path);
        let children = self.client.browse(&node, &Follow::children()).unwrap();
        let names = children.iter().map(|child| child.browse_name.to_string());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

fn check(with_registry: bool) {
    let directory = tempfile::tempdir().unwrap();
    let mut plant = Plant::start(directory.path(), with_registry);
    let model = plant.model;
    let named = |names: &[&str]| -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(|name| format!("{model}:{name}")).collect();
        names.sort();
        names
    };
    // The type, its abstract supertype and its interface; the add-in too.
    assert_eq!(
        plant.children("Hall/Press"),
        named(&[
            "Identification",
            "Label",
            "Load",
            "Monitor",
            "Reset",
            "State",
            "Stroke",
            "Tools"
        ])
    );
    // Of the overriding and of the overridden declaration; Year is optional.
    assert_eq!(
        plant.children("Hall/Press/Identification"),
        named(&["Force", "SerialNumber"])
    );
    assert_eq!(
        plant.value("Hall/Press/Identification/SerialNumber"),
        "4711".into()
    );
    assert_eq!(
        plant.value("Hall/Press/Identification/Force"),
        400.0.into(),
        "declared"
    );
    assert_eq!(
        plant.value("Hall/Press/Tools/Upper/Identifier"),
        "D-1".into()
    );
    let strokes = plant.node("Hall/Press/Monitor/Strokes");
    let strokes = plant.client.read(&strokes).unwrap();
    assert_eq!(strokes.status_code(), StatusCode::BadWaitingForInitialData);
    assert_eq!(plant.value("Gauge"), 7_i16.into());
    assert_eq!(plant.value("Gauge/Place"), "Door".into());

    // The cell: its DataType is narrower than Number, and it is written.
    let load = plant.node("Hall/Press/Load");
    plant.client.write(&load, Variant::Double(40.0)).unwrap();
    assert_eq!(plant.load.get().unwrap().value, Some(40.0.into()));
    assert_eq!(plant.value("Hall/Press/Load"), 40.0.into());
    let data_type = plant.client.value_type(&load).unwrap().data_type;
    assert_eq!(data_type, NodeId::from(ids::DOUBLE));
    let properties = plant.children("Hall/Press/Load");
    assert!(
        properties.contains(&"0:EngineeringUnits".to_owned())
            || properties.contains(&"EngineeringUnits".to_owned()),
        "{properties:?}"
    );

    // Types, by their namespace.
    let press = plant.node("Hall/Press");
    let of_type = |plant: &mut Plant, path: &str| {
        let node = plant.node(path);
        let follow = Follow::forward(ids::HAS_TYPE_DEFINITION);
        plant.client.browse(&node, &follow).unwrap()[0]
            .browse_name
            .to_string()
    };
    assert_eq!(
        of_type(&mut plant, "Hall/Press"),
        format!("{model}:PressType")
    );
    assert_eq!(
        of_type(&mut plant, "Hall/Press/Tools/Upper"),
        format!("{model}:DieType")
    );
    assert_eq!(of_type(&mut plant, "Gauge"), format!("{model}:GaugeType"));

    // The structure, with an absent optional field; its TypeId has the index of the server.
    let structure = plant.nodesets.structure(&name("StrokeDataType")).unwrap();
    let Variant::ExtensionObject(mut value) = plant.value("Hall/Press/Stroke") else {
        panic!("a structure");
    };
    assert_eq!(value.type_id, NodeId::numeric(model, 501));
    let point = plant.nodesets.structure(&name("PointDataType")).unwrap();
    value.type_id = stroke(&structure, &point).type_id;
    let fields = structure.fields_of(&value).unwrap();
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Force", "State", "Points"]);

    // The Method, with the arguments of the type.
    let reset = plant.node("Hall/Press/Reset");
    let call = |plant: &mut Plant, inputs| plant.client.call_method(&press, &reset, inputs);
    assert_eq!(call(&mut plant, vec![1_i32.into()]).unwrap(), []);
    let refused = call(&mut plant, Vec::new()).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadArgumentsMissing);
    let arguments = plant.node("Hall/Press/Reset/InputArguments");
    let Variant::Array(arguments) = plant.client.read_good(&arguments).unwrap() else {
        panic!("arguments");
    };
    let Some(Variant::ExtensionObject(argument)) = arguments.elements.get(0) else {
        panic!("an argument");
    };
    let argument: takt_ua::structures::Argument = argument.decode_as().unwrap();
    assert_eq!(argument.data_type, NodeId::numeric(model, 510));

    // Search by type: the abstract supertype, a name without `Type`, one with a namespace.
    let mut paths = |name: &str| -> Vec<String> {
        let found = plant.client.find_by_type(name).unwrap();
        found.into_iter().map(|node| node.path).collect()
    };
    let press_path = ["Plant/Hall/Press"];
    assert_eq!(paths("MachineType"), press_path);
    assert_eq!(paths("Press"), press_path);
    assert_eq!(paths(&format!("{model}:PressType")), press_path);
    assert_eq!(paths(&format!("{PRESS}:PressType")), press_path);
    assert_eq!(paths(&NodeId::numeric(model, 300).to_string()), press_path);
    assert_eq!(paths("ToolType"), ["Plant/Hall/Press/Tools/Upper"]);
    assert_eq!(paths("GaugeType"), ["Plant/Gauge"]);
    let error = plant.client.find_by_type("PresType").unwrap_err();
    assert!(matches!(error, ClientError::NoSuchType { .. }), "{error:?}");
    let error = error.to_string();
    assert!(error.contains("did you mean PressType?"), "{error}");

    // The folder of the NodeSet.
    let folder = NodeId::numeric(model, 1);
    let organized = plant
        .client
        .browse(&folder, &Follow::forward(ids::ORGANIZES))
        .unwrap();
    assert_eq!(organized[0].node_id.node_id, press);
    let parents = Follow {
        reference_type: NodeId::from(ids::HIERARCHICAL_REFERENCES),
        direction: BrowseDirection::Inverse,
    };
    assert_eq!(plant.client.browse(&press, &parents).unwrap().len(), 2);
    let class = [(plant.node("Gauge"), Attribute::NodeClass)];
    let class = plant.client.read_attributes(&class).unwrap();
    assert_eq!(class[0].value, Some(Variant::Int32(2)));
}

#[test]
fn a_provider_shows_instances() {
    check(false);
}

#[test]
fn a_registry_shows_the_same_instances() {
    check(true);
}

#[test]
fn a_registry_without_the_nodeset_is_named_with_the_fix() {
    let directory = tempfile::tempdir().unwrap();
    let serve = || ServeOptions {
        runtime_directory: Some(directory.path().join("runtime")),
        ..ServeOptions::default()
    };
    let _registry = Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.path().join("registry.redb"),
        serve: serve(),
        ..RegistryOptions::default()
    })
    .unwrap();
    let nodesets = nodesets();
    let gauge = Instance::new("Gauge", name("GaugeType"));
    let provider = Provider::builder("Plant")
        .nodesets(&nodesets)
        .instance(gauge);
    let provider = provider.serve(serve()).start().unwrap();
    let begin = Instant::now();
    loop {
        let state = format!("{:?}", provider.registry_state());
        if state.contains(PRESS) && state.contains("the file of each") {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{state}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a Provider with an instance and without a registry.
fn start_alone(instance: Instance) -> Result<Provider, ProviderError> {
    let directory = tempfile::tempdir().unwrap();
    Provider::builder("Plant")
        .nodesets(&nodesets())
        .instance(instance)
        .without_registry()
        .serve(ServeOptions {
            runtime_directory: Some(directory.path().to_owned()),
            ..ServeOptions::default()
        })
        .start()
}

fn mistake(change: impl FnOnce(Instance) -> Instance) -> InstanceError {
    match start_alone(change(Instance::new("Press", name("PressType")))) {
        Err(ProviderError::Instance { mistake, .. }) => *mistake,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it starts"),
    }
}

#[test]
fn mistakes_name_the_path_and_the_possible_ones() {
    let error = mistake(|press| press.bind("Identification/SerialNumer", "1")).to_string();
    assert!(
        error.contains("did you mean `Identification/SerialNumber`?"),
        "{error}"
    );
    assert!(error.contains("Force, SerialNumber, Year"), "{error}");
    let error = mistake(|press| {
        press.bind("Lode", 1.0).with("Tools").placeholder_of_type(
            "Tools/<Tool>",
            "T",
            name("DieType"),
        )
    });
    assert!(
        matches!(error, InstanceError::UnknownMember { .. }),
        "{error}"
    );
    let error = mistake(|press| press.with("Tools"));
    assert_eq!(
        error,
        InstanceError::MissingPlaceholder("Tools/<Tool>".to_owned())
    );
    let error = mistake(|press| press.placeholder("Tools/<Tool>", "Upper"));
    assert!(matches!(error, InstanceError::Abstract { .. }), "{error}");
    let error =
        mistake(|press| press.placeholder_of_type("Tools/<Tool>", "Upper", name("MonitorType")));
    assert!(matches!(error, InstanceError::NoSubtype { .. }), "{error}");
    let error = mistake(|press| press.placeholder("Monitor", "A"));
    assert_eq!(error, InstanceError::NoPlaceholder("Monitor".to_owned()));
    let error = mistake(|press| press.bind("Identification", 1_u32));
    assert!(matches!(error, InstanceError::NodeClass { .. }), "{error}");
    let error = mistake(|press| press.bind("Load", "full"));
    assert!(
        matches!(
            error,
            InstanceError::DataType {
                found: BuiltInType::String,
                ..
            }
        ),
        "{error}"
    );
    let error = mistake(|press| press.bind("Load", vec![1.0]));
    assert!(
        matches!(
            error,
            InstanceError::ValueRank {
                found: 1,
                declared: -1,
                ..
            }
        ),
        "{error}"
    );
    let error = mistake(|press| press.organized_in("Nowhere"));
    assert_eq!(error, InstanceError::NoFolder("Nowhere".to_owned()));
    let error = mistake(|_| Instance::new("M", name("MachineType")));
    assert!(matches!(error, InstanceError::Abstract { .. }), "{error}");
    let error = mistake(|_| Instance::new("M", name("PresType"))).to_string();
    assert!(error.contains("did you mean PressType?"), "{error}");
    let error = mistake(|_| Instance::new("M", TypeName::new("urn:other", "A"))).to_string();
    assert!(error.contains("urn:other"), "{error}");
}

/// Another member of the type of a mandatory placeholder takes its place (OPC 10000-3, 6.4.4.4.5).
#[test]
fn a_member_of_the_same_type_takes_the_place_of_a_placeholder() {
    let rack = || Instance::new("Rack", name("RackType"));
    let Err(ProviderError::Instance { mistake, .. }) = start_alone(rack()) else {
        panic!("it has no slot");
    };
    let missing = InstanceError::MissingPlaceholder("<Slot>".to_owned());
    assert_eq!(*mistake, missing);
    assert!(start_alone(rack().bind("First", "Die")).is_ok());
}

#[test]
fn structures_are_checked_by_their_definition() {
    let nodesets = nodesets();
    let stroke = nodesets.structure(&name("StrokeDataType")).unwrap();
    let error = stroke
        .value(&[("Farce", 1.0.into())])
        .unwrap_err()
        .to_string();
    assert!(error.contains("Force, Comment, State, Points"), "{error}");
    assert!(stroke.value(&[("Force", "1".into())]).is_err());
    let value = stroke.value(&[("Comment", "good".into())]).unwrap();
    let fields = stroke.fields_of(&value).unwrap();
    assert_eq!(fields[0], ("Force".to_owned(), 0.0.into()));
    assert_eq!(fields[1], ("Comment".to_owned(), "good".into()));
    let point = nodesets.structure(&name("PointDataType")).unwrap();
    assert!(point.fields_of(&value).is_err(), "of another type");
    assert!(
        nodesets.structure(&name("PressState")).is_err(),
        "an enumeration"
    );
}
