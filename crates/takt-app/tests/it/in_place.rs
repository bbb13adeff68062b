//! Values read in the memory where the server wrote them, over both transports.

use std::sync::Arc;

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientError, ClientOptions, Method, Provider, Variable};
use takt_cell::Cell;
use takt_services::ServerBudgets;
use takt_space::{CallError, MethodCall, OutputArguments};
use takt_ua::{ArrayRef, BuiltInType, ByteString, NodeId, StatusCode, Variant, VariantRef};

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

#[test]
fn values_are_read_in_place() {
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
        // Other requests still work.
        let value = client.read(&node("Number")).unwrap().value;
        assert_eq!(value, Some(Variant::Double(1.5)));
    }
}

#[test]
fn values_are_written_and_methods_called_in_place() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let numbers: Vec<u32> = (0..100_000).collect();
    let array = Arc::new(Cell::of(&Variant::from(numbers.clone())));
    let provider = Provider::builder("WriteInPlace")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::stored("Number", 1.5_f64).writable())
        .variable(Variable::cell("Array", &array).writable())
        .method(
            Method::in_place(
                "Calculator/Repeat",
                |call: &MethodCall<'_>, outputs: &mut OutputArguments<'_, '_>| {
                    let (Some(VariantRef::UInt32(times)), Some(value)) =
                        (call.input(0), call.input(1))
                    else {
                        return Err(StatusCode::BadInternalError.into());
                    };
                    if times > 100 {
                        return Err(CallError::argument(0, 2, StatusCode::BadOutOfRange));
                    }
                    (0..times).for_each(|_| outputs.push(&value));
                    Ok(())
                },
            )
            .input("Times", BuiltInType::UInt32)
            .input("Value", BuiltInType::Double),
        )
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
        client
            .write_in_place(&node("Number"), &VariantRef::Double(7.25))
            .unwrap();
        let number = client.read(&node("Number")).unwrap().value;
        assert_eq!(number, Some(Variant::Double(7.25)));
        let reversed: Vec<u32> = numbers.iter().rev().copied().collect();
        let slice = VariantRef::Array(ArrayRef::from_u32s(&reversed));
        client.write_in_place(&node("Array"), &slice).unwrap();
        let mut read = vec![0; numbers.len()];
        array.read_slice(&mut read).unwrap();
        assert!(read == reversed, "{endpoint}");
        let wrong = client.write_in_place(&node("Number"), &VariantRef::Boolean(true));
        assert!(
            matches!(&wrong, Err(ClientError::Operation { status, .. }) if *status == StatusCode::BadTypeMismatch),
            "{wrong:?}"
        );

        let (object, method) = (node("Calculator"), node("Calculator/Repeat"));
        let inputs = |times| [VariantRef::UInt32(times), VariantRef::Double(2.5)];
        for times in [0, 3, 20] {
            let outputs = client.call_in_place(&object, &method, &inputs(times), |outputs| {
                let value = |index| outputs.get(index).and_then(|output| output.get::<f64>(0));
                assert!(outputs.get(outputs.len()).is_none());
                (0..outputs.len()).map(value).collect::<Vec<_>>()
            });
            assert_eq!(
                outputs.unwrap(),
                vec![Some(2.5); times as usize],
                "{endpoint}"
            );
        }
        let refused = client.call_in_place(&object, &method, &inputs(101), |_| ());
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("input argument 1") && text.contains("BadOutOfRange"),
            "{text}"
        );
        let missing = client.call_in_place(&object, &method, &inputs(1)[..1], |_| ());
        let text = missing.unwrap_err().to_string();
        assert!(text.contains("BadArgumentsMissing"), "{text}");
        let outputs = client.call_method(&object, &method, vec![2_u32.into(), 1.0.into()]);
        assert_eq!(
            outputs.unwrap(),
            [Variant::Double(1.0), Variant::Double(1.0)]
        );
    }
}

/// Size of the longest value in bytes.
const LONGEST: usize = 64 << 20;

#[test]
fn a_value_of_64_mib_fits_the_default_budget() {
    const BYTES: usize = LONGEST;
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let numbers: Vec<u32> = (0..(BYTES / 4) as u32).collect();
    let provider = Provider::builder("OneLarge")
        .without_registry()
        .variable(Variable::stored("Array", vec![0_u32; BYTES / 4]).writable())
        .serve(ServeOptions {
            runtime_directory: Some(directory.path().to_path_buf()),
            ..ServeOptions::default()
        })
        .start()
        .unwrap();
    let options = ClientOptions {
        runtime_directory: Some(directory.path().to_path_buf()),
        timeout: std::time::Duration::from_secs(30),
        ..ClientOptions::named("Test")
    };
    let mut client = Client::connect(&provider.endpoints()[0], options).unwrap();
    let slice = VariantRef::Array(ArrayRef::from_u32s(&numbers));
    // The memory of the request is freed for the response, and the other way round.
    for _ in 0..3 {
        client.write_in_place(&node("Array"), &slice).unwrap();
        let last = client
            .read_in_place(&node("Array"), |value| {
                value.get::<u32>(value.count::<u32>() - 1)
            })
            .unwrap();
        assert_eq!(last, numbers.last().copied());
    }
}

#[test]
fn values_may_have_64_mib() {
    const BYTES: usize = LONGEST;
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let numbers: Vec<u32> = (0..(BYTES / 4) as u32).collect();
    let provider = Provider::builder("Large")
        .without_registry()
        .variable(Variable::stored("Array", vec![0_u32; BYTES / 4]).writable())
        .variable(Variable::stored("Text", ByteString::from(vec![0])).writable())
        // Two such values, a request, its copy and a response.
        .budgets(ServerBudgets::default().with_memory(8 * BYTES))
        .serve(ServeOptions {
            runtime_directory: Some(directory.path().to_path_buf()),
            ..ServeOptions::default()
        })
        .start()
        .unwrap();
    let options = ClientOptions {
        runtime_directory: Some(directory.path().to_path_buf()),
        timeout: std::time::Duration::from_secs(30),
        ..ClientOptions::named("Test")
    };
    let mut client = Client::connect(&provider.endpoints()[0], options).unwrap();
    let slice = VariantRef::Array(ArrayRef::from_u32s(&numbers));
    client.write_in_place(&node("Array"), &slice).unwrap();
    let (count, last) = client
        .read_in_place(&node("Array"), |value| {
            let count = value.count::<u32>();
            (count, value.get::<u32>(count - 1))
        })
        .unwrap();
    assert_eq!((count, last), (numbers.len(), numbers.last().copied()));
    let text = vec![b'x'; BYTES];
    client
        .write_in_place(&node("Text"), &VariantRef::ByteString(Some(&text)))
        .unwrap();
    let read = client.read(&node("Text")).unwrap().value.unwrap();
    assert!(matches!(&read, Variant::ByteString(read) if read.as_bytes().len() == BYTES));
    // A larger value is refused, and the connection stays open.
    let text = vec![b'x'; BYTES + (64 << 10)];
    let refused = client.write_in_place(&node("Text"), &VariantRef::ByteString(Some(&text)));
    assert!(refused.is_err());
    assert!(client.read_in_place(&node("Array"), |_| ()).is_ok());
}
