//! History of a Provider: recorded, durable, read by clients directly and through the registry.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::serve::ServeOptions;
use takt_app::{
    Aggregate, Attribute, ClientOptions, HistoryRange, Provider, ProviderBuilder, Recording,
    Variable,
};
use takt_cell::Cell;
use takt_registry::{Registry, RegistryHistoryOptions, RegistryOptions};
use takt_space::UserRole;
use takt_ua::enumerations::{PermissionType, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{ByteString, DateTime, ExtensionObject, NodeId, StatusCode, Variant};

const PATIENCE: Duration = Duration::from_secs(30);

fn serve(directory: &Path) -> ServeOptions {
    ServeOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ServeOptions::default()
    }
}

fn options(directory: &Path) -> ClientOptions {
    ClientOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ClientOptions::named("test")
    }
}

fn builder(directory: &Path) -> ProviderBuilder {
    let observed = PermissionType::Browse | PermissionType::Read;
    Provider::builder("Press")
        .without_registry()
        .variable(
            Variable::stored("Level", 0_i32)
                .writable()
                .historized(Recording::changes()),
        )
        .variable(Variable::stored("Plain", 0_i32))
        .variable(
            Variable::stored("Secret", 0_i32)
                .historized(Recording::changes())
                .permissions(UserRole::SecurityAdmin, observed),
        )
        .serve(serve(directory))
        .state_directory(directory.join("state"))
}

fn connect(directory: &Path, endpoint: &str) -> Client {
    Client::connect(&endpoint.parse().unwrap(), options(directory)).unwrap()
}

fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

const ALL: HistoryRange = HistoryRange {
    start: Some(DateTime(1)),
    end: Some(DateTime(i64::MAX)),
    limit: 0,
    bounds: false,
};

fn numbers(values: &[takt_ua::DataValue]) -> Vec<i32> {
    let number = |value: &takt_ua::DataValue| match value.value {
        Some(Variant::Int32(number)) => Some(number),
        _ => None,
    };
    values.iter().filter_map(number).collect()
}

/// Writes 1 to `count`, and waits until all of them are recorded.
fn write(client: &mut Client, count: i32) {
    for value in 1..=count {
        client.write(&node("Level"), Variant::from(value)).unwrap();
    }
    eventually("all values are recorded", || {
        let read = client.history_raw(&node("Level"), ALL).unwrap();
        (numbers(&read).last() == Some(&count)).then_some(())
    });
}

#[test]
fn each_change_of_a_stored_value_is_recorded_and_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    write(&mut client, 300);
    let read = client.history_raw(&node("Level"), ALL).unwrap();
    assert_eq!(numbers(&read), (0..=300).collect::<Vec<_>>());
    let times: Vec<_> = read
        .iter()
        .map(|value| value.source_timestamp.unwrap())
        .collect();
    assert!(times.is_sorted());
    assert!(read.iter().all(|value| value.server_timestamp.is_some()));

    // In reverse order, in pages, up to a number.
    let last = HistoryRange {
        start: None,
        end: Some(DateTime::now()),
        limit: 3,
        bounds: false,
    };
    assert_eq!(
        numbers(&client.history_raw(&node("Level"), last).unwrap()),
        [300, 299, 298]
    );

    let (start, end) = (times[0], DateTime(times[300].0 + 1));
    let count = client.history_processed(
        &node("Level"),
        Aggregate::Count,
        (start, end),
        Duration::ZERO,
    );
    assert_eq!(numbers(&count.unwrap()), [301]);
    let at = client
        .history_at(&node("Level"), &[times[7], DateTime(times[7].0 + 1)])
        .unwrap();
    assert_eq!(numbers(&at), [7, 7]);
    assert_eq!(at[1].status_code().0, 0x402, "interpolated");

    let counts = provider.history_counts();
    assert!(counts.recorded >= 301 && counts.lost == 0, "{counts:?}");
    drop((client, provider));
    let _provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    let read = eventually("values are recorded again", || {
        let read = client.history_raw(&node("Level"), ALL).ok()?;
        (read.len() == 303).then_some(read)
    });
    // Between the last record and the start nothing is known.
    assert_eq!(read[301].status_code(), StatusCode::BadNoData);
    assert_eq!(numbers(&read[302..]), [0]);
}

