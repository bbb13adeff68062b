//! Declarations of a Provider at its own endpoint and at the registry: texts, arguments, DataTypes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use takt_app::model::{self, provider};
use takt_app::serve::ServeOptions;
use takt_app::{
    Attribute, Client, ClientOptions, DeclarationMistake, Enumeration, Field, Method, Object,
    Provider, ProviderError, StructureDataType, StructureError, Variable,
};
use takt_registry::{Registry, RegistryOptions};
use takt_ua::structures::{
    Argument, CallMethodRequest, CallMethodResult, CallRequest, EnumDefinition, EnumValueType,
    StructureDefinition,
};
use takt_ua::{
    BuiltInType, ExtensionObject, LocalizedText, NodeId, StatusCode, Structure, Variant, ids,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// A Provider, registered or alone, and a client of the registry or of the Provider.
struct Plant {
    client: Client,
    /// Index of the Provider's namespace at the client's server.
    own: u16,
    calls: Arc<AtomicUsize>,
    _provider: Provider,
    _registry: Option<Registry>,
}

impl Plant {
    fn start(directory: &Path, with_registry: bool) -> Self {
        let serve = || ServeOptions {
            runtime_directory: Some(directory.join("runtime")),
            ..ServeOptions::default()
        };
        let options = || RegistryOptions {
            endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
            database: directory.join("registry.redb"),
            serve: serve(),
            ..RegistryOptions::default()
        };
        let registry = with_registry.then(|| Registry::start(options()).unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let builder = Provider::builder("Mixer");
        let builder = match with_registry {
            true => builder,
            false => builder.without_registry(),
        };
        let provider = builder
            .object(
                Object::new("Tank")
                    .display_name("Main tank")
                    .description("Tank below the mixer"),
            )
            .variable(Variable::stored("Tank/Level", 5.0_f64).description("Filled height"))
            .variable(
                Variable::stored("Tank/Name", "B 1")
                    .display_name(LocalizedText::new("de", "Bezeichnung")),
            )
            .method(mix(&calls))
            .data_type(state())
            .data_type(
                Enumeration::new("Mode")
                    .field(0, "Manual")
                    .field(1, "Automatic"),
            )
            .data_type(step())
            .data_type(recipe())
            .variable(
                Variable::stored("State", 7_i32)
                    .data_type(&state())
                    .writable(),
            )
            .variable(
                Variable::stored("Recipe", soup())
                    .data_type(&recipe())
                    .writable(),
            )
            .variable(Variable::stored("Steps", vec![boil(), boil()]).data_type(&step()))
            .method(
                Method::new("Cook", |inputs| Ok(inputs.to_vec()))
                    .input("Recipe", &recipe())
                    .output("Recipe", &recipe()),
            )
            .serve(serve())
            .start()
            .unwrap();
        let endpoint = match with_registry {
            true => "opc.iox2://SemanticRegistryServer",
            false => "opc.iox2://Mixer",
        };
        let options = ClientOptions {
            runtime_directory: Some(directory.join("runtime")),
            timeout: PATIENCE,
            ..ClientOptions::named("Test")
        };
        let begin = Instant::now();
        while with_registry && !provider.is_registered() {
            assert!(begin.elapsed() < PATIENCE, "it registers");
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut client = Client::connect(&endpoint.parse().unwrap(), options).unwrap();
        let own = client.namespace_index(&model::provider_uri("Mixer"));
        Self {
            own: own.unwrap().unwrap(),
            client,
            calls,
            _provider: provider,
            _registry: registry,
        }
    }

    fn node(&self, path: &str) -> NodeId {
        NodeId::string(self.own, path)
    }

    fn read(&mut self, path: &str, attribute: Attribute) -> (StatusCode, Option<Variant>) {
        let node = self.node(path);
        let value = self.client.read_attribute(&node, attribute).unwrap();
        (value.status_code(), value.value)
    }

    fn text(&mut self, path: &str, attribute: Attribute) -> LocalizedText {
        match self.read(path, attribute) {
            (StatusCode::Good, Some(Variant::LocalizedText(text))) => *text,
            other => panic!("{path}: {other:?}"),
        }
    }

    /// Returns the DataTypeDefinition of a DataType, and its NodeId.
    fn definition<T: Structure>(&mut self, path: &str) -> T {
        match self.read(path, Attribute::DataTypeDefinition) {
            (StatusCode::Good, Some(Variant::ExtensionObject(object))) => {
                object.decode_as().unwrap()
            }
            other => panic!("{path}: {other:?}"),
        }
    }

    fn value(&mut self, path: &str) -> Variant {
        self.read(path, Attribute::Value).1.unwrap()
    }

    fn call(&mut self, inputs: &[Variant]) -> CallMethodResult {
        self.call_of("Mix", inputs)
    }

    fn call_of(&mut self, method: &str, inputs: &[Variant]) -> CallMethodResult {
        let request = CallRequest {
            methods_to_call: vec![CallMethodRequest {
                object_id: NodeId::numeric(self.own, provider::OBJECT),
                method_id: self.node(method),
                input_arguments: inputs.to_vec(),
            }],
            ..CallRequest::default()
        };
        self.client.call(request).unwrap().results.swap_remove(0)
    }
}

/// A Method that returns the share of each amount.
fn mix(calls: &Arc<AtomicUsize>) -> Method {
    let calls = Arc::clone(calls);
    Method::new("Mix", move |inputs| {
        calls.fetch_add(1, Ordering::Relaxed);
        match inputs {
            [Variant::Array(_), Variant::String(_)] => Ok(vec![vec![0.25_f64, 0.75].into()]),
            _ => Err(StatusCode::BadInternalError),
        }
    })
    .description("Mixes the components")
    .input_field(
        Field::new("Amounts", BuiltInType::Double)
            .array(3)
            .description("Litres of each component"),
    )
    .input("Recipe", BuiltInType::String)
    .output_field(Field::new("Shares", BuiltInType::Double).array(0))
}

fn state() -> Enumeration {
    Enumeration::new("MachineState")
        .description("State of the mixer")
        .field(0, "Off")
        .described_field(7, "Running", "The motor turns")
}

fn step() -> StructureDataType {
    StructureDataType::new("Step")
        .field(Field::new("Action", BuiltInType::String))
        .field(Field::new("State", &state()))
}

fn recipe() -> StructureDataType {
    StructureDataType::new("Recipe")
        .description("Steps and amounts")
        .field(Field::new("Name", BuiltInType::String).description("Name of the dish"))
        .field(Field::new("Amounts", BuiltInType::Double).array(3))
        .field(Field::new("First", &step()))
        .field(Field::new("Others", &step()).array(0))
        .field(Field::new("Note", BuiltInType::Variant))
}

fn boil() -> ExtensionObject {
    step().value(&["Boil".into(), 7_i32.into()]).unwrap()
}

fn soup_fields() -> [Variant; 5] {
    [
        "Soup".into(),
        vec![0.5_f64, 1.5].into(),
        boil().into(),
        vec![boil(), boil()].into(),
        3_u8.into(),
    ]
}

fn soup() -> ExtensionObject {
    recipe().value(&soup_fields()).unwrap()
}

fn for_both(check: impl Fn(&mut Plant)) {
    for with_registry in [false, true] {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        check(&mut Plant::start(directory.path(), with_registry));
    }
}

#[test]
fn nodes_have_their_texts() {
    for_both(|plant| {
        for (path, display_name, description) in [
            ("Tank", "Main tank".into(), Some("Tank below the mixer")),
            ("Tank/Level", "Level".into(), Some("Filled height")),
            ("Tank/Name", LocalizedText::new("de", "Bezeichnung"), None),
            ("Mix", "Mix".into(), Some("Mixes the components")),
        ] {
            assert_eq!(plant.text(path, Attribute::DisplayName), display_name);
            match description {
                Some(text) => assert_eq!(plant.text(path, Attribute::Description), text.into()),
                None => {
                    let (status, _) = plant.read(path, Attribute::Description);
                    assert_eq!(status, StatusCode::BadAttributeIdInvalid);
                }
            }
        }
    });
}

#[test]
fn arguments_are_arrays_with_descriptions() {
    for_both(|plant| {
        let (_, value) = plant.read("Mix#InputArguments", Attribute::Value);
        let Some(Variant::Array(array)) = value else {
            panic!("{value:?}");
        };
        let arguments: Vec<Argument> = array
            .elements
            .iter()
            .map(|element| match element {
                Variant::ExtensionObject(object) => object.decode_as().unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        let amounts = Argument {
            name: "Amounts".into(),
            data_type: ids::DOUBLE.into(),
            value_rank: 1,
            array_dimensions: vec![3],
            description: "Litres of each component".into(),
        };
        let recipe = Argument {
            name: "Recipe".into(),
            data_type: ids::STRING.into(),
            value_rank: -1,
            ..Argument::default()
        };
        assert_eq!(arguments, [amounts, recipe]);
    });
}

#[test]
fn a_call_checks_ranks_types_and_lengths() {
    for_both(|plant| {
        let result = plant.call(&[vec![1.0_f64, 3.0].into(), "A".into()]);
        assert_eq!(result.status_code, StatusCode::Good);
        assert_eq!(result.output_arguments, [vec![0.25_f64, 0.75].into()]);
        let wrong = [
            (Variant::Double(1.0), StatusCode::BadTypeMismatch),
            (vec![1_i32].into(), StatusCode::BadTypeMismatch),
            (vec![1.0_f64; 4].into(), StatusCode::BadOutOfRange),
        ];
        for (amounts, expected) in wrong {
            let result = plant.call(&[amounts, "A".into()]);
            assert_eq!(result.status_code, StatusCode::BadInvalidArgument);
            assert_eq!(result.input_argument_results, [expected, StatusCode::Good]);
        }
        let missing = plant.call(&["A".into()]);
        assert_eq!(missing.status_code, StatusCode::BadArgumentsMissing);
        assert_eq!(
            plant.calls.load(Ordering::Relaxed),
            1,
            "the others failed before"
        );
    });
}

#[test]
fn an_enumeration_is_a_data_type() {
    for_both(|plant| {
        let (_, data_type) = plant.read("State", Attribute::DataType);
        assert_eq!(data_type, Some(plant.node("#MachineState").into()));
        assert_eq!(plant.value("State"), 7_i32.into());
        let definition: EnumDefinition = plant.definition("#MachineState");
        let fields: Vec<_> = definition
            .fields
            .iter()
            .map(|field| {
                (
                    field.value,
                    field.name.as_str(),
                    field.description.text.as_str(),
                )
            })
            .collect();
        assert_eq!(fields, [(0, "Off", ""), (7, "Running", "The motor turns")]);
        let description = plant.text("#MachineState", Attribute::Description);
        assert_eq!(description, "State of the mixer".into());
        let Variant::Array(values) = plant.value("#MachineState#EnumValues") else {
            panic!("EnumValues are an array");
        };
        let Some(Variant::ExtensionObject(running)) = values.elements.get(1) else {
            panic!("of structures");
        };
        let running: EnumValueType = running.decode_as().unwrap();
        assert_eq!((running.value, running.display_name), (7, "Running".into()));
        assert_eq!(
            plant.value("#Mode#EnumStrings"),
            ["Manual", "Automatic"]
                .map(LocalizedText::from)
                .to_vec()
                .into()
        );
        let state = plant.node("State");
        assert!(plant.client.write(&state, 0_i32.into()).is_ok());
        let refused = plant.client.write(&state, 0_u32.into()).unwrap_err();
        assert_eq!(refused.status_code(), StatusCode::BadTypeMismatch);
    });
}

#[test]
fn a_structure_is_a_data_type_with_an_encoding() {
    for_both(|plant| {
        let definition: StructureDefinition = plant.definition("#Recipe");
        let encoding = plant.node("#Recipe#Default Binary");
        assert_eq!(definition.default_encoding_id, encoding);
        assert_eq!(
            definition.base_data_type,
            NodeId::numeric(0, ids::STRUCTURE)
        );
        let first = &definition.fields[2];
        assert_eq!(first.data_type, plant.node("#Step"));
        assert_eq!(definition.fields[3].value_rank, 1);

        let Variant::ExtensionObject(value) = plant.value("Recipe") else {
            panic!("a structure");
        };
        assert_eq!(value.type_id, encoding, "an index of this server");
        assert_eq!(recipe().fields_of(&value), Ok(soup_fields().to_vec()));
        let Variant::Array(steps) = plant.value("Steps") else {
            panic!("an array");
        };
        let Some(Variant::ExtensionObject(step)) = steps.elements.get(1) else {
            panic!("of structures");
        };
        assert_eq!(step.type_id, plant.node("#Step#Default Binary"));

        // What a client writes and passes has the index of its server too.
        let node = plant.node("Recipe");
        assert!(
            plant
                .client
                .write(&node, Variant::ExtensionObject(value.clone()))
                .is_ok()
        );
        assert_eq!(
            plant.value("Recipe"),
            Variant::ExtensionObject(value.clone())
        );
        let mut wrong = value.clone();
        wrong.type_id = plant.node("#Step#Default Binary");
        let refused = plant
            .client
            .write(&node, Variant::ExtensionObject(wrong))
            .unwrap_err();
        assert_eq!(refused.status_code(), StatusCode::BadTypeMismatch);
        let cooked = plant.call_of("Cook", &[Variant::ExtensionObject(value.clone())]);
        assert_eq!(cooked.output_arguments, [Variant::ExtensionObject(value)]);
        let refused = plant.call_of("Cook", &[Variant::ExtensionObject(Box::new(boil()))]);
        assert_eq!(refused.status_code, StatusCode::BadInvalidArgument);
    });
}

#[test]
fn values_that_are_no_structures_of_the_type_are_refused() {
    let count = recipe().value(&["Soup".into()]);
    assert_eq!(
        count,
        Err(StructureError::Count {
            expected: 5,
            given: 1
        })
    );
    let wrong: [(usize, Variant); 4] = [
        (0, 1.0.into()),
        (1, vec![0.0_f64; 4].into()),
        (1, 0.0.into()),
        (4, Variant::Empty),
    ];
    for (index, value) in wrong {
        let mut fields = soup_fields();
        fields[index] = value;
        let made = recipe().value(&fields);
        match index {
            // A null Variant is a Variant.
            4 => assert!(made.is_ok()),
            _ => assert!(
                matches!(made, Err(StructureError::Field(_))),
                "{index}: {made:?}"
            ),
        }
    }
    assert!(matches!(
        recipe().fields_of(&boil()),
        Err(StructureError::Type(_))
    ));
    let duration =
        StructureDataType::new("Wait").field(Field::new("Time", NodeId::numeric(0, ids::DURATION)));
    let unknown = duration.value(&[1.0.into()]);
    assert_eq!(unknown, Err(StructureError::Unknown("Time".to_owned())));
}

#[test]
fn declarations_of_data_types_are_checked() {
    let mistake = |builder: takt_app::ProviderBuilder| match builder.without_registry().start() {
        Err(ProviderError::Declaration { path, mistake }) => (path, mistake),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it started"),
    };
    let builder = || Provider::builder("Mistaken");
    let variable = || Variable::stored("State", 0_i32).data_type(&state());
    let unknown = |name: &str| DeclarationMistake::UnknownDataType(name.to_owned());
    let cases = [
        (
            builder().variable(variable()),
            "State",
            unknown("MachineState"),
        ),
        (
            builder().method(Method::new("Cook", |_| Ok(Vec::new())).input("Recipe", &recipe())),
            "Cook",
            unknown("Recipe"),
        ),
        (
            builder().data_type(step()).data_type(state()),
            "Step",
            unknown("MachineState"),
        ),
        (
            builder()
                .data_type(state())
                .variable(Variable::stored("State", 0_u32).data_type(&state())),
            "State",
            DeclarationMistake::DataType {
                expected: BuiltInType::Int32,
                declared: BuiltInType::UInt32,
            },
        ),
        (
            builder().data_type(Enumeration::new("E")),
            "E",
            DeclarationMistake::NoFields,
        ),
        (
            builder().data_type(Enumeration::new("E").field(1, "A").field(1, "B")),
            "E",
            DeclarationMistake::DuplicateField("1".to_owned()),
        ),
    ];
    for (builder, path, expected) in cases {
        assert_eq!(mistake(builder), (path.to_owned(), expected));
    }
}
