//! Declarations of a Provider at its own endpoint and at the registry: texts, arguments.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use takt_app::model::{self, provider};
use takt_app::serve::ServeOptions;
use takt_app::{Attribute, Client, ClientOptions, Field, Method, Object, Provider, Variable};
use takt_registry::{Registry, RegistryOptions};
use takt_ua::structures::{Argument, CallMethodRequest, CallMethodResult, CallRequest};
use takt_ua::{BuiltInType, LocalizedText, NodeId, StatusCode, Variant, ids};

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

    fn call(&mut self, inputs: &[Variant]) -> CallMethodResult {
        let request = CallRequest {
            methods_to_call: vec![CallMethodRequest {
                object_id: NodeId::numeric(self.own, provider::OBJECT),
                method_id: self.node("Mix"),
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