#[test]
fn cells_are_sampled() {
    let directory = tempfile::tempdir().unwrap();
    let cell = Arc::new(Cell::of(&Variant::Double(1.5)));
    let _provider = Provider::builder("Press")
        .without_registry()
        .variable(
            Variable::cell("Speed", &cell)
                .historized(Recording::sampled(Duration::from_millis(20))),
        )
        .variable(
            Variable::callback("Time", takt_ua::BuiltInType::Int32, || 7_i32)
                .historized(Recording::changes().interval(Duration::from_millis(20))),
        )
        .serve(serve(directory.path()))
        .state_directory(directory.path().join("state"))
        .start()
        .unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    eventually("samples are recorded", || {
        let read = client.history_raw(&node("Speed"), ALL).ok()?;
        (read.len() > 20).then_some(())
    });
    // The callback runs on a worker; its value does not change.
    let read = client.history_raw(&node("Time"), ALL).unwrap();
    assert_eq!(numbers(&read), [7]);
}

/// Sends a HistoryRead of one node, and returns its result.
fn history(
    client: &mut Client,
    path: &str,
    details: ExtensionObject,
    (point, release): (ByteString, bool),
) -> HistoryReadResult {
    let response = client.call(HistoryReadRequest {
        history_read_details: details,
        timestamps_to_return: TimestampsToReturn::Source,
        release_continuation_points: release,
        nodes_to_read: vec![HistoryReadValueId {
            node_id: node(path),
            continuation_point: point,
            ..HistoryReadValueId::default()
        }],
        ..HistoryReadRequest::default()
    });
    response.unwrap().results.swap_remove(0)
}

fn raw(number: u32) -> ExtensionObject {
    ExtensionObject::from_structure(&ReadRawModifiedDetails {
        start_time: DateTime(1),
        end_time: DateTime(i64::MAX),
        num_values_per_node: number,
        ..ReadRawModifiedDetails::default()
    })
}

fn values(result: &HistoryReadResult) -> Vec<i32> {
    let data: HistoryData = result.history_data.decode_as().unwrap();
    assert!(
        data.data_values
            .iter()
            .all(|value| value.server_timestamp.is_none())
    );
    numbers(&data.data_values)
}

#[test]
fn continuation_points_are_used_once_and_can_be_released() {
    let directory = tempfile::tempdir().unwrap();
    let _provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    write(&mut client, 5);
    let none = ByteString::default;
    let first = history(&mut client, "Level", raw(4), (none(), false));
    assert_eq!(values(&first), [0, 1, 2, 3]);
    let point = first.continuation_point;
    let second = history(&mut client, "Level", raw(4), (point.clone(), false));
    assert_eq!(values(&second), [4, 5]);
    assert!(second.continuation_point.is_empty());
    let invalid = StatusCode::BadContinuationPointInvalid;
    let again = history(&mut client, "Level", raw(4), (point, false));
    assert_eq!(again.status_code, invalid);

    let point = history(&mut client, "Level", raw(1), (none(), false)).continuation_point;
    let other = history(&mut client, "Secret", raw(1), (point.clone(), false));
    assert_eq!(other.status_code, invalid, "the point of another Variable");
    let released = history(&mut client, "Level", raw(1), (point.clone(), true));
    assert_eq!(released.status_code, StatusCode::Good);
    let again = history(&mut client, "Level", raw(1), (point, false));
    assert_eq!(again.status_code, invalid);

    // A point for other details.
    let point = history(&mut client, "Level", raw(1), (none(), false)).continuation_point;
    let at = ReadAtTimeDetails {
        req_times: vec![DateTime::now()],
        use_simple_bounds: false,
    };
    let other = history(
        &mut client,
        "Level",
        ExtensionObject::from_structure(&at),
        (point, false),
    );
    assert_eq!(other.status_code, invalid);

    // The oldest of too many points is gone.
    let points: Vec<_> = (0..101)
        .map(|_| history(&mut client, "Level", raw(1), (none(), false)).continuation_point)
        .collect();
    let oldest = history(&mut client, "Level", raw(1), (points[0].clone(), false));
    assert_eq!(oldest.status_code, invalid);
    let next = history(&mut client, "Level", raw(1), (points[1].clone(), false));
    assert_eq!(values(&next), [1]);
}

