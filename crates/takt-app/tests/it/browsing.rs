//! The address space of a Provider at its own endpoints.

use std::path::Path;

use takt_app::client::Follow;
use takt_app::model::{self, provider};
use takt_app::serve::ServeOptions;
use takt_app::{
    Attribute, Client, ClientOptions, Method, Provider, ProviderBuilder, Unit, Variable,
};
use takt_ua::structures::{Argument, EUInformation, Range};
use takt_ua::{BuiltInType, LocalizedText, NodeId, Structure, Variant, ids};

/// The namespace of the registry's model at a Provider.
const MODEL: u16 = 2;

fn own(path: &str) -> NodeId {
    NodeId::string(1, path)
}

fn object() -> NodeId {
    NodeId::numeric(1, provider::OBJECT)
}

fn builder(directory: &Path) -> ProviderBuilder {
    let nothing = |_: &[Variant]| Ok(Vec::new());
    let fill = Method::new("Tank/Fill", nothing)
        .input("Litres", BuiltInType::Double)
        .output("Level", BuiltInType::Double);
    Provider::builder("Plant")
        .without_registry()
        .variable(
            Variable::stored("Tank/Level", 5.0_f64)
                .writable()
                .unit(Unit::PERCENT)
                .range(0.0..200.0),
        )
        .variable(Variable::stored("Mode", 1_u32).states(["Off", "On"]))
        .variable(Variable::stored("Samples", vec![1_u16, 2, 3]))
        .method(fill)
        .serve(ServeOptions {
            runtime_directory: Some(directory.to_path_buf()),
            ..ServeOptions::default()
        })
}

fn connect(directory: &Path) -> Client {
    let options = ClientOptions {
        runtime_directory: Some(directory.to_path_buf()),
        ..ClientOptions::named("Test")
    };
    Client::connect(&"opc.iox2://Plant".parse().unwrap(), options).unwrap()
}

