//! Nodes, values, Writes, Calls, and a server that ends and comes back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::client::Follow;
use takt_app::{
    Attribute, Client, ClientOptions, Endpoint, Field, Instance, Method, MonitoredItemOptions,
    NodeSets, Provider, StructureDataType, Subscription, SubscriptionOptions, TypeName, Variable,
};
use takt_cell::Cell;
use takt_registry::{Registry, RegistryOptions};
use takt_ua::{BuiltInType, DateTime, NodeId, StatusCode, Variant, ids};

use crate::mirror::support::{
    PATIENCE, eventually, find, mirror, port, registry, serve, tcp, value, wait_for,
};

/// Time within which values flow again after the server is back.
const BACK: Duration = Duration::from_secs(5);

fn nodesets() -> NodeSets {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file: PathBuf = manifest.join("../takt-app/tests/it/instances/Press.NodeSet2.xml");
    NodeSets::load([file]).unwrap()
}

/// The mirrored server: a Provider without a registry.
fn upstream(directory: &Path, name: &str, port: u16, speed: &Arc<Cell>, extra: bool) -> Provider {
    let point = StructureDataType::new("Point").field(Field::new("X", BuiltInType::Double));
    let value = point.value(&[1.5.into()]).unwrap();
    let gauge = Instance::new("Gauge", TypeName::new("urn:takt:test:press", "GaugeType"));
    let builder = Provider::builder(name)
        .without_registry()
        .endpoint(format!("opc.tcp://127.0.0.1:{port}"))
        .serve(serve(directory))
        .nodesets(&nodesets())
        .instance(gauge.bind("", 7_i16).bind("Place", "Door"))
        .variable(Variable::cell("Spindle/Speed", speed))
        .variable(Variable::stored("Limit", 5_u32).writable())
        .variable(Variable::stored("Point", value).data_type(&point))
        .variable(Variable::stored("Large", "x".repeat(100_000)))
        .data_type(point)
        .method(
            Method::new("Double", |inputs| match inputs {
                [Variant::Double(value)] => Ok(vec![(2.0 * value).into()]),
                _ => Err(StatusCode::BadInvalidArgument),
            })
            .input("Value", BuiltInType::Double)
            .output("Result", BuiltInType::Double),
        );
    let builder = match extra {
        true => builder.variable(Variable::stored("Extra", 1_u32)),
        false => builder,
    };
    builder.start().unwrap()
}

#[test]
fn a_mirror_has_the_nodes_and_values_of_its_server() {
    let directory = tempfile::tempdir().unwrap();
    let speed = Arc::new(Cell::of(&Variant::Double(100.0)));
    let server = upstream(directory.path(), "Mill", 0, &speed, false);
    let endpoint = tcp(&server);
    let mirrors = vec![mirror("Left", &endpoint), mirror("Right", &endpoint)];
    let (_registry, mut client) = registry(directory.path(), mirrors);
    for name in ["Left", "Right"] {
        wait_for(
            &mut client,
            &format!("{name}/Mill/Spindle/Speed"),
            &100.0.into(),
        );
    }
    assert_eq!(value(&mut client, "Left/Available"), Some(true.into()));
    // The same NodeIds at the server, and others at the registry.
    let left = find(&mut client, "Left/Mill/Limit").unwrap();
    let right = find(&mut client, "Right/Mill/Limit").unwrap();
    assert_eq!(left.identifier, right.identifier);
    let uri = client.namespace_uri(left.namespace).unwrap();
    assert_eq!(uri, "urn:takt:mirror:Left:urn:takt:provider:Mill");
    assert_ne!(left.namespace, right.namespace);

    // Types are mapped by their URI: one type for both.
    let mut found: Vec<String> = client
        .find_by_type("GaugeType")
        .unwrap()
        .into_iter()
        .map(|node| node.path)
        .collect();
    found.sort();
    assert_eq!(found, ["Left/Mill/Gauge", "Right/Mill/Gauge"]);
    assert_eq!(
        value(&mut client, "Right/Mill/Gauge/Place"),
        Some("Door".into())
    );

    // A structure: its TypeId is that of the encoding at the registry.
    let Some(Variant::ExtensionObject(point)) = value(&mut client, "Left/Mill/Point") else {
        panic!("a structure");
    };
    let encoding = client.browse(
        &point.type_id,
        &Follow {
            reference_type: NodeId::from(ids::HAS_ENCODING),
            direction: takt_ua::enumerations::BrowseDirection::Inverse,
        },
    );
    assert_eq!(encoding.unwrap()[0].browse_name.name, "Point");

    // A Subscription through the mirror.
    let node = find(&mut client, "Left/Mill/Spindle/Speed").unwrap();
    let options = ClientOptions {
        runtime_directory: Some(directory.path().join("runtime")),
        ..ClientOptions::named("Subscriber")
    };
    let subscriber = Client::connect(client.endpoint(), options).unwrap();
    let mut subscription =
        Subscription::create(subscriber, SubscriptionOptions::default()).unwrap();
    subscription
        .monitor(&node, MonitoredItemOptions::default())
        .unwrap();
    speed
        .set_f64(250.0, StatusCode::Good, DateTime::now())
        .unwrap();
    eventually("the change", PATIENCE, || {
        let change = subscription.next(Duration::from_millis(100)).unwrap()?;
        (change.value.value == Some(250.0.into())).then_some(())
    });

    // Write and Call; a value that is not writable; one that is too large to be kept.
    client.write(&left, 9_u32.into()).unwrap();
    wait_for(&mut client, "Right/Mill/Limit", &9_u32.into());
    assert_eq!(
        client
            .write(&left, "text".into())
            .unwrap_err()
            .status_code(),
        StatusCode::BadTypeMismatch
    );
    let refused = client.write(&node, 1.0.into()).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadNotWritable);
    let object = find(&mut client, "Right/Mill").unwrap();
    let method = find(&mut client, "Right/Mill/Double").unwrap();
    let outputs = client
        .call_method(&object, &method, vec![4.0.into()])
        .unwrap();
    assert_eq!(outputs, [8.0.into()]);
    wait_for(&mut client, "Left/Mill/Large", &"x".repeat(100_000).into());
}

