//! Values read where the server wrote them, over both transports.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientError, ClientOptions, Provider, Variable};
use takt_cell::Cell;
use takt_ua::{BuiltInType, NodeId, StatusCode, Variant};

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

#[test]
fn values_are_seen_where_they_are() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let numbers: Vec<u32> = (0..100_000).collect();
    let array = Arc::new(Cell::of(&Variant::from(numbers.clone())));
    let waiting = Arc::new(Cell::for_type(BuiltInType::Double, None, 0));
    let provider = Provider::builder("InPlace")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::stored("Number", 1.5_f64))
        .variable(Variable::stored(
            "Flags",
            Variant::from(vec![true, false, true]),
        ))
        .variable(Variable::stored("Text", "Grüße"))
        .variable(Variable::stored(
            "Texts",
            Variant::from(vec!["a".to_owned()]),
        ))
        .variable(Variable::cell("Array", &array))
        .variable(Variable::cell("Waiting", &waiting))
        .serve(ServeOptions {
            runtime_directory: Some(directory.path().to_path_buf()),
            ..ServeOptions::default()
        })
        .start()
        .unwrap();
    for endpoint in provider.endpoints() {
        let options = ClientOptions {
            runtime_directory: Some(directory.path().to_path_buf()),
            ..ClientOptions::named("Test")
        };
        let mut client = Client::connect(endpoint, options).unwrap();
        let number = client.read_in_place(&node("Number"), |value| {
            assert_eq!(value.data_type(), Some(BuiltInType::Double));
            assert_eq!((value.get::<f32>(0), value.get::<f64>(1)), (None, None));
            assert_eq!(value.status, StatusCode::Good);
            assert!(value.source_timestamp.is_some() && value.server_timestamp.is_some());
            value.get::<f64>(0)
        });
        assert_eq!(number.unwrap(), Some(1.5), "{endpoint}");

        // Smaller than a slot of shared memory, then with memory of its own.
        client
            .read_in_place(&node("Array"), |value| {
                assert_eq!(value.count::<u32>(), numbers.len());
                assert_eq!(value.get::<u32>(99_999), Some(99_999));
                assert_eq!(value.get::<u32>(100_000), None);
                let mut copy = vec![0; numbers.len() + 1];
                assert_eq!(value.copy_to(&mut copy), Some(numbers.len()));
                assert!(copy[..numbers.len()] == numbers);
                assert_eq!(value.copy_to(&mut [0_u32; 10]), None);
                assert_eq!(value.copy_to(&mut [0_i32; 10]), None);
            })
            .unwrap();
        client
            .read_in_place(&node("Flags"), |value| {
                let mut flags = [false; 3];
                assert_eq!(value.copy_to(&mut flags), Some(3));
                assert_eq!(flags, [true, false, true]);
            })
            .unwrap();
        let text = client.read_in_place(&node("Text"), |value| value.bytes().to_vec());
        assert_eq!(text.unwrap(), "Grüße".as_bytes());

        let waiting = client.read_in_place(&node("Waiting"), |value| {
            (value.data_type(), value.count::<f64>(), value.status)
        });
        let expected = (None, 0, StatusCode::BadWaitingForInitialData);
        assert_eq!(waiting.unwrap(), expected);
        let unknown = client.read_in_place(&node("Nowhere"), |value| value.status);
        assert_eq!(unknown.unwrap(), StatusCode::BadNodeIdUnknown);
        let texts = client.read_in_place(&node("Texts"), |_| ());
        assert!(matches!(texts, Err(ClientError::Invalid(_))), "{texts:?}");
        // Other requests go on as before.
        let value = client.read(&node("Number")).unwrap().value;
        assert_eq!(value, Some(Variant::Double(1.5)));
    }
}