#[test]
fn each_refusal_has_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let _provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    write(&mut client, 1);
    let mut status = |path: &str, details: ExtensionObject| {
        history(&mut client, path, details, (ByteString::default(), false)).status_code
    };
    assert_eq!(status("Level", raw(0)), StatusCode::Good);
    assert_eq!(
        status("Plain", raw(0)),
        StatusCode::BadHistoryOperationUnsupported
    );
    assert_eq!(status("Nothing", raw(0)), StatusCode::BadNodeIdUnknown);
    assert_eq!(status("Secret", raw(0)), StatusCode::BadUserAccessDenied);
    let modified = ReadRawModifiedDetails {
        is_read_modified: true,
        ..ReadRawModifiedDetails::default()
    };
    let modified = ExtensionObject::from_structure(&modified);
    assert_eq!(
        status("Level", modified),
        StatusCode::BadHistoryOperationUnsupported
    );
    let events = ExtensionObject::from_structure(&ReadEventDetails::default());
    assert_eq!(
        status("Level", events),
        StatusCode::BadHistoryOperationUnsupported
    );
    let nothing = ExtensionObject::from_structure(&ReadRawModifiedDetails::default());
    assert_eq!(
        status("Level", nothing),
        StatusCode::BadHistoryOperationInvalid
    );
    let before = ReadRawModifiedDetails {
        start_time: DateTime(1),
        end_time: DateTime(2),
        ..ReadRawModifiedDetails::default()
    };
    assert_eq!(
        status("Level", ExtensionObject::from_structure(&before)),
        StatusCode::GoodNoData
    );
    let processed = |aggregate: u32, configuration: AggregateConfiguration| {
        ExtensionObject::from_structure(&ReadProcessedDetails {
            start_time: DateTime(1),
            end_time: DateTime(2),
            processing_interval: 0.0,
            aggregate_type: vec![NodeId::from(aggregate)],
            aggregate_configuration: configuration,
        })
    };
    let average = takt_ua::ids::AGGREGATE_FUNCTION_AVERAGE;
    let contradiction = AggregateConfiguration {
        percent_data_good: 10,
        ..AggregateConfiguration::default()
    };
    assert_eq!(
        status("Level", processed(average, contradiction)),
        StatusCode::BadAggregateInvalidInputs
    );
    let unknown = processed(
        takt_ua::ids::AGGREGATE_FUNCTION_ANNOTATION_COUNT,
        AggregateConfiguration::default(),
    );
    assert_eq!(
        status("Level", unknown),
        StatusCode::BadAggregateNotSupported
    );

    // Faults of the whole request.
    let mut fault = |change: &dyn Fn(&mut HistoryReadRequest)| {
        let mut request = HistoryReadRequest {
            history_read_details: raw(0),
            nodes_to_read: vec![HistoryReadValueId {
                node_id: node("Level"),
                ..HistoryReadValueId::default()
            }],
            ..HistoryReadRequest::default()
        };
        change(&mut request);
        client.call(request).unwrap_err().status_code()
    };
    assert_eq!(
        fault(&|request| request.nodes_to_read.clear()),
        StatusCode::BadNothingToDo
    );
    assert_eq!(
        fault(&|request| request.nodes_to_read = vec![HistoryReadValueId::default(); 101]),
        StatusCode::BadTooManyOperations
    );
    assert_eq!(
        fault(&|request| request.timestamps_to_return = TimestampsToReturn::Neither),
        StatusCode::BadTimestampsToReturnInvalid
    );
    assert_eq!(
        fault(&|request| request.history_read_details = ExtensionObject::NULL),
        StatusCode::BadHistoryOperationInvalid
    );
    let lists = ExtensionObject::from_structure(&ReadProcessedDetails::default());
    assert_eq!(
        fault(&|request| request.history_read_details = lists.clone()),
        StatusCode::BadAggregateListMismatch
    );
    let update = HistoryUpdateRequest {
        history_update_details: vec![ExtensionObject::from_structure(
            &UpdateDataDetails::default(),
        )],
        ..HistoryUpdateRequest::default()
    };
    let refused = client.call(update).unwrap().results;
    assert_eq!(
        refused[0].status_code,
        StatusCode::BadHistoryOperationUnsupported
    );
}