#[test]
fn values_flow_again_soon_after_the_server_is_back() {
    let directory = tempfile::tempdir().unwrap();
    let speed = Arc::new(Cell::of(&Variant::Double(1.0)));
    let server = upstream(directory.path(), "Mill", 0, &speed, false);
    let endpoint = tcp(&server);
    let port = port(&endpoint);
    let (_registry, mut client) = registry(directory.path(), vec![mirror("Mill", &endpoint)]);
    wait_for(&mut client, "Mill/Mill/Spindle/Speed", &1.0.into());
    let node = find(&mut client, "Mill/Mill/Spindle/Speed").unwrap();
    let limit = find(&mut client, "Mill/Mill/Limit").unwrap();
    drop(server);
    let status = |client: &mut Client| client.read(&node).unwrap().status_code();
    eventually("the end is noticed", PATIENCE, || {
        (status(&mut client) == StatusCode::UncertainLastUsableValue).then_some(())
    });
    assert_eq!(client.read(&node).unwrap().value, Some(1.0.into()));
    let refused = client.write(&limit, 1_u32.into()).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadNoCommunication);
    assert_eq!(value(&mut client, "Mill/Available"), Some(false.into()));
    let problem = value(&mut client, "Mill/Problem").unwrap();
    assert_ne!(problem, "".into(), "it says why");

    // Back with another node, after the pauses have become long: 0.1 s at first, then 0.2, 0.4 and 0.8 s.
    std::thread::sleep(Duration::from_millis(1600));
    let speed = Arc::new(Cell::of(&Variant::Double(2.0)));
    let server = upstream(directory.path(), "Mill", port, &speed, true);
    let begin = Instant::now();
    eventually("values flow again", BACK, || {
        (client.read(&node).ok()?.value == Some(2.0.into())).then_some(())
    });
    println!("values flow again after {:?}", begin.elapsed());
    client.write(&limit, 3_u32.into()).unwrap();
    wait_for(&mut client, "Mill/Mill/Extra", &1_u32.into());
    drop(server);
    let _server = upstream(directory.path(), "Mill", port, &speed, false);
    eventually("the node is gone", PATIENCE, || {
        find(&mut client, "Mill/Mill/Extra").is_none().then_some(())
    });
    eventually("the rest stays", PATIENCE, || {
        (status(&mut client) == StatusCode::Good).then_some(())
    });
}

#[test]
fn a_server_that_is_not_there_does_not_delay_the_registry() {
    let directory = tempfile::tempdir().unwrap();
    let endpoint: Endpoint = "opc.tcp://127.0.0.1:1".parse().unwrap();
    let begin = Instant::now();
    let (registry, mut client) = registry(directory.path(), vec![mirror("Gone", &endpoint)]);
    assert_eq!(value(&mut client, "Gone/Available"), Some(false.into()));
    assert!(begin.elapsed() < PATIENCE / 2);
    let class = [(find(&mut client, "Gone").unwrap(), Attribute::NodeClass)];
    assert_eq!(
        client.read_attributes(&class).unwrap()[0].value,
        Some(Variant::Int32(1))
    );
    drop(registry);
    let same = vec![mirror("Same", &endpoint), mirror("Same", &endpoint)];
    let options = RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.path().join("other.redb"),
        mirrors: same,
        serve: serve(directory.path()),
        ..RegistryOptions::default()
    };
    assert!(Registry::start(options).is_err(), "two with one name");
}