/// Returns the forward references of a node without its type: BrowseName, and NodeId of the target.
fn children(client: &mut Client, node: &NodeId) -> Vec<(String, NodeId)> {
    let mut found: Vec<_> = client
        .browse(node, &Follow::children())
        .unwrap()
        .into_iter()
        .map(|child| (child.browse_name.to_string(), child.node_id.node_id))
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

fn attribute(client: &mut Client, node: &NodeId, attribute: Attribute) -> Variant {
    let read = client.read_attribute(node, attribute).unwrap();
    assert!(read.status_code().is_good(), "{node}: {attribute:?}");
    read.value.unwrap()
}

fn structure<S: Structure + PartialEq>(value: &Variant) -> S {
    match value {
        Variant::ExtensionObject(object) => object.decode_as().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn arguments(client: &mut Client, node: &NodeId) -> Vec<(String, NodeId)> {
    let Variant::Array(array) = client.read_good(node).unwrap() else {
        panic!("{node}")
    };
    array
        .elements
        .iter()
        .map(|element| structure::<Argument>(&element))
        .map(|argument| (argument.name.as_str().to_owned(), argument.data_type))
        .collect()
}

#[test]
fn a_client_finds_data_with_types_units_and_arguments() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path());
    assert_eq!(
        client.namespace_array().unwrap(),
        [
            "http://opcfoundation.org/UA/",
            &model::provider_uri("Plant"),
            model::NAMESPACE_URI,
        ]
    );
    let found = client.find("Plant/Tank/Level").unwrap();
    assert_eq!(found.node_id.node_id, own("Tank/Level"));
    let analog = NodeId::numeric(0, ids::BASE_ANALOG_TYPE);
    assert_eq!(found.type_definition.node_id, analog);

    let below = |client: &mut Client, node: &NodeId| -> Vec<String> {
        children(client, node)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    };
    assert_eq!(
        below(&mut client, &object()),
        [
            "1:Mode",
            "1:Samples",
            "1:Tank",
            "2:Available",
            "2:Revision",
            "2:ServerEndpoint",
        ]
    );
    assert_eq!(below(&mut client, &own("Tank")), ["1:Fill", "1:Level"]);
    assert_eq!(
        below(&mut client, &own("Tank/Level")),
        ["EURange", "EngineeringUnits"]
    );

    let level = own("Tank/Level");
    let double = NodeId::numeric(0, ids::DOUBLE);
    for (wanted, expected) in [
        (Attribute::DataType, Variant::from(double.clone())),
        (Attribute::ValueRank, Variant::from(-1_i32)),
        (Attribute::AccessLevel, Variant::from(0x63_u8)),
        (
            Attribute::DisplayName,
            Variant::from(LocalizedText::from("Level")),
        ),
        (Attribute::Value, Variant::from(5.0_f64)),
    ] {
        assert_eq!(attribute(&mut client, &level, wanted), expected);
    }
    let range: Range = structure(&client.read_good(&own("Tank/Level#EURange")).unwrap());
    assert_eq!((range.low, range.high), (0.0, 200.0));
    let unit = client.read_good(&own("Tank/Level#EngineeringUnits"));
    assert_eq!(
        structure::<EUInformation>(&unit.unwrap()),
        EUInformation::from(Unit::PERCENT)
    );
    let names = client.read_good(&own("Mode#EnumStrings")).unwrap();
    let expected = vec![LocalizedText::from("Off"), LocalizedText::from("On")];
    assert_eq!(names, Variant::from(expected));
    let rank = attribute(&mut client, &own("Samples"), Attribute::ValueRank);
    assert_eq!(rank, Variant::from(1_i32));
    assert_eq!(
        arguments(&mut client, &own("Tank/Fill#InputArguments")),
        [("Litres".to_owned(), double.clone())]
    );
    assert_eq!(
        arguments(&mut client, &own("Tank/Fill#OutputArguments")),
        [("Level".to_owned(), double)]
    );

    let endpoint = NodeId::numeric(1, provider::FIRST_ENDPOINT);
    assert_eq!(
        client.read_good(&endpoint).unwrap(),
        provider.endpoints()[0].to_string().as_str().into()
    );
    let via = Follow {
        reference_type: NodeId::numeric(MODEL, model::INTERACTION_VIA),
        ..Follow::all()
    };
    let targets = client.browse(&level, &via).unwrap();
    let targets: Vec<_> = targets
        .iter()
        .map(|target| &target.node_id.node_id)
        .collect();
    assert_eq!(targets, [&endpoint]);
}

/// The Object is of a type that a client can follow to namespace 0.
#[test]
fn types_have_their_supertypes() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let _provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path());
    let provider_type = NodeId::numeric(MODEL, model::PROVIDER_TYPE);
    let found = client.find("Plant").unwrap();
    assert_eq!(found.node_id.node_id, object());
    assert_eq!(found.type_definition.node_id, provider_type);
    let subtypes = client.browse(
        &NodeId::numeric(0, ids::BASE_OBJECT_TYPE),
        &Follow::forward(ids::HAS_SUBTYPE),
    );
    let mut subtypes = subtypes.unwrap().into_iter();
    assert!(subtypes.any(|subtype| subtype.node_id.node_id == provider_type));
    for reference_type in [model::INTERACTION_VIA, model::CREATED_BY] {
        let node = NodeId::numeric(MODEL, reference_type);
        let inverse = attribute(&mut client, &node, Attribute::InverseName);
        assert!(matches!(inverse, Variant::LocalizedText(_)), "{inverse:?}");
    }
    // The Registry Object is an instance: it is at the registry only.
    let registry = NodeId::numeric(MODEL, model::REGISTRY);
    assert!(client.browse(&registry, &Follow::children()).is_err());
}

/// `Available` says if the Provider is registered.
#[test]
fn a_provider_without_a_registry_is_not_available() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let _provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path());
    let available = NodeId::numeric(1, provider::AVAILABLE);
    assert_eq!(client.read_good(&available).unwrap(), false.into());
}

#[test]
fn a_reduced_provider_shows_no_variables() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let _provider = builder(directory.path()).reduced().start().unwrap();
    let mut client = connect(directory.path());
    assert_eq!(client.namespace_array().unwrap().len(), 2);
    let expected = [("1:Tank".to_owned(), own("Tank"))];
    assert_eq!(children(&mut client, &object()), expected);
    let expected = [("1:Fill".to_owned(), own("Tank/Fill"))];
    assert_eq!(children(&mut client, &own("Tank")), expected);
    assert_eq!(client.read_good(&own("Tank/Level")).unwrap(), 5.0.into());
    assert!(client.write(&own("Tank/Level"), 6.0.into()).is_ok());
    let range: Range = structure(&client.read_good(&own("Tank/Level#EURange")).unwrap());
    assert_eq!(range.high, 200.0);
    let outputs = client.call_method(&own("Tank"), &own("Tank/Fill"), vec![1.0.into()]);
    assert!(outputs.is_ok());
}