#[test]
fn attributes_and_capabilities_say_what_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let _provider = builder(directory.path()).start().unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    let mut read = |node: NodeId, attribute| {
        let values = client.read_attributes(&[(node, attribute)]).unwrap();
        values[0].value.clone()
    };
    assert_eq!(
        read(node("Level"), Attribute::AccessLevel),
        Some(Variant::Byte(0x67))
    );
    assert_eq!(
        read(node("Level"), Attribute::Historizing),
        Some(Variant::from(true))
    );
    assert_eq!(
        read(node("Plain"), Attribute::AccessLevel),
        Some(Variant::Byte(0x01))
    );
    assert_eq!(
        read(node("Plain"), Attribute::Historizing),
        Some(Variant::from(false))
    );
    let mut value = |id: u32| read(NodeId::from(id), Attribute::Value);
    use takt_ua::ids::*;
    assert_eq!(
        value(HISTORY_SERVER_CAPABILITIES_ACCESS_HISTORY_DATA_CAPABILITY),
        Some(Variant::from(true))
    );
    assert_eq!(
        value(HISTORY_SERVER_CAPABILITIES_SERVER_TIMESTAMP_SUPPORTED),
        Some(Variant::from(true))
    );
    assert_eq!(
        value(HISTORY_SERVER_CAPABILITIES_UPDATE_DATA_CAPABILITY),
        Some(Variant::from(false))
    );
    assert_eq!(
        value(HISTORY_SERVER_CAPABILITIES_MAX_RETURN_DATA_VALUES),
        Some(Variant::from(10_000_u32))
    );
    assert_eq!(
        value(SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_HISTORY_READ_DATA),
        Some(Variant::from(100_u32))
    );
    assert_eq!(
        value(SERVER_SERVER_CAPABILITIES_MAX_HISTORY_CONTINUATION_POINTS),
        Some(Variant::from(100_u16))
    );
    let stepped = read(node("Level#HA Configuration.Stepped"), Attribute::Value);
    assert_eq!(stepped, Some(Variant::from(true)));
    let percent = read(
        node("Level#HA Configuration.AggregateConfiguration.PercentDataGood"),
        Attribute::Value,
    );
    assert_eq!(percent, Some(Variant::Byte(100)));
    let folder = NodeId::from(HISTORY_SERVER_CAPABILITIES_AGGREGATE_FUNCTIONS);
    let functions = client
        .browse(&folder, &takt_app::client::Follow::children())
        .unwrap();
    assert_eq!(functions.len(), Aggregate::ALL.len());
    let configuration = client.browse(
        &node("Level"),
        &takt_app::client::Follow::forward(HAS_HISTORICAL_CONFIGURATION),
    );
    assert_eq!(
        configuration.unwrap()[0].browse_name.name,
        "HA Configuration"
    );
}

#[test]
fn a_server_without_history_does_not_have_the_service() {
    let directory = tempfile::tempdir().unwrap();
    let _provider = Provider::builder("Press")
        .without_registry()
        .variable(Variable::stored("Plain", 0_i32))
        .serve(serve(directory.path()))
        .start()
        .unwrap();
    let mut client = connect(directory.path(), "opc.iox2://Press");
    let error = client.history_raw(&node("Plain"), ALL).unwrap_err();
    assert_eq!(error.status_code(), StatusCode::BadServiceUnsupported);
}

fn registry(directory: &Path, patterns: &[&str]) -> Registry {
    Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.join("registry.redb"),
        history: RegistryHistoryOptions {
            patterns: patterns
                .iter()
                .map(|pattern| (*pattern).to_owned())
                .collect(),
            interval: Duration::from_millis(50),
            ..RegistryHistoryOptions::default()
        },
        serve: serve(directory),
        ..RegistryOptions::default()
    })
    .unwrap()
}

/// A Provider that registers.
fn registered(directory: &Path) -> Provider {
    let provider = builder(directory)
        .registry("opc.iox2://SemanticRegistryServer")
        .start()
        .unwrap();
    eventually("the Provider registers", || {
        provider.is_registered().then_some(())
    });
    provider
}

#[test]
fn the_registry_forwards_history() {
    let directory = tempfile::tempdir().unwrap();
    let _registry = registry(directory.path(), &[]);
    let _provider = registered(directory.path());
    let mut direct = connect(directory.path(), "opc.iox2://Press");
    write(&mut direct, 50);
    let mut client = connect(directory.path(), "opc.iox2://SemanticRegistryServer");
    let level = client.find("Press/Level").unwrap().node_id.node_id;
    let read = client.history_raw(&level, ALL).unwrap();
    assert_eq!(numbers(&read), (0..=50).collect::<Vec<_>>());
    let count = client.history_processed(
        &level,
        Aggregate::Count,
        (read[0].source_timestamp.unwrap(), DateTime::now()),
        Duration::ZERO,
    );
    assert_eq!(numbers(&count.unwrap()), [51]);
    // With continuation points of the Provider behind those of the registry.
    let details = ReadRawModifiedDetails {
        start_time: DateTime(1),
        end_time: DateTime(i64::MAX),
        num_values_per_node: 20,
        ..ReadRawModifiedDetails::default()
    };
    let (mut all, mut point) = (Vec::new(), ByteString::default());
    loop {
        let response = client.call(HistoryReadRequest {
            history_read_details: ExtensionObject::from_structure(&details),
            timestamps_to_return: TimestampsToReturn::Source,
            nodes_to_read: vec![HistoryReadValueId {
                node_id: level.clone(),
                continuation_point: point,
                ..HistoryReadValueId::default()
            }],
            ..HistoryReadRequest::default()
        });
        let result = response.unwrap().results.swap_remove(0);
        all.extend(values(&result));
        point = result.continuation_point;
        if point.is_empty() {
            break;
        }
    }
    assert_eq!(all, (0..=50).collect::<Vec<_>>());
    let plain = client.find("Press/Plain").unwrap().node_id.node_id;
    let error = client.history_raw(&plain, ALL).unwrap_err();
    assert_eq!(
        error.status_code(),
        StatusCode::BadHistoryOperationUnsupported
    );
    let stepped = client
        .find("Press/Level/HA Configuration/Stepped")
        .unwrap()
        .node_id
        .node_id;
    let stepped = client
        .read_attributes(&[(stepped, Attribute::Value)])
        .unwrap();
    assert_eq!(stepped[0].value, Some(Variant::from(true)));
}

#[test]
fn the_registry_records_chosen_variables() {
    let directory = tempfile::tempdir().unwrap();
    let running = registry(directory.path(), &["Press/Pl*"]);
    let provider = registered(directory.path());
    let mut client = connect(directory.path(), "opc.iox2://SemanticRegistryServer");
    let plain = client.find("Press/Plain").unwrap().node_id.node_id;
    let read = eventually("the value is recorded", || {
        let read = client.history_raw(&plain, ALL).ok()?;
        (!read.is_empty()).then_some(read)
    });
    assert_eq!(numbers(&read), [0]);
    let attributes = [Attribute::Historizing, Attribute::AccessLevel]
        .map(|attribute| (plain.clone(), attribute));
    let values = client.read_attributes(&attributes).unwrap();
    assert_eq!(values[0].value, Some(Variant::from(true)));
    assert_eq!(values[1].value, Some(Variant::Byte(0x05)));
    // The end of the Provider is part of the history, and a restart of the registry keeps all of it.
    drop(provider);
    eventually("the end is recorded", || {
        let read = client.history_raw(&plain, ALL).unwrap();
        read.last()?.status_code().0.ge(&0x4000_0000).then_some(())
    });
    drop((client, running));
    let _registry = registry(directory.path(), &["Press/Pl*"]);
    let mut client = connect(directory.path(), "opc.iox2://SemanticRegistryServer");
    let read = eventually("the history is there", || {
        client.history_raw(&plain, ALL).ok()
    });
    assert_eq!(numbers(&read)[0], 0);
}

#[test]
fn an_unchanged_value_is_recorded_again_after_a_restart_of_the_registry() {
    let directory = tempfile::tempdir().unwrap();
    let running = registry(directory.path(), &["Press/Pl*"]);
    let _provider = registered(directory.path());
    let connect = || connect(directory.path(), "opc.iox2://SemanticRegistryServer");
    let mut client = connect();
    let plain = client.find("Press/Plain").unwrap().node_id.node_id;
    eventually("the value is recorded", || {
        let read = client.history_raw(&plain, ALL).ok()?;
        (numbers(&read) == [0]).then_some(())
    });
    drop((client, running));
    let _registry = registry(directory.path(), &["Press/Pl*"]);
    let mut client = connect();
    // The value has the source timestamp of its first record, and the registry was stopped since then.
    let is_gap = |value: &takt_ua::DataValue| value.status_code() == StatusCode::BadNoData;
    let read = eventually("the value is recorded again", || {
        let read = client.history_raw(&plain, ALL).ok()?;
        let is_good = read.last()?.status_code().is_good();
        (is_good && read.iter().any(is_gap)).then_some(read)
    });
    let gap = read.iter().position(is_gap).unwrap();
    assert_eq!(numbers(&read)[0], 0, "{read:?}");
    assert!(gap > 0 && gap + 1 < read.len(), "{read:?}");
}

#[test]
fn a_provider_with_another_model_keeps_the_history_at_the_registry() {
    let directory = tempfile::tempdir().unwrap();
    let _registry = registry(directory.path(), &["Press/Pl*"]);
    let provider = registered(directory.path());
    let mut client = connect(directory.path(), "opc.iox2://SemanticRegistryServer");
    let plain = client.find("Press/Plain").unwrap().node_id.node_id;
    eventually("the value is recorded", || {
        let read = client.history_raw(&plain, ALL).ok()?;
        (numbers(&read) == [0]).then_some(())
    });
    drop(provider);
    // The registry deletes all nodes of the Provider, and adds those of the new model.
    let changed = builder(directory.path())
        .variable(Variable::stored("New", 1_i32))
        .registry("opc.iox2://SemanticRegistryServer")
        .start()
        .unwrap();
    eventually("the Provider registers", || {
        changed.is_registered().then_some(())
    });
    let read = eventually("the history is there", || {
        let read = client.history_raw(&plain, ALL).ok()?;
        read.last()?.status_code().is_good().then_some(read)
    });
    assert_eq!(numbers(&read)[0], 0);
}
